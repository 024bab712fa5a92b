"""The command line on whichever backend runs the tests: a short training, and a translation."""

import itertools
import json

import keras
import pytest

from nlp104.cli import main as cli


@pytest.mark.slow
def test_train_and_translate(tmp_path, capsys):
    words = itertools.product("abcd", repeat=3)  # all of one length: one shape to compile
    lines = [f"{a} {b} {c}\t{c} {b} {a}\n" for a, b, c in words]
    (tmp_path / "pairs.tsv").write_text("".join(lines), encoding="utf-8")
    run = str(tmp_path / "run")
    sizes = "--num-layers 1 --hidden-dim 16 --intermediate-dim 16 --num-heads 2 --max-length 4"
    data = ["--data", str(tmp_path / "pairs.tsv"), *sizes.split(), "--epochs", "1"]
    assert cli.main(["train", *data, "--batch-size", "8", "--output", run]) == 0
    record = json.loads((tmp_path / "run/run.json").read_text(encoding="utf-8"))
    assert keras.backend.backend() in record["versions"]
    capsys.readouterr()
    assert cli.main(["translate", "--model", run, "a b c"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 1

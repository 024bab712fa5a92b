"""A bug inside is no mistake of the user: it keeps its traceback, and says where to report it."""

import errno
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import nlp104
from nlp104.cli.main import BUG, ISSUES, main
from nlp104.utils import errors

ROOT = Path(__file__).parents[1]
PACKAGE = Path(nlp104.__file__).parent
NO_ROOM = (
    "Expected memory for all that is computed at once. Received: {} Smaller batches, fewer beams "
    "and shorter sentences need less."
)
REPORT = rf"nlp104 \w+: this is a bug in nlp104 {re.escape(nlp104.__version__)}, .*{ISSUES}\n"


@pytest.fixture
def ends(capsys, monkeypatch, load_once):
    """Plants an error into a function that a command calls, and returns what the command says."""
    monkeypatch.setattr("nlp104.translation.pretrained.load_pretrained", load_once)

    def run(place, error, *arguments):
        def fails(*_, **__):
            raise error

        monkeypatch.setattr(place, fails)
        status = main([str(argument) for argument in arguments])
        return status, capsys.readouterr().err

    return run


def missing(path):
    return FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))


COMMANDS = {
    "train": ("nlp104.training.pipeline.Tokenizer.train", ["--data", "pairs.tsv"]),
    "translate": (
        "nlp104.translation.translator.greedy",
        ["--model", "grammar", "The cat sleeps."],
    ),
    "evaluate": (
        "nlp104.training.pipeline.load_corpus",
        ["--model", "grammar", "--data", "pairs.tsv"],
    ),
    "export": ("nlp104.translation.export._program", ["--model", "grammar"]),
    "serve": ("nlp104.translation.serve.web.page", ["--model", "grammar", "--port", "0"]),
}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    "error",
    [
        ValueError("planted"),
        KeyError("planted"),
        TypeError("planted"),
        FileNotFoundError("planted"),
        ModuleNotFoundError("planted", name="planted"),
        OSError(errno.EBADF, "planted"),
        missing(PACKAGE / "translation" / "web" / "planted.js"),
    ],
    ids=repr,
)
def test_a_bug_keeps_its_traceback(ends, tmp_path, monkeypatch, command, error):
    monkeypatch.chdir(tmp_path)
    Path("pairs.tsv").write_text("".join(f"{n}\ta{n}\n" for n in range(9)), encoding="utf-8")
    place, arguments = COMMANDS[command]
    if command in ("train", "export"):
        arguments = [*arguments, "--output", tmp_path / "output"]
    status, said = ends(place, error, command, *arguments)
    assert status == BUG == 70
    assert said.startswith("Traceback (most recent call last):\n")
    assert "in fails\n" in said
    assert f"{type(error).__name__}: " in said
    assert "planted" in said
    assert re.fullmatch(REPORT, said.splitlines(keepends=True)[-1])
    assert not (tmp_path / "output").exists()


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (errors.InputError("Expected this.\nReceived: that."), "Expected this. Received: that."),
        (errors.MissingError("Expected this."), "Expected this."),
        (missing("data/train.en"), "No such file or directory: data/train.en"),
        (PermissionError(errno.EACCES, "Permission denied", "/there"), "Permission denied: /there"),
        (OSError(errno.ENOSPC, "No space left"), "[Errno 28] No space left"),
        (ConnectionError("no network"), "no network"),
        (FloatingPointError("The loss became nan."), "The loss became nan."),
        (MemoryError(), NO_ROOM.format("MemoryError")),
        (type("ResourceExhaustedError", (Exception,), {})("OOM:\n…"), NO_ROOM.format("OOM:")),
        (RuntimeError("DefaultCPUAllocator: no."), NO_ROOM.format("DefaultCPUAllocator: no.")),
        (RuntimeError("RESOURCE_EXHAUSTED: 9 b."), NO_ROOM.format("RESOURCE_EXHAUSTED: 9 b.")),
        (missing("OutOfMemoryError/notes"), "No such file or directory: OutOfMemoryError/notes"),
    ],
    ids=repr,
)
def test_what_a_user_or_the_computer_can_set_right_is_one_line(ends, error, told):
    status, said = ends(
        COMMANDS["translate"][0], error, "translate", "--model", "grammar", "A cat."
    )
    assert (status, said) == (1, f"nlp104 translate: error: {told}\n")


def test_a_backend_that_is_not_installed_is_no_bug():
    code = (
        "import sys; sys.modules['tensorflow'] = None; from nlp104.cli.main import main; "
        "sys.exit(main(['translate', '--model', 'grammar', 'The cat sleeps.']))"
    )
    environment = {**os.environ, "KERAS_BACKEND": "tensorflow"}
    ended = subprocess.run(
        [sys.executable, "-c", code], env=environment, cwd=ROOT, capture_output=True, text=True
    )
    assert ended.returncode == 1
    assert ended.stderr.startswith("nlp104 translate: error: Expected tensorflow")
    assert ended.stderr.count("\n") == 1


def test_errors_of_the_user_are_errors_of_python():
    assert issubclass(errors.InputError, ValueError)
    assert issubclass(errors.MissingError, FileNotFoundError)
    assert issubclass(errors.OccupiedError, FileExistsError)


def test_help_and_errors_need_no_keras():
    """`--help` shall not wait for it, and the errors stand below everything else."""
    code = "import sys; import nlp104.utils.errors, nlp104.cli.main; print('keras' in sys.modules)"
    ended = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert ended.stdout == "False\n", ended.stderr

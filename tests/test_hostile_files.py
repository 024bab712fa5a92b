"""Files that somebody made to do harm: each is refused in a sentence, before it does any.

Loading runs no code that a file names, and takes about as much memory as the file is long.
"""

import io
import json
import os
import shutil
import zipfile

import h5py
import keras
import numpy as np
import pytest

from nlp104.cli.main import main
from nlp104.data.tokenizer import Tokenizer
from nlp104.training.checkpoints import average_checkpoints, load_state, save_state
from nlp104.training.position import Position, read_position
from nlp104.training.run_record import write_record
from nlp104.training.settings import complete_settings
from nlp104.transformer.model import Transformer
from nlp104.translation import model_file
from nlp104.translation.pretrained import read_card
from nlp104.translation.translator import Translator
from nlp104.utils import foreign
from nlp104.utils.errors import InputError

DEEP = "[" * 100_000 + "]" * 100_000
SIZES = {"num_layers": 1, "hidden_dim": 8, "intermediate_dim": 8, "num_heads": 2}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The directory of a translator, and of the run that made it."""
    directory = tmp_path_factory.mktemp("whole") / "model"
    tokenizer = Tokenizer.train(["one cat", "two dogs"], kind="word")
    size = tokenizer.vocabulary_size
    config = {**SIZES, "vocabulary_size": size, "max_sequence_length": 16}
    Translator(Transformer.from_config(config), tokenizer, tokenizer).save(directory)
    write_record(directory, {"settings": complete_settings({"data": "pairs.tsv"})})
    return directory


@pytest.fixture
def model(whole, tmp_path):
    """A copy of it."""
    return shutil.copytree(whole, tmp_path / "model")


@pytest.fixture
def refused(model, capsys):
    """Says why a model is not loaded: in one line of the command line, and to a program."""

    def run(command="translate", *options):
        before = sorted(model.rglob("*"))
        assert main([command, "--model", str(model), *map(str, options)]) == 1
        out, err = capsys.readouterr()
        start, _, message = err.partition(": error: ")
        assert (out, start) == ("", f"nlp104 {command}")
        assert message.count("\n") == 1
        assert sorted(model.rglob("*")) == before
        if command == "translate":
            with pytest.raises(InputError):
                Translator.load(model)
        return message.strip()

    return run


def members(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def write(path, members, method=zipfile.ZIP_STORED):
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(name, content)


def configure(model, change):
    """Changes the configuration in a model by a function, or replaces it by a text."""
    found = members(model / "model.keras")
    if callable(change):
        config = json.loads(found["config.json"])
        change(config)
        change = json.dumps(config)
    write(model / "model.keras", found | {"config.json": change})


def reweigh(model, change):
    """Changes the weights in a model by a function of the `h5py.File` and the name of one."""
    found = members(model / "model.keras")
    content, names = io.BytesIO(found["model.weights.h5"]), []
    with h5py.File(content, "r+") as file:
        file.visititems(lambda name, item: names.append(name) if hasattr(item, "shape") else None)
        change(file, names[0])
    write(model / "model.keras", found | {"model.weights.h5": content.getvalue()})


def test_what_was_not_touched_loads(model):
    assert Translator.load(model).translate(["one cat"])


# Code in a configuration

LAMBDA = {"class_name": "__lambda__", "config": {"value": ["4wEAAAA=", None, None]}}
CODE = {
    "a lambda": LAMBDA,
    "a layer of it": {
        "module": "keras.layers",
        "class_name": "Lambda",
        "config": {"function": LAMBDA},
        "registered_name": None,
    },
    "a function": {"module": "os", "class_name": "function", "config": "system"},
    "a function of Keras": {
        "module": "keras.utils",
        "class_name": "function",
        "config": "get_file",
        "registered_name": "get_file",
    },
    "a class": {
        "module": "subprocess",
        "class_name": "Popen",
        "config": {"args": ["touch", "pwned"]},
        "registered_name": None,
    },
    "a whole model": {
        "module": "nlp104.transformer",
        "class_name": "nlp104>Transformer",
        "config": SIZES | {"vocabulary_size": 10},
        "registered_name": "nlp104>Transformer",
    },
}


@pytest.mark.parametrize("name", ["activation", "kernel_initializer", "dtype", "epsilon", "new"])
@pytest.mark.parametrize("code", CODE.values(), ids=list(CODE))
def test_no_setting_is_code(model, refused, tmp_path, monkeypatch, name, code):
    monkeypatch.chdir(tmp_path)
    configure(model, lambda config: config["config"].update({name: code}))
    built = []
    monkeypatch.setattr(keras.saving, "load_model", lambda *_, **__: built.append(1))
    message = refused()
    assert "Expected settings of a Transformer in" in message or built
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    assert "Expected" in refused()
    assert not (tmp_path / "pwned").exists()


@pytest.mark.parametrize("code", CODE.values(), ids=list(CODE))
def test_nothing_but_a_transformer_is_built(model, refused, tmp_path, monkeypatch, code):
    monkeypatch.chdir(tmp_path)
    configure(model, json.dumps(code | {"registered_name": "nlp104>Transformer"}))
    assert "Expected a" in refused()
    configure(model, json.dumps(code))
    assert "Expected a" in refused()
    assert not (tmp_path / "pwned").exists()

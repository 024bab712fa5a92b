"""Files that somebody made to do harm: each is refused in a sentence, before it does any.

Loading runs no code that a file names, and takes about as much memory as the file is long.
"""

import copy
import io
import json
import os
import pickle
import shutil
import zipfile
from dataclasses import asdict

import h5py
import keras
import numpy as np
import pytest

from nlp104.cli.main import main
from nlp104.cli.recorded import read_run
from nlp104.data.tokenizer import Tokenizer
from nlp104.training.checkpoints import average_checkpoints, load_state, save_state
from nlp104.training.position import Position, read_position
from nlp104.training.run_record import write_record
from nlp104.training.settings import complete_settings
from nlp104.transformer.config import TransformerConfig
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
    assert f"Received: {name} = {{" in refused()
    assert not (tmp_path / "pwned").exists()


def test_keras_itself_refuses_code(model, refused, monkeypatch):
    """What would run if nobody had looked before."""
    monkeypatch.setattr(model_file, "_check_sizes", lambda *_: None)
    for code in list(CODE.values())[:-1]:
        configure(model, lambda config, code=code: config["config"].update(activation=code))
        assert "Expected a model in" in refused()


@pytest.mark.parametrize("code", CODE.values(), ids=list(CODE))
def test_nothing_but_a_transformer_is_built(model, refused, tmp_path, monkeypatch, code):
    monkeypatch.chdir(tmp_path)
    configure(model, json.dumps(code | {"registered_name": "nlp104>Transformer"}))
    assert "Expected a" in refused()
    configure(model, json.dumps(code))
    assert "Expected a" in refused()
    assert not (tmp_path / "pwned").exists()


# What would fill the memory


@pytest.mark.parametrize("name", ["config.json", "model.weights.h5", "metadata.json", "assets/new"])
def test_a_file_that_unfolds(model, refused, name):
    found = members(model / "model.keras")
    write(model / "model.keras", found | {name: bytes(2**24)}, zipfile.ZIP_DEFLATED)
    assert (model / "model.keras").stat().st_size < 2**18
    assert refused().endswith("Received: packed ones.")


def test_a_file_that_is_there_more_than_once(model, refused):
    """Its members overlap: their sum is many times the file."""
    path = model / "model.keras"
    with zipfile.ZipFile(path, "a") as archive:
        largest = archive.getinfo("model.weights.h5")
        for number in range(100):
            again = copy.copy(largest)
            again.filename = again.orig_filename = f"{number}"
            archive.filelist.append(again)
            archive.NameToInfo[again.filename] = again
        archive._didModify = True
    assert "as long as it is" in refused()


def test_a_file_with_more_in_it(model, refused):
    found = members(model / "model.keras")
    write(model / "model.keras", found | {"../../pwned": b"x"})
    assert "Received: ../../pwned, config.json" in refused()


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"hidden_dim": 10**9}, "Received: 1,"),
        ({"intermediate_dim": 10**9}, "Expected at least 32,000,0"),
        ({"vocabulary_size": 10**9}, "Expected at least 24,000,0"),
        ({"source_vocabulary_size": 10**9}, "Expected at least 8,000,0"),
        ({"num_layers": 10**6}, "Expected at least 640,000,"),
        ({"lora_rank": 10**9}, "Expected at least 8,000,0"),
        ({"positions": "learned", "max_sequence_length": 10**9}, "Expected at least 8,000,0"),
        ({"max_sequence_length": 10**9}, "positions that take 8,000,000,000 numbers"),
        ({"num_heads": 10**9}, "divisible"),
        ({"hidden_dim": 10**4000}, "hidden_dim = 1000"),
        ({"hidden_dim": "8"}, "hidden_dim = '8'"),
        ({"hidden_dim": None}, "hidden_dim = None"),
        ({"hidden_dim": True}, "positive integer"),
        ({"vocabulary_size": None}, "with a `vocabulary_size`"),
        ({"num_layers": -1}, "positive integer"),
        ({"dropout": "0.1"}, "dropout = '0.1'"),
        ({"dropout": [0.1]}, "dropout = [0.1]"),
        ({"epsilon": {}}, "epsilon = {}"),
        ({"dtype": "float99"}, "float99"),
        ({"dtype": "string"}, "could not be deserialized"),
        ({"activation": "no"}, "activation function identifier: no"),
        ({"kernel_initializer": "no"}, "no"),
        ({"new": 1}, "new = 1"),
    ],
    ids=lambda value: ",".join(value) if isinstance(value, dict) else "",
)
def test_settings_that_the_weights_do_not_bear_out(model, refused, changes, told):
    configure(model, lambda config: config["config"].update(changes))
    assert told in refused()


@pytest.mark.parametrize(
    "text", [DEEP, "[]", "5", "{}", '{"config": {}}', "NaN", "", "\0", "{" * 9]
)
def test_a_configuration_that_is_none(model, refused, text):
    configure(model, text)
    assert refused().endswith("Received: a damaged file.")


@pytest.mark.parametrize("settings", [[], None, 5, "", {}])
def test_settings_that_are_none(model, refused, settings):
    configure(model, lambda config: config.update(config=settings))
    assert "Expected settings of a Transformer" in refused()


@pytest.mark.parametrize(
    "choices",
    [
        {"tie_embeddings": True, "num_key_value_heads": 1, "normalization": "rms"},
        {"positions": "learned", "num_layers": 2, "gated": True},
        {"positions": None, "source_vocabulary_size": 1, "hidden_dim": 2, "intermediate_dim": 1},
    ],
)
def test_a_model_has_at_least_the_weights_that_are_asked_for(choices):
    """Otherwise a good file would be refused."""
    config = TransformerConfig(**SIZES | {"vocabulary_size": 9, "max_sequence_length": 5} | choices)
    model = Transformer(config)
    assert 0.3 * model.count_params() < config.least_weights <= model.count_params()
    assert config.num_layers <= len(model.weights)


def replaced(**options):
    def change(file, name):
        del file[name]
        file.create_dataset(name, **options)

    return change


def linked(link):
    def change(file, name):
        del file[name]
        file[name] = link

    return change


def elsewhere(file, name):
    shape = file[name].shape
    del file[name]
    file.create_dataset(name, shape, "f4", external=[(os.devnull, 0, h5py.h5f.UNLIMITED)])


def virtual(file, name):
    layout = h5py.VirtualLayout(file[name].shape, "f4")
    layout[...] = h5py.VirtualSource("other.h5", "x", file[name].shape)
    del file[name]
    file.create_virtual_dataset(name, layout)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (replaced(shape=(10**6, 10**6), dtype="f4", chunks=(9, 9)), "Received: 4,000,000,"),
        (replaced(shape=(10**4, 10**4), dtype="f4", compression="gzip"), "Received: 400,00"),
        (linked(h5py.ExternalLink("other.h5", "/x")), "a link."),
        (linked(h5py.SoftLink("/x")), "a link."),
        (elsewhere, "of another file."),
        (virtual, "of another file."),
        (replaced(shape=(3, 1), dtype="f4"), "could not be loaded"),
        (replaced(shape=(3,), dtype=h5py.string_dtype()), "could not be loaded"),
        (lambda file, _: [file.pop(name) for name in list(file)], "Received: 0 in 0 arrays"),
    ],
)
def test_weights_that_are_more_than_their_file(model, refused, change, told):
    reweigh(model, change)
    assert told in refused()


def test_enough_weights_in_too_few_arrays_build_no_layers(model, refused):
    """To build hundreds of them takes minutes, only to find that one array is none of theirs."""

    def one_array(file, _):
        for name in list(file):
            del file[name]
        file.create_dataset("x", data=np.zeros(10**6, "f4"))

    reweigh(model, one_array)
    configure(model, lambda config: config["config"].update(num_layers=20))
    assert refused().endswith("Received: 1,000,000 in 1 arrays.")


@pytest.mark.parametrize("content", [b"", b"x" * 5000])
def test_weights_that_are_none(model, refused, content):
    write(model / "model.keras", members(model / "model.keras") | {"model.weights.h5": content})
    assert refused().endswith("Received: a damaged file.")


# Tokenizers


@pytest.fixture
def tokenizer(model):
    """Changes the tokenizer of a model: a function changes what it reads from JSON."""

    def write(change):
        path = model / "tokenizer.json"
        if callable(change):
            content = json.loads(path.read_text(encoding="utf-8"))
            change(content)
            change = json.dumps(content)
        path.write_text(change, encoding="utf-8")

    return write


def replacing(pattern, content, place=0):
    """A normaliser or a decoder that does something of its own."""
    part = {"type": "Replace", "pattern": {"Regex": pattern}, "content": content}
    return lambda parts: parts.insert(place, part)


@pytest.mark.parametrize(
    "change",
    [
        DEEP,
        "[]",
        "5",
        lambda file: file["model"].update(vocab={"a": "b"}),
        lambda file: file["model"]["vocab"].update(x=2**32 - 1),
        lambda file: file["model"]["vocab"].update(x=-1),
        lambda file: file.update(normalizer=None),
        lambda file: file.update(decoder={"type": "ByteLevel"}),
        lambda file: file.update(pre_tokenizer={"type": "Whitespace"}),
        # A letter becomes a million; a sentence takes as long as the universe is old.
        lambda file: replacing(".", "a" * 1000)(file["normalizer"]["normalizers"]),
        lambda file: replacing("(a+)+$", "")(file["normalizer"]["normalizers"]),
        lambda file: replacing(".", "a" * 1000)(file["decoder"]["decoders"]),
        lambda file: file["decoder"]["decoders"][0]["pattern"].update(Regex=r"\A(?!(?:(a+)+)\z)"),
    ],
)
def test_tokenizers_that_are_none_of_ours(tokenizer, refused, change):
    tokenizer(change)
    assert refused().endswith("Received: a damaged or a different file.")


def test_a_tokenizer_that_never_ends(model, refused):
    (model / "tokenizer.json").unlink()
    (model / "tokenizer.json").symlink_to("/dev/zero")
    assert f"Expected at most {foreign.LARGEST_TEXT:,} bytes" in refused()


# Runs


@pytest.mark.parametrize("content", [DEEP, "[]", '{"format": "nlp104 run 1", "settings": 5}', "\0"])
def test_records_that_are_none(model, refused, content):
    (model / "run.json").write_text(content, encoding="utf-8")
    assert "damaged or something else" in refused("evaluate")


def test_a_record_that_is_too_long(model, refused):
    os.truncate(model / "run.json", foreign.LARGEST_TEXT + 1)
    assert "damaged or something else" in refused("evaluate")
    with pytest.raises(InputError) as raised:
        read_run(model)
    assert str(raised.value.__cause__).endswith("Received: more.")


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"epochs": 0}, "--epochs: expected an integer of at least 1"),
        ({"epochs": "3"}, "epochs = '3'"),
        ({"data": 5}, "data = 5"),
        ({"data": ["a"]}, "data = ['a']"),
        ({"tokens": "letters"}, "--tokens: invalid choice"),
        ({"shared_vocabulary": "no"}, "--shared-vocabulary"),
        ({"seed": 1.5}, "--seed: expected an integer from 0 to"),
        ({"gated": 1}, "--gated: ignored explicit argument '1'"),
        ({"new": 1}, "--new=1"),
        ({"resume": True}, "resume = True"),
    ],
)
def test_settings_that_could_not_have_been_typed(model, refused, settings, told):
    write_record(model, {"settings": complete_settings({"data": "pairs.tsv"}) | settings})
    assert told in refused("evaluate")


def test_every_setting_that_can_be_typed_is_read_again(tmp_path):
    settings = complete_settings({"data": "a b.tsv", "shared_vocabulary": False, "gated": True})
    settings |= {"learning_rate": 1e-05, "dropout": 0.0, "patience": 3, "test": "-x", "seed": 0}
    write_record(tmp_path, {"settings": settings})
    assert read_run(tmp_path)["settings"] == settings


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("card.json", DEEP),
        ("card.json", "[]"),
        ("card.json", '{"languages": "en", "examples": []}'),
        ("card.json", '{"languages": [5], "examples": []}'),
        ("card.json", '{"languages": [], "examples": [], "attribution": 5}'),
        ("run.json", '{"format": "nlp104 run 1", "settings": {}, "languages": 5}'),
    ],
)
def test_cards_that_are_none(model, refused, tmp_path, name, content):
    (model / name).write_text(content, encoding="utf-8")
    with pytest.raises(InputError):
        read_card(model)
    options = ["--output", tmp_path / "page.html", "--format", "web"]
    assert "Expected" in refused("export", *options)
    assert not (tmp_path / "page.html").exists()


# States of a training


@pytest.fixture
def state(tmp_path):
    """The state of a model with one weight."""
    network = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1, use_bias=False)])
    network.compile("sgd", "mse")
    save_state(tmp_path / "latest.npz", network, {"epoch": 1})
    return tmp_path / "latest.npz", network


def header(shape, dtype="<f4"):
    """The beginning of an array, and nothing after it."""
    file = io.BytesIO()
    description = {"descr": dtype, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(file, description)
    return file.getvalue()


class Pickled:
    def __reduce__(self):
        return os.mkdir, ("pwned",)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"model/0.npy": header((10**6, 10**6))}, "Received: 4,000,000,000,000 announced"),
        ({"model/0.npy": header((10**30,))}, "announced"),
        ({"model/0.npy": header((1, -1))}, "is damaged"),
        ({"model/0.npy": header((1, 1), "|O") + pickle.dumps([Pickled()])}, "allow_pickle"),
        ({"model/0.npy": b"no array"}, "is damaged"),
        ({"position.npy": b""}, "is damaged"),
        ({"new.npy": header((0,))}, "another model"),
    ],
)
def test_states_that_are_none(state, tmp_path, monkeypatch, changes, told):
    path, network = state
    monkeypatch.chdir(tmp_path)
    write(path, members(path) | changes)
    with pytest.raises(InputError) as raised:
        load_state(path, network)
    assert told in f"{raised.value} {raised.value.__cause__}"
    assert not (tmp_path / "pwned").exists()


def test_a_state_that_unfolds(state):
    path, network = state
    write(path, members(path), zipfile.ZIP_DEFLATED)
    with pytest.raises(InputError) as raised:
        load_state(path, network)
    assert "packed ones" in str(raised.value.__cause__)


def test_a_position_that_is_nested_too_deeply(state):
    path, network = state
    np.savez(path, **{**np.load(path), "position": np.array(DEEP)})
    with pytest.raises(InputError, match="is damaged"):
        load_state(path, network)


GOOD = {**asdict(Position(epoch=1, step=2, history=[{"loss": 1.0}])), "data": {"steps": 3}}


@pytest.mark.parametrize(
    "change",
    [
        {"data": {"steps": 4}},
        {"data": None},
        {"epoch": "1"},
        {"epoch": 10**9},
        {"epoch": -1},
        {"step": 3},
        {"step": -1},
        {"best": None},
        {"history": 5},
        {"history": [5]},
        {"history": [{"loss": "low"}]},
        {"epoch": 2, "history": [{"loss": 1.0}, {"gain": 1.0}]},
        {"new": 1},
        {"new": {}},
    ],
)
def test_positions_that_are_none(change):
    assert read_position(GOOD, {"steps": 3}, "latest.npz", False) == Position(
        1, 2, history=GOOD["history"]
    )
    with pytest.raises(InputError, match=r"latest\.npz"):
        read_position(GOOD | change, {"steps": 3}, "latest.npz", False)
    for found in (None, [], 5, {}):
        with pytest.raises(InputError, match="Expected a position"):
            read_position(found, {"steps": 3}, "latest.npz", False)


@pytest.mark.parametrize("change", [replaced(shape=(10**6, 10**6), dtype="f4", chunks=(9, 9))])
def test_checkpoints_that_are_more_than_their_file(tmp_path, state, change):
    _, network = state
    path = tmp_path / "epoch-0001.weights.h5"
    network.save_weights(path)
    before = network.get_weights()
    with h5py.File(path, "r+") as file:
        names = []
        file.visititems(lambda name, item: names.append(name) if hasattr(item, "shape") else None)
        change(file, names[0])
    with pytest.raises(InputError) as raised:
        average_checkpoints(network, [path])
    assert "announced" in str(raised.value.__cause__)
    np.testing.assert_array_equal(network.get_weights(), before)

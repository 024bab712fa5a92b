"""An exported translator, loaded without this package, gives what the translator gives."""

import json
import os
import subprocess
import sys
from pathlib import Path

import keras
import numpy as np
import pytest
import tokenizers
from decoding_models import VOCABULARY, make_model, random_sources

import nlp104
from nlp104.cli.main import main
from nlp104.data.tokenizer import END_ID, SPECIAL_TOKENS, Tokenizer
from nlp104.decoding.beam_search import beam_search
from nlp104.decoding.greedy import greedy
from nlp104.translation import export, pretrained, web
from nlp104.translation.export import export_page, export_translator
from nlp104.translation.translator import Translator

needs_tensorflow = pytest.mark.skipif(
    keras.backend.backend() != "tensorflow", reason="only TensorFlow can export"
)
SENTENCES = [
    "The black cat sleeps.",
    "The animal did not cross the street because it was too tired.",
    "The animal did not cross the street because it was too wide.",
    "Klingons  sleep.",
    "Yes",
]
SERVER = """
import json, sys
sys.modules["nlp104"] = sys.modules["keras"] = None  # as if neither were installed
import tokenizers
directory, batches = sys.argv[1], json.loads(sys.argv[2])
import tensorflow as tf
model = tf.saved_model.load(directory + "/model")
run = lambda ids: model.translate(ids)["translation"].numpy()
import numpy as np
source = tokenizers.Tokenizer.from_file(directory + "/source.json")
target = tokenizers.Tokenizer.from_file(directory + "/target.json")
answers = []
for sentences in batches:
    ids = np.array([row.ids for row in source.encode_batch(sentences)], "int32")
    answers.append(target.decode_batch(run(ids)))
print(json.dumps(answers))
"""


def serve(directory, batches, tmp_path):
    """Translations by a new process."""
    command = [sys.executable, "-c", SERVER, str(directory), json.dumps(batches)]
    # An empty folder as working directory: the package is not to be found by chance.
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=300)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def small_translator(seed=1):
    """A model of random weights, whose tokens are words."""
    words = [f"w{i}" for i in range(VOCABULARY - len(SPECIAL_TOKENS))]
    tokenizer = Tokenizer.train(words, kind="word")
    return Translator(make_model(seed), tokenizer, tokenizer)


@pytest.mark.slow
@needs_tensorflow
def test_saved_model_decodes_as_the_model_does(tmp_path):
    """Compares what is exported with decoding here, for rows and lengths of all kinds."""
    translator, seen = small_translator(), set()
    model = translator.model
    for name, options, decode in (
        ("greedy", {}, lambda ids: greedy(model, ids)),
        ("short", {"max_length": 3}, lambda ids: greedy(model, ids, 3)),
        (
            "beam",
            {"num_beams": 3, "length_penalty": 1.0},
            lambda ids: beam_search(model, ids, 3, 1.0),
        ),
    ):
        export_translator(translator, tmp_path / name, **options)
        run = load_saved_model(tmp_path / name)
        for seed, (batch, length) in enumerate([(1, 1), (2, 9), (7, 4)]):
            ids = random_sources(seed, batch, length)
            expected = decode(ids)
            seen.update(expected.ravel().tolist())
            np.testing.assert_array_equal(run(ids), expected)
            padded = run(np.pad(ids, ((0, 0), (0, 5))))
            np.testing.assert_array_equal(padded, expected)
        assert run(np.zeros((0, 4), "int32")).shape == (0, 0)
    assert len(seen) > 4  # the model does say something


@pytest.mark.long
@needs_tensorflow
def test_onnx_decodes_as_the_model_does(tmp_path):
    """The last batch comes out wrong where `where` is translated as tf2onnx would have it."""
    translator = small_translator()
    export_translator(translator, tmp_path / "served", num_beams=3, format="onnx")
    names = sorted(path.name for path in (tmp_path / "served").iterdir())
    assert names == ["export.json", "model.onnx", "source.json", "target.json"]
    record = json.loads((tmp_path / "served" / "export.json").read_text(encoding="utf-8"))
    assert record["model_format"] == "onnx"
    run = load_onnx(tmp_path / "served")
    for seed, (batch, length) in enumerate([(1, 1), (2, 9), (7, 4)]):
        ids = random_sources(seed, batch, length)
        expected = beam_search(translator.model, ids, 3)
        np.testing.assert_array_equal(run(ids), expected)
        np.testing.assert_array_equal(run(np.pad(ids, ((0, 0), (0, 5)))), expected)
    with pytest.raises(Exception, match="out of data bounds"):
        run(np.array([[VOCABULARY, 3]], "int32"))


def load_onnx(directory):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4  # no lines of C++ about the errors that a test expects
    model = onnxruntime.InferenceSession(directory / "model.onnx", options)
    return lambda ids: model.run(["translation"], {"token_ids": ids})[0]


def load_saved_model(directory):
    import tensorflow as tf

    model = tf.saved_model.load(str(directory / "model"))
    return lambda ids: model.translate(ids)["translation"].numpy()


@pytest.mark.long
@needs_tensorflow
def test_served_by_a_process_that_knows_neither_the_package_nor_keras(tmp_path):
    translator = nlp104.load_pretrained("grammar")
    directory = tmp_path / "new" / "served"
    export_translator(translator, directory, num_beams=2)
    batches = [SENTENCES, SENTENCES[:1], SENTENCES[1:3]]
    answers = serve(directory, batches, tmp_path)
    expected = [translator.translate(sentences, num_beams=2) for sentences in batches]
    assert answers == expected
    assert expected[1] == ["Le chat noir dort."]
    record = json.loads((directory / "export.json").read_text(encoding="utf-8"))
    assert record["num_beams"] == 2
    assert record["max_length"] is None
    names = sorted(path.name for path in directory.iterdir())
    assert names == ["export.json", "model", "source.json", "target.json"]


@pytest.mark.slow
@needs_tensorflow
def test_the_exported_program_refuses_ids_that_are_no_tokens(tmp_path):
    export_translator(small_translator(), tmp_path / "served")
    with pytest.raises(Exception, match="indices"):
        load_saved_model(tmp_path / "served")(np.array([[VOCABULARY, 3]], "int32"))


@pytest.mark.slow
@needs_tensorflow
def test_nothing_is_lost_and_nothing_is_left_half_done(tmp_path, monkeypatch):
    translator = small_translator()
    occupied, file, empty = tmp_path / "occupied", tmp_path / "file", tmp_path / "empty"
    occupied.mkdir()
    (occupied / "mine").write_text("precious")
    file.write_text("precious")
    empty.mkdir()
    for path in (occupied, file):
        with pytest.raises(FileExistsError, match="Expected a new or empty directory"):
            export_translator(translator, path)
    with pytest.raises(OSError, match="file"):
        export_translator(translator, file / "inside")

    def fails(*_):
        raise OSError("the disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(Tokenizer, "save", fails)
        with pytest.raises(OSError, match="the disk is full"):
            export_translator(translator, empty)
    assert sorted(path.name for path in tmp_path.rglob("*")) == [
        "empty",
        "file",
        "mine",
        "occupied",
    ]
    assert (occupied / "mine").read_text() == file.read_text() == "precious"
    export_translator(translator, empty)
    assert (empty / "export.json").exists()


@needs_tensorflow
def test_an_empty_directory_stays_the_one_that_it_was(tmp_path, monkeypatch):
    """It may be the current one, or at the end of a link."""
    monkeypatch.setattr(export, "_write_saved_model", lambda program, path: Path(path).mkdir())
    here, there, link = tmp_path / "here", tmp_path / "there", tmp_path / "link"
    here.mkdir()
    there.mkdir()
    link.symlink_to(there)
    monkeypatch.chdir(here)
    for directory in (".", link, "new"):
        if directory == "new":
            monkeypatch.chdir(tmp_path)
        before = os.stat(directory).st_ino if directory != "new" else None
        export_translator(small_translator(), directory, length_penalty=np.float32(1), num_beams=2)
        assert before in (None, os.stat(directory).st_ino)
        names = ["export.json", "model", "source.json", "target.json"]
        assert sorted(os.listdir(directory)) == names
    assert link.is_symlink()
    assert sorted(os.listdir(tmp_path)) == ["here", "link", "new", "there"]
    with pytest.raises(FileExistsError, match=f"new or empty directory. Received: {tmp_path}"):
        export_translator(small_translator(), ".")


@needs_tensorflow
def test_what_never_ends_is_cut_off_where_the_model_ends():
    model = make_model(1, num_layers=1, max_sequence_length=20)
    model.output_head.bias.assign(np.where(np.arange(VOCABULARY) == END_ID, -1e9, 0.0))
    program = export._program(model, max_length=None, num_beams=1, length_penalty=0.6)
    ids = np.full((1, 15), 4, "int32")  # and 50 more would be 65
    written = keras.ops.convert_to_numpy(program(keras.ops.convert_to_tensor(ids))["translation"])
    assert written.shape == (1, model.max_sequence_length) == (1, 20)
    np.testing.assert_array_equal(written, greedy(model, ids))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_beams": 0}, "`num_beams` must be a positive integer. Received: 0"),
        ({"max_length": 71}, r"max_sequence_length=70\. Received: 71"),
        ({"length_penalty": -1.0}, "`length_penalty` must be a number from 0 to 10"),
        ({"format": "pb"}, "`format` must be one of 'tf_saved_model', 'onnx'. Received: 'pb'"),
    ],
)
def test_says_what_is_wrong_before_it_writes(tmp_path, options, message):
    with pytest.raises(ValueError, match=message):
        export_translator(small_translator(), tmp_path / "served", **options)
    assert not any(tmp_path.iterdir())


def test_other_backends_say_the_way_out(tmp_path, monkeypatch):
    monkeypatch.setattr(keras.backend, "backend", lambda: "jax")
    with pytest.raises(ValueError, match=r"KERAS_BACKEND=jax.*KERAS_BACKEND=tensorflow"):
        export_translator(small_translator(), tmp_path / "served")


@needs_tensorflow
def test_without_tf2onnx_the_way_out_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ValueError, match="pip install tf2onnx"):
        export_translator(small_translator(), tmp_path / "served", format="onnx")
    assert not any(tmp_path.iterdir())


@pytest.mark.slow
@needs_tensorflow
def test_the_command_line_exports_what_it_translates(tmp_path, capsys):
    model, served = str(pretrained.FOLDER / "grammar"), str(tmp_path / "served")
    assert main(["export", "--model", model, "--output", served, "--max-length", "3"]) == 0
    assert served in capsys.readouterr().out
    translator = Translator.load(model)
    ids = np.array([[*translator.source_tokenizer.encode(SENTENCES[0]), END_ID]], "int32")
    found = load_saved_model(tmp_path / "served")(ids)
    np.testing.assert_array_equal(found, greedy(translator.model, ids, 3))
    assert main(["export", "--model", model, "--output", served]) == 1
    assert "Expected a new or empty directory" in capsys.readouterr().err


@pytest.mark.slow
@needs_tensorflow
def test_the_exported_tokenizers_are_the_translators(tmp_path):
    """What is added: `[END]` and padding where sentences are read."""
    translator = nlp104.load_pretrained("grammar")
    export_translator(translator, tmp_path / "served", max_length=3)
    translator.save(tmp_path / "saved")
    source = tokenizers.Tokenizer.from_file(str(tmp_path / "served" / "source.json"))
    ids = translator.source_tokenizer.encode_batch([*SENTENCES, "", "[END] [PAD]"])
    width = max(map(len, ids)) + 1
    rows = [[*row, END_ID, *[0] * (width - 1 - len(row))] for row in ids]
    assert [row.ids for row in source.encode_batch([*SENTENCES, "", "[END] [PAD]"])] == rows
    target = [(tmp_path / name / "target.json").read_bytes() for name in ("served", "saved")]
    assert target[0] == target[1]


def test_a_page_is_one_file(tmp_path):
    path = tmp_path / "new" / "page.html"
    export_page(nlp104.load_pretrained("grammar"), path, "mine")
    assert [*path.parent.iterdir()] == [path]
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")
    with pytest.raises(FileExistsError, match=r"Expected a new file\. Received: .*page\.html"):
        export_page(nlp104.load_pretrained("grammar"), path)
    words = Tokenizer.train(["a b c d e f g h i"], kind="word")
    odd = Translator(make_model(activation="elu"), words, words)
    with pytest.raises(ValueError, match="Expected an activation"):
        export_page(odd, tmp_path / "odd.html")
    assert [path.name for path in tmp_path.iterdir()] == ["new"]


@pytest.mark.slow
def test_the_command_line_writes_a_page(tmp_path, capsys):
    path = tmp_path / "page.html"
    command = ["export", "--model", "grammar", "--output", str(path), "--format", "web"]
    assert main([*command, "--beams", "4", "--max-length", "9"]) == 1
    assert "Received: max_length, num_beams." in capsys.readouterr().err
    assert main(command) == 0
    assert str(path) in capsys.readouterr().out
    card = pretrained.read_card(pretrained.FOLDER / "grammar")
    written = path.read_text(encoding="utf-8")
    assert written == web.page(nlp104.load_pretrained("grammar"), "grammar", card)
    assert main(command) == 1
    assert "Expected a new file" in capsys.readouterr().err

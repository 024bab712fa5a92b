"""What users get wrong: one clear sentence, an exit status, and nothing half-written."""

import contextlib
import errno
import io
import itertools
import json
import math
import os
import shutil
import sys

import keras
import numpy as np
import pytest
from full_disk import full_disk

from nlp104.cli import commands
from nlp104.cli.main import main
from nlp104.data.batches import Batches
from nlp104.data.corpus import load_corpus
from nlp104.data.named_corpora import CORPORA
from nlp104.data.tokenizer import END_ID, Tokenizer
from nlp104.decoding.greedy import greedy
from nlp104.training.run_record import write_record
from nlp104.training.settings import complete_settings
from nlp104.transformer.language_model import LanguageModel
from nlp104.transformer.model import Transformer
from nlp104.translation import evaluation
from nlp104.translation.translator import Translator
from nlp104.utils.errors import InputError
from nlp104.utils.quiet import silenced

SENTENCES = ["one cat", "two dogs", "three birds", "four fish", "five cows", "six frogs"]
SIZES = {"num_layers": 1, "hidden_dim": 8, "intermediate_dim": 8, "num_heads": 2}
SIZE_OPTIONS = [f"--{key.replace('_', '-')}={value}" for key, value in SIZES.items()]
PAIRS = "".join(f"{s} {i}\t{s.upper()} {i}\n" for i in range(4) for s in SENTENCES)


@pytest.fixture
def fails(capsys):
    """Runs a command that must fail, and returns what its one line of error says."""

    def run(*arguments):
        status = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        assert status == 1
        assert "Traceback" not in captured.err
        assert "bug" not in captured.err
        start, _, message = captured.err.partition(": error: ")
        assert start == f"nlp104 {arguments[0]}"
        assert message.count("\n") == 1
        assert message.endswith("\n")
        return message.strip()

    return run


@pytest.fixture
def refuses(tmp_path, fails):
    """Trains on bad data, which must fail and write nothing, and returns the message."""

    def run(content, *options):
        data, output = tmp_path / "data.tsv", tmp_path / "run"
        if content is not None:
            data.write_bytes(content.encode() if isinstance(content, str) else content)
        before = sorted(tmp_path.rglob("*"))
        message = fails("train", "--data", data, "--output", output, *SIZE_OPTIONS, *options)
        assert sorted(tmp_path.rglob("*")) == before
        return message

    return run


@pytest.fixture
def model(tmp_path):
    """The directory of a small translator, as `nlp104 train` leaves it."""
    directory = tmp_path / "model"
    tokenizer = Tokenizer.train(SENTENCES, kind="word")
    network = Transformer.from_config(
        {**SIZES, "vocabulary_size": tokenizer.vocabulary_size, "max_sequence_length": 64}
    )
    Translator(network, tokenizer, tokenizer).save(directory)
    settings = complete_settings({"data": str(tmp_path / "data.tsv")})
    write_record(directory, {"settings": settings})
    return directory


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A directory with pairs, and with a run of one epoch."""
    folder = tmp_path_factory.mktemp("trained")
    (folder / "data.tsv").write_text(PAIRS, encoding="utf-8")
    options = ["--data", str(folder / "data.tsv"), "--output", str(folder / "run"), *SIZE_OPTIONS]
    assert main(["train", *options, "--epochs", "1", "--quiet"]) == 0
    return folder


@pytest.fixture
def resumes(trained, tmp_path, fails):
    """Continues a copy of that run, which must fail: the run, and a function for the message."""
    shutil.copytree(trained, tmp_path, dirs_exist_ok=True)
    options = ["--data", tmp_path / "data.tsv", "--output", tmp_path / "run"]
    return tmp_path / "run", lambda: fails("train", *options, "--resume", "--quiet")


# Data


def test_empty_file(refuses):
    message = refuses("")
    assert "Expected sentence pairs" in message
    assert "data.tsv" in message


def test_fewer_than_two_columns(refuses):
    message = refuses("good morning\tbonjour\nno tab here\n")
    assert "at least 2 tab-separated columns" in message
    assert "line 2" in message
    assert "Received: 1 ('no tab here')" in message


def test_empty_sentences(refuses):
    assert "Received: none" in refuses("one\t\n\tdeux\n \t \n")


def test_bytes_that_are_not_utf8(refuses):
    message = refuses("one\tun\ntwo\tdeux\nsummer\t\xe9t\xe9\n".encode("latin-1"))
    assert "Expected UTF-8" in message
    assert "0xe9 in line 3, byte 8" in message


def test_unequal_line_counts(tmp_path, fails):
    (tmp_path / "train.en").write_text("one\ntwo\nthree\n", encoding="utf-8")
    (tmp_path / "train.fr").write_text("un\ndeux\n", encoding="utf-8")
    message = fails("train", "--data", tmp_path / "train", "--output", tmp_path / "run")
    assert "Expected as many lines in both files" in message
    assert "3 in" in message
    assert "2 in" in message
    assert not (tmp_path / "run").exists()


def test_missing_file_or_unknown_corpus(refuses, fails, tmp_path):
    assert "data.tsv" in refuses(None)
    message = fails("train", "--data", "fra-end", "--output", tmp_path / "run")
    assert "'fra-end'" in message
    assert "fra-eng" in message
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("part", ["data", "validation", "test"])
def test_an_empty_name_of_a_file_is_no_default(fails, tmp_path, part):
    """As of a variable of the shell that is not set: other pairs would be taken in silence."""
    (tmp_path / "pairs.tsv").write_text(PAIRS, encoding="utf-8")
    names = {"data": tmp_path / "pairs.tsv", part: ""}
    options = [word for name, file in names.items() for word in (f"--{name}", file)]
    message = fails("train", *options, *SIZE_OPTIONS, "--output", tmp_path / "run")
    assert "Received: '', but there is no file without a name" in message
    assert not (tmp_path / "run").exists()


def test_languages_that_a_corpus_does_not_have(fails, tmp_path):
    options = ["--data", "grammar", "--target", "de", "--output", tmp_path / "run"]
    message = fails("train", *options)
    assert "from en to fr" in message
    assert "to de" in message


@pytest.mark.parametrize("count", [1, 2])
def test_too_few_pairs_to_divide(refuses, count):
    message = refuses("".join(PAIRS.splitlines(keepends=True)[:count]))
    assert "Expected enough" in message
    assert f"Received: {count}" in message


@pytest.mark.slow
def test_three_pairs_are_enough(tmp_path):
    (tmp_path / "data.tsv").write_text("a\tx\nb\ty\nc\tz\n", encoding="utf-8")
    options = ["--data", tmp_path / "data.tsv", "--output", tmp_path / "run", "--epochs", "1"]
    assert main([str(argument) for argument in ["train", *options, *SIZE_OPTIONS]]) == 0
    assert (tmp_path / "run" / "model.keras").exists()


def test_no_pairs_for_validation(refuses):
    message = refuses("a\tx\na\ty\na\tz\n")
    assert "Expected pairs for validation in" in message
    assert "--validation" in message


def test_more_pairs_than_the_grammar_has(fails, tmp_path):
    options = ["--data", "grammar", "--pairs", 10**12, "--output", tmp_path / "run"]
    assert "Received: 1000000000000" in fails("train", *options)


def test_own_parts_for_a_corpus_that_has_parts(fails, tmp_path):
    options = ["--data", "grammar", "--test", "mine.tsv", "--output", tmp_path / "run"]
    assert "grammar" in fails("train", *options)


def test_a_directory_for_corpora_that_is_not_there(fails, tmp_path):
    options = ["--data", "fra-eng", "--data-dir", tmp_path / "none", "--output", tmp_path / "run"]
    assert "Expected a directory with corpora" in fails("train", *options)


def test_a_corpus_has_its_languages_and_its_archive_is_whole(fails, tmp_path):
    folder = tmp_path / CORPORA["fra-eng"].folder
    folder.mkdir()
    (folder / CORPORA["fra-eng"].archives[0].name).write_bytes(b"no archive")
    options = ["--data", "fra-eng", "--data-dir", tmp_path, "--output", tmp_path / "run"]
    assert "Expected an archive with" in fails("train", *options)
    assert "Expected the languages of fra-eng" in fails("train", *options, "--target", "de")


def test_lines_that_are_all_too_long(refuses):
    lines = [" ".join(f"{word}{i}" for i in range(10_000)) for word in "abc"]
    message = refuses("".join(f"{line}\t{line.upper()}\n" for line in lines))
    assert "at most 128 tokens" in message


def test_one_line_of_ten_thousand_words_among_others(tmp_path):
    """A long line is no reason to refuse a corpus: training leaves it out (and says so)."""
    data = tmp_path / "data.tsv"
    data.write_text(PAIRS + f"{'very ' * 10_000}long\ttrès long\n", encoding="utf-8")
    pairs = load_corpus(data, sizes=(None, 0, 0)).train
    ids = [Tokenizer.train(side).encode_batch(side) for side in zip(*pairs, strict=True)]
    batches = Batches(*ids, max_length=128)
    assert (batches.num_pairs, batches.num_dropped) == (24, 1)


# Options


@pytest.mark.parametrize(
    ("option", "value", "told"),
    [
        ("--epochs", "0", "an integer of at least 1, found '0'"),
        ("--epochs", "-1", "an integer of at least 1, found '-1'"),
        ("--epochs", "ten", "an integer of at least 1, found 'ten'"),
        ("--batch-size", "1.5", "an integer of at least 1, found '1.5'"),
        ("--learning-rate", "nan", "a number above 0, found 'nan'"),
        ("--learning-rate", "inf", "a number above 0, found 'inf'"),
        ("--learning-rate", "0", "a number above 0, found '0'"),
        ("--dropout", "1", "a number from 0 to less than 1, found '1'"),
        ("--dropout", "nan", "a number from 0 to less than 1, found 'nan'"),
        ("--label-smoothing", "-0.1", "a number from 0 to less than 1, found '-0.1'"),
        ("--seed", "-9", "an integer from 0 to 4294967295, found '-9'"),
        ("--seed", "4294967296", "an integer from 0 to 4294967295, found '4294967296'"),
        ("--preset", "huge", "invalid choice: 'huge'"),
        ("--tokens", "letters", "invalid choice: 'letters'"),
        ("--epoch", "3", "unrecognized arguments: --epoch 3"),
    ],
)
def test_options_that_make_no_sense(capsys, tmp_path, option, value, told):
    with pytest.raises(SystemExit, match="2"):
        main(["train", "--data", "grammar", "--output", str(tmp_path / "run"), option, value])
    assert told in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "required: COMMAND"),
        (["learn"], "invalid choice: 'learn'"),
        (["train", "--output", "run"], "train needs --data"),
        (["train", "--data", "grammar"], "required: --output"),
        (["translate", "a sentence"], "required: --model"),
        (["serve", "--port=--"], "argument --port: expected one argument"),
    ],
)
def test_options_that_are_missing(capsys, arguments, told):
    with pytest.raises(SystemExit, match="2"):
        main(arguments)
    assert told in capsys.readouterr().err


@pytest.mark.parametrize("command", ["translate", "evaluate"])
@pytest.mark.parametrize(
    ("option", "value", "told"),
    [
        ("--beams", "0", "an integer of at least 1, found '0'"),
        ("--length-penalty", "-1", "a number from 0 to 10, found '-1'"),
        ("--length-penalty", "11", "a number from 0 to 10, found '11'"),
        ("--length-penalty", "nan", "a number from 0 to 10, found 'nan'"),
        ("--batch-size", "0", "an integer of at least 1, found '0'"),
    ],
)
def test_options_of_decoding_that_make_no_sense(capsys, command, option, value, told):
    with pytest.raises(SystemExit, match="2"):
        main([command, "--model", "run", option, value])
    assert told in capsys.readouterr().err


def test_hidden_dim_not_divisible_by_num_heads(refuses):
    message = refuses(PAIRS, "--hidden-dim", "10", "--num-heads", "4")
    assert "10" in message
    assert "4" in message
    assert "divisible" in message


def test_hidden_dim_that_is_odd(refuses):
    message = refuses(PAIRS, "--hidden-dim", "5", "--num-heads", "1")
    assert "even" in message
    assert "5" in message


def test_max_length_beyond_the_model(refuses, fails, model):
    message = refuses(PAIRS, "--max-length", "2049")
    assert message.startswith("Expected --max-length of at most 2,048")
    for command in (["translate"], ["export", "--output", model / "served"]):
        arguments = [*command, "--model", model, "--max-length", "65"]
        message = fails(*arguments, *(["one cat"] if command == ["translate"] else []))
        assert message.endswith("max_sequence_length=64. Received: 65.")


def test_warm_up_that_outlasts_the_training(refuses):
    assert "warm-up" in refuses(PAIRS, "--warmup-steps", "100000")


@pytest.mark.slow
def test_a_loss_that_is_no_number(tmp_path, fails):
    (tmp_path / "data.tsv").write_text(PAIRS, encoding="utf-8")
    options = ["--data", tmp_path / "data.tsv", "--output", tmp_path / "run", *SIZE_OPTIONS]
    options += ["--learning-rate", "1e38", "--warmup-steps", "1", "--batch-size", "1", "--quiet"]
    assert "lower the learning rate" in fails("train", *options)


def test_vocabulary_too_small_for_the_characters(refuses):
    message = refuses(PAIRS, "--tokens", "bpe", "--vocabulary-size", "10")
    assert "`vocabulary_size` must be at least" in message
    assert "Received: 10" in message


# Output


def test_output_that_exists(tmp_path, fails):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "precious.txt").write_text("mine", encoding="utf-8")
    message = fails("train", "--data", "grammar", "--output", tmp_path / "run")
    assert "Expected a new directory" in message
    assert str(tmp_path / "run") in message
    assert [path.name for path in tmp_path.rglob("*")] == ["run", "precious.txt"]
    message = fails("train", "--data", "grammar", "--output", tmp_path / "run" / "precious.txt")
    assert "Expected a new directory" in message
    assert (tmp_path / "run" / "precious.txt").read_text(encoding="utf-8") == "mine"


def test_output_that_cannot_be_made(refuses, tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    assert "Not a directory" in refuses(PAIRS, "--output", tmp_path / "file" / "run")


def test_no_permission_to_write(refuses, tmp_path):
    if os.geteuid() == 0:
        pytest.skip("root may write everywhere")
    (tmp_path / "locked").mkdir(mode=0o500)
    assert "Permission denied" in refuses(PAIRS, "--output", tmp_path / "locked" / "run")


def test_no_space_left(tmp_path, fails):
    (tmp_path / "data.tsv").write_text(PAIRS, encoding="utf-8")
    options = ["--data", tmp_path / "data.tsv", "--output", tmp_path / "run", *SIZE_OPTIONS]
    with full_disk(limit=100):
        message = fails("train", *options)
    assert os.strerror(errno.EFBIG) in message
    assert not list(tmp_path.rglob("*.json"))


def test_resume_without_a_run(fails, tmp_path):
    for directory, told in ((tmp_path / "run", "does not exist"), (tmp_path, "has no run.json")):
        message = fails("train", "--data", "grammar", "--output", directory, "--resume")
        assert "Expected a directory that `nlp104 train` made" in message
        assert told in message
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "[]",
        "{}",
        '{"format": "other"}',
        '{"settings": 1}',
        '{"format": "nlp104 run 1"}',
        '{"format": "nlp104 run 1", "settings": 1}',
    ],
)
def test_damaged_run_json(fails, tmp_path, content):
    (tmp_path / "run.json").write_text(content, encoding="utf-8")
    message = fails("train", "--data", "grammar", "--output", tmp_path, "--resume")
    assert "damaged or something else" in message


@pytest.mark.slow
def test_resuming_a_run_whose_files_have_changed(resumes):
    """The record, the state and the weights of a run may each be damaged, or those of another."""
    run, message = resumes
    state = run / "checkpoints" / "latest.npz"
    (run / "checkpoints" / "best.weights.h5").write_bytes(b"")
    assert "best.weights.h5 is missing, damaged" in message()
    whole = state.read_bytes()
    (run / "checkpoints" / "previous.npz").unlink(missing_ok=True)
    state.write_bytes(whole[:1000])
    assert "latest.npz is damaged" in message()
    with np.load(io.BytesIO(whole)) as file:
        arrays = dict(file)
    position = json.loads(str(arrays["position"]))
    position["data"]["tokens"] += 1
    np.savez(state, **(arrays | {"position": np.array(json.dumps(position))}))
    assert message().startswith("Expected the training data of ")
    del arrays["model/0"]
    np.savez(state, **arrays)
    assert "another model or optimizer" in message()
    record = json.loads((run / "run.json").read_text(encoding="utf-8"))
    write_record(run, record | {"data": None})
    assert "other" in message()
    del record["data"]
    write_record(run, record)
    assert "other sentence pairs" in message()


@pytest.mark.slow
def test_no_checkpoint_is_left_to_average(resumes):
    run, message = resumes
    record = json.loads((run / "run.json").read_text(encoding="utf-8"))
    record["settings"]["average"] = 2
    write_record(run, record)
    for path in (run / "checkpoints").glob("epoch-*"):
        path.unlink()
    assert message() == "Expected at least one checkpoint to average. Received: none."


@pytest.mark.skipif(
    keras.backend.backend() != "tensorflow", reason="the other backends refuse before all this"
)
def test_exports_that_cannot_be_made(fails, model, monkeypatch):
    before = sorted(model.rglob("*"))
    options = ["--model", model, "--output", model]
    assert "Expected a new or empty directory" in fails("export", *options)
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    assert "tf2onnx" in fails("export", *options, "--format", "onnx")
    monkeypatch.setattr(keras.backend, "backend", lambda: "jax")
    assert "KERAS_BACKEND=jax" in fails("export", *options)
    assert sorted(model.rglob("*")) == before


# Models


@pytest.mark.parametrize("command", ["translate", "evaluate"])
def test_no_model_directory(fails, tmp_path, command):
    assert "does not exist" in fails(command, "--model", tmp_path / "none")
    assert "has no" in fails(command, "--model", tmp_path)
    (tmp_path / "file").touch()
    assert "is no directory" in fails(command, "--model", tmp_path / "file")


def test_a_place_that_cannot_be_written_is_called_by_its_own_name(tmp_path):
    path = tmp_path / "none" / "tokenizer.json"
    with pytest.raises(FileNotFoundError) as raised:
        Tokenizer.train(SENTENCES).save(path)
    assert raised.value.filename == str(path)


def test_truncated_model(fails, model):
    content = (model / "model.keras").read_bytes()
    for size in (0, 100, len(content) // 2, len(content) - 10):
        (model / "model.keras").write_bytes(content[:size])
        assert "model.keras. Received: a damaged file" in fails(
            "translate", "--model", model, "one cat"
        )


def test_a_byte_of_the_model_has_changed(fails, model):
    content = bytearray((model / "model.keras").read_bytes())
    content[len(content) // 2] ^= 1
    (model / "model.keras").write_bytes(content)
    assert "model.weights.h5 is damaged" in fails("translate", "--model", model, "one cat")


def test_truncated_tokenizer(fails, model):
    content = (model / "tokenizer.json").read_bytes()
    (model / "tokenizer.json").write_bytes(content[: len(content) // 2])
    message = fails("translate", "--model", model, "one cat")
    assert "tokenizer.json" in message
    assert "damaged" in message


def test_missing_tokenizer(fails, model):
    (model / "tokenizer.json").unlink()
    message = fails("translate", "--model", model, "one cat")
    assert message.startswith("No such file or directory: ")
    assert message.endswith("source.json")


def test_foreign_model(fails, model):
    inputs = keras.Input((3,))
    keras.Model(inputs, keras.layers.Dense(2)(inputs)).save(model / "model.keras")
    assert "Expected a Transformer" in fails("translate", "--model", model, "one cat")


def test_tokenizer_of_another_model(fails, model):
    Tokenizer.train(["a b c"], kind="word").save(model / "tokenizer.json")
    message = fails("translate", "--model", model, "a b")
    assert "Expected vocabularies of" in message
    assert "Received: 7 and 7" in message


def test_a_translator_of_what_does_not_translate():
    tokenizer = Tokenizer.train(SENTENCES, kind="word")
    config = SIZES | {"vocabulary_size": tokenizer.vocabulary_size, "max_sequence_length": 9}
    for model in (LanguageModel.from_config(config), keras.Sequential()):
        with pytest.raises(ValueError, match=r"Expected a Transformer\. Received: <"):
            Translator(model, tokenizer, tokenizer)


def test_what_could_not_be_loaded_is_not_saved(tmp_path):
    tokenizer = Tokenizer.train(SENTENCES, kind="word")
    config = SIZES | {"vocabulary_size": tokenizer.vocabulary_size, "max_sequence_length": 2**22}
    translator = Translator(Transformer.from_config(config), tokenizer, tokenizer)
    with pytest.raises(ValueError, match=r"positions that take 33,554,432 numbers, more than 16,"):
        translator.save(tmp_path / "large")
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize("one", [True, False], ids=["one tokenizer", "two"])
@pytest.mark.slow
def test_a_save_that_fails_leaves_the_old_translator_or_none(model, monkeypatch, one, tmp_path):
    """Never the weights of the old one with the words of the new one, which would load."""
    words = [sentence.upper() for sentence in SENTENCES]
    source, target = (Tokenizer.train(words, kind="word") for _ in range(2))
    old, calls = Translator.load(model), []
    new = Translator(Transformer.from_config(old.model.get_config()), source, target)
    if one:
        new.target_tokenizer = source

    def parts(translator):
        weights = [weight.tobytes() for weight in translator.model.get_weights()]
        tokenizers = translator.source_tokenizer, translator.target_tokenizer
        return weights, [tokenizer.to_str() for tokenizer in tokenizers]

    def failing(function, last):
        def call(*arguments, **options):
            calls.append(function)
            if len(calls) == last:
                raise OSError(errno.EIO, "no")
            return function(*arguments, **options)

        return call

    left = []
    for last in itertools.count(1):
        directory = shutil.copytree(model, tmp_path / f"copy {last}")
        calls.clear()
        with monkeypatch.context() as patched:
            for name in ("replace", "fsync"):
                patched.setattr(os, name, failing(getattr(os, name), last))
            with contextlib.suppress(OSError):
                new.save(directory)
        if len(calls) < last:
            break  # nothing was left to fail
        try:
            assert parts(Translator.load(directory)) == parts(old)
            left.append("old")
        except FileNotFoundError:
            left.append("none")
    assert {"old", "none"} == set(left)
    assert parts(Translator.load(directory)) == parts(new)
    kept = {"tokenizer.json"} if one else {"source.json", "target.json"}
    assert {path.name for path in directory.iterdir()} == {"model.keras", "run.json"} | kept


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"max_length": -1}, "`max_length` must be an integer between 1 and .*=64. Received: -1"),
        ({"max_length": 2.5}, "`max_length` must be an integer between 1 and .* Received: 2.5"),
        ({"length_penalty": -1}, "`length_penalty` must be a number from 0 to 10. Received: -1"),
        ({"length_penalty": math.nan}, "`length_penalty` must be a number .* Received: nan"),
        ({"num_beams": True}, "`num_beams` must be a positive integer. Received: True"),
    ],
)
def test_options_are_looked_at_before_the_work_begins(model, options, told):
    """Where nothing is to be translated, and where they do not matter, too."""
    translator = Translator.load(model)
    with pytest.raises(ValueError, match=told):
        translator.translate([""], **options)
    if "max_length" not in options:
        with pytest.raises(ValueError, match=told):
            translator.attention("one cat", "two dogs", **options)


def test_a_translation_that_is_too_long_to_look_at(model):
    translator = Translator.load(model)
    assert len(translator.attention("one cat", "cat " * 63).decoder_tokens) == 64
    with pytest.raises(InputError, match=r"of at most 63 tokens\. Received: 64 in translation 1\."):
        translator.attention("one cat", "cat " * 64)


@pytest.mark.parametrize("num_beams", [1, 2])
@pytest.mark.slow
def test_a_translation_that_never_ends_can_be_looked_at(model, num_beams):
    translator = Translator.load(model)
    bias = translator.model.output_head.bias
    bias.assign(np.where(np.arange(bias.shape[0]) == END_ID, -1e3, bias))
    looked = translator.attention("one cat " * 10, num_beams=num_beams)
    assert len(looked.decoder_tokens) == len(looked.target_tokens) == 64
    assert looked.target_tokens[:-1] == looked.decoder_tokens[1:]
    assert "[END]" not in looked.target_tokens
    assert looked.translation == translator.translate(["one cat " * 10], num_beams=num_beams)[0]


# Sentences


def test_an_output_that_cannot_hold_a_translation(fails, model, monkeypatch):
    monkeypatch.setattr(Translator, "translate", lambda *_, **__: ["un cœur"])
    output = io.TextIOWrapper(io.BytesIO(), encoding="latin-1")
    monkeypatch.setattr(sys, "stdout", output)
    message = fails("translate", "--model", model, "one cat")
    assert message.startswith("Expected an output that can hold 'œ'. Received: one of latin-1.")
    assert "PYTHONIOENCODING=utf-8" in message


def test_sentence_of_ten_thousand_words(fails, model):
    message = fails("translate", "--model", model, "one cat", "cat " * 10_000)
    assert "Received: 10,000 in sentence 2" in message
    assert "at most 63" in message


def test_sentence_that_is_not_utf8(fails, model):
    """Python hands on a byte that is no UTF-8 as half of a pair of surrogates."""
    message = fails("translate", "--model", model, "one cat", "un \udce9t\udce9")
    assert message == "Expected Unicode text. Received: 'un \\udce9t\\udce9'."


def test_a_model_that_nobody_could_make(refuses):
    assert "at most 1,000 layers" in refuses(PAIRS, "--num-layers", "70000000000")
    assert "10,000,000,000 weights" in refuses(PAIRS, "--hidden-dim", "70000000000")


def test_line_that_is_not_utf8(fails, model, monkeypatch, capsys):
    lines = "one cat\nun \xe9t\xe9\n".encode("latin-1")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(lines)))
    message = fails("translate", "--model", model)
    assert message == "Expected UTF-8 text. Received: byte 0xe9 at byte 4 of line 2."


@pytest.mark.slow
def test_a_sentence_after_others(fails, model, monkeypatch):
    lines = "\n".join(["one cat"] * commands.AT_A_TIME + ["cat " * 100])
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(lines.encode())))
    assert fails("translate", "--model", model).startswith("After 256 sentences: Expected")


def test_evaluate_without_its_data(fails, model, tmp_path):
    assert "data.tsv" in fails("evaluate", "--model", model)
    (tmp_path / "data.tsv").write_text("a\tx\na\ty\na\tz\n", encoding="utf-8")
    assert "Expected test pairs in" in fails("evaluate", "--model", model)
    assert "Expected --data" in fails("evaluate", "--model", "grammar")


def test_ids_outside_the_vocabulary(model):
    translator = Translator.load(model)
    size = translator.model.vocabulary_size
    for bad in (size, -1):
        ids = np.array([[4, bad, 3]])
        good = np.array([[4, 5, 3]])
        for source, target in ((ids, good), (good, ids)):
            with pytest.raises(ValueError, match=rf"0 and {size - 1}\. .*{bad}"):
                translator.model({"encoder_token_ids": source, "decoder_token_ids": target})
        with pytest.raises(ValueError, match=f"{bad}"):
            greedy(translator.model, ids)
        with pytest.raises(ValueError, match=rf"0 .* {size - 1}\. Received: {bad}"):
            translator.target_tokenizer.decode([4, bad])


@pytest.mark.parametrize(
    "call",
    [
        lambda text: Tokenizer.train(text, kind="word"),
        lambda text: Tokenizer.train([text], kind="word").encode_batch(text),
        lambda text: evaluation.bleu(text, [text]),
        lambda text: evaluation.exact_match([text], text),
    ],
)
def test_a_string_is_no_list_of_letters(call):
    with pytest.raises(ValueError, match=r"must be a list of strings. Received: 'il dort'"):
        call("il dort")


def test_the_command_line_runs_where_standard_error_is_closed(monkeypatch):
    monkeypatch.setattr(sys, "stderr", None)
    with silenced():
        pass

"""The command line from end to end: train, stop, resume, translate, evaluate."""

import contextlib
import csv
import io
import json
import os
import platform
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import keras
import numpy as np
import pytest

from nlp104 import decoding, transformer
from nlp104.cli import train as cli_train
from nlp104.cli.main import main
from nlp104.cli.options import make_parser
from nlp104.data import named_corpora
from nlp104.data.corpus import load_corpus
from nlp104.data.tokenizer import Tokenizer
from nlp104.training.pipeline import build_model, make_batches
from nlp104.training.settings import DEFAULTS, complete_settings, resumed_settings
from nlp104.transformer import config
from nlp104.translation.evaluation import bleu, exact_match
from nlp104.translation.translator import Translator

ROOT = Path(__file__).parents[1]
SIZES = ["--num-layers", "1", "--hidden-dim", "16", "--intermediate-dim", "16", "--num-heads", "2"]
OPTIONS = [*SIZES, "--batch-size", "1", "--max-length", "8", "--epochs", "2"]


def run(*arguments, stdin=""):
    """Runs a command in this process; returns its status and what it wrote to both outputs."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        old, sys.stdin = sys.stdin, io.TextIOWrapper(io.BytesIO(stdin.encode()))
        try:
            status = main([str(argument) for argument in arguments])
        finally:
            sys.stdin = old
    return status, out.getvalue(), err.getvalue()


def short(pair):
    """Whether a pair fits into eight tokens: one shape of batches, so one program to compile."""
    return max(len(re.findall(r"\w+|[^\w ]", sentence)) for sentence in pair) < 7


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Options that name three files: 200 pairs of the grammar and 5 too long ones, 10, and 10."""
    directory, options = tmp_path_factory.mktemp("data"), []
    corpus = load_corpus("grammar", sizes=(2000, 500, 500))
    for option, split, size in (
        ("data", "train", 200),
        ("validation", "validation", 10),
        ("test", "test", 10),
    ):
        pairs = [pair for pair in getattr(corpus, split) if short(pair)][:size]
        if split == "train":
            pairs += [(f"{source} " * 8, target) for source, target in pairs[:5]]
        path = directory / f"{split}.tsv"
        lines = [f"{source}\t{target}\n" for source, target in pairs]
        path.write_text("".join(lines), encoding="utf-8")
        options += [f"--{option}", str(path)]
    return options


@pytest.fixture(scope="module")
def trained(data, tmp_path_factory):
    """A run of two epochs and what it printed."""
    output = tmp_path_factory.mktemp("cli") / "run"
    status, out, err = run("train", *data, *OPTIONS, "--output", output)
    assert (status, err) == (0, "")
    return output, out


@pytest.fixture(scope="module")
def translator(trained):
    return Translator.load(trained[0])


def weights(directory):
    return keras.saving.load_model(directory / "model.keras", compile=False).get_weights()


def test_help_waits_for_no_backend_and_prints_nothing_else():
    code = """
import sys
from nlp104.cli.main import main
try:
    main(sys.argv[1:])
finally:
    assert not {"keras", "tensorflow", "jax", "tokenizers"} & set(sys.modules)
"""
    for arguments in (["--help"], ["train", "--help"], ["--version"]):
        done = subprocess.run(
            [sys.executable, "-c", code, *arguments], cwd=ROOT, capture_output=True, text=True
        )
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout


@pytest.mark.parametrize("command", ["train", "translate", "evaluate", "export", "serve"])
def test_help_has_examples_that_can_be_typed(command, capsys):
    with pytest.raises(SystemExit, match="0"):
        main([command, "--help"])
    text = capsys.readouterr().out.replace("\\\n", " ")
    examples = re.findall(r"^ +nlp104 (.*?)(?: <.*)?$", text, re.MULTILINE)
    assert examples
    for example in examples:
        assert make_parser().parse_args(shlex.split(example)).command == command


def test_help_names_every_preset_and_corpus_and_the_defaults(capsys):
    with pytest.raises(SystemExit):
        main(["train", "--help"])
    text = " ".join(capsys.readouterr().out.split())
    for name in (*transformer.PRESETS, "grammar", *named_corpora.CORPORA):
        assert name in text
    for key, value in DEFAULTS.items():
        assert "--" + key.replace("_", "-") in text
        assert value is None or f"(default: {value})" in text


def option_words(name, value):
    flag = "--" + name.replace("_", "-")
    return [flag] if value is True else [flag, str(value)]


def test_the_options_of_the_model_reach_it():
    asked = {
        "num_layers": 1,
        "hidden_dim": 8,
        "intermediate_dim": 12,
        "num_heads": 2,
        "positions": "rotary",
        "dropout": 0.25,
        "attention_dropout": 0.2,
        "activation_dropout": 0.3,
        "activation": "gelu",
        "normalize_first": True,
        "attention_gain": 0.5,
        "gated": True,
        "normalization": "rms",
        "num_key_value_heads": 1,
        "attention_window": 4,
    }
    assert set(asked) == set(config.OPTIONS)  # and nothing else is needed for a new one
    typed = [word for name, value in asked.items() for word in option_words(name, value)]
    parsed = vars(make_parser().parse_args(["train", "--output", "run", *typed]))
    assert {name: parsed[name] for name in asked} == asked
    tokenizers = (SimpleNamespace(vocabulary_size=size) for size in (9, 11))
    settings = complete_settings(asked | {"shared_vocabulary": False})
    built = build_model(tokenizers, settings).get_config()
    assert {name: built[name] for name in asked} == asked
    assert (built["source_vocabulary_size"], built["vocabulary_size"]) == (9, 11)


NUMBERS = SimpleNamespace(  # a tokenizer whose words are ids
    encode_batch=lambda sentences: [[*map(int, s.split())] for s in sentences]
)


@pytest.mark.parametrize(
    ("backend", "devices", "lengths"),
    [
        ("tensorflow", ["cpu:0"], {1, 2, 3}),
        ("tensorflow", ["cpu:0", "gpu:0"], {8}),  # Keras turns XLA on
        ("jax", ["cpu:0"], {8}),
        ("torch", ["cpu:0", "gpu:0"], {1, 2, 3}),
    ],
)
def test_there_are_few_shapes_where_each_is_compiled(backend, devices, lengths, monkeypatch):
    monkeypatch.setattr(keras.backend, "backend", lambda: backend)
    monkeypatch.setattr(keras.distribution, "list_devices", lambda: devices)
    pairs = [("4", "4"), ("4 5", "4"), ("", "4")]
    batches = make_batches(pairs, (NUMBERS,) * 2, complete_settings({"batch_size": 1}))
    assert {inputs["encoder_token_ids"].shape[1] for inputs, _ in batches} == lengths


@pytest.mark.parametrize("compiles", [False, True])
def test_shapes_that_will_be_compiled_are_counted(compiles, monkeypatch):
    monkeypatch.setattr(cli_train, "compiles_every_shape", lambda: compiles)
    pairs = [("4", "4"), ("4 5", "4")]
    corpus, said = SimpleNamespace(train=pairs, validation=pairs[:1]), []
    settings = complete_settings({"batch_size": 1})
    training, _ = cli_train._batch(corpus, (NUMBERS,) * 2, settings, said.append)
    counted = f"{len(training.shapes)} shapes, and 1 for validation"
    assert any(counted in line for line in said) == compiles


@pytest.mark.slow
def test_training_says_what_it_trains_on(trained, translator):
    _, out = trained
    model = translator.model
    assert "train.tsv (en → fr): 205 train, 10 validation, 10 test pairs" in out
    assert "left out    5 pairs longer than 8 tokens" in out
    assert f"{model.source_vocabulary_size:,} + {model.vocabulary_size:,} tokens (word)" in out
    assert f"{model.count_params():,} parameters" in out
    epochs = [line for line in out.splitlines() if line.startswith("epoch")]
    assert [line.split()[1] for line in epochs] == ["1/2", "2/2"]
    assert all(re.search(r"val_accuracy 0\.\d+ .*val_loss \d\.\d+", line) for line in epochs)


@pytest.mark.slow
def test_run_directory_records_everything_and_no_place(trained, translator):
    output, _ = trained
    assert {path.name for path in output.iterdir()} == {
        "run.json",
        "source.json",
        "target.json",
        "model.keras",
        "history.csv",
        "checkpoints",
    }
    text = (output / "run.json").read_text(encoding="utf-8")
    record = json.loads(text)
    assert record["settings"].keys() == DEFAULTS.keys()
    assert record["settings"]["data"] == "train.tsv"
    assert record["settings"]["hidden_dim"] == 16
    assert record["languages"] == ["en", "fr"]
    assert record["parameters"] == translator.model.count_params()
    assert record["settings"]["warmup_steps"] > 0
    assert record["versions"]["keras"] == keras.__version__
    assert record["versions"]["backend"] == keras.backend.backend()
    assert record["versions"]["python"] == platform.python_version()
    for place in (str(output.parent), str(Path.home()), os.getcwd(), platform.node()):
        assert place not in text
    with open(output / "history.csv", encoding="utf-8", newline="") as file:
        assert [row["epoch"] for row in csv.DictReader(file)] == ["1", "2"]


@pytest.mark.slow
def test_what_to_type_next_can_be_typed(trained, translator, data):
    _, out = trained
    commands = [line for line in out.splitlines() if line.startswith("  nlp104 ")]
    translate, evaluate = map(shlex.split, commands)
    assert translate[:2] == ["nlp104", "translate"]
    expected = translator.translate(translate[-1:])
    assert run(*translate[1:]) == (0, f"{expected[0]}\n", "")
    assert evaluate[:2] == ["nlp104", "evaluate"]
    status, out, err = run(*evaluate[1:], "--show", "2")
    assert (status, err) == (0, "")
    lines = Path(data[-1]).read_text(encoding="utf-8").splitlines()
    sources, references = zip(*(line.split("\t") for line in lines), strict=True)
    hypotheses = translator.translate(sources)
    assert re.findall(r"^translation ?(.*)$", out, re.MULTILINE) == hypotheses[:2]
    assert f"BLEU        {bleu(hypotheses, references)}\n" in out
    assert "|tok:13a|" in out
    assert f"exact match {exact_match(hypotheses, references):.1%}\n" in out


@pytest.mark.slow
def test_evaluate_takes_another_corpus_split_and_limit(trained):
    options = ["--data", "grammar", "--split", "validation", "--limit", "3"]
    status, out, err = run("evaluate", "--model", trained[0], *options)
    assert (status, err) == (0, "")
    assert (
        run("evaluate", "--model", trained[0], *options, "--show", "0")[1]
        == out[out.index("sentences") :]
    )
    assert "3 of validation, grammar" in out
    shown = re.findall(r"^source +(.*)$", out, re.MULTILINE)
    corpus = load_corpus("grammar", sizes=(200, None, None))
    assert shown == [source for source, _ in corpus.references("validation")[:3]]


@pytest.mark.slow
def test_evaluate_scores_a_model_of_the_book(tmp_path, load_once, monkeypatch):
    """On what it was not trained on: the test part of the split with its seed."""
    monkeypatch.setattr("nlp104.translation.pretrained.load_pretrained", load_once)
    options = ["--model", "grammar", "--limit", "20", "--show", "1"]
    status, out, err = run("evaluate", *options, "--data", "grammar")
    assert (status, err) == (0, "")
    sources, references = zip(*load_corpus("grammar").references("test")[:20], strict=True)
    hypotheses = load_once("grammar").translate(sources)
    assert f"BLEU        {bleu(hypotheses, references)}" in out
    assert "20 of test, grammar" in out
    status, out, err = run("evaluate", *options)
    assert (status, out) == (1, "")
    assert "Expected --data, since the book's model grammar keeps no corpus" in err


def test_translate_gives_one_line_for_each_line(trained, translator):
    sentences = ["The black cat sleeps.", "They drink tea.", "Zyzzyva !"]
    expected = translator.translate(sentences)
    lines = [sentences[0], "", "   ", sentences[1], sentences[2]]
    status, out, err = run("translate", "--model", trained[0], stdin="\r\n".join(lines) + "\r\n")
    assert (status, err) == (0, "")
    assert out.split("\n") == [expected[0], "", "", expected[1], expected[2], ""]
    assert run("translate", "--model", trained[0], "") == (0, "\n", "")
    assert run("translate", "--model", trained[0], stdin="") == (0, "", "")


@pytest.mark.slow
def test_models_of_the_book_have_names_and_a_directory_comes_first(trained, load_once, monkeypatch):
    monkeypatch.setattr("nlp104.translation.pretrained.load_pretrained", load_once)
    sentence = "The black cat sleeps."
    assert run("translate", "--model", "grammar", sentence) == (0, "Le chat noir dort.\n", "")
    monkeypatch.chdir(trained[0].parent)
    trained[0].rename("grammar")
    expected = Translator.load("grammar").translate([sentence])
    assert run("translate", "--model", "grammar", sentence) == (0, f"{expected[0]}\n", "")
    Path("grammar").rename(trained[0])


@pytest.mark.slow
def test_beams_and_length_penalty_reach_the_search(trained, translator, monkeypatch):
    searches = []

    def search(model, encoder_token_ids, num_beams, length_penalty, **options):
        searches.append((num_beams, length_penalty, options))
        return decoding.beam_search(model, encoder_token_ids, num_beams, length_penalty, **options)

    monkeypatch.setattr("nlp104.translation.translator.beam_search", search)
    sentences = ["The black cat sleeps.", "They drink tea.", "The dog sees the old garden."]
    expected = translator.translate(sentences, num_beams=3, length_penalty=0.2, max_length=9)
    assert expected == [
        translator.translate([sentence], num_beams=3, length_penalty=0.2, max_length=9)[0]
        for sentence in sentences
    ]
    options = ["--beams", "3", "--length-penalty", "0.2"]
    arguments = ["translate", "--model", trained[0], *options, "--max-length", "9"]
    assert run(*arguments, *sentences) == (0, "\n".join(expected) + "\n", "")
    evaluate = ["evaluate", "--model", trained[0], "--data", "grammar", "--limit", "3"]
    status, out, err = run(*evaluate, *options)
    assert (status, err) == (0, "")
    assert "exact match" in out
    assert {search[:2] for search in searches} == {(3, 0.2)}
    assert {search[2]["max_length"] for search in searches} == {9, None}


def test_greedy_decoding_searches_nothing(translator, monkeypatch):
    monkeypatch.setattr("nlp104.translation.translator.beam_search", None)
    translator.translate(["The black cat sleeps."], num_beams=1)
    for name in ("num_beams", "batch_size"):
        with pytest.raises(ValueError, match=f"`{name}` must be a positive integer. Received: 0"):
            translator.translate(["The black cat sleeps."], **{name: 0})


def test_the_model_is_the_epoch_of_lowest_validation_loss(trained):
    output, _ = trained
    model = keras.saving.load_model(output / "model.keras", compile=False)
    model.load_weights(output / "checkpoints" / "best.weights.h5")
    for expected, found in zip(model.get_weights(), weights(output), strict=True):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.slow
def test_ctrl_c_keeps_the_state_and_resume_loses_nothing(trained, data, tmp_path):
    """A process stopped in mid-epoch and continued here ends like the run that was not stopped."""
    output = tmp_path / "stopped"
    process = subprocess.Popen(
        [sys.executable, "-m", "nlp104", "train", *data, *OPTIONS, "--output", output],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    for line in process.stdout:
        if line.startswith("epoch 1/2"):
            time.sleep(0.1)  # into the second epoch
            process.send_signal(signal.SIGINT)
            break
    _, err = process.communicate()
    assert process.returncode == 130, err
    assert "Traceback" not in err
    assert not (output / "model.keras").exists()
    assert (output / "checkpoints" / "latest.npz").exists()
    assert re.search(r"Stopped in epoch 2 after \d+ of \d+ steps", err)
    resume = shlex.split(err.strip().splitlines()[-1])
    assert resume == ["nlp104", "train", "--output", str(output), *data, "--resume"]
    status, out, err = run(*resume[1:])
    assert (status, err) == (0, "")
    assert "epoch 1/2" not in out
    if keras.backend.backend() == "torch":  # dropout draws from PyTorch's own generator
        return
    for expected, found in zip(weights(trained[0]), weights(output), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_a_stopped_run_on_many_devices_is_told_to_go_on_with_them(data, tmp_path, monkeypatch):
    def stop(*_, **__):
        raise KeyboardInterrupt("Stopped.")

    monkeypatch.setattr(cli_train, "fit", stop)
    monkeypatch.setattr(cli_train, "_devices", lambda *_: contextlib.nullcontext())
    options = [*data, *OPTIONS, "--output", tmp_path / "run"]
    status, _, err = run("train", *options, "--distribute", "model:2x4")
    assert status == 130
    assert err.strip().endswith("--distribute model:2x4 --resume")


def test_resuming_with_other_settings_or_data_is_refused(trained, data):
    output, _ = trained
    before = (output / "run.json").read_bytes()
    for options, told in (
        (["--batch-size", "8"], "--batch-size was 1 and is now 8"),
        (["--preset", "small"], "--preset was tiny and is now small"),
        (["--epochs", "3"], "--epochs was 2 and is now 3"),  # the learning rate ends with epoch 2
        (["--data", data[-1]], "other sentence pairs"),
    ):
        status, _, err = run("train", *data, "--output", output, "--resume", *options)
        assert status == 1
        assert told in err
    assert (output / "run.json").read_bytes() == before


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["mixed_bfloat16", "mixed_float16"])
def test_mixed_precision_trains_and_keeps_a_float32_model(dtype, data, tmp_path):
    output = tmp_path / "run"
    # 20 steps: loss scaling passes over the first of them until the scale suits.
    options = [*OPTIONS, "--batch-size", "20", "--learning-rate", "0.01"]
    status, _, err = run("train", *data, *options, "--dtype", dtype, "--output", output)
    assert (status, err) == (0, "")
    losses = list(csv.DictReader((output / "history.csv").open()))
    assert float(losses[1]["val_loss"]) < float(losses[0]["val_loss"])
    model = keras.saving.load_model(output / "model.keras", compile=False)
    assert model.dtype_policy.name == model.encoder.dtype_policy.name == "float32"
    assert {str(weight.dtype) for weight in model.get_weights()} == {"float32"}


def test_a_run_older_than_a_setting_has_its_default():
    recorded = complete_settings({"epochs": 2})
    del recorded["dtype"]
    assert resumed_settings(recorded, {})["dtype"] == "float32"


def test_an_endless_decay_may_be_trained_longer():
    recorded = complete_settings({"decay": "inverse_sqrt", "epochs": 2})
    assert resumed_settings(recorded, {"epochs": 3})["epochs"] == 3


@pytest.mark.slow
def test_tokenised_parallel_files_and_averaged_weights(tmp_path):
    """Files as a published recipe has them: own splits, own tokens, tied embeddings, averaging."""
    for prefix, size in (("train", 40), ("val", 8), ("test", 8)):
        for language in ("en", "de"):
            lines = [f"{language}@@ a{i % 7} b{i % 5} c{size}\n" for i in range(size)]
            (tmp_path / f"{prefix}.{language}").write_text("".join(lines), encoding="utf-8")
    output = tmp_path / "run"
    data = ["--data", tmp_path / "train", "--validation", tmp_path / "val"]
    languages = ["--source", "en", "--target", "de"]
    options = ["--tokens", "whitespace", "--shared-vocabulary", "--average", "2", "--epochs", "3"]
    options += ["--tokens-per-batch", "64", "--learning-rate", "0.01", "--warmup-steps", "5"]
    data += ["--test", tmp_path / "test"]
    status, out, err = run("train", *data, *languages, *options, *SIZES, "--output", output)
    assert (status, err) == (0, "")
    assert "(en → de): 40 train, 8 validation, 8 test pairs" in out
    assert "|tok:none|" in out
    tokenizer = Tokenizer.load(output / "tokenizer.json")
    vocabulary = [tokenizer.id_to_token(i) for i in range(tokenizer.vocabulary_size)]
    assert set(vocabulary[4:]) == {"en@@", "de@@", "c40"} | {
        f"{letter}{i}" for letter, count in (("a", 7), ("b", 5)) for i in range(count)
    }
    settings = json.loads((output / "run.json").read_text(encoding="utf-8"))["settings"]
    assert [settings[key] for key in ("data", "validation", "test")] == ["train", "val", "test"]
    assert (settings["learning_rate"], settings["warmup_steps"]) == (0.01, 5)

    model = keras.saving.load_model(output / "model.keras", compile=False)
    assert model.config.tie_embeddings
    found, checkpoints = model.get_weights(), []
    for epoch in (2, 3):
        model.load_weights(output / "checkpoints" / f"epoch-{epoch:04d}.weights.h5")
        checkpoints.append(model.get_weights())
    for mean, first, second in zip(found, *checkpoints, strict=True):
        np.testing.assert_allclose(mean, (first + second) / 2, rtol=1e-6, atol=1e-7)

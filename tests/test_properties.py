"""Random inputs of every kind: what holds for all of them, however odd."""

import argparse
import contextlib
import functools
import io
import random
import shutil
import sys
from pathlib import Path

import keras
import numpy as np
import pytest
from decoding_models import VOCABULARY, make_model, randomize
from hypothesis import example, given, settings
from hypothesis import strategies as st

from nlp104.attention.masks import causal_mask, combine_masks, keys_mask, padding_mask
from nlp104.cli import commands
from nlp104.cli import train as training
from nlp104.cli.main import main
from nlp104.cli.options import make_parser
from nlp104.data import corpus, download
from nlp104.data.batches import Batches
from nlp104.data.tokenizer import KINDS, UNKNOWN_ID, Tokenizer, normalize
from nlp104.decoding.beam_search import beam_search
from nlp104.decoding.greedy import greedy
from nlp104.decoding.sampling import sample
from nlp104.training.pipeline import model_config
from nlp104.training.run_record import write_record
from nlp104.training.settings import complete_settings
from nlp104.transformer.model import Transformer
from nlp104.translation import export, pretrained, translator
from nlp104.translation.translator import Translator
from nlp104.utils.errors import InputError, UserError

SENTENCES = ["one cat", "two dogs", "three birds", "four fish", "five cows", "six frogs"]

# Tokenizers

ODD = (
    "e\u0301\u0327 \u05d0\u05b8\u0627\u064b\u202e\u200f😀👩\u200d👩\u200d👧🇫🇷\x00\x07\x1b\x7f\u2028"
)
ODD += "\ufffe[PAD]▁'-.ǅßΣ"
texts = st.text(max_size=30) | st.text(st.sampled_from(ODD), max_size=30)


@functools.cache
def tokenizer(kind, lowercase):
    return Tokenizer.train([*SENTENCES, ODD], kind, 200, lowercase)


@given(st.sampled_from(KINDS), st.booleans(), st.lists(texts, max_size=4))
@settings(max_examples=100)
@example("bpe", True, [ODD, "", " "])
def test_every_text_has_ids(kind, lowercase, sentences):
    reader = tokenizer(kind, lowercase)
    rows = reader.encode_batch(sentences)
    assert rows == [reader.encode(text) for text in sentences]
    for row in rows:
        assert all(0 < i < reader.vocabulary_size and i not in (2, 3) for i in row)
        read = reader.decode(row)
        assert reader.decode(reader.encode(read)) == read or UNKNOWN_ID in row


@given(st.lists(st.sampled_from(["one", "cat", "two", "dogs", "Σ", "ß"]), min_size=1))
def test_known_words_are_given_back(words):
    text = " ".join(words)
    for kind in KINDS:
        reader = tokenizer(kind, False)
        if UNKNOWN_ID not in reader.encode(text):
            assert reader.decode(reader.encode(text)) == normalize(text)


@given(st.sampled_from(KINDS), texts, st.characters(categories=["Cs"]), texts)
def test_half_a_character_is_refused(kind, before, half, after):
    text = before + half + after
    with pytest.raises(InputError, match="Expected Unicode text"):
        tokenizer(kind, False).encode_batch(["one cat", text])
    with pytest.raises(ValueError, match="surrogates not allowed"):
        normalize(text)


# Batches


@given(
    st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), min_size=1, max_size=30),
    st.integers(1, 5),
    st.integers(1, 8),
    st.integers(1, 4),
    st.integers(0, 3),
)
def test_every_pair_once_in_every_epoch(lengths, batch_size, width, multiple, seed):
    """However wide the buckets are, and whatever fills a batch up."""
    pairs = [([5 + i] * source, [5 + i] * target) for i, (source, target) in enumerate(lengths)]
    batches = Batches(
        *zip(*pairs, strict=True), batch_size, bucket_width=width, multiple_of=multiple, seed=seed
    )
    for epoch in range(2):
        batches.seek(epoch)
        met = []
        for inputs, labels in batches:
            assert len(labels) % multiple == 0
            rows = inputs["encoder_token_ids"], inputs["decoder_token_ids"], labels
            for source, target, label in zip(*rows, strict=True):
                if not source.any():
                    assert not target.any()
                    assert not label.any()
                    continue
                source, target, label = (row[row > 0].tolist() for row in (source, target, label))
                assert (source.pop(), target.pop(0), label.pop()) == (3, 2, 3)
                assert target == label
                met.append((source, target))
        assert sorted(met) == sorted(pairs)


# Masks


@given(
    st.lists(st.lists(st.integers(0, 3), min_size=5, max_size=5), min_size=1, max_size=3),
    st.none() | st.integers(1, 7),
)
def test_masks_by_brute_force(ids, window):
    found = combine_masks(keys_mask(padding_mask(np.array(ids))), causal_mask(5, window=window))
    assert keras.ops.convert_to_numpy(found).tolist() == [
        [
            [
                row[key] != 0 and key <= query and (window is None or query - key < window)
                for key in range(5)
            ]
            for query in range(5)
        ]
        for row in ids
    ]


# Decoding

SEARCHES = {
    "greedy": greedy,
    "beam": functools.partial(beam_search, num_beams=2),
    "sample": functools.partial(sample, temperature=3.0, seed=1),
}


@pytest.fixture(scope="module")
def model():
    return make_model(num_layers=1, max_sequence_length=12)


@pytest.mark.slow
@pytest.mark.parametrize("search", SEARCHES.values(), ids=list(SEARCHES))
@given(
    seed=st.integers(0, 1000),
    prompts=st.lists(st.lists(st.integers(1, VOCABULARY - 1), max_size=6), min_size=1, max_size=3),
    limit=st.integers(1, 12),
)
@settings(max_examples=15)
def test_decoding_always_ends(model, search, seed, prompts, limit):
    """Within the limit, in ids of the vocabulary, without a hole."""
    randomize(model, seed)
    length = max(1, *map(len, prompts))
    ids = np.array([[*prompt, *[0] * (length - len(prompt))] for prompt in prompts])
    found = np.asarray(search(model, ids, max_length=limit))
    assert found.shape[0] == len(prompts)
    assert found.shape[1] <= limit
    assert np.logical_and(found >= 0, found < VOCABULARY).all()
    for row, prompt in zip(found.tolist(), prompts, strict=True):
        written = [i for i in row if i]
        assert row[: len(written)] == written
        assert 3 not in written[:-1]
        if prompt:
            assert len(written) == limit or written[-1] == 3


# The command line

COMMANDS = {
    name: [action for action in parser._actions if action.option_strings]
    for name, parser in next(
        action.choices
        for action in make_parser()._actions
        if isinstance(action, argparse._SubParsersAction)
    ).items()
}
NUMBERS = [
    "0",
    "1",
    "2",
    "3",
    "8",
    "-1",
    "-0",
    "+1",
    "1.5",
    "1e3",
    "1e999",
    "-1e999",
    "nan",
    "inf",
    "0.1",
    "0x10",
    "1_0",
    "١",
    "70000000000",
    "99999999999",
]
TEXTS = ["", " ", "-", "--", "=", "none", "é", "e\u0301", "\u202e", "😀", "\udcff", "a\0b", "\n"]
TEXTS += ["x" * 5000, "/dev/null", "../..", "~", "%s", "{}", "*", "'", "@file", "model:1x1", "data"]
PLACES = [".", "m", "m/model.keras", "pairs.tsv", "pairs", "new", "new/er", "pairs.tsv/new"]
NAMES = ["grammar", "fra-eng", "eng-fra", "en", "fr", "tiny", "word", "bpe", "web", "onnx", "relu"]
SIZES = ["--num-layers=1", "--hidden-dim=2", "--intermediate-dim=2", "--num-heads=1", "--quiet"]


def odd_arguments(rng):
    """What somebody may type: a command, some of its options or nearly, and odd values."""
    name = rng.choice([*COMMANDS, *COMMANDS, "", "trian", "--help", "--version", "-h"])
    words = [name]
    options = COMMANDS.get(name) or rng.choice(list(COMMANDS.values()))
    chosen = rng.sample(options, min(len(options), rng.choice([0, 1, 1, 2, 3, 5])))
    if rng.random() < 0.8:  # what must be there is there, and of use
        given = {"train": ["--data=pairs.tsv", "--output=new", *SIZES], "serve": ["--port=0"]}
        model = rng.choice(["m", "m", "m", "none", "eng-fra"])
        words += given.get(name, [f"--model={model}"])
        words += {"export": ["--output=new"], "evaluate": ["--data=pairs.tsv"]}.get(name, [])
        if rng.random() < 0.8:  # the rest is right but for one
            chosen = chosen[:1]
    for action in chosen:
        flag = rng.choice(action.option_strings)
        if rng.random() < 0.05:
            flag = rng.choice(
                [flag[:-1], flag + "s", flag.upper(), flag[1:], flag.replace("-", "_")]
            )
        value = rng.choice(
            [rng.choice(NUMBERS), rng.choice(NUMBERS), rng.choice(TEXTS), rng.choice(PLACES)]
            + [rng.choice(NAMES), str(rng.randint(-9, 30)), str(rng.random())]
            + [str(choice) for choice in action.choices or []]
        )
        is_switch = action.nargs == 0 and rng.random() < 0.9
        words += rng.choice([[f"{flag}={value}"], [flag, value]]) if not is_switch else [flag]
    words += rng.choices([*TEXTS, "one cat"], k=rng.choice([0, 0, 1, 2]))
    if rng.random() < 0.05:
        rng.shuffle(words)
    return words


class Stop(UserError):
    """A training that would begin now."""


def never(*_, **__):
    raise Stop("here training begins")


@functools.cache
def built(config, dtype):
    return Transformer(config, dtype=dtype)


def build(tokenizers, chosen):
    """As `pipeline.build_model`, but each model once."""
    return built(model_config(tokenizers, chosen), chosen["dtype"])


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A directory with 24 pairs, and with a small translator `m` trained on them."""
    folder = tmp_path_factory.mktemp("files")
    lines = [f"{words} {i}\t{words.upper()} {i}\n" for i in range(4) for words in SENTENCES]
    (folder / "pairs.tsv").write_text("".join(lines), encoding="utf-8")
    tokenizer = Tokenizer.train(SENTENCES, kind="word")
    config = {"num_layers": 1, "hidden_dim": 8, "intermediate_dim": 8, "num_heads": 2}
    config |= {"vocabulary_size": tokenizer.vocabulary_size, "max_sequence_length": 16}
    Translator(Transformer.from_config(config), tokenizer, tokenizer).save(folder / "m")
    write_record(folder / "m", {"settings": complete_settings({"data": "pairs.tsv"})})
    return folder


@pytest.fixture
def runs(files, tmp_path, monkeypatch):
    """Runs a command in that directory, and returns its status and what it said of an error.

    What takes seconds is left out: the training itself, writing programs, XLA, serving for ever.
    """
    load, search, small = Translator.load, translator.beam_search, functools.cache(Translator.load)
    folder = tmp_path / "here"
    shutil.copytree(files, folder)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("NLP104_DATA", str(tmp_path / "nowhere"))
    monkeypatch.setattr(Translator, "load", lambda path: (small if path == "m" else load)(path))
    monkeypatch.setattr(pretrained, "load_pretrained", lambda _: small("m"))
    plainly = {"jit_compile": False}
    monkeypatch.setattr(translator, "greedy", lambda *a, **k: greedy(*a, **k | plainly))
    monkeypatch.setattr(
        translator,
        "beam_search",
        lambda model, rows, beams, *a, **k: search(model, rows, min(beams, 2), *a, **k | plainly),
    )
    monkeypatch.setattr(training, "build_model", build)
    monkeypatch.setattr(corpus, "GRAMMAR_SIZES", (40, 10, 10))
    monkeypatch.setattr(training, "fit", never)
    monkeypatch.setattr(export, "_write_saved_model", lambda _, path: Path(path).mkdir())
    monkeypatch.setattr(export, "_write_onnx", lambda _, path: Path(path).touch())
    monkeypatch.setattr(commands.TranslationServer, "serve_forever", lambda _: None)
    monkeypatch.setattr(download, "_download", lambda *_: (_ for _ in ()).throw(OSError("none")))
    return functools.partial(run, folder)


def run(folder, words):
    def found():
        return {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}

    before = found()
    # As those of a terminal: what cannot be written in UTF-8 is an error, but not among errors.
    out = io.TextIOWrapper(io.BytesIO(), "utf-8")
    err = io.TextIOWrapper(io.BytesIO(), "utf-8", "backslashreplace")
    old, sys.stdin = sys.stdin, io.TextIOWrapper(io.BytesIO(b"one cat\n\n"))
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = main(words)
            out.flush()
    except SystemExit as end:
        status = end.code
    finally:
        sys.stdin = old
    err.flush()
    said = err.buffer.getvalue().decode("utf-8")
    new = [path for path in sorted(folder.rglob("*")) if path.is_file() and path not in before]
    whole = status == 0 or "here training begins" in said
    assert whole or not new, f"{words} left {new}"
    assert not [path for path in new if path.name.startswith(".")], f"{words} left {new}"
    for path in sorted(folder.iterdir()):
        if path.name not in ("m", "pairs.tsv"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    for path in new:
        path.unlink(missing_ok=True)
    assert found() == before, f"{words} changed what was there"
    return status, said


def check(runs, seeds):
    """Runs what each seed makes; returns the statuses that occurred."""
    statuses = set()
    for seed in seeds:
        words = odd_arguments(random.Random(seed))
        status, said = runs(words)
        assert status in (0, 1, 2), f"seed {seed}: {words}: {status}: {said}"
        assert "Traceback" not in said, f"seed {seed}: {words}: {said}"
        if status == 1:
            assert said.count("\n") == 1, f"seed {seed}: {words}: {said}"
        statuses.add(status)
    return statuses


@pytest.mark.slow
def test_whatever_is_typed_ends_in_a_sentence(runs):
    assert check(runs, range(200)) == {0, 1, 2}


@pytest.mark.long
def test_whatever_is_typed_ten_thousand_times(runs):
    assert check(runs, range(200, 10_200)) == {0, 1, 2}

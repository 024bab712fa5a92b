"""R-Drop: a batch twice, and two distributions that have to agree."""

from pathlib import Path

import keras
import numpy as np
import pytest
from keras import ops

from experiments import r_drop
from experiments.r_drop import AgreeingCrossentropy, Twice
from nlp104.data.batches import Batches
from nlp104.training.loss import MaskedCrossentropy
from nlp104.training.optimizer import compile_model
from nlp104.training.pipeline import make_batches
from nlp104.training.run_record import read_record
from nlp104.training.settings import complete_settings
from nlp104.transformer.config import TransformerConfig
from nlp104.transformer.model import Transformer
from nlp104.translation.translator import Translator

SOURCES = [[4, 5, 6], [7], [8, 9], [5, 5, 5, 5]]
TARGETS = [[5, 6], [8, 9, 4], [4], [6]]


def softmax(x):
    exponentials = np.exp(x - x.max(-1, keepdims=True))
    return exponentials / exponentials.sum(-1, keepdims=True)


def test_every_batch_is_that_of_batches_twice():
    options = {"batch_size": 2, "bucket_width": 1}
    for batch, twice in zip(
        Batches(SOURCES, TARGETS, **options), Twice(SOURCES, TARGETS, **options), strict=True
    ):
        for one, two in zip(keras.tree.flatten(batch), keras.tree.flatten(twice), strict=True):
            np.testing.assert_array_equal(two, np.concatenate([one, one]))


def test_the_loss_equals_numpy_in_float64():
    generator = np.random.default_rng(104)
    logits = generator.normal(0, 3, (6, 7))
    labels = np.tile(generator.integers(1, 7, 3), 2)
    p, q = np.split(softmax(logits), 2)
    apart = (p * np.log(p / q)).sum(-1) + (q * np.log(q / p)).sum(-1)
    crossentropy = -np.log(softmax(logits)[np.arange(6), labels])
    # Half of equation 4 of Liang et al. (2021), whose cross-entropies are a sum.
    expected = 0.5 * (crossentropy[:3] + crossentropy[3:] + 5 / 2 * apart)
    loss = AgreeingCrossentropy(label_smoothing=0.0, agreement=5.0)
    found = float(loss(labels, logits.astype("float32")))
    np.testing.assert_allclose(found, expected.mean(), rtol=1e-5)


@pytest.mark.slow
def test_without_dropout_the_cross_entropy_is_left():
    """The halves of a batch are then alike: also where padding is skipped, token by token."""
    keras.utils.set_random_seed(104)
    model = Transformer(TransformerConfig(8, 16, 2, num_layers=1, vocabulary_size=11, dropout=0.3))
    training = Twice(SOURCES, TARGETS, batch_size=4)
    compile_model(model, 0.0)
    expected = model.evaluate(training, verbose=0)[0]
    model.compile(loss=AgreeingCrossentropy(0.1, 3.0))
    model.skip_padding = True
    np.testing.assert_allclose(model.evaluate(training, verbose=0)[0], expected, rtol=1e-5)
    inputs, labels = training[0]  # with dropout they differ, and that costs
    plain, agreeing = MaskedCrossentropy(0.1), AgreeingCrossentropy(0.1, 3.0)
    logits = model(inputs, training=True)
    assert float(agreeing(labels, logits)) > float(plain(labels, logits)) + 1e-3
    assert float(ops.max(ops.abs(logits[:4] - logits[4:]))) > 1e-2


def test_batches_of_pairs():
    class Words:
        def encode_batch(self, side):
            return [[4 + ord(letter) - ord("a") for letter in text] for text in side]

    settings = complete_settings({"tokens_per_batch": 8, "max_length": 10, "seed": 1})
    made = make_batches([("ab", "c"), ("a", "bb")], [Words(), Words()], settings, Twice)
    assert made.num_pairs == 2
    assert made[0][1].shape[0] % 2 == 0


@pytest.mark.slow
def test_a_run_begins_with_the_weights_and_words_of_another(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    sizes = {"num_layers": 1, "hidden_dim": 8, "intermediate_dim": 8, "num_heads": 2}
    monkeypatch.setattr(r_drop, "SETTINGS", r_drop.SETTINGS | sizes)
    Path("pairs.tsv").write_text("a b\tc\nb\td d\n", encoding="utf-8")
    Path("more.tsv").write_text("b\td d\na b\tc\na\td\n", encoding="utf-8")
    Path("held.tsv").write_text("b a\td c\n", encoding="utf-8")
    places = ["--validation", "held.tsv", "--test", "held.tsv", "--epochs", "1"]
    r_drop.main(["first", "--data", "pairs.tsv", *places])
    monkeypatch.setattr(r_drop, "SETTINGS", r_drop.SETTINGS | {"tokens": "word"})
    again = ["--start", "first", "--anneal", "1e-20", "--agreement", "5"]
    r_drop.main(["second", "--data", "more.tsv", *places, *again])
    first, second = Translator.load("first"), Translator.load("second")
    assert second.source_tokenizer.tokens("a b") == first.source_tokenizer.tokens("a b")
    assert second.source_tokenizer.encode("d c b a") == first.source_tokenizer.encode("d c b a")
    for old, new in zip(first.model.get_weights(), second.model.get_weights(), strict=True):
        np.testing.assert_allclose(new, old, atol=1e-7)
    record = read_record("second")
    assert (record["agreement"], record["data"]["pairs"]["train"]) == (5.0, 3)
    settings = record["settings"]
    assert settings["tokens"] == "whitespace"  # the vocabulary is that of the first
    assert (settings["decay"], settings["learning_rate"], settings["warmup_steps"]) == (
        "linear",
        1e-20,
        1,
    )

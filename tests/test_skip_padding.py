"""A training step without padding's logits is the step with them."""

import keras
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from keras import ops

from nlp104.training.loss import MaskedCrossentropy
from nlp104.training.metrics import MaskedAccuracy
from nlp104.training.optimizer import compile_model
from nlp104.transformer.config import TransformerConfig
from nlp104.transformer.model import Transformer
from nlp104.transformer.skip_padding import (
    REAL_TOKENS,
    real_positions,
    select_real_tokens,
    take_positions,
    token_weights,
)

BACKEND = keras.backend.backend()
SKIPS = BACKEND != "jax"
# Elsewhere the two trainings that are compared are one and the same.
SKIPPING = [pytest.mark.slow, pytest.mark.skipif(not SKIPS, reason="JAX skips nothing")]
VOCABULARY = 11
rng = np.random.default_rng(104)


def batch(lengths=(5, 2, 3, 1), width=8):
    """Random sentences, padded; the source has as many tokens as the labels."""
    rows = np.arange(width) < np.array(lengths)[:, None]
    ids, labels = (rows * rng.integers(4, VOCABULARY, rows.shape) for _ in range(2))
    inputs = {"encoder_token_ids": ids.astype("int32"), "decoder_token_ids": ids.astype("int32")}
    return inputs, labels.astype("int32")


def make(skips=True, tie_embeddings=True, **options):
    keras.utils.set_random_seed(104)
    config = TransformerConfig(
        8,
        16,
        2,
        num_layers=1,
        vocabulary_size=VOCABULARY,
        dropout=0.0,
        tie_embeddings=tie_embeddings,
        max_sequence_length=8,
    )
    model = Transformer(config)
    # Adam makes much of a gradient that is 0 but for rounding, as that of a key's bias; and to
    # trace its step takes longer than to trace the model.
    options |= {"loss": MaskedCrossentropy(0.1), "weighted_metrics": [MaskedAccuracy()]}
    model.compile(keras.optimizers.SGD(0.5), **options)
    model.skip_padding = skips
    return model


@pytest.fixture
def seen(monkeypatch):
    """The shapes of the logits that the loss gets."""
    shapes, call = [], MaskedCrossentropy.call

    def noting(self, y_true, y_pred):
        shapes.append(tuple(y_pred.shape))
        return call(self, y_true, y_pred)

    monkeypatch.setattr(MaskedCrossentropy, "call", noting)
    return shapes


@pytest.mark.skipif(not SKIPS, reason="JAX would compile every shape, and skips nothing")
@settings(deadline=None, max_examples=20)
@given(st.integers(0, 2**32 - 1), st.integers(0, 4), st.integers(1, 5), st.integers(0, 2))
def test_real_tokens_by_brute_force(seed, rows, columns, more):
    generator = np.random.default_rng(seed)
    labels = generator.integers(0, 3, (rows, columns))
    values = generator.normal(size=(rows, columns, 3, 2)[: 2 + more])
    expected = [values[i, j] for i in range(rows) for j in range(columns) if labels[i, j] != 0]
    expected = expected or list(values[:1, 0])
    received = ops.convert_to_numpy(take_positions(values, real_positions(labels)))
    np.testing.assert_allclose(received, np.reshape(expected, (-1, *values.shape[2:])), rtol=1e-6)


def test_what_a_step_keeps():
    """One place selects the tokens, and hands as many labels and weights on as positions."""
    inputs, labels = batch()
    weights = rng.random(len(labels)).astype("float32")
    given, kept, kept_weights = select_real_tokens(inputs, labels, weights)
    assert given["encoder_token_ids"].shape == (4, 5)  # the longest sentence has five tokens
    assert given["decoder_token_ids"].shape == (4, 5)
    np.testing.assert_array_equal(ops.convert_to_numpy(kept), labels[labels != 0])
    expected = np.repeat(weights, np.count_nonzero(labels, axis=1))
    np.testing.assert_array_equal(ops.convert_to_numpy(kept_weights), expected)
    narrow = ops.convert_to_numpy(given[REAL_TOKENS])
    assert (labels[:, :5].ravel()[narrow] == labels[labels != 0]).all()


@pytest.mark.parametrize("shape", [(4, 8), (4,), None])
def test_token_weights(shape):
    _, labels = batch()
    weights = None if shape is None else rng.random(shape).astype("float32")
    factors = 1.0 if shape is None else weights.reshape(*shape, *[1] * (2 - len(shape)))
    expected = (labels != 0) * factors
    np.testing.assert_allclose(ops.convert_to_numpy(token_weights(labels, weights)), expected)


def test_the_model_gives_logits_where_it_is_told_to():
    inputs, _ = batch()
    model = make()
    everything = ops.convert_to_numpy(model(inputs))
    some = np.array([3, 9, 30])
    found = ops.convert_to_numpy(model({**inputs, REAL_TOKENS: some}))
    np.testing.assert_allclose(found, everything.reshape(-1, VOCABULARY)[some], atol=1e-6)


@pytest.mark.parametrize(
    ("weigh", "tie_embeddings"),
    [
        ("tokens", True),
        pytest.param(None, False, marks=SKIPPING),
        pytest.param("sentences", False, marks=SKIPPING),
    ],
)
@pytest.mark.slow
def test_the_same_training(weigh, tie_embeddings):
    """Loss, metrics and weights after three steps, and what `evaluate` says."""
    inputs, labels = batch()
    shapes = {"sentences": len(labels), "tokens": labels.shape}
    sample_weight = None if weigh is None else rng.random(shapes[weigh]).astype("float32")
    found = []
    for skips in (True, False):
        model = make(skips, tie_embeddings)
        logs = [
            model.train_on_batch(inputs, labels, sample_weight, return_dict=True) for _ in range(3)
        ]
        logs.append(model.test_on_batch(inputs, labels, sample_weight, return_dict=True))
        found.append((logs, model.get_weights()))
    (logs, weights), (expected_logs, expected_weights) = found
    for log, expected in zip(logs, expected_logs, strict=True):
        assert set(log) == set(expected)
        for name, value in log.items():  # an array without axes until Keras 3.13, then a number
            assert float(value) == pytest.approx(float(expected[name]), rel=1e-5)
    for weight, expected in zip(weights, expected_weights, strict=True):
        np.testing.assert_allclose(weight, expected, atol=1e-5)


@pytest.mark.slow
def test_logits_of_padding_are_not_computed(seen):
    inputs, labels = batch()
    model = make()
    for step in (model.fit, model.evaluate):
        step(inputs, labels, batch_size=len(labels), verbose=0)
        number, *rest = seen[-1]  # the first ones may be symbols, with which Keras builds
        assert len(rest) == (1 if SKIPS else 2)
        assert number in (None, np.count_nonzero(labels) if SKIPS else len(labels))


@pytest.mark.slow
def test_other_losses_and_calls_get_all_logits():
    inputs, labels = batch()
    model = make()
    model.train_on_batch(inputs, labels)
    everything = *labels.shape, VOCABULARY
    assert model(inputs, training=True).shape == everything
    assert model.predict(inputs, verbose=0).shape == everything
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile("sgd", loss=loss, metrics=["sparse_categorical_accuracy"])
    assert np.isfinite(model.train_on_batch(inputs, labels)).all()


@pytest.mark.slow
def test_a_model_compiled_anew_with_a_loss_of_its_own_gets_all_logits():
    """Which counts padding, too, as in Keras: the mean of the logits' own losses, in NumPy."""
    inputs, labels = batch()
    model = make()
    compile_model(model, 0.01)
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile("sgd", loss=loss, metrics=["sparse_categorical_accuracy"])
    logits = ops.convert_to_numpy(model(inputs)).astype("float64")
    log_p = logits - np.log(np.exp(logits).sum(-1, keepdims=True))
    losses = -np.take_along_axis(log_p, labels[..., None], axis=-1)[..., 0]
    assert abs(losses[labels != 0].mean() - losses.mean()) > 1e-2  # the test can fail
    right = (logits.argmax(-1) == labels).mean()
    scores = model.evaluate(inputs, labels, verbose=0)  # one batch
    np.testing.assert_allclose(scores, [losses.mean(), right], rtol=1e-5)
    assert not model.skip_padding


@pytest.mark.slow
@pytest.mark.skipif(BACKEND != "tensorflow", reason="XLA is an option of TensorFlow's only")
def test_a_compiled_step_has_a_fixed_shape(seen):
    inputs, labels = batch()
    losses = [make(jit_compile=jit).train_on_batch(inputs, labels)[0] for jit in (True, False)]
    assert losses[0] == pytest.approx(losses[1], rel=1e-5)
    assert {len(shape) for shape in seen} == {2, 3}


@pytest.mark.slow
def test_a_batch_of_nothing_but_padding():
    inputs, labels = batch()
    model = make()
    compile_model(model, 0.01)
    before = model.get_weights()
    logs = model.train_on_batch(inputs, np.zeros_like(labels), return_dict=True)
    assert logs["loss"] == 0
    for weight, expected in zip(model.get_weights(), before, strict=True):
        np.testing.assert_array_equal(weight, expected)


def test_a_step_that_fails_leaves_no_trace():
    inputs, labels = batch()
    model = make()
    with pytest.raises(Exception, match="decoder_token_ids"):
        model.train_on_batch({"encoder_token_ids": inputs["encoder_token_ids"]}, labels)
    assert model(inputs).shape == (*labels.shape, VOCABULARY)


def test_a_loaded_model_goes_on_skipping(tmp_path):
    for skips in (True, False):
        model = make(skips)
        model.save(tmp_path / "model.keras")
        loaded = keras.models.load_model(tmp_path / "model.keras")
        assert loaded.skip_padding is skips
        inputs, labels = batch()  # compiled as it was, with its optimizer ready to go on
        scores = [one.evaluate(inputs, labels, verbose=0) for one in (loaded, model)]
        np.testing.assert_allclose(*scores, rtol=1e-6)
        assert loaded.optimizer.built

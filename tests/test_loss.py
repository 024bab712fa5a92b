"""Loss, accuracy, schedule and optimizer against NumPy in float64, Keras and closed forms."""

import copy
import math

import keras
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from keras import ops

from nlp104.training.loss import MaskedCrossentropy, smoothed_crossentropy
from nlp104.training.metrics import MaskedAccuracy
from nlp104.training.optimizer import adam, compile_model
from nlp104.training.schedule import WarmupSchedule
from nlp104.transformer.token_mean import TokenMeanLoss


def random_batch(rng, batch=3, length=5, classes=7, scale=3.0):
    """Labels with padding at the end of the rows, and logits."""
    labels = rng.integers(1, classes, (batch, length)).astype("int32")
    for row, real in enumerate(rng.integers(0, length + 1, batch)):
        labels[row, real:] = 0
    labels[0, 0] = 1  # at least one real token
    return labels, rng.normal(0, scale, (batch, length, classes)).astype("float32")


def one_hot_loss(labels, logits, label_smoothing):
    """Cross-entropy with an explicit target distribution (Szegedy et al., 2016), in float64."""
    logits = logits.astype("float64")
    shifted = logits - logits.max(axis=-1, keepdims=True)
    log_p = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    classes = logits.shape[-1]
    target = (1 - label_smoothing) * np.eye(classes)[labels] + label_smoothing / classes
    losses, real = -(target * log_p).sum(axis=-1), labels != 0
    gradient = (np.exp(log_p) - target) * real[..., None] / max(real.sum(), 1)
    return losses, losses[real].mean() if real.any() else 0.0, gradient


def value_and_gradient(function, x):
    """A scalar function and its gradient, compiled where the backend compiles."""
    if keras.backend.backend() == "tensorflow":
        import tensorflow as tf

        @tf.function
        def compiled(x):
            with tf.GradientTape() as tape:
                tape.watch(x)
                value = function(x)
            return value, tape.gradient(value, x)

        value, gradient = compiled(tf.constant(x))
        return value.numpy(), gradient.numpy()
    if keras.backend.backend() == "jax":
        import jax

        value, gradient = jax.jit(jax.value_and_grad(function))(x)
        return np.asarray(value), np.asarray(gradient)
    x = ops.convert_to_tensor(x).requires_grad_()
    value = function(x)
    value.backward()
    return ops.convert_to_numpy(value), ops.convert_to_numpy(x.grad)


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.1, 0.5]), st.sampled_from([0.1, 3, 60]))
def test_loss_equals_explicit_target_distribution(seed, label_smoothing, scale):
    labels, logits = random_batch(np.random.default_rng(seed), scale=scale)
    _, expected, _ = one_hot_loss(labels, logits, label_smoothing)
    loss = MaskedCrossentropy(label_smoothing)(labels, logits)
    np.testing.assert_allclose(float(loss), expected, rtol=2e-6, atol=2e-6)


@pytest.mark.parametrize("label_smoothing", [0.0, 0.1])
def test_loss_equals_keras(label_smoothing):
    labels, logits = random_batch(np.random.default_rng(1))
    peer = keras.losses.CategoricalCrossentropy(
        from_logits=True, label_smoothing=label_smoothing, reduction="none"
    )
    losses = ops.convert_to_numpy(peer(np.eye(7, dtype="float32")[labels], logits))
    expected = losses[labels != 0].mean()
    loss = float(MaskedCrossentropy(label_smoothing)(labels, logits))
    assert loss == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("label_smoothing", [0.0, 0.1])
def test_gradient_is_p_minus_q(label_smoothing):
    labels, logits = random_batch(np.random.default_rng(2))
    _, expected, expected_gradient = one_hot_loss(labels, logits, label_smoothing)
    loss = MaskedCrossentropy(label_smoothing)
    value, gradient = value_and_gradient(lambda x: loss(labels, x), logits)
    assert value == pytest.approx(expected, rel=1e-6)
    np.testing.assert_allclose(gradient, expected_gradient, atol=1e-7)


def test_a_class_that_is_ruled_out():
    """Its logit is -∞: it is as if the vocabulary did not have it."""
    labels, logits = random_batch(np.random.default_rng(5), classes=6)
    _, expected, gradient_of_the_others = one_hot_loss(labels, logits, 0.0)
    out = np.full((*labels.shape, 1), -np.inf, "float32")
    loss = MaskedCrossentropy()
    value, gradient = value_and_gradient(
        lambda x: loss(labels, x), np.concatenate([logits, out], axis=-1)
    )
    assert value == pytest.approx(expected, rel=1e-6)
    np.testing.assert_allclose(gradient[..., :-1], gradient_of_the_others, atol=1e-7)
    np.testing.assert_array_equal(gradient[..., -1], 0)


def test_gradient_under_weights_of_tokens():
    labels, logits = random_batch(np.random.default_rng(3))
    weights = np.random.default_rng(4).random(labels.shape).astype("float32")
    losses, _, _ = one_hot_loss(labels, logits, 0.1)
    ids, factors = ops.convert_to_tensor(labels), ops.convert_to_tensor(weights)
    value, gradient = value_and_gradient(
        lambda x: ops.sum(smoothed_crossentropy(ids, x, 0.1) * factors), logits
    )
    assert value == pytest.approx((losses * weights).sum(), rel=1e-5)
    step = 1e-3 * gradient / np.linalg.norm(gradient)
    changed, _, _ = one_hot_loss(labels, logits + step, 0.1)
    slope = ((changed - losses) * weights).sum() / 1e-3
    assert slope == pytest.approx(np.linalg.norm(gradient), rel=1e-2)


def test_smoothing_spreads_over_the_whole_vocabulary():
    """With a uniform prediction each class contributes alike, so smoothing changes nothing."""
    labels = np.array([[3]])
    assert float(MaskedCrossentropy(0.3)(labels, np.zeros((1, 1, 5)))) == pytest.approx(np.log(5))
    # One class, padding, is nearly excluded: its share ε/K of the target makes that expensive.
    logits = np.zeros((1, 1, 5), "float32")
    logits[..., 0] = -1000.0
    expected = 0.3 / 5 * 1000 + np.log(4)
    assert float(MaskedCrossentropy(0.3)(labels, logits)) == pytest.approx(expected, rel=1e-5)


def test_padding_does_not_count():
    labels, logits = random_batch(np.random.default_rng(5))
    changed = np.where((labels == 0)[..., None], 9.0 * logits[::-1], logits)
    loss = MaskedCrossentropy(0.1)
    assert float(loss(labels, logits)) == float(loss(labels, changed))
    longer = np.pad(labels, ((0, 0), (0, 4))), np.pad(logits, ((0, 0), (0, 4), (0, 0)))
    assert float(loss(*longer)) == pytest.approx(float(loss(labels, logits)), rel=1e-6)


def test_all_padding_is_zero_with_zero_gradient():
    labels, logits = np.zeros((2, 3), "int32"), np.ones((2, 3, 4), "float32")
    value, gradient = value_and_gradient(lambda x: MaskedCrossentropy(0.1)(labels, x), logits)
    assert value == 0
    assert not gradient.any()


def test_sample_weights_multiply_the_tokens():
    labels, logits = random_batch(np.random.default_rng(6))
    losses, _, _ = one_hot_loss(labels, logits, 0.0)
    weights = np.array([1.0, 0.0, 2.0])
    tokens = (labels != 0) * weights[:, None]
    expected = (losses * tokens).sum() / tokens.sum()
    assert float(MaskedCrossentropy()(labels, logits, weights)) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_precision_logits_are_computed_in_float32(dtype):
    labels = np.array([[1, 2]], "int32")
    logits = ops.cast(np.array([[[0.0, 60000.0, -60000.0], [1.0, 2.0, 3.0]]]), dtype)
    loss = MaskedCrossentropy(0.1)(labels, logits)
    assert keras.backend.standardize_dtype(loss.dtype) == "float32"
    _, expected, _ = one_hot_loss(labels, ops.convert_to_numpy(ops.cast(logits, "float32")), 0.1)
    assert float(loss) == pytest.approx(expected, rel=1e-5)


def test_label_smoothing_must_be_a_probability():
    for wrong in (-0.1, 1.0, 2):
        with pytest.raises(
            ValueError, match=r"`label_smoothing` must be at least 0 and below 1\. Received"
        ):
            MaskedCrossentropy(wrong)
        with pytest.raises(ValueError, match=r"at least 0 and below 1\. Received: "):
            smoothed_crossentropy(np.array([1]), np.zeros((1, 3), "float32"), wrong)


@pytest.mark.parametrize("dtype", ["int32", "bool"])
def test_logits_that_are_no_floating_point_numbers_are_refused(dtype):
    with pytest.raises(ValueError, match=f"logits in floating point. Received: {dtype}"):
        smoothed_crossentropy(np.array([1]), ops.cast(np.zeros((1, 3)), dtype), 0.1)


def test_metrics_weigh_every_token_alike():
    """Two batches of unequal size: the mean over tokens is not the mean of the batches' means."""
    rng = np.random.default_rng(7)
    batches = [random_batch(rng, batch=2, length=3), random_batch(rng, batch=4, length=9)]
    accuracy, hits = MaskedAccuracy(), []
    for labels, logits in batches:
        accuracy.update_state(labels, logits)
        hits += list((logits.argmax(axis=-1) == labels)[labels != 0])
    assert float(accuracy.result()) == pytest.approx(np.mean(hits), rel=1e-6)
    accuracy.reset_state()
    assert float(accuracy.result()) == 0


@given(st.integers(0, 2**32 - 1))
def test_accuracy_equals_keras_ties_included(seed):
    """Logits of few values tie often: all zero, they name the first class, as greedy does."""
    rng = np.random.default_rng(seed)
    labels, logits = random_batch(rng)
    logits = np.round(logits / 3) + 0.0  # no −0, which Keras' argmax takes for less than 0
    expected = keras.metrics.SparseCategoricalAccuracy()
    expected.update_state(labels, logits, sample_weight=labels != 0)
    accuracy = MaskedAccuracy()
    accuracy.update_state(labels, logits)
    assert float(accuracy.result()) == pytest.approx(float(expected.result()), abs=1e-6)


def test_accuracy_of_no_opinion_is_no_success():
    accuracy = MaskedAccuracy()
    accuracy.update_state(np.array([[2, 3, 1]]), np.zeros((1, 3, 4)))
    assert float(accuracy.result()) == 0
    accuracy.update_state(np.array([[2]]), np.full((1, 1, 4), np.nan))
    assert float(accuracy.result()) == 0


def test_accuracy_weighs_tokens_as_it_is_told():
    labels, logits = random_batch(np.random.default_rng(9))
    weights = np.random.default_rng(10).random(len(labels)).astype("float32")
    accuracy = MaskedAccuracy()
    accuracy.update_state(labels, logits, sample_weight=weights)
    tokens = (labels != 0) * weights[:, None]
    expected = ((logits.argmax(-1) == labels) * tokens).sum() / tokens.sum()
    assert float(accuracy.result()) == pytest.approx(expected, rel=1e-5)


class Constant(TokenMeanLoss):
    """A model whose logits are one vector, whatever it reads."""

    def __init__(self, classes):
        super().__init__()
        # Not random, as each backend would draw others, and sentences might be about alike.
        self.logits = self.add_weight((classes,), initializer=self.spread)

    @staticmethod
    def spread(shape, dtype):
        return ops.linspace(-1.0, 1.0, *shape, dtype=dtype)

    def call(self, token_ids):
        return ops.zeros_like(ops.cast(token_ids, "float32"))[..., None] + self.logits


@pytest.mark.parametrize("kind", ["float16", "bfloat16"])
def test_the_logged_loss_has_room_for_many_tokens_whatever_keras_computes_in(kind):
    before = keras.config.floatx()
    keras.config.dtype_policy()  # whoever asks first settles it for the rest of the process
    try:
        keras.config.set_floatx(kind)
        model = Constant(7)
    finally:
        keras.config.set_floatx(before)
    compile_model(model, learning_rate=0.1, label_smoothing=0.0)
    labels = np.tile(np.array([1, 2, 4], "int32"), (64, 20))  # in a float16 65,504 is the most
    scores = model.evaluate(np.tile(labels, (20, 1)), np.tile(labels, (20, 1)), 64, verbose=0)
    x = np.linspace(-1, 1, 7)
    expected = np.log(np.exp(x).sum()) - x[[1, 2, 4]].mean()
    assert scores[0] == pytest.approx(expected, abs=0.01)  # as exact as the logits
    assert isinstance(scores[0], float)  # which JSON can hold


class Data(keras.utils.PyDataset):
    """Batches of unequally many sentences of unequal lengths, with weights if so wanted."""

    def __init__(self, weighted):
        super().__init__()
        rng = np.random.default_rng(8)
        self.labels = [random_batch(rng, batch=b, length=n)[0] for b, n in ((5, 2), (2, 11))]
        self.weights = [rng.random(labels.shape).astype("float32") for labels in self.labels]
        self.weighted = weighted

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        batch = self.labels[i], self.labels[i], self.weights[i]
        return batch if self.weighted else batch[:2]


@pytest.mark.parametrize("weighted", [False, True])
def test_the_logged_loss_is_the_minimised_one_per_token(weighted):
    data = Data(weighted)
    model = Constant(7)
    compile_model(model, learning_rate=0.1, label_smoothing=0.1)
    logits = ops.convert_to_numpy(model.logits)
    losses, tokens, hits = [], [], []
    for labels, weights in zip(data.labels, data.weights, strict=True):
        losses.append(one_hot_loss(labels, np.tile(logits, (*labels.shape, 1)), 0.1)[0])
        tokens.append((labels != 0) * (weights if weighted else 1.0))
        hits.append((tokens[-1] * (labels == 6)).sum())  # the last class has the highest logit
    sums = [(loss * count).sum() for loss, count in zip(losses, tokens, strict=True)]
    counts = [count.sum() for count in tokens]
    loss, accuracy = model.evaluate(data, verbose=0)
    assert loss == pytest.approx(sum(sums) / sum(counts), rel=1e-5)
    assert accuracy == pytest.approx(sum(hits) / sum(counts), rel=1e-5)
    scores = model.evaluate(data, verbose=0, return_dict=True)
    assert set(scores) == {"loss", "accuracy"}
    assert scores["loss"] == loss
    # Keras' number, a mean over sentences, is another one: the test could fail.
    means = [total / count for total, count in zip(sums, counts, strict=True)]
    assert abs(np.average(means, weights=[5, 2]) - loss) > 1e-3
    # And what is minimised is what is logged: one batch, one step.
    labels, _, weights = Data(True)[0]
    sample_weight = weights if weighted else None
    model.reset_metrics()  # `train_on_batch` does so itself only from Keras 3.15 on
    logged = model.train_on_batch(labels, labels, sample_weight, return_dict=True)["loss"]
    minimised = float(
        MaskedCrossentropy(0.1)(labels, np.tile(logits, (*labels.shape, 1)), sample_weight)
    )
    assert logged == pytest.approx(minimised, rel=1e-5)


@pytest.mark.parametrize(("hidden_dim", "warmup_steps"), [(512, 4000), (512, 8000), (256, 4000)])
def test_schedule_is_equation_3_of_the_paper(hidden_dim, warmup_steps):
    schedule = WarmupSchedule.from_hidden_dim(hidden_dim, warmup_steps)
    for step in (1, 2, 100, warmup_steps - 1, warmup_steps, warmup_steps + 1, 100_000):
        expected = hidden_dim**-0.5 * min(step**-0.5, step * warmup_steps**-1.5)
        assert float(schedule(step - 1)) == pytest.approx(expected, rel=1e-6)
    assert schedule.peak == pytest.approx((hidden_dim * warmup_steps) ** -0.5)


def test_schedule_peaks_where_it_says():
    rates = [float(WarmupSchedule(0.01, 10)(step)) for step in range(50)]
    assert int(np.argmax(rates)) == 9
    assert max(rates) == pytest.approx(0.01)


@given(st.integers(1, 50), st.integers(0, 200), st.floats(1e-5, 1.0))
def test_schedule_falls_in_a_straight_line(warmup, more, peak):
    total = warmup + more
    steps = np.arange(253)  # always as many: one shape to compile, and at least three too many
    rates = WarmupSchedule(peak, warmup, total)(steps)
    corners = [0, warmup, total + 1]  # steps counted from 1
    expected = np.interp(steps + 1, corners, [0, peak, 0])
    np.testing.assert_allclose(ops.convert_to_numpy(rates), expected, rtol=1e-4, atol=1e-6 * peak)


def test_schedule_takes_whole_numbers_that_arithmetic_gives():
    schedule = WarmupSchedule(np.float32(0.5), 0.1 * 4000, np.float64(4000))
    assert schedule.get_config() == WarmupSchedule(0.5, 400, 4000).get_config()


def test_schedule_has_time_to_warm_up():
    with pytest.raises(ValueError, match="warmup_steps=10, total_steps=9"):
        WarmupSchedule(1.0, 10, 9)


@pytest.mark.parametrize(
    "wrong",
    [
        {"peak": 0},
        {"peak": math.inf},
        {"peak": "high"},
        {"peak": 1, "warmup_steps": 2.5},
        {"peak": 1, "total_steps": 9000.5},
        {"peak": -1},
        {"peak": 1, "warmup_steps": 0},
        {"peak": 1, "warmup_steps": 0.5},  # of which no step was left, and the rate was 0 for ever
    ],
)
def test_schedule_needs_a_peak_and_a_step(wrong):
    with pytest.raises(ValueError, match=r"must be a (number above 0|positive integer)\. Received"):
        WarmupSchedule(**wrong)


@pytest.mark.parametrize(
    "thing",
    [
        MaskedCrossentropy(0.2),
        MaskedAccuracy(name="hits"),
        WarmupSchedule(0.5, 7),
        WarmupSchedule(0.5, 7, 9),
        adam(WarmupSchedule(0.5, 7)),
    ],
    ids=lambda thing: type(thing).__name__,
)
def test_config_round_trip(thing):
    config = keras.saving.serialize_keras_object(thing)
    again = keras.saving.deserialize_keras_object(copy.deepcopy(config))
    assert type(again) is type(thing)
    assert keras.saving.serialize_keras_object(again) == config


def test_adam_is_the_papers():
    """Two steps on one weight against the update rule of Kingma & Ba (2015), in float64."""
    weight = keras.Variable([1.0, -2.0])
    optimizer = adam(0.01)
    value, m, v = np.array([1.0, -2.0]), 0.0, 0.0
    for t, gradient in enumerate(np.array([[0.3, -1e-4], [-0.2, 5.0]]), start=1):
        optimizer.apply([ops.convert_to_tensor(gradient, "float32")], [weight])
        m, v = 0.9 * m + 0.1 * gradient, 0.98 * v + 0.02 * gradient**2
        value -= 0.01 * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.98**t)) + 1e-9)
    np.testing.assert_allclose(ops.convert_to_numpy(weight.value), value, rtol=1e-5)


@pytest.mark.parametrize("jit_compile", [True, False])
def test_a_compiled_model_is_compiled_as_asked(jit_compile):
    model = keras.Sequential([keras.layers.Embedding(5, 5)])
    compile_model(model, 0.1, jit_compile=jit_compile)
    assert model.jit_compile is jit_compile

"""What training minimises and how fast it walks: loss, metrics, schedule and optimizer.

Everything here counts real tokens only: labels are token ids, and 0, the padding, weighs nothing.
"""

import keras
from keras import ops

from nlp104.unpadding import without_padding


def smoothed_crossentropy(labels, logits, label_smoothing=0.0):
    r"""Cross-entropy of every token with label smoothing, without building a one-hot target.

    Szegedy et al. (2016), section 7, soften the one-hot target to
    $q_k = (1 - \varepsilon)\,[k = y] + \varepsilon / K$: the mass $\varepsilon$ is spread evenly
    over all $K$ classes of the vocabulary, the label and the special tokens included. Since the
    $q_k$ sum to one, the cross-entropy $-\sum_k q_k \log p_k$ with $p = \mathrm{softmax}(x)$ is

    $$\log \sum_k e^{x_k} - (1 - \varepsilon)\, x_y - \varepsilon\, \bar{x},$$

    one log-sum-exp, one gather and one mean. Its gradient is $p - q$.

    Args:
        labels: Token ids, int32 of shape `[batch, length]`, or `[tokens]`.
        logits: Scores before the softmax, float32 of shape `[batch, length, vocabulary]`, or
            `[tokens, vocabulary]`.
        label_smoothing: The ε above, at least 0 and below 1 (Vaswani et al., 2017: 0.1).

    Returns:
        The loss of every position, of the shape of the labels, padding included.
    """
    num_classes = logits.shape[-1]

    # The logits are the largest array of a training step, and what costs most is to walk over it.
    # Left to itself, a backend without a compiler walks over it a dozen times to differentiate the
    # three terms; the gradient is p - q, so here it is said.
    @ops.custom_gradient
    def crossentropy(logits, labels):
        largest = ops.max(logits, axis=-1, keepdims=True)
        exponentials = ops.exp(logits - largest)
        total = ops.sum(exponentials, axis=-1, keepdims=True)
        label_logits = ops.take_along_axis(logits, ops.expand_dims(labels, -1), axis=-1)
        losses = largest + ops.log(total) - (1.0 - label_smoothing) * label_logits
        losses = losses - label_smoothing * ops.mean(logits, axis=-1, keepdims=True)

        def gradient(*args, upstream=None):  # PyTorch names the argument, the others do not
            upstream = args[0] if upstream is None else upstream  # as the labels
            scale = ops.expand_dims(upstream, -1)
            # p - ε / K at every class, and 1 - ε less at the labels.
            slopes = exponentials * (scale / total) - scale * (label_smoothing / num_classes)
            slopes = ops.reshape(slopes, (-1, num_classes))  # [tokens, vocabulary]
            classes = ops.reshape(labels, (-1, 1))
            at_labels = ops.take_along_axis(slopes, classes, axis=-1)
            at_labels = at_labels - (1.0 - label_smoothing) * ops.reshape(upstream, (-1, 1))
            tokens = ops.expand_dims(ops.arange(ops.shape(slopes)[0], dtype=labels.dtype), -1)
            places = ops.concatenate([tokens, classes], axis=-1)
            slopes = ops.scatter_update(slopes, places, ops.squeeze(at_labels, -1))
            return ops.reshape(slopes, ops.shape(logits)), None

        return ops.squeeze(losses, axis=-1), gradient

    return crossentropy(logits, labels)


def _labels_and_weights(labels, logits, sample_weight=None):
    """A label and a weight for each of the logits.

    The weight is one for a real token, zero for padding, times the caller's weights where there are
    any.
    """
    labels = ops.cast(labels, "int32")  # Keras hands over float32: exact up to 2^24 classes
    weights = ops.cast(ops.not_equal(labels, 0), "float32")  # [batch, length]
    if sample_weight is not None:
        sample_weight = ops.cast(sample_weight, "float32")
        if len(sample_weight.shape) < 2:  # one weight for each sentence
            sample_weight = ops.reshape(sample_weight, (-1, 1))
        weights = weights * sample_weight
    if len(logits.shape) == len(labels.shape):  # those of the real tokens alone
        return without_padding(labels, labels), without_padding(weights, labels)
    return labels, weights


@keras.saving.register_keras_serializable(package="nlp104")
class MaskedCrossentropy(keras.losses.Loss):
    """Cross-entropy with label smoothing, averaged over the real tokens of a batch.

    A batch of nothing but padding has the loss 0. Whatever the model computes in (float16,
    bfloat16), the loss is computed in float32. See `smoothed_crossentropy` for the equation.

    Args:
        label_smoothing: Probability mass that is spread evenly over the whole vocabulary, at least
            0 and below 1.
        name: Name of the loss.

    Call arguments:
        y_true: Token ids of shape `[batch, length]`; 0 marks padding.
        y_pred: Logits of shape `[batch, length, vocabulary]`, or of the real tokens alone,
            `[tokens, vocabulary]`, see `nlp104.unpadding`.
        sample_weight: Optional weights of shape `[batch]` or `[batch, length]`.

    Returns:
        A scalar.

    Raises:
        ValueError: If `label_smoothing` is not in [0, 1).

    Example:
        >>> loss = MaskedCrossentropy(label_smoothing=0.1)
        >>> labels = np.array([[4, 3, 0]])  # the last position is padding
        >>> float(loss(labels, np.zeros((1, 3, 8))))  # log 8: every class is equally likely
        2.0794415...
    """

    def __init__(self, label_smoothing=0.0, name="masked_crossentropy"):
        # Keras divides by the sum of the weights, which are 1 for tokens and 0 for padding.
        super().__init__(name=name, reduction="mean_with_sample_weight", dtype="float32")
        if not 0.0 <= label_smoothing < 1.0:
            raise ValueError(
                f"label_smoothing must be at least 0 and below 1, received {label_smoothing}."
            )
        self.label_smoothing = label_smoothing

    def __call__(self, y_true, y_pred, sample_weight=None):
        labels, weights = _labels_and_weights(y_true, y_pred, sample_weight)
        return super().__call__(labels, y_pred, weights)

    def call(self, y_true, y_pred):
        return smoothed_crossentropy(ops.cast(y_true, "int32"), y_pred, self.label_smoothing)

    def get_config(self):
        return {"label_smoothing": self.label_smoothing, "name": self.name}


class _TokenMean(keras.metrics.Mean):
    """Mean of a value over all real tokens seen since the last reset."""

    def values(self, labels, logits):
        """The value of every position, of the shape of the labels."""
        raise NotImplementedError

    def update_state(self, y_true, y_pred, sample_weight=None):
        labels, weights = _labels_and_weights(y_true, y_pred, sample_weight)
        values = self.values(labels, ops.cast(y_pred, "float32"))
        # Flat, since Keras would first take the mean of each row, padding included.
        return super().update_state(ops.reshape(values, (-1,)), ops.reshape(weights, (-1,)))


@keras.saving.register_keras_serializable(package="nlp104")
class MaskedAccuracy(_TokenMean):
    """Share of the real tokens whose label has the highest logit.

    A label that ties with another class for the highest logit counts as right: comparing with the
    maximum is an order of magnitude faster than looking for its place.

    Args:
        name: Name of the metric.

    Call arguments (of `update_state`): as of `MaskedCrossentropy`.

    Example:
        >>> accuracy = MaskedAccuracy()
        >>> accuracy.update_state(np.array([[1, 1, 0]]), np.array([[[0, 9], [9, 0], [9, 0]]]))
        >>> float(accuracy.result())  # the padded position does not count
        0.5
    """

    def __init__(self, name="accuracy"):
        super().__init__(name=name, dtype="float32")

    def values(self, labels, logits):
        label_logits = ops.take_along_axis(logits, ops.expand_dims(labels, -1), axis=-1)
        return ops.squeeze(label_logits, axis=-1) >= ops.max(logits, axis=-1)

    def get_config(self):
        return {"name": self.name}


@keras.saving.register_keras_serializable(package="nlp104")
class TokenLoss(_TokenMean):
    """The mean loss of a real token over a whole epoch.

    Keras reports the mean of the batches' losses, weighted by their numbers of sentences. Batches
    of equally many sentences hold unequally many tokens, so that number depends on how sentences
    were batched; this one does not. Named `loss`, it takes the place of Keras' number in the
    logs and in the history.

    Args:
        label_smoothing: As of `MaskedCrossentropy`.
        name: Name of the metric.

    Call arguments (of `update_state`): as of `MaskedCrossentropy`.
    """

    def __init__(self, label_smoothing=0.0, name="loss"):
        super().__init__(name=name, dtype="float32")
        self.label_smoothing = label_smoothing

    def values(self, labels, logits):
        return smoothed_crossentropy(labels, logits, self.label_smoothing)

    def get_config(self):
        return {"label_smoothing": self.label_smoothing, "name": self.name}


@keras.saving.register_keras_serializable(package="nlp104")
class WarmupSchedule(keras.optimizers.schedules.LearningRateSchedule):
    r"""Learning rate that rises linearly to a peak and then falls.

    With $s$ counting the steps from 1 and $w$ = `warmup_steps`, it falls with the inverse square
    root:

    $$\mathrm{peak} \cdot \min\left(\frac{s}{w}, \sqrt{\frac{w}{s}}\right)$$

    This is equation 3 of Vaswani et al. (2017), $d^{-1/2} \min(s^{-1/2}, s\,w^{-3/2})$, with the
    learning rate that it reaches at step $w$ named instead of implied: see `from_hidden_dim`.

    When the number of steps $S$ = `total_steps` is known, it can fall in a straight line instead,
    as in Devlin et al. (2019), to 0 right after the last step:

    $$\mathrm{peak} \cdot \min\left(\frac{s}{w}, \frac{S + 1 - s}{S + 1 - w}\right)$$

    Args:
        peak: The highest learning rate, reached at step `warmup_steps`.
        warmup_steps: Number of steps on the way up.
        total_steps: Number of steps in all, for the fall in a straight line. `None`: the fall is
            that of the inverse square root, which has no end.

    Raises:
        ValueError: If `peak` or `warmup_steps` is not positive, or `total_steps` is less than
            `warmup_steps`.

    Example:
        >>> schedule = WarmupSchedule(peak=1e-3, warmup_steps=100)
        >>> [float(schedule(step)) for step in (0, 49, 99, 399)]
        [1e-05, 0.0005, 0.001, 0.0005]
    """

    def __init__(self, peak, warmup_steps=4000, total_steps=None):
        if not peak > 0 or not warmup_steps > 0:
            raise ValueError(
                "peak and warmup_steps must be positive, "
                f"received peak={peak} and warmup_steps={warmup_steps}."
            )
        if total_steps is not None and total_steps < warmup_steps:
            raise ValueError(
                f"The warm-up is longer than the training: received warmup_steps={warmup_steps} "
                f"and total_steps={total_steps}."
            )
        self.peak = float(peak)
        self.warmup_steps = int(warmup_steps)
        self.total_steps = total_steps if total_steps is None else int(total_steps)

    @classmethod
    def from_hidden_dim(cls, hidden_dim, warmup_steps=4000):
        """The schedule of the paper: its peak is `(hidden_dim * warmup_steps) ** -0.5`."""
        return cls((hidden_dim * warmup_steps) ** -0.5, warmup_steps)

    def __call__(self, step):
        step = ops.cast(step, "float32") + 1.0  # Keras counts from 0, the paper from 1
        warmup = float(self.warmup_steps)
        if self.total_steps is None:
            fall = ops.sqrt(warmup / step)
        else:
            end = self.total_steps + 1.0
            fall = ops.maximum((end - step) / (end - warmup), 0.0)
        return self.peak * ops.minimum(step / warmup, fall)

    def get_config(self):
        return {
            "peak": self.peak,
            "warmup_steps": self.warmup_steps,
            "total_steps": self.total_steps,
        }


def adam(learning_rate):
    """Adam as in Vaswani et al. (2017), section 5.3: β₁ = 0.9, β₂ = 0.98, ε = 1e-9.

    Args:
        learning_rate: A number or a schedule such as `WarmupSchedule`.
    """
    return keras.optimizers.Adam(learning_rate, beta_1=0.9, beta_2=0.98, epsilon=1e-9)


def compile_model(model, learning_rate, label_smoothing=0.1, jit_compile="auto"):
    """Compile a model with the loss, the optimizer and the per-token metrics of this module.

    Args:
        model: A `keras.Model` that returns logits `[batch, length, vocabulary]`.
        learning_rate: A number or a schedule such as `WarmupSchedule`.
        label_smoothing: As of `MaskedCrossentropy`.
        jit_compile: As of `keras.Model.compile`.
    """
    loss = MaskedCrossentropy(label_smoothing)
    loss.skips_padding = True  # and so do the metrics, see `nlp104.unpadding`
    model.compile(
        optimizer=adam(learning_rate),
        loss=loss,
        metrics=[TokenLoss(label_smoothing), MaskedAccuracy()],
        jit_compile=jit_compile,
    )

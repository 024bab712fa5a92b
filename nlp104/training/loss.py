"""What training minimises: cross-entropy of the real tokens, with label smoothing."""

import keras
from keras import ops

from nlp104.transformer.skip_padding import token_weights
from nlp104.utils.arguments import require_number


def smoothed_crossentropy(labels, logits, label_smoothing=0.0):
    r"""Cross-entropy of every token with label smoothing, without building a one-hot target.

    Szegedy et al. (2016), section 7, soften the one-hot target to
    $q_k = (1 - \varepsilon)\,[k = y] + \varepsilon / K$: the mass $\varepsilon$ is spread evenly
    over all $K$ classes of the vocabulary, the label and the special tokens included. Since the
    $q_k$ sum to one, the cross-entropy $-\sum_k q_k \log p_k$ with $p = \mathrm{softmax}(x)$ is

    $$\log \sum_k e^{x_k} - (1 - \varepsilon)\, x_y - \varepsilon\, \bar{x},$$

    one log-sum-exp, one gather and one mean. Its gradient is $p - q$.

    Args:
        labels: Token ids from 0 to vocabulary - 1, int32 of shape `[batch, length]`, or `[tokens]`.
            Whether they are is not looked at, which would cost time in every step: with others
            there is an error, a NaN or the loss of another label, as the backend has it.
        logits: Scores before the softmax, float32 of shape `[batch, length, vocabulary]`, or
            `[tokens, vocabulary]`.
        label_smoothing: The ε above, at least 0 and below 1 (Vaswani et al., 2017: 0.1).

    Returns:
        The loss of every position, of the shape of the labels, padding included.

    Raises:
        ValueError: If `label_smoothing` is not in [0, 1), or the logits are no floating-point
            numbers.

    Example:
        >>> import numpy as np
        >>> from nlp104.training import smoothed_crossentropy
        >>> logits = np.log([[0.5, 0.25, 0.25]]).astype("float32")
        >>> for smoothing in (0.0, 0.1):  # log 2, then 0.9 log 2 + 0.1 (log 2 + 2 log 4) / 3
        ...     (loss,) = smoothed_crossentropy(np.array([0]), logits, smoothing)
        ...     print(round(float(loss), 4))
        0.6931
        0.7394
    """
    _require_probability(label_smoothing)
    if not keras.backend.is_float_dtype(logits.dtype):
        dtype = keras.backend.standardize_dtype(logits.dtype)
        raise ValueError(f"Expected logits in floating point. Received: {dtype}.")
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
        if label_smoothing:  # without it a logit may be -∞, and 0 · -∞ is no number
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
        y_true: Token ids of shape `[batch, length]`, or `[tokens]`; 0 marks padding.
        y_pred: Logits, with one more axis, of the vocabulary.
        sample_weight: Optional weights of the labels' shape, or of shape `[batch]`.

    Returns:
        A scalar.

    Raises:
        ValueError: If `label_smoothing` is not in [0, 1).

    Example:
        >>> import numpy as np
        >>> from nlp104.training import MaskedCrossentropy
        >>> loss = MaskedCrossentropy(label_smoothing=0.1)
        >>> labels = np.array([[4, 3, 0]])  # the last position is padding
        >>> logits = np.zeros((1, 3, 8), "float32")  # every class is equally likely
        >>> round(float(loss(labels, logits)), 4)  # log 8
        2.0794
        >>> logits[0, 2] = [0, 0, 0, 0, 0, 0, 0, 100]  # whatever is said at the padding
        >>> round(float(loss(labels, logits)), 4)
        2.0794
    """

    def __init__(self, label_smoothing=0.0, name="masked_crossentropy"):
        # Keras divides by the sum of the weights, which are 1 for tokens and 0 for padding.
        super().__init__(name=name, reduction="mean_with_sample_weight", dtype="float32")
        self.label_smoothing = _require_probability(label_smoothing)

    def __call__(self, y_true, y_pred, sample_weight=None):
        labels = ops.cast(y_true, "int32")  # Keras hands over float32: exact up to 2^24 classes
        return super().__call__(labels, y_pred, token_weights(labels, sample_weight))

    def call(self, y_true, y_pred):
        return smoothed_crossentropy(ops.cast(y_true, "int32"), y_pred, self.label_smoothing)

    def get_config(self):
        return {"label_smoothing": self.label_smoothing, "name": self.name}


def _require_probability(label_smoothing):
    return require_number(
        "label_smoothing", label_smoothing, lambda e: 0 <= e < 1, "at least 0 and below 1"
    )

"""What training reports besides the loss: how often the right token has the highest logit."""

import keras
from keras import ops

from nlp104.transformer.skip_padding import token_weights


@keras.saving.register_keras_serializable(package="nlp104")
class MaskedAccuracy(keras.metrics.Mean):
    """Share of the real tokens whose label has the highest logit.

    Of several equal logits the first counts as the highest, as in `keras.ops.argmax` and in greedy
    decoding.

    Args:
        name: Name of the metric.

    Call arguments (of `update_state`):
        y_true: Token ids of shape `[batch, length]`, or `[tokens]`; 0 marks padding.
        y_pred: Logits, with one more axis, of the vocabulary.
        sample_weight: Optional weights of the labels' shape, or of shape `[batch]`.

    Example:
        >>> import numpy as np
        >>> from nlp104.training import MaskedAccuracy
        >>> accuracy = MaskedAccuracy()
        >>> labels = np.array([[1, 1, 0]])  # the last position is padding
        >>> accuracy.update_state(labels, np.array([[[0.0, 9.0], [9.0, 0.0], [9.0, 0.0]]]))
        >>> float(accuracy.result())  # right, wrong, not counted
        0.5
    """

    def __init__(self, name="accuracy"):
        super().__init__(name=name, dtype="float32")

    def update_state(self, y_true, y_pred, sample_weight=None):
        labels = ops.cast(y_true, "int32")
        weights = token_weights(labels, sample_weight)
        hits = ops.equal(labels, _highest(y_pred))
        # Flat, since Keras would first take the mean of each row, padding included.
        return super().update_state(ops.reshape(hits, (-1,)), ops.reshape(weights, (-1,)))

    def get_config(self):
        return {"name": self.name}


def _highest(logits):
    """The first place of the highest logit.

    On TensorFlow `keras.ops.argmax` looks at every sign for a −0, which costs four times as much
    as the search itself, and 6 % of a training step. There `top_k`, too, names the first of equals.
    """
    if keras.backend.backend() == "tensorflow":
        return ops.squeeze(ops.top_k(logits, 1)[1], axis=-1)
    return ops.cast(ops.argmax(logits, axis=-1), "int32")

"""What training reports besides: accuracy of the real tokens."""

import keras
from keras import ops

from nlp104.training.loss import labels_and_weights, smoothed_crossentropy


class _TokenMean(keras.metrics.Mean):
    """Mean of a value over all real tokens seen since the last reset."""

    def values(self, labels, logits):
        """The value of every position, of the shape of the labels."""
        raise NotImplementedError

    def update_state(self, y_true, y_pred, sample_weight=None):
        labels, weights = labels_and_weights(y_true, y_pred, sample_weight)
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

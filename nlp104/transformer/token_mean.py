"""The loss of an epoch: the mean over its tokens, not over its batches."""

import keras
from keras import ops

from nlp104.transformer.skip_padding import token_weights


class TokenMeanLoss(keras.Model):
    """A model whose logged loss weighs every token alike.

    What is logged is the loss that is minimised, sample weights included. But Keras takes the mean
    of the batches' losses weighted by their numbers of sentences, and batches of equally many
    sentences hold unequally many tokens: that number depends on how sentences were batched. Here
    each batch weighs as much as its tokens do.
    """

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        # In half precision, which `set_floatx` may ask for, a sum over tokens has no room.
        self.loss_tracker = keras.metrics.Mean(name="loss", dtype="float32")

    def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, training=True):
        loss = super().compute_loss(x, y, y_pred, sample_weight, training)
        weight = ops.sum(token_weights(y, sample_weight))
        self.loss_tracker.update_state(loss, sample_weight=weight)
        return loss

    @property
    def metrics(self):
        """As Keras has them, with this class' mean in the place of Keras' own, which is first."""
        metrics = super().metrics
        if not self.compiled:
            return metrics
        own = self.loss_tracker
        return [own, *(metric for metric in metrics[1:] if metric is not own)]

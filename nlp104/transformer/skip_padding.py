"""Training and evaluation without the cost of padding.

Where the label is padding, logits weigh nothing in the loss and in the metrics. But the product
with the vocabulary is the dearest of a training step, and the logits are its largest array: here
those of padding are not computed. Columns of nothing but padding are not computed at all.
"""

import contextlib

import keras
from keras import ops


def without_padding(values, labels):
    """The values at the real tokens, one after the other.

    Args:
        values: Tensor of shape `[batch, length, …]`.
        labels: Token ids of shape `[batch, length]`; 0 marks padding.

    Returns:
        Tensor of shape `[tokens, …]`, row after row, from left to right. Where nothing is real, the
        value at the first position, for not every operation of every backend takes an empty tensor.

    Example:
        >>> values, labels = np.array([[1, 2, 3], [4, 5, 6]]), np.array([[7, 3, 0], [3, 0, 0]])
        >>> ops.convert_to_numpy(without_padding(values, labels)).tolist()
        [1, 2, 4]
    """
    real = ops.reshape(ops.not_equal(labels, 0), (-1,))
    first = ops.equal(ops.arange(ops.shape(real)[0]), 0)
    (places,) = ops.nonzero(real | (first & ~ops.any(real)))
    return ops.take(ops.reshape(values, (-1, *values.shape[2:])), places, axis=0)


def without_empty_columns(*arrays):
    """Token ids, each of shape `[batch, length]`, up to the last column in which one is real."""
    real = [ops.any(ops.not_equal(ids, 0), axis=0) for ids in arrays]
    width = 1 + ops.max([ops.max(ops.where(row, ops.arange(ops.shape(row)[0]), 0)) for row in real])
    return [ids[:, :width] for ids in arrays]


class SkipsPadding(keras.Model):
    """A model that spares itself most of the padding while it is trained or evaluated.

    Columns of nothing but padding are cut off, and of the positions that are left only real tokens
    become logits. This needs a loss with the attribute `skips_padding`, which says that the loss
    and all metrics read the logits of real tokens alone, `[tokens, vocabulary]`, as well as those
    of all positions. It also needs shapes that may depend on the data, so it is not done on JAX,
    nor where TensorFlow compiles with XLA.
    """

    _labels = None  # of the step that is being computed

    def train_step(self, *arguments):
        with self._sparing(arguments) as arguments:
            return super().train_step(*arguments)

    def test_step(self, *arguments):
        with self._sparing(arguments) as arguments:
            return super().test_step(*arguments)

    @contextlib.contextmanager
    def _sparing(self, arguments):
        fixed = keras.backend.backend() == "jax" or self.jit_compile
        if fixed or not getattr(self.loss, "skips_padding", False):
            yield arguments
            return
        inputs, labels, weights = keras.utils.unpack_x_y_sample_weight(*arguments)
        (source,) = without_empty_columns(inputs["encoder_token_ids"])
        target, labels = without_empty_columns(inputs["decoder_token_ids"], labels)
        if weights is not None and len(weights.shape) == 2:
            weights = weights[:, : ops.shape(labels)[1]]
        inputs = {"encoder_token_ids": source, "decoder_token_ids": target}
        self._labels = labels
        try:
            yield [(inputs, labels, weights)]
        finally:
            self._labels = None

    def worth_logits(self, x):
        """Of the vectors `[batch, length, hidden_dim]` those that are to become logits."""
        return x if self._labels is None else without_padding(x, self._labels)

"""Training and evaluation without the cost of padding.

Where the label is padding, logits weigh nothing in the loss and in the metrics. But the product
with the vocabulary is the dearest of a training step, and the logits are its largest array. So
where a model is told to (`SkipsPadding.skip_padding`), a step cuts off the columns of nothing but
padding, names the real tokens once, in `select_real_tokens`, and everything behind that sees these
tokens alone: the model turns them into logits `[tokens, vocabulary]`, loss and metrics get as many
labels and weights.
"""

import keras
from keras import ops

REAL_TOKENS = "real_tokens"  # the input of the model that names the positions worth logits


def token_weights(labels, sample_weight=None):
    """What each label counts: 1 for a real token, 0 for padding, times the weights of the caller.

    Args:
        labels: Token ids, `[batch, length]` or `[tokens]`; 0 marks padding.
        sample_weight: Weights of the labels' shape, or one for each sentence, `[batch]`.

    Returns:
        float32, of the shape of the labels.

    Example:
        >>> import numpy as np
        >>> from keras import ops
        >>> from nlp104.transformer.skip_padding import token_weights
        >>> labels = np.array([[7, 3, 0], [3, 0, 0]])
        >>> print(ops.convert_to_numpy(token_weights(labels, sample_weight=np.array([1.0, 5.0]))))
        [[1. 1. 0.]
         [5. 0. 0.]]
    """
    weights = ops.cast(ops.not_equal(labels, 0), "float32")
    if sample_weight is None:
        return weights
    sample_weight = ops.cast(sample_weight, "float32")
    missing = len(labels.shape) - len(sample_weight.shape)
    return weights * ops.reshape(sample_weight, (*ops.shape(sample_weight), *[1] * missing))


def real_positions(labels):
    """Where the real tokens stand, counted through all rows.

    Args:
        labels: Token ids `[batch, length]`; 0 marks padding.

    Returns:
        Integers `[tokens]`. Where nothing is real, the first position, for not every operation of
        every backend takes an empty tensor.

    Example:
        >>> import numpy as np
        >>> from keras import ops
        >>> from nlp104.transformer.skip_padding import real_positions
        >>> print(ops.convert_to_numpy(real_positions(np.array([[7, 3, 0], [3, 0, 0]]))))
        [0 1 3]
    """
    real = ops.reshape(ops.not_equal(labels, 0), (-1,))
    first = ops.equal(ops.arange(ops.shape(real)[0], dtype="int32"), 0)
    return ops.nonzero(real | (first & ~ops.any(real)))[0]


def take_positions(values, positions):
    """Of values `[batch, length, …]` those at some positions, `[tokens, …]`.

    Example:
        >>> from keras import ops
        >>> from nlp104.transformer.skip_padding import take_positions
        >>> values = ops.array([[10, 11, 12], [20, 21, 22]])
        >>> print(ops.convert_to_numpy(take_positions(values, ops.array([0, 1, 3]))))
        [10 11 20]
    """
    return ops.take(ops.reshape(values, (-1, *values.shape[2:])), positions, axis=0)


def without_empty_columns(*arrays):
    """Token ids, each of shape `[batch, length]`, up to the last column in which one is real.

    Example:
        >>> import numpy as np
        >>> from nlp104.transformer.skip_padding import without_empty_columns
        >>> (ids,) = without_empty_columns(np.array([[7, 3, 0, 0], [3, 0, 0, 0]]))
        >>> print(ids)
        [[7 3]
         [3 0]]
    """
    real = [ops.any(ops.not_equal(ids, 0), axis=0) for ids in arrays]
    places = [ops.arange(ops.shape(row)[0], dtype="int32") for row in real]
    last = [ops.max(ops.where(row, place, 0)) for row, place in zip(real, places, strict=True)]
    width = 1 + ops.max(last)
    return [ids[:, :width] for ids in arrays]


def select_real_tokens(inputs, labels, sample_weight=None):
    """The arguments of a training step without padding.

    Args:
        inputs: ``{"encoder_token_ids": [batch, source], "decoder_token_ids": [batch, target]}``.
        labels: Token ids `[batch, target]`; 0 marks padding.
        sample_weight: Weights `[batch]` or `[batch, target]`, or None.

    Returns:
        The inputs in as many columns as have a real token, and with the positions that are worth
        logits as ``"real_tokens"``; the labels there, `[tokens]`; their weights, `[tokens]`.

    Example:
        >>> import numpy as np
        >>> from keras import ops
        >>> from nlp104.transformer.skip_padding import select_real_tokens
        >>> source, target = np.array([[5, 3, 0]]), np.array([[2, 7, 0]])
        >>> inputs = {"encoder_token_ids": source, "decoder_token_ids": target}
        >>> inputs, labels, weights = select_real_tokens(inputs, np.array([[7, 3, 0]]))
        >>> for array in (*inputs.values(), labels, weights):
        ...     print(ops.convert_to_numpy(array).tolist())
        [[5, 3]]
        [[2, 7]]
        [0, 1]
        [7, 3]
        [1.0, 1.0]
    """
    weights = token_weights(labels, sample_weight)
    (source,) = without_empty_columns(inputs["encoder_token_ids"])
    target, labels = without_empty_columns(inputs["decoder_token_ids"], labels)
    positions = real_positions(labels)
    inputs = {"encoder_token_ids": source, "decoder_token_ids": target, REAL_TOKENS: positions}
    weights = take_positions(weights[:, : ops.shape(labels)[1]], positions)
    return inputs, take_positions(labels, positions), weights


class SkipsPadding(keras.Model):
    """A model that spares itself the padding while it is trained or evaluated.

    Attributes:
        skip_padding: Whether it does. It needs a loss and metrics that give padding no weight, as
            those of `nlp104.training` do; `nlp104.training.compile_model` sets it, and
            `compile` takes it back. It also needs shapes that may depend on the data, so nothing is
            skipped on JAX, nor where TensorFlow compiles with XLA.
    """

    skip_padding = False

    def compile(self, *arguments, **options):
        super().compile(*arguments, **options)
        self.skip_padding = False  # nobody knows what another loss makes of padding

    def get_compile_config(self):
        config = super().get_compile_config()
        return config and {**config, "skip_padding": self.skip_padding}

    def compile_from_config(self, config):
        others = {name: value for name, value in config.items() if name != "skip_padding"}
        # As Keras' own method, which does nothing where a class has a `compile` of its own.
        self.compile(**keras.saving.deserialize_keras_object(others))
        if self.built and self.optimizer is not None:
            self.optimizer.build(self.trainable_variables)
        self.skip_padding = config.get("skip_padding", False)  # older files know nothing of it

    # On JAX the data are the second argument. Nothing is skipped there.
    def train_step(self, *arguments):
        return super().train_step(*self._skip(arguments))

    def test_step(self, *arguments):
        return super().test_step(*self._skip(arguments))

    def _skip(self, arguments):
        if not self.skip_padding or keras.backend.backend() == "jax" or self.jit_compile:
            return arguments
        return [select_real_tokens(*keras.utils.unpack_x_y_sample_weight(*arguments))]

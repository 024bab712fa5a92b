"""The wire around a sub-layer: dropout, addition, normalisation."""

import math

import keras

from nlp104.utils.arguments import require_number, require_one_of, require_rate, require_switch


@keras.saving.register_keras_serializable(package="nlp104")
class Residual(keras.layers.Layer):
    """The wire around a sub-layer.

    It is normalised after the sum, as in the paper (Vaswani et al., 2017, section 3.1), or before
    the sub-layer, so that the sum is never normalised (pre-norm; Xiong et al., 2020)::

        LayerNorm(x + Dropout(SubLayer(x)))          normalize_first=False
        x + Dropout(SubLayer(LayerNorm(x)))          normalize_first=True

    What normalises may be lighter than layer normalisation: x / √(mean of x² + ε), times a scale,
    without the mean that is subtracted and the bias that is added (Zhang and Sennrich, 2019).

    Args:
        dropout: rate of dropout on the output of the sub-layer.
        normalize_first: whether the normalisation stands before the sub-layer.
        epsilon: added to the variance, or to the mean of the squares.
        normalization: ``"layer"`` or ``"rms"``.
        **kwargs: arguments of `keras.layers.Layer`.

    Call arguments:
        inputs: `[batch, length, dim]`.
        sub_layer: a function from `[batch, length, dim]` to the same shape, passed by its name. It
            may return a tuple that begins with that, such as an output and attention weights. The
            layers that it calls belong to whoever calls this one, and are kept there.
        training: whether dropout is active.

    Returns:
        `[batch, length, dim]`; or a tuple of that and of what else the sub-layer returned.

    Raises:
        ValueError: if `normalization` is unknown, `dropout` not from 0 to 1, `epsilon` negative, or
            `normalize_first` not True or False.

    Example:
        >>> from keras import ops
        >>> from nlp104.transformer import Residual
        >>> x = ops.array([[[1.0, 3.0]]])
        >>> for normalize_first in (False, True):
        ...     residual = Residual(normalize_first=normalize_first)
        ...     y = residual(x, sub_layer=lambda x: 2 * x)
        ...     print(ops.convert_to_numpy(y).round(2))  # LayerNorm(x + 2x), x + 2 LayerNorm(x)
        [[[-1.  1.]]]
        [[[-1.  5.]]]
    """

    def __init__(
        self, dropout=0.1, normalize_first=False, epsilon=1e-6, normalization="layer", **kwargs
    ):
        super().__init__(**kwargs)
        require_switch(normalize_first=normalize_first)
        [self.dropout] = require_rate(dropout=dropout)
        self.normalize_first = normalize_first
        self.epsilon = epsilon
        self.kind = normalization
        self.supports_masking = True
        self.dropout_layer = keras.layers.Dropout(dropout, dtype=self.dtype_policy)
        self.normalization = make_normalization(normalization, epsilon, self.dtype_policy)

    def build(self, inputs_shape):
        self.normalization.build(inputs_shape)

    def call(self, inputs, sub_layer, training=None):
        change = sub_layer(self.normalization(inputs) if self.normalize_first else inputs)
        change, *others = change if isinstance(change, tuple) else (change,)
        x = inputs + self.dropout_layer(change, training=training)
        x = x if self.normalize_first else self.normalization(x)
        return (x, *others) if others else x

    def compute_output_spec(self, inputs, sub_layer, training=None):
        raise ValueError(
            "In a functional model a sub-layer would be in nobody's keeping, neither trained nor "
            "saved: expected a Residual in the `call` of a layer or model that has the sub-layer "
            f"as an attribute. Received: a symbolic tensor, {inputs}."
        )

    def get_config(self):
        return {
            **super().get_config(),
            "dropout": self.dropout,
            "normalize_first": self.normalize_first,
            "epsilon": self.epsilon,
            "normalization": self.kind,
        }


def make_normalization(kind, epsilon, dtype):
    """Keras' layer for ``"layer"`` or ``"rms"``.

    Raises:
        ValueError: if `kind` is neither of them, or `epsilon` negative.
    """
    require_number("epsilon", epsilon, lambda e: 0 <= e < math.inf, "a number of at least 0")
    require_one_of(_NORMALIZATIONS, normalization=kind)
    return _NORMALIZATIONS[kind](epsilon=epsilon, dtype=dtype, name="normalization")


_NORMALIZATIONS = {
    "layer": keras.layers.LayerNormalization,
    "rms": keras.layers.RMSNormalization,
}

"""The wire around a sub-layer: dropout, addition, normalisation."""

import keras


@keras.saving.register_keras_serializable(package="nlp104")
class Residual(keras.layers.Layer):
    """The wire around a sub-layer: dropout, addition, normalisation.

    After the sum, as in the paper (Vaswani et al., 2017, section 3.1), or before the sub-layer, so
    that the sum is never normalised (pre-norm; Xiong et al., 2020)::

        LayerNorm(x + Dropout(SubLayer(x)))          normalize_first=False
        x + Dropout(SubLayer(LayerNorm(x)))          normalize_first=True

    Used in two steps: ``residual(x, sub_layer(residual.before(x)))``.

    Args:
        dropout: rate of dropout on the output of the sub-layer.
        normalize_first: whether the normalisation stands before the sub-layer.
        epsilon: added to the variance.
        **kwargs: arguments of `keras.layers.Layer`.

    Call arguments:
        inputs: what went around the sub-layer, `[batch, length, dim]`.
        change: what came out of it, the same shape.
        training: whether dropout is active.

    Returns:
        `[batch, length, dim]`.
    """

    def __init__(self, dropout=0.1, normalize_first=False, epsilon=1e-6, **kwargs):
        super().__init__(**kwargs)
        self.dropout = dropout
        self.normalize_first = normalize_first
        self.epsilon = epsilon
        policy = self.dtype_policy
        self.dropout_layer = keras.layers.Dropout(dropout, dtype=policy)
        self.normalization = keras.layers.LayerNormalization(
            epsilon=epsilon, dtype=policy, name="normalization"
        )

    def build(self, inputs_shape):
        self.normalization.build(inputs_shape)

    def before(self, inputs):
        """What the sub-layer sees."""
        return self.normalization(inputs) if self.normalize_first else inputs

    def call(self, inputs, change, training=None):
        x = inputs + self.dropout_layer(change, training=training)
        return x if self.normalize_first else self.normalization(x)

    def get_config(self):
        return {
            **super().get_config(),
            "dropout": self.dropout,
            "normalize_first": self.normalize_first,
            "epsilon": self.epsilon,
        }

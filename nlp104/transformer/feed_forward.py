"""The feed-forward network, which works on every position by itself."""

import keras

from nlp104.utils.arguments import (
    require_floating_point,
    require_positive,
    require_rate,
    require_switch,
)
from nlp104.utils.initializers import copy_of


@keras.saving.register_keras_serializable(package="nlp104")
class FeedForward(keras.layers.Layer):
    """Two linear layers with a function in between, the same for every position.

    FFN(x) = max(0, x W_1 + b_1) W_2 + b_2  (Vaswani et al., 2017, section 3.3).

    A gated one multiplies by a third linear layer, (f(x W + b) ⊙ (x V + c)) W_2 + b_2, which is
    called SwiGLU where f is SiLU, GEGLU where it is GELU (Shazeer, 2020). At 2/3 of the
    intermediate width its matrices have as many weights as the two.

    Args:
        hidden_dim: width of inputs and outputs, d_model.
        intermediate_dim: width in between, d_ff.
        dropout: rate of dropout on the intermediate activations; the paper has none here.
        activation: the function in between, ReLU in the paper.
        gated: whether the function is applied to a gate, which is multiplied with what it lets
            through.
        kernel_initializer: of the matrices.
        bias_initializer: of the biases.
        **kwargs: arguments of `keras.layers.Layer`.

    Call arguments:
        inputs: `[batch, length, hidden_dim]`.
        training: whether dropout is active.

    Returns:
        `[batch, length, hidden_dim]`.

    Raises:
        ValueError: if a width is not a positive integer, `dropout` not from 0 to 1, or `gated` not
            True or False.

    Example:
        >>> from keras import ops
        >>> from nlp104.transformer import FeedForward
        >>> layer = FeedForward(hidden_dim=2, intermediate_dim=3, kernel_initializer="ones")
        >>> y = layer(ops.array([[[1.0, 2.0], [-1.0, -2.0]]]))  # 3 · max(0, 3), 3 · max(0, -3)
        >>> print(ops.convert_to_numpy(y))
        [[[9. 9.]
          [0. 0.]]]
        >>> layer.count_params()  # 2 · 3 + 3, and 3 · 2 + 2
        17
    """

    def __init__(
        self,
        hidden_dim,
        intermediate_dim,
        dropout=0.0,
        activation="relu",
        kernel_initializer="glorot_uniform",
        bias_initializer="zeros",
        gated=False,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.hidden_dim, self.intermediate_dim = require_positive(
            hidden_dim=hidden_dim, intermediate_dim=intermediate_dim
        )
        require_switch(gated=gated)
        [self.dropout] = require_rate(dropout=dropout)
        self.activation = keras.activations.get(activation)
        self.kernel_initializer = keras.initializers.get(kernel_initializer)
        self.bias_initializer = keras.initializers.get(bias_initializer)
        self.gated = gated
        self.supports_masking = True

        def dense(units, name, activation=None):
            return keras.layers.Dense(
                units,
                activation=activation,
                kernel_initializer=copy_of(self.kernel_initializer),
                bias_initializer=copy_of(self.bias_initializer),
                dtype=self.dtype_policy,
                name=name,
            )

        if gated:
            self.gate = dense(self.intermediate_dim, "gate", self.activation)
        self.expand = dense(self.intermediate_dim, "expand", None if gated else self.activation)
        self.dropout_layer = keras.layers.Dropout(dropout, dtype=self.dtype_policy)
        self.contract = dense(self.hidden_dim, "contract")

    def build(self, inputs_shape):
        if self.gated:
            self.gate.build(inputs_shape)
        self.expand.build(inputs_shape)
        self.contract.build((*inputs_shape[:-1], self.intermediate_dim))

    def call(self, inputs, training=None):
        x = self.expand(inputs)  # [batch, length, intermediate_dim]
        if self.gated:
            x = self.gate(inputs) * x
        return self.contract(self.dropout_layer(x, training=training))

    def compute_output_shape(self, inputs_shape):
        return (*inputs_shape[:-1], self.hidden_dim)

    def get_config(self):
        require_floating_point(self)
        return {
            **super().get_config(),
            "hidden_dim": self.hidden_dim,
            "intermediate_dim": self.intermediate_dim,
            "dropout": self.dropout,
            "activation": keras.activations.serialize(self.activation),
            "kernel_initializer": keras.initializers.serialize(self.kernel_initializer),
            "bias_initializer": keras.initializers.serialize(self.bias_initializer),
            "gated": self.gated,
        }

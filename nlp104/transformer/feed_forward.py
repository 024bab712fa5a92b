"""The feed-forward network, which works on every position by itself."""

import keras


@keras.saving.register_keras_serializable(package="nlp104")
class FeedForward(keras.layers.Layer):
    """Two linear layers with a ReLU in between, the same for every position.

    FFN(x) = max(0, x W_1 + b_1) W_2 + b_2  (Vaswani et al., 2017, section 3.3).

    Args:
        hidden_dim: width of inputs and outputs, d_model.
        intermediate_dim: width in between, d_ff.
        dropout: rate of dropout on the intermediate activations; the paper has none here.
        **kwargs: arguments of `keras.layers.Layer`.

    Call arguments:
        inputs: `[batch, length, hidden_dim]`.
        training: whether dropout is active.

    Returns:
        `[batch, length, hidden_dim]`.
    """

    def __init__(self, hidden_dim, intermediate_dim, dropout=0.0, **kwargs):
        super().__init__(**kwargs)
        self.hidden_dim = hidden_dim
        self.intermediate_dim = intermediate_dim
        self.dropout = dropout
        policy = self.dtype_policy
        self.expand = keras.layers.Dense(
            intermediate_dim, activation="relu", dtype=policy, name="expand"
        )
        self.dropout_layer = keras.layers.Dropout(dropout, dtype=policy)
        self.contract = keras.layers.Dense(hidden_dim, dtype=policy, name="contract")

    def build(self, inputs_shape):
        self.expand.build(inputs_shape)
        self.contract.build((*inputs_shape[:-1], self.intermediate_dim))

    def call(self, inputs, training=None):
        x = self.expand(inputs)  # [batch, length, intermediate_dim]
        return self.contract(self.dropout_layer(x, training=training))

    def get_config(self):
        return {
            **super().get_config(),
            "hidden_dim": self.hidden_dim,
            "intermediate_dim": self.intermediate_dim,
            "dropout": self.dropout,
        }

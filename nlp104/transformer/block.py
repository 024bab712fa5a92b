"""What encoder layer, decoder layer and the stacks of them have in common."""

import keras
from keras import ops

from nlp104.attention.multi_head import MultiHeadAttention
from nlp104.transformer.feed_forward import FeedForward
from nlp104.transformer.residual import Residual
from nlp104.utils.arguments import require_positive
from nlp104.utils.errors import InputError


class Block(keras.layers.Layer):
    """What encoder layer, decoder layer and the stacks of them have in common: the configuration.

    Args:
        hidden_dim: width of the model, d_model; divisible by `num_heads`.
        intermediate_dim: width inside the feed-forward network, d_ff.
        num_heads: number of attention heads, h.
        dropout: rate of dropout on the output of every sub-layer, before it is added (Vaswani et
            al., 2017, section 5.4).
        attention_dropout: rate of dropout on the attention weights. The paper does not mention it.
        activation_dropout: rate of dropout inside the feed-forward network. Nor this one.
        normalize_first: pre-norm instead of the paper's post-norm, see `Residual`.
        epsilon: added to the variance in layer normalisation.
        attention_gain: factor on Glorot's limits for the first weights of the attentions' queries,
            keys and values, see `MultiHeadAttention`.
        **kwargs: arguments of `keras.layers.Layer`.

    Raises:
        ValueError: if a size is not a positive integer, or `hidden_dim` is not divisible by
            `num_heads`.
    """

    def __init__(
        self,
        hidden_dim,
        intermediate_dim,
        num_heads,
        dropout=0.1,
        attention_dropout=0.0,
        activation_dropout=0.0,
        normalize_first=False,
        epsilon=1e-6,
        attention_gain=1.0,
        **kwargs,
    ):
        super().__init__(**kwargs)
        require_positive(
            hidden_dim=hidden_dim, intermediate_dim=intermediate_dim, num_heads=num_heads
        )
        if hidden_dim % num_heads:
            raise InputError(
                "`hidden_dim` must be divisible by `num_heads`. "
                f"Received: hidden_dim={hidden_dim}, num_heads={num_heads}"
            )
        self.hidden_dim = hidden_dim
        self.intermediate_dim = intermediate_dim
        self.num_heads = num_heads
        self.dropout = dropout
        self.attention_dropout = attention_dropout
        self.activation_dropout = activation_dropout
        self.normalize_first = normalize_first
        self.epsilon = epsilon
        self.attention_gain = attention_gain

    def block_config(self):
        """The arguments that every block takes."""
        return {
            "hidden_dim": self.hidden_dim,
            "intermediate_dim": self.intermediate_dim,
            "num_heads": self.num_heads,
            "dropout": self.dropout,
            "attention_dropout": self.attention_dropout,
            "activation_dropout": self.activation_dropout,
            "normalize_first": self.normalize_first,
            "epsilon": self.epsilon,
            "attention_gain": self.attention_gain,
        }

    def get_config(self):
        return {**super().get_config(), **self.block_config()}

    def _attention(self, name):
        return MultiHeadAttention(
            self.num_heads,
            self.hidden_dim // self.num_heads,
            dropout=self.attention_dropout,
            gain=self.attention_gain,
            dtype=self.dtype_policy,
            name=name,
        )

    def _feed_forward(self):
        return FeedForward(
            self.hidden_dim,
            self.intermediate_dim,
            dropout=self.activation_dropout,
            dtype=self.dtype_policy,
            name="feed_forward",
        )

    def _residual(self, name):
        return Residual(
            self.dropout, self.normalize_first, self.epsilon, dtype=self.dtype_policy, name=name
        )


def keys_mask(padding_mask):
    """From a mask of tokens `[batch, length]` to one of keys, alike for all queries."""
    return None if padding_mask is None else ops.expand_dims(padding_mask, 1)


class Stack(Block):
    """`num_layers` equal layers that share no weights; pre-norm needs one more normalisation.

    Args:
        num_layers: number of layers.
        *args: arguments of `Block`.
        **kwargs: arguments of `Block`.
    """

    layer_class: type[Block]

    def __init__(self, num_layers, *args, **kwargs):
        super().__init__(*args, **kwargs)
        require_positive(num_layers=num_layers)
        self.num_layers = num_layers
        self.blocks = [
            self.layer_class(**self.block_config(), dtype=self.dtype_policy, name=f"layer_{i}")
            for i in range(num_layers)
        ]
        self.normalization = (
            keras.layers.LayerNormalization(
                epsilon=self.epsilon, dtype=self.dtype_policy, name="normalization"
            )
            if self.normalize_first
            else keras.layers.Identity(dtype=self.dtype_policy, name="no_normalization")
        )

    def build(self, *input_shapes):
        for block in self.blocks:
            block.build(*input_shapes)
        self.normalization.build(input_shapes[0])

    def get_config(self):
        return {**super().get_config(), "num_layers": self.num_layers}

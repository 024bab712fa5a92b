"""What encoder layer, decoder layer and the stacks of them have in common: their configuration."""

import keras

from nlp104.attention.multi_head import MultiHeadAttention
from nlp104.transformer.config import TransformerConfig
from nlp104.transformer.feed_forward import FeedForward
from nlp104.transformer.residual import Residual, make_normalization
from nlp104.utils.specs import TracedSpec


class Block(TracedSpec):
    """A part of the Transformer that is made from a `TransformerConfig`.

    Args:
        config: `TransformerConfig`.
        **kwargs: arguments of `keras.layers.Layer`.

    Raises:
        ValueError: if `config` is something else.
    """

    def __init__(self, config, **kwargs):
        super().__init__(**kwargs)
        if not isinstance(config, TransformerConfig):
            raise ValueError(f"`config` must be a TransformerConfig. Received: {config!r}.")
        self.config = config
        self.supports_masking = True
        self.input_spec = keras.InputSpec(ndim=3, axes={-1: config.hidden_dim})

    def compute_output_shape(self, inputs_shape, encoder_output_shape=None):
        return inputs_shape

    def get_config(self):
        return {**super().get_config(), **self.config.to_dict()}

    @classmethod
    def from_config(cls, config):
        config, others = TransformerConfig.split(config)
        return cls(config, **others)


def attention(config, name, is_self_attention, dtype):
    """A multi-head attention as the configuration wants it."""
    gain = config.attention_gain
    return MultiHeadAttention(
        config.num_heads,
        config.key_dim,
        dropout=config.attention_dropout,
        rotary=is_self_attention and config.positions == "rotary",
        num_key_value_heads=config.num_key_value_heads,
        window=config.attention_window if is_self_attention else None,
        # Glorot's limits, times the gain.
        kernel_initializer=keras.initializers.VarianceScaling(gain**2, "fan_avg", "uniform"),
        output_initializer=config.kernel_initializer,
        dtype=dtype,
        name=name,
    )


def feed_forward(config, dtype):
    """A feed-forward network as the configuration wants it."""
    return FeedForward(
        config.hidden_dim,
        config.intermediate_dim,
        dropout=config.activation_dropout,
        activation=config.activation,
        gated=config.gated,
        kernel_initializer=config.kernel_initializer,
        dtype=dtype,
        name="feed_forward",
    )


def residual(config, name, dtype):
    """The wire around a sub-layer as the configuration wants it."""
    return Residual(
        config.dropout,
        config.normalize_first,
        config.epsilon,
        config.normalization,
        dtype=dtype,
        name=name,
    )


def final_normalization(config, dtype):
    """What stands behind a stack: pre-norm leaves its sums without a normalisation."""
    if not config.normalize_first:
        return keras.layers.Identity(dtype=dtype, name="no_normalization")
    return make_normalization(config.normalization, config.epsilon, dtype)

"""The encoder: one layer, and the stack of them."""

import keras
from keras import ops

from nlp104.attention.masks import keys_mask
from nlp104.transformer.block import (
    Block,
    attention,
    feed_forward,
    final_normalization,
    residual,
)
from nlp104.transformer.cache import empty_cache, past_mask


@keras.saving.register_keras_serializable(package="nlp104")
class EncoderLayer(Block):
    """Self-attention, then the feed-forward network (Vaswani et al., 2017, figure 1, left).

    Args:
        config: `TransformerConfig`.
        **kwargs: arguments of `keras.layers.Layer`.

    Call arguments:
        inputs: `[batch, length, hidden_dim]`.
        padding_mask: booleans `[batch, length]`, ``True`` = real token.
        use_causal_mask: whether to hide from every position those after it, as a language model
            does, see `LanguageModel`.
        return_attention_scores: whether to return the attention weights, too.
        training: whether dropout is active.
        mask: filled by Keras where `inputs` carry an implicit mask; `padding_mask` comes first.

    Returns:
        `[batch, length, hidden_dim]`, and, if asked for, the weights `[batch, heads, length,
        length]`.

    Example:
        >>> import keras
        >>> from keras import ops
        >>> from nlp104.transformer import EncoderLayer, TransformerConfig
        >>> layer = EncoderLayer(TransformerConfig(hidden_dim=8, intermediate_dim=32, num_heads=2))
        >>> x = keras.random.normal((1, 4, 8), seed=104)
        >>> real = ops.array([[True, True, True, False]])
        >>> y, weights = layer(x, padding_mask=real, return_attention_scores=True)
        >>> print(ops.convert_to_numpy(weights[0, 0] > 0).astype(int))  # who looks at whom, head 1
        [[1 1 1 0]
         [1 1 1 0]
         [1 1 1 0]
         [1 1 1 0]]
    """

    def __init__(self, config, **kwargs):
        super().__init__(config, **kwargs)
        dtype = self.dtype_policy
        self.attention = attention(config, "attention", is_self_attention=True, dtype=dtype)
        self.attention_residual = residual(config, "attention_residual", dtype)
        self.feed_forward = feed_forward(config, dtype)
        self.feed_forward_residual = residual(config, "feed_forward_residual", dtype)

    def build(self, inputs_shape):
        self.attention.build(inputs_shape, inputs_shape)
        for part in (self.attention_residual, self.feed_forward, self.feed_forward_residual):
            part.build(inputs_shape)

    def call(
        self,
        inputs,
        padding_mask=None,
        use_causal_mask=False,
        return_attention_scores=False,
        training=None,
        mask=None,
    ):
        keys = keys_mask(mask if padding_mask is None else padding_mask)

        def attend(x):
            return self.attention.look(
                x,
                x,
                attention_mask=keys,
                use_causal_mask=use_causal_mask,
                return_attention_scores=return_attention_scores,
            )

        x, scores = self.attention_residual(inputs, sub_layer=attend)
        x = self.feed_forward_residual(x, sub_layer=self.feed_forward)
        return (x, scores) if return_attention_scores else x

    def start_cache(self, batch_size, max_length):
        """What decoding step by step keeps, see `nlp104.transformer.cache`."""
        return empty_cache(self.attention, batch_size, max_length, dtype=self.compute_dtype)

    def step(self, inputs, step, cache, past):
        """Some positions under a causal mask, given the keys and values of those before them.

        Args:
            inputs: `[batch, length, hidden_dim]`, the vectors from position `step` on.
            step: integer scalar.
            cache: from `start_cache` or from the step before.
            past: from `past_mask`.

        Returns:
            `[batch, length, hidden_dim]` and the cache with these positions' keys and values.
        """

        def look_back(x):
            return cache.look(self.attention, x, step, past)

        x, written = self.attention_residual(inputs, sub_layer=look_back)
        return self.feed_forward_residual(x, sub_layer=self.feed_forward), written


@keras.saving.register_keras_serializable(package="nlp104")
class Encoder(Block):
    """`num_layers` encoder layers on top of each other that share no weights.

    Called like `EncoderLayer`. With ``return_attention_scores=True`` it returns its output and the
    list of the layers' weights.

    Args:
        config: `TransformerConfig`.
        **kwargs: arguments of `keras.layers.Layer`.

    Example:
        >>> import keras
        >>> from nlp104.transformer import Encoder, TransformerConfig
        >>> encoder = Encoder(TransformerConfig(8, 32, 2, num_layers=3))
        >>> x = keras.random.normal((1, 4, 8), seed=104)
        >>> y, weights = encoder(x, return_attention_scores=True)
        >>> tuple(y.shape), len(weights), tuple(weights[0].shape)
        ((1, 4, 8), 3, (1, 2, 4, 4))
        >>> encoder.count_params()  # 3 layers of 288 (attention) + 552 (feed-forward) + 32 (norms)
        2616
    """

    def __init__(self, config, **kwargs):
        super().__init__(config, **kwargs)
        dtype = self.dtype_policy
        self.blocks = [
            EncoderLayer(config, dtype=dtype, name=f"layer_{i}") for i in range(config.num_layers)
        ]
        self.normalization = final_normalization(config, dtype)

    def build(self, inputs_shape):
        for part in (*self.blocks, self.normalization):
            part.build(inputs_shape)

    def call(
        self,
        inputs,
        padding_mask=None,
        use_causal_mask=False,
        return_attention_scores=False,
        training=None,
        mask=None,
    ):
        padding_mask = mask if padding_mask is None else padding_mask
        x, all_scores = inputs, []
        for block in self.blocks:
            x = block(
                x,
                padding_mask,
                use_causal_mask=use_causal_mask,
                return_attention_scores=return_attention_scores,
            )
            if return_attention_scores:
                x, scores = x
                all_scores.append(scores)
        x = self.normalization(x)
        return (x, all_scores) if return_attention_scores else x

    def start_cache(self, batch_size, max_length):
        """The caches of all layers, see `EncoderLayer.start_cache`."""
        return tuple(block.start_cache(batch_size, max_length) for block in self.blocks)

    def step(self, inputs, step, cache):
        """Some positions through all layers, see `LanguageModel.decode_step`."""
        length, window = ops.shape(inputs)[1], self.config.attention_window
        past = past_mask(step, cache[0], length=length, window=window)
        x, new_cache = inputs, []
        for block, block_cache in zip(self.blocks, cache, strict=True):
            x, block_cache = block.step(x, step, block_cache, past)
            new_cache.append(block_cache)
        return self.normalization(x), tuple(new_cache)

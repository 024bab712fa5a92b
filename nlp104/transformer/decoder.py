"""The decoder: one layer, and the stack of them."""

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
class DecoderLayer(Block):
    """Causal self-attention, attention to the encoder's output, then the feed-forward network.

    (Vaswani et al., 2017, figure 1, right.)

    Args:
        config: `TransformerConfig`.
        **kwargs: arguments of `keras.layers.Layer`.

    Call arguments:
        inputs: `[batch, target, hidden_dim]`.
        encoder_output: `[batch, source, hidden_dim]`.
        decoder_padding_mask: booleans `[batch, target]`, ``True`` = real token.
        encoder_padding_mask: booleans `[batch, source]`, ``True`` = real token.
        return_attention_scores: whether to return the attention weights, too.
        training: whether dropout is active.
        inputs_mask: filled by Keras where `inputs` carry an implicit mask; `decoder_padding_mask`
            comes first.
        encoder_output_mask: the same for `encoder_output`.

    Returns:
        `[batch, target, hidden_dim]`, and, if asked for, the weights of the self-attention
        `[batch, heads, target, target]` and of the cross-attention `[batch, heads, target,
        source]`.

    Example:
        >>> import keras
        >>> from keras import ops
        >>> from nlp104.transformer import DecoderLayer, TransformerConfig
        >>> layer = DecoderLayer(TransformerConfig(hidden_dim=8, intermediate_dim=32, num_heads=2))
        >>> target, source = (keras.random.normal((1, n, 8), seed=n) for n in (3, 5))
        >>> y, own, cross = layer(target, source, return_attention_scores=True)
        >>> print(ops.convert_to_numpy(own[0, 0] > 0).astype(int))  # what is before it, and itself
        [[1 0 0]
         [1 1 0]
         [1 1 1]]
        >>> print(ops.convert_to_numpy(cross[0, 0] > 0).astype(int))  # at the whole source
        [[1 1 1 1 1]
         [1 1 1 1 1]
         [1 1 1 1 1]]
    """

    def __init__(self, config, **kwargs):
        super().__init__(config, **kwargs)
        dtype = self.dtype_policy
        self.self_attention = attention(
            config, "self_attention", is_self_attention=True, dtype=dtype
        )
        self.self_attention_residual = residual(config, "self_attention_residual", dtype)
        self.cross_attention = attention(
            config, "cross_attention", is_self_attention=False, dtype=dtype
        )
        self.cross_attention_residual = residual(config, "cross_attention_residual", dtype)
        self.feed_forward = feed_forward(config, dtype)
        self.feed_forward_residual = residual(config, "feed_forward_residual", dtype)

    def build(self, inputs_shape, encoder_output_shape):
        self.self_attention.build(inputs_shape, inputs_shape)
        self.cross_attention.build(inputs_shape, encoder_output_shape)
        for part in (
            self.self_attention_residual,
            self.cross_attention_residual,
            self.feed_forward,
            self.feed_forward_residual,
        ):
            part.build(inputs_shape)

    def call(
        self,
        inputs,
        encoder_output,
        decoder_padding_mask=None,
        encoder_padding_mask=None,
        return_attention_scores=False,
        training=None,
        inputs_mask=None,
        encoder_output_mask=None,
    ):
        own = keys_mask(inputs_mask if decoder_padding_mask is None else decoder_padding_mask)
        source = keys_mask(
            encoder_output_mask if encoder_padding_mask is None else encoder_padding_mask
        )

        def look_back(x):
            return self.self_attention.look(
                x,
                x,
                attention_mask=own,
                use_causal_mask=True,
                return_attention_scores=return_attention_scores,
            )

        def look_at_source(x):
            return self.cross_attention.look(
                x,
                encoder_output,
                attention_mask=source,
                return_attention_scores=return_attention_scores,
            )

        x, self_scores = self.self_attention_residual(inputs, sub_layer=look_back)
        x, cross_scores = self.cross_attention_residual(x, sub_layer=look_at_source)
        x = self.feed_forward_residual(x, sub_layer=self.feed_forward)
        return (x, self_scores, cross_scores) if return_attention_scores else x

    def start_cache(self, encoder_output, max_length, num_beams=1):
        """What decoding step by step keeps, see `nlp104.transformer.cache`."""
        batch_size, cross = ops.shape(encoder_output)[0], self.cross_attention.projections()
        keys, values = self.cross_attention.project_keys_values(cross, encoder_output)
        return empty_cache(
            self.self_attention, batch_size, max_length, num_beams, self.compute_dtype
        )._replace(source_keys=keys, source_values=values, cross_projections=cross)

    def step(self, inputs, step, cache, past, encoder_padding_mask=None):
        """One position or some, given the keys and values of those before.

        The hypotheses of a row are queries side by side: one product looks at everything that any
        of them has written, and a mask hides what the others wrote. Of one hypothesis several
        positions can be read at once.

        Args:
            inputs: `[batch, num_beams, hidden_dim]`, the vectors at position `step`, or `[batch,
                length, hidden_dim]`, those of the one hypothesis from there on.
            step: integer scalar.
            cache: from `start_cache` or from the step before.
            past: from `past_mask`.
            encoder_padding_mask: booleans `[batch, source]`.

        Returns:
            A tensor like `inputs` and the cache with the keys and values of what was read.
        """

        def look_back(x):
            return cache.look(self.self_attention, x, step, past)

        def look_at_source(x):
            outputs, _ = self.cross_attention.attend(
                cache.cross_projections,
                x,
                cache.source_keys,
                cache.source_values,
                keys_mask(encoder_padding_mask),
            )
            return outputs

        x, written = self.self_attention_residual(inputs, sub_layer=look_back)
        x = self.cross_attention_residual(x, sub_layer=look_at_source)
        return self.feed_forward_residual(x, sub_layer=self.feed_forward), written


@keras.saving.register_keras_serializable(package="nlp104")
class Decoder(Block):
    """`num_layers` decoder layers, each of which looks at the same encoder output.

    Called like `DecoderLayer`. With ``return_attention_scores=True`` it returns its output and two
    lists: the layers' self-attention weights and their cross-attention weights.

    Args:
        config: `TransformerConfig`.
        **kwargs: arguments of `keras.layers.Layer`.

    Example:
        >>> import keras
        >>> from nlp104.transformer import Decoder, TransformerConfig
        >>> decoder = Decoder(TransformerConfig(8, 32, 2, num_layers=3))
        >>> target, source = (keras.random.normal((1, n, 8), seed=n) for n in (4, 5))
        >>> y, own, cross = decoder(target, source, return_attention_scores=True)
        >>> [tuple(weights.shape) for weights in cross]  # one for each layer
        [(1, 2, 4, 5), (1, 2, 4, 5), (1, 2, 4, 5)]
    """

    def __init__(self, config, **kwargs):
        super().__init__(config, **kwargs)
        dtype = self.dtype_policy
        self.blocks = [
            DecoderLayer(config, dtype=dtype, name=f"layer_{i}") for i in range(config.num_layers)
        ]
        self.normalization = final_normalization(config, dtype)

    def build(self, inputs_shape, encoder_output_shape):
        for block in self.blocks:
            block.build(inputs_shape, encoder_output_shape)
        self.normalization.build(inputs_shape)

    def call(
        self,
        inputs,
        encoder_output,
        decoder_padding_mask=None,
        encoder_padding_mask=None,
        return_attention_scores=False,
        training=None,
        inputs_mask=None,
        encoder_output_mask=None,
    ):
        own = inputs_mask if decoder_padding_mask is None else decoder_padding_mask
        source = encoder_output_mask if encoder_padding_mask is None else encoder_padding_mask
        x, all_self_scores, all_cross_scores = inputs, [], []
        for block in self.blocks:
            x = block(
                x, encoder_output, own, source, return_attention_scores=return_attention_scores
            )
            if return_attention_scores:
                x, self_scores, cross_scores = x
                all_self_scores.append(self_scores)
                all_cross_scores.append(cross_scores)
        x = self.normalization(x)
        return (x, all_self_scores, all_cross_scores) if return_attention_scores else x

    def start_cache(self, encoder_output, max_length, num_beams=1):
        """The caches of all layers, see `DecoderLayer.start_cache`."""
        return tuple(
            block.start_cache(encoder_output, max_length, num_beams) for block in self.blocks
        )

    def step(self, inputs, step, cache, encoder_padding_mask=None, history=None):
        """One position or some through all layers, see `Transformer.decode_step`."""
        length = ops.shape(inputs)[1] // cache[0].keys.shape[3]
        past = past_mask(step, cache[0], history, length, self.config.attention_window)
        x, new_cache = inputs, []
        for block, block_cache in zip(self.blocks, cache, strict=True):
            x, block_cache = block.step(x, step, block_cache, past, encoder_padding_mask)
            new_cache.append(block_cache)
        return self.normalization(x), tuple(new_cache)

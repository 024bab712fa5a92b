"""The decoder: one layer, and the stack of them."""

import keras
from keras import ops

from nlp104.attention.masks import causal_mask
from nlp104.transformer.block import Block, Stack, keys_mask


@keras.saving.register_keras_serializable(package="nlp104")
class DecoderLayer(Block):
    """Causal self-attention, attention to the encoder's output, then the feed-forward network.

    (Vaswani et al., 2017, figure 1, right.) Takes the arguments of `Block`.

    Call arguments:
        inputs: `[batch, target, hidden_dim]`.
        encoder_output: `[batch, source, hidden_dim]`.
        decoder_padding_mask: booleans `[batch, target]`, ``True`` = real token.
        encoder_padding_mask: booleans `[batch, source]`, ``True`` = real token.
        return_attention_scores: whether to return the attention weights too.
        training: whether dropout is active.

    Returns:
        `[batch, target, hidden_dim]`, and, if asked for, the weights of the self-attention
        `[batch, heads, target, target]` and of the cross-attention `[batch, heads, target,
        source]`.
    """

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.self_attention = self._attention("self_attention")
        self.self_attention_residual = self._residual("self_attention_residual")
        self.cross_attention = self._attention("cross_attention")
        self.cross_attention_residual = self._residual("cross_attention_residual")
        self.feed_forward = self._feed_forward()
        self.feed_forward_residual = self._residual("feed_forward_residual")

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
    ):
        x = self.self_attention_residual.before(inputs)
        attended = self.self_attention(
            x,
            x,
            attention_mask=keys_mask(decoder_padding_mask),
            use_causal_mask=True,
            return_attention_scores=return_attention_scores,
            training=training,
        )
        change, self_scores = attended if return_attention_scores else (attended, None)
        x = self.self_attention_residual(inputs, change, training=training)
        cross = self.cross_attention.project_keys_values(encoder_output)
        x, cross_scores = self._after_self_attention(
            x, cross, encoder_padding_mask, return_attention_scores, training
        )
        return (x, self_scores, cross_scores) if return_attention_scores else x

    def _after_self_attention(
        self,
        x,
        cross,
        encoder_padding_mask,
        return_attention_scores=False,
        training=None,
        matrices=None,
    ):
        """The two sub-layers that are the same for a whole sequence and for one step."""
        attended = self.cross_attention.attend(
            self.cross_attention_residual.before(x),
            *cross,
            attention_mask=keys_mask(encoder_padding_mask),
            return_attention_scores=return_attention_scores,
            training=training,
            matrices=matrices,
        )
        change, scores = attended if return_attention_scores else (attended, None)
        x = self.cross_attention_residual(x, change, training=training)
        change = self.feed_forward(self.feed_forward_residual.before(x), training=training)
        return self.feed_forward_residual(x, change, training=training), scores

    def start_cache(self, encoder_output, max_length, num_beams=1):
        """What decoding step by step keeps: keys, values, and what is alike for all steps.

        Args:
            encoder_output: `[batch, source, hidden_dim]`.
            max_length: number of steps to make room for.
            num_beams: number of hypotheses that are decoded side by side for each row.

        Returns:
            Four tensors and a pair. Empty keys and values of the self-attention, `[batch, heads,
            max_length, num_beams, head_dim]`; those of the cross-attention, `[batch, heads, source,
            head_dim]`, which stay as they are and serve all hypotheses of a row; and, as constant,
            the matrices of the two attentions.
        """
        batch, head_dim = ops.shape(encoder_output)[0], self.self_attention.key_dim
        empty = ops.zeros(
            (batch, self.num_heads, max_length, num_beams, head_dim), dtype=self.compute_dtype
        )
        matrices = self.self_attention.matrices(), self.cross_attention.matrices()
        cross = self.cross_attention.project_keys_values(encoder_output, matrices=matrices[1])
        return (empty, empty, *cross, matrices)

    def step(self, inputs, step, cache, past, encoder_padding_mask=None):
        """One position, given the keys and values of those before it.

        The hypotheses of a row are queries side by side: one product looks at everything that any
        of them has written, and a mask hides what the others wrote.

        Args:
            inputs: `[batch, num_beams, hidden_dim]`, the vectors at position `step`.
            step: integer scalar.
            cache: from `start_cache` or from the step before.
            past: booleans that broadcast to `[batch, num_beams, max_length * num_beams]`, which
                keys each hypothesis may look at, this position's among them.
            encoder_padding_mask: booleans `[batch, source]`.

        Returns:
            `[batch, num_beams, hidden_dim]` and the cache with this position's keys and values.
        """
        keys, values, *cross, matrices = cache
        self_matrices, cross_matrices = matrices
        x = self.self_attention_residual.before(inputs)
        new_keys, new_values = self.self_attention.project_keys_values(x, matrices=self_matrices)
        # Not `ops.slice_update`: on TensorFlow it is compiled by XLA, anew for every shape.
        here = ops.reshape(ops.equal(ops.arange(ops.shape(keys)[2]), step), (-1, 1, 1))
        keys = ops.where(here, ops.expand_dims(new_keys, 2), keys)
        values = ops.where(here, ops.expand_dims(new_values, 2), values)
        change = self.self_attention.attend(
            x, _join_beams(keys), _join_beams(values), past, matrices=self_matrices
        )
        x = self.self_attention_residual(inputs, change)
        x, _ = self._after_self_attention(x, cross, encoder_padding_mask, matrices=cross_matrices)
        return x, (keys, values, *cross, matrices)


def _join_beams(cache):
    """`[batch, heads, length, num_beams, head_dim]` to `[batch, heads, length * num_beams, …]`."""
    _, heads, _, _, head_dim = cache.shape
    return ops.reshape(cache, (ops.shape(cache)[0], heads, -1, head_dim))


@keras.saving.register_keras_serializable(package="nlp104")
class Decoder(Stack):
    """A stack of decoder layers, each of which looks at the same encoder output.

    Takes `num_layers` and the arguments of `Block`; called like `DecoderLayer`. With
    ``return_attention_scores=True`` it returns its output and two lists: the layers'
    self-attention weights and their cross-attention weights.
    """

    layer_class = DecoderLayer

    def build(self, inputs_shape, encoder_output_shape):
        super().build(inputs_shape, encoder_output_shape)

    def call(
        self,
        inputs,
        encoder_output,
        decoder_padding_mask=None,
        encoder_padding_mask=None,
        return_attention_scores=False,
        training=None,
    ):
        x, all_self_scores, all_cross_scores = inputs, [], []
        for block in self.blocks:
            x = block(
                x,
                encoder_output,
                decoder_padding_mask=decoder_padding_mask,
                encoder_padding_mask=encoder_padding_mask,
                return_attention_scores=return_attention_scores,
                training=training,
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
        """One position through all layers, see `Transformer.decode_step`."""
        past = _past(step, cache[0][0], history)
        x, new_cache = inputs, []
        for block, block_cache in zip(self.blocks, cache, strict=True):
            x, block_cache = block.step(x, step, block_cache, past, encoder_padding_mask)
            new_cache.append(block_cache)
        return self.normalization(x), tuple(new_cache)


def _past(step, keys, history):
    """Which of the keys `[batch, heads, length, num_beams, head_dim]` belong to a hypothesis."""
    _, _, length, num_beams, _ = ops.shape(keys)
    if history is None:
        return causal_mask(1, length, offset=step)  # [1, length]
    mine = ops.equal(ops.expand_dims(history, -1), ops.arange(num_beams, dtype="int32"))
    return ops.reshape(mine, (-1, num_beams, length * num_beams))

"""One layer of the encoder and one of the decoder."""

import keras
from keras import ops

from nlp104.attention import MultiHeadAttention
from nlp104.checks import require_positive
from nlp104.sublayers import FeedForward, Residual


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
            raise ValueError(
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


@keras.saving.register_keras_serializable(package="nlp104")
class EncoderLayer(Block):
    """Self-attention, then the feed-forward network (Vaswani et al., 2017, figure 1, left).

    Takes the arguments of `Block`.

    Call arguments:
        inputs: `[batch, length, hidden_dim]`.
        padding_mask: booleans `[batch, length]`, ``True`` = real token.
        return_attention_scores: whether to return the attention weights too.
        training: whether dropout is active.

    Returns:
        `[batch, length, hidden_dim]`, and, if asked for, the weights `[batch, heads, length,
        length]`.
    """

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.attention = self._attention("attention")
        self.attention_residual = self._residual("attention_residual")
        self.feed_forward = self._feed_forward()
        self.feed_forward_residual = self._residual("feed_forward_residual")

    def build(self, inputs_shape):
        self.attention.build(inputs_shape, inputs_shape)
        for part in (self.attention_residual, self.feed_forward, self.feed_forward_residual):
            part.build(inputs_shape)

    def call(self, inputs, padding_mask=None, return_attention_scores=False, training=None):
        x = self.attention_residual.before(inputs)
        attended = self.attention(
            x,
            x,
            attention_mask=keys_mask(padding_mask),
            return_attention_scores=return_attention_scores,
            training=training,
        )
        change, scores = attended if return_attention_scores else (attended, None)
        x = self.attention_residual(inputs, change, training=training)
        change = self.feed_forward(self.feed_forward_residual.before(x), training=training)
        x = self.feed_forward_residual(x, change, training=training)
        return (x, scores) if return_attention_scores else x


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


def keys_mask(padding_mask):
    """From a mask of tokens `[batch, length]` to one of keys, alike for all queries."""
    return None if padding_mask is None else ops.expand_dims(padding_mask, 1)


def _join_beams(cache):
    """`[batch, heads, length, num_beams, head_dim]` to `[batch, heads, length * num_beams, …]`."""
    _, heads, _, _, head_dim = cache.shape
    return ops.reshape(cache, (ops.shape(cache)[0], heads, -1, head_dim))

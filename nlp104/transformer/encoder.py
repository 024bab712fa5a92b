"""The encoder: one layer, and the stack of them."""

import keras

from nlp104.transformer.block import Block, Stack, keys_mask


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
class Encoder(Stack):
    """A stack of encoder layers.

    Takes `num_layers` and the arguments of `Block`; called like `EncoderLayer`. With
    ``return_attention_scores=True`` it returns its output and the list of the layers' weights.
    """

    layer_class = EncoderLayer

    def build(self, inputs_shape):
        super().build(inputs_shape)

    def call(self, inputs, padding_mask=None, return_attention_scores=False, training=None):
        x, all_scores = inputs, []
        for block in self.blocks:
            x = block(
                x,
                padding_mask=padding_mask,
                return_attention_scores=return_attention_scores,
                training=training,
            )
            if return_attention_scores:
                x, scores = x
                all_scores.append(scores)
        x = self.normalization(x)
        return (x, all_scores) if return_attention_scores else x

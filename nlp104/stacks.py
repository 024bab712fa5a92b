"""The two stacks of the Transformer: equal layers on top of each other that share no weights."""

import keras
from keras import ops

from nlp104.attention import causal_mask
from nlp104.blocks import Block, DecoderLayer, EncoderLayer
from nlp104.checks import require_positive


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

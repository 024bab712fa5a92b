"""The Transformer of "Attention is all you need": two stacks between embeddings and logits."""

import keras
from keras import ops

from nlp104.attention.masks import padding_mask
from nlp104.encoding.embedding import TokenAndPositionEmbedding
from nlp104.transformer.decoder import Decoder, DecoderLayer
from nlp104.transformer.encoder import Encoder, EncoderLayer
from nlp104.transformer.feed_forward import FeedForward
from nlp104.transformer.presets import PRESETS
from nlp104.transformer.residual import Residual
from nlp104.transformer.skip_padding import SkipsPadding
from nlp104.utils.arguments import require_positive, require_token_ids

__all__ = [
    "PRESETS",
    "Decoder",
    "DecoderLayer",
    "Encoder",
    "EncoderLayer",
    "FeedForward",
    "Residual",
    "Transformer",
]


@keras.saving.register_keras_serializable(package="nlp104")
class Transformer(SkipsPadding):
    """Encoder and decoder between token ids and logits (Vaswani et al., 2017).

    The id 0 is padding, at the end of a row. The model makes its masks from the ids, so padding
    moves no logit of a real token, in `call`, `fit` and `predict` alike.

    Args:
        vocabulary_size: number of target tokens, and of source tokens if not given apart.
        num_layers: number of encoder layers and of decoder layers, N.
        hidden_dim: width of the model, d_model; divisible by `num_heads`.
        intermediate_dim: width inside the feed-forward network, d_ff.
        num_heads: number of attention heads, h.
        dropout: rate of dropout on the sub-layers' outputs and on the sums of embeddings and
            positions: the two places that the paper names (section 5.4).
        attention_dropout: rate of dropout on the attention weights; none in the paper's text.
        activation_dropout: rate of dropout inside the feed-forward network; none there either.
        source_vocabulary_size: number of source tokens, if it differs.
        tie_embeddings: whether source, target and output share one matrix (section 3.4), which
            needs one vocabulary for both languages.
        max_sequence_length: length of the longest sequence.
        positions: ``"sinusoidal"`` or ``"learned"``.
        normalize_first: pre-norm instead of the paper's post-norm, see `Residual`.
        epsilon: added to the variance in layer normalisation.
        attention_gain: factor on Glorot's limits for the first weights of the attentions' queries,
            keys and values, see `MultiHeadAttention`.
        **kwargs: arguments of `keras.Model`.

    Call arguments:
        inputs: ``{"encoder_token_ids": [batch, source], "decoder_token_ids": [batch, target]}``,
            integers.
        training: whether dropout is active.

    Returns:
        Logits `[batch, target, vocabulary_size]`, float32 under mixed precision, too.

    Raises:
        ValueError: if the configuration does not fit together, a sequence is longer than
            `max_sequence_length`, or an id lies outside its vocabulary. Ids can be checked only
            outside a compiled graph. Inside one, in `fit` and `predict`, an id too large is an
            error of TensorFlow's on a CPU, NaN on JAX, and unnoticed by TensorFlow under XLA.

    Example:
        >>> model = Transformer.from_preset("tiny", vocabulary_size=1000)
        >>> ids = np.array([[5, 6, 3, 0]])
        >>> model({"encoder_token_ids": ids, "decoder_token_ids": ids}).shape
        (1, 4, 1000)
    """

    def __init__(
        self,
        vocabulary_size,
        num_layers,
        hidden_dim,
        intermediate_dim,
        num_heads,
        dropout=0.1,
        attention_dropout=0.0,
        activation_dropout=0.0,
        source_vocabulary_size=None,
        tie_embeddings=False,
        max_sequence_length=2048,
        positions="sinusoidal",
        normalize_first=False,
        epsilon=1e-6,
        attention_gain=1.0,
        **kwargs,
    ):
        super().__init__(**kwargs)
        source_vocabulary_size = source_vocabulary_size or vocabulary_size
        require_positive(
            vocabulary_size=vocabulary_size,
            source_vocabulary_size=source_vocabulary_size,
            max_sequence_length=max_sequence_length,
        )
        if tie_embeddings and source_vocabulary_size != vocabulary_size:
            raise ValueError(
                "`tie_embeddings=True` needs one vocabulary for source and target. Received: "
                f"source_vocabulary_size={source_vocabulary_size}, "
                f"vocabulary_size={vocabulary_size}"
            )
        self.vocabulary_size = vocabulary_size
        self.source_vocabulary_size = source_vocabulary_size
        self.tie_embeddings = tie_embeddings
        self.max_sequence_length = max_sequence_length
        self.positions = positions

        def embedding(size, name):
            return TokenAndPositionEmbedding(
                size,
                hidden_dim,
                max_sequence_length,
                positions=positions,
                dropout=dropout,
                dtype=self.dtype_policy,
                name=name,
            )

        stack = {
            "num_layers": num_layers,
            "hidden_dim": hidden_dim,
            "intermediate_dim": intermediate_dim,
            "num_heads": num_heads,
            "dropout": dropout,
            "attention_dropout": attention_dropout,
            "activation_dropout": activation_dropout,
            "normalize_first": normalize_first,
            "epsilon": epsilon,
            "attention_gain": attention_gain,
            "dtype": self.dtype_policy,
        }
        self.encoder_embedding = embedding(source_vocabulary_size, "encoder_embedding")
        self.decoder_embedding = (
            self.encoder_embedding
            if tie_embeddings
            else embedding(vocabulary_size, "decoder_embedding")
        )
        self.encoder = Encoder(**stack, name="encoder")
        self.decoder = Decoder(**stack, name="decoder")
        self.build()

    @classmethod
    def from_preset(cls, name, vocabulary_size, **overrides):
        """A model with the sizes of a preset.

        Args:
            name: a key of `PRESETS`.
            vocabulary_size: number of tokens.
            **overrides: arguments of `Transformer` that differ from the preset.

        Raises:
            ValueError: if there is no such preset.
        """
        if name not in PRESETS:
            raise ValueError(f"A preset is one of {', '.join(PRESETS)}. Received: {name!r}")
        return cls(vocabulary_size, **{**PRESETS[name], **overrides})

    def build(self, input_shape=None):
        # Every shape is known from the configuration: the model is built from the start.
        ids_shape, vectors_shape = (None, None), (None, None, self.encoder.hidden_dim)
        self.encoder_embedding.build(ids_shape)
        self.encoder.build(vectors_shape)
        if not self.tie_embeddings:
            self.decoder_embedding.build(ids_shape)
            self.output_kernel = self.add_weight(
                (self.encoder.hidden_dim, self.vocabulary_size), name="output_kernel"
            )
        self.decoder.build(vectors_shape, vectors_shape)
        self.output_bias = self.add_weight(
            (self.vocabulary_size,),
            initializer="zeros",
            name="output_bias",
            autocast=False,  # Added to float32 logits.
        )

    def call(self, inputs, training=None):
        source = inputs["encoder_token_ids"]
        encoder_output = self.encode(source, training=training)
        return self.decode(
            inputs["decoder_token_ids"], encoder_output, padding_mask(source), training=training
        )

    def encode(self, encoder_token_ids, return_attention_scores=False, training=None):
        """Token ids `[batch, source]` to the encoder's output `[batch, source, hidden_dim]`.

        With ``return_attention_scores=True`` also the list of the layers' attention weights.
        """
        require_token_ids(encoder_token_ids, self.source_vocabulary_size, "encoder_token_ids")
        return self.encoder(
            self.encoder_embedding(encoder_token_ids, training=training),
            padding_mask=padding_mask(encoder_token_ids),
            return_attention_scores=return_attention_scores,
            training=training,
        )

    def decode(
        self,
        decoder_token_ids,
        encoder_output,
        encoder_padding_mask=None,
        return_attention_scores=False,
        training=None,
    ):
        """Token ids `[batch, target]` to logits `[batch, target, vocabulary_size]`.

        The logits at a position score the token that comes next. With
        ``return_attention_scores=True`` also the lists of the layers' self-attention weights and of
        their cross-attention weights.
        """
        require_token_ids(decoder_token_ids, self.vocabulary_size, "decoder_token_ids")
        x = self.decoder(
            self.decoder_embedding(decoder_token_ids, training=training),
            encoder_output,
            decoder_padding_mask=padding_mask(decoder_token_ids),
            encoder_padding_mask=encoder_padding_mask,
            return_attention_scores=return_attention_scores,
            training=training,
        )
        if return_attention_scores:
            x, self_scores, cross_scores = x
            return self._logits(x), self_scores, cross_scores
        return self._logits(x)

    def attention_scores(self, inputs):
        """Who looks at whom.

        Args:
            inputs: as for a call.

        Returns:
            A dictionary with a list for each kind, and in it a tensor for each layer. Those of
            ``"encoder"`` are `[batch, heads, source, source]`, those of ``"decoder"`` `[batch,
            heads, target, target]` and those of ``"cross"`` `[batch, heads, target, source]`.
        """
        source = inputs["encoder_token_ids"]
        encoder_output, encoder_scores = self.encode(source, return_attention_scores=True)
        _, decoder_scores, cross_scores = self.decode(
            inputs["decoder_token_ids"],
            encoder_output,
            padding_mask(source),
            return_attention_scores=True,
        )
        return {"encoder": encoder_scores, "decoder": decoder_scores, "cross": cross_scores}

    def start_cache(self, encoder_output, max_length, num_beams=1):
        """An empty cache for `decode_step`, with room for `max_length` tokens.

        Returns:
            For each decoder layer a tuple, see `DecoderLayer.start_cache`.
        """
        return self.decoder.start_cache(encoder_output, max_length, num_beams)

    def decode_step(self, token_ids, step, cache, encoder_padding_mask=None, history=None):
        """Decodes one position; the same logits as `decode` on the whole prefix, in less time.

        Several hypotheses of a row can be decoded side by side. When one of them is continued in
        the place of another, no key or value moves: `history` says where its past is.

        Args:
            token_ids: integers `[batch, num_beams]`, the tokens at position `step`.
            step: integer scalar, 0 for the start token.
            cache: from `start_cache` or from the step before.
            encoder_padding_mask: booleans `[batch, source]`.
            history: integers `[batch, num_beams, max_length]`, the place among the hypotheses in
                which a hypothesis was at each position: its own place at position `step`, -1 at
                those to come. Not needed if there is one hypothesis.

        Returns:
            Logits `[batch, num_beams, vocabulary_size]` and the new cache.
        """
        # Hypotheses are no positions: in the embedding each is a row of its own.
        x = self.decoder_embedding(ops.reshape(token_ids, (-1, 1)), offset=step)
        x = ops.reshape(x, (*ops.shape(token_ids), x.shape[-1]))  # [batch, num_beams, hidden_dim]
        x, cache = self.decoder.step(x, step, cache, encoder_padding_mask, history)
        return self._logits(x), cache

    def with_dtype(self, dtype):
        """A model of its own with the same weights, which computes in another precision.

        Args:
            dtype: a dtype policy. ``"float32"`` makes a model that was trained in mixed precision
                run everywhere, ``"float16"`` one that takes half the room on a disk.
        """
        model = type(self).from_config({**self.get_config(), "dtype": dtype})
        model.set_weights(self.get_weights())
        return model

    def _logits(self, x):
        x = self.worth_logits(x)
        if self.tie_embeddings:
            logits = self.decoder_embedding.unembed(x)
        else:
            logits = ops.matmul(x, ops.cast(self.output_kernel, x.dtype))
        return ops.cast(logits, "float32") + self.output_bias

    def get_config(self):
        config = {**super().get_config(), **self.encoder.block_config()}
        return {
            **config,
            "vocabulary_size": self.vocabulary_size,
            "num_layers": self.encoder.num_layers,
            "source_vocabulary_size": self.source_vocabulary_size,
            "tie_embeddings": self.tie_embeddings,
            "max_sequence_length": self.max_sequence_length,
            "positions": self.positions,
        }

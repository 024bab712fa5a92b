"""The Transformer of "Attention is all you need": two stacks between embeddings and logits."""

import keras
from keras import ops

from nlp104.attention.masks import padding_mask
from nlp104.encoding.embedding import require_token_ids
from nlp104.encoding.positions import as_position
from nlp104.transformer.configured_model import ConfiguredModel
from nlp104.transformer.decoder import Decoder
from nlp104.transformer.encoder import Encoder
from nlp104.transformer.skip_padding import REAL_TOKENS, SkipsPadding, take_positions


@keras.saving.register_keras_serializable(package="nlp104")
class Transformer(ConfiguredModel, SkipsPadding):
    """Encoder and decoder between token ids and logits (Vaswani et al., 2017).

    The id 0 is padding, at the end of a row. The model makes its masks from the ids, so padding
    moves no logit of a real token, in `call`, `fit` and `predict` alike.

    Args:
        config: `TransformerConfig`, with a `vocabulary_size`.
        **kwargs: arguments of `keras.Model`.

    Call arguments:
        inputs: ``{"encoder_token_ids": [batch, source], "decoder_token_ids": [batch, target]}``,
            integers. With ``"real_tokens"``, positions counted through all rows `[tokens]`, only
            these become logits, see `nlp104.transformer.skip_padding`.
        training: whether dropout is active.

    Returns:
        Logits `[batch, target, vocabulary_size]`, or `[tokens, vocabulary_size]`; float32 under
        mixed precision, too.

    Raises:
        ValueError: if the configuration does not fit together, the inputs are no such dictionary, a
            sequence is longer than `max_sequence_length`, or an id lies outside its vocabulary. Ids
            can be checked only outside a compiled graph. Inside one, in `fit` and `predict`, an id
            too large is an error of TensorFlow's on a CPU, NaN on JAX, and unnoticed by TensorFlow
            under XLA.

    Example:
        >>> import numpy as np
        >>> from nlp104 import Transformer
        >>> model = Transformer.from_preset("tiny", vocabulary_size=1000)
        >>> print(f"{model.count_params():,}")
        1,310,696
        >>> source, target = np.array([[5, 6, 3, 0]]), np.array([[2, 7, 8]])
        >>> logits = model({"encoder_token_ids": source, "decoder_token_ids": target})
        >>> tuple(logits.shape)  # after each target token, a score for every token
        (1, 3, 1000)
    """

    def __init__(self, config, **kwargs):
        super().__init__(config, **kwargs)
        self.encoder_embedding = self._embedding(self.source_vocabulary_size, "encoder_embedding")
        self.decoder_embedding = (
            self.encoder_embedding
            if config.tie_embeddings
            else self._embedding(config.vocabulary_size, "decoder_embedding")
        )
        self.encoder = Encoder(config, dtype=self.dtype_policy, name="encoder")
        self.decoder = Decoder(config, dtype=self.dtype_policy, name="decoder")
        self.output_head = self._output_head()
        self.build()

    def build(self, input_shape=None):
        if self.built:
            return
        # Every shape is known from the configuration: the model is built from the start.
        ids_shape, vectors_shape = (None, None), (None, None, self.config.hidden_dim)
        self.encoder_embedding.build(ids_shape)
        self.encoder.build(vectors_shape)
        if not self.config.tie_embeddings:
            self.decoder_embedding.build(ids_shape)
        self.decoder.build(vectors_shape, vectors_shape)
        self.output_head.build(vectors_shape)

    def call(self, inputs, training=None):
        _require_ids(inputs)
        source = inputs["encoder_token_ids"]
        encoder_output = self.encode(source, training=training)
        x = self._run_decoder(
            inputs["decoder_token_ids"], encoder_output, padding_mask(source), training=training
        )
        if REAL_TOKENS in inputs:
            x = take_positions(x, inputs[REAL_TOKENS])
        return self.output_head(x, self.output_kernel())

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

        The logits at a position score the token that comes next. Without an `encoder_padding_mask`,
        booleans `[batch, source]`, the padding of the source is looked at as well. With
        ``return_attention_scores=True`` also the lists of the layers' self-attention weights and of
        their cross-attention weights.
        """
        x = self._run_decoder(
            decoder_token_ids,
            encoder_output,
            encoder_padding_mask,
            return_attention_scores=return_attention_scores,
            training=training,
        )
        if return_attention_scores:
            x, self_scores, cross_scores = x
            return self.output_head(x, self.output_kernel()), self_scores, cross_scores
        return self.output_head(x, self.output_kernel())

    def _run_decoder(self, decoder_token_ids, encoder_output, encoder_padding_mask, **options):
        require_token_ids(decoder_token_ids, self.vocabulary_size, "decoder_token_ids")
        return self.decoder(
            self.decoder_embedding(decoder_token_ids, training=options.get("training")),
            encoder_output,
            decoder_padding_mask=padding_mask(decoder_token_ids),
            encoder_padding_mask=encoder_padding_mask,
            **options,
        )

    def attention_scores(self, inputs):
        """Who looks at whom.

        Args:
            inputs: as for a call.

        Returns:
            A dictionary with a list for each kind, and in it a tensor for each layer. Those of
            ``"encoder"`` are `[batch, heads, source, source]`, those of ``"decoder"`` `[batch,
            heads, target, target]` and those of ``"cross"`` `[batch, heads, target, source]`.

        Example:
            >>> import numpy as np
            >>> from nlp104 import Transformer
            >>> model = Transformer.from_preset("tiny", vocabulary_size=1000)
            >>> source, target = np.array([[5, 6, 3, 0]]), np.array([[2, 7, 8]])
            >>> inputs = {"encoder_token_ids": source, "decoder_token_ids": target}
            >>> for name, layers in model.attention_scores(inputs).items():
            ...     print(name, [tuple(weights.shape) for weights in layers])
            encoder [(1, 4, 4, 4), (1, 4, 4, 4)]
            decoder [(1, 4, 3, 3), (1, 4, 3, 3)]
            cross [(1, 4, 3, 4), (1, 4, 3, 4)]
        """
        _require_ids(inputs)
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
            For each decoder layer a `LayerCache`, see `nlp104.transformer.cache`.
        """
        return self.decoder.start_cache(encoder_output, max_length, num_beams)

    def output_kernel(self):
        """The matrix of the output head where it is that of the embeddings, else None.

        Whoever takes many steps makes it once: XLA would transpose it anew in each, which takes as
        long as all else of a step.
        """
        return self._tied_kernel(self.decoder_embedding)

    def decode_step(
        self,
        token_ids,
        step,
        cache,
        encoder_padding_mask=None,
        history=None,
        output_kernel=None,
    ):
        """Reads the next token; the same logits as `decode` on the whole prefix, in less time.

        Several hypotheses of a row can be decoded side by side. When one of them is continued in
        the place of another, no key or value moves: `history` says where its past is. If there is
        one, several of its tokens can be read at once.

        Args:
            token_ids: integers `[batch, num_beams]`, the tokens at position `step`; or `[batch,
                length]`, those of the one hypothesis from there on, of which none sees a later one.
            step: integer scalar, 0 for the start token.
            cache: from `start_cache` or from the step before. What it holds from position `step` on
                is of no account: a step that is taken again replaces it.
            encoder_padding_mask: booleans `[batch, source]`; by default the whole source is real.
            history: integers `[batch, num_beams, max_length]`, the place among the hypotheses in
                which a hypothesis was at each position: its own place at position `step`, -1 at
                those to come. Not needed if there is one hypothesis.
            output_kernel: what the method of this name returns, if it was made before.

        Returns:
            Logits `[batch, num_beams or length, vocabulary_size]` and the new cache.

        Example:
            >>> import numpy as np
            >>> from nlp104 import Transformer
            >>> model = Transformer.from_preset("tiny", vocabulary_size=1000)
            >>> encoder_output = model.encode(np.array([[5, 6, 3]]))
            >>> whole = model.decode(np.array([[2, 7]]), encoder_output)
            >>> cache = model.start_cache(encoder_output, max_length=2)
            >>> for step, token in enumerate([2, 7]):
            ...     logits, cache = model.decode_step(np.array([[token]]), step, cache)
            ...     print(np.allclose(logits[0, 0], whole[0, step], atol=1e-4))
            True
            True
        """
        token_ids, step = ops.convert_to_tensor(token_ids), as_position(step)
        require_token_ids(token_ids, self.vocabulary_size, "token_ids")
        # Hypotheses are no positions: in the embedding each is a row of its own.
        length = ops.shape(token_ids)[1] // cache[0].keys.shape[3]
        x = self.decoder_embedding(ops.reshape(token_ids, (-1, length)), offset=step)
        x = ops.reshape(x, (*ops.shape(token_ids), x.shape[-1]))  # [batch, num_beams, hidden_dim]
        x, cache = self.decoder.step(x, step, cache, encoder_padding_mask, history)
        kernel = self.output_kernel() if output_kernel is None else output_kernel
        return self.output_head(x, kernel), cache

    def compute_output_shape(self, input_shape):
        _require_ids(input_shape)
        places = input_shape.get(REAL_TOKENS, input_shape["decoder_token_ids"])
        return (*places, self.vocabulary_size)

    def load_own_variables(self, store):
        # Files from before the output head was a layer hold its variables here.
        if store.keys():
            self.output_head.load_own_variables(store)


def _require_ids(inputs):
    names = ("encoder_token_ids", "decoder_token_ids")
    given = sorted(inputs) if isinstance(inputs, dict) else [type(inputs).__name__]
    if not set(names).issubset(given):
        raise ValueError(f"Expected a dictionary with {' and '.join(names)}. Received: {given}.")

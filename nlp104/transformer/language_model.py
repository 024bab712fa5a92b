"""A language model: one stack of the same blocks, which continues a text or fills its gaps."""

import keras
from keras import ops

from nlp104.attention.masks import padding_mask
from nlp104.encoding.embedding import require_token_ids
from nlp104.encoding.positions import as_position
from nlp104.transformer.configured_model import ConfiguredModel
from nlp104.transformer.encoder import Encoder
from nlp104.utils.arguments import require_switch


@keras.saving.register_keras_serializable(package="nlp104")
class LanguageModel(ConfiguredModel):
    """One stack between token ids and logits: GPT if causal, BERT if not.

    A decoder that has no source to look at is a stack of encoder layers under a causal mask. Its
    logits at a position score the token that comes next (Radford et al., 2018). Without that mask
    every position sees the whole text, and its logits score the token that stands there itself,
    which makes sense where the text hides it (Devlin et al., 2019).

    The id 0 is padding. The model makes its masks from the ids, so padding at the end of a row
    moves no logit of a real token.

    Args:
        config: `TransformerConfig`, with a `vocabulary_size`, but no `source_vocabulary_size`. If
            `tie_embeddings`, the matrix of the embeddings is that of the output, too.
        causal: whether a position sees only itself and what comes before it.
        **kwargs: arguments of `keras.Model`.

    Call arguments:
        token_ids: integers `[batch, length]`.
        training: whether dropout is active.

    Returns:
        Logits `[batch, length, vocabulary_size]`; float32 under mixed precision, too.

    Raises:
        ValueError: if the configuration does not fit together, a row is longer than
            `max_sequence_length`, or an id lies outside the vocabulary, see `nlp104.Transformer`.

    Example:
        >>> import numpy as np
        >>> from nlp104.transformer import LanguageModel
        >>> model = LanguageModel.from_preset("tiny", vocabulary_size=100, tie_embeddings=True)
        >>> print(f"{model.count_params():,}")
        409,444
        >>> one, other = model(np.array([[5, 6, 7]])), model(np.array([[5, 6, 9]]))
        >>> tuple(one.shape)  # after each token, a score for every token
        (1, 3, 100)
        >>> for place in range(3):  # the last token moves no logit before its own
        ...     print(np.allclose(one[0, place], other[0, place], atol=1e-4))
        True
        True
        False
    """

    def __init__(self, config, causal=True, **kwargs):
        super().__init__(config, **kwargs)
        if self.source_vocabulary_size != self.vocabulary_size:
            raise ValueError(
                "A language model has one vocabulary: expected no `source_vocabulary_size`. "
                f"Received: {config.source_vocabulary_size}."
            )
        if config.attention_window and not causal:
            raise ValueError(
                "An attention window is one of the past: expected `causal=True` with it. "
                f"Received: causal=False, attention_window={config.attention_window}."
            )
        require_switch(causal=causal)
        self.causal = causal
        self.embedding = self._embedding(self.vocabulary_size, "embedding")
        self.encoder = Encoder(config, dtype=self.dtype_policy, name="encoder")
        self.output_head = self._output_head()
        self.build()

    def build(self, token_ids_shape=None):
        if self.built:
            return
        # Every shape is known from the configuration: the model is built from the start.
        vectors_shape = (None, None, self.config.hidden_dim)
        self.embedding.build((None, None))
        self.encoder.build(vectors_shape)
        self.output_head.build(vectors_shape)

    def call(self, token_ids, training=None):
        return self.output_head(self.encode(token_ids, training=training), self.output_kernel())

    def encode(self, token_ids, return_attention_scores=False, training=None):
        """Token ids `[batch, length]` to vectors `[batch, length, hidden_dim]`, without the head.

        With ``return_attention_scores=True`` also the list of the layers' attention weights.
        """
        require_token_ids(token_ids, self.vocabulary_size, "token_ids")
        return self.encoder(
            self.embedding(token_ids, training=training),
            padding_mask=padding_mask(token_ids),
            use_causal_mask=self.causal,
            return_attention_scores=return_attention_scores,
            training=training,
        )

    def attention_scores(self, token_ids):
        """Who looks at whom.

        Args:
            token_ids: as for a call.

        Returns:
            A list with a tensor `[batch, heads, length, length]` for each layer.

        Example:
            >>> import numpy as np
            >>> from nlp104.transformer import LanguageModel
            >>> model = LanguageModel.from_preset("tiny", vocabulary_size=100)
            >>> scores = model.attention_scores(np.array([[5, 6, 7]]))
            >>> len(scores), tuple(scores[0].shape), float(scores[0][0, 0, 0, 1])
            (2, (1, 4, 3, 3), 0.0)
        """
        return self.encode(token_ids, return_attention_scores=True)[1]

    def start_cache(self, batch_size, max_length):
        """An empty cache for `decode_step`, with room for `max_length` tokens.

        Returns:
            For each layer a `LayerCache`, see `nlp104.transformer.cache`.

        Raises:
            ValueError: if the model is not causal: what it says of a token depends on later ones.
        """
        if not self.causal:
            raise ValueError(
                "Only a causal language model writes token by token. Received: causal=False."
            )
        return self.encoder.start_cache(batch_size, max_length)

    def output_kernel(self):
        """The matrix of the output head, see `Transformer.output_kernel`."""
        return self._tied_kernel(self.embedding)

    def decode_step(self, token_ids, step, cache, output_kernel=None):
        """Reads the next tokens of each row; the logits of a call on the whole row, in less time.

        Args:
            token_ids: integers `[batch, length]`, the tokens from position `step` on: one, or
                several at once, of which none sees a later one.
            step: integer scalar, 0 for the first token.
            cache: from `start_cache` or from the step before. What it holds from position `step` on
                is of no account: a step that is taken again replaces it.
            output_kernel: what the method of this name returns, if it was made before.

        Returns:
            Logits `[batch, length, vocabulary_size]` and the new cache.

        Example:
            >>> import numpy as np
            >>> from nlp104.transformer import LanguageModel
            >>> model = LanguageModel.from_preset("tiny", vocabulary_size=100)
            >>> whole = model(np.array([[5, 6]]))
            >>> cache = model.start_cache(batch_size=1, max_length=2)
            >>> for step, token in enumerate([5, 6]):
            ...     logits, cache = model.decode_step(np.array([[token]]), step, cache)
            ...     print(np.allclose(logits[0, 0], whole[0, step], atol=1e-4))
            True
            True
        """
        token_ids, step = ops.convert_to_tensor(token_ids), as_position(step)
        require_token_ids(token_ids, self.vocabulary_size, "token_ids")
        x = self.embedding(token_ids, offset=step)
        x, cache = self.encoder.step(x, step, cache)
        kernel = self.output_kernel() if output_kernel is None else output_kernel
        return self.output_head(x, kernel), cache

    def compute_output_shape(self, token_ids_shape):
        return (*token_ids_shape, self.vocabulary_size)

    def get_config(self):
        return {**super().get_config(), "causal": self.causal}

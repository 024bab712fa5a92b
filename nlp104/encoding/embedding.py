"""Token ids to vectors: a table of embeddings, and positions added."""

import math

import keras
from keras import ops

from nlp104.encoding.positions import POSITIONS
from nlp104.utils.arguments import require_positive, require_rate


@keras.saving.register_keras_serializable(package="nlp104")
class TokenAndPositionEmbedding(keras.layers.Layer):
    """Vectors of tokens, scaled by √d, plus their positions.

    The matrix of vectors starts with a standard deviation of 1/√d, so that it serves as output
    projection as well; √d brings the vectors back to unit variance beside the positions (Vaswani et
    al., 2017, section 3.4). Dropout acts on the sum (section 5.4).

    Args:
        vocabulary_size: number of tokens.
        hidden_dim: width of the vectors, d.
        max_sequence_length: number of positions.
        positions: ``"sinusoidal"``, ``"learned"`` or ``None``.
        dropout: rate of dropout.
        **kwargs: arguments of `keras.layers.Layer`.

    Call arguments:
        token_ids: integers `[batch, length]`.
        offset: position of the first token, an integer or a scalar tensor: the number of tokens
            already decoded.
        training: whether dropout is active.

    Returns:
        `[batch, length, hidden_dim]`.

    Raises:
        ValueError: if a size is not a positive integer, `positions` is unknown, `dropout` is not
            from 0 to 1, the ids are no integers, or a sequence is longer than
            `max_sequence_length`.

    Example:
        >>> from keras import ops
        >>> from nlp104.encoding import TokenAndPositionEmbedding
        >>> layer = TokenAndPositionEmbedding(100, hidden_dim=2, max_sequence_length=10)
        >>> ((first, second),) = ops.convert_to_numpy(layer(ops.array([[7, 7]])))
        >>> print((second - first).round(2))  # one token, two places: sin 1 - sin 0, cos 1 - cos 0
        [ 0.84 -0.46]
    """

    def __init__(
        self,
        vocabulary_size,
        hidden_dim,
        max_sequence_length,
        positions="sinusoidal",
        dropout=0.0,
        **kwargs,
    ):
        super().__init__(**kwargs)
        if positions is not None and positions not in POSITIONS:
            raise ValueError(
                f"`positions` must be one of {sorted(POSITIONS)} or None. Received: {positions!r}."
            )
        self.vocabulary_size, self.hidden_dim, self.max_sequence_length = require_positive(
            vocabulary_size=vocabulary_size,
            hidden_dim=hidden_dim,
            max_sequence_length=max_sequence_length,
        )
        self.positions = positions
        [self.dropout] = require_rate(dropout=dropout)
        self.input_spec = keras.InputSpec(ndim=2)

    def build(self, token_ids_shape):
        self.embeddings = self.add_weight(
            (self.vocabulary_size, self.hidden_dim),
            initializer=keras.initializers.RandomNormal(stddev=self.hidden_dim**-0.5),
            name="embeddings",
            autocast=False,  # Casting the rows that are used is cheaper than casting all.
        )
        if self.positions is not None:
            self.position_layer = POSITIONS[self.positions](
                self.max_sequence_length, dtype=self.dtype_policy
            )
            self.position_layer.build((*token_ids_shape, self.hidden_dim))
        self.dropout_layer = keras.layers.Dropout(self.dropout, dtype=self.dtype_policy)

    def call(self, token_ids, offset=0, training=None):
        length = token_ids.shape[1]
        # An open length is None on TensorFlow, a symbol on JAX.
        if isinstance(length, int) and length > self.max_sequence_length:
            raise ValueError(
                f"A sequence may have at most max_sequence_length={self.max_sequence_length} "
                f"tokens. Received: {length}."
            )
        _require_integers(token_ids, "token_ids")
        token_ids = ops.cast(token_ids, "int32")
        x = ops.take(self.embeddings, token_ids, axis=0)  # [batch, length, hidden_dim]
        x = ops.cast(x, self.compute_dtype) * math.sqrt(self.hidden_dim)
        if self.positions is not None:
            x = self.position_layer(x, offset=offset)
        return self.dropout_layer(x, training=training)

    def transposed(self):
        """The matrix as output projection `[hidden_dim, vocabulary_size]`."""
        return ops.transpose(ops.cast(self.embeddings, self.compute_dtype))

    def compute_output_shape(self, token_ids_shape):
        return (*token_ids_shape, self.hidden_dim)

    def get_config(self):
        return {
            **super().get_config(),
            "vocabulary_size": self.vocabulary_size,
            "hidden_dim": self.hidden_dim,
            "max_sequence_length": self.max_sequence_length,
            "positions": self.positions,
            "dropout": self.dropout,
        }


def require_token_ids(token_ids, vocabulary_size, name):
    """Raises `ValueError` unless the ids are integers within the vocabulary.

    The range is checked where ids have values, not while a backend traces a graph, and where they
    lie in the main memory: to look at those on a GPU would be to wait for it in every call.
    """
    _require_integers(token_ids, name)
    try:
        if _is_on_accelerator(token_ids):
            return
        values = ops.convert_to_numpy(token_ids)
    except (NotImplementedError, TypeError):
        return
    if values.size and not 0 <= values.min() <= values.max() < vocabulary_size:
        raise ValueError(
            f"`{name}` must lie between 0 and {vocabulary_size - 1}. "
            f"Received: ids from {values.min()} to {values.max()}."
        )


def _require_integers(token_ids, name):
    if not hasattr(token_ids, "dtype"):
        raise ValueError(f"`{name}` must be an array. Received: {token_ids!r:.60}.")
    dtype = keras.backend.standardize_dtype(token_ids.dtype)
    if not keras.backend.is_int_dtype(dtype):
        raise ValueError(f"`{name}` must hold integers. Received: dtype={dtype}.")


def _is_on_accelerator(tensor):
    """Whether PyTorch or JAX keeps an eager tensor somewhere else than in the main memory."""
    device = getattr(tensor, "device", None)
    kind = getattr(device, "type", None) or getattr(device, "platform", "cpu")
    return kind != "cpu"

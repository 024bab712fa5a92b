"""The key/value cache: what a model keeps while it writes one token after the other.

Keys and values of a token depend on that token and those before it alone, so none is ever computed
twice. Hypotheses of a beam are decoded side by side, and no key or value moves when one of them is
continued in the place of another: a history says in which place each one has been.
"""

from typing import Any, NamedTuple

from keras import ops

from nlp104.attention.masks import causal_mask
from nlp104.attention.projections import Projections


class LayerCache(NamedTuple):
    """What one layer keeps.

    The last three are a decoder layer's, which looks at a source, too; others leave them empty.

    Attributes:
        keys: those of the self-attention, `[batch, heads, max_length, num_beams, head_dim]`; zeros
            where nothing is written yet. Heads that share their keys need one of them.
        values: the same.
        self_projections: the weights of the self-attention, made once for all steps.
        source_keys: those of the encoder's output, `[batch, heads, source, head_dim]`, which serve
            all hypotheses of a row and all steps.
        source_values: the same.
        cross_projections: the weights of the cross-attention.

    Example:
        >>> from keras import ops
        >>> from nlp104.transformer.cache import LayerCache
        >>> empty, new = ops.zeros((1, 1, 3, 1, 2)), ops.ones((1, 1, 1, 2))
        >>> cache = LayerCache(empty, empty, None).write(1, new, new)
        >>> keys, values = cache.read()
        >>> print(ops.convert_to_numpy(keys[0, 0]))  # the second of three steps is written
        [[0. 0.]
         [1. 1.]
         [0. 0.]]
    """

    keys: Any
    values: Any
    self_projections: Projections | None
    # Not None, which TensorFlow's loops take for a tensor.
    source_keys: Any = ()
    source_values: Any = ()
    cross_projections: Projections | tuple[()] = ()

    def look(self, attention, x, step, past):
        """The self-attention of the tokens that are read.

        Args:
            attention: `MultiHeadAttention` of the layer.
            x: `[batch, num_beams, dim]`, the vectors at position `step`; if there is one
                hypothesis, `[batch, length, dim]`, those from position `step` on.
            step: integer scalar.
            past: from `past_mask`.

        Returns:
            A tensor like `x` and the cache with the keys and values of these positions.
        """
        own = self.self_projections
        # Hypotheses share one position.
        positions = ops.arange(ops.shape(x)[1] // self.keys.shape[3], dtype="int32") + step
        written = self.write(step, *attention.project_keys_values(own, x, positions=positions))
        outputs, _ = attention.attend(own, x, *written.read(), past, positions=positions)
        return outputs, written

    def write(self, step, keys, values):
        """The cache with the keys and values of a step, or of several steps from this one on.

        Those are `[batch, heads, num_beams, head_dim]`, or `[batch, heads, length, head_dim]` if
        there is one hypothesis. What lies beyond the space is dropped.
        """
        _, heads, _, num_beams, head_dim = self.keys.shape
        length = ops.shape(keys)[2] // num_beams
        places = ops.arange(ops.shape(self.keys)[2], dtype="int32") - step
        # Not `ops.slice_update`: on TensorFlow it is compiled by XLA, anew for every shape.
        here = ops.reshape((places >= 0) & (places < length), (-1, 1, 1))

        def put(new, old):
            new = ops.reshape(new, (-1, heads, length, num_beams, head_dim))
            if new.shape[2] != 1:  # one serves all places, of which only its own is taken
                new = ops.take(new, ops.clip(places, 0, length - 1), axis=2)
            return ops.where(here, new, old)

        return self._replace(keys=put(keys, self.keys), values=put(values, self.values))

    def read(self):
        """Keys and values of all steps and hypotheses, each in one row.

        `[batch, heads, max_length * num_beams, head_dim]`.
        """
        return _join_beams(self.keys), _join_beams(self.values)


def empty_cache(self_attention, batch_size, max_length, num_beams=1, dtype=None):
    """The cache of one layer before its first step.

    Args:
        self_attention: `MultiHeadAttention` of the layer.
        batch_size: number of rows.
        max_length: number of steps to make space for.
        num_beams: number of hypotheses that are decoded side by side for each row.
        dtype: precision of keys and values.

    Returns:
        `LayerCache`, without a source.

    Example:
        >>> from keras import ops
        >>> from nlp104.transformer import DecoderLayer, TransformerConfig
        >>> layer, source = DecoderLayer(TransformerConfig(8, 32, 2)), ops.ones((1, 5, 8))
        >>> layer.build(source.shape, source.shape)
        >>> cache = layer.start_cache(source, max_length=4)  # calls `empty_cache`
        >>> tuple(cache.keys.shape), tuple(cache.source_keys.shape)
        ((1, 2, 4, 1, 4), (1, 2, 5, 4))
    """
    heads, head_dim = self_attention.num_key_value_heads, self_attention.key_dim
    empty = ops.zeros((batch_size, heads, max_length, num_beams, head_dim), dtype=dtype)
    return LayerCache(empty, empty, self_attention.projections())


def past_mask(step, cache, history=None, length=1, window=None):
    """Which of the keys that `LayerCache.read` returns each hypothesis may look at.

    Args:
        step: integer scalar, the position that is decoded, or the first of them.
        cache: `LayerCache` of any layer.
        history: integers `[batch, num_beams, max_length]`, the place among the hypotheses in which
            a hypothesis was at each position: its own place at position `step`, -1 at those to
            come. Not needed if there is one hypothesis.
        length: number of positions that are decoded at once; more than 1 only of one hypothesis.
        window: how many positions are seen, a token's own included; all by default.

    Returns:
        Booleans that broadcast to `[batch, num_beams, max_length * num_beams]`, or to `[batch,
        length, max_length]`: of tokens that are read together, none sees a later one.

    Raises:
        ValueError: if the cache has no room for these steps, where all are integers of Python.

    Example:
        >>> from keras import ops
        >>> from nlp104.transformer.cache import LayerCache, past_mask
        >>> empty = ops.zeros((1, 1, 2, 2, 4))  # two steps, two hypotheses
        >>> cache = LayerCache(empty, empty, None)
        >>> history = ops.array([[[1, 0], [0, 1]]])  # step 0 was written in the other's place
        >>> print(ops.convert_to_numpy(past_mask(1, cache, history)).astype(int))
        [[[0 1 1 0]
          [1 0 0 1]]]
    """
    _, _, max_length, num_beams, _ = ops.shape(cache.keys)
    is_known = all(isinstance(number, int) for number in (step, length, max_length))
    if is_known and not 0 <= step <= max_length - length:
        until = f" to {step + length - 1}" if length > 1 else ""
        raise ValueError(
            f"Expected a step of a cache with room for max_length={max_length}. "
            f"Received: {step}{until}."
        )
    if history is None:
        return causal_mask(length, max_length, offset=step, window=window)
    own = ops.equal(ops.expand_dims(history, -1), ops.arange(num_beams, dtype="int32"))
    if window is not None:  # a history says of itself what is still to come
        near = causal_mask(1, max_length, offset=step, window=window)
        own = ops.logical_and(own, ops.reshape(near, (-1, 1)))
    return ops.reshape(own, (-1, num_beams, max_length * num_beams))


def _join_beams(x):
    _, heads, _, _, head_dim = x.shape
    return ops.reshape(x, (ops.shape(x)[0], heads, -1, head_dim))

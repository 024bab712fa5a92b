"""Masks: which key a query may look at.

They are boolean, ``True`` = attend, and passed explicitly. Keras' implicit masks get lost in
subclassed models: `keras.layers.MultiHeadAttention` takes them off the tensors of its caller, and
`x * 2` does not carry them on. Where one arrives, as after ``Embedding(mask_zero=True)``, the
layers of this package honour it: Keras hands it to the argument that has the name of the tensor
and ``_mask``, or to ``mask`` where there is one tensor.
"""

import functools

import keras
from keras import ops

from nlp104.encoding.positions import as_position
from nlp104.utils.arguments import require_positive


def padding_mask(token_ids):
    """Tells real tokens (``True``) from padding (``False``), which has the id 0.

    Args:
        token_ids: integers `[batch, length]`.

    Returns:
        Booleans `[batch, length]`. To mask the keys of an attention, add an axis for the queries,
        ``mask[:, None, :]``.

    Example:
        >>> from keras import ops
        >>> from nlp104.attention import padding_mask
        >>> token_ids = ops.array([[7, 12, 3, 0], [9, 3, 0, 0]])
        >>> print(ops.convert_to_numpy(padding_mask(token_ids)))
        [[ True  True  True False]
         [ True  True False False]]
    """
    return ops.not_equal(token_ids, 0)


def causal_mask(query_length, key_length=None, offset=0, window=None):
    """Lets every position see itself and what came before it, never its future.

    With a window it sees only the latest of them (Beltagy et al., 2020): the work grows with the
    length, not with its square, where what is masked is not computed.

    Args:
        query_length: number of queries.
        key_length: number of keys; as many as queries by default.
        offset: position of the first query among the keys. Decoding step by step has one query, and
            the step is its offset.
        window: how many positions a query sees, its own included; all by default.

    Returns:
        Booleans `[query, key]`, ``True`` where the key's position is not after the query's, and
        less than `window` before it.

    Raises:
        ValueError: if `window` is not a positive integer.

    Example:
        >>> from keras import ops
        >>> from nlp104.attention import causal_mask
        >>> print(ops.convert_to_numpy(causal_mask(3)))
        [[ True False False]
         [ True  True False]
         [ True  True  True]]
        >>> print(ops.convert_to_numpy(causal_mask(1, 3, offset=1)))  # the second of three steps
        [[ True  True False]]
        >>> print(ops.convert_to_numpy(causal_mask(3, window=2)))
        [[ True False False]
         [ True  True False]
         [False  True  True]]
    """
    if window is not None:
        [window] = require_positive(window=window)
        window = min(window, 2**31 - 1)  # as int32, more would be negative and hide everything
    if key_length is None:
        key_length = query_length
    query_positions = ops.expand_dims(ops.arange(query_length, dtype="int32"), 1)
    query_positions += as_position(offset)
    key_positions = ops.arange(key_length, dtype="int32")
    mask = query_positions >= key_positions
    return mask if window is None else mask & (query_positions - key_positions < window)


def combine_masks(*masks):
    """Attends where every mask attends.

    Args:
        *masks: masks whose shapes broadcast, or ``None`` for "everything may be seen". Beside one
            for each head, `[batch, heads, query, key]`, those of a batch hold for all heads.

    Returns:
        The logical and of the masks; ``None`` if all are ``None``.

    Example:
        >>> from keras import ops
        >>> from nlp104.attention import causal_mask, combine_masks, padding_mask
        >>> real = padding_mask(ops.array([[7, 3, 0]]))  # the third token is padding
        >>> mask = combine_masks(real[:, None, :], causal_mask(3))
        >>> print(ops.convert_to_numpy(mask))
        [[[ True False False]
          [ True  True False]
          [ True  True False]]]
    """
    masks = [mask for mask in masks if mask is not None]
    if any(len(mask.shape) == 4 for mask in masks):  # from the right, a batch would meet the heads
        masks = [ops.expand_dims(m, 1) if len(m.shape) == 3 else m for m in masks]
    return functools.reduce(ops.logical_and, masks) if masks else None


def keys_mask(padding_mask):
    """From a mask of tokens `[batch, length]` to one of keys, alike for all queries.

    Args:
        padding_mask: booleans `[batch, length]`, ``True`` = real token, or None.

    Returns:
        Booleans `[batch, 1, length]`, or None.
    """
    return None if padding_mask is None else ops.expand_dims(padding_mask, 1)


def masked_softmax(scores, mask=None):
    """Softmax over the last axis in which masked positions get exactly 0.

    softmax(scores + M), where M is 0 or, in effect, -∞. A row in which everything is masked becomes
    all zeros: there is nothing to see, so nothing is carried. (Keras' attention gives the mean of
    the values or zeros there, PyTorch's NaN or zeros; whether they take their fused path decides.)

    Args:
        scores: `[..., query, key]`, finite; half precision is lifted to float32 to compute.
        mask: booleans that broadcast to `scores`, ``True`` = attend.

    Returns:
        Weights, shape and dtype of `scores`, of integers float32; each row sums to 1, or to 0 if
        fully masked.

    Example:
        >>> from keras import ops
        >>> from nlp104.attention import masked_softmax
        >>> scores = ops.array([[1.0, 1.0, 5.0], [2.0, 4.0, 8.0]])
        >>> mask = ops.array([[True, True, False], [False, False, False]])
        >>> print(ops.convert_to_numpy(masked_softmax(scores, mask)))
        [[0.5 0.5 0. ]
         [0.  0.  0. ]]
    """
    dtype = keras.backend.standardize_dtype(scores.dtype)
    if not keras.backend.is_float_dtype(dtype):
        dtype = "float32"  # weights are no integers
    scores = ops.cast(scores, keras.backend.result_type(dtype, "float32"))
    if mask is None:
        return ops.cast(_softmax(scores), dtype)
    attend = ops.cast(ops.cast(mask, "bool"), scores.dtype)
    # -1e30 swallows every score but is finite: a fully masked row has no ∞ - ∞. Its softmax is
    # uniform, until the product makes it zero.
    weights = _softmax(scores + (attend - 1.0) * 1e30) * attend
    return ops.cast(weights, dtype)


def attention_weights(queries, keys, attention_mask=None):
    """The weights of versions 1 to 6: softmax(Q Kᵀ), the scale being in Q already.

    Args:
        queries: `[..., query, dim]`.
        keys: `[..., key, dim]`.
        attention_mask: booleans that broadcast to `[..., query, key]`.

    Returns:
        `[..., query, key]`.

    Example:
        >>> import math
        >>> from keras import ops
        >>> from nlp104.attention import attention_weights
        >>> query = ops.array([[1.0, 0.0]])
        >>> keys = ops.array([[0.0, 5.0], [math.log(3), 0.0]])  # dot products: 0 and log 3
        >>> print(ops.convert_to_numpy(attention_weights(query, keys)).round(2))
        [[0.25 0.75]]
    """
    return masked_softmax(ops.matmul(queries, ops.swapaxes(keys, -1, -2)), attention_mask)


def _softmax(scores):
    # Keras warns of a softmax over a single score. Here it is no mistake: a sequence of one token.
    return ops.ones_like(scores) if scores.shape[-1] == 1 else ops.softmax(scores)

"""The weights of multi-head attention as plain matrices, and the way to heads and back.

A call makes them anew. Whoever calls the two halves of an attention often, as decoding step by step
does, makes them once. That saves more than reshaping: XLA, on a CPU, makes a plain loop of the
product of one vector with a matrix that is still to be reshaped.
"""

import math
from typing import Any, NamedTuple

from keras import ops


class Projection(NamedTuple):
    """One linear map, `x W + b`, in the precision of the computation.

    Attributes:
        matrix: `[dim, heads * head_dim]`; of the output `[heads * value_dim, output_dim]`.
        bias: `[heads * head_dim]`, or None.

    Example:
        >>> from keras import ops
        >>> from nlp104.attention.projections import Projection
        >>> query = Projection(matrix=2 * ops.eye(3), bias=ops.ones(3))
        >>> print(ops.convert_to_numpy(query(ops.ones((1, 1, 3)))))
        [[[3. 3. 3.]]]
    """

    matrix: Any
    bias: Any

    def __call__(self, x):
        """Projects `[batch, length, dim]` in one product."""
        x = ops.matmul(ops.cast(x, self.matrix.dtype), self.matrix)
        return x if self.bias is None else x + self.bias


class Projections(NamedTuple):
    """All four of an attention: W_Q, W_K, W_V and W_O of all heads, side by side.

    Attributes:
        query: a `Projection`, and so are the others.
        key: that of the keys.
        value: that of the values.
        output: that of the joined heads.

    Example:
        >>> from nlp104.attention import MultiHeadAttention
        >>> layer = MultiHeadAttention(num_heads=2, key_dim=8)
        >>> layer.build((None, None, 16), (None, None, 16))
        >>> tuple(layer.projections().output.matrix.shape)  # [heads * value_dim, output_dim]
        (16, 16)
    """

    query: Projection
    key: Projection
    value: Projection
    output: Projection


def as_projection(kernel, bias, num_inputs, dtype):
    """Makes a kernel of several axes, the first `num_inputs` of them inputs, into one matrix."""
    # Casts, since the halves of an attention may be called outside of Keras' autocasting.
    rows = math.prod(kernel.shape[:num_inputs])
    matrix = ops.reshape(ops.cast(kernel, dtype), (rows, -1))
    return Projection(matrix, None if bias is None else ops.reshape(ops.cast(bias, dtype), (-1,)))


def split_heads(x, num_heads):
    """`[batch, length, heads * head_dim]` to `[batch, heads, length, head_dim]`."""
    batch, length, width = ops.shape(x)
    x = ops.reshape(x, (batch, length, num_heads, width // num_heads))
    return ops.transpose(x, (0, 2, 1, 3))


def join_heads(x):
    """`[batch, heads, length, head_dim]` to `[batch, length, heads * head_dim]`."""
    batch, heads, length, head_dim = ops.shape(x)
    x = ops.transpose(x, (0, 2, 1, 3))
    return ops.reshape(x, (batch, length, heads * head_dim))

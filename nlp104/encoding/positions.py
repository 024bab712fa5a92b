"""Where a token stands: binary, sinusoidal, learned and rotary positions.

Attention sees a multiset of tokens; their order has to be put into their vectors.
"""

from numbers import Integral, Real

import keras
import numpy as np
from keras import ops

from nlp104.utils.arguments import require_number, require_positive, require_whole
from nlp104.utils.errors import InputError


def binary_positions(length, num_bits):
    """Writes each position as a binary number, the lowest bit first.

    Unique and bounded, but discrete: the step from 3 to 4 flips three bits at once. The sinusoids
    are its continuous relatives: there, too, columns oscillate more and more slowly.

    Args:
        length: number of positions.
        num_bits: number of bits; positions repeat after 2**num_bits.

    Returns:
        NumPy float32 `[length, num_bits]` of zeros and ones.

    Raises:
        ValueError: if a size is no size.

    Example:
        >>> from nlp104.encoding import binary_positions
        >>> print(binary_positions(5, num_bits=3).astype(int))
        [[0 0 0]
         [1 0 0]
         [0 1 0]
         [1 1 0]
         [0 0 1]]
    """
    [length] = require_whole(length=length)
    [num_bits] = require_positive(num_bits=num_bits)
    return (np.arange(length)[:, None] >> np.arange(num_bits) & 1).astype("float32")


def sinusoidal_positions(length, hidden_dim, base=10000.0, layout="interleaved"):
    """Sines and cosines of the position at geometrically falling frequencies.

    PE(pos, 2i) = sin(pos / base^(2i/d)),  PE(pos, 2i+1) = cos(pos / base^(2i/d))  (Vaswani et al.,
    2017, section 3.5). Computed in float64.

    Args:
        length: number of positions.
        hidden_dim: width of the encoding, d; even.
        base: the longest wavelength is a little less than 2π·base.
        layout: ``"interleaved"`` as in the formula, or ``"concatenated"``: all sines, then all
            cosines. The same encoding up to a fixed permutation of its columns.

    Returns:
        NumPy float32 `[length, hidden_dim]`.

    Raises:
        ValueError: if a size is no size, `hidden_dim` odd, `base` not above 0 or `layout` unknown.

    Example:
        >>> from nlp104.encoding import sinusoidal_positions
        >>> print(sinusoidal_positions(3, hidden_dim=4).round(2))  # the first column: sin 0, 1, 2
        [[ 0.    1.    0.    1.  ]
         [ 0.84  0.54  0.01  1.  ]
         [ 0.91 -0.42  0.02  1.  ]]
    """
    [length] = require_whole(length=length)
    [hidden_dim] = require_positive(hidden_dim=hidden_dim)
    # [length, hidden_dim / 2]
    angles = np.arange(length)[:, None] * _frequencies(hidden_dim, base)
    if layout == "interleaved":
        encoding = np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(length, hidden_dim)
    elif layout == "concatenated":
        encoding = np.concatenate([np.sin(angles), np.cos(angles)], axis=-1)
    else:
        raise ValueError(f"`layout` must be 'interleaved' or 'concatenated'. Received: {layout!r}.")
    return encoding.astype("float32")


def rotate(x, positions, base=10000.0):
    """Rotary positions: turns each pair of dimensions by an angle that grows with the position.

    (x_2i, x_2i+1) is turned by pos / base^(2i/d)  (Su et al., 2021, section 3.2.2). Applied to
    queries and keys, it makes their dot products depend on the distance of the two positions only.

    Args:
        x: queries or keys `[..., length, dim]`; `dim` even.
        positions: numbers `[length]`.
        base: as for `sinusoidal_positions`.

    Returns:
        `x`, rotated. The angles are computed in float32 whatever the dtype of `x`.

    Raises:
        ValueError: if `dim` is odd or `base` not above 0.

    Example:
        >>> from keras import ops
        >>> from nlp104.encoding import rotate
        >>> x = ops.array([[1.0, 0.0]])
        >>> for query, key in ((3, 1), (9, 7)):  # both times two places apart: cos 2
        ...     print(round(float(ops.sum(rotate(x, [query]) * rotate(x, [key]))), 3))
        -0.416
        -0.416
    """
    x = ops.convert_to_tensor(x)
    if not keras.backend.is_float_dtype(x.dtype):
        x = ops.cast(x, "float32")  # sines are no integers
    dim = x.shape[-1]
    frequencies = ops.convert_to_tensor(_frequencies(dim, base), "float32")
    angles = ops.expand_dims(ops.cast(positions, "float32"), -1) * frequencies
    sines, cosines = ops.cast(ops.sin(angles), x.dtype), ops.cast(ops.cos(angles), x.dtype)
    even, odd = x[..., 0::2], x[..., 1::2]  # [..., length, dim / 2]
    turned = ops.stack([even * cosines - odd * sines, even * sines + odd * cosines], axis=-1)
    return ops.reshape(turned, ops.shape(x))


def _frequencies(dim, base):
    """1 / base^(2i/d) for every pair i of dimensions: NumPy float64."""
    base = require_number("base", base, lambda b: 0 < b < np.inf, "a number above 0")
    if dim % 2:
        raise InputError(
            f"Sines and cosines come in pairs: the width must be even. Received: {dim}."
        )
    return base ** (-np.arange(0, dim, 2) / dim)


@keras.saving.register_keras_serializable(package="nlp104")
class SinusoidalPositions(keras.layers.Layer):
    """Adds the sinusoidal encoding of its position to every vector.

    Args:
        max_length: number of positions.
        base: see `sinusoidal_positions`.
        layout: see `sinusoidal_positions`.
        **kwargs: arguments of `keras.layers.Layer`.

    Call arguments:
        inputs: `[batch, length, dim]`.
        offset: position of the first vector, an integer or a scalar tensor.

    Returns:
        `[batch, length, dim]`.

    Raises:
        ValueError: if the positions go on beyond `max_length`, where lengths are known and the
            offset is an integer of Python.

    Example:
        >>> from keras import ops
        >>> from nlp104.encoding import SinusoidalPositions
        >>> layer = SinusoidalPositions(max_length=10)
        >>> print(ops.convert_to_numpy(layer(ops.zeros((1, 2, 4)), offset=1)).round(2))
        [[[ 0.84  0.54  0.01  1.  ]
          [ 0.91 -0.42  0.02  1.  ]]]
    """

    def __init__(self, max_length, base=10000.0, layout="interleaved", **kwargs):
        super().__init__(**kwargs)
        [self.max_length] = require_positive(max_length=max_length)
        sinusoidal_positions(1, 2, base, layout)  # raises if there are none such
        self.base = base
        self.layout = layout
        self.supports_masking = True
        self.input_spec = keras.InputSpec(ndim=3)

    def build(self, inputs_shape):
        table = sinusoidal_positions(self.max_length, inputs_shape[-1], self.base, self.layout)
        # PyTorch would copy it to its device in every call; to the others it is a constant.
        is_torch = keras.backend.backend() == "torch"
        self.table = ops.convert_to_tensor(table) if is_torch else table

    def call(self, inputs, offset=0):
        return _plus_rows(self.table, inputs, offset, self.compute_dtype)

    def compute_output_shape(self, inputs_shape):
        return inputs_shape

    def get_config(self):
        return {
            **super().get_config(),
            "max_length": self.max_length,
            "base": self.base,
            "layout": self.layout,
        }


@keras.saving.register_keras_serializable(package="nlp104")
class LearnedPositions(keras.layers.Layer):
    """Adds a learned vector for its position to every vector.

    As good as sinusoids within the lengths seen in training (Vaswani et al., 2017, table 3, row E);
    a position never seen keeps its random vector.

    Args:
        max_length: number of positions.
        **kwargs: arguments of `keras.layers.Layer`.

    Call arguments:
        inputs: `[batch, length, dim]`.
        offset: position of the first vector, an integer or a scalar tensor.

    Returns:
        `[batch, length, dim]`.

    Raises:
        ValueError: if the positions go on beyond `max_length`, where lengths are known and the
            offset is an integer of Python.

    Example:
        >>> from keras import ops
        >>> from nlp104.encoding import LearnedPositions
        >>> layer = LearnedPositions(max_length=10)
        >>> first, second = layer(ops.zeros((2, 3, 4)))  # two sentences of three tokens
        >>> bool(ops.all(first == second))  # the same place, the same vector
        True
        >>> layer.count_params()  # 10 vectors of 4 numbers
        40
    """

    def __init__(self, max_length, **kwargs):
        super().__init__(**kwargs)
        [self.max_length] = require_positive(max_length=max_length)
        self.supports_masking = True
        self.input_spec = keras.InputSpec(ndim=3)

    def build(self, inputs_shape):
        self.table = self.add_weight(
            (self.max_length, inputs_shape[-1]),
            initializer=keras.initializers.RandomNormal(stddev=inputs_shape[-1] ** -0.5),
            name="positions",
        )

    def call(self, inputs, offset=0):
        return _plus_rows(self.table, inputs, offset, self.compute_dtype)

    def compute_output_shape(self, inputs_shape):
        return inputs_shape

    def get_config(self):
        return {**super().get_config(), "max_length": self.max_length}


def as_position(number):
    """A position that a backend can count on from: of NumPy's integers Python's, else int32.

    Raises:
        ValueError: if it is a number of Python or NumPy that is no integer.
    """
    if isinstance(number, Integral):
        return int(number)
    if isinstance(number, Real):
        raise ValueError(f"Expected an integer as position. Received: {number!r}.")
    return ops.cast(number, "int32")


def _plus_rows(table, inputs, offset, dtype):
    """`inputs` plus their rows of a table of positions; integers are numbers of `dtype` before."""
    if not keras.backend.is_float_dtype(inputs.dtype):
        inputs = ops.cast(inputs, dtype)  # sines are no integers
    length, offset = inputs.shape[1], as_position(offset)
    # An open length is None on TensorFlow, a symbol on JAX.
    is_known = isinstance(length, int) and isinstance(offset, int)
    if is_known and not 0 <= offset <= table.shape[0] - length:
        raise ValueError(
            f"Expected at most max_length={table.shape[0]} positions. "
            f"Received: length {length} from position {offset} on."
        )
    positions = ops.arange(ops.shape(inputs)[1], dtype="int32") + offset
    return inputs + ops.cast(ops.take(table, positions, axis=0), inputs.dtype)  # [length, dim]


POSITIONS = {"sinusoidal": SinusoidalPositions, "learned": LearnedPositions}

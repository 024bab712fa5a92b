"""Errors that say what was expected and what was received, before a backend fails in its depths."""

import math
from numbers import Integral

import keras
from keras import ops


def require_positive(**sizes):
    """Raises `ValueError` unless every size is a positive integer, Python's or NumPy's.

    Returns:
        The sizes in their order as Python's `int`, which JSON can hold.

    Example:
        >>> num_heads, key_dim = require_positive(num_heads=8, key_dim=np.int64(64))
    """
    return [_integer(name, size, 1, "a positive integer") for name, size in sizes.items()]


def require_seed(seed):
    """Raises `ValueError` unless `seed` is an integer of at least 0; returns it as an `int`."""
    return _integer("seed", seed, 0, "an integer of at least 0")


def _integer(name, number, smallest, expected):
    # True is an integer to Python, and as a size always a mistake.
    if isinstance(number, bool) or not isinstance(number, Integral) or number < smallest:
        raise ValueError(f"`{name}` must be {expected}. Received: {number!r}.")
    return int(number)


def require_not_negative(**numbers):
    """Raises `ValueError` unless every number is finite and at least 0."""
    for name, number in numbers.items():
        if not 0 <= number < math.inf:
            raise ValueError(f"`{name}` must be a number of at least 0. Received: {number!r}.")


def require_token_ids(token_ids, vocabulary_size, name):
    """Raises `ValueError` unless the ids are integers within the vocabulary.

    The range is checked where ids have values: not while a backend traces a graph.
    """
    dtype = keras.backend.standardize_dtype(token_ids.dtype)
    if not keras.backend.is_int_dtype(dtype):
        raise ValueError(f"`{name}` must hold integers. Received: dtype={dtype}.")
    try:
        values = ops.convert_to_numpy(token_ids)
    except (NotImplementedError, TypeError):
        return
    if values.size and not 0 <= values.min() <= values.max() < vocabulary_size:
        raise ValueError(
            f"`{name}` must lie between 0 and {vocabulary_size - 1}. "
            f"Received: ids from {values.min()} to {values.max()}."
        )

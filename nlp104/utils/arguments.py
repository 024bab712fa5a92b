"""Errors that say what was expected and what was received, before a backend fails in its depths."""

import math

import keras
from keras import ops


def require_positive(**sizes):
    """Raises `ValueError` unless every size is a positive integer."""
    for name, size in sizes.items():
        if not isinstance(size, int) or size < 1:
            raise ValueError(f"`{name}` must be a positive integer. Received: {size!r}")


def require_not_negative(**numbers):
    """Raises `ValueError` unless every number is finite and at least 0."""
    for name, number in numbers.items():
        if not 0 <= number < math.inf:
            raise ValueError(f"`{name}` must be a number of at least 0. Received: {number!r}")


def require_token_ids(token_ids, vocabulary_size, name):
    """Raises `ValueError` unless the ids are integers within the vocabulary.

    The range is checked where ids have values: not while a backend traces a graph.
    """
    dtype = keras.backend.standardize_dtype(token_ids.dtype)
    if not keras.backend.is_int_dtype(dtype):
        raise ValueError(f"`{name}` must hold integers. Received: dtype={dtype}")
    try:
        values = ops.convert_to_numpy(token_ids)
    except (NotImplementedError, TypeError):
        return
    if values.size and not 0 <= values.min() <= values.max() < vocabulary_size:
        raise ValueError(
            f"`{name}` must lie between 0 and {vocabulary_size - 1}. "
            f"Received: ids from {values.min()} to {values.max()}"
        )

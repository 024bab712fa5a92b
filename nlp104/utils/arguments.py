"""Errors that say what was expected and what was received, before a backend fails in its depths."""

import math
from numbers import Integral


def require_positive(**sizes):
    """Raises `ValueError` unless every size is a positive integer, Python's or NumPy's.

    Returns:
        The sizes in their order as Python's `int`, which JSON can hold.

    Example:
        >>> import numpy as np
        >>> from nlp104.utils.arguments import require_positive
        >>> require_positive(num_heads=8, key_dim=np.int64(64))
        [8, 64]
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


def require_texts(**lists):
    """Raises `ValueError` for a string in the place of a list: it would be read as its letters."""
    for name, texts in lists.items():
        if isinstance(texts, str):
            raise ValueError(f"`{name}` must be a list of strings. Received: {texts!r:.80}.")

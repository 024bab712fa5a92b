"""Errors that say what was expected and what was received, before a backend fails in its depths."""

import math
import numbers


def require_positive(**sizes):
    """Checks sizes: integers of Python or NumPy, at least 1; a boolean is none.

    Returns:
        The sizes as plain integers, which JSON can hold: one, or a list of several.

    Raises:
        ValueError: unless every size is a positive integer.

    Example:
        >>> num_heads, key_dim = require_positive(num_heads=np.int64(8), key_dim=64)
    """
    for name, size in sizes.items():
        if not isinstance(size, numbers.Integral) or isinstance(size, bool) or size < 1:
            raise ValueError(f"`{name}` must be a positive integer. Received: {size!r}")
    plain = [int(size) for size in sizes.values()]
    return plain[0] if len(plain) == 1 else plain


def require_not_negative(**numbers):
    """Raises `ValueError` unless every number is finite and at least 0."""
    for name, number in numbers.items():
        if not 0 <= number < math.inf:
            raise ValueError(f"`{name}` must be a number of at least 0. Received: {number!r}")

"""Errors that say what was expected and what was received, before a backend fails in its depths."""

from numbers import Integral, Real


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


def require_whole(**numbers):
    """Raises `ValueError` unless every number is an integer of at least 0; returns `int`s."""
    expected = "an integer of at least 0"
    return [_integer(name, number, 0, expected) for name, number in numbers.items()]


def require_number(name, number, fits, expected, error=ValueError):
    """Raises an error unless `number` is a single real number, Python's or NumPy's, and fits.

    Args:
        name: What the argument is called.
        number: What was given for it.
        fits: Function from the number to whether it is in its range.
        expected: What the message says of that.
        error: The class to raise, where a user of the command line might be wrong.

    Returns:
        The number as Python's, which JSON can hold.

    Example:
        >>> from nlp104.utils.arguments import require_number
        >>> require_number("share", 0.5, lambda share: 0 <= share <= 1, "from 0 to 1")
        0.5
    """
    # True is an integer to Python, and as a number always a mistake.
    if isinstance(number, bool) or not isinstance(number, Real) or not fits(number):
        raise error(f"`{name}` must be {expected}. Received: {number!r}.")
    return int(number) if isinstance(number, Integral) else float(number)


def _integer(name, number, smallest, expected):
    def fits(number):
        return isinstance(number, Integral) and number >= smallest

    return int(require_number(name, number, fits, expected))


def require_rate(**rates):
    """Raises `ValueError` unless every rate of dropout is a number from 0 to 1.

    Returns:
        The rates in their order as Python's numbers.
    """
    return [
        require_number(name, rate, lambda rate: 0 <= rate <= 1, "from 0 to 1")
        for name, rate in rates.items()
    ]


def require_one_of(choices, error=ValueError, **chosen):
    """Raises an error unless the one argument that is named is among the names to choose."""
    [(name, value)] = chosen.items()
    if value not in choices:
        raise error(f"`{name}` must be one of {', '.join(choices)}. Received: {value!r}.")


def require_switch(error=ValueError, **switches):
    """Raises an error unless every switch is True or False: to Python "no" is as good as True.

    Nor is 1, nor NumPy's True: a file would hold it, and would not be read again.
    """
    for name, value in switches.items():
        if not isinstance(value, bool):
            raise error(f"`{name}` must be True or False. Received: {value!r}.")


def require_texts(**lists):
    """Raises `ValueError` for a string in the place of a list: it would be read as its letters."""
    for name, texts in lists.items():
        if isinstance(texts, str):
            raise ValueError(f"`{name}` must be a list of strings. Received: {texts!r:.80}.")


def require_floating_point(layer):
    """Raises `ValueError` if Keras' `quantize` has changed a layer: no configuration tells of it.

    So a model that is saved afterwards could not be loaded.
    """
    modes = {inner.dtype_policy.quantization_mode for inner in layer._flatten_layers()} - {None}
    if modes:
        raise ValueError(
            "Expected a layer in floating point: one that `quantize` has changed lives in memory "
            f"only. Save it before, and quantise what is loaded. Received: {', '.join(modes)}."
        )

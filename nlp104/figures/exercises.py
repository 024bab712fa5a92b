"""Checks that a reader can call on an own answer to an exercise.

A wrong answer is told by its kind, shape or place. The value that was expected is never given away.
"""

import numpy as np
from keras import ops


def check(answer, expected, tolerance=0.01):
    """Prints whether an answer is right, and if it is not, what is wrong with its form.

    Args:
        answer: What the reader found.
        expected: The right answer: a number, text, array or tensor; or a tuple, a set or a
            dictionary of such.
        tolerance: How far a number may be off, relative to it or absolutely. Whole numbers must be
            exact.

    Example:
        >>> from nlp104.figures.exercises import check
        >>> check((2, 12), expected=(2, 10))
        Not yet. Part 2: it is a whole number, but not the right one.
        >>> check((2, 10), expected=(2, 10))
        Right.
    """
    wrong = hint(answer, expected, tolerance)
    print(f"Not yet. {wrong[0].upper()}{wrong[1:]}." if wrong else "Right.")


def hint(answer, expected, tolerance=0.01):
    """What is wrong with an answer, without its value; empty if nothing is. Args as of `check`.

    Example:
        >>> from nlp104.figures.exercises import hint
        >>> hint([0.5, 0.5], expected=[0.5, 0.25])
        'part 2: it is a number, but not the right one'
    """
    answer, expected = _plain(answer), _plain(expected)
    if isinstance(expected, np.ndarray):
        answer = _as_array(answer)
    elif isinstance(answer, np.ndarray):
        answer = tuple(answer)
    if answer is None:
        return f"expected {_kind(expected)}, received nothing yet"
    if not _fits(answer, expected):
        return f"expected {_kind(expected)}, received {_kind(answer)}"
    if isinstance(expected, tuple | dict):
        named = isinstance(expected, dict)
        for place in expected if named else range(len(expected)):
            if wrong := hint(answer[place], expected[place], tolerance):
                return f"{place if named else f'part {place + 1}'}: {wrong}"
        return ""
    if isinstance(expected, np.ndarray):
        exact = expected.dtype.kind != "f"
        right = answer == expected if exact else np.isclose(answer, expected, tolerance, tolerance)
        return "" if right.all() else f"{right.sum()} of {right.size} numbers are right"
    if isinstance(expected, set) and answer != expected:
        return f"{len(answer & expected)} of {len(answer)} elements belong to it"
    if isinstance(expected, str):
        answer, expected = answer.strip().casefold(), expected.strip().casefold()
    right = answer == expected
    if isinstance(expected, float):
        right = np.isclose(answer, expected, tolerance, tolerance)
    return "" if right else f"it is {_kind(expected)}, but not the right one"


def _plain(value):
    """Tensors become arrays, arrays of one number that number, lists and shapes tuples."""
    if hasattr(value, "shape"):
        value = ops.convert_to_numpy(value)
        return value if value.ndim else value.item()
    if isinstance(value, str | dict | set | frozenset) or not hasattr(value, "__iter__"):
        return value
    return tuple(value)


def _as_array(value):
    """A tuple of numbers as an array; whatever is not an array stays what it is."""
    try:
        array = np.asarray(value)
    except ValueError:  # rows of different lengths
        return value
    return array if array.ndim and array.dtype.kind in "biuf" else value


def _kind(value):
    """What a value is, in words that do not tell which one."""
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape}"
    if isinstance(value, dict):
        return f"a dictionary with the keys {', '.join(map(str, value))}"
    if isinstance(value, tuple):
        return f"a tuple of {len(value)}"
    words = {bool: "True or False", int: "a whole number", float: "a number", str: "a text"}
    return words.get(type(value), f"a {type(value).__name__}")


def _fits(answer, expected):
    """Whether an answer has the kind and the size of the expected one."""
    if isinstance(expected, tuple | dict | np.ndarray):
        return _kind(answer) == _kind(expected)
    if isinstance(expected, bool) or not isinstance(expected, int | float):
        return isinstance(answer, type(expected))
    return isinstance(answer, int | float) and not isinstance(answer, bool)

"""The numbers that options take: read from a text, or refused with what was expected."""

import argparse
import contextlib
import math


def number(kind, fits, expected):
    """Returns a function that reads a number from a text, as `argparse` wants it."""

    def read(text):
        with contextlib.suppress(ValueError):
            if fits(value := kind(text)):
                return value
        raise argparse.ArgumentTypeError(f"expected {expected}, found {text!r}")

    return read


count = number(int, lambda value: value >= 1, "an integer of at least 1")
whole = number(int, lambda value: value >= 0, "an integer of at least 0")
seed = number(int, lambda value: 0 <= value < 2**32, "an integer from 0 to 4294967295")
port = number(int, lambda value: 0 <= value < 65536, "an integer from 0 to 65535")
fraction = number(float, lambda value: 0 <= value < 1, "a number from 0 to less than 1")
penalty = number(float, lambda value: 0 <= value <= 10, "a number from 0 to 10")
positive = number(float, lambda value: 0 < value < math.inf, "a number above 0")
TYPES = {"count": count, "fraction": fraction, "positive": positive, "text": str}

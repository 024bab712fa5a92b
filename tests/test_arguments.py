import json

import numpy as np
import pytest

from nlp104.utils.arguments import (
    require_number,
    require_positive,
    require_rate,
    require_switch,
    require_whole,
)
from nlp104.utils.errors import InputError


def test_integers_of_numpy_are_sizes_and_come_back_as_pythons():
    sizes = require_positive(a=8, b=np.int64(8), c=np.uint8(200))
    assert sizes == [8, 8, 200]
    assert json.dumps([*sizes, *require_whole(seed=np.int32(0))]) == "[8, 8, 200, 0]"


@pytest.mark.parametrize(
    "number", [True, np.True_, 2.0, np.float64(2), "2", None, np.array([2]), 0, np.int64(-1)]
)
def test_what_is_no_size(number):
    with pytest.raises(ValueError, match=r"^`width` must be a positive integer\. Received: .*\.$"):
        require_positive(depth=3, width=number)


@pytest.mark.parametrize("number", [False, 0.0, None, -1, np.int8(-1)])
def test_what_is_no_seed(number):
    with pytest.raises(ValueError, match=r"^`seed` must be an integer of at least 0\. Received"):
        require_whole(seed=number)


@pytest.mark.parametrize("number", [0, 0.5, np.float32(0.5), np.int64(3)])
def test_numbers_of_python_and_numpy(number):
    plain = require_number("x", number, lambda x: x < 4, "below 4")
    assert plain == number
    assert type(plain) in (int, float)  # JSON holds no number of NumPy


@pytest.mark.parametrize(
    "rate", [-0.1, 1.1, float("nan"), float("inf"), True, np.False_, "1", None, 1j, np.ones(1)]
)
def test_what_is_no_rate(rate):
    with pytest.raises(ValueError, match=r"^`dropout` must be from 0 to 1\. Received: "):
        require_rate(dropout=rate)


@pytest.mark.parametrize("switch", [1, 0, 1.0, np.True_, "no", None])
def test_what_is_no_switch(switch):
    """A file would hold 1, and not be read again; and JSON holds nothing of NumPy."""
    with pytest.raises(ValueError, match=r"^`causal` must be True or False\. Received: "):
        require_switch(gated=True, causal=switch)


def test_a_number_is_looked_at_only_if_it_is_one():
    with pytest.raises(InputError, match=r"^`x` must be a word\. Received: 'a'\.$"):
        require_number("x", "a", lambda x: 1 / 0, "a word", InputError)

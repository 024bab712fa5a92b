"""Checks of readers' answers: right ones pass, wrong ones fail, and no hint tells the value."""

import keras
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlp104.figures.exercises import check, hint

leaves = st.one_of(
    st.booleans(),
    st.integers(-(10**9), 10**9),
    st.floats(-1e6, 1e6),
    st.text(min_size=1),
    st.sets(st.integers(), max_size=4),
)
answers = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4).map(tuple),
        st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    ),
)


@given(answers)
def test_the_right_answer_is_right(expected):
    assert hint(expected, expected) == ""


@given(st.lists(leaves, min_size=1, max_size=4), st.data())
def test_one_wrong_part_is_found_and_named(expected, data):
    place = data.draw(st.integers(0, len(expected) - 1))
    answer = list(expected)
    answer[place] = object()
    assert hint(answer, expected).startswith(f"part {place + 1}: expected ")


WRONG = [  # answer, expected, the hint
    (64.02, 64, "it is a whole number, but not the right one"),
    (0.5, 0.52, "it is a number, but not the right one"),
    (float("nan"), 0.5, "it is a number, but not the right one"),
    (1, True, "expected True or False, received a whole number"),
    (True, 1, "expected a whole number, received True or False"),
    ("keys", "values", "it is a text, but not the right one"),
    (None, 3, "expected a whole number, received nothing yet"),
    (512, (8, 64), "expected a tuple of 2, received a whole number"),
    ((8, 64, 1), (8, 64), "expected a tuple of 2, received a tuple of 3"),
    ((8, 63), (8, 64), "part 2: it is a whole number, but not the right one"),
    ({"a": 1}, {"b": 1}, "expected a dictionary with the keys b, received a dictionary"),
    ({"a": (1, 3)}, {"a": (1, 2)}, "a: part 2: it is a whole number"),
    ({1, 2}, {1, 3}, "1 of 2 elements belong to it"),
    (np.ones((3, 2)), np.ones((2, 3)), "expected an array of shape (2, 3), received an array"),
    ([[1.0], [1.0, 2.0]], np.ones((2, 2)), "expected an array of shape (2, 2), received a tuple"),
    (["a", "b"], np.ones(2), "expected an array of shape (2,), received a tuple of 2"),
    (np.array([0.1, 0.9]), np.array([0.1, 0.8]), "1 of 2 numbers are right"),
    (np.array([1.0, 2.001]), np.array([1, 2]), "1 of 2 numbers are right"),
]


@pytest.mark.parametrize(("answer", "expected", "words"), WRONG)
def test_a_wrong_answer_gets_its_hint(answer, expected, words):
    assert hint(answer, expected).startswith(words)


RIGHT = [
    (0.884, 0.8808, 0.01),
    (64.0, 64, 0.01),
    (" IL", "il", 0.01),
    ([10, 512], (10, 512), 0.01),
    ([0.88, 0.12], np.array([0.8808, 0.1192]), 0.01),
    (np.array([0.9, -0.9]), (0.9, -0.9), 0.01),
    (keras.ops.ones((2, 3)), np.ones((2, 3)), 0.01),
    (np.float32(0.5), 0.5, 0.0),
    (keras.ops.ones((2, 3)).shape, (2, 3), 0.01),
    ({"b", "a"}, {"a", "b"}, 0.01),
]


@pytest.mark.parametrize(("answer", "expected", "tolerance"), RIGHT)
def test_an_answer_may_come_in_another_form(answer, expected, tolerance):
    assert hint(answer, expected, tolerance) == ""


@given(st.integers(1000, 10**6), st.integers(-5, -1) | st.integers(1, 5))
def test_no_hint_gives_the_value_away(expected, error):
    wrong = (expected + error, [expected], str(error), (expected + error, 1))
    assert not any(str(expected) in hint(answer, expected) for answer in wrong)


def test_check_prints_its_verdict(capsys):
    check(3, 4)
    check(4, 4)
    printed = "Not yet. It is a whole number, but not the right one.\nRight.\n"
    assert capsys.readouterr().out == printed

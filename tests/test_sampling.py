"""Sampling: the frequencies of tokens against softmax, and what makes it greedy."""

import math

import keras
import numpy as np
import pytest
from decoding_models import VOCABULARY, make_model, random_sources, randomize, rows
from hypothesis import given, settings
from hypothesis import strategies as st

from nlp104.data.tokenizer import END_ID, START_ID
from nlp104.decoding.greedy import greedy
from nlp104.decoding.sampling import sample

LENGTH = 8


@pytest.fixture(scope="module")
def model():
    return make_model(seed=1)


def probabilities(model, source, prefix, temperature, top_k, top_p):
    """What `sample` promises for the token after a prefix, in float64."""
    read = np.array([[START_ID, *prefix]], "int32")
    inputs = {"encoder_token_ids": source[None], "decoder_token_ids": read}
    logits = keras.ops.convert_to_numpy(model(inputs))[0, -1].astype("float64") / temperature
    logits[0] = -np.inf
    result = np.exp(logits - logits.max())
    result /= result.sum()
    order = np.argsort(-result)
    result[order[top_k:]] = 0
    result /= result.sum()
    before = np.cumsum(result[order]) - result[order]
    result[order[before >= top_p]] = 0
    return result / result.sum()


def assert_drawn_from(tokens, expected):
    """Pearson's chi-square test, at 5 standard deviations of its statistic."""
    counts = np.bincount(tokens, minlength=len(expected))
    possible = expected > 0
    assert (counts[~possible] == 0).all()
    mean = expected[possible] * len(tokens)
    statistic = ((counts[possible] - mean) ** 2 / mean).sum()
    freedom = possible.sum() - 1
    assert statistic <= freedom + 5 * math.sqrt(2 * freedom)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("temperature", "top_k", "top_p"),
    [(1.0, None, None), (1.7, None, None), (1.0, 5, None), (2.5, None, 0.8), (2.0, 6, 0.7)],
)
def test_frequencies_are_those_of_the_softmax(model, temperature, top_k, top_p):
    source = np.array([5, 9, 4, END_ID], "int32")
    ids = sample(
        model, np.tile(source, (4096, 1)), temperature, top_k, top_p, seed=104, max_length=2
    )
    limits = {"top_k": top_k or VOCABULARY, "top_p": top_p or 1.1}
    assert_drawn_from(ids[:, 0], probabilities(model, source, [], temperature, **limits))
    first = np.bincount(ids[ids[:, 0] != END_ID, 0]).argmax()
    then = ids[ids[:, 0] == first, 1]
    assert_drawn_from(then, probabilities(model, source, [first], temperature, **limits))


def test_the_test_of_frequencies_can_fail(model):
    source = np.array([5, 9, 4, END_ID], "int32")
    ids = sample(model, np.tile(source, (4096, 1)), temperature=1.3, seed=104, max_length=2)
    with pytest.raises(AssertionError):
        assert_drawn_from(ids[:, 0], probabilities(model, source, [], 1.0, VOCABULARY, 1.1))


@pytest.mark.slow
@given(st.integers(0, 1000))
@settings(max_examples=10)
def test_one_choice_or_no_temperature_is_greedy(model, seed):
    randomize(model, seed)
    source = random_sources(seed, batch=4, length=5)
    expected = greedy(model, source, max_length=LENGTH)
    for options in ({"top_k": 1}, {"top_p": 1e-6}, {"temperature": 1e-4}):
        found = sample(model, source, **options, seed=seed, max_length=LENGTH)
        np.testing.assert_array_equal(found, expected)


@pytest.mark.slow
def test_a_seed_decides_the_same_on_every_backend():
    model = make_model(seed=2)
    source = np.array([[5, 9, 4, 3], [11, 3, 0, 0]])
    ids = sample(model, source, temperature=2.0, seed=104, max_length=6)
    assert ids.tolist() == [[10, 10, 5, 9, 5, 4], [5, 5, 11, 4, 11, 6]]


@pytest.mark.slow
def test_seeds_differ_and_the_default_follows_keras(model):
    source = random_sources(3, batch=4, length=5)
    first, again, other = (
        sample(model, source, 2.0, seed=seed, max_length=LENGTH) for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(first, again)
    assert rows(first) != rows(other)
    found = []
    for seed in (1, 1, 2):
        keras.utils.set_random_seed(seed)
        found.append(rows(sample(model, source, 2.0, max_length=LENGTH)))
    assert found[0] == found[1] != found[2]


def test_rows_differ_but_do_not_depend_on_company_or_padding(model):
    source = np.tile(np.array([5, 9, 4, END_ID], "int32"), (6, 1))
    together = rows(sample(model, source, 2.0, seed=5, max_length=LENGTH))
    assert len({tuple(row) for row in together}) > 3
    padded = np.pad(source[:3], ((0, 0), (0, 2)))
    assert rows(sample(model, padded, 2.0, seed=5, max_length=LENGTH)) == together[:3]


def test_form_of_the_result(model):
    ids = sample(model, random_sources(4, batch=8, length=5), 3.0, seed=1, max_length=LENGTH)
    assert ids.shape[0] == 8
    assert ids[:, -1].any()
    for row in rows(ids):
        assert END_ID not in row[:-1]
        assert row[-1] == END_ID or len(row) == LENGTH


@pytest.mark.slow
@pytest.mark.skipif(keras.backend.backend() != "tensorflow", reason="JAX always compiles")
def test_xla_equals_graph(model):
    source = random_sources(5, batch=3, length=5)
    options = {"temperature": 2.0, "top_p": 0.9, "seed": 3, "max_length": LENGTH}
    expected = sample(model, source, **options)
    np.testing.assert_array_equal(sample(model, source, **options, jit_compile=True), expected)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"temperature": 1e-40},
            "`temperature` must be a number of at least 1e-6.* Received: 1e-40",
        ),
        (
            {"temperature": math.nan},
            "`temperature` must be a number of at least 1e-6.* Received: nan",
        ),
        ({"temperature": True}, "`temperature` must be a number of at least 1e-6.* Received: True"),
        ({"temperature": "1"}, "`temperature` must be a number of at least 1e-6.* Received: '1'"),
        ({"top_p": "1"}, "`top_p` must be above 0 and at most 1. Received: '1'"),
        ({"top_k": 0}, "`top_k` must be a positive integer. Received: 0"),
        ({"top_p": 0.0}, "`top_p` must be above 0 and at most 1. Received: 0.0"),
        ({"top_p": 1.5}, "`top_p` must be above 0 and at most 1. Received: 1.5"),
        ({"seed": -1}, "`seed` must be an integer of at least 0. Received: -1"),
        ({"seed": 0.5}, "`seed` must be an integer of at least 0. Received: 0.5"),
        ({"max_length": 0}, "between 1 and .* Received: 0"),
    ],
)
def test_bad_arguments_are_clear_errors(model, options, message):
    with pytest.raises(ValueError, match=message):
        sample(model, np.array([[4, 3]]), **options)


def test_what_is_no_model_is_said_so():
    for options in ({}, {"top_p": 0.9}):
        with pytest.raises(ValueError, match=r"Expected a Transformer or a LanguageModel.*'model'"):
            sample("model", np.array([[4, 3]]), **options)

"""Beam search against brute force and against a plain search without cache and early stop."""

import itertools
import math

import keras
import numpy as np
import pytest
from decoding_models import make_model, random_sources, randomize, rows, traced_shapes
from hypothesis import given, settings
from hypothesis import strategies as st

from nlp104.data.tokenizer import END_ID, PAD_ID, START_ID
from nlp104.decoding.beam_search import beam_search, search
from nlp104.decoding.compiled import EXTRA_LENGTH, run
from nlp104.decoding.greedy import greedy
from nlp104.decoding.sampling import sample
from nlp104.transformer.model import Transformer

VOCABULARY = 6
SOURCE = 5  # one length of source and one of translation: few programs to compile
LENGTH = 7
ALPHAS = st.sampled_from([0.0, 0.6, 1.0, 2.5])


@pytest.fixture(scope="module")
def model():
    return make_model(vocabulary_size=VOCABULARY, num_layers=1)


def sources(seed, batch):
    return random_sources(seed, batch, SOURCE, VOCABULARY)


def always(model, probabilities):
    """Makes a model give the end and the two words these probabilities, whatever it reads."""
    for weight in model.weights:
        weight.assign(np.zeros(weight.shape))
    model.output_head.bias.assign(np.log([1e-9] * END_ID + list(probabilities)))


def log_probabilities(model, source, prefixes, length):
    """log P(next token | source, prefix) in float64, from one run over whole sequences.

    Returns `[prefixes, length, vocabulary]`, padded to `length` so that shapes are few.
    """
    read = np.zeros((len(prefixes), length), "int32")
    for row, prefix in enumerate(prefixes):
        given = (START_ID, *prefix)[:length]
        read[row, : len(given)] = given
    source = np.repeat(source[None], len(prefixes), axis=0)
    logits = model.predict_on_batch({"encoder_token_ids": source, "decoder_token_ids": read})
    logits = logits.astype("float64")
    logits -= logits.max(-1, keepdims=True)
    return logits - np.log(np.exp(logits).sum(-1, keepdims=True))


def score(log_probability, length, alpha):
    return log_probability / ((5 + length) / 6) ** alpha


def ordered(hypotheses, alpha):
    """(tokens, log-probability) to (tokens, score): those that end first, then by score."""
    scored = [(tokens, score(value, len(tokens), alpha)) for tokens, value in hypotheses]
    return sorted(scored, key=lambda item: (item[0][-1] != END_ID, -item[1]))


def all_translations(model, source, length):
    """Every sequence of at most `length` tokens that ends, and every one that is cut off."""
    body = [token for token in range(1, VOCABULARY) if token != END_ID]
    hypotheses = [
        (*tokens, END_ID)
        for number in range(length)
        for tokens in itertools.product(body, repeat=number)
    ]
    hypotheses += itertools.product(body, repeat=length)
    values = log_probabilities(model, source, hypotheses, length)
    return [
        (tokens, sum(row[step, token] for step, token in enumerate(tokens)))
        for tokens, row in zip(hypotheses, values, strict=True)
    ]


def plain_search(model, source, num_beams, alpha, length=LENGTH):
    """Beam search in the words of its definition: no cache, no early stop."""
    hypotheses, finished = [((), 0.0)], []
    for step in range(length):
        prefixes = [tokens for tokens, _ in hypotheses]
        prefixes += [()] * (num_beams - len(prefixes))  # of one shape
        values = log_probabilities(model, source, prefixes, length)[:, step]
        candidates = [
            ((*tokens, token), total + row[token])
            for (tokens, total), row in zip(hypotheses, values, strict=False)
            for token in range(1, VOCABULARY)
        ]
        candidates = sorted(candidates, key=lambda item: -item[1])[:num_beams]
        finished += [item for item in candidates if item[0][-1] == END_ID]
        hypotheses = [item for item in candidates if item[0][-1] != END_ID]
        if not hypotheses:
            break
    return ordered(finished + hypotheses, alpha)


def assert_found(ids, scores, expected):
    """One row's translations and scores are those expected, in their order."""
    found = rows(ids)
    assert found == [list(tokens) for tokens, _ in expected[: len(found)]]
    np.testing.assert_allclose(scores, [value for _, value in expected[: len(found)]], rtol=1e-4)


@pytest.mark.slow
@given(st.integers(0, 1000), ALPHAS)
@settings(max_examples=8)
def test_enough_beams_find_the_best_of_all_translations(model, seed, alpha):
    randomize(model, seed)
    source = sources(seed, batch=2)
    # 64 unfinished beginnings of three tokens with four words each, and their 64 ends.
    ids, scores = beam_search(model, source, 320, alpha, max_length=4, num_best=12)
    for row in range(2):
        real = source[row][source[row] != PAD_ID]
        padded = np.pad(real, (0, SOURCE - len(real)))
        expected = ordered(all_translations(model, padded, length=4), alpha)
        assert_found(ids[row], scores[row], expected)


@pytest.mark.slow
def test_all_translations_can_be_had(model):
    """Complete ones before cut-off ones, and nothing where there is no more."""
    randomize(model, 0)
    source = sources(0, batch=1)
    ids, scores = beam_search(model, source, 30, 0.6, max_length=2, num_best=30)
    expected = ordered(all_translations(model, source[0], length=2), 0.6)
    assert len(expected) == 1 + 4 + 16
    assert_found(ids[0, :21], scores[0, :21], expected)
    assert (ids[0, 21:] == 0).all()
    assert (scores[0, 21:] == -np.inf).all()


@pytest.mark.slow
@given(st.integers(0, 1000), st.sampled_from([2, 4]), ALPHAS)
@settings(max_examples=8)
def test_equals_a_plain_search_that_never_stops_early(model, seed, num_beams, alpha):
    randomize(model, seed)
    source = sources(seed, batch=2)
    ids, scores = beam_search(model, source, num_beams, alpha, LENGTH, num_best=num_beams)
    best = rows(beam_search(model, source, num_beams, alpha, LENGTH))
    for row in range(2):
        expected = plain_search(model, source[row], num_beams, alpha)
        assert_found(ids[row], scores[row], expected)
        assert best[row] == list(expected[0][0])


@given(st.integers(0, 1000), ALPHAS)
@settings(max_examples=15)
def test_one_beam_is_greedy(model, seed, alpha):
    randomize(model, seed)
    source = sources(seed, batch=5)
    found = beam_search(model, source, 1, alpha, max_length=LENGTH)
    np.testing.assert_array_equal(found, greedy(model, source, max_length=LENGTH))


@pytest.mark.slow
@pytest.mark.parametrize(
    "options", [{"tie_embeddings": True}, {"normalize_first": False, "positions": "learned"}]
)
def test_other_models(options):
    model = make_model(seed=3, vocabulary_size=VOCABULARY, **options)
    source = sources(4, batch=2)
    ids, scores = beam_search(model, source, 3, max_length=LENGTH, num_best=3)
    for row in range(2):
        assert_found(ids[row], scores[row], plain_search(model, source[row], 3, 0.6))


@given(st.integers(0, 1000), st.integers(0, 3))
@settings(max_examples=5)
def test_rows_do_not_depend_on_company_or_padding(model, seed, padding):
    """Not even on rows that may become longer."""
    randomize(model, seed)
    source = sources(seed, batch=4)
    options = {"num_beams": 4, "num_best": 4}
    ids, scores = beam_search(model, np.pad(source, ((0, 0), (0, padding))), **options)
    for row in range(4):
        alone = source[row, : np.count_nonzero(source[row])][None]
        one, one_scores = beam_search(model, alone, **options)
        assert rows(one[0]) == rows(ids[row])
        np.testing.assert_allclose(one_scores[0], scores[row], rtol=1e-4)


@given(st.integers(0, 1000))
@settings(max_examples=5)
def test_a_row_that_was_cut_off_finds_no_more_while_others_go_on(model, seed):
    randomize(model, seed)
    source, limits = sources(seed, batch=4), np.array([2, 7, 1, 4], "int32")
    arrays = [source, limits, np.array(0.6, "float32")]
    ids, scores = run(search, model, arrays, LENGTH, False, num_beams=4, num_best=4)
    for row, limit in enumerate(limits.tolist()):
        one, one_scores = beam_search(model, source[row][None], max_length=limit, num_best=4)
        assert rows(one[0]) == rows(ids[row])
        np.testing.assert_allclose(one_scores[0], scores[row], rtol=1e-4)


@pytest.mark.slow
def test_a_row_that_never_ends_is_cut_off(model):
    randomize(model, 5)
    model.output_head.bias.assign(np.where(np.arange(VOCABULARY) == END_ID, -1e9, 0.0))
    source = np.array([[4, 5, 4, 5, END_ID], [4, 5, END_ID, PAD_ID, PAD_ID]])
    ids, scores = beam_search(model, source, num_beams=2, num_best=2)
    limits = np.count_nonzero(source, axis=1) + EXTRA_LENGTH
    assert len(set(limits)) > 1
    for row, limit in enumerate(limits):
        for hypothesis, value in zip(ids[row], scores[row], strict=True):
            assert np.count_nonzero(hypothesis) == limit
            assert END_ID not in hypothesis
            prefix = tuple(hypothesis[:limit])
            log_probs = log_probabilities(model, source[row], [prefix], limits.max())[0]
            total = log_probs[np.arange(limit), hypothesis[:limit]].sum()
            np.testing.assert_allclose(value, score(total, limit, 0.6), rtol=1e-4)


@pytest.mark.slow
def test_a_complete_translation_comes_before_a_better_one_that_was_cut_off(model):
    randomize(model, 6)
    model.output_head.bias.assign(np.where(np.arange(VOCABULARY) == 4, 9.0, 0.0))
    source = sources(6, batch=1)
    # The chain of the likely token scores best, and never ends.
    ids, scores = beam_search(model, source, 40, max_length=3, num_best=40)
    ends = [END_ID in hypothesis for hypothesis in ids[0]]
    assert ends == sorted(ends, reverse=True)
    assert ends[0]
    assert not ends[-1]
    assert scores[0, ends.index(False)] > scores[0, 0]


def test_a_finished_hypothesis_is_never_scored_again(model):
    """The likely end of p = .59 wins over all that goes on, whatever comes after it."""
    always(model, [0.59, 0.3, 0.11])
    ids, scores = beam_search(model, sources(7, 1), 3, 0.0, max_length=6, num_best=3)
    assert rows(ids[0]) == [[END_ID], [4, END_ID], [5, END_ID]]
    np.testing.assert_allclose(scores[0], np.log([0.59, 0.3 * 0.59, 0.11 * 0.59]), rtol=1e-4)


@pytest.mark.skipif(keras.backend.backend() == "jax", reason="the loop's steps cannot be counted")
def test_stops_as_soon_as_nothing_can_change(model, monkeypatch):
    source = keras.ops.convert_to_tensor(sources(8, 2))
    limits = keras.ops.convert_to_tensor(np.array([50, 50], "int32"))
    steps = []
    original = Transformer.decode_step

    def decode_step(self, *arguments):
        steps.append(1)
        return original(self, *arguments)

    monkeypatch.setattr(Transformer, "decode_step", decode_step)
    # The end at once has the score log .3; t times the likely token can reach no more than
    # t log .5 / lp(50), which is less from t = 7 on.
    assert 6 * score(math.log(0.5), 50, 0.6) > math.log(0.3) > 7 * score(math.log(0.5), 50, 0.6)
    for probabilities, expected in (([0.98, 0.01, 0.01], 1), ([0.3, 0.5, 0.2], 7)):
        always(model, probabilities)
        steps.clear()
        search(model, source, limits, 0.6, num_steps=50, num_beams=4, num_best=1)
        assert len(steps) == expected


def test_the_length_penalty_lengthens(model):
    lengths = {0.0: 0, 2.5: 0}
    for seed in range(8):
        randomize(model, seed)
        for alpha in lengths:
            ids = beam_search(model, sources(seed, 4), 5, alpha, max_length=LENGTH)
            lengths[alpha] += np.count_nonzero(ids)
    assert lengths[2.5] > lengths[0.0]


def test_the_largest_penalty_keeps_scores_that_are_numbers(model):
    """Of two translations the scores are in the order of log P / lp, computed in 64 bits."""
    randomize(model, 3)
    found, scores = beam_search(model, sources(3, 2), 4, 10, max_length=LENGTH, num_best=4)
    assert np.isfinite(scores[found.any(-1)]).all()
    for row, one in zip(found, scores, strict=True):
        texts = [tuple(text[text > 0]) for text in row if text.any()]
        assert len(set(texts)) == len(texts) > 1
        ended = [score for text, score in zip(texts, one, strict=False) if text[-1] == END_ID]
        assert ended == sorted(ended, reverse=True)


@pytest.mark.slow
def test_compiles_once_for_many_shapes_and_penalties(monkeypatch):
    traces = traced_shapes(monkeypatch)
    model = make_model(vocabulary_size=VOCABULARY, num_layers=1)
    for batch, length, alpha in ((1, 5, 0.6), (3, 9, 0.0), (4, 11, 1.0), (1, 4, 0.7)):
        source = random_sources(batch, batch, length, VOCABULARY)
        beam_search(model, source, num_beams=2, length_penalty=alpha)
    if keras.backend.backend() == "tensorflow":
        assert traces == [(1, 5), (None, None)]
    elif keras.backend.backend() == "jax":
        assert traces == [(1, 16), (4, 16)]


@pytest.mark.slow
@pytest.mark.skipif(keras.backend.backend() != "tensorflow", reason="JAX always compiles")
def test_xla_equals_graph(model):
    randomize(model, 9)
    source = sources(9, batch=3)
    expected, expected_scores = beam_search(model, source, 3, max_length=LENGTH, num_best=3)
    ids, scores = beam_search(model, source, 3, max_length=LENGTH, num_best=3, jit_compile=True)
    np.testing.assert_array_equal(ids, expected)
    np.testing.assert_allclose(scores, expected_scores, rtol=1e-4)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_beams": 0}, "`num_beams` must be a positive integer. Received: 0"),
        ({"num_beams": 2.0}, "`num_beams` must be a positive integer. Received: 2.0"),
        ({"num_best": 0}, "`num_best` must be a positive integer. Received: 0"),
        ({"num_beams": 3, "num_best": 4}, "`num_best` must be at most num_beams=3. Received: 4"),
        ({"length_penalty": -0.1}, "`length_penalty` must be a number from 0 to 10. .* -0.1"),
        ({"length_penalty": 10.5}, "`length_penalty` must be a number from 0 to 10. .* 10.5"),
        ({"length_penalty": math.nan}, "`length_penalty` must be a number from 0 to 10. .* nan"),
        ({"length_penalty": "1"}, "`length_penalty` must be a number from 0 to 10. .* '1'"),
        ({"length_penalty": None}, "`length_penalty` must be a number from 0 to 10. .* None"),
        (
            {"length_penalty": np.ones(2)},
            "`length_penalty` must be a number from 0 to 10. .* array",
        ),
        ({"max_length": 71}, "between 1 and .* Received: 71"),
    ],
)
def test_bad_arguments_are_clear_errors(model, options, message):
    with pytest.raises(ValueError, match=message):
        beam_search(model, np.array([[4, 3]]), **options)


def test_ids_are_checked(model):
    with pytest.raises(ValueError, match=r"from 0 to 5\. Received: 4 to 6"):
        beam_search(model, np.array([[4, 6]]))


@pytest.fixture
def floatx():
    """What Keras computes in where nothing else is said; changed by a test, put back after it."""
    before = keras.config.floatx()
    yield keras.config.set_floatx
    keras.config.set_floatx(before)


@pytest.mark.parametrize("kind", ["float16", "bfloat16", "float64"])
@pytest.mark.slow
def test_what_keras_computes_in_elsewhere_changes_nothing(kind, floatx):
    def decode():  # a program is kept with its model, whatever Keras computes in
        model = make_model(vocabulary_size=VOCABULARY, num_layers=1)
        floatx(kind if changed else "float32")
        given, options = sources(3, 2), {"max_length": LENGTH, "jit_compile": False}
        found, scores = beam_search(model, given, num_beams=3, num_best=2, **options)
        return found, scores, sample(model, given, seed=1, **options)

    changed = False
    expected, scores, drawn = decode()
    changed = True
    found, again, redrawn = decode()
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_allclose(again, scores, rtol=1e-4)
    np.testing.assert_array_equal(redrawn, drawn)

"""Speculative decoding: the texts of `greedy` and `sample`, whatever a draft proposes."""

import itertools
import json
import math

import keras
import numpy as np
import pytest
from decoding_models import VOCABULARY, make_model, random_sources, randomize, rows
from hypothesis import given, settings
from hypothesis import strategies as st
from keras import ops
from layer_checks import compiled

import nlp104
from nlp104.data.tokenizer import END_ID, START_ID
from nlp104.decoding import NGrams, PromptLookup, greedy, sample, speculate
from nlp104.decoding.sampling import draw
from nlp104.figures import results
from nlp104.transformer.config import TransformerConfig
from nlp104.transformer.language_model import LanguageModel
from nlp104.transformer.model import Transformer

LENGTH = 12
LOOKUP = PromptLookup()


@pytest.fixture(scope="module")
def translator():
    return make_model()


@pytest.fixture(scope="module")
def writer():
    return language_model()


def language_model(vocabulary_size=VOCABULARY, **options):
    config = {"num_layers": 2, "max_sequence_length": 20, "normalize_first": True, **options}
    model = LanguageModel(TransformerConfig(16, 32, 2, vocabulary_size=vocabulary_size, **config))
    randomize(model, 4)
    return model


def prompts(seed, batch):
    """Beginnings of 1 to 7 tokens."""
    rng = np.random.default_rng(seed)
    ids = rng.integers(1, VOCABULARY, (batch, 7)).astype("int32")
    return np.where(np.arange(7) < rng.integers(1, 8, (batch, 1)), ids, 0)


def wrong(tokens, length, number):
    """A draft that is not wrong always, and proposes the end and nothing now and then."""
    last = ops.take(tokens, length - 1)
    return (last * 7 + length * 3 + 5 * ops.arange(number, dtype="int32")) % VOCABULARY


def nothing(tokens, length, number):
    return ops.zeros((number,), dtype="int32")


def asked(draft, tokens, number):
    """What a draft says of a list of tokens, with space behind it that holds rubbish."""
    space = np.array([*tokens, 1, 2, 1], "int32")
    return ops.convert_to_numpy(draft(ops.array(space), len(tokens), number)).tolist()


class TestDrafts:
    def test_prompt_lookup_against_all_places(self):
        rng = np.random.default_rng(0)
        draft = compiled_draft(PromptLookup(), 4)
        for _ in range(100):
            tokens = rng.integers(1, 4, rng.integers(1, 12)).tolist()
            runs = [
                (n, end)
                for end in range(1, len(tokens))
                for n in range(1, min(end, 3) + 1)
                if tokens[end - n : end] == tokens[len(tokens) - n :]
            ]
            expected = list(tokens)
            for i in range(4):
                expected.append(expected[max(runs)[1] + i] if runs else 0)
            assert draft(tokens) == expected[len(tokens) :]

    @pytest.mark.slow
    @pytest.mark.parametrize("longest", [1, 3])
    def test_ngrams_against_counting_by_hand(self, longest):
        rng = np.random.default_rng(1)
        texts = [rng.integers(1, 5, length).tolist() for length in (0, 1, 2, 25, 30)]
        draft = compiled_draft(NGrams(texts, longest), 3)

        def most_frequent(context):
            for n in range(min(longest, len(context)), 0, -1):
                last = context[-n:]
                followed = [t[i] for t in texts for i in range(n, len(t)) if t[i - n : i] == last]
                if followed:
                    return max(followed, key=followed.count)  # the first of equals
            return 0

        for context in itertools.product(range(1, 6), repeat=4):
            expected = list(context)
            for _ in range(3):
                expected.append(most_frequent(expected))
            found = draft(list(context))
            assert found == expected[4:]

    def test_ngrams_know_where_a_text_begins(self):
        draft = NGrams([[5, 6], [9, 5, 7], [9, 5, 7]], longest=2)
        assert asked(draft, [5], 2) == [6, 0]
        assert asked(draft, [9, 5], 1) == asked(draft, [4, 5], 1) == [7]

    def test_bad_arguments_are_clear_errors(self):
        for draft in (PromptLookup, lambda longest: NGrams([[5]], longest)):
            with pytest.raises(ValueError, match="`longest` must be a positive"):
                draft(longest=0)
        with pytest.raises(ValueError, match="Received: no token"):
            NGrams([[], []])


def compiled_draft(draft, number):
    """A draft as `speculate` runs it, in a program, as a function of a list."""
    space = compiled(lambda tokens, length: draft(tokens, length, number))

    def ask(tokens):
        padded = ops.array(np.pad(np.array(tokens, "int32"), (0, 12 - len(tokens))))
        return ops.convert_to_numpy(space(padded, ops.array(len(tokens)))).tolist()

    return ask


class TestGreedy:
    @pytest.mark.slow
    @given(st.integers(0, 1000), st.sampled_from([LOOKUP, wrong]))
    @settings(max_examples=12)
    def test_continuations_are_those_of_greedy(self, writer, seed, draft):
        randomize(writer, seed)
        ids = prompts(seed, 3)
        expected = greedy(writer, ids, max_length=LENGTH)
        found, strides = speculate(writer, ids, draft, max_length=LENGTH)
        np.testing.assert_array_equal(found, expected)
        for row, prompt, passes in zip(rows(found), rows(ids), strides, strict=True):
            assert [t for stride in passes for t in stride.written] == row[len(prompt) :]

    @pytest.mark.slow
    @given(st.integers(0, 1000), st.sampled_from([LOOKUP, wrong]))
    @settings(max_examples=12)
    def test_translations_are_those_of_greedy(self, translator, seed, draft):
        randomize(translator, seed)
        source = random_sources(seed, batch=3, length=7)
        expected = greedy(translator, source, max_length=LENGTH)
        found, _ = speculate(translator, source, draft, max_length=LENGTH)
        np.testing.assert_array_equal(found, expected)

    @pytest.mark.slow
    @pytest.mark.parametrize(
        "options", [{"positions": "learned", "normalize_first": False}, {"positions": "rotary"}]
    )
    def test_other_positions(self, options):
        model, ids = language_model(**options), prompts(7, 4)
        np.testing.assert_array_equal(speculate(model, ids, wrong)[0], greedy(model, ids))

    @pytest.mark.parametrize(("num_drafted", "max_length"), [(4, 20), (30, 20), (10, 8)])
    @pytest.mark.slow
    def test_up_to_the_last_place_there_is(self, writer, num_drafted, max_length):
        randomize(writer, 4)  # other tests change its weights
        ids = prompts(3, 4)
        expected = greedy(writer, ids, max_length=max_length)
        assert expected.shape[1] == max_length
        found, _ = speculate(writer, ids, wrong, num_drafted, max_length=max_length)
        np.testing.assert_array_equal(found, expected)

    def test_a_prompt_that_fills_its_place(self, writer):
        full = np.full((1, writer.max_sequence_length), 5)
        found, strides = speculate(writer, full)
        np.testing.assert_array_equal(found, full)
        assert strides == [[]]

    @pytest.mark.slow
    def test_a_row_of_nothing_but_padding(self, translator):
        source = np.pad(random_sources(10, batch=2, length=5), ((0, 1), (0, 0)))
        np.testing.assert_array_equal(speculate(translator, source)[0], greedy(translator, source))

    @pytest.mark.skipif(keras.backend.backend() != "tensorflow", reason="JAX always compiles")
    def test_xla_equals_graph(self, writer):
        ids = prompts(5, 2)
        options = {"num_drafted": 3, "max_length": LENGTH, "jit_compile": True}
        np.testing.assert_array_equal(
            speculate(writer, ids, wrong, **options)[0], greedy(writer, ids, max_length=LENGTH)
        )

    @pytest.mark.slow
    def test_the_stored_test_sentences_of_the_released_translator(self):
        released = nlp104.load_pretrained("eng-fra")
        files = (json.loads(results.read(f"eng-fra/{name}.json")) for name in ("scores", "samples"))
        sources = sorted({source for file in files for source in file["sources"]})
        encoded = [[*released.source_tokenizer.encode(text), END_ID] for text in sources]
        ids = np.zeros((len(sources), max(map(len, encoded))), "int32")
        for row, tokens in zip(ids, encoded, strict=True):
            row[: len(tokens)] = tokens
        expected = greedy(released.model, ids)
        draft = NGrams([START_ID, *row] for row in rows(expected)[::2])
        found, strides = speculate(released.model, ids, draft)
        np.testing.assert_array_equal(found, expected)
        assert len(sources) > 50
        assert sum(map(len, strides)) < 0.75 * np.count_nonzero(expected)  # passes


class TestPasses:
    """What the strides tell, and how many there are."""

    @pytest.mark.slow
    @pytest.mark.parametrize("num_drafted", [1, 5])
    def test_who_knows_the_text_needs_the_fewest(self, translator, num_drafted):
        source = random_sources(1, batch=1, length=7)
        (text,) = rows(greedy(translator, source, max_length=LENGTH))
        known = np.pad(np.array(text, "int32"), (0, 9))

        def oracle(tokens, length, number):
            return ops.take(known, length - 1 + ops.arange(number))

        _, (strides,) = speculate(translator, source, oracle, num_drafted, max_length=LENGTH)
        assert len(strides) == math.ceil(len(text) / (num_drafted + 1))
        assert all(stride.accepted == len(stride.drafted) for stride in strides)

    @pytest.mark.slow
    def test_without_a_guess_every_token_is_a_pass(self, translator):
        source = random_sources(1, batch=3, length=7)
        found, strides = speculate(translator, source, nothing, max_length=LENGTH)
        assert [len(passes) for passes in strides] == [len(row) for row in rows(found)]

    def test_a_prompt_is_read_in_passes_of_the_same_width(self, writer):
        ids = np.array([[5, 9, 4, 7, 8, 6, 6, 5, 4, 4]])
        found, (strides,) = speculate(writer, ids, nothing, 3, max_length=13)
        written = [len(stride.written) for stride in strides]
        assert written[:3] == [0, 0, 1]  # 4, 4 and 2 tokens
        assert sum(written) == len(rows(found)[0]) - 10

    def test_each_keeps_the_longest_right_beginning(self, writer):
        ids = prompts(11, 6)
        found, strides = speculate(writer, ids, wrong, max_length=LENGTH)
        accepted = []
        for row, prompt, passes in zip(rows(found), rows(ids), strides, strict=True):
            place = len(prompt)
            for drafted, count, written in passes:
                assert list(drafted[:count]) == row[place : place + count]
                if (
                    count < len(drafted)
                    and place + count < len(row)
                    and END_ID not in drafted[:count]
                ):
                    assert drafted[count] != row[place + count]
                    assert len(written) == count + 1
                accepted.append(count)
                place += len(written)
        assert {0, 1} <= set(accepted)


@pytest.mark.parametrize("kind", [LanguageModel, Transformer])
def test_what_was_rejected_is_not_looked_at(kind, writer, translator):
    """A cache full of rubbish from a position on gives the logits of one that is empty there."""
    if kind is LanguageModel:
        step, cache = writer.decode_step, writer.start_cache(1, 10)
    else:
        step = translator.decode_step
        cache = translator.start_cache(translator.encode(random_sources(0, 1, 5)), 10)
    _, cache = step(np.array([[5, 6, 7]]), 0, cache)
    late = np.arange(10)[:, None, None] >= 3
    spoiled = tuple(
        layer._replace(
            keys=ops.where(late, 50.0, layer.keys), values=ops.where(late, 1e4, layer.values)
        )
        for layer in cache
    )
    for tokens in ([[8]], [[8, 9, 4]]):
        clean, found = (step(np.array(tokens), 3, kept)[0] for kept in (cache, spoiled))
        np.testing.assert_array_equal(*map(ops.convert_to_numpy, (found, clean)))


class TestSampling:
    @pytest.mark.slow
    @pytest.mark.parametrize("options", [{}, {"top_k": 6, "top_p": 0.8}])
    def test_a_seed_gives_the_texts_of_sample(self, writer, translator, options):
        model, ids = (translator, random_sources(1, 4, 6)) if options else (writer, prompts(1, 4))
        for seed in (1, 2):
            settings = {**options, "temperature": 2.0, "seed": seed, "max_length": LENGTH}
            expected = sample(model, ids, **settings)
            np.testing.assert_array_equal(speculate(model, ids, wrong, **settings)[0], expected)

    @pytest.mark.parametrize(
        ("temperature", "top_k", "top_p"), [(1.0, None, 1.0), (0.7, 3, 1.0), (1.6, 5, 0.8)]
    )
    def test_a_guess_is_kept_with_its_probability(self, temperature, top_k, top_p):
        """Of random numbers spread evenly, the share that draws x is p(x), for every x."""
        logits = np.random.default_rng(0).normal(0, 1.5, 6)
        p = np.exp(logits / temperature)
        p[np.argsort(-p)[top_k or 6 :]] = 0
        p /= p.sum()
        order = np.argsort(-p)
        p[order[np.cumsum(p[order]) - p[order] >= top_p]] = 0
        p /= p.sum()
        number = 20_000
        even = ((np.arange(number) + 0.5) / number).astype("float32")
        many = np.tile(logits.astype("float32"), (number, 1))
        drawn = ops.convert_to_numpy(
            draw(ops.array(many), ops.array(even), temperature, top_p, top_k)
        )
        shares = np.bincount(drawn, minlength=6) / number
        np.testing.assert_allclose(shares, p, atol=2 / number)
        # Kept with p(x), or else drawn from the others: p, whatever was guessed.
        for x in range(6):
            others = np.where(np.arange(6) == x, 0, p)
            law = p[x] * np.eye(6)[x] + (1 - p[x]) * others / max(others.sum(), 1e-300)
            np.testing.assert_allclose(law, p, atol=1e-15)

    @pytest.mark.slow
    def test_whole_texts_have_the_probabilities_that_the_model_gives_them(self):
        """Pearson's chi-square test over all texts of three tokens, at 5 standard deviations."""
        model, begin, longest = language_model(vocabulary_size=6), 4, 4
        texts = [
            text
            for length in (2, 3, 4)
            for text in itertools.product([begin], *[range(1, 6)] * (length - 1))
            if END_ID not in text[1:-1] and (text[-1] == END_ID or length == longest)
        ]
        ids = np.zeros((len(texts), longest), "int32")
        for row, text in zip(ids, texts, strict=True):
            row[: len(text)] = text
        logits = ops.convert_to_numpy(model(ids)).astype("float64")[:, :, 1:] / 1.5
        log_p = logits - np.log(np.exp(logits).sum(-1, keepdims=True))
        taken = np.take_along_axis(log_p[:, :-1], np.maximum(ids[:, 1:, None] - 1, 0), -1)[..., 0]
        expected = np.exp(np.where(ids[:, 1:] > 0, taken, 0).sum(-1))
        assert expected.sum() == pytest.approx(1, abs=1e-6)
        number = 400
        found, strides = speculate(
            model,
            np.full((number, 1), begin),
            lambda tokens, length, n: ops.array([4, 5, 1, 2], "int32")[:n],
            temperature=1.5,
            seed=104,
            max_length=longest,
        )
        counted = [tuple(row) for row in rows(found)]
        counts = np.array([counted.count(text) for text in texts])
        assert counts.sum() == number
        rare = expected * number < 5
        counts = np.append(counts[~rare], counts[rare].sum())
        mean = np.append(expected[~rare], expected[rare].sum()) * number
        statistic = ((counts - mean) ** 2 / mean).sum()
        assert statistic <= len(mean) - 1 + 5 * math.sqrt(2 * len(mean))
        assert len(mean) > 15
        accepted = {stride.accepted for passes in strides for stride in passes}
        assert {0, 1, 2} <= accepted  # the guesses are neither always right nor never


@pytest.mark.parametrize("kind", [LanguageModel, Transformer])
@pytest.mark.slow
def test_a_guess_that_is_no_token_is_never_right(kind, writer, translator):
    def foreign(tokens, length, number):  # another one first at every length
        return ops.take([VOCABULARY, 10**6, -1], (length + ops.arange(number)) % 3)

    model = writer if kind is LanguageModel else translator
    given = prompts(3, 3) if kind is LanguageModel else random_sources(3, 3, 7)
    expected = greedy(model, given, max_length=LENGTH)
    found, strides = speculate(model, given, foreign, max_length=LENGTH)
    np.testing.assert_array_equal(found, expected)
    assert {stride.drafted for passes in strides for stride in passes} == {()}


@pytest.mark.parametrize("texts", [[1, 2, 3], [[5.5, 6.0]], ["abc"], [[[1, 2], [3, 4]]]])
def test_what_is_no_text_of_tokens_is_not_counted(texts):
    with pytest.raises(ValueError, match=r"^Expected a sequence of integers for each text\. Rec"):
        NGrams(texts)


def test_longer_texts_need_no_new_program(monkeypatch):
    traces = []
    original = LanguageModel.decode_step

    def decode_step(self, token_ids, *arguments, **options):
        traces.append(tuple(token_ids.shape))
        return original(self, token_ids, *arguments, **options)

    model = language_model()
    monkeypatch.setattr(LanguageModel, "decode_step", decode_step)
    for length in (5, 8, 11, 13):
        speculate(model, np.array([[5, 6]]), max_length=length)
    if keras.backend.backend() == "tensorflow":
        assert traces == [(1, 5), (1, 5)]  # as it stands, and then traced
    elif keras.backend.backend() == "jax":
        assert traces == [(1, 5)]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_drafted": 0}, "`num_drafted` must be a positive integer. Received: 0"),
        ({"top_k": 3}, "Expected a `temperature` with .* Received: top_k=3, top_p=None, seed=None"),
        ({"temperature": 0}, "`temperature` must be a number of at least 1e-6"),
        ({"temperature": 1, "top_p": 2}, "`top_p` must be above 0"),
        ({"max_length": 0}, "between 1 and .* Received: 0"),
    ],
)
def test_bad_arguments_are_clear_errors(writer, options, message):
    with pytest.raises(ValueError, match=message):
        speculate(writer, np.array([[4, 5]]), **{"max_length": 6, **options})


def test_what_cannot_write_says_so():
    model = LanguageModel(TransformerConfig(8, 16, 2, vocabulary_size=9), causal=False)
    with pytest.raises(ValueError, match="Only a causal language model"):
        speculate(model, np.array([[4, 5]]))


@pytest.mark.parametrize("order", [(2, np.int64(2)), (np.int64(2), 2)], ids=["after", "before"])
@pytest.mark.slow
def test_numbers_of_numpy_are_numbers(order):
    """In either order: a program is kept for the number that it was made with."""
    model, ids = language_model(num_layers=1), np.array([[START_ID, 5]])
    expected = greedy(model, ids, max_length=LENGTH)
    for number in order:
        options = {"num_drafted": number, "max_length": LENGTH, "jit_compile": True}
        np.testing.assert_array_equal(speculate(model, ids, LOOKUP, **options)[0], expected)


@pytest.mark.parametrize("draft", [None, "x", [5]])
def test_a_draft_is_a_function(draft):
    with pytest.raises(ValueError, match="Expected as `draft` a function"):
        speculate(make_model(), [[5, 6, 3]], draft)

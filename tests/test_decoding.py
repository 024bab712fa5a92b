"""Greedy decoding against a naive loop that runs the whole model on every prefix."""

import gc
import weakref
from functools import partial

import keras
import numpy as np
import pytest
from decoding_models import VOCABULARY, make_model, random_sources, rows, traced_shapes
from hypothesis import given, settings
from hypothesis import strategies as st

from nlp104.data.tokenizer import END_ID, PAD_ID, START_ID
from nlp104.decoding.beam_search import beam_search
from nlp104.decoding.compiled import EXTRA_LENGTH
from nlp104.decoding.greedy import greedy
from nlp104.decoding.sampling import sample
from nlp104.encoding.embedding import TokenAndPositionEmbedding
from nlp104.transformer.config import TransformerConfig
from nlp104.transformer.language_model import LanguageModel
from nlp104.transformer.model import Transformer


@pytest.fixture(scope="module")
def model():
    return make_model()


def naive(model, source, max_length):
    """Greedy decoding of one sentence that runs the whole model again for every token."""
    source = source[source != PAD_ID][None]
    read = np.zeros((1, max_length), "int32")
    read[0, 0] = START_ID
    written = []
    for step in range(max_length):
        inputs = {"encoder_token_ids": source, "decoder_token_ids": read}
        scores = model.predict_on_batch(inputs)[0, step]  # compiled
        scores[PAD_ID] = -np.inf
        written.append(int(scores.argmax()))
        if written[-1] == END_ID:
            break
        read[0, step + 1 : step + 2] = written[-1]
    return written


def test_equals_naive_decoding(model):
    source = random_sources(1, batch=6, length=7)
    expected = [naive(model, row, max_length=12) for row in source]
    assert rows(greedy(model, source, max_length=12)) == expected
    # The example is worth something: translations differ, some end and some are cut off.
    assert len({tuple(row) for row in expected}) > 3
    assert max(len(set(row)) for row in expected) > 3
    assert len({row[-1] == END_ID for row in expected}) == 2


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [
        {"tie_embeddings": True},
        {"normalize_first": False, "positions": "learned"},
        {"source_vocabulary_size": 20, "dropout": 0.5},
    ],
    ids=lambda options: "-".join(options),
)
def test_equals_naive_decoding_for_other_models(options):
    model = make_model(seed=3, **options)
    source = random_sources(2, batch=3, length=5)
    expected = [naive(model, row, max_length=8) for row in source]
    assert rows(greedy(model, source, max_length=8)) == expected


@pytest.mark.slow
def test_length_limit_depends_on_the_row_alone(model):
    """A translation that does not end stops 50 tokens after its source, whatever the company."""
    weights = model.get_weights()
    endless = make_model()
    endless.set_weights(weights)
    endless.output_head.bias.assign(np.where(np.arange(VOCABULARY) == END_ID, -1e9, 0.0))
    source = random_sources(3, batch=3, length=9)
    lengths = [len(row) for row in rows(greedy(endless, source))]
    assert lengths == [n + EXTRA_LENGTH for n in np.count_nonzero(source, axis=1)]
    assert len(set(lengths)) > 1
    long = np.full((1, 65), 4)
    assert greedy(endless, long).shape == (1, endless.max_sequence_length)


@pytest.mark.slow
@given(st.integers(0, 1000), st.integers(1, 5), st.integers(1, 6), st.integers(0, 3))
@settings(max_examples=15)
def test_rows_do_not_depend_on_company_or_padding(model, seed, batch, length, padding):
    source = random_sources(seed, batch, length)
    together = rows(greedy(model, np.pad(source, ((0, 0), (0, padding)))))
    assert together == [
        rows(greedy(model, row[None][:, : np.count_nonzero(row)]))[0] for row in source
    ]


def test_form_of_the_result(model):
    ids = greedy(model, random_sources(4, batch=5, length=6).tolist(), max_length=10)
    assert ids.shape[0] == 5
    assert ids.shape[1] <= 10
    assert ids[:, -1].any()  # no column of nothing but padding
    assert np.issubdtype(ids.dtype, np.integer)
    for row in rows(ids):
        assert END_ID not in row[:-1]


@pytest.mark.slow
def test_never_writes_padding():
    model = make_model()
    model.output_head.bias.assign(np.where(np.arange(VOCABULARY) == PAD_ID, 1e6, 0.0))
    for row in rows(greedy(model, random_sources(5, batch=3, length=4), max_length=6)):
        assert len(row) == 6 or row[-1] == END_ID


@pytest.mark.slow
def test_sees_updated_weights(model):
    model = make_model()
    source = random_sources(6, batch=2, length=4)
    before = greedy(model, source, max_length=5)
    model.output_head.bias.assign(np.where(np.arange(VOCABULARY) == 7, 1e6, 0.0))
    assert (before != 7).any()
    assert (greedy(model, source, max_length=5) == 7).all()


@pytest.mark.slow
def test_models_do_not_share_programs():
    first, second = make_model(seed=1), make_model(seed=2)
    (source,) = random_sources(7, batch=1, length=4)
    expected = [naive(model, source, max_length=6) for model in (first, second)]
    assert expected[0] != expected[1]
    for number in (0, 1, 0):
        written = greedy((first, second)[number], source[None], max_length=6)
        assert rows(written) == [expected[number]]


@pytest.mark.slow
def test_compiles_once_for_many_shapes(monkeypatch):
    """TensorFlow traces once, when asked again; where shapes are compiled, they are rounded up."""
    traces = traced_shapes(monkeypatch)
    model = make_model()
    for batch, length in ((1, 5), (3, 9), (4, 11), (3, 6), (1, 4)):
        greedy(model, random_sources(batch, batch, length))
    if keras.backend.backend() == "tensorflow":
        assert traces == [(1, 5), (None, None)]
    elif keras.backend.backend() == "jax":
        assert traces == [(1, 16), (4, 16)]


@pytest.mark.parametrize("search", [greedy, beam_search, partial(sample, seed=104)])
@pytest.mark.slow
def test_the_traced_program_writes_what_was_written_without(search):
    model, source = make_model(), random_sources(5, 4, 9)
    first, second, third = (search(model, source, max_length=12) for _ in range(3))
    np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(first, third)


@pytest.mark.slow
@pytest.mark.skipif(keras.backend.backend() != "tensorflow", reason="JAX always compiles")
def test_xla_equals_graph(model):
    source = random_sources(8, batch=3, length=6)
    expected = greedy(model, source, max_length=9)
    np.testing.assert_array_equal(greedy(model, source, max_length=9, jit_compile=True), expected)


@pytest.mark.slow
def test_a_program_does_not_keep_its_model():
    model = make_model()
    greedy(model, random_sources(9, batch=1, length=3), max_length=3)
    reference = weakref.ref(model)
    del model
    gc.collect()
    assert reference() is None


@pytest.mark.parametrize("search", [greedy, sample, partial(beam_search, num_beams=2)])
@pytest.mark.slow
def test_the_embeddings_are_transposed_once_and_not_in_every_step(search, monkeypatch):
    """XLA would copy all of them each time, which takes as long as the rest of a step."""
    made, original = [], TokenAndPositionEmbedding.transposed

    def transposed(self):
        made.append(self)
        return original(self)

    model = make_model(tie_embeddings=True)
    monkeypatch.setattr(TokenAndPositionEmbedding, "transposed", transposed)
    search(model, random_sources(2, batch=2, length=5), max_length=12)
    assert len(made) == 1


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        (np.zeros((0, 4), "int32"), "at least one row"),
        (np.zeros((2, 0), "int32"), "at least one row"),
        (np.array([4, 3]), r"shape \[2\]"),
        (np.array([[4.0, 3.0]]), "float64"),
        (np.array([[4, VOCABULARY]]), r"from 0 to 12\. Received: 4 to 13"),
        (np.array([[-1, 3]]), r"from 0 to 12\. Received: -1 to 3"),
        ([[4, 3], [3]], "filled up with 0. Received: rows of different lengths"),
        (np.full((1, 71), 4), r"at most max_sequence_length=70 tokens in a row\. Received: 71"),
    ],
)
def test_bad_ids_are_clear_errors(model, ids, message):
    with pytest.raises(ValueError, match=message):
        greedy(model, ids)


@pytest.mark.parametrize("max_length", [0, -1, 71, 2.0, 2.5, True, "3"])
def test_bad_max_length_is_a_clear_error(model, max_length):
    with pytest.raises(
        ValueError,
        match=f"`max_length` must be an integer between 1 and .* Received: {max_length!r}",
    ):
        greedy(model, np.array([[4, 3]]), max_length=max_length)


@pytest.mark.parametrize("search", [greedy, partial(sample, seed=1)])
@pytest.mark.parametrize("jit_compile", [False, True])
def test_a_prompt_that_is_as_long_as_it_may_be_stays_as_it_is(search, jit_compile):
    config = TransformerConfig(16, 32, 2, num_layers=1, vocabulary_size=VOCABULARY)
    writer = LanguageModel(config)
    for prompt in ([[5], [7]], [[5, 6], [7, 0]]):
        length = len(prompt[0])
        for _ in range(2):  # the second call is traced
            found = search(writer, np.array(prompt), max_length=length, jit_compile=jit_compile)
            assert found.shape == (2, length)
            assert found[:, 0].tolist() == [5, 7]


def test_a_row_of_nothing_but_padding_disturbs_no_other(model):
    source = random_sources(10, batch=2, length=5)
    with_empty = np.concatenate([source, np.zeros((1, 5), "int32")])
    assert rows(greedy(model, with_empty))[:2] == rows(greedy(model, source))


@pytest.mark.parametrize("search", [greedy, sample, beam_search])
def test_what_is_no_model_is_refused(search):
    with pytest.raises(ValueError, match="Expected a Transformer or a LanguageModel"):
        search(keras.Sequential(), [[5, 6, 3]])


def test_a_vocabulary_without_a_start_is_refused():
    """It was looked up outside of the embedding."""
    sizes = {"vocabulary_size": 2, "source_vocabulary_size": 9}
    model = Transformer(TransformerConfig(8, 16, 2, num_layers=1, **sizes))
    with pytest.raises(ValueError, match=r"\[START\] is 2\. Received: vocabulary_size=2"):
        greedy(model, np.array([[5, 3]]))

"""The language model against a stack of Keras' own layers, and what must hold of it."""

import math

import keras
import numpy as np
import pytest
from decoding_models import VOCABULARY, randomize, rows
from keras import ops
from layer_checks import LOOKS_AT_IDS, compiled

from nlp104.data.tokenizer import END_ID
from nlp104.decoding.beam_search import beam_search
from nlp104.decoding.greedy import greedy
from nlp104.decoding.sampling import sample
from nlp104.encoding.positions import sinusoidal_positions
from nlp104.training.optimizer import compile_model
from nlp104.transformer.config import TransformerConfig
from nlp104.transformer.language_model import LanguageModel
from nlp104.transformer.presets import PRESETS

CONFIG = {
    "hidden_dim": 16,
    "intermediate_dim": 32,
    "num_heads": 2,
    "num_layers": 2,
    "vocabulary_size": VOCABULARY,
    "max_sequence_length": 20,
}
PROMPTS = np.array([[5, 9, 4, 7, 8], [11, 6, 0, 0, 0], [12, 0, 0, 0, 0], [7, 7, 10, 0, 0]])


def make_model(seed=0, **options):
    model = LanguageModel.from_config({**CONFIG, "normalize_first": True, **options})
    randomize(model, seed)
    return model


@pytest.fixture(scope="module")
def model():
    return make_model()


def token_ids(*shape, seed=0):
    return np.random.default_rng(seed).integers(1, VOCABULARY, shape).astype("int32")


def to_numpy(tensor):
    return ops.convert_to_numpy(tensor)


def by_keras(model, ids):
    """The same logits from layers of Keras, which get the model's weights."""

    def normalize(x, weights):
        layer = keras.layers.LayerNormalization(epsilon=1e-6)
        layer.build(x.shape)
        layer.set_weights(weights)
        return layer(x)

    def residual(x, part, sub_layer):
        weights = part.normalization.get_weights()
        if model.config.normalize_first:
            return x + sub_layer(normalize(x, weights))
        return normalize(x + sub_layer(x), weights)

    def attention(x, weights):
        layer = keras.layers.MultiHeadAttention(2, 8)
        layer.build(x.shape, x.shape)
        layer.set_weights(weights)
        mask = (ids != 0)[:, None, :]
        return layer(x, x, attention_mask=mask, use_causal_mask=model.causal)

    def feed_forward(x, weights):
        layers = [keras.layers.Dense(32, activation="relu"), keras.layers.Dense(16)]
        network = keras.Sequential(layers)
        network.build(x.shape)
        network.set_weights(weights)
        return network(x)

    matrix = model.embedding.get_weights()[0]
    x = matrix[ids] * math.sqrt(16) + sinusoidal_positions(ids.shape[1], 16)
    x = ops.convert_to_tensor(x, "float32")
    for block in model.encoder.blocks:
        weights = block.attention.get_weights()
        x = residual(x, block.attention_residual, lambda x, w=weights: attention(x, w))
        weights = block.feed_forward.get_weights()
        x = residual(x, block.feed_forward_residual, lambda x, w=weights: feed_forward(x, w))
    if model.config.normalize_first:
        x = normalize(x, model.encoder.normalization.get_weights())
    *kernel, bias = model.output_head.get_weights()
    return to_numpy(x) @ (kernel[0] if kernel else matrix.T) + bias


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("options", [{"tie_embeddings": True}, {"normalize_first": False}])
def test_equals_a_stack_of_keras_layers(causal, options):
    model = make_model(causal=causal, **options)
    head = model.output_head.get_weights()
    assert len(head) == (1 if options.get("tie_embeddings") else 2)
    ids = token_ids(2, 5)
    ids[1, 3:] = 0
    real = ids != 0
    logits = to_numpy(compiled(model)(ids))
    np.testing.assert_allclose(logits[real], by_keras(model, ids)[real], atol=1e-4)


class TestWhatMovesTheLogits:
    @pytest.mark.parametrize("seed", range(3))
    def test_a_causal_model_does_not_see_its_future(self, model, seed):
        ids, call = token_ids(2, 6, seed=seed), compiled(model)
        before = to_numpy(call(ids))
        for place in range(6):
            changed = ids.copy()
            changed[:, place] = ids[:, place] % (VOCABULARY - 1) + 1
            moved = np.abs(to_numpy(call(changed)) - before).max(axis=-1)
            assert moved[:, :place].max(initial=0) < 1e-5
            assert (moved[:, place:] > 1e-4).all()

    def test_without_the_mask_every_place_sees_every_other(self):
        model, ids = make_model(causal=False), token_ids(2, 6)
        before = to_numpy(compiled(model)(ids))
        changed = ids.copy()
        changed[:, -1] = ids[:, -1] % (VOCABULARY - 1) + 1
        assert (np.abs(to_numpy(compiled(model)(changed)) - before).max(-1) > 1e-4).all()

    @pytest.mark.parametrize("causal", [True, False])
    def test_padding_does_not(self, causal):
        model, ids = make_model(causal=causal), token_ids(2, 5)
        expected = to_numpy(compiled(model)(ids))
        padded = np.pad(ids, ((0, 0), (0, 3)))
        np.testing.assert_allclose(to_numpy(compiled(model)(padded))[:, :5], expected, atol=1e-5)

    @pytest.mark.parametrize("causal", [True, False])
    def test_attention_scores(self, causal):
        ids = token_ids(2, 5)
        ids[1, 3:] = 0
        allowed = np.tile((ids != 0)[:, None, None, :], (1, 2, 5, 1))
        if causal:
            allowed &= np.tril(np.ones((5, 5), bool))
        scores = make_model(causal=causal).attention_scores(ids)
        assert len(scores) == 2
        for weights in map(to_numpy, scores):
            np.testing.assert_array_equal(weights > 0, allowed)
            np.testing.assert_allclose(weights.sum(axis=-1), 1, rtol=1e-5)


@pytest.mark.parametrize(
    "options",
    [
        {"tie_embeddings": True},
        {"normalize_first": False, "positions": "learned"},
        {"positions": "rotary"},
    ],
)
def test_step_by_step_gives_the_logits_of_the_whole(options):
    model, ids = make_model(seed=1, **options), token_ids(2, 5)
    whole, cache = to_numpy(compiled(model)(ids)), model.start_cache(2, max_length=7)
    for step in range(5):
        logits, cache = compiled(model.decode_step)(ids[:, step : step + 1], step, cache)
        np.testing.assert_allclose(to_numpy(logits)[:, 0], whole[:, step], atol=1e-4)
    # The same in two strides; the second reads a token again, and some beyond the space, which is
    # refused only where the step is known before the model runs.
    for start, stop in ((0, 3), (2, 5)):
        tokens = np.pad(ids[:, start:stop], ((0, 0), (0, 4 * (stop == 5))))
        step = ops.convert_to_tensor(start, "int32")
        logits, cache = compiled(model.decode_step)(tokens, step, cache)
        found = to_numpy(logits)[:, : stop - start]
        np.testing.assert_allclose(found, whole[:, start:stop], atol=1e-4)


class TestDecoding:
    @staticmethod
    def naive(model, prompt, max_length):
        """Greedy continuation of one prompt; runs the whole model again for every token."""
        row = [int(token) for token in prompt if token]
        while len(row) < max_length:
            read = np.pad([row], ((0, 0), (0, max_length - len(row))))  # one shape to compile
            logits = model.predict_on_batch(read)[0, len(row) - 1]
            logits[0] = -np.inf
            row.append(int(logits.argmax()))
            if row[-1] == END_ID:
                break
        return row

    @pytest.mark.slow
    @pytest.mark.parametrize("options", [{}, {"tie_embeddings": True, "positions": "rotary"}])
    def test_greedy_equals_the_naive_loop(self, options):
        model = make_model(seed=4, **options)
        expected = [self.naive(model, prompt, 12) for prompt in PROMPTS]
        written = greedy(model, PROMPTS, max_length=12)
        assert rows(written) == expected
        assert np.issubdtype(written.dtype, np.integer)
        # The example is worth something: continuations differ.
        assert len({tuple(row[-4:]) for row in expected}) > 2

    def test_it_ends_at_end_but_not_in_a_prompt(self):
        model = make_model(seed=4)
        model.output_head.bias.assign(np.where(np.arange(VOCABULARY) == END_ID, 1e6, 0.0))
        written = rows(greedy(model, np.array([[5, END_ID, 6], [7, 0, 0]])))
        assert written == [[5, END_ID, 6, END_ID], [7, END_ID]]

    @pytest.mark.slow
    def test_a_row_stops_50_tokens_behind_its_prompt_or_where_the_model_does(self):
        model = make_model(max_sequence_length=54)
        model.output_head.bias.assign(np.where(np.arange(VOCABULARY) == 6, 1e6, 0.0))
        lengths = [len(row) for row in rows(greedy(model, PROMPTS))]
        assert lengths == [54, 52, 51, 53]
        full = token_ids(1, 54)
        np.testing.assert_array_equal(greedy(model, full), full)  # there is no room for more

    def test_rows_do_not_depend_on_company_or_padding(self, model):
        together = rows(sample(model, PROMPTS, 2.0, seed=1, max_length=12))
        padded = np.pad(PROMPTS[:2], ((0, 0), (0, 4)))
        assert rows(sample(model, padded, 2.0, seed=1, max_length=12)) == together[:2]

    @pytest.mark.slow
    @pytest.mark.skipif(keras.backend.backend() != "tensorflow", reason="JAX always compiles")
    def test_xla_equals_graph(self, model):
        expected = greedy(model, PROMPTS, max_length=9)
        found = greedy(model, PROMPTS, max_length=9, jit_compile=True)
        np.testing.assert_array_equal(found, expected)

    @pytest.mark.parametrize(
        ("ids", "options", "message"),
        [
            ([[0, 5]], {}, "at least one token each.*a row that begins with 0"),
            ([[5, 6], [0, 0]], {}, "at least one token each"),
            ([[5, 0, 6]], {}, "padded with 0 at the end.*has a token after a 0"),
            ([[5, 6, 7]], {"max_length": 2}, "at most max_length=2 tokens. Received: one of 3"),
            ([[5, 13]], {}, r"from 0 to 12\. Received: 5 to 13"),
            ([[5]], {"max_length": 21}, r"between 1 and .*=20\. Received: 21"),
        ],
    )
    def test_bad_prompts_are_clear_errors(self, model, ids, options, message):
        with pytest.raises(ValueError, match=message):
            greedy(model, np.array(ids), **options)

    def test_what_cannot_write_says_so(self, model):
        with pytest.raises(ValueError, match="Only a causal language model"):
            greedy(make_model(causal=False), PROMPTS)
        with pytest.raises(ValueError, match="expected a Transformer"):
            beam_search(model, PROMPTS)


@pytest.mark.parametrize("options", [{}, {"causal": False, "tie_embeddings": True}])
def test_saved_and_loaded_gives_identical_outputs(options, tmp_path):
    model = make_model(**options)
    model.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    assert type(loaded) is LanguageModel
    assert loaded.get_config() == model.get_config()
    assert loaded.causal == options.get("causal", True)
    ids = token_ids(2, 5)
    np.testing.assert_array_equal(to_numpy(compiled(loaded)(ids)), to_numpy(compiled(model)(ids)))


@pytest.mark.slow
def test_learns_two_rows_by_heart():
    """In compiled steps that reach every weight, and with a label of 0 that counts nothing."""
    ids = np.array([[5, 6, 7, 8, 9, 5], [6, 5, 8, 8, 0, 0]])
    model = LanguageModel(TransformerConfig(**{**CONFIG, "num_layers": 1}, tie_embeddings=True))
    before = model.get_weights()
    compile_model(model, learning_rate=0.02, label_smoothing=0.0)
    inputs, labels = np.tile(ids[:, :-1], (80, 1)), np.tile(ids[:, 1:], (80, 1))
    model.fit(inputs, labels, batch_size=2, shuffle=False, verbose=0)
    loss, accuracy = model.evaluate(ids[:, :-1], ids[:, 1:], verbose=0)
    assert loss < 0.7  # what follows [6, 5] and [5, 6] differs, the first token of a row is free
    assert accuracy == 1.0
    for variable, old in zip(model.weights, before, strict=True):
        # A key's bias adds the same to all scores of a query, which the softmax does not feel.
        assert variable.name == "key_bias" or (to_numpy(variable) != old).any(), variable.path


def test_parameters_in_closed_form():
    """Per layer attention 4 (d² + d), feed-forward 2 d f + f + d, two normalisations of 2 d."""
    d, f, layers = (PRESETS["tiny"][n] for n in ("hidden_dim", "intermediate_dim", "num_layers"))
    stack = layers * (4 * (d * d + d) + 2 * d * f + f + d + 4 * d)
    model = LanguageModel.from_preset("tiny", 100, tie_embeddings=True)
    assert model.count_params() == stack + 100 * d + 100
    assert model.compute_output_shape((None, 7)) == (None, 7, 100)
    model.build((None, 7))  # once more changes nothing
    assert model.count_params() == stack + 100 * d + 100


@pytest.mark.parametrize("dtype", ["float32", "mixed_float16", "bfloat16", "float64"])
def test_symbolic_logits_are_what_the_call_gives(dtype):
    model = LanguageModel(TransformerConfig(8, 16, 2, num_layers=1, vocabulary_size=9), dtype=dtype)
    symbolic = model(keras.Input((None,), dtype="int32"))
    assert (symbolic.shape, symbolic.dtype) == ((None, None, 9), "float32")
    logits = model(np.array([[5, 6, 7]]))
    assert keras.backend.standardize_dtype(logits.dtype) == "float32"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"vocabulary_size": None}, "TransformerConfig with a `vocabulary_size`"),
        ({"source_vocabulary_size": 9}, "expected no `source_vocabulary_size`. Received: 9"),
        ({"causal": "no"}, "`causal` must be True or False. Received: 'no'"),  # it was causal
    ],
)
def test_bad_configurations_are_clear_errors(options, message):
    with pytest.raises(ValueError, match=message):
        LanguageModel.from_config({**CONFIG, **options})


@LOOKS_AT_IDS
def test_bad_ids_are_clear_errors(model):
    with pytest.raises(ValueError, match=r"`token_ids` must lie between 0 and 12.*1 to 13"):
        model(np.array([[1, 13]]))
    with pytest.raises(ValueError, match=r"`token_ids` must lie between 0 and 12.*-1 to -1"):
        model.decode_step(np.array([[-1]]), 0, model.start_cache(1, max_length=2))
    with pytest.raises(ValueError, match=r"max_sequence_length=20 tokens.*21"):
        model(token_ids(1, 21))

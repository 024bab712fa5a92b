"""What changed since 2017: the switches of the blocks against NumPy and Keras, and LoRA."""

import functools
import math

import keras
import numpy as np
import pytest
from decoding_models import make_model as make_translator
from decoding_models import random_sources, randomize, rows
from keras import ops
from layer_checks import check_layer, compiled

from nlp104.attention.masks import causal_mask
from nlp104.attention.multi_head import MultiHeadAttention
from nlp104.decoding.beam_search import beam_search
from nlp104.decoding.greedy import greedy
from nlp104.training.optimizer import compile_model
from nlp104.transformer.cache import LayerCache, past_mask
from nlp104.transformer.config import TransformerConfig
from nlp104.transformer.encoder import EncoderLayer
from nlp104.transformer.feed_forward import FeedForward
from nlp104.transformer.language_model import LanguageModel
from nlp104.transformer.model import Transformer
from nlp104.transformer.residual import Residual

CONFIG = {
    "hidden_dim": 16,
    "intermediate_dim": 24,
    "num_heads": 4,
    "num_layers": 2,
    "vocabulary_size": 13,
    "max_sequence_length": 20,
}
TODAY = {
    "normalize_first": True,
    "normalization": "rms",
    "gated": True,
    "activation": "silu",
    "positions": "rotary",
    "num_key_value_heads": 2,
    "attention_window": 3,
    "tie_embeddings": True,
}
BLOCK = {"hidden_dim": 12, "intermediate_dim": 10, "num_heads": 3, "dropout": 0.0}


def array(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


def token_ids(*shape, seed=0):
    return np.random.default_rng(seed).integers(1, 13, shape).astype("int32")


def to_numpy(tensor):
    return ops.convert_to_numpy(tensor)


def make_model(seed=0, model_class=LanguageModel, **options):
    model = model_class.from_config({**CONFIG, **TODAY, **options})
    randomize(model, seed)
    return model


def in_numpy(model, ids):
    """The logits of a model with all of `TODAY`, in float64 and without this package's layers."""
    weights = {w.path.split("/", 1)[1]: to_numpy(w).astype("float64") for w in model.weights}
    config, length = model.config, ids.shape[1]
    heads, d = config.num_heads, config.key_dim

    def normalize(x, name):
        scale = weights[f"{name}/normalization/scale"]
        return x / np.sqrt((x**2).mean(axis=-1, keepdims=True) + config.epsilon) * scale

    def turn(x):  # [length, d]: pairs of neighbours as complex numbers
        frequencies = 10_000.0 ** (-np.arange(0, d, 2) / d)
        pairs = x[:, ::2] + 1j * x[:, 1::2]
        turned = pairs * np.exp(1j * np.outer(np.arange(length), frequencies))
        return np.stack([turned.real, turned.imag], axis=-1).reshape(length, d)

    def project(x, name, head):
        kernel, bias = weights[f"{name}_kernel"], weights[f"{name}_bias"]
        return x @ kernel[:, head] + bias[head]

    def attend(x, row, name):
        total = weights[f"{name}/output_bias"].copy()
        outputs = np.tile(total, (length, 1))
        for head in range(heads):
            shared = head // (heads // config.num_key_value_heads)
            query = turn(project(x, f"{name}/query", head))
            key = turn(project(x, f"{name}/key", shared))
            value = project(x, f"{name}/value", shared)
            for now in range(length):
                seen = [
                    j for j in range(length)
                    if now - config.attention_window < j <= now and row[j] != 0
                ]  # fmt: skip
                if not seen:
                    continue
                scores = np.exp(query[now] @ key[seen].T / math.sqrt(d))
                mixed = scores / scores.sum() @ value[seen]
                outputs[now] += mixed @ weights[f"{name}/output_kernel"][head]
        return outputs

    def think(x, name):
        dense = {
            part: x @ weights[f"{name}/{part}/kernel"] + weights[f"{name}/{part}/bias"]
            for part in ("gate", "expand")
        }
        x = dense["gate"] / (1 + np.exp(-dense["gate"])) * dense["expand"]
        return x @ weights[f"{name}/contract/kernel"] + weights[f"{name}/contract/bias"]

    logits = []
    for row in ids:
        table = weights["embedding/embeddings"]
        x = table[row] * math.sqrt(config.hidden_dim)
        for i in range(config.num_layers):
            layer = f"encoder/layer_{i}"
            x = x + attend(normalize(x, f"{layer}/attention_residual"), row, f"{layer}/attention")
            x = x + think(normalize(x, f"{layer}/feed_forward_residual"), f"{layer}/feed_forward")
        x = normalize(x, "encoder")
        logits.append(x @ table.T + weights["output_head/output_bias"])
    return np.stack(logits)


def test_the_block_of_today_equals_numpy_in_float64():
    model, ids = make_model(), token_ids(2, 7)
    ids[1, 5:] = 0
    logits = to_numpy(compiled(model)(ids))
    np.testing.assert_allclose(logits[ids != 0], in_numpy(model, ids)[ids != 0], atol=2e-4)


@pytest.mark.parametrize("model_class", [LanguageModel, Transformer])
def test_the_defaults_are_the_paper_and_files_without_the_fields_load(model_class):
    new = {
        "normalization": "layer",
        "gated": False,
        "num_key_value_heads": None,
        "attention_window": None,
    }
    model = model_class.from_config(CONFIG)
    config = model.get_config()
    assert {name: config[name] for name in new} == new
    assert "lora_rank" not in config
    old = {name: value for name, value in config.items() if name not in new}
    assert model_class.from_config(old).config == model.config


@pytest.mark.parametrize("normalize_first", [False, True])
def test_root_mean_square_is_what_normalises(normalize_first):
    layer = Residual(0.0, normalize_first, epsilon=1e-2, normalization="rms")
    x = array(2, 3, 4)
    layer.build(x.shape)
    scale = array(4, seed=1)
    layer.normalization.scale.assign(scale)

    def rms(x):
        return x / np.sqrt((x**2).mean(axis=-1, keepdims=True) + 1e-2) * scale

    expected = x + 2 * rms(x) if normalize_first else rms(3 * x)
    np.testing.assert_allclose(to_numpy(layer(x, sub_layer=lambda x: 2 * x)), expected, rtol=1e-5)


class TestGatedFeedForward:
    @pytest.mark.parametrize("activation", ["silu", "gelu"])
    def test_equals_numpy(self, activation):
        layer, x = FeedForward(4, 6, activation=activation, gated=True), array(2, 3, 4)
        layer.build(x.shape)
        layer.set_weights([array(*w.shape, seed=i) for i, w in enumerate(layer.weights)])
        weights = {w.path.split("/")[-2:][0] + "/" + w.name: to_numpy(w) for w in layer.weights}
        gate, expand = (
            x @ weights[f"{name}/kernel"] + weights[f"{name}/bias"] for name in ("gate", "expand")
        )
        normal = np.vectorize(lambda z: 0.5 * (1 + math.erf(z / math.sqrt(2))))
        opened = gate / (1 + np.exp(-gate)) if activation == "silu" else gate * normal(gate)
        expected = opened * expand @ weights["contract/kernel"] + weights["contract/bias"]
        np.testing.assert_allclose(to_numpy(layer(x)), expected, atol=1e-5)

    def test_at_two_thirds_of_the_width_it_has_as_many_weights(self):
        def in_matrices(width, gated):
            layer = FeedForward(96, width, gated=gated)
            layer.build((None, None, 96))
            return sum(math.prod(w.shape) for w in layer.weights if w.name == "kernel")

        assert in_matrices(256, gated=True) == in_matrices(384, gated=False)


class TestGroupedQueryAttention:
    @pytest.mark.parametrize("shared", [1, 2, 4])
    @pytest.mark.parametrize("causal", [False, True])
    def test_equals_keras_weight_by_weight(self, shared, causal):
        theirs = keras.layers.GroupQueryAttention(3, 4, shared)
        ours = MultiHeadAttention(4, 3, num_key_value_heads=shared)
        query, value = array(2, 4, 6), array(2, 5, 6, seed=1)
        theirs.build(query.shape, value.shape)
        ours.build(query.shape, value.shape)
        assert [w.shape for w in ours.weights] == [w.shape for w in theirs.weights]
        theirs.set_weights([array(*w.shape, seed=i) for i, w in enumerate(theirs.weights)])
        ours.set_weights(theirs.get_weights())
        for mine, other in zip(
            *(
                compiled(
                    functools.partial(layer, use_causal_mask=causal, return_attention_scores=True)
                )(query, value)
                for layer in (ours, theirs)
            ),
            strict=True,
        ):
            np.testing.assert_allclose(to_numpy(mine), to_numpy(other), atol=1e-4)

    def test_is_multi_head_attention_with_repeated_keys_and_values(self):
        x = array(2, 5, 6)
        few, all_ = MultiHeadAttention(4, 3, num_key_value_heads=2), MultiHeadAttention(4, 3)
        few.build(x.shape, x.shape)
        all_.build(x.shape, x.shape)
        for own, theirs in zip(few.weights, all_.weights, strict=True):
            is_shared = own.name.startswith(("key", "value"))
            theirs.assign(np.repeat(own, 2, axis=-2) if is_shared else own)
        np.testing.assert_allclose(to_numpy(few(x, x)), to_numpy(all_(x, x)), atol=1e-5)

    def test_the_one_operation_of_a_device_gives_the_same(self):
        layer, x = MultiHeadAttention(4, 3, num_key_value_heads=2), array(2, 5, 6)
        expected = to_numpy(layer(x, x, use_causal_mask=True))
        layer.fused = not layer.fused
        np.testing.assert_allclose(to_numpy(layer(x, x, use_causal_mask=True)), expected, atol=1e-5)

    @pytest.mark.parametrize("shared", [1, 2, None])
    def test_the_cache_holds_as_many_heads(self, shared):
        model = make_model(num_key_value_heads=shared)
        for layer in model.start_cache(batch_size=2, max_length=5):
            assert layer.keys.shape == layer.values.shape == (2, shared or 4, 5, 1, 4)
        translator = make_translator(num_key_value_heads=1)
        cache = translator.start_cache(translator.encode(random_sources(0, 2, 4)), 5)
        assert cache[0].keys.shape == (2, 1, 5, 1, 8)
        assert cache[0].source_keys.shape == (2, 1, 4, 8)


class TestWindow:
    @pytest.mark.parametrize("window", [1, 2, 5, 9])
    @pytest.mark.parametrize(("queries", "keys", "offset"), [(5, 5, 0), (1, 6, 4), (2, 6, 3)])
    def test_mask_by_brute_force(self, window, queries, keys, offset):
        expected = np.zeros((queries, keys), bool)
        for query in range(queries):
            for key in range(keys):
                distance = query + offset - key
                expected[query, key] = distance in range(window)
        mask = causal_mask(queries, keys, offset, window)
        np.testing.assert_array_equal(to_numpy(mask), expected)

    def test_past_of_hypotheses_by_brute_force(self):
        history = np.random.default_rng(0).integers(0, 3, (2, 3, 6))
        history[:, :, 5] = -1
        empty = ops.zeros((2, 1, 6, 3, 4))
        mask = past_mask(4, LayerCache(empty, empty, None), ops.array(history), window=2)
        expected = np.zeros((2, 3, 6, 3), bool)
        for batch, own, step in np.ndindex(2, 3, 6):
            if 4 - 2 < step <= 4:
                expected[batch, own, step, history[batch, own, step]] = True
        np.testing.assert_array_equal(to_numpy(mask), expected.reshape(2, 3, 18))

    def test_moves_what_it_should_and_nothing_else(self):
        """Two layers of a window of 3 see 2 · 2 positions back, and none ahead."""
        model, ids = make_model(), token_ids(1, 10)
        call = compiled(model)
        before = to_numpy(call(ids))[0]
        for place in range(10):
            changed = ids.copy()
            changed[0, place] = ids[0, place] % 12 + 1
            moved = np.abs(to_numpy(call(changed))[0] - before).max(axis=-1) > 1e-5
            assert moved.nonzero()[0].tolist() == list(range(place, min(place + 5, 10)))

    def test_an_encoder_sees_everything(self):
        model = make_translator(attention_window=2)
        scores = model.attention_scores(
            {"encoder_token_ids": token_ids(1, 5), "decoder_token_ids": token_ids(1, 5)}
        )
        assert (to_numpy(scores["encoder"][0]) > 0).all()
        assert (to_numpy(scores["cross"][0]) > 0).all()
        band = np.tril(np.ones((5, 5), bool)) & ~np.tril(np.ones((5, 5), bool), -2)
        np.testing.assert_array_equal(to_numpy(scores["decoder"][0])[0, 0] > 0, band)


class TestDecoding:
    @pytest.mark.parametrize("options", [{}, {"normalize_first": False, "num_key_value_heads": 1}])
    def test_step_by_step_gives_the_logits_of_the_whole(self, options):
        model, ids = make_model(seed=1, **options), token_ids(2, 7)
        whole, cache = to_numpy(compiled(model)(ids)), model.start_cache(2, max_length=9)
        read = compiled(model.decode_step)
        for step in range(7):
            logits, cache = read(ids[:, step : step + 1], step, cache)
            np.testing.assert_allclose(to_numpy(logits)[:, 0], whole[:, step], atol=2e-4)

    def test_compiled_decoding_equals_the_naive_loop(self):
        model, prompt = make_model(seed=4), [5, 9, 4]
        row, look = list(prompt), compiled(model)
        for _ in range(8):
            read = np.pad([row], ((0, 0), (0, 11 - len(row))))  # one shape to compile
            logits = to_numpy(look(read))[0, len(row) - 1]
            row.append(1 + int(logits[1:].argmax()))
            if row[-1] == 3:
                break
        assert rows(greedy(model, np.array([prompt]), max_length=11)) == [row[:11]]

    @pytest.mark.slow
    def test_beam_search_scores_as_a_look_at_the_whole_does(self):
        model = make_translator(seed=2, **{**TODAY, "tie_embeddings": False})
        sources = random_sources(2, 3, 6)
        limits = {"num_beams": 4, "num_best": 1, "max_length": 8}
        found, scores = beam_search(model, sources, length_penalty=0.0, **limits)
        look = compiled(model)
        for source, beams, score in zip(sources, found, scores, strict=True):
            [written] = rows(beams)
            read = np.pad([[2, *written[:-1]]], ((0, 0), (0, 8 - len(written))))  # of one shape
            logits = look({"encoder_token_ids": source[None], "decoder_token_ids": read})
            logits = to_numpy(logits)[0].astype("float64")
            logs = logits - np.log(np.exp(logits).sum(axis=-1, keepdims=True))
            expected = sum(logs[i, token] for i, token in enumerate(written))
            assert score[0] == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize(
    ("model_class", "options"),
    [(LanguageModel, {}), (Transformer, {"dtype": "mixed_bfloat16", "positions": "learned"})],
)
def test_saved_and_loaded_gives_identical_outputs(model_class, options, tmp_path):
    model = make_model(model_class=model_class, **options)
    ids = token_ids(2, 5)
    inputs = ids
    if model_class is Transformer:
        inputs = {"encoder_token_ids": ids, "decoder_token_ids": ids}
    model.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    assert loaded.get_config() == model.get_config()
    np.testing.assert_array_equal(
        to_numpy(compiled(loaded)(inputs)), to_numpy(compiled(model)(inputs))
    )


@pytest.mark.parametrize(
    ("layer_class", "arguments", "inputs", "num_weights"),
    [
        (
            FeedForward,
            {"hidden_dim": 6, "intermediate_dim": 4, "gated": True, "activation": "silu"},
            {"inputs": array(2, 3, 6)},
            6,
        ),
        (
            MultiHeadAttention,
            {"num_heads": 4, "key_dim": 2, "num_key_value_heads": 2, "window": 2},
            {"query": array(2, 3, 6), "value": array(2, 3, 6, seed=1)},
            8,
        ),
    ],
)
def test_layer(layer_class, arguments, inputs, num_weights):
    check_layer(layer_class, arguments, inputs, num_weights)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"normalization": "batch"},
            r"`normalization` must be one of layer, rms. Received: 'batch'",
        ),
        ({"num_key_value_heads": 3}, r"divisible by `num_key_value_heads`.*=4, .*=3"),
        ({"num_key_value_heads": 0}, r"`num_key_value_heads` must be a positive integer.*0"),
        ({"attention_window": 0}, r"`attention_window` must be a positive integer.*0"),
        ({"causal": False}, r"expected `causal=True`.*attention_window=3"),
    ],
)
def test_bad_configurations_are_clear_errors(options, message):
    with pytest.raises(ValueError, match=message):
        make_model(**options)


def test_bad_layers_are_clear_errors():
    with pytest.raises(ValueError, match=r"divisible by `num_key_value_heads`.*=4, .*=3"):
        MultiHeadAttention(4, 2, num_key_value_heads=3)
    with pytest.raises(ValueError, match=r"`window` must be a positive integer.*-1"):
        MultiHeadAttention(4, 2, window=-1)
    with pytest.raises(
        ValueError, match=r"`normalization` must be one of layer, rms. Received: 'no'"
    ):
        Residual(normalization="no")


class TestLoRA:
    RANK = 2

    @pytest.fixture
    def model(self):
        return make_model(seed=5)

    def trained(self, model, steps=6):
        ids = token_ids(2, 8, seed=9)
        compile_model(model, learning_rate=0.05, label_smoothing=0.0)
        inputs, labels = np.tile(ids[:, :-1], (steps, 1)), np.tile(ids[:, 1:], (steps, 1))
        history = model.fit(inputs, labels, batch_size=2, shuffle=False, verbose=0, epochs=3)
        return history.history["loss"]

    def test_nothing_changes_before_it_is_trained(self, model):
        ids = token_ids(2, 7)
        before = to_numpy(compiled(model)(ids))
        model.enable_lora(self.RANK)
        np.testing.assert_array_equal(to_numpy(compiled(model)(ids)), before)

    @pytest.mark.slow
    def test_what_is_frozen_stays_and_the_rest_learns(self, model):
        base = {w.path: to_numpy(w).copy() for w in model.weights}
        model.enable_lora(self.RANK)
        updates = {w.path: to_numpy(w).copy() for w in model.trainable_weights}
        assert not base.keys() & updates.keys()
        losses = self.trained(model)
        assert losses[-1] < 0.9 * losses[0]
        for variable in model.weights:
            new = to_numpy(variable)
            if variable.path in base:
                np.testing.assert_array_equal(new, base[variable.path])
            else:
                assert (new != updates[variable.path]).any(), variable.path

    def test_a_block_alone_is_saved_and_loaded(self, tmp_path):
        x = keras.Input((None, 8))
        layer = EncoderLayer(TransformerConfig(8, 16, 2))
        model = keras.Model(x, layer(x))
        layer.attention.enable_lora(self.RANK)
        for variable in model.trainable_weights:
            variable.assign(np.ones(variable.shape))
        model.save(tmp_path / "block.keras")
        loaded = keras.models.load_model(tmp_path / "block.keras")
        assert len(loaded.weights) == len(model.weights)
        some = np.random.default_rng(0).normal(size=(2, 3, 8)).astype("float32")
        np.testing.assert_array_equal(to_numpy(loaded(some)), to_numpy(model(some)))

    def test_afterwards_a_layer_takes_no_new_weights(self):
        layer = MultiHeadAttention(2, 4)
        layer.build((1, 3, 8), (1, 3, 8))
        layer.enable_lora(1)
        with pytest.raises(ValueError, match="cannot add new elements"):
            layer.extra = keras.Variable(0.0)

    def test_its_weights_in_closed_form(self, model):
        """For each matrix rank · (inputs + outputs): here 16 → 16 twice, 16 → 8 twice."""
        before = model.count_params()
        model.enable_lora(self.RANK)
        expected = 2 * self.RANK * (2 * (16 + 16) + 2 * (16 + 8))
        assert sum(math.prod(w.shape) for w in model.trainable_weights) == expected
        assert model.count_params() == before + expected

    def test_a_layer_by_itself_is_saved_with_it(self, tmp_path):
        inputs = keras.Input((5, 6))
        layer = MultiHeadAttention(4, 3)
        model = keras.Model(inputs, layer(inputs, inputs))
        layer.enable_lora(self.RANK)
        for i, weight in enumerate(layer.trainable_weights):
            weight.assign(array(*weight.shape, seed=i))
        x = array(2, 5, 6)
        expected = to_numpy(model(x))
        model.save(tmp_path / "layer.keras")
        loaded = keras.models.load_model(tmp_path / "layer.keras")
        np.testing.assert_allclose(to_numpy(loaded(x)), expected, rtol=1e-5, atol=1e-6)
        assert len(loaded.trainable_weights) == 8  # an A and a B of each matrix

    def test_it_is_the_kernel_plus_a_product(self):
        layer, x = MultiHeadAttention(4, 3), array(2, 5, 6)
        layer.build(x.shape, x.shape)
        layer.enable_lora(rank=2)
        for i, weight in enumerate(layer.trainable_weights):
            weight.assign(array(*weight.shape, seed=i))
        plain = MultiHeadAttention(4, 3)
        plain.build(x.shape, x.shape)
        for name in ("query", "key", "value", "output"):
            kernel, a, b = (
                to_numpy(getattr(layer, f"{name}_{part}"))
                for part in ("kernel", "lora_a", "lora_b")
            )
            assert np.linalg.matrix_rank(a @ b) == 2
            getattr(plain, f"{name}_kernel").assign(kernel + (a @ b).reshape(kernel.shape))
        expected = to_numpy(plain(x, x))
        np.testing.assert_allclose(to_numpy(layer(x, x)), expected, rtol=1e-4, atol=1e-4)

    @pytest.mark.slow
    def test_merged_it_says_the_same_and_learns_again(self, model):
        model.enable_lora(self.RANK)
        self.trained(model)
        ids, merged = token_ids(2, 7), model.merge_lora()
        expected = to_numpy(compiled(model)(ids))
        np.testing.assert_allclose(to_numpy(compiled(merged)(ids)), expected, atol=1e-4)
        assert "lora_rank" not in merged.get_config()
        assert len(merged.trainable_weights) == len(merged.weights) == len(make_model().weights)

    @pytest.mark.slow
    def test_saved_and_loaded_it_is_the_same_and_still_frozen(self, model, tmp_path):
        model.enable_lora(self.RANK)
        self.trained(model, steps=1)
        model.save(tmp_path / "model.keras")
        loaded = keras.saving.load_model(tmp_path / "model.keras")
        ids = token_ids(2, 7)
        np.testing.assert_array_equal(
            to_numpy(compiled(loaded)(ids)), to_numpy(compiled(model)(ids))
        )
        names = [variable.path for variable in loaded.trainable_weights]
        assert names == [variable.path for variable in model.trainable_weights]

    @pytest.mark.slow
    def test_decoding_notices_it(self, model):
        """A program that was compiled before knows nothing of weights that came after."""
        prompt = np.array([[5, 9, 4]])
        before = greedy(model, prompt, max_length=12)
        model.enable_lora(self.RANK)
        np.testing.assert_array_equal(greedy(model, prompt, max_length=12), before)
        for i, weight in enumerate(model.trainable_weights):
            weight.assign(array(*weight.shape, seed=i))
        written = greedy(model, prompt, max_length=12)
        assert written.tolist() != before.tolist()
        merged = model.merge_lora()
        np.testing.assert_array_equal(greedy(merged, prompt, max_length=12), written)

    def test_a_translator_of_half_precision_has_it_too(self):
        model = make_translator().with_dtype("mixed_bfloat16")
        model.enable_lora(self.RANK)
        assert {w.dtype for w in model.weights} == {"float32"}
        # 2 layers of one attention and 2 of two, each of four matrices 16 → 16.
        assert len(model.trainable_weights) == 2 * 4 * (2 + 2 * 2)
        whole = model.with_dtype("float32")
        assert len(whole.trainable_weights) == len(model.trainable_weights)

    @pytest.mark.parametrize("ranks", [(2, None), (None, 2), (2, 3)])
    def test_in_a_part_of_the_model_it_is_kept_as_well(self, model, tmp_path, ranks):
        for block, rank in zip(model.encoder.blocks, ranks, strict=True):
            if rank is not None:
                block.attention.enable_lora(rank)
        for i, weight in enumerate(w for w in model.weights if "_lora_" in w.name):
            weight.assign(array(*weight.shape, seed=i))
        assert model.lora_rank is None
        model.save(tmp_path / "model.keras")
        loaded = keras.saving.load_model(tmp_path / "model.keras")
        ids, copy = token_ids(2, 7), model.with_dtype("float32")
        for other in (loaded, copy):
            np.testing.assert_allclose(to_numpy(other(ids)), to_numpy(model(ids)), atol=1e-5)
        with pytest.raises(ValueError, match=r"without LoRA. Received: lora_rank=2"):
            model.enable_lora(1)

    def test_bad_calls_are_clear_errors(self, model):
        with pytest.raises(ValueError, match=r"`rank` must be a positive integer.*0"):
            model.enable_lora(0)
        with pytest.raises(ValueError, match=r"a layer that is built"):
            MultiHeadAttention(4, 3).enable_lora(2)
        model.enable_lora(1)
        with pytest.raises(ValueError, match=r"without LoRA. Received: lora_rank=1"):
            model.enable_lora(2)
        compiled_model = model.merge_lora()
        compile_model(compiled_model, 1e-3)
        with pytest.raises(ValueError, match=r"Expected a model that is not compiled"):
            compiled_model.enable_lora(2)
        assert compiled_model.lora_rank is None

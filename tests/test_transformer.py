"""Blocks, stacks and the whole model against NumPy and PyTorch, and what must hold of them."""

import functools
import json
import math
import re
import subprocess
import sys
from dataclasses import FrozenInstanceError

import keras
import numpy as np
import pytest
from golden import set_weights, torch_case
from hypothesis import given, settings
from hypothesis import strategies as st
from keras import ops
from layer_checks import LOOKS_AT_IDS, check_layer, compiled

from nlp104.encoding.positions import sinusoidal_positions
from nlp104.training.optimizer import compile_model
from nlp104.training.schedule import WarmupSchedule
from nlp104.transformer.config import TransformerConfig
from nlp104.transformer.decoder import Decoder, DecoderLayer
from nlp104.transformer.encoder import Encoder, EncoderLayer
from nlp104.transformer.feed_forward import FeedForward
from nlp104.transformer.language_model import LanguageModel
from nlp104.transformer.model import Transformer
from nlp104.transformer.output_head import OutputHead
from nlp104.transformer.presets import PRESETS
from nlp104.transformer.residual import Residual

BLOCK = {"hidden_dim": 12, "intermediate_dim": 20, "num_heads": 3, "dropout": 0.0}
MODEL = {"vocabulary_size": 11, "num_layers": 2, **BLOCK}


def array(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


def token_ids(*shape, seed=0, vocabulary_size=11):
    """Random ids without padding."""
    return np.random.default_rng(seed).integers(1, vocabulary_size, shape).astype("int32")


def batch(source, target):
    return {"encoder_token_ids": source, "decoder_token_ids": target}


def to_numpy(tensor):
    return ops.convert_to_numpy(tensor)


def assert_close(actual, expected, atol=1e-5):
    np.testing.assert_allclose(to_numpy(actual), expected, atol=atol, rtol=1e-5)


def pad(ids, length):
    return np.pad(ids, ((0, 0), (0, length - ids.shape[1])))


def masked_loss():
    """Summed over the real tokens, which the sample weights name."""
    return keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="sum")


@functools.cache
def shared_model():
    """One model for the tests that only call it, with weights that tell all positions apart."""
    model = Transformer.from_config(MODEL)
    for i, variable in enumerate(model.weights):
        variable.assign(array(*variable.shape, seed=i) * 0.4)
    return model


@functools.cache
def shared_call():
    return compiled(shared_model())


class TestSublayers:
    def test_feed_forward_equals_numpy(self):
        x = array(2, 5, 12)
        layer = FeedForward(12, 20)
        layer.build(x.shape)
        set_weights(layer, array(12 * 20 + 20 + 20 * 12 + 12))
        w1, b1, w2, b2 = (w.astype("float64") for w in layer.get_weights())
        assert_close(layer(x), np.maximum(0, x @ w1 + b1) @ w2 + b2, atol=1e-4)

    def test_feed_forward_drops_numbers_inside_in_training_only(self):
        layer, x = FeedForward(200, 200, dropout=0.5), np.ones((1, 3, 200), "float32")
        layer.build(x.shape)
        layer.set_weights([np.eye(200), np.zeros(200), np.eye(200), np.zeros(200)])
        assert_close(layer(x), x)
        dropped = to_numpy(layer(x, training=True))
        assert set(np.unique(dropped)) == {0.0, 2.0}
        assert 0.4 < (dropped == 0).mean() < 0.6

    @pytest.mark.parametrize("normalize_first", [False, True])
    def test_residual_equals_its_formula(self, normalize_first):
        def normalized(x):
            x = x.astype("float64")
            deviation = x - x.mean(-1, keepdims=True)
            return gain * deviation / np.sqrt((deviation**2).mean(-1, keepdims=True) + 1e-6) + bias

        def sub_layer(x):
            return np.tanh(to_numpy(x))[..., ::-1].copy()

        x = array(2, 5, 12)
        layer = Residual(normalize_first=normalize_first)
        layer.build(x.shape)
        set_weights(layer, array(24, seed=1))
        gain, bias = layer.get_weights()
        actual = layer(x, sub_layer=sub_layer)
        expected = x + sub_layer(normalized(x)) if normalize_first else normalized(x + sub_layer(x))
        assert_close(actual, expected)

    def test_dropout_falls_on_the_change_only(self):
        x, change = np.zeros((1, 1, 1000), "float32"), np.ones((1, 1, 1000), "float32")
        layer = Residual(dropout=0.25, normalize_first=True)
        layer.build(x.shape)
        assert_close(layer(x, sub_layer=lambda x: change), change)
        outputs = to_numpy(layer(x + 7, sub_layer=lambda x: change, training=True)) - 7
        kept = outputs != 0
        np.testing.assert_allclose(outputs[kept], 1 / 0.75, rtol=1e-5)
        assert 0.7 < kept.mean() < 0.8

    def test_residual_hands_through_what_else_a_sub_layer_returns(self):
        x = array(1, 2, 12)
        outputs, extra = Residual(normalize_first=True)(x, sub_layer=lambda x: (x * 0, "scores"))
        assert extra == "scores"
        assert_close(outputs, x)

    def test_a_residual_has_nowhere_to_keep_a_sub_layer_of_a_functional_model(self):
        inputs = keras.Input((3, 8))
        dense = keras.layers.Dense(8)
        for sub_layer in (dense, lambda x: dense(x)):
            with pytest.raises(ValueError, match=r"expected a Residual in the `call` of a layer"):
                Residual()(inputs, sub_layer=sub_layer)

    def test_residual_survives_its_configuration(self):
        arguments = {"dropout": 0.2, "normalize_first": True, "epsilon": 1e-5}
        config = Residual(**arguments).get_config()
        assert {name: config[name] for name in arguments} == arguments
        assert Residual.from_config(config).get_config() == config


@pytest.mark.parametrize("origin", ["stored", "live"])
@pytest.mark.parametrize("normalize_first", [False, True])
class TestEqualsTorch:
    def test_encoder_layer(self, origin, normalize_first):
        case = torch_case(origin, "encoder_pre" if normalize_first else "encoder_post")
        layer = EncoderLayer.from_config({**BLOCK, "normalize_first": normalize_first})
        layer.build(case["inputs"].shape)
        set_weights(layer, case["weights"])
        outputs = compiled(layer)(case["inputs"], padding_mask=case["mask"])
        assert_close(outputs, case["outputs"], atol=5e-5)

    def test_decoder_layer(self, origin, normalize_first):
        case = torch_case(origin, "decoder_pre" if normalize_first else "decoder_post")
        layer = DecoderLayer.from_config({**BLOCK, "normalize_first": normalize_first})
        layer.build(case["inputs"].shape, case["encoder_output"].shape)
        set_weights(layer, case["weights"])
        outputs = compiled(layer)(
            case["inputs"],
            case["encoder_output"],
            decoder_padding_mask=case["mask"],
            encoder_padding_mask=case["encoder_mask"],
        )
        assert_close(outputs, case["outputs"], atol=5e-5)


@pytest.mark.parametrize("origin", ["stored", "live"])
def test_stacks_equal_torch(origin):
    case = torch_case(origin, "stacks_pre")
    encoder = Encoder.from_config({**BLOCK, "num_layers": 2, "normalize_first": True})
    decoder = Decoder.from_config({**BLOCK, "num_layers": 2, "normalize_first": True})
    encoder.build(case["source"].shape)
    decoder.build(case["target"].shape, case["source"].shape)
    set_weights(encoder, case["encoder_weights"])
    set_weights(decoder, case["decoder_weights"])
    encoder_output = compiled(encoder)(case["source"], padding_mask=case["source_mask"])
    outputs = compiled(decoder)(
        case["target"],
        encoder_output,
        decoder_padding_mask=case["target_mask"],
        encoder_padding_mask=case["source_mask"],
    )
    assert_close(outputs, case["outputs"], atol=1e-4)


class TestModelEqualsNumpy:
    """The whole model, written once more in float64, weights taken by name."""

    @pytest.mark.parametrize(
        "arguments",
        [{}, {"tie_embeddings": True}, {"source_vocabulary_size": 9, "normalize_first": True}],
    )
    def test_logits(self, arguments):
        model = Transformer.from_config({**MODEL, **arguments})
        for i, variable in enumerate(model.weights):
            variable.assign(array(*variable.shape, seed=i) * 0.4)
        source, target = pad(token_ids(2, 4, vocabulary_size=9), 5), token_ids(2, 3, seed=1)
        logits = compiled(model)(batch(source, target))
        weights = {
            v.path.partition("/")[2]: np.asarray(to_numpy(v), "float64") for v in model.weights
        }
        expected = self.forward(weights, source, target, model.config.normalize_first)
        assert_close(logits, expected, atol=1e-3)

    def forward(self, weights, source, target, normalize_first):
        def norm(x, name):
            x = x - x.mean(-1, keepdims=True)
            x = x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-6)
            return x * weights[f"{name}/gamma"] + weights[f"{name}/beta"]

        def attention(x, y, mask, name):
            q, k, v = (
                np.einsum("btd,dhk->bhtk", z, weights[f"{name}/{part}_kernel"])
                + weights[f"{name}/{part}_bias"][:, None]
                for z, part in [(x, "query"), (y, "key"), (y, "value")]
            )
            scores = np.where(mask, q @ np.swapaxes(k, 2, 3) / math.sqrt(q.shape[-1]), -np.inf)
            scores = np.exp(scores - scores.max(-1, keepdims=True))
            scores = scores / scores.sum(-1, keepdims=True)
            outputs = np.einsum("bhtk,hkd->btd", scores @ v, weights[f"{name}/output_kernel"])
            return outputs + weights[f"{name}/output_bias"]

        def feed_forward(x, name):
            x = np.maximum(x @ weights[f"{name}/expand/kernel"] + weights[f"{name}/expand/bias"], 0)
            return x @ weights[f"{name}/contract/kernel"] + weights[f"{name}/contract/bias"]

        def residual(x, function, name):
            if normalize_first:
                return x + function(norm(x, f"{name}/normalization"))
            return norm(x + function(x), f"{name}/normalization")

        def stack(x, name, sublayers):
            for i in range(2):
                for sublayer, function in sublayers.items():
                    path = f"{name}/layer_{i}/{sublayer}"
                    x = residual(x, functools.partial(function, name=path), f"{path}_residual")
            return norm(x, f"{name}/normalization") if normalize_first else x

        def embed(ids, name):
            return weights[name][ids] * math.sqrt(12) + sinusoidal_positions(ids.shape[1], 12)

        source_matrix = "encoder_embedding/embeddings"
        tied = "output_head/output_kernel" not in weights
        target_matrix = source_matrix if tied else "decoder_embedding/embeddings"
        seen = (source != 0)[:, None, None]
        past = np.tril(np.ones((target.shape[1], target.shape[1]), bool))
        encoded = stack(
            embed(source, source_matrix),
            "encoder",
            {
                "attention": lambda x, name: attention(x, x, seen, name),
                "feed_forward": feed_forward,
            },
        )
        decoded = stack(
            embed(target, target_matrix),
            "decoder",
            {
                "self_attention": lambda x, name: attention(x, x, past, name),
                "cross_attention": lambda x, name: attention(x, encoded, seen, name),
                "feed_forward": feed_forward,
            },
        )
        output_kernel = weights[source_matrix].T if tied else weights["output_head/output_kernel"]
        return decoded @ output_kernel + weights["output_head/output_bias"]


class TestPaddingMovesNothing:
    @settings(max_examples=8)
    @given(st.sampled_from([1, 3]), st.sampled_from([1, 4]), st.integers(0, 1000))
    def test_when_called(self, source_length, target_length, seed):
        """Alone and unpadded, or in a batch with longer sequences: the same logits."""
        source, target = token_ids(2, 5, seed=seed), token_ids(2, 4, seed=seed + 1)
        source[1, source_length:], target[1, target_length:] = 0, 0
        together = to_numpy(shared_call()(batch(source, target)))[1:, :target_length]
        alone = shared_call()(batch(source[1:, :source_length], target[1:, :target_length]))
        assert_close(alone, together)

    @pytest.mark.slow
    def test_in_predict(self):
        source, target = token_ids(3, 5), token_ids(3, 4, seed=1)
        expected = to_numpy(shared_call()(batch(source, target)))
        padded = batch(pad(source, 8), pad(target, 7))
        assert_close(shared_model().predict(padded, batch_size=3, verbose=0)[:, :4], expected)

    @pytest.mark.slow
    def test_in_fit(self):
        """Trained on the same sentences, padded or not, a model comes out the same."""
        source, target, labels = token_ids(2, 3), token_ids(2, 4, seed=1), token_ids(2, 4, seed=2)
        model = Transformer.from_config({**MODEL, "num_layers": 1, "tie_embeddings": True})
        model.compile(keras.optimizers.SGD(0.05), masked_loss())
        initial, trained = model.get_weights(), []
        for extra in (0, 3):
            model.set_weights(initial)
            padded_labels = pad(labels, 4 + extra)
            model.fit(
                batch(pad(source, 3 + extra), pad(target, 4 + extra)),
                padded_labels,
                sample_weight=(padded_labels != 0).astype("float32"),
                epochs=2,
                verbose=0,
            )
            trained.append(model.get_weights())
        for plain, padded in zip(*trained, strict=True):
            np.testing.assert_allclose(plain, padded, atol=1e-5)
        changes = [np.abs(a - b).max() for a, b in zip(initial, trained[0], strict=True)]
        assert np.median(changes) > 1e-3

    @pytest.mark.slow
    @pytest.mark.parametrize("policy", ["float32", "mixed_float16", "mixed_bfloat16"])
    def test_a_source_of_nothing_but_padding_is_finite(self, policy):
        model = Transformer.from_config({**MODEL, "dtype": policy})
        source, target = token_ids(2, 5), token_ids(2, 4)
        source[1], target[1, 1:] = 0, 0
        logits = to_numpy(compiled(model)(batch(source, target)))
        assert logits.dtype == "float32"
        assert np.isfinite(logits).all()


class TestNoPositionSeesItsFuture:
    @settings(max_examples=8)
    @given(st.integers(0, 2), st.integers(0, 1000))
    def test_in_the_decoder(self, now, seed):
        source, target = token_ids(2, 5, seed=seed), token_ids(2, 4, seed=seed + 1)
        changed = target.copy()
        changed[:, now + 1 :] = target[:, now + 1 :] % 10 + 1
        before = to_numpy(shared_call()(batch(source, target)))
        after = to_numpy(shared_call()(batch(source, changed)))
        assert_close(after[:, : now + 1], before[:, : now + 1])
        assert (np.abs(after - before)[:, now + 1 :].max(-1) > 1e-4).all()

    @pytest.mark.slow
    def test_but_every_position_sees_the_whole_source(self):
        source, target = token_ids(1, 5), token_ids(1, 4, seed=1)
        before = to_numpy(shared_call()(batch(source, target)))
        for position in range(5):
            changed = source.copy()
            changed[0, position] = changed[0, position] % 10 + 1
            after = to_numpy(shared_call()(batch(changed, target)))
            assert (np.abs(after - before).max(-1) > 1e-4).all()


def graph(function, jit_compile=False):
    """Compiled as the backend compiles."""
    if keras.backend.backend() == "tensorflow":
        import tensorflow as tf

        return tf.function(function, jit_compile=jit_compile)
    return compiled(function)


class TestDecodingStepByStep:
    @pytest.mark.slow
    @pytest.mark.parametrize(
        "arguments",
        [
            {},
            {"tie_embeddings": True, "normalize_first": True},
            {"positions": "learned"},
            {"positions": "rotary"},
            {"dtype": "mixed_bfloat16"},
        ],
    )
    def test_gives_the_logits_of_the_whole_prefix(self, arguments):
        model = Transformer.from_config({**MODEL, **arguments})
        source, target = token_ids(2, 5), token_ids(2, 4, seed=1)
        source[1, 3:] = 0
        whole = to_numpy(compiled(model)(batch(source, target)))
        encoder_output = compiled(model.encode)(source)
        cache = model.start_cache(encoder_output, max_length=6)
        decode_step = compiled(model.decode_step)
        for step in range(4):
            logits, cache = decode_step(target[:, step : step + 1], step, cache, source != 0)
            tolerance = 0.05 if "dtype" in arguments else 1e-5
            assert_close(logits[:, 0], whole[:, step], atol=tolerance)
        for start, stop in ((0, 3), (2, 4)):  # several at once, one of them a second time
            logits, cache = decode_step(target[:, start:stop], start, cache, source != 0)
            assert_close(logits, whole[:, start:stop], atol=tolerance)

    def test_steps_may_be_numbers_of_numpy_and_ids_a_list(self):
        model = shared_model()
        cache = model.start_cache(model.encode(token_ids(1, 3)), max_length=2)
        for step in np.arange(2):
            logits, cache = model.decode_step([[4]], step, cache)
        whole = model(batch(token_ids(1, 3), np.array([[4, 4]])))
        assert_close(logits[:, 0], to_numpy(whole)[:, 1])
        longest = np.int64(model.max_sequence_length)
        with pytest.raises(ValueError, match=f"length 1 from position {longest} on"):
            model.decode_step([[4]], longest, cache)

    @pytest.mark.slow
    @pytest.mark.parametrize("jit_compile", [False, True])
    def test_inside_of_a_compiled_loop(self, jit_compile):
        model = shared_model()
        source, target = token_ids(2, 5), token_ids(2, 4, seed=1)
        source[1, 3:] = 0

        def decode(source, target):
            mask = ops.not_equal(source, 0)

            def body(step, logits, cache):
                token = ops.slice(target, (0, step), (2, 1))
                step_logits, cache = model.decode_step(token, step, cache, mask)
                logits = ops.slice_update(logits, (0, step, 0), step_logits)
                return step + 1, logits, cache

            state = (
                ops.convert_to_tensor(0, "int32"),
                ops.zeros((2, 4, 11)),
                model.start_cache(model.encode(source), max_length=4),
            )
            return ops.while_loop(lambda step, *_: step < 4, body, state)[1]

        tensors = [ops.convert_to_tensor(ids) for ids in (source, target)]
        expected = to_numpy(shared_call()(batch(source, target)))
        assert_close(graph(decode, jit_compile)(*tensors), expected)


def count_parameters(
    vocabulary_size,
    num_layers,
    hidden_dim,
    intermediate_dim,
    source_vocabulary_size=None,
    tie_embeddings=False,
    normalize_first=False,
    **_,
):
    """The closed form: d for hidden_dim, f for intermediate_dim.

    Attention 4 (d² + d), feed-forward network 2 d f + f + d, normalisation 2 d; an encoder layer
    has 1, 1 and 2 of them, a decoder layer 2, 1 and 3. A vocabulary has d for each embedding; the
    output has d (unless tied) and a bias for each target token.
    """
    d, f = hidden_dim, intermediate_dim
    attention, feed_forward, normalization = 4 * (d * d + d), 2 * d * f + f + d, 2 * d
    layers = num_layers * (3 * attention + 2 * feed_forward + 5 * normalization)
    final = 2 * normalization if normalize_first else 0
    source = source_vocabulary_size or vocabulary_size
    embeddings = vocabulary_size * d if tie_embeddings else (source + 2 * vocabulary_size) * d
    return layers + final + embeddings + vocabulary_size


def count_without_memory(*arguments, **keywords):
    """The number of parameters of a model whose variables get no values."""
    with keras.StatelessScope(initialize_variables=False):
        model = Transformer.from_preset(*arguments, **keywords)
    count = model.count_params()
    keras.backend.clear_session()  # Keras remembers variables that wait for values.
    return count


class TestPresets:
    @pytest.mark.parametrize("vocabulary_size", [100, 8000])
    @pytest.mark.parametrize("name", PRESETS)
    def test_parameters_in_closed_form(self, name, vocabulary_size):
        expected = count_parameters(vocabulary_size, **PRESETS[name])
        assert count_without_memory(name, vocabulary_size) == expected

    @pytest.mark.parametrize(
        "overrides",
        [{"normalize_first": True}, {"source_vocabulary_size": 70}, {"tie_embeddings": True}],
    )
    def test_parameters_of_variations(self, overrides):
        expected = count_parameters(100, **{**PRESETS["tiny"], **overrides})
        assert count_without_memory("tiny", 100, **overrides) == expected

    def test_learned_positions_add_a_matrix_for_each_side(self):
        learned = count_without_memory("tiny", 100, positions="learned", max_sequence_length=50)
        assert learned == count_without_memory("tiny", 100) + 2 * 50 * 128

    def test_of_the_paper(self):
        """Table 3 says 65 and 213 million; a shared vocabulary of 37,000 comes close to both."""
        assert count_without_memory("base", 37_000) == 63_119_496
        assert count_without_memory("big", 37_000) == 214_282_376

    def test_small_is_small(self):
        assert count_without_memory("small", 8000) <= 5_000_000

    def test_a_model_with_values_has_the_same_number(self):
        model = Transformer.from_preset("tiny", 100)
        assert sum(w.size for w in model.get_weights()) == count_parameters(100, **PRESETS["tiny"])

    def test_overrides(self):
        model = Transformer.from_preset("tiny", 50, num_layers=1, dropout=0.3)
        config = model.get_config()
        assert config["vocabulary_size"] == 50
        assert (config["num_layers"], config["dropout"], config["hidden_dim"]) == (1, 0.3, 128)

    def test_unknown(self):
        with pytest.raises(ValueError, match=r"tiny, small, series, base, big.*'huge'"):
            Transformer.from_preset("huge", 50)


class TestModel:
    @pytest.mark.parametrize(
        "arguments",
        [
            {},
            {"tie_embeddings": True, "normalize_first": True, "dtype": "mixed_bfloat16"},
            {"source_vocabulary_size": 9, "positions": "learned", "max_sequence_length": 16},
        ],
    )
    def test_saved_and_loaded_gives_identical_outputs(self, arguments, tmp_path):
        model = Transformer.from_config({**MODEL, "dropout": 0.2, **arguments})
        inputs = batch(token_ids(2, 5, vocabulary_size=9), token_ids(2, 4))
        expected = to_numpy(compiled(model)(inputs))
        model.save(tmp_path / "model.keras")
        loaded = keras.saving.load_model(tmp_path / "model.keras")
        assert type(loaded) is Transformer
        assert loaded.get_config() == model.get_config()
        assert (to_numpy(compiled(loaded)(inputs)) == expected).all()

    def test_configuration_is_complete(self):
        arguments = {
            "vocabulary_size": 11,
            "num_layers": 1,
            "hidden_dim": 12,
            "intermediate_dim": 20,
            "num_heads": 3,
            "dropout": 0.2,
            "attention_dropout": 0.3,
            "activation_dropout": 0.4,
            "source_vocabulary_size": 9,
            "tie_embeddings": False,
            "max_sequence_length": 16,
            "positions": "learned",
            "normalize_first": True,
            "epsilon": 1e-5,
            "activation": "gelu",
            "kernel_initializer": "he_normal",
            "attention_gain": 0.5,
            "gated": True,
            "normalization": "rms",
            "num_key_value_heads": 1,
            "attention_window": 4,
            "name": "translator",
        }
        model = Transformer.from_config(arguments)
        config = model.get_config()
        assert {name: config[name] for name in arguments} == arguments
        assert Transformer.from_config(config).get_config() == config
        block = model.decoder.blocks[0]
        assert block.self_attention.dropout == 0.3
        for attention in (block.self_attention, block.cross_attention):
            assert attention.kernel_initializer.scale == 0.25  # limits grow with its root
            assert isinstance(attention.output_initializer, keras.initializers.HeNormal)
        assert block.feed_forward.activation is keras.activations.gelu
        assert isinstance(block.feed_forward.kernel_initializer, keras.initializers.HeNormal)
        assert block.feed_forward.dropout == 0.4
        assert block.feed_forward_residual.dropout == 0.2
        assert model.encoder_embedding.dropout == 0.2
        assert block.feed_forward_residual.normalization.epsilon == 1e-5

    @pytest.mark.slow
    def test_learns_one_batch_by_heart(self):
        """In compiled training steps with dropout that reach every weight."""
        model = Transformer.from_config(
            {**MODEL, "num_layers": 1, "dropout": 0.1, "tie_embeddings": True}
        )
        before = model.get_weights()
        # torch.compile needs a C++ compiler; there Keras' own choice will do.
        jit_compile = "auto" if keras.backend.backend() == "torch" else True
        model.compile(keras.optimizers.Adam(0.02), masked_loss(), jit_compile=jit_compile)
        source, target, labels = token_ids(2, 5), token_ids(2, 4, seed=1), token_ids(2, 4, seed=2)
        steps = [np.tile(ids, (80, 1)) for ids in (source, target, labels)]
        model.fit(batch(*steps[:2]), steps[2], batch_size=2, shuffle=False, verbose=0)
        assert (to_numpy(compiled(model)(batch(source, target))).argmax(-1) == labels).all()
        for variable, old in zip(model.weights, before, strict=True):
            # A key's bias adds the same to all scores of a query, which the softmax does not feel.
            assert variable.name == "key_bias" or (to_numpy(variable) != old).any(), variable.path

    def test_symbolic_call(self):
        inputs = {
            name: keras.Input((None,), dtype="int32")
            for name in ("encoder_token_ids", "decoder_token_ids")
        }
        logits = shared_model()(inputs)
        assert logits.shape == (None, None, 11)
        assert logits.dtype == "float32"
        few = shared_model()({**inputs, "real_tokens": keras.Input((), dtype="int32")})
        assert few.shape == (None, 11)
        half = Transformer.from_config({**MODEL, "dtype": "mixed_float16"})
        assert half(inputs).dtype == "float32"

    def test_dropout_is_active_in_training_only(self):
        """In the encoder; the decoder has its dropout from the same block."""
        model, source = (
            Transformer.from_config({**MODEL, "num_layers": 1, "dropout": 0.5}),
            token_ids(1, 5),
        )
        expected = to_numpy(model.encode(source))
        assert (to_numpy(model.encode(source)) == expected).all()
        assert (to_numpy(model.encode(source, training=False)) == expected).all()
        assert np.abs(to_numpy(model.encode(source, training=True)) - expected).max() > 0.1

    def test_attention_scores(self):
        source, target = pad(token_ids(2, 4), 5), token_ids(2, 3, seed=1)
        scores = compiled(shared_model().attention_scores)(batch(source, target))
        shapes = {"encoder": (5, 5), "decoder": (3, 3), "cross": (3, 5)}
        assert set(scores) == set(shapes)
        for name, shape in shapes.items():
            assert len(scores[name]) == 2
            for layer_scores in scores[name]:
                layer_scores = to_numpy(layer_scores)
                assert layer_scores.shape == (2, 3, *shape)
                np.testing.assert_allclose(layer_scores.sum(-1), 1, rtol=1e-5)
                if name == "decoder":
                    assert (layer_scores[..., ~np.tril(np.ones(shape, bool))] == 0).all()
                else:
                    assert (layer_scores[..., 4] == 0).all()

    def test_embeddings_start_as_the_paper_scales_them(self):
        model = Transformer.from_preset("tiny", 1000, tie_embeddings=True)
        matrix = model.encoder_embedding.get_weights()[0]
        assert matrix.std() == pytest.approx(128**-0.5, rel=0.02)
        assert model.decoder_embedding is model.encoder_embedding


class TestErrors:
    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({"num_heads": 5}, r"`hidden_dim` must be divisible by `num_heads`.*12.*5"),
            ({"num_heads": 0}, r"`num_heads` must be a positive integer.*0"),
            ({"hidden_dim": -12}, r"`hidden_dim` must be a positive integer.*-12"),
            ({"num_layers": 0}, r"`num_layers` must be a positive integer.*0"),
            ({"num_layers": True}, r"`num_layers` must be a positive integer.*True"),
            ({"dropout": 1.0}, r"`dropout` must be at least 0 and below 1.*1\.0"),
            ({"dropout": "high"}, r"`dropout` must be at least 0 and below 1.*'high'"),
            ({"attention_gain": 0}, r"`attention_gain` must be a number above 0.*0"),
            ({"attention_gain": math.inf}, r"`attention_gain` must be a number above 0.*inf"),
            ({"attention_gain": 1e200}, r"`attention_gain` must be a number above 0.*1e\+200"),
            ({"attention_gain": 1e-200}, r"`attention_gain` must be a number above 0.*1e-200"),
            ({"tie_embeddings": "no"}, r"`tie_embeddings` must be True or False.*'no'"),
            ({"gated": 2}, r"`gated` must be True or False.*2"),
            ({"normalize_first": None}, r"`normalize_first` must be True or False.*None"),
            ({"vocabulary_size": None}, r"TransformerConfig with a `vocabulary_size`"),
            ({"vocabulary_size": 0}, r"`vocabulary_size` must be a positive integer.*0"),
            ({"vocabulary_size": 9.5}, r"`vocabulary_size` must be a positive integer.*9\.5"),
            ({"max_sequence_length": 0}, r"`max_sequence_length` must be a positive integer.*0"),
            ({"positions": "relative"}, r"`positions` must be one of.*'relative'"),
            (
                {"tie_embeddings": True, "source_vocabulary_size": 9},
                r"one vocabulary.*source_vocabulary_size=9, vocabulary_size=11",
            ),
        ],
    )
    def test_of_configuration(self, arguments, message):
        with pytest.raises(ValueError, match=message):
            Transformer.from_config({**MODEL, **arguments})

    @LOOKS_AT_IDS
    def test_ids_outside_of_the_vocabulary(self):
        model = Transformer.from_config({**MODEL, "num_layers": 1, "source_vocabulary_size": 9})
        good = np.array([[1, 8]])
        with pytest.raises(ValueError, match=r"`encoder_token_ids`.*between 0 and 8.*from 1 to 9"):
            model(batch(np.array([[1, 9]]), good))
        with pytest.raises(ValueError, match=r"`decoder_token_ids`.*between 0 and 10.*-1 to 8"):
            model(batch(good, np.array([[-1, 8]])))
        with pytest.raises(ValueError, match=r"`encoder_token_ids` must hold integers.*float32"):
            model(batch(good.astype("float32"), good))
        with pytest.raises(ValueError, match=r"`encoder_token_ids` must be an array.*\[\[1, 8\]\]"):
            model.encode([[1, 8]])
        with pytest.raises(ValueError, match=r"dictionary with encoder_token_ids.*'ndarray'"):
            model.attention_scores(good)
        cache = model.start_cache(model.encode(good), max_length=2)
        with pytest.raises(ValueError, match=r"`token_ids`.*between 0 and 10.*-3 to -3"):
            model.decode_step(np.array([[-3]]), 0, cache)  # it was the embedding of 11 - 3

    def test_sequence_too_long(self):
        model = Transformer.from_config({**MODEL, "num_layers": 1, "max_sequence_length": 3})
        with pytest.raises(ValueError, match=r"max_sequence_length=3 tokens.*4"):
            model(batch(token_ids(1, 4), token_ids(1, 2)))
        model.compile("sgd", masked_loss())
        with pytest.raises((ValueError, RuntimeError), match=r"max_sequence_length=3 tokens.*4"):
            model.fit(batch(token_ids(1, 2), token_ids(1, 4)), token_ids(1, 4), verbose=0)


VECTORS = {"inputs": array(2, 5, 12), "padding_mask": np.arange(5) < [[5], [3]]}
DECODER_VECTORS = {
    "inputs": array(2, 4, 12),
    "encoder_output": array(2, 5, 12, seed=1),
    "decoder_padding_mask": np.arange(4) < [[4], [2]],
    "encoder_padding_mask": np.arange(5) < [[5], [3]],
}


def test_a_block_wants_a_configuration():
    with pytest.raises(ValueError, match=r"`config` must be a TransformerConfig. Received: 512"):
        EncoderLayer(512)


def test_sizes_of_numpy_are_sizes():
    sizes = np.int64(12), np.int32(20), np.uint8(3)
    config = TransformerConfig(*sizes, num_layers=np.int64(1), dropout=np.float32(0.5))
    layer = EncoderLayer(config)
    assert layer(array(1, 2, 12)).shape == (1, 2, 12)
    json.dumps(layer.get_config())


def test_a_configuration_does_not_change():
    config = TransformerConfig(12, 20, 3)
    with pytest.raises(FrozenInstanceError):
        config.hidden_dim = 24
    assert config == TransformerConfig(12, 20, 3)


def test_the_summary_has_shapes_and_every_parameter():
    lines = []
    shared_model().summary(print_fn=lambda text, **_: lines.append(text))
    text = "\n".join(lines)
    assert "?" not in text
    rows = re.findall(r"\((?:None, )+(\d+)\) *[│|] *([\d,]+)", text)
    assert [int(width) for width, _ in rows] == [12, 12, 12, 12, 11]
    assert sum(int(n.replace(",", "")) for _, n in rows) == shared_model().count_params()


class TestImplicitMasks:
    """A mask of Keras' that arrives is honoured: the same as if it had been passed."""

    ids = np.array([[4, 2, 7, 0, 0], [1, 3, 5, 9, 0]])

    def masked(self, ids, seed=0):
        embedding = keras.layers.Embedding(11, 12, mask_zero=True)
        embedding.build(ids.shape)
        embedding.set_weights([array(11, 12, seed=seed)])
        return embedding(ids), np.asarray(to_numpy(embedding(ids)))

    @pytest.mark.parametrize("layer_class", [EncoderLayer, Encoder])
    def test_in_the_encoder(self, layer_class):
        layer = layer_class.from_config({**BLOCK, "num_layers": 2})
        x, plain = self.masked(self.ids)
        expected = to_numpy(layer(plain, padding_mask=self.ids != 0))
        assert np.abs(to_numpy(layer(plain)) - expected).max() > 0.01
        assert_close(layer(x), expected)
        assert_close(layer(x, padding_mask=np.ones((2, 5), bool)), to_numpy(layer(plain)))

    @pytest.mark.parametrize("layer_class", [DecoderLayer, Decoder])
    def test_in_the_decoder(self, layer_class):
        layer = layer_class.from_config({**BLOCK, "num_layers": 2})
        target = self.ids[:, ::-1].copy()  # padding first, where a causal mask does not hide it
        (x, plain), (source, plain_source) = self.masked(target), self.masked(self.ids, seed=1)
        masks = {"decoder_padding_mask": target != 0, "encoder_padding_mask": self.ids != 0}
        expected = to_numpy(layer(plain, plain_source, **masks))
        assert np.abs(to_numpy(layer(plain, plain_source)) - expected).max() > 0.01
        assert_close(layer(x, source), expected)

    def test_it_stays_with_the_outputs(self):
        """So that the next layer, one of Keras' own, honours it, too."""
        x, _ = self.masked(self.ids)
        pooled = keras.layers.GlobalAveragePooling1D()
        layer = EncoderLayer.from_config(BLOCK)
        outputs = layer(x)
        real = (self.ids != 0)[..., None]
        expected = (to_numpy(outputs) * real).sum(1) / real.sum(1)
        assert_close(pooled(layer(x)), expected)


@pytest.mark.parametrize(
    ("layer_class", "arguments", "inputs", "num_weights"),
    [
        (FeedForward, {"hidden_dim": 12, "intermediate_dim": 20}, {"inputs": array(2, 5, 12)}, 4),
        (OutputHead, {"vocabulary_size": 7}, {"inputs": array(2, 5, 12)}, 2),
        (EncoderLayer, BLOCK, VECTORS, 16),
        (DecoderLayer, BLOCK, DECODER_VECTORS, 26),
        (Encoder, {**BLOCK, "num_layers": 1, "normalize_first": True}, VECTORS, 18),
        (Decoder, {**BLOCK, "num_layers": 1, "normalize_first": True}, DECODER_VECTORS, 28),
    ],
)
def test_layer(layer_class, arguments, inputs, num_weights):
    keeps_float32 = layer_class is OutputHead
    check_layer(layer_class, arguments, inputs, num_weights, keeps_float32)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_a_model_in_one_dtype_throughout_gives_float32_logits(dtype):
    config = TransformerConfig(8, 16, 2, num_layers=1, vocabulary_size=11)
    model = Transformer(config)
    inputs = batch(token_ids(2, 4), token_ids(2, 3))
    expected = to_numpy(compiled(model)(inputs))
    logits = compiled(model.with_dtype(dtype))(inputs)
    assert keras.backend.standardize_dtype(logits.dtype) == "float32"
    np.testing.assert_allclose(to_numpy(logits), expected, atol=0.05)


def test_rotary_positions_need_an_even_width_of_a_head():
    with pytest.raises(ValueError, match=r"must be even. Received: hidden_dim=6, num_heads=2"):
        TransformerConfig(6, 8, 2, positions="rotary")
    assert TransformerConfig(8, 8, 2, positions="rotary").key_dim == 4


@pytest.mark.slow
def test_a_compiled_model_loads_where_only_keras_and_the_package_are_imported(tmp_path):
    model = Transformer(TransformerConfig(8, 16, 2, num_layers=1, vocabulary_size=11))
    model(batch(token_ids(2, 4), token_ids(2, 3)))
    compile_model(model, WarmupSchedule(1e-3, 10))
    model.save(tmp_path / "model.keras")
    code = "import sys, keras, nlp104; print(keras.saving.load_model(sys.argv[1]).compiled)"
    command = [sys.executable, "-c", code, str(tmp_path / "model.keras")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "True", done.stderr


def test_a_block_refuses_another_width_or_rank():
    layer = EncoderLayer(TransformerConfig(8, 16, 2))
    with pytest.raises(ValueError, match=r"axis -1.*value 8"):
        layer(array(1, 2, 6))
    with pytest.raises(ValueError, match="expected ndim=3"):
        layer(array(2, 8))


def test_a_model_asks_for_a_dictionary_of_both():
    model = Transformer(TransformerConfig(8, 16, 2, num_layers=1, vocabulary_size=9))
    ids = np.array([[4, 5]])
    for inputs, named in (([ids, ids], "list"), ({"encoder_token_ids": ids}, "encoder_token_ids")):
        with pytest.raises(ValueError, match=f"Expected a dictionary with .*Received: .'{named}'"):
            model(inputs)


@pytest.mark.parametrize("step", [2, -1])
def test_a_step_beyond_the_cache_is_refused(step):
    model = Transformer(TransformerConfig(8, 16, 2, num_layers=1, vocabulary_size=9))
    cache = model.start_cache(model.encode(np.array([[4, 5]])), max_length=2)
    with pytest.raises(ValueError, match=rf"max_length=\d+.* Received: .*{step}"):
        model.decode_step(np.array([[5]]), step, cache)


@pytest.mark.parametrize("kind", ["translator", "language model"])
@pytest.mark.parametrize(("step", "length"), [(0, 4), (1, 3), (2, 2)])
def test_several_tokens_that_reach_over_the_edge_of_the_cache_are_refused(kind, step, length):
    """The last ones would not see their own keys."""
    sizes = {"hidden_dim": 8, "intermediate_dim": 16, "num_heads": 2, "num_layers": 1}
    if kind == "translator":
        model = Transformer.from_config(sizes | {"vocabulary_size": 9})
        cache = model.start_cache(model.encode(np.array([[4, 5]])), max_length=3)
    else:
        model = LanguageModel.from_config(sizes | {"vocabulary_size": 9})
        cache = model.start_cache(1, max_length=3)
    model.decode_step(np.full((1, 3), 5), 0, cache)  # as many as there is room for
    refused = rf"max_length=3\. Received: {step} to {step + length - 1}\."
    with pytest.raises(ValueError, match=refused):
        model.decode_step(np.full((1, length), 5), step, cache)


@pytest.mark.parametrize(("tied", "has_kernel"), [(True, False), (False, True)])
def test_a_kernel_is_for_a_tied_output(tied, has_kernel):
    kernel = array(4, 3) if has_kernel else None
    with pytest.raises(ValueError, match="if `tied`, and only then"):
        OutputHead(3, tied=tied)(array(1, 2, 4), kernel)


def test_a_mask_goes_on_through_the_output():
    """As through `keras.layers.Dense`: a loss by Keras would count padding, too."""
    ids = keras.Input((None,), dtype="int32")
    x = keras.layers.Embedding(9, 4, mask_zero=True)(ids)
    model = keras.Model(ids, [OutputHead(3)(x), keras.layers.Dense(3)(x)])
    ours, kerass = model(np.array([[5, 7, 0]]))
    assert ops.convert_to_numpy(ours._keras_mask).tolist() == [[True, True, False]]
    np.testing.assert_array_equal(
        *map(ops.convert_to_numpy, (ours._keras_mask, kerass._keras_mask))
    )


@pytest.mark.parametrize("make", [FeedForward, Residual], ids=lambda layer: layer.__name__)
def test_a_rate_that_is_none(make):
    sizes = (4, 8) if make is FeedForward else ()
    with pytest.raises(ValueError, match=r"`dropout` must be from 0 to 1\. Received: None"):
        make(*sizes, dropout=None)
    switch = "gated" if make is FeedForward else "normalize_first"
    with pytest.raises(ValueError, match=rf"`{switch}` must be True or False\. Received: 1\."):
        make(*sizes, **{switch: 1})


@pytest.mark.parametrize("epsilon", [0, 0.5, np.float32(0.5), np.int64(3)])
def test_an_epsilon_of_python_and_numpy(epsilon):
    Residual(epsilon=epsilon)


@pytest.mark.parametrize(
    "epsilon", [-1, float("nan"), float("inf"), True, np.False_, "1", None, 1j, np.ones(1)]
)
def test_what_is_no_epsilon(epsilon):
    with pytest.raises(ValueError, match=r"^`epsilon` must be a number of at least 0\. Received: "):
        Residual(epsilon=epsilon)


def test_a_configuration_is_fit_for_json():
    config = TransformerConfig(8, 16, 2, epsilon=np.float32(1e-5))
    assert TransformerConfig(**json.loads(json.dumps(config.to_dict()))) == config
    for name, value in (
        ("epsilon", -1),
        ("kernel_initializer", keras.initializers.HeNormal()),
        ("activation", keras.activations.gelu),
    ):
        with pytest.raises(ValueError, match=f"`{name}` must be"):
            TransformerConfig(8, 16, 2, **{name: value})


@pytest.mark.parametrize("mode", ["int8", "float8"])
def test_a_quantised_model_works_and_says_that_it_cannot_be_saved(tmp_path, mode):
    """It was saved without a word, and what was saved could not be loaded."""
    model = Transformer(TransformerConfig(8, 16, 2, num_layers=1, vocabulary_size=9, dropout=0.0))
    ids = {"encoder_token_ids": np.array([[4, 5, 3]]), "decoder_token_ids": np.array([[2, 6]])}
    before = ops.convert_to_numpy(model(ids))
    model.quantize(mode)
    np.testing.assert_allclose(ops.convert_to_numpy(model(ids)), before, atol=0.1)
    feed_forward = model.encoder.blocks[0].feed_forward
    path = tmp_path / "model.keras"
    for refused in (lambda: model.save(path), feed_forward.get_config):
        with pytest.raises(ValueError, match=f"in floating point.* Received: {mode}"):
            refused()
    assert not path.exists()

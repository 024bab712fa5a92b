"""The two profiles: of a training step, and of decoding one sentence."""

import keras
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import decoding_profile, profile

LAYER = "transformer_1/decoder_1/layer_0_1/"
OPERATIONS = {
    "transformer_1/add_1:_MklNativeFusedMatMul": "vocabulary: three products",
    "gradient_tape/transformer_1/MatMul/MatMul_1:_MklMatMul": "vocabulary: three products",
    f"{LAYER}self_attention_1/Tensordot/MatMul:_MklMatMul": "attention: products",
    f"gradient_tape/{LAYER}Tensordot_2/MatMul/MatMul:MatMul": "attention: products",  # cross
    f"{LAYER}self_attention_1/Softmax:Softmax": "attention: softmax, masks, transposing",
    f"{LAYER}feed_forward_1/expand_1/Tensordot/MatMul:MatMul": "feed-forward: products",
    f"{LAYER}feed_forward_1/expand_1/Relu:Relu": "feed-forward: the rest",
    f"{LAYER}feed_forward_residual_1/normalization_1/Rsqrt:Rsqrt": (
        "residual sums and normalisation"
    ),
    f"{LAYER}feed_forward_residual_1/dropout_7_1/stateless_dropout/Mul:Mul": (
        "dropout: random numbers and masks"
    ),
    "transformer_1/encoder_embedding_1/GatherV2:GatherV2": "embedding and positions",
    "adam/Sqrt_3:Sqrt": "Adam",
    "adam_2/Sqrt_3:Sqrt": "Adam",  # of a process that has made others before
    "compile_loss/masked_crossentropy/Exp:Exp": "loss, accuracy, choosing the real tokens",
    "TensorScatterUpdate:TensorScatterUpdate": "loss, accuracy, choosing the real tokens",
}


@pytest.mark.parametrize(("operation", "part"), OPERATIONS.items())
def test_part_of_an_operation(operation, part):
    assert profile.part_of(operation) == part


@pytest.mark.skipif(keras.backend.backend() != "tensorflow", reason="TensorFlow's profiler")
def test_every_part_of_a_step_is_found():
    """The names of the operations are Keras' and TensorFlow's own: they may change."""
    parts = profile.measure("tiny", batch_size=8)
    assert list(parts) == list(profile.PARTS)
    assert all(milliseconds > 0 for milliseconds in parts.values())
    assert parts["vocabulary: three products"] > parts["feed-forward: the rest"]


@given(st.lists(st.floats(1, 1_000), min_size=5, max_size=5))
def test_costs_are_found_from_the_times_they_make(microseconds):
    costs = dict(zip(decoding_profile.PARTS, microseconds, strict=True))
    cases = [
        (layers, words, tokens)
        for layers in (1, 2)
        for words in (1_000, 8_000)
        for tokens in (32, 96)
    ]
    seconds = {
        case: sum(costs[part] * amount(*case) for part, amount in decoding_profile.PARTS.items())
        / 1e6
        for case in cases
    }
    found, error = decoding_profile.fit(seconds)
    assert found == pytest.approx(costs, rel=1e-6)
    assert error < 1e-6


def test_every_model_and_length_is_timed(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(decoding_profile, "RESULTS", tmp_path)
    monkeypatch.setattr(decoding_profile, "LAYERS", (1,))
    monkeypatch.setattr(decoding_profile, "VOCABULARY_SIZES", (30, 60))
    monkeypatch.setattr(decoding_profile, "LENGTHS", (2, 4))
    seconds = decoding_profile.measure(jit_compile=False, rounds=2)
    assert set(seconds) == {(1, words, tokens) for words in (30, 60) for tokens in (2, 4)}
    assert all(0 < time < 5 for time in seconds.values())
    monkeypatch.setattr(decoding_profile, "measure", lambda jit_compile, rounds: seconds)
    decoding_profile.main(["--rounds", "1"])
    lines = (tmp_path / "decoding.csv").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "part,xla,plain"
    assert len(lines) == 1 + len(decoding_profile.PARTS)
    assert "The fit misses" in capsys.readouterr().out

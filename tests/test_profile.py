"""`benchmarks.profile` puts every operation of a training step where it belongs."""

import keras
import pytest

from benchmarks import profile

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

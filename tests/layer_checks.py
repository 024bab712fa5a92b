"""What every layer of the package must pass, whatever it computes."""

import inspect
import json

import keras
import numpy as np
import pytest
from keras import ops

ON_ACCELERATOR = "cpu" not in str(getattr(ops.zeros(1), "device", "cpu")).lower()
# There the package does not look at ids, for which it would have to wait; PyTorch ends the process
# on one that is out of range.
LOOKS_AT_IDS = pytest.mark.skipif(ON_ACCELERATOR, reason="ids are looked at in the main memory")


def check_layer(layer_class, arguments, inputs, num_weights, keeps_float32=False):
    """Round trip, symbolic = eager shape, a jitted training step, mixed precision.

    Args:
        layer_class: the class.
        arguments: constructor arguments, without dropout: results are compared.
        inputs: call arguments by name, NumPy arrays.
        num_weights: how many weights the layer must have, all of them trainable.
        keeps_float32: whether the outputs are float32 under mixed precision, too.
    """
    layer = layer_class.from_config(arguments)  # blocks take a configuration object
    model = functional_model(layer, inputs)
    assert len(layer.trainable_weights) == len(layer.weights) == num_weights
    outputs = [ops.convert_to_numpy(tensor) for tensor in call(layer, inputs)]
    check_config(layer, arguments)
    check_shapes(layer, model, inputs, outputs)
    for policy in ("mixed_float16", "mixed_bfloat16"):
        check_mixed_precision(layer, policy, inputs, outputs, keeps_float32)
    if num_weights:
        check_training_step(layer, model, inputs, outputs)


def functional_model(layer, inputs):
    """The layer in a functional model with open batch size, built from symbolic inputs."""
    symbolic = {
        name: keras.Input(array.shape[1:], dtype=array.dtype.name, name=name)
        for name, array in inputs.items()
    }
    return keras.Model(symbolic, layer(**symbolic))


def compiled(function):
    """On JAX one compilation, not one for every operation and shape, which takes far longer."""
    if keras.backend.backend() == "jax":
        import jax

        return jax.jit(function)
    return function


def call(layer, inputs):
    """The tensors that a built layer returns."""
    return keras.tree.flatten(compiled(layer)(**inputs))


def check_config(layer, arguments):
    """The configuration has every argument, survives JSON, and makes an equal layer."""
    config = layer.get_config()
    parameters = inspect.signature(type(layer).__init__).parameters.values()
    named = {p.name for p in parameters if p.kind == p.POSITIONAL_OR_KEYWORD}
    assert named - {"self", "config"} <= set(config)
    assert not any(p.kind == p.VAR_POSITIONAL for p in parameters)
    assert {name: config[name] for name in arguments} == arguments
    clone = type(layer).from_config(json.loads(json.dumps(config)))
    assert clone.get_config() == config
    assert keras.saving.get_registered_name(type(layer)) == f"nlp104>{type(layer).__name__}"


def check_shapes(layer, model, inputs, outputs):
    """Symbolic shapes and dtypes are those of the values."""
    shapes = {f"{name}_shape": (None, *array.shape[1:]) for name, array in inputs.items()}
    wanted = inspect.signature(layer.compute_output_shape).parameters
    shapes = {name: shape for name, shape in shapes.items() if name in wanted}
    assert layer.compute_output_shape(**shapes) == model.outputs[0].shape
    for tensor, array in zip(model.outputs, outputs, strict=True):
        assert tensor.shape == (None, *array.shape[1:])
        assert tensor.dtype == array.dtype.name


def check_mixed_precision(layer, policy, inputs, outputs, keeps_float32):
    """Half precision inside, float32 variables, nearly the same results."""
    half = type(layer).from_config({**layer.get_config(), "dtype": policy})
    functional_model(half, inputs)
    half.set_weights(layer.get_weights())
    assert all(variable.dtype == "float32" for variable in half.weights)
    tolerance = {"mixed_float16": 1e-2, "mixed_bfloat16": 6e-2}[policy]
    for tensor, array in zip(call(half, inputs), outputs, strict=True):
        dtype = keras.backend.standardize_dtype(tensor.dtype)
        assert dtype == ("float32" if keeps_float32 else half.compute_dtype)
        values = ops.convert_to_numpy(ops.cast(tensor, "float32"))
        np.testing.assert_allclose(values, array, rtol=tolerance, atol=tolerance)


def check_training_step(layer, model, inputs, outputs):
    """One compiled step of gradient descent changes every weight, and leaves it finite."""
    # torch.compile needs a C++ compiler; there Keras' own choice will do.
    jit_compile = "auto" if keras.backend.backend() == "torch" else True
    model.compile(keras.optimizers.SGD(0.1), "mse", jit_compile=jit_compile)
    before = layer.get_weights()
    targets = [array + np.arange(array.shape[-1], dtype="float32") for array in outputs]
    model.train_on_batch(inputs, targets if len(targets) > 1 else targets[0])
    for variable, old in zip(layer.weights, before, strict=True):
        new = ops.convert_to_numpy(variable)
        assert np.isfinite(new).all(), variable.path
        assert (new != old).any() or _has_no_gradient(variable), variable.path


def _has_no_gradient(variable):
    """A key's bias adds the same to all scores of a query, which the softmax does not feel."""
    return variable.name == "key_bias"

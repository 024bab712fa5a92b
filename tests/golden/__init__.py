"""Values that another library computed, and the script that made them."""

import pathlib

import numpy as np
import pytest


def torch_case(origin, name):
    """One case of PyTorch's values, by field; "stored" ones always, "live" ones where installed."""
    if origin == "stored":
        cases = dict(np.load(pathlib.Path(__file__).with_name("torch.npz")))
    else:
        pytest.importorskip("torch", reason="PyTorch is not installed")
        from golden.make_torch_golden import make_cases

        cases = make_cases()
    prefix = f"{name}/"
    return {key.removeprefix(prefix): cases[key] for key in cases if key.startswith(prefix)}


def set_weights(layer, vector):
    """Cuts a vector into the weights of a layer."""
    sizes = [np.prod(variable.shape, dtype=int) for variable in layer.weights]
    assert sum(sizes) == len(vector)
    parts = np.split(vector, np.cumsum(sizes)[:-1])
    shapes = [variable.shape for variable in layer.weights]
    layer.set_weights([part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)])

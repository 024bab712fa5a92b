"""Many devices give what one gives; eight are pretended, in a process of their own."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from nlp104.cli.main import main
from nlp104.figures.explore.devices import held
from nlp104.training.distribution import (
    EMBEDDINGS,
    SLICED,
    SLICES,
    make_distribution,
    parse_grid,
    slices_of,
)
from nlp104.transformer.config import TransformerConfig
from nlp104.transformer.model import Transformer
from nlp104.utils.errors import InputError
from tools.check import compile_fast

CONFIG = TransformerConfig(16, 32, 4, num_layers=1, vocabulary_size=40)
SHARING = TransformerConfig(  # no two of its sizes are alike: a shape says which axis is which
    24, 28, 8, num_layers=1, vocabulary_size=40, gated=True, num_key_value_heads=4
)
# The weights of the model in many_devices.py that are cut: q, k, v with biases and W_O of each
# attention (7), the network's two matrices and its first bias (3), the embeddings and the
# output's bias; one encoder layer, one decoder layer with two attentions.
NUM_SLICED = (7 + 3) + (2 * 7 + 3) + 2


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    pytest.importorskip("jax", reason="only JAX divides work among devices")
    program = Path(__file__).with_name("many_devices.py")
    output = subprocess.run(
        [sys.executable, program, tmp_path_factory.mktemp("devices")],
        env={**os.environ, "XLA_FLAGS": compile_fast()},
        stdout=subprocess.PIPE,
        check=True,
    ).stdout
    return json.loads(output)


@pytest.mark.slow
@pytest.mark.parametrize("devices", ["data", "model:2x4", "grid, then data"])
def test_many_devices_learn_what_one_learns(found, devices):
    assert found["devices"] == 8
    expected = found["one"]["loss"]
    received = found[devices]["loss"]
    assert received == pytest.approx(expected[: len(received)], rel=2e-6)


@pytest.mark.slow
def test_the_weights_are_those_of_one_device(found):
    assert max(found["change"]) < 2e-6


@pytest.mark.slow
def test_batches_divide_among_the_devices(found):
    assert [found[name]["rows"] for name in ("one", "data", "model:2x4")] == [30, 32, 30]


@pytest.mark.slow
def test_every_weight_that_should_be_cut_is_cut_and_its_moments_with_it(found):
    assert len(found["model:2x4"]["sliced"]) == NUM_SLICED
    assert found["model:2x4"]["moments"] == 2 * NUM_SLICED  # Adam's
    assert found["one"]["sliced"] == found["data"]["sliced"] == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "slices", "devices"), [("one", 1, 1), ("data", 1, 8), ("model:2x4", 4, 8)]
)
def test_each_device_holds_what_the_figure_says(found, name, slices, devices):
    config = TransformerConfig(16, 32, 4, num_layers=1, vocabulary_size=40, tie_embeddings=True)
    each = 4 * held(config, slices)
    weights, moments = found[name]["held"]
    assert weights == [each] * devices + [0] * (8 - devices)
    assert moments == [2 * size for size in weights]


@pytest.mark.slow
def test_a_gate_is_cut_as_the_layer_that_it_is_multiplied_with(found):
    assert len(found["gates"]) == 2 * 2  # a kernel and a bias in the encoder, and in the decoder
    for path, each in found["gates"].items():
        quarter = 4 * 28 // 4  # bytes of float32
        assert each == [24 * quarter if path.endswith("kernel") else quarter] * 8


@pytest.mark.slow
def test_what_a_grid_saved_one_device_loads(found):
    assert found["saved"]


@pytest.mark.slow
def test_each_path_has_one_pattern_in_every_version_of_keras(found):
    """Keras searched for a pattern in a path until 3.13; from 3.14 on it matches the whole path."""
    patterns = {**SLICES, **EMBEDDINGS["source"], **EMBEDDINGS["target"]}
    for path in found["model:2x4"]["sliced"]:
        for find in (re.search, re.fullmatch):
            assert sum(find(pattern, path) is not None for pattern in patterns) == 1
    others = ("encoder/layer_0/attention/output_bias", "decoder/layer_0/feed_forward/contract/bias")
    for path in others:
        assert not any(re.search(pattern, f"transformer/{path}") for pattern in patterns)


def test_every_axis_of_heads_of_inner_units_and_of_words_is_cut():
    patterns, sizes = slices_of(SHARING, 4), {8, 4, 28, 40}
    for variable in Transformer(SHARING).trainable_variables:
        wanted = tuple(SLICED if size in sizes else None for size in variable.shape)
        found = [axes for p, axes in patterns.items() if re.fullmatch(p, variable.path)]
        assert found == ([wanted] if any(wanted) else []), variable.path


def test_a_vocabulary_that_does_not_divide_is_not_cut():
    config = TransformerConfig(16, 32, 4, vocabulary_size=41, source_vocabulary_size=40)
    assert slices_of(config, 4) == {**SLICES, **EMBEDDINGS["source"]}
    assert slices_of(CONFIG, 4) == {**SLICES, **EMBEDDINGS["source"], **EMBEDDINGS["target"]}


@pytest.mark.parametrize("text", ["", "model", "model:8", "model:0x4", "2x4", "model:2x-4", "Data"])
def test_another_grid_is_refused(text):
    with pytest.raises(InputError, match=r"Expected data or model:ROWSxSLICES.* Received: "):
        parse_grid(text)


def test_what_cannot_be_divided_is_refused(monkeypatch):
    monkeypatch.setattr("keras.backend.backend", lambda: "jax")
    monkeypatch.setattr("keras.distribution.list_devices", lambda: ["cpu:0"] * 12)
    two = TransformerConfig(16, 32, 4, vocabulary_size=40, num_key_value_heads=2)
    for text, config, problem in [
        ("model:4x4", CONFIG, "Expected 16 devices for model:4x4. Received: 12"),
        ("model:2x3", CONFIG, "Expected `num_heads` to divide by 3. Received: 4"),
        ("model:1x4", two, "Expected `num_key_value_heads` to divide by 4. Received: 2"),
    ]:
        with pytest.raises(InputError, match=problem):
            make_distribution(text, config)


def test_other_backends_are_refused(monkeypatch):
    monkeypatch.setattr("keras.backend.backend", lambda: "tensorflow")
    with pytest.raises(InputError, match=r"Only JAX .* Received: KERAS_BACKEND=tensorflow"):
        make_distribution("data", CONFIG)


def test_the_command_line_says_which_backend_it_needs(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("keras.backend.backend", lambda: "tensorflow")  # whichever runs the tests
    command = ["train", "--data", "grammar", "--pairs", "20", "--distribute", "data", "--output"]
    assert main([*command, str(tmp_path / "run")]) == 1
    assert "Set KERAS_BACKEND=jax" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()

"""The experiment on writing: its products are those of the decoder, and it counts no step twice."""

import json

import numpy as np
import pytest

from experiments import write_limits
from nlp104 import Transformer
from nlp104.figures import results


@pytest.mark.parametrize("size", write_limits.SIZES)
def test_the_products_read_what_a_step_of_the_decoder_reads(size):
    config = write_limits.SIZES[size]
    model = Transformer(config)
    ids = np.ones((1, 3), "int32")
    model({"encoder_token_ids": ids, "decoder_token_ids": ids})
    read = sum(
        np.prod(weight.shape)
        for weight in model.decoder.weights
        if len(weight.shape) > 1
        and "bias" not in weight.path
        and not any(f"cross_attention/{made}" in weight.path for made in ("key", "value"))
    )
    read += config.vocabulary_size * config.hidden_dim  # the output head's, tied or not
    assert sum(map(np.prod, write_limits.matrices(config))) == read


def test_all_take_turns_and_a_step_is_a_part_of_a_call(monkeypatch):
    monkeypatch.setattr(write_limits, "ROUNDS", 4)
    clock, calls = iter(range(100)), []
    monkeypatch.setattr(write_limits.time, "perf_counter", lambda: next(clock))
    found = write_limits.milliseconds(
        {"a": lambda: calls.append("a"), "b": lambda: calls.append("b")}
    )
    repeats, warm = write_limits.REPEATS, 3
    turns = [calls[i] for i in range(2 * warm, len(calls), repeats)]
    assert turns == ["a", "b", "b", "a", "a", "b", "b", "a"]
    assert found == {name: [1000 / repeats / write_limits.TOKENS] * 4 for name in "ab"}


def test_what_is_stored_was_measured_in_every_part():
    runs = json.loads(results.read("write-limits/limits.json"))["runs"]
    assert runs.keys() == write_limits.PARTS.keys()
    for part, run in runs.items():
        backend = write_limits.PARTS[part]["KERAS_BACKEND"]
        assert run["versions"]["backend"] == backend
        for found in run["found"].values():
            names = {"greedy"} | ({"products alone"} if backend == "jax" else set())
            assert names <= found.keys()
            for name in names:
                assert len(found[name]["rounds"]) == write_limits.ROUNDS

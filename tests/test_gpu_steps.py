"""The experiment on a GPU's steps: what is stored follows from the time of a step."""

import json

import pytest

from experiments import gpu_steps
from nlp104.figures import results
from nlp104.figures.explore.devices import config_of
from nlp104.figures.step_costs import step_flops

POINTS = [gpu_steps.name_of(*case) for case in gpu_steps.CASES]
RECORD = json.loads(results.read("gpu/steps.json"))


@pytest.mark.parametrize("name", POINTS)
def test_what_is_stored_follows_from_the_time_of_a_step(name):
    preset, tokens, _ = name.split(", ")
    run, length = RECORD["runs"][name], int(tokens.split()[0])
    assert run["rows"] * length == gpu_steps.POSITIONS
    seconds = run["milliseconds"]["median"] / 1000
    flops = step_flops(config_of(preset), run["rows"], length, length)
    assert run["tflops"] == pytest.approx(flops / seconds / 1e12, rel=2e-3)
    assert run["share"] == pytest.approx(run["tflops"] / run["product_tflops"], rel=2e-3)
    assert run["tokens_per_second"] == pytest.approx(gpu_steps.POSITIONS / seconds, rel=2e-3)
    assert 0.02 < run["share"] < 1

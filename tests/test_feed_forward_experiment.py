"""The variants of `experiments.feed_forward` differ in what they say, and its tasks are these."""

import json

import numpy as np
import pytest

from experiments import feed_forward
from nlp104.figures import results

LINES, ANSWERS = feed_forward.nots()
VARIANTS = feed_forward.WIDTHS | feed_forward.MORE


def model(name):
    return feed_forward.build(LINES, ANSWERS, **VARIANTS[name])


def weights(parts):
    return sum(part.count_params() for part in parts)


@pytest.mark.parametrize("name", feed_forward.MORE)
def test_more_attention_has_the_weights_of_attention_and_network(name):
    d = feed_forward.WIDTH
    more, full = model(name), model("×4")
    assert more.networks == []
    matrices = [w for part in more.attentions for w in part.weights if "kernel" in w.path]
    assert sum(np.prod(matrix.shape) for matrix in matrices) == 4 * d * d + 8 * d * d
    assert abs(more.count_params() - full.count_params()) < 0.07 * full.count_params()


@pytest.mark.parametrize(("name", "times"), [("×0", 0), ("×1", 1), ("×2", 2), ("×4", 4), ("×8", 8)])
def test_a_width_is_that_of_the_network_and_nothing_else(name, times):
    one, d = model(name), feed_forward.WIDTH
    assert [network.intermediate_dim for network in one.networks] == [times * d] * bool(times)
    assert weights(one.networks) == (2 * times * d * d + (times + 1) * d) * bool(times)
    assert weights(one.attentions) == weights(model("×0").attentions)


def test_a_network_that_is_there_is_used():
    one = model("×4")
    before = one(LINES[:2])
    one.networks[0].contract.kernel.assign(one.networks[0].contract.kernel + 1.0)
    one.networks[0].contract.bias.assign(np.arange(feed_forward.WIDTH))
    assert np.abs(np.asarray(one(LINES[:2])) - np.asarray(before)).max() > 1e-3


def test_all_lines_of_nots_are_there_and_half_of_them_turn_around():
    assert LINES.shape == (64, 7)
    assert len(np.unique(LINES, axis=0)) == 64
    assert (LINES[:, -1] == 2).all()
    np.testing.assert_array_equal(ANSWERS, [list(line).count(1) % 2 for line in LINES])
    assert ANSWERS.sum() == 32


def test_facts_have_one_object_for_each_subject_and_relation():
    pairs, objects = feed_forward.facts(64, 32)
    assert len(np.unique(pairs, axis=0)) == len(pairs) == len(objects) == 2048
    assert set(pairs[:, 0]) == set(range(64))
    assert set(pairs[:, 1]) == set(range(64, 96))  # words of their own
    assert set(objects) == set(range(32))


def test_the_table_is_that_of_the_numbers():
    record = json.loads(results.read("feed_forward/accuracies.json"))
    names = [f"{task}: {name}" for task, (_, these) in feed_forward.TASKS.items() for name in these]
    assert list(record["runs"]) == names
    for run in record["runs"].values():
        assert len(run["accuracies"]) == len(record["seeds"])
    assert feed_forward.table(record) in results.read("feed_forward/README.md")

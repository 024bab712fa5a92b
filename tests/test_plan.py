"""The plan for a thousand devices: its simulations against closed forms, its page against them."""

import json

import numpy as np
import pytest

from experiments import plan
from nlp104.figures import results
from tools import notebooks

RECORD = json.loads(plan.PATH.read_text(encoding="utf-8"))
PAGE = (notebooks.ROOT / "book" / "part4" / "a-thousand-devices.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("way", plan.WAYS)
def test_equal_sentences_keep_nobody_waiting(way):
    assert plan.used(np.full(50, 16), way, devices=40, count=3) == pytest.approx(1)


@pytest.mark.parametrize("way", plan.WAYS[1:])
def test_what_is_rounded_up_is_lost(way):
    """Sentences of 9 tokens are padded to 16."""
    costs = plan.costs_of(1, 16)
    assert plan.used(np.full(50, 9), way, 5, count=3) == pytest.approx(costs[9] / costs[16])


def test_the_longest_sentence_decides():
    """With one device and all sentences of a step drawn from two lengths."""
    costs, lengths = plan.costs_of(1, 40), np.array([8, 40])
    share = plan.used(lengths, plan.WAYS[0], devices=1, count=400)
    # A batch of 64 has almost surely a long one, and half of it is short.
    assert share == pytest.approx((costs[8] + costs[40]) / 2 / costs[40], rel=0.01)


def test_a_lone_device_waits_for_nobody():
    lengths = np.arange(3, 90)
    each, one = (plan.used(lengths, way, 1, count=4000) for way in plan.WAYS[1:])
    assert each == pytest.approx(one, rel=0.02)


def test_without_failures_only_saving_is_lost():
    assert plan.lost(1.0, 0.25, 8, hours=1e9) == pytest.approx(0.2, abs=1e-3)


@pytest.mark.parametrize("interval", [0.5, 2.0, 10.0])
def test_failures_cost_what_a_simulation_of_them_costs(interval):
    save, devices, hours = 0.05, 100, 1000
    failures = np.random.default_rng(104).exponential(hours / devices, 100_000)
    kept = interval * (failures // (interval + save))  # the period that fails is lost
    expected = 1 - kept.sum() / failures.sum()
    assert plan.lost(interval, save, devices, hours) == pytest.approx(expected, rel=0.01)


def test_the_interval_loses_least():
    """Young's root is the first order of what a search finds."""
    save, devices, hours = 0.01, 100, 50_000
    intervals = np.geomspace(0.1, 100, 4000)
    losses = [plan.lost(interval, save, devices, hours) for interval in intervals]
    best = intervals[np.argmin(losses)]
    assert plan.best_interval(save, devices, hours) == pytest.approx(best, rel=0.01)


def test_an_epoch_takes_what_the_step_costs_say():
    """Against the products counted one by one, for a wide model and short sentences."""
    config = plan.BASE
    weights = config.num_layers * (16 * config.hidden_dim**2 + 4 * 512 * 2048)
    weights += config.hidden_dim * config.vocabulary_size  # the matrix that gives logits
    flops = plan.costs_of(1, 16)[16] / 16  # of a token of each side
    assert plan.epoch_days(weights, 2, 1) * 86_400 * plan.CHIP == pytest.approx(flops, rel=0.25)


def test_the_page_shows_the_record():
    report = results.read("plan/README.md")
    for table in (plan.days_table, plan.waiting_table, plan.failing_table):
        assert table(RECORD) in PAGE
        assert table(RECORD) in report
    pair, giga = RECORD["a pair"], plan.PAIRS / 1e9
    hours = pair["CPU microseconds to cut"] / 1e6 * plan.PAIRS / 3600
    for said in (
        f"| {pair['bytes of text']:.0f} bytes | {pair['bytes of text'] * giga:.1f} GB |",
        f"| {pair['CPU microseconds to cut']:.0f} µs of a core | {hours:.1f} core hours |",
        f"| {pair['bytes in Batches']:.0f} bytes | {pair['bytes in Batches'] * giga:.0f} GB |",
        f"wrote {RECORD['MB/s to the disk'] / 1000:.1f} GB/s",
    ):
        assert said in PAGE

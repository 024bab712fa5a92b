"""`benchmarks.growth`: how the cost grows, computed from turns, as tables."""

import csv

import pytest

from benchmarks import growth
from benchmarks.config import Config
from nlp104.figures import results

CONFIG = Config.of("tiny")


def test_rates_are_medians_over_turns_at_every_point(monkeypatch):
    seen = []

    def train(team, config, rounds, seconds, data, own):
        assert team == "team"
        ((_, labels),) = data
        assert (labels > 0).all()  # no padding
        seen.append((*labels.shape, config.vocabulary_size))
        turns = [{"tokens": labels.size, "seconds": s} for s in (1.0, 2.0, 9.0)]
        return {"nlp104-jax": {"turns": turns}}

    monkeypatch.setattr(growth, "train", train)
    rows = growth.training("team", CONFIG, 3, 1.0)
    assert len(rows) == len(seen) == sum(map(len, growth.GRID.values()))
    for row, (batch, length, _) in zip(rows, seen, strict=True):
        assert row["y"] == batch * length / 2
    lengths = [point for row, point in zip(rows, seen, strict=True) if row["curve"] == "length"]
    assert [length for _, length, _ in lengths] == [10, 20, 40, 80, 160, 320]
    assert all(batch * length == growth.TOKENS for batch, length, _ in lengths)
    assert [row["x"] for row in rows if row["curve"] == "vocabulary"][-1] == 32_000


def test_a_position_costs_the_difference_of_two_lengths(monkeypatch):
    """Where a token costs 1 ms and 2 ms more for each position before it."""

    def decode(team, config, rounds, cases, sources):
        return {
            case: {"torch": {"turns": [{"seconds": 2 * s, "calls": 2} for s in (t, t, 7.0)]}}
            for case in cases
            for t in [sum(0.001 + 0.002 * position for position in range(case[1]))]
        }

    monkeypatch.setattr(growth, "decode", decode)
    rows = growth.decoding("team", CONFIG, 3)
    for row in rows:
        assert row["y"] == pytest.approx(1 + 2 * (row["x"] - 0.5))


def test_tables():
    rows = [
        {"curve": curve, "x": x, "entry": entry, "y": y}
        for curve in growth.HEADINGS
        for entry, factor in (("nlp104-jax", 1), ("torch", 2))
        for x, y in ((1_000, 300.0 * factor), (20, 500.0 * factor))
    ]
    assert len(growth.tables(rows)) == 2 * len(growth.HEADINGS)
    heading, table = growth.tables(rows[:4])
    assert heading == f"### {growth.HEADINGS['length']}\n"
    assert table.splitlines() == [
        "| entry | 20 | 1,000 |",
        "| --- | --: | --: |",
        "| **nlp104-jax** | 500 | 300 |",
        "| torch | 1,000 | 600 |",
    ]


def test_the_report_shows_the_stored_numbers():
    lines = csv.DictReader(results.read("benchmarks/two-cores-growth/growth.csv").splitlines())
    rows = [{**line, "x": int(line["x"]), "y": float(line["y"])} for line in lines]
    report = results.read("benchmarks/two-cores-growth/README.md")
    for part in growth.tables(rows):
        assert part in report

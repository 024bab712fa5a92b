"""`benchmarks.growth`: how the cost grows, computed from turns, drawn."""

from types import SimpleNamespace

import pytest

from benchmarks import growth
from benchmarks.config import Config

CONFIG = Config.of("tiny")


def test_rates_are_medians_over_turns_at_every_point(monkeypatch):
    seen = []

    def train(team, config, rounds, seconds, own, data):
        ((_, labels),) = data
        assert (labels > 0).all()  # no padding
        seen.append((*labels.shape, config.vocabulary_size))
        turns = [{"tokens": labels.size, "seconds": s} for s in (1.0, 2.0, 9.0)]
        return {"nlp104-jax": {"turns": turns, "versions": {"jax": "1"}}}

    monkeypatch.setattr(growth, "train", train)
    noted = []
    rows = growth.training(
        "team", CONFIG, 3, 1.0, lambda team, results: noted.append((team, results))
    )
    assert len(rows) == len(seen) == len(noted) == sum(map(len, growth.GRID.values()))
    assert {team for team, _ in noted} == {"team"}
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
    rows = growth.decoding(SimpleNamespace(workers=["torch"]), CONFIG, 3)
    for row in rows:
        assert row["y"] == pytest.approx(1 + 2 * (row["x"] - 0.5))


def test_figures(tmp_path):
    rows = [
        {"curve": curve, "x": x, "entry": entry, "y": y}
        for curve in growth.LABELS
        for entry, factor in (("nlp104-jax", 1), ("torch", 2))
        for x, y in ((10, 300.0 * factor), (20, 500.0 * factor))
    ]
    captions = growth.draw(rows, tmp_path)
    assert sorted(captions) == sorted(path.name for path in tmp_path.iterdir())
    assert len(captions) == 4
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in tmp_path.iterdir())
    assert growth.draw(rows[:4], tmp_path).keys() == {"length.png"}

"""`experiments.precision` trains in the precision it names, goes on where it was, and sums up."""

import json

import pytest

from experiments import precision
from nlp104.figures import results

SMALL = {"data": "grammar", "epochs": 1, "pairs": 40, "hidden_dim": 16, "intermediate_dim": 16}


@pytest.mark.long
def test_runs_are_kept_and_not_repeated(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(precision, "RESULTS", tmp_path)
    monkeypatch.setattr(precision, "SEEDS", (1,))
    monkeypatch.setattr(precision, "TESTED", 5)
    monkeypatch.setattr(precision, "SETTINGS", SMALL)
    computed, train = [], precision.commands.train

    def noting(output, **settings):
        computed.append(settings["dtype"])
        return train(output, **settings)

    monkeypatch.setattr(precision.commands, "train", noting)
    precision.main([])
    assert computed == ["float32", "mixed_bfloat16", "mixed_float16"]
    runs = json.loads((tmp_path / "grammar.json").read_text(encoding="utf-8"))["runs"]
    assert all(run["val_loss"] > 0 and 0 <= run["bleu"] <= 100 for run in runs.values())
    capsys.readouterr()
    precision.main([])
    assert len(computed) == 3
    assert len(capsys.readouterr().out.splitlines()) == 5  # the table alone


def test_table_has_means_and_extremes():
    numbers = {"val_loss": 1.0, "val_accuracy": 0.5, "bleu": 40.0, "exact_match": 0.25}
    runs = {
        f"{dtype}/{seed}": numbers | {"val_loss": float(seed), "seconds": 10 * seed}
        for dtype in precision.DTYPES
        for seed in (1, 2, 6)
    }
    *_, last = precision.table(runs).splitlines()
    cells = [cell.strip() for cell in last.strip("|").split("|")]
    assert cells[:2] == ["mixed_float16", "3.000 (1.000-6.000)"]
    assert cells[2] == "50.0 (50.0-50.0)"
    assert cells[-1] == "30 (10-60)"


def test_the_report_shows_the_stored_numbers():
    record = json.loads(results.read("precision/grammar.json"))
    assert precision.table(record["runs"]) in results.read("precision/README.md")

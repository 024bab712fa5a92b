"""Does mixed precision end where float32 ends? The same training, three seeds of each.

    python -m benchmarks.precision

trains the preset tiny on the grammar as `nlp104 train --dtype …` does, translates the test part,
and writes ``results/precision/grammar.json``. A run that was stopped goes on where it was.

Seeds decide the first weights, the batches and the dropout, so runs of one precision differ as
well: that spread is the noise with which the precisions are to be compared.
"""

import argparse
import csv
import statistics
import sys
import tempfile
from pathlib import Path

import keras

from benchmarks import report
from nlp104.cli import commands
from nlp104.data.corpus import load_corpus
from nlp104.training.run_record import software_versions
from nlp104.training.settings import DTYPES
from nlp104.translation.evaluation import bleu, exact_match
from nlp104.translation.translator import Translator

RESULTS = Path(__file__).resolve().parents[1] / "results" / "precision"
SEEDS = (1, 2, 3)
SETTINGS = {"data": "grammar", "epochs": 3}
TEST_SEED = 104  # all translate the same sentences
TESTED = 1_000


def run(dtype, seed, output):
    """Trains in a precision and translates: a dictionary of numbers."""
    commands.train(output, quiet=True, dtype=dtype, seed=seed, **SETTINGS)
    with (output / "history.csv").open(encoding="utf-8") as file:
        epochs = list(csv.DictReader(file))
    test = load_corpus("grammar", seed=TEST_SEED, sizes=(1, 1, TESTED)).references("test")
    sources, references = zip(*test, strict=True)
    said = Translator.load(output).translate(sources)
    return {
        "val_loss": round(float(epochs[-1]["val_loss"]), 4),
        "val_accuracy": round(float(epochs[-1]["val_accuracy"]), 4),
        "bleu": round(bleu(said, references).score, 2),
        "exact_match": round(exact_match(said, references), 4),
        "seconds": round(sum(float(epoch["seconds"]) for epoch in epochs)),
    }


def table(runs):
    """Means over the seeds, and how far apart the seeds are, as Markdown."""

    def over_seeds(name, digits, scale=1):
        def text(row):
            values = [scale * run[name] for run in row["runs"]]
            mean = f"{statistics.mean(values):.{digits}f}"
            return f"{mean} ({min(values):.{digits}f} to {max(values):.{digits}f})"

        return text

    columns = {
        "precision": lambda row: row["dtype"],
        "validation loss": over_seeds("val_loss", 3),
        "next token right, %": over_seeds("val_accuracy", 1, scale=100),
        "BLEU": over_seeds("bleu", 1),
        "exact match, %": over_seeds("exact_match", 1, scale=100),
        "training, s": over_seeds("seconds", 0),
    }
    rows = [
        {"dtype": dtype, "runs": [runs[key] for key in runs if key.startswith(f"{dtype}/")]}
        for dtype in DTYPES
    ]
    return report.markdown(rows, columns)


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.precision", description=__doc__)
    parser.parse_args(arguments)
    path = RESULTS / "grammar.json"
    record = {
        "command": "python -m benchmarks.precision",
        "settings": SETTINGS,
        "tested": TESTED,
        "versions": software_versions(keras.backend.backend()),
        "runs": report.runs_so_far(path),
    }
    for seed in SEEDS:
        for dtype in DTYPES:
            key = f"{dtype}/{seed}"
            if key in record["runs"]:
                continue
            with tempfile.TemporaryDirectory() as folder:
                record["runs"][key] = run(dtype, seed, Path(folder))
            print(key, record["runs"][key], flush=True)
            report.write_record(path, record)
    print(table(record["runs"]), end="")


if __name__ == "__main__":
    sys.exit(main())

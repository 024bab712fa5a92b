"""Does mixed precision end where float32 ends? The same training, three seeds of each.

    python -m experiments.precision

trains the preset tiny on the grammar as `nlp104 train --dtype …` does, translates the test part,
and writes ``results/precision/grammar.json``. A run that was stopped goes on where it was.

Seeds decide the first weights, the batches and the dropout, so runs of one precision differ as
well: that spread is the noise with which the precisions are to be compared.
"""

import argparse
import csv
import sys
import tempfile
from pathlib import Path

import keras

from experiments import records
from nlp104.cli import commands
from nlp104.data.corpus import load_corpus
from nlp104.training.run_record import software_versions
from nlp104.training.settings import DTYPES
from nlp104.translation.evaluation import bleu, exact_match
from nlp104.translation.translator import Translator

RESULTS = records.RESULTS / "precision"
SEEDS = (1, 2, 3)
SETTINGS = {"data": "grammar", "epochs": 3, "attention_gain": 1.0}
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
    """The mean over the seeds and, in brackets, lowest and highest, as Markdown."""
    columns = {  # the heading, and how many digits of which multiple are shown
        "val_loss": ("validation loss", 3, 1),
        "val_accuracy": ("next token right, %", 1, 100),
        "bleu": ("BLEU", 1, 1),
        "exact_match": ("exact match, %", 1, 100),
        "seconds": ("training, s", 0, 1),
    }
    headings = " | ".join(heading for heading, _, _ in columns.values())
    lines = [f"| precision | {headings} |", "| --- |" + " --: |" * len(columns)]
    for dtype in DTYPES:
        cells = [dtype]
        for name, (_, digits, scale) in columns.items():
            values = [run[name] for key, run in runs.items() if key.startswith(f"{dtype}/")]
            cells.append(records.spread(values, digits, scale))
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m experiments.precision", description=__doc__)
    parser.parse_args(arguments)
    path = RESULTS / "grammar.json"
    record = {
        "command": "python -m experiments.precision",
        "settings": SETTINGS,
        "tested": TESTED,
        "versions": software_versions(keras.backend.backend()),
        "runs": records.runs_so_far(path),
    }
    for seed in SEEDS:
        for dtype in DTYPES:
            key = f"{dtype}/{seed}"
            if key in record["runs"]:
                continue
            with tempfile.TemporaryDirectory() as folder:
                record["runs"][key] = run(dtype, seed, Path(folder))
            print(key, record["runs"][key], flush=True)
            records.write(path, record)
    print(table(record["runs"]))


if __name__ == "__main__":
    sys.exit(main())

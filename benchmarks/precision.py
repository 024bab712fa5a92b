"""Does mixed precision end where float32 ends? The same training, three seeds of each.

    python -m benchmarks.precision

trains the preset tiny on the grammar as `nlp104 train --dtype …` does, translates the test part,
and writes ``results/precision/grammar.json``. A run that was stopped goes on where it was.

Seeds decide the first weights, the batches and the dropout, so runs of one precision differ as
well: that spread is the noise with which the precisions are to be compared.
"""

import csv
import json
import statistics
import sys
import tempfile
from pathlib import Path

import keras

from nlp104 import commands, recipe
from nlp104.checkpoints import replacing
from nlp104.corpus import load
from nlp104.evaluation import bleu, exact_match
from nlp104.translator import Translator

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
    test = load("grammar", seed=TEST_SEED, sizes=(1, 1, TESTED)).references("test")
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
    columns = {
        "validation loss": ("val_loss", 1, 3),
        "next token right, %": ("val_accuracy", 100, 1),
        "BLEU": ("bleu", 1, 1),
        "exact match, %": ("exact_match", 100, 1),
        "training, s": ("seconds", 1, 0),
    }
    lines = ["| precision | " + " | ".join(columns) + " |", "|---" * (len(columns) + 1) + "|"]
    for dtype in recipe.DTYPES:
        found = [runs[key] for key in runs if key.startswith(f"{dtype}/")]
        cells = [dtype]
        for name, scale, digits in columns.values():
            values = [scale * each[name] for each in found]
            mean = f"{statistics.mean(values):.{digits}f}"
            cells.append(f"{mean} ({min(values):.{digits}f} to {max(values):.{digits}f})")
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main():
    path = RESULTS / "grammar.json"
    record = {
        "command": "python -m benchmarks.precision",
        "settings": SETTINGS,
        "tested": TESTED,
        "versions": recipe.versions(keras.backend.backend()),
        "runs": json.loads(path.read_text(encoding="utf-8"))["runs"] if path.exists() else {},
    }
    RESULTS.mkdir(parents=True, exist_ok=True)
    for seed in SEEDS:
        for dtype in recipe.DTYPES:
            key = f"{dtype}/{seed}"
            if key in record["runs"]:
                continue
            with tempfile.TemporaryDirectory() as folder:
                record["runs"][key] = run(dtype, seed, Path(folder))
            print(key, record["runs"][key], flush=True)
            with replacing(path) as temporary:
                temporary.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    print(table(record["runs"]))


if __name__ == "__main__":
    sys.exit(main())

"""What attention can do without the feed-forward network, and how wide the network must be.

    python -m experiments.feed_forward

writes ``results/feed_forward/accuracies.json``: the share of right answers of small models that
differ in the width of their network, or have more attention in its place, with three seeds each. It
takes a quarter of an hour of one core; a run that was stopped goes on where it was. The chapter on
the feed-forward network draws the file.
"""

import argparse
import itertools
import sys

import keras
import numpy as np

from experiments import records
from nlp104.attention.multi_head import MultiHeadAttention
from nlp104.encoding.embedding import TokenAndPositionEmbedding
from nlp104.training.run_record import software_versions
from nlp104.transformer.feed_forward import FeedForward

RESULTS = records.RESULTS / "feed_forward"
SEEDS = (1, 2, 3)
WIDTH, HEADS, STEPS, RATE = 16, 4, 1000, 3e-3
NOTS = 6
# Weights of attention are 4d², those of a network four times as wide 8d²: three times as much
# attention has as many as both.
WIDTHS = {f"×{times}": {"times": times} for times in (0, 1, 2, 4, 8)}
MORE = {
    "×0, attention 3 times as wide": {"times": 0, "key_dim": 3 * WIDTH // HEADS},
    "×0, 3 times as many heads": {"times": 0, "heads": 3 * HEADS},
    "×0, 3 layers of attention": {"times": 0, "layers": 3},
}


class Reader(keras.Model):
    """Layers of attention, with or without networks behind them; the last token answers."""

    def __init__(self, words, length, answers, times, heads=HEADS, key_dim=None, layers=1):
        super().__init__()
        key_dim = key_dim or WIDTH // HEADS
        self.embedding = TokenAndPositionEmbedding(words, WIDTH, length)
        self.attentions = [MultiHeadAttention(heads, key_dim) for _ in range(layers)]
        self.networks = [FeedForward(WIDTH, times * WIDTH) for _ in range(layers) if times]
        self.norms = [
            keras.layers.LayerNormalization(epsilon=1e-6)
            for _ in range(layers + len(self.networks))
        ]
        self.to_answers = keras.layers.Dense(answers)

    def call(self, token_ids):
        x, norms = self.embedding(token_ids), iter(self.norms)
        for attend, think in itertools.zip_longest(self.attentions, self.networks):
            x = next(norms)(x + attend(x, x))
            if think is not None:
                x = next(norms)(x + think(x))
        return self.to_answers(x[:, -1])


def nots():
    """All lines of six words, each *so* or *not*, and one that asks: is *not* odd in number?"""
    words = np.array(list(itertools.product((0, 1), repeat=NOTS)))
    asks = np.full((len(words), 1), 2)
    return np.concatenate([words, asks], axis=1), words.sum(axis=1) % 2


def facts(subjects, relations, objects=32):
    """A table without a rule: for each subject and relation an object, drawn at random."""
    rng = np.random.default_rng(104)
    pairs = np.array(list(itertools.product(range(subjects), range(relations))))
    return pairs + np.array([0, subjects]), rng.integers(objects, size=len(pairs))


# For each task: what it consists of, and which variants are trained.
TASKS = {
    "nots": (nots, WIDTHS | MORE),
    "512 facts": (lambda: facts(32, 16), {name: WIDTHS[name] for name in ("×0", "×4")}),
    "2,048 facts": (lambda: facts(64, 32), WIDTHS | MORE),
}


def build(lines, answers, **variant):
    """A fresh model for a task."""
    words, kinds = int(lines.max()) + 1, int(answers.max()) + 1
    model = Reader(words, lines.shape[1], kinds, **variant)
    model(lines[:1])  # makes its weights
    return model


def train(seed, lines, answers, **variant):
    """Share of right answers after training on the whole table, and the number of weights."""
    keras.utils.set_random_seed(seed)
    model = build(lines, answers, **variant)
    rate = keras.optimizers.schedules.PolynomialDecay(RATE, STEPS, end_learning_rate=0.0)
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(
        keras.optimizers.Adam(rate), loss=loss, metrics=["accuracy"], jit_compile=True,
        steps_per_execution=50,
    )  # fmt: skip
    again = np.tile(lines, (STEPS, 1)), np.tile(answers, STEPS)  # a step is the whole table
    model.fit(*again, batch_size=len(lines), shuffle=False, verbose=0)
    said = model.predict(lines, batch_size=len(lines), verbose=0).argmax(axis=-1)
    return round(float(np.mean(said == answers)), 4), model.count_params()


def table(record):
    """The record as a table in Markdown: mean over the seeds, lowest and highest."""
    lines = ["| task | variant | weights | right answers, % |", "|---|---|---|---|"]
    for name, run in record["runs"].items():
        task, variant = name.split(": ")
        shares = records.spread(run["accuracies"], 1, 100)
        lines.append(f"| {task} | {variant} | {run['weights']:,} | {shares} |")
    return "\n".join(lines)


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m experiments.feed_forward", description=__doc__)
    parser.parse_args(arguments)
    path = RESULTS / "accuracies.json"
    runs = records.runs_so_far(path)
    record = {
        "command": "python -m experiments.feed_forward",
        "seeds": SEEDS,
        "width": WIDTH,
        "heads": HEADS,
        "steps": STEPS,
        "learning_rate": RATE,
        "versions": software_versions(keras.backend.backend()),
        "runs": runs,
    }
    for task, (make, variants) in TASKS.items():
        for name, variant in variants.items():
            run = runs.setdefault(f"{task}: {name}", {"weights": 0, "accuracies": []})
            for seed in SEEDS[len(run["accuracies"]) :]:
                accuracy, run["weights"] = train(seed, *make(), **variant)
                run["accuracies"].append(accuracy)
                print(f"{task}: {name}, seed {seed}: {accuracy}", flush=True)
                records.write(path, record)
    print(table(record))


if __name__ == "__main__":
    sys.exit(main())

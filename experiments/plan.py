"""What would change for a hundred million pairs and a thousand devices? Measured, then continued.

    python -m experiments.plan --data fra.txt

measures here what a pair costs on the way into a model (bytes, tokens, seconds). Of the two things
that one machine does not have, it simulates devices that wait for the slowest of them, and computes
what devices cost that fail. Writes ``results/plan/plan.json``; the page *A thousand devices, on
paper* shows it.
"""

import argparse
import json
import os
import sys
import tempfile
import time
import tracemalloc
from pathlib import Path

import numpy as np

from experiments import records
from nlp104.data.batches import Batches
from nlp104.data.corpus import load_corpus
from nlp104.figures import results
from nlp104.figures.step_costs import step_flops
from nlp104.training.run_record import software_versions
from nlp104.transformer.config import TransformerConfig
from nlp104.transformer.presets import preset
from nlp104.translation.pretrained import load_pretrained

PATH = records.RESULTS / "plan" / "plan.json"
SEED = 104
PAIRS = 100_000_000
DEVICES = (1, 8, 64, 1000)
STEPS = 200  # that are simulated
BASE, _ = TransformerConfig.split(preset("base", vocabulary_size=32_000))
ROWS, BUDGET, BUCKET = 64, 2048, 8  # sentences, or positions, of a device's batch
HOURS = 54 * 24 * 16_384 / 419  # of a device between failures (Llama 3, section 3.3.4)
SAVE = 16 / 3600  # hours: 12.4 bytes of each of 10¹⁰ weights, by eight machines with 1 GB/s each
CHIP = 0.3 * 989e12  # operations per second: an H100's by its data sheet, and 30 % of it assumed
SIZES = {"base": 6.0e7, "big": 2.1e8, "ten billion": 1e10}  # weights, rounded
WAYS = (
    "sentences at random",
    "batches by length, each device its own",
    "batches by length, all of one length",
)


def pair_costs(data):
    """What a pair of sentences costs here, as mean over a corpus."""
    corpus = load_corpus(data, seed=SEED)
    tokenizer = load_pretrained("eng-fra").source_tokenizer
    sources, targets = zip(*corpus.train, strict=True)
    count = len(sources)
    begun = time.process_time()
    ids = [tokenizer.encode_batch(texts) for texts in (sources, targets)]
    seconds = time.process_time() - begun
    tracemalloc.start()
    batches = Batches(*ids, tokens_per_batch=BUDGET, bucket_width=BUCKET)
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    text = sum(len(s.encode()) for side in (sources, targets) for s in side)
    return {
        "pairs": count,
        "bytes of text": round(text / count, 1),
        "source tokens": round(sum(map(len, ids[0])) / count, 2),
        "target tokens": round(batches.num_tokens / count, 2),
        "CPU microseconds to cut": round(1e6 * seconds / count, 1),
        "bytes in Batches": round(held / count, 1),
    }


def megabytes_per_second(size=300):
    """How fast a state reaches the disk: written in one piece, and waited for."""
    block = os.urandom(1_000_000)
    with tempfile.NamedTemporaryFile(dir=Path.cwd()) as file:
        begun = time.perf_counter()
        for _ in range(size):
            file.write(block)
        file.flush()
        os.fsync(file.fileno())
        return size / (time.perf_counter() - begun)


def english_lengths():
    """Of the sentences of por-eng, in sub-words: the most uneven of our corpora."""
    stored = json.loads(results.read("corpora/por-eng.json"))["lengths"]["en"]
    return np.repeat(np.arange(len(stored)), stored)


def costs_of(rows, longest):
    """Operations of a step of the paper's base model, for all lengths up to the longest."""
    return np.array([step_flops(BASE, rows, n, n) for n in range(longest + 1)], float)


def steps(lengths, way, devices, count, seed=SEED):
    """What the devices compute in each of some steps, and how much of it is for real tokens.

    Args:
        lengths: Lengths of sentences to draw from, source and target alike.
        way: One of `WAYS`.
        devices: How many compute gradients that are added up.
        count: How many steps are simulated.
        seed: Of the drawing.

    Yields:
        `(costs, real)` of one step: operations of each device, `[devices]`.
    """
    rng = np.random.default_rng(seed)
    padded = -(-lengths // BUCKET) * BUCKET
    of_one = costs_of(1, padded.max())
    kinds, shares = np.unique(padded, return_counts=True)
    # Batches have a budget of positions: short sentences make fewer batches.
    shares = shares * kinds / np.sum(shares * kinds)
    for _ in range(count):
        if way == WAYS[0]:
            drawn = rng.choice(lengths, (devices, ROWS))
            yield ROWS * of_one[drawn.max(axis=1)], of_one[drawn].sum(axis=1)
            continue
        size = 1 if way == WAYS[2] else devices
        kind = np.broadcast_to(rng.choice(kinds, size, p=shares), devices)
        real = np.empty(devices)
        for k, number in zip(*np.unique(kind, return_counts=True), strict=True):
            drawn = rng.choice(lengths[padded == k], (number, BUDGET // k))
            real[kind == k] = of_one[drawn].sum(axis=1)
        yield BUDGET // kind * of_one[kind], real


def used(lengths, way, devices, count=STEPS, seed=SEED):
    """The share of the operations of all devices that serves real tokens, in some `steps`.

    A step ends when the slowest device has ended, and what the others could have computed in the
    meantime is lost; so is what is computed for padding.
    """
    done = offered = 0.0
    for costs, real in steps(lengths, way, devices, count, seed):
        done += real.sum()
        offered += devices * costs.max()
    return done / offered


def lost(interval, save, devices, hours=HOURS):
    """The share of the time that is lost with a state saved every `interval` hours.

    By saving, and by computing again what a failure of any device has cost. Failures come at
    random, with equal chances in every hour: then a period of work and saving ends without one
    with probability e^(-length / mean time to a failure), and of the periods begun after a failure
    1 / (e^(length / mean time) - 1) are completed on average.

    Args:
        interval: Hours of work between two states.
        save: Hours that saving takes.
        devices: How many there are; all wait for the one that failed.
        hours: Of one device between two failures, on average.
    """
    every = hours / devices
    completed = 1 / np.expm1((interval + save) / every)
    return float(1 - interval * completed / every)


def best_interval(save, devices, hours=HOURS):
    """The interval that loses least, to first order: √(2 · save · time to a failure)."""
    return float(np.sqrt(2 * save * hours / devices))


def epoch_days(weights, tokens, devices):
    """Days for one epoch, if nobody waits.

    Six operations for each weight that a token meets. In an encoder-decoder that is half of them.
    """
    return 3 * weights * tokens / (devices * CHIP) / 86_400


def plan(data):
    """The record: what was measured, and what was simulated."""
    lengths = english_lengths()
    pair = pair_costs(data)
    tokens = PAIRS * (pair["source tokens"] + pair["target tokens"])
    return {
        "command": "python -m experiments.plan --data fra.txt",
        "versions": software_versions("tensorflow"),
        "a pair": pair,
        "days": {
            name: {str(n): float(f"{epoch_days(weights, tokens, n):.3g}") for n in (1, 8, 1000)}
            for name, weights in SIZES.items()
        },
        "MB/s to the disk": round(megabytes_per_second()),
        "used": {way: {str(n): round(used(lengths, way, n), 3) for n in DEVICES} for way in WAYS},
        "hours to a failure": {str(n): round(HOURS / n, 1) for n in DEVICES},
        "lost": {
            str(n): {
                f"{minutes:g} min": round(lost(minutes / 60, SAVE, n), 4)
                for minutes in (1, 10, 60, 600)
            }
            for n in DEVICES[1:]
        },
        "best interval, minutes": {str(n): round(60 * best_interval(SAVE, n)) for n in DEVICES},
    }


def waiting_table(record):
    """What is used, as Markdown."""
    first, *others = (f"{n:,}" for n in DEVICES)
    lines = [
        f"| for real tokens, of | {first} device | {' | '.join(others)} |",
        "|---|--:|--:|--:|--:|",
    ]
    for way, shares in record["used"].items():
        lines.append(
            f"| {way} | {' | '.join(f'{100 * share:.0f} %' for share in shares.values())} |"
        )
    return "\n".join(lines)


def days_table(record):
    """How long an epoch takes, as Markdown."""
    lines = ["| model | weights | one H100 | eight | a thousand |", "|---|--:|--:|--:|--:|"]
    for name, days in record["days"].items():
        cells = []
        for day in days.values():
            unit, scale = next(
                (u, s)
                for u, s in (("d", 1), ("h", 24), ("min", 1440), ("s", 86400))
                if day * s >= 1.5 or u == "s"
            )
            cells.append(f"{day * scale:.2g} {unit}")
        lines.append(f"| {name} | {SIZES[name] / 1e6:,.0f} M | {' | '.join(cells)} |")
    return "\n".join(lines)


def failing_table(record):
    """What is lost, as Markdown."""
    lost, hours = record["lost"], record["hours to a failure"]
    rows = {
        "a failure every": [
            f"{hours[n] / 24:,.0f} days" if hours[n] > 72 else f"{hours[n]:.0f} hours" for n in lost
        ]
    }
    for interval in next(iter(lost.values())):
        rows[f"lost, if saved every {interval}"] = [
            f"{100 * lost[n][interval]:.1f} %" for n in lost
        ]
    best = record["best interval, minutes"]
    rows["least is lost at"] = [f"{best[n]} min" for n in lost]
    lines = [f"| devices | {' | '.join(f'{int(n):,}' for n in lost)} |", "|---|--:|--:|--:|"]
    lines += [f"| {name} | {' | '.join(cells)} |" for name, cells in rows.items()]
    return "\n".join(lines)


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m experiments.plan", description=__doc__)
    parser.add_argument("--data", required=True, help="fra.txt")
    record = plan(parser.parse_args(arguments).data)
    records.write(PATH, record)
    print(days_table(record), waiting_table(record), failing_table(record), sep="\n\n")


if __name__ == "__main__":
    sys.exit(main())

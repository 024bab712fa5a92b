"""Where the time of a training step goes: every operation of TensorFlow, by the part it belongs to.

    python -m benchmarks.profile --size tiny

trains `nlp104` under TensorFlow's profiler on random sentences without padding, one operation after
the other, once with one processor core and once with all, and writes
``results/profile/<size>.csv``. What becomes faster by the number of cores is arithmetic; what does
not, waits for memory or for the threads that are to share a task too small for two.
"""

import argparse
import csv
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from benchmarks.config import SIZES, Config
from benchmarks.data import synthetic
from benchmarks.report import markdown, number, write_csv

RESULTS = Path(__file__).resolve().parents[1] / "results" / "profile"
BATCH, LENGTH, STEPS = 64, 13, 8  # 13: about what Multi30k's sentences have
PARTS = {  # what its name has to hold for an operation to belong there; the first that fits
    "dropout: random numbers and masks": r"dropout",
    "vocabulary: three products": r"^(gradient_tape/)?transformer\w*/[^/]+(/[^/]+)?:_?\w*MatMul",
    "residual sums and normalisation": r"residual",
    "feed-forward: products": r"feed_forward\w*/.*MatMul",
    "feed-forward: the rest": r"feed_forward\w*/",
    "attention: products": r"/layer_\w+/.*MatMul",
    "attention: softmax, masks, transposing": r"/layer_\w+/",
    "embedding and positions": r"embedding|UnsortedSegmentSum",
    "Adam": r"^adam\w*/",
    "loss, accuracy, choosing the real tokens": r"",
}


def part_of(operation):
    """The part of the model that an operation of the profile belongs to.

    Args:
        operation: As in the profile, ``scope/…/name:Type``.

    Example:
        >>> part_of("gradient_tape/transformer_1/encoder_1/layer_0_1/attention_1/MatMul_1:MatMul")
        'attention: products'
    """
    return next(part for part, pattern in PARTS.items() if re.search(pattern, operation))


def operations(folder):
    """The milliseconds of every operation in the one profile under a folder, by name."""
    from tensorflow.tsl.profiler.protobuf.xplane_pb2 import XSpace

    (path,) = Path(folder).rglob("*.xplane.pb")
    space, milliseconds = XSpace.FromString(path.read_bytes()), Counter()
    for plane in space.planes:
        for line in plane.lines:
            if not line.name.startswith("tf_Compute"):  # the thread that runs the step
                continue
            for event in line.events:
                name = plane.event_metadata[event.metadata_id].name
                if ":" in name and "::" not in name:  # not a function of TensorFlow's own
                    name = name.removeprefix("StatefulPartitionedCall/")
                    milliseconds[name] += event.duration_ps / 1e9
    return milliseconds


def measure(size, batch_size):
    """Milliseconds of a step by part, in this process with the cores it was given."""
    import tensorflow as tf

    from benchmarks.peers.ours import Peer

    config = Config.of(size, batch_size=batch_size)
    peer = Peer(config)
    batches = [synthetic(batch_size, LENGTH, config.vocabulary_size) for _ in range(STEPS)]
    peer.train(batches)
    with tempfile.TemporaryDirectory() as folder:
        with tf.profiler.experimental.Profile(folder):
            peer.train(batches)
        found = operations(folder)
    parts = dict.fromkeys(PARTS, 0.0)
    for name, milliseconds in found.items():
        parts[part_of(name)] += milliseconds / STEPS
    return parts


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.profile", description=__doc__)
    parser.add_argument("--size", choices=SIZES, default="tiny")
    parser.add_argument("--batch-size", type=int, default=BATCH)
    parser.add_argument("--threads", type=int, help="measure in this process, and only print")
    options = parser.parse_args(arguments)
    if options.threads:
        parts = measure(options.size, options.batch_size)
        csv.writer(sys.stdout).writerows(parts.items())
        return
    cores = os.cpu_count()
    found = {threads: _with_cores(threads, options) for threads in (1, cores)}
    total = sum(found[cores].values())
    rows = [
        {
            "part": part,
            "one_core": found[1][part],
            "all_cores": milliseconds,
            "share": 100 * milliseconds / total,
            "speed_up": found[1][part] / milliseconds,
        }
        for part, milliseconds in sorted(found[cores].items(), key=lambda item: -item[1])
    ]
    RESULTS.mkdir(parents=True, exist_ok=True)
    write_csv(RESULTS / f"{options.size}.csv", rows)
    columns = {
        "part": lambda row: row["part"],
        "one core, ms": number("one_core", 1),
        f"{cores} cores, ms": number("all_cores", 1),
        "share, %": number("share"),
        "faster by": number("speed_up", 2),
    }
    print(
        f"{options.size}: {sum(found[1].values()):.0f} ms with one core, {total:.0f} with {cores}\n"
    )
    print(markdown(rows, columns))


def _with_cores(threads, options):
    """What `measure` finds in a process of its own: TensorFlow asks for its threads only once."""
    command = [sys.executable, "-m", "benchmarks.profile", "--threads", str(threads)]
    command += ["--size", options.size, "--batch-size", str(options.batch_size)]
    one_at_a_time = {
        "KERAS_BACKEND": "tensorflow",
        "TF_NUM_INTEROP_THREADS": "1",
        "TF_NUM_INTRAOP_THREADS": str(threads),
    }
    output = subprocess.run(
        command, env=os.environ | one_at_a_time, stdout=subprocess.PIPE, text=True, check=True
    ).stdout
    return {part: float(milliseconds) for part, milliseconds in csv.reader(output.splitlines())}


if __name__ == "__main__":
    sys.exit(main())

"""Training that is killed at any moment, and resumed: does it end as if nothing had happened?

    python -m tools.kills 200

trains one small model without a break, then again with a SIGKILL at random moments, ten in each
run, and goes on after each. It saves after every step, so that many a kill falls into the writing
of a file. All weights, moments and dropout's random states at the end are compared, bit for bit,
and so are the weights in every file that the run has left, and the losses of its history.
A process is a fork of this one, which has imported TensorFlow and computed nothing: its start
costs nothing. ``results/tested/kills.json`` keeps what came of it.
"""

import argparse
import collections
import csv
import hashlib
import os
import random
import signal
import sys
import tempfile
import time
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ["CUDA_VISIBLE_DEVICES"] = ""  # where adding up has no fixed order

import keras

from experiments import records
from nlp104.data.batches import Batches
from nlp104.training import loop
from nlp104.training.optimizer import compile_model
from nlp104.training.schedule import WarmupSchedule
from nlp104.transformer.config import TransformerConfig
from nlp104.transformer.model import Transformer

EPOCHS, VOCABULARY = 8, 12
RECORD = records.RESULTS / "tested" / "kills.json"


def pairs(count=64):
    draw = random.Random(104)
    return [
        [draw.randrange(4, VOCABULARY) for _ in range(draw.randint(2, 7))] for _ in range(count)
    ]


def learn(folder):
    """A whole run, or the rest of one; the digest of all that decides how it would go on."""
    loop.LOOK_SECONDS = loop.SAVE_SECONDS = -1  # save after each step
    keras.utils.set_random_seed(104)
    config = TransformerConfig(
        16, 32, 2, num_layers=1, vocabulary_size=VOCABULARY, dropout=0.2, attention_dropout=0.1
    )
    model = Transformer(config)
    compile_model(model, WarmupSchedule(0.01, 10))
    training = Batches(pairs(), pairs(), 8, bucket_width=8)
    validation = Batches(pairs(16), pairs(16), 8, bucket_width=8)
    loop.train(model, training, validation, EPOCHS, folder, resume=True, verbose=0)
    digest = hashlib.sha256()

    def add(variables):
        for variable in variables:
            digest.update(keras.ops.convert_to_numpy(variable).tobytes())

    add([*model.variables, *model.optimizer.variables])
    for path in sorted((folder / "checkpoints").glob("*.h5")):
        digest.update(path.name.encode())
        model.load_weights(path)
        add(model.weights)
    with (folder / "history.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            digest.update(f"{row['epoch']} {row['loss']} {row['val_loss']}".encode())
    (folder / "digest").write_text(digest.hexdigest())


def fork(folder):
    """The number of a process that learns in a folder."""
    process = os.fork()
    if process == 0:
        try:
            learn(folder)
        except BaseException as error:
            print(error, file=sys.stderr, flush=True)
            os._exit(1)
        os._exit(0)
    return process


def uninterrupted(folder):
    """The digest at the end of a run that nobody disturbs."""
    _, status = os.waitpid(fork(folder), 0)
    assert status == 0, status
    return (folder / "digest").read_text()


def kill_one(folder, draw):
    """Lets a run go on for a while, kills it, and says what it was doing."""
    state = folder / "checkpoints" / "latest.npz"
    before = state.stat().st_mtime_ns if state.exists() else 0
    process = fork(folder)
    if draw.random() < 0.9:  # let it begin; else it dies while it builds its model
        while not state.exists() or state.stat().st_mtime_ns == before:
            if os.waitpid(process, os.WNOHANG)[0]:
                return "after its end"
            time.sleep(0.01)
    time.sleep(draw.expovariate(20))
    os.kill(process, signal.SIGKILL)
    _, status = os.waitpid(process, 0)
    if os.WIFEXITED(status):
        return "after its end"
    if any(path.name.startswith(".") for path in folder.rglob("*")):
        return "while it wrote a file"
    moved = state.exists() and state.stat().st_mtime_ns != before
    return "while it trained" if moved else "while it began"


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("count", type=int, help="kills in all")
    parser.add_argument("--each", type=int, default=10, help="kills of a run before it may end")
    parser.add_argument("--seed", type=int, default=104, help="of the moments")
    options = parser.parse_args(arguments)
    draw, kills, runs, equal = random.Random(options.seed), collections.Counter(), 0, 0
    with tempfile.TemporaryDirectory() as place:
        expected = uninterrupted(Path(place))
    while kills.total() < options.count:
        with tempfile.TemporaryDirectory() as place:
            for _ in range(min(options.each, options.count - kills.total())):
                kills[kill_one(Path(place), draw)] += 1
            runs += 1
            equal += uninterrupted(Path(place)) == expected
            left = [path.name for path in Path(place).rglob(".*")]
            assert not left, left
        what = ", ".join(f"{count} {when}" for when, count in sorted(kills.items()))
        print(
            f"{equal} of {runs} runs end the same, after {kills.total()} kills: {what}", flush=True
        )
    kept = {"seed": options.seed, "kills": dict(sorted(kills.items())), "runs": runs, "same": equal}
    records.write(RECORD, kept)
    return 0 if equal == runs else 1


if __name__ == "__main__":
    sys.exit(main())

"""What limits a step of training: how near to the peak it comes, what it keeps, what it sends.

    python -m experiments.step_limits

writes ``results/step-limits/limits.json``, in three parts, each in a process of its own:

- ``speed``: operations per second of processor time, of plain matrix products and of whole steps,
  in turns. Processor time, so that other work on the machine matters little.
- ``memory``: what XLA sets aside for one step, as JAX' `memory_analysis` reports it, beside the
  closed form of `nlp104.figures.step_costs`. Nothing is run.
- ``sent``: the sums between eight pretended devices in the compiled step, beside what the figure
  `nlp104.figures.explore.devices` says.
"""

import argparse
import os
import re
import subprocess
import sys
import time
from functools import partial

import keras
import numpy as np

from experiments import records
from nlp104 import Transformer
from nlp104.figures.explore.devices import NUMBER, config_of, ledger, ring
from nlp104.figures.step_costs import kept, step_flops
from nlp104.training import WarmupSchedule, compile_model
from nlp104.training.run_record import software_versions
from nlp104.transformer import TransformerConfig

PATH = records.RESULTS / "step-limits" / "limits.json"
PARTS = {  # what each needs before Keras starts
    "speed": {"KERAS_BACKEND": "tensorflow"},
    "memory": {"KERAS_BACKEND": "jax", "JAX_PLATFORMS": "cpu"},
    "sent": {
        "KERAS_BACKEND": "jax",
        "JAX_PLATFORMS": "cpu",
        "XLA_FLAGS": "--xla_force_host_platform_device_count=8",
    },
}
ROUNDS = 5
STEPS = {  # preset, precision, rows, tokens of a sentence, whether XLA compiles
    "tiny": ("tiny", "float32", 64, 32, False),
    "tiny, bfloat16": ("tiny", "mixed_bfloat16", 64, 32, False),
    "tiny, XLA": ("tiny", "float32", 64, 32, True),
    "base": ("base", "float32", 16, 32, False),
    "base, bfloat16": ("base", "mixed_bfloat16", 16, 32, False),
}
KEPT = [("tiny", 4096 // length, length) for length in (16, 64, 256, 1024)]
KEPT += [("base", 2048 // length, length) for length in (32, 256)]
SHARED = TransformerConfig(
    64, 256, 8, num_layers=2, vocabulary_size=800, tie_embeddings=True, dropout=0.0
)
GRIDS = {"data": (8, 1), "model:2x4": (2, 4), "model:1x8": (1, 8)}


def batch(config, rows, length):
    """Random sentences of one length: inputs and answers."""
    ids = np.random.default_rng(104).integers(4, config.vocabulary_size, (rows, length))
    return {"encoder_token_ids": ids, "decoder_token_ids": ids}, ids


def per_second(work, amount, seconds=0.5):
    """How much of `amount` is done in a second of processor time."""
    begun, done = time.process_time(), 0
    while time.process_time() - begun < seconds:
        work()
        done += 1
    return done * amount / (time.process_time() - begun)


def product(size, dtype):
    """A product of two square matrices, and its operations."""
    x = keras.ops.cast(np.random.default_rng(104).normal(size=(size, size)), dtype)
    return lambda: float(keras.ops.cast(keras.ops.matmul(x, x)[0, 0], "float32")), 2 * size**3


def step(name, dtype, rows, length, jit):
    """A step of training, and its operations."""
    config = config_of(name)
    model = Transformer(config, dtype=dtype)
    compile_model(model, WarmupSchedule(1e-3, 100), jit_compile=jit)
    inputs, answers = batch(config, rows, length)
    work = partial(model.train_on_batch, inputs, answers)
    work()  # traces it
    return work, step_flops(config, rows, length, length)


def copying(megabytes=256):
    """Adds one to every number of an array, and the bytes that are moved."""
    x = np.ones(megabytes * 250_000, "float32")
    return lambda: np.add(x, 1, out=x), 2 * x.nbytes


def speed():
    """Medians over rounds; in each all take a turn."""
    works = {f"product, {dtype}": product(1536, dtype) for dtype in ("float32", "bfloat16")}
    works |= {"addition": copying()} | {name: step(*what) for name, what in STEPS.items()}
    found = {name: [] for name in works}
    for name in records.turns(works, ROUNDS):
        found[name].append(per_second(*works[name]) / 1e9)
    return {name: records.rounds(each, 1) for name, each in found.items()}


def compiled(config, rows, length):
    """The step of training, compiled by XLA and not run."""
    import jax

    keras.utils.set_random_seed(104)
    model = Transformer(config)
    compile_model(model, WarmupSchedule(1e-3, 100))
    inputs, answers = batch(config, rows, length)
    model.fit(inputs, answers, batch_size=rows, epochs=1, verbose=0)  # makes all variables
    kinds = (
        model.trainable_variables,
        model.non_trainable_variables,
        model.optimizer.variables,
        model.metrics_variables,
    )
    state = tuple([variable.value for variable in kind] for kind in kinds)
    data = (inputs, answers)
    devices = keras.distribution.distribution()
    if devices:
        rows_of = devices.get_data_layout(answers.shape).backend_layout
        data = jax.tree.map(lambda ids: jax.device_put(ids, rows_of), data)
    return jax.jit(model.train_step).lower(state, data).compile()


def memory():
    """Bytes that a step needs beside weights and Adam's memory: measured, and by closed form."""
    found = []
    for name, rows, length in KEPT:
        config = TransformerConfig(**{**vars(config_of(name)), "dropout": 0.0})
        numbers = kept(config, rows, length, length)
        weights = ledger(config, 1, 1, ())["held"]
        measured = compiled(config, rows, length).memory_analysis().temp_size_in_bytes
        found.append(
            {"preset": name, "rows": rows, "length": length, "weights": weights}
            | {"kept": {what: 4 * count for what, count in numbers.items()}}
            | {"measured": measured}
        )
        print(found[-1], flush=True)
    return found


def sums(program):
    """The all-reduces of a compiled program: bytes, and among how many devices each is."""
    found = []
    for line in program.splitlines():
        operation = re.search(r"= (.*?) all-reduce(?:-start)?\(.*?replica_groups=(.*?), ", line)
        if not operation:
            continue
        groups = operation[2]
        among = re.match(r"\[\d+,(\d+)\]<=", groups)  # so many groups, of so many devices
        if not among:  # a grid of devices, and the axes along which they add up
            sizes = dict(re.findall(r"('\w+')=(\d+)", groups))
            axes = re.search(r"\{([^}]*)\}", line[line.index("replica_groups") :])[1].split(",")
        devices = int(among[1]) if among else int(np.prod([int(sizes[axis]) for axis in axes]))
        for shape in re.findall(r"(?:f32|s32)\[([\d,]*)\]", operation[1]):
            count = int(np.prod([int(n) for n in shape.split(",") if n]))
            found.append((NUMBER * count, devices))
    return found


def sent():
    """Bytes that a device sends in the sums of one step: compiled, and as the figure says."""
    from nlp104.training.distribution import make_distribution

    found, rows, length = {}, 16, 16
    for name, (across, slices) in GRIDS.items():
        keras.distribution.set_distribution(make_distribution(name, SHARED))
        program = sums(compiled(SHARED, rows, length).as_text())
        counted = {
            "sums of vectors": [each for each in program if each[1] == slices],
            "sums of gradients": [each for each in program if each[1] == across],
        }
        assert sum(map(len, counted.values())) == len(program), program
        [says] = ledger(SHARED, across, slices, [rows * length])["sent"]
        found[name] = {
            what: {
                "count": len(each),
                "sent": round(sum(ring(among) * size for size, among in each)),
                "figure": part,
            }
            for (what, each), part in zip(counted.items(), (sum(says[:-1]), says[-1]), strict=True)
        }
    return found


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m experiments.step_limits", description=__doc__)
    parser.add_argument("--part", choices=PARTS, help="only this one, in this process")
    part = parser.parse_args(arguments).part
    runs = records.runs_so_far(PATH)
    if part:
        runs[part] = globals()[part]()
        versions = software_versions(keras.backend.backend())
        runs[part] = {"versions": versions, "found": runs[part]}
        records.write(PATH, {"command": "python -m experiments.step_limits", "runs": runs})
        return
    for part, needs in PARTS.items():
        command = [sys.executable, "-m", "experiments.step_limits", "--part", part]
        subprocess.run(command, env=os.environ | needs, check=True)


if __name__ == "__main__":
    sys.exit(main())

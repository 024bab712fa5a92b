"""How near to a GPU's limit is a step of training, and what does it cost to compile one?

    python -m experiments.gpu_steps        # on JAX

writes ``results/gpu/steps.json``. Every step sees as many positions, whatever its sentences'
length, and none is padding. The limit is the fastest product of two large matrices on the same
device, measured by the same process. Each case is a process of its own, so that nothing is
compiled yet; one that was measured before is kept: delete the file to measure another device.
"""

import argparse
import os
import subprocess
import sys
import time
from functools import partial

import keras
import numpy as np

from benchmarks.measure import peak_device_memory
from benchmarks.peers.keras_peer import Listed
from experiments import records
from experiments.step_limits import batch
from nlp104 import Transformer
from nlp104.figures.explore.devices import config_of
from nlp104.figures.step_costs import step_flops
from nlp104.training import WarmupSchedule, compile_model
from nlp104.training.run_record import software_versions

PATH = records.RESULTS / "gpu" / "steps.json"
POSITIONS = 16_384  # of each side of a batch
CASES = [  # model, tokens of a sentence, and how attention is computed: cuDNN is the package's own
    ("base", 256, "cuDNN"),
    ("base", 1024, "cuDNN"),
    ("base", 1024, "XLA"),
    ("base", 64, "cuDNN"),
    ("big", 256, "cuDNN"),
    ("base", 128, "cuDNN"),
    ("base", 256, "XLA"),
    ("tiny", 32, "cuDNN"),
    ("base", 32, "cuDNN"),
]
ROUNDS, FEW, MANY = 3, 5, 25  # steps of a call of `fit`; the difference is free of its own cost


def product_rate(size=8192, times=20):
    """Operations per second of products of bfloat16 matrices, random ones."""
    generator = np.random.default_rng(104)
    x, y = (
        keras.ops.cast(generator.normal(size=(size, size)).astype("float32"), "bfloat16")
        for _ in range(2)
    )

    def multiply():
        begun = time.perf_counter()
        for _ in range(times):
            z = keras.ops.matmul(x, y)
        float(keras.ops.cast(z[0, 0], "float32"))  # waits for the device
        return time.perf_counter() - begun

    multiply()
    return times * 2 * size**3 / min(multiply() for _ in range(ROUNDS))


def measure(preset, length, kind):
    """Seconds to compile a step and to take one, and what follows from them."""
    if kind == "XLA":
        operation = keras.ops.dot_product_attention
        keras.ops.dot_product_attention = partial(operation, flash_attention=False)
    config, rows = config_of(preset), POSITIONS // length
    model = Transformer(config, dtype="mixed_bfloat16")
    compile_model(model, WarmupSchedule(1e-4, 100))
    one = batch(config, rows, length)

    def fit(steps):
        begun = time.perf_counter()
        model.fit(Listed([one] * steps), verbose=0)
        return time.perf_counter() - begun

    first = fit(1)
    fit(FEW)
    steps = [(fit(MANY) - fit(FEW)) / (MANY - FEW) for _ in range(ROUNDS)]
    step, flops = float(np.median(steps)), step_flops(config, rows, length, length)
    memory, limit = peak_device_memory(), product_rate()
    return {
        "parameters": model.count_params(),
        "rows": rows,
        "first_step": round(first, 1),
        "milliseconds": records.rounds([1000 * each for each in steps], 2),
        "tokens_per_second": round(rows * length / step),
        "tflops": round(flops / step / 1e12, 1),
        "product_tflops": round(limit / 1e12, 1),
        "share": round(flops / step / limit, 4),
        "memory_mib": round(memory),
    }


def name_of(preset, length, kind):
    return f"{preset}, {length} tokens, {kind}"


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m experiments.gpu_steps", description=__doc__)
    parser.add_argument("--case", type=int, help="only this one, in this process")
    number = parser.parse_args(arguments).case
    if number is None:
        stored = records.runs_so_far(PATH)
        for number, case in enumerate(CASES):
            if name_of(*case) in stored:
                print(f"{name_of(*case)}: kept")
                continue
            command = [sys.executable, "-m", "experiments.gpu_steps", "--case", str(number)]
            subprocess.run(command, env=os.environ | {"KERAS_BACKEND": "jax"}, check=True)
        return
    import jax

    device = {"device": jax.devices()[0].device_kind}
    runs, name = records.runs_so_far(PATH, **device), name_of(*CASES[number])
    runs[name] = measure(*CASES[number])
    print(name, runs[name], flush=True)
    command = "python -m experiments.gpu_steps"
    record = {"command": command, **device, "versions": software_versions("jax"), "runs": runs}
    records.write(PATH, record)


if __name__ == "__main__":
    sys.exit(main())

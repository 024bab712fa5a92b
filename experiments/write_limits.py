"""What limits the writing of one sentence: how long would its matrix products alone take?

    python -m experiments.write_limits

writes ``results/write-limits/limits.json``. A step that writes one token for one sentence
multiplies one vector by every matrix of the decoder once, so it reads all its weights: what bounds
it is how fast these come from memory. Measured in turns: `nlp104.decoding.greedy`, and a loop of
the same products and nothing else, both compiled by XLA on JAX; and `greedy` on TensorFlow, not
compiled, with one thread for an operation and with all.
"""

import argparse
import os
import subprocess
import sys
import time

import keras
import numpy as np
from keras import ops

from experiments import records
from nlp104 import Transformer
from nlp104.data.tokenizer import END_ID
from nlp104.decoding import greedy
from nlp104.training.run_record import software_versions
from nlp104.transformer import TransformerConfig
from nlp104.transformer.presets import PRESETS

PATH = records.RESULTS / "write-limits" / "limits.json"
PARTS = {  # what each needs before Keras starts
    "compiled by XLA": {"KERAS_BACKEND": "jax", "JAX_PLATFORMS": "cpu"},
    "TensorFlow, one thread": {"KERAS_BACKEND": "tensorflow", "TF_NUM_INTRAOP_THREADS": "1"},
    "TensorFlow, all threads": {"KERAS_BACKEND": "tensorflow"},
}
ROUNDS, REPEATS = 15, 10  # turns of each, and calls in a turn
TOKENS = 32
SIZES = {
    size: TransformerConfig(vocabulary_size=8000, **PRESETS[size]) for size in ("tiny", "small")
}


def matrices(config):
    """Shapes of all matrices by which a step multiplies, in their order.

    The keys and values of the source are made before the first step.
    """
    d, inner = config.hidden_dim, config.intermediate_dim
    layer = [(d, d)] * 4 + [(d, d)] * 2 + [(d, inner), (inner, d)]
    return layer * config.num_layers + [(d, config.vocabulary_size)]


def products(config):
    """A function that does the products of `TOKENS` steps and nothing else."""
    import jax

    rng, shapes = np.random.default_rng(104), matrices(config)
    # As large as keeps the vectors' lengths: nothing may overflow or become denormal.
    weights = [rng.normal(scale=shape[0] ** -0.5, size=shape).astype("float32") for shape in shapes]

    @jax.jit
    def steps(x, weights):
        def step(_, x):
            for weight in weights:
                x = x @ weight
            return x[:, : config.hidden_dim]  # the next step waits for this one, as it must

        return jax.lax.fori_loop(0, TOKENS, step, x)

    x, weights = np.ones((1, config.hidden_dim), "float32"), jax.device_put(weights)
    return lambda: steps(x, weights).block_until_ready()


def writing(config):
    """A function that writes `TOKENS` tokens for one sentence, compiled where it is on JAX."""
    keras.utils.set_random_seed(104)
    model = Transformer(config)
    source = np.array([[*range(5, 13), END_ID]])
    model({"encoder_token_ids": source, "decoder_token_ids": source})
    bias = ops.convert_to_numpy(model.output_head.bias).copy()
    bias[END_ID] = -1e9  # it does not end before it is told to
    model.output_head.bias.assign(bias)
    return lambda: greedy(model, source, max_length=TOKENS)


def milliseconds(works):
    """Milliseconds a step of each, in every round; in each round all take a turn."""
    found = {name: [] for name in works}
    for work in works.values():
        for _ in range(3):  # traces, compiles
            work()
    for name in records.turns(works, ROUNDS):
        begun = time.perf_counter()
        for _ in range(REPEATS):
            works[name]()
        found[name].append(1000 * (time.perf_counter() - begun) / REPEATS / TOKENS)
    return found


def measure():
    """What this process, with its backend and threads, finds: for each size what a step takes."""
    found = {}
    for size, config in SIZES.items():
        works = {"greedy": writing(config)}
        if keras.backend.backend() == "jax":
            works["products alone"] = products(config)
        rounds = milliseconds(works)
        found[size] = {"megabytes of weights": 4e-6 * sum(map(np.prod, matrices(config)))}
        for name, each in rounds.items():
            found[size][name] = records.rounds(each, 3)
        print(size, {name: found[size][name]["median"] for name in works}, flush=True)
    return found


def record(part):
    """Measure one part, in a process that was started as it needs, and add it to what is known."""
    versions = software_versions(keras.backend.backend())
    runs = records.runs_so_far(PATH) | {part: {"versions": versions, "found": measure()}}
    records.write(PATH, {"command": "python -m experiments.write_limits", "runs": runs})


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m experiments.write_limits", description=__doc__)
    parser.parse_args(arguments)
    for part, needs in PARTS.items():
        code = f"from experiments import write_limits\nwrite_limits.record({part!r})"
        subprocess.run([sys.executable, "-c", code], env=os.environ | needs, check=True)


if __name__ == "__main__":
    sys.exit(main())

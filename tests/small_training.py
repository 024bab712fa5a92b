"""Trains a small model from weights that do not depend on the backend, and saves what became of it.

    python tests/small_training.py FILE

writes losses and weights to an .npz file. A program of its own: how many threads compute, and on
which backend, is decided when it starts.
"""

import sys

import keras
import numpy as np

from nlp104 import Transformer
from nlp104.data import Batches
from nlp104.training import WarmupSchedule, compile_model, train
from nlp104.transformer import TransformerConfig

# No dropout: backends draw other numbers from the same seed.
CONFIG = TransformerConfig(
    32, 64, 4, num_layers=2, vocabulary_size=60, tie_embeddings=True, dropout=0.0
)


def main(path):
    random = np.random.default_rng(104)
    sources = [random.integers(4, 60, size=12).tolist() for _ in range(160)]  # one shape
    training = Batches(sources, [s[::-1] for s in sources], batch_size=32)
    model = Transformer(CONFIG)
    inputs, _ = training[0]
    model(inputs)
    for variable in model.trainable_variables:
        if len(variable.shape) > 1:  # gains and biases begin alike everywhere
            variable.assign(random.normal(0, 0.1, variable.shape))
    compile_model(model, WarmupSchedule(3e-3, 5))
    history = train(model, training, epochs=4, verbose=0)
    # The gradient of a key's bias is zero: Adam makes steps of what rounding leaves of it.
    weights = [
        np.ravel(keras.ops.convert_to_numpy(variable))
        for variable in model.trainable_variables
        if not variable.path.endswith("key_bias")
    ]
    np.savez(path, loss=history["loss"], weights=np.concatenate(weights))


if __name__ == "__main__":
    main(*sys.argv[1:])

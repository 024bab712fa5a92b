"""Trains the same model on one of eight pretended devices, on all by rows, and in a grid.

    python tests/many_devices.py FOLDER

prints a line of JSON, which `test_distribution.py` looks at. A program of its own, because the
number of pretended devices is decided when JAX starts.
"""

import json
import os
import sys
from pathlib import Path

os.environ["KERAS_BACKEND"] = "jax"
os.environ["XLA_FLAGS"] = (
    f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count=8"
)

import keras
import numpy as np

from nlp104 import Transformer
from nlp104.data import Batches
from nlp104.training import WarmupSchedule, compile_model, train
from nlp104.training.distribution import make_distribution, num_replicas, require_sliced
from nlp104.transformer import TransformerConfig

CONFIG = TransformerConfig(
    16, 32, 4, num_layers=1, vocabulary_size=40, tie_embeddings=True, dropout=0.1
)
EPOCHS = 2
GATED = TransformerConfig(24, 28, 8, num_layers=1, vocabulary_size=40, gated=True)


def batches():
    random = np.random.default_rng(104)
    sources = [random.integers(4, 40, size=size).tolist() for size in random.integers(2, 8, 60)]
    return Batches(sources, [s[::-1] for s in sources], batch_size=30, multiple_of=num_replicas())


def run(devices, output=None, epochs=2):
    """Trains, or goes on with the training in `output`; what came out of it, and the model."""
    keras.distribution.set_distribution(make_distribution(devices, CONFIG) if devices else None)
    keras.utils.set_random_seed(104)
    model, training = Transformer(CONFIG), batches()
    compile_model(model, WarmupSchedule(5e-3, 2))
    history = train(model, training, epochs=epochs, output=output, resume=True, verbose=0)
    # The gradient of a key's bias is zero: Adam makes steps of what rounding leaves of it.
    weights = [v for v in model.trainable_variables if not v.path.endswith("key_bias")]
    found = {
        "rows": training[0][1].shape[0],
        "loss": history["loss"],
        "sliced": require_sliced(model),
        "held": [
            held(model.trainable_variables),
            held(v for v in model.optimizer.variables if v.shape),  # not how many steps
        ],
        "moments": sum(not v.value.sharding.is_fully_replicated for v in model.optimizer.variables),
    }
    return found, np.concatenate([np.ravel(keras.ops.convert_to_numpy(v)) for v in weights]), model


def held(variables):
    """How many bytes of them each device holds."""
    shards = [shard for v in variables for shard in v.value.addressable_shards]
    sizes = {device: 0 for device in keras.distribution.list_devices()}
    for shard in shards:
        sizes[f"cpu:{shard.device.id}"] += shard.data.nbytes
    return list(sizes.values())


def gates():
    """What each device of a grid holds of every weight of a gate."""
    keras.distribution.set_distribution(make_distribution("model:2x4", GATED))
    model = Transformer(GATED)
    require_sliced(model)
    return {v.path: held([v]) for v in model.trainable_variables if "/gate/" in v.path}


def main(folder):
    one, weights, _ = run(None)
    rows, after_rows, _ = run("data")
    grid, _, model = run("model:2x4", folder / "run", epochs=1)
    model.save(folder / "model.keras")
    saved = {v.path: keras.ops.convert_to_numpy(v) for v in model.trainable_variables}
    on, after_both, _ = run("data", folder / "run")  # a run of a grid goes on by rows
    found = {"gates": gates()}
    keras.distribution.set_distribution(None)
    loaded = keras.saving.load_model(folder / "model.keras")
    same = all(
        np.array_equal(saved[v.path], keras.ops.convert_to_numpy(v))
        for v in loaded.trainable_variables
    )
    found |= {"devices": len(keras.distribution.list_devices()), "saved": same}
    found |= {"one": one, "data": rows, "model:2x4": grid, "grid, then data": on}
    found["change"] = [float(abs(w - weights).max()) for w in (after_rows, after_both)]
    print(json.dumps(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]))

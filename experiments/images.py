"""How well a small encoder reads digits, what its parts are for, and what a classic reaches.

    python -m experiments.images

writes ``results/images/scores.json``: the share of right answers on 899 digits, by hands that were
not seen in training, of small models that differ in one thing, with three seeds each. It takes a
quarter of an hour of one core; a run that was stopped goes on where it was. ``--references``
measures support vector machines on the same digits, which needs scikit-learn. The chapter on images
prints the file.

    python -m experiments.images --reader

trains the model that reads in `nlp104.figures.explore.draw_digit`: the same, on images that are
also turned, slanted and stretched, as drawn ones are. It writes ``results/images/reader.json``,
and the weights of the first seed, six bits each, where the figure finds them. Three minutes.
"""

import argparse
import json
import sys

import keras
import numpy as np
from keras import ops

from experiments import records
from nlp104.data import load_digits
from nlp104.encoding import LearnedPositions
from nlp104.figures.explore import digit_reader
from nlp104.training.run_record import software_versions
from nlp104.transformer import Encoder, TransformerConfig
from nlp104.translation.web.weights import as_rows, pack_weights, page_name

RESULTS = records.RESULTS / "images"
SEEDS = (1, 2, 3)
TRAIN = 898  # the first half, as in scikit-learn's own example
STEPS, BATCH, RATE = 1500, 64, 4e-3
READER_STEPS = 3000
MEAN, SPREAD = 5.0, 6.0  # of the pixels, roughly
MOVES = [(y, x) for y in (-1, 0, 1) for x in (-1, 0, 1)]
STRAIGHT = [(y, x) for y, x in MOVES if 0 in (y, x)]  # no diagonal ones
CONFIG = TransformerConfig(
    48, 96, 4, num_layers=2, normalize_first=True, activation="gelu", dropout=0.0
)
TURN, SLANT, STRETCH, MOVE = 0.15, 0.25, 0.15, 0.7  # of images for the reader: the most of each
VARIANTS = {
    "all parts": {},
    "no positions": {"positions": False},
    "pixels shuffled": {"shuffled": True},
    "no shifts": {"shifts": False},
}


def patches(images, height=2, width=4):
    """`[image, 8, 8]` to `[image, patch, pixel]`, row by row."""
    rows, columns = 8 // height, 8 // width
    x = images.reshape(-1, rows, height, columns, width)
    return x.swapaxes(2, 3).reshape(len(images), rows * columns, height * width)


def shifted(images, moves=MOVES):
    """A copy of each image for each move of it, in pixels; what comes in at the edges is paper."""
    padded = np.pad(images, ((0, 0), (1, 1), (1, 1)))
    return np.concatenate([padded[:, 1 + y : 9 + y, 1 + x : 9 + x] for y, x in moves])


def warped(images, rng):
    """Each image turned, slanted, stretched and moved a little, by chance; it keeps its ink."""
    count = len(images)
    angle = rng.uniform(-TURN, TURN, count)
    slant = rng.uniform(-SLANT, SLANT, count)
    wide, high = rng.uniform(1 - STRETCH, 1 + STRETCH, (2, count))
    move = rng.uniform(-MOVE, MOVE, (2, count, 1, 1))
    # Where a pixel of the new image comes from: y and x from the middle, [image, 8, 8].
    rows, columns = np.mgrid[:8, :8] - 3.5
    across, down = columns - move[0], rows - move[1]
    sine, cosine = np.sin(angle)[:, None, None], np.cos(angle)[:, None, None]
    y = (cosine * down - sine * across) * high[:, None, None] + 4.5
    x = (sine * down + cosine * across + slant[:, None, None] * down) * wide[:, None, None] + 4.5
    padded = np.pad(images, ((0, 0), (1, 1), (1, 1))).astype("float32")
    y, x = np.clip(y, 0, 8.999), np.clip(x, 0, 8.999)
    top, left = y.astype(int), x.astype(int)
    y, x, image = y - top, x - left, np.arange(count)[:, None, None]
    found = sum(
        padded[image, top + i, left + j] * (y if i else 1 - y) * (x if j else 1 - x)
        for i in (0, 1)
        for j in (0, 1)
    )
    ink = images.sum(axis=(1, 2)) / np.maximum(found.sum(axis=(1, 2)), 1)
    return np.clip(found * ink[:, None, None], 0, 16)


class Seer(keras.Model):
    """Patches and a class token, positions, an encoder; the class token answers."""

    def __init__(self, config, places, positions=True):
        super().__init__()
        d = config.hidden_dim
        self.embedding = keras.layers.Dense(d)
        self.class_token = self.add_weight((1, 1, d), "random_normal", name="class_token")
        self.positions = LearnedPositions(places) if positions else keras.layers.Identity()
        self.encoder = Encoder(config)
        self.to_classes = keras.layers.Dense(10)

    def call(self, patches):
        first = ops.repeat(self.class_token, ops.shape(patches)[0], axis=0)
        x = ops.concatenate([first, self.embedding(patches)], axis=1)
        return self.to_classes(self.encoder(self.positions(x))[:, 0])


def train(seed, positions=True, shuffled=False, shifts=True):
    """Share of right answers on the second half after training on the first, and the weights."""
    keras.utils.set_random_seed(seed)
    images, labels = load_digits()
    rng = np.random.default_rng(seed)
    order = rng.permutation(64) if shuffled else np.arange(64)

    def read(images):
        mixed = images.reshape(-1, 64)[:, order].reshape(-1, 8, 8)
        return (patches(mixed) - MEAN) / SPREAD

    copies = shifted(images[:TRAIN]) if shifts else images[:TRAIN]
    x, y = read(copies), np.tile(labels[:TRAIN], len(copies) // TRAIN)
    rows = _turns(rng, len(x), STEPS * BATCH)
    model = Seer(CONFIG, x.shape[1] + 1, positions)
    _fit(model, x[rows], y[rows])
    return _score(model, read(images[TRAIN:]), labels[TRAIN:]), model.count_params()


def train_reader(seed):
    """The model that reads what is drawn: trained on warped images, each of them shown once."""
    keras.utils.set_random_seed(seed)
    images, labels = load_digits()
    rng = np.random.default_rng(seed)
    rows = _turns(rng, TRAIN, READER_STEPS * BATCH)
    model = Seer(CONFIG, 9)
    _fit(model, (patches(warped(images[rows], rng)) - MEAN) / SPREAD, labels[rows])
    return model


def _turns(rng, count, shown):
    """Which image is shown when: all of them in turn, each time in another order."""
    return np.concatenate([rng.permutation(count) for _ in range(-(-shown // count))])[:shown]


def _fit(model, x, y):
    """Shows each of the images once."""
    rate = keras.optimizers.schedules.CosineDecay(
        0.0, len(x) // BATCH - 100, warmup_target=RATE, warmup_steps=100
    )
    loss = keras.losses.CategoricalCrossentropy(from_logits=True, label_smoothing=0.1)
    model.compile(keras.optimizers.AdamW(rate, weight_decay=0.1), loss=loss, jit_compile=True)
    model.fit(x, np.eye(10)[y], batch_size=BATCH, shuffle=False, verbose=0)


def _score(model, x, labels):
    """The share of right answers."""
    said = model.predict(x, batch_size=899, verbose=0).argmax(axis=-1)
    return round(float(np.mean(said == labels)), 4)


def packed(model):
    """The weights of the reader as `nlp104.figures.explore.digit_reader` has them.

    Of the places, the first holds the class token.
    """
    places = ops.convert_to_numpy(model.positions.table).copy()
    places[0] += ops.convert_to_numpy(model.class_token)[0, 0]
    found = {"places": places}
    for name in ("embedding", "to_classes"):
        kernel, bias = getattr(model, name).weights
        found |= {f"{name}/kernel": as_rows(kernel), f"{name}/bias": as_rows(bias)}
    for variable in model.encoder.weights:
        path = variable.path[variable.path.index("encoder") :]
        found[page_name(path)] = as_rows(variable)
    return {
        "heads": CONFIG.num_heads,
        "layers": CONFIG.num_layers,
        "epsilon": CONFIG.epsilon,
        "mean": MEAN,
        "spread": SPREAD,
        **pack_weights(found),
    }


def reader(path):
    """Trains the reader with each seed, and packs the first."""
    images, labels = (part[TRAIN:] for part in load_digits())
    x = (patches(images) - MEAN) / SPREAD
    record = {
        "command": "python -m experiments.images --reader",
        "seeds": SEEDS,
        "steps": READER_STEPS,
        "batch": BATCH,
        "learning_rate": RATE,
        "at_most": {"turn": TURN, "slant": SLANT, "stretch": STRETCH, "move": MOVE},
        "config": CONFIG.to_dict(),
        "versions": software_versions(keras.backend.backend()),
        "accuracies": [],
    }
    for seed in SEEDS:
        model = train_reader(seed)
        record["accuracies"].append(_score(model, x, labels))
        print(f"reader, seed {seed}: {record['accuracies'][-1]}", flush=True)
        if seed == SEEDS[0]:
            weights = packed(model)
            digit_reader.WEIGHTS.write_text(json.dumps(weights) + "\n", encoding="ascii")
            said = [np.argmax(digit_reader.Reader(weights)(image)[0]) for image in images]
            record["six_bits"] = round(float(np.mean(said == labels)), 4)
            record["misread"] = np.flatnonzero(said != labels).tolist()
    records.write(path, record)


def reader_line(record):
    """What the reader reaches, as a sentence."""
    seeds = ", ".join(f"{100 * share:.1f}" for share in record["accuracies"])
    return (
        f"With seeds {', '.join(map(str, record['seeds']))} it reads {seeds} % of the test; "
        f"the first, in six bits, {100 * record['six_bits']:.1f} %."
    )


def references():
    """The same of support vector machines, on the digits as they are and on shifted ones."""
    from sklearn.svm import SVC

    images, labels = load_digits()
    found = {}
    for name, copies in {
        "support vector machine": images[:TRAIN],
        "support vector machine, nine shifts": shifted(images[:TRAIN]),
        "support vector machine, five shifts": shifted(images[:TRAIN], STRAIGHT),
    }.items():
        x, y = copies.reshape(-1, 64), np.tile(labels[:TRAIN], len(copies) // TRAIN)
        machine = SVC(gamma=0.001).fit(x, y)
        right = machine.score(images[TRAIN:].reshape(-1, 64), labels[TRAIN:])
        found[name] = round(float(right), 4)
    return found


def table(record):
    """The record as a table in Markdown: mean over the seeds, lowest and highest."""
    lines = ["| what | weights | right answers, % |", "|---|---|---|"]
    for name, run in record["runs"].items():
        shares = records.spread(run["accuracies"], 1, 100)
        lines.append(f"| {name} | {run['weights']:,} | {shares} |")
    for name, accuracy in record["references"].items():
        lines.append(f"| {name} | | {100 * accuracy:.1f} |")
    return "\n".join(lines)


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m experiments.images", description=__doc__)
    parser.add_argument("--references", action="store_true", help="measure scikit-learn's, too")
    parser.add_argument("--reader", action="store_true", help="train the one that reads a page")
    options = parser.parse_args(arguments)
    if options.reader:
        reader(RESULTS / "reader.json")
        return
    path = RESULTS / "scores.json"
    stored = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    record = {
        "command": "python -m experiments.images",
        "seeds": SEEDS,
        "steps": STEPS,
        "batch": BATCH,
        "learning_rate": RATE,
        "config": CONFIG.to_dict(),
        "versions": software_versions(keras.backend.backend()),
        "references": stored.get("references", {}),
        "runs": records.runs_so_far(path),
    }
    if options.references:
        record["references"] = references()
        records.write(path, record)
    for name, variant in VARIANTS.items():
        run = record["runs"].setdefault(name, {"weights": 0, "accuracies": []})
        for seed in SEEDS[len(run["accuracies"]) :]:
            accuracy, run["weights"] = train(seed, **variant)
            run["accuracies"].append(accuracy)
            print(f"{name}, seed {seed}: {accuracy}", flush=True)
            records.write(path, record)
    print(table(record))


if __name__ == "__main__":
    sys.exit(main())

"""What skip connections and normalisation do for training a stack of six encoder layers.

    python -m experiments.depth

writes ``results/depth/losses.json``: the training loss of seven stacks that differ in nothing else,
with three seeds each, on lines of random words that are to be said backwards. Every step sees new
lines, so the loss is that of lines never seen before. The chapter on skip connections draws it.
"""

import argparse
import sys

import keras
import numpy as np

from experiments import records
from nlp104.attention.multi_head import MultiHeadAttention
from nlp104.encoding.embedding import TokenAndPositionEmbedding
from nlp104.figures import depth
from nlp104.training.run_record import software_versions
from nlp104.transformer.feed_forward import FeedForward

RESULTS = records.RESULTS / "depth"
SEEDS = (1, 2, 3)
LAYERS, WIDTH, WORDS, LENGTH = 6, 32, 16, 12
BATCH, STEPS, EVERY, RATE = 32, 700, 50, 1e-3
VARIANTS = {
    "skips, pre-norm": {"skips": True, "norm": "pre"},
    "skips, post-norm": {"skips": True, "norm": "post"},
    "skips, no norm": {"skips": True, "norm": None},
    "no skips, post-norm": {"skips": False, "norm": "post"},
    "skips, post-norm, smaller start": {"skips": True, "norm": "post", "gain": 2**-0.5},
    "skips, no norm, smaller start": {"skips": True, "norm": None, "gain": 2**-0.5},
    "no skips, post-norm, smaller start": {"skips": False, "norm": "post", "gain": 2**-0.5},
}


class Stack(keras.Model):
    """Encoder layers whose skip connections and normalisation can be taken out."""

    def __init__(self, skips, norm, gain=1.0):
        super().__init__()
        self.skips, self.norm = skips, norm
        self.embedding = TokenAndPositionEmbedding(WORDS, WIDTH, LENGTH)
        start = keras.initializers.VarianceScaling(
            gain**2, "fan_avg", "uniform"
        )  # Glorot's, × gain
        self.attentions = [
            MultiHeadAttention(2, WIDTH // 2, kernel_initializer=start) for _ in range(LAYERS)
        ]
        self.feed_forwards = [FeedForward(WIDTH, 4 * WIDTH) for _ in range(LAYERS)]
        self.norms = [keras.layers.LayerNormalization(epsilon=1e-6) for _ in range(2 * LAYERS + 1)]
        self.to_words = keras.layers.Dense(WORDS)

    def call(self, token_ids):
        x, norms = self.embedding(token_ids), iter(self.norms)
        for attend, feed in zip(self.attentions, self.feed_forwards, strict=True):
            x = self.wire(x, lambda h, attend=attend: attend(h, h), next(norms))
            x = self.wire(x, feed, next(norms))
        return self.to_words(next(norms)(x) if self.norm == "pre" else x)

    def wire(self, x, sub_layer, norm):
        return depth.through(sub_layer, x, norm, self.skips, self.norm)


def train(seed, **variant):
    """The mean loss of every `EVERY` steps."""
    keras.utils.set_random_seed(seed)
    rng, losses = np.random.default_rng(seed), []
    model = Stack(**variant)
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.Adam(RATE), loss=loss, jit_compile=True)
    for _ in range(STEPS // EVERY):
        lines = rng.integers(WORDS, size=(EVERY * BATCH, LENGTH))
        history = model.fit(lines, lines[:, ::-1], batch_size=BATCH, verbose=0).history
        losses.append(round(history["loss"][0], 4))
    return losses


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m experiments.depth", description=__doc__)
    parser.parse_args(arguments)
    losses = {}
    for name, variant in VARIANTS.items():
        losses[name] = [train(seed, **variant) for seed in SEEDS]
        print(f"{name}: {[run[-1] for run in losses[name]]}", flush=True)
    record = {
        "command": "python -m experiments.depth",
        "seeds": SEEDS,
        "layers": LAYERS,
        "steps_per_point": EVERY,
        "learning_rate": RATE,
        "loss_of_a_guess": round(float(np.log(WORDS)), 4),
        "versions": software_versions(keras.backend.backend()),
        "losses": losses,
    }
    records.write(RESULTS / "losses.json", record)


if __name__ == "__main__":
    sys.exit(main())

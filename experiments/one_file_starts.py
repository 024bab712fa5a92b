"""The Transformer in one file, from other starts: three matrices for Q, K and V, or one.

    python -m experiments.one_file_starts

writes ``results/one-file/starts.json``. Each seed is trained twice, as
``python -m nlp104.one_file`` does it: with the file's own first weights, and with the matrices of
keys and values begun as copies of that of the queries, which is what one initializer for the three
would make of them. Afterwards each is free.
"""

import argparse
import sys

import keras
import numpy as np

from experiments import records
from nlp104 import one_file

PATH = records.RESULTS / "one-file" / "starts.json"
EPOCHS = 3


def score(seed, alike):
    """Trains once; returns the share of new sentences that are translated exactly.

    Args:
        seed: of the weights, and of the order of the pairs.
        alike: whether each attention begins with one matrix for its three.
    """
    keras.utils.set_random_seed(seed)
    pairs = one_file.read_pairs(None)
    test, pairs = pairs[:500], pairs[500:]
    known = {text for pair in pairs for text in pair}
    test = [pair for pair in test if known.isdisjoint(pair)]
    source, target = (one_file.Vocabulary(texts) for texts in zip(*pairs, strict=True))
    training = one_file.Batches(pairs, source, target)
    model = one_file.Transformer(len(source.words), len(target.words), dropout=0.0)
    model(training[0][0])  # its weights are made when it is first called
    if alike:
        begin_alike(model)
    one_file.compile_model(model, steps=EPOCHS * len(training))
    model.fit(training, epochs=EPOCHS, verbose=0)
    written = one_file.translate(model, [text for text, _ in test], source, target)
    right = [text == answer for text, (_, answer) in zip(written, test, strict=True)]
    return round(float(np.mean(right)), 3)


def begin_alike(model):
    """Copies each attention's first matrix of queries to its keys and values."""
    looks = [layer.attention for layer in model.encoder_layers]
    for layer in model.decoder_layers:
        looks += layer.look_back, layer.look_across
    for look in looks:
        first = look.to_query.get_weights()
        look.to_key.set_weights(first)
        look.to_value.set_weights(first)


def main(arguments=None):
    name = "python -m experiments.one_file_starts"
    parser = argparse.ArgumentParser(prog=name, description=__doc__)
    parser.add_argument("--seeds", type=int, nargs="+", default=[104, 105, 106])
    options = parser.parse_args(arguments)
    runs = records.runs_so_far(PATH)
    for seed in options.seeds:
        for alike in (False, True):
            run = f"seed {seed}, {'one for all three' if alike else 'its own'}"
            if run not in runs:
                runs[run] = score(seed, alike)
                print(f"{run}: {runs[run]:.1%}", flush=True)
                records.write(PATH, {"runs": runs})


if __name__ == "__main__":
    sys.exit(main())

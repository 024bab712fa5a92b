"""How a run's translations of some test sentences change from epoch to epoch.

    python -m experiments.samples RUN --data fra.txt

writes ``RUN/samples.json`` for the epochs whose weights the run still has: `nlp104 train` keeps as
many as ``--average`` says.
"""

import argparse
import sys
from pathlib import Path

import numpy as np

from experiments import records
from experiments.runs import add_places, settings_and_corpus
from nlp104.training.checkpoints import epoch_checkpoints, epoch_of
from nlp104.translation.translator import Translator

COUNT = 12


def samples(run, **places):
    """Translate some test sentences, drawn by lot, with the weights of every epoch that is there.

    Args:
        run: Directory that `nlp104 train` made, with its checkpoints.
        **places: `data`, `validation` and `test`, as of `nlp104 train`.

    Returns:
        ``{"sources": […], "references": [[…], …], "epochs": {epoch: translations}}``.
    """
    _, corpus = settings_and_corpus(run, **places)
    pairs = corpus.references("test")
    drawn = np.random.default_rng(0).permutation(len(pairs))[:COUNT]  # a file is sorted by length
    sources, references = zip(*(pairs[i] for i in drawn), strict=True)
    translator = Translator.load(run)
    epochs = {}
    for path in epoch_checkpoints(run):
        translator.model.load_weights(path)
        epochs[epoch_of(path)] = translator.translate(sources)
    return {"sources": sources, "references": references, "epochs": epochs}


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m experiments.samples", description=__doc__)
    parser.add_argument("run", type=Path, help="directory that nlp104 train made")
    add_places(parser)
    options = parser.parse_args(arguments)
    path = options.run / "samples.json"
    records.write(path, samples(**vars(options)))
    print(f"written to {path}")


if __name__ == "__main__":
    sys.exit(main())

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
from nlp104.data.corpus import load_corpus
from nlp104.training.checkpoints import epoch_checkpoints, epoch_of
from nlp104.training.run_record import read_record
from nlp104.translation.translator import Translator

COUNT = 12


def samples(run, data):
    """Translate some test sentences, drawn by lot, with the weights of every epoch that is there.

    Args:
        run: Directory that `nlp104 train` made, with its checkpoints.
        data: As of `nlp104.data.corpus.load_corpus`.

    Returns:
        ``{"sources": […], "references": [[…], …], "epochs": {epoch: translations}}``.
    """
    corpus = load_corpus(data, seed=read_record(run)["settings"]["seed"])
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
    parser.add_argument("--data", required=True, help="the file that it was trained on")
    options = parser.parse_args(arguments)
    path = options.run / "samples.json"
    records.write(path, samples(**vars(options)))
    print(f"written to {path}")


if __name__ == "__main__":
    sys.exit(main())

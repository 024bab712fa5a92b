"""Where a translator looks while it writes its translation of a sentence.

    python -m experiments.looks RUN "O gato preto dorme."

writes ``RUN/looks.json``: for each sentence its tokens, those that were written, and the
cross-attention of the last layer, the mean of its heads: a row for each token that is written.
"""

import argparse
import sys
from pathlib import Path

from experiments import records
from nlp104.translation.translator import Translator


def looks(translator, sentence):
    """The cross-attention of the last layer, row by row of what is written.

    Args:
        translator: `nlp104.translation.Translator`.
        sentence: A source sentence.

    Returns:
        A dictionary that JSON can hold.
    """
    attention = translator.attention(sentence)
    return {
        "translation": attention.translation,
        "source": attention.source_tokens,
        "target": attention.target_tokens,
        "weights": attention.cross[-1].mean(axis=0).astype("float64").round(3).tolist(),
    }


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m experiments.looks", description=__doc__)
    parser.add_argument("run", type=Path, help="directory that nlp104 train made")
    parser.add_argument("sentences", nargs="+", help="in the source language")
    options = parser.parse_args(arguments)
    translator = Translator.load(options.run)
    found = {sentence: looks(translator, sentence) for sentence in options.sentences}
    path = options.run / "looks.json"
    records.write(path, found)
    print(f"written to {path}")


if __name__ == "__main__":
    sys.exit(main())

"""Trained models, and what a run of ``nlp104 train`` learned from, wherever the files lie today."""

from nlp104.training.pipeline import read_corpus
from nlp104.training.run_record import read_record
from nlp104.training.settings import PATHS
from nlp104.translation.pretrained import load_pretrained, names
from nlp104.translation.translator import Translator

__all__ = ["add_places", "load_translator", "settings_and_corpus"]


def add_places(parser):
    """Adds ``--data``, ``--validation`` and ``--test`` to the arguments of an experiment."""
    for place in PATHS:
        parser.add_argument(f"--{place}", required=place == "data", help="as of nlp104 train")


def load_translator(name):
    """A released model by its name, or that of a run by its directory."""
    return (load_pretrained if name in names() else Translator.load)(name)


def settings_and_corpus(run, **places):
    """With what a run was made: its settings, and the `nlp104.data.Corpus`.

    Args:
        run: Directory that `nlp104 train` made.
        **places: `data`, `validation` and `test`, as of `nlp104 train`.
    """
    settings = read_record(run)["settings"] | dict.fromkeys(PATHS) | places
    return settings, read_corpus(settings, None)

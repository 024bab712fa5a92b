"""NLP 104: attention, encodings and Transformer blocks in Keras 3, one room per idea.

The rooms, from those that need nothing to those that need the others:

- ``attention`` and ``encoding``: how words look at each other, and where they stand;
- ``transformer``: the blocks, the two stacks and the model;
- ``data``: sentences, tokenizers, batches, and a grammar that makes sentences;
- ``training`` and ``decoding``: from data to weights, from weights to words;
- ``translation``: text in, text out; trained models, their scores, servers;
- ``figures``: what the chapters of the book draw with;
- ``cli``: the command ``nlp104``.

Importing ``nlp104`` imports none of them: each comes when it is first asked for. Only where Keras
is there already the models come at once, so that `keras.saving.load_model` knows their classes:
import Keras first, then ``nlp104``.
"""

import importlib
import sys

from nlp104.utils.lazy import attach

__version__ = "0.1.0"

__all__, __getattr__, __dir__ = attach(
    __name__,
    {"transformer.model": ["Transformer"], "translation.pretrained": ["load_pretrained"]},
    modules=[
        "attention",
        "cli",
        "data",
        "decoding",
        "encoding",
        "figures",
        "training",
        "transformer",
        "translation",
    ],
)

if "keras" in sys.modules:
    # The models, and what they are compiled with.
    importlib.import_module("nlp104.transformer.language_model")
    importlib.import_module("nlp104.transformer.model")
    importlib.import_module("nlp104.training.loss")
    importlib.import_module("nlp104.training.metrics")
    importlib.import_module("nlp104.training.schedule")

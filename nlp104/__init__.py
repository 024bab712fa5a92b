"""NLP 104: attention, encodings and Transformer blocks in Keras 3, one module per idea.

The modules are read from left to right:

- ``masks`` → ``versions`` → ``attention`` → ``transformer`` → ``decoding`` (the model);
- ``text``, ``grammar`` → ``corpus`` → ``batches`` → ``training`` (the data and the fitting);
- ``translator``, ``evaluation`` and ``cli`` put both together, and ``pretrained`` brings a trained
  model; ``encoding`` holds positions and embeddings, ``plot`` and ``diagram`` draw,
  ``explore`` makes figures to play with, ``exercises`` checks answers; ``export`` writes a
  translator for servers.

Keras' own `keras.saving.load_model` finds the classes of this package once ``from nlp104 import
Transformer`` has run; ``import nlp104`` alone imports no Keras.
"""

import importlib

__version__ = "0.1.0"
__all__ = [
    "Transformer",
    "__version__",
    "attention",
    "encoding",
    "load_pretrained",
    "transformer",
]


def __getattr__(name):
    """Imports a part of the package when it is first asked for.

    `nlp104 --help` would wait seconds for Keras and its backend otherwise (PEP 562).
    """
    if name == "Transformer":
        return importlib.import_module("nlp104.transformer").Transformer
    if name == "load_pretrained":
        return importlib.import_module("nlp104.pretrained").load_pretrained
    if name in __all__:
        return importlib.import_module(f"nlp104.{name}")
    raise AttributeError(f"module 'nlp104' has no attribute {name!r}")

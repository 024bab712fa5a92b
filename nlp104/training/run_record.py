"""``run.json``: what a training run was made of."""

import hashlib
import importlib
import importlib.metadata
import json
import os
import platform
from pathlib import Path

import keras

from nlp104.training.settings import SPLITS, without_local_paths
from nlp104.utils.errors import InputError, MissingError
from nlp104.utils.files import replacing, what_lacks
from nlp104.utils.foreign import parse_json, read_text

_FILE = "run.json"
_FORMAT = "nlp104 run 1"


def describe(settings, corpus, training, model, **more):
    """Returns the record of a run: its settings, what it learns from and what it is made of.

    Args:
        settings: Dictionary with the keys of `settings.DEFAULTS`.
        corpus: The `nlp104.data.Corpus`.
        training: The `nlp104.data.Batches` of its training part.
        model: The model that is trained.
        **more: What else is to be noted.
    """
    return {
        "settings": without_local_paths(settings),
        "languages": [corpus.source_language, corpus.target_language],
        "data": describe_data(corpus),
        "left_out": training.num_dropped,
        "parameters": model.count_params(),
        "versions": software_versions(keras.backend.backend()),
        **more,
    }


def describe_data(corpus):
    """Returns the number of pairs in each part, and what tells this corpus from another."""
    pairs = {split: len(getattr(corpus, split)) for split in SPLITS}
    return {"pairs": pairs, "sha256": _fingerprint(corpus)}


def _fingerprint(corpus):
    """Returns the SHA-256 of all sentences of a corpus, in order."""
    digest = hashlib.sha256()
    for pairs in (corpus.train, corpus.validation, corpus.test):
        for source, target in pairs:
            digest.update(f"{source}\t{target}\n".encode())
        digest.update(b"\n")
    return digest.hexdigest()


def write_record(directory, record):
    """Writes ``run.json``, all of it or nothing."""
    content = json.dumps({"format": _FORMAT, **record}, indent=2, ensure_ascii=False) + "\n"
    with replacing(Path(directory) / _FILE) as temporary:
        temporary.write_text(content, encoding="utf-8")


def read_record(directory):
    """Returns what `write_record` wrote.

    Raises:
        FileNotFoundError: If there is no such directory, or no ``run.json`` in it.
        ValueError: If the file is damaged or something else.

    Example:
        >>> from nlp104.training import read_record
        >>> from nlp104.training.run_record import write_record
        >>> write_record(".", {"settings": {"epochs": 3}, "parameters": 4321})
        >>> read_record(".")
        {'format': 'nlp104 run 1', 'settings': {'epochs': 3}, 'parameters': 4321}
    """
    path = Path(directory) / _FILE
    if not path.is_file():
        raise MissingError(
            f"Expected a directory that `nlp104 train` made. Received: {directory}, which "
            f"{what_lacks(path)}."
        )
    try:
        record = parse_json(read_text(path))
        if record["format"] != _FORMAT or not isinstance(record["settings"], dict):
            raise ValueError("another format")
        return record
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"Expected {path} as `nlp104 train` writes it; the file is damaged or something else."
        ) from error


def software_versions(backend):
    """Returns what numbers and times depend on; nothing that names this machine or its owner."""
    names = ["keras", "numpy", "tokenizers", "sacrebleu"]
    found = {name: importlib.metadata.version(name) for name in names}
    return found | {
        "backend": backend,
        backend: importlib.import_module(backend).__version__,  # whatever its package is called
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        "cores": os.cpu_count(),
    }

"""``model.keras``: looked at first, then loaded.

Keras builds what the configuration in such a file names, as large as that says, and only then looks
at the weights. So the file is looked at before: it must hold a Transformer with plain settings, and
no less weights than these need. Looking also tells a damaged file from a bug in the code that loads
it, for which Keras has many classes of error.
"""

import io
import zipfile
from dataclasses import fields

import h5py
import keras

from nlp104.transformer.config import TransformerConfig
from nlp104.transformer.model import Transformer
from nlp104.utils.errors import InputError, first_line, is_out_of_memory
from nlp104.utils.foreign import LARGEST_TEXT, parse_json, require_arrays, require_stored

CONFIG, WEIGHTS = "config.json", "model.weights.h5"
MEMBERS = ["config.json", "metadata.json", "model.weights.h5"]
_TYPES = {field.name: field.type for field in fields(TransformerConfig)}
_TYPES |= {"name": str, "trainable": bool, "lora_rank": int}
_TYPES |= dict.fromkeys(("dtype", "kernel_initializer"), str | dict)
_TABLE = 2**24  # numbers in a table of sinusoids, which no file holds; the big preset has 2**21


def load_model(path, dtype=None):
    """Returns the `Transformer` in a file.

    Args:
        path: The file.
        dtype: The dtype policy with which it shall compute; by default that of the file.

    Raises:
        ValueError: If it is damaged, holds something else, or less than it says; or if there is no
            such policy.
    """
    if dtype is not None:
        keras.dtype_policies.get(dtype)  # a bad one is not the file's fault
    settings, arrays, numbers = _look(path)
    _check_sizes(settings, arrays, numbers, path)
    try:
        if dtype is None:
            return keras.saving.load_model(path, compile=False, safe_mode=True)
        model = Transformer.from_config({**settings, "dtype": dtype})
        model.load_weights(path)
        return model
    except Exception as error:  # a weight of another shape, an activation that is none, …
        if is_out_of_memory(error):
            raise
        raise InputError(
            f"Expected a model in {path}. Received: {first_line(error):.200}"
        ) from error


def _look(path):
    """The settings of the model in a file, how many arrays of weights it has, and how large."""
    try:
        with zipfile.ZipFile(path) as archive:
            require_stored(archive, path)
            if damaged := archive.testzip():
                raise InputError(
                    f"Expected a model in {path}. Received: a file whose {damaged} is damaged."
                )
            names = sorted(archive.namelist())
            with archive.open(CONFIG) as file:
                found = parse_json(file.read(LARGEST_TEXT))
            name, class_name, settings = (
                found[key] for key in ("registered_name", "class_name", "config")
            )
            with archive.open(WEIGHTS) as file:
                content = file.read()
        with h5py.File(io.BytesIO(content)) as file:
            arrays, numbers = require_arrays(file, len(content), path)
    except InputError:
        raise
    except Exception as error:  # so has Python, and h5py
        raise InputError(f"Expected a model in {path}. Received: a damaged file.") from error
    expected = keras.saving.get_registered_name(Transformer)
    if (name, class_name) != (expected, Transformer.__name__):
        raise InputError(
            f"Expected a Transformer of nlp104 in {path}. Received: {name} ({class_name})."
        )
    if names != MEMBERS:
        raise InputError(f"Expected {', '.join(MEMBERS)} in {path}. Received: {', '.join(names)}.")
    return settings, arrays, numbers


def _check_sizes(settings, arrays, numbers, path):
    """Raises `InputError` unless the settings are plain, and need no more than the file holds."""

    def received(what):
        return InputError(f"Expected settings of a Transformer in {path}. Received: {what}.")

    if not isinstance(settings, dict):
        raise received(f"{settings!r:.60}")
    for name, value in settings.items():
        if name not in _TYPES or not _is_plain(value, _TYPES[name]):
            raise received(f"{name:.60} = {value!r:.60}")
    try:
        config, others = TransformerConfig.split(settings)
    except (ValueError, TypeError) as error:
        raise received(str(error).rstrip(".")) from error
    least, rank = config.least_weights, others.get("lora_rank") or 0
    least += rank * config.num_layers * config.hidden_dim
    if numbers < least or arrays < config.num_layers:
        raise InputError(
            f"Expected at least {least:,} weights in {path}, as its settings say. "
            f"Received: {numbers:,} in {arrays:,} arrays."
        )
    if too_large := large_positions(config):
        raise received(too_large)


def large_positions(config):
    """Says of positions that they take more room than a file may ask for unseen; else None."""
    table = config.max_sequence_length * config.hidden_dim
    if config.positions == "sinusoidal" and table > _TABLE:
        return f"positions that take {table:,} numbers, more than {_TABLE:,}"
    return None


def _is_plain(value, kind):
    """Whether a setting is of its kind. What a dictionary describes is Keras' own, and simple."""
    if isinstance(value, dict) and kind == str | dict:
        name, inner = value.get("class_name"), value.get("config")
        if value.get("registered_name") is not None or not str(name).isidentifier():
            return False  # another's, or a whole Transformer of this package
        return isinstance(inner, dict) and all(
            isinstance(part, str | int | float | None) for part in inner.values()
        )
    if isinstance(value, int) and abs(value) >= 2**63:
        return False
    return isinstance(value, kind | int if kind is float else kind)

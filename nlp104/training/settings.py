"""The settings of a training run, their defaults, and what follows from others.

Light on purpose (no Keras): the command line shows the defaults in its help.
"""

from pathlib import Path

from nlp104.transformer.config import OPTIONS
from nlp104.utils.errors import InputError

SPLITS = ("train", "validation", "test")
DECAYS = ("linear", "inverse_sqrt")
EXPORT_FORMATS = ("tf_saved_model", "onnx")  # under the names that Keras has for them
DTYPES = ("float32", "mixed_bfloat16", "mixed_float16")

# All settings of `nlp104 train`. None: follows from the others, see `complete_settings`, or from
# the data.
DEFAULTS = {
    "data": None,
    "source": None,
    "target": None,
    "validation": None,
    "test": None,
    "pairs": None,
    "tokens": None,
    "vocabulary_size": None,
    "shared_vocabulary": None,
    "max_length": 128,
    "preset": "tiny",
    **dict.fromkeys(OPTIONS),  # of the model: None takes that of the preset
    "epochs": 10,
    "batch_size": 64,
    "tokens_per_batch": None,
    "learning_rate": None,
    "warmup_steps": None,
    "decay": "linear",
    "label_smoothing": 0.1,
    "dtype": "float32",
    "patience": None,
    "average": 1,
    "seed": 104,
}
PATHS = ("data", "validation", "test")
_WORDS = 15_000
_SUBWORDS = {"small": 8_000, "base": 32_000, "big": 32_000}  # the presets that tie their embeddings


def complete_settings(given):
    """Returns all settings of a run: the given ones, and for the others what suits the preset.

    Args:
        given: Dictionary with some of the keys of `DEFAULTS`.

    Returns:
        Dictionary with all of them. `None` remains where the preset or the data decide.

    Example:
        >>> from nlp104.training.settings import complete_settings
        >>> settings = complete_settings({"data": "fra.txt", "preset": "small", "epochs": 3})
        >>> settings["tokens"], settings["vocabulary_size"], settings["shared_vocabulary"]
        ('bpe', 8000, True)
        >>> settings["batch_size"], settings["label_smoothing"]
        (64, 0.1)
    """
    settings = {**DEFAULTS, **given}
    if settings["tokens"] is None:
        settings["tokens"] = "bpe" if settings["preset"] in _SUBWORDS else "word"
    is_bpe = settings["tokens"] == "bpe"
    if settings["shared_vocabulary"] is None:
        settings["shared_vocabulary"] = is_bpe
    if settings["vocabulary_size"] is None:
        settings["vocabulary_size"] = _SUBWORDS.get(settings["preset"], 8_000) if is_bpe else _WORDS
    return settings


def without_local_paths(settings):
    """Returns the settings without places on this machine: of absolute paths only the last part.

    Example:
        >>> from nlp104.training.settings import complete_settings, without_local_paths
        >>> settings = complete_settings({"data": "/mine/fra.txt", "epochs": 3})
        >>> without_local_paths(settings)["data"]
        'fra.txt'
    """
    names = {
        key: Path(settings[key]).name
        for key in PATHS
        if settings[key] and Path(settings[key]).is_absolute()
    }
    return settings | names


def resumed_settings(recorded, given):
    """Returns the settings with which a recorded run goes on.

    Args:
        recorded: The settings of the run.
        given: Those asked for now. They may name another path to the data (their SHA-256 tells
            whether they are the same) and, unless the learning rate falls to 0 at the end of the
            last one, another number of epochs; all others must agree.

    Raises:
        ValueError: If another setting differs.

    Example:
        >>> from nlp104.training.settings import complete_settings, resumed_settings
        >>> recorded = complete_settings({"epochs": 5, "decay": "inverse_sqrt"})
        >>> resumed_settings(recorded, {"epochs": 8})["epochs"]
        8
        >>> resumed_settings(recorded, {"seed": 1})
        Traceback (most recent call last):
            ...
        nlp104.utils.errors.InputError: ... --seed was 104 and is now 1. ...
    """
    recorded = DEFAULTS | recorded  # a run may be older than a setting
    free = PATHS if recorded["decay"] == "linear" else (*PATHS, "epochs")
    for key, value in given.items():
        if key not in free and value != recorded[key]:
            option = "--" + key.replace("_", "-")
            raise InputError(
                f"A run is resumed with the settings it was started with: {option} was "
                f"{recorded[key]} and is now {value}. Leave it out, or start a new run in another "
                "directory."
            )
    return recorded | given

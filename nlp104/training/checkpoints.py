"""Files of a training run: its whole state, weights of single epochs, the mean of several.

Every file is written under a temporary name and then renamed, so none is ever half-written.
"""

import json
import logging
import os
import zipfile
import zlib
from contextlib import contextmanager
from pathlib import Path

import h5py
import keras
import numpy as np

from nlp104.utils.errors import InputError, is_out_of_memory
from nlp104.utils.files import replacing, require_room
from nlp104.utils.foreign import parse_json, require_arrays, require_numbers

_LOG = logging.getLogger(__name__)
_PREVIOUS = "previous.npz"  # beside the newest state
PLACES = 4096  # bytes at most with which a file of HDF5 says where one array is


def save_state(path, model, position):
    """Save all that decides how training goes on.

    That is every variable of the model (weights and the states of its random generators), of its
    optimizer (moments and step) and of its metrics (sums of the current epoch), and the position.
    The state that stood there is kept beside it, for the case that a disk damages the new one.

    Args:
        path: File to write, ending in `.npz`.
        model: A built and compiled `keras.Model`.
        position: Dictionary that JSON can hold.

    Raises:
        FloatingPointError: If a weight is not a finite number. Nothing is written then.
    """
    path = Path(path)
    _require_finite(model)
    arrays = {key: _storable(variable) for key, variable in _variables(model).items()}
    with replacing(path) as temporary:
        np.savez(temporary, position=np.array(json.dumps(position)), **arrays)
        if path.exists():
            os.replace(path, path.with_name(_PREVIOUS))


def has_state(path):
    """Whether `load_state` would find a state there."""
    path = Path(path)
    return path.exists() or path.with_name(_PREVIOUS).exists()


def load_state(path, model, check=lambda position: position):
    """Put a model, its optimizer and its metrics into the state that `save_state` saved.

    If the file is damaged, or was about to be replaced when the run was killed, the state before it
    is taken: the run then repeats some steps, and ends the same.

    Args:
        path: File that `save_state` wrote.
        model: A built and compiled `keras.Model` of the same configuration.
        check: Function that turns the position into what is returned, or raises an error.

    Returns:
        The position.

    Raises:
        ValueError: If the file is damaged, and there is none before it, or holds variables of other
            shapes. The model then is as it was.
    """
    path = Path(path)
    previous = path.with_name(_PREVIOUS)
    try:
        position, arrays = _read_state(path)
    except (InputError, FileNotFoundError):
        if not previous.exists():
            raise
        position, arrays = _read_state(previous)
        _LOG.warning("%s is damaged or gone: going on from %s.", path, previous)
    variables = _variables(model)
    expected = {key: tuple(variable.shape) for key, variable in variables.items()}
    found = {key: array.shape for key, array in arrays.items()}
    if expected != found:
        raise InputError(
            f"{path} belongs to another model or optimizer: it holds {len(found)} variables, this "
            f"one has {len(expected)}, and {_first_difference(expected, found)}."
        )
    position = check(position)
    for key, variable in variables.items():
        variable.assign(arrays[key])
    return position


def save_weights(path, model):
    """Save a model's weights in Keras' format, for `model.load_weights`.

    As always with Keras, a compiled model's optimizer is in the file, too: with Adam two thirds.

    Args:
        path: File to write, ending in `.weights.h5`.
        model: A built `keras.Model`.

    Raises:
        FloatingPointError: If a weight is not a finite number. Nothing is written then.
    """
    _require_finite(model)
    optimizer = getattr(model, "optimizer", None)
    variables = [*model.variables, *(optimizer.variables if optimizer else ())]
    size = sum(keras.ops.convert_to_numpy(variable).nbytes for variable in variables)
    with replacing(path) as temporary:
        require_room(temporary, size + PLACES * len(variables))
        model.save_weights(temporary)


def average_checkpoints(model, paths):
    """Give a model the mean of several checkpoints' weights; its optimizer stays as it is.

    The mean of the last few checkpoints of one run usually translates better than any of them
    (Vaswani et al., 2017, section 6.1, average the last 5).

    Args:
        model: A built `keras.Model`.
        paths: Files that `save_weights` wrote for models of the same configuration.

    Raises:
        ValueError: If `paths` is a single path or empty, or a file is damaged or belongs to another
            model. The model then keeps its weights.

    Example:
        >>> import keras
        >>> import numpy as np
        >>> from nlp104.training import average_checkpoints
        >>> model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1, use_bias=False)])
        >>> for number in (1.0, 3.0):  # two checkpoints of a model with one weight
        ...     model.set_weights([np.array([[number]])])
        ...     model.save_weights(f"{number}.weights.h5")
        >>> average_checkpoints(model, ["1.0.weights.h5", "3.0.weights.h5"])
        >>> model.get_weights()[0].tolist()
        [[2.0]]
    """
    if isinstance(paths, (str, os.PathLike)):
        raise ValueError(f"`paths` must be a list of paths. Received: {os.fspath(paths)!r}.")
    paths = list(paths)
    if not paths:
        raise InputError("Expected at least one checkpoint to average. Received: none.")
    before = model.get_weights()
    sums = [np.zeros(weight.shape, "float64") for weight in before]
    try:
        for path in paths:
            with h5py.File(path) as file:
                require_arrays(file, Path(path).stat().st_size, path)
                _require_count(file, len(before))  # Keras passes over what it does not look for
            with _without_optimizer(model):
                model.load_weights(path)
            for total, weight in zip(sums, model.get_weights(), strict=True):
                total += weight
    except (ValueError, TypeError, OSError, KeyError, RuntimeError) as error:
        model.set_weights(before)
        if is_out_of_memory(error):
            raise
        raise InputError(f"{path} is missing, damaged or belongs to another model.") from error
    model.set_weights([total / len(paths) for total in sums])


def epoch_checkpoints(output):
    """The weights that a run kept of its last epochs, oldest first.

    Args:
        output: Directory of the run.

    Returns:
        A list of paths.

    Example:
        >>> from pathlib import Path
        >>> from nlp104.training import epoch_checkpoints
        >>> folder = Path("run", "checkpoints")
        >>> folder.mkdir(parents=True)
        >>> for name in ("epoch-0010", "epoch-0009", "best"):
        ...     (folder / f"{name}.weights.h5").touch()
        >>> [path.name for path in epoch_checkpoints("run")]
        ['epoch-0009.weights.h5', 'epoch-0010.weights.h5']
    """
    paths = (Path(output) / "checkpoints").glob("epoch-*.weights.h5")
    return sorted(paths, key=epoch_of)


def epoch_of(path):
    """The epoch, counted from 1, after which a path of `epoch_checkpoints` was written."""
    return int(path.name.split("-")[1].split(".")[0])


def _read_state(path):
    """The position in a file of `save_state`, and its arrays."""
    try:
        with zipfile.ZipFile(path) as archive:
            require_numbers(archive, path)
        with np.load(path, allow_pickle=False) as file:
            arrays = {key: file[key] for key in file.files}
        return parse_json(str(arrays.pop("position"))), arrays
    except (zipfile.BadZipFile, zlib.error, ValueError, KeyError, EOFError) as error:
        raise InputError(f"{path} is damaged or is not the state of a training run.") from error


def _variables(model):
    """Every variable of a compiled model under a name that depends on its place only."""
    groups = {
        "model": model.variables,
        "optimizer": model.optimizer.variables,
        "metrics": model.metrics_variables,
    }
    return {
        f"{group}/{index}": variable
        for group, variables in groups.items()
        for index, variable in enumerate(variables)
    }


def _require_count(file, count):
    """Raises `ValueError` unless a file of HDF5 holds so many weights."""
    arrays = []
    file.visititems(lambda name, item: arrays.append(name) if hasattr(item, "shape") else None)
    found = sum(not name.startswith("optimizer/") for name in arrays)
    if found != count:
        raise ValueError(f"Expected {count} weights. Received: {found}.")


@contextmanager
def _without_optimizer(model):
    """For a while Keras, which loads all it finds, finds no optimizer to load."""
    if not (optimizer := getattr(model, "optimizer", None)):
        yield
        return
    model.optimizer = None
    try:
        yield
    finally:
        model.optimizer = optimizer


def _storable(variable):
    """The values as NumPy can store them: bfloat16 is none of its types, and float32 holds it."""
    array = keras.ops.convert_to_numpy(variable)
    return array.astype("float32") if array.dtype.kind == "V" else array


def _require_finite(model):
    for variable in model.variables:
        if not np.all(np.isfinite(keras.ops.convert_to_numpy(variable).astype("float32"))):
            raise FloatingPointError(
                f"The weight {variable.path} holds values that are not finite."
            )


def _first_difference(expected, found):
    for key in [*expected, *found]:
        if expected.get(key) != found.get(key):
            return f"{key} has the shape {found.get(key)} instead of {expected.get(key)}"
    return ""

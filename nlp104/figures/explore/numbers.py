"""Arrays on their way into an explorable: checked, and as JSON holds them in few letters."""

import keras
import numpy as np


def as_matrix(values, shape, name):
    """Numbers of any backend as float64, of this shape; None stands for any size.

    Raises:
        ValueError: They have another shape.
    """
    array = np.asarray(keras.ops.convert_to_numpy(values), dtype="float64")
    fits = array.ndim == len(shape) and all(
        wanted in (None, size) for wanted, size in zip(shape, array.shape, strict=True)
    )
    if not fits:
        wanted = ", ".join("any" if size is None else str(size) for size in shape)
        raise ValueError(f"Expected {name} of shape ({wanted}). Received: {array.shape}.")
    return array


def short(array, digits=6):
    """Nested lists of rounded numbers; whole ones without a point."""
    rounded = np.round(np.asarray(array, dtype="float64"), digits) + 0.0  # no -0
    if rounded.ndim > 1:
        return [short(row, digits) for row in rounded]
    return [int(x) if x.is_integer() else x for x in rounded.tolist()]

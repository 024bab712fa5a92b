"""A matrix of numbers as coloured cells, with tokens on its sides."""

import keras
import numpy as np
from matplotlib.colors import Normalize
from matplotlib.patches import Rectangle

from nlp104.figures.style import CELL, GROUND, HATCH, INK, tint

MANY = 4_000  # cells: a matrix of more is drawn as a picture of dots


def array(values, shape=None, name=""):
    """Numbers of any backend as a NumPy array; raises `ValueError` for none, or another shape."""
    values = np.asarray(keras.ops.convert_to_numpy(values))
    if not values.size:
        raise ValueError(f"{name!r} must hold numbers. Received: none.")
    if shape is not None and values.shape != shape:
        raise ValueError(f"{name!r} must have shape {shape}. Received: {values.shape}.")
    return values


def finite(values, name):
    """The values; raises `ValueError` if one is NaN or infinite."""
    known = np.isfinite(values)
    if not known.all():
        found = f"{np.sum(~known)} NaN or infinite values"
        raise ValueError(f"{name!r} must be finite. Received: {found}.")
    return values


def draw_matrix(axes, values, rows, columns, mask, alignment, limits, strongest=1.0, concept="a"):
    """Draw the coloured cells; return their image and which of them may be seen."""
    everywhere = np.full(values.shape, True)
    visible = everywhere if mask is None else array(mask, values.shape, "mask").astype(bool)
    values = finite(np.where(visible, values, 0.0).astype(float), "weights")
    low, high = limits or (min(values.min(), 0.0), max(values.max(), 1e-9))
    if low < 0:
        low, high = -max(-low, high), max(-low, high)  # zero is white
        concept = "p" if concept == "a" else concept
    colormap = tint(concept, strongest, negative="k" if low < 0 else None)
    image = axes.pcolormesh(values, cmap=colormap, norm=Normalize(low, high, clip=True))
    image.set_rasterized(values.size > MANY)
    if len(columns) <= 24:
        image.set(edgecolor=GROUND, linewidth=1.2)
    axes.set(aspect="equal", anchor="NW", ylim=(len(rows), 0))
    for row, column in np.argwhere(~visible):
        axes.add_patch(_cell(row, column, facecolor=CELL, edgecolor=HATCH, lw=0, hatch="/////"))
    for row, column in alignment:
        axes.add_patch(_cell(row, column, fill=False, edgecolor=INK, linewidth=1.8, zorder=3))
    # "$" is a token, not a formula
    axes.set_yticks(np.arange(len(rows)) + 0.5, rows, parse_math=False)
    axes.set_xticks(np.arange(len(columns)) + 0.5, columns, parse_math=False)
    axes.tick_params(length=0, top=False, labeltop=True, bottom=False, labelbottom=False)
    if max(map(len, columns)) > 4:
        for label in axes.get_xticklabels():
            label.set(rotation=50, ha="left", va="bottom", rotation_mode="anchor")
    axes.xaxis.set_label_position("top")
    axes.tick_params(labelcolor=INK)
    axes.spines[:].set(visible=False)
    return image, visible


def _cell(row, column, **look):
    return Rectangle((column, row), 1.0, 1.0, **look)

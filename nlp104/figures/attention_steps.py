"""Drawings of the attention pipeline, step by step, with the numbers that run through it.

`projections` draws how an input matrix becomes queries, keys and values. `pipeline` draws what is
done with them, from the scores to the output, with or without a mask. Both take arrays and compute
nothing that the equations do not say, so a drawing is as right as the arrays handed in.

Colours are those of the whole book: queries blue, keys orange, values green, weights vermilion. In
every matrix the full colour is a large positive number, white is zero, and dark grey a large
negative one. Narrow matrices show their numbers, wide ones only the colours.
"""

from dataclasses import dataclass

import keras
import numpy as np
from matplotlib.colors import LinearSegmentedColormap, Normalize
from matplotlib.patches import Rectangle

from nlp104.attention.masks import masked_softmax
from nlp104.figures.style import (
    ATTENTION,
    CARD,
    INK,
    KEY,
    MASK,
    QUERY,
    RESIDUAL,
    VALUE,
    grid,
    styled,
)

__all__ = ["pipeline", "projections"]

NUMBERS = 10  # up to so many rows and columns a matrix shows its numbers
SPAN = 8.0  # room, in cells, for a side that has more
CHARACTER = 0.19  # width of a letter in cells
WIDTH, CELL = 8.4, 0.5  # inches: the whole card at most, a cell at most
NEGATIVE = "#77736A"  # grey
SHADES = 17  # of a colour, from negative to positive: few, so that a small PNG keeps them all


@styled
def projections(inputs, kernels, tokens, *, features=(), follow=None, title=""):
    """How the inputs become queries, keys and values: Q = X W_Q, K = X W_K, V = X W_V.

    Args:
        inputs: X, `[length, dim]`.
        kernels: W_Q, W_K and W_V of one head, `[dim, key_dim]`, `[dim, key_dim]` and
            `[dim, value_dim]`.
        tokens: one for each row of `inputs`.
        features: names of the `dim` features, if they have any.
        follow: row and column of an entry of the products, whose row and column are framed.
        title: what there is to see.

    Returns:
        A `matplotlib.figure.Figure` with one line for each product.

    Raises:
        ValueError: the arrays do not fit together.

    Example:
        >>> figure = projections(x, (w_query, w_key, w_value), ["The", "cat", "sleeps"])
    """
    inputs = _array(inputs, (len(tokens), None), "inputs")
    row, column = follow or (None, None)
    lines = []
    for kernel, letter, color in zip(kernels, "QKV", (QUERY, KEY, VALUE), strict=True):
        kernel = _array(kernel, (inputs.shape[1], None), f"W_{letter}")
        lines.append(
            [
                _Matrix(inputs, "X", RESIDUAL, tokens, features, follow and (row, None)),
                "×",
                _Matrix(kernel, f"$W_{letter}$", color, features, (), follow and (None, column)),
                "=",
                _Matrix(inputs @ kernel, letter, color, tokens, (), follow),
            ]
        )
    return _draw(lines, title)


@styled
def pipeline(query, key, value, rows, columns=None, *, mask=None, follow=None, title=""):
    """The pipeline of one head: scores QKᵀ, scaled, masked, softmax, times V.

    A = softmax(QKᵀ / √d_k + M), Y = AV (Vaswani et al., 2017, equation 1 and section 3.2.3).

    Args:
        query: Q, `[query, key_dim]`.
        key: K, `[key, key_dim]`.
        value: V, `[key, value_dim]`.
        rows: the token of each query.
        columns: the token of each key; `rows` by default.
        mask: booleans `[query, key]`, True = may be seen. The other cells are grey and hatched from
            the mask on.
        follow: number of a query whose row is framed in every step.
        title: what there is to see.

    Returns:
        A `matplotlib.figure.Figure` with one line for the scores, one for scale, mask and softmax,
        and one for the output.

    Raises:
        ValueError: the arrays do not fit together.

    Example:
        >>> figure = pipeline(q, k, v, ["The", "cat", "sleeps"], mask=np.tri(3, dtype=bool))
    """
    columns = rows if columns is None else columns
    query = _array(query, (len(rows), None), "query")
    key = _array(key, (len(columns), query.shape[1]), "key")
    value = _array(value, (len(columns), None), "value")
    visible = np.full((len(rows), len(columns)), True)
    if mask is not None:
        visible = _array(mask, visible.shape, "mask").astype(bool)
    scores = query @ key.T
    scaled = scores / np.sqrt(query.shape[1])
    weights = _array(masked_softmax(scaled, visible))
    frame = None if follow is None else (follow, None)
    like_scores = {"limit": np.abs(scores).max()}  # one scale: what the division does can be seen
    like_weights = {"visible": visible, "limit": 1.0, "decimals": 2}

    scale = [
        _Matrix(scaled, r"$S\,/\,\sqrt{d_k}$", ATTENTION, rows, columns, frame, **like_scores),
        "softmax\n→",
        _Matrix(weights, "A", ATTENTION, (), columns, frame, **like_weights),
    ]
    if mask is not None:
        addend = np.where(visible, 0.0, -np.inf)
        scale[1:1] = ["+", _Matrix(addend, "M", MASK, (), columns, frame, visible)]
    compare = [
        _Matrix(query, "Q", QUERY, rows, (), frame),
        "×",
        _Matrix(key.T, "$K^T$", KEY, (), columns),
        "=",
        _Matrix(scores, "S", ATTENTION, rows, columns, frame, **like_scores),
    ]
    mix = [
        _Matrix(weights, "A", ATTENTION, rows, columns, frame, **like_weights),
        "×",
        _Matrix(value, "V", VALUE, columns),
        "=",
        _Matrix(weights @ value, "Y", VALUE, rows, (), frame),
    ]
    return _draw([compare, scale, mix], title)


@dataclass
class _Matrix:
    """A matrix on the card; widths and heights are in cells."""

    values: np.ndarray
    title: str
    color: str
    rows: tuple = ()
    columns: tuple = ()
    frame: tuple | None = None  # row and column of the framed cells, None for all of them
    visible: np.ndarray | None = None
    limit: float | None = None
    decimals: int | None = None

    @property
    def numbers(self):
        """Whether there is room for the numbers."""
        return max(self.values.shape) <= NUMBERS

    @property
    def size(self):
        """Height and width."""
        return [float(count) if count <= NUMBERS else SPAN for count in self.values.shape]

    @property
    def left(self):
        """Room for the names of the rows."""
        return 0.3 + CHARACTER * max(map(len, self.rows)) if len(self.rows) else 0.0

    @property
    def top(self):
        """Room for the title and the names of the columns."""
        return 1.0 + (0.2 + 0.85 * CHARACTER * max(map(len, self.columns)) if self.columns else 0)


def _draw(lines, title):
    """Lines of matrices and the signs between them, on one card."""
    widths, tops, bottoms = [], [], []  # from the middle of a line up and down
    for line in lines:
        matrices = [part for part in line if isinstance(part, _Matrix)]
        signs = sum(_sign_width(part) for part in line if isinstance(part, str))
        widths.append(sum(matrix.left + matrix.size[1] for matrix in matrices) + signs)
        tops.append(max(matrix.top + matrix.size[0] / 2 for matrix in matrices))
        bottoms.append(max(matrix.size[0] / 2 for matrix in matrices) + 0.6)
    width, height = max(widths) + 0.2, sum(tops) + sum(bottoms)
    cell = min(CELL, WIDTH / width)  # inches
    figure, axes = grid(size=(cell * width + 0.3, cell * height + 0.5))
    axes = axes[0, 0]
    axes.set(xlim=(0.0, width), ylim=(height, 0.0), aspect="equal", anchor="NW", title=title)
    axes.set_axis_off()
    middle = 0.0
    for line, top, bottom in zip(lines, tops, bottoms, strict=True):
        x, middle = 0.0, middle + top
        for part in line:
            if isinstance(part, str):
                points = _points(cell, 0.32 if len(part) > 1 else 0.5)
                place = x + _sign_width(part) / 2, middle
                axes.text(*place, part, ha="center", va="center", fontsize=points)
                x += _sign_width(part)
            else:
                _draw_matrix(axes, part, x + part.left, middle - part.size[0] / 2, cell)
                x += part.left + part.size[1]
        middle += bottom
    return figure


def _draw_matrix(axes, matrix, x, y, cell):
    """One matrix with its upper left corner at (x, y)."""
    rows, columns = matrix.values.shape
    across = np.linspace(x, x + matrix.size[1], columns + 1)
    down = np.linspace(y, y + matrix.size[0], rows + 1)

    def box(row, column, **look):
        left, right = (0, columns) if column is None else (column, column + 1)
        top, bottom = (0, rows) if row is None else (row, row + 1)
        size = across[right] - across[left], down[bottom] - down[top]
        axes.add_patch(Rectangle((across[left], down[top]), *size, **look))

    visible = np.full(matrix.values.shape, True) if matrix.visible is None else matrix.visible
    shown = np.where(visible, matrix.values, 0.0)
    limit = matrix.limit or np.abs(shown).max() or 1.0
    colors = LinearSegmentedColormap.from_list("role", [NEGATIVE, "white", matrix.color], SHADES)
    image = axes.pcolormesh(across, down, shown, cmap=colors, norm=Normalize(-limit, limit))
    image.set_gid(matrix.title)
    if matrix.numbers:
        image.set(edgecolor=CARD, linewidth=0.8)
    for row, column in np.argwhere(~visible):
        box(row, column, facecolor=MASK, edgecolor=CARD, linewidth=0.8, hatch="////")
    if matrix.numbers:
        _write_numbers(axes, matrix, image, visible, across, down, cell)
    box(None, None, fill=False, edgecolor=matrix.color, linewidth=2.0)
    if matrix.frame is not None:
        box(*matrix.frame, fill=False, edgecolor=INK, linewidth=2.0, zorder=3)
    _write_names(axes, matrix, across, down, cell)


def _write_numbers(axes, matrix, image, visible, across, down, cell):
    whole = np.all(np.round(matrix.values[visible]) == matrix.values[visible])
    decimals = matrix.decimals or (0 if whole else 1)
    for row, column in np.ndindex(matrix.values.shape):
        number, ink = matrix.values[row, column], INK
        if np.isinf(number):
            text = "-∞"
        elif visible[row, column]:
            text = f"{round(number, decimals) + 0.0:.{decimals}f}"  # no -0.0
            red, green, blue, _ = image.to_rgba(number)
            ink = INK if 0.3 * red + 0.6 * green + 0.1 * blue > 0.5 else "white"
        else:
            continue  # a weight that the mask took away
        place = across[column : column + 2].mean(), down[row : row + 2].mean()
        look = {"ha": "center", "va": "center", "color": ink, "fontsize": _points(cell, 0.3)}
        axes.text(*place, text, **look)


def _write_names(axes, matrix, across, down, cell):
    small = _points(cell, 0.31)
    for row, name in enumerate(matrix.rows):
        place = across[0] - 0.2, down[row : row + 2].mean()
        axes.text(*place, name, ha="right", va="center", fontsize=small, parse_math=False)
    for column, name in enumerate(matrix.columns):
        place = across[column : column + 2].mean() - 0.15, down[0] - 0.12
        look = {"ha": "left", "va": "bottom", "rotation": 50, "rotation_mode": "anchor"}
        axes.text(*place, name, fontsize=small, parse_math=False, **look)
    shape = f"{matrix.title}   {matrix.values.shape[0]} × {matrix.values.shape[1]}"
    axes.text(across[0], down[0] + 0.6 - matrix.top, shape, fontsize=_points(cell, 0.36))


def _sign_width(sign):
    return 1.2 + 0.3 * max(map(len, sign.split("\n")))


def _points(cell, share):
    """Size of a letter that is `share` of a cell high, and never too small to be read."""
    return max(6.5, 72.0 * cell * share)


def _array(values, shape=None, name=""):
    array = np.asarray(keras.ops.convert_to_numpy(values), dtype="float64")
    expected = array.shape if shape is None else shape
    fits = array.ndim == len(expected) and all(
        wanted in (None, size) for wanted, size in zip(expected, array.shape, strict=True)
    )
    if not fits:
        words = ", ".join("any" if size is None else str(size) for size in expected)
        raise ValueError(f"{name!r} must have shape ({words}), got {array.shape}.")
    return array

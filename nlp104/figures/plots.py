"""The book's figures: matrices with tokens on their sides, curves, bars and histograms.

Every function draws one kind of picture and returns a `matplotlib.figure.Figure`; `show` displays
it together with the words that stand in for it where it cannot be seen. Data may be lists, NumPy
arrays or tensors of any backend. Data that do not fit together, or that hold NaN or infinity where
it would be drawn, raise a `ValueError`.
"""

import numpy as np
from matplotlib.ticker import MaxNLocator

from nlp104.figures.language import CONCEPTS
from nlp104.figures.layouts import scale
from nlp104.figures.matrices import array, draw_matrix, finite
from nlp104.figures.style import (
    ATTENTION,
    FEED_FORWARD,
    GROUND,
    INK,
    INKS,
    KEY,
    LEGIBLE,
    MASK,
    MUTED,
    PALETTE,
    POSITION,
    QUERY,
    RESIDUAL,
    VALUE,
    grid,
    show,
    styled,
)

__all__ = [
    "ATTENTION",
    "FEED_FORWARD",
    "GROUND",
    "INK",
    "KEY",
    "MASK",
    "MUTED",
    "PALETTE",
    "POSITION",
    "QUERY",
    "RESIDUAL",
    "VALUE",
    "bars",
    "curves",
    "grid",
    "head_grid",
    "heatmap",
    "histogram",
    "show",
]

LEAST = 1e-5  # of the highest bar: a lower one is nothing
ZERO = 6  # points of width that a 0 asks for


@styled
def heatmap(
    weights,
    rows,
    columns,
    *,
    title="",
    row_label="",
    column_label="",
    mask=None,
    annotate=None,
    alignment=(),
    limits=None,
    concept="a",
    axes=None,
):
    """A matrix with a token beside each row and above each column.

    Args:
        weights: `[rows, columns]`. Numbers are coloured from 0 (faint) to the largest (full) or, if
            some are negative, from amber over nothing (zero) to the `concept`, purple by default.
            Booleans are a mask: what is False is hatched; if not about attention, True is filled.
        rows: the token of each row; in an attention matrix, of each query.
        columns: the token of each column; in an attention matrix, of each key.
        title: what there is to see.
        row_label: what the rows are.
        column_label: what the columns are.
        mask: `[rows, columns]`, True = may be seen. The others are hatched, whatever they hold.
        annotate: write the numbers into the cells; by default up to 10 rows and 10 columns.
        alignment: pairs (row, column) of cells to frame, for example a gold word alignment.
        limits: the numbers of the lightest and the darkest colour, to make figures comparable.
        concept: in whose colour: "a" for attention, "p" for positions, "r" for what is plain, …
        axes: where to draw, from `grid`; a new figure by default.
    """
    if concept not in CONCEPTS:
        raise ValueError(f"Expected concept: one of {', '.join(CONCEPTS)}. Received: {concept!r}.")
    values = array(weights, (len(rows), len(columns)), "weights")
    if axes is None:
        cell = min(0.5, 5.0 / len(columns))
        width = max(cell * len(columns) + 0.8, 0.11 * len(title)) + 1.0
        axes = grid(size=(width, cell * len(rows) + 1.1))[1][0, 0]
    axes.set(title=title, ylabel=row_label, xlabel=column_label)
    if values.dtype == bool:
        seen = values if concept == "a" else mask
        look = {"limits": (0.0, 1.0), "concept": concept}
        draw_matrix(axes, 0.5 * values, rows, columns, seen, alignment, **look)
        return axes.figure
    annotate = max(values.shape) <= 10 if annotate is None else annotate
    strongest = LEGIBLE if annotate else 1.0
    look = {"limits": limits, "strongest": strongest, "concept": concept}
    image, visible = draw_matrix(axes, values, rows, columns, mask, alignment, **look)
    if annotate:
        size = 9.0 if len(columns) <= 8 else 8.25
        digits = 0 if np.all(np.round(values[visible]) == values[visible]) else 2
        for row, column in np.argwhere(visible):
            number = f"{values[row, column]:.{digits}f}".replace("-", "−")
            place = column + 0.5, row + 0.5
            axes.text(*place, number, ha="center", va="center", fontsize=size)
    else:
        scale(image, axes, shrink=0.8)
    return axes.figure


@styled
def head_grid(weights, rows, columns, *, title="", names=None, mask=None, alignment=()):
    """The attention matrices of all heads, on one colour scale.

    Args:
        weights: `[heads, rows, columns]`.
        rows: the token of each row (query).
        columns: the token of each column (key).
        title: what there is to see.
        names: one for each head; "head 1", "head 2", … by default.
        mask: as in `heatmap`, one for all heads.
        alignment: as in `heatmap`.
    """
    heads = len(weights)
    if names and len(names) != heads:
        raise ValueError(f"Expected a name for each of {heads} heads. Received: {len(names)}.")
    values = array(weights, (heads, len(rows), len(columns)), "weights")
    shown = values if mask is None else values[:, array(mask, values.shape[1:], "mask")]
    shown = finite(shown, "weights")
    limits = shown.min(initial=0.0), shown.max(initial=0.0)
    across = min(heads, 4)
    down = -(-heads // across)  # rounded up
    cell = min(0.3, (6.2 / across - 0.2) / len(columns))
    size = across * (cell * len(columns) + 0.2) + 1.5, down * (cell * len(rows) + 0.9) + 0.4
    figure, axes = grid(down, across, size)
    for head, place in enumerate(axes.flat[:heads]):
        image, _ = draw_matrix(place, values[head], rows, columns, mask, alignment, limits)
        place.set_title(names[head] if names else f"head {head + 1}", fontsize=9.0)
        place.tick_params(labelleft=head % across == 0)
    for unused in axes.flat[heads:]:
        unused.remove()
    scale(image, axes.flat[:heads], shrink=0.8 / down)
    figure.suptitle(title, x=0.01, ha="left", size=9.75, weight="bold")
    return figure


@styled
def curves(
    series, *, points=(), theory=(), on_top=(), ends=(), colors=None, log="", axes=None, **labels
):
    """Lines, with a legend where there are several.

    Args:
        series: from a name to y, or to (x, y). Without x, the places are 1, 2, 3, …
        points: the names to draw as points: what was measured.
        theory: the names to draw as thin dashed lines: what was expected.
        on_top: the names to draw dashed above the others: what would hide them, or be hidden.
        ends: the names to write at the right end of their lines instead of in the legend: those of
            `theory` above them, or below where another line runs there, the others behind them.
        colors: from each name to its colour, where it shall be the same in several figures.
        log: the axes with a logarithmic scale: "x", "y" or "xy".
        axes: where to draw, from `grid`; a new figure by default.
        **labels: `title`, `x_label`, `y_label`.
    """
    axes = axes or grid()[1][0, 0]
    axes.grid(True)
    for (name, data), color in zip(series.items(), _colors(series, colors), strict=True):
        x, y = data if isinstance(data, tuple) else (range(1, len(data) + 1), data)
        x = finite(array(x, name=name), name)
        y = finite(array(y, x.shape, name), name)
        if name in theory:
            line, *_ = axes.plot(x, y, color=INK, ls="--", lw=1.2, label=name, zorder=1.9)
        else:
            look = {"marker": "o", "ls": ""} if name in points else {"ls": "-"}
            look |= {"ls": (0, (2, 2)), "zorder": 3} if name in on_top else {}
            line, *_ = axes.plot(x, y, color=color, label=name, **look)
        if name in ends:
            line.set_label(f"_{name}")  # not in the legend
    axes.set(**{f"{axis}scale": "log" for axis in log})
    _name_ends(axes, [*series], ends, theory)
    if "x" in log and x.size <= 10:  # so few places are worth their own numbers
        axes.set_xticks(x, [f"{place:g}" for place in x])
        axes.set_xticks([], minor=True)
    elif "x" not in log and np.issubdtype(x.dtype, np.integer):  # no epoch 1.5
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    _label(axes, **labels)
    return axes.figure


@styled
def bars(series, names=None, *, colors=None, axes=None, **labels):
    """Bars side by side, with a legend where there are several series.

    Where a bar is nothing stands a 0 in the colour of its series; where a whole place is, one 0.

    Args:
        series: from a name to its values, one for each place; NaN where it has no bar.
        names: what stands under the places; 1, 2, 3, … by default.
        colors: from each name of a series to its colour, where it has one in the whole book.
        axes: where to draw, from `grid`; a new figure by default.
        **labels: `title`, `x_label`, `y_label`.
    """
    axes = axes or grid()[1][0, 0]
    axes.grid(True, axis="y")
    colors = _colors(series, colors)
    count = len(next(iter(series.values())) if names is None else names)
    heights = np.array([array(values, (count,), name) for name, values in series.items()], float)
    for name, row in zip(series, heights, strict=True):
        finite(row[~np.isnan(row)], name)
    width = 0.8 / len(series)
    shifts = (np.arange(len(series)) - (len(series) - 1) / 2) * width
    places = np.arange(1, count + 1) + shifts[:, None]  # [series, place]
    for name, color, at, row in zip(series, colors, places, heights, strict=True):
        axes.bar(at, row, width, color=color, label=name)
    _mark_zeros(axes, places, heights, [INKS.get(color, color) for color in colors])
    if names is not None:
        axes.set_xticks(np.arange(1, count + 1), names, parse_math=False)
    _label(axes, **labels)
    return axes.figure


def _mark_zeros(axes, places, heights, inks):
    """Writes a 0 where a bar is nothing, if that finds room."""
    nothing = np.abs(heights) < LEAST * np.nanmax(np.abs(heights), initial=0)  # [series, place]
    empty = (nothing | np.isnan(heights)).all(axis=0) & nothing.any(axis=0)
    bottom = axes.get_xaxis_transform() if np.nanmin(heights, initial=0) >= 0 else "data"
    points = axes.bbox.width / axes.figure.dpi * 72 / np.diff(axes.get_xlim())[0]
    marks = [(places[:, column].mean(), 0.8, MUTED) for column in np.flatnonzero(empty)]
    for row, column in np.argwhere(nothing & ~empty):
        marks.append((places[row, column], 0.8 / len(places), inks[row]))
    for place, width, color in marks:
        if width * points >= ZERO:
            look = {"ha": "center", "va": "bottom", "color": color, "textcoords": "offset points"}
            axes.annotate("0", (place, 0), (0, 1), xycoords=bottom, **look)


@styled
def histogram(series, *, bins=40, axes=None, **labels):
    """How often which values occur, with a legend where there are several samples.

    Args:
        series: from a name to its sample. All samples share the same bins.
        bins: number of bins.
        axes: where to draw, from `grid`; a new figure by default.
        **labels: `title`, `x_label`, `y_label`.
    """
    axes, colors = axes or grid()[1][0, 0], _colors(series)
    samples = [finite(array(sample, name=name), name).ravel() for name, sample in series.items()]
    edges = np.histogram_bin_edges(np.concatenate(samples), bins)
    for name, sample, color in zip(series, samples, colors, strict=True):
        axes.hist(sample, edges, histtype="stepfilled", fc=(color, 0.5), ec=color, label=name)
    _label(axes, **labels)
    return axes.figure


def _colors(series, colors=None):
    if not series:
        raise ValueError("Expected at least one series. Received: none.")
    if colors:
        if lacking := [name for name in series if name not in colors]:
            raise ValueError(f"Expected a colour of each series. Received: none of {lacking[0]!r}.")
        return [colors[name] for name in series]
    if len(series) > len(PALETTE):
        raise ValueError(f"Expected at most {len(PALETTE)} series. Received: {len(series)}.")
    return PALETTE[: len(series)]


def _name_ends(axes, names, ends, theory):
    """Writes some names at the ends of their lines."""
    axes.autoscale_view()
    last = [line.get_xydata()[-1] for line in axes.lines[-len(names) :]]
    heights = axes.transAxes.inverted().transform(axes.transData.transform(last))[:, 1]
    for name, end, height in zip(names, last, heights, strict=True):
        if name not in ends:
            continue
        look = {"ha": "left", "va": "center", "xytext": (5, 0)}
        if name in theory:
            crowded = np.any((heights > height + 0.03) & (heights < height + 0.2))
            look = {"ha": "right", "va": "bottom", "xytext": (0, 3)}
            look |= {"va": "top", "xytext": (0, -3)} if crowded else {}
        axes.annotate(name, end, textcoords="offset points", **look)


def _label(axes, title="", x_label="", y_label=""):
    axes.set(title=title, xlabel=x_label, ylabel=y_label)
    if len(axes.get_legend_handles_labels()[1]) > 1:
        axes.legend()

"""How plots are laid out: for a page, and once more for a phone."""

import re
import textwrap
from itertools import pairwise
from math import ceil

import numpy as np
from matplotlib.text import Text
from matplotlib.ticker import AutoLocator, MaxNLocator
from matplotlib.transforms import ScaledTranslation

PAGE, PHONE = 7.6, 3.6  # inches: the column of a page, and of a phone of 360 pixels
LARGER = 1.15  # on a phone: letters of 12 pixels keep their size where it is 320 pixels wide
LOW = 1.6  # inches: so high a curve is at least
STEPS = 24  # colours of a bar
CRISP = "crisp"  # names what has edges that are not smoothed
SCALE, LINE = 0.6, 0.2  # inches that a scale of colours takes, and a line of letters under it
LETTER = 0.6  # width of a letter as a share of its height, generously


def scale(image, axes, **place):
    """The bar beside pictures that says which colour is which number.

    Args:
        image: what is drawn on one of them; all have its colours.
        axes: where they are drawn.
        place: where the bar stands, how long it is and its label, as for matplotlib's
            `Figure.colorbar`.
    """
    # Drawn as the cells are: a bar of dots would keep the light page's colours on a dark one.
    dots = image.get_rasterized()
    steps = np.linspace(*image.get_clim(), (256 if dots else STEPS) + 1)
    bar = image.figure.colorbar(image, ax=axes, boundaries=steps, ticks=AutoLocator(), **place)
    bar.outline.set_visible(False)
    # Where neighbours overlap, half-transparent colours would show stripes.
    bar.solids.set(rasterized=dots, edgecolor="none", antialiased=False, gid=CRISP)


def spread(figure):
    """Not wider than the column of a page, lest its letters shrink; shown as large as it is."""
    width, height = figure.get_size_inches()
    if width > PAGE:
        figure.set_size_inches(PAGE, height * (PAGE / width) ** 0.5)
    return 1.0


def stack(figure):
    """The layout for a phone: one panel below the other, small matrices in pairs.

    Returns:
        How much larger it is shown than it is laid out.
    """
    panels = [axes for axes in figure.axes if axes.get_subplotspec() is not None and axes.axison]
    if not panels:  # drawn by hand: it can only shrink
        return 1.0
    width, height = figure.get_size_inches()
    phone, across = PHONE / LARGER, 1
    if _in_pairs(panels):
        across = 2
    below = _scale_below(panels) if across == 2 or len(panels) == 1 else 0.0
    side = (phone - 1.1) / (1 if across == 1 else 1.65)  # the letters stand on the left
    heights = []
    for axes in panels[::across]:
        rows, columns = axes.get_gridspec().get_geometry()
        share = min(1.0, phone * columns / width)
        whole = height / rows
        if axes.get_aspect() == "auto":
            heights.append(max(1.7, whole * share**0.6))
        else:  # a matrix keeps its form; an inch is for the letters
            form = abs(np.ptp(axes.get_ylim()) / np.ptp(axes.get_xlim()))
            heights.append(min(4.6, side * form + 1.0 + below / len(panels)))
    places = figure.add_gridspec(len(heights), across, height_ratios=heights)
    for number, axes in enumerate(panels):
        axes.set_subplotspec(places[number])
        axes.tick_params(labelleft=number % across == 0)
        if axes.get_aspect() == "auto":
            continue
        names = [label for label in axes.get_xticklabels() if label.get_text()]
        cell = side / max(1, len(names))
        _narrow_numbers(axes, cell)
        _thin_names(axes, cell)
        wide = sum((len(n.get_text()) + 1) * LETTER * n.get_fontsize() / 72 for n in names)
        if wide > (phone - 1.0) / across:
            axes.tick_params(axis="x", labelrotation=90)
            for label in names:
                label.set(ha="center", rotation_mode="default")
    figure.set_size_inches(phone, sum(heights))
    for text in figure.texts:  # the title above all panels
        _wrap(text, phone - 0.1)
    figure.draw_without_rendering()  # from here on it is known how much room names leave
    for axes in panels:
        _part_names(axes)
        wrap_title(axes)
    figure.draw_without_rendering()
    for number, axes in enumerate(panels):
        high = axes.bbox.height / figure.dpi
        if axes.get_aspect() == "auto":
            heights[number] += max(0.0, LOW - high)
            high = max(high, LOW)
        _wrap(axes.yaxis.label, high)
    places.set_height_ratios(heights)
    figure.set_size_inches(phone, sum(heights))
    legends = [axes.get_legend() for axes in panels if axes.get_legend()]
    if legends:
        for text in [text for legend in legends for text in legend.get_texts()]:
            _wrap(text, phone - 0.6)
        figure.draw_without_rendering()  # from here on it is known how high names and legends are
        heights = [h + _legend_below(axes) for h, axes in zip(heights, panels, strict=True)]
        places.set_height_ratios(heights)
        figure.set_size_inches(phone, sum(heights))
    return LARGER


def wrap_title(axes):
    """Breaks a title into lines that end before the next panel, or the page, does."""
    figure, spec = axes.figure, axes.get_subplotspec()
    columns_left = spec.get_gridspec().ncols - spec.colspan.start if spec else 1
    extent = axes.get_window_extent()
    room = (figure.bbox.width - extent.x0) / columns_left / figure.dpi * 72  # points
    title = _title(axes)
    if "$" in title.get_text():  # a formula is one piece
        return
    letters = max(12, int(room / (LETTER * title.get_fontsize())))
    title.set_text(textwrap.fill(" ".join(title.get_text().split()), letters))


def _title(axes):
    """The text that is the title on the left of a panel."""
    words = axes.get_title(loc="left")
    (*_, title) = (t for t in axes.get_children() if isinstance(t, Text) and t.get_text() == words)
    return title


def _scale_below(panels):
    """Puts the scale of colours below the panels, where it takes no width; returns its height."""
    images = [picture for axes in panels for picture in axes.collections if picture.colorbar]
    names = [image.colorbar.ax.get_ylabel() or image.colorbar.ax.get_xlabel() for image in images]
    for image, name in zip(images, names, strict=True):
        image.colorbar.remove()
        scale(image, panels, location="bottom", shrink=0.6, aspect=30, label=name)
    return SCALE * bool(images) + LINE * any(names)


def _narrow_numbers(axes, cell):
    """Writes .25 for 0.25, and 1 for 1.00, where four characters do not fit a cell of these inches.

    Where three hardly fit, shares become percentages, and next to nothing is left out.
    """
    numbers = [text for text in axes.texts if re.fullmatch(r"−?\d\.\d\d", text.get_text())]
    values = [float(text.get_text().replace("−", "-")) for text in numbers]
    letters = [cell / (LETTER * text.get_fontsize() / 72) for text in numbers]  # room for so many
    shares = numbers and min(letters) < 3.3 and 0 <= min(values) <= max(values) <= 1
    for text, value, room in zip(numbers, values, letters, strict=True):
        if shares:
            text.set_text(f"{100 * value:.0f}" if value >= 0.05 else "")
        elif room < 4:
            text.set_text(re.sub(r"^(−?)0\.", r"\1.", text.get_text()).replace("1.00", "1"))
    if shares:
        title = _title(axes)
        title.set_text(f"{title.get_text()} (in %)".strip())


def _part_names(axes):
    """Parts what would meet under an axis: names stand upright, numbers of a scale become fewer."""
    names = [label for label in axes.get_xticklabels() if label.get_text()]
    places = [name.get_window_extent() for name in names]
    gap = max((LETTER * name.get_fontsize() / 72 for name in names), default=0) * axes.figure.dpi
    if any(one.x1 + gap > other.x0 > one.x0 for one, other in pairwise(places)):
        if isinstance(numbers := axes.xaxis.get_major_locator(), MaxNLocator):
            numbers.set_params(nbins=5)
        elif _is_scale([name.get_text() for name in names], axes.get_xscale()):
            for name in names[1::2]:
                name.set_visible(False)
        else:
            axes.tick_params(axis="x", labelrotation=90)


def _is_scale(names, kind):
    """Whether these are numbers that go on evenly: 1.1, 1.2, 2.1 are names of heads."""
    if not all(re.fullmatch(r"−?[\d.]+", name) for name in names):
        return False
    steps = np.diff([float(name.replace("−", "-")) for name in names])
    return kind == "log" or np.allclose(steps, steps[0])


def _thin_names(axes, cell):
    """Leaves out every second name, or more, where lines of letters are higher than a cell."""
    for axis in (axes.xaxis, axes.yaxis):
        names = [label for label in axis.get_ticklabels() if label.get_text()]
        every = max((ceil(name.get_fontsize() / 72 / cell) for name in names), default=1)
        for number, name in enumerate(names):
            name.set_visible(number % every == 0)


def _in_pairs(panels):
    """Whether these are matrices of the same rows, small enough to stand side by side."""
    if len(panels) < 4 or any(axes.get_aspect() == "auto" for axes in panels):
        return False
    rows = {
        tuple(axes.yaxis.get_major_formatter().format_ticks(axes.get_yticks())) for axes in panels
    }
    return len(rows) == 1 and all(np.ptp(axes.get_xlim()) <= 9 for axes in panels)


def _wrap(text, room):
    """Breaks a text into lines of so many inches; a formula is one piece."""
    if "$" not in text.get_text():
        letters = int(room / (LETTER * text.get_fontsize() / 72))
        text.set_text(textwrap.fill(text.get_text(), letters))


def _legend_below(axes):
    """Moves the legend of a panel below it, where no curve runs; returns the height it takes."""
    legend = axes.get_legend()
    if legend is None:
        return 0.0
    dots = axes.figure.dpi
    down = (axes.bbox.y0 - axes.xaxis.get_tightbbox().y0) / dots
    lower = ScaledTranslation(0, -down, axes.figure.dpi_scale_trans)
    legend.set_loc("upper left")
    legend.set_bbox_to_anchor((0, 0), axes.transAxes + lower)
    return legend.get_window_extent().height / dots

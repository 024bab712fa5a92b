"""How plots look and how they are shown: the visual language, for matplotlib.

A plot is drawn in the light colours of `nlp104.figures.language`; `to_html` writes it as SVG and
puts the variables in their place, so that it follows the theme of the page. It is laid out twice,
for a page and, its panels one below the other, for a phone, and the page chooses; so are drawings
that bring their own `Layouts`.

Only matplotlib's object interface is used: no global setting changes, and no window is opened.
"""

import functools
import html
import io
import re

from matplotlib import rc_context
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.colors import LinearSegmentedColormap, to_rgb
from matplotlib.figure import Figure

from nlp104.figures.drawing import Layouts
from nlp104.figures.language import CONCEPTS, PATTERNS, SERIES, TOKENS, still, with_tokens
from nlp104.figures.layouts import CRISP, spread, stack, wrap_title


def _light(token):
    return TOKENS[token][0]


# One colour for one idea, through the whole book; these are lines.
QUERY, KEY, VALUE = _light("q-line"), _light("k-line"), _light("v-line")
ATTENTION, POSITION, RESIDUAL = _light("a-line"), _light("p-line"), _light("r-line")
INK, MUTED, GROUND = _light("ink"), _light("muted"), _light("bg")
CELL, HATCH = _light("cell"), _light("hatch")
FEED_FORWARD, MASK = RESIDUAL, HATCH
PALETTE = tuple(_light(f"{name}-line") for name in SERIES)  # of what has no colour of its own
INKS = {_light(f"{name}-line"): _light(f"{name}-ink") for name in (*CONCEPTS, *SERIES)}


def tint(token, strongest=1.0, negative=None):
    """A colour map from nothing to the fill of a concept; with `negative`, zero is in the middle.

    Colours have different transparencies instead of different shades: they fit every ground.
    """
    fill = to_rgb(_light(token))
    colours = [(*fill, 0.03), (*fill, strongest)]
    if negative is not None:
        other = to_rgb(_light(negative))
        colours = [(*other, strongest), (*other, 0.03), *colours]
        places = [0.0, 0.5, 0.5, 1.0]
        return LinearSegmentedColormap.from_list(token, list(zip(places, colours, strict=True)))
    return LinearSegmentedColormap.from_list(token, colours)


LEGIBLE = 0.62  # the strongest tint that ink can be read on

STYLE = {
    "font.family": ["DejaVu Sans"],  # comes with matplotlib: the same layout on every machine
    "font.size": 9.0,
    "mathtext.fontset": "dejavusans",
    "text.color": INK,
    "figure.facecolor": "none",
    "figure.dpi": 96,
    "savefig.transparent": True,
    "svg.fonttype": "none",  # text stays text: the page's own letters, and it can be searched
    "axes.facecolor": "none",
    "axes.edgecolor": _light("edge"),
    "axes.labelcolor": MUTED,
    "axes.titlesize": 9.75,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.titlecolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "grid.color": _light("line"),
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "legend.frameon": False,
    "legend.labelcolor": INK,
    "lines.linewidth": 2.0,
    "hatch.color": HATCH,
    "hatch.linewidth": 1.6,
}
MATHS = "font-family: 'DejaVu Sans', Verdana, sans-serif"  # its letters are placed one by one


def styled(function):
    """Run a function in the house style and leave the reader's own settings as they were."""

    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        with rc_context(STYLE):
            return function(*args, **kwargs)

    return wrapper


@styled
def grid(rows=1, columns=1, size=(6.4, 3.4)):
    """Room for several pictures.

    Args:
        rows: number of pictures from top to bottom.
        columns: number of pictures from left to right.
        size: width and height of the whole in inches.

    Returns:
        The figure, and a NumPy array `[rows, columns]` of its axes.
    """
    figure = Figure(figsize=size, layout="constrained")
    figure.get_layout_engine().set(w_pad=0.06, h_pad=0.06)
    return figure, figure.subplots(rows, columns, squeeze=False)


def to_html(figure, alt):
    """A figure as HTML that needs nothing else: two layouts and the style sheet.

    Args:
        figure: a `matplotlib.figure.Figure`, which is left in the layout for a phone; several by
            their titles, side by side; or the two `nlp104.figures.drawing.Layouts` of a drawing.
        alt: words for a reader who cannot see it.
    """
    label = html.escape(alt, quote=True)
    if isinstance(figure, dict):
        content = _row(figure, label)
    elif isinstance(figure, Layouts):
        content = PATTERNS + _layouts(figure._asdict(), label)
    else:
        drawings = {}
        figures = {"wide": (figure, spread), "narrow": (_narrow(figure), stack)}
        for layout, (drawn, arrange) in figures.items():
            drawings[f"plot {layout}"] = _svg(drawn, layout, arrange(drawn))
        content = _layouts(drawings, label)
    return still(content)


def _layouts(drawings, label):
    """Drawings by their classes, of which the page shows one."""
    return "".join(
        svg.replace("<svg", f'<svg class="{name}" role="img" aria-label="{label}"', 1)
        for name, svg in drawings.items()
    )


def _narrow(figure):
    """The figure for a phone: the same once more, unless it brings one of its own."""
    return getattr(figure, "narrow", figure)


def _row(figures, label):
    """Several drawings side by side, each under its title; a narrow page breaks the row."""
    pieces = "".join(
        f'<div><p class="title">{html.escape(title)}</p>{_svg(_narrow(figure), title)}</div>'
        for title, figure in figures.items()
    )
    return f'<div role="img" aria-label="{label}" class="row">{pieces}</div>'


def show(figure, alt):
    """Display a figure in a notebook.

    Args:
        figure: what a function of `nlp104.figures.plots`, `nlp104.figures.versions`,
            `nlp104.figures.recurrence` or `nlp104.figures.lookup` returned; or several drawings of
            `nlp104.figures.architecture` by their titles, to be shown side by side.
        alt: words for a reader who cannot see it: what is drawn, and what it shows.

    Raises:
        ValueError: `alt` is empty.
    """
    from IPython.display import display  # the package itself also works where there is no notebook

    if not alt.strip():
        raise ValueError("alt must say in words what the figure shows. Received: an empty text.")
    display({"text/html": to_html(figure, alt), "text/plain": alt}, raw=True)


@styled
def _svg(figure, salt, larger=1.0):
    """The figure as an SVG element: sizes in pixels, colours as tokens, letters of the page."""
    with rc_context({"svg.hashsalt": salt}):  # the identifiers of two layouts must differ
        canvas = FigureCanvasSVG(figure)
        figure.draw_without_rendering()  # from here on it is known how long a title may be
        for axes in figure.axes:
            wrap_title(axes)
            for image in axes.images:  # as many dots as it has numbers; the page enlarges them
                image.set_interpolation("none")
        file = io.StringIO()
        canvas.print_svg(file, metadata=dict.fromkeys(("Creator", "Date", "Format", "Type")))
    svg = file.getvalue()
    svg = svg[svg.index("<svg") :].strip()
    svg = re.sub(r"<metadata>.*?</metadata>|<defs>\s*<style.*?</defs>", "", svg, flags=re.DOTALL)
    svg = svg.replace(f'<g id="{CRISP}"', '<g shape-rendering="crispEdges"')
    svg = re.sub(r'<g id="[^"]*"', "<g", svg)  # names that would stand on a page many times
    svg = re.sub(r"(<tspan[^>]*?)font-family: [^;\"]*", rf"\1{MATHS}", svg)
    svg = re.sub(r"(<text[^>]*?) ?font-family: [^;\"]*;?", r"\1", svg)
    svg = re.sub(r"\s*\n\s*", " ", svg)
    # So many digits are seen; more only make the page heavier.
    svg = re.sub(r' d="[^"]*"', lambda path: re.sub(r"(\.\d\d)\d+", r"\1", path[0]), svg)
    svg = re.sub(r"(opacity: 0\.\d\d\d)\d+", r"\1", svg)
    width, height = figure.get_size_inches()
    wide = 96 * larger * width
    head = f'<svg viewBox="0 0 {72 * width:g} {72 * height:g}" style="width:{wide:.0f}px">'
    return with_tokens(re.sub(r"<svg[^>]*>", head, svg, count=1))

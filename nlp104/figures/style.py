"""The house style of the book's figures: colours, their card, and how they are shown.

The card is opaque and off-white, so a figure looks the same on a light page and on a dark one. The
colours of lines are Okabe and Ito's, which colour-blind readers can tell apart.

Only matplotlib's object interface is used: no global setting changes, and no window is opened.
"""

import base64
import functools
import io

import numpy as np
from matplotlib import colormaps, rc_context
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image

# One colour for one idea, through the whole book.
QUERY = "#0072B2"  # blue
KEY = "#E69F00"  # orange
VALUE = "#009E73"  # green
ATTENTION = "#D55E00"  # vermilion: weights, and what a figure wants you to look at
RESIDUAL = "#CC79A7"  # purple
FEED_FORWARD = "#56B4E9"  # sky blue
NORM = "#F0E442"  # yellow: for areas; as a line it would be too pale
PALETTE = (QUERY, KEY, VALUE, ATTENTION, RESIDUAL, FEED_FORWARD)
MASK = "#C9C6BE"  # grey: what may not be seen
INK = "#26241F"
CARD = "#FBFAF6"

WEIGHTS = colormaps["Blues"]  # light = little, dark = much
SIGNED = colormaps["PuOr"]  # orange = negative, white = zero, purple = positive

STYLE = {
    "font.family": ["DejaVu Sans"],  # comes with matplotlib: the same letters on every machine
    "font.size": 10.0,
    "text.color": INK,
    "figure.facecolor": CARD,
    "figure.edgecolor": "#DCD9D0",
    "figure.dpi": 120,
    "savefig.dpi": "figure",
    "savefig.transparent": False,
    "axes.facecolor": CARD,
    "axes.edgecolor": "#8C897F",
    "axes.labelcolor": INK,
    "axes.titlesize": 11.0,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "grid.color": "#E7E4DB",
    "xtick.color": INK,
    "ytick.color": INK,
    "legend.frameon": False,
    "lines.linewidth": 2.0,
    "hatch.color": CARD,
    "hatch.linewidth": 0.8,
}


def styled(function):
    """Run a function in the house style and leave the reader's own settings as they were."""

    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        with rc_context(STYLE):
            return function(*args, **kwargs)

    return wrapper


@styled
def grid(rows=1, columns=1, size=(6.4, 3.4)):
    """A card with room for several pictures.

    Args:
        rows: number of pictures from top to bottom.
        columns: number of pictures from left to right.
        size: width and height of the whole card in inches.

    Returns:
        The figure, and a NumPy array `[rows, columns]` of its axes.
    """
    figure = Figure(figsize=size, layout="constrained", linewidth=1.0)
    figure.get_layout_engine().set(w_pad=0.1, h_pad=0.1)
    return figure, figure.subplots(rows, columns, squeeze=False)


@styled
def to_png(figure):
    """The figure as the bytes of a PNG file, opaque, in 256 colours: a third of the usual size.

    The usual choice of colours, the median cut, would blend that of a thin line with others.
    """
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    picture = Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("RGB")
    png = io.BytesIO()
    method = Image.Quantize.MAXCOVERAGE
    picture = picture.quantize(256, method, kmeans=1, dither=Image.Dither.NONE)
    picture.save(png, "PNG", optimize=True)
    return png.getvalue()


def show(figure, alt):
    """Display a figure in a notebook.

    Args:
        figure: what a function of `nlp104.figures.plots` returned.
        alt: words for a reader who cannot see it: what is drawn, and what it shows.

    Raises:
        ValueError: `alt` is empty.
    """
    from IPython.display import display  # the package itself also works where there is no notebook

    if not alt.strip():
        raise ValueError("alt must say in words what the figure shows, got an empty text.")
    data = {"image/png": base64.b64encode(to_png(figure)).decode(), "text/plain": alt}
    display(data, metadata={"image/png": {"alt": alt}}, raw=True)

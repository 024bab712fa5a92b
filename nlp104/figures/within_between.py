"""Work within tokens and between them, as drawings: gather and decide; the network; three mixers.

Cells and lines show numbers of small layers with fixed random weights; a cell stands for many.
"""

from typing import NamedTuple

import numpy as np

from nlp104.figures.drawing import NARROW, WIDE, Drawing, Layouts

__all__ = ["gather_and_decide", "mixers", "network"]

WORDS = ("the", "black", "cat", "sleeps")
D, D_FF = 4, 16  # cells of a token's vector, and inside the network
SIZES = {D: "512", D_FF: "2,048"}  # the paper's, which they stand for
LIT = 2  # the output whose lines are drawn strong


def weights():
    """x, W_1, b_1, W_2, b_2 of the network that is drawn."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=(len(WORDS), D))
    W_1, b_1 = rng.normal(size=(D, D_FF)) / np.sqrt(D), np.zeros(D_FF)
    return x, W_1, b_1, rng.normal(size=(D_FF, D)) / np.sqrt(D_FF / 2), np.zeros(D)


class _Layout(NamedTuple):
    """Where the columns of the tokens stand, and how large things are."""

    width: int
    size: int  # of letters
    formula: int
    letters: int  # in a line of the heading
    left: int  # edge of the first column
    column: int
    cell: float
    top: int
    high: int  # of a trapezoid
    beside: bool  # labels stand beside the rows, or above them


PAGE = _Layout(WIDE, 13, 17, 84, 92, 127, 7, 76, 56, True)
PHONE = _Layout(NARROW, 14, 18, 44, 2, 81, 4.5, 110, 60, False)
HIGH, PILL = 18, 30  # of a row of cells, and of a word


def network():
    """The feed-forward network: 512 numbers, 2,048, 512 again, the same at every token.

    Returns:
        Its two `nlp104.figures.drawing.Layouts`, for `nlp104.figures.plots.show`.

    Example:
        >>> from nlp104.figures import within_between
        >>> "2,048" in within_between.network().wide  # d_ff of the paper
        True
    """
    return Layouts(*(_network(at) for at in (PAGE, PHONE)))


def _network(at):
    """Each token's column from below: its word, x, W_1, the cells inside, W_2, what comes out."""
    drawing = Drawing(at.width)
    sentence = (
        "Each vector becomes four times as wide, everything negative becomes 0, and it becomes "
        "narrow again: the same W₁ and W₂ everywhere, no wire from token to token."
    )
    drawing.heading("The same network at every token", sentence, at.letters, at.size)
    x, W_1, b_1, W_2, b_2 = weights()
    inside = np.maximum(0, x @ W_1 + b_1)
    label = 0 if at.beside else 22
    rows = {}  # upper edge of each row of cells, from above
    y = at.top
    for name in ("out", "inside", "x"):
        rows[name] = y + label
        y = rows[name] + HIGH + at.high
    words = y - at.high + 14
    middles = at.left + at.column * (np.arange(len(WORDS)) + 0.5)
    for number, middle in enumerate(middles):
        for above, below, matrix in (("out", "inside", "W_2"), ("inside", "x", "W_1")):
            widths = [at.cell * (D if row != "inside" else D_FF) for row in (above, below)]
            _funnel(drawing, middle, rows[above] + HIGH, rows[below] - label, widths)
            place = middle, (rows[above] + HIGH + rows[below] - label) / 2
            look = {"anchor": "middle", "maths": True, "size": at.formula}
            drawing.text(*place, matrix, **look)
        for name, values in (("out", inside @ W_2 + b_2), ("inside", inside), ("x", x)):
            row = values[number : number + 1]
            left = middle - at.cell * row.size / 2
            place = {"width": at.cell, "height": HIGH, "most": np.abs(row).max()}
            drawing.matrix(left, rows[name], row, "r", **place)
        drawing.wire([(middle, words + 2), (middle, rows["x"] + HIGH + 1)], arrow=True)
        look = {"width": at.column - 10, "height": PILL, "size": at.size}
        drawing.tokens(middle - at.column / 2 + 5, words, [WORDS[number]], **look)
    bent = f"{SIZES[D_FF]} (ReLU)" if at.beside else f"{SIZES[D_FF]}: negatives are 0 (ReLU)"
    notes = {"out": f"{SIZES[D]} again", "inside": bent, "x": SIZES[D]}
    for name, text in notes.items():
        place = (0, rows[name] + HIGH / 2) if at.beside else (2, rows[name] - 12)
        drawing.text(*place, text, muted=True, size=at.size)
    return drawing.svg(words + PILL + 2)


def _funnel(drawing, middle, top, bottom, widths):
    """A matrix that makes wider or narrower: a trapezoid between two rows of cells."""
    (above, below), gap = (np.array(widths) / 2), 3
    corners = [
        (middle - above, top + gap),
        (middle + above, top + gap),
        (middle + below, bottom - gap),
        (middle - below, bottom - gap),
    ]
    d = "M" + "L".join(f"{x:g} {y:g}" for x, y in corners) + "Z"
    drawing.add("path", d=d, class_="f-r s-r", style="fill-opacity:.14")


# --- gather and decide ---

LINE = ("not", "so", "not", "not", "so", "not", "?")


def gather_and_decide():
    """A line of words: attention brings them to the last token, the network there decides.

    Returns:
        Its two `nlp104.figures.drawing.Layouts`, for `nlp104.figures.plots.show`.

    Example:
        >>> from nlp104.figures import within_between
        >>> "4 of 6" in within_between.gather_and_decide().wide
        True
    """
    return Layouts(*(_gather(width) for width in (WIDE, NARROW)))


def _gather(width):
    """Words below; above the last one what it has heard, its network, and its answer."""
    drawing, across = Drawing(width), width == WIDE
    size, column = (13, 84) if across else (14, 46.5)
    nots, words = LINE.count("not"), len(LINE) - 1
    heard, box, answer, start = 146, 80, 14, 234  # heights
    end, left = column * (words + 0.5), width - (226 if across else 180)
    middle = (left + width - 2) / 2
    for number, word in enumerate(LINE):
        x = column * (number + 0.5)
        if number < words:
            bend = (heard + 24 + start) / 2
            d = f"M{x:g} {start}C{x:g} {bend} {middle:g} {bend} {middle:g} {heard + 24}"
            style = "fill:none;stroke-opacity:.55;stroke-width:4"
            drawing.add("path", d=d, class_="s-a", style=style)
        look = {"width": column - 4, "height": PILL, "size": size}
        look["chosen"] = 0 if number == words else None
        drawing.tokens(x - column / 2 + 2, start, [word], **look)
    path = [(end, start), (end, 200), (middle, 200), (middle, heard + 24)]
    drawing.wire(path if abs(end - middle) > 12 else [(middle, start), path[-1]])
    drawing.wire([(middle, heard), (middle, box + 37)], arrow=True, strong=True)
    drawing.wire([(middle, box), (middle, answer + 27)], arrow=True, strong=True)
    place = left, heard, width - 2 - left, 24
    drawing.box(*place, f"{nots} of {words} are “not”", "a", lit=True, size=size)
    name = "feed-forward network" if across else "feed-forward"
    drawing.box(left, box, width - 2 - left, 36, name, "r", lit=True, size=size)
    said = "odd: turned around" if nots % 2 else "even: as it was"
    drawing.text(middle, answer + 12, said, anchor="middle", strong=True, size=size + 1)
    notes = {
        answer + 12: "the answer",
        box + 18: "2. decide: alone",
        heard + 12: "1. gather: a mean",
    }
    for y, text in notes.items():
        concept = "a" if text.startswith("1") else None
        drawing.text(2, y, text, concept=concept, muted=not concept, size=size)
    return drawing.svg(start + PILL + 2)


# --- three mixers ---


MIXERS = {
    "linear layer": "one fixed weight\nfor each pair of tokens",
    "convolution": "three fixed weights,\nthe same everywhere",
    "attention": "a weight for each pair,\nfrom the tokens",
}
WINDOW = (0.6, 1.0, 0.4)  # one before, itself, one after: sizes of 0.3, 0.5, -0.2


def mixing(name):
    """How much of each input is in each output, `[4, 4]`: as wide are the lines."""
    rng = np.random.default_rng(5)
    if name == "linear layer":
        return rng.uniform(0.1, 1, (len(WORDS), len(WORDS)))
    if name == "convolution":
        return sum(w * np.eye(len(WORDS), k=k - 1) for k, w in enumerate(WINDOW))
    X = rng.normal(size=(len(WORDS), D))
    powers = np.exp(X @ X.T / np.sqrt(D))
    return powers / powers.sum(axis=1, keepdims=True)


def mixers():
    """A linear layer along the sentence, a convolution and attention: where their weights are from.

    Returns:
        Its two `nlp104.figures.drawing.Layouts`, for `nlp104.figures.plots.show`.

    Example:
        >>> from nlp104.figures import within_between
        >>> within_between.mixers().wide.count('class="s-a"')
        16
    """
    return Layouts(*(_mixers(width) for width in (WIDE, NARROW)))


def _mixers(width):
    """The three beside each other, or below each other: inputs below, outputs above."""
    across = width == WIDE
    size, high = (13, 100) if across else (14, 92)
    wide = 172 if across else 324
    drawing, y = Drawing(width), 12
    for number, (name, says) in enumerate(MIXERS.items()):
        left = number * (width - wide) / 2 if across else 2
        concept = "a" if name == "attention" else "r"
        lines = says if across else says.replace("\n", " ")
        drawing.text(left, y, name, strong=True, size=size + 2, concept=concept)
        for line, text in enumerate(lines.splitlines()):
            drawing.text(left, y + 22 + 18 * line, text, muted=True, size=size)
        top = y + (72 if across else 52)
        _mixer(drawing, mixing(name), concept, left, top, wide, high, size)
        end = top + high + 26
        y = y if across else end + 30
    return drawing.svg(end)


def _mixer(drawing, matrix, concept, left, top, wide, high, size):
    """One panel: lines as wide as the weights, those of one output strong."""
    places = left + wide * (np.arange(len(WORDS)) + 0.5) / len(WORDS)
    order = sorted(np.ndindex(matrix.shape), key=lambda pair: pair[0] == LIT)
    for output, source in order:
        if matrix[output, source] > 0:
            lit = output == LIT
            thick = 8 * matrix[output, source] / matrix.max()
            style = f"fill:none;stroke-opacity:{0.85 if lit else 0.13};stroke-width:{thick:.1f}"
            d = f"M{places[source]:g} {top + high}L{places[output]:g} {top + 22}"
            drawing.add("path", d=d, class_=f"s-{concept}", style=style)
    for number, place in enumerate(places):
        for y, letter in ((top + 11, "y"), (top + high + 11, "x")):
            look = {"cx": place, "cy": y, "r": 13}
            lit = letter == "y" and number == LIT
            drawing.add(
                "circle", **look, class_=f"node{' lit' * lit} s-{concept if lit else 'edge'}"
            )
            drawing.text(place, y, f"{letter}_{number}", anchor="middle", maths=True, size=size + 4)

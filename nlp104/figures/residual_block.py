"""A sub-layer and the wire around it, up and down; the two places of the norm.

Inputs stand below, outputs above, and the wire is the strong line, as in the map of each chapter.
"""

from typing import NamedTuple

import numpy as np

from nlp104.figures.drawing import NARROW, WIDE, Drawing, Layouts

__all__ = ["block", "gradient", "orders"]

X = np.array([0.9, -0.4, 0.6])  # a word, and what the box would change about it
CHANGE = np.array([0.2, 0.5, 0.1])
GRADIENT = np.array([0.8, -0.5, 0.3])  # from above, and what the box lets through
THROUGH = np.array([0.1, 0.2, -0.1])
BOTTOM = 430  # where the two orders begin


class _Layout(NamedTuple):
    """How wide the whole, one half of it and a cell are; how large letters and formulas are."""

    width: int
    size: int
    formula: int
    letters: int  # in a line of half a picture
    cell: int  # of a vector
    left: int  # of a vector, in its half
    box: int  # width of a box


PAGE = _Layout(WIDE, 13, 17, 36, 40, 48, 128)
PHONE = _Layout(NARROW, 14, 17, 19, 37, 38, 108)


def block():
    """A sub-layer without the wire, and with it: what becomes of a word.

    Returns:
        Its two `nlp104.figures.drawing.Layouts`, for `nlp104.figures.plots.show`.

    Example:
        >>> from nlp104.figures import residual_block
        >>> picture = residual_block.block().wide
        >>> "cosine with x: 0.06" in picture, "cosine with x: 0.91" in picture
        (True, True)
    """
    return Layouts(*map(_block, (PAGE, PHONE)))


def gradient():
    """The same sub-layer, twice, and a gradient on its way down.

    Returns:
        Its two `nlp104.figures.drawing.Layouts`, for `nlp104.figures.plots.show`.

    Example:
        >>> from nlp104.figures import residual_block
        >>> picture = residual_block.gradient().wide
        >>> "length 0.24" in picture, "length 0.97" in picture
        (True, True)
    """
    return Layouts(*map(_gradient, (PAGE, PHONE)))


def orders():
    """Post-norm and pre-norm, two sub-layers of each.

    Returns:
        Its two `nlp104.figures.drawing.Layouts`, for `nlp104.figures.plots.show`.

    Example:
        >>> from nlp104.figures import residual_block
        >>> residual_block.orders().wide.count(">norm<")
        4
    """
    return Layouts(*map(_orders, (PAGE, PHONE)))


# --- the block ---


def cosine(one, other):
    """How much two vectors point the same way."""
    return one @ other / np.linalg.norm(one) / np.linalg.norm(other)


def _block(at):
    drawing = Drawing(at.width)
    for number, (title, formula, y) in enumerate(
        (("Without wire", "y = f(x)", CHANGE), ("With wire", "y = x + f(x)", X + CHANGE))
    ):
        wire = number == 1
        left, middle = _half(drawing, at, number, title, formula)
        drawing.wire([(middle, 330), (middle, 284)], arrow=True)
        drawing.box(middle - at.box / 2, 248, at.box, 36, "sub-layer f", size=at.size)
        drawing.wire([(middle, 248), (middle, 222)], arrow=True)
        drawing.wire([(middle, 194), (middle, 158 if wire else 120)], arrow=True)
        if wire:
            around = left + len(X) * at.cell + 12
            path = [(middle, 312), (around, 312), (around, 151), (middle + 8, 151)]
            drawing.wire(path, "r", arrow=True, strong=True)
            drawing.wire([(middle, 144), (middle, 120)], "r", arrow=True, strong=True)
            drawing.plus(middle, 151, "r")
            if at.width == WIDE:
                drawing.text(around + 10, 232, "x, untouched", concept="r", size=at.size)
        for name, values, top in (("y", y, 92), ("f(x)", CHANGE, 194), ("x", X, 330)):
            _vector(drawing, at, left, top, name, values, lit=name != "f(x)")
        look = {"anchor": "middle", "size": at.size}
        place = min(middle, at.width - 74), 74
        drawing.text(*place, f"cosine with x: {cosine(X, y):.2f}", **look)
    return drawing.svg(362)


def _gradient(at):
    at = at._replace(formula=18)  # a raised letter is smaller
    drawing = Drawing(at.width)
    for number, (title, formula, below) in enumerate(
        (
            ("Without wire", "J^Tg", THROUGH),
            ("With wire", "g + J^Tg", GRADIENT + THROUGH),
        )
    ):
        wire = number == 1
        left, middle = _half(drawing, at, number, title, formula)
        drawing.wire([(middle, 92), (middle, 140)], arrow=True)
        drawing.box(middle - at.box / 2, 140, at.box, 36, "sub-layer f", size=at.size)
        drawing.wire([(middle, 176), (middle, 202)], arrow=True)
        drawing.wire([(middle, 230), (middle, 266 if wire else 304)], arrow=True)
        if wire:
            around = left + len(GRADIENT) * at.cell + 12
            path = [(middle, 112), (around, 112), (around, 273), (middle + 8, 273)]
            drawing.wire(path, "r", arrow=True, strong=True)
            drawing.wire([(middle, 280), (middle, 304)], "r", arrow=True, strong=True)
            drawing.plus(middle, 273, "r")
            if at.width == WIDE:
                drawing.text(around + 10, 192, "g, untouched", concept="r", size=at.size)
        vectors = (("g", GRADIENT, 64), ("J^Tg", THROUGH, 202), ("", below, 304))
        for name, values, top in vectors:
            _vector(drawing, at, left, top, name, values, lit=name != "J^Tg")
        place = min(middle, at.width - 74), 350
        length = np.linalg.norm(below)
        drawing.text(*place, f"length {length:.2f}", anchor="middle", size=at.size)
    return drawing.svg(364)


def _half(drawing, at, number, title, formula):
    """What stands above a half; gives the left edge and the middle of its vectors."""
    left = number * at.width / 2 + at.left
    drawing.text(left, 12, title, strong=True, size=at.size + 2)
    drawing.text(left, 40, formula, maths=True, size=at.formula)
    return left, left + len(X) * at.cell / 2


def _vector(drawing, at, left, top, name, values, lit):
    """Numbers in cells, and the letter of the vector to their left."""
    high = 28
    look = {"width": at.cell, "height": high, "most": 1.6}
    drawing.matrix(left, top, values[None], "r", **look)
    for number, value in enumerate(values):
        x, text = left + (number + 0.5) * at.cell, f"{value:.1f}".replace("-", "−")
        drawing.text(x, top + high / 2, text, anchor="middle", size=at.size)
    look = {"anchor": "end", "maths": True, "size": at.formula, "muted": not lit}
    if name:
        drawing.text(left - 6, top + high / 2, name, **look)


# --- the two orders ---


def _orders(at):
    drawing, half = Drawing(at.width), at.width / 2
    for number, (title, formula, sentence) in enumerate(
        (
            ("Post-norm", "y = LN(x + f(x))", "Every norm stands on the wire."),
            ("Pre-norm", "y = x + f(LN(x))", "On the wire nothing but plus signs."),
        )
    ):
        edge, first = number * half, number == 1
        middle = edge + at.box / 2 + (36 if at.width == WIDE else 6)
        left = middle - at.box / 2
        drawing.text(left, 12, title, strong=True, size=at.size + 2)
        drawing.text(left, 38, formula, maths=True, size=at.formula)
        look = {"muted": True, "size": at.size}
        for line, words in enumerate(_broken(sentence, at.letters)):
            drawing.text(left, 62 + 17 * line, words, **look)
        drawing.text(middle, BOTTOM + 12, "x", anchor="middle", maths=True, size=at.formula)
        y = BOTTOM
        for name in ("attention", "feed-forward"):
            y = _sub_layer(drawing, at, middle, y, name, first)
        if first:
            drawing.wire([(middle, y), (middle, y - 16)], "r", arrow=True, strong=True)
            _norm(drawing, at, middle, y - 16, "last norm")
            drawing.wire([(middle, y - 42), (middle, y - 62)], "r", arrow=True, strong=True)
        else:
            drawing.wire([(middle, y), (middle, y - 62)], "r", arrow=True, strong=True)
    return drawing.svg(BOTTOM + 24)


def _broken(sentence, letters):
    """A sentence in lines of so many letters."""
    lines = [""]
    for word in sentence.split():
        if len(lines[-1]) + len(word) >= letters:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return lines


def _norm(drawing, at, middle, bottom, words="norm"):
    """The box of a normalisation, which is what these drawings are about."""
    place = middle - at.box / 2, bottom - 26, at.box, 26
    drawing.box(*place, words, "r", lit=True, size=at.size)


def _sub_layer(drawing, at, middle, bottom, name, first):
    """From a branch at the bottom over box and sum, a norm before or after; returns its top."""
    around, branch = middle + at.box / 2 + 16, bottom - 10
    below = branch - 48 if first else branch
    plus = below - 68
    drawing.wire([(middle, bottom), (middle, branch)], "r", strong=True)
    if first:
        drawing.wire([(middle, branch), (middle, branch - 22)], arrow=True)
        _norm(drawing, at, middle, branch - 22)
    drawing.wire([(middle, below), (middle, below - 18)], arrow=True)
    drawing.box(middle - at.box / 2, below - 48, at.box, 30, name, size=at.size)
    drawing.wire([(middle, below - 48), (middle, plus + 7)])
    path = [(middle, branch), (around, branch), (around, plus), (middle + 7, plus)]
    drawing.wire(path, "r", strong=True)
    drawing.plus(middle, plus, "r")
    top = plus - 7
    if not first:
        drawing.wire([(middle, top), (middle, top - 22)], "r", arrow=True, strong=True)
        _norm(drawing, at, middle, top - 22)
        top -= 48
    return top

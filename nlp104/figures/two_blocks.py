"""One block drawn twice: that of 2017, and that of today with what has changed lit.

Inputs stand below, outputs above, and the wire is the strong line, as in the map of each chapter.
"""

from typing import NamedTuple

from nlp104.figures.drawing import NARROW, WIDE, Drawing, Layouts

__all__ = ["two_blocks"]

HEADS = 4
BOTTOM = 478  # of the wire


class _Layout(NamedTuple):
    """Widths of the whole, a box and a cell; where a box begins in its half; size of letters."""

    width: int
    box: int
    cell: int
    left: int
    size: int


PAGE = _Layout(WIDE, 188, 12, 24, 13)
PHONE = _Layout(NARROW, 132, 9, 6, 14)


class _Block(NamedTuple):
    """What stands where; what is empty is left out."""

    title: str
    positions: str  # added to the vectors, at the bottom
    first: bool  # whether a norm stands before its part, and not after the sum
    norm: str
    turned: str  # what is done to queries and keys, and not to values
    shared: int  # heads of keys and values
    network: str
    lit: bool


BLOCKS = (
    _Block("2017", "sinusoids", False, "LayerNorm", "", HEADS, "ReLU", False),
    _Block("Today", "", True, "RMSNorm", "rotary", HEADS // 2, "SwiGLU", True),
)


def two_blocks():
    """The block of 2017 and the block of today, side by side.

    Returns:
        Its two `nlp104.figures.drawing.Layouts`, for `nlp104.figures.plots.show`.

    Example:
        >>> from nlp104.figures.two_blocks import two_blocks
        >>> picture = two_blocks().wide
        >>> picture.count(">LayerNorm<"), picture.count(">RMSNorm<")
        (2, 3)
    """
    return Layouts(*map(_draw, (PAGE, PHONE)))


def _draw(at):
    drawing = Drawing(at.width)
    for number, block in enumerate(BLOCKS):
        _column(drawing, at, block, number * at.width / 2 + at.left)
    return drawing.svg(BOTTOM + 26)


def _column(drawing, at, block, left):
    """A block in its half, from its input at the bottom to the logits at the top.

    What is stacked N times has a dashed frame: what stands outside of it is there once.
    """
    middle = left + at.box / 2
    drawing.text(left, 12, block.title, strong=True, size=at.size + 3)
    drawing.text(middle, BOTTOM + 14, "token vectors", anchor="middle", size=at.size, muted=True)
    y = BOTTOM
    if block.positions:
        drawing.wire([(middle, y), (middle, y - 17)], "r")
        drawing.plus(middle, y - 24, "p")
        drawing.text(middle + 14, y - 24, block.positions, size=at.size, muted=True)
        y -= 31
    start = y
    y = _sub_layer(drawing, at, block, middle, y, _attention)
    y = _sub_layer(drawing, at, block, middle, y, _network)
    edge = {"x": left - 5, "y": y - 7, "width": at.box + 22, "height": start - y + 3, "rx": 8}
    drawing.add("rect", **edge, class_="frame", style="stroke:var(--edge)")
    drawing.text(left + 2, start - 15, "N ×", size=at.size, muted=True)
    if block.first:
        drawing.wire([(middle, y), (middle, y - 18)], "r", arrow=True, strong=True)
        y = _box(drawing, at, middle, y - 18, 26, block.norm, lit=True)
    drawing.wire([(middle, y), (middle, 62)], "r", arrow=True, strong=block.lit)
    _box(drawing, at, middle, 62, 32, "output")


def _sub_layer(drawing, at, block, middle, bottom, part):
    """From a branch at the bottom through a part to the sum, with a norm before or after."""
    around, branch = middle + at.box / 2 + 11, bottom - 12
    drawing.wire([(middle, bottom), (middle, branch)], "r", strong=block.lit)
    y = branch
    if block.first:
        drawing.wire([(middle, y), (middle, y - 16)], arrow=True)
        y = _box(drawing, at, middle, y - 16, 26, block.norm, lit=block.lit)
    y = part(drawing, at, block, middle, y)
    plus = y - 17
    drawing.wire([(middle, y), (middle, plus + 7)])
    path = [(middle, branch), (around, branch), (around, plus), (middle + 7, plus)]
    drawing.wire(path, "r", strong=block.lit)
    drawing.plus(middle, plus, "r")
    y = plus - 7
    if not block.first:
        drawing.wire([(middle, y), (middle, y - 16)], "r", arrow=True)
        y = _box(drawing, at, middle, y - 16, 26, block.norm, lit=block.lit)
    return y


def _attention(drawing, at, block, middle, bottom):
    """Queries, keys and values as cells, one for each head of them; some turn what q and k hold."""
    drawing.wire([(middle, bottom), (middle, bottom - 14)], arrow=True)
    height, width = 70 + 40 * bool(block.turned), HEADS * at.cell
    top, cells = bottom - 14 - height, bottom - 14 - 41
    place = {"x": middle - at.box / 2, "y": top, "width": at.box, "height": height, "rx": 8}
    drawing.add("rect", **place, class_="box")
    words = {"anchor": "middle", "size": at.size}
    drawing.text(middle, top + 15, "attention", muted=not block.lit, **words)
    gap = (at.box - 3 * width) / 4
    left = middle - at.box / 2 + gap
    if block.turned:
        place = left, top + 37, 2 * width + gap, 22
        drawing.box(*place, block.turned, "p", lit=True, size=at.size)
    for number, concept in enumerate("qkv"):
        heads = HEADS if concept == "q" else block.shared
        x = left + number * (width + gap) + width / 2
        look = {"width": at.cell, "height": 18, "strength": 1.0 if heads < HEADS else 0.35}
        drawing.grid(x - heads * at.cell / 2, cells, 1, heads, concept, **look)
        drawing.text(x, cells + 29, concept, concept=concept, **words)
        if block.turned and concept != "v":
            drawing.wire([(x, cells), (x, top + 59)], concept)
        if block.turned:
            start = cells if concept == "v" else top + 37  # values pass
            drawing.wire([(x, start), (x, top + 25)], concept, arrow=True)
    return top


def _network(drawing, at, block, middle, bottom):
    drawing.wire([(middle, bottom), (middle, bottom - 14)], arrow=True)
    return _box(
        drawing, at, middle, bottom - 14, 42, f"feed-forward\n{block.network}", lit=block.lit
    )


def _box(drawing, at, middle, bottom, height, words, concept="r", lit=False):
    """A box above a height; returns its upper edge."""
    place = middle - at.box / 2, bottom - height, at.box, height
    drawing.box(*place, words, concept, lit=lit, size=at.size)
    return bottom - height

"""How order reaches attention, as drawings: positions as clocks, and three places to tell them.

A clock is a pair of columns of the sinusoidal code: the sine is how far right its hand points, the
cosine how far up.
"""

import numpy as np

from nlp104.encoding.positions import sinusoidal_positions
from nlp104.figures.drawing import NARROW, WIDE, Drawing, Layouts

__all__ = ["clocks", "ways"]

TOKENS, WIDTH, BASE = ("I", "am", "a", "robot"), 4, 100
SPEEDS = BASE ** (-np.arange(0, WIDTH, 2) / WIDTH)  # radians per token
WORDS = ("dog", "bites", "man")
WAYS = {
    "recurrence": ("Read in turn", "A recurrent layer: word 3 waits for 2."),
    "added": ("Add a code", "For each position, fixed or learned."),
    "turned": ("Turn queries and keys", "Nothing is added: each row is turned."),
}
HIGH = 328  # of one way


def clocks():
    """The sinusoidal code of four tokens at width 4, base 100: as hands, and as numbers.

    Returns:
        Its two `nlp104.figures.drawing.Layouts`, for `nlp104.figures.plots.show`.

    Example:
        >>> from nlp104.figures import order
        >>> ">0.84<" in order.clocks().wide  # sin 1
        True
    """
    return Layouts(_clocks_across(), _clocks_down())


def ways(*names):
    """Where the order of words can be told to attention.

    Args:
        names: which ways, from left to right: ``"recurrence"``, ``"added"``, ``"turned"``.

    Returns:
        Its two `nlp104.figures.drawing.Layouts`, for `nlp104.figures.plots.show`.

    Raises:
        ValueError: There is no such way.

    Example:
        >>> from nlp104.figures import order
        >>> "position" in order.ways("recurrence").wide, "position" in order.ways("added").wide
        (False, True)
    """
    for name in names:
        if name not in WAYS:
            raise ValueError(f"Expected names from: {', '.join(WAYS)}. Received: {name!r}.")
    wide, narrow = Drawing(WIDE), Drawing(NARROW)
    for number, name in enumerate(names):
        _way(wide, number * 310, 0, 288, name, 13)
        _way(narrow, 1, number * (HIGH + 28), 326, name, 14)
    return Layouts(wide.svg(HIGH), narrow.svg(len(names) * (HIGH + 28) - 28))


# --- clocks ---


def _clocks_across():
    """Words side by side, each above its clocks and numbers."""
    drawing, column = Drawing(WIDE), 152
    _heading(drawing, 13, 90)
    for position, (token, code) in enumerate(_codes()):
        left = position * column
        drawing.tokens(left + 28, 62, [token], width=88, height=30, size=13)
        look = {"anchor": "middle", "muted": True, "size": 13}
        drawing.text(left + 72, 104, f"position {position}", **look)
        for pair, speed in enumerate(SPEEDS):
            clock(drawing, left + 36 + 72 * pair, 150, 28, position * speed, arc=True)
        _numbers(drawing, left, 212, code, width=36, size=11, heads=True)
    return drawing.svg(242)


def _clocks_down():
    """Words below each other, each with its clocks and numbers to its right."""
    drawing, row = Drawing(NARROW), 62
    _heading(drawing, 14, 40)
    for position, (token, code) in enumerate(_codes()):
        middle = 124 + position * row
        drawing.tokens(0, middle - 25, [token], width=58, height=30, size=14)
        look = {"anchor": "middle", "muted": True, "size": 14}
        drawing.text(29, middle + 16, f"at {position}", **look)
        for pair, speed in enumerate(SPEEDS):
            clock(drawing, 80 + 39 * pair, middle, 18, position * speed, arc=True)
        _numbers(drawing, 140, middle - 13, code, width=47, size=13, heads=position == 0)
    return drawing.svg(124 + 3 * row + 32)


def _codes():
    """Each token and its code."""
    return zip(TOKENS, sinusoidal_positions(len(TOKENS), WIDTH, BASE), strict=True)


def _heading(drawing, size, letters):
    hands = "The left hand turns by 1 radian per token, the right by 1/10; outlined: negative."
    drawing.heading("Two hands, each on a dial of its own", hands, letters, size)


def clock(drawing, x, y, radius, angle, arc=False):
    """A clock whose hand has turned by `angle` radians, clockwise from the top."""
    right, up = np.sin(angle), np.cos(angle)
    style = "fill-opacity:calc(var(--cap)*0.08);stroke-opacity:0.6"
    drawing.add("circle", cx=x, cy=y, r=radius, class_="f-p s-p", style=style)
    if arc and angle:
        far = radius / 2
        large = int(angle % (2 * np.pi) > np.pi)
        path = f"M{x} {y - far}A{far} {far} 0 {large} 1 "
        path += f"{x + far * right:.2f} {y - far * up:.2f}"
        style = "fill:none;stroke-width:4;stroke-opacity:0.4"
        drawing.add("path", d=path, class_="s-p", style=style)
    tip = f"{x + 0.84 * radius * right:.2f} {y - 0.84 * radius * up:.2f}"
    style = f"stroke-width:{1.2 + radius / 14:.1f}"
    drawing.add("path", d=f"M{x} {y}L{tip}", class_="wire s-p hand", style=style)


def _numbers(drawing, x, y, code, *, width, size, heads):
    """The entries of a code, under the names of their columns."""
    drawing.matrix(x, y, [code], "p", width=width, height=28, most=1.0)
    for column, value in enumerate(code):
        middle, look = x + (column + 0.5) * width, {"anchor": "middle", "size": size}
        number = f"{value:.2f}".replace("-", "−")
        if value < 0:  # wider by its sign: it shall not touch the rim
            place = {"x": middle, "y": y + 14, "dy": "0.35em"}
            room = {"textLength": 2.65 * size, "lengthAdjust": "spacingAndGlyphs"}
            drawing.add("text", number, font_size=size, text_anchor="middle", **place, **room)
        else:
            drawing.text(middle, y + 14, number, **look)
        if heads:
            drawing.text(middle, y - 12, ("sin", "cos")[column % 2], muted=True, **look)


# --- ways ---


def _way(drawing, left, top, width, name, size):
    """One way: words below, attention above, and what tells the order where it is told."""
    title, sentence = WAYS[name]
    drawing.text(left, top + 12, title, strong=True, size=size + 2)
    drawing.text(left, top + 34, sentence, muted=True, size=size)
    middle = left + width / 2
    place = {"x": left, "y": top + 52, "width": width, "height": 130, "rx": 8}
    drawing.add("rect", **place, class_="box")
    drawing.box(left + 8, top + 59, width - 16, 27, "compare and mix", size=size)
    for column, (letter, words) in enumerate(
        zip("qkv", ("queries", "keys", "values"), strict=True)
    ):
        center = middle + (column - 1) * 88  # closer than the words: no word has one for itself
        drawing.wire([(center, top + 108), (center, top + 86)], letter, arrow=True)
        fork = [(middle, top + 190)] * (center != middle) + [(center, top + 190)]
        drawing.wire([(middle, top + 206), *fork, (center, top + 174)], arrow=True)
        _three(drawing, center, top + 108, letter, words, size, name == "turned" and letter != "v")
    drawing.box(left, top + 206, width, 30, "", size=size)
    drawing.text(left + 14, top + 221, "the three vectors X", muted=True, size=size)
    look = {"width": 13, "height": 7, "strength": 0.5}
    drawing.grid(left + width - 68, top + 210.5, 3, 4, "r", **look)
    lanes = [left + width * (place + 0.5) / 3 for place in range(3)]
    for position, lane in enumerate(lanes):
        ends = (lane, top + 296), (lane, top + 236)
        if name == "recurrence":
            drawing.wire([ends[0], (lane, top + 279)], arrow=True)
            drawing.wire([(lane, top + 253), ends[1]], arrow=True)
            words = f"h_{position + 1}"
            look = {"lit": True, "maths": True, "size": size + 4}
            drawing.box(lane - 22, top + 253, 44, 26, words, "r", **look)
            if position:
                past = lanes[position - 1] + 22, top + 266
                drawing.wire([past, (lane - 22, top + 266)], "r", arrow=True, strong=True)
        else:
            drawing.wire(ends, arrow=True)
        if name == "added":
            drawing.wire([(lane + 20, top + 266), (lane, top + 266)], "p")
            drawing.plus(lane, top + 266, "p")
            clock(drawing, lane + 33, top + 266, 13, position)
    words = {"width": width / 3, "height": 32, "across": True, "size": size}
    drawing.tokens(left, top + 296, WORDS, **words)


def _three(drawing, center, top, letter, name, size, turned):
    """The queries, keys or values: a row for each word, and the clock that turns it."""
    drawing.box(center - 40, top, 80, 66, "", letter, lit=True)
    drawing.text(center, top + 11, name, concept=letter, anchor="middle", size=size, strong=True)
    for row in range(3):
        middle = top + 27.5 + 15 * row
        place = center - 28 if turned else center - 20
        look = {"width": 10, "height": 10, "strength": 0.75}
        drawing.grid(place, middle - 5, 1, 4, letter, **look)
        if turned:
            drawing.add("circle", cx=center + 25, cy=middle, r=7.5, class_="node")
            clock(drawing, center + 25, middle, 7, row)

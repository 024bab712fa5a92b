"""Versions 0 to 6 of attention as drawings in one layout: what a version adds is lit.

The inputs X stand below, the output above. A box keeps its place among the others from version to
version; where a row of parts is still missing, X or the output moves up to what there is.
"""

import itertools
from typing import NamedTuple

from nlp104.figures.drawing import NARROW, WIDE, Arranged, Drawing, Layouts

__all__ = ["schematic"]

WORDS = ("animal", "crossed", "street", "it", "tired")  # as in the chapters of the versions
TITLES = (
    "a small network compares",
    "a dot product compares",
    "scores divided by √d",
    "many queries at once",
    "keys to find, values to hand over",
    "the queries come from X, too",
    "several heads, joined by one matrix",
)
# What is new in a version, and its colour.
NEW = (
    {"compare": "a"},
    {"compare": "a"},
    {"scale": "a"},
    {"Q": "q"},
    {"WK": "k", "K": "k", "WV": "v", "V": "v"},
    {"WQ": "q", "Q": "q"},
    {"heads": "a", "concatenate": "a", "WO": "r"},
)
GLYPHS = "QKVAY"  # matrices; the others are boxes
FEATURES, CELL, ROW = 4, 12, 10  # of a matrix: columns, and the width and height of a cell


class _Layout(NamedTuple):
    """Where everything stands: centre and size of every box, centre of every matrix."""

    width: int
    height: int
    size: int  # of letters
    formula: int  # of letters in formulas
    letters: int  # in a line of the title
    places: dict
    frame: tuple  # around a head
    head: int  # height of what only version 6 has, between the sum and the output
    foot: int  # height of what only projections need, between X and the rest
    across: bool  # whether scores go to the right, or up


PAGE = _Layout(
    width=WIDE,
    height=450,
    size=13,
    formula=17,
    letters=60,
    places={
        "X": (170, 406, 124, 80),
        "WQ": (60, 332, 46, 28), "WK": (170, 332, 46, 28), "WV": (524, 332, 46, 28),
        "Q": (60, 274), "K": (170, 274), "V": (524, 274),
        "compare": (170, 198, 112, 44), "scale": (266, 198, 56, 30),
        "softmax": (346, 198, 76, 30), "A": (430, 198), "sum": (524, 198, 92, 44),
        "concatenate": (524, 134, 108, 28), "WO": (524, 80, 46, 28), "Y": (524, 26),
    },
    frame=(10, 166, 574, 190),
    head=104,
    foot=90,
    across=True,
)  # fmt: skip
PHONE = _Layout(
    width=NARROW,
    height=628,
    size=14,
    formula=18,
    letters=22,
    places={
        "X": (144, 586, 124, 80),
        "WQ": (53, 512, 50, 32), "WK": (144, 512, 50, 32), "WV": (259, 512, 50, 32),
        "Q": (53, 452), "K": (144, 452), "V": (259, 452),
        "compare": (144, 368, 118, 48), "scale": (144, 314, 64, 32),
        "softmax": (144, 270, 86, 32), "A": (144, 212), "sum": (259, 212, 88, 48),
        "concatenate": (259, 142, 114, 32), "WO": (259, 82, 50, 32), "Y": (259, 26),
    },
    frame=(1, 176, 318, 364),
    head=116,
    foot=56,
    across=False,
)  # fmt: skip


def schematic(number):
    """One version of attention: its boxes, its wires and their shapes, what is new in it lit.

    Args:
        number: of the version, 0 to 6.

    Returns:
        Its two `nlp104.figures.drawing.Layouts`, for `nlp104.figures.plots.show`.

    Raises:
        ValueError: There is no such version.

    Example:
        >>> from nlp104.figures import versions
        >>> "W" in versions.schematic(1).wide, "W" in versions.schematic(4).wide  # projections
        (False, True)
    """
    if number not in range(len(NEW)):
        raise ValueError(f"Expected a version from 0 to 6. Received: {number!r}.")
    return Layouts(*(_Schematic(number, layout).svg() for layout in (PAGE, PHONE)))


class _Schematic(Arranged):
    """A version in a layout."""

    def __init__(self, number, layout):
        up = 0 if number > 5 else layout.head
        foot = 0 if number > 3 else layout.foot
        moves = {"Y": 0, "X": up + foot}
        places = {
            name: (x, y - moves.get(name, up), *size)
            for name, (x, y, *size) in layout.places.items()
        }
        height = layout.height - up - foot
        self.number, self.layout = number, layout._replace(places=places, height=height)
        self.new = NEW[number]
        self.drawing = Drawing(layout.width)

    def svg(self):
        """The whole, as an SVG element."""
        drawing, layout = self.drawing, self.layout
        title = f"Version {self.number}"
        drawing.heading(title, TITLES[self.number], layout.letters, layout.size)
        if "heads" in self.new:
            self.heads()
        for start, end, sides in self.wires(self.number):
            self.wire(start, end, sides)
        self.inputs()
        for name, words in self.boxes().items():
            self.box(name, words)
        for name in GLYPHS:
            if name in self.parts(self.number):
                self.matrix(name)
        if "WO" in self.new:
            x, bottom = self.side("WO", "bottom")
            self.note(x - 8, bottom + 12, "end", "[n, h d_v]", "r")
        return drawing.svg(layout.height)

    # --- what a version consists of ---

    @staticmethod
    def parts(number):
        """The names of all parts of a version, from below."""
        first = {"WQ": 5, "WK": 4, "WV": 4, "K": 4, "V": 4, "scale": 2, "concatenate": 6, "WO": 6}
        return [name for name in PAGE.places if number >= first.get(name, 0)]

    def wires(self, number):
        """Start, end and sides of all wires of a version."""
        parts = self.parts(number)

        def chain(names, sides=("top", "bottom"), first=None):
            pairs = itertools.pairwise(name for name in names if name in parts)
            for place, (start, end) in enumerate(pairs):
                yield start, end, (sides[0] if place or first is None else first, sides[1])

        ahead = ("right", "left") if self.layout.across else ("top", "bottom")
        return [
            *chain(["X", "WQ", "Q"] if "WQ" in parts else [], first="left"),
            *chain(["X", "WK", "K", "compare"]),
            *chain(["X", "WV", "V", "sum"], first="right"),
            ("Q", "compare", ("top", "left")),
            *chain(["compare", "scale", "softmax", "A"], ahead),
            ("A", "sum", ("right", "left")),
            *chain(["sum", "concatenate", "WO", "Y"]),
        ]

    def boxes(self):
        """What is written into the boxes of this version."""
        words = {
            "compare": "dot\nproduct" if self.number else "small\nnetwork",
            "scale": "÷ √d_k" if self.number > 3 else "÷ √d",
            "softmax": "softmax",
            "sum": "weighted\nsum",
            "concatenate": "concatenate",
        }
        words |= {name: f"W_{name[1]}" for name in ("WQ", "WK", "WV", "WO")}
        parts = self.parts(self.number)
        return {name: text for name, text in words.items() if name in parts}

    def rows(self, name):
        """How many rows a matrix has."""
        return len(WORDS) if name in "KV" else (1, 1, 1, 2, 2, 5, 5)[self.number]

    def place(self, name):
        """Left, upper, right and lower edge of a part."""
        x, y, *size = self.layout.places[name]
        wide = len(WORDS) * ROW if name == "A" else FEATURES * CELL
        width, height = size or (wide, self.rows(name) * ROW)
        return x - width / 2, y - height / 2, x + width / 2, y + height / 2

    def shape(self, name):
        """The shape of a matrix, as `book/notation.md` writes it."""
        number = self.number
        queries = "" if number < 3 else "n_Q, " if number < 5 else "n, "
        key = "d_q" if number == 0 else "d" if number < 4 else "d_k"
        value = "d_v" if number in (4, 5) else "d"
        return {
            "Q": f"[{queries}{key}]",
            "K": "[n, d_k]",
            "V": "[n, d_v]",
            "A": f"[{queries}n]",
            "Y": f"[{queries}{value}]",
        }[name]

    # --- how it is drawn ---

    def box(self, name, words):
        """A box, lit where it is new."""
        left, top, right, bottom = self.place(name)
        maths = "_" in words or "√" in words
        look = {"concept": self.new.get(name), "lit": name in self.new, "maths": maths}
        look["size"] = self.layout.formula if maths else self.layout.size
        self.drawing.box(left, top, right - left, bottom - top, words, **look)

    def wire(self, start, end, sides):
        """A wire with at most one corner, lit where it is new."""
        one, other = self.side(start, sides[0]), self.side(end, sides[1])
        corner = (other[0], one[1]) if sides[0] in ("left", "right") else (one[0], other[1])
        points = [one, other] if corner in (one, other) else [one, corner, other]
        concept = None
        if self.number > 2 and (start, end, sides) not in self.wires(self.number - 1):
            concept = self.new.get(end) or self.new.get(start)  # before, only boxes change
        self.drawing.wire(points, concept, arrow=True, strong=bool(concept))

    def matrix(self, name):
        """A matrix without numbers, its letter and its shape."""
        left, top, _, bottom = self.place(name)
        x, y = self.layout.places[name]
        concept = self.new.get(name)
        size = (len(WORDS), ROW) if name == "A" else (FEATURES, CELL)
        self.grid(left, top, self.rows(name), ROW, *size, concept)
        high, beside = len(WORDS) * ROW / 2, 8 if self.layout.across else 5  # half a large one
        if name == "A" and self.layout.across:
            letter, shape = (left, bottom + 14, None), (left + 20, bottom + 14, None)
        elif name in "AY":
            letter, shape = (left - 6, y - 11, "end"), (left - 6, y + 11, "end")
        else:
            letter, shape = (left - 6, y, "end"), (x + beside, y - high - 13, None)
        self.note(*letter, name.lower() if self.number < 3 else name, concept)
        self.note(*shape, self.shape(name), concept)
        if name == "Q" and "WQ" not in self.parts(self.number):
            look = {"anchor": "middle", "muted": True, "size": self.layout.size}
            self.drawing.text(x, bottom + 13, "from outside", **look)

    def grid(self, x, y, rows, high, columns, wide, concept=None):
        """Cells: a row for each word or query; strong only where they are new."""
        look = {"width": wide, "height": high, "strength": 0.75 if concept else 0.4}
        self.drawing.grid(x, y, rows, columns, concept or "r", **look)

    def note(self, x, y, anchor, words, concept=None):
        """A letter or a shape beside a part."""
        look = {"maths": True, "size": self.layout.formula, "anchor": anchor, "muted": True}
        self.drawing.text(x, y, words, concept=concept, **look)

    def inputs(self):
        """X in a frame, its words at its rows."""
        left, top, right, bottom = self.place("X")
        place = {"x": left, "y": top, "width": right - left, "height": bottom - top, "rx": 8}
        self.drawing.add("rect", **place, class_="box")
        high = (bottom - top - 8) / len(WORDS)
        middle = right - 6 - FEATURES * CELL
        for row, word in enumerate(WORDS):
            look = {"anchor": "end", "muted": True, "size": self.layout.size}
            self.drawing.text(middle - 6, top + 4 + (row + 0.5) * high, word, **look)
        self.grid(middle, top + 4, len(WORDS), high, FEATURES, CELL)
        y = self.layout.places["X"][1]
        self.note(right + 10, y - 13, None, "X")
        self.note(right + 10, y + 14, None, "[n, d]")

    def heads(self):
        """The frame of the heads, one behind the other."""
        x, y, width, height = self.layout.frame
        for back in (8, 4, 0):
            place = {"x": x + back, "y": y - back, "width": width, "height": height, "rx": 10}
            self.drawing.add("rect", **place, class_="box")
            self.drawing.add("rect", **place, class_="outline s-a")
        look = {"concept": "a", "strong": True, "size": self.layout.size}
        self.drawing.text(x + 12, y + 16, "h heads", **look)

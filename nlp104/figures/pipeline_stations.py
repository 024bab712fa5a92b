"""The assembly line of attention as a drawing: its stations, and the wires that lead into it.

Self-attention, cross-attention and attention with a mask are the same line. What differs is what is
plugged in, and only that is lit.
"""

from typing import NamedTuple

from nlp104.figures.drawing import CELL, NARROW, WIDE, Arranged, Drawing, Layouts

__all__ = ["stations"]

N_Q, N_K, WIDTH = 3, 4, Arranged.COLUMNS  # rows of queries, of keys, columns
USES = {
    "cross": (
        "Cross-attention: two inputs",
        "Queries are made of the decoder's X, keys and values of the encoder's Z.",
    ),
    "mask": (
        "The mask: a wire from the side",
        "M is added between scale and softmax. No other station is touched.",
    ),
}
WORDS = {"compare": "compare", "scale": "÷ √d_k", "mask": "+ M", "softmax": "softmax", "mix": "mix"}


class _Layout(NamedTuple):
    """Where everything stands: the centre of every part, and the size of boxes."""

    width: int
    height: int
    size: int  # of letters
    formula: int  # of letters in formulas
    letters: int  # in a line of the sentence
    places: dict
    across: bool  # whether the line goes to the right, or down


PAGE = _Layout(
    width=WIDE,
    height=290,
    size=13,
    formula=17,
    letters=80,
    places={
        "X": (42, 92), "Z": (42, 202),
        "WQ": (116, 92, 44, 28), "WK": (116, 164, 44, 28), "WV": (116, 240, 44, 28),
        "Q": (188, 92), "K": (188, 164), "V": (188, 240),
        "compare": (282, 128, 70, 40), "scale": (354, 128, 54, 30), "mask": (414, 128, 46, 30),
        "softmax": (480, 128, 66, 30), "A": (480, 186), "mix": (480, 240, 66, 28),
        "Y": (566, 240), "M": (414, 80),
    },
    across=True,
)  # fmt: skip
PHONE = _Layout(
    width=NARROW,
    height=636,
    size=14,
    formula=18,
    letters=40,
    places={
        "X": (50, 106), "Z": (204, 106),
        "WQ": (50, 176, 50, 32), "WK": (154, 176, 50, 32), "WV": (254, 176, 50, 32),
        "Q": (50, 250), "K": (154, 250), "V": (254, 250),
        "compare": (102, 328, 86, 36), "scale": (102, 382, 74, 32), "mask": (102, 434, 74, 32),
        "softmax": (102, 486, 80, 32), "A": (102, 556), "mix": (254, 556, 56, 32),
        "Y": (254, 610), "M": (186, 434),
    },
    across=False,
)  # fmt: skip


def stations(use):
    """The line from X to Y, with one of its uses lit.

    Args:
        use: "cross" (queries are made of one sentence, keys and values of another) or "mask".

    Returns:
        Its two `nlp104.figures.drawing.Layouts`, for `nlp104.figures.plots.show`.

    Raises:
        ValueError: There is no such use.

    Example:
        >>> from nlp104.figures import pipeline_stations
        >>> cross, mask = (pipeline_stations.stations(use).wide for use in ("cross", "mask"))
        >>> ">Z<" in cross, ">Z<" in mask  # what the keys and values are made of
        (True, False)
    """
    if use not in USES:
        raise ValueError(f"Expected use: one of {', '.join(USES)}. Received: {use!r}.")
    return Layouts(*(_Line(use, layout).svg() for layout in (PAGE, PHONE)))


class _Line(Arranged):
    """The line in a layout."""

    def __init__(self, use, layout):
        self.use, self.layout = use, layout
        self.cross = use == "cross"
        self.drawing = Drawing(layout.width)

    def svg(self):
        """The whole, as an SVG element."""
        drawing, layout = self.drawing, self.layout
        drawing.heading(*USES[self.use], layout.letters, layout.size)
        self.wires()
        for name in ("WQ", "WK", "WV"):
            self.box(name, f"W_{name[1]}")
        for name, words in WORDS.items():
            self.box(name, words, "a" if name == self.use else None)
        self.matrices()
        return drawing.svg(layout.height)

    # --- where things are ---

    def rows(self, name):
        """How many rows a matrix has: queries are fewer than keys only in cross-attention."""
        return N_Q if self.cross and name in "XQAYM" else N_K

    # --- how it is drawn ---

    def wires(self):
        """All wires; those of the use that is lit have the colour of what they carry."""
        out, into = ("right", "left") if self.layout.across else ("bottom", "top")
        source = "Z" if self.cross else "X"
        self.wire("X", "WQ", out, into, "q" if self.cross else None)
        for letter in "KV":
            self.wire(source, f"W{letter}", out, into, letter.lower() if self.cross else None)
        for letter in "QKV":
            self.wire(f"W{letter}", letter, out, into)
        across = self.layout.across
        self.wire("Q", "compare", out, "top" if across else into)
        self.wire("K", "compare", out, "bottom" if across else into)
        for start, end in (("compare", "scale"), ("scale", "mask"), ("mask", "softmax")):
            self.wire(start, end, out, into)
        self.wire("softmax", "A", "bottom", "top")
        self.wire("A", "mix", *(("bottom", "top") if across else ("right", "left")))
        self.wire("V", "mix", *(("right", "left") if across else ("bottom", "top")))
        self.wire("mix", "Y", out, into)
        if self.use == "mask":
            self.wire("M", "mask", *(("bottom", "top") if across else ("left", "right")), "a")

    def wire(self, start, end, out, into, concept=None):
        """From a side of one part to a side of another, with as few corners as possible."""
        (x0, y0), (x, y) = self.side(start, out), self.side(end, into)
        if x0 == x or y0 == y:
            points = [(x0, y0), (x, y)]
        elif (out in ("left", "right")) != (into in ("left", "right")):
            corner = (x, y0) if out in ("left", "right") else (x0, y)
            points = [(x0, y0), corner, (x, y)]
        else:
            points = self.bent((x0, y0), (x, y))
        self.drawing.wire(points, concept, arrow=True, strong=bool(concept))

    def bent(self, start, end):
        """Two corners, half-way; both ends lie in the direction of the line."""
        (x0, y0), (x, y) = start, end
        if self.layout.across:
            middle = (x0 + x) / 2
            return [start, (middle, y0), (middle, y), end]
        middle = (y0 + y) / 2
        return [start, (x0, middle), (x, middle), end]

    def box(self, name, words, concept=None):
        """A station or a weight matrix."""
        left, top, right, bottom = self.place(name)
        maths = "_" in words or words == "+ M"
        look = {"concept": concept, "lit": bool(concept), "maths": maths}
        look["size"] = self.layout.formula if maths else self.layout.size
        self.drawing.box(left, top, right - left, bottom - top, words, **look)

    def matrices(self):
        """Their cells, letters and shapes."""
        queries = "n_Q" if self.cross else "n"
        keys = "n_K" if self.cross else "n"
        lit = {"X": "r", "Q": "q", "Z": "r", "K": "k", "V": "v"} if self.cross else {}
        shapes = {
            "X": "X", "Z": "Z",
            "Q": f"Q  {queries} × d_k", "K": f"K  {keys} × d_k", "V": f"V  {keys} × d_v",
            "A": f"A  {queries} × {keys}", "Y": f"Y  {queries} × d_v",
        }  # fmt: skip
        for name, words in shapes.items():
            if name == "Z" and not self.cross:
                continue
            self.grid(name, lit.get(name))
            self.note(name, words, lit.get(name))
        if self.use == "mask":
            self.mask()

    def grid(self, name, concept):
        """Cells: a row for each token; strong only where they are lit."""
        left, top, *_ = self.place(name)
        look = {"width": CELL, "height": CELL, "strength": 0.75 if concept else 0.4}
        self.drawing.grid(left, top, self.rows(name), WIDTH, concept or "r", **look)

    def note(self, name, words, concept=None):
        """A letter and a shape beside a matrix, clear of the wires that lead to it."""
        x, y = self.layout.places[name][:2]
        left, top, right, bottom = self.place(name)
        look = {"maths": True, "size": self.layout.formula, "concept": concept, "muted": True}
        letter, _, shape = words.partition("  ")
        if self.layout.across:  # apart and smaller, lest they be read as a product
            one, other = {
                "A": ((left - 8, y, "end"), (right + 8, y, None)),
                "Y": ((x, top - 12, "middle"), (x, bottom + 12, "middle")),
                **dict.fromkeys("QKV", ((left, top - 12, None), (left + 22, top - 12, None))),
            }.get(name, ((x, top - 12, "middle"), None))
            self.drawing.text(*one[:2], letter, anchor=one[2], **look)
            if shape:
                look |= {"size": 14, "concept": None}
                self.drawing.text(*other[:2], shape, anchor=other[2], **look)
        elif name == "Y":
            self.drawing.text(right + 8, y, letter, **look)
            self.drawing.text(left - 8, y, shape, anchor="end", **look)
        else:
            self.drawing.text(left - 7, y, letter, anchor="end", **look)
            self.drawing.text(x + 9, top - 13, shape, **look)

    def mask(self):
        """M: 0 where a look is allowed, hatched where it is not."""
        left, top, *_ = self.place("M")
        hidden = [[column > row for column in range(WIDTH)] for row in range(N_K)]
        zeros = [[0.0] * WIDTH] * N_K
        size = {"width": CELL, "height": CELL}
        self.drawing.matrix(left, top, zeros, "a", hidden=hidden, **size)
        x, y = self.layout.places["M"][:2]
        look = {"maths": True, "size": self.layout.formula, "concept": "a"}
        if self.layout.across:
            self.drawing.text(left - 8, y, "M", anchor="end", **look)
        else:
            self.drawing.text(x + WIDTH * CELL / 2 + 8, y, "M", **look)

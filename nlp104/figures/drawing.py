"""The parts of the visual language as stills: what explorables move, drawn by Python.

A `Drawing` collects SVG elements in real pixels. Its classes are those of `language.css`, which the
scripts of `nlp104.figures.explore` use, too: a matrix looks the same in both.
"""

import html
import re
import textwrap
from typing import NamedTuple

import numpy as np

from nlp104.figures.language import LETTERS

SIGN = re.compile(r"\[(.+)\]")  # no word: [PAD], [START], [END]
# Widths of what is drawn twice. A column of 560 pixels or more shows the first, the smallest phone
# leaves 288 to the second: there letters of 13 and of 14 pixels are still 12 pixels high.
WIDE, NARROW = 600, 328
CELL = 12  # pixels, of a matrix without numbers


class Layouts(NamedTuple):
    """One picture, drawn for a page and once more for a phone: two SVG elements as text.

    `nlp104.figures.plots.show` displays them, and the page chooses.
    """

    wide: str
    narrow: str


def shown(word):
    """A word as it is drawn: of what is no word, such as [END], what stands in the brackets."""
    sign = SIGN.fullmatch(word)
    return sign[1].lower() if sign else word


class Drawing:
    """SVG elements in a row, in pixels.

    Args:
        width: of the whole, in pixels. A phone shows 360.

    Example:
        >>> from nlp104.figures.drawing import Drawing
        >>> drawing = Drawing(360)
        >>> drawing.matrix(0, 0, [[0.1, 0.9]], "a", width=36, height=28, digits=1)
        >>> drawing.text(0, 44, "two weights")
        >>> svg = drawing.svg(50)  # of this height
        >>> "0.9" in svg, "two weights" in svg
        (True, True)
    """

    def __init__(self, width):
        self.width = width
        self.elements = []

    def add(self, tag, content="", **attributes):
        """An element; `_` in a name stands for `-`, and `class_` for `class`."""
        names = {name: name.rstrip("_").replace("_", "-") for name in attributes}
        written = "".join(
            f' {names[name]}="{html.escape(_short(value), quote=True)}"'
            for name, value in attributes.items()
            if value is not None
        )
        self.elements.append(f"<{tag}{written}>{content}</{tag}>")

    def matrix(self, x, y, values, concept, *, width, height, most=None, digits=None, hidden=None):
        """Numbers as tints: full where positive, outlined where negative, hatched where hidden.

        Args:
            x: left edge.
            y: upper edge.
            values: `[rows, columns]`.
            concept: a key of `nlp104.figures.language.CONCEPTS`.
            width: of a cell.
            height: of a cell.
            most: the number of the strongest tint; by default the largest.
            digits: how many of each number are written; none by default.
            hidden: `[rows, columns]`, True = must not be seen.
        """
        values = np.asarray(values, dtype="float64")
        hidden = np.zeros(values.shape, bool) if hidden is None else np.asarray(hidden)
        shown = np.abs(values[~hidden & np.isfinite(values)])
        most = most or shown.max(initial=1e-9)
        for (row, column), value in np.ndenumerate(values):
            place = x + column * width, y + row * height
            self.cell(*place, value, concept, width, height, most, digits, hidden[row, column])

    def cell(self, x, y, value, concept, width, height, most, digits=None, hidden=False):
        """One number of a matrix."""
        radius = min(5.0, width / 5)

        def rect(inset, **look):
            size = {"width": width - 2 * inset, "height": height - 2 * inset, "rx": radius}
            self.add("rect", x=x + inset, y=y + inset, **size, **look)

        clear = " clear" * bool(value and np.isfinite(value))
        rect(1, class_="base hide" if hidden else f"base{clear}")
        if hidden:
            rect(1, class_="hatch")
        elif value > 0:
            strength = 0.07 + 0.93 * min(1.0, value / most) ** 0.85
            lifted = f"{strength:.3f} + var(--lift)*{strength * (1 - strength):.3f}"
            style = f"fill-opacity:calc(var(--cap)*({lifted}))"
            rect(1, class_=f"f-{concept}", style=style)
        elif value < 0 and np.isfinite(value):
            strength = 0.22 + 0.78 * min(1.0, -value / most) ** 0.85
            style = f"fill:none;stroke-width:1.5;stroke-opacity:{strength:.3f}"
            rect(1.75, class_=f"s-{concept}", style=style)
        if digits is not None:
            text = "−∞" if value == -np.inf else f"{value:.{digits}f}".replace("-", "−")
            look = {"size": 12, "anchor": "middle", "muted": hidden}
            self.text(x + width / 2, y + height / 2, "0" if hidden else text, **look)

    def grid(self, x, y, rows, columns, concept, *, width, height, strength):
        """A matrix whose numbers do not matter: equal cells, of a strength from 0 to 1."""
        cells = "".join(
            f"M{_short(x + column * width + 1)} {_short(y + row * height + 1)}"
            f"h{_short(width - 2)}v{_short(height - 2)}h{_short(2 - width)}z"
            for row in range(rows)
            for column in range(columns)
        )
        style = f"fill-opacity:calc(var(--cap)*{strength})"
        self.add("path", d=cells, class_=f"f-{concept}", style=style)

    def tokens(self, x, y, words, *, width, height, across=False, chosen=None, size=12):
        """Words as pills, one below the other or `across`; signs such as [END] are dashed."""
        for number, word in enumerate(words):
            place = (x + number * width, y) if across else (x, y + number * height)
            look = "pill" + " sign" * (shown(word) != word) + " chosen" * (number == chosen)
            form = {"width": width - 2, "height": height - 4, "rx": 9}
            self.add("rect", x=place[0] + 1, y=place[1] + 2, **form, class_=look)
            middle = place[0] + width / 2, place[1] + height / 2
            self.text(*middle, shown(word), anchor="middle", on=number == chosen, size=size)

    def box(self, x, y, width, height, words, concept=None, lit=False, size=13, maths=False):
        """Something that computes; in the colour of its concept where it is `lit`."""
        place = {"x": x, "y": y, "width": width, "height": height, "rx": 8}
        self.add("rect", **place, class_="box")
        if lit:
            concept = concept or "r"
            self.add("rect", **place, class_=f"f-{concept} s-{concept} lit")
        look = {"concept": concept if lit else None, "muted": not lit, "strong": lit}
        lines = words.splitlines()
        for number, line in enumerate(lines):
            middle = y + height / 2 + (number - (len(lines) - 1) / 2) * 1.25 * size
            self.text(x + width / 2, middle, line, anchor="middle", size=size, maths=maths, **look)

    def wire(self, points, concept=None, arrow=False, strong=False):
        """A line along the points with round corners, and an arrow at its end."""
        look = f"wire s-{concept or 'edge'}" + " strong" * strong
        self.add("path", d=_rounded(points), class_=look)
        if arrow:
            (x0, y0), (x, y) = points[-2:]
            length = np.hypot(x - x0, y - y0)
            along = np.array([x - x0, y - y0]) / length
            corners = [
                (x, y),
                *(np.array([x, y]) - 7 * along + 4 * s * along[::-1] * (1, -1) for s in (1, -1)),
            ]
            d = "M" + "L".join(f"{_short(a)} {_short(b)}" for a, b in corners) + "Z"
            fill = f"fill:var(--{concept}-line)" if concept else None
            self.add("path", d=d, class_=f"head{'' if concept else ' f-edge'}", style=fill)

    def plus(self, x, y, concept=None):
        """A place where two vectors are added."""
        self.add("circle", cx=x, cy=y, r=7, class_=f"node lit s-{concept or 'edge'}")
        self.add(
            "path", d=f"M{x - 3.5} {y}h7M{x} {y - 3.5}v7", class_=f"wire s-{concept or 'edge'}"
        )

    def bracket(self, x, y, length, words):
        """What several things are together: a bracket to their right, and its name."""
        self.add("path", d=f"M{x} {y}h6v{length}h-6", class_="wire s-edge")
        self.text(x + 12, y + length / 2, words, muted=True)

    def heading(self, title, sentence, letters, size):
        """A title and, below it, a sentence, in lines of so many letters."""
        self.text(0, 12, title, strong=True, size=size + 2)
        for line, words in enumerate(textwrap.wrap(sentence, letters)):
            self.text(0, 34 + 1.3 * size * line, words, muted=True, size=size)

    def text(
        self,
        x,
        y,
        words,
        *,
        concept=None,
        anchor=None,
        size=None,
        maths=False,
        muted=False,
        on=False,
        strong=False,
    ):
        """Words whose middle is at height y; with `maths`, `_` lowers and `^` raises a letter."""
        kind = f"f-t-{concept}" if concept else "on" if on else "muted" if muted else None
        size = size or (18 if maths else 13)
        look = {"font_size": size, "text_anchor": anchor, "class_": kind}
        look["font_weight"] = "650" if strong else None
        content = html.escape(words, quote=False)
        if maths:
            content = f'<tspan class="maths">{_shifted(content, size)}</tspan>'
        self.add("text", content, x=x, y=y, dy="0.35em", **look)

    def svg(self, height, label=None, role="img"):
        """The whole as an SVG element.

        Args:
            height: in pixels.
            label: words for those who cannot see it, unless they stand around it.
            role: what it is to them: ``"img"``, or ``"group"`` where it holds links.
        """
        about = f' role="{role}" aria-label="{html.escape(label, quote=True)}"' if label else ""
        size = f'viewBox="0 0 {self.width} {height:g}" style="width:{self.width}px"'
        return f'<svg{about} {size} font-family="{LETTERS}">{"".join(self.elements)}</svg>'


class Arranged:
    """What is drawn of parts that have their places in a layout: sub-classes say `rows`.

    Attributes:
        layout: its ``places`` has for each name the centre of a box and its width and height, or
            the centre of a matrix alone, which is as wide as `COLUMNS` cells.
    """

    COLUMNS = 4

    def rows(self, name):
        """How many rows a matrix has."""
        raise NotImplementedError

    def place(self, name):
        """Left, upper, right and lower edge of a part."""
        x, y, *size = self.layout.places[name]
        width, height = size or (self.COLUMNS * CELL, self.rows(name) * CELL)
        return x - width / 2, y - height / 2, x + width / 2, y + height / 2

    def side(self, name, side):
        """The middle of a side of a part."""
        x, y = self.layout.places[name][:2]
        left, top, right, bottom = self.place(name)
        places = {"left": (left, y), "right": (right, y), "top": (x, top), "bottom": (x, bottom)}
        return places[side]


def _shifted(formula, size):
    """A formula whose indices are lowered, whose powers are raised, and whose rest is neither."""
    pieces, height = [], 0
    for sign, index, line in re.findall(r"([_^])(\w)|([^_^]+)", formula):
        place = {"_": 4, "^": -6, "": 0}[sign]
        down = f' dy="{place - height}"' if place != height else ""
        small = f' font-size="{max(13, 0.78 * size):g}"' if sign else ""
        pieces.append(f"<tspan{down}{small}>{index or line}</tspan>" if down or small else line)
        height = place
    return "".join(pieces)


def _short(value):
    """A number with at most two decimals, and no more letters than it needs."""
    return value if isinstance(value, str) else f"{round(float(value), 2):g}"


def _rounded(points, radius=6):
    """A path along the points whose corners are round."""
    points = np.asarray(points, dtype="float64")
    d = [f"M{_short(points[0][0])} {_short(points[0][1])}"]
    for before, corner, after in zip(points, points[1:], points[2:], strict=False):
        ends = []
        for other in (before, after):
            way = other - corner
            length = np.hypot(*way)
            ends.append(corner + way / length * min(radius, length / 2))
        (a, b), (c, e) = ends
        bend = " ".join(map(_short, (*corner, c, e)))
        d.append(f"L{_short(a)} {_short(b)}Q{bend}")
    d.append(f"L{_short(points[-1][0])} {_short(points[-1][1])}")
    return "".join(d)

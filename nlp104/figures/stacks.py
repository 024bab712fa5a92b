"""The pieces that `nlp104.figures.architecture` draws with: boxes, wires, stacks of layers."""

import textwrap
from typing import NamedTuple

import numpy as np
from matplotlib.colors import to_rgb
from matplotlib.patches import Circle, FancyArrowPatch, FancyBboxPatch, Rectangle
from matplotlib.path import Path

from nlp104.figures import style

KINDS = ("attention", "cross", "masks", "skip", "norm", "feed_forward", "positions")
WIRE = style.RESIDUAL
LETTER = 0.52  # width of a letter as a share of its height
HIDDEN = {  # for four queries (rows) and four keys
    "padding": np.arange(4) + np.zeros((4, 1)) == 3,
    "causal": np.triu(np.ones((4, 4), bool), 1),
}


class Measures(NamedTuple):
    """How wide things are, in inches, and how large letters are, in points."""

    box: float
    frame: float  # from a box to the dashed line around its layer
    skip: float  # from a box to the wire past it
    letters: float
    in_boxes: float
    cell: float  # of a small mask
    wave: float  # from the wire to the circle of the positions
    closer: float  # by how much what stands above each other moves together
    slim: bool  # no bracket beside the layers, and short names


PAGE = Measures(2.15, 0.26, 0.16, 10.5, 11.0, 0.085, 0.75, 0.0, False)
PHONE = Measures(1.3, 0.15, 0.075, 9.5, 9.5, 0.045, 0.45, 0.04, True)


class Picture:
    """A card with boxes and wires, all of them or without one kind."""

    def __init__(self, measures, width, title="", without=None, normalize_first=False):
        if without not in (None, *KINDS):
            raise ValueError(f"`without` must be one of {', '.join(KINDS)}. Received: {without!r}.")
        self.measures, self.width = measures, width
        self.without, self.normalize_first = without, normalize_first
        self.brief = False  # no notes on sums and norms
        self.figure, axes = style.grid()
        self.axes = axes[0, 0]
        self.axes.set(aspect="equal", title=title)
        self.axes.axis("off")

    def finish(self, top, bottom=0.0):
        """Makes the card as large as the drawing, and returns it."""
        self.axes.set(xlim=(0, self.width), ylim=(bottom, top))
        head = 0.5 if self.axes.get_title(loc="left") else 0.2
        self.figure.set_size_inches(self.width + 0.2, top - bottom + head)
        return self.figure

    # --- pieces ---

    def add(self, patch, kinds):
        """Adds a patch unless its kind is left out; its `gid` tells what it is."""
        patch.set_gid(" ".join(sorted(kinds)))
        if self.without not in kinds:
            self.axes.add_patch(patch)

    def box(self, x, y, label, color=None, kinds=(), width=None, height=0.46, shift=0.0):
        """A rounded box that begins at height y, with x in its middle."""
        width = width or self.measures.box
        look = {"edgecolor": color or WIRE, "linewidth": 1.0}
        corner = x - width / 2, y
        if self.without not in kinds:  # the wires that run behind it are not seen
            self.axes.add_patch(_rounded(corner, width, height, facecolor=style.GROUND, lw=0))
        look["facecolor"] = (*to_rgb(color), 0.2) if color else "none"
        self.add(_rounded(corner, width, height, **look), kinds)
        down, line = (0, "center") if "\n" in label else (0.055, "baseline")
        size = self.measures.in_boxes
        self.note(x + shift, y + height / 2 - down, label, kinds, "center", size, va=line)

    def note(self, x, y, words, kinds=(), align="left", size=None, **look):
        """Words whose middle is at height y; they go with what they speak of."""
        size = size or self.measures.letters
        look = {"ha": align, "va": "center", "linespacing": 1.1, "parse_math": False} | look
        if self.without not in kinds:
            room = {"left": self.width - x, "center": self.width}.get(align, x)
            if "\n" not in words:
                words = textwrap.fill(words, int(room / (LETTER * size / 72)))
            self.axes.text(x, y, words, fontsize=size, color=style.INK, **look)

    def wire(self, points, color=WIRE, kinds=(), arrow=True, **look):
        """A line along the points, with an arrow at its end."""
        head = "-|>,head_length=4,head_width=2.2" if arrow else "-"
        look = {"color": color, "linewidth": 1.4, "arrowstyle": head, "zorder": 0.9} | look
        look |= {
            "shrinkA": 0,
            "shrinkB": 0,
            "mutation_scale": 1.0,
            "fill": arrow,
            "capstyle": "butt",
        }
        self.add(FancyArrowPatch(path=Path(points), **look), kinds)

    def plus(self, x, y, color, kinds):
        """A place where two vectors are added."""
        self.add(Circle((x, y), 0.105, fc=style.GROUND, ec=color, linewidth=1.2), kinds)
        self.note(x, y, "+", kinds, "center", 11.0, weight="bold")

    def mask(self, x, y, hidden):
        """A small mask: hidden cells are hatched, as in `nlp104.figures.plots.heatmap`."""
        cell = self.measures.cell
        seen = {"fc": (*to_rgb(style.ATTENTION), 0.7), "ec": style.GROUND, "linewidth": 0.5}
        striped = {"fc": style.CELL, "ec": style.HATCH, "linewidth": 0, "hatch": "////"}
        for row, column in np.ndindex(hidden.shape):
            look = striped if hidden[row, column] else seen
            corner = (x + cell * column, y + cell * (3 - row))
            self.add(Rectangle(corner, cell, cell, zorder=2, **look), {"masks"})

    def chips(self, x, y, tokens, others=None):
        """Tokens in a row, each as wide as it and the one of `others` in its column.

        Returns the middle of the row, and that of every token.
        """
        letter = self.measures.in_boxes / 122  # inches, of its width
        least, around = (0.34, 0.15) if self.measures.slim else (0.5, 0.17)
        longest = [max(map(len, column)) for column in zip(tokens, others or tokens, strict=True)]
        steps = np.maximum(least, letter * np.array(longest) + around)
        row = max(x, steps.sum() / 2)
        places = row - steps.sum() / 2 + np.cumsum(steps) - steps / 2
        for place, token, step in zip(places, tokens, steps, strict=True):
            self.box(place, y, token, width=step - 0.04, height=0.3)
        self.width = max(self.width, row + steps.sum() / 2)
        return row, places

    def gather(self, places, y, bend, x):
        """A wire from each place at height y to a line across them, and on to x."""
        for place in places:
            self.wire([(place, y), (place, bend)], arrow=False)
        self.wire([(min(*places, x), bend), (max(*places, x), bend)], arrow=False)

    def spread(self, places, bend, y, x):
        """From x a line across the places, and from it an arrow to each of them at height y."""
        self.wire([(min(*places, x), bend), (max(*places, x), bend)], arrow=False)
        for place in places:
            self.wire([(place, bend), (place, y)])

    # --- parts ---

    def embedding(self, x, side, places=()):
        """Token embedding plus positions; returns the height at which the first layer begins.

        With the `places` of tokens, a wire from each of them leads into it.
        """
        start = 0.45 if len(places) else 0.4
        if len(places):
            self.gather(places, 0.38, start, x)
        self.wire([(x, start), (x, 0.6)])
        self.box(x, 0.6, "Embedding", height=0.3)
        self.wire([(x, 0.9), (x, 1.27)], arrow=False)
        y, wave, radius, kinds = 1.16, x + side * self.measures.wave, 0.15, {"positions"}
        self.wire([(wave - side * radius, y), (x + side * 0.11, y)], style.POSITION, kinds)
        look = {"facecolor": style.GROUND, "edgecolor": style.POSITION}
        self.add(Circle((wave, y), radius, **look), kinds)
        turn = np.linspace(-1, 1, 40)
        points = np.c_[wave + radius * turn, y + 0.08 * np.sin(np.pi * turn)]
        self.wire(points, style.POSITION, kinds, arrow=False, zorder=2)
        if self.measures.slim:  # on the other side of the wire
            self.note(x - side * 0.16, y, "position", kinds, "left" if side < 0 else "right")
        else:
            self.note(wave + side * 0.22, y, "position", kinds, "right" if side < 0 else "left")
        self.plus(x, y, style.POSITION, kinds)
        return 1.27

    def stack(self, x, y, side, sub_layers, notes=None):
        """Layer 1 in full and the others as narrow boxes; skip connections run on one side.

        Returns the heights at which other wires arrive. With `notes`, words stand there.
        """
        bottom, frame, heights = y, y + 0.06, {}
        for name, (label, hidden, does) in sub_layers.items():
            heights[name], y = self.sub_layer(x, y, side, name, label, hidden, does, notes)
        half = self.measures.box / 2 + self.measures.frame
        corner, height = (x - half, frame), y + 0.04 - frame
        look = {"fill": False, "edgecolor": WIRE, "linestyle": "--", "zorder": 0.5}
        self.add(_rounded(corner, 2 * half, height, **look), ())
        gap = 0.22 - 2 * self.measures.closer
        for label in ("layer 2", "⋮", "layer N"):
            self.wire([(x, y), (x, y + gap)])
            self.box(x, y + gap, label, height=0.28)
            heights[label] = y + gap + 0.14
            y += gap + 0.28
        if notes:
            self.note(notes, heights["⋮"], "built alike, with other weights")
        if not self.measures.slim:
            far = x + side * (half + 0.16)
            self.wire([(far, frame), (far, y)], arrow=False)
            self.note(far + side * 0.13, (frame + y) / 2, "N layers", (), "center", rotation=90)
        if self.normalize_first:  # one more, for what nothing has normalised yet
            y = self.norm(x, y) - 0.02
        self.wire([(x, bottom), (x, y)], arrow=False, zorder=0.8)
        return heights | {"top": y}

    def sub_layer(self, x, y, side, name, label, hidden, does, notes):
        """Branch, sub-layer, sum and normalisation; returns the heights of its middle and end."""
        closer = self.measures.closer
        branch = y + 0.14 - closer
        below = self.norm(x, branch, notes) if self.normalize_first else branch
        y = below + 0.34 - closer
        if name == "feed_forward":
            kinds = {"feed_forward"}
            self.wire([(x, below), (x, y)], WIRE, kinds)
            self.box(x, y, label, style.RESIDUAL, kinds)
        else:
            kinds = {"attention", "cross"} if name == "cross" else {"attention"}
            roles = (("K", style.KEY, -0.5), ("V", style.VALUE, 0.5), ("Q", style.QUERY, 0.0))
            for letter, color, place in roles[2:] if name == "cross" else roles:
                path = [(x, below), (x, y - 0.22), (x + place, y - 0.22), (x + place, y)]
                self.wire(path, color, kinds)
                self.note(x + place + 0.06, y - 0.1, letter, kinds, size=9.0)
            label = label.replace("Masked m", "M") if self.without == "masks" else label
            half, size = self.measures.box / 2, 4 * self.measures.cell
            if self.measures.slim:  # the mask stands beside the first of two short lines
                label, shift, low = label.replace("Masked multi-head", "Masked"), -0.02, 0.255
            else:
                shift, low = -0.2, 0.06
            self.box(x, y, label, style.ATTENTION, kinds, shift=shift)
            self.mask(x + half - 0.03 - size, y + low, HIDDEN[hidden])
        middle, y = y + 0.23, y + 0.68 - closer
        out = x + side * (self.measures.box / 2 + self.measures.skip)
        path = [(x, branch), (out, branch), (out, y), (x + side * 0.11, y)]
        self.wire(path, style.RESIDUAL, {"skip"})
        self.plus(x, y, style.RESIDUAL, {"skip"})
        if notes:
            self.note(notes, middle, does, kinds)
            if not self.brief:
                self.note(notes, y, "what came in is added", {"skip"})
        return middle, y + 0.1 if self.normalize_first else self.norm(x, y + 0.1, notes)

    def norm(self, x, y, notes=None):
        """Layer normalisation; returns the height above it."""
        y += 0.12 - self.measures.closer
        self.box(x, y, "Normalise", None, {"norm"}, height=0.25)
        if notes and not self.brief:
            self.note(notes, y + 0.125, "mean 0, variance 1", {"norm"})
        return y + 0.25

    def context(self, path, x, heights):
        """The encoder's output, as keys and values, along `path` and into every decoder layer."""
        edge = x - self.measures.box / 2
        ends = [heights[name] for name in ("cross", "layer 2", "⋮", "layer N")]
        for letter, shift, color in (("K", 0.05, style.KEY), ("V", -0.05, style.VALUE)):
            trunk = [(a - shift, b + shift) for a, b in path]  # two wires, side by side
            trunk[0] = trunk[0][0], path[0][1]
            bus, turn = trunk[-1]
            trunk += [(bus, min(turn, ends[0] + shift)), (bus, ends[-1] + shift)]
            self.wire(trunk, color, {"cross"}, arrow=False)
            for end in ends:
                self.wire([(bus, end + shift), (edge, end + shift)], color, {"cross"})
            place = edge - self.measures.frame / 2, ends[0] + 3 * shift
            self.note(*place, letter, {"cross"}, "center", 9.0)

    def head(self, x, y):
        """Linear layer and softmax; returns the height above them."""
        gap = 0.18 - self.measures.closer
        for label in ("Linear", "Softmax"):
            self.wire([(x, y), (x, y + gap)])
            self.box(x, y + gap, label, height=0.28)
            y += gap + 0.28
        return y


def _rounded(corner, width, height, **look):
    shape = "round,pad=0,rounding_size=0.09"
    return FancyBboxPatch(corner, width, height, boxstyle=shape, **look)

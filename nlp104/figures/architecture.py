"""The Transformer's architecture, drawn: the whole, the encoder alone, the decoder alone.

Each function returns a `matplotlib.figure.Figure` for `nlp104.figures.plots.show`. One colour
stands for one idea, as in `nlp104.figures.style`. All three take these keyword arguments
(`**look`):

- `title`: what there is to see;
- `highlight`: one of `KINDS`, drawn strong while the rest fades: ``"attention"``, ``"cross"`` (the
  encoder's output on its way into every decoder layer), ``"masks"``, ``"skip"``, ``"norm"``,
  ``"feed_forward"`` or ``"positions"``;
- `without`: one of `KINDS`, left out of the drawing: which piece is missing?
- `normalize_first`: pre-norm instead of the paper's post-norm.

Another kind raises a `ValueError`.

The drawing follows figure 1 of Vaswani et al. (2017), "Attention is all you need", but shows the
further layers, so that it can be seen where the encoder's output goes.
"""

import numpy as np
from matplotlib.colors import to_rgb, to_rgba
from matplotlib.patches import Circle, FancyArrowPatch, FancyBboxPatch, Rectangle
from matplotlib.path import Path

from nlp104.figures import style

__all__ = ["KINDS", "architecture", "decoder", "encoder"]

KINDS = ("attention", "cross", "masks", "skip", "norm", "feed_forward", "positions")
WIRE = style.RESIDUAL
WIDTH = 2.15  # of a box; all lengths are in inches
FADED = 0.16  # how much of its colour is left to what is not highlighted

# From bottom to top, the sub-layers: name → label, what its mask hides, what it does.
THINK = "Feed-forward\nnetwork", None, "each token by itself"
ENCODER = {
    "self": ("Multi-head\nself-attention", "padding", "tokens look at each other"),
    "feed_forward": THINK,
}
DECODER = {
    "self": ("Masked multi-head\nself-attention", "causal", "tokens look back"),
    "cross": ("Multi-head\ncross-attention", "padding", "target looks at source"),
    "feed_forward": THINK,
}
HIDDEN = {  # for four queries (rows) and four keys
    "padding": np.arange(4) + np.zeros((4, 1)) == 3,
    "causal": np.triu(np.ones((4, 4), bool), 1),
}


@style.styled
def architecture(**look):
    """The whole Transformer: both stacks, all sub-layers and every wire.

    Args:
        **look: see the head of the module.

    Example:
        >>> from nlp104.figures import architecture, plots
        >>> plots.show(architecture.architecture(highlight="skip"), alt="Both stacks; …")
    """
    picture = _Picture(7.2, **look)
    left, right, middle = 1.85, 5.35, 3.45
    picture.note(left, 0.2, "source tokens", align="center")
    encoder = picture.stack(left, picture.embedding(left, -1), -1, ENCODER)
    picture.note(right, 0.2, "target tokens,\nshifted right by one", align="center")
    decoder = picture.stack(right, picture.embedding(right, 1), 1, DECODER)
    bend = encoder["top"] + 0.25
    picture.context([(left, encoder["top"]), (left, bend), (middle, bend)], right, decoder)
    picture.note((left + middle) / 2, bend + 0.22, "encoder output", {"cross"}, "center")
    top = picture.head(right, decoder["top"])
    picture.note(right, top + 0.22, "probabilities\nof the next token", align="center")
    return picture.finish(top + 0.45)


@style.styled
def encoder(source=("the", "cat", "sleeps"), **look):
    """The encoder alone, with a note at each of its parts.

    Args:
        source: tokens to write below it.
        **look: see the head of the module.
    """
    picture = _Picture(6.6, **look)
    x = 2.0
    picture.chips(x, 0.08, source)
    heights = picture.stack(x, picture.embedding(x, -1), -1, ENCODER, notes=3.6)
    top = heights["top"] + 0.25
    picture.wire([(x, heights["top"]), (x, top)])
    picture.note(x, top + 0.12, "one vector for each source token", align="center")
    return picture.finish(top + 0.25)


@style.styled
def decoder(target=("le", "chat", "dort"), **look):
    """The decoder alone: its input below, what it has to predict above, shifted by one.

    Args:
        target: tokens of a translation, without ``[START]`` and ``[END]``.
        **look: see the head of the module.
    """
    picture = _Picture(6.8, **look)
    x, bus = 2.35, 0.6
    longest = max(map(len, ["[START]", *target]))
    row = picture.chips(x, 0.08, ["[START]", *target], longest)
    picture.note(row, -0.1, "what it reads: the translation, shifted right by one", align="center")
    start = picture.embedding(x, 1)
    heights = picture.stack(x, start, 1, DECODER, notes=4.15)
    picture.context([(bus, start)], x, heights)
    picture.note(bus, start - 0.22, "encoder\noutput", {"cross"}, "center")
    top = picture.head(x, heights["top"]) + 0.02
    picture.chips(x, top, [*target, "[END]"], longest)
    picture.note(row, top + 0.45, "what it has to predict: the next token", align="center")
    return picture.finish(top + 0.6, -0.25)


class _Picture:
    """A card with boxes and wires; what is not highlighted fades."""

    def __init__(self, width, title="", highlight=None, without=None, normalize_first=False):
        for name, kind in (("highlight", highlight), ("without", without)):
            if kind not in (None, *KINDS):
                raise ValueError(f"`{name}` must be one of {', '.join(KINDS)}. Received: {kind!r}.")
        self.width, self.highlight, self.without = width, highlight, without
        self.normalize_first = normalize_first
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

    def left_of(self, color, kinds, faded=FADED):
        """What is left of a colour: all of it, or little if something else is highlighted."""
        red, green, blue, alpha = to_rgba(color)
        share = 1.0 if self.highlight is None or self.highlight in kinds else faded
        return red, green, blue, share * alpha

    def add(self, patch, kinds):
        """Adds a patch, faded or not; its `gid` tells what it is."""
        patch.set_edgecolor(self.left_of(patch.get_edgecolor(), kinds))
        patch.set_facecolor(self.left_of(patch.get_facecolor(), kinds))
        patch.set_gid(" ".join(sorted(kinds)))
        if self.without not in kinds:
            self.axes.add_patch(patch)

    def box(self, x, y, label, color=None, kinds=(), width=WIDTH, height=0.46, shift=0.0):
        """A rounded box that begins at height y, with x in its middle."""
        strong = self.highlight in kinds
        look = {"edgecolor": color or WIRE, "linewidth": 2.0 if strong else 1.0}
        corner = x - width / 2, y
        if self.without not in kinds:  # the wires that run behind it are not seen
            self.axes.add_patch(_rounded(corner, width, height, facecolor=style.GROUND, lw=0))
        look["facecolor"] = (*to_rgb(color), 0.2) if color else "none"
        self.add(_rounded(corner, width, height, **look), kinds)
        down, line = (0, "center") if "\n" in label else (0.055, "baseline")
        self.note(x + shift, y + height / 2 - down, label, kinds, "center", 11.0, va=line)

    def note(self, x, y, words, kinds=(), align="left", size=10.5, **look):
        """Words whose middle is at height y; they fade with what they speak of."""
        look = {"ha": align, "va": "center", "linespacing": 1.1, "parse_math": False} | look
        if self.without not in kinds:
            color = self.left_of(style.INK, kinds, 2 * FADED)
            self.axes.text(x, y, words, fontsize=size, color=color, **look)

    def wire(self, points, color=WIRE, kinds=(), arrow=True, **look):
        """A line along the points, with an arrow at its end."""
        head = "-|>,head_length=4,head_width=2.2" if arrow else "-"
        line = 2.6 if self.highlight in kinds else 1.4
        look = {"color": color, "linewidth": line, "arrowstyle": head, "zorder": 0.9} | look
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
        """A small mask: hidden cells are grey, as in `nlp104.figures.plots.heatmap`."""
        for row, column in np.ndindex(hidden.shape):
            color = style.HATCH if hidden[row, column] else (*to_rgb(style.ATTENTION), 0.7)
            corner = (x + 0.085 * column, y + 0.085 * (3 - row))
            look = {"facecolor": color, "edgecolor": style.GROUND, "linewidth": 0.5}
            self.add(Rectangle(corner, 0.085, 0.085, zorder=2, **look), {"masks"})

    def chips(self, x, y, tokens, longest=0):
        """Tokens in a row, all equally wide; returns the middle of the row."""
        step = max(0.6, 0.09 * max(longest, *map(len, tokens)) + 0.17)
        x = max(x, step * len(tokens) / 2)
        for number, token in enumerate(tokens):
            place = x + step * (number - (len(tokens) - 1) / 2)
            self.box(place, y, token, width=step - 0.06, height=0.3)
        self.width = max(self.width, x + step * len(tokens) / 2)
        return x

    # --- parts ---

    def embedding(self, x, side):
        """Token embedding plus positions; returns the height at which the first layer begins."""
        self.wire([(x, 0.4), (x, 0.6)])
        self.box(x, 0.6, "Embedding", height=0.3)
        self.wire([(x, 0.9), (x, 1.27)], arrow=False)
        y, wave, radius, kinds = 1.16, x + side * 0.75, 0.15, {"positions"}
        self.wire([(wave - side * radius, y), (x + side * 0.11, y)], style.INK, kinds)
        self.add(Circle((wave, y), radius, facecolor=style.GROUND, edgecolor=style.INK), kinds)
        turn = np.linspace(-1, 1, 40)
        points = np.c_[wave + radius * turn, y + 0.08 * np.sin(np.pi * turn)]
        self.wire(points, style.INK, kinds, arrow=False, zorder=2)
        self.note(wave + side * 0.22, y, "position", kinds, "right" if side < 0 else "left")
        self.plus(x, y, style.INK, kinds)
        return 1.27

    def stack(self, x, y, side, sub_layers, notes=None):
        """Layer 1 in full and the others as narrow boxes; skip connections run on one side.

        Returns the heights at which other wires arrive. With `notes`, words stand there.
        """
        bottom, frame, heights = y, y + 0.06, {}
        for name, (label, hidden, does) in sub_layers.items():
            heights[name], y = self.sub_layer(x, y, side, name, label, hidden, does, notes)
        corner, height = (x - WIDTH / 2 - 0.26, frame), y + 0.04 - frame
        look = {"fill": False, "edgecolor": WIRE, "linestyle": "--", "zorder": 0.5}
        self.add(_rounded(corner, WIDTH + 0.52, height, **look), ())
        for label in ("layer 2", "⋮", "layer N"):
            self.wire([(x, y), (x, y + 0.22)])
            self.box(x, y + 0.22, label, height=0.28)
            heights[label] = y + 0.36
            y += 0.5
        if notes:
            self.note(notes, heights["⋮"], "built alike, with other weights")
        far = x + side * (WIDTH / 2 + 0.42)
        self.wire([(far, frame), (far, y)], arrow=False)
        self.note(far + side * 0.13, (frame + y) / 2, "N layers", (), "center", rotation=90)
        if self.normalize_first:  # one more, for what nothing has normalised yet
            y = self.norm(x, y) - 0.02
        self.wire([(x, bottom), (x, y)], arrow=False, zorder=0.8)
        return heights | {"top": y}

    def sub_layer(self, x, y, side, name, label, hidden, does, notes):
        """Branch, sub-layer, sum and normalisation; returns the heights of its middle and end."""
        branch = y + 0.14
        below = self.norm(x, branch, notes) if self.normalize_first else branch
        y = below + 0.34
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
            self.box(x, y, label, style.ATTENTION, kinds, shift=-0.2)
            self.mask(x + WIDTH / 2 - 0.42, y + 0.06, HIDDEN[hidden])
        middle, y = y + 0.23, y + 0.68
        out = x + side * (WIDTH / 2 + 0.16)
        path = [(x, branch), (out, branch), (out, y), (x + side * 0.11, y)]
        self.wire(path, style.RESIDUAL, {"skip"})
        self.plus(x, y, style.RESIDUAL, {"skip"})
        if notes:
            self.note(notes, middle, does, kinds)
            self.note(notes, y, "what came in is added", {"skip"})
        return middle, y + 0.1 if self.normalize_first else self.norm(x, y + 0.1, notes)

    def norm(self, x, y, notes=None):
        """Layer normalisation; returns the height above it."""
        self.box(x, y + 0.12, "Normalise", None, {"norm"}, height=0.25)
        if notes:
            self.note(notes, y + 0.245, "mean 0, variance 1", {"norm"})
        return y + 0.37

    def context(self, path, x, heights):
        """The encoder's output, as keys and values, along `path` and into every decoder layer."""
        ends = [heights[name] for name in ("cross", "layer 2", "⋮", "layer N")]
        for letter, shift, color in (("K", 0.05, style.KEY), ("V", -0.05, style.VALUE)):
            trunk = [(a - shift, b + shift) for a, b in path]  # two wires, side by side
            trunk[0] = trunk[0][0], path[0][1]
            bus, turn = trunk[-1]
            trunk += [(bus, min(turn, ends[0] + shift)), (bus, ends[-1] + shift)]
            self.wire(trunk, color, {"cross"}, arrow=False)
            for end in ends:
                self.wire([(bus, end + shift), (x - WIDTH / 2, end + shift)], color, {"cross"})
            self.note(x - WIDTH / 2 - 0.16, ends[0] + 3 * shift, letter, {"cross"}, "center", 9.0)

    def head(self, x, y):
        """Linear layer and softmax; returns the height of the arrow above them."""
        for label in ("Linear", "Softmax"):
            self.wire([(x, y), (x, y + 0.18)])
            self.box(x, y + 0.18, label, height=0.28)
            y += 0.46
        self.wire([(x, y), (x, y + 0.18)])
        return y + 0.18


def _rounded(corner, width, height, **look):
    shape = "round,pad=0,rounding_size=0.09"
    return FancyBboxPatch(corner, width, height, boxstyle=shape, **look)

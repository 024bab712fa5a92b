"""The numbers of a batch as a box, and which of them share a mean: layer norm and batch norm."""

from nlp104.figures.drawing import NARROW, WIDE, Drawing, Layouts
from nlp104.utils.arguments import require_one_of

__all__ = ["cube"]

SENTENCES, TOKENS, FEATURES = (6, 4, 3, 5), 6, 6  # lengths of the sentences of the cube
PADDING, COUNTED = ("left out", "hatch", "edge"), ("counted", "leak", "frame")  # looks, in layers
# Of each norm: what there is to see, what padding is there, and which numbers share a mean.
SHARES = {
    "layer norm": (
        "Layer norm: a mean for each token",
        ("hatched: padding", PADDING),
        lambda s, t, f: (s, t) == (0, 2),
    ),
    "batch norm": (
        "Batch norm: a mean for each feature",
        ("hatched: padding, counted, too", COUNTED),
        lambda s, t, f: f == 5,
    ),
}
LOOKS = {
    "plain": {"class_": "base clear s-edge"},
    "counted": {"class_": "f-r", "style": "fill-opacity:var(--cap)"},
    "left out": {"class_": "base hide"},
    "hatch": {"class_": "hatch"},
    "leak": {"class_": "hatch leak"},  # grey on grey would not be seen on a dark page
    "edge": {"class_": "outline s-edge"},
    "frame": {"class_": "outline s-r", "style": "stroke-width:2"},
}
SPREAD = 270  # pixels of a box of numbers, from the left of the picture


def cube(norm):
    """The numbers of a batch: those that share a mean.

    Args:
        norm: "layer norm" or "batch norm".

    Returns:
        Its two `nlp104.figures.drawing.Layouts`, for `nlp104.figures.plots.show`.

    Raises:
        ValueError: There is no such norm.

    Example:
        >>> from nlp104.figures import norm_cube
        >>> ">token<" in norm_cube.cube("layer norm").narrow
        True
    """
    require_one_of(SHARES, norm=norm)
    return Layouts(*(_one_cube(*at, *SHARES[norm]) for at in ((WIDE, 13), (NARROW, 14))))


def _one_cube(width, size, title, padding, shares):
    drawing, beside = Drawing(width), width == WIDE  # whether the signs stand beside the box
    drawing.text(0, 12, title, strong=True, size=size + 2)
    _cube(drawing, size, 28, 90 if beside else 134, shares)
    signs = ("filled: share one mean", ("counted", "frame")), padding
    for number, (words, looks) in enumerate(signs):
        x, y = (SPREAD + 30, 100 + 26 * number) if beside else (0, 38 + 22 * number)
        place = {"x": x + 1, "y": y - 7, "width": 18, "height": 14, "rx": 2}
        for look in looks:
            drawing.add("rect", **place, **LOOKS[look])
        drawing.text(x + 28, y, words, muted=True, size=size)
    return drawing.svg(284 if beside else 328)


def _cube(drawing, size, left, top, shares, cell=26):
    """Front, top and right side of a box of numbers; `shares(sentence, token, feature)` is lit."""
    paths = {"plain": "", "counted": "", "left out": "", "leak": ""}

    def spot(feature, token, sentence):
        x, y = feature + 0.55 * sentence, token - 0.45 * sentence
        return f"{left + cell * x:.4g} {top + cell * y:.4g}"

    def add(corners, s, t, f):
        path = "M" + "L".join(spot(*corner) for corner in corners) + "z"
        padding = t >= SENTENCES[s]
        kind = "counted" if shares(s, t, f) else "left out" if padding else "plain"
        paths[kind] += path
        paths["leak"] += path if padding and kind == "counted" else ""

    for t in range(TOKENS):  # the front: the first sentence
        for f in range(FEATURES):
            add([(f, t, 0), (f + 1, t, 0), (f + 1, t + 1, 0), (f, t + 1, 0)], 0, t, f)
    n = FEATURES
    for s in range(len(SENTENCES)):
        for f in range(n):  # above: the first tokens
            add([(f, 0, s), (f + 1, 0, s), (f + 1, 0, s + 1), (f, 0, s + 1)], s, 0, f)
        for t in range(TOKENS):  # on the right: the last feature
            add([(n, t, s), (n, t, s + 1), (n, t + 1, s + 1), (n, t + 1, s)], s, t, n - 1)
    paths |= {"hatch": paths["left out"], "edge": paths["left out"], "frame": paths["counted"]}
    for kind, look in LOOKS.items():
        if paths[kind]:
            drawing.add("path", d=paths[kind], **look)
    look = {"muted": True, "size": size}
    bottom = top + cell * TOKENS
    drawing.text(left + cell * n / 2, bottom + 18, "feature", anchor="middle", **look)
    drawing.text(left + cell * (n + 1.3), bottom - 4, "sentence", **look)
    place = left - 14, top + cell * TOKENS / 2
    drawing.add(
        "text", "token", x=0, y=0, dy="0.35em", text_anchor="middle", font_size=size,
        class_="muted", transform=f"translate({place[0]} {place[1]}) rotate(-90)",
    )  # fmt: skip

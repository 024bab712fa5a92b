"""Two ways to look something up, as drawings: a dictionary asked hard, and asked softly.

The keys are titles, the values are films, each a picture of a few dots. A title fits a query the
better the more words they share; the softmax of that is its share in a soft look-up.
"""

from typing import NamedTuple

import keras
import numpy as np

from nlp104.attention.masks import masked_softmax
from nlp104.figures.drawing import NARROW, WIDE, Drawing, Layouts

__all__ = ["hard", "soft"]

QUERY = "cat sea"
FILMS = {
    "A Cat at Sea": ("..#...", "..##..", "..###.", "######", ".####."),
    "Cat and City": ("...#..", ".#.#..", ".###.#", "####.#", "######"),
    "The Calm Sea": ("......", ".#..#.", "#.##.#", "......", "######"),
    "To the Moon": (".###..", "##...#", "##....", "##....", ".###.."),
}
VALUES = np.array([[[dot == "#" for dot in row] for row in film] for film in FILMS.values()], float)
DOT, ROW, HIGH, SHARE = 10, 66, 32, 48  # sizes of a dot, a row, a box, a weight


class _Layout(NamedTuple):
    """Where the columns stand: left edges, the middle of `fit`; and how large letters are."""

    width: int
    size: int
    query: tuple  # left edge, middle, width
    bus: int  # the wire from the query to all keys
    keys: int
    key: int  # width of a key
    fit: int
    heading: str  # of that column
    weight: int
    value: int
    top: int  # of the first row


PAGE = _Layout(WIDE, 13, (0, 228, 104), 130, 156, 128, 346, "words in common", 424, 516, 96)
PHONE = _Layout(NARROW, 14, (14, 88, 92), 4, 14, 124, 157, "in common", 174, 254, 154)


def fits():
    """How many words each title shares with the query: the scores, one for each key."""
    asked = set(QUERY.split())
    return np.array([len(asked & set(title.lower().split())) for title in FILMS], "float32")


def hard():
    """The best fitting key has all the weight, and its value is what comes back.

    Returns:
        Its two `nlp104.figures.drawing.Layouts`, for `nlp104.figures.plots.show`.

    Example:
        >>> from nlp104.figures import lookup
        >>> lookup.hard().wide.count(">1.00<")  # one title takes all
        1
    """
    weights = np.eye(len(FILMS))[fits().argmax()]
    sentence = "The title that fits best wins, and you get its film."
    return Layouts(*(_draw("A hard look-up", sentence, weights, at) for at in (PAGE, PHONE)))


def soft():
    """Every key has a share, the softmax of how well it fits; what comes back is a blend.

    Returns:
        Its two `nlp104.figures.drawing.Layouts`, for `nlp104.figures.plots.show`.

    Example:
        >>> from nlp104.figures import lookup
        >>> ">0.53<" in lookup.soft().wide  # the share of the title that fits best
        True
    """
    weights = keras.ops.convert_to_numpy(masked_softmax(fits()))
    sentence = "Every title has a share, and you get a blend of all films."
    return Layouts(*(_draw("A soft look-up", sentence, weights, at) for at in (PAGE, PHONE)))


def _draw(title, sentence, weights, at):
    """Keys, how well they fit, their weights and their values in rows; below the rows their sum."""
    drawing, size = Drawing(at.width), at.size
    drawing.heading(title, sentence, at.width // 9, size)
    wide, high = DOT * VALUES.shape[2], DOT * VALUES.shape[1]

    def words(x, y, text, **look):
        drawing.text(x, y, text, anchor="middle", size=size, **look)

    def film(middle, picture, lit):
        frame = {"x": at.value - 4, "y": middle - high / 2 - 4, "width": wide + 8}
        drawing.add("rect", **frame, height=high + 8, rx=6, class_=f"outline s-{lit}")
        look = {"width": DOT, "height": DOT, "most": 1.0}
        drawing.matrix(at.value, middle - high / 2, picture, "v", **look)

    x, y, length = at.query
    above = x + length > at.keys  # the query stands above the keys, not left of them
    start = [(x, y)] if above else [(x + length, y)]
    words(at.keys + at.key / 2, at.top - 14, "key: title", concept="k")
    words(at.fit, at.top - (32 if above else 14), at.heading, muted=True)
    words(at.weight + SHARE / 2, at.top - 14, "weight", concept="a")
    words(at.value + wide / 2, at.top - 14, "value: film", concept="v")
    for number, (name, score) in enumerate(zip(FILMS, fits(), strict=True)):
        middle, weight = at.top + (number + 0.5) * ROW, weights[number]
        path = [*start, (at.bus, y), (at.bus, middle), (at.keys, middle)]
        drawing.wire(path, "q", arrow=True)
        look = {"lit": weight > 0, "size": size}
        drawing.box(at.keys, middle - HIGH / 2, at.key, HIGH, name, "k", **look)
        words(at.fit, middle, f"{score:g}", muted=True)
        place = {"width": SHARE, "height": HIGH, "most": 1.0}
        drawing.matrix(at.weight, middle - HIGH / 2, [[weight]], "a", **place)
        words(at.weight + SHARE / 2, middle, f"{weight:.2f}")
        words(at.value - 18, middle, "×", muted=True)
        film(middle, VALUES[number], "v" if weight > 0 else "line")
    drawing.box(x, y - HIGH / 2, length, HIGH, QUERY, "q", lit=True, size=size)
    place = (x + length + 10, y) if above else (x, y - HIGH / 2 - 14)
    drawing.text(*place, "query: what you type" if above else "query", concept="q", size=size)
    end = at.top + len(FILMS) * ROW + 4
    drawing.add("path", d=f"M{at.weight} {end}H{at.value + wide + 4}", class_="wire s-edge")
    middle = end + 10 + high / 2
    words(at.value - 18, middle, "=", muted=True)
    look = {"anchor": "end", "strong": True, "size": size}
    drawing.text(at.value - 32, middle, "what you get", **look)
    film(middle, np.tensordot(weights, VALUES, 1), "v")
    return drawing.svg(middle + high / 2 + 6)

"""Several heads, step by step: split, attend, join, W_O; and the reshape that cuts wrongly."""

import numpy as np

from nlp104.figures.drawing import Drawing
from nlp104.figures.explore.explorable import Explorable
from nlp104.figures.explore.numbers import short

HEADS = 2
WORDS = ("Big", "grey", "cats", "nap")
OTHER = "logs"  # the word that may stand in the place of the third
# Whole numbers to be followed by eye; the features are size, colour, thing, life.
INPUTS = np.array([[2, 0, 0, 0], [0, 2, 0, 0], [0, 0, 2, 1], [0, 0, 0, 2]], "float64")
OTHER_INPUT = np.array([1.0, 0.0, 3.0, 0.0])
# W_Q, W_K, W_V and W_O: the first two columns, of W_O rows, are head 1's, the last two head 2's.
# In head 1 a thing looks for what it is like, in head 2 for what lives.
KERNELS = np.array(
    [
        [[0, 1, 1, 0], [0, 1, 0, 1], [2, 0, 0, 2], [1, 1, 1, 0]],
        [[1, 0, 0, 0], [1, 0, 0, 0], [0, 1, 1, 0], [0, 0, 0, 1]],
        [[1, 0, 0, 1], [0, 2, 0, 0], [0, 0, 2, 0], [0, 1, 0, 1]],
        [[1, 0, 1, 0], [0, 1, 0, 1], [0, 1, 1, 0], [1, 0, 0, 1]],
    ],
    "float64",
)
ALT = (
    "Q, four words by four numbers, is cut in two ways. Cut between its columns, each head gets "
    "two numbers of every word. Reshaped without a transpose, head 1 gets Big and grey whole, "
    "folded into two rows each, and head 2 cats and nap."
)


def heads():
    """From X to Q, K, V, to two heads, to W_O; and what a wrong reshape does to it.

    Four words, four numbers each, two heads of width two, all made by hand. The reader steps from
    the words to the output, taps a number to see what it is made of, follows a word, replaces the
    third one and sees which numbers move, and switches to the reshape that forgets to transpose:
    ``[4, 4]`` to ``[2, 4, 2]`` at once. It cuts between words instead of columns, raises no error,
    and the words of one head never hear of the others. Vaswani et al. (2017), section 3.2.2.

    Returns:
        An object that a notebook displays; ``save(path)`` writes a page of its own.

    Example:
        >>> from nlp104.figures import explore
        >>> explore.heads().data["words"]
        ['Big', 'grey', 'cats', 'nap']
    """
    data = {
        "words": list(WORDS),
        "other": OTHER,
        "heads": HEADS,
        "inputs": short(INPUTS),
        "otherInput": short(OTHER_INPUT),
        "kernels": short(KERNELS),
    }
    return Explorable("heads", "Two heads, step by step", data, _still(), ALT)


def _still():
    """Q, cut between its columns and cut between its words."""
    drawing = Drawing(360)
    queries = INPUTS @ KERNELS[0]
    words, width = len(WORDS), queries.shape[1] // HEADS
    look = {"width": 22, "height": 26, "digits": 0, "most": queries.max()}
    for top, name in ((0, "Right: between columns"), (168, "Wrong: between words")):
        right = not top
        y = top + 54
        drawing.text(0, top + 10, name, strong=True)
        drawing.text(48, y - 14, "Q", maths=True, concept="q")
        drawing.tokens(0, y, WORDS, width=46, height=26)
        drawing.matrix(48, y, queries, "q", **look)
        cut = f"M{48 + 22 * width} {y - 4}V{y + 108}" if right else f"M44 {y + 52}H140"
        drawing.add("path", d=cut, class_="s-ink", stroke_width=2)
        pieces = queries.reshape(words, HEADS, width).transpose(1, 0, 2)
        pieces = pieces if right else queries.reshape(HEADS, words, width)
        for head, piece in enumerate(pieces):
            x = 164 + 104 * head
            inside = WORDS if right else WORDS[2 * head : 2 * head + 2]
            drawing.text(x + 46, y - 14, f"Head {head + 1}", muted=True)
            drawing.tokens(x, y, inside, width=44, height=26 * words // len(inside))
            drawing.matrix(x + 46, y, piece, "q", **look)
    return drawing.svg(326)

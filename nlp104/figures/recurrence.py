"""Recurrent translation as drawings in one layout: through one vector, and past it.

A sentence is read from left to right and its translation is written from left to right. Between
them stands one vector of fixed width; attention makes a new one for every word.
"""

import itertools

import keras
import numpy as np

from nlp104.attention.masks import masked_softmax
from nlp104.figures.drawing import NARROW, WIDE, Drawing, Layouts

__all__ = ["bahdanau", "encoder_decoder"]

SOURCE = ("The", "black", "cat", "sleeps")
TARGET = ("Le", "chat", "noir", "dort")
WRITTEN = 2  # the word that is being written, by its place
SCORES = (0.0, 3.2, 1.2, 0.1)  # made by hand: how well each state fits the word before it
MARGIN = 24  # on the left: wires
SIZES = (WIDE, 13), (NARROW, 14)  # widths, and heights of letters
CELLS, CELL = 5, 14  # of the vector
# Heights of the middles, from above.
WRITE, DECODER, VECTOR, WEIGHTS, COMPARE, ENCODER, READ = 108, 166, 236, 296, 342, 400, 456
CLOSER = 98  # how much higher the encoder stands where nothing is compared


def encoder_decoder():
    """The last state of the encoder is all that the decoder gets.

    Returns:
        Its two `nlp104.figures.drawing.Layouts`, for `nlp104.figures.plots.show`.

    Example:
        >>> from nlp104.figures import recurrence
        >>> "one vector" in recurrence.encoder_decoder().wide
        True
    """
    return Layouts(*(_Picture(width, size).bottleneck() for width, size in SIZES))


def bahdanau():
    """Every state is kept; for each word the decoder compares, weighs and takes a mean.

    The scores are made by hand. In the paper the encoder reads in both directions; one is drawn.

    Returns:
        Its two `nlp104.figures.drawing.Layouts`, for `nlp104.figures.plots.show`.

    Example:
        >>> from nlp104.figures import recurrence
        >>> "weighted mean" in recurrence.bahdanau().wide
        True
    """
    return Layouts(*(_Picture(width, size).attention() for width, size in SIZES))


class _Picture:
    """Both networks, one above the other."""

    def __init__(self, width, size):
        self.drawing, self.size = Drawing(width), size
        step = (width - MARGIN) / len(SOURCE)
        self.columns = [MARGIN + (number + 0.5) * step for number in range(len(SOURCE))]
        self.half = min(30, step / 2 - 12)  # of a state's width
        self.middle = self.columns[WRITTEN]
        self.encoder, self.read = ENCODER, READ

    def bottleneck(self):
        """The whole with one vector."""
        drawing = self.drawing
        self.encoder, self.read = ENCODER - CLOSER, READ - CLOSER
        sentence = "One vector carries everything, for 4 words and for 40."
        self.heading("Encoder and decoder", sentence)
        last, reach = self.columns[-1], CELLS * CELL / 2 + 6
        path = [(last, self.encoder - 18), (last, VECTOR), (self.middle + reach, VECTOR)]
        drawing.wire(path, "r", arrow=True, strong=True)
        start = self.columns[0] - self.half
        path = [(self.middle - reach, VECTOR), (8, VECTOR), (8, DECODER), (start, DECODER)]
        drawing.wire(path, "r", arrow=True, strong=True)
        self.networks()
        self.vector("one vector", "r")
        return drawing.svg(self.read + 44)

    def attention(self):
        """The whole with attention."""
        drawing = self.drawing
        sentence = "All states are kept; each word has its own mean. Weights made by hand."
        self.heading("Bahdanau's attention", sentence)
        weights = keras.ops.convert_to_numpy(masked_softmax(np.array(SCORES, "float32")))
        for x, weight in zip(self.columns, weights, strict=True):
            drawing.wire([(x, ENCODER - 18), (x, COMPARE + 15)], "r", arrow=True)
            self.ribbon(x, weight)
        asking, turn, left = self.columns[WRITTEN - 1], DECODER + 32, MARGIN
        path = [(asking, DECODER + 18), (asking, turn), (8, turn), (8, COMPARE), (left, COMPARE)]
        drawing.wire(path, "q", arrow=True, strong=True)
        drawing.text(16, VECTOR + 24, "query", concept="q", size=self.size)
        path = [(self.middle, VECTOR - 17), (self.middle, DECODER + 18)]
        drawing.wire(path, "a", arrow=True, strong=True)
        wide = drawing.width - left
        look = {"lit": True, "size": self.size}
        drawing.box(left, COMPARE - 15, wide, 30, "compare with every state, softmax", "a", **look)
        for x, weight in zip(self.columns, weights, strict=True):
            place = {"width": 48, "height": 28, "most": 1.0}
            drawing.matrix(x - 24, WEIGHTS - 14, [[weight]], "a", **place)
            drawing.text(x, WEIGHTS, f"{weight:.2f}", anchor="middle", size=self.size)
        self.networks(kept=True)
        self.vector("weighted mean", "a")
        return drawing.svg(READ + 44)

    def heading(self, title, sentence):
        """What is drawn."""
        self.drawing.heading(title, sentence, self.drawing.width // 8, self.size)

    def networks(self, kept=False):
        """Words and states of the encoder below, of the decoder above."""
        half, drawing = self.half, self.drawing
        wide = 2 * half + 16
        for x, other in itertools.pairwise(self.columns):
            drawing.wire([(x + half, self.encoder), (other - half, self.encoder)], arrow=True)
            drawing.wire([(x + half, DECODER + 6), (other - half, DECODER + 6)], arrow=True)
            gap = (x + other) / 2  # what was written is read
            path = [(x, WRITE), (gap, WRITE), (gap, DECODER - 8), (other - half, DECODER - 8)]
            drawing.wire(path, arrow=True)
        for number, x in enumerate(self.columns):
            drawing.wire([(x, self.read - 14), (x, self.encoder + 18)], arrow=True)
            drawing.wire([(x, DECODER - 18), (x, WRITE + 14)], arrow=True)
            asks = kept and number == WRITTEN - 1
            for letter, words, states, spoken, concept in (
                ("h", SOURCE, self.encoder, self.read, "r" if kept else None),
                ("s", TARGET, DECODER, WRITE, "q" if asks else None),
            ):
                look = {"lit": bool(concept), "maths": True, "size": self.size + 4}
                place = x - half, states - 18, 2 * half, 36
                drawing.box(*place, f"{letter}_{number + 1}", concept, **look)
                look = {"width": wide, "height": 32, "size": self.size}
                drawing.tokens(x - wide / 2, spoken - 16, [words[number]], **look)
        for y, words in ((WRITE - 30, "the decoder writes"), (self.read + 30, "the encoder reads")):
            drawing.text(self.columns[0] - wide / 2, y, words, muted=True, size=self.size)

    def vector(self, words, concept):
        """The vector in the middle, and what it is."""
        wide = CELLS * CELL
        left = self.middle - wide / 2
        self.drawing.box(left - 6, VECTOR - 17, wide + 12, 34, "", concept, lit=True)
        look = {"width": CELL, "height": 22, "strength": 1}
        self.drawing.grid(left, VECTOR - 11, 1, CELLS, concept, **look)
        look = {"concept": concept, "strong": True, "anchor": "end", "size": self.size}
        self.drawing.text(left - 16, VECTOR - 14, words, **look)

    def ribbon(self, x, weight):
        """From a weight to the vector, as wide as the weight."""
        y, end = WEIGHTS - 16, VECTOR + 17
        d = f"M{x} {y}C{x} {(y + end) / 2} {self.middle} {(y + end) / 2} {self.middle} {end}"
        style = f"fill:none;stroke-opacity:.55;stroke-width:{1 + 15 * weight:.1f}"
        self.drawing.add("path", d=d, class_="s-a", style=style)

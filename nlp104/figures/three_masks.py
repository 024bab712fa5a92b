"""Which mask stands where, as a drawing: the three attentions of a Transformer and their masks."""

from typing import NamedTuple

import numpy as np

from nlp104.figures.drawing import NARROW, WIDE, Drawing, Layouts, shown

__all__ = ["three_masks"]

SOURCE = ("The", "cat", "sleeps", "[PAD]")
TARGET = ("[START]", "Le", "chat", "dort", "[PAD]")
TITLE = "Three attentions, three masks"
SENTENCE = "Across, the keys are the source's tokens: its padding is hidden again."
ROW, PILL = 20, 28  # pixels, the height of a row of a mask, and of the tokens below it


class _Attention(NamedTuple):
    """One of the three: its names, who looks (rows), who is looked at (columns)."""

    name: str
    hides: str
    queries: tuple
    keys: tuple
    causal: bool = False

    def hidden(self):
        """True where a look is forbidden, [query, key]."""
        shape = len(self.queries), len(self.keys)
        padding = np.broadcast_to(np.array(self.keys) == "[PAD]", shape)
        return padding | np.triu(np.ones(shape, bool), 1) if self.causal else padding

    @property
    def height(self):
        return len(self.queries) * ROW


ENCODER = _Attention("Encoder: self-attention", "hides padding", SOURCE, SOURCE)
DECODER = _Attention(
    "Decoder: self-attention", "hides the future, and padding", TARGET, TARGET, causal=True
)
ACROSS = _Attention("Decoder: cross-attention", "hides padding of the source", TARGET, SOURCE)


def three_masks():
    """The masks of the encoder, of the decoder and across, each above its keys.

    Returns:
        Its two `nlp104.figures.drawing.Layouts`, for `nlp104.figures.plots.show`.

    Example:
        >>> from nlp104.figures import three_masks
        >>> three_masks.three_masks().wide.count('class="hatch"')  # 4, 11 and 5 looks, and the key
        21
    """
    return Layouts(_page(), _phone())


def _page():
    """The encoder on the left; the decoder on the right, from bottom to top."""
    drawing = Drawing(WIDE)
    drawing.heading(TITLE, SENTENCE, 90, 13)
    _legend(drawing, 76, 13)
    left, cell = 288, 52
    right = left + len(TARGET) * cell
    up, low = 112, 304  # the upper edges of the masks
    keys = up + ACROSS.height + PILL / 2 + 2
    drawing.wire([(100, low - 52), (100, keys), (left - 6, keys)], "k", arrow=True)
    drawing.text(112, keys + 16, "keys: the encoder's output", concept="k")
    drawing.wire([(right + 22, low - 6), (right + 22, up + ACROSS.height + 6)], "q", arrow=True)
    drawing.text(right + 14, keys, "queries", concept="q", anchor="end")
    _attention(drawing, ENCODER, 0, low, cell, 13)
    _attention(drawing, DECODER, left, low, cell, 13)
    _attention(drawing, ACROSS, left, up, cell, 13)
    return drawing.svg(low + DECODER.height + PILL + 4)


def _phone():
    """One below the other, as one reads on: encoder, decoder, across."""
    drawing = Drawing(NARROW)
    drawing.heading(TITLE, SENTENCE, 40, 14)
    _legend(drawing, 80, 14)
    y = 188
    for attention in (ENCODER, DECODER, ACROSS):
        _attention(drawing, attention, 0, y, 56, 14)
        y += attention.height + PILL + 72
    return drawing.svg(y - 68)


def _legend(drawing, y, size):
    """What a cell means."""
    for number, words in enumerate(("the word of this row may look", "it must not look")):
        drawing.cell(0, y + 26 * number, 1.0, "a", 30, ROW, 1.0, hidden=number > 0)
        drawing.text(40, y + 26 * number + ROW / 2, words, muted=True, size=size)


def _attention(drawing, attention, x, y, width, size):
    """A mask whose upper left corner is given: names above, queries beside, keys below."""
    drawing.text(x, y - 34, attention.name, concept="a", strong=True, size=size)
    drawing.text(x, y - 14, attention.hides, muted=True, size=size)
    hidden = attention.hidden()
    drawing.matrix(x, y, ~hidden, "a", width=width, height=ROW, hidden=hidden)
    right = x + len(attention.keys) * width + 6
    for row, word in enumerate(attention.queries):
        drawing.text(right, y + (row + 0.5) * ROW, shown(word), size=size)
    below = y + attention.height + 2
    drawing.tokens(x, below, attention.keys, width=width, height=PILL, across=True, size=size)

"""Which mask stands where, as a drawing: the three attentions of a Transformer and their masks."""

from typing import NamedTuple

import numpy as np

from nlp104.figures.drawing import NARROW, WIDE, Drawing, Layouts, shown

__all__ = ["three_masks"]

SOURCE = ("The", "cat", "sleeps", "[PAD]")
TARGET = ("[START]", "Le", "chat", "dort", "[PAD]")
TITLE = "Three attentions, three masks"
SENTENCE = "Cross-attention's keys are the source's tokens: their padding is hidden."
ROW, PILL = 20, 28  # pixels, the height of a row of a mask, and of the tokens above it
WORDS = 58  # pixels, the width of the words beside it


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
    """The masks of the encoder, of the decoder and across, each below its keys.

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
    left, cell = 292, 50
    up, low = 146, 344  # the upper edges of the masks
    keys, over = up - PILL / 2 - 2, low - PILL - 52
    drawing.wire([(100, over), (100, keys), (left + WORDS - 6, keys)], "k", arrow=True)
    drawing.text(112, keys + 16, "keys: the encoder's output", concept="k")
    start, end = (low + DECODER.height / 2, up + ACROSS.height / 2)
    lane = left - 14
    drawing.wire([(left, start), (lane, start), (lane, end), (left, end)], "q", arrow=True)
    drawing.text(lane - 8, end, "queries", concept="q", anchor="end")
    _attention(drawing, ENCODER, 0, low, cell, 13)
    _attention(drawing, DECODER, left, low, cell, 13)
    _attention(drawing, ACROSS, left, up, cell, 13)
    _roles(drawing, ENCODER, 0, low, cell, 13)
    return drawing.svg(low + DECODER.height + 4)


def _phone():
    """One below the other, as one reads on: encoder, decoder, across."""
    drawing = Drawing(NARROW)
    drawing.heading(TITLE, SENTENCE, 40, 14)
    _legend(drawing, 80, 14)
    y = 222
    for attention in (ENCODER, DECODER, ACROSS):
        _attention(drawing, attention, 0, y, 54, 14)
        if attention is ENCODER:
            _roles(drawing, attention, 0, y, 54, 14)
        y += attention.height + PILL + 76
    return drawing.svg(y - PILL - 72)


def _legend(drawing, y, size):
    """What a cell means."""
    for number, words in enumerate(("the word of this row may look", "it must not look")):
        drawing.cell(0, y + 26 * number, 1.0, "a", 30, ROW, 1.0, hidden=number > 0)
        drawing.text(40, y + 26 * number + ROW / 2, words, muted=True, size=size)


def _attention(drawing, attention, x, y, width, size):
    """A mask whose upper edge is given: names and keys above, queries to its left."""
    drawing.text(x, y - PILL - 38, attention.name, concept="a", strong=True, size=size)
    drawing.text(x, y - PILL - 18, attention.hides, muted=True, size=size)
    left = x + WORDS
    look = {"width": width, "height": PILL, "across": True, "size": size}
    drawing.tokens(left, y - PILL - 2, attention.keys, **look)
    hidden = attention.hidden()
    drawing.matrix(left, y, ~hidden, "a", width=width, height=ROW, hidden=hidden)
    for row, word in enumerate(attention.queries):
        place = left - 6, y + (row + 0.5) * ROW
        drawing.text(*place, shown(word), size=size, anchor="end")


def _roles(drawing, attention, x, y, width, size):
    """What rows and columns do, said beside the first of the masks."""
    look = {"anchor": "end", "size": size}
    right = x + WORDS + len(attention.keys) * width
    drawing.text(x + WORDS - 6, y - PILL / 2 - 2, "looks", concept="q", **look)
    drawing.text(right, y - PILL - 18, "looked at ↓", concept="k", **look)

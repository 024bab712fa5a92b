"""The Transformer's architecture, drawn: the whole, the encoder alone, the decoder alone.

Each function returns a `matplotlib.figure.Figure` for `nlp104.figures.plots.show`; its attribute
``narrow`` is the drawing for a phone. One colour stands for one idea, as in `nlp104.figures.style`.
All three take these keyword arguments (`**look`):

- `title`: what there is to see;
- `without`: one of `KINDS`, left out of the drawing (which piece is missing?): ``"attention"``,
  ``"cross"`` (the encoder's output on its way into every decoder layer), ``"masks"``, ``"skip"``,
  ``"norm"``, ``"feed_forward"`` or ``"positions"``;
- `normalize_first`: pre-norm instead of the paper's post-norm.

Another kind raises a `ValueError`.

The drawing follows figure 1 of Vaswani et al. (2017), "Attention is all you need", but shows the
further layers, so that it can be seen where the encoder's output goes.
"""

from nlp104.figures import style
from nlp104.figures.stacks import KINDS, PAGE, PHONE, Picture

__all__ = ["KINDS", "architecture", "decoder", "encoder"]

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


@style.styled
def architecture(**look):
    """The whole Transformer: both stacks, all sub-layers and every wire.

    Args:
        **look: see the head of the module.

    Example:
        >>> from nlp104.figures import architecture
        >>> figure = architecture.architecture(without="skip")
        >>> widths = figure.get_figwidth(), figure.narrow.get_figwidth()
        >>> bool(widths[0] > widths[1])  # for a page, and for a phone
        True
    """

    def draw(picture, left, right, middle):
        picture.note(left, 0.2, "source tokens", align="center")
        encoder = picture.stack(left, picture.embedding(left, -1), -1, ENCODER)
        picture.note(right, 0.2, "target tokens,\nshifted right by one", align="center")
        decoder = picture.stack(right, picture.embedding(right, 1), 1, DECODER)
        bend = encoder["top"] + 0.25
        picture.context([(left, encoder["top"]), (left, bend), (middle, bend)], right, decoder)
        picture.note(left - 0.16, bend + 0.02, "encoder\noutput", {"cross"}, "right")
        top = picture.head(right, decoder["top"]) + 0.18
        picture.wire([(right, top - 0.18), (right, top)])
        picture.note(right, top + 0.22, "probabilities\nof the next token", align="center")
        return picture.finish(top + 0.45)

    figure = draw(Picture(PAGE, 7.2, **look), 1.85, 5.35, 3.45)
    figure.narrow = draw(Picture(PHONE, 3.4, **look), 0.81, 2.59, 1.69)
    return figure


@style.styled
def encoder(source=("the", "cat", "sleeps"), **look):
    """The encoder alone, with a note at each of its parts.

    Args:
        source: tokens to write below it.
        **look: see the head of the module.

    Example:
        >>> from nlp104.figures import architecture
        >>> figure = architecture.encoder(source=["good", "morning"])
        >>> "morning" in [text.get_text() for text in figure.axes[0].texts]
        True
    """

    def draw(picture, x, notes):
        row, places = picture.chips(x, 0.08, source)
        heights = picture.stack(x, picture.embedding(x, -1, places), -1, ENCODER, notes)
        top = heights["top"] + 0.25
        picture.wire([(x, heights["top"]), (x, top)])
        picture.note(row, top + 0.12, "one vector for each source token", align="center")
        return picture.finish(top + 0.25)

    figure = draw(Picture(PAGE, 6.6, **look), 2.0, 3.6)
    figure.narrow = draw(Picture(PHONE, 3.4, **look), 0.82, 1.72)
    return figure


@style.styled
def decoder(target=("le", "chat", "dort"), **look):
    """The decoder alone: its input below, what it has to predict above, shifted by one.

    Sums and normalisations have no notes: they are those of the encoder.

    Args:
        target: tokens of a translation, without ``[START]`` and ``[END]``.
        **look: see the head of the module.

    Example:
        >>> from nlp104.figures import architecture
        >>> figure = architecture.decoder(target=["bonjour"])
        >>> {"[START]", "[END]"} <= {text.get_text() for text in figure.axes[0].texts}
        True
    """

    def draw(picture, x, bus, notes):
        reads, predicts = ["[START]", *target], [*target, "[END]"]
        picture.brief = True
        row, places = picture.chips(x, 0.08, reads, predicts)
        words = "what it reads: the translation,", "shifted right by one"
        words = ("\n" if picture.measures.slim else " ").join(words)
        picture.note(row, -0.02, words, align="center", va="top")
        start = picture.embedding(x, 1, places)
        heights = picture.stack(x, start, 1, DECODER, notes)
        picture.context([(bus, start - 0.2)], x, heights)
        size = 9.0 if picture.measures.slim else None
        picture.note(bus, start - 0.42, "encoder\noutput", {"cross"}, "center", size)
        end = picture.head(x, heights["top"])
        bend, top = end + 0.08, end + 0.25
        picture.wire([(x, end), (x, bend)], arrow=False)
        picture.spread(places, bend, top, x)
        picture.chips(x, top, predicts, reads)
        picture.note(row, top + 0.45, "what it has to predict: the next token", align="center")
        return picture.finish(top + 0.6, -0.34 if picture.measures.slim else -0.25)

    figure = draw(Picture(PAGE, 6.8, **look), 2.35, 0.6, 4.15)
    figure.narrow = draw(Picture(PHONE, 3.4, **look), 1.11, 0.15, 1.95)
    return figure

"""Masked attention while a decoder writes: row by row, and what breaks without the mask."""

from keras import ops

from nlp104.attention.masks import causal_mask, masked_softmax
from nlp104.figures.drawing import Drawing
from nlp104.figures.explore.explorable import Explorable
from nlp104.figures.explore.numbers import as_matrix, short


def masked_attention(scores, tokens, next_tokens):
    """The self-attention of a decoder that writes one word after the other.

    The reader adds word after word, lets the future be seen, puts the mask before or after the
    softmax, adds padding on the left (a row in which nothing may be seen), chooses a head. Vaswani
    et al. (2017), section 3.2.3.

    Args:
        scores: scaled scores before any mask, `[heads, length, length]`, for example of a trained
            decoder's first layer, where they do not depend on the mask.
        tokens: one for each row: padding, the start token, then the words.
        next_tokens: what each row has to predict; an empty text for the padding.

    Returns:
        An object that a notebook displays; ``save(path)`` writes a page of its own.

    Raises:
        ValueError: The arrays do not fit together.

    Example:
        >>> import numpy as np
        >>> from nlp104.figures import explore
        >>> words, following = ["[PAD]", "[START]", "le", "chat"], ["", "le", "chat", "[END]"]
        >>> explore.masked_attention(np.zeros((1, 4, 4)), words, following).data["next"]
        ['', 'le', 'chat', '[END]']
    """
    scores = as_matrix(scores, (None, len(tokens), len(tokens)), "scores")
    if len(next_tokens) != len(tokens):
        raise ValueError(f"Expected {len(tokens)} next tokens. Received: {len(next_tokens)}.")
    data = {"tokens": list(tokens), "next": list(next_tokens), "scores": short(scores, 4)}
    alt = (
        f"The weights of a decoder over the words {', '.join(tokens[1:])}. Every row looks at "
        "itself and at what comes before it; the cells of later words are hatched and hold 0."
    )
    title = "Masked attention while writing"
    return Explorable("masked_attention", title, data, _still(scores[0, 1:, 1:], tokens[1:]), alt)


def _still(scores, tokens):
    """The finished sentence: the triangle."""
    drawing = Drawing(360)
    seen = ops.convert_to_numpy(causal_mask(len(tokens)))
    weights = ops.convert_to_numpy(masked_softmax(scores, seen))
    width = 290 / len(tokens)
    drawing.tokens(68, 0, tokens, width=width, height=28, across=True)
    drawing.tokens(0, 32, tokens, width=64, height=34)
    look = {"width": width, "height": 34, "most": 0.9, "digits": 2}
    drawing.matrix(68, 32, weights, "a", **look, hidden=~seen)
    return drawing.svg(32 + 34 * len(tokens) + 4)

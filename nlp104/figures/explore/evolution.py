"""The seven versions of attention, side by side, on one sentence made by hand."""

import numpy as np

from nlp104.attention.masks import masked_softmax
from nlp104.figures.drawing import Drawing
from nlp104.figures.explore import handmade
from nlp104.figures.explore.explorable import Explorable
from nlp104.figures.explore.numbers import short

ALT = (
    "X, five words by eight features, times W_Q, W_K and W_V of the two heads of version 6. The "
    "first head of “it” looks at “tired”, the second at “animal” and “street”; together they vote "
    "for the animal."
)


def evolution():
    """Versions 0 to 6 of attention, to step through, from additive scores to several heads.

    "The animal crossed the street. It was tired." Who is *it*? The reader chooses a version, the
    last word, the word whose query is followed and, in version 6, a head. What is new in a version
    is framed. The weights are made by hand; the layers of `nlp104.attention` give the same numbers.

    Returns:
        An object that a notebook displays; ``save(path)`` writes a page of its own.

    Example:
        >>> evolution().data["nouns"]
        ['animal', 'dog', 'street', 'bridge']
    """
    versions = []
    for version in range(7):
        weights = handmade.kernels(version)
        if version == 6:  # [8, heads, 4] to [heads, 8, 4]
            weights = [*(np.moveaxis(kernel, 1, 0) for kernel in weights[:3]), weights[3]]
        made = {"weights": [short(kernel) for kernel in weights]}
        if version < 5:
            made["questions"] = short(handmade.questions(version))
        versions.append(made)
    data = {
        "words": list(handmade.WORDS),
        "features": list(handmade.FEATURES),
        "nouns": list(handmade.NOUNS),
        "endings": {ending: short(handmade.embed(ending)) for ending in handmade.ENDINGS},
        "versions": versions,
    }
    return Explorable("evolution", "The evolution of attention", data, _still(), ALT)


def _still():
    """Version 6: the weights of both heads, followed from “it”."""
    drawing = Drawing(360)
    words = [*handmade.WORDS, "tired"]
    inputs, (queries, keys, *_) = handmade.embed("tired"), handmade.kernels(6)
    for head in range(2):
        scores = (inputs @ queries[:, head]) @ (inputs @ keys[:, head]).T / 2
        top = 30 + head * 200
        drawing.text(0, top - 14, f"Head {head + 1}", strong=True)
        drawing.tokens(72, top, words, width=57, height=28, across=True)
        drawing.tokens(0, top + 30, words, width=70, height=28, chosen=3)
        weights = masked_softmax(scores)
        look = {"width": 57, "height": 28, "most": 1.0, "digits": 2}
        drawing.matrix(72, top + 30, weights, "a", **look)
    return drawing.svg(404)

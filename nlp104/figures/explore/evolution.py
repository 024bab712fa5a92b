"""The seven versions of attention, side by side, on one sentence made by hand."""

import keras
import numpy as np

from nlp104.attention.masks import masked_softmax
from nlp104.figures.drawing import Drawing
from nlp104.figures.explore import handmade
from nlp104.figures.explore.explorable import Explorable
from nlp104.figures.explore.numbers import short

LAST = 6


def evolution(until=None, start=None):
    """Versions 0 to 6 of attention, to step through, from additive scores to several heads.

    "The animal crossed the street. It was tired." Who is *it*? The reader chooses a version, the
    last word, the word whose query is followed and, in version 6, a head. What is new in a version
    is framed. The weights are made by hand; the layers of `nlp104.attention` give the same numbers.

    Args:
        until: the last version, with which the figure opens; by default there are all seven, and it
            opens with the first.
        start: the version with which it opens.

    Returns:
        An object that a notebook displays; ``save(path)`` writes a page of its own.

    Raises:
        ValueError: There is no such version, or not up to `until`.

    Example:
        >>> from nlp104.figures import explore
        >>> explore.evolution().data["nouns"]
        ['animal', 'dog', 'street', 'bridge']
        >>> len(explore.evolution(until=3).data["versions"])
        4
    """
    if until not in (None, *range(LAST + 1)):
        raise ValueError(f"Expected until: a version from 0 to 6. Received: {until!r}.")
    last = LAST if until is None else until
    if start not in (None, *range(last + 1)):
        raise ValueError(f"Expected start: a version from 0 to {last}. Received: {start!r}.")
    versions = []
    for version in range(last + 1):
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
        "start": (until or 0) if start is None else start,
    }
    return Explorable("evolution", "The evolution of attention", data, *_still(last))


def _weights(version):
    """The weights of a version for the sentence that ends with tired, a matrix for each head."""
    X, weights = handmade.embed("tired"), handmade.kernels(version)
    if version == 6:
        pairs = [(X @ weights[0][:, head], X @ weights[1][:, head]) for head in range(2)]
    elif version == 5:
        pairs = [(X @ weights[0], X @ weights[1])]
    else:
        pairs = [(handmade.questions(version), X @ weights[0] if version == 4 else X)]
    if version == 0:
        (queries, keys), (WQ, WX, w) = pairs[0], weights
        scores = [(np.tanh((queries @ WQ)[:, None] + keys @ WX) @ w)[..., 0]]
    else:
        scores = [
            queries @ keys.T / (queries.shape[-1] ** 0.5 if version > 1 else 1)
            for queries, keys in pairs
        ]
    return [keras.ops.convert_to_numpy(masked_softmax(score)) for score in scores]


def _still(version):
    """The weights of a version, of all its heads, and the same in words."""
    drawing, words = Drawing(360), [*handmade.WORDS, "tired"]
    rows = words if version > 4 else ["tired?", "wide?"][: 2 if version > 2 else 1]
    followed = 3 if version > 4 else 0
    top, told = 30, []
    for head, weights in enumerate(_weights(version)):
        name = f"Head {head + 1}" if version == 6 else f"Version {version}"
        drawing.text(0, top - 14, name, strong=True)
        drawing.tokens(72, top, words, width=57, height=28, across=True)
        drawing.tokens(0, top + 30, rows, width=70, height=28, chosen=followed)
        look = {"width": 57, "height": 28, "most": 1.0, "digits": 2}
        drawing.matrix(72, top + 30, weights[: len(rows)], "a", **look)
        shares = zip(words, weights[followed], strict=True)
        told.append(f"{name}: " + ", ".join(f"{word} {share:.2f}" for word, share in shares))
        top += 60 + 28 * len(rows)
    return drawing.svg(top - 26), f"Where the query of “{rows[followed]}” looks. {'; '.join(told)}."

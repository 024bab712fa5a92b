"""One X, three projections: how inputs become queries, keys and values, to step through."""

from nlp104.figures.drawing import Drawing
from nlp104.figures.explore.explorable import Explorable
from nlp104.figures.explore.numbers import as_matrix, short


def projection(inputs, kernels, tokens, features=(), follow=0, meanings=()):
    """Q = X W_Q, K = X W_K, V = X W_V: each cell is a row times a column.

    The reader steps through the cells, taps a cell to see the products that add up to it, changes a
    weight, moves a word. Vaswani et al. (2017), section 3.2.2.

    Args:
        inputs: X, `[length, dim]`, small enough to be read: up to six rows and columns or so.
        kernels: W_Q, W_K and W_V of one head, `[dim, key_dim]`, `[dim, key_dim]` and
            `[dim, value_dim]`.
        tokens: one for each row of `inputs`.
        features: names of the `dim` features, if they have any; from a short one (a phone has room
            for five letters) to the whole one.
        follow: number of the word whose row is computed cell by cell.
        meanings: what the columns of Q, of K and of V say of a word, if that is known: three times
            from a short name to a phrase, such as "adj." to "wants an adjective".

    Returns:
        An object that a notebook displays; ``save(path)`` writes a page of its own.

    Raises:
        ValueError: The arrays do not fit together.

    Example:
        >>> import numpy as np
        >>> from nlp104.figures import explore
        >>> figure = explore.projection(np.eye(2), [np.eye(2)] * 3, ["the", "cat"])
        >>> figure.data["tokens"]
        ['the', 'cat']
    """
    if len(kernels) != 3:
        raise ValueError(f"Expected W_Q, W_K and W_V. Received: {len(kernels)} matrices.")
    inputs = as_matrix(inputs, (len(tokens), None), "inputs")
    kernels = [
        as_matrix(kernel, (inputs.shape[1], None), f"W_{letter}")
        for letter, kernel in zip("QKV", kernels, strict=True)
    ]
    if len(features) not in (0, inputs.shape[1]):
        raise ValueError(f"Expected {inputs.shape[1]} features. Received: {len(features)}.")
    if not 0 <= follow < len(tokens):
        raise ValueError(f"Expected follow from 0 to {len(tokens) - 1}. Received: {follow}.")
    meanings = [dict(phrases) for phrases in meanings]
    if meanings and [len(phrases) for phrases in meanings] != [w.shape[1] for w in kernels]:
        raise ValueError("Expected a meaning for each column of Q, K and V.")
    data = {
        "tokens": list(tokens),
        "features": list(features.values() if isinstance(features, dict) else features),
        "brief": list(features),
        "follow": follow,
        "inputs": short(inputs),
        "kernels": [
            {"letter": letter, "values": short(kernel)}
            for letter, kernel in zip("QKV", kernels, strict=True)
        ],
        "meanings": {
            letter: {"brief": list(phrases), "whole": list(phrases.values())}
            for letter, phrases in zip("QKV", meanings, strict=False)
        },
    }
    words = ", ".join(tokens)
    alt = f"The matrix X, a row for each of the words {words}, times W_Q, W_K and W_V: Q, K and V."
    still = _still(inputs, kernels, tokens, list(features))
    return Explorable("projection", "One X, three projections", data, still, alt)


def _still(inputs, kernels, tokens, features):
    """Left factor on the left, right factor above, result where they cross."""
    drawing = Drawing(360)
    depth, top = inputs.shape[1], 26
    below = top + 24 * depth + 34
    left = 56 + 15 * depth
    drawing.tokens(0, below, tokens, width=50, height=24)
    drawing.matrix(56, below, inputs, "r", width=15, height=24)
    drawing.text(56, below - 12, "X", maths=True, concept="r")
    for row, name in enumerate(features):
        drawing.text(left + 4, top + 24 * row + 12, name, anchor="end", muted=True, size=12)
    width = (360 - left - 30) / sum(kernel.shape[1] for kernel in kernels)
    x = left + 10
    for letter, kernel in zip("QKV", kernels, strict=True):
        concept = letter.lower()
        drawing.matrix(x, top, kernel, concept, width=width, height=24)
        drawing.matrix(x, below, inputs @ kernel, concept, width=width, height=24)
        middle = x + kernel.shape[1] * width / 2
        drawing.text(middle, top - 12, f"W_{letter}", maths=True, concept=concept, anchor="middle")
        drawing.text(middle, below - 12, letter, maths=True, concept=concept, anchor="middle")
        x += kernel.shape[1] * width + 10
    return drawing.svg(below + 24 * len(tokens) + 4)

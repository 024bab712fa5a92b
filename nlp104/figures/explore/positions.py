"""How attention comes to know the order: words to swap, clocks to read, a shift that turns them."""

from itertools import permutations

import numpy as np

from nlp104.encoding import sinusoidal_positions
from nlp104.figures.drawing import Drawing
from nlp104.figures.explore.explorable import Explorable
from nlp104.figures.explore.numbers import short

WORDS = ("dog", "bites", "man")
ORDER, REVERSED = "dog bites man", "man bites dog"
COUNT, REACH = 64, 32  # positions to stand at, and how far another one may be away
WIDTHS, BASES = (4, 8, 16), (16, 100, 10_000)
# The self-attention of the first view. Its weights are random; of 3,000 seeds this one changes the
# outputs most, so that the change can be seen at each of the positions.
WIDTH, BASE, SEED = 4, 100, 831


def positions():
    """What attention sees of the order, and how a position is written as the hands of clocks.

    Three views of one position. *Swap*: three words go through one self-attention; the reader swaps
    them, with positions added or without. *Clock*: the sinusoidal code of a position, a clock for
    each pair of columns, beside the position as a binary number. *Shift*: the codes of two
    positions, the angles between them, and their dot product by distance. Vaswani et al. (2017),
    section 3.5.

    Returns:
        An object that a notebook displays; ``save(path)`` writes a page of its own.

    Example:
        >>> from nlp104.figures import explore
        >>> explore.positions().data["words"]
        ['dog', 'bites', 'man']
    """
    vectors, kernels = weights()
    data = {
        "words": list(WORDS),
        "orders": {
            " ".join(WORDS[word] for word in order): list(order) for order in permutations(range(3))
        },
        "vectors": short(vectors),
        "kernels": short(kernels),
        "speeds": short(BASE ** (-np.arange(0, WIDTH, 2) / WIDTH)),
        "count": COUNT,
        "reach": REACH,
        "views": [[view, view] for view in ("swap", "clock", "shift")],
        "widths": [[width, str(width)] for width in WIDTHS],
        "bases": [[base, f"{base:,}"] for base in BASES],
    }
    outputs = {name: swapped(name == "on") for name in ("off", "on")}
    apart = {name: np.abs(now - before).max(-1) for name, (before, now) in outputs.items()}
    alt = (
        f"The outputs of self-attention for “{ORDER}” and for “{REVERSED}”. Without "
        f"positions each word has the same output in both, largest difference "
        f"{apart['off'].max():.2f}. With positions the outputs of dog, bites and man differ by up "
        "to {:.2f}, {:.2f} and {:.2f}."
    ).format(*apart["on"])
    return Explorable("positions", "How does a word know its place?", data, _still(outputs), alt)


def weights():
    """Vectors of the words `[word, 4]`, and W_Q, W_K and W_V `[3, 4, 4]`: one decimal each."""
    rng = np.random.default_rng(SEED)
    vectors = rng.normal(size=(len(WORDS), WIDTH))
    return np.round(vectors, 1), np.round(rng.normal(0, 0.6, (3, WIDTH, WIDTH)), 1)


def swapped(on):
    """Outputs of each word in "dog bites man" and in "man bites dog": two of `[word, 4]`."""
    vectors, kernels = weights()
    places = sinusoidal_positions(len(WORDS), WIDTH, BASE).astype("float64") * on
    back = [2, 1, 0]
    return _attend(vectors + places, *kernels), _attend(vectors[back] + places, *kernels)[back]


def _attend(x, *kernels):
    """Self-attention in float64, as NumPy."""
    queries, keys, values = (x @ kernel for kernel in kernels)
    powers = np.exp(queries @ keys.T / np.sqrt(WIDTH))
    return powers / powers.sum(-1, keepdims=True) @ values


def _still(outputs):
    """Both outputs of every word: without positions, and with them."""
    drawing, row, cell = Drawing(310), 26, 25
    most = max(np.abs(pair).max() for pair in outputs.values())
    for number, (name, pair) in enumerate(outputs.items()):
        top = 138 * number
        title = {"off": "without positions", "on": "with positions"}[name]
        drawing.text(0, top + 14, title, strong=True, concept="p" if name == "on" else None)
        drawing.tokens(0, top + 46, WORDS, width=50, height=row)
        for column, (order, values) in enumerate(zip((ORDER, REVERSED), pair, strict=True)):
            left = 54 + 110 * column
            drawing.text(left + 2 * cell, top + 36, order, muted=True, anchor="middle", size=12)
            drawing.matrix(left, top + 46, values, "v", width=cell, height=row, most=most)
        drawing.text(310, top + 36, "apart", muted=True, anchor="end", size=12)
        for word, apart in enumerate(np.abs(pair[1] - pair[0]).max(-1)):
            middle = top + 46 + (word + 0.5) * row
            drawing.text(310, middle, f"{apart:.2f}", strong=True, anchor="end")
    return drawing.svg(264)

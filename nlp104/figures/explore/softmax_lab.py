"""What long vectors do to a softmax, and what dividing by √d does about it."""

import numpy as np
from keras import ops

from nlp104.attention.masks import masked_softmax
from nlp104.figures.drawing import Drawing
from nlp104.figures.explore.explorable import Explorable
from nlp104.figures.explore.numbers import short

WORDS = ("black", "cats", "love", "warm", "milk")
WIDTHS = tuple(2**power for power in range(11))
SHOWN = 13  # samples to choose from
START = {"step": 2, "sample": 2}  # at width 4 a winner begins to show


def softmax_lab(seed=104):
    """How sure a softmax is of the scores of random vectors, as the vectors get longer.

    A query and five keys have independent entries of mean 0 and variance 1. The reader chooses
    their width d, switches the scale 1/√d, takes another sample, and pulls a score by hand, to see
    the weights, among how many words that is like choosing, and the steepest slope.
    Vaswani et al. (2017), section 3.2.1.

    Args:
        seed: of the random vectors.

    Returns:
        An object that a notebook displays; ``save(path)`` writes a page of its own.

    Example:
        >>> from nlp104.figures import explore
        >>> explore.softmax_lab().data["widths"][:4]
        [1, 2, 4, 8]
    """
    scores = dot_products(seed, SHOWN)
    data = {
        "words": list(WORDS),
        "widths": list(WIDTHS),
        "scores": short(scores, 3),
        "start": START,
    }
    first = scores[:, START["sample"]]
    plain, scaled = (_weights(logits) for logits in (first, first / np.sqrt(WIDTHS)[:, None]))
    alt = (
        "Weights of five words at the widths 1 to 1024, a row for each width. As the dot products "
        f"are, one word has at least {plain[6:].max(1).min():.2f} from width 64 on. Divided by the "
        f"root of the width, no word has more than {scaled.max():.2f} at any width."
    )
    still = _still({"as they are": plain, "divided by √d": scaled})
    return Explorable("softmax_lab", "How sure may a softmax be?", data, still, alt)


def dot_products(seed, samples):
    """Scores of random queries and keys. A wider vector begins like a narrower one.

    Args:
        seed: of the random vectors.
        samples: how many queries, each with keys of its own.

    Returns:
        `[width, sample, word]`, for each of `WIDTHS`.
    """
    queries, keys = random_vectors(seed, samples)
    return np.stack([np.einsum("sd,swd->sw", queries[:, :d], keys[..., :d]) for d in WIDTHS])


def random_vectors(seed, samples):
    """A query `[sample, 1024]` and its keys `[sample, word, 1024]` for each sample."""
    rng = np.random.default_rng(seed)
    widest = WIDTHS[-1]
    queries = rng.standard_normal((samples, widest))
    return queries, rng.standard_normal((samples, len(WORDS), widest))


def _weights(logits):
    """The weights, as NumPy."""
    weights = masked_softmax(ops.convert_to_tensor(logits))
    return ops.convert_to_numpy(weights).astype("float64")  # JAX computes in float32


def _still(tables):
    """The weights of a sample at every width."""
    drawing, cell, row = Drawing(360), 30, 26
    drawing.text(44, 10, "width", muted=True, anchor="end")
    for column, (title, weights) in enumerate(tables.items()):
        left = 52 + 156 * column
        drawing.text(left + 2.5 * cell, 10, title, strong=True, anchor="middle")
        drawing.matrix(left, 24, weights, "a", width=cell, height=row, most=1.0, digits=2)
    for number, width in enumerate(WIDTHS):
        drawing.text(44, 24 + (number + 0.5) * row, str(width), anchor="end")
    return drawing.svg(26 + row * len(WIDTHS))

"""What one step of training costs: multiplications, bytes that are moved, bytes that are kept.

All by closed form, from the sizes of a model and of a batch. Additions, norms, softmax and dropout
count as bytes only: beside the matrix products their arithmetic is small.
"""

from typing import NamedTuple

NUMBER = 4  # bytes of a float32
BACKWARD = 2  # for each product forward, one for the gradient of each of its two factors


class Product(NamedTuple):
    """Matrix products of one kind: `times` products of [m, k] and [k, n]."""

    part: str
    name: str
    times: int
    m: int
    k: int
    n: int

    @property
    def flops(self):
        """Multiplications and additions of all of them."""
        return 2 * self.times * self.m * self.k * self.n

    @property
    def bytes(self):
        """Both factors read once and the result written once, as float32."""
        return NUMBER * self.times * (self.m * self.k + self.k * self.n + self.m * self.n)

    @property
    def intensity(self):
        """Floating-point operations for each byte that is moved."""
        return self.flops / self.bytes


PARTS = ("projections", "scores and mixture", "feed-forward", "vocabulary")


def products(config, rows, source, target):
    """The matrix products of the forward pass.

    Args:
        config: `nlp104.transformer.TransformerConfig`.
        rows: sentences in the batch.
        source: tokens of each source sentence.
        target: tokens of each target sentence.

    Returns:
        A list of `Product`; each belongs to one of `PARTS`.

    Example:
        >>> from nlp104.figures.step_costs import products, step_flops
        >>> from nlp104.transformer import TransformerConfig
        >>> config = TransformerConfig(512, 2048, 8, vocabulary_size=37_000)
        >>> largest = max(products(config, 64, 32, 32), key=lambda product: product.flops)
        >>> largest.part, round(largest.intensity)
        ('vocabulary', 203)
        >>> round(step_flops(config, 64, 32, 32) / 1e12, 2)
        0.78
    """
    d, ff, heads = config.hidden_dim, config.intermediate_dim, config.num_heads
    layers, found = config.num_layers, []

    def attention(name, queries, keys):
        asked, seen = rows * queries, rows * keys
        found.append(Product(PARTS[0], f"{name}: Q, output", 2 * layers, asked, d, d))
        found.append(Product(PARTS[0], f"{name}: K, V", 2 * layers, seen, d, d))
        tables = layers * rows * heads
        found.append(Product(PARTS[1], f"{name}: scores", tables, queries, d // heads, keys))
        found.append(Product(PARTS[1], f"{name}: mixture", tables, queries, keys, d // heads))

    attention("encoder", source, source)
    attention("decoder", target, target)
    attention("cross", target, source)
    for name, length in (("encoder", source), ("decoder", target)):
        found.append(Product(PARTS[2], f"{name}: expand", layers, rows * length, d, ff))
        found.append(Product(PARTS[2], f"{name}: contract", layers, rows * length, ff, d))
    found.append(Product(PARTS[3], "logits", 1, rows * target, d, config.vocabulary_size))
    return found


def step_flops(config, rows, source, target):
    """Floating-point operations of one step of training; see `products`."""
    forward = sum(product.flops for product in products(config, rows, source, target))
    return (1 + BACKWARD) * forward


def kept(config, rows, source, target, fused=False):
    """The numbers that the forward pass keeps for the backward pass.

    What a product or a norm takes in, each thing once, without dropout's masks: for each token and
    sub-layer its input, its sum with the skip connection and what the norm makes of that; the
    queries, keys, values and mixtures of an attention, and its table of weights; the inner units of
    a network. And the logits, with their gradient.

    Args:
        config: `nlp104.transformer.TransformerConfig`.
        rows: sentences in the batch.
        source: tokens of each source sentence.
        target: tokens of each target sentence.
        fused: whether attention computes its tables anew instead of keeping them.

    Returns:
        How many numbers ``"vectors"``, ``"tables"`` and ``"logits"`` have, as a dictionary.

    Example:
        >>> from nlp104.figures.step_costs import kept
        >>> from nlp104.transformer import TransformerConfig
        >>> config = TransformerConfig(512, 2048, 8, vocabulary_size=37_000)
        >>> short, long = kept(config, 64, 32, 32), kept(config, 4, 512, 512)
        >>> long["tables"] // short["tables"], long["vectors"] // short["vectors"]
        (16, 1)
    """
    d, ff, layers = config.hidden_dim, config.intermediate_dim, config.num_layers
    attention, network = 6 * d, 2 * d + ff  # Q, K, V, mixture, or the inner units; sum and norm
    encoder = source * (attention + network)
    decoder = target * (attention + 4 * d + network) + source * 2 * d
    pairs = source * source + target * target + target * source
    return {
        "vectors": rows * (layers * (encoder + decoder) + d * (source + target)),
        "tables": 0 if fused else rows * layers * config.num_heads * pairs,
        "logits": 2 * rows * target * config.vocabulary_size,
    }


def roof(intensity, peak, bandwidth):
    """The most operations per second at an arithmetic intensity (Williams et al., 2009).

    Args:
        intensity: operations for each byte.
        peak: operations per second that the device can do.
        bandwidth: bytes per second that it can move.

    Returns:
        Operations per second.

    Example:
        >>> from nlp104.figures.step_costs import roof
        >>> [roof(intensity, peak=200, bandwidth=20) for intensity in (1, 10, 100)]
        [20, 200, 200]
    """
    return min(peak, intensity * bandwidth)

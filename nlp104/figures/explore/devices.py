"""Many devices: which slice of every matrix each of them holds, and what they tell each other."""

import re
from math import prod

from nlp104.figures.drawing import Drawing
from nlp104.figures.explore.explorable import Explorable
from nlp104.figures.explore.shapes import WORDS
from nlp104.training.distribution import slices_of
from nlp104.transformer import PRESETS, TransformerConfig

GRIDS = {"one": (1, 1), "rows": (8, 1), "both": (2, 4), "slices": (1, 8)}
SIZES = ("tiny", "base", "big")
TOKENS = (2_048, 25_000)  # of a batch, in each language; 25,000 are the paper's
NUMBER = 4  # bytes of a float32
# The matrices as they are drawn: their name, the colours of their parts, the axis that is cut.
MATRICES = (
    ("E", ("ink",), 0),  # embeddings and output: a row for each word
    ("QKV", ("q", "k", "v"), 1),  # a column for each number of a head
    ("$W_O$", ("r",), 0),
    ("$W_1$", ("r",), 1),
    ("$W_2$", ("r",), 0),
)
ALT = (
    "Eight devices in two rows of four. In each, the matrices of the Transformer as outlines, with "
    "the slice filled that the device holds: the four of a row hold four different quarters, and "
    "the two of a column the same one. Of base, one device alone would hold {one} MB of weights; "
    "here each holds {each} MB, beside gradients of the same size and twice as much for Adam."
)


def devices():
    """Eight devices that train one Transformer: what each holds, and what it sends in a step.

    The reader divides the eight among the rows of the batch and the slices of the matrices, and
    goes through one step of training. The slices are those of `make_distribution`.

    Returns:
        An object that a notebook displays; ``save(path)`` writes a page of its own.

    Example:
        >>> from nlp104.figures import explore
        >>> explore.devices().data["sizes"]["base"]["heads"]
        8
    """
    sizes = {}
    for name in SIZES:
        config = config_of(name)
        grids = {key: None if config.num_heads % m else ledger(config, r, m, TOKENS)
                 for key, (r, m) in GRIDS.items()}  # fmt: skip
        sizes[name] = {
            "heads": config.num_heads,
            "ff": config.intermediate_dim,
            "layers": config.num_layers,
            "words": config.vocabulary_size,
            "grids": grids,
        }
    data = {
        "grids": GRIDS,
        "tokens": TOKENS,
        "matrices": MATRICES,
        "sizes": sizes,
        "start": {"grid": "rows", "size": "base", "tokens": TOKENS[0], "device": 0},
    }
    held = {key: round(sizes["base"]["grids"][key]["held"] / 1e6) for key in ("one", "both")}
    alt = ALT.format(one=held["one"], each=held["both"])
    return Explorable("devices", "Who holds what, and who tells whom", data, _still(), alt)


def config_of(name):
    """The configuration of a preset, with the vocabulary that it has in figures."""
    return TransformerConfig(vocabulary_size=WORDS[name], **PRESETS[name])


def weights(config):
    """All weights of a Transformer with sinusoidal positions.

    Returns:
        For each the end of its path, its shape, and how many of its kind there are.
    """
    d, ff, words = config.hidden_dim, config.intermediate_dim, config.vocabulary_size
    heads, width, layers = config.num_heads, config.key_dim, config.num_layers
    attention = [
        *((f"attention/{name}_kernel", (d, heads, width)) for name in ("query", "key", "value")),
        *((f"attention/{name}_bias", (heads, width)) for name in ("query", "key", "value")),
        ("attention/output_kernel", (heads, width, d)),
        ("attention/output_bias", (d,)),
    ]
    network = [
        ("feed_forward/expand/kernel", (d, ff)),
        ("feed_forward/expand/bias", (ff,)),
        ("feed_forward/contract/kernel", (ff, d)),
        ("feed_forward/contract/bias", (d,)),
    ]
    norm = [("normalization/gamma", (d,)), ("normalization/beta", (d,))]
    table = {
        "encoder_embedding/embeddings": (config.source_vocabulary_size or words, d),
        "decoder_embedding/embeddings": (words, d),
        "output_head/output_kernel": (d, words),
    }
    if config.tie_embeddings:  # one matrix, as wide as both vocabularies
        table = {"decoder_embedding/embeddings": (words, d)}
    table["output_head/output_bias"] = (words,)
    return [
        *((path, shape, 3 * layers) for path, shape in attention),
        *((path, shape, 2 * layers) for path, shape in network),
        *((path, shape, 5 * layers) for path, shape in norm),
        *((path, shape, 1) for path, shape in table.items()),
    ]


def held(config, slices):
    """How many of the weights each device holds."""
    patterns = slices_of(config, slices) if slices > 1 else {}
    return sum(
        times * prod(shape) // (slices if _cut(patterns, path) else 1)
        for path, shape, times in weights(config)
    )


def ledger(config, rows, slices, tokens):
    """What a device holds and what it sends in one step of training, in bytes.

    A sum over n devices costs each of them 2(n − 1)/n times its size if they stand in a ring
    (Patarasuk and Yuan, 2009, https://doi.org/10.1016/j.jpdc.2008.09.002). Devices of one row sum
    what a sub-layer gives on the way forward, and on the way back the gradient of each of its
    inputs (Shoeybi et al., 2019, section 3); those of one column sum the gradients of their slices.

    Args:
        config: `nlp104.transformer.TransformerConfig`.
        rows: among how many devices the batch is divided.
        slices: among how many the matrices are.
        tokens: sizes of batches, in tokens of each language.

    Returns:
        A dictionary with ``held``, the bytes of the weights; ``vocabulary``, whether it is cut; and
        ``sent``, for each of `tokens` the bytes sent in each exchange: the embeddings, the
        attentions, the networks, the loss, the way back, the gradients.

    Example:
        >>> from nlp104.figures.explore.devices import config_of, ledger
        >>> alone, together = (ledger(config_of("base"), 1, m, [2_048])["held"] for m in (1, 8))
        >>> round(alone / together, 1)
        8.0
    """
    kept = NUMBER * held(config, slices)
    path, *_ = weights(config)[-1]
    cut = slices > 1 and _cut(slices_of(config, slices), path)
    layers = config.num_layers
    sent = []
    for count in tokens:
        one = ring(slices) * NUMBER * count / rows  # one number for each token of a language
        vector = one * config.hidden_dim
        sent.append(
            [
                cut * 2 * vector,
                3 * layers * vector,
                2 * layers * vector,
                cut * 4 * one,  # the greatest logit, two sums, and the right word's logit
                (6 * layers + cut) * vector,  # cross-attention has two inputs; the output has one
                ring(rows) * kept,
            ]
        )
    return {"held": kept, "vocabulary": cut, "sent": [[round(x) for x in row] for row in sent]}


def ring(devices):
    """How often each device sends a sum's size until all have the sum."""
    return 2 * (devices - 1) / devices


def _cut(patterns, path):
    return any(re.fullmatch(pattern, f"model/{path}") for pattern in patterns)


def _still():
    """Two rows of four devices, each with its slices of the five matrices."""
    rows, slices = GRIDS["both"]
    drawing, left, wide, high, line = Drawing(330), 54, 60, 20, 26
    for row in range(rows):
        top = 20 + row * (line * len(MATRICES) + 34)
        drawing.text(0, top, f"row {row + 1}", muted=True)
        for slice_ in range(slices):
            x = left + slice_ * (wide + 9)
            drawing.text(x + wide / 2, top, f"device {slices * row + slice_ + 1}", anchor="middle")
            for number, (_, colours, axis) in enumerate(MATRICES):
                y, part = top + 14 + number * line, high / len(colours)
                place = {"x": x, "y": y, "width": wide, "height": high}
                drawing.add("rect", **place, class_="s-edge", fill="none")
                for k, concept in enumerate(colours):
                    if axis:
                        place = {"x": x + slice_ * wide / slices, "width": wide / slices}
                        place |= {"y": y + k * part, "height": part - 0.5}
                    else:
                        place = {"x": x, "width": wide, "height": high / slices}
                        place |= {"y": y + slice_ * high / slices}
                    drawing.add("rect", **place, class_=f"f-{concept}")
        for number, (name, *_) in enumerate(MATRICES):
            y = top + 14 + high / 2 + number * line
            drawing.text(0, y, name.strip("$"), size=13, maths="_" in name)
    return drawing.svg(20 + rows * (line * len(MATRICES) + 34))

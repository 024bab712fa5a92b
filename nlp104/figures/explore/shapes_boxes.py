"""The boxes of the Transformer in symbols: what each takes, gives, holds and multiplies.

A shape is a word with a letter for each axis: ``"BSD"`` is `[batch, source, d]`. `shapes.measure`
and the scene's ``measures.js`` put numbers in the place of the letters. `**…**` is strong, `[k|…]`
has the colour of a concept, `{D}` is a size; ``player/text.js`` and the scene read them.
"""

from typing import NamedTuple

LENGTHS = (5, 6, 7, 8, 10, 12, 16, 20, 25, 30, 40, 50, 60, 80, 100, 160, 320, 640, 1280)
# Letter: its name in an address, what stands above its fader, what can be chosen.
SIZES = {
    "B": ("batch", "batch", (1, 2, 3, 4, 8, 16, 32, 64, 128, 256, 512)),
    "S": ("source", "source", LENGTHS),
    "T": ("target", "target", LENGTHS),
    "D": ("d", "$d$", (32, 64, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048)),
    "H": ("heads", "heads", (1, 2, 3, 4, 6, 8, 12, 16, 32)),
    "F": ("ff", "$d_{ff}$", (64, 80, 128, 256, 512, 768, 1024, 2048, 3072, 4096, 8192)),
    "N": ("layers", "layers", (1, 2, 3, 4, 6, 8, 12, 24)),
    "V": ("words", "words", (50, 100, 250, 650, 2000, 8000, 15_000, 37_000, 64_000, 256_000)),
    "E": ("tied", "tied", (0, 1)),  # one matrix for source, target and output
}
KINDS = {  # in this order, with their colours
    "embed, output": "ink",
    "attention": "a",
    "feed-forward": "r",
    "norms": "edge",
}
EMBEDDING, ATTENTION, FEED_FORWARD, NORMALISATION = range(4)


class Box(NamedTuple):
    """One box. Its arrays are groups of one shape: words, the shape, a colour for each array.

    Attributes:
        stack: 0 for the encoder, 1 for the decoder, 2 for what stands on top.
        name: what stands beside it.
        title: what it is.
        says: what is to be seen.
        takes: its inputs.
        gives: its outputs.
        holds: its parameters; those with a True behind are another box's when tied.
        kind: which of `KINDS` they are.
        products: its multiply-adds: an axis for each index of a product of matrices.
        layer: whether it is a part of a layer, which is there N times.
    """

    stack: int
    name: str
    title: str
    says: str
    takes: tuple = ()
    gives: tuple = ()
    holds: tuple = ()
    kind: int = EMBEDDING
    products: tuple = ()
    layer: bool = True


def _one(shape):
    return (("", shape, "r"),)


def _attention(stack, title, own, other, says):
    """Three boxes: the heads' vectors, the weights, and what comes out."""
    x, y, heads, context = f"B{own}D", f"B{other}D", f"BH{own}K", f"BH{other}K"
    weights, scores = f"BH{own}{other}", ("", f"B{own}{other}D", "a")  # H K = D
    together = own == other
    return (
        Box(
            stack, "Q K V", f"{title}: Q, K, V", says[0],
            _one(x) if together else _one(x) + _one(y),
            (("[q|Q] [k|K] [v|V]", heads, "qkv"),) if together
            else (("[q|Q]", heads, "q"), ("[k|K] [v|V]", context, "kv")),
            (("$W_Q$ $W_K$ $W_V$", "DD", "qkv"), ("$b_Q$ $b_K$ $b_V$", "D", "qkv")),
            ATTENTION, (("", f"{x}D", "q"), ("", f"{y}D", "kv")),
        ),
        Box(
            stack, "weights", f"{title}: weights", says[1],
            (("[q|Q] [k|K]", heads, "qk"),) if together
            else (("[q|Q]", heads, "q"), ("[k|K]", context, "k")),
            (("", weights, "a"),), (), ATTENTION, (scores,),
        ),
        Box(
            stack, "joined", f"{title}: heads joined", says[2],
            (("", weights, "a"), ("[v|V]", context, "v")), _one(x),
            (("$W_O$", "DD", "a"), ("$b_O$", "D", "a")), ATTENTION,
            (scores, ("", f"{x}D", "a")),
        ),
    )  # fmt: skip


def _norm(stack, length, around, says):
    x = f"B{length}D"
    return Box(
        stack, "+ norm", f"residual + norm: {around}", says, (("2 ×", x, "rr"),), _one(x),
        (("$γ$ $β$", "D", "rr"),), NORMALISATION,
    )  # fmt: skip


def _feed_forward(stack, length, says):
    x, inside, tower = f"B{length}D", f"B{length}F", ("encoder", "decoder")[stack]
    return (
        Box(stack, "FFN W₁", f"{tower} feed-forward: inside", says[0], _one(x), _one(inside),
            (("$W_1$", "DF", "r"), ("$b_1$", "F", "r")), FEED_FORWARD, _one(f"{x}F")),
        Box(stack, "FFN W₂", f"{tower} feed-forward: back", says[1], _one(inside), _one(x),
            (("$W_2$", "FD", "r"), ("$b_2$", "D", "r")), FEED_FORWARD, _one(f"{inside}D")),
    )  # fmt: skip


def _ids(stack, length, title, says, shared):
    ids, x = _one(f"B{length}"), _one(f"B{length}D")
    table = (("$E$", "VD" if shared else "UD", "r", shared),)
    return (
        Box(stack, "ids", f"{title} ids", says[0], (), ids, layer=False),
        Box(stack, "embed", f"{title} embedding", says[1], ids, x, table, layer=False),
    )


BOXES = (
    *_ids(0, "S", "source", (
        "A rectangle of whole numbers, one for each token. It has no width yet: a thin line.",
        "Each id fetches its row of $E$, {D} numbers wide, and a position is added. Nothing is "
        "multiplied with a matrix; sines and cosines cost no parameters.",
    ), False),
    *_attention(0, "self-attention", "S", "S", (
        "Three products. Each result is cut into heads, {H} slices of {D} ÷ {H} = {K}. What would "
        "twice as many heads cost?",
        "Every token looks at every token, in every head. Nothing is learned here. Make the source "
        "twice as long: this becomes **four times** as large.",
        "The weights mix the values, the heads are joined, and $W_O$ makes of it what fits the "
        "input: {D} wide.",
    )),
    _norm(0, "S", "attention",
          "What came in plus what came out, normalised. The sum asks for equal shapes."),
    *_feed_forward(0, "S", (
        "The one place in a layer that is wider: {F} numbers for each token.",
        "And back to {D}. A layer gives the shape that it takes, so {N} of them can be stacked.",
    )),
    _norm(0, "S", "feed-forward",
          "After layer {N} this is the **context**. Every decoder layer reads the same."),
    *_ids(1, "T", "target", (
        "The translation as far as it goes. It has a length of its own: {T} beside {S}.",
        "As wide as the source's vectors, {D}.",
    ), True),
    *_attention(1, "causal attention", "T", "T", (
        "The engine of the encoder again, over {T} target tokens.",
        "A square of {T} × {T} for each head. The causal mask sets nearly half of it to zero; it "
        "takes its room all the same.",
        "Back to [batch, target, d]. No weight of it has a length in its shape: the same weights "
        "serve 5 tokens and 500.",
    )),
    _norm(1, "T", "causal attention", "The sum again, over {T} target tokens."),
    *_attention(1, "cross-attention", "T", "S", (
        "Queries come from the target, keys and values from the context: two lengths in one box.",
        "[batch, heads, target, source]: {T} rows, {S} columns. Here both lengths meet, and "
        "nowhere else.",
        "The source's length is gone again: what comes out has the target's.",
    )),
    _norm(1, "T", "cross-attention", "Still [batch, target, d], whatever the source was."),
    *_feed_forward(1, "T", (
        "Wider once more, {F}, for each of {T} target tokens.",
        "Back to {D}, for the next layer or, after layer {N}, for the output.",
    )),
    _norm(1, "T", "the last one",
          "The last tensor of width {D}: since the embedding, every layer has given this shape."),
    Box(2, "logits", "logits", "A score for each of {V} words, at every place, for every sentence.",
        _one("BTD"), _one("BTV"), (("$W$", "DV", "r", True), ("$b$", "V", "r")), EMBEDDING,
        _one("BTDV"), False),
)  # fmt: skip
SAYS = {
    "stacks": (" (encoder)", " (decoder)", ""),
    "chapters": (("source", "encoder"), ("target", "decoder"), ("logits",)),
    "lead": "Move a fader: what becomes larger, and how many times? Or choose a size and step from "
    "ids to logits.",
    "first": "source",  # the fader that the page asks for
    "one": "tied: one matrix for three jobs",
    "two": "English {U}; ",  # the source has its own words
    "scale": ("one sentence of ", "height: tokens", "width: numbers"),
    "where": "where the parameters are",
    "rows": (
        "a row for each layer, with its matrices; below them embedding and output",
        "a row for each layer",
    ),
    "table": "Every box",
    "all": "Summed up",
    "start": "Ids go in below and come out on top as logits, through **{count} boxes**. Each is "
    "drawn as its output, to scale: [q|Q] [k|K] [v|V], [a|weights] and joined are attention, FFN "
    "is the feed-forward network. Below stand the matrices, **{parameters}** parameters in all. "
    "Move a fader, or step.",
    "end": "Largest output: **{largest}**, {next} the next. Most parameters: **{kind}**, {share}. "
    "No length and no number of heads occurs among the parameters: move these faders and see.",
    "misfit": "**{D} is not divisible by {H}**: each head would be {K} wide. The package says: "
    "“hidden_dim must be divisible by num_heads. Received: hidden_dim={D}, num_heads={H}.”",
    "none": "**not one parameter** more or less",
    "same": "No output has more numbers, or fewer.",
    "tied": "Tied: its matrix is the source's $E$ and costs nothing more.",
}

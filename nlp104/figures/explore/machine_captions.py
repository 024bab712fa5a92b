"""What the machine says: a caption for every step, and one for every box that is tapped.

`**…**` is strong, `[q|…]` has the colour of a concept; `player/text.js` reads both.
"""

from nlp104.figures.drawing import shown

STACKS = {  # the boxes of each tower from the bottom up; in the last layer they are sub-layers
    "enc": ["tok", "emb", "pos", "low", "self", "add1", "ffn", "add2"],
    "dec": [
        *("tok", "emb", "pos", "low", "self", "add1", "cross", "add2", "ffn", "add3", "out"),
    ],
}
# Kind of box: its title, shapes in and out, what it does, the beginning of the title of the chapter
# that teaches it. In these texts {x} is the shape of the vectors.
ABOUT = {
    "tok": (
        "Tokens",
        "text → {ids}",
        "Words and signs; each has its number in a list of {vocabulary}.",
        "Data, vocabulary, batches",
    ),
    "emb": (
        "Embedding",
        "{ids} → {x}",
        "Each number picks its row of a table that was learned.",
        "Words as vectors",
    ),
    "pos": (
        "Position",
        "{x} → {x}",
        "A [p|wave pattern], another at each place, is added. Without it the order is lost.",
        "Positions",
    ),
    "low": (
        "Below the open layer",
        "{x} → {x}",
        "The same boxes as in the open layer, with weights of their own.",
        "The blocks assembled",
    ),
    "self": (
        "Self-attention",
        "{x} → {x}",
        "Every word asks, every word answers: {n} × {n} weights in each of {heads} heads.",
        "From cross-attention to multi-head attention",
    ),
    "masked": (
        "Masked self-attention",
        "{x} → {x}",
        "One weight for each French word so far; those to come are hidden.",
        "Masks",
    ),
    "cross": (
        "Cross-attention",
        "{x} and {n} × {width} → {x}",
        "The [q|query] is French; [k|keys] and [v|values] are made of the memory.",
        "Projections and the pipeline",
    ),
    "add": (
        "Add, normalise",
        "twice {x} → {x}",
        "What went in is added to what came out; then each vector is brought to one scale.",
        "Skip connections and normalisation",
    ),
    "ffn": (
        "Feed-forward",
        "{x} → {x}",
        "Each vector by itself: {width} → {inner}, negative ones become 0, → {width}.",
        "The feed-forward network",
    ),
    "mem": (
        "Memory",
        "{x}",
        "Each cross-attention in each layer makes keys and values of it, with its own weights.",
        "The blocks assembled",
    ),
    "out": (
        "Linear, softmax",
        "{x} → 1 × {vocabulary}",
        "A score for each French word, then probabilities that add up to 1.",
        "The model",
    ),
}
ENCODER = ("tok", "emb", "pos", "low", "self", "add1", "ffn", "add2", "mem")
FIRST_TURN = ("pos", "low", "self", "cross", "ffn", "out")
TURN = ("pos", "self", "cross", "out")


def steps(data):
    """Where the vectors stop, and what is said there.

    Args:
        data: of `machine`.

    Returns:
        A list of ``{"tower", "box", "turn", "said"}``. The turn is -1 for the encoder, then the
        number of the token that the decoder reads. What is said is a text, or a list with one for
        each source token that may be followed.
    """
    read, write = _reading(data), range(len(data["target"]))
    stops = [{"tower": "enc", "box": box, "turn": -1, "said": read[box]} for box in ENCODER]
    for turn in write:
        said = _writing(data, turn)
        for box in TURN if turn else FIRST_TURN:
            stops.append({"tower": "dec", "box": box, "turn": turn, "said": said[box]})
    return stops


def _reading(data):
    """Captions of the encoder."""
    words, size, ids = data["source"], data["sizes"], data["ids"]["enc"]
    count, width, inner = len(words), size["width"], size["inner"]

    def looks(i):
        best = sorted(range(count), key=lambda j: -data["weights"]["enc"][i][j])[:3]
        parts = (
            f"{_weight(data['weights']['enc'][i][j])} of {'itself' if j == i else _bold(words[j])}"
            for j in best
        )
        return ", ".join(parts)

    return {
        "tok": [
            f"The sentence is cut into **{count}** tokens. Each is a number: {_bold(word)} is "
            f"number **{i}** in a list of {size['enc']}."
            for word, i in zip(words, ids, strict=True)
        ],
        "emb": f"The number picks a row of a table: **{width}** learned numbers. The first "
        f"{len(data['vectors']['enc']['emb'][0])} are drawn, upwards where positive.",
        "pos": "To each vector the [p|wave pattern] of its place is added. Now it tells which word "
        "it is, and where it stands.",
        "low": f"What lies below layer {size['layers']} is one box here: built alike, with weights "
        f"of its own. We open layer {size['layers']}.",
        "self": [
            f"{_bold(word)} looks at all {count} tokens and mixes them: {looks(i)} … "
            f"(means of {size['heads']} heads)."
            for i, word in enumerate(words)
        ],
        "add1": "What a word has found is added to what it was, by the wire past the box. Then "
        "every vector is brought to one scale.",
        "ffn": [
            f"Each vector by itself: {width} numbers → {inner}, negative ones become 0, → {width}. "
            f"For {_bold(word)}, **{alive}** of the {inner} are above 0."
            for word, alive in zip(words, data["alive"]["enc"], strict=True)
        ],
        "add2": f"Added, and brought to one scale again. **{count} × {width}** numbers leave the "
        "encoder.",
        "mem": "These vectors are the memory. The encoder is done, it runs **once**. For every "
        "French word the decoder comes back to them.",
    }


def _writing(data, turn):
    """Captions of one turn of the decoder."""
    words, size, top = data["target"], data["sizes"], data["top"][turn]
    word, weights = _bold(words[turn]), data["weights"]
    (first, chance), (second, less), *_ = top
    back = sorted(range(turn + 1), key=lambda j: -weights["dec"][turn][j])[:2]
    looks = ", ".join(
        f"{_weight(weights['dec'][turn][j])} of {'itself' if j == turn else _bold(words[j])}"
        for j in back
    )
    most = max(weights["cross"][turn])
    seen = _bold(data["source"][weights["cross"][turn].index(most)])
    captions = {
        "pos": f"{word} goes in at the bottom, and the decoder runs again. Keys and values of the "
        "words before are kept, not computed again.",
        "low": f"Layer 1 of the decoder looks at the memory, too. Again we open layer "
        f"{size['layers']}.",
        "self": f"{word} looks back, never ahead, and takes {looks}.",
        "cross": f"The [q|query] of {word} meets the [k|keys] of the memory. It looks at {seen} "
        f"with {_weight(most)} of 1, and takes over that much of its [v|value].",
        "ffn": f"Each vector by itself, as in the encoder. Here is only one, and "
        f"**{data['alive']['dec'][turn]}** of its {size['inner']} inner numbers are above 0.",
        "out": f"A score for each of {size['dec']} words; softmax makes them probabilities. After "
        f"{word}, {_bold(first)} wins with **{chance:.2f}**, then {_bold(second)} "
        f"with {probability(less)}.",
    }
    if not turn:
        captions["pos"] = (
            f"The decoder begins with one token, {word}: its row of the French table, and the "
            "[p|position] of the first place."
        )
        captions["self"] = f"{word} is alone: all of its attention, {_weight(1)}, stays with it."
    if first == "[END]":
        captions["out"] = (
            f"{_bold(first)} wins with **{chance:.2f}**: the sentence is finished. "
            f"**{data['written'][-1]}**"
        )
    return captions


def about(data):
    """What each box does, with shapes in and out, and the chapter that teaches it.

    Args:
        data: of `machine`.

    Returns:
        ``{"enc:tok": text, …, "mem": text}``.
    """
    sizes, n = data["sizes"], len(data["source"])

    def text(tower, kind):
        count = n if tower == "enc" else 1
        numbers = sizes | {
            "n": n,
            "x": f"{count} × {sizes['width']}",
            "ids": f"{count} id" + "s" * (count > 1),
            "vocabulary": sizes[tower],
        }
        title, shapes, does, chapter = ABOUT[kind]
        does = f"**{title}**, {shapes}. {does} See “{chapter}”."
        return does.format_map(numbers)

    texts = {
        f"{tower}:{box}": text(tower, kind(tower, box))
        for tower, boxes in STACKS.items()
        for box in boxes
    }
    return texts | {"mem": text("enc", "mem")}


def kind(tower, box):
    """The key of a box in `ABOUT`."""
    return "masked" if (tower, box) == ("dec", "self") else box.rstrip("123")


def probability(value):
    """A probability in words: two digits, or four if it is small."""
    return f"{value:.{4 if value < 0.01 else 2}f}"


def _bold(word):
    return f"**{shown(word)}**"


def _weight(value):
    return f"[a|**{value:.2f}**]"

"""Sizes in; shapes, parameters and arithmetic of every box of the Transformer out."""

from math import ceil, prod

from nlp104.figures.drawing import Drawing
from nlp104.figures.explore.explorable import Explorable
from nlp104.figures.explore.shapes_boxes import BOXES, KINDS, SAYS, SIZES
from nlp104.transformer import PRESETS

# The vocabularies of the presets: of the small language, of a small corpus, of the paper.
WORDS = {"tiny": 650, "small": 8_000, "base": 37_000, "big": 37_000}
# The reader begins with the batch and the sizes of the chapter that the figure stands in, whose
# languages have different vocabularies; the still shows another batch.
START, PAGE = {"batch": 3, "source": 8, "target": 7}, "this page"
PAGE_SIZES = {"d": 32, "heads": 4, "ff": 80, "layers": 2, "words": 628, "tied": 0, "english": 435}
BATCH = {"batch": 16, "source": 20, "target": 25}
WIDE = 310  # pixels, of the still
FIELDS = {"d": "hidden_dim", "heads": "num_heads", "ff": "intermediate_dim", "layers": "num_layers"}


def shapes():
    """The Transformer as its boxes, each with its tensor drawn to scale, at sizes to choose.

    The reader takes a preset or moves a fader, and sees what becomes larger, and how many times;
    then steps through the boxes in the order in which they compute. Vaswani et al. (2017), table 3.

    Returns:
        An object that a notebook displays; ``save(path)`` writes a page of its own.

    Example:
        >>> from nlp104.figures import explore
        >>> explore.shapes().data["presets"]["base"]["d"]
        512
    """
    sizes = {name: preset(name) for name in (PAGE, *WORDS)}
    data = {
        "sizes": [
            {"letter": letter, "name": name, "label": label, "notches": notches}
            for letter, (name, label, notches) in SIZES.items()
        ],
        "presets": sizes,
        "start": {"preset": PAGE, "was": "", **START, **sizes[PAGE]},
        "kinds": list(KINDS.items()),
        "boxes": [box._asdict() for box in BOXES],
        "says": SAYS,
    }
    made = measure(**BATCH, **sizes["base"])
    *_, after, largest = sorted(box["numbers"] for box in made)
    total = sum(box["parameters"] for box in made)
    alt = (
        "The tensors of the Transformer as rectangles, base at a batch of 16, sources of 20 and "
        "targets of 25 tokens. In both towers every vector is 512 numbers wide, and 2,048 inside "
        f"the feed-forward networks. The logits, {largest:,} numbers, are {largest / after:.0f} "
        f"times as large as the next. Of {total:,} parameters "
        + ", ".join(f"{share:.1%} are {kind}" for kind, share in shares(made).items())
        + "."
    )
    return Explorable("shapes", "Sizes in, shapes out", data, _still(made), alt)


def preset(name):
    """The sizes of a preset by the names that the figure has for them."""
    if name == PAGE:
        return dict(PAGE_SIZES)
    fields = PRESETS[name]
    sizes = {ours: fields[theirs] for ours, theirs in FIELDS.items()}
    tied = int(fields.get("tie_embeddings", False))
    return {**sizes, "words": WORDS[name], "tied": tied, "english": 0}


def measure(**sizes):
    """What every box is at some sizes, as the scene computes it, too.

    Args:
        **sizes: batch, source, target, d, heads, ff, layers, words, and whether one matrix is
            tied: the names in `SIZES`; and ``english``, the words of the source, if they are not as
            many as those of the target.

    Returns:
        A dictionary for each of `BOXES`, with its ``title``, the shapes that it ``takes`` and
        ``gives``, how many ``numbers`` it gives, and what it comes to in all layers:
        ``parameters`` and ``multiply_adds``.

    Raises:
        ValueError: The width is not divisible by the heads.
    """
    axes = {letter: sizes[name] for letter, (name, *_) in SIZES.items()}
    if axes["D"] % axes["H"]:
        raise ValueError(f"{axes['D']} is not divisible by {axes['H']}.")
    axes["K"] = axes["D"] // axes["H"]
    axes["U"] = (not axes["E"] and sizes.get("english")) or axes["V"]

    def shapes(groups):
        return [
            tuple(axes[letter] for letter in letters)
            for _, letters, colours, *_ in groups
            for _ in colours
        ]

    made = []
    for box in BOXES:
        times = axes["N"] if box.layer else 1
        own = [group for group in box.holds if not (axes["E"] and group[3:] == (True,))]
        made.append(
            {
                "title": box.title,
                "kind": box.kind,
                "takes": shapes(box.takes),
                "gives": shapes(box.gives),
                "numbers": sum(map(prod, shapes(box.gives))),
                "parameters": times * sum(map(prod, shapes(own))),
                "multiply_adds": times * sum(map(prod, shapes(box.products))),
            }
        )
    return made


def shares(made):
    """The share that each of `KINDS` has in all parameters."""
    total = sum(box["parameters"] for box in made)
    return {
        name: sum(box["parameters"] for box in made if box["kind"] == kind) / total
        for kind, name in enumerate(KINDS)
    }


def _still(made):
    """Both towers and the logits above them, to scale; below, where the parameters are."""
    drawing, width, pitch, line = Drawing(WIDE), WIDE, 18, 14
    long, words = made[-1]["gives"][0][1:]
    scale, token = 4 * width / words, 13 / max(BATCH.values())
    lines = ceil(words * scale / width)
    drawing.text(0, 8, f"logits: {long} × {words:,}, in {lines} lines", strong=True)
    for number in range(lines):
        end = min(width, words * scale - number * width)
        place = {"x": 0, "y": 20 + line * number, "width": end, "height": 12, "rx": 2}
        drawing.add("rect", **place, class_="f-r", fill_opacity=0.75)
    floor = 26 + line * lines + 12.5 * pitch
    for stack, middle in ((0, 98), (1, WIDE - 98)):
        boxes = [(box, at) for box, at in zip(BOXES, made, strict=True) if box.stack == stack]
        for row, (box, at) in enumerate(boxes):
            y = floor - row * pitch
            edge, anchor = (0, None) if stack == 0 else (width, "end")
            drawing.text(edge, y, box.name, muted=True, size=12, anchor=anchor)
            forms = [_form(shape) for shape in at["gives"]]
            x = middle - (sum(wide for _, wide in forms) * scale + 3 * (len(forms) - 1)) / 2
            concepts = "".join(colours for *_, colours in box.gives)
            for (long, wide), concept in zip(forms, concepts, strict=True):
                form = {"width": max(1.5, wide * scale), "height": long * token}
                drawing.add("rect", x=x, y=y - long * token / 2, **form, class_=f"f-{concept}")
                x += wide * scale + 3
    top = floor + 26
    drawing.text(0, top, f"{sum(box['parameters'] for box in made) / 1e6:.1f} M parameters")
    x = 0
    for concept, (kind, share) in zip(KINDS.values(), shares(made).items(), strict=True):
        drawing.add("rect", x=x, y=top + 14, width=share * width, height=14, class_=f"f-{concept}")
        if share > 0.01:
            drawing.text(x, top + 40, kind.split(",")[0], size=12)
            drawing.text(x, top + 57, f"{100 * share:.0f} %", size=12, strong=True)
        x += share * width
    return drawing.svg(top + 66)


def _form(shape):
    """Tokens and numbers for each token of a tensor, without its batch."""
    if len(shape) == 4:  # heads side by side
        return shape[2], shape[1] * shape[3]
    return shape[1], (*shape, 1)[2]

"""The family tree of the Transformer: which of its parts each relative keeps."""

from nlp104.figures.drawing import Drawing
from nlp104.figures.explore.explorable import Explorable
from nlp104.figures.explore.relatives import FAMILY, PARTS

LANES = ("encoder alone", "both stacks", "decoder alone")
ALT = (
    "A table of {count} networks from 2015 to 2020 and of what each keeps of the Transformer. "
    "Encoders alone, such as BERT and ViT, keep self-attention to both sides. Decoders alone, such "
    "as GPT, keep the mask. {cross} keep both stacks and cross-attention."
)


def family_tree():
    """What became of the Transformer in its first three years, as a tree to ask.

    The reader chooses a part and sees who keeps it, and taps a relative to see its machine: its
    parts lit, what it left out in grey; its size, its task, its parents. The papers are in the
    book's bibliography.

    Returns:
        An object that a notebook displays; ``save(path)`` writes a page of its own.

    Example:
        >>> from nlp104.figures import explore
        >>> models = explore.family_tree().data["models"]
        >>> [model["name"] for model in models if "c" in model["keeps"]]  # cross-attention
        ['Transformer', 'BART', 'T5', 'DETR']
    """
    names = [relative.name for relative in FAMILY]
    models = [
        {
            **relative._asdict(),
            "parent": names.index(relative.parent) if relative.parent else None,
            "machine": _machine(relative),
        }
        for relative in FAMILY
    ]
    parts = []
    for key, part in PARTS.items():
        keepers = [relative.name for relative in FAMILY if key in relative.keeps]
        says = f"**{len(keepers)}** of {len(FAMILY)} networks have {part.name}. {part.says}"
        parts.append({"key": key, "tab": part.tab, "concept": part.concept, "says": says})
    data = {"models": models, "parts": parts, "lanes": list(LANES)}
    cross = [relative.name for relative in FAMILY if "c" in relative.keeps]
    alt = ALT.format(count=len(FAMILY), cross=f"{', '.join(cross[:-1])} and {cross[-1]}")
    return Explorable("family_tree", "The family tree", data, _still(), alt)


def _machine(relative):
    """The boxes of both stacks from the bottom up: what stands in them, and whether it is kept."""
    keeps = relative.keeps
    encoder = "s" in keeps and relative.lane < 2
    decoder = "m" in keeps or "c" in keeps
    whole = relative.places[:3] != "in "  # more of the Transformer than an attention
    own = "masked attention" if "m" in keeps or not decoder else "self-attention"
    return [
        [["self-attention", encoder], ["feed-forward", encoder and whole]],
        [[own, decoder], ["cross-attention", "c" in keeps], ["feed-forward", decoder]],
    ]


def _still():
    """A row for each relative, a column for each part."""
    drawing, left, high = Drawing(360), 118, 22
    width = (360 - left) / len(PARTS)
    for column, part in enumerate(PARTS.values()):
        look = {"anchor": "middle", "size": 12, "concept": part.concept}
        for line, word in enumerate(part.tab.split()):
            drawing.text(left + (column + 0.5) * width, 8 + 14 * line, word, **look)
    for row, relative in enumerate(FAMILY):
        y = 38 + high * row
        drawing.text(0, y + high / 2, relative.name)
        drawing.text(left - 6, y + high / 2, f"’{relative.year % 100}", anchor="end", muted=True)
        for column, (key, part) in enumerate(PARTS.items()):
            place = left + column * width, y
            size = {"width": width, "height": high}
            drawing.cell(*place, float(key in relative.keeps), part.concept, most=1.0, **size)
    return drawing.svg(40 + high * len(FAMILY))

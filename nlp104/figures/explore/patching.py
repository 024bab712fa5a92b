"""Patching: vectors of one sentence are put into another, and the decoder writes on."""

import numpy as np
from keras import ops

from nlp104.data.tokenizer import END_ID, START_ID
from nlp104.figures.drawing import Drawing
from nlp104.figures.explore.explorable import Explorable

SENTENCE = "The {} did not cross the {} because it was too {}."
PLACES = (0, 1, 6, 8, 11)  # of The, the animal, the road, it and the adjective
OTHERS = "9 others"
WORDS = ("il", "elle")
# What the other sentence has; the words of the sentence that is translated, and of the other.
EXPERIMENTS = (
    ("wide for tired", ("animal", "street", "tired"), ("animal", "street", "wide")),
    ("another animal", ("animal", "street", "tired"), ("cow", "street", "tired")),
    ("another road", ("animal", "street", "wide"), ("animal", "path", "wide")),
)
LEAD = (
    "Tap a word: its vector is exchanged for that of the other sentence, and the decoder writes "
    "on. Which ones change its mind?"
)


def patching(translator):
    """Which of the encoder's vectors decides between *il* and *elle*?

    The reader exchanges vectors of *The animal did not cross the street because it was too tired.*
    for those of another sentence, any of them together, and sees what the decoder writes. For every
    choice the model has been asked here.

    Args:
        translator: `nlp104.translation.Translator` for the words of the book's grammar.

    Returns:
        An object that a notebook displays; ``save(path)`` writes a page of its own.

    Example:
        >>> import nlp104
        >>> from nlp104.figures import explore
        >>> made = explore.patching(nlp104.load_pretrained("grammar"))
        >>> made.data["experiments"][0]["mine"][4]
        'tired'
    """
    experiments = [_measure(translator, *experiment) for experiment in EXPERIMENTS]
    first = experiments[0]
    shares = [_told(first["shares"][mask]) for mask in (0, 16)]
    alt = (
        f"{SENTENCE.format(*EXPERIMENTS[0][1])} The decoder writes {shares[0]}. "
        f"With the vector of wide in the place of that of tired: {shares[1]}."
    )
    data = {"lead": LEAD, "experiments": experiments, "words": WORDS}
    return Explorable("patching", "Which vector decides?", data, _still(first), alt)


def subsets():
    """For each mask from 0 to 63 the places that it exchanges; its last bit are the others."""
    rest = [place for place in range(14) if place not in PLACES]
    groups = [[place] for place in PLACES] + [rest]
    return [
        [place for bit, group in enumerate(groups) if mask >> bit & 1 for place in group]
        for mask in range(2 ** len(groups))
    ]


def _measure(translator, name, mine, theirs):
    """What is written, and how probable il and elle are, for every set of exchanged vectors."""
    source, target = translator.source_tokenizer, translator.target_tokenizer
    texts = [SENTENCE.format(*words) for words in (mine, theirs)]
    ids = np.array([[*source.encode(text), END_ID] for text in texts])
    own, lent = ops.convert_to_numpy(translator.model.encode(ids))
    french = translator.translate(texts[:1])[0]
    begins, ends = french.split("qu'")[0] + "qu'", french.split(" était ")[1]
    masks = subsets()
    patched = np.repeat(own[None], len(masks), axis=0)
    for row, places in zip(patched, masks, strict=True):
        row[places] = lent[places]
    tokens = target.encode(french)
    begun = tokens[: tokens.index(target.token_to_id("qu'")) + 1]
    read = np.array([[START_ID, *begun]] * len(masks))
    p = ops.convert_to_numpy(ops.softmax(translator.model.decode(read, patched)[:, -1]))
    columns = [target.token_to_id(word) for word in WORDS]
    return {
        "name": name,
        "mine": _drawn(mine),
        "theirs": _drawn(theirs),
        "begins": begins,
        "ends": f"était {ends}",
        "shares": p[:, columns].astype("float64").round(3).tolist(),
    }


def _drawn(words):
    """What stands in the six rows."""
    animal, road, adjective = words
    return ["The", animal, road, "it", adjective, OTHERS]


def _told(shares):
    """The more probable word, in percent."""
    best = int(np.argmax(shares))
    return f"{WORDS[best]}, {100 * shares[best]:.0f} %"


def _still(first):
    """The vector of the adjective comes from the other sentence."""
    drawing, high = Drawing(360), 34
    drawing.text(0, 10, "the other sentence", muted=True)
    drawing.text(210, 10, "is translated", strong=True)
    for row, (mine, theirs) in enumerate(zip(first["mine"], first["theirs"], strict=True)):
        y, lent = 24 + high * row, row == 4
        drawing.tokens(0, y, [theirs], width=86, height=30)
        drawing.grid(92, y + 6, 1, 4, "r", width=12, height=18, strength=0.9)
        if lent:
            drawing.wire([(144, y + 15), (204, y + 15)], "r", arrow=True, strong=True)
        else:  # could be exchanged, too
            drawing.add("path", d=f"M144 {y + 15}h54", class_="frame s-edge")
            drawing.add("path", d=f"M198 {y + 11}l6 4l-6 4", class_="wire s-edge")
        look = {"width": 12, "height": 18, "strength": 0.9 if lent else 0.35}
        drawing.grid(210, y + 6, 1, 4, "r", **look)
        drawing.tokens(264, y, [mine], width=86, height=30)
    y = 24 + high * 6 + 14
    drawing.text(0, y, f"The decoder writes {_told(first['shares'][16])}.", strong=True)
    return drawing.svg(y + 16)

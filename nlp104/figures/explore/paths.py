"""How many steps a word's news takes to another word, in three kinds of layer."""

from nlp104.figures.drawing import Drawing
from nlp104.figures.explore.explorable import Explorable

SENTENCES = (
    "Who did you say she was waiting for",
    "Who did you say that your sister and all of her friends had been waiting for",
)
LAYERS = {  # how many words on a signal comes in a step; None: to all of them
    "recurrence": 1,
    "convolution, 3 wide": 1,
    "convolution, 5 wide": 2,
    "self-attention": None,
}
ALT = (
    "Eight words and the way from the first to the last. A recurrent network: a staircase of 7 "
    "steps, each of which waits for the one before. A convolution of width 5: 4 layers. "
    "Self-attention: 1 layer, in which every word is wired to every other."
)


def paths():
    """How many steps lie between two words: recurrence, convolution, self-attention.

    The reader chooses a kind of layer, taps the word that is to be reached, and follows the signal
    from the first word on, step by step, through time or layers. All kinds run at once beside it.
    Vaswani et al. (2017), table 1.

    Returns:
        An object that a notebook displays; ``save(path)`` writes a page of its own.

    Example:
        >>> from nlp104.figures import explore
        >>> explore.paths().data["sentences"][0][-1]
        'for'
    """
    data = {"sentences": [sentence.split() for sentence in SENTENCES], "reach": LAYERS}
    return Explorable("paths", "How far apart are two words?", data, _still(), ALT)


def _still():
    """The ways from the first of eight words to the last."""
    drawing, top, column = Drawing(360), 44, 14
    for number, (title, note, reach) in enumerate(
        (("recurrence", "7 steps", 1), ("convolution", "4 layers", 2), ("attention", "1 layer", 7))
    ):
        left, steps = 124 * number + 7, -(-7 // reach)
        places = [
            (left + column * word, top + 140 * step / steps, word <= step * reach)
            for step in range(steps + 1)
            for word in range(8)
            if reach > 1 or step in (0, word)  # a recurrent network computes one state at a time
        ]
        drawing.text(left + 49, 8, title, strong=True, anchor="middle")
        drawing.text(left + 49, 25, note, muted=True, anchor="middle")
        way = [(left + column * min(7, s * reach), top + 140 * s / steps) for s in range(steps + 1)]
        for word in range(7 if reach == 7 else 0):
            drawing.wire([way[0], (left + column * word, way[1][1])], "a")
        drawing.wire(way, "a" if reach == 7 else "ink", strong=True)
        for x, y, heard in places:
            look = {"class_": "f-ink"} if heard else {"class_": "f-r", "fill_opacity": 0.25}
            drawing.add("rect", x=x - 5, y=y - 4, width=10, height=8, rx=4, **look)
    return drawing.svg(192)

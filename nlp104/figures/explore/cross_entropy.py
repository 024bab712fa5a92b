"""One place of a translation: what is said, what is asked for, and where training pushes."""

import numpy as np

from nlp104.figures.drawing import Drawing
from nlp104.figures.explore.explorable import Explorable
from nlp104.figures.language import colour
from nlp104.utils.arguments import require_texts, require_whole

TITLE = "How sure is sure enough?"
SMOOTHINGS = (0.0, 0.1, 0.2, 0.3)
LOWEST, HIGHEST = -4.0, 8.0  # of the scores that a hand sets
STEPS, RATE = 100, 3.0  # below 4 it is steady: the loss bends by one half at most
PADDING = "[PAD]"
STILL = {"unsure": 0.4, "as sure as asked for": None, "too sure": 0.9999}  # the still, with ε = 0.1
ALT = (
    "Three bars, the loss of a place where {word} is right and is asked for with {asked}. If it "
    "gets {unsure}, the loss is {high}, nearly all of it for {word}; at {asked} it is lowest, "
    "{floor}; at {sure} it is {more}, all of it for the other words."
)


def cross_entropy(words, logits, source, target, place, smoothing=0.1):
    """What the loss of one place rewards: the reader pulls the scores, then training does.

    The bar of the loss ends on the curve of all that the place could cost. Arrows show what a step
    against the gradient, said minus asked for, does to each score: without smoothing the lead of
    the right word grows for ever, with it the lead comes to rest. At padding nothing is pushed.
    Szegedy et al. (2016), section 7.

    Args:
        words: all words that there are, two or more, each of them once.
        logits: their scores before the figure is touched, between -4 and 8.
        source: the sentence that is read.
        target: its translation; words are parted by spaces.
        place: which word of the translation is next, from 0 on.
        smoothing: the ε that is chosen first: 0, 0.1, 0.2 or 0.3.

    Returns:
        An object that a notebook displays; ``save(path)`` writes a page of its own.

    Raises:
        ValueError: There are not two different words, a score too many or too few or too far
            away, another smoothing, or the next word is not among them.

    Example:
        >>> from nlp104.figures import explore
        >>> words = ["chat", "chien", "noir"]
        >>> made = explore.cross_entropy(words, [1, 0.5, 0], "The black cat.", "Le chat noir.", 1)
        >>> made.data["words"][made.data["right"]]
        'chat'
        >>> made.alt.rpartition("; ")[2]
        'at 0.9999 it is 0.66, all of it for the other words.'
    """
    require_texts(words=words)
    (place,) = require_whole(place=place)
    words, logits = list(words), np.asarray(logits, dtype="float64")
    written = target.split()
    if len(words) < 2 or len(set(words)) < len(words):
        raise ValueError(f"Expected two or more different words. Received: {words}.")
    if logits.shape != (len(words),):
        raise ValueError(f"Expected {len(words)} scores. Received: shape {logits.shape}.")
    if not np.all((logits >= LOWEST) & (logits <= HIGHEST)):
        raise ValueError(f"Expected scores from {LOWEST:g} to {HIGHEST:g}. Received: {logits}.")
    if smoothing not in SMOOTHINGS:
        raise ValueError(f"Expected a smoothing of {SMOOTHINGS}. Received: {smoothing}.")
    if place >= len(written) or written[place] not in words:
        raise ValueError(f"Expected the place of one of {words} in {target!r}. Received: {place}.")
    data = {
        "words": words,
        "right": words.index(written[place]),
        "padding": words.index(PADDING) if PADDING in words else -1,
        "logits": logits.tolist(),
        "source": source,
        "target": target,
        "written": " ".join(written[:place]),
        "smoothing": round(100 * smoothing),
        "smoothings": [round(100 * each) for each in SMOOTHINGS],
        "steps": STEPS,
        "rate": RATE,
    }
    lines = list(_lines(len(words)))
    still, alt = _still(written[place], lines), _alt(written[place], lines)
    return Explorable("cross_entropy", TITLE, data, still, alt)


def _lines(count):
    """For each line of the still: what is said, what is asked for, both parts of the loss."""
    asked = 1 - SMOOTHINGS[1] + SMOOTHINGS[1] / count
    for said in STILL.values():
        said = said or asked
        others = -(1 - asked) * np.log((1 - said) / (count - 1))
        yield said, asked, -asked * np.log(said), others


def _share(p):
    """As the page writes it: close to 1 the digits matter."""
    return f"{p:.{4 if p > 0.995 else 2}f}"


def _alt(word, lines):
    """The still in words."""
    (unsure, asked, *high), (_, _, *floor), (sure, _, *more) = lines
    costs = {"high": high, "floor": floor, "more": more}
    return ALT.format(
        word=word,
        unsure=_share(unsure),
        asked=_share(asked),
        sure=_share(sure),
        **{name: f"{sum(parts):.2f}" for name, parts in costs.items()},
    )


def _still(word, lines):
    """Three answers, each with what it costs for the right word and for the others."""
    drawing, most = Drawing(360), max(sum(parts) for _, _, *parts in lines)
    said_colour, asked_colour, loss_colour = (
        f"fill:{colour(f'{name}-line')}" for name in ("s1", "s2", "s4")
    )
    for row, (name, (said, asked, right, others)) in enumerate(zip(STILL, lines, strict=True)):
        y, unit = 10 + 92 * row, 300 / most
        drawing.text(0, y, f"{name}: {word} gets {_share(said)}", strong=True)
        drawing.add("rect", x=0, y=y + 14, width=300, height=14, rx=2, class_="box")
        drawing.add("rect", x=0, y=y + 14, width=300 * said, height=14, rx=2, style=said_colour)
        drawing.add("rect", x=300 * asked - 1.5, y=y + 11, width=3, height=20, style=asked_colour)
        bar = {"y": y + 40, "height": 18, "style": loss_colour}
        drawing.add("rect", x=0, width=unit * right, **bar)
        drawing.add("rect", x=unit * right, width=unit * others, fill_opacity=0.35, **bar)
        drawing.text(unit * (right + others) + 8, y + 49, f"{right + others:.2f}")
    y += 82
    for x, style, opacity, told in (
        (0, said_colour, 1, "said"),
        (58, asked_colour, 1, "asked for"),
        (148, loss_colour, 1, f"loss for {word}"),
        (262, loss_colour, 0.35, "for others"),
    ):
        drawing.add("rect", x=x, y=y - 6, width=12, height=12, style=style, fill_opacity=opacity)
        drawing.text(x + 17, y, told)
    return drawing.svg(y + 14)

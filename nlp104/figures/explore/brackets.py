"""A tree as brackets, read token by token: which phrases are open, and which are done."""

from nlp104.figures.drawing import Drawing
from nlp104.figures.explore.explorable import Explorable

TITLE = "Brackets, and what is open"
STEP = 6  # of the first sentence, at which the figure stands before it is touched
ALT = (
    "The tokens {tokens}. After {count} of them {words} are read. Open, the last put on last: "
    "{open}."
)


def brackets(sentences, step=STEP):
    """What a reader of brackets remembers: the pile of the phrases that are open.

    An opening bracket puts a phrase on the pile, a part of speech takes the next word into it, and
    a closing bracket has to name the phrase that was put on last. Nothing makes whoever writes the
    brackets obey: a sequence that cannot be read is followed as far as it can.

    Args:
        sentences: from a name to the words and the tokens, each a text with blanks in it.
        step: how many tokens of the first are read before the figure is touched.

    Returns:
        An object that a notebook displays; ``save(path)`` writes a page of its own.

    Raises:
        ValueError: There is no sentence, or one has no words or no tokens.

    Example:
        >>> from nlp104.figures import explore
        >>> it = explore.brackets({"it": ("It sleeps .", "(S (NP PRP )NP (VP VBZ )VP . )S")})
        >>> len(it.data["sentences"][0]["tokens"])
        9
    """
    if not sentences:
        raise ValueError("Expected at least one sentence. Received: none.")
    told = [
        {"name": name, "words": words.split(), "tokens": tokens.split()}
        for name, (words, tokens) in sentences.items()
    ]
    for one in told:
        if not (one["words"] and one["tokens"]):
            raise ValueError(f"Expected words and tokens in each sentence. Received: {one}.")
    first = told[0]
    step = min(step, len(first["tokens"]))
    opened, place = _read(first["tokens"][:step])
    alt = ALT.format(
        tokens=" ".join(first["tokens"]),
        count=step,
        words=" ".join(first["words"][:place]) or "no words",
        open=", ".join(opened) or "no phrases",
    )
    still = _still(first, step, opened, place)
    return Explorable("brackets", TITLE, {"sentences": told, "step": step}, still, alt)


def _read(tokens):
    """The names of the open phrases, and how many words are read."""
    opened, place = [], 0
    for token in tokens:
        if token.startswith("("):
            opened.append(token[1:])
        elif not token.startswith(")"):
            place += 1
        elif opened[-1:] == [token[1:]]:
            opened.pop()
        else:
            break
    return opened, place


def _still(sentence, step, opened, place):
    """The tokens, the pile of open phrases, and the words that are read."""
    drawing, x, y, high = Drawing(360), 0, 0, 26
    for number, token in enumerate(sentence["tokens"]):
        wide = 9 * len(token) + 14
        if x + wide > 360:
            x, y = 0, y + high
        drawing.tokens(
            x, y, [token], width=wide, height=high, chosen=0 if number == step - 1 else None
        )
        x += wide + 2
    y += high + 26
    drawing.text(0, y, "open, the last on top", muted=True)
    for number, label in enumerate(reversed(opened)):
        drawing.box(0, y + 14 + 30 * number, 90, 26, label, lit=number == 0)
    y += 30 * len(opened) + 34
    drawing.text(0, y, " ".join(sentence["words"][:place]), strong=True)
    return drawing.svg(y + 14)

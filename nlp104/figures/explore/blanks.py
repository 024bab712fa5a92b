"""Words that a reader hides: what a model puts there, and what each word tells it of the other."""

from nlp104.figures.drawing import Drawing
from nlp104.figures.explore.explorable import Explorable

TITLE = "Hide a word, or two"
ALT = "{text} In the blank the model says {best}. {own} stood there: {share}, place {place}."


def blanks(sentences, vocabulary):
    """What a masked language model says, whichever one or two words are hidden from it.

    The reader taps words. With two of them hidden, a mark in each bar tells what the model said
    when only that word was: so one sees what one word knows of the other.

    Args:
        sentences: dictionaries, such as ``experiments.blanks`` records: ``name``, of the sentence;
            ``words``, in order; ``opens``, the choices of places that the figure itself goes
            through; and ``answers``. These have for each choice of one or two places, such as
            ``"3"`` and ``"1,3"``, and for each place in it: ``best``, pairs of a word and its
            probability, the likeliest first; ``own``, the probability of the word that stood
            there; and ``place``, its place in the order of all, from 1. A word that stands in no
            choice cannot be hidden.
        vocabulary: how many words the model chooses from.

    Returns:
        An object that a notebook displays; ``save(path)`` writes a page of its own.

    Raises:
        ValueError: There is no sentence, or one opens on places of which it has no
            answers.

    Example:
        >>> from nlp104.figures import explore
        >>> said = {"best": [["sleeps", 0.4], ["is", 0.1]], "own": 0.02, "place": 7}
        >>> it = {"name": "it", "words": ["It", "rains"], "opens": [[1]], "answers": {"1": [said]}}
        >>> explore.blanks([it], vocabulary=4000).alt
        'It ___ In the blank the model says sleeps 40%, is 10%. rains stood there: 2%, place 7.'
    """
    if not sentences:
        raise ValueError("Expected at least one sentence. Received: none.")
    for one in sentences:
        keys = [_key(places) for places in one["opens"]]
        if not keys or not set(keys) <= set(one["answers"]):
            raise ValueError(
                f"Expected `opens` to be some of the choices {'; '.join(one['answers'])}. "
                f"Received: {'; '.join(keys) or 'none'}, in {one['name']!r}."
            )
    first = sentences[0]
    words, opened = first["words"], first["opens"][0]
    place, said = opened[0], first["answers"][_key(opened)][0]
    alt = ALT.format(
        text=" ".join("___" if i in opened else word for i, word in enumerate(words)),
        best=", ".join(f"{word} {share:.0%}" for word, share in said["best"]),
        own=words[place],
        share=f"{said['own']:.0%}",
        place=said["place"],
    )
    data = {"sentences": sentences, "vocabulary": vocabulary}
    return Explorable("blanks", TITLE, data, _still(first, said), alt)


def _key(places):
    """The name of a choice of places."""
    return ",".join(map(str, sorted(places)))


def _still(sentence, said):
    """The sentence with its first blank, and bars of what could stand there."""
    drawing, x, y, high = Drawing(360), 0, 0, 28
    for place, word in enumerate(sentence["words"]):
        text = "[blank]" if place in sentence["opens"][0] else word
        wide = 8.4 * len(word) + 16
        if x + wide > 360:
            x, y = 0, y + high
        drawing.tokens(x, y, [text], width=wide, height=high)
        x += wide + 2
    y += high + 24
    for word, share in said["best"]:
        drawing.text(96, y, word, anchor="end")
        long = 180 * share / said["best"][0][1]
        drawing.add("rect", x=104, y=y - 7, width=long, height=14, rx=3, class_="f-v")
        drawing.text(110 + long, y, f"{share:.0%}")
        y += 24
    return drawing.svg(y)

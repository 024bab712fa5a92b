"""What BLEU sees: the groups of words that a translation shares with the reference."""

from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

from nlp104.figures.drawing import Drawing
from nlp104.figures.explore.explorable import Explorable

SOURCE = "We followed a brave elephant because we were very curious."
REFERENCE = "Nous avons suivi un éléphant courageux parce que nous étions très curieux."
# A name, the translation, and what somebody who knows French says of it.
TRANSLATIONS = (
    ("right", REFERENCE, "It is right."),
    (
        "une",
        "Nous avons suivi une éléphant courageux parce que nous étions très curieux.",
        "One article has the wrong gender.",
    ),
    (
        "stop",
        "Nous avons suivi un éléphant courageux parce que nous étions très curieux",
        "A full stop is missing. Hardly anybody minds.",
    ),
    (
        "fort",
        "Nous avons suivi un éléphant courageux car nous étions fort curieux.",
        "It is right, too: other words, the same meaning.",
    ),
    (
        "not",
        "Nous n'avons pas suivi un éléphant courageux parce que nous étions très curieux.",
        "It says the opposite: we did **not** follow it.",
    ),
    (
        "order",
        "Nous avons suivi un courageux éléphant parce que nous étions très curieux.",
        "Two words are exchanged; the adjective belongs behind its noun.",
    ),
    (
        "cut",
        "Nous avons suivi un éléphant courageux.",
        "The whole reason is missing, and nobody can tell from the French.",
    ),
    ("un", "Un un un un un un un un un un un un.", "Nonsense."),
)
OPENS = 1  # where some groups are missing
ALT = (
    "A translation with one wrong word beside the reference. Of its 13 words 12 are in the "
    "reference, of its 12 pairs 10, of its 11 triples 8, of its 10 fours 6. BLEU 76."
)


def bleu():
    """Which groups of one to four words a translation shares with the reference, and its BLEU.

    The reader goes through eight translations of one sentence, with what a speaker of French says
    of each, and strikes words out or brings them back. Every group of neighbouring words is a bar,
    filled if the reference has it as well and has not been used up. The cut into tokens is
    sacreBLEU's. Papineni et al. (2002), sections 2.1 and 2.3.

    Returns:
        An object that a notebook displays; ``save(path)`` writes a page of its own.

    Example:
        >>> from nlp104.figures import explore
        >>> explore.bleu().data["reference"][-2:]
        ['curieux', '.']
    """
    cut = Tokenizer13a()
    translations = [
        {"name": name, "words": cut(text).split(), "says": says}
        for name, text, says in TRANSLATIONS
    ]
    data = {
        "source": SOURCE,
        "reference": cut(REFERENCE).split(),
        "translations": translations,
        "opens": OPENS,
    }
    return Explorable("bleu", "What does BLEU see?", data, _still(data), ALT)


def _still(data):
    """The translation that it opens on: its words, and in four columns the groups found."""
    drawing, high, top = Drawing(360), 24, 26
    words, reference = data["translations"][OPENS]["words"], data["reference"]
    drawing.text(0, 10, "translation", strong=True)
    drawing.tokens(0, top, words, width=104, height=high)
    left = 124
    for n in range(1, 5):
        groups = _runs_of(words, n)
        known = _runs_of(reference, n)
        drawing.text(left, 10, f"{n}", strong=True)
        for i, group in enumerate(groups):
            found = group in known
            look = {"class_": "f-ink"} if found else {"class_": "f-r", "fill_opacity": 0.25}
            size = {"width": 7, "height": n * high - 6, "rx": 3}
            drawing.add("rect", x=left + 10 * (i % n), y=top + i * high + 3, **size, **look)
        hits = sum(group in known for group in groups)
        foot = top + high * len(words) + 14
        drawing.text(left - 4, foot, f"{hits}/{len(groups)}")
        left += 10 * n + 34
    return drawing.svg(top + high * len(words) + 26)


def _runs_of(words, n):
    """All n neighbouring words."""
    return [tuple(words[i : i + n]) for i in range(len(words) - n + 1)]

"""French word forms: agreement, conjugation, elision (l'homme), contraction (au marché), spacing.

A French word travels as a pair ``(text, leaves)``. The leaves are the English words that it
translates, so that the alignment survives when two words become one (à + le → au).
"""

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

from nlp104.data.grammar import lexicon

Word = tuple[str, tuple[Any, ...]]

_VOWELS = frozenset("aeiouyhàâéèêëîïôùûœ")  # h: a silent letter, except in lexicon.ASPIRATED
_ELIDED = {"le": "l'", "la": "l'", "de": "d'", "ne": "n'", "que": "qu'", "je": "j'"}
_CONTRACTED = {("à", "le"): "au", ("à", "les"): "aux", ("de", "le"): "du", ("de", "les"): "des"}


class Agreement(NamedTuple):
    """What verbs and adjectives agree with; persons 0-5 are je, tu, il, nous, vous, ils."""

    person: int
    feminine: bool = False
    plural: bool = False


def agree(forms: Sequence[str], feminine: bool, plural: bool) -> str:
    """Returns one of four forms: masculine, feminine, masculine plural, feminine plural."""
    return forms[feminine + 2 * plural]


def starts_with_vowel(word: str) -> bool:
    """Whether a word is spoken with a vowel first: *oiseau* and *homme* are, *héros* is not."""
    return word[0] in _VOWELS and word not in lexicon.ASPIRATED


@cache
def conjugation(verb: str) -> tuple[str, ...]:
    """Returns the present for je, tu, il, nous, vous, ils, and the past participle."""
    if verb in lexicon.IRREGULAR:
        return tuple(lexicon.IRREGULAR[verb].split())
    stem = verb.removesuffix("er")
    nous = stem + ("eons" if stem.endswith("g") else "ons")  # nous mangeons: the g stays soft
    return stem + "e", stem + "es", stem + "e", nous, stem + "ez", stem + "ent", stem + "é"


@cache
def imperfect(verb: str) -> tuple[str, ...]:
    """Returns the imperfect of *être* or *avoir* for je, tu, il, nous, vous, ils."""
    return tuple(lexicon.IMPERFECT[verb].split())


def compound_past(verb: str, subject: Agreement) -> tuple[str, str]:
    """Returns auxiliary and participle, which agrees after *être*: (a, dormi), (est, allée)."""
    participle = conjugation(verb)[-1]
    if verb not in lexicon.WITH_ETRE:
        return conjugation("avoir")[subject.person], participle
    ending = agree(("", "e", "s", "es"), subject.feminine, subject.plural)
    return conjugation("être")[subject.person], participle + ending


def smooth(words: Sequence[Word]) -> list[Word]:
    """Joins what French joins: à + le → au, le + oiseau → l'oiseau, si + il → s'il."""
    result = []
    texts = [text for text, _ in words] + ["", ""]
    indices = iter(range(len(words)))
    for i in indices:
        text, leaves = words[i]
        following, after_next = texts[i + 1 : i + 3]
        # à + le + marché → au marché, but à + le + homme → à l'homme
        is_elided = following == "le" and starts_with_vowel(after_next)
        if (text, following) in _CONTRACTED and not is_elided:
            text = _CONTRACTED[text, following]
            leaves += words[next(indices)][1]
        elif text in _ELIDED and following and starts_with_vowel(following):
            text = _ELIDED[text]
        elif text == "si" and following in ("il", "ils"):
            text = "s'"
        result.append((text, leaves))
    return result


def spell(tokens: Sequence[str]) -> str:
    """Writes tokens as a sentence: nothing between an apostrophe or a full stop and its word."""
    return " ".join(tokens).replace("' ", "'").replace(" ,", ",").replace(" .", ".")

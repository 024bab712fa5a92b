"""Chance, all from one seeded stream, and what it draws most: noun phrases that make sense."""

import random
from functools import cache

from nlp104.data.grammar import lexicon
from nlp104.data.grammar.lexicon import ADJECTIVES, GROUPS, kinds
from nlp104.data.grammar.phrases import NounPhrase, Pronoun
from nlp104.utils.arguments import require_whole


class Draw:
    """Choices from a seeded stream.

    They rest on `random.Random.random` alone, the one method whose sequence Python promises.
    """

    def __init__(self, seed):
        [seed] = require_whole(seed=seed)  # Python takes -1 for 1, and None for the time of day
        self._random = random.Random(seed).random

    def chance(self, probability):
        """Returns True with this probability."""
        return self._random() < probability

    def one_of(self, items):
        """Returns one item of a sequence, each equally likely."""
        return items[int(self._random() * len(items))]


_MASS = ("meal", "drink")

# Determiners for what is known and what is not. What stands twice is drawn twice as often.
_DEFINITE = {
    "family": ("my", "our"),
    **dict.fromkeys(("person", "child", *_MASS, *kinds("place")), ("the", "the", "the", "this")),
}
_DEFINITE_THING = ("the", "the", "the", "the", "this", "my", "our")
_SEVERAL = ("some", "some", "two", "three", "four", "five", "ten")
_PRONOUNS = ("I", "you", "you", "he", "she", "we", "we", "they", "they")


@cache
def _nouns(kind, feminine):
    wanted = (False, True) if feminine is None else (feminine,)
    return tuple(n for n in lexicon.NOUNS if n.kind == kind and n.feminine in wanted)


def a_noun(draw, of_kinds, feminine=None, other_than=None):
    """Draws a kind and a noun of it, if so wanted of one French gender and not a certain one."""
    noun = other_than
    while noun is other_than:
        noun = draw.one_of(_nouns(draw.one_of(of_kinds), feminine))
    return noun


@cache
def predicates(kind):
    """Returns the adjectives that can follow "is" for a kind of noun."""
    return tuple(a for a in ADJECTIVES.values() if kind in a.kinds and a.position != "before only")


@cache
def attributes(kind):
    """Returns the adjectives that can stand beside a kind of noun."""
    beside = ("before", "before only", "after")
    return tuple(a for a in ADJECTIVES.values() if kind in a.kinds and a.position in beside)


@cache
def _with_colour(kind):
    """The adjectives that can stand before a colour, and the colours: "small black"."""
    first = tuple(a for a in attributes(kind) if a.position != "after")
    return first, tuple(a for a in attributes(kind) if a.english in lexicon.COLOURS)


def definite_determiner(draw, kind):
    """Draws "the", "this", "my" or "our" as it suits the kind of noun."""
    return draw.one_of(_DEFINITE.get(kind, _DEFINITE_THING))


def noun_phrase(draw, of_kinds, definite=False, denied=False, bare=False, other_than=None):
    """Draws a noun and what stands around it.

    Args:
        draw: The stream.
        of_kinds: Tuple of the kinds it can be of.
        definite: Whether it is known which one is meant: "the", "this", "my" …
        denied: Whether it is the object of a negation.
        bare: Whether to leave out adjectives.
        other_than: A noun that would make no sense here.
    """
    noun = a_noun(draw, of_kinds, other_than=other_than)
    plural = noun.english[1] != "-" and draw.chance(0.35)
    if noun.kind in _MASS and not definite:
        return NounPhrase(noun, "", denied=denied)
    is_odd_if_denied = plural or noun.kind in GROUPS["place"]  # not "does not leave a church"
    if definite or noun.kind == "family" or (denied and is_odd_if_denied) or draw.chance(0.6):
        determiner = definite_determiner(draw, noun.kind)
    else:
        determiner = draw.one_of(_SEVERAL) if plural else "a"
    adjectives = (
        () if bare or draw.chance(0.5 if plural else 0.65) else _adjectives(draw, noun.kind)
    )
    return NounPhrase(noun, determiner, adjectives, plural, denied)


def _adjectives(draw, kind):
    first, colours = _with_colour(kind)
    if first and colours and draw.chance(0.25):
        return draw.one_of(first), draw.one_of(colours)
    fitting = attributes(kind)
    return (draw.one_of(fitting),) if fitting else ()


def subject(draw, of_kinds, definite=False, inner=False, bare=False):
    """Draws the subject of a clause: a noun phrase or, where people can be meant, a pronoun.

    Beside another clause (`inner`), "they" could be somebody from there, so it is not drawn.
    """
    if "person" in of_kinds and draw.chance(0.3):
        return Pronoun(draw.one_of(_PRONOUNS[:-2] if inner else _PRONOUNS))
    return noun_phrase(draw, of_kinds, definite or draw.chance(0.5), bare=bare)

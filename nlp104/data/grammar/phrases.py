"""Phrases in two languages at once: each has an English tree and knows how to say itself in French.

A phrase has

- ``tree``: the English side as nested tuples ``("NP", leaf, leaf)`` with the labels of the Penn
  Treebank;
- ``french(reading)``: the French side, a list of ``(text, leaves)``; the leaves are the English
  words that the French one translates, which is the alignment. `reading` says who the pronouns are;
- ``pairs``: the combinations of content words in it, such as ``("black", "cat")``.

What can be a subject also has its ``noun`` (or `None`), the form of ``be`` that goes with it, and
its ``agreement(reading)`` in French.
"""

from itertools import product

from nlp104.data.grammar import lexicon
from nlp104.data.grammar.french import Agreement, agree, starts_with_vowel


class Leaf:
    """One English word in a tree: its part of speech, and later its place in the sentence."""

    __slots__ = ("index", "tag", "text")

    def __init__(self, tag, text):
        self.tag, self.text, self.index = tag, text, None


# Who a pronoun can be, the preferred reading first: English need not say it, French must. "You" is
# one person, politely (vous), before it is a friend (tu) or several people (vous).
READINGS = {
    "I": (Agreement(0), Agreement(0, feminine=True)),
    "you": (
        Agreement(4),
        Agreement(4, feminine=True),
        Agreement(1),
        Agreement(1, feminine=True),
        Agreement(4, plural=True),
        Agreement(4, feminine=True, plural=True),
    ),
    "he": (Agreement(2),),
    "she": (Agreement(2, feminine=True),),
    "we": (Agreement(3, plural=True), Agreement(3, feminine=True, plural=True)),
    "they": (Agreement(5, plural=True), Agreement(5, feminine=True, plural=True)),
}


def readings(pronouns):
    """Yields each reading of some pronouns as a dictionary, the preferred one first."""
    pronouns = sorted(pronouns)
    for agreements in product(*(READINGS[pronoun] for pronoun in pronouns)):
        yield dict(zip(pronouns, agreements, strict=True))


class NounPhrase:
    """A noun with its determiner and adjectives: "my small black cat", "two birds", "water".

    Args:
        noun: A `lexicon.Noun`.
        determiner: A key of `lexicon.DETERMINERS`, or "" for some of a mass ("water", *de l'eau*).
        adjectives: In English order.
        plural: Whether there are several.
        denied: Whether it is the object of a negation, where French says *pas de* for "a".
    """

    def __init__(self, noun, determiner="the", adjectives=(), plural=False, denied=False):
        self.noun = noun
        self.be = "are" if plural else "is"
        self.leaf = Leaf("NNS" if plural else "NN", noun.english[plural])
        self.pairs = [(adjective.english, noun.english[0]) for adjective in adjectives]
        self._agreement = Agreement(5 if plural else 2, noun.feminine, plural)
        self._adjectives = [(a, Leaf("JJ", a.english)) for a in adjectives]
        self._determiner = lexicon.DETERMINERS.get(determiner)
        self._is_denied = denied and determiner in ("a", "")
        leaves = [*(leaf for _, leaf in self._adjectives), self.leaf]
        self._article = ()  # the English determiner, if there is one
        if self._determiner:
            text = self._determiner.english[plural]
            if text == "a" and leaves[0].text[0] in "aeiou":
                text = "an"
            self._article = (Leaf(self._determiner.tag, text),)
        self.tree = ("NP", *self._article, *leaves)

    def agreement(self, reading):
        """Returns French person, gender and number."""
        return self._agreement

    def french(self, reading):
        """Returns the French words."""
        _, feminine, plural = self._agreement
        noun = self.noun.french[plural]
        words = [(noun, (self.leaf,))]
        for adjective, leaf in self._adjectives:
            form = agree(adjective.french, feminine, plural)
            if adjective.position == "after":
                words.append((form, (leaf,)))
                continue
            if adjective.liaison and not (feminine or plural) and starts_with_vowel(noun):
                form = adjective.liaison
            words.insert(0, (form, (leaf,)))
        return self._french_article(words[0][0], noun) + words

    def _french_article(self, following, noun):
        _, feminine, plural = self._agreement
        if self._is_denied:
            return [("de", self._article)]
        if not self._determiner:  # "water": some of it, de + la + eau
            return [("de", ()), ("la" if feminine else "le", ())]
        if plural:
            text = self._determiner.french[2]
            if text == "des" and following != noun:
                text = "de"  # des oiseaux, but de beaux oiseaux
        elif starts_with_vowel(following):
            text = self._determiner.liaison[feminine]
        else:
            text = self._determiner.french[feminine]
        return [(text, self._article)]


class Pronoun:
    """A personal pronoun as subject. If it has an antecedent, it has the gender of that."""

    def __init__(self, english, antecedent=None):
        self.english = english
        self.antecedent = antecedent
        self.noun = antecedent and antecedent.noun
        self.be = {"I": "am", "he": "is", "she": "is", "it": "is"}.get(english, "are")
        self.leaf = Leaf("PRP", english)
        self.tree = ("NP", self.leaf)
        self.pairs = []

    def agreement(self, reading):
        """Returns French person, gender and number."""
        return self.antecedent.agreement(reading) if self.antecedent else reading[self.english]

    def french(self, reading):
        """Returns the French words."""
        person, feminine, _ = self.agreement(reading)
        he, they = ("elle", "elles") if feminine else ("il", "ils")
        return [(("je", "tu", he, "nous", "vous", they)[person], (self.leaf,))]


class AdjectivePhrase:
    """What the subject is said to be: "tired", "too wide", "very hungry"."""

    def __init__(self, adjective, subject, degree=""):
        self._adjective, self._subject = adjective, subject
        self._leaf = Leaf("JJ", adjective.english)
        self._degree = (Leaf("RB", degree),) if degree else ()
        self.uses_avoir = adjective.position == "have"
        self.pairs = [(adjective.english, subject.noun.english[0])] if subject.noun else []
        self.tree = ("ADJP", *self._degree, self._leaf)

    def french(self, reading):
        """Returns the French words."""
        _, feminine, plural = self._subject.agreement(reading)
        degree = [("trop" if leaf.text == "too" else "très", (leaf,)) for leaf in self._degree]
        return [*degree, (agree(self._adjective.french, feminine, plural), (self._leaf,))]


class AdverbPhrase:
    """An adverb: "now", "yesterday", "often"."""

    def __init__(self, adverb):
        self._leaf = Leaf(adverb.tag, adverb.english)
        self._french = adverb.french
        self.pairs = []
        self.tree = ("ADVP" if adverb.tag == "RB" else "NP", self._leaf)

    def french(self, reading):
        """Returns the French words."""
        return [(self._french, (self._leaf,))]


class PrepositionPhrase:
    """A preposition and a noun phrase: "near the lake", *près du lac*."""

    def __init__(self, english, french, phrase):
        self._leaf = preposition(english)
        self._french, self._phrase = french.split(), phrase
        self.pairs = phrase.pairs
        self.tree = ("PP", self._leaf, phrase.tree)

    def french(self, reading):
        """Returns the French words."""
        words = [(word, (self._leaf,)) for word in self._french]
        return words + self._phrase.french(reading)


def preposition(word):
    """Returns the leaf of an English preposition ("to" has its own part of speech)."""
    return Leaf("TO" if word == "to" else "IN", word)

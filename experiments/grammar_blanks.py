"""What the grammar itself would put into a blank, by brute force: every way to make the sentence.

The grammar makes a sentence by throwing dice. `Turns` stands in for the dice and takes every turn
that they could take, one after the other. What comes out with the right words around the blank
is counted with its probability. Nothing is learned and nothing is drawn at random.
"""

from collections import Counter

from nlp104.data.grammar import write
from nlp104.data.grammar.lexicon import ADJECTIVES, Adjective, Noun
from nlp104.data.grammar.patterns import reason
from nlp104.data.grammar.scenes import Reason

__all__ = ["fillings"]

DETERMINERS = ("the", "this", "my", "our")
REPEATS = 8  # of a noun that is drawn again until it differs; one in ten is the most likely


class _Hopeless(Exception):
    """No sentence that begins with these turns fits the words."""


class Turns:
    """In place of `nlp104.data.grammar.chance.Draw`: one sequence of turns after the other.

    Args:
        words: The words of the sentence.
        blank: The place of the word that may be any; a turn that brings a second word that is not
            in the sentence is not taken.
    """

    def __init__(self, words, blank):
        rest = [word.lower() for place, word in enumerate(words) if place != blank]
        self._words = Counter(rest)
        self._turns, self._ways = [], []

    def begin(self):
        """From the start again, along the turns that are next."""
        self.probability, self._step = 1.0, 0
        self._left, self._others, self._repeats = self._words.copy(), 1, REPEATS

    def advance(self):
        """To the next sequence of turns; returns whether there is one."""
        del self._turns[self._step :], self._ways[self._step :]
        while self._turns and self._turns[-1] + 1 == self._ways[-1]:
            del self._turns[-1], self._ways[-1]
        if self._turns:
            self._turns[-1] += 1
        return bool(self._turns)

    def chance(self, probability):
        """True and False."""
        outcomes = ((True, probability), (False, 1 - probability))
        outcome, share = self._turn([pair for pair in outcomes if pair[1]])
        self.probability *= share
        return outcome

    def one_of(self, items):
        """Each item, unless the sentence has no room for it."""
        counts = Counter(items)
        ways = [way for item in counts for way in self._uses(item)]
        item, word, others, repeats = self._turn(ways)
        self.probability *= counts[item] / len(items)
        if word:
            self._left[word] -= 1
        self._others -= others
        self._repeats -= repeats
        return item

    def _turn(self, ways):
        if not ways:
            raise _Hopeless
        if self._step == len(self._turns):
            self._turns.append(0)
            self._ways.append(len(ways))
        self._step += 1
        return ways[self._turns[self._step - 1]]

    def _uses(self, item):
        """The item with the word that it takes, and whether that is the blank or a repeat."""
        forms = _forms(item)
        word = next((form for form in forms if self._left[form] > 0), None)
        if word or not forms:
            yield item, word, 0, 0
            return
        if self._others:
            yield item, None, 1, 0
        if isinstance(item, Noun) and self._repeats and any(self._words[form] for form in forms):
            yield item, None, 0, 1


def _forms(item):
    """The words as which an item can stand in a sentence; none if it is no word."""
    if isinstance(item, Noun):
        return item.english
    if isinstance(item, Reason):
        return item.verb.english
    if isinstance(item, Adjective):
        return (item.english,)
    return (item,) if item in ADJECTIVES or item in DETERMINERS else ()


def fillings(words, blank):
    """The words that the grammar would put into a blank of a sentence that gives a reason.

    Sentences such as "The animal did not cross the street because it was too tired." come from
    one pattern, so no other has to be searched. Combinations of words that are held out for the
    test are left out, as in training.

    Args:
        words: The `source_words` of an example whose pattern is ``"reason"``.
        blank: The place of the blank.

    Returns:
        From words to their probabilities, the likeliest first.

    Example:
        >>> from experiments.grammar_blanks import fillings
        >>> words = "The cat did not eat the cake because it was too dry .".split()
        >>> [(word, round(p, 3)) for word, p in fillings(words, blank=11).items()][2:4]
        [('dry', 0.167), ('tired', 0.125)]
    """
    found, turns, open_ = Counter(), Turns(words, blank), True
    around = (*words[:blank], *words[blank + 1 :])
    while open_:
        turns.begin()
        try:
            example = write(reason(turns))
        except _Hopeless:
            pass
        else:
            made = example.source_words
            fits = len(made) == len(words) and (*made[:blank], *made[blank + 1 :]) == around
            if fits and not example.held_out:
                found[made[blank]] += turns.probability
        open_ = turns.advance()
    total = sum(found.values())
    return {word: mass / total for word, mass in found.most_common()}

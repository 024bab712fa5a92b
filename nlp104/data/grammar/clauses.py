"""Clauses in two languages: verbs in their tense, denied or asked, and clauses inside of clauses.

They are phrases in the sense of `nlp104.data.grammar.phrases`.
"""

from nlp104.data.grammar.french import compound_past, conjugation, imperfect
from nlp104.data.grammar.lexicon import BE
from nlp104.data.grammar.phrases import AdjectivePhrase, Leaf, preposition


class Clause:
    """A subject and what it does or is.

    Args:
        subject: `NounPhrase`, `Pronoun`, `Relative` or `Gap`.
        verb: A `lexicon.Verb`, or `lexicon.BE`.
        object: The noun phrase that the verb leads to, if any; by its preposition, if it has one.
        rest: The phrases that follow; for `BE` what the subject is, or where.
        frequency: An adverb beside the verb ("often"), only in a plain statement in the present.
        past: Whether it is over. French: *passé composé*, but the imperfect of *être* and *avoir*.
        negated: Whether it is denied.
        question: Whether it is asked.
    """

    def __init__(
        self,
        subject,
        verb,
        object=None,
        rest=(),
        frequency=None,
        past=False,
        negated=False,
        question=False,
    ):
        self.subject, self.verb = subject, verb
        self._object, self._rest, self._frequency = object, rest, frequency
        self._past, self._question = past, question
        self._particle = (preposition(verb.particle),) if verb.particle else ()
        self._not = (Leaf("RB", "not"),) if negated else ()
        complements = [phrase.tree for phrase in rest]
        if object:
            tree = ("PP", *self._particle, object.tree) if self._particle else object.tree
            complements.insert(0, tree)
        is_third = subject.be == "is"
        finite_tag = "VBD" if past else "VBZ" if is_third else "VBP"
        if verb is BE:
            was = "were" if subject.be == "are" else "was"
            finite = self._leaf = Leaf(finite_tag, was if past else subject.be)
        elif negated or question:  # English denies and asks with "do"
            finite = Leaf(finite_tag, "did" if past else "does" if is_third else "do")
            self._leaf = Leaf("VB", verb.english[0])
            complements = [("VP", self._leaf, *complements)]
        else:
            finite = self._leaf = Leaf(finite_tag, verb.english[2 if past else is_third])
        if question:
            self.tree = ("SQ", finite, subject.tree, *self._not, *complements)
        else:
            adverb = (frequency.tree,) if frequency else ()
            verb_phrase = ("VP", *adverb, finite, *self._not, *complements)
            self.tree = ("S", subject.tree, verb_phrase) if subject.tree else ("S", verb_phrase)

    @property
    def pairs(self):
        """The combinations of content words, those of the verb with subject and object included."""
        phrases = [phrase for phrase in (self.subject, self._object, *self._rest) if phrase]
        pairs = [pair for phrase in phrases for pair in phrase.pairs]
        if self.verb is not BE:
            nouns = [phrase.noun for phrase in (self.subject, self._object) if phrase]
            pairs += [(self.verb.name, noun.english[0]) for noun in nouns if noun]
        return pairs

    def french(self, reading):
        """Returns the French words."""
        finite, *participle = self._french_verb(self.subject.agreement(reading))
        # A preposition that one language alone needs belongs to the verb: looks for ↔ cherche,
        # enters ↔ entre dans.
        leaves = (self._leaf,) if self.verb.preposition else (self._leaf, *self._particle)
        words = [("Est-ce", ()), ("que", ())] if self._question else []
        words += self.subject.french(reading)
        words += [("ne", self._not)] if self._not else []
        words.append((finite, leaves))
        words += self._frequency.french(reading) if self._frequency else []
        words += [("pas", self._not)] if self._not else []
        words += [(word, leaves) for word in participle]
        if self._object:
            if self.verb.preposition:
                words.append((self.verb.preposition, self._particle or leaves))
            words += self._object.french(reading)
        for phrase in self._rest:
            words += phrase.french(reading)
        return words

    def _french_verb(self, agreement):
        if self.verb is BE:
            what = self._rest[0]
            has = isinstance(what, AdjectivePhrase) and what.uses_avoir
            verb = "avoir" if has else "être"  # is hungry: a faim
            return [(imperfect if self._past else conjugation)(verb)[agreement.person]]
        if self._past:
            return compound_past(self.verb.french, agreement)
        return [conjugation(self.verb.french)[agreement.person]]


class Gap:
    """The subject that a relative clause leaves out: "the cat that … sleeps"."""

    tree = None

    def __init__(self, head):
        self.noun, self.be, self.agreement = head.noun, head.be, head.agreement
        self.pairs = []

    def french(self, reading):
        """Returns no words."""
        return []


class Relative:
    """A noun phrase with a relative clause that lacks its subject (*qui*) or its object (*que*)."""

    def __init__(self, head, clause, word="that"):
        self.noun, self.be, self.agreement = head.noun, head.be, head.agreement
        self._head, self._clause = head, clause
        self._leaf = Leaf("WP" if word == "who" else "WDT", word)
        self._lacks_subject = isinstance(clause.subject, Gap)
        self.pairs = head.pairs + clause.pairs
        if not self._lacks_subject:
            self.pairs.append((clause.verb.name, head.noun.english[0]))
        self.tree = ("NP", head.tree, ("SBAR", ("WHNP", self._leaf), clause.tree))

    def french(self, reading):
        """Returns the French words."""
        link = ("qui" if self._lacks_subject else "que", (self._leaf,))
        return [*self._head.french(reading), link, *self._clause.french(reading)]


_CONJUNCTIONS = {"because": "parce que", "when": "quand", "if": "si", "that": "que"}


class Subordinate:
    """A clause behind a conjunction: "because it was too tired"."""

    def __init__(self, conjunction, clause):
        self._leaf = Leaf("WRB" if conjunction == "when" else "IN", conjunction)
        self._french, self._clause = _CONJUNCTIONS[conjunction].split(), clause
        self.pairs = clause.pairs
        link = ("WHADVP", self._leaf) if conjunction == "when" else self._leaf
        self.tree = ("SBAR", link, clause.tree)

    def french(self, reading):
        """Returns the French words."""
        return [(word, (self._leaf,)) for word in self._french] + self._clause.french(reading)

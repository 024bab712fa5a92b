"""Sentence patterns: how a sentence is put together, and how often which pattern is drawn."""

from typing import NamedTuple

from nlp104.data.grammar.chance import (
    a_noun,
    attributes,
    definite_determiner,
    noun_phrase,
    predicates,
    subject,
)
from nlp104.data.grammar.clauses import Clause, Gap, Relative, Subordinate
from nlp104.data.grammar.lexicon import (
    ABSOLUTE,
    ADJECTIVES,
    ADVERBS,
    BE,
    GROUPS,
    NOUNS,
    VERBS,
    kinds,
)
from nlp104.data.grammar.phrases import (
    AdjectivePhrase,
    AdverbPhrase,
    NounPhrase,
    PrepositionPhrase,
    Pronoun,
)
from nlp104.data.grammar.scenes import MOTIVES, PLACES, REASONS


class Mood(NamedTuple):
    """How a clause is put: past or present, denied, asked, inside or beside another clause."""

    past: bool = False
    negated: bool = False
    question: bool = False
    inner: bool = False


class Sentence(NamedTuple):
    """A clause, what stands before it ("When the cat sleeps, …"), and the *it* in it, if any."""

    clause: Clause
    opening: Subordinate | None = None
    it: Pronoun | None = None


# Simple clauses in a given mood. `who(draw, kinds)` draws the subject.


def _who(mood):
    def who(draw, of_kinds):
        # "Does a cat sleep?" and "A cat does not sleep" are odd.
        return subject(draw, of_kinds, mood.negated or mood.question, mood.inner)

    return who


def _of(mood):
    """What a clause is told of its mood; that it is inside matters to its subject alone."""
    return {"past": mood.past, "negated": mood.negated, "question": mood.question}


def _do(draw, verb, mood, actor, rest=()):
    """A clause with this verb and subject, an object if the verb has one, and perhaps a time."""
    what, frequency = None, None
    if verb.objects:
        definite = bool(verb.preposition) or verb.name == "like"
        what = noun_phrase(draw, verb.objects, definite, mood.negated, other_than=actor.noun)
    if not (rest or mood.inner) and draw.chance(0.2):
        tense = "past" if mood.past else "present"
        rest = (AdverbPhrase(draw.one_of([a for a in ADVERBS if tense in a.tenses])),)
    elif not any(mood) and draw.chance(0.2):
        frequency = AdverbPhrase(draw.one_of([a for a in ADVERBS if "verb" in a.tenses]))
    return Clause(actor, verb, what, rest, frequency, **_of(mood))


def _doing(group):
    def clause(draw, mood, who=None):
        verb = draw.one_of(VERBS[group])
        return _do(draw, verb, mood, (who or _who(mood))(draw, verb.subjects))

    return clause


transitive = _doing("transitive")  # The girl did not find my old umbrella.
motion = _doing("motion")  # My sisters went to the market.
indirect = _doing("indirect")  # The prince speaks of the castle.


def intransitive(draw, mood, who=None):
    """The black cat sleeps in the garden."""
    verb = draw.one_of(VERBS["intransitive"])
    actor, rest = (who or _who(mood))(draw, verb.subjects), ()
    if verb.name != "arrive" and draw.chance(0.5):
        where = kinds("water" if verb.name == "swim" else "land building")
        rest = (PrepositionPhrase("in", "dans", noun_phrase(draw, where, definite=True)),)
    return _do(draw, verb, mood, actor, rest)


def giving(draw, mood):
    """The king gives a horse to the soldiers."""
    verb = draw.one_of(VERBS["giving"])
    actor = _who(mood)(draw, verb.subjects)
    whom = noun_phrase(draw, kinds("people"), definite=True, bare=True, other_than=actor.noun)
    return _do(draw, verb, mood, actor, (PrepositionPhrase("to", "à", whom),))


def being(draw, mood, actor=None):
    """The streets are not very wide."""
    actor = actor or subject(draw, _DESCRIBED, True, mood.inner, bare=True)
    adjective = draw.one_of(predicates(actor.noun.kind if actor.noun else "person"))
    degree = ""
    if adjective.english not in ABSOLUTE and draw.chance(0.4):
        degree = "very" if mood.negated or draw.chance(0.5) else "too"
    return Clause(actor, BE, rest=(AdjectivePhrase(adjective, actor, degree),), **_of(mood))


def placing(draw, mood):
    """The key was under the chair."""
    place = draw.one_of(PLACES)
    actor = subject(draw, place.things, True, mood.inner)
    where = noun_phrase(draw, place.places, definite=True)
    rest = (PrepositionPhrase(place.english, place.french, where),)
    return Clause(actor, BE, rest=rest, **_of(mood))


_DESCRIBED = tuple(dict.fromkeys(noun.kind for noun in NOUNS if predicates(noun.kind)))
_ACTIONS = (intransitive, transitive, transitive, motion, indirect)
_SIMPLE = (*_ACTIONS, giving, being, being, placing)


# Whole sentences.


def _statement(clause):
    def sentence(draw):
        return Sentence(clause(draw, Mood(past=draw.chance(0.4), negated=draw.chance(0.3))))

    return sentence


def question(draw):
    """Did the cat sleep?"""
    return Sentence(draw.one_of(_SIMPLE)(draw, Mood(past=draw.chance(0.4), question=True)))


def thought(draw):
    """The girl thinks that the small cat sleeps."""
    who = subject(draw, kinds("people"), definite=False)
    mood = Mood(past=draw.chance(0.4), negated=draw.chance(0.3), inner=True)
    content = draw.one_of(_SIMPLE)(draw, mood)
    verb = draw.one_of(VERBS["saying"])
    return Sentence(Clause(who, verb, None, (Subordinate("that", content),)))


def condition(draw):
    """When the cat sleeps, the mice eat."""
    clause, other = draw.one_of(_ACTIONS), draw.one_of(_ACTIONS)
    opening = Subordinate(draw.one_of(("when", "if")), other(draw, Mood(inner=True)))
    return Sentence(clause(draw, Mood(negated=draw.chance(0.3), inner=True)), opening=opening)


def motive(draw):
    """The girl did not sing because she was too shy."""
    row = draw.one_of(MOTIVES)
    conjunction = draw.one_of(("because", "because", "when", "if"))
    past = conjunction == "because" and draw.chance(0.6)
    who = subject(draw, kinds("people"), definite=True, bare=True)
    if who.noun:
        again = Pronoun("they" if who.be == "are" else "she" if who.noun.feminine else "he", who)
    else:
        again = Pronoun(who.english)
    degree = ("too" if row.negated else "very") if draw.chance(0.5) else ""
    state = AdjectivePhrase(ADJECTIVES[draw.one_of(row.states)], again, degree)
    reason = Subordinate(conjunction, Clause(again, BE, None, (state,), past=past))
    verb = draw.one_of(row.verbs)
    return Sentence(_do(draw, verb, Mood(past=past, negated=row.negated), who, (reason,)))


def relative(draw):
    """The cake that the boy eats is delicious. The man follows the dog that runs."""
    phrase = _who_does(draw) if draw.chance(0.5) else _what_is_done(draw)
    verbs = [verb for verb in VERBS["transitive"] if phrase.noun.kind in verb.objects]
    if verbs and draw.chance(0.5):
        verb = draw.one_of(verbs)
        who = noun_phrase(draw, verb.subjects, definite=True, bare=True, other_than=phrase.noun)
        return Sentence(Clause(who, verb, phrase))
    return Sentence(being(draw, Mood(negated=draw.chance(0.3)), phrase))


def _who_does(draw):
    """The man who sings; the bird that slept in the forest."""
    heads = []

    def gap(draw, of_kinds):
        heads.append(_head(draw, tuple(kind for kind in of_kinds if kind != "family")))
        return Gap(heads[0])

    mood = Mood(past=draw.chance(0.4), inner=True)
    clause = draw.one_of((intransitive, transitive, indirect))(draw, mood, gap)
    is_animal = heads[0].noun.kind not in GROUPS["people"]
    return Relative(heads[0], clause, "that" if is_animal else "who")


def _what_is_done(draw):
    """The cake that the boy eats."""
    verb = draw.one_of([verb for verb in VERBS["transitive"] if not verb.particle])
    of_kinds = tuple(kind for kind in verb.objects if kind not in GROUPS["people"])
    who = subject(draw, verb.subjects, definite=True, inner=True)
    return Relative(_head(draw, of_kinds), Clause(who, verb))


def _head(draw, of_kinds):
    """What a relative clause picks out: "the cat", as "my cat" would be known already."""
    noun = a_noun(draw, of_kinds)
    return NounPhrase(noun, plural=noun.english[1] != "-" and draw.chance(0.35))


def reason(draw):
    """The animal did not cross the street because it was too tired; … because it was too wide."""
    row = draw.one_of(draw.one_of(_REASON_GROUPS))
    # Genders are drawn before nouns: each is then equally likely in each place, whatever the verb
    # and the reason. Mostly they differ: only then does the antecedent decide between il and elle.
    feminine = draw.chance(0.5)
    first = _participant(draw, row.first, feminine)
    second = _participant(draw, row.second, feminine != draw.chance(0.8), first.noun)
    means_second = draw.chance(0.5)
    it = Pronoun("it", second if means_second else first)
    state = ADJECTIVES[draw.one_of(row.said_of[means_second])]
    past = draw.chance(0.7)
    because = Clause(it, BE, None, (AdjectivePhrase(state, it, row.degree),), past=past)
    rest = (Subordinate("because", because),)
    return Sentence(Clause(first, row.verb, second, rest, None, past, row.negated), it=it)


# The animal comes first twice as often as second. Without such a hold, learning takes much longer.
_REASON_GROUPS = tuple(
    tuple(row for row in REASONS if row.heading == heading)
    for heading in (*["animal first"] * 6, *["animal second"] * 3, "two animals")
)
_REASON_WORDS = frozenset(word for row in REASONS for words in row.said_of for word in words)


def _participant(draw, of_kinds, feminine, other_than=None):
    noun = a_noun(draw, of_kinds, feminine, other_than)
    adjectives = ()
    if draw.chance(0.15):  # but nothing that could be the reason: "the wide street … too wide"
        fitting = [a for a in attributes(noun.kind) if a.english not in _REASON_WORDS]
        adjectives = (draw.one_of(fitting),) if fitting else ()
    return NounPhrase(noun, definite_determiner(draw, noun.kind), adjectives)


# Each pattern with the number of its sentences in a hundred or so.
PATTERNS = {
    "intransitive": (_statement(intransitive), 7),
    "transitive": (_statement(transitive), 13),
    "motion": (_statement(motion), 6),
    "indirect": (_statement(indirect), 6),
    "giving": (_statement(giving), 5),
    "being": (_statement(being), 9),
    "placing": (_statement(placing), 5),
    "question": (question, 8),
    "thought": (thought, 5),
    "condition": (condition, 3),
    "motive": (motive, 6),
    "relative": (relative, 5),
    "reason": (reason, 28),
}
_BY_WEIGHT = tuple(name for name, (_, weight) in PATTERNS.items() for _ in range(weight))


def draw_sentence(draw):
    """Returns the name of a pattern and a sentence of that pattern."""
    name = draw.one_of(_BY_WEIGHT)
    return name, PATTERNS[name][0](draw)


def draw_nested(draw):
    """The girl says that the cat sleeps because it is tired: a clause in a clause in a clause."""
    inner = draw.one_of((thought, reason, motive, relative))(draw)
    who = subject(draw, kinds("people"), definite=False)
    content = Subordinate("that", inner.clause)
    return Sentence(Clause(who, draw.one_of(VERBS["saying"]), None, (content,)), it=inner.it)

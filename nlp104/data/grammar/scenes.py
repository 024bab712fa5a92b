"""What goes with what: where things can be, why people act, and whom an *it* can mean."""

from typing import NamedTuple

from nlp104.data.grammar.lexicon import VERBS, Verb, kinds, rows

# English and French preposition | what can be there | in relation to what.
_LOCATIONS = """
    on sur           | object clothes text food | furniture
    in dans          | object clothes text food | container
    under sous       | animal object clothes    | furniture
    behind derrière  | animate vehicle          | building
    near près de     | animate vehicle          | building spot water
    in dans          | animate                  | building land
"""

# What people do or do not do, and why, or when, or on what condition: they are …
_MOTIVES = """
    sleep                                |     | tired sick
    eat                                  |     | hungry
    drink                                |     | thirsty
    sing, dance, run, play with          |     | happy
    visit, follow, enter                 |     | curious
    help, answer, wait for               |     | kind
    sing, dance, speak to, answer        | not | shy nervous
    work, wash, carry, visit, help, run  | not | tired sick
"""

# Why *it* did what it did. Each row: the verb and the noun beside the animal | whether denied | how
# much | what is said of the first noun | what is said of the second one. The adjective decides whom
# *it* means: no animal is ever wide, no street tired. Between two animals the event decides: the
# kind one helps, the young one is helped. Left out is what could be read as "it was cold", where
# *it* is nobody.
_REASONS = """
animal first:
    cross road      | not | too | tired sick shy nervous young       | wide steep muddy
    cross water     | not | too | tired sick shy nervous young       | wide deep
    cross land      | not | too | tired sick shy nervous young       | vast muddy
    cross road      |     |     | hungry thirsty curious brave       | narrow flat dry
    cross water     |     |     | hungry curious brave               | narrow
    cross land      |     |     | hungry thirsty curious brave       | flat dry green
    avoid road      |     | too | tired sick nervous shy young       | narrow steep muddy
    avoid water     |     | too | tired sick nervous shy young       | wide deep
    leave land      |     | too | hungry thirsty nervous             | dry muddy
    enter building  | not |     | tired sick shy nervous             | closed
    enter building  |     |     | hungry thirsty curious brave       | open empty
    eat food        | not | too | tired sick shy nervous             | hard bitter dry
    eat food        |     |     | hungry curious                     | fresh delicious
    push movable    | not | too | tired sick shy young               | heavy big
    push movable    |     |     | curious brave                      | light
animal second:
    stop road        |     | too | steep muddy narrow | tired sick young
    stop water       |     | too | wide deep          | tired sick young
    stop land        |     | too | vast muddy         | tired sick young
    stop movable     |     | too | heavy big          | tired sick young
    slow road        |     | too | steep muddy narrow | tired sick young
    frighten road    |     | too | steep narrow       | shy nervous young
    frighten water   |     | too | wide deep          | shy nervous young
    frighten land    |     | too | vast               | shy nervous young
    frighten road    | not |     | wide               | brave curious
    frighten water   | not |     | narrow             | brave curious
    attract land     |     |     | vast green flat    | hungry thirsty curious
    attract land     | not | too | dry muddy          | tired sick shy
    attract building |     |     | open empty         | hungry thirsty curious
    attract building | not |     | closed             | tired sick shy
    attract food     |     |     | fresh delicious    | hungry curious
    attract food     | not | too | bitter hard dry    | tired sick shy nervous
two animals:
    follow animal    | not | too | tired sick         | fast
    wait_for animal  | not | too | nervous hungry     | slow
    help animal      |     |     | kind brave         | slow young
"""


class Place(NamedTuple):
    """A preposition in both languages, what can be there, and in relation to what."""

    english: str
    french: str
    things: tuple[str, ...]
    places: tuple[str, ...]


class Motive(NamedTuple):
    """Verbs for what people do, or do not do, and adjectives for why."""

    verbs: tuple[Verb, ...]
    negated: bool
    states: tuple[str, ...]


class Reason(NamedTuple):
    """A verb between two kinds of nouns, and what can be said of the first and of the second."""

    heading: str
    verb: Verb
    first: tuple[str, ...]
    second: tuple[str, ...]
    negated: bool
    degree: str
    said_of: tuple[tuple[str, ...], tuple[str, ...]]


_VERB = {verb.name: verb for group in VERBS.values() for verb in group}


def _place(prepositions, things, places):
    english, french = prepositions.split(maxsplit=1)
    return Place(english, french, kinds(things), kinds(places))


def _motive(verbs, negated, states):
    chosen = tuple(_VERB[name] for name in verbs.split(", "))
    return Motive(chosen, negated == "not", tuple(states.split()))


def _reason(heading, event, negated, degree, first, second):
    verb, other = event.split()
    animal, others = ("animal",), kinds(other)
    sides = (others, animal) if heading == "animal second" else (animal, others)
    said_of = tuple(first.split()), tuple(second.split())
    return Reason(heading, _VERB[verb.replace("_", " ")], *sides, negated == "not", degree, said_of)


PLACES = tuple(_place(*row) for _, *row in rows(_LOCATIONS))
MOTIVES = tuple(_motive(*row) for _, *row in rows(_MOTIVES))
REASONS = tuple(_reason(*row) for row in rows(_REASONS))

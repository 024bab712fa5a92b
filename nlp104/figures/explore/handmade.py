"""A sentence, and the weights of seven versions of attention, made by hand to be read.

"The animal crossed the street. It was tired": who is *it*? If it was wide, it is the street. Every
word is a vector of eight features, and every matrix picks some of them.
"""

import numpy as np

NOUNS = ("animal", "dog", "street", "bridge")  # the first two live, the others are places
FEATURES = (*NOUNS, "pronoun", "verb", "living", "place")
ENDINGS = {"tired": "living", "wide": "place"}  # what an adjective is said of
WORDS = ("animal", "crossed", "street", "it")
STRENGTH = 8.0


def embed(ending):
    """X: a row for each word, `[5, 8]`."""
    means = {"crossed": "verb", "it": "pronoun"} | ENDINGS
    words = [means.get(word, word) for word in (*WORDS, ending)]
    return np.array([[float(feature == word) for feature in FEATURES] for word in words])


def table(columns, **rows):
    """A matrix `[8, columns]` with a row for each feature; those that are not named are zero."""
    return np.array([rows.get(feature, [0.0] * columns) for feature in FEATURES], "float64")


LIVING, PLACE, VERB, ADJECTIVE = np.eye(4)  # what can be looked for; nouns live or are places
# What a word can be found as.
KEYS = table(
    4, animal=LIVING, dog=LIVING, street=PLACE, bridge=PLACE, verb=VERB, living=ADJECTIVE,
    place=ADJECTIVE,
)  # fmt: skip
# What a word looks for: nouns for their verb, verbs for nouns, adjectives for what they fit.
QUERIES = STRENGTH * table(
    4, **dict.fromkeys(NOUNS, VERB), verb=LIVING + PLACE, living=LIVING, place=PLACE,
    pronoun=ADJECTIVE,
)  # fmt: skip
NOUN, MEANING = (
    table(4, **dict(zip(NOUNS, np.eye(4), strict=True))),
    table(4, living=np.array([0.5, 0.5, 0, 0]), place=np.array([0, 0, 0.5, 0.5])),
)


def questions(version):
    """What is asked from outside in versions 0 to 4, about tired and about wide: `[2, width]`."""
    if version == 4:
        return STRENGTH * np.stack([LIVING, PLACE])
    return STRENGTH * np.stack([KEYS @ LIVING, KEYS @ PLACE])


def kernels(version):
    """The weights of a version's layer, in its order.

    Args:
        version: 0 to 6.

    Returns:
        A list of arrays. In version 6 they have two heads. In the first a pronoun looks for an
        adjective, in the second for any noun.
    """
    if version == 0:  # One hidden unit for what lives, one for places; the query turns one off.
        sorts = KEYS[:, :2]
        return [-2.0 * sorts[:, ::-1] / STRENGTH, sorts, np.full((2, 1), 6.0)]
    if version < 4:
        return []
    if version == 4:
        return [KEYS, NOUN + MEANING]
    if version == 5:
        return [QUERIES, KEYS, NOUN + MEANING]
    second = QUERIES.copy()
    second[FEATURES.index("pronoun")] = STRENGTH * (LIVING + PLACE)
    return [
        np.stack([QUERIES, second], axis=1),
        np.stack([KEYS, KEYS], axis=1),
        np.stack([NOUN + MEANING, NOUN + MEANING], axis=1),
        np.stack([np.eye(4), np.eye(4)]),
    ]

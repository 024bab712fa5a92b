"""A sentence, and the weights of seven versions of attention, made by hand to be read.

"The animal did not cross the street because it was too tired": who is *it*? If it is too wide, it
is the street. Each word is a vector of eight features, and every matrix picks some of them.
"""

import numpy as np

LAST = ("tired", "wide")  # the words that the sentence may end with
SENTENCE = ("the", "animal", "did", "not", "cross", "the", "street", "because", "it", "was", "too")
FEATURES = ("thing", "alive", "place", "pronoun", "of the living", "of places", "masc.", "fem.")
MEANINGS = {
    "animal": ("thing", "alive", "masc."),
    "street": ("thing", "place", "fem."),
    "it": ("pronoun",),
    "tired": ("of the living",),  # said of living things
    "wide": ("of places",),  # said of places
}
# What "too tired" and "too wide" ask for: a thing that is alive and no place, or the reverse.
QUESTIONS = np.array([[1.0, 2.0, -1.0], [1.0, -1.0, 2.0]])  # [2, 3]


def embed(tokens):
    """Tokens to vectors `[length, 8]`; a word without a meaning is zero."""
    return np.array([[float(f in MEANINGS.get(token, ())) for f in FEATURES] for token in tokens])


def pick(*names, strength=1.0):
    """A matrix `[8, len(names)]` that keeps the named features."""
    return strength * np.eye(len(FEATURES))[:, [FEATURES.index(name) for name in names]]


def questions(version):
    """What is asked from outside in versions 0 to 4: `[2, 8]`, in version 4 `[2, 3]`."""
    return (
        QUESTIONS if version == 4 else QUESTIONS @ pick("thing", "alive", "place", strength=3.0).T
    )


def labels(version, num_heads=1):
    """For each head, what the columns of its keys and of its values stand for."""
    if version < 4:
        return [(FEATURES, FEATURES)]
    if version == 4:
        return [(FEATURES[:3], FEATURES[6:])]
    asked = ("of the living", "of places")
    if num_heads == 1:
        return [(asked, FEATURES)]
    return [(asked, ("alive", "place")), (("thing", "thing"), FEATURES[6:])]


def kernels(version, num_heads=1):
    """The weights of a version's layer, in its order.

    Args:
        version: 0 to 6.
        num_heads: 1 or 2, for version 6.

    Returns:
        A list of arrays.
    """
    if (
        version == 0
    ):  # One hidden unit sees who is alive, the other places; the query turns one off.
        query_kernel = np.stack([pick("place")[:, 0], pick("alive")[:, 0]], axis=1) / 3.0
        return [query_kernel, pick("alive", "place", strength=2.0), np.full((2, 1), 4.0)]
    if version < 4:
        return []
    if version == 4:  # Found by what a word is; handed over is its gender.
        return [pick("thing", "alive", "place", strength=3.0), pick("masc.", "fem.")]
    # A pronoun asks for an adjective and takes over what it says.
    asks = pick("pronoun", "pronoun", strength=3.0)
    adjective = pick("of the living", "of places", strength=3.0)
    living_or_place = pick("alive", "place").T  # [2, 8]
    if version == 5:
        return [asks, adjective, pick("of the living", "of places") @ living_or_place]
    if num_heads == 1:  # version 5, and nothing is mixed afterwards
        return [*(kernel[:, None] for kernel in kernels(5)), np.eye(len(FEATURES))[None]]
    return [  # The second head asks for things and takes over their gender.
        np.stack([asks, asks], axis=1),
        np.stack([adjective, pick("thing", "thing", strength=3.0)], axis=1),
        np.stack([pick("of the living", "of places"), pick("masc.", "fem.")], axis=1),
        np.stack([living_or_place, pick("masc.", "fem.").T]),
    ]

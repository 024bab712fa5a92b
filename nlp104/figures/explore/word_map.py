"""Which words are near each other: that depends on the table that their vectors come from."""

import numpy as np

from nlp104.data.grammar.french import starts_with_vowel
from nlp104.figures.drawing import Drawing
from nlp104.figures.explore.explorable import Explorable
from nlp104.figures.explore.numbers import as_matrix, short

NEAREST = 3  # so many neighbours of a word are shown and counted
STILL = 8  # so many words stand in the still picture
ALT = "Of {count} nouns, the nearest {nearest} in each table. {tables}."
TABLE = "{name}: {kind:.0%} are of the same kind, {gender:.0%} of the same French gender"


def word_map(nouns, tables):
    """Nouns on a map, once for each table of vectors, and the nearest of the one that is chosen.

    The reader taps a noun and goes from table to table: the words move, and others come near. The
    map shows the two directions in which the rows, scaled to length 1, differ most; words that
    would cover each other are moved apart. Whatever is counted uses all directions.

    Args:
        nouns: of `nlp104.data.grammar.lexicon.NOUNS`, at least four.
        tables: from a name to the vectors `[noun, d]`; each table may have its own d.

    Returns:
        An object that a notebook displays; ``save(path)`` writes a page of its own.

    Raises:
        ValueError: There are fewer nouns, a table has not one row for each, or a row has no
            direction.

    Example:
        >>> import numpy as np
        >>> from nlp104.data.grammar.lexicon import NOUNS
        >>> from nlp104.figures import explore
        >>> rows = np.random.default_rng(0).normal(size=(12, 16))
        >>> made = explore.word_map(NOUNS[:12], {"at random": rows})
        >>> made.data["tables"][0]["name"]
        'at random'
    """
    if len(nouns) <= NEAREST:
        raise ValueError(f"Expected at least {NEAREST + 1} nouns. Received: {len(nouns)}.")
    kinds = np.array([noun.kind for noun in nouns])
    feminine = np.array([noun.feminine for noun in nouns])
    shown, near = [], {}
    for name, vectors in tables.items():
        rows = as_matrix(vectors, (len(nouns), None), f"the table {name!r}")
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        if not (np.isfinite(lengths) & (lengths > 0)).all():
            bad = lengths[~(np.isfinite(lengths) & (lengths > 0))][0]
            raise ValueError(
                f"Expected vectors of some length in the table {name!r}. Received: {bad}."
            )
        rows = rows / lengths
        cosines = rows @ rows.T
        near[name] = nearest(cosines)
        shown.append({"name": name, "places": short(places(rows), 3), "cosines": short(cosines, 3)})
    data = {
        "words": [noun.english[0] for noun in nouns],
        "french": [with_article(noun) for noun in nouns],
        "kinds": kinds.tolist(),
        "feminine": feminine.tolist(),
        "count": NEAREST,
        "tables": shown,
    }
    shares = [
        TABLE.format(
            name=name,
            kind=np.mean(kinds[found] == kinds[:, None]),
            gender=np.mean(feminine[found] == feminine[:, None]),
        )
        for name, found in near.items()
    ]
    alt = ALT.format(count=len(nouns), nearest=NEAREST, tables=". ".join(shares))
    return Explorable("word_map", "Near in which table?", data, _still(data["words"], near), alt)


def with_article(noun):
    """A noun in French, with *le*, *la* or *l'*."""
    word = noun.french[0]
    return f"l’{word}" if starts_with_vowel(word) else f"{('le', 'la')[noun.feminine]} {word}"


def nearest(cosines):
    """The nearest of each row's other rows: `[row, NEAREST]`, the first of equals first."""
    others = np.round(cosines, 3) - 9 * np.eye(len(cosines))  # nobody is their own neighbour
    return np.argsort(-others, axis=1, kind="stable")[:, :NEAREST]


def places(rows):
    """The two directions in which rows differ most, each from 0 to 1: `[row, 2]`."""
    centred = rows - rows.mean(axis=0)
    flat = centred @ np.linalg.svd(centred, full_matrices=False)[2][:2].T
    largest = np.abs(flat).argmax(axis=0)
    flat *= np.sign(flat[largest, np.arange(flat.shape[1])])  # a sign is a matter of taste
    low, high = flat.min(axis=0), flat.max(axis=0)
    return (flat - low) / np.maximum(high - low, 1e-9)


def _still(words, near):
    """Some words, and beside each the nearest in every table."""
    drawing, width = Drawing(360), 280 / len(near)
    for column, name in enumerate(near):
        drawing.text(84 + (column + 0.5) * width, 10, name, strong=True, anchor="middle")
    some = words[:: max(1, len(words) // STILL)]
    for row, word in enumerate(some):
        top = 28 + 82 * row
        drawing.tokens(0, top + 24, [word], width=78, height=28, chosen=0)
        for column, found in enumerate(near.values()):
            listed = [words[j] for j in found[words.index(word)]]
            drawing.tokens(84 + column * width, top, listed, width=width, height=26)
    return drawing.svg(28 + 82 * len(some))

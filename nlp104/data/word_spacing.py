"""Words and signs: where a sentence is cut, and which signs touch the word next to them.

"Does the cat sleep?" becomes Does · the · cat · sleep · ?, and "L'eau dort-elle ?" becomes
L' · eau · dort-elle · ?. Whether a space stands before the question mark is a matter of language;
it is learned from the text, like the vocabulary.
"""

import itertools
import re
from collections import Counter
from collections.abc import Iterable

# The first that matches counts: a French clitic with its apostrophe (the l' of l'eau), a dotted
# abbreviation (p.m.), a number (1,000.5), a word with inner apostrophes and hyphens (don't,
# peut-être), dots in a row, and any other sign on its own.
PATTERN = (
    r"(?i:\b(?:[cdjlmnst]|qu|jusqu|lorsqu|puisqu|quoiqu)')(?=\w)"
    r"|\b(?:[^\W\d_]\.){2,}"
    r"|\d+(?:[.,:]\d+)+"
    r"|\w+(?:['-]\w+)*"
    r"|\.{2,}"
    r"|[^\w\s]"
)

# A token of a sentence and where it begins and ends.
Piece = tuple[str, tuple[int, int]]


def is_sign(token: str) -> bool:
    """Whether a token may touch the word next to it: punctuation, and clitics such as l'."""
    return token.endswith("'") or not re.search(r"\w", token)


def learn_spacing(sentences: Iterable[list[Piece]]) -> tuple[set[str], set[str]]:
    """Finds the signs that mostly touch the word before, and those that touch the word after.

    Args:
        sentences: Tokens with their positions in the text.

    Returns:
        Two sets of signs, those that close up to the left, those that close up to the right.
    """
    apart_left: Counter[str] = Counter()  # with a space before, less without
    apart_right: Counter[str] = Counter()
    for pieces in sentences:
        for (first, (_, end)), (second, (start, _)) in itertools.pairwise(pieces):
            apart = 1 if start > end else -1
            # Two signs in a row teach nothing: the ? of ?" is not one that touches a word.
            if is_sign(first) and not is_sign(second):
                apart_right[first] += apart
            elif is_sign(second) and not is_sign(first):
                apart_left[second] += apart
    return {s for s in apart_left if apart_left[s] < 0}, {
        s for s in apart_right if apart_right[s] < 0
    }

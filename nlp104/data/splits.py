"""Training, validation and test pairs that share no sentence."""

import hashlib
import re
from collections import Counter

from nlp104.utils.arguments import require_whole
from nlp104.utils.errors import InputError

Pair = tuple[str, str]
SPLITS = ("train", "validation", "test")


def split(
    pairs: list[Pair],
    seed: int = 104,
    validation: int | None = None,
    test: int | None = None,
) -> tuple[list[Pair], list[Pair], list[Pair]]:
    """Divides pairs into train, validation and test so that no sentence stands in two of them.

    Collections of translations hold many sentences several times: one English sentence with five
    French ones, one French sentence for two English ones. When such pairs are divided at random,
    about half of the test's English sentences are in the training part too, and the test measures
    memory. Therefore pairs that share a sentence on either side, directly or through other pairs,
    form a group and stay together. (In the 142,787 pairs of a `fra.txt` the largest group has 72.)
    Sentences that differ in nothing but case and punctuation count as the same.

    Where a group goes depends on the hash of the seed and of its first sentence, never on the
    order of the pairs.

    Args:
        pairs: (source, target) sentences.
        seed: Another seed gives another division.
        validation: How many pairs to take for validation, at most. Defaults to 2 % of all.
        test: How many pairs to take for the test, at most. Defaults to 2 % of all.

    Returns:
        Three lists of pairs, each in the order of `pairs`.

    Raises:
        ValueError: If nothing is left to train on, or a size is no integer of at least 0.

    Example:
        >>> from nlp104.data import split
        >>> pairs = [("Hi.", "Salut."), ("Hi!", "Bonjour."), ("Who?", "Qui ?"), ("Go.", "Va.")]
        >>> train, validation, test = split(pairs, validation=1, test=1)
        >>> train  # what shares a sentence stays together
        [('Hi.', 'Salut.'), ('Hi!', 'Bonjour.')]
        >>> validation, test
        ([('Go.', 'Va.')], [('Who?', 'Qui ?')])
    """
    groups = _groups(pairs)
    group_sizes = Counter(groups)
    share = max(1, round(0.02 * len(pairs)))
    test, validation = require_whole(
        test=share if test is None else test,
        validation=share if validation is None else validation,
    )
    room = {"test": test, "validation": validation}
    part_of = {}
    for group in sorted(group_sizes, key=lambda group: _hash(seed, group)):
        for part in room:
            if group_sizes[group] <= room[part]:
                room[part] -= group_sizes[group]
                part_of[group] = part
                break
    parts: dict[str, list[Pair]] = {"train": [], "validation": [], "test": []}
    for pair, group in zip(pairs, groups, strict=True):
        parts[part_of.get(group, "train")].append(pair)
    if not parts["train"]:
        raise InputError(
            "Expected enough sentence pairs to train on after validation and test have theirs. "
            f"Received: {len(pairs)} in all."
        )
    return parts["train"], parts["validation"], parts["test"]


def subset(pairs: list[Pair], size: int | None, seed: int = 104) -> list[Pair]:
    """Returns at most `size` of the pairs, in their order; the choice depends on the seed alone."""
    if size is None or len(pairs) <= size:
        return pairs
    ranked = sorted(range(len(pairs)), key=lambda i: _hash(seed, "\t".join(pairs[i])))
    return [pairs[i] for i in sorted(ranked[:size])]


def comparable(sentence: str) -> str:
    """Returns what two copies of a sentence have in common: all but case and punctuation.

    Example:
        >>> from nlp104.data import comparable
        >>> comparable("It's late!"), comparable("IT'S LATE")
        ('it s late', 'it s late')
    """
    return re.sub(r"[\W_]+", " ", sentence.casefold()).strip() or sentence


def _groups(pairs):
    """Returns the name of each pair's group: its alphabetically first sentence (union-find)."""
    parent: dict[str, str] = {}

    def root(node):
        while parent.setdefault(node, node) != node:
            parent[node] = node = parent[parent[node]]
        return node

    nodes = ["source " + comparable(source) for source, _ in pairs]
    for node, (_, target) in zip(nodes, pairs, strict=True):
        first, second = sorted((root(node), root("target " + comparable(target))))
        parent[second] = first
    return [root(node) for node in nodes]


def _hash(seed, text):
    """The same on every machine and in every process, unlike Python's own hash()."""
    return hashlib.sha256(f"{seed} {text}".encode()).digest()

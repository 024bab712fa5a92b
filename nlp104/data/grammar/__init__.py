"""English sentences with their gold French translations, alignments, antecedents and parse trees.

The default corpus of the book: as much of it as wanted, from a seed, and rich enough that attention
must work. One word becomes two (not → ne … pas), two become one (looks for → cherche), words change
places (the black cat → le chat noir), and *it* is *il* or *elle* by the noun that it stands for.

No sentence is in two of train, validation and test: which one it belongs to is a matter of its
letters (a hash), not of the seed. Besides, some combinations of words (an adjective and a noun, a
verb and its subject or object) are held out: they occur in test sentences only, while each of their
words is common in training.
"""

import hashlib
from dataclasses import dataclass
from functools import cache
from numbers import Integral

from nlp104.data.grammar.chance import Draw
from nlp104.data.grammar.french import Word, smooth, spell
from nlp104.data.grammar.patterns import Sentence, draw_nested, draw_sentence
from nlp104.data.grammar.phrases import READINGS, Leaf, readings
from nlp104.data.splits import SPLITS
from nlp104.utils.arguments import require_number, require_one_of
from nlp104.utils.errors import InputError

MAX_COUNT = {"train": 1_000_000, "validation": 50_000, "test": 50_000}
MAX_NESTED = 10_000
MAX_WORDS = 15  # punctuation included

# Chosen so that both sentences about the animal and the street (too tired, too wide) are for test.
_SALT = "nlp104-168"


@dataclass(frozen=True)
class Example:
    """A sentence and all that is known about it.

    How words are aligned: what is two words in one of the languages is aligned twice (not ↔ ne,
    pas; because ↔ parce, que; slept ↔ a, dormi; looks for ↔ cherche; enters ↔ entre, dans; to the
    ↔ au). Words without a counterpart are not aligned: "do" beside another verb ("does not sleep"),
    *Est-ce que*, and *de l'* in *de l'eau* ("water").

    Attributes:
        source: The English sentence.
        target: The French sentence, by the preferred reading of its pronouns.
        targets: All right French sentences, `target` first: "you" can be *vous* or
            *tu*, "they" *ils* or *elles*.
        source_words: The words and punctuation marks of `source`, the first word with its capital.
        target_words: The same for `target`; an elided word keeps its apostrophe: l', n', qu'.
        alignment: Pairs ``(i, j)``, sorted: ``target_words[j]`` translates ``source_words[i]``.
        antecedent: The index in `source_words` of the noun that *it* stands for, or `None`.
        pronoun: The index of that *it*, or `None`.
        tree: The English parse tree in brackets, labelled like the Penn Treebank; its leaves
            are the `source_words`.
        pattern: The name of the sentence pattern.
        held_out: Whether the sentence has a combination of words that no training sentence has.

    Example:
        >>> from nlp104.data import grammar
        >>> [example] = grammar.generate(1, seed=2)
        >>> print(example.source, "=", example.target)
        The mouse does not follow the donkey because it is too fast. =
        La souris ne suit pas l'âne parce qu'il est trop rapide.
        >>> words = example.source_words
        >>> words[example.pronoun], words[example.antecedent]  # which is why it is il, not elle
        ('it', 'donkey')
        >>> [example.target_words[j] for i, j in example.alignment if words[i] == "not"]
        ['ne', 'pas']
    """

    source: str
    target: str
    targets: tuple[str, ...]
    source_words: tuple[str, ...]
    target_words: tuple[str, ...]
    alignment: tuple[tuple[int, int], ...]
    antecedent: int | None
    pronoun: int | None
    tree: str
    pattern: str
    held_out: bool


def generate(count: int, seed: int = 0, split: str = "train") -> list[Example]:
    """Returns sentences, no two alike.

    The same arguments give the same list on every machine; a larger count only makes it longer.
    Another seed gives other sentences of the same split.

    Args:
        count: How many.
        seed: An integer of at least 0.
        split: ``"train"``, ``"validation"`` or ``"test"``.

    Returns:
        A list of `count` `Example`s.

    Raises:
        ValueError: If there is no such split, the count is no integer, negative or larger than
            `MAX_COUNT`, or the seed is no integer of at least 0.

    Example:
        >>> from nlp104.data import grammar
        >>> for example in grammar.generate(3, seed=2):
        ...     print(example.source)
        The mouse does not follow the donkey because it is too fast.
        The ant avoided the path because it was too narrow.
        Is our fresh pear in our box?
    """
    require_one_of(SPLITS, split=split)
    promised = f", as many {split} sentences as the grammar promises to have"
    _require_count(count, MAX_COUNT[split], promised)
    draw = Draw(seed)
    examples: list[Example] = []
    seen = set()
    while len(examples) < count:
        english = _English(*draw_sentence(draw))
        is_new = len(english.leaves) <= MAX_WORDS and english.source not in seen
        if is_new and english.split == split:
            seen.add(english.source)
            examples.append(english.translated())
    return examples


def generate_nested(count: int, seed: int = 0) -> list[Example]:
    """Returns sentences deeper than any of `generate`: a clause in a clause in "… says that".

    They try what a model makes of words it knows in a structure that it never met. No two are
    alike, and the same arguments give the same list on every machine.

    Raises:
        ValueError: If the count is no integer between 0 and 10,000, or the seed no integer of at
            least 0.

    Example:
        >>> from nlp104.data import grammar
        >>> for example in grammar.generate_nested(2, seed=1):
        ...     print(example.source)
        The prince knows that an old soldier thinks that he entered this big hotel.
        The witch thinks that you believe that this prince does not dance in this library.
    """
    _require_count(count, MAX_NESTED)
    draw = Draw(seed)
    examples: dict[str, Example] = {}
    while len(examples) < count:
        example = write(draw_nested(draw), "nested")
        examples.setdefault(example.source, example)
    return list(examples.values())


def _require_count(count, largest, why=""):
    def fits(count):
        return isinstance(count, Integral) and 0 <= count <= largest

    expected = f"an integer between 0 and {largest:,}{why}"
    require_number("count", count, fits, expected, InputError)


def write(sentence: Sentence, pattern: str = "") -> Example:
    """Returns the `Example` that a sentence amounts to.

    Example:
        >>> from nlp104.data import grammar
        >>> from nlp104.data.grammar.chance import Draw
        >>> from nlp104.data.grammar.patterns import draw_sentence
        >>> pattern, sentence = draw_sentence(Draw(seed=2))
        >>> pattern, grammar.write(sentence).target
        ('reason', "La souris ne suit pas l'âne parce qu'il est trop rapide.")
    """
    return _English(pattern, sentence).translated()


class _English:
    """The English side of a sentence; the French side is worked out only when it is asked for."""

    def __init__(self, pattern, sentence):
        self.pattern = pattern
        self._sentence = sentence
        clause, opening = sentence.clause.tree, sentence.opening
        self._end = Leaf(".", "?" if clause[0] == "SQ" else ".")
        self._comma = Leaf(",", ",")
        before = (opening.tree, self._comma) if opening else ()
        self._tree = (clause[0], *before, *clause[1:], self._end)
        self.leaves = _leaves(self._tree)
        self._pronouns = {leaf.text for leaf in self.leaves if leaf.tag == "PRP"} & READINGS.keys()
        first, *others = [leaf.text for leaf in self.leaves]
        self.words = (_capitalised(first), *others)
        self.source = spell(self.words).replace(" ?", "?")

    @property
    def held_out(self):
        parts = self._sentence.clause, self._sentence.opening
        pairs = [pair for part in parts if part for pair in part.pairs]
        return any(map(is_held_out, pairs))

    @property
    def split(self):
        return "test" if self.held_out else split_of(self.source)

    def translated(self):
        for index, leaf in enumerate(self.leaves):
            leaf.index = index
        versions = [self._french(reading) for reading in readings(self._pronouns)]
        targets = [spell([word for word, _ in version]) for version in versions]
        links = {(leaf.index, j) for j, (_, leaves) in enumerate(versions[0]) for leaf in leaves}
        it = self._sentence.it
        return Example(
            source=self.source,
            target=targets[0],
            targets=tuple(dict.fromkeys(targets)),
            source_words=self.words,
            target_words=tuple([word for word, _ in versions[0]]),
            alignment=tuple(sorted(links)),
            antecedent=it and it.antecedent.leaf.index,
            pronoun=it and it.leaf.index,
            tree=_brackets(self._tree, self.words),
            pattern=self.pattern,
            held_out=self.held_out,
        )

    def _french(self, reading) -> list[Word]:
        words = self._sentence.clause.french(reading)
        if self._sentence.opening:
            words = [*self._sentence.opening.french(reading), (",", (self._comma,)), *words]
        words = [*smooth(words), (self._end.text, (self._end,))]
        words[0] = _capitalised(words[0][0]), words[0][1]
        return words


def _capitalised(word):
    return word[0].upper() + word[1:]  # str.capitalize would lower the rest


def _leaves(tree):
    if isinstance(tree, Leaf):
        return [tree]
    return [leaf for child in tree[1:] for leaf in _leaves(child)]


def _brackets(tree, words):
    if isinstance(tree, Leaf):
        return f"({tree.tag} {words[tree.index]})"
    return f"({tree[0]} {' '.join([_brackets(child, words) for child in tree[1:]])})"


def split_of(source: str) -> str:
    """Returns the split of an English sentence without a held-out combination: 90, 5 and 5 %.

    Example:
        >>> from nlp104.data import grammar
        >>> [grammar.split_of(f"The {word} cat sleeps.") for word in ("black", "big", "old")]
        ['train', 'train', 'validation']
    """
    share = _number(source) % 20
    return SPLITS[max(0, share - 17)]


@cache
def is_held_out(pair: tuple[str, str]) -> bool:
    """Whether a combination of two English words, each in its plain form, is kept for the test.

    Example:
        >>> from nlp104.data import grammar
        >>> [grammar.is_held_out((word, "bear")) for word in ("black", "big", "small")]
        [False, False, True]
    """
    return _number(" ".join(pair)) % 40 == 0


def _number(text):
    """A number that depends on the text alone; `hash` differs from run to run."""
    return int.from_bytes(hashlib.sha256(f"{_SALT} {text}".encode()).digest()[:8], "big")

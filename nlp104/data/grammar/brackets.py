"""Parse trees, and the sequences of brackets in which a decoder can write them.

A tree is a nested tuple: a label and its children, ``("NP", child, …)``, or a part of speech and
its word, ``("NN", "cat")``. Its sequence is that of Vinyals et al. (2015, "Grammar as a foreign
language", section 2.2), but for their parts of speech, which are all one: a phrase opens with
``(NP`` and closes with ``)NP``, and a part of speech stands for each word. The words themselves are
left out, as the sentence has them.
"""

import re
from collections.abc import Sequence

from nlp104.utils.errors import InputError

MISTAKES = ("brackets", "words", "labels", "shape")


def parse(text: str) -> tuple:
    """Returns a tree that is written as in the Penn Treebank, such as `Example.tree`.

    Args:
        text: Such as "(NP (DT the) (NN cat))".

    Returns:
        The tree as nested tuples.

    Raises:
        ValueError: If the text is not one tree.

    Example:
        >>> from nlp104.data.grammar import brackets
        >>> brackets.parse("(NP (DT the) (NN cat))")
        ('NP', ('DT', 'the'), ('NN', 'cat'))
    """
    stack: list[list] = [[]]
    for token in re.findall(r"[()]|[^\s()]+", text):
        if token == "(":
            stack.append([])
        elif token != ")":
            stack[-1].append(token)
        elif len(stack) == 1:
            break  # closes what was never opened
        else:
            done = tuple(stack.pop())
            stack[-1].append(done)
    else:
        if len(stack) == 1 and len(stack[0]) == 1 and _is_tree(stack[0][0]):
            return stack[0][0]
    raise InputError(f"Expected one tree in brackets. Received: {text!r}.")


def _is_tree(tree):
    """Whether a label stands before one word, or before some brackets."""
    if not (isinstance(tree, tuple) and len(tree) > 1 and isinstance(tree[0], str)):
        return False
    return (len(tree) == 2 and isinstance(tree[1], str)) or all(map(_is_tree, tree[1:]))


def write(tree: tuple) -> list[str]:
    """Returns the sequence of a tree: walk around it, and write down what is opened and closed.

    Args:
        tree: Nested tuples, as of `parse`.

    Returns:
        The tokens of its sequence.

    Example:
        >>> from nlp104.data.grammar import brackets
        >>> cat = brackets.parse("(S (NP (DT The) (NN cat)) (VP (VBZ sleeps)) (. .))")
        >>> print(*brackets.write(cat))
        (S (NP DT NN )NP (VP VBZ )VP . )S
    """
    label, *children = tree
    if isinstance(children[0], str):
        return [label]
    inner = [token for child in children for token in write(child)]
    return [f"({label}", *inner, f"){label}"]


def read(tokens: Sequence[str], words: Sequence[str]) -> tuple:
    """Returns the tree that a sequence stands for: `write` the other way round, with a stack.

    Args:
        tokens: The sequence.
        words: Those of the sentence, one for each part of speech.

    Returns:
        The tree as nested tuples.

    Raises:
        ValueError: If the sequence is not well-formed: a bracket closes what is not open, stays
            open, holds nothing or stands behind the end, or there is not one part of speech for
            each word.

    Example:
        >>> from nlp104.data.grammar import brackets
        >>> brackets.read("(NP DT NN )NP".split(), ["the", "cat"])
        ('NP', ('DT', 'the'), ('NN', 'cat'))
        >>> brackets.read("(NP DT NN )VP".split(), ["the", "cat"])
        Traceback (most recent call last):
            ...
        nlp104.utils.errors.InputError: Expected )NP at place 4. Received: )VP.
    """
    tags = [token for token in tokens if not is_bracket(token)]
    if len(tags) != len(words):
        raise InputError(f"Expected {len(words)} parts of speech. Received: {len(tags)}.")
    stack: list[list] = [[]]
    rest = iter(words)
    for place, token in enumerate(tokens, start=1):
        if stack[0] or (len(stack) == 1 and not token.startswith("(")):
            wanted = "the end" if stack[0] else "an opening bracket"
            raise InputError(f"Expected {wanted} at place {place}. Received: {token}.")
        if token.startswith("("):
            stack.append([token[1:]])
        elif not token.startswith(")"):
            stack[-1].append((token, next(rest)))
        elif not _closes(token, stack[-1]):
            wanted = f"){stack[-1][0]}" if len(stack[-1]) > 1 else "something in the phrase"
            raise InputError(f"Expected {wanted} at place {place}. Received: {token}.")
        else:
            done = tuple(stack.pop())
            stack[-1].append(done)
    if not stack[0]:
        wanted = f"){stack[-1][0]}" if len(stack) > 1 else "a tree"
        raise InputError(f"Expected {wanted} at the end. Received: nothing.")
    return stack[0][0]


def _closes(token, phrase):
    """Whether a bracket closes this phrase: it has its name, and the phrase holds something."""
    return token[1:] == phrase[0] and len(phrase) > 1


def spans(tokens: Sequence[str]) -> list[tuple[int, int]]:
    """Returns for each token of a well-formed sequence where the words stand that it is about.

    Args:
        tokens: The sequence.

    Returns:
        The places of the first and of the last word of the phrase that the token opens or closes;
        for a part of speech the place of its word, twice.

    Raises:
        ValueError: If the sequence is not well-formed, as of `read`.

    Example:
        >>> from nlp104.data.grammar import brackets
        >>> tokens = "(S (NP DT NN )NP (VP VBZ )VP . )S".split()
        >>> dict(zip(tokens, brackets.spans(tokens)))[")NP"]
        (0, 1)
    """
    read(tokens, [token for token in tokens if not is_bracket(token)])  # any words do
    found = [(0, 0)] * len(tokens)
    opened, word = [], 0
    for place, token in enumerate(tokens):
        if token.startswith("("):
            opened.append((place, word))
        elif token.startswith(")"):
            begun, first = opened.pop()
            found[begun] = found[place] = first, word - 1
        else:
            found[place] = word, word
            word += 1
    return found


def mistake(said: Sequence[str], gold: Sequence[str]) -> str:
    """Returns what is wrong with a sequence, as one of `MISTAKES`; nothing if it is right.

    Args:
        said: What was written.
        gold: What is right.

    Returns:
        ``"brackets"`` if it is no tree at all; else ``"words"`` if it has not as many parts of
        speech as there are words; else ``"labels"`` if only names differ; else ``"shape"``; and
        ``""`` if all is right.

    Example:
        >>> from nlp104.data.grammar import brackets
        >>> gold = "(S (NP NN )NP (VP VBZ )VP )S".split()
        >>> brackets.mistake("(S (NP NN )NP (VP VBZ )S )VP".split(), gold)
        'brackets'
        >>> brackets.mistake("(S (NP NN )NP (VP VBD )VP )S".split(), gold)
        'labels'
    """
    said, gold = list(said), list(gold)
    if said == gold:
        return ""
    tags = [token for token in said if not is_bracket(token)]
    try:
        read(said, tags)
    except InputError:
        return "brackets"
    if len(tags) != sum(not is_bracket(token) for token in gold):
        return "words"
    nameless = [[t[0] if is_bracket(t) else "word" for t in tokens] for tokens in (said, gold)]
    return "labels" if nameless[0] == nameless[1] else "shape"


def is_bracket(token: str) -> bool:
    """Returns whether a token opens or closes a phrase; the others are parts of speech.

    Example:
        >>> from nlp104.data.grammar import brackets
        >>> [brackets.is_bracket(token) for token in ("(NP", "NN", ")NP")]
        [True, False, True]
    """
    return token.startswith(("(", ")"))

"""Byte-pair encoding merge by merge: a text of the reader's own grows from letters to words."""

import itertools

from nlp104.figures.drawing import Drawing
from nlp104.figures.explore.explorable import Explorable

TITLE = "Letters grow together"
ALT = "{text} After {step} of {all} merges: {tokens}, {count} tokens in place of {letters}."


def merges(pairs, words, text, step=0):
    """How a text is cut after each merge of a byte-pair encoding, and which pair comes next.

    The reader pulls the number of merges, and types a text. A merge that changes the text fills the
    token that is new. Sennrich, Haddow and Birch (2016), section 3.2.

    Args:
        pairs: the merges in the order in which they were learned: pairs of tokens.
        words: what they were learned from: from a word, whose beginning is marked with ``▁``, to
            how often it occurs. It says how often two tokens stood side by side, and which letters
            are known: another one is drawn as a sign.
        text: what is cut first.
        step: how many merges are done before the figure is touched.

    Returns:
        An object that a notebook displays; ``save(path)`` writes a page of its own.

    Raises:
        ValueError: There is no merge, or one joins tokens that stand side by side in no word.

    Example:
        >>> from nlp104.figures import explore
        >>> cats = {"▁chat": 6, "▁chats": 4, "▁rat": 5}
        >>> it = explore.merges([("a", "t"), ("c", "h")], cats, "chat", step=1)
        >>> it.data["merges"]
        [['a', 't', 15], ['c', 'h', 10]]
        >>> it.alt
        'chat After 1 of 2 merges: ▁ c h at, 4 tokens in place of 5.'
    """
    if not pairs:
        raise ValueError("Expected at least one merge. Received: none.")
    counted = _counted(pairs, words)
    step = min(step, len(counted))
    letters = [part for word in text.split() for part in f"▁{word}"]
    tokens = letters
    for one, other, _ in counted[:step]:
        tokens = _join(tokens, one, other)
    alt = ALT.format(
        text=text,
        step=step,
        all=len(counted),
        tokens=" ".join(tokens),
        count=len(tokens),
        letters=len(letters),
    )
    data = {
        "merges": counted,
        "letters": "".join(sorted({letter for word in words for letter in word})),
        "text": text,
        "step": step,
    }
    return Explorable("merges", TITLE, data, _still(tokens, counted, step), alt)


def _join(tokens, one, other):
    """Every occurrence of a pair of neighbours becomes one token, from left to right."""
    joined = []
    for token in tokens:
        if joined and (joined[-1], token) == (one, other):
            joined[-1] += token
        else:
            joined.append(token)
    return joined


def _counted(pairs, words):
    """The merges with how often the two stood side by side in all words."""
    state, found = {word: list(word) for word in words}, []
    for one, other in pairs:
        times = 0
        for word, tokens in state.items():
            state[word] = _join(tokens, one, other)
            times += (len(tokens) - len(state[word])) * words[word]
        if not times:
            raise ValueError(
                f"Expected tokens that stand side by side in a word. Received: {one!r}, {other!r}."
            )
        found.append([one, other, times])
    return found


def _wide(token):
    """The width of a token in the still."""
    return 8.4 * len(token) + 12


def _still(tokens, merges, step):
    """The tokens, and the merge that made the last of them."""
    drawing, x, y, high = Drawing(360), 0, 0, 28
    new = "".join(merges[step - 1][:2]) if step else None
    for number, token in enumerate(tokens):
        wide = _wide(token)
        if token.startswith("▁") or x + wide > 360:  # a word stays in one line if it can
            rest = itertools.takewhile(lambda t: not t.startswith("▁"), tokens[number + 1 :])
            if x and x + wide + sum(map(_wide, rest)) > 360:
                x, y = 0, y + high
        chosen = 0 if token == new else None
        drawing.tokens(x, y, [token], width=wide, height=high, chosen=chosen)
        x += wide
    y += high + 22
    if step:
        one, other, times = merges[step - 1]
        drawing.text(0, y, f"{step}: {one} + {other}, {times:,} times side by side")
        y += 14
    return drawing.svg(y)

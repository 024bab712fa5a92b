"""Drafts: cheap guesses at what a text goes on with, for `nlp104.decoding.speculate`.

A draft is a function of `keras.ops`, ``draft(tokens, length, number)``: from the tokens of a text,
of which the first `length` are written, to `number` tokens that may come next, 0 where it does not
know. It need not be right, but quick: it runs before every pass of the model.
"""

import numpy as np
from keras import ops

from nlp104.utils.arguments import require_positive

MULTIPLIER = np.int32(1_000_003)  # odd, so that no two tokens at the same place fall together


class PromptLookup:
    """Guesses that a text goes on as it did before: with what followed its last tokens earlier.

    (Saxena, 2023.) The longest run of last tokens that occurs earlier is looked for, and of its
    places the latest is taken. A text that begins to repeat itself is guessed to go on so.

    Args:
        longest: number of last tokens to look for, at most.

    Call arguments:
        tokens: integers `[space]`.
        length: integer scalar, the number of them that are written.
        number: number of tokens to guess.

    Returns:
        Integers `[number]`, all 0 if the last token occurs for the first time.

    Raises:
        ValueError: if `longest` is not a positive integer.

    Example:
        >>> from keras import ops
        >>> from nlp104.decoding import PromptLookup
        >>> draft = PromptLookup()
        >>> text = ops.array([5, 8, 6, 7, 9, 4, 8, 6, 0, 0])
        >>> print(ops.convert_to_numpy(draft(text, length=8, number=2)))  # after 8 6 stood 7 9
        [7 9]
        >>> print(ops.convert_to_numpy(draft(text, length=6, number=2)))  # 4 was not there before
        [0 0]
    """

    def __init__(self, longest=3):
        [self.longest] = require_positive(longest=longest)

    def __call__(self, tokens, length, number):
        space = ops.shape(tokens)[0]
        ends = ops.arange(space, dtype="int32")  # a run may end before any of these places
        agree, longer = ops.zeros_like(ends), (ends > 0) & (ends < length)
        for back in range(1, self.longest + 1):
            before = ops.take(tokens, ops.maximum(ends - back, 0))
            last = ops.take(tokens, ops.maximum(length - back, 0))
            longer = longer & (ends >= back) & (before == last)
            agree = agree + ops.cast(longer, "int32")
        # The largest of these numbers belongs to the longest run, and of those to the latest.
        best = ops.max(ops.where(agree > 0, agree * space + ends, 0))
        end = best % space
        ahead = ops.arange(number, dtype="int32") % ops.maximum(length - end, 1)
        return ops.where(best > 0, ops.take(tokens, end + ahead), 0)


class NGrams:
    """Guesses what most often followed the last tokens in texts that were counted before.

    The longest run of last tokens that was counted decides, and one token is guessed after the
    other. Of tokens that followed equally often, the one that was met first is taken. The beginning
    of a text counts as part of a run.

    Args:
        texts: iterable of sequences of integers, the tokens of a text each.
        longest: number of last tokens to look at, at most: n - 1 of the n-grams.

    Call arguments:
        tokens: as for `PromptLookup`.
        length: as for `PromptLookup`.
        number: as for `PromptLookup`.

    Returns:
        Integers `[number]`, 0 from where on nothing ever followed.

    Raises:
        ValueError: if `longest` is not a positive integer, a text is something else, or there is
            no token in the texts.

    Example:
        >>> from keras import ops
        >>> from nlp104.decoding import NGrams
        >>> draft = NGrams([[5, 6, 7, 8], [5, 6, 7, 9], [4, 6, 7, 9]], longest=2)
        >>> text = ops.array([5, 0, 0, 0])
        >>> print(ops.convert_to_numpy(draft(text, length=1, number=4)))
        [6 7 9 0]
    """

    def __init__(self, texts, longest=4):
        [self.longest] = require_positive(longest=longest)
        texts = [np.asarray(text) for text in texts]
        for text in texts:
            if text.ndim != 1 or (text.size and not np.issubdtype(text.dtype, np.integer)):
                raise ValueError(
                    "Expected a sequence of integers for each text. "
                    f"Received: {text.dtype} of shape {list(text.shape)}."
                )
        # Each token with those before it, 0 before the first.
        padded = [np.pad(text.astype("int32"), (self.longest, 0)) for text in texts if text.size]
        width = self.longest + 1
        windows = [np.lib.stride_tricks.sliding_window_view(text, width) for text in padded]
        windows = np.concatenate([np.zeros((0, width), "int32"), *windows])
        if not len(windows):
            raise ValueError("Expected texts to count. Received: no token.")
        # The keys of all runs before a token, the shortest first, and what followed them.
        keys = np.concatenate(_keys(windows[:, :-1].T))
        followed = np.tile(windows[:, -1], self.longest)
        pairs, first, counts = np.unique(
            (keys.astype("int64") << 32) + followed, return_index=True, return_counts=True
        )
        order = np.lexsort((first, -counts, pairs >> 32))  # of each run, the likeliest token first
        self.keys, best = np.unique(keys[first[order]], return_index=True)
        place = first[order[best]]
        # A guess is the end of the next run, which has one token more than this one.
        runs = windows[place % len(windows), 1:]
        longer = place[:, None] // len(windows) + 2
        runs = np.where(np.arange(self.longest) >= self.longest - longer, runs, -1)
        self.guesses = np.append(followed[place], np.int32(0))  # 0 where nothing is known
        after = ops.convert_to_numpy(self._find(np.stack(_keys(runs.T))))
        self.after = np.append(after, np.int32(len(self.keys)))

    def _find(self, keys):
        """The places of the longest of the runs with these keys `[longest, number]`."""
        places = ops.searchsorted(self.keys, ops.reshape(keys, (-1,)))
        places = ops.cast(ops.minimum(places, len(self.keys) - 1), "int32")
        places = ops.reshape(places, keys.shape)
        known = ops.cast(ops.equal(ops.take(self.keys, places), keys), "int32")
        # Of a run that was counted, so was every end of it: what is known comes first.
        longest = ops.sum(known, axis=0, keepdims=True)  # [1, number]
        place = ops.take_along_axis(places, ops.maximum(longest - 1, 0), axis=0)
        return ops.where(longest > 0, place, len(self.keys))[0]

    def __call__(self, tokens, length, number):
        places = length - self.longest + ops.arange(self.longest, dtype="int32")
        run = ops.where(places >= 0, ops.take(tokens, ops.maximum(places, 0)), 0)
        keys = _keys([run[place : place + 1] for place in range(self.longest)])
        place, guesses = self._find(ops.stack(keys)), []
        for _ in range(number):
            guesses.append(ops.take(self.guesses, place))
            place = ops.take(self.after, place)
        return ops.concatenate(guesses)


def _keys(tokens):
    """A key for each run of last tokens, the shortest first, from the tokens in their order.

    Two runs have the same key once in four billion: then a guess is wrong.
    """
    keys, key = [], 0
    for token in tokens[::-1]:
        key = key * MULTIPLIER + token
        keys.append(key)
    return keys

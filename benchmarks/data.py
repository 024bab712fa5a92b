"""Sentences as token ids, and the ways in which the peers' tutorials put them into batches."""

from pathlib import Path

import numpy as np

from nlp104.data.corpus import load_corpus
from nlp104.data.tokenizer import END_ID, PAD_ID, START_ID, Tokenizer

LONGEST = 40  # tokens, the special one included; the fixed length of KerasHub's tutorial
FIRST_ID = 4  # the ids below it are the special tokens


def sentences(data, vocabulary_size, seed=104):
    """Training and test pairs as lists of ids, those longer than `LONGEST` left out.

    Args:
        data: ``"grammar"``, or a folder with ``train.en``, ``train.de`` and ``val.*`` as Multi30k's
            raw files have them.
        vocabulary_size: Of the byte-pair vocabulary that both languages share; a small corpus
            fills less of it.
        seed: Of the grammar.

    Returns:
        `(sources, targets)` for training and for test, without special tokens.
    """
    if data == "grammar":
        corpus = load_corpus("grammar", seed=seed)
    else:
        folder = Path(data)
        parts = {part: folder / file for part, file in (("validation", "val"), ("test", "val"))}
        corpus = load_corpus(folder / "train", "en", "de", **parts)
    tokenizer = Tokenizer.train(
        [sentence for pair in corpus.train for sentence in pair],
        kind="bpe",
        vocabulary_size=vocabulary_size,
    )
    both = []
    for pairs in (corpus.train, corpus.test):
        sides = [tokenizer.encode_batch(side) for side in zip(*pairs, strict=True)]
        kept = [pair for pair in zip(*sides, strict=True) if max(map(len, pair)) < LONGEST]
        both.append(tuple(map(list, zip(*kept, strict=True))))
    return both


def batch(sources, targets, source_width=None, target_width=None):
    """Pads pairs to one batch, in the form of `nlp104.data.batches.Batches`.

    Args:
        sources: Lists of ids.
        targets: The same for the translations.
        source_width: Columns of the source; by default as many as the longest needs.
        target_width: Columns of the target; likewise.
    """
    target = [[START_ID, *ids, END_ID] for ids in targets]
    source = pad([[*ids, END_ID] for ids in sources], source_width)
    labels = pad([ids[1:] for ids in target], target_width)
    decoder = pad([ids[:-1] for ids in target], labels.shape[1])
    return {"encoder_token_ids": source, "decoder_token_ids": decoder}, labels


def pad(rows, width=None):
    """Lists of ids as an int32 array with padding behind their ends."""
    width = width or max(map(len, rows))
    array = np.full((len(rows), width), PAD_ID, np.int32)
    for row, ids in zip(array, rows, strict=True):
        row[: len(ids)] = ids
    return array


def stream(sources, targets, batch_size, width=None, seed=104):
    """Random batches for ever, each pair once an epoch; what is left of an epoch is dropped.

    Args:
        sources: Lists of ids.
        targets: The same for the translations.
        batch_size: Pairs in a batch.
        width: Fixed number of columns of both sides; by default that of each batch's longest.
        seed: Of the order.
    """
    generator = np.random.default_rng(seed)
    while True:
        order = generator.permutation(len(sources))
        for start in range(0, len(order) - batch_size + 1, batch_size):
            rows = order[start : start + batch_size]
            yield batch([sources[i] for i in rows], [targets[i] for i in rows], width, width)


def same_batches(sources, targets, batch_size, count, seed=104):
    """The batches that all peers share: random pairs, all padded to one width.

    The width is that of the longest sentence, rounded up to a multiple of 8: one shape, so that
    nobody has to trace or compile a second time.
    """
    longest = max(max(map(len, sources)), max(map(len, targets))) + 1  # with the special token
    batches = stream(sources, targets, batch_size, width=longest + -longest % 8, seed=seed)
    return [next(batches) for _ in range(count)]


def synthetic(batch_size, length, vocabulary_size, seed=104):
    """A batch of random ids without any padding: each side has exactly `length` tokens."""
    ids = np.random.default_rng(seed).integers(
        FIRST_ID, vocabulary_size, (2, batch_size, length - 1)
    )
    return batch(*ids.tolist())


def real_tokens(batches):
    """The number of target tokens that are no padding, the end tokens included."""
    return sum(int(np.count_nonzero(labels)) for _, labels in batches)

"""Shannon's guessing game: how many guesses does each letter take a model, and how many a table?

    python -m experiments.guessing

trains the model of the chapter *A language model* for 3,600 steps, with dropout, and lets it guess
letters that it never read: those of the passages that `explore.next_letter` plays, and all of the
tenth of the book that is kept for tests. It writes ``results/language-model/guesses.json``.

A letter is guessed without its case, and from 27 keys: a to z and the space. So the probabilities
of both cases are added, what is none of the 27 is left out, and the rest is scaled to a sum of 1;
for the model and for the tables alike. Guesses are made in the order of these probabilities: how
many it takes is the place of the right letter. In a passage nobody knows what came before it.
"""

import argparse
import itertools
import string
import sys

import keras
import numpy as np

from experiments import records
from experiments.language_model import (
    LENGTH,
    alphabet,
    book,
    loss_on,
    small_gpt,
    split,
    train_on,
)
from nlp104.training.optimizer import compile_model

KEYS = string.ascii_lowercase + " "
STEPS, SEED, DROPOUT = 3600, 104, 0.1
BEST = 6  # of the likeliest letters are kept
TABLES = {"triples": 3}  # how many letters each counts together
PLACES = ("first letter of a word", "second letter", "a later one", "the space after it")
PASSAGES = (  # what is shown, what is guessed
    ("fame", "Attention gets all the fame, ", "and the small network behind it holds"),
    ("networks", "Before 2017, most networks ", "that read a sentence read it like a tape"),
    ("babbles", "Your Transformer babbles. ", "It has everything but experience"),
    ("training", "Training is over, and the ", "notebook is about to close"),
)


def folded(probabilities, number):
    """The probabilities of the 27 keys, from those of all characters: [place, key], in float64.

    Args:
        probabilities: [place, id].
        number: from each character to its id.
    """
    probabilities = np.asarray(probabilities, "float64")
    keys = np.stack(
        [
            sum(probabilities[:, number[c]] for c in {key, key.upper()} if c in number)
            for key in KEYS
        ],
        axis=1,
    )
    return keys / keys.sum(1, keepdims=True)


def answers(probabilities, letters):
    """The place in the order of guesses of each letter, and its probability."""
    right = np.array([KEYS.index(letter) for letter in letters.lower()])
    own = np.take_along_axis(probabilities, right[:, None], 1)
    return 1 + (probabilities > own).sum(1), own[:, 0]


def table(train, n, size):
    """P(next | the n - 1 before it), counted, as the chapter does it: [what came before, id]."""
    if n == 0:
        return np.full((1, size), 1 / size)
    windows = np.lib.stride_tricks.sliding_window_view(train, n)
    places = windows.astype("int64") @ size ** np.arange(n)[::-1]
    counts = np.bincount(places, minlength=size**n).reshape(-1, size)
    shorter = table(train, n - 1, size)
    shorter = np.tile(shorter, (len(counts) // len(shorter), 1))
    return (counts + 5 * shorter) / (counts.sum(1, keepdims=True) + 5)


def by_table(train, n, size):
    """A function: what a table says at each place of a row of ids but the first, [place, id]."""
    tables = [table(train - 4, length, size) for length in range(n + 1)]

    def says(ids):
        rows = []
        for end in range(1, len(ids)):
            before = ids[max(0, end - n + 1) : end] - 4  # less than the table knows, at the start
            place = before @ size ** np.arange(len(before))[::-1]
            rows.append(tables[len(before) + 1][place])
        return np.pad(rows, ((0, 0), (4, 0)))

    return says


def by_model(model):
    """A function: what a model says at each place of a row of ids but the first, [place, id]."""

    def says(ids):
        logits = keras.ops.convert_to_numpy(model(ids[None, :-1]))[0].astype("float64")
        powers = np.exp(logits - logits.max(1, keepdims=True))
        return powers / powers.sum(1, keepdims=True)

    return says


def played(says, shown, hidden, number):
    """What one who guesses needs for each hidden letter of a passage.

    Args:
        says: from ids to probabilities, such as `by_model` returns.
        shown: how the passage begins.
        hidden: how it goes on.
        number: from each character to its id.

    Returns:
        A dictionary: ``places``, how many guesses; ``own``, the probability of the right letter;
        ``best``, for each letter the likeliest keys with their probabilities.
    """
    ids = np.array([number[c] for c in shown + hidden], "int32")
    probabilities = folded(says(ids)[len(shown) - 1 :], number)
    places, own = answers(probabilities, hidden)
    order = np.argsort(-probabilities, 1, kind="stable")[:, :BEST]
    best = [
        {KEYS[key]: round(float(row[key]), 4) for key in keys}
        for row, keys in zip(probabilities, order, strict=True)
    ]
    return {"places": places.tolist(), "own": [round(x, 4) for x in own.tolist()], "best": best}


def place_in_word(text, at):
    """Which of `PLACES` a character is at; None where it is none of them."""
    if text[at] == " ":
        return 3 if text[at - 1].lower() in KEYS[:26] else None
    if text[at].lower() not in KEYS:
        return None
    start = at
    while start and text[start - 1].lower() in KEYS[:26]:
        start -= 1
    return min(at - start, 2) if start and text[start - 1] == " " else None


def tested(says, rows, number):
    """How many guesses and nats letters of rows of the test take, all and by place in the word.

    The first 32 places of a row are left out, where little is known, and so are letters of words
    that do not follow a space.
    """
    character = {i: c for c, i in number.items()}
    found = [[] for _ in PLACES]
    for ids in rows:
        text = "".join(character[i] for i in ids.tolist())
        kinds = [None] * 32 + [place_in_word(text, at) for at in range(32, len(text))]
        asked = [at for at, kind in enumerate(kinds) if kind is not None]
        probabilities = folded(says(ids)[np.array(asked) - 1], number)
        for at, place, own in zip(
            asked, *answers(probabilities, "".join(text[at] for at in asked)), strict=True
        ):
            found[kinds[at]].append((place, -np.log(own)))
    means = dict(zip(PLACES, map(_mean, found), strict=True))
    return {"all": _mean(list(itertools.chain(*found)))} | means


def _mean(pairs):
    """Of guesses and nats: their means, and how often the first guess was right."""
    guesses, nats = np.array(pairs).T
    return {
        "letters": len(pairs),
        "guesses": round(float(guesses.mean()), 3),
        "first": round(float((guesses == 1).mean()), 3),
        "nats": round(float(nats.mean()), 3),
    }


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m experiments.guessing", description=__doc__)
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--weights", help="a file of weights, of a model that was trained before")
    options = parser.parse_args(arguments)
    text = book()
    number = alphabet(text)
    train, validation, vocabulary_size = split(text)
    keras.utils.set_random_seed(SEED)
    model = small_gpt(vocabulary_size, dropout=DROPOUT)
    if options.weights:
        model(train[None, :LENGTH])
        model.load_weights(options.weights)
        compile_model(model, 1e-3, label_smoothing=0.0)  # to measure its loss
    else:
        train_on(model, train, options.steps, SEED, peak=4e-3)
    guessers = {"the model": by_model(model)} | {
        name: by_table(train, n, vocabulary_size - 4) for name, n in TABLES.items()
    }
    rows = validation[: len(validation) // LENGTH * LENGTH].reshape(-1, LENGTH)
    record = {
        "command": "python -m experiments.guessing",
        "characters": len(text),
        "steps": options.steps,
        "seed": SEED,
        "dropout": DROPOUT,
        "loss": round(loss_on(model, validation), 3),
        "test": {name: tested(says, rows, number) for name, says in guessers.items()},
        "passages": [
            {
                "name": name,
                "shown": shown,
                "hidden": hidden,
                "guessers": {
                    who: played(says, shown, hidden, number) for who, says in guessers.items()
                },
            }
            for name, shown, hidden in PASSAGES
        ],
    }
    records.write(records.RESULTS / "language-model" / "guesses.json", record)


if __name__ == "__main__":
    sys.exit(main())

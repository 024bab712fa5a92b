"""Blanks in real English sentences: where they are, what a model puts there, and simple answers."""

from collections import Counter

import numpy as np

from experiments.blank_models import log_probabilities, rows

__all__ = ["LONGEST", "by_neighbours", "pairs_swapped", "shown"]

LONGEST, DRAWN = 24, 10  # tokens of a sentence, examples
SHORT = 16  # tokens of a sentence with swapped words, and a start
WRITTEN = (
    "There [is] a book on the table.",
    "There [are] two books on the table.",
    "Can you play the [piano]?",
    "Can you open the [door]?",
    "He [goes] to school every day.",
    "He [went] to school yesterday.",
    "She is [taller] than her sister.",
    "She is as [tall] as her sister.",
    "[Would] you like to dance with me?",
    "[Do] you like this song?",
)


def swapped(sentence, rng):
    """The sentence with two neighbouring words exchanged, neither the first nor the last ones.

    `None` if it is too short for that, or would stay as it is.
    """
    words = sentence.split()
    if len(words) < 5:
        return None
    place = rng.integers(1, len(words) - 2)
    words[place : place + 2] = words[place : place + 2][::-1]
    return None if (other := " ".join(words)) == sentence else other


def pairs_swapped(sentences, tokenizer, count, rng):
    """Sentences as they were and swapped, side by side, and which is which."""
    texts = []
    for sentence in sentences:
        other = swapped(sentence, rng)
        if other and len(tokenizer.encode(sentence)) < SHORT:
            texts += [sentence, other]
    labels = np.arange(len(texts)) % 2
    return rows(tokenizer, texts[:count], SHORT), labels[:count]


def place_of(text, tokenizer):
    """The ids of a sentence whose blank is in brackets, behind a start, and the place of that."""
    before, word, after = text.replace("]", "[").split("[")
    place = 1 + len(tokenizer.encode(before.strip())) if before else 1
    ids = rows(tokenizer, [before + word + after], LONGEST)
    if tokenizer.decode(ids[0, place : place + 1]) != word:
        raise ValueError(f"Expected a blank of one token. Received: {text!r}.")
    return ids[0], place


def shown(model, tokenizer, sentences, rng):
    """What the model puts into blanks: five words with their probabilities."""
    texts = list(WRITTEN)
    for sentence in sentences:
        words = sentence.split()
        place = rng.integers(len(words))
        bare = words[place].strip(".,!?")
        if len(words) > 4 and bare and len(tokenizer.encode(bare)) == 1:
            words[place] = words[place].replace(bare, f"[{bare}]", 1)
            texts.append(" ".join(words))
        if len(texts) == len(WRITTEN) + DRAWN:
            break
    ids, places = map(np.array, zip(*(place_of(t, tokenizer) for t in texts), strict=True))
    said = log_probabilities(model, ids, places, tokenizer.vocabulary_size)
    found = []
    for text, row in zip(texts, said, strict=True):
        best = row.argsort()[::-1][:5]
        names = [tokenizer.id_to_token(i).strip("▁") for i in best]
        fills = [
            [name, round(float(np.exp(row[i])), 4)] for name, i in zip(names, best, strict=True)
        ]
        found.append({"text": text, "fills": fills})
    return found


def by_neighbours(ids, asked, places):
    """How often the word is right that most often stood between the same neighbours."""
    frame, left = {}, {}
    for row in ids:
        for one, word, other in zip(row[:-2], row[1:-1], row[2:], strict=True):
            if word:
                frame.setdefault((one, other), Counter())[word] += 1
                left.setdefault(one, Counter())[word] += 1
    hits = []
    for row, place in zip(asked, places, strict=True):
        counts = frame.get((row[place - 1], row[place + 1])) or left[row[place - 1]]
        hits.append(counts.most_common(1)[0][0] == row[place])
    return round(float(np.mean(hits)), 4)

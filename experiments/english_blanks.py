"""Blanks in real English sentences: where they are, what a model puts there, and simple answers."""

import itertools
from collections import Counter

import numpy as np

from experiments.blank_models import FIRST, log_probabilities, rows

__all__ = ["LONGEST", "by_neighbours", "pairs_swapped", "played", "shown"]

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
PLAYED = {  # to hide words of: a name, the sentence, and what is hidden first, and then
    "piano": ("Can you play the piano?", ((4,), (2, 4))),
    "coffee": ("I want to drink a cup of coffee.", ((7,), (5, 7))),
    "books": ("There are two books on the table.", ((1,), (0, 1))),
    "school": ("He went to school yesterday.", ((1,), (1, 3))),
    "tall": ("She is as tall as her sister.", ((3,), (2, 3))),
}


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
    return [
        {"text": text, "fills": likeliest(row, tokenizer)}
        for text, row in zip(texts, said, strict=True)
    ]


def played(model, tokenizer, sentences=PLAYED):
    """What a model says of each sentence, whichever one or two words are hidden from it.

    For `nlp104.figures.explore.blanks`, which tells what is in it.
    """
    mask_id, found = tokenizer.vocabulary_size, []
    for name, (text, opens) in sentences.items():
        (ids,) = rows(tokenizer, [text], LONGEST)
        tokens = [tokenizer.id_to_token(i) for i in ids[ids >= FIRST]]
        words = [place for place, token in enumerate(tokens) if token.startswith("▁")]
        choices = [*itertools.combinations(words, 1), *itertools.combinations(words, 2)]
        asked = [(choice, place + 1) for choice in choices for place in choice]  # behind a start
        hidden = np.tile(ids, (len(asked), 1))
        for row, (choice, _) in zip(hidden, asked, strict=True):
            row[np.array(choice) + 1] = mask_id
        said = log_probabilities(model, hidden, np.array([place for _, place in asked]), mask_id)
        said[:, :FIRST] = -np.inf  # those are no words
        said -= np.logaddexp.reduce(said, axis=-1, keepdims=True)
        answers = {}
        for (choice, place), row in zip(asked, said, strict=True):
            own = row[ids[place]]
            answer = {
                "best": likeliest(row, tokenizer),
                "own": round(float(np.exp(own)), 4),
                "place": 1 + int((row > own).sum()),
            }
            answers.setdefault(",".join(map(str, choice)), []).append(answer)
        words = [token.strip("▁") for token in tokens]
        found.append(
            {
                "name": name,
                "words": words,
                "opens": [list(places) for places in opens],
                "answers": answers,
            }
        )
    return found


def likeliest(row, tokenizer, count=5):
    """The likeliest words with their probabilities."""
    return [
        [tokenizer.id_to_token(i).strip("▁"), round(float(np.exp(row[i])), 4)]
        for i in row.argsort()[::-1][:count]
    ]


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

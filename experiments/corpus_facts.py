"""What is in a corpus: repeats, lengths, signs, the leak of a random split, vocabularies, padding.

    python -m experiments.corpus_facts NAME [--data-dir FOLDER]
    python -m experiments.corpus_facts NAME --file FILE --source pt --target en --attribution WHOSE

writes ``results/corpora/NAME.json``; NAME is one of `nlp104.data.corpus.NAMES`, or what to call the
corpus in a file (one that `nlp104.data.load_corpus` reads). Nothing is random but what the fixed
seed decides, so a second run writes the same file. The chapter on data draws from these files what
a reader without the corpora cannot compute, and repeats the count by hand on the grammar.
"""

import argparse
import sys
import unicodedata
from collections import Counter

import numpy as np

from experiments import records
from nlp104.data import corpus, splits
from nlp104.data.batches import Batches
from nlp104.data.tokenizer import Tokenizer
from nlp104.translation import evaluation

RESULTS = records.RESULTS / "corpora"
SEED = 104
SHARES = (0.02, 0.05, 0.10, 0.15, 0.20, 0.30, 0.50)
WIDTHS = (1, 2, 4, 8, 16)
BATCH_SIZE = 64
VOCABULARY_SIZES = (250, 500, 1_000, 2_000, 4_000, 8_000, 15_000)
ODD = {"\u202f": "narrow no-break space", "\u00a0": "no-break space", "\u200b": "zero-width space"}
ODD |= {"\u2019": "typographic apostrophe", "\u00ad": "soft hyphen"}
MEMORY_TEST = 2_000  # pairs that the translator from memory is tested on


def all_pairs(data):
    """Every sentence with each of its right translations: all pairs of a corpus, none twice."""
    return [
        (source, target)
        for part in ("train", "validation", "test")
        for source, targets in data.references(part)
        for target in targets
    ]


def repeats(pairs):
    """How often sentences come again."""
    sources, targets = Counter(s for s, _ in pairs), Counter(t for _, t in pairs)
    return {
        "pairs": len(pairs),
        "unique_sources": len(sources),
        "unique_targets": len(targets),
        "pairs_of_a_repeated_source": sum(n for n in sources.values() if n > 1),
        "most_translations": max(sources.items(), key=lambda item: (item[1], item[0])),
        "most_sources": max(targets.items(), key=lambda item: (item[1], item[0])),
    }


def random_split(pairs, share, seed=SEED):
    """Training and test pairs as most tutorials divide them: shuffle, then cut."""
    order = np.random.default_rng(seed).permutation(len(pairs))
    cut = round(share * len(pairs))
    return [pairs[i] for i in order[cut:]], [pairs[i] for i in order[:cut]]


def leak(train, test, side=0):
    """The share of the test's different sentences (side 0: source) that are in training too."""
    return len({p[side] for p in test} & {p[side] for p in train}) / len({p[side] for p in test})


class Memory:
    """A translator without understanding: it gives the translation of the most similar sentence.

    Similar: the cosine of the two bags of words, each word weighted by how rare it is.
    """

    def __init__(self, pairs):
        self.targets = [target for _, target in pairs]
        words = [set(splits.comparable(source).split()) for source, _ in pairs]
        counts = Counter(word for sentence in words for word in sentence)
        self.weights = {word: np.log(len(pairs) / count) for word, count in counts.items()}
        norms = [sum(self.weights[w] ** 2 for w in sorted(s)) ** 0.5 for s in words]
        self.norms = np.maximum(norms, 1e-9)
        postings = {word: [] for word in counts}
        for row, sentence in enumerate(words):
            for word in sentence:
                postings[word].append(row)
        self.postings = {word: np.array(rows) for word, rows in postings.items()}

    def translate(self, source):
        scores = np.zeros(len(self.targets))
        for word in sorted(set(splits.comparable(source).split()) & set(self.postings)):
            scores[self.postings[word]] += self.weights[word] ** 2
        return self.targets[int(np.argmax(scores / self.norms))]


def remembered(train, test, accepted):
    """Scores of `Memory` on test pairs.

    BLEU compares with the pair's own translation. "right": the share of the answers that the
    corpus gives anywhere as a translation of the sentence.
    """
    test = splits.subset(test, MEMORY_TEST, SEED)
    memory = Memory(train)
    known = {source for source, _ in train}
    groups = {
        "all": test,
        "seen": [pair for pair in test if pair[0] in known],
        "unseen": [pair for pair in test if pair[0] not in known],
    }
    said = {source: memory.translate(source) for source in {s for s, _ in test}}
    scores = {}
    for name, group in groups.items():
        if group:
            guesses, references = [said[s] for s, _ in group], [t for _, t in group]
            scores[name] = {
                "pairs": len(group),
                "bleu": round(evaluation.bleu(guesses, references).score, 2),
                "right": round(sum((s, said[s]) in accepted for s, _ in group) / len(group), 4),
            }
    return scores


def signs(lines):
    """How many sentences hold which invisible or double sign, before they are normalised."""
    return {name: sum(sign in line for line in lines) for sign, name in ODD.items()}


def without_accents(text):
    """The letters alone: what is left when accents are taken off."""
    return "".join(c for c in unicodedata.normalize("NFD", text) if not unicodedata.combining(c))


def merged_by_stripping(sentences):
    """Words (lower case) that become the same as another one when their accents are taken off."""
    words = Counter(w for s in sentences for w in splits.comparable(s).split())
    plain = Counter(without_accents(word) for word in words)
    lost = {word: n for word, n in words.items() if plain[without_accents(word)] > 1}
    common = sorted(lost, key=lambda word: (-lost[word], word))[:12]
    return {
        "words": len(words),
        "words_that_collide": len(lost),
        "share_of_running_words": round(sum(lost.values()) / sum(words.values()), 4),
        "most_frequent": common,
    }


def histogram(rows):
    """How many rows have 0, 1, 2, … tokens."""
    return np.bincount([len(row) for row in rows]).tolist()


def vocabularies(train, test):
    """Words against parts of words, on the target side: unknown tokens and lengths by size."""
    train, test = [t for _, t in train], [t for _, t in test]
    rows = []
    for kind in ("word", "bpe"):
        for size in VOCABULARY_SIZES:
            tokenizer = Tokenizer.train(train, kind=kind, vocabulary_size=size)
            ids = [i for row in tokenizer.encode_batch(test) for i in row]
            rows.append(
                {
                    "kind": kind,
                    "asked": size,
                    "size": tokenizer.vocabulary_size,
                    "unknown": round(ids.count(1) / len(ids), 5),
                    "tokens_per_sentence": round(len(ids) / len(test), 3),
                }
            )
            if tokenizer.vocabulary_size < size:
                break  # a larger one would be the same
    return rows


def padding(sources, targets):
    """The share of positions that hold padding, both sides together, by way of batching."""
    sources = np.array([len(row) + 1 for row in sources])  # with its special token
    targets = np.array([len(row) + 1 for row in targets])
    order = np.random.default_rng(SEED).permutation(len(sources))
    real = sources.sum() + targets.sum()
    starts = range(0, len(order), BATCH_SIZE)
    batches = [order[start : start + BATCH_SIZE] for start in starts]
    random = sum(len(b) * (sources[b].max() + targets[b].max()) for b in batches)
    fixed = len(order) * (sources.max() + targets.max())
    return {"longest of all": 1 - real / fixed, "random batches": 1 - real / random}


def facts(name, file=None, attribution="", **options):
    """Everything about one corpus, as JSON can hold it.

    Args:
        name: What it is called.
        file: Where it is, if `nlp104.data.load_corpus` does not know it by this name.
        attribution: Whose that file is.
        **options: For `nlp104.data.load_corpus`.
    """
    data = corpus.load_corpus(file or name, **options)
    pairs = all_pairs(data)
    lines = [*data.train, *data.validation, *data.test]  # as they were read, some of them twice
    clean = splits.split(pairs, SEED, validation=0, test=round(0.15 * len(pairs)))
    random_train, random_test = random_split(pairs, 0.15)
    tokenizers = [
        Tokenizer.train([p[side] for p in data.train], kind="word", vocabulary_size=15_000)
        for side in (0, 1)
    ]
    ids = [tokenizers[side].encode_batch([p[side] for p in pairs]) for side in (0, 1)]
    raw = corpus.load_corpus(file or name, normalized=False, **options)
    shares = {}
    for width in WIDTHS:
        batches = Batches(*ids, batch_size=BATCH_SIZE, bucket_width=width)
        shares[f"buckets of {width}"] = batches.padding_share
    lines_apart = random_split(lines, 0.15)
    leaks = {}
    for share in SHARES:
        parts = random_split(pairs, share)
        leaks[str(share)] = [round(leak(*parts, side), 4) for side in (0, 1)]
    return {
        "corpus": name,
        "languages": [data.source_language, data.target_language],
        "attribution": data.attribution or attribution,
        "seed": SEED,
        "lines": len(lines),
        **repeats(pairs),
        "odd_signs": signs([sentence for pair in all_pairs(raw) for sentence in pair]),
        "accents": merged_by_stripping([t for _, t in pairs]),
        "lengths": {
            data.source_language: histogram(ids[0]),
            data.target_language: histogram(ids[1]),
        },
        "leak_of_a_random_split": leaks,
        "leak_of_a_random_split_of_the_lines": [
            round(leak(*lines_apart, side), 4) for side in (0, 1)
        ],
        "leak_of_the_clean_split": [leak(clean[0], clean[2], side) for side in (0, 1)],
        "memory_on_the_random_split": remembered(random_train, random_test, set(pairs)),
        "memory_on_the_clean_split": remembered(clean[0], clean[2], set(pairs)),
        "vocabularies": vocabularies(clean[0], clean[2]),
        "padding": {k: round(float(v), 4) for k, v in (padding(*ids) | shares).items()},
    }


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m experiments.corpus_facts", description=__doc__)
    parser.add_argument("name", help=", ".join(corpus.NAMES) + ", or a name for --file")
    parser.add_argument("--data-dir", help="where the files of a named corpus are")
    parser.add_argument("--file", help="of tab-separated pairs: a corpus that has no name")
    parser.add_argument("--source", help="language of its first column")
    parser.add_argument("--target", help="language of its second column")
    parser.add_argument("--attribution", default="", help="whose it is")
    given = parser.parse_args(arguments)
    if not given.file and given.name not in corpus.NAMES:
        parser.error(f"{given.name} is none of {', '.join(corpus.NAMES)}: name its --file")
    found = facts(
        given.name,
        given.file,
        given.attribution,
        directory=given.data_dir,
        source_language=given.source,
        target_language=given.target,
    )
    path = RESULTS / f"{given.name}.json"
    records.write(path, found)
    print(f"written to {path}")


if __name__ == "__main__":
    sys.exit(main())

"""Sentences to trees: how far does a model come that has seen short sentences only, and why?

    python -m experiments.trees

trains small models to write parse trees as brackets, with three seeds each, and writes
``results/trees/runs.json``: how often they are right at each length, what is wrong where they are
not, where cross-attention looks, and what they make of sentences with two readings. It takes some
twelve minutes of one core; a run that was stopped goes on where it was. The chapter on trees draws
the file.
"""

import argparse
import sys
from collections import Counter

import keras
import numpy as np
from keras import ops

from experiments import records
from nlp104.data import grammar
from nlp104.data.batches import Batches
from nlp104.data.grammar import brackets
from nlp104.data.tokenizer import END_ID, START_ID, Tokenizer
from nlp104.training.optimizer import compile_model
from nlp104.training.run_record import software_versions
from nlp104.training.schedule import WarmupSchedule
from nlp104.transformer.model import Transformer
from nlp104.translation.translator import Translator

RESULTS = records.RESULTS / "trees"
SEEDS = (1, 2, 3)
SHORT = 10  # words, the full stop included: the longest sentence of the training
MODEL = {"num_layers": 2, "hidden_dim": 64, "intermediate_dim": 256, "num_heads": 4}
MODEL |= {"dropout": 0.0, "max_sequence_length": 128}
SENTENCES, EPOCHS, BATCH = 12_800, 3, 64
PEAK, WARMUP = 3e-3, 100  # of the learning rate, which then falls in a straight line to 0
TESTED, LONGEST, LOOKED_AT = 400, 60, 100  # sentences, tokens, sentences
OFFSETS = (-1, 0, 1)  # words beside the one that a token is about
VARIANTS = {
    "sinusoidal": {"positions": "sinusoidal"},
    "rotary": {"positions": "rotary"},
    "sinusoidal, all lengths": {"positions": "sinusoidal"},
}
SUBJECTS = ("The boy sees the cat", "The girl finds the letter", "The man follows the dog")
PLACES = ("in the garden", "near the lake", "under the table", "behind the house")
TWO_READINGS = tuple(f"{subject} {place}." for subject in SUBJECTS for place in PLACES)


def line(example):
    """The tree of an example as the text that the decoder writes."""
    return " ".join(brackets.write(brackets.parse(example.tree)))


class Data:
    """The sentences of all runs."""

    def __init__(self, sentences=SENTENCES, tested=TESTED):
        pool = grammar.generate(sentences * 8 // 5, seed=1)
        self.train = [e for e in pool if len(e.source_words) <= SHORT][:sentences]
        self.all_lengths = pool[:sentences]
        drawn = grammar.generate(tested * 4, seed=1, split="test")
        self.short = [e for e in drawn if len(e.source_words) <= SHORT][:tested]
        self.long = [e for e in drawn if len(e.source_words) > SHORT][:tested]
        self.tokenizers = [
            Tokenizer.train([*(e.source for e in self.train), *TWO_READINGS], kind="word"),
            Tokenizer.train(map(line, self.train), kind="whitespace"),
        ]

    def batches(self, name, seed):
        """What a variant learns from."""
        examples = self.all_lengths if name.endswith("all lengths") else self.train
        sides = [e.source for e in examples], [line(e) for e in examples]
        ids = [t.encode_batch(s) for t, s in zip(self.tokenizers, sides, strict=True)]
        return Batches(*ids, batch_size=BATCH, bucket_width=1, seed=seed)


def train(name, seed, data):
    """One trained model."""
    keras.utils.set_random_seed(seed)
    source, target = (tokenizer.vocabulary_size for tokenizer in data.tokenizers)
    sizes = {"vocabulary_size": target, "source_vocabulary_size": source}
    model = Transformer.from_config({**MODEL, **VARIANTS[name], **sizes})
    batches = data.batches(name, seed)
    schedule = WarmupSchedule(PEAK, WARMUP, EPOCHS * len(batches))
    compile_model(model, schedule, label_smoothing=0.0)
    model.fit(batches, epochs=EPOCHS, shuffle=False, verbose=0)
    return Translator(model, *data.tokenizers)


def examine(translator, data):
    """What a trained model can do."""
    found = {"exact": {}, "mistakes": {}}
    for part in ("short", "long"):
        examples = getattr(data, part)
        said = _written(translator, [e.source for e in examples])
        wrong = Counter()
        for example, text in zip(examples, said, strict=True):
            kind = brackets.mistake(text.split(), line(example).split())
            wrong[kind] += 1
            row = found["exact"].setdefault(str(len(example.source_words)), [0, 0])
            row[0] += not kind
            row[1] += 1
        found["mistakes"][part] = {kind: wrong[kind] for kind in brackets.MISTAKES}
    found["exact"] = dict(sorted(found["exact"].items(), key=lambda row: int(row[0])))
    found["next_token"] = next_token(translator, data.long[:LOOKED_AT])
    found["looks"] = looks(translator, data.short[:LOOKED_AT])
    found["two_readings"] = dict(zip(TWO_READINGS, _written(translator, TWO_READINGS), strict=True))
    return found


def _written(translator, sentences):
    return translator.translate(sentences, batch_size=100, max_length=LONGEST)


def _ids(translator, example):
    """A sentence, and its tree behind the start, as rows of one."""
    source, target = translator.source_tokenizer, translator.target_tokenizer
    return {
        "encoder_token_ids": np.array([[*source.encode(example.source), END_ID]]),
        "decoder_token_ids": np.array([[START_ID, *target.encode(line(example))]]),
    }


def next_token(translator, examples):
    """How often the next token is right behind a right beginning, by the place of its word.

    Returns:
        For the parts of speech of each place: right and all.
    """
    counts = {}
    for example in examples:
        ids = _ids(translator, example)
        logits = ops.convert_to_numpy(translator.model(ids))[0]
        right = logits[:-1].argmax(-1) == ids["decoder_token_ids"][0, 1:]
        tokens = line(example).split()
        for token, hit, (word, _) in zip(tokens, right, brackets.spans(tokens), strict=True):
            if not brackets.is_bracket(token):
                row = counts.setdefault(word + 1, [0, 0])
                row[0] += int(hit)
                row[1] += 1
    return {str(place): counts[place] for place in sorted(counts)}


def looks(translator, examples):
    """How often each head looks most at the word that a token is about, or at one beside it.

    Returns:
        For "open" (a phrase, which is about its first word), "word" and "close" (about its last
        word): shares `[offset, layer, head]`, see `OFFSETS`.
    """
    hits = {"open": [], "word": [], "close": []}
    for example in examples:
        scores = translator.model.attention_scores(_ids(translator, example))["cross"]
        # [token, layer, head]: the word with the largest weight
        most = np.stack([ops.convert_to_numpy(s)[0].argmax(-1).T for s in scores], axis=1)
        tokens = line(example).split()
        for token, looked, (first, last) in zip(tokens, most, brackets.spans(tokens), strict=False):
            kind = {"(": "open", ")": "close"}.get(token[0], "word")
            about = last if kind == "close" else first
            hits[kind].append([looked == about + offset for offset in OFFSETS])
    return {kind: np.mean(rows, axis=0).round(4).tolist() for kind, rows in hits.items()}


def share(run, lengths):
    """The share of right trees among sentences of some lengths, in percent."""
    rows = [row for length, row in run["exact"].items() if int(length) in lengths]
    right, total = np.sum(rows, axis=0)
    return 100 * right / total


def table(record):
    """Exact match as Markdown: the mean over the seeds and, in brackets, lowest and highest."""
    groups = [range(SHORT + 1), *([n] for n in range(SHORT + 1, grammar.MAX_WORDS + 1))]
    heads = [f"≤ {SHORT}", *(str(n) for (n,) in groups[1:])]
    lines = [
        f"| words of the test sentences: | {' | '.join(heads)} |",
        "|---" * (len(heads) + 1) + "|",
    ]
    for name, runs in record["runs"].items():
        cells = []
        for lengths in groups:
            values = [share(run, lengths) for run in runs.values()]
            cells.append(records.spread(values, 0))
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m experiments.trees", description=__doc__)
    parser.parse_args(arguments)
    path = RESULTS / "runs.json"
    data = Data()
    record = {
        "command": "python -m experiments.trees",
        "seeds": SEEDS,
        "model": MODEL,
        "sentences": len(data.train),
        "most_words": SHORT,
        "epochs": EPOCHS,
        "batch_size": BATCH,
        "peak_learning_rate": PEAK,
        "warmup_steps": WARMUP,
        "tested": {"short": len(data.short), "long": len(data.long)},
        "offsets": OFFSETS,
        "versions": software_versions(keras.backend.backend()),
        "runs": {name: {} for name in VARIANTS} | records.runs_so_far(path),
    }
    for seed in map(str, SEEDS):
        for name, runs in record["runs"].items():
            if seed not in runs:
                runs[seed] = examine(train(name, int(seed), data), data)
                records.write(path, record)
                print(name, seed, runs[seed]["exact"], runs[seed]["mistakes"], flush=True)
    print(table(record))


if __name__ == "__main__":
    sys.exit(main())

"""Fill in the blank: what do two sides buy, and what is reading worth where labels are few?

    python -m experiments.blanks --data fra.txt

trains small models to fill in blanks, in sentences of the grammar and in real English ones, and
tunes them for tasks with few labels. It writes ``grammar.json``, ``english.json`` and
``played.json`` to ``results/blanks``; without ``--data`` only the first. It takes some half an hour
of one core for the first two, and as long again for the third. A run that was stopped goes on where
it was; only an English model, which is kept in no file, is trained again. The chapter *Fill in the
blank* draws all three.
"""

import argparse
import sys
import time
from collections import Counter
from pathlib import Path

import keras
import numpy as np

from experiments import records
from experiments.blank_models import (
    FIRST,
    Tuning,
    bags,
    by_trial,
    features,
    log_probabilities,
    logistic,
    read,
    rows,
)
from experiments.english_blanks import LONGEST, by_neighbours, pairs_swapped, played, shown
from experiments.grammar_blanks import fillings
from nlp104.data import grammar
from nlp104.data.corpus import load_corpus
from nlp104.data.tokenizer import Tokenizer
from nlp104.training.run_record import software_versions

RESULTS = records.RESULTS / "blanks"
COMMAND = "python -m experiments.blanks --data fra.txt"
SEEDS = (1, 2, 3)
LABELS, TESTED = (50, 200, 1000), 1000
TUNING = {"steps": 300, "batch": 32, "peak": 1e-3}
PATIENT, LONGER = 1500, "from scratch, 1500 steps"
MODEL = {"normalize_first": True, "tie_embeddings": True, "positions": "rotary"}
SMALL = {"hidden_dim": 64, "intermediate_dim": 256, "num_heads": 4, "num_layers": 2}
LARGE = {"hidden_dim": 128, "intermediate_dim": 512, "num_heads": 4, "num_layers": 2}
SENTENCES, BLANKS, WORDS = 20_000, 200, 16  # to learn from, to be asked; most words, and a start
AGREEING = 6000  # sentences of all kinds, among which are some with a relative clause
GRAMMAR = {"batch": 64, "peak": 4e-3}
STEPS = (600, 4000)
ENGLISH = {"steps": 4000, "batch": 64, "peak": 2e-3}
PATIENT_READER = ENGLISH | {"steps": 40_000}
VOCABULARY = 4000
CHAPTER = (  # what stands in brackets is the blank
    "The ant [avoided] the path because it was too narrow .",
    "The animal did not cross the street because it was too [tired] .",
    "The [animal] did not cross the street because it was too wide .",
)


def score(logits, labels):
    """The share of right answers."""
    return round(float(np.mean((logits > 0) == labels)), 4)


def judged(language, ids, labels, tested, answers, seed):
    """The scores of all ways to learn a task from few labels."""
    tune, found = Tuning(language, **TUNING), {}
    ways = {"read, then tuned": (tune, True), "from scratch": (tune, False)}
    for count in LABELS:
        some, right = ids[:count], labels[:count]
        scores = found[str(count)] = {}
        if count == LABELS[-1]:  # is it the reading, or the time?
            ways[LONGER] = Tuning(language, **TUNING | {"steps": PATIENT}), False
        for name, (way, has_read) in ways.items():
            logits = way(some, right, seed, has_read).predict(tested, batch_size=250, verbose=0)
            scores[name] = score(logits[:, 1] - logits[:, 0], answers)
        sides = {"read, frozen": [features(language, part) for part in (some, tested)]}
        sides["bag of words"] = bags(some, tested)
        sides["bag of pairs"] = bags(some, tested, neighbours=2)
        for name, (x, others) in sides.items():
            scores[name] = score(logistic(x, right, others), answers)
        print(seed, count, scores, flush=True)
    return found


# --- the grammar ---


def about_it(split, count, seed):
    """Sentences with an *it*, and whether it stands for the first noun."""
    drawn = grammar.generate(count * 5, seed=seed, split=split)
    chosen = [example for example in drawn if example.pattern == "reason"][:count]
    return chosen, np.array([example.antecedent < 3 for example in chosen], int)


def asked_of_grammar():
    """Sentences with blanks, and what the grammar would put there."""
    rng = np.random.default_rng(104)
    drawn = [e.source_words for e in about_it("validation", BLANKS, seed=1)[0]]
    pairs = [(words, int(rng.integers(len(words)))) for words in drawn]
    for text in CHAPTER:
        words = text.split()
        place = next(i for i, word in enumerate(words) if word.startswith("["))
        pairs.append(([word.strip("[]") for word in words], place))
    return [
        {"words": words, "place": place, "fillings": fillings(words, place)}
        for words, place in pairs
    ]


def compare(said, exact, right, tokenizer):
    """Nats on the right words, and Kullback-Leibler divergence from the exact distributions."""
    kl = []
    for row, wanted in zip(said, exact, strict=True):
        ids = [tokenizer.token_to_id(word) for word in wanted]
        p = np.array(list(wanted.values()))
        kl.append(np.sum(p * (np.log(p) - row[ids])))
    loss = -said[np.arange(len(right)), right].mean()
    return {"loss": round(float(loss), 4), "kl": round(float(np.mean(kl)), 4)}


def far_verbs(tokenizer):
    """Sentences with a relative clause, the places of *is* and *are* in them, and which it is."""
    found = [
        (example.source, place + 1, word == "are")
        for example in grammar.generate(AGREEING, seed=3, split="validation")
        if example.pattern == "relative"
        for place, word in enumerate(example.source_words)
        if word in ("is", "are")
    ]
    sentences, places, plural = zip(*found, strict=True)
    return rows(tokenizer, sentences, WORDS), np.array(places), np.array(plural)


def agreement(model, tokenizer, ids, places, plural):
    """How often the right one of *is* and *are* is the likelier."""
    said = log_probabilities(model, ids, places, tokenizer.vocabulary_size)
    one, several = (said[:, tokenizer.token_to_id(word)] for word in ("is", "are"))
    return score(several - one, plural)


def of_grammar():
    """Two sides or one on the same blanks, and what *it* stands for."""
    path = RESULTS / "grammar.json"
    sentences = [e.source for e in grammar.generate(SENTENCES, seed=1)]
    tokenizer = Tokenizer.train(sentences, kind="word")
    mask_id = tokenizer.vocabulary_size
    ids = rows(tokenizer, sentences, WORDS)
    drawn = asked_of_grammar()
    records.write(RESULTS / "exact.json", {"command": COMMAND, "asked": drawn})
    drawn = drawn[:BLANKS]
    exact = [one["fillings"] for one in drawn]
    asked = rows(tokenizer, [" ".join(one["words"]) for one in drawn], WORDS)
    places = np.array([one["place"] + 1 for one in drawn])  # behind the start
    right = asked[np.arange(BLANKS), places]
    entropy = [-sum(p * np.log(p) for p in wanted.values()) for wanted in exact]
    names = [tokenizer.id_to_token(i) for i in right]
    known = [-np.log(wanted[name]) for wanted, name in zip(exact, names, strict=True)]
    record = {
        "command": COMMAND,
        "seeds": SEEDS,
        "model": MODEL | SMALL,
        "sentences": SENTENCES,
        "vocabulary": mask_id,
        "reading": GRAMMAR,
        "steps": STEPS,
        "tuning": TUNING,
        "blanks": BLANKS,
        "tested": TESTED,
        "grammar": {"entropy": round(np.mean(entropy), 4), "loss": round(np.mean(known), 4)},
        "versions": software_versions(keras.backend.backend()),
        "runs": records.runs_so_far(path),
    }
    verbs = far_verbs(tokenizer)
    record["verbs"] = {"asked": len(verbs[-1]), "is": round(float(1 - verbs[-1].mean()), 4)}
    few, labels = about_it("train", LABELS[-1] * len(SEEDS), seed=2)
    tested, answers = about_it("test", TESTED, seed=2)
    few, tested = (rows(tokenizer, [e.source for e in part], WORDS) for part in (few, tested))
    record["majority"] = round(float(max(answers.mean(), 1 - answers.mean())), 4)
    for seed in SEEDS:
        run = record["runs"].setdefault(str(seed), {})
        for steps in STEPS:
            if str(steps) in run:
                continue
            both, left = (
                read(MODEL | SMALL, ids, mask_id, seed, steps, causal=causal, **GRAMMAR)
                for causal in (False, True)
            )
            said = {
                "both sides": log_probabilities(both, asked, places, mask_id),
                "left side": log_probabilities(left, asked, places, mask_id),
            }
            if steps == STEPS[-1]:
                said["left side, by trial"] = by_trial(left, asked, places, mask_id)
            found = {n: compare(one, exact, right, tokenizer) for n, one in said.items()}
            for name, model in (("both sides", both), ("left side", left)):
                found[name]["agreement"] = agreement(model, tokenizer, *verbs)
            print(seed, steps, found, flush=True)
            if steps == STEPS[-1]:
                part = slice((seed - 1) * LABELS[-1], seed * LABELS[-1])
                run["judged"] = judged(both, few[part], labels[part], tested, answers, seed)
            run[str(steps)] = found
            records.write(path, record)


# --- real English ---


def of_english(data):
    """Real sentences: how well blanks are filled, and whether two words were exchanged."""
    path = RESULTS / "english.json"
    corpus = load_corpus(data, "en", "fr")
    train, test = (list(dict.fromkeys(s for s, _ in p)) for p in (corpus.train, corpus.test))
    rng = np.random.default_rng(104)
    train, test = ([part[i] for i in rng.permutation(len(part))] for part in (train, test))
    tokenizer = Tokenizer.train(train, kind="bpe", vocabulary_size=VOCABULARY)
    mask_id = tokenizer.vocabulary_size
    ids, asked = (rows(tokenizer, part, LONGEST) for part in (train, test))
    asked = asked[(asked > 0).sum(axis=1) > 3]
    places = rng.integers(1, (asked > 0).sum(axis=1) - 1)  # not the last: mostly a full stop
    begun = time.process_time()
    model = read(MODEL | LARGE, ids, mask_id, SEEDS[0], **ENGLISH)
    seconds = time.process_time() - begun
    right = asked[np.arange(len(asked)), places]
    most = Counter(ids[ids >= FIRST].tolist()).most_common(1)[0][0]
    record = {
        "command": COMMAND,
        "seeds": SEEDS,
        "model": MODEL | LARGE,
        "weights": model.count_params(),
        "vocabulary": mask_id,
        "sentences": len(ids),
        "tokens": int((ids >= FIRST).sum()),
        "reading": ENGLISH,
        "CPU seconds": round(seconds),
        "tuning": TUNING,
        "blanks": len(asked),
        **filled(model, asked, places, mask_id),
        "references": {
            "most frequent": round(float(np.mean(right == most)), 4),
            "same neighbours": by_neighbours(ids, asked, places),
        },
        "shown": shown(model, tokenizer, test, rng),
        "versions": software_versions(keras.backend.backend()),
        "runs": records.runs_so_far(path),
    }
    records.write(path, record)
    tested, answers = pairs_swapped(test, tokenizer, TESTED, np.random.default_rng(104))
    record["tested"] = len(tested)
    for seed in SEEDS:
        if str(seed) not in record["runs"]:
            rng = np.random.default_rng(seed)
            order = rng.permutation(len(train))[: 4 * LABELS[-1]]
            few, labels = pairs_swapped([train[i] for i in order], tokenizer, LABELS[-1], rng)
            record["runs"][str(seed)] = judged(model, few, labels, tested, answers, seed)
            records.write(path, record)
    path = RESULTS / "played.json"
    if not path.exists():
        model = read(MODEL | LARGE, ids, mask_id, SEEDS[0], **PATIENT_READER)
        found = filled(model, asked, places, mask_id)
        played_with = {"sentences": played(model, tokenizer), "vocabulary": mask_id}
        reading = {"command": COMMAND, "reading": PATIENT_READER}
        records.write(path, reading | found | played_with)


def filled(model, asked, places, mask_id):
    """How well blanks are filled: nats on the right words, and how often they are the likeliest."""
    said = log_probabilities(model, asked, places, mask_id)
    right = asked[np.arange(len(asked)), places]
    return {
        "loss": round(float(-said[np.arange(len(right)), right].mean()), 4),
        "accuracy": round(float(np.mean(said.argmax(-1) == right)), 4),
    }


def tables(grammar, english):
    """Both records in Markdown: means over the seeds and, in brackets, lowest and highest."""
    lines = ["| | loss | divergence | is or are |", "|---|---|---|---|"]
    for steps in map(str, grammar["steps"]):
        for name in grammar["runs"]["1"][steps]:
            runs = [run[steps][name] for run in grammar["runs"].values()]
            cells = [_cell([run.get(what) for run in runs], 2) for what in ("loss", "kl")]
            cells.append(_cell([run.get("agreement") for run in runs], 1, 100))
            lines.append(f"| {name}, {steps} steps | {' | '.join(cells)} |")
    judged = {
        "what *it* stands for": [run["judged"] for run in grammar["runs"].values()],
        "two words swapped": list(english["runs"].values()),
    }
    for task, runs in judged.items():
        counts = list(runs[0])
        lines += ["", f"| {task} | {' | '.join(counts)} |", "|---" * (1 + len(counts)) + "|"]
        for name in runs[0][counts[-1]]:
            cells = [_cell([run[count].get(name) for run in runs], 1, 100) for count in counts]
            lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _cell(values, digits, scale=1):
    return "" if None in values else records.spread(values, digits, scale)


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m experiments.blanks", description=__doc__)
    parser.add_argument("--data", type=Path, help="English and French sentences, as fra.txt")
    options = parser.parse_args(arguments)
    of_grammar()
    if options.data:
        of_english(options.data)


if __name__ == "__main__":
    sys.exit(main())

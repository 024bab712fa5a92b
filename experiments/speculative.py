"""What does speculative decoding save, and where does it lose?

    python -m experiments.speculative

has texts written by `greedy` and by `speculate`, one at a time, by turns: continuations of the
book by small language models of characters and of parts of words, signs that are said again and
again, and translations of the two released models. It compares the texts, counts passes of the
model, and compares CPU seconds, all cores together. Writes ``results/speculative/scores.json``.
"""

import argparse
import json
import statistics
import sys
import time

import keras
import numpy as np

import nlp104
from experiments import records
from experiments.language_model import ROWS, book, small_gpt, split, stretches
from nlp104.data import Tokenizer, grammar
from nlp104.data.tokenizer import END_ID, START_ID
from nlp104.decoding import NGrams, PromptLookup, greedy, speculate
from nlp104.figures import results
from nlp104.training.optimizer import compile_model
from nlp104.training.schedule import WarmupSchedule

SEED = 104
DRAFTED, ROUNDS, TEXTS = (2, 4, 8), 3, 4
LOOKUP = PromptLookup()


def trained(rows, vocabulary_size, batch_size=ROWS, learning_rate=4e-3, **overrides):
    """A small language model of the kind of the chapter *A language model*."""
    keras.utils.set_random_seed(SEED)
    model = small_gpt(vocabulary_size, **overrides)
    steps = len(rows) // batch_size
    schedule = WarmupSchedule(learning_rate, warmup_steps=steps // 10, total_steps=steps)
    compile_model(model, schedule, label_smoothing=0.0)
    model.fit(rows[:, :-1], rows[:, 1:], batch_size=batch_size, shuffle=False, verbose=0)
    return model


def measured(model, rows, draft, num_drafted, **options):
    """One draft and one k on some texts.

    Args:
        model: what `speculate` takes.
        rows: list of token ids, a source or a prompt each.
        draft: as for `speculate`.
        num_drafted: k.
        **options: `max_length` for `greedy` and `speculate`.

    Returns:
        A dictionary: how many texts are the same, tokens for each pass that writes, the share of
        guesses that were kept of those that were looked at, and the ratio of CPU seconds.
    """
    ratios = []
    for _ in range(ROUNDS + 1):  # the first compiles
        seconds, found = {"greedy": 0.0, "speculate": 0.0}, {"greedy": [], "speculate": []}
        strides = []
        for row in rows:
            ids = np.array([row])
            begun = time.process_time()
            found["greedy"].append(greedy(model, ids, **options)[0].tolist())
            between = time.process_time()
            text, (passes,) = speculate(model, ids, draft, num_drafted, **options)
            seconds["greedy"] += between - begun
            seconds["speculate"] += time.process_time() - between
            found["speculate"].append(text[0].tolist())
            strides += passes
        ratios.append(seconds["speculate"] / seconds["greedy"])
    wrote = [stride for stride in strides if stride.written]
    kept = sum(stride.accepted for stride in wrote)
    refused = sum(stride.accepted < len(stride.drafted) for stride in wrote)
    return {
        "texts": len(rows),
        "same": sum(a == b for a, b in zip(*found.values(), strict=True)),
        "tokens": sum(len(stride.written) for stride in wrote),
        "passes": len(wrote),
        "passes over prompts": len(strides) - len(wrote),
        "kept": round(kept / max(kept + refused, 1), 3),
        "seconds": round(statistics.median(ratios[1:]), 2),
    }


def repeated(rows, length, signs=60):
    """Rows of random signs, each said again and again with a period of its own."""
    rng = np.random.default_rng(SEED)
    periods = rng.integers(8, 25, size=(rows, 1))
    drawn = rng.integers(4, signs + 4, size=(rows, length))
    return np.take_along_axis(drawn, np.arange(length) % periods, axis=1)


def characters(steps):
    """Continuations of the book, letter by letter."""
    train, validation, vocabulary_size = split(book())
    starts = np.linspace(0, len(validation) - 40, TEXTS).astype(int)
    prompts = [validation[start : start + 16].tolist() for start in starts]
    drafts = {"lookup": LOOKUP, "n-grams": NGrams([train], longest=6)}
    return (
        trained(stretches(train, steps, SEED), vocabulary_size),
        prompts,
        drafts,
        {"max_length": 160},
    )


def parts_of_words(steps):
    """The same with a vocabulary of 500 parts of words."""
    lines = book().splitlines()
    known = [line for i, line in enumerate(lines) if i % 10]
    tokenizer = Tokenizer.train(known, kind="bpe", vocabulary_size=500)
    train = np.array([i for line in known for i in tokenizer.encode(line)], "int32")
    prompts = [tokenizer.encode(line)[:8] for line in lines[::10] if len(line) > 100][:TEXTS]
    drafts = {"lookup": LOOKUP, "n-grams": NGrams([train], longest=4)}
    model = trained(stretches(train, steps, SEED), tokenizer.vocabulary_size)
    return model, prompts, drafts, {"max_length": 100}


def signs_again(steps):
    """Random signs that are said again and again, by a model that has learned to copy."""
    rows = repeated(48 * 2 * steps + TEXTS, 49)
    # That of the chapter: a smaller one, which looks more decidedly.
    small = {"hidden_dim": 64, "intermediate_dim": 64, "tie_embeddings": False}
    model = trained(rows[TEXTS:], 64, 48, 8e-3, attention_gain=1.5, **small)
    return model, rows[:TEXTS, :28].tolist(), {"lookup": LOOKUP}, {"max_length": 48}


def grammar_translator(_steps):
    """Sentences of the grammar; the draft has read other ones."""
    translator = nlp104.load_pretrained("grammar")
    known = [example.target for example in grammar.generate(2000, seed=1)]
    sources = [example.source for example in grammar.generate(16, seed=7, split="test")]
    return translations(translator, sources, known)


def eng_fra_translator(_steps):
    """The stored test sentences, every other one; the draft has read translations of the rest."""
    files = [json.loads(results.read(f"eng-fra/{name}.json")) for name in ("scores", "samples")]
    pairs = {
        source: references
        for file in files
        for source, references in zip(file["sources"], file["references"], strict=True)
    }
    sources = sorted(pairs)
    known = [sentence for source in sources[1::2] for sentence in pairs[source]]
    return translations(nlp104.load_pretrained("eng-fra"), sources[::2], known)


def translations(translator, sources, known):
    """A case from sentences to translate and sentences that the draft has read."""
    encode = translator.target_tokenizer.encode
    drafts = {"lookup": LOOKUP, "n-grams": NGrams([START_ID, *encode(s), END_ID] for s in known)}
    rows = [[*translator.source_tokenizer.encode(source), END_ID] for source in sources]
    return translator.model, rows, drafts, {}


# Each makes its model, the rows to continue or to translate, drafts, and options.
CASES = {
    "characters": characters,
    "parts of words": parts_of_words,
    "signs again and again": signs_again,
    "grammar translator": grammar_translator,
    "eng-fra translator": eng_fra_translator,
}


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m experiments.speculative", description=__doc__)
    parser.add_argument("--steps", type=int, default=200, help="of the trainings on the book")
    options = parser.parse_args(arguments)
    output = records.RESULTS / "speculative" / "scores.json"
    runs = records.runs_so_far(output, steps=options.steps)
    for case, make in CASES.items():
        if case in runs:
            continue
        model, rows, drafts, limits = make(options.steps)
        runs[case] = {
            name: {k: measured(model, rows, draft, k, **limits) for k in DRAFTED}
            for name, draft in drafts.items()
        }
        print(case, runs[case], flush=True)
        records.write(output, {"steps": options.steps, "runs": runs})


if __name__ == "__main__":
    sys.exit(main())

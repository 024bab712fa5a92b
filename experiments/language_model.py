"""How far does a small GPT get on the book's own text, in how many steps?

    python -m experiments.language_model [--text FILE] [--steps 1200]

trains the model of the chapter *A language model* for some numbers of steps, each with a schedule
of its own, and writes ``results/language-model/NAME.json``: the loss on new text in nats per
character, the seconds of CPU time that training took, all cores together, and what the model writes
after "The ", drawn at temperature 0.8.
"""

import argparse
import sys
import time
from importlib import resources
from pathlib import Path

import keras
import numpy as np

from experiments import records
from nlp104.decoding.sampling import sample
from nlp104.training.optimizer import compile_model
from nlp104.training.schedule import WarmupSchedule
from nlp104.transformer.language_model import LanguageModel

ROWS, LENGTH = 16, 128


def book():
    """The running text of the book."""
    return (resources.files("nlp104.data") / "book.txt").read_text(encoding="utf-8")


def alphabet(text):
    """From each character of a text to its id; ids 0 to 3 are taken."""
    return {c: i + 4 for i, c in enumerate(sorted(set(text)))}


def split(text):
    """Ids of characters to learn from and to be tested on, and how many ids there are."""
    number = alphabet(text)
    parts = np.array_split(np.array([number[c] for c in text], "int32"), 100)
    rest = [part for i, part in enumerate(parts) if i % 10 != 4]
    return np.concatenate(rest), np.concatenate(parts[4::10]), len(number) + 4


def small_gpt(vocabulary_size, **overrides):
    """The model of the chapter, or one that differs from it in some of its configuration."""
    chosen = {
        "max_sequence_length": 256,
        "positions": "rotary",
        "normalize_first": True,
        "tie_embeddings": True,
        "dropout": 0.0,
    }
    return LanguageModel.from_preset("tiny", vocabulary_size, **{**chosen, **overrides})


def score(text, steps, seed):
    """Trains one model; returns its loss on new text, the CPU time, and what it writes then."""
    train, validation, vocabulary_size = split(text)
    keras.utils.set_random_seed(seed)
    model = small_gpt(vocabulary_size)
    seconds = train_on(model, train, steps, seed, peak=4e-3)
    loss = loss_on(model, validation)
    number = alphabet(text)
    character = {i: c for c, i in number.items()}
    prompt = np.array([[number[c] for c in "The "]])
    (ids,) = sample(model, prompt, temperature=0.8, seed=seed, max_length=240)
    said = "".join(character.get(i, "") for i in ids.tolist())
    return {"loss": round(loss, 3), "CPU seconds": round(seconds), "writes": said}


def stretches(ids, steps, seed):
    """Rows to train on, drawn at random from a long text."""
    starts = np.random.default_rng(seed).integers(len(ids) - LENGTH, size=(steps * ROWS, 1))
    return ids[starts + np.arange(LENGTH + 1)]


def train_on(model, ids, steps, seed, peak):
    """Trains a model on stretches of a text, drawn at random; returns the CPU time."""
    schedule = WarmupSchedule(peak, warmup_steps=steps // 10, total_steps=steps)
    compile_model(model, schedule, label_smoothing=0.0)
    rows = stretches(ids, steps, seed)
    begun = time.process_time()
    model.fit(rows[:, :-1], rows[:, 1:], batch_size=ROWS, shuffle=False, verbose=0)
    return time.process_time() - begun


def loss_on(model, ids):
    """A model's loss on a text, cut into stretches."""
    starts = np.arange(0, len(ids) - LENGTH, LENGTH)[:, None]
    rows = ids[starts + np.arange(LENGTH + 1)]
    loss, _ = model.evaluate(rows[:, :-1], rows[:, 1:], verbose=0)
    return loss


def main(arguments=None):
    parser = argparse.ArgumentParser(
        prog="python -m experiments.language_model", description=__doc__
    )
    parser.add_argument("--text", type=Path, help="a file in UTF-8; the book by default")
    parser.add_argument("--steps", type=int, nargs="+", default=[1200])
    parser.add_argument("--seeds", type=int, nargs="+", default=[104])
    options = parser.parse_args(arguments)
    text = options.text.read_text(encoding="utf-8") if options.text else book()
    stem = options.text.stem if options.text else "book"
    output = records.RESULTS / "language-model" / f"{stem}.json"
    runs = records.runs_so_far(output, characters=len(text))
    for steps in options.steps:
        for seed in options.seeds:
            name = f"{steps} steps, seed {seed}"
            if name not in runs:
                runs[name] = score(text, steps, seed)
                print(name, runs[name], flush=True)
                records.write(output, {"characters": len(text), "runs": runs})


if __name__ == "__main__":
    sys.exit(main())

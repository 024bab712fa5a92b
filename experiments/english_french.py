"""Train the released English-French model further, for how people type as well.

    python -m experiments.english_french RUN --data fra.txt --epochs 6
    python -m experiments.english_french RUN2 --data fra.txt --start RUN --epochs 1 --anneal
    python -m experiments.english_french RUN3 --data fra.txt --start RUN2 --written written.tsv
    python -m experiments.english_french RUN4 --data fra.txt --start RUN3 --intermediate-dim 2048

An epoch here is `COPIES` passes over the training pairs. In every pass each English sentence is
drawn in one of three ways: as it stands; as people type it, in lower case, without its full stop,
or both; or cut into smaller sub-words than usual (the first merges of its vocabulary only), so that
rare words are met in parts. The French side is never changed; ``--written`` brings further pairs,
the French of which a model wrote (`experiments.distil`); ``--intermediate-dim`` widens the
feed-forward networks, with neurons that change nothing before they have learnt something. A stopped
run goes on where it was.
"""

import argparse
import json
import sys
from dataclasses import replace
from pathlib import Path

import keras
import numpy as np
import tokenizers as library

from experiments.runs import load_translator
from nlp104.data.batches import Batches
from nlp104.data.corpus import load_corpus
from nlp104.data.tokenizer import Tokenizer
from nlp104.training.checkpoints import average_checkpoints, epoch_checkpoints
from nlp104.training.loop import train
from nlp104.training.optimizer import compile_model
from nlp104.training.schedule import WarmupSchedule
from nlp104.transformer.model import Transformer
from nlp104.translation.translator import Translator

SEED = 104
COPIES = 3  # passes over the corpus in an epoch
LOWER, BARE, BOTH = 1, 2, 3
TYPED, IN_PARTS = 0.3, 0.25  # shares of the English sentences
MERGES = (500, 1000, 2000, 4000)
DROPOUT = 0.15
NEAR = 30  # sentence BLEU from which on a written translation is learnt from
TOKENS_PER_BATCH = 2048
WARMUP = 1000


def as_typed(text, way):
    """A sentence in lower case (`LOWER`), without its full stop (`BARE`), or both (`BOTH`)."""
    if way & BARE and text.endswith(".") and not text.endswith(".."):
        text = text[:-1]
    return text.lower() if way & LOWER else text


def with_fewer_merges(tokenizer, path, merges):
    """A tokenizer with the same ids that joins less."""
    tokenizer.save(path)
    content = json.loads(path.read_text(encoding="utf-8"))
    content["model"]["merges"] = content["model"]["merges"][:merges]
    path.unlink()
    return Tokenizer(library.Tokenizer.from_str(json.dumps(content)))


def copies(pairs, tokenizer, folder):
    """The training pairs `COPIES` times over, each time drawn anew, as `Batches`."""
    generator = np.random.default_rng(SEED)
    english, french = zip(*pairs, strict=True)
    cutters = [with_fewer_merges(tokenizer, folder / "fewer.json", each) for each in MERGES]
    target_ids = tokenizer.encode_batch(french)
    sources, targets = [], []
    for _ in range(COPIES):
        share, way = generator.random(len(pairs)), generator.integers(LOWER, BOTH + 1, len(pairs))
        texts = [
            as_typed(text, kind) if drawn < TYPED else text
            for text, drawn, kind in zip(english, share, way, strict=True)
        ]
        rows = tokenizer.encode_batch(texts)
        which = generator.integers(0, len(MERGES), len(pairs))
        for number, cutter in enumerate(cutters):
            places = np.flatnonzero((share > 1 - IN_PARTS) & (which == number))
            for place, row in zip(
                places, cutter.encode_batch([texts[i] for i in places]), strict=True
            ):
                rows[place] = row
        sources += rows
        targets += target_ids
    return Batches(sources, targets, tokens_per_batch=TOKENS_PER_BATCH, bucket_width=1, seed=SEED)


def widen(model, start):
    """Takes the weights of a model with narrower feed-forward networks, and its function.

    New neurons see something, drawn at random, and say nothing: the rows of the second matrix are
    zeros, which learn at once.
    """
    for variable, old in zip(model.weights, start.get_weights(), strict=True):
        value = keras.ops.convert_to_numpy(variable).copy()
        if variable.path.endswith("contract/kernel"):
            value[:] = 0
        value[tuple(map(slice, old.shape))] = old
        variable.assign(value)


def main(arguments=None):
    parser = argparse.ArgumentParser(
        prog="python -m experiments.english_french", description=__doc__
    )
    parser.add_argument("output", type=Path, help="directory of the run")
    parser.add_argument("--data", required=True, help="fra.txt")
    parser.add_argument("--start", default="eng-fra", help="a released model, or a run's directory")
    parser.add_argument("--epochs", type=int, default=4, help=f"each {COPIES} passes")
    parser.add_argument("--learning-rate", type=float, default=1e-3, help="the highest")
    parser.add_argument("--anneal", action="store_true", help="let it fall to 0, linearly")
    parser.add_argument("--written", type=Path, help="further pairs to learn from, tab-separated")
    parser.add_argument("--intermediate-dim", type=int, help="neurons, if more than in --start")
    options = parser.parse_args(arguments)
    keras.utils.set_random_seed(SEED)
    start = load_translator(options.start)
    least = start.model.config.intermediate_dim
    width = options.intermediate_dim or least
    if width < least:
        parser.error(f"Expected --intermediate-dim from {least}, as in --start. Received: {width}.")
    tokenizer = start.source_tokenizer
    corpus = load_corpus(options.data, seed=SEED)
    options.output.mkdir(parents=True, exist_ok=True)
    pairs = corpus.train
    if options.written:
        rows = (line.split("\t") for line in options.written.read_text("utf-8").splitlines())
        pairs = pairs + [(source, text) for source, text, score in rows if float(score) >= NEAR]
    training = copies(pairs, tokenizer, options.output)
    validation = Batches(
        *map(tokenizer.encode_batch, zip(*corpus.validation, strict=True)),
        tokens_per_batch=TOKENS_PER_BATCH,
        bucket_width=1,
    )
    config = replace(start.model.config, dropout=DROPOUT, intermediate_dim=width)
    model = Transformer(config, dtype="mixed_bfloat16")
    inputs, _ = training[0]
    model(inputs)
    widen(model, start.model)
    steps = options.epochs * len(training)
    warmup = 1 if options.anneal else WARMUP
    schedule = WarmupSchedule(options.learning_rate, warmup, steps if options.anneal else None)
    compile_model(model, schedule)
    print(f"{len(training):,} steps an epoch, {training.num_tokens:,} target tokens", flush=True)
    train(model, training, validation, options.epochs, options.output, resume=True, keep=6)
    average_checkpoints(model, epoch_checkpoints(options.output)[-1:])
    Translator(model.with_dtype("float32"), tokenizer, tokenizer).save(options.output)


if __name__ == "__main__":
    sys.exit(main())

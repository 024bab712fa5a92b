"""What each wire of the Transformer is for: pull one, train, translate.

    python -m experiments.wires

trains small models that differ in one wire each, with three seeds, on sentences of the grammar, and
writes ``results/wires/losses.json``: the validation loss on the way, and how well the trained model
translates. It takes some 25 minutes of one core; a run that was stopped goes on where it was. The
chapter on the assembled blocks draws the file.

The package's layers know nothing of this: a variant puts a small subclass in the place of one of
them while the model is made.
"""

import argparse
import sys
from collections import Counter
from contextlib import ExitStack
from unittest import mock

import keras
import numpy as np
from keras import ops

from experiments import records
from nlp104.attention.multi_head import MultiHeadAttention
from nlp104.data import grammar
from nlp104.data.batches import Batches
from nlp104.data.tokenizer import END_ID, Tokenizer
from nlp104.decoding.greedy import greedy
from nlp104.training.optimizer import compile_model
from nlp104.training.run_record import software_versions
from nlp104.training.schedule import WarmupSchedule
from nlp104.transformer.feed_forward import FeedForward
from nlp104.transformer.model import Transformer
from nlp104.transformer.residual import Residual
from nlp104.translation.evaluation import exact_match
from nlp104.translation.translator import Translator

RESULTS = records.RESULTS / "wires"
SEEDS = (1, 2, 3)
MODEL = {"num_layers": 2, "hidden_dim": 64, "intermediate_dim": 256, "num_heads": 4}
MODEL |= {"dropout": 0.0, "max_sequence_length": 64, "attention_gain": 1.0}
BATCH, ROUNDS, EVERY = 64, 12, 100  # a round of so many steps ends with a look at the loss
PEAK, WARMUP = 4e-3, 150  # of the learning rate, which then falls in a straight line to 0
TESTED, PADDING, LONGEST = 500, 10, 30
EXAMPLES = (
    "The hero helps the happy witches.",
    "I did not arrive.",
    "The animal did not cross the street because it was too tired.",
)


class NoSkip(Residual):
    """What came in is not added (post-norm)."""

    def call(self, inputs, sub_layer, training=None):
        return super().call(ops.zeros_like(inputs), lambda _: sub_layer(inputs), training)


class NoNorm(Residual):
    """What was added stays as it is."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.normalization = keras.layers.Identity()


class NoFeedForward(FeedForward):
    """Adds nothing to the wire that runs around it."""

    def call(self, inputs, training=None):
        return ops.zeros_like(inputs)


class NoCausalMask(MultiHeadAttention):
    """Sees the future too."""

    def look(self, *args, use_causal_mask=False, **kwargs):
        return super().look(*args, **kwargs)


class NoPaddingMask(MultiHeadAttention):
    """As cross-attention it takes padding for words."""

    def attend(self, projections, query, keys, values, attention_mask=None, *args, **kwargs):
        mask = None if self.name == "cross_attention" else attention_mask
        return super().attend(projections, query, keys, values, mask, *args, **kwargs)


class NoCrossAttention(MultiHeadAttention):
    """As cross-attention it adds nothing, so the decoder never hears of the source."""

    def attend(self, *args, **kwargs):
        outputs, scores = super().attend(*args, **kwargs)
        return ops.zeros_like(outputs) if self.name == "cross_attention" else outputs, scores


# For each variant: options of the model, and what stands in for a class of `transformer.block`.
VARIANTS = {
    "full": ({}, {}),
    "pre-norm": ({"normalize_first": True}, {}),
    "one head": ({"num_heads": 1}, {}),
    "no feed-forward": ({}, {"FeedForward": NoFeedForward}),
    "no positions": ({"positions": None}, {}),
    "no skip connections": ({}, {"Residual": NoSkip}),
    "no normalisation": ({}, {"Residual": NoNorm}),
    "no causal mask": ({}, {"MultiHeadAttention": NoCausalMask}),
    "no padding mask": ({}, {"MultiHeadAttention": NoPaddingMask}),
    "no cross-attention": ({}, {"MultiHeadAttention": NoCrossAttention}),
}


def build(name, source_words, target_words, **sizes):
    """A model with one wire pulled."""
    options, classes = VARIANTS[name]
    with ExitStack() as stack:
        for replaced, subclass in classes.items():
            stack.enter_context(mock.patch(f"nlp104.transformer.block.{replaced}", subclass))
        return Transformer.from_config(
            {
                **MODEL,
                **sizes,
                **options,
                "vocabulary_size": target_words,
                "source_vocabulary_size": source_words,
            }
        )


class Data:
    """The sentences of all runs."""

    def __init__(self):
        count = ROUNDS * EVERY * BATCH
        self.train = grammar.generate(count, seed=1)
        self.validation = grammar.generate(TESTED, seed=1, split="validation")
        self.test = grammar.generate(TESTED, seed=1, split="test")
        sides = [[e.source for e in self.train], [e.target for e in self.train]]
        self.tokenizers = [Tokenizer.train(side, kind="word") for side in sides]
        self.ids = [t.encode_batch(s) for t, s in zip(self.tokenizers, sides, strict=True)]

    def rounds(self, seed):
        """The training sentences in an order of the seed's, in equal parts."""
        order = np.random.default_rng(seed).permutation(len(self.train))
        for part in np.split(order, ROUNDS):
            pairs = [[side[i] for i in part] for side in self.ids]
            yield Batches(*pairs, batch_size=BATCH, bucket_width=1, seed=seed)

    def validation_batches(self):
        source, target = self.tokenizers
        pairs = (
            source.encode_batch(e.source for e in self.validation),
            target.encode_batch(e.target for e in self.validation),
        )
        return Batches(*pairs, batch_size=BATCH, bucket_width=1, shuffle=False)


def train(name, seed, data):
    """One run: validation losses, and how it translates the test sentences."""
    keras.utils.set_random_seed(seed)
    model = build(name, *(t.vocabulary_size for t in data.tokenizers))
    compile_model(model, WarmupSchedule(PEAK, WARMUP, ROUNDS * EVERY), label_smoothing=0.0)
    validation, losses = data.validation_batches(), []
    for batches in data.rounds(seed):
        model.fit(batches, shuffle=False, verbose=0)
        scores = model.evaluate(validation, verbose=0, return_dict=True)
        losses.append(round(scores["loss"], 4))
    translator = Translator(model, *data.tokenizers)
    sources = [example.source for example in data.test]
    references = [example.targets for example in data.test]
    said = translator.translate(sources, batch_size=100, max_length=LONGEST)
    return {
        "losses": losses,
        "accuracy": round(scores["accuracy"], 4),
        "exact_match": exact_match(said, references),
        "right_words": right_words(said, references),
        "exact_match_padded": exact_match(padded(translator, sources), references),
        "examples": translator.translate(EXAMPLES, max_length=LONGEST),
    }


def right_words(said, references):
    """The share of translations with the words of a reference, in whatever order."""
    hits = [
        any(Counter(text.lower().split()) == Counter(right.lower().split()) for right in accepted)
        for text, accepted in zip(said, references, strict=True)
    ]
    return sum(hits) / len(hits)


def padded(translator, sources):
    """Translations of the same sentences with more padding behind them."""
    rows = translator.source_tokenizer.encode_batch(sources)
    width = max(map(len, rows)) + 1 + PADDING
    ids = keras.utils.pad_sequences([[*row, END_ID] for row in rows], width, padding="post")
    return [
        translator.target_tokenizer.decode(row)
        for row in greedy(translator.model, ids, max_length=LONGEST)
    ]


def table(record):
    """The scores as Markdown: the mean over the seeds and, in brackets, lowest and highest."""
    percents = ("accuracy", "exact_match", "exact_match_padded", "right_words")
    lines = [
        "| model | validation loss | next word right, % | exact match, % | the same, padded, % |"
        " right words in any order, % |",
        "|---|---|---|---|---|---|",
    ]
    for name, runs in record["runs"].items():
        if not runs:  # not yet trained
            continue
        losses = [run["losses"][-1] for run in runs.values()]
        cells = [records.spread(losses, 3)]
        cells += [records.spread([run[key] for run in runs.values()], 1, 100) for key in percents]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m experiments.wires", description=__doc__)
    parser.parse_args(arguments)
    path = RESULTS / "losses.json"
    record = {
        "command": "python -m experiments.wires",
        "seeds": SEEDS,
        "model": MODEL,
        "batch_size": BATCH,
        "steps_per_point": EVERY,
        "peak_learning_rate": PEAK,
        "warmup_steps": WARMUP,
        "test_sentences": TESTED,
        "padding_added": PADDING,
        "example_sources": EXAMPLES,
        "versions": software_versions(keras.backend.backend()),
        "runs": records.runs_so_far(path),
    }
    data = Data()
    record["runs"] = {name: record["runs"].get(name, {}) for name in VARIANTS}
    for seed in map(str, SEEDS):
        for name, runs in record["runs"].items():
            if seed not in runs:
                runs[seed] = train(name, int(seed), data)
                records.write(path, record)
                print(name, seed, runs[seed], flush=True)
    print(table(record))


if __name__ == "__main__":
    sys.exit(main())

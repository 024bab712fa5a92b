"""The series' model and settings beside ours, on the same sentence pairs, equally often.

    python -m experiments.recipes --data fra.txt            # reduced, for two cores
    python -m experiments.recipes --data fra.txt --full     # the series' sizes, for a GPU

writes ``results/recipes/<scale>.json``. A run that was stopped goes on with the next recipe.

"A Deep Dive into Transformers with TensorFlow and Keras: Part 3" reports a loss and an accuracy on
a random split, after its text has lost accents, apostrophes and capitals. Here its recipe is
followed on the leak-free split and scored by BLEU against what people wrote.
"""

import argparse
import re
import sys
import time
import unicodedata
from dataclasses import asdict, dataclass

import keras

from benchmarks.config import Config
from benchmarks.data import pad, stream
from benchmarks.peers import series
from benchmarks.peers.keras_peer import dataset
from experiments import records
from nlp104.data.batches import Batches
from nlp104.data.corpus import load_corpus
from nlp104.data.tokenizer import END_ID, Tokenizer
from nlp104.decoding.compiled import EXTRA_LENGTH
from nlp104.training.optimizer import compile_model
from nlp104.training.pipeline import build_model, make_batches, peak_learning_rate, train_tokenizers
from nlp104.training.run_record import software_versions
from nlp104.training.schedule import WarmupSchedule
from nlp104.training.settings import SPLITS, complete_settings
from nlp104.transformer.presets import PRESETS
from nlp104.translation.evaluation import bleu, exact_match
from nlp104.translation.translator import Translator

RESULTS = records.RESULTS / "recipes"
SEED = 104
WORDS = 15_000  # the series' vocabulary, of each language
EXAMPLE = "i am hungry, let's get some food"


@dataclass(frozen=True)
class Scale:
    """How much of everything; the same for all recipes."""

    preset: str
    pairs: int | None  # None: all of them
    epochs: int
    batch_size: int
    warmup_steps: int  # the series' own, in the same share of all steps


SCALES = {
    "full": Scale("series", None, epochs=25, batch_size=512, warmup_steps=4000),
    "reduced": Scale("tiny", 40_000, epochs=6, batch_size=64, warmup_steps=1700),
}


def stripped(text):
    """Text as the series has it: lower case, no accents, no apostrophes, no digits.

    Example:
        >>> stripped("L'été, j'ai 2 chats !")
        'lete , jai chats !'
    """
    text = unicodedata.normalize("NFKD", text).lower()
    text = re.sub("[^ a-z.?!,¿]", "", text)
    return " ".join(re.sub("([.?!,¿])", r" \1 ", text).split())


def sides(pairs, text):
    """The sources and the targets, each prepared by `text`."""
    return [[text(sentence) for sentence in side] for side in zip(*pairs, strict=True)]


def encode(tokenizers, prepared):
    """Token ids of what `sides` returns."""
    return [t.encode_batch(side) for t, side in zip(tokenizers, prepared, strict=True)]


class SeriesRecipe:
    """The series' model and settings.

    Args:
        scale: `Scale`.
        train: Training pairs.
        text: How the text is prepared: `stripped`, or `str`, which leaves it as it is.
    """

    def __init__(self, scale, train, text=stripped):
        self.scale, self.text = scale, text
        kind = "whitespace" if text is stripped else "word"
        prepared = sides(train, text)
        self.tokenizers = [Tokenizer.train(side, kind, WORDS) for side in prepared]
        self.ids = encode(self.tokenizers, prepared)
        self.config = Config(
            **PRESETS[scale.preset],
            # One number for both sides, so that of the language with more words.
            vocabulary_size=max(tokenizer.vocabulary_size for tokenizer in self.tokenizers),
            head_dim=PRESETS[scale.preset]["hidden_dim"],
            seed=SEED,
        )
        self.peer = series.Peer(self.config)
        self.model = self.peer.model

    def train(self):
        rate = WarmupSchedule.from_hidden_dim(self.config.hidden_dim, self.scale.warmup_steps)
        compile_model(self.model, rate, label_smoothing=0.0)
        batches = stream(*self.ids, self.scale.batch_size, seed=SEED)
        steps = len(self.ids[0]) // self.scale.batch_size
        for epoch in range(self.scale.epochs):
            data = dataset([next(batches) for _ in range(steps)], one_shape=False)
            logs = self.model.fit(data, shuffle=False, verbose=0).history
            print(f"  epoch {epoch + 1}: loss {logs['loss'][0]:.3f}", flush=True)

    def translate(self, sentences):
        ids = self.tokenizers[0].encode_batch(map(self.text, sentences))
        rows = [[*row, END_ID] for row in ids]
        order, translations = sorted(range(len(rows)), key=lambda i: len(rows[i])), {}
        for first in range(0, len(order), 100):
            places = order[first : first + 100]
            ids = pad([rows[i] for i in places])
            for i, row in zip(
                places, self.peer.decode(ids, ids.shape[1] + EXTRA_LENGTH), strict=True
            ):
                translations[i] = self.tokenizers[1].decode(row)
        return [translations[i] for i in range(len(rows))]


class OurRecipe:
    """What `nlp104 train` does unless told otherwise, with sub-words."""

    text = str  # stays as it is

    def __init__(self, scale, train):
        self.settings = complete_settings(
            {
                "preset": scale.preset,
                "tokens": "bpe",
                "epochs": scale.epochs,
                "batch_size": scale.batch_size,
                "seed": SEED,
                "attention_gain": 1.0,
            }
        )
        self.tokenizers = train_tokenizers(train, self.settings)
        self.batches = make_batches(train, self.tokenizers, self.settings)
        keras.utils.set_random_seed(SEED)
        self.model = build_model(self.tokenizers, self.settings)

    def train(self):
        epochs = self.settings["epochs"]
        steps = epochs * len(self.batches)
        peak = peak_learning_rate(self.settings, steps, self.model)
        rate = WarmupSchedule(peak["learning_rate"], peak["warmup_steps"], steps)
        compile_model(self.model, rate, self.settings["label_smoothing"])
        self.model.fit(self.batches, epochs=epochs, shuffle=False, verbose=2)

    def translate(self, sentences):
        return Translator(self.model, *self.tokenizers).translate(sentences, batch_size=100)


RECIPES = {
    "series": SeriesRecipe,
    "ours": OurRecipe,
    "series, text kept": lambda scale, train: SeriesRecipe(scale, train, text=str),
}


def run(name, scale, corpus):
    """Trains by a recipe and examines the model: a dictionary of numbers and translations."""
    made = RECIPES[name](scale, corpus.train)
    start = time.perf_counter()
    made.train()
    seconds = time.perf_counter() - start
    model = made.model
    compile_model(model, 0.0, label_smoothing=0.0)  # so that all losses are plain ones
    ids = encode(made.tokenizers, sides(corpus.validation, made.text))
    validation = Batches(*ids, batch_size=64, bucket_width=1, shuffle=False)
    scores = model.evaluate(validation, verbose=0, return_dict=True)
    sources, references = zip(*corpus.references("test"), strict=True)
    said = made.translate([*sources, EXAMPLE])
    example = said.pop()
    score = bleu(said, references)
    bare = bleu(
        [stripped(sentence) for sentence in said],
        [tuple(stripped(sentence) for sentence in accepted) for accepted in references],
    )
    every = len(sources) // 20
    return {
        "parameters": model.count_params(),
        "seconds": round(seconds),
        "tokens": int(validation.num_tokens),
        "loss": round(scores["loss"], 4),
        "accuracy": round(scores["accuracy"], 4),
        "bleu": round(score.score, 2),
        "bleu_stripped": round(bare.score, 2),
        "signature": score.signature,
        "exact_match": round(exact_match(said, references), 4),
        "example": example,
        "samples": [[sources[i], references[i][0], said[i]] for i in range(0, 20 * every, every)],
    }


def table(record):
    """The numbers as Markdown."""
    lines = [
        "| recipe | parameters | training, s | validation loss per token | next token right, % |"
        " BLEU | BLEU, both sides stripped | exact match, % |",
        "|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for name, found in record["runs"].items():
        lines.append(
            f"| {name} | {found['parameters']:,} | {found['seconds']:,} | {found['loss']:.3f} "
            f"| {100 * found['accuracy']:.1f} | {found['bleu']:.2f} "
            f"| {found['bleu_stripped']:.2f} | {100 * found['exact_match']:.1f} |"
        )
    return "\n".join(lines)


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m experiments.recipes", description=__doc__)
    parser.add_argument("--data", default="fra-eng", help="fra-eng, or the path of a fra.txt")
    parser.add_argument("--full", action="store_true", help="the series' sizes: for a GPU")
    options = parser.parse_args(arguments)
    name = "full" if options.full else "reduced"
    scale, path = SCALES[name], RESULTS / f"{name}.json"
    corpus = load_corpus(options.data, sizes=(scale.pairs, None, None), seed=SEED)
    counts = {split: len(getattr(corpus, split)) for split in SPLITS}
    record = {
        "command": "python -m experiments.recipes --data fra.txt" + " --full" * options.full,
        "scale": asdict(scale),
        "pairs": counts,
        "seed": SEED,
        "versions": software_versions(keras.backend.backend()),
        "runs": records.runs_so_far(path),
    }
    for name in RECIPES:
        if name not in record["runs"]:
            print(name, flush=True)
            record["runs"][name] = run(name, scale, corpus)
            records.write(path, record)
    print(table(record))


if __name__ == "__main__":
    sys.exit(main())

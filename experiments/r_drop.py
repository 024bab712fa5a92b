"""The tiny model on Multi30k with R-Drop: two dropouts of one sentence have to agree.

    python -m experiments.r_drop RUN --data train --validation valid --test test.2016
    python -m experiments.r_drop RUN2 --data both.tsv … --start RUN --anneal 2e-3 --epochs 7

Each batch holds its pairs twice. Dropout falls differently on the two, so the model says two
distributions of every next token; besides being right, they are asked to be alike (Liang et al.,
2021, "R-Drop: Regularized Dropout for Neural Networks"). At inference nothing is doubled. All else
is as in ``results/multi30k-small-batches``. The second goes on from the first, with what it wrote
itself (`experiments.distil`), at a rate that falls to 0. The run is like one of ``nlp104 train``:
``nlp104 evaluate`` and `experiments.seeds` read it. A stopped run goes on where it was.
"""

import argparse
import sys
from pathlib import Path

import keras
import numpy as np
from keras import ops

from experiments.runs import add_places, load_translator
from nlp104.cli.numbers import positive
from nlp104.data.batches import Batches
from nlp104.training.checkpoints import average_checkpoints, epoch_checkpoints
from nlp104.training.loop import train
from nlp104.training.loss import MaskedCrossentropy
from nlp104.training.optimizer import compile_model
from nlp104.training.pipeline import (
    build_model,
    make_batches,
    make_schedule,
    read_corpus,
    train_tokenizers,
)
from nlp104.training.run_record import describe, read_record, write_record
from nlp104.training.settings import PATHS, complete_settings
from nlp104.translation.translator import Translator, save_tokenizers

SETTINGS = {
    "source": "en",
    "target": "de",
    "tokens": "whitespace",
    "shared_vocabulary": True,
    "num_layers": 4,
    "hidden_dim": 128,
    "intermediate_dim": 256,
    "num_heads": 4,
    "dropout": 0.3,
    "normalize_first": True,
    "attention_gain": 1.0,
    "tokens_per_batch": 2048,  # different ones; each stands twice in its batch
    "learning_rate": 0.005,
    "warmup_steps": 2000,
    "decay": "inverse_sqrt",
    "average": 10,
}


class Twice(Batches):
    """Batches in which the second half of the rows repeats the first.

    Example:
        >>> inputs, labels = Twice([[4, 5]], [[7]], bucket_width=1)[0]
        >>> print(labels)
        [[7 3]
         [7 3]]
    """

    def __getitem__(self, index):
        batch = super().__getitem__(index)
        return keras.tree.map_structure(lambda ids: np.concatenate([ids, ids]), batch)


class AgreeingCrossentropy(MaskedCrossentropy):
    """Cross-entropy, and how far the two halves of a batch of `Twice` are apart.

    For a token whose two distributions are p and q, and α the `agreement`, it is the mean of both
    cross-entropies and α/4 · (KL(p‖q) + KL(q‖p)): half of equation 4 of Liang et al. (2021), which
    adds up where this takes the mean. Where nothing is dropped, both are alike, and the
    cross-entropy is left.
    """

    def __init__(self, label_smoothing=0.1, agreement=3.0):
        super().__init__(label_smoothing)
        self.agreement = agreement

    def call(self, y_true, y_pred):
        losses = super().call(y_true, y_pred)
        first, second = ops.split(ops.log_softmax(y_pred, axis=-1), 2, axis=0)
        apart = ops.sum((ops.exp(first) - ops.exp(second)) * (first - second), axis=-1)
        return losses + self.agreement / 4 * ops.concatenate([apart, apart], axis=0)


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m experiments.r_drop", description=__doc__)
    parser.add_argument("output", type=Path, help="directory of the run")
    add_places(parser)
    parser.add_argument("--epochs", type=int, default=50)
    parser.add_argument("--agreement", type=float, default=3.0, help="the paper's α")
    parser.add_argument("--seed", type=int, default=104)
    parser.add_argument("--start", help="a run from whose weights and vocabulary to begin")
    parser.add_argument(
        "--anneal", type=positive, help="a learning rate that falls to 0, linearly, from the start"
    )
    options = parser.parse_args(arguments)
    given = {name: getattr(options, name) for name in (*PATHS, "epochs", "seed")}
    if options.anneal:
        given |= {"learning_rate": options.anneal, "warmup_steps": 1, "decay": "linear"}
        given["average"] = 1  # where the last steps are small, nothing is left to smooth
    if options.start:
        begun = read_record(options.start)["settings"]
        given |= {name: begun[name] for name in ("tokens", "vocabulary_size", "shared_vocabulary")}
    settings = complete_settings(SETTINGS | given)
    corpus = read_corpus(settings, None)
    start = load_translator(options.start) if options.start else None
    if start:
        tokenizers = [start.source_tokenizer, start.target_tokenizer]
    else:
        tokenizers = train_tokenizers(corpus.train, settings)
    training = make_batches(corpus.train, tokenizers, settings, Twice)
    keras.utils.set_random_seed(settings["seed"])
    model = build_model(tokenizers, settings)
    if start:
        model.set_weights(start.model.get_weights())
    schedule = make_schedule(settings, settings["epochs"] * len(training))
    loss = AgreeingCrossentropy(settings["label_smoothing"], options.agreement)
    compile_model(model, schedule, loss=loss)
    options.output.mkdir(parents=True, exist_ok=True)
    save_tokenizers(options.output, *tokenizers)
    record = describe(settings, corpus, training, model, agreement=options.agreement)
    write_record(options.output, record)
    print(f"{len(training):,} steps an epoch, {model.count_params():,} parameters", flush=True)
    train(
        model,
        training,
        make_batches(corpus.validation, tokenizers, settings, Twice),
        settings["epochs"],
        options.output,
        resume=True,
        keep=settings["average"],
    )
    average_checkpoints(model, epoch_checkpoints(options.output)[-settings["average"] :])
    Translator(model, *tokenizers).save(options.output)


if __name__ == "__main__":
    sys.exit(main())

"""``nlp104 train``, step by step: read, tokenise, batch, build, fit, save."""

import contextlib
import shlex
import sys
from pathlib import Path

import keras

from nlp104.cli.recorded import read_run
from nlp104.training.checkpoints import average_checkpoints, epoch_checkpoints
from nlp104.training.distribution import make_distribution, require_sliced
from nlp104.training.loop import train as fit
from nlp104.training.optimizer import compile_model
from nlp104.training.pipeline import (
    build_model,
    compiles_every_shape,
    make_batches,
    make_schedule,
    model_config,
    peak_learning_rate,
    read_corpus,
    train_tokenizers,
)
from nlp104.training.run_record import describe, describe_data, write_record
from nlp104.training.settings import PATHS, SPLITS, complete_settings, resumed_settings
from nlp104.translation.evaluation import score
from nlp104.translation.translator import Translator, load_tokenizers, save_tokenizers
from nlp104.utils.errors import InputError, OccupiedError

SAMPLE = 100  # validation sentences that are translated at the end


def train(output, resume=False, quiet=False, data_dir=None, distribute=None, **given):
    """Trains a model and keeps everything about the run in the directory `output`.

    Nothing is written before the data have been read and the model has been built.

    Args:
        output: The directory to make.
        resume: Whether to continue the run in it.
        quiet: Whether to print only the end.
        data_dir: Where the named corpora lie.
        distribute: The devices, as of `nlp104.training.distribution.parse_grid`. It is no setting:
            a run may go on with others.
        **given: Some of the settings in `settings.DEFAULTS`.

    Returns:
        The exit status.
    """
    output = Path(output)
    say = (lambda *_: None) if quiet else print
    record = read_run(output) if resume else _new_record(output)
    settings = resumed_settings(record["settings"], given) if resume else complete_settings(given)

    corpus = _read(settings, data_dir, record, say)
    tokenizers = _tokenise(corpus, settings, output if resume else None, say)
    places = {key: given[key] for key in PATHS if key in given}
    places |= {"data_dir": data_dir} if data_dir else {}
    with _devices(distribute, tokenizers, settings, say):
        training, validation = _batch(corpus, tokenizers, settings, say)
        model, settings = _build(tokenizers, settings, len(training), say)
        output.mkdir(parents=True, exist_ok=True)
        save_tokenizers(output, *tokenizers)
        write_record(output, describe(settings, corpus, training, model))
        try:
            fit(
                model,
                training,
                validation,
                epochs=settings["epochs"],
                output=output,
                resume=resume,
                patience=settings["patience"],
                keep=settings["average"],
                verbose=0 if quiet else "auto",
            )
        except KeyboardInterrupt as stopped:
            devices = {"distribute": distribute} if distribute else {}
            command = _typed("train", output=output, **places, **devices)
            print(f"\n{stopped}\nTo continue:\n  {command} --resume", file=sys.stderr)
            return 130
        translator = _save(output, settings, tokenizers, model)

        sample = corpus.references("validation")[:SAMPLE]
        _, bleu, _ = score(translator, sample, tokenized=settings["tokens"] == "whitespace")
        print(f"{len(sample)} validation sentences: BLEU {bleu}")
        print(f"The model is in {output}. What to type next:")
        print(f"  {_typed('translate', model=output)} {shlex.quote(sample[0][0])}")
        print(f"  {_typed('evaluate', model=output, **places)}")
        return 0


def _new_record(output):
    """What a new run knows of itself: nothing yet. There must be no other run in its place."""
    if output.exists() and not (output.is_dir() and not any(output.iterdir())):
        raise OccupiedError(
            f"Expected a new directory as --output. Received: {output}, which exists. Name another "
            "one, or add --resume to continue the run in it."
        )
    return {}


def _read(settings, data_dir, record, say):
    """The corpus; that of the run, if it has begun already."""
    corpus = read_corpus(settings, data_dir)
    if not corpus.validation:
        raise InputError(
            f"Expected pairs for validation in {settings['data']}. Received: none that share no "
            "sentence with the others. Name a file of them, --validation."
        )
    if record and record.get("data") != describe_data(corpus):
        raise InputError(
            "A run is resumed with the data it was started with: this one was started with other "
            f"sentence pairs than {settings['data']} holds now."
        )
    shown = ", ".join(f"{len(getattr(corpus, split)):,} {split}" for split in SPLITS)
    languages = f"{corpus.source_language} → {corpus.target_language}"
    say(f"data        {settings['data']} ({languages}): {shown} pairs")
    if corpus.attribution:
        say(f"source      {corpus.attribution}")
    return corpus


def _tokenise(corpus, settings, begun, say):
    """The tokenizers of source and target: those of the run that has begun, or new ones."""
    tokenizers = load_tokenizers(begun) if begun else train_tokenizers(corpus.train, settings)
    shown = " + ".join(f"{tokenizer.vocabulary_size:,}" for tokenizer in dict.fromkeys(tokenizers))
    say(f"vocabulary  {shown} tokens ({settings['tokens']})")
    return tokenizers


def _devices(distribute, tokenizers, settings, say):
    """The devices that were asked for, as a scope; without any, one that changes nothing."""
    if distribute is None:
        return contextlib.nullcontext()
    devices = make_distribution(distribute, model_config(tokenizers, settings))
    say(f"devices     {devices.device_mesh.devices.size}: {distribute}")
    return devices.scope()


def _batch(corpus, tokenizers, settings, say):
    """Training and validation pairs as batches."""
    training = make_batches(corpus.train, tokenizers, settings)
    validation = make_batches(corpus.validation, tokenizers, settings)
    if training.num_dropped:
        limit = settings["max_length"]
        say(f"left out    {training.num_dropped:,} pairs longer than {limit} tokens")
    shown = f"{training.num_tokens:,} target tokens, {training.padding_share:.0%} padding"
    say(f"batches     {len(training):,} an epoch, {shown}")
    if compiles_every_shape():
        shapes = f"{len(training.shapes)} shapes, and {len(validation.shapes)} for validation"
        say(f"compiling   {shapes}, each when it comes first")
    return training, validation


def _build(tokenizers, settings, steps_per_epoch, say):
    """A compiled model, and the settings with its learning rate and warm-up in numbers."""
    keras.utils.set_random_seed(settings["seed"])
    model = build_model(tokenizers, settings)
    steps = settings["epochs"] * steps_per_epoch
    settings = settings | peak_learning_rate(settings, steps, model)
    compile_model(model, make_schedule(settings, steps), settings["label_smoothing"])
    sliced = require_sliced(model)
    say(
        f"model       {settings['preset']}, {model.count_params():,} parameters"
        + f", {len(sliced)} of {len(model.trainable_variables)} arrays sliced" * bool(sliced)
    )
    return model, settings


def _save(output, settings, tokenizers, model):
    """The translator: the mean of the last epochs if asked for, otherwise the best epoch."""
    average = settings["average"]
    best = output / "checkpoints" / "best.weights.h5"
    average_checkpoints(model, epoch_checkpoints(output)[-average:] if average > 1 else [best])
    translator = Translator(model.with_dtype("float32"), *tokenizers)
    translator.save(output)
    return translator


def _typed(command, **options):
    """What to type for a command, fit to be copied into a shell."""
    words = ["nlp104", command]
    for name, value in options.items():
        words += ["--" + name.replace("_", "-"), str(value)]
    return shlex.join(words)

"""What the commands ``nlp104 train``, ``translate``, … do, once ``cli`` has read their options.

Each function takes the options as keyword arguments and returns an exit status. Whatever is wrong
with the data or the model raises an error with a message fit to be shown.
"""

import contextlib
import shlex
import sys
from itertools import islice
from pathlib import Path

import keras

from nlp104.training.checkpoints import average_checkpoints, epoch_checkpoints
from nlp104.training.loop import train as fit
from nlp104.training.optimizer import compile_model
from nlp104.training.pipeline import (
    build_model,
    make_batches,
    peak_learning_rate,
    read_corpus,
    train_tokenizers,
)
from nlp104.training.run_record import fingerprint, read_record, software_versions, write_record
from nlp104.training.schedule import WarmupSchedule
from nlp104.training.settings import (
    PATHS,
    SPLITS,
    complete_settings,
    resumed_settings,
    without_local_paths,
)
from nlp104.translation import pretrained
from nlp104.translation.evaluation import bleu, exact_match
from nlp104.translation.export import export_translator
from nlp104.translation.serve import PORT, TranslationServer
from nlp104.translation.translator import Translator, load_tokenizers, save_tokenizers
from nlp104.utils.errors import InputError, OccupiedError

SAMPLE = 100  # validation sentences that are translated at the end of a training
AT_A_TIME = 256  # lines of the standard input that are translated together


def warm_up():
    """Has TensorFlow compile something, which makes it log a line the first time."""
    if keras.backend.backend() == "tensorflow":
        import tensorflow as tf

        tf.function(lambda: tf.zeros(1), jit_compile=True)()


def train(output, resume=False, quiet=False, data_dir=None, **given):
    """Trains a model and keeps everything about the run in the directory `output`.

    Nothing is written before the data have been read and the model has been built.

    Args:
        output: The directory to make.
        resume: Whether to continue the run in it.
        quiet: Whether to print only the end.
        data_dir: Where the named corpora lie.
        **given: Some of the settings in `DEFAULTS`.
    """
    output = Path(output)
    say = (lambda *_: None) if quiet else print
    if resume:
        record = read_record(output)
        settings = resumed_settings(record["settings"], given)
    else:
        _check_vacant(output)
        settings = complete_settings(given)

    corpus = read_corpus(settings, data_dir)
    counts = {split: len(getattr(corpus, split)) for split in SPLITS}
    data = {"pairs": counts, "sha256": fingerprint(corpus)}
    if not corpus.validation:
        raise InputError(
            f"Expected pairs for validation in {settings['data']}. Received: none that share no "
            "sentence with the others. Name a file of them, --validation."
        )
    if resume and data != record.get("data"):
        raise InputError(
            f"A run is resumed with the data it was started with: {output} was started with other "
            f"sentence pairs than {settings['data']} holds now."
        )
    shown = ", ".join(f"{count:,} {split}" for split, count in counts.items())
    say(f"data        {settings['data']} ({corpus.source} → {corpus.target}): {shown} pairs")
    if corpus.attribution:
        say(f"source      {corpus.attribution}")

    tokenizers = load_tokenizers(output) if resume else train_tokenizers(corpus.train, settings)
    shown = " + ".join(f"{tokenizer.vocabulary_size:,}" for tokenizer in dict.fromkeys(tokenizers))
    say(f"vocabulary  {shown} tokens ({settings['tokens']})")

    training = make_batches(corpus.train, tokenizers, settings)
    validation = make_batches(corpus.validation, tokenizers, settings)
    if training.num_dropped:
        limit = settings["max_length"]
        say(f"left out    {training.num_dropped:,} pairs longer than {limit} tokens")
    shown = f"{training.num_tokens:,} target tokens, {training.padding_share:.0%} padding"
    say(f"batches     {len(training):,} an epoch, {shown}")

    keras.utils.set_random_seed(settings["seed"])
    model = build_model(tokenizers, settings)
    steps = settings["epochs"] * len(training)
    settings |= peak_learning_rate(settings, steps, model)
    total = steps if settings["decay"] == "linear" else None
    schedule = WarmupSchedule(settings["learning_rate"], settings["warmup_steps"], total)
    compile_model(model, schedule, settings["label_smoothing"])
    say(f"model       {settings['preset']}, {model.count_params():,} parameters")

    output.mkdir(parents=True, exist_ok=True)
    save_tokenizers(output, *tokenizers)
    write_record(
        output,
        {
            "settings": without_local_paths(settings),
            "languages": [corpus.source, corpus.target],
            "data": data,
            "left_out": training.num_dropped,
            "parameters": model.count_params(),
            "versions": software_versions(keras.backend.backend()),
        },
    )
    places = {key: given[key] for key in PATHS if key in given}
    if data_dir:
        places["data_dir"] = data_dir
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
        command = _typed("train", output=output, **places)
        print(f"\n{stopped}\nTo continue:\n  {command} --resume", file=sys.stderr)
        return 130
    _choose_weights(model, output, settings["average"])
    translator = Translator(model.with_dtype("float32"), *tokenizers)
    translator.save(output)

    sample = corpus.references("validation")[:SAMPLE]
    _, score, _ = _score(translator, sample, settings)
    print(f"{len(sample)} validation sentences: BLEU {score}")
    print(f"The model is in {output}. What to type next:")
    print(f"  {_typed('translate', model=output)} {shlex.quote(sample[0][0])}")
    print(f"  {_typed('evaluate', model=output, **places)}")
    return 0


def translate(model, sentences=(), **options):
    """Translates the sentences, or else each line of the standard input to a line of the output.

    Args:
        model: Directory of a trained model, or the name of one of the book.
        sentences: What to translate.
        **options: Of `Translator.translate`.
    """
    translator = _translator(model)
    if sentences:
        chunks = iter([sentences])
    else:
        at_a_time = 1 if sys.stdin.isatty() else AT_A_TIME
        lines = _lines(sys.stdin.buffer)
        chunks = iter(lambda: list(islice(lines, at_a_time)), [])
    done = 0
    for chunk in chunks:
        try:
            translations = translator.translate(chunk, **options)
        except InputError as error:
            raise InputError(f"After {done} sentences: {error}" if done else str(error)) from None
        print("\n".join(translations), flush=True)
        done += len(chunk)
    return 0


def evaluate(model, split="test", limit=None, show=5, data_dir=None, **given):
    """Prints how well a model translates one part of a corpus.

    Args:
        model: Directory of a trained model, or the name of one of the book; that needs `data`.
        split: ``"test"``, ``"validation"`` or ``"train"``.
        limit: How many sentences to translate; all if left out.
        show: How many translations to print.
        data_dir: Where the named corpora lie.
        **given: `data`, `validation` and `test`, where they are not those of the training, and
            options of `Translator.translate`.
    """
    places = {key: given.pop(key) for key in PATHS if key in given}
    if not _is_of_the_book(model):
        settings = read_record(model)["settings"]
    elif "data" in places:
        settings = complete_settings({})  # with the seed by which its test part was held out
    else:
        raise InputError(
            f"Expected --data, since the book's model {model} keeps no corpus. Received: none."
        )
    if "data" in places:  # perhaps another corpus, to which the other paths do not belong
        settings = settings | dict.fromkeys(PATHS)
    settings = settings | places
    corpus = read_corpus(settings, data_dir)
    pairs = corpus.references(split)[:limit]
    if not pairs:
        raise InputError(f"Expected {split} pairs in {settings['data']}. Received: none.")
    translator = _translator(model)
    hypotheses, score, exact = _score(translator, pairs, settings, **given)
    for (source, targets), hypothesis in list(zip(pairs, hypotheses, strict=True))[:show]:
        print(f"source      {source}\nreference   {targets[0]}\ntranslation {hypothesis}\n")
    print(f"sentences   {len(pairs):,} of {split}, {settings['data']}")
    print(f"BLEU        {score}")
    print(f"exact match {exact:.1%}")
    return 0


def export(model, output, **options):
    """Writes a model for servers that know nothing of this package.

    Args:
        model: Directory of a trained model, or the name of one of the book.
        output: The directory to make.
        **options: Of `export.export_translator`.
    """
    export_translator(_translator(model), output, **options)
    print(f"The exported model is in {output}: from token ids to token ids, with its tokenizers.")
    return 0


def serve(model="eng-fra", port=PORT):
    """Serves the page on which a reader watches a model translate, until Ctrl-C.

    Args:
        model: Directory of a trained model, or the name of one of the book.
        port: Where to listen; 0: at any port that is free.
    """
    card = pretrained.read_card(pretrained.FOLDER / model if _is_of_the_book(model) else model)
    with TranslationServer(_translator(model), Path(model).name, port, **card) as server:
        print(f"{server.about['model']} translates at {server.url} (Ctrl-C ends it)", flush=True)
        with contextlib.suppress(KeyboardInterrupt):
            server.serve_forever()
    print()
    return 0


def _translator(model):
    """That of a directory or, where there is none, the one of the book that has this name."""
    return (pretrained.load_pretrained if _is_of_the_book(model) else Translator.load)(model)


def _is_of_the_book(model):
    return model in pretrained.names() and not Path(model).is_dir()


def _score(translator, pairs, settings, **options):
    """The translations of the sources, their BLEU score and the share of exact matches."""
    sources, references = zip(*pairs, strict=True)
    hypotheses = translator.translate(sources, **options)
    score = bleu(hypotheses, references, tokenized=settings["tokens"] == "whitespace")
    return hypotheses, score, exact_match(hypotheses, references)


def _check_vacant(output):
    if output.is_dir() and not any(output.iterdir()):
        return
    if output.exists():
        raise OccupiedError(
            f"Expected a new directory as --output. Received: {output}, which exists. Name another "
            "one, or add --resume to continue the run in it."
        )


def _choose_weights(model, output, average):
    """The mean of the last epochs if asked for, otherwise the epoch of lowest validation loss."""
    best = output / "checkpoints" / "best.weights.h5"
    average_checkpoints(model, epoch_checkpoints(output)[-average:] if average > 1 else [best])


def _lines(file):
    """The lines of a file of bytes, which must be UTF-8."""
    for number, line in enumerate(file, start=1):
        try:
            yield line.decode("utf-8").rstrip("\r\n")
        except UnicodeDecodeError as error:
            raise InputError(
                f"Expected UTF-8 text. Received: byte 0x{line[error.start]:02x} at byte "
                f"{error.start + 1} of line {number}."
            ) from None


def _typed(command, **options):
    """What to type for a command, fit to be copied into a shell."""
    words = ["nlp104", command]
    for name, value in options.items():
        words += ["--" + name.replace("_", "-"), str(value)]
    return shlex.join(words)

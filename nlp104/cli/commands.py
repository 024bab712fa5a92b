"""What the commands ``nlp104 train``, ``translate``, … do, once ``cli`` has read their options.

Each function takes the options as keyword arguments and returns an exit status. Whatever is wrong
with the data or the model raises an error with a message fit to be shown.
"""

import contextlib
import sys
from itertools import islice
from pathlib import Path

import keras

from nlp104.cli.recorded import read_run
from nlp104.cli.train import train
from nlp104.training.pipeline import read_corpus
from nlp104.training.settings import PATHS, complete_settings
from nlp104.translation import pretrained
from nlp104.translation.evaluation import score
from nlp104.translation.export import export_page, export_translator
from nlp104.translation.serve import PORT, TranslationServer
from nlp104.translation.translator import Translator
from nlp104.utils.errors import InputError

__all__ = ["evaluate", "export", "serve", "train", "translate", "warm_up"]

AT_A_TIME = 256  # lines of the standard input that are translated together


def warm_up():
    """Has TensorFlow compile something, which makes it log a line the first time."""
    if keras.backend.backend() == "tensorflow":
        import tensorflow as tf

        tf.function(lambda: tf.zeros(1), jit_compile=True)()


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
        settings = read_run(model)["settings"]
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
    tokenized = settings["tokens"] == "whitespace"
    hypotheses, bleu, exact = score(translator, pairs, tokenized, **given)
    for (source, targets), hypothesis in list(zip(pairs, hypotheses, strict=True))[:show]:
        print(f"source      {source}\nreference   {targets[0]}\ntranslation {hypothesis}\n")
    print(f"sentences   {len(pairs):,} of {split}, {settings['data']}")
    print(f"BLEU        {bleu}")
    print(f"exact match {exact:.1%}")
    return 0


def export(model, output, **options):
    """Writes a model for others to use, who need not know this package.

    Args:
        model: Directory of a trained model, or the name of one of the book.
        output: The directory to make; or the file to write, with ``format="web"``.
        **options: Of `export.export_translator`.
    """
    if options.get("format") == "web":
        return _export_page(model, output, {name for name in options if name != "format"})
    export_translator(_translator(model), output, **options)
    print(f"The exported model is in {output}: from token ids to token ids, with its tokenizers.")
    return 0


def _export_page(model, output, others):
    if others:
        raise InputError(
            "Expected no other options with --format web: on the page its reader chooses how to "
            f"search. Received: {', '.join(sorted(others))}."
        )
    export_page(_translator(model), output, _name(model), _card(model))
    print(f"The page is {output}: open it in a browser. It needs no server and no network.")
    return 0


def serve(model="eng-fra", port=PORT):
    """Serves the page on which a reader watches a model translate, until Ctrl-C.

    Args:
        model: Directory of a trained model, or the name of one of the book.
        port: Where to listen; 0: at any port that is free.
    """
    name = _name(model)
    with TranslationServer(_translator(model), name, port, _card(model)) as server:
        print(f"{name} translates at {server.url} (Ctrl-C ends it)", flush=True)
        with contextlib.suppress(KeyboardInterrupt):
            server.serve_forever()
    print()
    return 0


def _name(model):
    """What a page calls it: the last part of its path, which ``.`` has, too."""
    return Path(model).resolve().name


def _card(model):
    """What is recorded of a model, see `pretrained.read_card`."""
    return pretrained.read_card(pretrained.FOLDER / model if _is_of_the_book(model) else model)


def _translator(model):
    """That of a directory or, where there is none, the one of the book that has this name."""
    return (pretrained.load_pretrained if _is_of_the_book(model) else Translator.load)(model)


def _is_of_the_book(model):
    return model in pretrained.names() and not Path(model).is_dir()


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

"""What can be typed after ``nlp104``: the commands, their options, their help.

Nothing here imports Keras. What the options mean for a training stands in ``training.settings``;
those of the model are the fields of ``transformer.config``.
"""

import argparse

from nlp104 import __version__
from nlp104.cli.numbers import TYPES, count, fraction, penalty, port, positive, seed, whole
from nlp104.training.settings import DECAYS, DEFAULTS, DTYPES, EXPORT_FORMATS, SPLITS
from nlp104.transformer.config import OPTIONS
from nlp104.transformer.presets import PRESETS

_EXAMPLES = """\
examples:
  nlp104 train --data grammar --output grammar-model
  nlp104 translate --model grammar-model "The black cat sleeps."
  nlp104 evaluate --model grammar-model --data grammar
  nlp104 serve
"""

_TRAIN_EXAMPLES = """\
examples:
  a few minutes on a laptop, nothing to download:
    nlp104 train --data grammar --output grammar-model
  real sentences, tab-separated (as from manythings.org/anki):
    nlp104 train --data fra.txt --preset small --output eng-fra
  parallel files train.en and train.de, val.en and val.de, already tokenised:
    nlp104 train --data train --validation val --source en --target de \\
        --tokens whitespace --output en-de
  continue a run that was stopped:
    nlp104 train --data fra.txt --output eng-fra --resume
"""

_TRANSLATE_EXAMPLES = """\
examples:
  nlp104 translate --model eng-fra "i am hungry, let's get some food"
  nlp104 translate --model eng-fra < english.txt > french.txt
"""

_EVALUATE_EXAMPLES = """\
examples:
  nlp104 evaluate --model eng-fra --data fra.txt
  nlp104 evaluate --model en-de --data train --test test_2016 --limit 100
  nlp104 evaluate --model en-de --beams 5 --length-penalty 1
"""

_SERVE_EXAMPLES = """\
examples:
  nlp104 serve
  nlp104 serve --model grammar-model --port 8200
"""

_EXPORT_EXAMPLES = """\
examples:
  nlp104 export --model eng-fra --output served
  nlp104 export --model eng-fra --output served-beam --beams 4
  nlp104 export --model eng-fra --output page.html --format web
"""

DATA_HELP = (
    "grammar, fra-eng, ted-pt-en or multi30k-en-de; a file (PATH.tsv, PATH.txt) with a sentence, a "
    "tab and its translation on each line; or PREFIX for the files PREFIX.SOURCE, PREFIX.TARGET"
)
_MODEL_HELP = (
    "directory that `nlp104 train` made, or a model of the book: eng-fra, eng-fra-typed, grammar"
)
_DATA_DIR_HELP = (
    "where the named corpora lie or are downloaded to (default: NLP104_DATA, or a cache)"
)


def make_parser():
    """Returns the `argparse.ArgumentParser` of the whole command line."""
    parser = argparse.ArgumentParser(
        prog="nlp104",
        description="Train a Transformer to translate, translate with it, score it.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"nlp104 {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_train(_command(commands, "train", "train a model", _TRAIN_EXAMPLES))
    _add_translate(_command(commands, "translate", "translate sentences", _TRANSLATE_EXAMPLES))
    _add_evaluate(_command(commands, "evaluate", "score a model", _EVALUATE_EXAMPLES))
    _add_export(_command(commands, "export", "write a model for others to use", _EXPORT_EXAMPLES))
    help = "serve a page on which you watch a model translate"
    _add_serve(_command(commands, "serve", help, _SERVE_EXAMPLES))
    return parser


def _command(commands, name, help, examples):
    return commands.add_parser(
        name,
        help=help,
        description=help.capitalize() + ".",
        epilog=examples,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        # Options that were not typed are absent, not None: a run is resumed with what it was
        # started with, and only what was typed can contradict that.
        argument_default=argparse.SUPPRESS,
        allow_abbrev=False,
    )


def _add_train(parser):
    option = _options(parser, "data")
    option("--data", DATA_HELP)
    option("--source", "language to translate from (default: the corpus' own, for files en)")
    option("--target", "language to translate to (default: the corpus' own, for files fr)")
    option("--validation", "file or PREFIX of the validation pairs (default: 2 %% of --data)")
    option("--test", "file or PREFIX of the test pairs (default: 2 %% of --data)")
    option("--pairs", "train on this many pairs only; grammar: make so many", type=count)
    option("--data-dir", _DATA_DIR_HELP)

    option = _options(parser, "vocabulary")
    option(
        "--tokens",
        "word, bpe (sub-words), or whitespace if the text is tokenised already "
        "(default: bpe for small, base and big, else word)",
        choices=("word", "bpe", "whitespace"),
    )
    option(
        "--vocabulary-size",
        "largest number of tokens (default: 15000 words, 8000 sub-words, base and big 32000)",
        type=count,
    )
    option(
        "--shared-vocabulary",
        "one vocabulary, and one embedding matrix, for both languages (default: for bpe)",
        action=argparse.BooleanOptionalAction,
    )
    option("--max-length", "leave out pairs with more tokens on a side", type=count)

    option = _options(parser, "model")
    option("--preset", "size: " + ", ".join(PRESETS), choices=PRESETS, metavar="NAME")
    for name, limits in OPTIONS.items():
        _add_model_option(option, name, **limits)

    option = _options(parser, "training")
    option("--output", "directory to make for the model and its run", required=True, metavar="DIR")
    option("--epochs", "how often to go through the pairs", type=count, metavar="N")
    option("--batch-size", "pairs in a batch", type=count, metavar="N")
    option("--tokens-per-batch", "instead: positions in a batch", type=count, metavar="N")
    option(
        "--learning-rate",
        "the highest, at the end of the warm-up (default: (4000 * hidden_dim) ** -0.5)",
        type=positive,
        metavar="RATE",
    )
    option(
        "--warmup-steps",
        "steps in which it rises (default: 4000, or a tenth of all if that is less)",
        type=count,
        metavar="N",
    )
    option(
        "--decay",
        "how it falls then: linear (to 0 at the end) or inverse_sqrt (the paper)",
        choices=DECAYS,
        metavar="NAME",
    )
    option("--label-smoothing", "share spread over all tokens", type=fraction, metavar="SHARE")
    option(
        "--dtype",
        "what the arithmetic is done in; the weights stay float32, and so does the model that is "
        "kept: " + ", ".join(DTYPES),
        choices=DTYPES,
        metavar="NAME",
    )
    option("--patience", "stop after N epochs without improvement", type=count, metavar="N")
    option(
        "--average",
        "average the last N epochs (1: take the best one instead)",
        type=count,
        metavar="N",
    )
    option("--seed", "decides all that is random", type=seed)
    option(
        "--resume",
        "continue the run in --output, with its options and the same --data (with --decay "
        "inverse_sqrt, --epochs may lengthen it)",
        action="store_true",
    )
    option("--quiet", "print only the end", action="store_true")
    option(
        "--distribute",
        "train on many devices, with KERAS_BACKEND=jax: data (each takes rows of a batch), or "
        "model:ROWSxSLICES, as model:2x4 (groups of 4 share the weights)",
        metavar="HOW",
    )


def _add_model_option(option, name, help, type="text", **limits):
    """An option for a field of `TransformerConfig`; the presets have defaults of their own."""
    flag = "--" + name.replace("_", "-")
    if type == "switch":
        option(flag, help, action="store_true")
    else:
        metavar = None if "choices" in limits else {"count": "N"}.get(type, type.upper())
        option(
            flag, f"{help}, instead of the preset's", type=TYPES[type], metavar=metavar, **limits
        )


def _add_translate(parser):
    option = _options(parser)
    option("--model", _MODEL_HELP, required=True, metavar="MODEL")
    _add_decoding(option)
    _add_max_length(option)
    help = "without it, each line of the standard input becomes one line of the output"
    parser.add_argument("sentences", nargs="*", metavar="SENTENCE", help=help)


def _add_evaluate(parser):
    option = _options(parser)
    option("--model", _MODEL_HELP, required=True, metavar="MODEL")
    help = " (default: that of the training; a model of the book needs it)"
    option("--data", DATA_HELP + help)
    option("--validation", "file or PREFIX of the validation pairs, as in training")
    option("--test", "file or PREFIX of the test pairs, as in training")
    option("--data-dir", _DATA_DIR_HELP)
    option("--split", "test (default), validation or train", choices=SPLITS, metavar="SPLIT")
    option("--limit", "score only the first N sentences", type=count, metavar="N")
    option("--show", "print N translations (default: 5)", type=whole, metavar="N")
    _add_decoding(option)


def _add_export(parser):
    option = _options(parser)
    option("--model", _MODEL_HELP, required=True, metavar="MODEL")
    option("--output", "directory to make; web: file to write", required=True, metavar="PATH")
    help = "tf_saved_model (default), onnx, which needs tf2onnx, or web, a page"
    option("--format", help, choices=(*EXPORT_FORMATS, "web"), metavar="NAME")
    _add_beams(option)
    _add_max_length(option)


def _add_serve(parser):
    option = _options(parser)
    option("--model", _MODEL_HELP + " (default: eng-fra)", metavar="MODEL")
    option("--port", "port to listen at; 0: any that is free (default: 8104)", type=port)


def _add_decoding(option):
    """Options of `Translator.translate`, under the names that it has for them."""
    option("--batch-size", "sentences at a time (default: 32)", type=count, metavar="N")
    _add_beams(option)
    option(
        "--jit-compile",
        "compile with XLA: seconds at first, then faster; for thousands of sentences",
        action="store_true",
    )


def _add_beams(option):
    option(
        "--beams",
        "beam search that keeps N beginnings (default: 1, greedy)",
        type=count,
        metavar="N",
        dest="num_beams",
    )
    option(
        "--length-penalty",
        "of beam search; more of it gives longer translations (default: 0.6)",
        type=penalty,
        metavar="A",
    )


def _add_max_length(option):
    option(
        "--max-length",
        "longest translation (default: 50 more than the source)",
        type=count,
        metavar="N",
    )


def _options(parser, title=None):
    """Returns a function that adds options to a group, with their plain defaults in the help."""
    group = parser.add_argument_group(title) if title else parser

    def option(flag, help, **kwargs):
        default = DEFAULTS.get(flag[2:].replace("-", "_"))
        if default and "default:" not in help:
            help += f" (default: {default})"
        group.add_argument(flag, help=help, **kwargs)

    return option

"""Random inputs of every kind: what holds for all of them, however odd."""

import argparse
import contextlib
import io
import os
import random
import sys
from pathlib import Path

import pytest

from nlp104.cli import commands
from nlp104.cli import train as training
from nlp104.cli.main import main
from nlp104.cli.options import make_parser
from nlp104.data import download
from nlp104.data.tokenizer import Tokenizer
from nlp104.transformer.model import Transformer
from nlp104.translation.translator import Translator
from nlp104.utils.errors import UserError

# The command line

COMMANDS = {
    name: [action for action in parser._actions if action.option_strings]
    for name, parser in next(
        action.choices
        for action in make_parser()._actions
        if isinstance(action, argparse._SubParsersAction)
    ).items()
}
NUMBERS = "0 1 2 3 8 -1 -0 +1 1.5 1e3 1e999 -1e999 nan inf 0.1 0x10 1_0 ١ 65536 99999999999".split()
TEXTS = ["", " ", "-", "--", "=", "none", "é", "e\u0301", "\u202e", "😀", "\ud800", "a\0b", "\n"]
TEXTS += ["x" * 5000, "/dev/null", "../..", "~", "%s", "{}", "*", "'", "@file", "model:1x1", "data"]
PLACES = [".", "m", "m/model.keras", "pairs.tsv", "pairs", "new", "new/er", "pairs.tsv/new"]
NAMES = ["grammar", "fra-eng", "eng-fra", "en", "fr", "tiny", "word", "bpe", "web", "onnx", "relu"]
SIZES = "--num-layers=1 --hidden-dim=2 --intermediate-dim=2 --num-heads=1 --quiet".split()


def odd_arguments(rng):
    """What somebody may type: a command, some of its options or nearly, and odd values."""
    name = rng.choice([*COMMANDS, *COMMANDS, "", "trian", "--help", "--version", "-h"])
    words = [name]
    options = COMMANDS.get(name) or rng.choice(list(COMMANDS.values()))
    chosen = rng.sample(options, min(len(options), rng.choice([0, 1, 1, 2, 3, 5])))
    if rng.random() < 0.8:  # what must be there is there, and of use
        given = {"train": ["--data=pairs.tsv", "--output=new", *SIZES], "serve": ["--port=0"]}
        model = rng.choice(["m", "m", "m", "none", "eng-fra"])
        words += given.get(name, [f"--model={model}"])
        words += {"export": ["--output=new"], "evaluate": ["--data=pairs.tsv"]}.get(name, [])
        if rng.random() < 0.8:  # the rest is right but for one
            chosen = chosen[:1]
    for action in chosen:
        flag = rng.choice(action.option_strings)
        if rng.random() < 0.05:
            flag = rng.choice(
                [flag[:-1], flag + "s", flag.upper(), flag[1:], flag.replace("-", "_")]
            )
        value = rng.choice(
            [rng.choice(NUMBERS), rng.choice(NUMBERS), rng.choice(TEXTS), rng.choice(PLACES)]
            + [rng.choice(NAMES), str(rng.randint(-10, 10**6)), str(rng.random())]
            + [str(choice) for choice in action.choices or []]
        )
        is_switch = action.nargs == 0 and rng.random() < 0.9
        words += rng.choice([[f"{flag}={value}"], [flag, value]]) if not is_switch else [flag]
    words += rng.choices([*TEXTS, "one cat"], k=rng.choice([0, 0, 1, 2]))
    if rng.random() < 0.05:
        rng.shuffle(words)
    return words

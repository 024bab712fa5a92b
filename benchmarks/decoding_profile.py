"""Where the time goes when one sentence is decoded: by call, by token, by layer, by vocabulary.

    python -m benchmarks.decoding_profile

decodes one row of 16 tokens with eight small models and lengths in turns, with XLA and without, and
writes ``results/profile/decoding.csv``. No profiler is needed: what a layer costs is the difference
between models of one and of two layers. The costs are fitted to all medians at once.
"""

import argparse
import itertools
import statistics
import sys
import time

import numpy as np

from benchmarks.config import Config
from benchmarks.peers.ours import Peer
from benchmarks.profile import RESULTS
from benchmarks.report import markdown, number, write_csv
from nlp104.data.tokenizer import END_ID

LAYERS, VOCABULARY_SIZES, LENGTHS = (1, 2), (1_000, 8_000), (32, 96)
PARTS = {  # what it costs, and how much of it there is with so many layers, words and tokens
    "a call": lambda layers, words, tokens: 1,
    "a call, for each layer": lambda layers, words, tokens: layers,
    "a token": lambda layers, words, tokens: tokens,
    "a token, for each layer": lambda layers, words, tokens: tokens * layers,
    "a token, for each 1,000 words": lambda layers, words, tokens: tokens * words / 1_000,
}


def fit(seconds):
    """What each part costs, from the seconds of calls by `(layers, words, tokens)`.

    Returns:
        Microseconds by part, and the largest error of the fit as a share of its time.
    """
    amounts = np.array([[amount(*case) for amount in PARTS.values()] for case in seconds], float)
    measured = np.array(list(seconds.values()))
    # All cases count by their share, not by their seconds.
    costs = np.linalg.lstsq(amounts / measured[:, None], np.ones(len(measured)), rcond=None)[0]
    error = np.abs(amounts @ costs / measured - 1).max()
    return dict(zip(PARTS, 1e6 * costs, strict=True)), error


def measure(jit_compile, rounds):
    """The median seconds of a call by `(layers, words, tokens)`, all in turns."""
    peers = {}
    for layers, words in itertools.product(LAYERS, VOCABULARY_SIZES):
        config = Config(words, layers, hidden_dim=128, intermediate_dim=512, num_heads=4)
        peers[layers, words] = Peer(config, jit_compile)
        peers[layers, words].silence_end()
    row = np.array([[*range(4, 19), END_ID]])
    seconds = {(*key, tokens): [] for key in peers for tokens in LENGTHS}
    for turn in range(1 + rounds):
        for (*key, tokens), times in seconds.items():
            start = time.perf_counter()
            peers[tuple(key)].decode(row, tokens)
            if turn:  # the first one compiles
                times.append(time.perf_counter() - start)
    return {case: statistics.median(times) for case, times in seconds.items()}


def main(arguments=None):
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.decoding_profile", description=__doc__
    )
    parser.add_argument("--rounds", type=int, default=100, help="calls of each model and length")
    rounds = parser.parse_args(arguments).rounds
    (with_xla, error), (without, other) = (fit(measure(jit, rounds)) for jit in (True, False))
    rows = [{"part": part, "xla": with_xla[part], "plain": without[part]} for part in PARTS]
    RESULTS.mkdir(parents=True, exist_ok=True)
    write_csv(RESULTS / "decoding.csv", rows)
    columns = {
        "costs": lambda row: row["part"],
        "with XLA, µs": number("xla"),
        "without, µs": number("plain"),
    }
    print(markdown(rows, columns))
    print(f"The fit misses the measured times by at most {error:.0%} and {other:.0%}.")


if __name__ == "__main__":
    sys.exit(main())

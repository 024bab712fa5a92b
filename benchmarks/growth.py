"""How the cost grows: with the length of sentences, the batch, the vocabulary and the position."""

import statistics
from dataclasses import replace
from itertools import pairwise

from benchmarks.data import synthetic
from benchmarks.measure import rates
from benchmarks.report import entry_text, markdown, number
from benchmarks.turns import decode, train

TOKENS = 2_560  # in a batch whose sentences get longer, so that only attention grows
GRID = {  # of (batch, length, vocabulary); None: the size's own
    "length": [(TOKENS // n, n, None) for n in (10, 20, 40, 80, 160, 320)],
    "batch": [(n, 20, None) for n in (1, 4, 16, 64, 256)],
    "vocabulary": [(32, 20, n) for n in (1_000, 2_000, 4_000, 8_000, 16_000, 32_000)],
}
POSITIONS = (16, 32, 64, 128, 256)
ROWS = 8  # of decoding against position
HEADINGS = {
    "length": "Training: tokens/s against the tokens in a sentence",
    "batch": "Training: tokens/s against the sentences in a batch",
    "vocabulary": "Training: tokens/s against the tokens in the vocabulary",
    "position": f"Decoding: milliseconds for one token of {ROWS} sentences against its position",
}


def training(team, config, rounds, seconds):
    """Tokens per second of training steps on random ids without padding, as rows.

    Args:
        team: `benchmarks.turns.Team`.
        config: `benchmarks.config.Config`, from which the points of the grid differ.
        rounds: Number of turns for each.
        seconds: About how long a turn takes.
    """
    rows = []
    for curve, points in GRID.items():
        for batch_size, length, vocabulary_size in points:
            point = replace(config, vocabulary_size=vocabulary_size or config.vocabulary_size)
            batch = synthetic(batch_size, length, point.vocabulary_size)
            results = train(team, point, rounds, seconds, [batch], own=False)
            x = {"length": length, "batch": batch_size, "vocabulary": point.vocabulary_size}[curve]
            for entry, result in results.items():
                rate = statistics.median(rates(result["turns"]))
                rows.append({"curve": curve, "x": x, "entry": entry, "y": rate})
    return rows


def decoding(team, config, rounds):
    """Milliseconds that a position costs all rows together, as rows.

    Between two lengths, the difference of the times is that of the positions between them.
    """
    sources = [list(range(4, 20))] * ROWS
    cases = [(ROWS, length, 1) for length in POSITIONS]
    seconds = {
        length: {
            entry: statistics.median(turn["seconds"] / turn["calls"] for turn in result["turns"])
            for entry, result in results.items()
        }
        for (_, length, _), results in decode(team, config, rounds, cases, sources).items()
    }
    return [
        {
            "curve": "position",
            "x": (first + last) // 2,
            "entry": entry,
            "y": 1000 * (seconds[last][entry] - seconds[first][entry]) / (last - first),
        }
        for first, last in pairwise(POSITIONS)
        for entry in seconds[last]
    ]


def tables(rows):
    """A Markdown table under a heading for each curve: a line for each entry."""
    found = []
    for curve, heading in HEADINGS.items():
        lines = {}
        for row in rows:
            if row["curve"] == curve:
                lines.setdefault(row["entry"], {"entry": row["entry"]})[row["x"]] = row["y"]
        points = sorted({row["x"] for row in rows if row["curve"] == curve})
        columns = {f"{x:,}": number(x, 2 if curve == "position" else 0) for x in points}
        if lines:
            found += [
                f"### {heading}\n",
                markdown(lines.values(), {"entry": entry_text, **columns}),
            ]
    return found

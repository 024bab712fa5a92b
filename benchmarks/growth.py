"""How the cost grows: with the length of sentences, the batch, the vocabulary and the position."""

import statistics
from dataclasses import replace
from itertools import pairwise

from benchmarks.data import synthetic
from benchmarks.turns import decode, train

TOKENS = 2_560  # in a batch whose sentences get longer, so that only attention grows
GRID = {  # of (batch, length, vocabulary); None: the size's own
    "length": [(TOKENS // n, n, None) for n in (10, 20, 40, 80, 160, 320)],
    "batch": [(n, 20, None) for n in (1, 4, 16, 64, 256)],
    "vocabulary": [(32, 20, n) for n in (1_000, 2_000, 4_000, 8_000, 16_000, 32_000)],
}
POSITIONS = (16, 32, 64, 128, 256)
ROWS = 8  # of decoding against position
LABELS = {
    "length": ("Tokens in a sentence", "Training: tokens/s against sentence length"),
    "batch": ("Sentences in a batch", "Training: tokens/s against batch size"),
    "vocabulary": ("Tokens in the vocabulary", "Training: tokens/s against vocabulary size"),
    "position": ("Position", "Decoding: milliseconds for one token against its position"),
}


def training(team, config, rounds, seconds, note):
    """Tokens per second of training steps on random ids without padding, as rows.

    Args:
        team: `benchmarks.turns.Team`.
        config: `benchmarks.config.Config`, from which the points of the grid differ.
        rounds: Number of turns for each.
        seconds: About how long a turn takes.
        note: Called with the team and the results of every point.
    """
    rows = []
    for curve, points in GRID.items():
        for batch_size, length, vocabulary_size in points:
            point = replace(config, vocabulary_size=vocabulary_size or config.vocabulary_size)
            batch = synthetic(batch_size, length, point.vocabulary_size)
            results = train(team, point, rounds, seconds, own=False, data=[batch])
            note(team, results)
            x = {"length": length, "batch": batch_size, "vocabulary": point.vocabulary_size}[curve]
            for name, result in results.items():
                rate = statistics.median(t["tokens"] / t["seconds"] for t in result["turns"])
                rows.append({"curve": curve, "x": x, "entry": name, "y": rate})
    return rows


def decoding(team, config, rounds):
    """Milliseconds that a position costs all rows together, as rows.

    Between two lengths, the difference of the times is that of the positions between them.
    """
    sources = [list(range(4, 20))] * ROWS
    cases = [(ROWS, length, 1) for length in POSITIONS]
    results = decode(team, config, rounds, cases, sources)
    seconds = {
        (name, case[1]): statistics.median(
            turn["seconds"] / turn["calls"] for turn in result["turns"]
        )
        for case, by_name in results.items()
        for name, result in by_name.items()
    }
    rows = []
    for first, last in pairwise(POSITIONS):
        for name in team.workers:
            if (name, last) in seconds:
                each = (seconds[name, last] - seconds[name, first]) / (last - first)
                middle = (first + last) // 2
                rows.append({"curve": "position", "x": middle, "entry": name, "y": 1000 * each})
    return rows


def draw(rows, folder):
    """Writes a figure for each curve; returns their captions by file name."""
    from matplotlib.ticker import LogLocator

    from nlp104.figures.plots import curves
    from nlp104.figures.style import grid, to_png

    captions = {}
    for curve, (x_label, title) in LABELS.items():
        mine = [row for row in rows if row["curve"] == curve]
        if not mine:
            continue
        series = {}
        for row in mine:
            series.setdefault(row["entry"], ([], []))
            series[row["entry"]][0].append(row["x"])
            series[row["entry"]][1].append(max(row["y"], 1e-3))
        y_label = f"milliseconds, {ROWS} rows" if curve == "position" else "tokens/s"
        figure, axes = grid(size=(8.4, 4.0))
        place = axes[0, 0]
        curves(series, log="xy", title=title, x_label=x_label, y_label=y_label, axes=place)
        place.yaxis.set_major_formatter("{x:,g}")
        place.yaxis.set_minor_locator(LogLocator(subs=(2, 3, 5)))
        place.yaxis.set_minor_formatter("{x:,g}")
        place.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
        (folder / f"{curve}.png").write_bytes(to_png(figure))
        captions[f"{curve}.png"] = title
    return captions

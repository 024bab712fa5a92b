"""Measurements as rows, rows as CSV files and Markdown tables."""

import csv
import statistics

from benchmarks.measure import rates, ratio, spread


def ours(entry):
    return entry.startswith("nlp104")


def entry_text(row):
    """The entry's name as text, ours in bold."""
    return f"**{row['entry']}**" if ours(row["entry"]) else row["entry"]


def rows_of(results, **columns):
    """What was measured of each entry in one comparison, as rows.

    Args:
        results: By the name of the entry a dictionary with its `turns`, see `benchmarks.turns`.
        **columns: Columns that all rows get first: what was compared.
    """
    medians = {name: statistics.median(rates(r["turns"])) for name, r in results.items()}
    peers = [name for name in medians if not ours(name)]
    best = max(peers, key=medians.get, default=None)
    rows = []
    for name, result in results.items():
        turns = result["turns"]
        row = {
            **columns,
            "entry": name,
            "tokens_per_second": medians[name],
            "spread": spread(rates(turns)),
            "tokens_per_cpu_second": statistics.median(rates(turns, "cpu")),
            "times_best_peer": ratio(turns, results[best]["turns"]) if best else None,
            "best_peer": best,
            "seconds_per_turn": statistics.median(turn["seconds"] for turn in turns),
            "turns": len(turns),
        }
        if result.get("flops"):
            row["gflops_per_second"] = statistics.median(
                result["flops"] * turn["steps"] / turn["seconds"] / 1e9 for turn in turns
            )
        others = ("steps", "first", "warm_up", "memory", "parameters")
        known = {**result, "steps": turns[0].get("steps")}
        rows.append(row | {key: known[key] for key in others if known.get(key) is not None})
    return rows


def write_csv(path, rows):
    """Rows as a CSV file: every column that any of them has, numbers with six digits."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, names, lineterminator="\n")
        writer.writeheader()
        for row in rows:
            writer.writerow({k: f"{v:.6g}" if isinstance(v, float) else v for k, v in row.items()})


def markdown(rows, columns):
    """Rows as a Markdown table.

    Args:
        rows: Dictionaries.
        columns: From the heading of each column to a function from a row to its text.
    """
    cells = [[text(row) for text in columns.values()] for row in rows]
    numeric = [
        all(c.lstrip("-")[:1].isdigit() or c == "–" for c in column)
        for column in zip(*cells, strict=True)
    ]
    rule = ["--:" if right else "---" for right in numeric] or ["---"] * len(columns)
    lines = [list(columns), rule, *cells]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def number(key, digits=0):
    """A function from a row to its number under `key` as text, "–" where it has none."""
    return lambda row: "–" if row.get(key) in (None, "") else f"{row[key]:,.{digits}f}"


TRAINING = {
    "entry": entry_text,
    "tokens/s": number("tokens_per_second"),
    "± %": lambda row: f"{100 * row['spread']:.0f}",
    "× best peer": number("times_best_peer", 2),
    "tokens per CPU second": number("tokens_per_cpu_second"),
    "first step, s": number("first", 1),
    "warm-up, s": number("warm_up", 1),
    "memory, MB": number("memory"),
    "GFLOP/s": number("gflops_per_second"),
}
DECODING = {
    "batch": lambda row: str(row["batch"]),
    "search": lambda row: row["search"],
    **{key: TRAINING[key] for key in list(TRAINING)[:5]},
    "first call, s": number("first", 1),
}


def document(facts, training, decoding, growth, failures):
    """The whole report.

    Args:
        facts: From a name to a text, for the table at its head.
        training: Rows of `rows_of` with the columns `size` and `batches` (`"same"` or `"own"`).
        decoding: Rows with the columns `size`, `search` and `batch`.
        growth: Tables of `benchmarks.growth`.
        failures: Reasons by the names of entries.
    """
    parts = ["# Training and decoding against the peers\n", _facts(facts)]
    parts += [
        "Tokens are real target tokens, without padding. Rates are medians over turns, ± half the "
        "distance between their quartiles; ratios are medians over rounds in which every entry had "
        "its turn. Memory is what the process held at most, beyond what it held after its imports; "
        "on an accelerator, what was in use there at most. "
        "GFLOP/s counts the matrix products of a step, padding included, for `nlp104` too, which "
        "leaves some of them out. "
        "[benchmarks/README.md](../../../benchmarks/README.md) says how each entry is measured.\n"
    ]
    titles = {"same": "same batches for all", "own": "end to end, each with its own batches"}
    for batches, title in titles.items():
        for size in dict.fromkeys(row["size"] for row in training):
            rows = [r for r in training if (r["size"], r["batches"]) == (size, batches)]
            if rows:
                parts += [f"## Training, {size}: {title}\n", markdown(rows, TRAINING)]
    for size in dict.fromkeys(row["size"] for row in decoding):
        rows = [row for row in decoding if row["size"] == size]
        length = rows[0]["length"]
        parts += [f"## Decoding, {size}: {length} tokens a sentence\n", markdown(rows, DECODING)]
    if growth:
        parts += [
            "## As the work grows\n",
            "Medians of short turns, sentences without padding. Where a single line dips, the "
            "machine had a slow minute: all points of a line are measured one after the other. "
            "Decoding one token also pays for the room that the cache has, which grows with the "
            "longest position that is measured.\n",
            *growth,
        ]
    if failures:
        parts += ["## Failures\n", _facts(failures)]
    return "\n".join(parts)


def _facts(facts):
    return "| | |\n|---|---|\n" + "".join(f"| {k} | {v} |\n" for k, v in facts.items())

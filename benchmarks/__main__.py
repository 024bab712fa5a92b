"""The driver: `python -m benchmarks`, see `--help` and README.md."""

import argparse
import datetime
import os
import platform
import shlex
import sys
from contextlib import nullcontext
from itertools import product
from pathlib import Path

from benchmarks import data, growth, report
from benchmarks.config import SIZES, Config, Entry, default_entries
from benchmarks.measure import busy_cores
from benchmarks.turns import Team, decode, say, train

RESULTS = Path(__file__).resolve().parents[1] / "results" / "benchmarks"
SAME_BATCHES = 32  # different ones, over which training on the same batches goes round
BUSY = 0.3  # cores
QUICK = {
    "sizes": ["tiny"],
    "rounds": 2,
    "seconds": 0.5,
    "batches": [1, 32],
    "length": 16,
    "parts": ["same", "own", "decode"],
}


def parse(arguments):
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    words = lambda text: text.split(",")  # noqa: E731
    numbers = lambda text: [int(word) for word in text.split(",")]  # noqa: E731
    add = parser.add_argument
    add("--entries", type=words, default=default_entries(), help="such as nlp104-jax,torch")
    add("--sizes", type=words, default=["tiny", "small"], help=f"of {', '.join(SIZES)}")
    add("--parts", type=words, default=["same", "own", "decode", "growth"], help="what to measure")
    add("--data", default="grammar", help="grammar, or a folder with Multi30k's raw files")
    add("--batch-size", type=int, default=64, help="sentences in a training batch")
    add("--tokens-per-batch", type=int, help="instead, in nlp104's own batches end to end")
    add("--batches", type=numbers, default=[1, 32, 128], help="sentences to decode at a time")
    add("--length", type=int, default=32, help="tokens to decode of each sentence")
    add("--rounds", type=int, default=5, help="turns of each entry")
    add("--seconds", type=float, default=3.0, help="about how long a turn of training takes")
    add("--threads", type=int, default=os.cpu_count(), help="processor cores for each entry")
    add("--dtype", default="float32", help="or mixed_bfloat16, mixed_float16")
    add("--dropout", type=float, default=0.1)
    add("--vocabulary-size", type=int, help="by default 8,000, and 32,000 for base")
    add("--name", help="the folder in results/benchmarks")
    add("--quick", action="store_true", help="a trial of about two minutes: small and noisy")
    options = parser.parse_args(arguments)
    if options.quick:
        given = {a.lstrip("-").split("=")[0] for a in arguments}
        vars(options).update({k: v for k, v in QUICK.items() if k not in given})
        if "entries" not in given:  # what has no cache of compiled programs takes too long
            options.entries = [n for n in options.entries if "jax" not in n and "xla" not in n]
    unknown = set(options.sizes) - set(SIZES)
    if unknown:
        parser.error(f"unknown sizes: {', '.join(unknown)}")
    try:
        options.entries = [Entry.parse(name) for name in options.entries]
    except ValueError as error:
        parser.error(str(error))
    options.name = options.name or f"cpu-{options.threads}-cores" + "-quick" * options.quick
    return options


def installed(entries):
    """The entries whose packages are there; the others are named."""
    found = []
    for entry in entries:
        if entry.missing():
            say(f"leaving out {entry.name}: not installed: {', '.join(entry.missing())}")
        else:
            found.append(entry)
    return found


def main(arguments):
    options = parse(arguments)
    busy = busy_cores()
    entries = installed(options.entries)
    training, decoding, curves, failures, versions = [], [], [], {}, {}
    # A trial keeps its processes; then memory holds what earlier parts left.
    shared = Team(entries, options.threads) if options.quick else None

    def team(members=entries):
        return nullcontext(shared) if shared else Team(members, options.threads)

    def note(workers, results):
        failures.update(workers.failures)
        for result in results.values():
            versions.update(result["versions"])

    def config_of(size):
        overrides = {"vocabulary_size": options.vocabulary_size} if options.vocabulary_size else {}
        return Config.of(
            size,
            batch_size=options.batch_size,
            tokens_per_batch=options.tokens_per_batch,
            dtype=options.dtype,
            dropout=options.dropout,
            **overrides,
        )

    for size in options.sizes:
        config = config_of(size)
        pairs, test = data.sentences(options.data, config.vocabulary_size)
        same = data.same_batches(*pairs, config.batch_size, SAME_BATCHES)
        for part, own, material in (("same", False, same), ("own", True, pairs)):
            if part not in options.parts:
                continue
            say(f"training {size}: {part} batches")
            with team() as workers:
                results = train(workers, config, options.rounds, options.seconds, own, material)
            note(workers, results)
            training += report.rows_of(results, size=size, batches=part)
        if "decode" in options.parts:
            say(f"decoding {size}")
            cases = [(b, options.length, k) for k, b in product((1, 4), options.batches)]
            sources = [[*ids, data.END_ID] for ids in test[0]]
            with team() as workers:
                by_case = decode(workers, config, options.rounds, cases, sources)
            for (batch, length, beams), results in by_case.items():
                note(workers, results)
                search = "greedy" if beams == 1 else f"beam {beams}"
                columns = {"size": size, "search": search, "batch": batch, "length": length}
                decoding += report.rows_of(results, **columns)
    if "growth" in options.parts:
        # A figure holds six lines; where every shape is compiled, every point takes a minute.
        members = [e for e in entries if not e.jit_compile and (e.backend != "jax" or e.ours)][:6]
        with team(members) as workers:
            config = config_of(options.sizes[0])
            rounds, seconds = min(3, options.rounds), options.seconds / 3
            curves += growth.training(workers, config, rounds, seconds, note)
        with team(members) as workers:
            curves += growth.decoding(workers, config, rounds)
            failures |= workers.failures
    if shared:
        shared.__exit__()
    write(options, entries, arguments, busy, training, decoding, curves, failures, versions)


def write(options, entries, arguments, busy, training, decoding, curves, failures, versions):
    folder = RESULTS / options.name
    folder.mkdir(parents=True, exist_ok=True)
    for name, rows in (("training", training), ("decoding", decoding), ("growth", curves)):
        if rows:
            report.write_csv(folder / f"{name}.csv", rows)
    shown = [Path(a).name if os.path.isabs(a) else a for a in arguments]
    facts = {
        "command": f"`{shlex.join(['python', '-m', 'benchmarks', *shown])}`",
        "date": datetime.date.today().isoformat(),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, "
        f"{options.threads} of them used",
        "other work": f"{busy:.1f} cores busy before the start"
        + (": **the numbers are rough**" if busy > BUSY else ""),
        "data": f"{Path(options.data).name}, sentences of up to {data.LONGEST} tokens",
        "numerics": f"{options.dtype}, dropout {options.dropout:g}, batch {options.batch_size}"
        + (
            f" (end to end, {options.tokens_per_batch:,} positions in those of nlp104)"
            if options.tokens_per_batch
            else ""
        ),
        "turns": f"{options.rounds}, of about {options.seconds:g} s in training"
        + ("; as the work grows, at most 3 of a third of that" if curves else ""),
        "versions": ", ".join(
            f"{k} {v}" for k, v in ({"python": platform.python_version()} | versions).items()
        ),
        "entries": ", ".join(entry.name for entry in entries),
    }
    captions = growth.draw(curves, folder) if curves else {}
    text = report.document(facts, training, decoding, captions, failures)
    (folder / "README.md").write_text(text, encoding="utf-8")
    print(text)
    say(f"written to results/benchmarks/{options.name}")


if __name__ == "__main__":
    main(sys.argv[1:])

"""The driver: `python -m benchmarks`, see `--help` and README.md."""

import argparse
import datetime
import os
import platform
import shlex
import sys
from itertools import product
from pathlib import Path

from benchmarks import data, growth, report
from benchmarks.config import SIZES, Config, Entry, default_entries, versions
from benchmarks.measure import busy_cores
from benchmarks.turns import Team, decode, say, train

RESULTS = Path(__file__).resolve().parents[1] / "results" / "benchmarks"
SAME_BATCHES = 32  # different ones, over which training on the same batches goes round
BUSY = 0.3  # cores
PARTS = {"same": "training", "own": "training", "decode": "decoding", "growth": "growth"}  # tables
QUICK = {
    "sizes": ["tiny"],
    "rounds": 2,
    "seconds": 0.5,
    "batches": [1, 32],
    "length": 16,
    "parts": ["same", "own", "decode"],
}


def parse(arguments):
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description=__doc__, allow_abbrev=False
    )
    words = lambda text: text.split(",")  # noqa: E731
    numbers = lambda text: [int(word) for word in text.split(",")]  # noqa: E731
    add = parser.add_argument
    add("--entries", type=words, default=default_entries(), help="such as nlp104-jax,torch")
    add("--sizes", type=words, default=["tiny", "small"], help=f"of {', '.join(SIZES)}")
    add("--parts", type=words, default=[*PARTS], help="what to measure")
    add("--data", default="grammar", help="grammar, or a folder with Multi30k's raw files")
    add("--batch-size", type=int, default=64, help="sentences in a training batch")
    add("--tokens-per-batch", type=int, help="instead, in nlp104's own batches end to end")
    add("--batches", type=numbers, default=[1, 32, 128], help="sentences to decode at a time")
    add("--length", type=int, default=32, help="tokens to decode of each sentence")
    add("--rounds", type=int, default=5, help="turns of each entry")
    add("--seconds", type=float, default=3.0, help="about how long a turn of training takes")
    add("--threads", type=int, default=os.cpu_count(), help="processor cores for each entry")
    add("--dtype", default="float32", help="or mixed_bfloat16, mixed_float16")
    add("--name", help="the folder in results/benchmarks")
    add("--quick", action="store_true", help="a trial of some minutes: small and noisy")
    if "--quick" in arguments:
        # What has no cache of compiled programs takes too long.
        few = [name for name in default_entries() if "jax" not in name and "xla" not in name]
        parser.set_defaults(entries=few, **QUICK)
    options = parser.parse_args(arguments)
    for name, known in (("sizes", SIZES), ("parts", PARTS)):
        if unknown := set(getattr(options, name)) - set(known):
            parser.error(f"Expected {name} of {', '.join(known)}. Received: {', '.join(unknown)}.")
    try:
        options.entries = [Entry.parse(name) for name in options.entries]
    except ValueError as error:
        parser.error(str(error))
    options.name = options.name or f"cpu-{options.threads}-cores" + "-quick" * options.quick
    lost = {*PARTS.values()} - {PARTS[part] for part in options.parts}
    if any((RESULTS / options.name / f"{table}.csv").exists() for table in lost):
        parser.error(
            "Expected the --name of another folder: the report in this one would lose tables that "
            f"are not measured now. Received: {options.name}."
        )
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
    if hasattr(os, "sched_setaffinity"):  # the one limit that every library obeys; it is inherited
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: options.threads])
    entries = installed(options.entries)
    training, decoding, curves, failures = [], [], [], {}

    def config_of(size):
        names = ("batch_size", "tokens_per_batch", "dtype")
        return Config.of(size, **{name: getattr(options, name) for name in names})

    def measure(function, *args, members=entries):
        """Every part has processes of its own, so that memory holds nothing of another part."""
        with Team(members, options.threads) as team:
            found = function(team, *args)
        failures.update(team.failures)
        return found

    for size in options.sizes:
        config = config_of(size)
        pairs, (sources, _) = data.sentences(options.data, config.vocabulary_size)
        same = data.same_batches(*pairs, config.batch_size, SAME_BATCHES)
        for part, material in (("same", same), ("own", pairs)):
            if part in options.parts:
                say(f"training {size}: {part} batches")
                turns = options.rounds, options.seconds
                results = measure(train, config, *turns, material, part == "own")
                training += report.rows_of(results, size=size, batches=part)
        if "decode" in options.parts:
            say(f"decoding {size}")
            cases = [(b, options.length, k) for k, b in product((1, 4), options.batches)]
            ended = [[*ids, data.END_ID] for ids in sources]
            by_case = measure(decode, config, options.rounds, cases, ended)
            for (batch, length, beams), results in by_case.items():
                search = "greedy" if beams == 1 else f"beam {beams}"
                columns = {"size": size, "search": search, "batch": batch, "length": length}
                decoding += report.rows_of(results, **columns)
    if "growth" in options.parts:
        # Where every shape is compiled, every point takes a minute: ours stands for all of them.
        members = [e for e in entries if not e.jit_compile and (e.backend != "jax" or e.ours)]
        config, rounds = config_of(options.sizes[0]), min(3, options.rounds)
        turns = rounds, options.seconds / 3
        curves += measure(growth.training, config, *turns, members=members)
        curves += measure(growth.decoding, config, rounds, members=members)

    folder = RESULTS / options.name
    folder.mkdir(parents=True, exist_ok=True)
    for name, rows in (("training", training), ("decoding", decoding), ("growth", curves)):
        if rows:
            report.write_csv(folder / f"{name}.csv", rows)
    facts = facts_of(options, arguments, entries, busy)
    text = report.document(facts, training, decoding, growth.tables(curves), failures)
    (folder / "README.md").write_text(text, encoding="utf-8")
    print(text)
    say(f"written to results/benchmarks/{options.name}")


def facts_of(options, arguments, entries, busy):
    """What was measured, where and how, for the head of the report."""
    command = [Path(a).name if os.path.isabs(a) else a for a in arguments]
    numerics = f"{options.dtype}, dropout {Config.dropout:g}, batch {options.batch_size}"
    if options.tokens_per_batch:
        positions = f"{options.tokens_per_batch:,} positions"
        numerics += f" (end to end, {positions} in those of nlp104)"
    rough = ": **the numbers are rough**" if busy > BUSY else ""
    growing = "; as the work grows, at most 3 of a third of that"
    return {
        "command": f"`{shlex.join(['python', '-m', 'benchmarks', *command])}`",
        "date": datetime.date.today().isoformat(),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, "
        f"{options.threads} of them used",
        "other work": f"{busy:.1f} cores busy before the start{rough}",
        "data": f"{Path(options.data).name}, sentences of up to {data.LONGEST} tokens",
        "numerics": numerics,
        "turns": f"{options.rounds}, of about {options.seconds:g} s in training"
        + growing * ("growth" in options.parts),
        "versions": ", ".join(f"{k} {v}" for k, v in versions(entries).items()),
        "entries": ", ".join(entry.name for entry in entries),
    }


if __name__ == "__main__":
    main(sys.argv[1:])

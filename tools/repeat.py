"""Do the notebooks give the same outputs again and again? `python -m tools.repeat 10`.

Executes and compares all of them so often, in another order each time: in turns once on all cores,
then on each core alone, side by side. What came of each pass is added to
``results/tested/repeats.json``; such a turn takes a quarter of an hour on two cores. The seed of an
order is the number of its pass.
"""

import argparse
import concurrent.futures
import itertools
import json
import os
import random
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from experiments import records
from tools import check, notebooks

RECORD = records.RESULTS / "tested" / "repeats.json"


def order(seed, root=notebooks.ROOT):
    """The notebooks, in an order of chance."""
    chapters = sorted(notebooks.chapters(root))
    random.Random(seed).shuffle(chapters)
    return chapters


def turns(times, done=0, cores=None):
    """Which passes are run side by side: one on all cores, or one on each of them.

    Args:
        times: number of passes.
        done: number of passes before these.
        cores: numbers of the cores; by default those that this process may use.

    Yields:
        For each turn a list of pairs: the number of a pass, and the cores that it is held to.
    """
    cores = sorted(cores or os.sched_getaffinity(0))
    groups = itertools.cycle([[cores], [[core] for core in cores]])
    numbers = iter(range(done + 1, done + times + 1))
    while turn := [(number, held) for held, number in zip(next(groups), numbers, strict=False)]:
        yield turn


def one_pass(seed, cores, command=check.NBVAL):
    """Execute and compare all notebooks on some cores; what came of it, as a dictionary."""
    workers = [f"--numprocesses={len(cores)}", "--dist=loadfile", "--no-loadscope-reorder"]
    held = ["taskset", "--cpu-list", ",".join(map(str, cores))]
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.xml")
        subprocess.run(
            [*held, *command, *workers, f"--junitxml={report}", *map(str, order(seed))],
            cwd=notebooks.ROOT,
            env=notebooks.environment(**check.limits(threads=1)),
            stdout=subprocess.DEVNULL,
            check=False,  # its report says it
        )
        cells = [*ElementTree.parse(report).iter("testcase")]
    failed = [
        f"{case.get('classname')} {case.get('name')}"
        for case in cells
        if case.find("failure") is not None or case.find("error") is not None
    ]
    seconds = round(time.monotonic() - begin)
    return {
        "seed": seed,
        "cores": len(cores),
        "cells": len(cells),
        "failed": failed,
        "seconds": seconds,
    }


def in_a_row(passes):
    """The last passes in which nothing failed."""
    count = next((i for i, each in enumerate(reversed(passes)) if each["failed"]), len(passes))
    return passes[len(passes) - count :]


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m tools.repeat", description=__doc__)
    parser.add_argument("times", type=int, help="how many passes")
    options = parser.parse_args(arguments)
    record = json.loads(RECORD.read_text(encoding="utf-8"))
    passes = record["passes"]
    for turn in turns(options.times, len(passes)):
        with concurrent.futures.ThreadPoolExecutor(len(turn)) as pool:
            passes += pool.map(one_pass, *zip(*turn, strict=True))
        records.write(RECORD, record)
        print(*passes[-len(turn) :], sep="\n", flush=True)
    return int(len(in_a_row(passes)) < options.times)


if __name__ == "__main__":
    sys.exit(main())

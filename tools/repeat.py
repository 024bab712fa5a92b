"""Do the notebooks give the same outputs again and again? `python -m tools.repeat 10`.

Executes and compares all of them so often, in another order each time, in turns on all cores and
on one. What came of each pass is added to ``results/tested/repeats.json``; a pass takes a quarter
of an hour on two cores, and twice as long on one. The seed of an order is the number of its pass.
"""

import argparse
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


def one_pass(seed, cores, command=check.NBVAL, chapters=None):
    """Execute and compare all notebooks; returns what came of it, as a dictionary."""
    workers = [f"--numprocesses={cores}", "--dist=loadfile", "--no-loadscope-reorder"]
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.xml")
        subprocess.run(
            [*command, *workers, f"--junitxml={report}", *map(str, chapters or order(seed))],
            cwd=notebooks.ROOT,
            env=notebooks.environment(**check.limits(threads=1)),
            preexec_fn=lambda: os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores]),
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
        "cores": cores,
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
    parser.add_argument("--cores", type=int, help="of every pass; otherwise all and one in turns")
    options = parser.parse_args(arguments)
    record = json.loads(RECORD.read_text(encoding="utf-8"))
    passes = record["passes"]
    for _ in range(options.times):
        seed = len(passes) + 1
        cores = options.cores or (check.CORES if seed % 2 else 1)
        passes.append(one_pass(seed, cores))
        records.write(RECORD, record)
        print(passes[-1], flush=True)
    return int(len(in_a_row(passes)) < options.times)


if __name__ == "__main__":
    sys.exit(main())

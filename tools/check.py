"""Check everything, in two queues side by side, and count: `make test`, and then `make slow`.

    .venv/bin/python -m tools.check test|slow [STAGE ...]

A stage that fails does not keep the others from running. One queue alone would leave cores idle
whenever a stage begins or ends; each process gets its share of the threads.
"""

import asyncio
import json
import math
import os
import re
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from importlib import metadata
from pathlib import Path

from tools import notebooks

CORES = os.cpu_count() or 1
WORKERS = min(CORES, 3)  # of a stage; each holds a backend: about 1 GB
THREADS = max(1, CORES // WORKERS)  # of a worker
PYTEST = [sys.executable, "-m", "pytest"]
NBVAL = [
    *PYTEST,
    "--nbval",
    "--nbval-current-env",
    "--nbval-sanitize-with=tests/nbval-sanitize.cfg",
    f"--nbval-cell-timeout={notebooks.CELL_LIMIT}",
]
# A notebook is one chain of cells, and a test file shares its models: files are never split, and
# taken as they are listed: the long ones first, so that the last ones end together.
PARALLEL = [f"--numprocesses={WORKERS}", "--dist=loadfile", "--no-loadscope-reorder"]

COSTS = notebooks.ROOT / "results" / "tested" / "colab.json"

# What is built from the layers, and tested with them: its tests would prove the same twice.
BUILT_FROM_LAYERS = r"explore_page|benchmarks|experiments|nlp104.figures|nlp104.cli\.main"


def uses_a_backend(path):
    """Whether a test file has to be run on every backend: it tests the layers themselves."""
    text = path.read_text()

    def imports(names):
        return re.search(rf"^(?:import|from) (?:{names})\b", text, re.MULTILINE)

    return bool(imports("keras")) and not imports(BUILT_FROM_LAYERS)


def limits(threads=THREADS):
    """So many threads for a process, by default its share of them, as an environment."""
    names = ("OMP_NUM_THREADS", "TF_NUM_INTRAOP_THREADS", "TF_NUM_INTEROP_THREADS")
    return dict.fromkeys(names, str(threads))


def compile_fast(jax=None):
    """Flags of XLA for small programs, run once: what optimising costs is never earned back."""
    flags = "--xla_backend_optimization_level=0"
    jax = jax or metadata.version("jax")
    if jax.startswith("0.10."):  # newer ones do not know the flag, and stop
        flags += " --xla_cpu_use_fusion_emitters=false"  # they take twice as long to compile
    return flags


def longest_first(chapters):
    """Chapters by what they cost when they were last tried as in Colab; new ones come first."""
    record = json.loads(COSTS.read_text(encoding="utf-8"))["chapters"]

    def cost(path):
        name = path.relative_to(notebooks.ROOT).with_suffix("").as_posix()
        return record[name]["CPU seconds"] if name in record else math.inf

    return sorted(chapters, key=cost, reverse=True)


def queues(root=notebooks.ROOT):
    """For each target of `make` two queues of stages: name, command and environment of each."""
    tensorflow = notebooks.environment(**limits())
    jax = notebooks.environment(**limits(), KERAS_BACKEND="jax", XLA_FLAGS=compile_fast())
    ruff = [sys.executable, "-m", "ruff"]
    tests = sorted(root.glob("tests/**/test_*.py"), key=lambda path: -path.stat().st_size)
    on_jax = filter(uses_a_backend, tests)
    chapters = longest_first(notebooks.chapters(root))
    package = [*PYTEST, *PARALLEL, *map(str, tests)]
    return {
        "test": [
            [
                ("ruff check", [*ruff, "check", "--quiet"], None),
                ("ruff format", [*ruff, "format", "--check", "--quiet"], None),
                ("mypy", [sys.executable, "-m", "mypy", "--no-error-summary"], None),
                ("book", ["make", "--no-print-directory", "book"], None),
                ("notebooks", [*NBVAL, *PARALLEL, *map(str, chapters)], tensorflow),
            ],
            [("package", [*package, "-m", "not slow and not long"], tensorflow)],
        ],
        "slow": [
            [("package, JAX", [*PYTEST, *PARALLEL, *map(str, on_jax)], jax)],
            [("package, slow", [*package, "-m", "slow and not long"], tensorflow)],
        ],
    }


async def run(name, command, environment, report):
    """Run one stage; returns whether it succeeded and its counts of passed, failed, skipped."""
    if command[: len(PYTEST)] == PYTEST:
        command = [*command, f"--junitxml={report}"]
    process = await asyncio.create_subprocess_exec(
        *command,
        cwd=notebooks.ROOT,
        env=environment,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        limit=2**24,  # bytes of a line
    )
    async for line in process.stdout:  # those of two stages alternate
        print(f"{name:20}{line.decode(errors='replace')}".rstrip(), flush=True)
    return await process.wait() == 0, count(report)


def count(report):
    """Passed, failed and skipped tests in a report of pytest's."""
    if not report.exists():
        return 0, 0, 0
    suite = ElementTree.parse(report).getroot().find("testsuite")
    total, errors, failures, skipped = (
        int(suite.get(name)) for name in ("tests", "errors", "failures", "skipped")
    )
    return total - errors - failures - skipped, errors + failures, skipped


def clock(seconds):
    return f"{int(seconds) // 60} min {int(seconds) % 60:02d} s"


async def run_all(queues, wanted):
    """Run the stages of some queues whose names begin with one of these; a row for each."""
    with tempfile.TemporaryDirectory() as folder:

        async def run_queue(stages):
            rows = []
            for name, command, environment in stages:
                if wanted and not name.startswith(wanted):
                    continue
                print(f"== {name}", flush=True)
                start = time.monotonic()
                succeeded, counts = await run(
                    name, command, environment, Path(folder, f"{name}.xml")
                )
                verdict = "ok" if succeeded else "FAILED"
                rows.append((name, verdict, *counts, time.monotonic() - start))
            return rows

        finished = await asyncio.gather(*map(run_queue, queues))
    return [row for rows in finished for row in rows]


def main(target="", *names):
    known = queues()
    if target not in known:
        print(f"Expected one of {', '.join(known)}. Received: {target!r}.", file=sys.stderr)
        return 2
    stages = [stage for queue in known[target] for stage, *_ in queue]
    for name in names:
        if not any(stage.startswith(name) for stage in stages):
            print(f"Expected stages of {', '.join(stages)}. Received: {name!r}.", file=sys.stderr)
            return 2
    begin = time.monotonic()
    rows = asyncio.run(run_all(known[target], names))
    print(f"\n{'stage':22}{'':>8}{'passed':>8}{'failed':>8}{'skipped':>9}{'seconds':>9}")
    for name, verdict, good, bad, skipped, seconds in rows:
        print(f"{name:22}{verdict:>8}{good:8}{bad:8}{skipped:9}{seconds:9.0f}")
    passed = sum(good for _, _, good, *_ in rows)
    broken = [name for name, verdict, *_ in rows if verdict != "ok"]
    total = clock(time.monotonic() - begin)
    if broken:
        print(f"\nFAILED: {', '.join(broken)} ({passed} passed in {total})")
        return 1
    print(f"\n{passed} passed in {total}")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

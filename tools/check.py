"""Check everything, one stage after the other, and count: `make test`.

A stage that fails does not keep the others from running. Every core gets one process, and each
process its share of the threads.
"""

import os
import re
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from tools import notebooks

CORES = os.cpu_count() or 1
WORKERS = min(CORES, 4)  # each holds a backend: about 1 GB
PYTEST = [sys.executable, "-m", "pytest"]
NBVAL = [
    *PYTEST,
    "--nbval",
    "--nbval-current-env",
    "--nbval-sanitize-with=tests/nbval-sanitize.cfg",
    "--nbval-cell-timeout=300",
]
# A notebook is one chain of cells, and a test file shares its models: files are never split.
PARALLEL = [f"--numprocesses={WORKERS}", "--dist=loadfile"]


# What is built from the layers, and tested with them: its tests would prove the same twice.
BUILT_FROM_LAYERS = r"explore_page|benchmarks|experiments|nlp104.figures|nlp104.cli\.main"


def uses_a_backend(path):
    """Whether a test file has to be run on every backend: it tests the layers themselves."""
    text = path.read_text()

    def imports(names):
        return re.search(rf"^(?:import|from) (?:{names})\b", text, re.MULTILINE)

    return bool(imports("keras")) and not imports(BUILT_FROM_LAYERS)


def stages(root=notebooks.ROOT):
    """Name, command and environment of each stage."""
    threads = str(max(1, CORES // WORKERS))
    limits = {
        "OMP_NUM_THREADS": threads,
        "TF_NUM_INTRAOP_THREADS": threads,
        "TF_NUM_INTEROP_THREADS": threads,
    }
    tensorflow = notebooks.environment(**limits)
    # Small programs, run once: what optimising them costs is never earned back.
    jax = notebooks.environment(
        **limits, KERAS_BACKEND="jax", XLA_FLAGS="--xla_backend_optimization_level=0"
    )
    ruff = [sys.executable, "-m", "ruff"]
    on_jax = [str(path) for path in sorted(root.glob("tests/**/test_*.py")) if uses_a_backend(path)]
    longest_first = reversed(notebooks.chapters(root))  # the book ends with whole trainings
    return [
        ("ruff check", [*ruff, "check", "--quiet"], None),
        ("ruff format", [*ruff, "format", "--check", "--quiet"], None),
        ("mypy", [sys.executable, "-m", "mypy", "--no-error-summary"], None),
        ("book", ["make", "--no-print-directory", "book"], None),
        ("package, TensorFlow", [*PYTEST, *PARALLEL, "tests"], tensorflow),
        ("package, JAX", [*PYTEST, *PARALLEL, *on_jax], jax),
        ("notebooks", [*NBVAL, *PARALLEL, *map(str, longest_first)], tensorflow),
    ]


def run(command, environment, report):
    """Run one stage; returns whether it succeeded and its counts of passed, failed, skipped."""
    if command[: len(PYTEST)] != PYTEST:
        return subprocess.call(command, cwd=notebooks.ROOT) == 0, (0, 0, 0)
    succeeded = (
        subprocess.call([*command, f"--junitxml={report}"], cwd=notebooks.ROOT, env=environment)
        == 0
    )
    return succeeded, count(report)


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


def main(names):
    begin = time.monotonic()
    rows, passed, broken = [], 0, []
    with tempfile.TemporaryDirectory() as folder:
        for number, (name, command, environment) in enumerate(stages()):
            if names and not any(name.startswith(wanted) for wanted in names):
                continue
            print(f"\n== {name}", flush=True)
            start = time.monotonic()
            succeeded, counts = run(command, environment, Path(folder, f"{number}.xml"))
            passed += counts[0]
            broken += [] if succeeded else [name]
            rows.append((name, "ok" if succeeded else "FAILED", *counts, time.monotonic() - start))
    print(f"\n{'stage':22}{'':>8}{'passed':>8}{'failed':>8}{'skipped':>9}{'seconds':>9}")
    for name, verdict, good, bad, skipped, seconds in rows:
        print(f"{name:22}{verdict:>8}{good:8}{bad:8}{skipped:9}{seconds:9.0f}")
    total = clock(time.monotonic() - begin)
    if broken:
        print(f"\nFAILED: {', '.join(broken)} ({passed} passed in {total})")
        return 1
    print(f"\n{passed} passed in {total}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

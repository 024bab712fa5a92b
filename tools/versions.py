"""Run the package's tests on the versions that it promises: the oldest, the newest, and between.

    .venv/bin/python -m tools.versions [ROW ...]

builds a fresh environment for each row of the list below, runs there the core of the package's
tests, and writes ``results/tested/versions.json``. Rows that are named replace only their own. PATH
must hold python3.10 to python3.13, and the network a package index; PyTorch is gigabytes. A row
takes two cores five to ten minutes.

The core are the tests that ``make slow`` runs on JAX, too (layers, losses, batches, training,
decoding, the command line in short), and some of what else is built on other packages: tokenizers,
corpora, scores, trained models. ``make test`` runs the rest on every Python, with its own pins.
"""

import json
import resource
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from pathlib import Path

from experiments import records
from tools import check, notebooks

RECORD = notebooks.ROOT / "results" / "tested" / "versions.json"
NEWEST = ""  # that pyproject.toml and the Python of the row admit
BACKENDS = {"tensorflow": "TensorFlow", "jax": "JAX", "torch": "PyTorch"}
OTHERS = ("matplotlib", "tokenizers", "sacrebleu", "pooch")  # recorded as well
# What the tests import besides the package; not the book's tools.
TOOLS = ("pytest", "pytest-xdist", "hypothesis", "nbformat", "pyyaml")
# What is run in every row beside the tests of the layers; and what asks for JAX.
ALSO = ("test_tokenizer.py", "test_corpus.py", "test_evaluation.py", "test_pretrained.py")
ON_JAX = "test_distribution.py"


@dataclass(frozen=True)
class Row:
    """An environment: a Python, and what is pinned in it."""

    python: str
    backend: str
    version: str  # of the backend
    keras: str = NEWEST
    numpy: str = NEWEST
    oldest: bool = False  # everything else that the package asks for, too


ROWS = {
    "oldest": Row("3.10", "tensorflow", "2.20.0", keras="3.12.0", numpy="1.26.0", oldest=True),
    "3.11": Row("3.11", "tensorflow", "2.20.0"),
    "3.12": Row("3.12", "tensorflow", "2.21.*", keras="3.14.*", numpy="2.1.*"),
    "3.13": Row("3.13", "tensorflow", "2.21.*"),
    "Colab on JAX": Row("3.13", "jax", "0.7.2", keras="3.13.2", numpy="2.1.3"),
    "JAX": Row("3.12", "jax", NEWEST),
    "PyTorch": Row("3.12", "torch", NEWEST),
}


def installations(row):
    """What uv installs: the package with all that it needs, and then the tools, which stay new."""
    package = ".[tensorflow]" if row.backend == "tensorflow" else "."  # its limits hold, too
    pins = {"keras": row.keras, "numpy": row.numpy, row.backend: row.version}
    pinned = [f"{name}=={version}" if version else name for name, version in pins.items()]
    lowest = ["--resolution=lowest-direct"] if row.oldest else []
    return [[*lowest, "--editable", package, *pinned], list(TOOLS)]


def build(row, folder):
    """A new environment for a row; returns its Python."""
    uv = [sys.executable, "-m", "uv", "--quiet", "--no-python-downloads"]
    subprocess.run([*uv, "venv", "--python", row.python, folder], check=True)
    python = folder / "bin" / "python"
    for arguments in installations(row):
        command = [*uv, "pip", "install", "--python", python, *arguments]
        subprocess.run(command, cwd=notebooks.ROOT, check=True)
    return python


def versions(python, row):
    """The exact versions in an environment, by the names that people use."""
    names = {"keras": "Keras", "numpy": "NumPy", row.backend: BACKENDS[row.backend]}
    names |= {name: name for name in OTHERS}
    code = (
        "import json, platform; from importlib import metadata; print(json.dumps("
        f"[platform.python_version(), *map(metadata.version, {[*names]})]))"
    )
    said = subprocess.run([python, "-c", code], check=True, capture_output=True, text=True).stdout
    return dict(zip(["Python", *names.values()], json.loads(said), strict=True))


def files(row):
    """The test files that are run in a row, the long ones first."""
    also = [*ALSO, ON_JAX] if row.backend == "jax" else ALSO
    paths = sorted(notebooks.ROOT.glob("tests/test_*.py"), key=lambda path: -path.stat().st_size)
    return [path for path in paths if check.uses_a_backend(path) or path.name in also]


def environment(row, found):
    """The variables with which a row's tests are run."""
    settings = check.limits() | {"KERAS_BACKEND": row.backend}
    if row.backend == "jax":
        settings["XLA_FLAGS"] = check.compile_fast(found["JAX"])
    return notebooks.environment(**settings)


def failing(report):
    """The names of the tests that did not pass, in a report of pytest's."""
    cases = ElementTree.parse(report).getroot().iter("testcase")
    wrong = (c for c in cases if c.find("failure") is not None or c.find("error") is not None)
    return [f"{case.get('classname')}::{case.get('name')}" for case in wrong]


def cpu_seconds():
    """Those of all processes that were waited for: the user's and the system's."""
    return sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])


def run(row):
    """One row: its versions, what passed, what did not, and what it cost."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        python, report = build(row, folder / "venv"), folder / "report.xml"
        found = versions(python, row)
        begun, spent = time.perf_counter(), cpu_seconds()
        options = [*check.PARALLEL, "-p", "no:cacheprovider", f"--junitxml={report}"]
        done = subprocess.run(
            [python, "-m", "pytest", *options, *files(row)],
            cwd=notebooks.ROOT,
            env=environment(row, found),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        if done.returncode:
            print(done.stdout)
        if done.returncode not in (0, 1):  # 1: tests failed
            raise RuntimeError(f"Expected a report of pytest's. Received:\n{done.stdout[-3000:]}")
        passed, failed, skipped = check.count(report)
        return {
            "versions": found,
            "passed": passed,
            "failed": failed,
            "skipped": skipped,
            "failing": failing(report),
            "seconds": round(time.perf_counter() - begun),
            "CPU seconds": round(cpu_seconds() - spent),
        }


def summary(record):
    """A table of counts in Markdown, and in a fold the versions: both fit a phone."""
    counts = ("passed", "failed", "skipped")
    table, used = [f"| | {' | '.join(counts)} |", "|---|--:|--:|--:|"], []
    for name, row in record.items():
        label = f"Python {name}" if name[0].isdigit() else name
        table.append(f"| {label} | {' | '.join(str(row[count]) for count in counts)} |")
        found = row["versions"]
        backend = next(b for b in BACKENDS.values() if b in found)
        named = ", ".join(f"{each} {found[each]}" for each in (backend, "Python", "Keras", "NumPy"))
        used.append(f"- **{label}**: {named}.")
    fold = ["", "<details><summary>Which versions</summary>", "", *used, "", "</details>"]
    return "\n".join([*table, *fold])


def main(names):
    if unknown := ", ".join(set(names) - set(ROWS)):
        raise SystemExit(f"Expected some of: {', '.join(ROWS)}. Received: {unknown}.")
    record = json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.exists() else {}
    for name in names or ROWS:
        print(f"{name}: {ROWS[name]}", flush=True)
        record[name] = run(ROWS[name])
        record = {each: record[each] for each in ROWS if each in record}  # none that is gone
        records.write(RECORD, record)
    print(summary(record))
    return any(row["failed"] for row in record.values())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Run every chapter as Colab would: alone, in an empty folder, and without a network.

    python3.13 -m venv colab
    colab/bin/pip install -r tests/colab-constraints.txt setuptools wheel nbval pyyaml pooch
    colab/bin/python -m tools.colab [NOTEBOOK ...]

The environment has what Colab has, and no nlp104: each notebook installs it with its first cell,
into a layer of its own. A wheel of this tree stands in for the address. A chapter passes if all
compared outputs are the stored ones, and if no version in the environment has changed. Writes
``results/tested/colab.json``.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
import venv
import xml.etree.ElementTree as ElementTree
from importlib import metadata
from pathlib import Path

import nbformat

from experiments import records
from tools import notebooks

# No network: a namespace of its own, in which only the loopback device is up (kernels need it).
AS_ROOT = [] if os.geteuid() == 0 else ["--map-root-user"]
OFFLINE = ["unshare", "--net", *AS_ROOT, "sh", "-c", 'ip link set lo up; exec "$@"', "sh"]
SHOWN = ("tensorflow", "keras", "numpy", "matplotlib", "ipykernel", "tokenizers")
RECORD = notebooks.ROOT / "results" / "tested" / "colab.json"
HERE = sysconfig.get_path("purelib")
LIMIT = 1800  # seconds a chapter may take on a busy machine


def wheels(folder):
    """Puts a wheel of this tree, and what it needs besides Colab's packages, into a folder."""
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "wheel"]
    tree = folder / "tree"  # setuptools leaves its own things in the folder that it builds from
    for part in ("nlp104", "results"):
        shutil.copytree(notebooks.ROOT / part, tree / part)
    for file in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(notebooks.ROOT / file, tree)
    build = ["--no-deps", "--no-build-isolation", "--wheel-dir", folder, tree]
    subprocess.run([*pip, *build], check=True)
    (wheel,) = folder.glob("nlp104-*.whl")
    subprocess.run([*pip, "--wheel-dir", folder, wheel], check=True)
    return wheel


def stranger(path, folder, wheel):
    """A copy of a notebook in an empty folder, which installs the wheel instead of the address."""
    notebook = nbformat.read(path, as_version=4)
    setup = next(cell for cell in notebook.cells if cell.cell_type == "code")
    address = f"git+{notebooks.address()}"
    if address not in setup.source:
        raise ValueError(f"Expected a first cell that installs {address}. Received: {path}.")
    setup.source = setup.source.replace(address, wheel.as_uri())
    setup.metadata["tags"] = ["nbval-ignore-output"]  # pip notes that it has installed something
    copy = folder / path.name
    nbformat.write(notebook, copy)
    return copy


def layer(folder):
    """A Python whose packages are those of this environment; what it installs stays in `folder`."""
    venv.create(folder, symlinks=True)
    python = folder / "bin" / "python"
    paths = {"base": str(folder), "platbase": str(folder)}
    own = Path(sysconfig.get_path("purelib", vars=paths))
    (own / "colab.pth").write_text(f"{HERE}\n", encoding="utf-8")
    return python, own


def packages(folder):
    """The names of what is installed in a folder."""
    return {each.metadata["Name"] for each in metadata.distributions(path=[str(folder)])}


def shadowed(own):
    """The packages in a layer that the environment has, too: the versions that were changed."""
    return sorted(packages(own) & packages(HERE))


def run(path, wheel):
    """One chapter: what was compared, what differed, seconds and peak memory."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        python, own = layer(folder / "layer")
        empty = folder / "content"
        empty.mkdir()
        copy, report = stranger(path, empty, wheel), folder / "report.xml"
        environment = notebooks.environment(
            PIP_NO_INDEX="1", PIP_FIND_LINKS=str(wheel.parent), HOME=str(empty)
        )
        sanitize = notebooks.ROOT / "tests" / "nbval-sanitize.cfg"
        command = [
            *(python, "-m", "pytest", "--quiet", "-p", "no:cacheprovider", f"--junitxml={report}"),
            *("--nbval", "--nbval-current-env", f"--nbval-sanitize-with={sanitize}"),
            *(f"--nbval-cell-timeout={LIMIT}", copy.name),
        ]
        begun = time.perf_counter()
        process = subprocess.Popen(
            [*OFFLINE, *map(str, command)],
            cwd=empty,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        said = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)  # that of all processes that it waited for
        suite = ElementTree.parse(report).getroot().find("testsuite") if report.exists() else None
        if suite is None:
            raise RuntimeError(f"Expected a report on {path.name}. Received:\n{said[-3000:]}")
        cells = int(suite.get("tests"))
        wrong = [
            int(re.search(r"\d+$", case.get("name"))[0])
            for case in suite.iter("testcase")
            if case.find("failure") is not None or case.find("error") is not None
        ]
        if wrong or status:
            print(said)
        return {
            "cells": cells,
            "different": wrong,
            "changed versions": shadowed(own),
            "seconds": round(time.perf_counter() - begun),
            "CPU seconds": round(usage.ru_utime + usage.ru_stime),
            "MiB": round(usage.ru_maxrss / 1024),
        }


def main(names):
    if subprocess.run([*OFFLINE, "true"], capture_output=True).returncode:
        raise SystemExit("Expected a system that grants a network of one's own: unshare --net.")
    if "nlp104" in packages(HERE):
        raise SystemExit("Expected an environment without nlp104: chapters install it themselves.")
    chapters = [Path(name).resolve() for name in names] or notebooks.chapters()
    record = {"chapters": {}}
    if names and RECORD.exists():  # the others were run before
        record = json.loads(RECORD.read_text(encoding="utf-8"))
    record["versions"] = {"Python": sys.version.split()[0]} | {
        n: metadata.version(n) for n in SHOWN
    }
    with tempfile.TemporaryDirectory() as folder:
        wheel = wheels(Path(folder))
        for path in chapters:
            name = path.relative_to(notebooks.ROOT).with_suffix("").as_posix()
            found = record["chapters"][name] = run(path, wheel)
            print(f"{name}: {found}", flush=True)
            records.write(RECORD, record)
    return any(run["different"] or run["changed versions"] for run in record["chapters"].values())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

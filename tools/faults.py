"""Plant faults in a copy of the package, one at a time, and see who notices: `make faults`.

Each fault of `tools/faults.toml` must fail one of the tests named with it, and the chapter that
teaches the piece. FAULTS="scale mask" plants only those with one of these words in their names.
"""

import ast
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from tools import check, imports, notebooks

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PARTS = (
    "nlp104",
    "tests",
    "book",
    "results",
    "tools",
    "pyproject.toml",
    "_config.yml",
    "_toc.yml",
)


@dataclass(frozen=True)
class Fault:
    """A change to one definition of the package, and who has to notice it.

    Attributes:
        name: What is wrong.
        of: The function, or the class and its method, wherever it stands in the package.
        old: What is replaced in it; it occurs there once.
        new: By what.
        tests: Files of tests, one of which has to fail.
        chapter: The chapter that teaches the piece, which has to fail, too.
    """

    name: str
    of: str
    old: str
    new: str
    tests: tuple[str, ...]
    chapter: str


def load(root=notebooks.ROOT):
    """The faults of `tools/faults.toml`."""
    entries = tomllib.loads((root / "tools" / "faults.toml").read_text())["fault"]
    return [Fault(**{**entry, "tests": tuple(entry["tests"])}) for entry in entries]


def find(name, root):
    """Where a definition stands: its file, and its first and last line, counted from 0.

    Of the rooms; what stands beside them, the Transformer in one file, has like names.
    """
    first, _, method = name.partition(".")
    found = []
    for path in sorted((root / "nlp104").rglob("*.py")):
        if path.stem in imports.ALONE:
            continue
        nodes = [n for n in ast.parse(path.read_text()).body if getattr(n, "name", "") == first]
        if method:
            nodes = [n for node in nodes for n in node.body if getattr(n, "name", "") == method]
        found += [(path, node.lineno - 1, node.end_lineno) for node in nodes]
    if len(found) != 1:
        raise ValueError(f"Expected one definition of {name}. Received: {len(found)}.")
    return found[0]


def plant(fault, root):
    """Put a fault into the package under `root`."""
    path, begin, end = find(fault.of, root)
    lines = path.read_text().splitlines(keepends=True)
    text = "".join(lines[begin:end])
    if text.count(fault.old) != 1:
        raise ValueError(
            f"The fault {fault.name!r} replaces one place of {fault.of}, and its text occurs "
            f"{text.count(fault.old)} times there: {fault.old!r}"
        )
    lines[begin:end] = text.replace(fault.old, fault.new)
    path.write_text("".join(lines))


def copy(root, folder):
    """A copy of what the tests and the chapters need."""
    for part in PARTS:
        source, target = root / part, Path(folder, part)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("_build", "__pycache__"))
        elif source.exists():
            shutil.copy(source, target)
    return Path(folder)


def run(command, copied):
    """Run pytest on the copy until something fails; returns what failed, or None."""
    report = copied / "report.xml"
    result = subprocess.run(
        [*command, "--exitfirst", f"--junitxml={report}", "-p", "no:cacheprovider"],
        cwd=copied,
        # The copy comes before the installed package.
        env=notebooks.environment(PYTHONPATH=str(copied), PYTHONDONTWRITEBYTECODE="1"),
        capture_output=True,
        text=True,
    )
    if result.returncode == 0:
        return None
    if result.returncode != 1:  # not a failing test, but no test at all
        raise RuntimeError(result.stdout + result.stderr)
    names = (
        case.get("name")
        for case in ElementTree.parse(report).iter("testcase")
        if case.find("failure") is not None or case.find("error") is not None
    )
    # nbval counts the cells from 0; their execution count starts at 1.
    return re.sub(r"^Cell (\d+)$", lambda cell: f"[{int(cell[1]) + 1}]", next(names))


def noticed(fault, root):
    """Plant a fault in a fresh copy; returns the failing test and the failing cell."""
    with tempfile.TemporaryDirectory() as folder:
        copied = copy(root, folder)
        plant(fault, copied)
        return (
            run([*check.PYTEST, *fault.tests], copied),
            run([*check.NBVAL, fault.chapter], copied),
        )


def check_copy(faults, root):
    """Without a fault the copy passes everything, and is what is imported."""
    with tempfile.TemporaryDirectory() as folder:
        copied = copy(root, folder)
        where = subprocess.run(
            [sys.executable, "-c", "import nlp104; print(nlp104.__file__)"],
            cwd=copied / "book",
            env=notebooks.environment(PYTHONPATH=str(copied)),
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        if copied.resolve() not in Path(where).resolve().parents:
            raise RuntimeError(f"Expected the package of the copy {copied}, got {where}.")
        tests = sorted({test for fault in faults for test in fault.tests})
        failed = run([*check.PYTEST, *tests], copied)
        for chapter in sorted({fault.chapter for fault in faults}):
            failed = failed or run([*check.NBVAL, chapter], copied)
        if failed:
            raise RuntimeError(f"Without any fault this fails already: {failed}")


def main(words, root=notebooks.ROOT):
    faults = [f for f in load(root) if not words or any(word in f.name for word in words)]
    if not faults:
        print(f"No fault has one of these words in its name: {', '.join(words)}", file=sys.stderr)
        return 2
    start = time.monotonic()
    check_copy(faults, root)
    widths = f"{{:{max(len(fault.name) for fault in faults)}}}  {{:60}}  {{}}"
    print(widths.format("fault", "test that catches it", "chapter that catches it"))
    escaped = 0
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        results = pool.map(lambda fault: noticed(fault, root), faults)
        for fault, (test, cell) in zip(faults, results, strict=True):
            escaped += test is None or cell is None
            chapter = Path(fault.chapter).stem
            place = f"{chapter} {cell}" if cell else f"NONE: {chapter} passes"
            print(widths.format(fault.name, test or "NONE", place), flush=True)
    total = check.clock(time.monotonic() - start)
    print(f"\n{len(faults)} faults, {escaped} escaped a test or a chapter; {total}")
    return int(escaped > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

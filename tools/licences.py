"""The licence of every package in requirements.txt: what its metadata say, and what it is used for.

    .venv/bin/python -m tools.licences    # writes results/tested/licences.json

Run it after `make lock`. Pins of other systems and Pythons are not installed here: the index is
asked for their wheels, a few megabytes. A copyleft licence that is not explained in `COPYLEFT` is
an error. What a wheel carries inside is not in metadata: those of NumPy and SciPy hold GCC's
libgfortran (GPL, with an exception for what is linked to it) and libquadmath (LGPL).
"""

import re
import subprocess
import sys
import tempfile
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from experiments import records
from tools import notebooks

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

RECORD = records.RESULTS / "tested" / "licences.json"
WEAK = re.compile(r"[AL]?GPL|MPL|EPL|CDDL|EUPL|Mozilla|General Public|CC-BY-SA")
# Nothing of them is changed or handed on here. That is all that MPL 2.0 and the GPL ask about.
COPYLEFT = {
    "certifi": "the certificates with which `pooch` downloads a corpus",
    "docutils": "reads the pages of the book; GPL is a file for Emacs, not in its wheel",
    "hypothesis": "draws examples for tests",
    "pathspec": "finds the files for mypy",
    "tqdm": "comes with `tokenizers`, for downloads that nlp104 does not make; part of it is MIT",
}
UNSAID = {"namex": "Apache-2.0"}  # its metadata name none; its file LICENSE does


def pins():
    """The name of each package in requirements.txt and one of its pins, with its marker."""
    lines = (notebooks.ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    wanted = [Requirement(line.strip()) for line in lines if not line.lstrip().startswith("#")]
    return {canonicalize_name(each.name): each for each in wanted}


def described(wanted):
    """The metadata of each package: as it is installed, or else from its wheel in the index."""
    found, absent = {}, []
    for name, pin in wanted.items():
        try:
            found[name] = metadata.metadata(name)
        except metadata.PackageNotFoundError:
            absent.append(f"{pin.name}{pin.specifier}")
    with tempfile.TemporaryDirectory() as folder:
        pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "download"]
        options = ["--no-deps", "--ignore-requires-python", "--only-binary=:all:", "--dest", folder]
        for pin in absent:
            subprocess.run([*pip, *options, pin], check=True)
        for wheel in Path(folder).glob("*.whl"):
            [inside] = metadata.distributions(path=[str(wheel)])
            found[canonicalize_name(inside.metadata["Name"])] = inside.metadata
    return found


def licence(name, about):
    """The licence in a few words: the SPDX expression, or else the classifiers, or a short name."""
    if name in UNSAID:
        return UNSAID[name]
    classifiers = [c for c in about.get_all("Classifier", []) if c.startswith("License ::")]
    named = ", ".join(c.rpartition(" :: ")[2] for c in classifiers if c.count("::") > 1)
    field = (about.get("License") or "").strip()
    short = field if field != "UNKNOWN" and len(field) < 60 and "\n" not in field else ""
    said = about.get("License-Expression") or named or short
    if not said:
        raise ValueError(f"Expected a licence in the metadata of {name}. Received: none.")
    return said


def reach(lines, found):
    """The names of all packages that some requirements bring in, on whatever system."""
    seen, waiting = set(), [Requirement(line) for line in lines]
    while waiting:
        wanted = waiting.pop()
        name = canonicalize_name(wanted.name)
        for extra in ("", *wanted.extras):
            if name not in found or (name, extra) in seen:
                continue
            seen.add((name, extra))
            for each in map(Requirement, found[name].get_all("Requires-Dist", [])):
                asked = re.search(r'extra == "([^"]+)"', str(each.marker or ""))
                if (asked[1] if asked else "") == extra:
                    waiting.append(each)
    return {name for name, _ in seen}


def uses(found):
    """What each package is there for, the closest to the reader first."""
    project = tomllib.loads((notebooks.ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    groups, extras = project["dependency-groups"], project["project"]["optional-dependencies"]
    asked = {
        "package": [*project["project"]["dependencies"], *extras["tensorflow"]],
        "export to ONNX": extras["onnx"],
        "book": groups["book"],
        "tests": groups["test"],
    }
    reached = {use: reach(lines, found) for use, lines in asked.items()}
    # Some are asked for by older versions alone, those of Python 3.10.
    return {n: next((use for use in reached if n in reached[use]), "older pins") for n in found}


def table():
    """Licence and use of each package, in the order of their names."""
    found = described(pins())
    used = uses(found)
    return {n: {"licence": licence(n, found[n]), "for": used[n]} for n in sorted(found)}


def main():
    rows = table()
    weak = {name for name, row in rows.items() if WEAK.search(row["licence"])}
    for name in sorted(weak):
        print(f"{name:16}{rows[name]['licence']}, for: {rows[name]['for']}. {COPYLEFT.get(name)}")
    if weak != set(COPYLEFT):
        raise SystemExit(
            f"Expected these of copyleft: {sorted(COPYLEFT)}. Received: {sorted(weak)}."
        )
    print(f"{len(rows)} packages")
    records.write(RECORD, {"packages": rows, "copyleft": COPYLEFT})


if __name__ == "__main__":
    main()

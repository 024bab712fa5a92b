"""Is what `pip` installs whole, from a wheel and from a source distribution?

    python -m tools.package

builds both from a copy of the tracked files, lets `twine check` read them, installs the wheel in a
fresh environment and uses it there, far from the tree: command line, trained models, a training,
an export, stored results, a figure. The source distribution has to install the same files. Needs
the package index (TensorFlow: half a gigabyte unless it is cached) and two minutes.
`twine` is run by `uv tool run`, in an environment of its own and in its newest version: the index's
newest rules count, and nothing else here needs it, so it does not stand in requirements.txt.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from pathlib import Path

from tools import notebooks

UV = [sys.executable, "-m", "uv"]
TRAIN = "nlp104 train --data grammar --pairs 600 --epochs 1 --preset tiny --output run"
DRAW = """\
import sys
from pathlib import Path
import nlp104
from nlp104.figures import plots, results

installed = Path(sys.prefix).resolve()
assert installed in Path(nlp104.__file__).resolve().parents, nlp104.__file__
assert installed in results.FOLDER.resolve().parents, results.FOLDER
assert results.read("corpora/grammar.json").startswith("{")
plots.curves({"loss": [3, 2, 1]}, title="A figure").savefig("figure.svg")
"""
# The commands: what is asked, and what has to be found in the answer or, if it is a path, be made.
USES = {
    "help": ("nlp104 --help", "translate sentences"),
    "grammar": ("nlp104 translate --model grammar 'The black cat sleeps.'", "Le chat noir dort."),
    "eng-fra-typed": ("nlp104 translate --model eng-fra-typed 'i am hungry'", "faim"),
    "train": (TRAIN, Path("run", "model.keras")),
    "evaluate": ("nlp104 evaluate --model run --limit 20 --show 1", "20 of test"),
    "export": ("nlp104 export --model run --format web --output page", Path("page")),
    "results, figure": (f"python -c {shlex.quote(DRAW)}", Path("figure.svg")),
}
# What installing itself writes.
OF_THE_INSTALLER = r"/(__pycache__|INSTALLER|RECORD|REQUESTED|direct_url\.json|uv_\w+\.json)"


def call(*command, **settings):
    """What a command prints; all of it, and the end of this program, if the command fails."""
    together = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    said = subprocess.run([str(part) for part in command], **together, **settings)
    if said.returncode:
        raise SystemExit(f"{said.stdout}\nFailed: {said.args}")
    return said.stdout


def tree(folder):
    """A copy of the tracked files: what is ignored or not known to git gets into no package."""
    listed = call("git", "ls-files", "-z", cwd=notebooks.ROOT).split("\0")
    for name in filter(None, listed):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(notebooks.ROOT / name, path)
    return folder


def build(source, folder):
    """A wheel, straight from the tree, and a source distribution."""
    call(*UV, "build", "--wheel", "--sdist", "--out-dir", folder, source)
    [wheel], [sdist] = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return wheel, sdist


def environment(folder, what, *options):
    """A fresh environment in which something is installed; the folder of its commands."""
    call(*UV, "venv", "--python", sys.executable, folder)
    commands = folder / ("Scripts" if os.name == "nt" else "bin")
    call(*UV, "pip", "install", "--python", commands / "python", *options, what)
    return commands


def installed(commands):
    """The files of nlp104 in an environment, each with its hash."""
    ask = (
        "import json; from importlib.metadata import files; "
        "print(json.dumps({str(f): f.hash and f.hash.value for f in files('nlp104')}))"
    )
    found = json.loads(call(commands / "python", "-c", ask))
    # A command begins with the path of its Python: it has to be there, not to be the same.
    return {
        name: hash if name.startswith("nlp104") else None
        for name, hash in found.items()
        if not re.search(OF_THE_INSTALLER, name)
    }


def unwanted(path):
    """What is in a wheel or in a source distribution and should not be."""
    if path.suffix == ".whl":
        names = zipfile.ZipFile(path).namelist()
        strange = [n for n in names if not re.match(r"nlp104(/|-[\d.]+\.dist-info/)", n)]
    else:
        with tarfile.open(path) as sdist:
            names, strange = sdist.getnames(), []
    return strange + [n for n in names if re.search(r"(^|/)(tests|__pycache__|\.[^/]*)(/|$)", n)]


def use(commands, folder):
    """Does in an empty folder what a reader does; yields a name for each and its seconds."""
    folder.mkdir()
    alone = {"PATH": os.defpath, "HOME": str(folder), "MPLBACKEND": "agg"}
    for name, (command, expected) in USES.items():
        program, *arguments = shlex.split(command)
        begun = time.perf_counter()
        said = call(commands / program, *arguments, cwd=folder, env=alone)
        if not ((folder / expected).exists() if isinstance(expected, Path) else expected in said):
            raise SystemExit(f"{said}\nExpected {expected} of {name}: it is not there.")
        yield name, time.perf_counter() - begun


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        wheel, sdist = build(tree(folder / "tree"), folder / "built")
        call(*UV, "tool", "run", "twine", "check", "--strict", wheel, sdist)
        for path in (wheel, sdist):
            if found := unwanted(path):
                raise SystemExit(f"Expected the package alone in {path.name}. Received: {found}.")
            print(f"{path.name:40}{path.stat().st_size / 1e6:8.1f} MB")
        commands = environment(folder / "from wheel", f"{wheel}[tensorflow]")
        for name, seconds in use(commands, folder / "elsewhere"):
            print(f"{name:40}{seconds:8.1f} s", flush=True)
        other = environment(folder / "from sdist", sdist, "--no-deps")
        ours, theirs = installed(commands), installed(other)
        if ours != theirs:
            different = sorted(name for name, _ in ours.items() ^ theirs.items())
            raise SystemExit(f"Expected the same files of wheel and sdist. Different: {different}.")
        print(f"{'files, the same from the sdist':40}{len(ours):8}")


if __name__ == "__main__":
    main()

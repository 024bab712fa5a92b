"""The shape of the package: rooms whose imports run downwards, and names that can be imported."""

import ast
import importlib
import inspect
import json
import os
import re
import subprocess
import sys

import pytest

import nlp104
from tools import address, imports
from tools.notebooks import ROOT

FILES = imports.modules()
EDGES = imports.graph()
ROOMS = [room for layer in imports.LAYERS for room in layer]
EXPORTING = [room for room in ROOMS if room not in ("cli", "figures", "utils")]
SCRIPTS = sorted(  # and style sheets
    path.relative_to(ROOT)
    for pattern in ("nlp104/**/*.js", "tests/**/*.js", "nlp104/**/*.css", "book/assets/**/*.css")
    for path in ROOT.glob(pattern)
)
LONGEST = 300  # lines of a module
WIDEST = 100  # columns of a script, its pictures apart; of a module ruff says it
LONGER = {
    "nlp104.data.grammar.lexicon": "a list of words, one to a line",
}
LONGEST_DESCRIPTION = 5  # lines of a room's docstring
DESCRIBED_AT_LENGTH = {"attention": "its table of the versions is what the room holds"}


# Who imports whom.


def test_every_folder_is_a_room_with_a_place_in_the_order():
    folders = {path.parent.name for path in ROOT.glob("nlp104/*/__init__.py")}
    assert sorted(ROOMS) == sorted(folders)


def test_no_room_imports_what_stands_beside_or_above_it():
    assert imports.upwards(imports.rooms(EDGES)) == []


def test_no_two_files_import_each_other():
    assert imports.cycle(EDGES) == []


def test_the_graph_is_that_of_the_imports(tmp_path):
    """On a package that does everything wrong."""
    texts = {
        "__init__": "",
        "utils/__init__": "",
        "utils/lazy": "import nlp104.attention.masks",
        "attention/__init__": "from nlp104.attention.masks import mask",
        "attention/masks": "def f():\n  from nlp104 import cli\n  from nlp104.utils import lazy",
        "cli/__init__": "from nlp104.utils.lazy import attach\nattach(__name__, {'main': []})",
        "cli/main": "import os",
    }
    for name, text in texts.items():
        path = tmp_path / "nlp104" / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    edges = imports.graph(tmp_path)
    assert edges == {
        "nlp104": set(),
        "nlp104.utils": set(),
        "nlp104.utils.lazy": {"nlp104.attention.masks"},
        "nlp104.attention": {"nlp104.attention.masks"},
        "nlp104.attention.masks": {"nlp104.cli", "nlp104.utils.lazy"},
        "nlp104.cli": {"nlp104.utils.lazy", "nlp104.cli.main"},
        "nlp104.cli.main": set(),
    }
    arrows = imports.rooms(edges)
    assert arrows["attention"] == {"cli", "utils"}
    assert sorted(imports.upwards(arrows)) == [("attention", "cli"), ("utils", "attention")]
    first, *others = imports.cycle(edges)
    assert others[-1] == first
    assert all(b in edges[a] for a, b in zip([first, *others], others, strict=False))
    assert imports.cycle({**edges, "nlp104.utils.lazy": set()}) == []
    assert "attention  →  cli, utils\n" in re.sub(" +→", "  →", imports.drawing(arrows))


def test_the_drawing_names_every_room_once():
    lines = imports.drawing(imports.rooms(EDGES)).splitlines()
    assert [line.split()[0] for line in lines if "─" not in line] == ROOMS


# How much stands in one place.


@pytest.mark.parametrize("module", FILES)
def test_a_module_can_be_read_at_a_sitting(module):
    lines = FILES[module].read_text(encoding="utf-8").count("\n")
    assert (lines > LONGEST) == (module in LONGER), f"{module} has {lines} lines"


@pytest.mark.parametrize("script", SCRIPTS, ids=str)
def test_a_script_can_be_read_at_a_sitting_too(script):
    lines = (ROOT / script).read_text(encoding="utf-8").splitlines()
    assert len(lines) <= LONGEST, f"{script} has {len(lines)} lines"
    assert [line for line in lines if len(line) > WIDEST and "url('data:" not in line] == []


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_says_in_a_few_lines_what_it_holds(room):
    module = ast.parse(FILES[f"nlp104.{room}"].read_text(encoding="utf-8"))
    lines = len(ast.get_docstring(module).splitlines())
    assert (lines > LONGEST_DESCRIPTION) == (room in DESCRIBED_AT_LENGTH)


# What can be imported.


@pytest.mark.parametrize("room", EXPORTING)
def test_a_room_exports_what_it_says(room):
    module = importlib.import_module(f"nlp104.{room}")
    assert len(set(module.__all__)) == len(module.__all__)
    given = {name: getattr(module, name) for name in module.__all__}
    assert set(given) <= set(dir(module))
    for name, value in vars(module).items():  # nothing else comes along
        passed_on = inspect.isclass(value) or inspect.isfunction(value)
        assert not passed_on or name.startswith("__") or name in [*given, "attach"], name


def test_the_package_lists_what_there_is():
    listed = {"Transformer", "load_pretrained", *ROOMS} - {"utils"}
    assert listed == set(nlp104.__all__) == set(dir(nlp104))


def test_the_package_has_no_other_name():
    with pytest.raises(AttributeError, match="'nlp104' has no attribute 'no_such_room'"):
        _ = nlp104.no_such_room


def test_every_room_comes_when_it_is_asked_for():
    """In a process of its own: once something has imported a room, it is there anyway."""
    code = f"import nlp104\nfor room in {ROOMS[:-1]}: getattr(nlp104, room)"
    environment = {**os.environ, "KERAS_BACKEND": "jax"}  # it starts fastest
    command = [sys.executable, "-c", code]
    said = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True)
    assert said.returncode == 0, said.stderr.decode()


@pytest.mark.parametrize(
    "code",
    [
        "import nlp104",
        "import nlp104.training, nlp104.transformer",
        "from nlp104.cli.main import main\ntry: main(['--help'])\nexcept SystemExit: pass",
    ],
    ids=["package", "lazy rooms", "help"],
)
def test_keras_waits_until_it_is_needed(code):
    heavy = {"keras", "tensorflow", "jax", "torch"}
    code += f"\nimport sys; sys.exit(bool({heavy} & set(sys.modules)))"
    said = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True)
    assert said.returncode == 0, said.stderr.decode()


def test_garbage_is_collected_again_after_the_imports_of_a_command():
    code = (
        "from nlp104.cli.main import _import_commands\n_import_commands()\n"
        "import gc, sys; sys.exit(not (gc.isenabled() and gc.get_freeze_count() > 10_000))"
    )
    environment = {**os.environ, "KERAS_BACKEND": "jax"}
    said = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environment)
    assert said.returncode == 0


# What is said about it.

OTHER_NAMES = {"nlp104.results"}  # the folder `results`, by the name that it is packaged under


def text_of(path):
    """The text of a file; of a notebook what was written, not what was printed."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".ipynb":
        return "\n".join("".join(cell["source"]) for cell in json.loads(text)["cells"])
    return text


def named(text):
    """What a text names of the package: dotted names, and paths of its files."""
    repository = re.compile(r"github(\.com)?/[\w-]+/nlp104(/(blob|tree)/\w+/)?")
    text = repository.sub(" ", text)
    names = re.findall(r"(?<![\w./-])nlp104((?:\.[A-Za-z]\w*)+)", text)
    statement = r"from nlp104((?:\.\w+)*) import (\([\w\s,]*\)|\w+(?: as \w+)?(?:, \w+)*)"
    for package, imported in re.findall(statement, re.sub("  #.*", "", text)):
        words = imported.strip("()").split(",")
        names += [f"{package}.{word.split()[0]}" for word in words if word.strip()]
    paths = re.findall(r"(?<![\w./-])(?:\.\./)*(nlp104/\w[\w/-]*(?:\.\w+)?)", text)
    return {f"nlp104{name}" for name in names}, set(paths)


def exists(name):
    """Whether a dotted name leads to something in the package."""
    found = "nlp104"
    for part in name.split(".")[1:]:
        if f"{found}.{part}" not in FILES:
            return hasattr(importlib.import_module(found), part)
        found += f".{part}"
    return True


def test_names_are_found_in_texts():
    names, paths = named(
        """
from nlp104.data import (
    Corpus,  # pairs
    grammar,
)
from nlp104 import cli as terminal, Transformer
"import nlp104.training; `nlp104.data.Batches.feed`, [main](../../nlp104/cli/main.py), nlp104/data/"
https://github.com/owner/nlp104/blob/main/nlp104/old.py, not nlp104-2.0, an.nlp104.name, x/nlp104/y
"""
    )
    assert names == {
        "nlp104.data",
        "nlp104.data.Corpus",
        "nlp104.data.grammar",
        "nlp104.cli",
        "nlp104.Transformer",
        "nlp104.training",
        "nlp104.data.Batches.feed",
    }
    assert paths == {"nlp104/cli/main.py", "nlp104/data/", "nlp104/old.py"}
    assert exists("nlp104.data.Batches.feed")
    assert exists("nlp104.decoding.greedy")
    assert not exists("nlp104.objective")
    assert not exists("nlp104.data.text")


def test_no_file_names_a_part_of_the_package_that_is_not_there():
    gone = {}
    for path in address.files(ROOT):
        if "tests" in path.parts or path.suffix == ".js":
            continue  # tests are run, and they invent names; a page has a `nlp104` of its own
        names, paths = named(text_of(path))
        wrong = {name for name in names - OTHER_NAMES if not exists(name)}
        wrong |= {name for name in paths if not (ROOT / name).exists()}
        if wrong:
            gone[str(path.relative_to(ROOT))] = sorted(wrong)
    assert gone == {}

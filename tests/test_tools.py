"""The tools behind `make`: each is run on something small of its own."""

import ast
import asyncio
import json
import re
import shutil
import subprocess
import sys
import textwrap
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

from tools import address, check, faults, notebooks, prepare

# tools/prepare.py: what is missing is said in one sentence.


def test_prepare_is_readable_for_an_old_python():
    """Python 3.6 has to get as far as the sentence that refuses it."""
    text = (notebooks.ROOT / "tools" / "prepare.py").read_text()
    tree = ast.parse(text, feature_version=(3, 7))
    newer = (ast.NamedExpr, ast.AnnAssign, ast.Match, ast.AsyncFunctionDef)
    assert not [node for node in ast.walk(tree) if isinstance(node, newer)]
    assert all(len(node.items) < 3 for node in ast.walk(tree) if isinstance(node, ast.With))
    assert "from __future__" not in text
    imported = {n.names[0].name for n in ast.walk(tree) if isinstance(n, ast.Import)}
    assert imported <= sys.stdlib_module_names


def test_suitable_python_is_taken():
    assert prepare.choose_python((3, 10)) == sys.executable
    assert prepare.choose_python((3, 13)) == sys.executable


@pytest.mark.parametrize("version", [(3, 8), (3, 14)])
def test_unsuitable_python_looks_for_another_one(tmp_path, version):
    with pytest.raises(prepare.Stop, match=r"needs Python 3\.10 to 3\.13, .* is Python 3\.\d+"):
        prepare.choose_python(version, path=str(tmp_path))
    for name, status in (("python3.13", 1), ("python3.11", 0), ("python3.10", 0)):
        (tmp_path / name).write_text(f"#!/bin/sh\nexit {status}\n")
        (tmp_path / name).chmod(0o755)
    assert prepare.choose_python(version, path=str(tmp_path)) == str(tmp_path / "python3.11")


def test_missing_venv_module(tmp_path, monkeypatch):
    monkeypatch.setattr(prepare, "VENV", str(tmp_path / ".venv"))
    monkeypatch.setitem(sys.modules, "ensurepip", None)
    with pytest.raises(prepare.Stop, match=r"has no venv module.*apt install python3-venv"):
        prepare.make_environment()
    assert not (tmp_path / ".venv").exists()


def test_full_disk_is_seen_before_the_installation(tmp_path, monkeypatch):
    monkeypatch.setattr(prepare, "VENV", str(tmp_path))
    free = {"now": 10**9}
    usage = lambda folder: SimpleNamespace(free=free["now"])  # noqa: E731
    monkeypatch.setattr(prepare.shutil, "disk_usage", usage)
    with pytest.raises(prepare.Stop, match=r"has 1\.0 GB free, and 4\.5 GB are needed"):
        prepare.check_room()
    free["now"] = 5 * 10**9
    prepare.check_room()
    # What is installed already needs no room.
    free["now"] = 10**9
    monkeypatch.setattr(prepare, "ROOM", 1000)
    monkeypatch.setattr(prepare, "TEMPORARY_ROOM", 10**12)
    (tmp_path / "installed").write_bytes(bytes(1000))
    prepare.check_room()


@pytest.mark.parametrize(
    ("report", "sentence"),
    [
        ("OSError: [Errno 28] No space left on device", "No space left on the disk"),
        (
            "WARNING: Retrying (Retry(total=4)) after connection broken by 'NewConnectionError'\n"
            "ERROR: Could not find a version that satisfies the requirement x",
            "The package index does not answer",
        ),
        ("Collecting x\nERROR: No matching distribution\n\n", "failed: ERROR: No matching"),
        ("something else\n", "failed: something else"),
        ("", "failed: no reason given"),
    ],
)
def test_failed_installation_is_explained(report, sentence):
    explanation = prepare.explain(report)
    assert sentence in explanation
    assert "\n" not in explanation


def test_half_installed_packages_are_installed_again(tmp_path, monkeypatch):
    monkeypatch.setattr(prepare, "VENV", str(tmp_path))
    packages = tmp_path / "lib" / "python3.12" / "site-packages"
    for name, files in {
        "whole-1.dist-info": ("METADATA", "RECORD", "INSTALLER"),
        "half-1.dist-info": ("METADATA", "RECORD"),
        "half": ("INSTALLER_not",),
    }.items():
        (packages / name).mkdir(parents=True)
        for file in files:
            (packages / name / file).touch()
    prepare.forget_half_installed()
    assert sorted(path.name for path in packages.iterdir()) == ["half", "whole-1.dist-info"]


def test_prepared_environment_is_recognised(tmp_path, monkeypatch):
    monkeypatch.setattr(prepare, "PREPARED", str(tmp_path / "prepared"))
    assert not prepare.is_prepared()
    (tmp_path / "prepared").write_text(prepare.fingerprint())
    assert prepare.is_prepared()
    (tmp_path / "prepared").write_text("of another requirements.txt")
    assert not prepare.is_prepared()


def test_moved_environment_does_not_count(tmp_path, monkeypatch):
    monkeypatch.setattr(prepare, "VENV", str(tmp_path))
    monkeypatch.setattr(prepare, "PYTHON", sys.executable)
    assert not prepare.environment_works()
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "pip").write_text(f"#!{tmp_path}/bin/python\n")
    assert prepare.environment_works()
    (tmp_path / "bin" / "pip").write_text("#!/elsewhere/.venv/bin/python\n")
    assert not prepare.environment_works()


# tools/address.py: the address changes everywhere, and nothing else does.


@pytest.fixture
def repository(tmp_path):
    """A small repository with every form of the address in it."""
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    (tmp_path / "_config.yml").write_text("repository:\n  url: https://github.com/me/book\n")
    (tmp_path / "README.md").write_text(
        "https://github.com/me/book/actions https://me.github.io/book/ "
        "https://colab.research.google.com/github/me/book/blob/main/a.ipynb "
        "git+https://github.com/me/book.git\n"
        "https://github.com/me/bookshelf https://github.com/you/book https://notme.github.io/book\n"
    )
    return tmp_path


def test_address_changes_everywhere(repository):
    kept = (repository / "README.md").read_text().splitlines()[1]
    changed = address.change("https://github.com/some-one/my.book", repository)
    assert {path.name for path in changed} == {"_config.yml", "README.md"}
    assert notebooks.address(repository) == "https://github.com/some-one/my.book"
    assert (repository / "README.md").read_text().splitlines() == [
        "https://github.com/some-one/my.book/actions https://some-one.github.io/my.book/ "
        "https://colab.research.google.com/github/some-one/my.book/blob/main/a.ipynb "
        "git+https://github.com/some-one/my.book.git",
        kept,
    ]
    assert address.change("https://github.com/some-one/my.book", repository) == []


def test_an_address_that_could_not_be_changed_everywhere_stays(repository):
    (repository / "z.md").write_bytes(b"https://github.com/me/book \xff")
    with pytest.raises(UnicodeDecodeError):
        address.change("https://github.com/you/yours", repository)
    (repository / "z.md").write_text("https://github.com/me/book")
    assert len(address.change("https://github.com/you/yours", repository)) == 3


@pytest.mark.parametrize(
    "url", ["", "github.com/a/b", "https://example.org/a/b", "https://github.com/a"]
)
def test_strange_address_is_refused(repository, url):
    before = (repository / "README.md").read_text()
    with pytest.raises(ValueError, match="Expected an address like"):
        address.change(url, repository)
    assert (repository / "README.md").read_text() == before


# tools/check.py: what is counted.


def test_check_counts_what_pytest_reports(tmp_path, capsys):
    (tmp_path / "test_it.py").write_text(
        "import pytest\n"
        "def test_a(): pass\n"
        "def test_b(): pass\n"
        "def test_c(): assert False\n"
        "@pytest.mark.skip\n"
        "def test_d(): pass\n"
        "@pytest.fixture\n"
        "def broken(): raise OSError\n"
        "def test_e(broken): pass\n"
    )
    report = tmp_path / "report.xml"
    command = [*check.PYTEST, "-p", "no:cacheprovider", str(tmp_path)]
    for chosen, expected in (([], (False, (2, 2, 1))), (["-k", "test_b"], (True, (1, 0, 0)))):
        found = asyncio.run(check.run("small", [*command, *chosen], None, report))
        assert found == expected
    printed = capsys.readouterr().out.splitlines()
    assert all(re.match(r"small( {15}|$)", line) for line in printed)  # two stages alternate
    assert any("assert False" in line for line in printed)
    assert check.count(tmp_path / "never written.xml") == (0, 0, 0)


def test_check_goes_on_after_a_failure_and_says_what_failed(monkeypatch, capsys):
    passes, fails = ([sys.executable, "-c", f"print('said'); exit({status})"] for status in (0, 1))
    stages = [[("one", fails, None), ("two", passes, None)], [("three", passes, None)]]
    monkeypatch.setattr(check, "queues", lambda: {"all": stages})
    assert check.main("all") == 1
    printed = capsys.readouterr().out
    assert printed.count("said") == 3
    assert re.findall(r"^(\w+) +(ok|FAILED) .*\d$", printed, re.MULTILINE) == [
        ("one", "FAILED"), ("two", "ok"), ("three", "ok"),
    ]  # fmt: skip
    assert "\nFAILED: one (0 passed in 0 min" in printed
    assert check.main("all", "t") == 0
    assert "== one" not in capsys.readouterr().out
    for words in (["everything"], ["all", "t", "pakage"]):
        assert check.main(*words) == 2
        assert words[-1] in capsys.readouterr().err


def test_check_runs_everything():
    targets = check.queues()
    quick, slow = (
        {name: rest for queue in targets[target] for name, *rest in queue}
        for target in ("test", "slow")
    )
    assert sorted(quick) == ["book", "mypy", "notebooks", "package", "ruff check", "ruff format"]
    chapters = [argument for argument in quick["notebooks"][0] if argument.endswith(".ipynb")]
    assert sorted(chapters) == sorted(map(str, notebooks.chapters()))
    assert Path(chapters[0]).stem == "train-a-translator"  # the longest
    new = notebooks.ROOT / "book" / "part1" / "new.ipynb"
    assert check.longest_first([Path(chapters[0]), new])[0] == new

    assert sorted(slow) == ["package, JAX", "package, slow"]
    tests = sorted(map(str, notebooks.ROOT.glob("tests/test_*.py")))
    for (command, environment), chosen in (
        (quick["package"], "not slow and not long"),
        (slow["package, slow"], "slow and not long"),  # no test is in neither
    ):
        assert environment["KERAS_BACKEND"] == "tensorflow"
        assert sorted(argument for argument in command if argument.endswith(".py")) == tests
        assert command[-2:] == ["-m", chosen]

    command, environment = slow["package, JAX"]
    assert environment["KERAS_BACKEND"] == "jax"
    names = {Path(argument).name for argument in command}
    assert {"test_attention.py", "test_encoding.py"} <= names
    assert "test_project.py" not in names
    assert "slow" not in command


# tools/faults.py: a fault that nobody notices is reported.


@pytest.fixture
def small_book(tmp_path):
    """A package with one function, a test of it, and a chapter that shows it."""
    files = {
        "_config.yml": "repository:\n  url: https://github.com/me/book\n",
        "_toc.yml": "root: book/a\n",
        "nlp104/__init__.py": "def double(x): return 2 * x\ndef half(x): return x / 2\n",
        "tests/test_double.py": "import nlp104\ndef test_double(): assert nlp104.double(3) == 6\n",
        "tests/nbval-sanitize.cfg": "",
        "tools/faults.toml": textwrap.dedent(
            """
            [[fault]]
            name = "tripled"
            of = "double"
            old = "2 * x"
            new = "3 * x"
            tests = ["tests/test_double.py"]
            chapter = "book/a.ipynb"

            [[fault]]
            name = "not halved"
            of = "half"
            old = "x / 2"
            new = "x"
            tests = ["tests/test_double.py"]
            chapter = "book/a.ipynb"
            """
        ),
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    cell = new_code_cell("import nlp104\nprint(nlp104.double(4))", execution_count=1)
    cell.outputs = [new_output("stream", name="stdout", text="8\n")]
    (tmp_path / "book").mkdir()
    nbformat.write(new_notebook(cells=[cell]), tmp_path / "book" / "a.ipynb")
    return tmp_path


@pytest.mark.long
def test_faults_are_planted_and_reported(small_book, capsys):
    before = (small_book / "nlp104" / "__init__.py").read_text()
    assert faults.main([], small_book) == 1
    _, tripled, not_halved, _, summary = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"tripled +test_double +a \[1\]", tripled)
    assert re.fullmatch(r"not halved +NONE +NONE: a passes", not_halved)
    assert "2 faults, 1 escaped" in summary
    assert (small_book / "nlp104" / "__init__.py").read_text() == before


@pytest.mark.slow
def test_faults_need_a_package_that_passes(small_book):
    text = json.loads((small_book / "book" / "a.ipynb").read_text())
    text["cells"][0]["outputs"][0]["text"] = ["9\n"]
    (small_book / "book" / "a.ipynb").write_text(json.dumps(text))
    with pytest.raises(RuntimeError, match=r"Without any fault this fails already: \[1\]"):
        faults.main(["tripled"], small_book)


def test_fault_that_fits_nowhere_is_refused(small_book):
    fault = faults.load(small_book)[0]
    faults.plant(fault, small_book)
    with pytest.raises(ValueError, match=r"'tripled' replaces one place .* occurs 0 times there"):
        faults.plant(fault, small_book)


def test_fault_in_what_does_not_exist_is_refused(small_book):
    fault = replace(faults.load(small_book)[0], of="triple")
    with pytest.raises(ValueError, match=r"one definition of triple\. Received: 0"):
        faults.plant(fault, small_book)


@pytest.mark.slow
@pytest.mark.parametrize("fault", faults.load(), ids=lambda fault: fault.name)
def test_every_fault_fits_the_package(tmp_path, fault):
    path, *_ = faults.find(fault.of, notebooks.ROOT)
    target = tmp_path / path.relative_to(notebooks.ROOT)
    target.parent.mkdir(parents=True)
    shutil.copy(path, target)
    faults.plant(fault, tmp_path)
    compile(target.read_text(), str(target), "exec")
    for test in fault.tests:
        assert (notebooks.ROOT / test.partition("::")[0]).is_file()
    assert (notebooks.ROOT / fault.chapter).is_file()


def test_there_are_enough_faults():
    assert 25 <= len(faults.load()) <= 45

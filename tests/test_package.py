"""What `pip` installs, as far as no index is needed; `tools/package.py` does the rest."""

import json
import runpy
import shutil
import sys
import tarfile
import zipfile
from email.message import Message

import pytest
from packaging.utils import canonicalize_name

from nlp104.figures import results
from tools import licences, notebooks, package

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

SETUPTOOLS = tomllib.loads((notebooks.ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]


def test_every_pattern_finds_a_file():
    """That every file is found by a pattern is seen in the wheel that test_results.py builds."""
    for name, patterns in SETUPTOOLS["package-data"].items():
        assert name in SETUPTOOLS["packages"]
        folder = SETUPTOOLS["package-dir"].get(name, name.replace(".", "/"))
        for pattern in patterns:
            assert any((notebooks.ROOT / folder).glob(pattern)), (name, pattern)


def test_results_of_another_package_beside_it_are_not_read(tmp_path):
    inside = tmp_path / "nlp104" / "figures"
    inside.mkdir(parents=True)
    (tmp_path / "results").mkdir()
    module = shutil.copy(results.__file__, inside)
    assert runpy.run_path(module)["FOLDER"] == tmp_path / "results"  # as in a clone
    (tmp_path / "nlp104" / "results").mkdir()
    assert runpy.run_path(module)["FOLDER"] == tmp_path / "nlp104" / "results"


# tools/package.py: what is built, and what is noticed.


def test_what_git_does_not_know_is_not_packed(tmp_path, monkeypatch):
    root = tmp_path / "root"
    (root / "nlp104").mkdir(parents=True)
    (root / "nlp104" / "known.py").write_text("")
    monkeypatch.setattr(package.notebooks, "ROOT", root)
    package.call("git", "init", "--quiet", cwd=root)
    package.call("git", "add", ".", cwd=root)
    (root / "nlp104" / "unknown.py").write_text("")
    copy = package.tree(tmp_path / "copy")
    assert [path.name for path in copy.rglob("*.*")] == ["known.py"]


@pytest.mark.parametrize(
    ("name", "bad"),
    [
        ("nlp104/__init__.py", False),
        ("nlp104-0.1.0.dist-info/METADATA", False),
        ("nlp104/__pycache__/a.pyc", True),
        ("nlp104/tests/test_a.py", True),
        ("nlp104/.ipynb_checkpoints/a.py", True),
        ("tests/test_a.py", True),
        ("results/a.json", True),
    ],
)
def test_strange_files_in_a_wheel_are_noticed(name, bad, tmp_path):
    path = tmp_path / "nlp104-0.1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr(name, "")
    assert bool(package.unwanted(path)) == bad


def test_tests_without_their_helpers_in_an_sdist_are_noticed(tmp_path):
    path = tmp_path / "nlp104-0.1.0.tar.gz"
    with tarfile.open(path, "w:gz") as sdist:
        sdist.add(__file__, "nlp104-0.1.0/nlp104/a.py")
    assert not package.unwanted(path)
    with tarfile.open(path, "w:gz") as sdist:
        sdist.add(__file__, "nlp104-0.1.0/tests/test_package.py")
    assert package.unwanted(path) == ["nlp104-0.1.0/tests/test_package.py"]
    assert (notebooks.ROOT / "MANIFEST.in").read_text().endswith("prune tests\n")


def test_a_command_that_fails_ends_it():
    with pytest.raises(SystemExit, match="why"):
        package.call(sys.executable, "-c", "print('why'); raise SystemExit(3)")


# tools/licences.py


def about(*requirements, **fields):
    message = Message()
    for line in requirements:
        message["Requires-Dist"] = line
    for name, value in fields.items():
        message[name.replace("_", "-")] = value
    return message


def test_a_licence_is_read_where_it_is_said():
    classifier = "License :: OSI Approved :: MIT License"
    assert licences.licence("a", about(License_Expression="MIT", License="x")) == "MIT"
    assert licences.licence("a", about(Classifier=classifier, License="UNKNOWN")) == "MIT License"
    assert licences.licence("a", about(License="BSD")) == "BSD"
    with pytest.raises(ValueError, match="metadata of a"):
        licences.licence("a", about(License="A whole\nlicence"))


def test_packages_that_another_brings_in_are_followed():
    found = {
        "a": about("b[fast]>=1", 'c; extra == "more"'),
        "b": about('D_d; python_version < "3" and extra == "fast"', "a"),
        "c": about(),
        "d-d": about(),
    }
    assert licences.reach(["a"], found) == {"a", "b", "d-d"}
    assert licences.reach(["A[more]"], found) == {"a", "b", "c", "d-d"}


def test_every_pin_has_its_licence():
    """After `make lock`: `.venv/bin/python -m tools.licences`."""
    record = json.loads(licences.RECORD.read_text(encoding="utf-8"))
    rows = record["packages"]
    assert set(rows) == set(licences.pins())
    weak = {name for name, row in rows.items() if licences.WEAK.search(row["licence"])}
    assert weak == set(record["copyleft"]) == set(licences.COPYLEFT)


def test_what_the_package_asks_for_is_what_readers_run():
    rows = json.loads(licences.RECORD.read_text(encoding="utf-8"))["packages"]
    project = tomllib.loads((notebooks.ROOT / "pyproject.toml").read_text())
    used = {name: row["for"] for name, row in rows.items()}
    for line in project["project"]["dependencies"]:
        assert used[canonicalize_name(licences.Requirement(line).name)] == "package"
    assert used["sphinx"] == "book"
    assert used["pytest"] == used["hypothesis"] == "tests"

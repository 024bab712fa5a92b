"""The versions on which the package is tested: all that it promises, and the record of them."""

import json
import sys

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from tools import check, notebooks, versions
from tools.versions import ROWS

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PROJECT = tomllib.loads((notebooks.ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
NEEDED = [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["tensorflow"]]
PROMISED = {r.name: r.specifier for r in map(Requirement, NEEDED)}
ON_TENSORFLOW = [row for row in ROWS.values() if row.backend == "tensorflow"]


def pins(row):
    """What a row pins, without what it leaves open."""
    pinned = {"keras": row.keras, "numpy": row.numpy, row.backend: row.version}
    return {name: version for name, version in pinned.items() if version}


# Which rows there are.


def test_every_python_has_a_row_with_tensorflow():
    named = {c.rpartition(" ")[2] for c in PROJECT["classifiers"] if "Python :: 3." in c}
    assert named == {row.python for row in ON_TENSORFLOW}


def test_the_oldest_row_has_the_lowest_version_of_everything():
    row = ROWS["oldest"]
    assert row.oldest
    assert row.python == PROJECT["requires-python"].removeprefix(">=")
    for name in ("keras", "numpy", "tensorflow"):
        [lowest] = [s.version for s in PROMISED[name] if s.operator == ">="]
        assert Version(pins(row)[name]) == Version(lowest)


def test_a_row_has_the_newest_version_of_everything():
    [row] = [row for row in ON_TENSORFLOW if row.python == "3.13"]
    assert set(pins(row)) == {"tensorflow"}


def test_the_versions_of_tensorflow_are_those_that_are_promised():
    found = {".".join(row.version.split(".")[:2]) for row in ON_TENSORFLOW}
    assert found == {f"2.{n}" for n in range(100) if PROMISED["tensorflow"].contains(f"2.{n}")}


@pytest.mark.parametrize("name", ROWS)
def test_pins_are_within_what_is_promised(name):
    for package, version in pins(ROWS[name]).items():
        if package in PROMISED:
            assert PROMISED[package].contains(version.replace("*", "0")), package


def test_one_row_is_that_of_colab_but_for_its_backend():
    lines = (notebooks.ROOT / "tests" / "colab-constraints.txt").read_text().splitlines()
    colab = dict(line.split("==") for line in lines if "==" in line)
    row = ROWS["Colab on JAX"]
    assert (row.keras, row.numpy) == (colab["keras"], colab["numpy"])


def test_the_other_backends_have_rows():
    assert {row.backend for row in ROWS.values()} == {"tensorflow", "jax", "torch"}


# What is installed and run.


def test_what_is_installed_names_the_versions():
    package, tools = versions.installations(ROWS["oldest"])
    assert package == [
        *("--resolution=lowest-direct", "--editable", ".[tensorflow]"),
        *("keras==3.12.0", "numpy==1.26.0", "tensorflow==2.20.0"),
    ]
    assert {"pytest", "pytest-xdist", "hypothesis"} <= set(tools)
    package, _ = versions.installations(versions.Row("3.12", "jax", "0.7.2", keras="3.14.*"))
    assert package == ["--editable", ".", "keras==3.14.*", "numpy", "jax==0.7.2"]


def test_an_environment_is_built_anew_from_the_pythons_of_path(tmp_path, monkeypatch):
    ran = []
    monkeypatch.setattr(versions.subprocess, "run", lambda command, **_: ran.append(command))
    row = ROWS["3.12"]
    python = versions.build(row, tmp_path)
    assert python == tmp_path / "bin" / "python"
    make, *installations = ran
    assert make[-4:] == ["venv", "--python", "3.12", tmp_path]
    for command, arguments in zip(installations, versions.installations(row), strict=True):
        assert command[-len(arguments) - 2 :] == ["--python", python, *arguments]
        assert "--no-python-downloads" in command


@pytest.mark.parametrize("name", ROWS)
def test_every_row_runs_the_core_and_nothing_of_the_book(name):
    row = ROWS[name]
    names = {path.name.removeprefix("test_").removesuffix(".py") for path in versions.files(row)}
    core = "attention encoding transformer language_model since_2017 loss batches tokenizer"
    core += " decoding beam sampling skip_padding training pretrained any_backend corpus evaluation"
    assert set(core.split()) <= names
    assert not {each for each in names if each.startswith(("explore", "web"))}
    assert not names & {"book", "plot", "drawing", "project", "imports", "benchmarks", "blanks"}
    assert ("distribution" in names) == (row.backend == "jax")


def test_the_environment_is_that_of_the_backend():
    for row in ROWS.values():
        found = versions.environment(row, {"JAX": "0.7.2"})
        assert found["KERAS_BACKEND"] == row.backend
        assert found["OMP_NUM_THREADS"] == check.limits()["OMP_NUM_THREADS"]
    jax = versions.environment(ROWS["JAX"], {"JAX": "0.7.2"})
    assert jax["XLA_FLAGS"] == check.compile_fast("0.7.2")
    assert "fusion_emitters" not in jax["XLA_FLAGS"]  # only 0.10 knows it
    assert "fusion_emitters" in check.compile_fast("0.10.2")


def test_what_failed_is_named(tmp_path):
    report = tmp_path / "report.xml"
    report.write_text(
        '<testsuites><testsuite tests="4" errors="1" failures="1" skipped="1">'
        '<testcase classname="tests.test_a" name="test_good"/>'
        '<testcase classname="tests.test_a" name="test_bad[1]"><failure/></testcase>'
        '<testcase classname="tests.test_b" name="test_broken"><error/></testcase>'
        '<testcase classname="tests.test_b" name="test_left"><skipped/></testcase>'
        "</testsuite></testsuites>"
    )
    assert versions.failing(report) == ["tests.test_a::test_bad[1]", "tests.test_b::test_broken"]
    assert check.count(report) == (1, 2, 1)


# What is recorded.


def test_rows_that_are_named_replace_only_their_own(tmp_path, monkeypatch, capsys):
    row = {
        "versions": {"Python": "3.12.1", "Keras": "3.14.1", "NumPy": "2.1.3", "JAX": "0.7.2"},
        **{"passed": 2, "failed": 0, "skipped": 1, "failing": [], "CPU seconds": 3},
    }
    monkeypatch.setattr(versions, "RECORD", tmp_path / "tested" / "versions.json")
    monkeypatch.setattr(versions, "run", lambda _: row)
    assert versions.main(["JAX"]) is False
    row = {**row, "failed": 1}
    assert versions.main(["oldest"]) is True
    record = json.loads(versions.RECORD.read_text())
    assert [(name, found["failed"]) for name, found in record.items()] == [
        ("oldest", 1), ("JAX", 0),
    ]  # fmt: skip
    said = capsys.readouterr().out
    assert "| JAX | 2 | 0 | 1 |\n" in said
    assert "- **JAX**: JAX 0.7.2, Python 3.12.1, Keras 3.14.1, NumPy 2.1.3.\n" in said


def test_unknown_row_is_refused():
    with pytest.raises(SystemExit, match=r"Expected some of: oldest, .* Received: youngest\."):
        versions.main(["youngest"])


@pytest.fixture(scope="module")
def record():
    if not versions.RECORD.exists():
        pytest.skip("not yet run")
    return json.loads(versions.RECORD.read_text(encoding="utf-8"))


def test_the_record_has_no_failure(record):
    assert list(record) == [name for name in ROWS if name in record]
    for name, row in record.items():
        assert (row["failed"], row["failing"]) == (0, []), name
        assert row["passed"] > 400, name


def test_the_record_has_the_versions_that_were_asked_for(record):
    for name, found in ((name, row["versions"]) for name, row in record.items()):
        row = ROWS[name]
        assert found["Python"].startswith(f"{row.python}.")
        shown = {"keras": "Keras", "numpy": "NumPy", row.backend: versions.BACKENDS[row.backend]}
        for package, version in pins(row).items():
            assert SpecifierSet(f"=={version}").contains(found[shown[package]]), name
        if row.oldest:
            others = {package: PROMISED[package] for package in versions.OTHERS}
            for package, promised in others.items():
                [lowest] = [s.version for s in promised if s.operator == ">="]
                assert Version(found[package]) == Version(lowest), package

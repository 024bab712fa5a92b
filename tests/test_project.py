"""The project as a whole: what it installs, what it pins, what it says about itself."""

import importlib.metadata
import os
import re
import shutil
import subprocess
import sys

import pytest
import yaml
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import nlp104
from tools import address, notebooks, prepare

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = notebooks.ROOT
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PYTHONS = [f"3.{minor}" for minor in range(prepare.OLDEST[1], prepare.NEWEST[1] + 1)]
LOCK = (ROOT / "requirements.txt").read_text()


def tracked():
    """The text files of the repository."""
    return address.files(ROOT)


# The package.


def test_what_a_function_returns_is_not_taken_for_its_type():
    """Sphinx takes what stands before a colon in the first line for the type."""
    for path in (ROOT / "nlp104").rglob("*.py"):
        for line in re.findall(r"^ +(?:Returns|Yields):\n(.*)", path.read_text("utf-8"), re.M):
            prose = re.sub(r"``.*?``|`.*?`", "", line)
            assert ":" not in prose, f"{path.name}: {line.strip()}"


def test_errors_have_one_form():
    """Expected … Received: …. (The exercises of `figures` speak to readers, in half sentences.)"""
    for path in (ROOT / "nlp104").rglob("*.py"):
        if "figures" not in path.parts:
            found = re.search(r', (?:"\s+f?")?received ', path.read_text("utf-8"))
            assert not found, f"{path.name}: {found[0]}"


def test_package_pulls_in_only_what_it_needs():
    required = {Requirement(line).name for line in PROJECT["project"]["dependencies"]}
    assert required == {"keras", "numpy", "tokenizers", "sacrebleu", "matplotlib", "pooch"}
    assert list(PROJECT["project"]["optional-dependencies"]) == ["tensorflow", "onnx"]


def test_metadata_is_that_of_the_installed_package():
    try:
        metadata = importlib.metadata.metadata("nlp104")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("nlp104 is on the path but not installed")
    required = {Requirement(line) for line in metadata.get_all("Requires-Dist")}
    always = {r.name for r in required if r.marker is None}
    assert always == {Requirement(r).name for r in PROJECT["project"]["dependencies"]}
    assert metadata["Version"] == PROJECT["project"]["version"]
    commands = importlib.metadata.entry_points(group="console_scripts", name="nlp104")
    assert [command.value for command in commands] == ["nlp104.cli.main:main"]


def test_import_needs_no_backend_of_tensorflow():
    """TensorFlow is not even looked for, and Keras waits until it is asked for."""
    code = (
        "import sys; sys.modules['tensorflow'] = None; import nlp104; "
        "from nlp104 import Transformer; print(Transformer.__name__)"
    )
    environment = {**os.environ, "KERAS_BACKEND": "jax"}
    said = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True
    )
    assert said.stdout == "Transformer\n", said.stderr


def test_version_is_the_same_everywhere():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert nlp104.__version__ == PROJECT["project"]["version"] == citation["version"]


def test_every_module_is_packaged():
    folders = {path.parent for path in (ROOT / "nlp104").rglob("*.py")}
    packages = {path.relative_to(ROOT).as_posix().replace("/", ".") for path in folders}
    packages.add("nlp104.results")  # the folder `results`
    assert packages == set(PROJECT["tool"]["setuptools"]["packages"])


# The pins.


def locked(python):
    """Name and version of everything that is installed on a Python, on this system."""
    system = {
        **default_environment(),
        "python_version": python,
        "python_full_version": f"{python}.1",
    }
    requirements = [Requirement(r) for r in LOCK.splitlines() if not r.lstrip().startswith("#")]
    chosen = [r for r in requirements if r.marker is None or r.marker.evaluate(system)]
    names = [canonicalize_name(r.name) for r in chosen]
    assert len(names) == len(set(names))
    return {name: str(r.specifier) for name, r in zip(names, chosen, strict=True)}


@pytest.mark.parametrize("python", PYTHONS)
def test_everything_asked_for_is_pinned(python):
    pins = locked(python)
    assert all(re.fullmatch(r"==[\w.+!]+", pin) for pin in pins.values())
    groups = PROJECT["dependency-groups"]
    for line in [*PROJECT["project"]["dependencies"], *groups["book"], *groups["test"]]:
        wanted = Requirement(line)
        if wanted.marker is None or wanted.marker.evaluate({"python_version": python}):
            pin = pins[canonicalize_name(wanted.name)].removeprefix("==")
            assert wanted.specifier.contains(pin, prereleases=True), line


def test_pins_name_no_place():
    assert not re.search(r"https?:|file:|--|/|@ ", LOCK)


def test_supported_pythons_are_the_same_everywhere():
    classifiers = PROJECT["project"]["classifiers"]
    named = [c.rpartition(" ")[2] for c in classifiers if "Python :: 3." in c]
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "test.yml").read_text())
    assert named == PYTHONS == workflow["jobs"]["test"]["strategy"]["matrix"]["python"]
    assert PROJECT["project"]["requires-python"] == f">={PYTHONS[0]}"
    said = f"Python {PYTHONS[0]} to {PYTHONS[-1]}"
    for name in ("README.md", "Makefile"):
        assert said in (ROOT / name).read_text()


# The commands.


def test_makefile_says_what_it_can_do():
    said = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True).stdout
    listed = set(re.findall(r"^  make (\w+)", said, re.MULTILINE))
    makefile = (ROOT / "Makefile").read_text()
    phony = re.search(r"^\.PHONY: (.*)$", makefile, re.MULTILINE)[1].split()
    assert (
        listed
        == set(phony) - {"prepare"}
        == set(re.findall(r"^(\w+):", makefile, re.M)) - {"prepare"}
    )
    assert {"book", "test", "execute", "lint", "serve", "lock", "faults", "clean"} <= listed


def test_make_without_python_says_so():
    said = subprocess.run(
        ["make", "book", "PYTHON=no-such-python"], cwd=ROOT, capture_output=True, text=True
    )
    assert said.returncode != 0
    assert "Error: NLP 104 needs Python 3.10 to 3.13, and there is no no-such-python" in said.stderr


def test_continuous_integration_runs_everything():
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    lines = script.read_text().splitlines()
    assert "make test" in lines
    assert "  exec make slow" in lines
    assert "set -eu" in lines
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "test.yml").read_text())
    steps = [step.get("run") for step in workflow["jobs"]["test"]["steps"]]
    assert steps[-2:] == ["make test", "make slow"]


@pytest.mark.parametrize(
    ("minutes", "failing", "made"),
    [
        (15, 0, ["test", "slow"]),
        (16, 0, ["test", 'slow STAGES="package, slow"']),
        (21, 0, ["test", 'slow STAGES="package, slow"']),
        (22, 0, ["test"]),
        (15, 1, ["test"]),
    ],
)
def test_a_machine_that_is_too_slow_for_all_runs_what_fits(tmp_path, minutes, failing, made):
    (tmp_path / ".ci").mkdir()
    shutil.copy(ROOT / ".ci" / "run", tmp_path / ".ci" / "run")
    stubs = {  # in the place of what takes time: each call of date is some minutes later
        "make": f'echo "made $*"; exit {failing}',
        "date": f"echo x >> calls; echo $((60 * {minutes} * $(wc -l < calls)))",
    }
    for name, line in stubs.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{line}\n")
        (tmp_path / name).chmod(0o755)
    path = f"{tmp_path}:{os.environ['PATH']}"
    done = subprocess.run(
        [tmp_path / ".ci" / "run"], env={"PATH": path}, capture_output=True, text=True, check=False
    )
    assert done.returncode == failing
    assert re.findall("^made (.*)$", done.stdout, re.MULTILINE) == made
    assert ("too slow for make slow" in done.stdout) == (minutes == 22)


@pytest.mark.parametrize("path", sorted((ROOT / ".github" / "workflows").glob("*.yml")), ids=str)
def test_workflows_may_do_little_and_pin_what_they_use(path):
    workflow = yaml.safe_load(path.read_text())
    assert workflow["permissions"] == {"contents": "read"}
    assert workflow["concurrency"]
    for job in workflow["jobs"].values():
        assert job["timeout-minutes"]
        for step in job["steps"]:
            assert "uses" not in step or re.search(r"@v\d+$", step["uses"]), step


# What is said.


def test_address_is_the_same_everywhere():
    """Every file that names the repository follows `_config.yml`."""
    url = notebooks.address()
    repository, _, published = address.forms(url)
    assert PROJECT["project"]["urls"] == {
        "Repository": url,
        "Documentation": f"https://{published}/",
    }
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert citation["repository-code"] == url
    assert citation["url"] == f"https://{published}/"
    readme = (ROOT / "README.md").read_text()
    assert f"git clone {url}" in readme
    assert published in readme
    name = url.rpartition("/")[2]
    for path in tracked():
        if "tests" not in path.parts:  # they have addresses of their own to change
            for other in re.findall(rf"github\.com/[\w-]+/{name}\b", path.read_text()):
                assert other == repository, path


def test_files_name_no_machine_and_nothing_unfinished():
    for path in tracked():
        text = path.read_text(encoding="utf-8")
        if path.suffix != ".ipynb" and "tests" not in path.parts:  # notebooks have their own test
            assert not re.search(r"(?<![\w.:/])/(home|root|work)/", text), path
        assert not re.search(r"\b(TO" r"DO|FIX" r"ME)\b", text), path


def test_readme_leads_to_files_that_exist():
    readme = (ROOT / "README.md").read_text()
    links = re.findall(r"\]\(([^)#\s]+)|(?:src|srcset)=\"([^\"]+)", readme)
    local = [a or b for a, b in links if not (a or b).startswith("http")]
    assert local
    for link in local:
        assert (ROOT / link).exists(), link


def test_readme_begins_with_the_two_commands():
    commands = re.findall(r"^ *(make \w+)", (ROOT / "README.md").read_text(), re.MULTILINE)
    assert commands[:2] == ["make book", "make test"]

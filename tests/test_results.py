"""Stored results: read where they lie, in a clone and where the package is installed."""

import json
import re
import shutil
import subprocess
import sys
import zipfile

import pytest

from nlp104.data import corpus
from nlp104.figures import results
from tools import notebooks


def test_a_file_of_the_clone_is_read():
    facts = json.loads(results.read("corpora/grammar.json"))
    data = corpus.load_corpus("grammar", sizes=(50, 5, 5))
    assert facts["attribution"] == data.attribution
    with pytest.raises(FileNotFoundError, match="nothing"):
        results.read("corpora/nothing.json")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The package as it is installed on Colab, unpacked."""
    folder = tmp_path_factory.mktemp("wheel")
    for part in ("nlp104", "results"):
        shutil.copytree(notebooks.ROOT / part, folder / part)
    for file in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(notebooks.ROOT / file, folder)
    build = "from setuptools import build_meta; build_meta.build_wheel('built')"
    (folder / "built").mkdir()
    subprocess.run([sys.executable, "-c", build], cwd=folder, check=True, capture_output=True)
    [path] = (folder / "built").glob("*.whl")
    zipfile.ZipFile(path).extractall(folder / "installed")
    return folder / "installed"


@pytest.mark.slow
def test_what_chapters_read_is_installed_with_the_package(wheel):
    stored = {p.relative_to(results.FOLDER) for p in results.FOLDER.rglob("*") if p.is_file()}
    read = {path for path in stored if path.suffix in (".csv", ".json", ".md")}
    assert stored == read
    installed = wheel / "nlp104" / "results"
    assert all(
        (installed / path).read_bytes() == (results.FOLDER / path).read_bytes() for path in read
    )


def test_the_installed_package_reads_them(wheel):
    code = "from nlp104.figures import results; print(len(results.read('depth/losses.json')))"
    said = subprocess.run(
        [sys.executable, "-c", code],
        cwd=wheel,
        env={"PYTHONPATH": str(wheel)},
        text=True,
        capture_output=True,
    )
    assert said.stdout == f"{len(results.read('depth/losses.json'))}\n", said.stderr


def test_all_modules_and_their_data_are_installed(wheel):
    tracked = subprocess.run(
        ["git", "ls-files", "nlp104"], cwd=notebooks.ROOT, text=True, capture_output=True
    ).stdout.split()
    if not tracked:
        pytest.skip("no clone")
    assert [path for path in tracked if not (wheel / path).is_file()] == []
    assert re.search(
        "nlp104.cli.main:main", next(wheel.glob("*.dist-info/entry_points.txt")).read_text()
    )

"""What the experiments have in common: each explains itself, is listed, and keeps what it found."""

import re
from importlib import import_module

import pytest

from experiments import records
from tools import notebooks

FOLDER = notebooks.ROOT / "experiments"
PARTS = ("__init__", "records", "runs", "blank_models", "grammar_blanks")  # what they are made of
NAMES = sorted(path.stem for path in FOLDER.glob("*.py") if path.stem not in PARTS)


@pytest.mark.parametrize("name", NAMES)
def test_an_experiment_explains_itself_instead_of_starting(name, capsys):
    with pytest.raises(SystemExit) as exit_:
        import_module(f"experiments.{name}").main(["--help"])
    assert exit_.value.code == 0
    assert f"usage: python -m experiments.{name}" in capsys.readouterr().out


def test_the_list_of_experiments_is_complete():
    listed = re.findall(
        r"^\| `python -m experiments\.(\w+)", (FOLDER / "README.md").read_text(), re.M
    )
    assert sorted(listed) == NAMES


def test_commands_in_the_book_and_in_the_results_name_experiments_that_exist():
    found = set()
    for folder in ("book", "results", "benchmarks", "nlp104"):
        for path in (notebooks.ROOT / folder).rglob("*"):
            if path.suffix in (".ipynb", ".json", ".md", ".py") and "_build" not in path.parts:
                text = path.read_text(encoding="utf-8")
                found |= set(re.findall(r"-m ((?:benchmarks|experiments|tools)(?:\.\w+)?)", text))
    assert {f"experiments.{name}" for name in NAMES} <= found
    for module in found:
        path = notebooks.ROOT.joinpath(*module.split("."))
        assert path.with_suffix(".py").is_file() or (path / "__main__.py").is_file(), module


@pytest.mark.parametrize("folder", ["experiments", "benchmarks", "results", "nlp104"])
def test_links_of_the_pages_beside_the_code_lead_somewhere(folder):
    pages = list((notebooks.ROOT / folder).rglob("*.md"))
    assert pages
    for page in pages:
        for link in re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8")):
            assert link.startswith("http") or (page.parent / link).exists(), f"{page}: {link}"


def test_a_record_is_written_whole_and_its_runs_are_found_again(tmp_path):
    path = tmp_path / "new" / "record.json"
    assert records.runs_so_far(path) == {}
    records.write(path, {"runs": {"é": 1}})
    assert path.read_text(encoding="utf-8") == '{\n "runs": {\n  "é": 1\n }\n}\n'
    with pytest.raises(TypeError):
        records.write(path, {"runs": {"not for JSON": {1}}})
    assert records.runs_so_far(path) == {"é": 1}
    assert [found.name for found in path.parent.iterdir()] == ["record.json"]

"""What the experiments have in common: each explains itself, is listed, and keeps what it found."""

import re
from importlib import import_module

import pytest

from experiments import records, samples
from nlp104.data import corpus
from nlp104.training.run_record import write_record
from nlp104.training.settings import complete_settings
from nlp104.translation.pretrained import load_pretrained
from tools import notebooks

FOLDER = notebooks.ROOT / "experiments"
PARTS = (
    "__init__",
    "records",
    "runs",
    "blank_models",
    "english_blanks",
    "grammar_blanks",
)  # what they are made of
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
    records.write(path, {"steps": 7, "runs": {"a": 1}})
    assert records.runs_so_far(path, steps=7) == {"a": 1}
    with pytest.raises(ValueError, match=r"Expected steps=7, .* Received: 8"):
        records.runs_so_far(path, steps=8)


@pytest.mark.slow
def test_what_is_sampled_is_the_test_part_of_the_run(tmp_path):
    """Also of a run that had its parts in files, as `nlp104 train --test` has."""
    rows = corpus.load_corpus("grammar", sizes=(8, 8, 8), seed=1)
    places = {}
    for place, part in (("data", "train"), ("validation", "validation"), ("test", "test")):
        places[place] = tmp_path / f"{part}.tsv"
        lines = ["\t".join(pair) + "\n" for pair in getattr(rows, part)]
        places[place].write_text("".join(lines), encoding="utf-8")
    load_pretrained("grammar").save(tmp_path / "run")
    write_record(tmp_path / "run", {"settings": complete_settings({"tokens": "word"})})
    found = samples.samples(tmp_path / "run", **places)
    assert set(found["sources"]) == {source for source, _ in rows.test}

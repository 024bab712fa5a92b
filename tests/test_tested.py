"""The page "How this book is tested" is what the records say, and the records are of this book."""

import json

from tools import colab, notebooks, tested


def test_the_stored_page_is_what_the_script_makes():
    stored = tested.PAGE.read_text(encoding="utf-8")
    assert stored == tested.page(), "it is old: .venv/bin/python -m tools.tested"


def test_every_chapter_was_run_as_in_colab_and_every_cell_is_alike():
    record = json.loads(colab.RECORD.read_text(encoding="utf-8"))["chapters"]
    chapters = [path.relative_to(notebooks.ROOT).with_suffix("") for path in notebooks.chapters()]
    assert {*record} == {path.as_posix() for path in chapters}
    for name, run in record.items():
        assert (run["different"], run["changed versions"]) == ([], []), name


def test_what_differs_is_not_counted():
    record = {
        "chapters": {
            "book/part2/masks": {"cells": 41, "different": [3, 9], "CPU seconds": 40, "MiB": 1100}
        },
        "versions": {"Python": "3.13.0"},
    }
    table = tested.colab_table(record)
    assert "](part2/masks.ipynb) | 39 of 41 | 40 | 1.1 |" in table
    assert "Together 39 of 41 cells are alike, with Python 3.13.0." in table


def test_a_row_of_passes_is_told_from_its_last_failure_on():
    passes = [
        {"cores": 2, "cells": 9, "failed": ["masks Cell 1"]},
        {"cores": 1, "cells": 9, "failed": []},
        {"cores": 2, "cells": 9, "failed": []},
    ]
    said = tested.repeats_sentence(passes)
    assert said.startswith("All notebooks were executed and compared 2 times")
    assert "1 of these times on one core alone. All 18 cells, 9 each time, gave" in said
    passes[-1]["cells"] = 8
    assert "All 17 cells, 8 or 9 each time, gave" in tested.repeats_sentence(passes)
    assert "not been executed again" in tested.repeats_sentence(passes[:1])


def test_what_came_of_the_kills():
    said = tested.kills_sentence(
        {"kills": {"while it began": 1, "while it trained": 9}, "runs": 1, "same": 0}
    )
    assert "10 times at random moments (1 while it began, 9 while it trained)" in said
    assert "0 of 1 runs ended" in said

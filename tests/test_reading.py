"""What a reader sees of a chapter before anything is unfolded, and how that is counted."""

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from tools import notebooks, reading


def name(path):
    return f"{path.parent.name}/{path.stem}"


@pytest.mark.parametrize("path", notebooks.chapters(), ids=name)
def test_a_chapter_keeps_its_bounds(path):
    assert reading.read(path).beyond(reading.bounds(path)) == []


def code(source, printed="", **metadata):
    outputs = [new_output("stream", text=printed)] if printed else []
    return new_code_cell(source, outputs=outputs, metadata=metadata)


def test_what_is_counted(tmp_path):
    folded = {"tags": ["hide-input"]}
    notebook = new_notebook(
        cells=[
            new_markdown_cell("Five words are seen here.\n\n<details>\nNot these.\n</details>"),
            code("x = 1\n\ny = 2", "True and 0.5 and Falsehood\n"),
            code("# @title Checks\n" + 9 * "z = 3\n", "False\n", **folded),
            code("# @title Solution 1\nw = 4", "True\n", tags=["hide-cell"]),
            code("x" * 81),
        ]
    )
    path = tmp_path / "chapter.ipynb"
    nbformat.write(notebook, path)
    assert reading.read(path) == reading.Reading(words=5, lines=3, wide=1, verdicts=2, minutes=0)
    assert reading.read(path).beyond(reading.BOUNDS) == ["wide"]
    assert reading.main([str(path)]) == 1

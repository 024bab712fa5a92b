"""What a language model reads of the book: running text, and nothing else."""

from importlib import resources

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from tools import book_text


@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        ("## A *bold* **title**\n\nTwo\nlines.", "A bold title\nTwo lines."),
        ("See [masks](../part2/masks.ipynb#idea) and `keys`.", "See masks and keys."),
        ("- one\n- two\n\n1. first\n2. second", "- one\n- two\n1. first\n2. second"),
        ("Width $\\sqrt{d_k}$ and\n\n$$\nA = B\n$$\n\nthen", "Width sqrtd_k and\nthen"),
        ("<details><summary>Answer</summary>\n\nSix.\n\n</details>", "Answer\nSix."),
        ("A table:\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nEnd.", "A table:\nEnd."),
        ("Run:\n\n```sh\nmake test\n```\n\n“Good” – it’s 3 − 1…", 'Run:\n"Good" - it\'s 3 - 1...'),
    ],
)
def test_markdown_becomes_lines_of_text(markdown, expected):
    assert book_text.plain(markdown) == expected


def test_the_book_has_no_title_no_code_and_no_rare_characters(tmp_path):
    sources = "# Title", "é" * 20 + "ж"
    title, text = map(new_markdown_cell, sources)
    nbformat.write(new_notebook(cells=[title, new_code_cell("x = 1"), text]), tmp_path / "a.ipynb")
    assert book_text.book([tmp_path / "a.ipynb"]) == "e" * 20


def test_the_stored_text_is_a_small_alphabet():
    text = (resources.files("nlp104.data") / "book.txt").read_text(encoding="utf-8")
    assert 250_000 < len(text) < 300_000
    assert len(set(text)) < 100
    assert {character for character in text if not character.isprintable()} == {"\n"}

"""What three chapters draw for a phone fits on it: no words begin left of it or end behind it."""

import json
import re
from pathlib import Path

import pytest

BOOK = Path(__file__).parents[1] / "book"
CHAPTERS = ("faster-and-larger", "the-family-tree", "writing-faster")
NARROW = re.compile(r'<svg class="narrow".*?viewBox="0 0 (\d+) .*?</svg>', re.DOTALL)
TEXT = re.compile(r"<text([^>]*)>(.*?)</text>", re.DOTALL)
LETTER = 0.52  # of its size: a letter's width


def stills(chapter):
    """The drawings for a phone: the cell, the width, and the SVG."""
    notebook = json.loads((BOOK / f"part4/{chapter}.ipynb").read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        for output in cell.get("outputs", []):
            page = "".join(output.get("data", {}).get("text/html", []))
            for found in NARROW.finditer(page):
                yield cell["id"], int(found[1]), found[0]


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_words_on_a_phone_are_not_cut(chapter):
    found = list(stills(chapter))
    assert found
    for cell, width, svg in found:
        for attributes, words in TEXT.findall(svg):
            look = dict(re.findall(r'([\w-]+)="([^"]*)"', attributes))
            if "transform" in look:
                continue
            words = re.sub(r"<[^>]*>", "", words)
            length = LETTER * float(look["font-size"]) * len(words)
            shift = {"end": 1, "middle": 0.5}.get(look.get("text-anchor"), 0)
            start = float(look["x"]) - shift * length
            assert start > -2, (cell, words, start)
            assert start + length < width + 12, (cell, words, start + length)

"""What a chapter draws for a phone fits on it: no words begin left of it or end behind it."""

import html
import json
import re
from pathlib import Path

import pytest
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextPath

CHAPTERS = sorted((Path(__file__).parents[1] / "book").glob("part*/*.ipynb"))
NARROW = re.compile(r'<svg class="narrow".*?viewBox="0 0 (\d+) .*?</svg>', re.DOTALL)
TEXT = re.compile(r"<text([^>]*)>(.*?)</text>", re.DOTALL)


def stills(chapter):
    """The drawings for a phone: the cell, the width, and the SVG."""
    notebook = json.loads(chapter.read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        for output in cell.get("outputs", []):
            page = "".join(output.get("data", {}).get("text/html", []))
            for found in NARROW.finditer(page):
                yield cell["id"], int(found[1]), found[0]


def width_of(words, size, weight):
    """In pixels, of the letters of a phone: about 0.92 as wide as those that are measured."""
    if not words.strip():
        return 0
    font = FontProperties("DejaVu Sans", weight="bold" if weight else "normal")
    return 0.92 * TextPath((0, 0), words, size, prop=font).get_extents().width


def test_the_drawings_are_found():
    assert sum(any(stills(chapter)) for chapter in CHAPTERS) > 20


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda path: path.stem)
def test_words_on_a_phone_are_not_cut(chapter):
    for cell, width, svg in stills(chapter):
        for attributes, words in TEXT.findall(svg):
            look = dict(re.findall(r'([\w-]+)="([^"]*)"', attributes))
            if "transform" in look:
                continue
            words = html.unescape(re.sub(r"<[^>]*>", "", words)).replace("$", "")
            length = width_of(words, float(look["font-size"]), look.get("font-weight"))
            shift = {"end": 1, "middle": 0.5}.get(look.get("text-anchor"), 0)
            start = float(look["x"]) - shift * length
            assert start > -6, (cell, words, start)
            assert start + length < width + 6, (cell, words, start + length)

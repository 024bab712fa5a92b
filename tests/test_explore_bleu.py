"""What BLEU sees: every number in the figure is sacreBLEU's, also after words are struck out."""

import itertools
import re

import numpy as np
import pytest
import sacrebleu
from browser import needs_browser
from explore_page import write

from nlp104.figures import explore
from nlp104.figures.explore.bleu import REFERENCE, TRANSLATIONS

CUT = {"tokenize": "none", "smooth_method": "none"}


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """The figure on a page of its own."""
    return write(tmp_path_factory.mktemp("bleu") / "page.html", explore.bleu())


def said(words):
    """What sacreBLEU makes of these words, already cut."""
    reference = " ".join(explore.bleu().data["reference"])
    return sacrebleu.corpus_bleu([" ".join(words)], [[reference]], **CUT)


@needs_browser
@pytest.mark.parametrize("step", range(len(TRANSLATIONS)))
def test_the_numbers_are_sacrebleus(reader, step):
    whole = sacrebleu.corpus_bleu([TRANSLATIONS[step][1]], [[REFERENCE]], smooth_method="none")
    words = explore.bleu().data["translations"][step]["words"]
    rng = np.random.default_rng(step)
    for struck in ([], [0], sorted(rng.choice(len(words), 3, replace=False).tolist())):
        left = [word for i, word in enumerate(words) if i not in struck]
        package = said(left)
        drawn = reader.draw(step=step, out="".join(f"w{i}" for i in struck))
        assert drawn.values.tolist() == [
            list(pair) for pair in zip(package.counts, package.totals, strict=True)
        ]
        marks = {mark["key"]: mark for mark in drawn.marks}
        points = float(re.search(r"\*\*([\d.]+)\*\*", marks["score"]["source"])[1])
        assert points == pytest.approx(package.score, abs=0.051)
        assert float(marks["bp value"]["source"]) == pytest.approx(package.bp, abs=0.0051)
        if not struck:
            assert points == pytest.approx(whole.score, abs=0.051)
            assert TRANSLATIONS[step][2].replace("*", "") in drawn.caption.replace("*", "")


@needs_browser
def test_each_group_is_a_bar_over_its_words(reader):
    words = explore.bleu().data["translations"][1]["words"]
    drawn = reader.draw(step=1, out="w5")
    marks = {mark["key"]: mark for mark in drawn.marks}
    left = [i for i in range(len(words)) if i != 5]
    package = said([words[i] for i in left])
    for n in range(4):
        bars = [marks[key] for key in marks if re.fullmatch(rf"g{n},\d+", key)]
        assert len(bars) == package.totals[n]
        assert sum(bar["strength"] > 0 for bar in bars) == package.counts[n]
        for i, bar in enumerate(bars):  # from its first word to its last
            first, last = marks[f"t{left[i]}"], marks[f"t{left[i + n]}"]
            assert bar["y"] == pytest.approx(first["y"], abs=4)
            assert bar["y"] + bar["h"] == pytest.approx(last["y"] + last["h"], abs=4)
        lanes = {}  # no bar on another
        for bar in bars:
            lanes.setdefault(bar["x"], []).append((bar["y"], bar["y"] + bar["h"]))
        for spans in lanes.values():
            assert all(a[1] < b[0] for a, b in itertools.pairwise(spans))


@needs_browser
def test_a_word_is_struck_out_and_comes_back(reader, page):
    reader.open(page)
    assert reader.state() == {"step": 1, "out": ""}  # some groups are missing from the first look
    reader.evaluate("document.querySelector('[title=\"One step back\"]').click()")
    reader.tap("word:12")
    assert reader.state() == {"step": 0, "out": "w12"}
    caption = reader.evaluate("document.querySelector('figcaption').textContent")
    assert caption.startswith("1 of 13 words struck out. BLEU: 92.0")
    reader.tap("word:3")
    assert reader.state()["out"] == "w3w12"
    reader.tap("word:12")
    assert reader.state()["out"] == "w3"
    reader.evaluate("document.querySelector('[title=\"One step on\"]').click()")
    assert reader.state() == {"step": 1, "out": ""}
    assert reader.complaints == []


@needs_browser
@pytest.mark.parametrize("width", [1280, 700, 390, 320])
def test_no_words_lie_on_others(reader, page, width):
    reader.open(page, width=width)
    for step in range(len(TRANSLATIONS)):
        clashes, _ = reader.clashes(f"bleu:step={step}")
        assert clashes == [], TRANSLATIONS[step][0]


@needs_browser
@pytest.mark.parametrize("out", ["w99", "-1", "x", "".join(f"w{i}" for i in range(13))])
def test_whatever_is_struck_out_there_is_a_number(reader, out):
    drawn = reader.draw(step=1, out=out)
    marks = {mark["key"]: mark for mark in drawn.marks}
    assert re.fullmatch(r"BLEU \*\*[\d.]+\*\*", marks["score"]["source"])


def test_the_words_in_place_of_the_picture_say_what_sacrebleu_says():
    made = explore.bleu()
    package = said(made.data["translations"][1]["words"])
    numbers = [int(x) for x in re.findall(r"\d+", made.alt)]
    pairs = [x for pair in zip(package.totals, package.counts, strict=True) for x in pair]
    assert numbers == [*pairs, round(package.score)]
    bars = re.findall(r'class="f-(ink|r)"', made.still)
    assert bars.count("ink") == sum(package.counts)
    assert len(bars) == sum(package.totals)

"""The family tree: what is lit is what the papers say, and every relative has its place."""

import re

import numpy as np
import pytest
from browser import needs_browser
from explore_page import write

from nlp104.figures import explore
from nlp104.figures.explore.relatives import FAMILY, PARTS
from tools import notebooks

NAMES = [relative.name for relative in FAMILY]
READ, THINK, ASK = "self-attention", "feed-forward", "cross-attention"
WRITE = "masked attention"
# From the papers: the members of each branch, written down apart from the figure.
ENCODERS = {"BERT", "RoBERTa", "DistilBERT", "VideoBERT", "VisualBERT", "ViT"}
DECODERS = {"GPT", "GPT-2", "GPT-3", "Transformer-XL", "XLNet"}
BOTH = {"Transformer", "BART", "T5", "DETR"}
KEEPERS = {
    "both sides": ENCODERS | BOTH | {"SAGAN"},
    "mask": DECODERS | BOTH - {"DETR"},
    "cross": BOTH,
    "waves": {"Transformer", "DETR", "Transformer-XL", "XLNet"},
    "blanks": ENCODERS - {"ViT"} | {"BART", "T5"},
}


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """The figure on a page of its own."""
    return write(tmp_path_factory.mktemp("tree") / "page.html", explore.family_tree())


def test_everybody_has_a_place_of_their_own_after_their_parent():
    places = {(relative.lane, relative.row) for relative in FAMILY}
    assert len(places) == len(set(NAMES)) == len(FAMILY) == 17
    of = dict(zip(NAMES, FAMILY, strict=True))
    for relative in FAMILY:
        assert set(relative.keeps) <= PARTS.keys()
        if relative.parent:
            parent = of[relative.parent]
            assert (parent.year, parent.row) <= (relative.year, relative.row - 1)
    rows = sorted((relative.row, relative.year) for relative in FAMILY)
    assert [year for _, year in rows] == sorted(relative.year for relative in FAMILY)


def test_lanes_are_the_stacks_that_are_kept():
    for lane, names in ((0, ENCODERS), (1, BOTH | {"DRAW", "SAGAN"}), (2, DECODERS)):
        assert {relative.name for relative in FAMILY if relative.lane == lane} == names


def test_every_source_is_in_the_bibliography():
    text = (notebooks.ROOT / "book" / "bibliography.md").read_text(encoding="utf-8")
    for relative in FAMILY:
        assert f'<a id="{relative.source}">' in text, relative.name
        published = int(re.search(r"\d{4}", relative.source)[0])
        assert relative.year <= published <= relative.year + 1  # the proceedings may be later


def test_the_still_and_its_words_say_who_keeps_what():
    made = explore.family_tree()
    assert all(f">{name}<" in made.still for name in NAMES)
    kept = sum(len(names) for names in KEEPERS.values())
    assert len(re.findall(r'class="f-[apr]"', made.still)) == kept
    assert "Transformer, BART, T5 and DETR keep both stacks" in made.alt


@needs_browser
@pytest.mark.parametrize("step", range(1, 6))
def test_a_part_lights_those_who_keep_it(reader, step):
    tab = list(KEEPERS)[step - 1]
    drawn = reader.draw(step=step)
    assert (drawn.rows, drawn.columns) == (NAMES, list(KEEPERS))
    assert {n for n, kept in zip(NAMES, drawn.values[:, step - 1], strict=True) if kept} == KEEPERS[
        tab
    ]
    marks = {mark["key"]: mark for mark in drawn.marks}
    lit = {name for i, name in enumerate(NAMES) if f"kept{i}" in marks}
    bright = {name for i, name in enumerate(NAMES) if not marks[f"m{i}"].get("muted")}
    assert lit == bright == KEEPERS[tab]
    assert drawn.caption.startswith(f"**{len(lit)}** of {len(FAMILY)} ")


def of_a_parent(name):
    """Whether a line leads to it: to the Transformer and to what is none, none does."""
    return name not in ("Transformer", "DRAW", "SAGAN")


@needs_browser
@pytest.mark.parametrize(
    ("name", "boxes", "kin"),
    [
        ("DRAW", [], ["DRAW"]),
        ("SAGAN", [READ], ["SAGAN"]),
        ("ViT", [READ, THINK], ["ViT", "Transformer"]),
        ("GPT-3", [WRITE, THINK], ["GPT-3", "GPT-2", "GPT", "Transformer"]),
        ("DETR", [READ, THINK, READ, ASK, THINK], ["DETR", "Transformer"]),
        ("T5", [READ, THINK, WRITE, ASK, THINK], ["T5", "Transformer"]),
    ],
)
def test_a_machine_lights_what_its_owner_keeps(reader, name, boxes, kin):
    drawn = reader.draw(model=NAMES.index(name))
    steps = [mark for mark in drawn.marks if mark["kind"] == "step"]
    assert len(steps) == 5
    assert [mark["source"] for mark in steps if mark["lit"]] == boxes
    keys = {mark["key"] for mark in drawn.marks}
    assert ("bridge k" in keys) == (ASK in boxes)
    thick = {m["key"] for m in drawn.marks if m["key"].startswith("way") and m["width"] > 2}
    assert thick == {f"way{relative}" for relative in kin if of_a_parent(relative)}


@needs_browser
def test_a_name_is_tapped_and_reached_with_the_keys(reader, page):
    reader.open(page)
    reader.tap(f"model:{NAMES.index('BERT')}")
    assert reader.state()["model"] == NAMES.index("BERT")
    reader.evaluate("document.querySelector('.stage').focus()")
    reader.press("Tab", "ArrowDown", "ArrowDown", "ArrowDown", "ArrowRight")
    assert NAMES[reader.state()["model"]] == "BART"
    reader.press("Escape", "ArrowRight")
    assert (reader.state()["step"], NAMES[reader.state()["model"]]) == (1, "BART")
    assert reader.complaints == []


@needs_browser
@pytest.mark.parametrize("width", [1280, 700, 390, 320])
def test_no_words_lie_on_others(reader, page, width):
    reader.open(page, width=width)
    for model in range(len(FAMILY)):
        clashes, _ = reader.clashes(f"family_tree:step={model % 6}&model={model}")
        assert clashes == [], NAMES[model]


@needs_browser
@pytest.mark.parametrize("model", [99, -1, "x"])
def test_a_relative_that_there_is_not_is_the_transformer(reader, model):
    shown = {mark["key"]: mark for mark in reader.draw(model=model).marks}
    assert shown["name"]["source"] == "Transformer"
    assert np.isfinite(shown["name"]["y"])

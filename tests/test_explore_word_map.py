"""The word map: who is near is counted anew from the vectors, and no word covers another."""

import json
import re

import numpy as np
import pytest
from browser import needs_browser
from explore_page import write

from nlp104.data.grammar.lexicon import NOUNS
from nlp104.figures import explore
from nlp104.figures.explore.word_map import with_article

SHOWN = NOUNS[::5]
COUNT = len(SHOWN)
CLUSTERS = {kind: i for i, kind in enumerate(sorted({noun.kind for noun in SHOWN}))}


def tables():
    """One drawn by lot, one in which only the kind counts, and very nearly."""
    rng = np.random.default_rng(104)
    kinds = np.array([CLUSTERS[noun.kind] for noun in SHOWN])
    tight = 3 * np.eye(len(CLUSTERS))[kinds] + 0.5 * rng.normal(size=(COUNT, len(CLUSTERS)))
    return {"by lot": rng.normal(size=(COUNT, 40)), "by kind": tight}


@pytest.fixture(scope="module")
def made():
    """The figure of both tables."""
    return explore.word_map(SHOWN, tables())


@pytest.fixture(scope="module")
def page(made, tmp_path_factory):
    """The figure on a page of its own."""
    return write(tmp_path_factory.mktemp("words") / "page.html", made)


def by_hand(vectors, i):
    """The three nearest of a row, from the definition of the cosine, one pair at a time."""
    row = vectors[i]
    cosines = [
        -2.0 if j == i else row @ other / np.sqrt((row @ row) * (other @ other))
        for j, other in enumerate(vectors)
    ]
    return sorted(range(COUNT), key=lambda j: -cosines[j])[:3], np.array(cosines)


def share(vectors, of):
    """How many of all words' nearest are like them, in per cent."""
    alike = [of[i] == of[j] for i in range(COUNT) for j in by_hand(vectors, i)[0]]
    return 100 * np.mean(alike)


@needs_browser
@pytest.mark.parametrize("step", [0, 1])
def test_the_nearest_are_those_of_the_definition(reader, step):
    name, vectors = list(tables().items())[step]
    kinds = [noun.kind for noun in SHOWN]
    feminine = [noun.feminine for noun in SHOWN]
    for word in range(0, COUNT, 4):
        found, cosines = by_hand(vectors, word)
        drawn = reader.draw(step=step, word=word)
        assert drawn.rows == [noun.english[0] for noun in SHOWN]
        assert drawn.columns == list(tables())
        others = np.arange(COUNT) != word
        np.testing.assert_allclose(drawn.values[others, step], cosines[others], atol=6e-4)
        texts = {mark["key"]: mark.get("source") for mark in drawn.marks}
        assert [texts[f"near{step},{row}"] for row in range(3)] == [drawn.rows[j] for j in found]
        marks = {mark["key"] for mark in drawn.marks}
        assert {f"ring{j}" for j in found} == {key for key in marks if key.startswith("ring")}
        kind, gender = ([of[j] for j in found].count(of[word]) for of in (kinds, feminine))
        said = [int(x) for x in re.findall(r"\*\*(\d+)\*\* time", drawn.caption)]
        assert said == [kind, gender], (name, drawn.caption)
        assert ("**1** time," in drawn.caption) == (kind == 1)
        bars = {mark["key"]: mark for mark in drawn.marks}
        for of, labels in (("kind", kinds), ("gender", feminine)):
            said = re.findall(r"(\d+)\u00a0%", texts[f"share{of}"])
            alike = [labels[i] == labels[j] for i in range(COUNT) for j in range(COUNT) if i != j]
            assert int(said[0]) == round(share(vectors, labels))
            assert int(said[1]) == pytest.approx(100 * np.mean(alike), abs=0.51)
            part, whole = bars[f"part{of}"]["w"], bars[f"all{of}"]["w"]
            assert part / whole == pytest.approx(int(said[0]) / 100, abs=0.02)


@needs_browser
def test_only_tables_that_were_reached_tell_who_is_near(reader):
    for step in (0, 1):
        keys = {mark["key"] for mark in reader.draw(step=step).marks}
        assert {"table0", "near0,2"} <= keys
        assert {"table1", "near1,2"} & keys == ({"table1", "near1,2"} if step else set())


@needs_browser
def test_few_kinds_have_colours(reader, tmp_path):
    assert not any(m["key"].startswith("tint") for m in reader.draw().marks)  # too many
    some = [noun for noun in NOUNS if noun.kind in ("animal", "road")]
    figure = explore.word_map(
        some, {"by lot": np.random.default_rng(0).normal(size=(len(some), 8))}
    )
    reader.open(write(tmp_path / "page.html", figure))
    tints = {m["key"]: m["concept"] for m in reader.draw().marks if m["key"].startswith("tint")}
    assert len(tints) == len(some)
    for i, noun in enumerate(some):
        assert (tints[f"tint{i}"] == tints["tint0"]) == (noun.kind == some[0].kind)
    assert reader.complaints == []


def test_french_nouns_have_their_article():
    found = {noun.english[0]: with_article(noun) for noun in NOUNS}
    assert [found[noun] for noun in ("street", "avenue", "cat")] == [
        "la rue",
        "l’avenue",
        "le chat",
    ]


def test_the_words_in_place_of_the_picture_say_the_same(made):
    feminine = [noun.feminine for noun in SHOWN]
    for name, vectors in tables().items():
        said = re.search(rf"{name}: (\d+)% are of the same kind, (\d+)% of the same", made.alt)
        kinds = [noun.kind for noun in SHOWN]
        for number, of in zip(said.groups(), (kinds, feminine), strict=True):
            assert int(number) == pytest.approx(share(vectors, of), abs=0.5)
        assert f">{name}<" in made.still


def test_the_map_shows_the_two_directions_of_most_difference(made):
    """Of all flat views none keeps more of the variance: power iteration finds it, too."""
    vectors = tables()["by kind"]
    rows = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    spread = np.cov(rows.T, bias=True)
    largest = np.sort(np.linalg.eigvalsh(spread))[::-1][:2]
    shown = np.array(made.data["tables"][1]["places"])
    assert shown.min(0) == pytest.approx([0, 0])
    assert shown.max(0) == pytest.approx([1, 1])
    # Each axis is stretched to [0, 1]; its correlation with some direction of the rows is full.
    for axis, variance in zip(shown.T, largest, strict=True):
        direction, *_ = np.linalg.lstsq(rows - rows.mean(0), axis - axis.mean(), rcond=None)
        along = (rows - rows.mean(0)) @ (direction / np.linalg.norm(direction))
        assert along.var() == pytest.approx(variance, rel=1e-2)


@needs_browser
@pytest.mark.parametrize("width", [1280, 700, 390, 320])
@pytest.mark.parametrize("step", [0, 1])
def test_no_word_lies_on_another(reader, page, width, step):
    reader.open(page, width=width)
    clashes, _ = reader.clashes(f"word_map:step={step}&word=3")
    assert clashes == []


@needs_browser
@pytest.mark.parametrize("width", [700, 358])
def test_words_stand_apart_and_inside(reader, width):
    """As rectangles; and those of one kind stay together where only the kind counts."""
    drawn = reader.draw(step=1, width=width)
    boxes = [m for m in drawn.marks if re.fullmatch(r"word\d+", m["key"])]
    assert len(boxes) == COUNT
    for i, a in enumerate(boxes):
        assert a["x"] >= 0
        assert a["x"] + a["w"] <= width
        for b in boxes[i + 1 :]:
            across = min(a["x"] + a["w"], b["x"] + b["w"]) - max(a["x"], b["x"])
            down = min(a["y"] + a["h"], b["y"] + b["h"]) - max(a["y"], b["y"])
            assert min(across, down) < 4, (a["word"], b["word"])


@needs_browser
def test_a_word_is_tapped_and_stays_chosen_from_table_to_table(reader, page):
    reader.open(page)
    reader.tap("word:2")
    assert reader.state()["word"] == 2
    reader.evaluate("document.querySelector('[title=\"One step on\"]').click()")
    assert reader.state() == {"step": 1, "word": 2}
    reader.evaluate("document.querySelector('.stage').focus()")
    reader.press("Tab", "ArrowRight")
    assert reader.state()["word"] == 3
    assert reader.complaints == []


@needs_browser
@pytest.mark.parametrize("word", [99, -1, "x"])
def test_a_word_that_there_is_not_is_the_first(reader, word):
    drawn = reader.draw(word=word)
    assert drawn.caption.startswith(f"**{SHOWN[0].english[0]}** ")
    json.dumps(drawn.marks, allow_nan=False)


@pytest.mark.parametrize(
    ("nouns", "rows", "message"),
    [
        (NOUNS[:3], np.ones((3, 2)), r"Expected at least 4 nouns\. Received: 3\."),
        (
            NOUNS[:5],
            np.ones((4, 2)),
            r"Expected the table 'x' of shape \(5, any\)\. Received: \(4, 2",
        ),
        (NOUNS[:5], np.ones(5), r"Expected the table 'x' of shape"),
        (NOUNS[:5], np.zeros((5, 2)), r"Expected vectors of some length in the table 'x'"),
        (NOUNS[:5], np.full((5, 2), np.nan), r"Expected vectors of some length in the table 'x'"),
    ],
)
def test_what_cannot_be_compared_is_said(nouns, rows, message):
    with pytest.raises(ValueError, match=message):
        explore.word_map(nouns, {"x": rows})

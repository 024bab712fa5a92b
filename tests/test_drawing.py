"""The parts of the visual language and the map that is made of them: what their SVG says."""

import re
import sys
from itertools import combinations
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from nlp104.figures import chapter_map as maps
from nlp104.figures.drawing import Drawing
from nlp104.figures.language import CONCEPTS, GROUND, PATTERNS, SERIES, TOKENS, sheet

BOOK = Path(__file__).parents[1] / "book"
LETTER = 0.66  # width of a letter as a share of its height, generously


def elements(drawing, height=100):
    """The SVG as a tree; whatever is no XML fails here."""
    return ElementTree.fromstring(drawing.svg(height))


def rects(drawing, kind):
    """All rectangles of a class."""
    return [r for r in elements(drawing).iter("rect") if kind in r.get("class").split()]


def place(rect):
    """Left, upper, right and lower edge."""
    x, y, width, height = (float(rect.get(name)) for name in ("x", "y", "width", "height"))
    return x, y, x + width, y + height


# --- a matrix ---

VALUES = np.array([[0.8, -0.4, 0.0, 0.1], [-1.6, 1.2, 0.3, -np.inf]])


def matrix(**look):
    drawing = Drawing(360)
    drawing.matrix(10, 20, VALUES, "a", width=40, height=30, **look)
    return drawing


def test_a_matrix_is_a_cell_for_every_number_in_rows_and_columns():
    cells = rects(matrix(), "base")
    assert len(cells) == VALUES.size
    for number, cell in enumerate(cells):
        row, column = divmod(number, 4)
        left, top = 10 + 40 * column, 20 + 30 * row
        assert place(cell) == (left + 1, top + 1, left + 39, top + 29)


def test_positive_numbers_are_filled_and_negative_ones_outlined():
    full, lined = (rects(matrix(), kind) for kind in ("f-a", "s-a"))
    centres = [
        {(round((x0 + x1) / 2), round((y0 + y1) / 2)) for x0, y0, x1, y1 in map(place, found)}
        for found in (full, lined)
    ]
    for found, wanted in zip(
        centres, (VALUES > 0, (VALUES < 0) & np.isfinite(VALUES)), strict=True
    ):
        assert found == {(30 + 40 * j, 35 + 30 * i) for i, j in np.argwhere(wanted)}
    assert all("fill:none" in rect.get("style") for rect in lined)
    nothing = [rect for rect in rects(matrix(), "base") if "clear" not in rect.get("class")]
    assert len(nothing) == 2  # zero and −∞


def strengths(drawing):
    """How strong each tint and each outline is, by its number's place."""
    found = {}
    for rect in (*rects(drawing, "f-a"), *rects(drawing, "s-a")):
        strength = re.search(r"cap\)\*\(?([\d.]+)|stroke-opacity:([\d.]+)", rect.get("style"))
        x0, y0, *_ = place(rect)
        found[int((y0 - 20) // 30), int((x0 - 10) // 40)] = float(strength[1] or strength[2])
    return found


def test_the_larger_a_number_the_stronger_its_colour():
    found = strengths(matrix())
    for sign in (1, -1):
        numbers = sorted(
            (sign * VALUES[at], strength) for at, strength in found.items() if sign * VALUES[at] > 0
        )
        shown = [strength for _, strength in numbers]
        assert shown == sorted(set(shown))
        assert all(0 < strength <= 1 for strength in shown)
    assert found[1, 0] == 1.0  # the largest, −1.6, is the measure of all
    assert found[1, 1] == pytest.approx(0.07 + 0.93 * (1.2 / 1.6) ** 0.85, abs=6e-4)


def test_a_common_measure_makes_matrices_comparable():
    twice = strengths(matrix(most=3.2))
    assert all(twice[at] < strength for at, strength in strengths(matrix()).items())
    small = strengths(matrix(most=0.1))
    assert set(small.values()) == {1.0}  # not more than full


def test_numbers_are_written_as_they_are():
    for digits in (0, 1, 2):
        texts = list(elements(matrix(digits=digits)).iter("text"))
        expected = ["−∞" if x == -np.inf else f"{x:.{digits}f}" for x in VALUES.flat]
        assert [text.text for text in texts] == [words.replace("-", "−") for words in expected]
        for number, text in enumerate(texts):
            row, column = divmod(number, 4)
            assert (float(text.get("x")), float(text.get("y"))) == (30 + 40 * column, 35 + 30 * row)
            assert text.get("text-anchor") == "middle"
    assert not list(elements(matrix()).iter("text"))


def test_what_must_not_be_seen_is_hatched_and_holds_0():
    hidden = np.array([[False, True, False, False], [True, False, False, True]])
    drawing = matrix(hidden=hidden, digits=1)
    hatched = [place(rect) for rect in rects(drawing, "hatch")]
    assert hatched == [place(rect) for rect in rects(drawing, "hide")]
    assert hatched == [
        (11 + 40 * j, 21 + 30 * i, 49 + 40 * j, 49 + 30 * i) for i, j in np.argwhere(hidden)
    ]
    assert not rects(drawing, "s-a")  # all that is negative is hidden
    texts = [text.text for text in elements(drawing).iter("text")]
    np.testing.assert_array_equal(np.array(texts).reshape(2, 4)[hidden], "0")
    assert strengths(drawing)[1, 1] == 1.0  # the largest that is seen


def test_a_matrix_of_zeros_and_one_of_nothing_are_drawn():
    for values in (np.zeros((2, 3)), np.zeros((2, 0)), [[-np.inf, -np.inf]]):
        drawing = Drawing(360)
        drawing.matrix(0, 0, values, "q", width=20, height=20)
        assert len(rects(drawing, "base")) == np.size(values)
        assert not rects(drawing, "f-q")


# --- the other parts ---


def test_words_stand_in_pills_below_each_other_or_side_by_side():
    words = ["[START]", "le", "chat & <chien>"]
    for across in (False, True):
        drawing = Drawing(360)
        drawing.tokens(8, 4, words, width=90, height=28, across=across, chosen=1)
        pills = rects(drawing, "pill")
        for number, pill in enumerate(pills):
            x, y = (8 + 90 * number, 4) if across else (8, 4 + 28 * number)
            assert place(pill) == (x + 1, y + 2, x + 89, y + 26)
        assert ["sign" in pill.get("class") for pill in pills] == [True, False, False]
        assert ["chosen" in pill.get("class") for pill in pills] == [False, True, False]
        texts = list(elements(drawing).iter("text"))
        assert [text.text for text in texts] == ["start", "le", "chat & <chien>"]
        assert [text.get("class") for text in texts] == [None, "on", None]


def test_a_box_takes_the_colour_of_its_concept_only_where_it_is_lit():
    drawing = Drawing(360)
    drawing.box(0, 0, 80, 20, "feed-forward", "v")
    assert not rects(drawing, "f-v")
    drawing.box(0, 40, 80, 20, "attention", "a", lit=True)
    drawing.box(0, 80, 80, 20, "plain", lit=True)
    assert [place(rect) for rect in rects(drawing, "lit")] == [(0, 40, 80, 60), (0, 80, 80, 100)]
    assert [rect.get("class") for rect in rects(drawing, "lit")] == ["f-a s-a lit", "f-r s-r lit"]
    kinds = [text.get("class") for text in elements(drawing).iter("text")]
    assert kinds == ["muted", "f-t-a", "f-t-r"]


@pytest.mark.parametrize("end", [(90, 10), (10, 90), (-70, 10), (10, -70)])
def test_an_arrow_points_where_its_wire_leads(end):
    drawing = Drawing(360)
    drawing.wire([(10, 10), end], "q", arrow=True)
    wire, head = elements(drawing).iter("path")
    assert wire.get("d") == f"M10 10L{end[0]} {end[1]}"
    tip, *corners = (np.array(corner.split(), float) for corner in head.get("d")[1:-1].split("L"))
    np.testing.assert_array_equal(tip, end)
    way = (np.array(end) - 10) / 80
    for corner in corners:
        assert (tip - corner) @ way == pytest.approx(7)  # behind the tip, as long as it is
    across = corners[0] - corners[1]
    assert np.linalg.norm(across) == pytest.approx(8)
    assert across @ way == pytest.approx(0)


def test_a_wire_turns_in_round_corners_that_never_overshoot():
    drawing = Drawing(360)
    points = [(0, 0), (50, 0), (50, 4), (90, 4)]
    drawing.wire(points, "r", strong=True)
    (path,) = elements(drawing).iter("path")
    assert path.get("class") == "wire s-r strong"
    numbers = np.array(re.findall(r"-?[\d.]+", path.get("d")), float).reshape(-1, 2)
    np.testing.assert_array_equal(numbers[[0, -1]], points[:: len(points) - 1])
    assert path.get("d").count("Q") == 2
    bends = re.findall(r"L([\d. ]+)Q([\d. ]+)", path.get("d"))
    points = np.array(points, float)
    for number, (start, bend) in enumerate(bends, 1):
        middle, end = np.array(bend.split(), float).reshape(2, 2)
        np.testing.assert_array_equal(middle, points[number])
        for side, other in ((np.array(start.split(), float), -1), (end, 1)):
            piece = np.linalg.norm(points[number + other] - middle)
            assert np.linalg.norm(side - middle) == min(6, piece / 2)


def test_maths_is_raised_and_lowered_and_words_are_escaped():
    drawing = Drawing(360)
    drawing.text(0, 10, "W_Q", maths=True, concept="q")
    drawing.text(0, 30, "K^T", maths=True)
    drawing.text(0, 50, "a < b & c", muted=True, strong=True)
    one, two, three = elements(drawing).iter("text")
    assert [float(piece.get("dy")) > 0 for piece in (one[0][0], two[0][0])] == [True, False]
    assert "".join(one.itertext()) == "WQ"
    assert "".join(two.itertext()) == "KT"
    assert three.text == "a < b & c"
    assert (three.get("class"), three.get("font-weight")) == ("muted", "650")


def test_the_whole_has_a_size_and_a_name():
    svg = ElementTree.fromstring(Drawing(360).svg(123.4, label='What "it" shows'))
    assert svg.get("viewBox") == "0 0 360 123.4"
    assert svg.get("style") == "width:360px"
    assert (svg.get("role"), svg.get("aria-label")) == ("img", 'What "it" shows')
    assert elements(Drawing(360)).get("role") is None  # words stand around it


def test_every_class_of_the_parts_has_a_style():
    drawing = matrix(hidden=VALUES < -1, digits=1)
    drawing.tokens(0, 0, ["[END]", "a"], width=40, height=20, chosen=1)
    drawing.box(0, 0, 40, 20, "b", lit=True)
    drawing.wire([(0, 0), (9, 0)], arrow=True, strong=True)
    drawing.plus(9, 9, "q")
    drawing.bracket(0, 0, 40, "all")
    drawing.text(0, 0, "x_i", maths=True, concept="k")
    style = sheet()
    used = {kind for e in elements(drawing).iter() for kind in e.get("class", "").split()}
    assert len(used) > 15
    # The arrow's head is what its concept fills, and nothing else.
    assert {kind for kind in used if not re.search(rf"\.{kind}\b", style)} <= {"head"}


def test_colours_are_names_and_never_numbers():
    drawing = matrix(digits=1)
    drawing.box(0, 0, 40, 20, "b", "v", lit=True)
    assert not re.search(r"#[0-9a-fA-F]{3,8}\b|rgb", drawing.svg(100))
    css = sheet()
    names = set(re.findall(r"var\(--([\w-]+)", css + PATTERNS))
    assert names - {"maths"} <= set(TOKENS)
    of_concepts = {c + role for c in CONCEPTS for role in ("", "-line", "-ink")}
    of_series = {s + role for s in SERIES for role in ("-line", "-ink")}
    assert set(TOKENS) == set(GROUND) | of_concepts | of_series
    light = [colours[0] for colours in TOKENS.values()]
    assert len(set(light)) == len(light)  # a plot is drawn in light ones: each is one token


# --- the map ---


@pytest.fixture(params=list(maps.TOPICS))
def topic(request):
    return request.param


def drawn(topic):
    """The SVG of a map as a tree."""
    html = maps.chapter_map(topic).html
    return ElementTree.fromstring(re.search(r"<svg.*</svg>", html)[0])


def is_lit(link):
    """Whether a link of the map is drawn stronger than what is not meant."""
    kinds = [set(element.get("class", "").split()) for element in link.iter()]
    lit = any("strong" in kind or ("lit" in kind and "s-edge" not in kind) for kind in kinds)
    return lit or any(element.get("font-weight") for element in link.iter())


def test_the_map_lights_what_its_topic_names_and_says_so(topic):
    parts, sentence, side, words = maps.TOPICS[topic]
    made = maps.chapter_map(topic)
    svg = drawn(topic)
    spoken = {(maps.SPOKEN | dict(words)).get(name, name) for name in parts}
    seen = {link.get("aria-label") for link in svg.iter("a") if is_lit(link)}
    assert seen == spoken
    if not side:
        assert all(is_lit(a) == (a.get("aria-label") in spoken) for a in svg.iter("a"))
    named = [dict(words).get(name, name) for name in parts]
    assert svg.get("aria-label") == f"The Transformer. Lit: {', '.join(named)}."
    assert f"You are here: {topic}" in made.html
    assert sentence.split(",")[0] in made.html.replace("&#x27;", "'")
    assert made._repr_mimebundle_()["text/html"] == made.html
    assert topic in made._repr_mimebundle_()["text/plain"]


@pytest.mark.parametrize("side", ["left", "right"])
def test_where_there_is_one_stack_only_what_it_has_is_lit(side):
    links = list(drawn(f"the {side} stack alone").iter("a"))
    lit = [link for link in links if is_lit(link)]
    middle = {"left": maps.LEFT, "right": maps.RIGHT}[side]
    for link in lit:
        shapes = [*link.iter("rect"), *link.iter("circle")]
        lefts = [float(shape.get("x") or shape.get("cx")) for shape in shapes]
        assert all(abs(x - middle) < maps.BOX / 2 + 12 for x in lefts), link.get("aria-label")
    labels = [link.get("aria-label") for link in lit]
    assert labels.count("normalise") == 2  # of two sub-layers; the decoder's third has no part here
    assert labels.count("skip") == 4  # a wire and a plus of each
    assert "cross-attention" not in labels


def test_every_part_of_the_map_is_a_link_to_a_chapter(topic):
    links = list(drawn(topic).iter("a"))
    said = maps.SPOKEN | dict(maps.TOPICS[topic].words)
    parts = {said.get(name, name): chapter for name, (chapter, _) in maps.PARTS.items()}
    assert {link.get("aria-label") for link in links} == set(parts)
    for link in links:
        chapter = parts[link.get("aria-label")]
        assert link.get("href") == f"../{chapter}.ipynb"
        assert (BOOK / f"{chapter}.ipynb").is_file()
        assert "".join(link.itertext()) in link.get("aria-label")  # what is seen can be said
    assert drawn(topic).get("role") == "group"  # a picture may hold no links


def test_where_no_french_is_written_none_is_spoken_of():
    right = [a.get("aria-label") for a in drawn("the right stack alone").iter("a")]
    assert "next token" in right
    assert not any("French" in label for label in right)
    left = [a.get("aria-label") for a in drawn("the left stack alone").iter("a")]
    assert "what is read" in left
    assert "English" not in left


def test_on_colab_the_links_lead_to_colab(monkeypatch):
    monkeypatch.setitem(sys.modules, "google.colab", sys)
    links = [link.get("href") for link in drawn("masks").iter("a")]
    start = "https://colab.research.google.com/github/nlp104/nlp104/blob/main/book/"
    assert all(link.startswith(start) and link.endswith(".ipynb") for link in links)


def test_the_map_fits_a_phone_and_its_words_do_not_meet(topic):
    svg = drawn(topic)
    width, height = map(float, svg.get("viewBox").split()[2:])
    assert width <= 320
    words = []
    for text in svg.iter("text"):
        size, letters = float(text.get("font-size")), len("".join(text.itertext()))
        assert size * 288 / width > 11  # the column of a page that is 320 pixels wide
        x, y, half = float(text.get("x")), float(text.get("y")), LETTER * size * letters / 2
        start = x - half if text.get("text-anchor") == "middle" else x
        words.append((start, y - size / 2, start + 2 * half, y + size / 2, text))
        assert start >= 0
        assert start + 2 * half <= width + 5, "".join(text.itertext())  # what stands over is seen
        assert size / 2 <= y <= height - size / 2
    for one, other in combinations(words, 2):
        apart = one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]
        assert apart, ("".join(one[4].itertext()), "".join(other[4].itertext()))
    for rect in svg.iter("rect"):
        x0, y0, x1, y1 = place(rect)
        assert 0 <= x0 < x1 <= width
        assert 0 <= y0 < y1 <= height


def test_the_map_has_the_parts_of_the_transformer():
    svg = drawn("the whole")
    words = ["".join(text.itertext()) for text in svg.iter("text")]
    assert words.count("self-attention") == words.count("masked attention") == 1
    assert words.count("cross-attention") == 1
    assert words.count("feed-forward") == words.count("embedding") == words.count("N ×") == 2
    assert words.count("normalise") == 5  # one for each sub-layer
    places = {
        "".join(text.itertext()): float(text.get("y"))
        for text in svg.iter("text") if float(text.get("x")) > 200
    }  # fmt: skip
    upwards = ["French so far", "embedding", "+ positions", "masked attention", "cross-attention",
               "feed-forward", "linear, softmax", "next French word"]  # fmt: skip
    assert sorted(upwards, key=lambda name: -places[name]) == upwards


def test_an_unknown_topic_is_refused_in_words():
    with pytest.raises(ValueError, match=r"Expected one of the whole, .*\. Received: 'wings'\."):
        maps.chapter_map("wings")


def test_the_map_needs_nothing_else():
    html = maps.chapter_map("the whole").html
    assert not re.search(r"https?://|@import|<script|<img", html)
    assert len(html.encode()) < 30_000

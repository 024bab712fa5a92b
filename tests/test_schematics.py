"""Drawings of mechanisms: what keeps its place, what is lit, what is written, whether it fits."""

import re
from itertools import combinations, takewhile
from xml.etree import ElementTree

import numpy as np
import pytest
from browser import needs_browser
from keras import ops

from nlp104.attention.multi_head import MultiHeadAttention
from nlp104.attention.single_head import (
    AdditiveAttention,
    CrossAttention,
    DotProductAttention,
    ScaledDotProductAttention,
    SelfAttention,
)
from nlp104.figures import lookup, plots, recurrence, style, versions
from nlp104.figures.drawing import NARROW, WIDE, Drawing, Layouts
from nlp104.figures.language import CONCEPTS, TOKENS, sheet

VERSIONS = range(7)
DRAWINGS = {f"version {number}": versions.schematic(number) for number in VERSIONS} | {
    "encoder, decoder": recurrence.encoder_decoder(),
    "Bahdanau": recurrence.bahdanau(),
    "hard": lookup.hard(),
    "soft": lookup.soft(),
}
LETTER = 0.56  # width of a letter as a share of its height, roughly; a browser measures below


def tree(drawing, layout):
    """A layout of a drawing as a tree; whatever is no XML fails here."""
    return ElementTree.fromstring(getattr(drawing, layout))


def texts(svg):
    """What is written, as it is read."""
    return ["".join(text.itertext()) for text in svg.iter("text")]


def boxes(svg):
    """From the words of a box to its place and whether it is lit."""
    found, elements = {}, list(svg)
    for number, element in enumerate(elements):
        if element.get("class") == "box":
            names = ("x", "y", "width", "height")
            x, y, width, height = (float(element.get(name)) for name in names)
            rest = elements[number + 1 :]
            lit = rest[0].get("class", "").endswith(" lit")
            words = [
                "".join(text.itertext())
                for text in takewhile(lambda other: other.tag == "text", rest[lit:])
                if x <= float(text.get("x")) <= x + width
                and y <= float(text.get("y")) <= y + height
            ]
            found[" ".join(words)] = (x, y, width, height, lit)
    return found


def wires(svg):
    """Class and the points of each wire, corners included."""
    found = []
    for path in svg.iter("path"):
        if "wire" in path.get("class", ""):
            points = re.sub(
                r"L[-\d. ]+Q([-\d. ]+?) [-\d.]+ [-\d.]+(?=L|Q|$)", r"L\1", path.get("d")
            )
            # Relative pieces, as of a plus, are short and no places.
            numbers = re.findall(r"-?[\d.]+", re.sub(r"[hv]-?[\d.]+", "", points))
            found.append((path.get("class"), tuple(map(float, numbers))))
    return found


def tops_of_cells(path):
    """The upper edge of each cell, where a path is a matrix."""
    if "fill-opacity" not in path.get("style", ""):
        return []
    return [float(y) for y in re.findall(r"M[-\d.]+ ([-\d.]+)h", path.get("d"))]


def colours(svg):
    """The concepts that are seen, apart from grey."""
    kinds = {kind for element in svg.iter() for kind in element.get("class", "").split()}
    return {kind[-1] for kind in kinds if re.fullmatch(r"(f|s|f-t)-[qkvap]", kind)}


# --- the versions ---


def test_a_box_keeps_its_place_among_the_others_from_version_to_version(layout):
    all_places = {}
    for number in VERSIONS:
        found = boxes(tree(DRAWINGS[f"version {number}"], layout))
        level = found["softmax"][1]
        for words, (x, y, *size, _) in found.items():
            name = {"small network": "dot product", "÷ √dk": "÷ √d"}.get(words, words)
            all_places.setdefault(name, set()).add((x, y - level, *size))
    all_places.pop("")  # the frames of the heads
    inputs = all_places.pop(" ".join(versions.WORDS))
    assert len({place[1] for place in inputs}) == 2  # nearer, until there are projections
    assert len({(x, *size) for x, _, *size in inputs}) == 1
    parts = (
        "dot product",
        "÷ √d",
        "softmax",
        "weighted sum",
        "concatenate",
        "WQ",
        "WK",
        "WV",
        "WO",
    )
    assert set(all_places) == set(parts)
    for name, places in all_places.items():
        assert len(places) == 1, name


LIT = (
    ({"small network"}, "a"),
    ({"dot product"}, "a"),
    ({"÷ √d"}, "a"),
    (set(), "q"),
    ({"WK", "WV"}, "kv"),
    ({"WQ"}, "q"),
    ({"concatenate", "WO"}, "a"),
)


@pytest.mark.parametrize("number", VERSIONS)
def test_only_what_is_new_is_lit(layout, number):
    svg = tree(DRAWINGS[f"version {number}"], layout)
    new, concepts = LIT[number]
    assert {words for words, (*_, lit) in boxes(svg).items() if lit} == new
    assert colours(svg) == set(concepts)
    if number:  # what is new in the drawing, and what is named as new, is the same
        before = tree(DRAWINGS[f"version {number - 1}"], layout)
        fresh = set(boxes(svg)) - set(boxes(before)) - {"÷ √dk"}
        assert fresh - {""} == new


def test_no_version_is_taller_than_its_parts_need(layout):
    heights = []
    for number in VERSIONS:
        svg = tree(DRAWINGS[f"version {number}"], layout)
        heights.append(float(svg.get("viewBox").split()[3]))
        frames = [(y, y + height) for _, y, _, height, _ in boxes(svg).values()]
        tops = [y for path in svg.iter("path") for y in tops_of_cells(path)]
        assert min(tops) < 30  # the output
        assert heights[-1] - max(bottom for _, bottom in frames) < 10  # the inputs
    assert heights[0] == heights[3] < heights[4] == heights[5] < heights[6]


@pytest.mark.parametrize("number", VERSIONS)
def test_wires_of_before_are_grey_and_new_ones_have_the_colour_of_what_they_carry(layout, number):
    """Ends move where a matrix grows; so what counts is the lane."""
    svg = tree(DRAWINGS[f"version {number}"], layout)
    lit = [kind.split()[1] for kind, _ in wires(svg) if "s-edge" not in kind]
    expected = ([], [], [], [], ["s-k"] * 3 + ["s-v"] * 3, ["s-q"] * 2, ["s-a"] + ["s-r"] * 2)
    assert sorted(lit) == expected[number]


def test_wires_lead_from_part_to_part(layout):
    for number in VERSIONS:
        svg = tree(DRAWINGS[f"version {number}"], layout)
        places = [place for words, (*place, _) in boxes(svg).items() if words]
        found = wires(svg)
        assert len(found) == (6, 6, 7, 7, 11, 13, 15)[number] + 1
        for x, y, width, height in places:
            ends = [
                (a, b)
                for _, points in found
                for a, b in (points[:2], points[-2:])
                if x - 0.1 <= a <= x + width + 0.1 and y - 0.1 <= b <= y + height + 0.1
            ]
            assert len(ends) >= 2  # something arrives, something leaves
            for a, b in ends:  # at the edge, not inside
                assert min(abs(a - x), abs(a - x - width), abs(b - y), abs(b - y - height)) < 0.1


def shapes_of_layers():
    """The shape of the weights and of the output of each version, by its layer."""
    n, n_q, d, d_q, d_k, heads = 7, 3, 16, 5, 6, 2
    X = np.ones((1, n, d), "float32")
    asked = np.ones((1, n_q, d), "float32")
    names = {n: "n", n_q: "nQ", d: "d", d_k: "dk", heads: "h"}
    calls = (
        (AdditiveAttention(4), (np.ones((1, d_q), "float32"), X)),
        (DotProductAttention(), (asked[:, 0], X)),
        (ScaledDotProductAttention(), (asked[:, 0], X)),
        (ScaledDotProductAttention(), (asked, X)),
        (CrossAttention(d_k), (asked[..., :d_k], X)),
        (SelfAttention(d_k), (X,)),
        (MultiHeadAttention(heads, d_k), (X, X)),
    )
    for layer, arguments in calls:
        output, weights = layer(*arguments, return_attention_scores=True)
        found = []
        for array in (weights, output):
            sizes = ops.convert_to_numpy(array).shape[1:]
            found.append(f"[{', '.join(names[size] for size in sizes if size != heads)}]")
        yield found


def test_shapes_are_those_of_the_layers(layout):
    for number, (weights, output) in enumerate(shapes_of_layers()):
        written = texts(tree(DRAWINGS[f"version {number}"], layout))
        letters = "qay" if number < 3 else "QAY"
        shown = {}
        for letter in letters:
            shown[letter] = written[written.index(letter) + 1]
        output = output.replace("dk", "dv")
        assert (shown[letters[1]], shown[letters[2]]) == (weights, output)
        queries = ("[dq]", "[d]", "[d]", "[nQ, d]", "[nQ, dk]", "[n, dk]", "[n, dk]")
        assert shown[letters[0]] == queries[number]
        assert "[n, d]" in written  # X
        kept = [text for text in written if text in ("K", "V")]
        assert kept == (["K", "V"] if number > 3 else [])
    assert "[n, h dv]" in written


def test_rows_of_matrices_are_queries_and_words(layout):
    rows = {}
    for number in VERSIONS:
        svg = tree(DRAWINGS[f"version {number}"], layout)
        cells = [p for p in svg.iter("path") if "fill-opacity" in p.get("style", "")]
        rows[number] = sorted(len(set(tops_of_cells(path))) for path in cells)
    assert rows[0] == rows[1] == rows[2] == [1, 1, 1, 5]  # q, a, y and X
    assert rows[3] == [2, 2, 2, 5]
    assert rows[4] == [2, 2, 2, 5, 5, 5]
    assert rows[5] == rows[6] == [5] * 6


def test_queries_come_from_outside_until_they_come_from_x(layout):
    for number in VERSIONS:
        written = texts(tree(DRAWINGS[f"version {number}"], layout))
        assert ("from outside" in written) == (number < 5)


@pytest.mark.parametrize("number", [-1, 7, 2.5, "2", None])
def test_a_version_that_there_is_not_is_refused(number):
    message = f"Expected a version from 0 to 6. Received: {number!r}."
    with pytest.raises(ValueError, match=re.escape(message)):
        versions.schematic(number)


# --- recurrence ---


def test_both_recurrent_machines_have_one_layout(layout):
    one, other = (tree(DRAWINGS[name], layout) for name in ("encoder, decoder", "Bahdanau"))
    places, kept = boxes(one), boxes(other)
    states = [f"{letter}{number}" for letter in "hs" for number in range(1, 5)]
    for name in states:
        x, y, *size = kept[name][:4]
        closer = recurrence.CLOSER if name[0] == "h" else 0  # nothing is compared in between
        assert places[name][:4] == (x, y - closer, *size)
    assert places[""][:4] == kept[""][:4]  # the vector
    assert [name for name in states if places[name][4]] == []
    assert [name for name in states if kept[name][4]] == ["h1", "h2", "h3", "h4", "s2"]
    assert places[""][4]
    assert colours(one) == set()
    assert colours(other) == {"q", "a"}
    for svg in (one, other):
        words = texts(svg)
        for sentence in (recurrence.SOURCE, recurrence.TARGET):
            assert [word for word in words if word in sentence] == list(sentence)


def test_one_wire_leaves_the_encoder_without_attention_and_four_with_it(layout):
    for name, count in (("encoder, decoder", 1), ("Bahdanau", 4)):
        svg = tree(DRAWINGS[name], layout)
        tops = {
            (x + width / 2, y)
            for words, (x, y, width, _, _) in boxes(svg).items()
            if re.fullmatch(r"h\d", words)
        }
        assert sum(points[:2] in tops for _, points in wires(svg)) == count


def test_the_weights_are_the_softmax_of_the_scores_and_ribbons_as_wide(layout):
    svg = tree(DRAWINGS["Bahdanau"], layout)
    powers = np.exp(recurrence.SCORES)
    expected = powers / powers.sum()
    shown = [float(text) for text in texts(svg) if re.fullmatch(r"\d\.\d\d", text)]
    np.testing.assert_allclose(shown, expected, atol=0.00501)
    assert np.argmax(shown) == recurrence.SOURCE.index("black")  # for noir, which comes next
    assert recurrence.TARGET[recurrence.WRITTEN] == "noir"
    wide = [
        float(re.search(r"stroke-width:([\d.]+)", path.get("style"))[1])
        for path in svg.iter("path")
        if "stroke-width" in path.get("style", "")
    ]
    np.testing.assert_allclose(wide, 1 + 15 * expected, atol=0.0501)


# --- the look-up ---


def films(svg):
    """The pictures, as the strengths of their dots: one for each film, then what comes back."""
    found, started = [], False
    for element in svg:
        kind = element.get("class", "")
        if kind.startswith("outline"):
            found.append([])
            started = True
        elif kind.startswith("base") and started:
            found[-1].append(0.0)
        elif kind == "f-v":
            strength = float(re.search(r"cap\)\*\(?([\d.]+)", element.get("style"))[1])
            found[-1][-1] = ((strength - 0.07) / 0.93) ** (1 / 0.85)
        elif element.tag != "rect":
            started = False
    return np.array([film[:30] for film in found]).reshape(-1, 5, 6)


@pytest.mark.parametrize("name", ["hard", "soft"])
def test_what_comes_back_is_the_sum_of_films_by_their_weights(layout, name):
    svg = tree(DRAWINGS[name], layout)
    scores = np.array([2.0, 1.0, 1.0, 0.0])  # counted by hand
    weights = np.exp(scores) / np.exp(scores).sum() if name == "soft" else np.eye(4)[0]
    written = texts(svg)
    shown = [float(text) for text in written if re.fullmatch(r"\d\.\d\d", text)]
    np.testing.assert_allclose(shown, weights, atol=0.00501)
    assert [text for text in written if re.fullmatch(r"\d", text)] == ["2", "1", "1", "0"]
    *pictures, blend = films(svg)
    np.testing.assert_allclose(pictures, lookup.VALUES, atol=1e-3)
    np.testing.assert_allclose(blend, np.tensordot(weights, lookup.VALUES, 1), atol=2e-3)
    lit = [words for words, (*_, lit) in boxes(svg).items() if lit]
    titles = list(lookup.FILMS)
    assert lit == [*(titles if name == "soft" else titles[:1]), lookup.QUERY]


def test_both_look_ups_have_one_layout(layout):
    one, other = (boxes(tree(DRAWINGS[name], layout)) for name in ("hard", "soft"))
    assert {words: place[:4] for words, place in one.items()} == {
        words: place[:4] for words, place in other.items()
    }


# --- all of them ---


def extent(text):
    """Where words are, roughly: left, upper, right and lower edge."""
    size, words = float(text.get("font-size")), "".join(text.itertext())
    maths = any(piece.get("class") == "maths" for piece in text)
    wide = (0.5 if maths else LETTER) * size * len(words)
    x, y = float(text.get("x")), float(text.get("y"))
    left = x - wide * {"middle": 0.5, "end": 1.0, None: 0.0}[text.get("text-anchor")]
    return left, y - size / 2, left + wide, y + size / 2


def assert_readable(drawing, layout):
    """Letters are large, everything is inside, and no words meet."""
    svg = tree(drawing, layout)
    width, height = map(float, svg.get("viewBox").split()[2:])
    assert width == {"wide": WIDE, "narrow": NARROW}[layout] <= {"wide": 700, "narrow": 358}[layout]
    column = {"wide": 560, "narrow": 288}[layout]  # the narrowest that this layout is shown in
    places = []
    for text in svg.iter("text"):
        sizes = [float(piece.get("font-size", 99)) for piece in text.iter()]
        assert min(sizes) * column / width >= 12, "".join(text.itertext())
        left, top, right, bottom = extent(text)
        assert left >= -2, "".join(text.itertext())
        assert right <= width + 2, "".join(text.itertext())
        assert top >= 0
        assert bottom <= height
        places.append((left, top + 2, right, bottom - 2, "".join(text.itertext())))
    for one, other in combinations(places, 2):
        apart = one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]
        assert apart, (one[4], other[4])
    for rect in svg.iter("rect"):
        x, y, wide, high = (float(rect.get(key)) for key in ("x", "y", "width", "height"))
        assert 0 <= x < x + wide <= width
        assert 0 <= y < y + high <= height
    for _, points in wires(svg):
        assert all(0 <= x <= width for x in points[::2])
        assert all(0 <= y <= height for y in points[1::2])


def assert_colours(drawing, layout, most=30_000):
    """Every colour is a token, every class is in the sheet, and it has at most so many bytes."""
    svg = getattr(drawing, layout)
    assert not re.search(r"#[0-9a-fA-F]{3,8}\b|rgb|url\(", svg)
    assert set(re.findall(r"var\(--([\w-]+)", svg)) <= set(TOKENS)
    css = sheet()
    used = {kind for e in ElementTree.fromstring(svg).iter() for kind in e.get("class", "").split()}
    assert {kind for kind in used if not re.search(rf"\.{kind}\b", css)} <= {"head"}
    assert len(svg.encode()) < most


@pytest.mark.parametrize("name", DRAWINGS)
def test_letters_are_large_and_inside_and_do_not_meet(layout, name):
    assert_readable(DRAWINGS[name], layout)


@pytest.mark.parametrize("name", DRAWINGS)
def test_colours_are_those_of_the_page(layout, name):
    assert_colours(DRAWINGS[name], layout)


def test_show_displays_both_layouts_with_the_same_words(monkeypatch):
    shown = []
    monkeypatch.setattr(
        "IPython.display.display", lambda *args, **kwargs: shown.append((args, kwargs))
    )
    plots.show(DRAWINGS["version 2"], alt='Divided by "√d".')
    (((data,), options),) = shown
    assert options == {"raw": True}
    assert data["text/plain"] == 'Divided by "√d".'
    page = data["text/html"]
    about = re.findall(r'class="(wide|narrow)" role="img" aria-label="([^"]*)"', page)
    assert about == [(layout, "Divided by &quot;√d&quot;.") for layout in Layouts._fields]
    assert page.count("nlp104-hatch") >= 1  # the pattern, should something be hidden
    with pytest.raises(ValueError, match="alt must say in words"):
        plots.show(DRAWINGS["soft"], alt=" ")


@needs_browser
def test_a_page_shows_one_layout_whose_letters_fit(window, tmp_path):
    figures = "".join(style.to_html(drawing, name) for name, drawing in DRAWINGS.items())
    path = tmp_path / "page.html"
    path.write_text(
        '<!doctype html><meta charset="utf-8"><meta name="viewport" '
        f'content="width=device-width"><style>body {{ margin: 16px }}</style>{figures}',
        encoding="utf-8",
    )
    look = """[...document.querySelectorAll('.still')].map((figure) => {
      const seen = [...figure.querySelectorAll('svg[role=img]')].filter((s) => s.checkVisibility());
      const { left, right, width } = seen[0].getBoundingClientRect();
      const scale = width / seen[0].viewBox.baseVal.width;
      const pieces = [...seen[0].querySelectorAll('text, tspan')];
      return [seen.map((svg) => svg.getAttribute('class')).join(),
        Math.min(...pieces.map((p) => scale * parseFloat(getComputedStyle(p).fontSize))) >= 12,
        pieces.filter((p) => p.tagName === 'text').map((p) => p.getBoundingClientRect())
          .every((box) => left - 1 <= box.left && box.right <= right + 1)];
    })"""
    for width, layout in ((1280, "wide"), (592, "wide"), (591, "narrow"), (320, "narrow")):
        window.open(path, width=width)
        window.rest()
        assert window.evaluate(look) == [[layout, True, True]] * len(DRAWINGS)
        across = "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
        assert window.evaluate(across)
    assert window.complaints == []


# --- the parts that they are made of ---


def test_words_after_an_index_stand_on_the_line_again():
    drawing = Drawing(360)
    drawing.text(0, 10, "n_Q × d_k^2 + 1", maths=True)
    (text,) = ElementTree.fromstring(drawing.svg(20)).iter("text")
    height, heights = 0.0, []
    for piece in text.iter("tspan"):
        height += float(piece.get("dy", 0))
        heights.append((piece.text, height))
    expected = [("n", 0), ("Q", 4), (" × d", 0), ("k", 4), ("2", -6), (" + 1", 0)]
    assert heights == expected
    assert "".join(text.itertext()) == "nQ × dk2 + 1"


def test_words_of_a_box_stand_in_lines_around_its_middle():
    drawing = Drawing(360)
    drawing.box(10, 20, 100, 60, "weighted\nsum", size=14)
    one, two = ElementTree.fromstring(drawing.svg(100)).iter("text")
    assert (one.text, two.text) == ("weighted", "sum")
    heights = [float(text.get("y")) for text in (one, two)]
    assert np.mean(heights) == 50
    assert heights[1] - heights[0] == pytest.approx(17.5)


def test_a_grid_is_equal_cells_of_one_colour():
    drawing = Drawing(360)
    drawing.grid(10, 20, 2, 3, "q", width=12, height=16, strength=0.5)
    (path,) = ElementTree.fromstring(drawing.svg(100)).iter("path")
    corners = re.findall(r"M(\d+) (\d+)h10v14h-10z", path.get("d"))
    assert corners == [(str(11 + 12 * j), str(21 + 16 * i)) for i in range(2) for j in range(3)]
    assert path.get("class") == "f-q"


def test_a_heading_breaks_its_sentence():
    drawing = Drawing(360)
    drawing.heading("Title", "a sentence of several words", 12, 14)
    title, *lines = ElementTree.fromstring(drawing.svg(100)).iter("text")
    assert (title.text, title.get("font-weight")) == ("Title", "650")
    assert [line.text for line in lines] == ["a sentence", "of several", "words"]
    assert np.diff([float(line.get("y")) for line in lines]) == pytest.approx(18.2)


def test_an_arrow_has_the_colour_of_its_wire():
    for concept in CONCEPTS:
        drawing = Drawing(360)
        drawing.wire([(0, 0), (9, 0)], concept, arrow=True)
        _, head = ElementTree.fromstring(drawing.svg(10)).iter("path")
        assert head.get("style") == f"fill:var(--{concept}-line)"

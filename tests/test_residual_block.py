"""The residual block, the two orders of its norm and the cube of a batch, as drawings."""

import re

import numpy as np
import pytest
from test_schematics import assert_colours, boxes, colours, extent, texts, tree, wires

from nlp104.figures import norm_cube, residual_block
from nlp104.figures.drawing import NARROW, WIDE

CUBES = {norm: norm_cube.cube(norm) for norm in norm_cube.SHARES}
DRAWINGS = {"block": residual_block.block(), "orders": residual_block.orders(), **CUBES}
DRAWINGS["gradient"] = residual_block.gradient()


# --- the drawings ---


def test_the_sum_is_the_word_and_its_change(layout):
    numbers = [
        float(text.replace("−", "-"))
        for text in texts(tree(DRAWINGS["block"], layout))
        if re.fullmatch(r"−?\d\.\d", text)
    ]
    plain, wire = np.array(numbers).reshape(2, 3, 3)  # y, f(x), x from above
    np.testing.assert_array_equal(plain[0], plain[1])
    np.testing.assert_allclose(wire[0], wire[1] + wire[2], atol=1e-9)
    np.testing.assert_array_equal(plain[1:], wire[1:])


def test_the_cosines_are_those_of_the_vectors(layout):
    written = " ".join(texts(tree(DRAWINGS["block"], layout)))
    x, change = residual_block.X, residual_block.CHANGE
    for y, found in zip(
        (change, x + change), re.findall(r"cosine\D+(\d\.\d\d)", written), strict=True
    ):
        expected = np.dot(x, y) / np.sqrt(np.dot(x, x) * np.dot(y, y))
        assert float(found) == pytest.approx(expected, abs=0.00501)


def test_the_gradient_below_is_a_copy_and_what_came_through(layout):
    written = texts(tree(DRAWINGS["gradient"], layout))
    numbers = [float(t.replace("−", "-")) for t in written if re.fullmatch(r"−?\d\.\d", t)]
    plain, wire = np.array(numbers).reshape(2, 3, 3)  # g, Jᵀg, below, from above
    np.testing.assert_array_equal(plain[1], plain[2])
    np.testing.assert_allclose(wire[2], wire[0] + wire[1], atol=1e-9)
    np.testing.assert_array_equal(plain[:2], wire[:2])
    lengths = [float(t.removeprefix("length ")) for t in written if t.startswith("length")]
    expected = [np.linalg.norm(plain[2]), np.linalg.norm(wire[2])]
    assert lengths == pytest.approx(expected, abs=0.00501)


def test_one_strong_wire_leads_around_the_box(layout):
    strong = [points for kind, points in wires(tree(DRAWINGS["block"], layout)) if "strong" in kind]
    around = max(strong, key=len)
    places = boxes(tree(DRAWINGS["block"], layout))
    assert len(strong) == 2  # around, and from the sum to y
    x, y, width, height, _ = places["sub-layer f"]  # of the right half: it is drawn last
    assert max(around[::2]) > x + width
    assert around[1] > y + height
    assert around[-1] < y


def test_only_the_norms_of_both_orders_are_lit(layout):
    svg = tree(DRAWINGS["orders"], layout)
    written = texts(svg)
    assert (written.count("norm"), written.count("last norm")) == (4, 1)
    assert {words for words, (*_, lit) in boxes(svg).items() if lit} == {"norm", "last norm"}
    for formula in ("y = LN(x + f(x))", "y = x + f(LN(x))"):
        assert formula in written


def places_of(svg, names):
    """Middle, upper and lower edge of all boxes with these words."""
    elements = list(svg)
    for number, element in enumerate(elements):
        if element.get("class") == "box":
            words = next(e for e in elements[number:] if e.tag == "text").text
            if words in names:
                x, y, w, h = (float(element.get(k)) for k in ("x", "y", "width", "height"))
                yield x + w / 2, y, y + h


def test_in_pre_norm_no_norm_but_the_last_stands_on_the_wire(layout):
    svg = tree(DRAWINGS["orders"], layout)
    half = {"wide": WIDE, "narrow": NARROW}[layout] / 2
    strong = [points for kind, points in wires(svg) if "strong" in kind]

    def on_the_wire(middle, top, bottom):
        ends = [points[i : i + 2] for points in strong for i in (0, len(points) - 2)]
        return (middle, bottom) in ends and any(x == middle and abs(y - top) < 0.1 for x, y in ends)

    found = [(place[0] > half, on_the_wire(*place)) for place in places_of(svg, {"norm"})]
    assert sorted(found) == [(False, True)] * 2 + [(True, False)] * 2
    (last,) = places_of(svg, {"last norm"})
    assert last[0] > half
    assert on_the_wire(*last)


def test_the_slice_of_batch_norm_has_padding_in_it_and_the_row_of_layer_norm_none(layout):
    framed, padding = [], []
    paths = [path for cube in CUBES.values() for path in tree(cube, layout).iter("path")]
    for path in paths:
        cells = {cell for cell in path.get("d").split("z") if cell}
        if path.get("class") == "outline s-r":
            framed.append(cells)
        elif path.get("class") in ("hatch", "hatch leak"):
            padding.append(cells)
    row, piece = framed
    assert len(row) == 7  # six features, and the last of them from the side
    assert len(piece) == 6 + 4 + 4 * 6
    unseen, counted = padding
    assert not row & unseen
    assert counted == unseen <= piece  # all padding that can be seen
    assert len(counted) == sum(6 - n for n in norm_cube.SENTENCES)


@pytest.mark.parametrize("name", DRAWINGS)
def test_letters_are_large_and_inside(layout, name):
    svg = tree(DRAWINGS[name], layout)
    width, height = map(float, svg.get("viewBox").split()[2:])
    assert width == {"wide": WIDE, "narrow": NARROW}[layout]
    column = {"wide": 560, "narrow": 288}[layout]
    for text in svg.iter("text"):
        sizes = [float(piece.get("font-size", 99)) for piece in text.iter()]
        assert min(sizes) * column / width >= 12
        if not text.get("transform"):
            left, top, right, bottom = extent(text)
            assert -2 <= left < right <= width + 2, "".join(text.itertext())
            assert 0 <= top < bottom <= height, "".join(text.itertext())
    lines = [points for kind, points in wires(svg) if kind != "wire s-r"]  # that is a plus sign
    for points in lines:
        assert all(0 <= x <= width for x in points[::2])
        assert all(0 <= y <= height for y in points[1::2])


@pytest.mark.parametrize("name", DRAWINGS)
def test_colours_are_those_of_the_page_and_grey(layout, name):
    assert_colours(DRAWINGS[name], layout)
    assert colours(tree(DRAWINGS[name], layout)) == set()


def test_an_unknown_norm_is_refused():
    with pytest.raises(ValueError, match="`norm` must be one of layer norm, batch norm"):
        norm_cube.cube("group norm")

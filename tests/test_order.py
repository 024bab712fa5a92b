"""Drawings of order: the hands are the code, and each way tells the order in its own place."""

import re

import numpy as np
import pytest
from test_schematics import texts, tree

from nlp104.encoding import sinusoidal_positions
from nlp104.figures import order

NAMES = tuple(order.WAYS)


def hands(svg):
    """How far right and how far up each hand points, as shares of its length."""
    found = []
    for path in svg.iter("path"):
        if "hand" in path.get("class", "").split():
            x, y, right, down = map(float, re.findall(r"-?[\d.]+", path.get("d")))
            found.append((right - x, y - down))
    return np.array(found) / np.linalg.norm(found, axis=1, keepdims=True)


def test_hands_and_numbers_are_the_code_of_the_robot(layout):
    svg = tree(order.clocks(), layout)
    code = sinusoidal_positions(4, 4, base=100)
    np.testing.assert_allclose(hands(svg), code.reshape(-1, 2), atol=2e-3)
    numbers = [t.replace("−", "-") for t in texts(svg) if re.fullmatch(r"−?\d\.\d\d", t)]
    assert numbers == [f"{value:.2f}" for value in code.ravel()]
    assert [word for word in texts(svg) if word in order.TOKENS] == ["I", "am", "a", "robot"]


def test_arcs_begin_at_the_top_and_run_clockwise_to_the_hand(layout):
    svg = tree(order.clocks(), layout)
    arcs = [path.get("d") for path in svg.iter("path") if "A" in path.get("d")]
    ends = []
    for arc in arcs:
        x, y, radius, _, _, large, clockwise, right, down = map(float, re.findall(r"-?[\d.]+", arc))
        assert (large, clockwise) == (0, 1)  # none of them is beyond half a turn
        ends.append(((right - x) / radius, (y + radius - down) / radius))
    moved = hands(svg)[2:]  # those of position 0 have not turned
    np.testing.assert_allclose(ends, moved, atol=2e-3)


@pytest.mark.parametrize(("name", "clocks"), zip(NAMES, (0, 3, 6), strict=True))
def test_a_way_has_its_clocks_and_its_plus_signs(layout, name, clocks):
    svg = tree(order.ways(name), layout)
    turned = np.stack([np.sin(range(3)), np.cos(range(3))], axis=-1)
    found = hands(svg) if clocks else np.empty((0, 2))
    np.testing.assert_allclose(found, np.tile(turned, (clocks // 3, 1)), atol=2e-3)
    nodes = [circle for circle in svg.iter("circle") if "lit" in circle.get("class").split()]
    assert len(nodes) == (3 if name == "added" else 0)
    states = [text for text in texts(svg) if re.fullmatch(r"h\d", text)]
    assert states == (["h1", "h2", "h3"] if name == "recurrence" else [])
    for word in (*order.WORDS, "queries", "keys", "values", order.WAYS[name][0]):
        assert texts(svg).count(word) == 1


def test_ways_stand_in_the_order_asked_for_and_nothing_leaves_the_picture(layout):
    for drawing in (order.clocks(), order.ways("turned", "added")):
        svg = tree(drawing, layout)
        _, _, width, height = map(float, svg.get("viewBox").split())
        for part in svg.iter("rect"):
            x, y, wide, high = (float(part.get(name)) for name in ("x", "y", "width", "height"))
            assert x >= 0
            assert y >= 0
            assert x + wide <= width
            assert y + high <= height
        for text in svg.iter("text"):
            middle = text.get("text-anchor") == "middle"
            wide = 0.56 * float(text.get("font-size")) * len("".join(text.itertext()))
            left = float(text.get("x")) - middle * wide / 2
            assert left >= -1
            assert left + wide <= width + 1
            assert float(text.get("font-size")) >= (11 if layout == "wide" else 13)
    written = texts(svg)
    assert written.index(order.WAYS["turned"][0]) < written.index(order.WAYS["added"][0])


@pytest.mark.parametrize("name", ["clock", "", None])
def test_a_way_that_there_is_not_is_refused(name):
    with pytest.raises(ValueError, match="Expected names from: recurrence, added, turned"):
        order.ways("added", name)

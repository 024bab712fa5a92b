"""Drawings of the feed-forward network and of three mixers show what the layers compute."""

import re

import numpy as np
import pytest
from keras import ops
from test_schematics import assert_colours, assert_readable, boxes, texts, tree, wires

from nlp104.figures import within_between
from nlp104.transformer.feed_forward import FeedForward

DRAWINGS = {
    "gather and decide": within_between.gather_and_decide(),
    "network": within_between.network(),
    "mixers": within_between.mixers(),
}


# --- the network ---


def rows_of_cells(svg):
    """From its height, each row of cells: left edge and whether it is empty, full or outlined."""
    rows, elements = {}, list(svg)
    for number, element in enumerate(elements):
        if element.get("class", "").startswith("base") and element.tag == "rect":
            after = elements[number + 1]
            drawn = after.tag == "rect" and re.fullmatch(r"[fs]-r", after.get("class", ""))
            kind = after.get("class")[0] if drawn else "empty"
            height = round(float(element.get("y")))
            rows.setdefault(height, []).append((float(element.get("x")), kind))
    return [rows[height] for height in sorted(rows)]


def test_the_cells_are_those_of_the_layer(layout):
    x, *weights = within_between.weights()
    layer = FeedForward(within_between.D, within_between.D_FF)
    layer.build(x.shape)
    layer.set_weights(weights)
    expected = [ops.convert_to_numpy(values) for values in (layer(x), layer.expand(x), x)]
    rows = rows_of_cells(tree(DRAWINGS["network"], layout))
    assert len(rows) == 3
    for row, values in zip(rows, expected, strict=True):
        signs = [{"empty": 0, "f": 1, "s": -1}[kind] for _, kind in sorted(row)]
        assert signs == np.sign(values).ravel().tolist()
    zeros = np.mean(expected[1] == 0)
    assert 0.3 < zeros < 0.7  # the ReLU is seen


def test_inside_it_is_four_times_as_wide_as_the_paper_says(layout):
    out, inside, x = rows_of_cells(tree(DRAWINGS["network"], layout))
    assert len(inside) == 4 * len(x) == 4 * len(out)
    written = " ".join(texts(tree(DRAWINGS["network"], layout)))
    narrow, wide = (int(number.replace(",", "")) for number in within_between.SIZES.values())
    assert (narrow, wide) == (512, 4 * 512)
    for number in within_between.SIZES.values():
        assert number in written


def test_every_token_has_the_same_network_and_no_wire_leads_to_another(layout):
    svg = tree(DRAWINGS["network"], layout)
    words = within_between.WORDS
    written = texts(svg)
    assert [text for text in written if text in words] == list(words)
    assert written.count("W1") == written.count("W2") == len(words)
    assert len(wires(svg)) == len(words)
    for _, points in wires(svg):
        assert points[0] == points[2]  # straight up
    shapes = set()
    for path in svg.iter("path"):
        if path.get("class") in ("f-r s-r", "base s-line"):
            points = np.array(re.findall(r"[\d.]+", path.get("d")), float).reshape(-1, 2)
            shapes.add(tuple((points - points.mean(axis=0)).round(1).ravel()))
    assert len(shapes) == 2  # W_1 and W_2


# --- gather and decide ---


def test_what_is_gathered_is_what_is_written(layout):
    svg = tree(DRAWINGS["gather and decide"], layout)
    line = within_between.LINE
    assert tuple(text for text in texts(svg) if text in {*line}) == line
    gathered = [path for path in svg.iter("path") if path.get("class") == "s-a"]
    assert len(gathered) == len(line) - 1
    ends = {tuple(path.get("d").split()[-2:]) for path in gathered}
    assert len(ends) == 1  # all to one place
    lit = [words for words, (*_, lit) in boxes(svg).items() if lit]
    name = {"wide": "feed-forward network", "narrow": "feed-forward"}[layout]
    assert lit == ["4 of 6 are “not”", name]
    assert line.count("not") == 4
    assert "even: as it was" in texts(svg)


# --- the mixers ---


def test_lines_are_as_wide_as_the_weights_and_their_sources_differ(layout):
    svg = tree(DRAWINGS["mixers"], layout)
    n = len(within_between.WORDS)
    wide = [
        float(re.search(r"stroke-width:([\d.]+)", path.get("style"))[1])
        for path in svg.iter("path")
    ]
    assert len(wide) == n * n + (3 * n - 2) + n * n
    linear, convolution, attention = wide[: n * n], wide[n * n : -n * n], wide[-n * n :]
    assert len({*linear}) > 10
    assert len({*convolution}) == 3  # the same everywhere
    weights = within_between.mixing("attention")
    np.testing.assert_allclose(weights.sum(axis=1), 1)
    np.testing.assert_allclose(
        sorted(attention), sorted(8 * weights.ravel() / weights.max()), atol=0.051
    )
    assert texts(svg).count("attention") == 1


# --- all of them ---


@pytest.mark.parametrize("name", DRAWINGS)
def test_letters_are_large_and_inside_and_do_not_meet(layout, name):
    assert_readable(DRAWINGS[name], layout)


@pytest.mark.parametrize("name", DRAWINGS)
def test_colours_are_those_of_the_page(layout, name):
    assert_colours(DRAWINGS[name], layout, most=40_000)

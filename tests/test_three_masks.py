"""The drawing of the three masks: its hatched cells are those the package's masks forbid."""

import numpy as np
import pytest
from keras import ops
from test_schematics import assert_colours, assert_readable, texts, tree

from nlp104.attention import causal_mask, padding_mask
from nlp104.figures import three_masks
from nlp104.figures.three_masks import ACROSS, DECODER, ENCODER


@pytest.mark.parametrize("attention", [ENCODER, DECODER, ACROSS], ids=lambda one: one.name)
def test_what_is_hidden_is_what_the_package_hides(attention):
    ids = np.array([[token != "[PAD]" for token in attention.keys]], "int32")
    allowed = ops.convert_to_numpy(padding_mask(ids))
    if attention.causal:
        allowed = allowed & ops.convert_to_numpy(causal_mask(len(attention.keys)))
    shape = len(attention.queries), len(attention.keys)
    allowed = np.broadcast_to(allowed, shape)
    np.testing.assert_array_equal(attention.hidden(), ~allowed)


def test_the_looks_are_drawn_beside_their_words(layout):
    svg = tree(three_masks.three_masks(), layout)
    marks = [(float(r.get("y")), r.get("class").split()[0]) for r in svg.iter("rect")]
    heights = {float(t.get("y")): "".join(t.itertext()) for t in svg.iter("text")}
    rows = {}
    for y, kind in marks:
        if kind in ("hatch", "f-a"):
            middle = y + three_masks.ROW / 2 - 1
            rows.setdefault(middle, []).append(kind)
    assert set(rows) <= set(heights)  # each has a word at its height, the legend's too
    seen = sum(kinds.count("f-a") for kinds in rows.values()) - 1
    hidden = sum(kinds.count("hatch") for kinds in rows.values()) - 1
    assert (seen, hidden) == (12 + 14 + 15, 4 + 11 + 5)


def test_it_can_be_read_in_the_colours_of_the_page(layout):
    drawing = three_masks.three_masks()
    assert_readable(drawing, layout)
    assert_colours(drawing, layout)
    assert texts(tree(drawing, layout)).count("sleeps") == 3  # twice below a mask, once beside one

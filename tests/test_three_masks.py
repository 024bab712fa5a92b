"""The drawing of the three masks: its hatched cells are those the package's masks forbid."""

import numpy as np
import pytest
from keras import ops
from test_schematics import texts, tree

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


def test_nothing_leaves_the_picture_and_all_can_be_read(layout):
    svg = tree(three_masks.three_masks(), layout)
    _, _, width, height = map(float, svg.get("viewBox").split())
    for part in svg.iter("rect"):
        assert 0 <= float(part.get("x")) <= width - float(part.get("width"))
        assert 0 <= float(part.get("y")) <= height - float(part.get("height"))
    for text in svg.iter("text"):
        size = float(text.get("font-size"))
        wide = 0.56 * size * len("".join(text.itertext()))
        left = float(text.get("x")) - wide * {"middle": 0.5, "end": 1}.get(
            text.get("text-anchor"), 0
        )
        assert -1 <= left <= width - wide + 1, "".join(text.itertext())
        assert size >= (13 if layout == "wide" else 14)
    assert texts(svg).count("sleeps") == 3  # twice below a mask, once beside one

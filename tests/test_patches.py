"""Drawings of images: what is drawn are the numbers, and nothing leaves the picture."""

import re

import numpy as np
import pytest
from test_schematics import texts, tree

from nlp104.data import load_digits
from nlp104.figures import patches

DIGITS = load_digits()
IMAGES = DIGITS.images[:7]
BELOW = [(f"outlined: {i} %", "(4 of 8)") for i in range(7)]
HEADING = "It hardly follows the ink", "Dots are ink."
INKED = IMAGES.reshape(7, 4, 2, 2, 4).mean(axis=(2, 4)) > 5
WEIGHTS = np.random.default_rng(0).dirichlet(np.full(8, 9.0), 7).reshape(7, 4, 2)


def strengths(svg, concept):
    """How full the cells of a concept are, in the order in which they are drawn."""
    cells = [r for r in svg.iter("rect") if r.get("class") == f"f-{concept}" and r.get("style")]
    return np.array([float(re.search(r"cap\)\*\(([\d.]+)", r.get("style"))[1]) for r in cells])


def frames(svg):
    """Left, upper edge, width and height of every frame."""
    drawn = [r for r in svg.iter("rect") if r.get("class") == "outline s-ink"]
    framing = [r for r in drawn if r.get("stroke-width") == "2"]  # a class token is thinner
    return [[float(r.get(name)) for name in ("x", "y", "width", "height")] for r in framing]


def tint(values, most):
    return 0.07 + 0.93 * (values / most) ** 0.85


def test_patches_are_pieces_of_the_image(layout):
    svg = tree(patches.reading(IMAGES[3], 3), layout)
    pieces = IMAGES[3].reshape(4, 2, 2, 4).swapaxes(1, 2)  # [row, column, height, width]
    pixels = np.concatenate([pieces.ravel(), IMAGES[3].ravel()])
    expected = tint(pixels[pixels > 0], 16)
    np.testing.assert_allclose(strengths(svg, "ink"), expected, atol=1e-3)
    assert {g.get("style") for g in svg.iter("g") if len(g)} == {"--cap:1;--lift:0"}  # legible ink
    assert {"it is a 3", "class token", "one matrix", "for all 8 patches"} <= set(texts(svg))
    assert sum(r.get("class") == "f-p" for r in svg.iter("rect")) == 9  # the class token has one


def test_a_map_of_places_is_a_row_of_the_similarity(layout):
    rng = np.random.default_rng(1)
    similarity = rng.uniform(0.1, 1.0, (8, 8))
    svg = tree(patches.places(similarity, 2, "Each is like itself only"), layout)
    *maps, key = strengths(svg, "p")
    np.testing.assert_allclose(maps, tint(similarity.ravel(), 1.0), atol=1e-3)
    assert key == 1.0
    names = [f"place {number}" for number in range(1, 9)]
    assert texts(svg) == ["Each is like itself only", *names, "alike", "opposed"]
    own = [r for r in svg.iter("rect") if r.get("class") == "outline s-ink"]
    assert len({(r.get("x"), r.get("y")) for r in own}) == 8


def dots(svg):
    return np.array([float(c.get("r")) for c in svg.iter("circle")])


def test_every_image_lies_over_its_weights(layout):
    titles = [f"a {i}" for i in range(7)]
    svg = tree(patches.looks(IMAGES, WEIGHTS, INKED, titles, BELOW, HEADING), layout)
    inked = np.concatenate([image[image > 0] for image in IMAGES])
    np.testing.assert_allclose((dots(svg) / dots(svg).max()) ** 2, inked / 16, atol=0.01)  # areas
    *looked, even, most = strengths(svg, "a")  # one scale for all, and it is told
    np.testing.assert_allclose(looked, tint(WEIGHTS.ravel(), 0.3), atol=1e-3)
    np.testing.assert_allclose([even, most], tint(np.array([0.125, 0.3]), 0.3), atol=1e-3)
    assert texts(svg)[:2] == [*HEADING]
    assert texts(svg)[-4:] == ["weight", "0 %", "12.5 %", "30 %"]
    assert [text for text in texts(svg) if text.startswith("a ")] == titles
    assert [text for text in texts(svg) if "outlined" in text] == [one for one, _ in BELOW]
    cells = [r for r in svg.iter("rect") if r.get("class") == "f-a"][:56]
    counted = [cells[number] for number in np.flatnonzero(INKED)]
    corners = [[float(r.get("x")), float(r.get("y"))] for r in counted]
    assert [frame[:2] for frame in frames(svg)] == corners


def test_a_larger_weight_has_the_strongest_tint(layout):
    weights = np.full((1, 4, 2), 0.5 / 7)
    weights[0, 1, 1] = 0.5
    svg = tree(patches.looks(IMAGES[:1], weights, INKED[:1], ["a 0"], BELOW[:1], HEADING), layout)
    assert max(strengths(svg, "a")[:8]) == 1.0
    assert texts(svg)[-1] == "50 %"


def test_of_nine_copies_the_middle_one_is_framed(layout):
    svg = tree(patches.copies(DIGITS.images[:9], "Nine"), layout)
    inked = tint(DIGITS.images[:9][DIGITS.images[:9] > 0], 16)
    np.testing.assert_allclose(strengths(svg, "ink"), inked, atol=1e-3)
    ((left, top, wide, high),) = frames(svg)
    inside = [
        left < float(r.get("x")) < left + wide and top < float(r.get("y")) < top + high
        for r in svg.iter("rect")
        if r.get("class") == "f-ink"
    ]
    before = sum(np.count_nonzero(image) for image in DIGITS.images[:4])
    framed = np.arange(len(inside)) - before
    assert inside == [0 <= n < np.count_nonzero(DIGITS.images[4]) for n in framed]
    assert texts(svg) == ["Nine"]


def test_every_patch_stands_beside_its_position(layout):
    mixed = [6, 3, 8, 1, 4, 7, 2, 5]
    pictures = ("as it is", IMAGES[3], range(1, 9), "96 %", "read right")
    others = ("mixed", IMAGES[4], mixed, "22 %", "read right")
    svg = tree(patches.mixtures([pictures, others], "Mixed up"), layout)
    pieces = IMAGES[3:5].reshape(2, 4, 2, 2, 4).swapaxes(2, 3)
    np.testing.assert_allclose(strengths(svg, "ink"), tint(pieces[pieces > 0], 16), atol=1e-3)
    numbers = [int(text) for text in texts(svg) if text.isdigit()]
    assert numbers == [*range(1, 9), *mixed]
    assert [text for text in texts(svg) if text.endswith("%")] == ["96 %", "22 %"]


def test_a_patch_is_framed_on_its_way_from_the_image_to_its_word(layout):
    svg = tree(patches.reading(IMAGES[3], 3), layout)
    word, patch, place = frames(svg)
    assert word[1] < min(patch[1], place[1])  # it stands above both
    words = [r for r in svg.iter("rect") if r.get("class") == "f-p"]
    inside = [w for w in words if word[0] < float(w.get("x")) < word[0] + word[2]]
    assert words.index(inside[0]) == 1 + patches.FRAMED  # the class token is the first
    assert len(inside) == 1


def test_nothing_leaves_the_picture(layout):
    for drawing in (
        patches.reading(IMAGES[3], 3),
        patches.places(np.eye(8), 2),
        patches.looks(IMAGES, WEIGHTS, INKED, [""] * 7, BELOW, HEADING),
        patches.copies(DIGITS.images[:9]),
        patches.mixtures([("", image, range(1, 9), "", "") for image in IMAGES[:4]]),
    ):
        svg = tree(drawing, layout)
        _, _, width, height = map(float, svg.get("viewBox").split())
        for part in svg.iter("rect"):
            x, y, wide, high = (float(part.get(name)) for name in ("x", "y", "width", "height"))
            assert min(x, y) >= 0
            assert x + wide <= width + 0.1
            assert y + high <= height + 0.1


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match=r"shape \(8, 8\). Received: \(4, 4\)"):
        patches.reading(np.zeros((4, 4)), 0)
    with pytest.raises(ValueError, match=r"rows of 3 places. Received: shape \(8, 8\)"):
        patches.places(np.eye(8), 3)
    with pytest.raises(ValueError, match=r"Received: \[7, 7, 7, 1, 7\]"):
        patches.looks(IMAGES, WEIGHTS, INKED, ["one"], BELOW, HEADING)
    with pytest.raises(ValueError, match=r"shape \(9, 8, 8\). Received: \(7, 8, 8\)"):
        patches.copies(IMAGES)

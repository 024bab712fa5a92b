"""Drawings of images: what is drawn are the numbers, and nothing leaves the picture."""

import re

import numpy as np
import pytest
from test_schematics import texts, tree

from nlp104.data import load_digits
from nlp104.figures import patches

DIGITS = load_digits()
IMAGES = DIGITS.images[:7]
WEIGHTS = np.random.default_rng(0).dirichlet(np.full(8, 9.0), 7).reshape(7, 4, 2)


def strengths(svg, concept):
    """How full the cells of a concept are, in the order in which they are drawn."""
    cells = [r for r in svg.iter("rect") if r.get("class") == f"f-{concept}" and r.get("style")]
    return np.array([float(re.search(r"cap\)\*\(([\d.]+)", r.get("style"))[1]) for r in cells])


def tint(values, most):
    return 0.07 + 0.93 * (values / most) ** 0.85


def test_patches_are_pieces_of_the_image(layout):
    svg = tree(patches.reading(IMAGES[3], 3), layout)
    pieces = IMAGES[3].reshape(4, 2, 2, 4).swapaxes(1, 2)  # [row, column, height, width]
    pixels = np.concatenate([pieces.ravel(), IMAGES[3].ravel()])
    expected = tint(pixels[pixels > 0], 16)
    np.testing.assert_allclose(strengths(svg, "ink"), expected, atol=1e-3)
    assert {g.get("style") for g in svg.iter("g") if len(g)} == {"--cap:1;--lift:0"}  # legible ink
    assert {"it is a 3", "class token", "8 patches as words"} <= set(texts(svg))
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


def test_every_image_stands_above_its_weights(layout):
    svg = tree(patches.looks(IMAGES, WEIGHTS, [f"a {i}" for i in range(7)]), layout)
    inked = np.concatenate([tint(image[image > 0], 16) for image in IMAGES])
    np.testing.assert_allclose(strengths(svg, "ink"), inked, atol=1e-3)
    *looked, even, most = strengths(svg, "a")  # one scale for all figures, and it is told
    np.testing.assert_allclose(looked, tint(WEIGHTS.ravel(), 0.3), atol=1e-3)
    np.testing.assert_allclose([even, most], tint(np.array([0.125, 0.3]), 0.3), atol=1e-3)
    assert texts(svg)[-4:] == ["weight", "0 %", "12.5 %", "30 %"]
    assert [text for text in texts(svg) if text.startswith("a ")] == [f"a {i}" for i in range(7)]


def test_a_larger_weight_has_the_strongest_tint(layout):
    weights = np.full((1, 4, 2), 0.5 / 7)
    weights[0, 1, 1] = 0.5
    svg = tree(patches.looks(IMAGES[:1], weights, ["a 0"]), layout)
    assert max(strengths(svg, "a")[:8]) == 1.0
    assert texts(svg)[-1] == "50 %"


def test_a_patch_is_framed_on_its_way_from_the_image_to_its_word(layout):
    svg = tree(patches.reading(IMAGES[3], 3), layout)
    frames = [r for r in svg.iter("rect") if r.get("class") == "outline s-a"]
    word, patch, place = ([float(r.get(k)) for k in ("x", "y", "width", "height")] for r in frames)
    assert word[1] < min(patch[1], place[1])  # it stands above both
    words = [r for r in svg.iter("rect") if r.get("class") == "f-p"]
    inside = [w for w in words if word[0] < float(w.get("x")) < word[0] + word[2]]
    assert words.index(inside[0]) == 1 + patches.FRAMED  # the class token is the first
    assert len(inside) == 1


def test_nothing_leaves_the_picture(layout):
    for drawing in (
        patches.reading(IMAGES[3], 3),
        patches.places(np.eye(8), 2),
        patches.looks(IMAGES, WEIGHTS, [""] * 7),
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
    with pytest.raises(ValueError, match="Received: 7, 7 and 1"):
        patches.looks(IMAGES, WEIGHTS, ["one"])

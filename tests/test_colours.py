"""The colours of figures: words can be read on them, and what differs is seen to differ."""

from itertools import combinations, pairwise, product

import numpy as np
import pytest
from seen_colours import contrast, linear, shares

from nlp104.figures.language import CONCEPTS, SERIES, TOKENS


@pytest.mark.parametrize("theme", range(2), ids=["light", "dark"])
def test_ink_can_be_read_on_the_strongest_tint(theme):
    tokens = {name: colours[theme] for name, colours in TOKENS.items()}
    for concept in CONCEPTS:
        for cap in np.linspace(0, float(tokens["cap"]), 12):
            seen = (1 - cap) * shares(tokens["bg"]) + cap * shares(tokens[concept])
            assert contrast(tokens["ink"], seen) >= 4.5, (concept, cap)
    for ground in ("cell", "hide", "soft", "line"):  # `line` is where a pointer rests
        assert contrast(tokens["ink"], tokens[ground]) >= 4.5
    assert contrast(tokens["ink"], tokens["bg"]) > 12
    assert min(contrast(tokens["muted"], tokens[ground]) for ground in ("hide", "bg")) >= 4.5
    assert contrast(tokens["bg"], tokens["ink"]) >= 4.5  # what is chosen is turned over
    assert min(contrast(tokens[of], tokens["bg"]) for of in ("focus", "edge")) >= 3


@pytest.mark.parametrize("concept", CONCEPTS)
def test_the_middle_of_the_scale_is_seen_on_a_dark_ground_as_on_a_light_one(concept):
    seen = []
    for theme in range(2):
        tokens = {name: colours[theme] for name, colours in TOKENS.items()}
        cap, lift = float(tokens["cap"]), float(tokens["lift"])
        assert 0 <= lift < 1  # a larger number is never paler
        fills = [(0.07 + 0.93 * x**0.85) for x in (0.25, 0.5, 0.75, 1)]
        fills = [cap * (x + lift * x * (1 - x)) for x in fills]
        mixed = [(1 - x) * shares(tokens["bg"]) + x * shares(tokens[concept]) for x in fills]
        assert min(contrast(tokens["ink"], colour) for colour in mixed) >= 4.5
        assert all(contrast(one, other) > 1.05 for one, other in pairwise(mixed))
        seen.append([contrast(tokens["bg"], colour) for colour in mixed[:2]])
    light, dark = np.array(seen)
    assert (dark > 0.96 * light).all()


@pytest.mark.parametrize("theme", range(2), ids=["light", "dark"])
@pytest.mark.parametrize("name", [*CONCEPTS, *SERIES])
def test_lines_and_words_stand_out_from_the_ground(name, theme):
    ground = TOKENS["bg"][theme]
    assert contrast(TOKENS[f"{name}-line"][theme], ground) >= 3
    assert contrast(TOKENS[f"{name}-ink"][theme], ground) >= 4.5


# Machado, Oliveira and Fernandes (2009): what is seen without one of three kinds of cones.
SEEN = {
    "all cones": np.eye(3),
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}


def oklab(colour, seen):
    """Ottosson (2020): a place in a space in which distances are those that are seen."""
    light = np.clip(np.array(seen) @ linear(shares(colour)), 0, 1)
    cones = [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
    lab = [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
    return np.array(lab) @ np.cbrt(np.array(cones) @ light)


def closest(colours, seen):
    """The distance of the two colours that are most alike."""
    places = [oklab(colour, seen) for colour in colours]
    return min(np.linalg.norm(a - b) for a, b in combinations(places, 2))


@pytest.mark.parametrize("theme", range(2), ids=["light", "dark"])
@pytest.mark.parametrize("cones", SEEN)
def test_what_a_chart_compares_can_be_told_apart(cones, theme):
    colours = [TOKENS[f"{name}-line"][theme] for name in SERIES]
    assert closest(colours[:3], SEEN[cones]) >= 0.15
    assert closest(colours, SEEN[cones]) >= 0.065


@pytest.mark.parametrize("theme", range(2), ids=["light", "dark"])
@pytest.mark.parametrize("cones", SEEN)
def test_concepts_can_be_told_apart(cones, theme):
    lines = np.array([shares(TOKENS[f"{name}-line"][theme]) for name in CONCEPTS])
    seen = np.clip(lines**2.2 @ np.array(SEEN[cones]).T, 0, 1) ** (1 / 2.2)
    for one, other in combinations(seen, 2):
        assert np.linalg.norm(one - other) > 0.09


@pytest.mark.parametrize("theme", range(2), ids=["light", "dark"])
def test_what_a_chart_compares_looks_like_nothing_else(theme):
    """Neither like a concept nor like what is written or expected."""
    for name, other in product(SERIES, [*(f"{c}-line" for c in CONCEPTS), "ink", "muted"]):
        pair = [TOKENS[f"{name}-line"][theme], TOKENS[other][theme]]
        assert closest(pair, np.eye(3)) >= 0.075, (name, other)

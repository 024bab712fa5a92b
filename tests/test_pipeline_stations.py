"""The line of attention as a drawing: what keeps its place, what is lit, what is written."""

import re
from itertools import combinations

import numpy as np
import pytest
from browser import needs_browser
from keras import ops
from test_schematics import boxes, colours, texts, tree, wires

from nlp104.attention.multi_head import MultiHeadAttention
from nlp104.figures import plots, style
from nlp104.figures.drawing import NARROW, WIDE
from nlp104.figures.explore.explorable import PAGE
from nlp104.figures.pipeline_stations import N_K, N_Q, USES, stations

DRAWINGS = {use: stations(use) for use in USES}
STATIONS = ("compare", "÷ √dk", "+ M", "softmax", "mix")


def test_a_part_keeps_its_place(layout):
    cross, mask = (boxes(tree(DRAWINGS[use], layout)) for use in ("cross", "mask"))
    assert set(cross) == set(mask) == {"WQ", "WK", "WV", *STATIONS}
    for name, (*place, _) in cross.items():
        assert tuple(place) == mask[name][:4], name


@pytest.mark.parametrize(("use", "lit", "concepts"), [("cross", [], "qkv"), ("mask", ["+ M"], "a")])
def test_only_what_the_use_is_about_is_lit(layout, use, lit, concepts):
    svg = tree(DRAWINGS[use], layout)
    assert [name for name, (*_, is_lit) in boxes(svg).items() if is_lit] == lit
    assert colours(svg) == set(concepts)
    carried = [kind.split()[1] for kind, _ in wires(svg) if "s-edge" not in kind]
    assert carried == [f"s-{concept}" for concept in concepts]


def test_stations_stand_in_the_order_in_which_they_work(layout):
    places = boxes(tree(DRAWINGS["mask"], layout))
    axis = 0 if layout == "wide" else 1
    order = [places[name][axis] + places[name][axis + 2] / 2 for name in STATIONS[:4]]
    assert order == sorted(order)
    across = [places[name][1 - axis] + places[name][3 - axis] / 2 for name in STATIONS[:4]]
    assert len(set(across)) == 1  # in one line


@pytest.mark.parametrize("use", USES)
def test_every_part_gets_something_and_hands_something_on(layout, use):
    svg = tree(DRAWINGS[use], layout)
    found = [points for _, points in wires(svg)]
    assert len(found) == (15 if use == "cross" else 16)
    for name, (x, y, width, height, _) in boxes(svg).items():
        ends = {"in": 0, "out": 0}
        for points in found:
            for way, (a, b) in (("out", points[:2]), ("in", points[-2:])):
                ends[way] += x - 0.1 <= a <= x + width + 0.1 and y - 0.1 <= b <= y + height + 0.1
        into = 2 if name in ("compare", "mix") or (name == "+ M" and use == "mask") else 1
        assert ends == {"in": into, "out": 1}, name


def test_shapes_are_those_of_the_layer(layout):
    """Of one head, with queries from one sentence and keys from another."""
    n_q, n_k, d, d_k, d_v = 3, 5, 16, 6, 7
    names = {n_q: "nQ", n_k: "nK", d_k: "dk", d_v: "dv"}
    layer = MultiHeadAttention(1, d_k, value_dim=d_v, output_shape=d_v)
    X, Z = np.ones((1, n_q, d), "float32"), np.ones((1, n_k, d), "float32")
    output, weights = layer(X, Z, return_attention_scores=True)
    keys, values = layer.project_keys_values(layer.projections(), Z)
    found = {
        letter: " × ".join(names[size] for size in ops.convert_to_numpy(array).shape[-2:])
        for letter, array in {"K": keys, "V": values, "A": weights, "Y": output}.items()
    }
    written = " ".join(texts(tree(DRAWINGS["cross"], layout)))
    for letter, shape in {"Q": "nQ × dk", **found}.items():
        assert f"{letter} {shape}" in written
    alone = " ".join(texts(tree(DRAWINGS["mask"], layout)))
    assert "A n × n" in alone
    assert "nQ" not in alone


def test_matrices_have_the_rows_of_their_sentence(layout):
    rows = {}
    for use in USES:
        svg = tree(DRAWINGS[use], layout)
        cells = [p for p in svg.iter("path") if "fill-opacity" in p.get("style", "")]
        rows[use] = [len(re.findall("z", path.get("d"))) // N_K for path in cells]
    assert rows["cross"] == [N_Q, N_K, N_Q, N_K, N_K, N_Q, N_Q]  # X Z Q K V A Y
    assert rows["mask"] == [N_K] * 6


def test_the_mask_hides_what_lies_ahead(layout):
    svg = tree(DRAWINGS["mask"], layout)
    hidden = [
        (float(r.get("y")), float(r.get("x"))) for r in svg.iter() if r.get("class") == "hatch"
    ]
    ys, xs = (sorted({place[axis] for place in hidden}) for axis in (0, 1))
    assert sorted((ys.index(y), xs.index(x)) for y, x in hidden) == [
        (0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2),
    ]  # fmt: skip


@pytest.mark.parametrize("use", ["self", "", None])
def test_a_use_that_there_is_not_is_refused(use):
    with pytest.raises(ValueError, match=re.escape(f"cross, mask. Received: {use!r}.")):
        stations(use)


@needs_browser
def test_nothing_is_cut_off_and_no_words_cover_each_other(window, tmp_path):
    """Measured with the letters of a browser, at the width of each layout."""
    path = tmp_path / "stations.html"
    pages = "".join(style.to_html(drawing, "alt") for drawing in DRAWINGS.values())
    path.write_text(PAGE.format(title="stations", body=pages), encoding="utf-8")
    measure = """[...document.querySelectorAll("svg")]
      .filter((svg) => svg.getBoundingClientRect().width)
      .map((svg) => ({ frame: svg.getBoundingClientRect().toJSON(),
        texts: [...svg.querySelectorAll("text")].map((text) =>
          ({ words: text.textContent, ...text.getBoundingClientRect().toJSON() })) }))"""
    for width, expected in ((1280, WIDE), (360, NARROW)):
        window.open(path, width=width)
        drawn = window.evaluate(measure)
        assert len(drawn) == len(USES)
        for picture in drawn:
            frame = picture["frame"]
            assert frame["width"] <= expected
            for text in picture["texts"]:
                assert frame["left"] - 0.5 <= text["left"], text
                assert text["right"] <= frame["right"] + 0.5, text
                assert text["bottom"] <= frame["bottom"] + 0.5, text
            for one, other in combinations(picture["texts"], 2):
                apart = (
                    one["right"] <= other["left"] + 1 or other["right"] <= one["left"] + 1
                    or one["bottom"] <= other["top"] + 3 or other["bottom"] <= one["top"] + 3
                )  # fmt: skip
                assert apart, (one["words"], other["words"])


def test_it_is_shown_as_other_figures_are(capsys):
    plots.show(stations("mask"), alt="a line")
    assert "a line" in capsys.readouterr().out

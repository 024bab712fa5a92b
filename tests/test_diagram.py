"""The drawings of the architecture: they show the Transformer, whole and legible."""

import gzip
import re
from itertools import combinations

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.patches import FancyArrowPatch

from nlp104.figures import architecture, layouts, style

DRAWINGS = {
    "architecture": architecture.architecture,
    "encoder": architecture.encoder,
    "decoder": architecture.decoder,
    "pre-norm": lambda **look: architecture.architecture(normalize_first=True, **look),
    "many tokens": lambda **look: architecture.decoder(
        ["l'", "animal", "est", "trop", "fatigué", "."], **look
    ),
}


def parts(figure):
    """All boxes and wires, without the ground behind a box that hides what runs there."""
    return [p for p in figure.axes[0].patches if p.get_gid() is not None]


def everything(figure, kind):
    """The boxes and wires of a kind."""
    return [p for p in parts(figure) if kind in p.get_gid().split()]


def wires(figure, color):
    """The ends of the wires of a colour that end in an arrow."""
    found = [p for p in figure.axes[0].patches if isinstance(p, FancyArrowPatch) and p.get_fill()]
    same = mpl.colors.to_rgba(color)
    return [p._path_original.vertices for p in found if p.get_edgecolor() == same]


def skips(figure):
    """The ends of the wires that run past a sub-layer."""
    found = [p for p in everything(figure, "skip") if isinstance(p, FancyArrowPatch)]
    return [p._path_original.vertices for p in found]


def heights(figure, words):
    """From bottom to top, where these words stand: [(x, y)]."""
    texts = figure.axes[0].texts
    found = [t.get_position() for t in texts if t.get_text().replace("\n", " ") == words]
    return sorted(found, key=lambda place: place[1])


def boxes(figure, words):
    """The boxes that hold these words, in no order."""
    patches = [p for p in figure.axes[0].patches if hasattr(p, "get_boxstyle")]
    return [
        p.get_bbox()
        for place in heights(figure, words)
        for p in patches
        if p.get_bbox().contains(*place) and p.get_gid() is not None and p.get_fill()
    ]


# --- what is drawn ---


@pytest.mark.parametrize(
    ("name", "sub_layers", "attentions"),
    [("architecture", 5, 3), ("encoder", 2, 1), ("decoder", 3, 2)],
)
def test_every_sub_layer_has_its_skip_connection_and_normalisation(name, sub_layers, attentions):
    figure = DRAWINGS[name]()
    assert len(skips(figure)) == sub_layers
    assert len(heights(figure, "Normalise")) == sub_layers
    assert len(wires(figure, style.QUERY)) == attentions
    assert len(everything(figure, "masks")) == 16 * attentions


def test_queries_of_cross_attention_come_from_below_and_all_else_from_the_encoder():
    figure = architecture.architecture()
    (cross,) = boxes(figure, "Multi-head cross-attention")
    (query,) = [end for end in wires(figure, style.QUERY) if np.allclose(end[-1, 1], cross.y0)]
    assert query[0, 1] < cross.y0
    for color in (style.KEY, style.VALUE):
        ends = np.array([end[-1] for end in wires(figure, color)])
        from_encoder = ends[np.isclose(ends[:, 0], cross.x0)]  # they arrive at the left side
        assert len(from_encoder) == 4  # layer 1, layer 2, those between and layer N
        assert sum(cross.y0 < y < cross.y1 for _, y in from_encoder) == 1
        assert len(ends) == 4 + 2  # and two self-attentions have their own


def test_the_encoder_sends_the_output_of_its_last_layer():
    figure = architecture.architecture()
    left, _ = sorted(boxes(figure, "layer N"), key=lambda box: box.x0)
    trunks = [p for p in everything(figure, "cross") if isinstance(p, FancyArrowPatch)]
    starts = [p._path_original.vertices[0] for p in trunks if not p.get_fill()]
    assert len(starts) == 2
    for x, y in starts:
        assert left.x0 < x < left.x1
        assert y == pytest.approx(left.y1, abs=0.01)


@pytest.mark.parametrize("normalize_first", [False, True])
def test_the_norm_stands_after_the_sum_or_before_the_sub_layer(normalize_first):
    figure = architecture.encoder(normalize_first=normalize_first)
    order = [
        (y, name)
        for name in ("Normalise", "+", "Multi-head self-attention")
        for _, y in heights(figure, name)
    ]
    order += [(y, "Feed-forward") for _, y in heights(figure, "Feed-forward network")]
    names = [name for _, name in sorted(order)]
    attention, thinking = "Multi-head self-attention", "Feed-forward"
    if normalize_first:
        expected = ["Normalise", attention, "+", "Normalise", thinking, "+", "Normalise"]
    else:
        expected = [attention, "+", "Normalise", thinking, "+", "Normalise"]
    assert names == ["+", *expected]  # the first sum is that of embedding and position


def test_a_skip_connection_leaves_before_the_sub_layer_and_before_its_norm():
    for normalize_first in (False, True):
        figure = architecture.encoder(normalize_first=normalize_first)
        sums = [y for _, y in heights(figure, "+")][1:]
        starts = sorted(wire[0, 1] for wire in skips(figure))
        ends = sorted(wire[-1, 1] for wire in skips(figure))
        np.testing.assert_allclose(ends, sums)
        for start, box in zip(
            starts,
            (
                boxes(figure, "Multi-head self-attention")[0],
                boxes(figure, "Feed-forward network")[0],
            ),
            strict=True,
        ):
            assert start < box.y0
            between = [y for _, y in heights(figure, "Normalise") if start < y < box.y0]
            assert len(between) == normalize_first


def test_only_the_decoders_self_attention_hides_the_future():
    figure = architecture.architecture()
    cells = everything(figure, "masks")
    counts = {}
    for name in (
        "Multi-head self-attention",
        "Masked multi-head self-attention",
        "Multi-head cross-attention",
    ):
        (box,) = boxes(figure, name)
        inside = [c for c in cells if box.contains(c.get_x(), c.get_y())]
        counts[name] = sum(c.get_hatch() is not None for c in inside), len(inside)
    assert list(counts.values()) == [(4, 16), (6, 16), (4, 16)]  # a column; a triangle; a column


def test_the_decoder_reads_what_it_predicts_shifted_right_by_one():
    figure = architecture.decoder(["le", "chat", "dort"])
    tokens = ["[START]", "le", "chat", "dort", "[END]"]
    places = {token: heights(figure, token) for token in tokens}
    assert [len(places[token]) for token in tokens] == [1, 2, 2, 2, 1]
    read = [places[token][0][0] for token in tokens[:-1]]
    predicted = [places[token][-1][0] for token in tokens[1:]]
    np.testing.assert_allclose(read, predicted)  # one column for each place
    assert read == sorted(read)


# --- a piece left out ---


@pytest.mark.slow
@pytest.mark.parametrize("kind", architecture.KINDS)
def test_without_leaves_one_kind_out_and_nothing_else(kind):
    plain, less = architecture.architecture(), architecture.architecture(without=kind)
    rest = [p.get_gid() for p in parts(plain) if kind not in p.get_gid().split()]
    assert [p.get_gid() for p in parts(less)] == rest
    masked = heights(less, "Masked multi-head self-attention")
    assert len(masked) == (kind not in ("masks", "attention"))


def test_an_unknown_kind_is_refused_in_words():
    with pytest.raises(ValueError, match=r"`without` must be one of attention, .*: 'wings'"):
        architecture.architecture(without="wings")


# --- legible ---

SCREENS = {"page": lambda figure: figure, "phone": lambda figure: figure.narrow}
FITS_A_PHONE = [name for name in DRAWINGS if name != "many tokens"]


@pytest.mark.slow
@pytest.mark.parametrize("name", FITS_A_PHONE)
def test_a_phone_gets_a_drawing_of_the_same_parts_that_need_not_shrink(name):
    wide = DRAWINGS[name]()
    narrow = wide.narrow
    for kind in architecture.KINDS:
        assert len(everything(narrow, kind)) == len(everything(wide, kind))
    assert narrow.get_size_inches()[0] <= layouts.PHONE
    sizes = [text.get_fontsize() for text in narrow.axes[0].texts if text.get_text()]
    assert min(sizes) * 96 / 72 >= 12
    page = style.to_html(wide, "A drawing.")
    widths = [int(width) for width in re.findall(r'style="width:(\d+)px"', page)]
    assert widths == [round(96 * f.get_size_inches()[0]) for f in (wide, narrow)]


def test_drawings_side_by_side_are_those_for_a_phone():
    both = {kind: architecture.architecture(without=kind) for kind in ("skip", "norm")}
    page = style.to_html(both, "Two drawings.")
    widths = [int(width) for width in re.findall(r'style="width:(\d+)px"', page)]
    assert len(widths) == 2
    assert max(widths) <= 346  # half of a page's column


@pytest.mark.slow
@pytest.mark.parametrize("screen", SCREENS)
@pytest.mark.parametrize("name", DRAWINGS)
def test_no_words_run_out_of_the_card_or_into_each_other(name, screen):
    figure = SCREENS[screen](DRAWINGS[name](title="What there is to see"))
    figure.draw_without_rendering()
    texts = [t.get_window_extent() for t in (*figure.axes[0].texts, figure.axes[0]._left_title)]
    card = figure.bbox
    for text in texts:
        assert card.x0 <= text.x0 < text.x1 <= card.x1
        assert card.y0 <= text.y0 < text.y1 <= card.y1
    for one, other in combinations(texts, 2):
        assert not (one.width and other.width and one.overlaps(other))


@pytest.mark.parametrize("screen", SCREENS)
@pytest.mark.parametrize("name", DRAWINGS)
def test_words_stay_in_their_boxes_and_out_of_others(name, screen):
    figure = SCREENS[screen](DRAWINGS[name]())
    figure.draw_without_rendering()
    filled = [p for p in parts(figure) if hasattr(p, "get_boxstyle") and p.get_fill()]
    for text in figure.axes[0].texts:
        words = text.get_window_extent()
        for box in filled:
            outline = box.get_window_extent()
            if words.width and words.overlaps(outline):
                assert outline.x0 < words.x0 < words.x1 < outline.x1, text.get_text()
                assert outline.y0 < words.y0 < words.y1 < outline.y1, text.get_text()


@pytest.mark.slow
@pytest.mark.parametrize("name", DRAWINGS)
def test_the_drawing_is_small_and_the_same_every_time(name):
    one, other = (style.to_html(DRAWINGS[name](title="T"), "A drawing.") for _ in range(2))
    assert one == other
    assert len(gzip.compress(one.encode())) < 20_000


def test_every_colour_of_the_drawing_follows_the_page():
    page = style.to_html(architecture.architecture(), "A drawing.").partition("</style>")[2]
    for token in ("q-line", "k-line", "v-line", "a-line", "r-line", "ink"):
        assert f"var(--{token}, " in page
    assert not re.findall(r"(?<!, )#[0-9a-f]{6}\b", page)

"""The residual block, the two orders and the cube as drawings, and what their stacks measure."""

import re

import keras
import numpy as np
import pytest
from keras import ops
from test_schematics import boxes, colours, extent, texts, tree, wires

from nlp104.figures import depth, residual_block
from nlp104.figures.drawing import NARROW, WIDE, Layouts
from nlp104.figures.language import TOKENS, sheet
from nlp104.transformer.residual import Residual

DRAWINGS = {name: getattr(residual_block, name)() for name in residual_block.__all__}
X = np.random.default_rng(0).normal(size=(1, 5, 32)).astype("float32")


@pytest.fixture(params=Layouts._fields)
def layout(request):
    return request.param


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
    for path in tree(DRAWINGS["cube"], layout).iter("path"):
        cells = {cell for cell in path.get("d").split("z") if cell}
        if path.get("class") == "outline s-r":
            framed.append(cells)
        elif path.get("class") == "hatch":
            padding.append(cells)
    row, piece = framed
    assert len(row) == 7  # six features, and the last of them from the side
    assert not row & padding[0]
    assert len(piece) == 6 + 4 + 4 * 6
    assert len(piece & padding[1]) == sum(6 - n for n in residual_block.SENTENCES)


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
    svg = getattr(DRAWINGS[name], layout)
    assert not re.search(r"#[0-9a-fA-F]{3,8}\b|rgb|url\(", svg)
    assert set(re.findall(r"var\(--([\w-]+)", svg)) <= set(TOKENS)
    root, css = tree(DRAWINGS[name], layout), sheet()
    used = {kind for element in root.iter() for kind in element.get("class", "").split()}
    assert {kind for kind in used if not re.search(rf"\.{kind}\b", css)} <= {"head"}
    assert colours(root) == set()
    assert len(svg.encode()) < 30_000


# --- what the stacks measure ---


def stack(*arguments, **options):
    keras.utils.set_random_seed(1)
    return depth.Stack(*arguments, **options)


@pytest.mark.parametrize("place", ["pre", "post"])
def test_a_stack_is_the_packages_residual_around_its_sub_layers(place):
    made = stack(True, place, num_layers=2)
    states = made.states(X)
    assert len(states) == 5
    y = ops.convert_to_tensor(X)
    for number, sub_layer in enumerate(made.sub_layers):
        residual = Residual(dropout=0.0, normalize_first=place == "pre")
        call = (lambda h, f=sub_layer: f(h, h)) if number % 2 == 0 else sub_layer
        y = residual(y, sub_layer=call)
        np.testing.assert_allclose(
            ops.convert_to_numpy(states[number + 1]), ops.convert_to_numpy(y), atol=1e-5
        )
    out = ops.convert_to_numpy(made(X))
    np.testing.assert_allclose(out.var(-1), 1, atol=1e-3)


def test_without_skips_and_norms_boxes_follow_each_other():
    made = stack(False, None, num_layers=1)
    attend, feed = made.sub_layers
    found = made(X)  # from here on they have weights
    expected = feed(attend(X, X))
    np.testing.assert_allclose(
        ops.convert_to_numpy(found), ops.convert_to_numpy(expected), atol=1e-6
    )


@pytest.mark.parametrize("norm", ["pre", "post", None])
def test_the_probe_holds_the_gradient(norm):
    made = stack(True, norm, num_layers=1)
    made.build(X.shape)
    top = np.random.default_rng(0).normal(size=X.shape)
    top /= np.linalg.norm(top)
    nudge = np.random.default_rng(2).normal(size=X.shape)
    ends = [
        np.sum(top * ops.convert_to_numpy(made((X + s * 1e-3 * nudge).astype("float32"))))
        for s in (1, -1)
    ]
    lengths = depth.gradient_lengths(made, X)
    gradient = -ops.convert_to_numpy(made.probes[0].zeros)
    assert np.sum(gradient * nudge[0]) == pytest.approx((ends[0] - ends[1]) / 2e-3, rel=0.02)
    assert lengths.shape == (2,)
    assert lengths[0] == pytest.approx(np.linalg.norm(gradient))


def test_sizes_are_root_mean_squares():
    states = [np.full((1, 2, 3), 2.0), np.array([[[3.0, -4.0, 0.0]]])]
    np.testing.assert_allclose(depth.sizes(states), [2, np.sqrt(25 / 3)])


def test_words_are_recognised_by_their_direction():
    words = np.eye(3, dtype="float32")
    line = np.array([0, 2])
    other = np.stack([[5 * words[0], words[1]]])  # the second has become another word
    shares, cosines = depth.recognised([words[line][None], other], words, line)
    np.testing.assert_allclose(shares, [1, 0.5])
    np.testing.assert_allclose(cosines, [1, 0.5])


def test_a_place_that_there_is_not_is_refused():
    message = "`norm` must be 'pre', 'post' or None. Received: 'mid'."
    with pytest.raises(ValueError, match=re.escape(message)):
        depth.Stack(True, "mid")

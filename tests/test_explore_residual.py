"""Signal and gradient through depth: by the package's layers, a tape and nudges, not by the figure.

All 18 stacks are compared: 2 skips × 3 norms × 3 sizes of the first weights. The page holds
logarithms with three decimals: a number of it is off by 0.12 % at most.
"""

import itertools
import json
import re
import time

import keras
import numpy as np
import pytest
from browser import needs_browser
from explore_page import write

from nlp104.attention import MultiHeadAttention
from nlp104.figures.explore.residual import (
    GAINS,
    LAYERS,
    NORMS,
    attention,
    feed_forward,
    layer_norm,
    measure,
    residual,
    start,
)
from nlp104.transformer import FeedForward, Residual

DEPTH = 2 * LAYERS
TURN, END = LAYERS + 1, 2 * LAYERS + 2  # steps: the gradient is set off; all six towers
OPENS = 1  # the step that is seen first
STACKS = list(itertools.product(range(3), range(2), range(3)))  # gain, skip, norm
RUNS = {
    (gain, skip, norm): measure(*start(104), bool(skip), NORMS[norm], GAINS[gain])
    for gain, skip, norm in STACKS
}
NOTHING, BOTH_PRE = (1, 0, 0), (1, 1, 2)
on_tensorflow = pytest.mark.skipif(
    keras.backend.backend() != "tensorflow", reason="a tape; the numbers are NumPy's everywhere"
)


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """The figure on a page of its own."""
    return write(tmp_path_factory.mktemp("residual") / "page.html", residual())


def layers(weights, gain, dtype="float32"):
    """The package's layers with these weights."""
    made = []
    for number, matrices in enumerate(weights):
        matrices = [(gain * matrix).astype(dtype) for matrix in matrices]
        if number % 2:
            layer = FeedForward(32, 128, dtype=dtype)
            layer.build((1, 8, 32))
            layer.expand.kernel.assign(matrices[0])
            layer.contract.kernel.assign(matrices[1])
        else:
            layer = MultiHeadAttention(2, 16, dtype=dtype)
            layer.build((1, 8, 32), (1, 8, 32))
            *inner, outer = matrices
            kernels = layer.query_kernel, layer.key_kernel, layer.value_kernel
            for kernel, matrix in zip(kernels, inner, strict=True):
                kernel.assign(matrix.reshape(32, 2, 16))
            layer.output_kernel.assign(outer.reshape(2, 16, 32))
        made.append(layer)
    return made


def call(layer, x):
    """An attention is asked by what it looks at."""
    return layer(x, x) if isinstance(layer, MultiHeadAttention) else layer(x)


def as_numpy(x):
    """One sentence, in double precision."""
    return keras.ops.convert_to_numpy(x)[0].astype("float64")


# --- the numbers ---


@pytest.mark.parametrize("gain", GAINS)
def test_boxes_and_norm_are_those_of_the_package(gain):
    x, _, weights = start(104)
    norm = keras.layers.LayerNormalization(epsilon=1e-6)
    for number, (layer, matrices) in enumerate(zip(layers(weights, gain), weights, strict=True)):
        inputs = 3 * np.roll(x, number, axis=0) * np.linspace(0.5, 2, 32)
        box = feed_forward if number % 2 else attention
        mine, _ = box(inputs, [gain * matrix for matrix in matrices])
        theirs = as_numpy(call(layer, inputs[None].astype("float32")))
        np.testing.assert_allclose(mine, theirs, atol=2e-5 * np.abs(mine).max())
        theirs = as_numpy(norm(inputs[None].astype("float32")))
        np.testing.assert_allclose(layer_norm(inputs)[0], theirs, atol=1e-5)
    tiny = 1e-3 * x  # here the small ε counts
    np.testing.assert_allclose(layer_norm(tiny)[0], as_numpy(norm(tiny[None])), atol=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize(("gain", "skip", "norm"), STACKS)
def test_sizes_are_those_of_a_stack_of_the_package(gain, skip, norm):
    x, _, weights = start(104)
    state, states = x[None].astype("float32"), [x]
    for layer in layers(weights, GAINS[gain]):
        change = lambda h, layer=layer: call(layer, h)  # noqa: E731
        if skip and norm:
            wire = Residual(dropout=0.0, normalize_first=NORMS[norm] == "pre")
            wire.build((1, 8, 32))
            state = wire(state, sub_layer=change)
        else:
            ln = keras.layers.LayerNormalization(epsilon=1e-6)
            new = change(ln(state) if NORMS[norm] == "pre" else state)
            new = state + new if skip else new
            state = ln(new) if NORMS[norm] == "post" else new
        states.append(as_numpy(state))
    run = RUNS[gain, skip, norm]
    sizes = [np.sqrt(np.mean(y**2)) for y in states]
    np.testing.assert_allclose(run["signal"], sizes, rtol=2e-3)
    cosines = [
        np.mean([y @ x / np.linalg.norm(y) / np.linalg.norm(x) for y, x in zip(s, x, strict=True)])
        for s in states
    ]
    np.testing.assert_allclose(run["own"], cosines, atol=2e-3)


@pytest.mark.slow
@on_tensorflow
@pytest.mark.parametrize(("gain", "skip", "norm"), STACKS)
def test_gradients_are_those_of_a_tape(gain, skip, norm):
    import tensorflow as tf

    x, top, weights = start(104)
    # In single precision, scores of 1e9 are equal that are not, and a gradient may overflow.
    precise = {"dtype": "float64"}
    norms = [keras.layers.LayerNormalization(epsilon=1e-6, **precise) for _ in range(DEPTH + 1)]
    pre, post = NORMS[norm] == "pre", NORMS[norm] == "post"
    with tf.GradientTape() as tape:
        state = tf.constant(x[None])
        tape.watch(state)
        states, branches, changes, sums = [state], [], [], []
        for layer, ln in zip(layers(weights, GAINS[gain], **precise), norms, strict=False):
            branches.append(tf.identity(state))
            changes.append(call(layer, ln(branches[-1]) if pre else branches[-1]))
            sums.append(tf.identity(state) + changes[-1] if skip else tf.identity(changes[-1]))
            state = ln(sums[-1]) if post else tf.identity(sums[-1])
            states.append(state)
        loss = tf.reduce_sum((norms[-1](state) if pre else state) * top)
    found = tape.gradient(loss, [*states, *sums, *branches])
    lengths = np.array([np.linalg.norm(as_numpy(g)) for g in found])
    run = RUNS[gain, skip, norm]
    expected = [*run["gradient"], *run["past"], *run["through"]]
    np.testing.assert_allclose(expected, lengths, rtol=2e-3)
    for name, made in (("change", changes), ("sum", sums)):
        sizes = [np.sqrt(np.mean(as_numpy(y) ** 2)) for y in made]
        np.testing.assert_allclose(run[name], sizes, rtol=2e-3)


def test_gradients_are_those_of_nudges():
    x, top, weights = start(104)
    nudge = 1e-6 * np.random.default_rng(1).normal(size=x.shape)
    functions = [layer_norm]
    functions += [lambda h, m=m: attention(h, m) for m in weights[:4:2]]
    functions += [lambda h, m=m: feed_forward(h, m) for m in weights[1:4:2]]
    for function in functions:
        up, down = (function(x + sign * nudge)[0] for sign in (1, -1))
        moved, foretold = np.sum(top * (up - down)) / 2, np.sum(function(x)[1](top) * nudge)
        assert moved == pytest.approx(foretold, rel=1e-5)


def test_it_is_made_fast_and_small_and_always_the_same():
    begin = time.perf_counter()
    made = residual()
    assert time.perf_counter() - begin < 1
    assert len(json.dumps(made.data)) < 40_000
    assert made.data == residual().data
    assert made.data != residual(seed=105).data
    x, gradient, _ = start(104)
    assert np.sqrt(np.mean(x**2)) == pytest.approx(1)
    assert np.linalg.norm(gradient) == pytest.approx(1)


# --- what is to be seen ---


def ends(seed, skip, norm, gain=1.0):
    """The signal on top, the gradient at the bottom, and the cosine with the own word."""
    run = measure(*start(seed), skip, norm, gain)
    return run["signal"][-1], run["gradient"][0], run["own"][-1]


@pytest.mark.parametrize("seed", [104, 1, 2, 3])
def test_skips_and_norms_together_keep_both_alive(seed):
    for norm in ("post", "pre"):
        for gain in (0.5, 1.0):
            assert all(1 / 30 < end < 30 for end in ends(seed, True, norm, gain)[:2])
    assert max(ends(seed, False, None)[:2]) < 1e-2  # neither
    assert ends(seed, False, None)[1] < 1e-3
    assert max(ends(seed, False, None, 0.5)[:2]) < 1e-16
    assert min(ends(seed, False, None, 2.0)[:2]) > 1e9
    assert min(ends(seed, True, None)[:2]) > 30  # skips alone
    assert min(ends(seed, True, None, 2.0)[:2]) > 1e9
    assert all(0.5 < end < 2 for end in ends(seed, True, None, 0.5)[:2])
    for norm in ("post", "pre"):  # norms alone
        signal, gradient, own = ends(seed, False, norm)
        assert all(1 / 30 < end < 30 for end in (signal, gradient))
        assert abs(own) < 0.15
    assert ends(seed, True, "pre")[2] > 0.15 > ends(seed, True, "post")[2]


@pytest.mark.parametrize("seed", [104, 1, 2, 3])
def test_norms_alone_keep_the_size_and_lose_the_word_at_once(seed):
    x = start(seed)
    for norm in ("post", "pre"):
        assert abs(measure(*x, False, norm)["own"][1]) < 0.2
        assert measure(*x, True, norm)["own"][1] > 0.8
        assert measure(*x, True, norm)["own"][6] > 0.4


# --- the page ---


def number(text):
    """What a text begins with, powers of ten with it; a word first is passed over."""
    plain = re.sub(r"·10\$\^\{(−?\d+)\}\$", r"e\1", text).replace("−", "-").replace("*", "")
    return float(re.search(r"-?\d[\d.]*(e-?\d+)?", plain)[0])


def texts(drawn):
    """What is written, by the key of the mark."""
    return {mark["key"]: mark["source"] for mark in drawn.marks if mark["kind"] == "text"}


def height(step):
    """How many sub-layers lie below the signal, or the gradient, in a step."""
    return 2 * step if step < TURN else 2 * (END - 1 - step) if step < END else 0


@needs_browser
@pytest.mark.parametrize(("gain", "skip", "norm"), STACKS)
def test_the_table_holds_what_was_measured_as_far_as_it_was_seen(reader, gain, skip, norm):
    run = RUNS[gain, skip, norm]
    expected = np.stack([np.log10(run["signal"]), np.log10(run["gradient"]), run["own"]], -1)
    for step in (0, 1, 7, LAYERS, TURN, TURN + 3, END - 1, END):
        drawn = reader.draw(step=step, gain=gain, skip=skip, norm=norm)
        assert (len(drawn.rows), drawn.columns) == (DEPTH + 1, ["signal", "gradient", "own word"])
        level, seen = height(step), np.ones((DEPTH + 1, 3), bool)
        if step < TURN:
            seen[level + 1 :], seen[:, 1] = False, False
        else:
            seen[:level, 1] = False
        np.testing.assert_allclose(
            drawn.values, np.where(seen, expected, np.nan), atol=5.1e-4, equal_nan=True
        )


@needs_browser
@pytest.mark.parametrize("width", [700, 358])
@pytest.mark.parametrize(("gain", "skip", "norm"), STACKS)
def test_bars_are_as_long_as_the_powers_of_ten(reader, gain, skip, norm, width):
    run = RUNS[gain, skip, norm]
    drawn = reader.draw(step=END - 1, gain=gain, skip=skip, norm=norm, width=width)
    marks = {mark["key"]: mark for mark in drawn.marks}
    for panel, kind in enumerate(("signal", "gradient")):
        one = float(re.match(r"M([\d.]+)", marks[f"g{panel}0"]["path"])[1])
        units = []  # pixels of a power of ten, by the lines at the ends of the axis
        for side in (-1, 1):
            if f"g{panel}{side}" in marks:
                place = float(re.match(r"M([\d.]+)", marks[f"g{panel}{side}"]["path"])[1])
                power = re.search(r"\{(.+)\}", marks[f"t{panel}{side}"]["source"])[1]
                units.append((place - one) / float(power.replace("−", "-")))
        assert units
        assert min(units) > 2
        assert max(units) == pytest.approx(min(units))
        for level in range(DEPTH + 1):
            bar, log = marks[f"{kind}{level}"], np.log10(run[kind][level])
            away = bar["x"] + (1.5 if log < 0 else bar["w"] - 1.5) - one
            assert away == pytest.approx(units[0] * log, abs=0.05)
            assert bar["opacity"] == 1
    tops = [marks[f"signal{level}"]["y"] for level in range(DEPTH + 1)]
    assert (np.diff(tops) < 0).all()  # the first at the bottom


@needs_browser
@pytest.mark.parametrize(("gain", "skip", "norm"), STACKS)
def test_the_numbers_of_a_sub_layer_are_those_of_the_one_just_passed(reader, gain, skip, norm):
    run = RUNS[gain, skip, norm]
    for step in [s for s in range(1, END) if s != TURN]:
        drawn = reader.draw(step=step, gain=gain, skip=skip, norm=norm)
        down, level = step > TURN, height(step)
        box = level if down else level - 1
        flow = run["gradient" if down else "signal"]
        beside = run["past"][box] if down else flow[box]
        through = run["through" if down else "change"][box]
        summed = beside if down else run["sum"][box]
        expected = [
            flow[box],
            beside if skip else None,
            summed if norm == 1 else None,
            flow[box + 1],
            through,
        ]
        written = texts(drawn)
        for place, value in enumerate(expected):
            text = written[f"l{place}"]
            if value is None:
                assert text == ""
            else:
                assert number(text) == pytest.approx(value, rel=0.052)
        kind = ("attention", "feed-forward")[box % 2]
        assert written["lt"] == f"layer {box // 2 + 1}, {kind}"
        assert number(written[f"v{int(down)}"]) == pytest.approx(flow[level], rel=0.052)
        assert written["v1"] == "?" or down
        # In words
        said = [number(bold) for bold in re.findall(r"\*\*(.+?)\*\*", drawn.caption)]
        assert said[:2] == [
            level // 2 + 1 if down else level,
            pytest.approx(flow[level], rel=0.052),
        ]
        if skip:
            assert said[-2:] == [
                pytest.approx(beside, rel=0.052),
                pytest.approx(through, rel=0.052),
            ]
        if "powers of ten" in drawn.caption:
            log = np.log10(flow[level])
            assert said[2] == pytest.approx(abs(log), abs=0.051)
            assert ("smaller" in drawn.caption) == (log < 0)


@needs_browser
def test_the_wire_goes_with_the_skip_and_the_norm_moves(reader):
    drawn = {
        (skip, norm): {
            mark["key"]: mark for mark in reader.draw(step=3, skip=skip, norm=norm).marks
        }
        for skip in range(2)
        for norm in range(3)
    }
    for (skip, norm), marks in drawn.items():
        for key in ("skips", "lk", "l+"):  # the wire of the tower, that of the large box, its plus
            assert marks[key]["opacity"] == skip
        for key in ("ln", *(f"n{i}" for i in range(DEPTH))):
            assert marks[key]["opacity"] == (norm > 0)
        assert marks["last"]["opacity"] == (norm == 2)
        formula = marks["lf"]["source"]
        assert (
            formula
            == {
                (0, 0): "$f(x)$",
                (0, 1): "${LN}(f(x))$",
                (0, 2): "$f({LN}(x))$",
                (1, 0): "$x + f(x)$",
                (1, 1): "${LN}(x + f(x))$",
                (1, 2): "$x + f({LN}(x))$",
            }[skip, norm]
        )
        middle = lambda mark: mark["x"] + mark["w"] / 2  # noqa: E731
        if norm:
            for norm_key, box_key in [("ln", "lb"), *((f"n{i}", f"b{i}") for i in range(DEPTH))]:
                mark, box = marks[norm_key], marks[box_key]
                if norm == 2:  # in front of the box, on its way
                    assert middle(mark) == middle(box)
                    assert mark["y"] >= box["y"] + box["h"]
                else:  # behind the plus, on the wire; without one, straight above the box
                    assert mark["y"] + mark["h"] <= box["y"]
                    assert (middle(mark) < box["x"]) if skip else (middle(mark) == middle(box))
            if norm == 1:
                assert marks["ln"]["y"] + marks["ln"]["h"] <= marks["l+"]["y"]
                assert (middle(marks["ln"]) == middle(marks["l+"])) == skip


@needs_browser
@pytest.mark.parametrize("width", [700, 358])
def test_without_the_skips_one_line_goes_straight_through_all_boxes(reader, width):
    drawn = {
        skip: {mark["key"]: mark for mark in reader.draw(step=3, skip=skip, width=width).marks}
        for skip in range(2)
    }
    for skip, marks in drawn.items():
        assert ("through" in marks, "ways" in marks) == (not skip, bool(skip))
        boxes = [marks[f"b{i}"] for i in range(DEPTH)]
        middles = {box["x"] + box["w"] / 2 for box in boxes}
        assert len(middles) == 1
        stem = {float(x) for x in re.findall(r"M([\d.]+)", marks["stem"]["path"])}
        assert len(stem) == 1
        assert (stem == middles) == (not skip)
        assert skip == (max(stem) < boxes[0]["x"])
        assert marks["dot"]["x"] + 6 == max(stem)
    line = {float(x) for x in re.findall(r"M([\d.]+)", drawn[0]["through"]["path"])}
    assert line == middles
    assert ("wire" in drawn[1]) == (width == 358)  # said, where no sub-layer is shown large
    assert "wire" not in drawn[0]


@needs_browser
@pytest.mark.parametrize(("gain", "skip", "norm"), STACKS)
def test_the_verdict_agrees_with_the_numbers(reader, gain, skip, norm):
    run = RUNS[gain, skip, norm]
    drawn = reader.draw(step=END, gain=gain, skip=skip, norm=norm)
    signal, gradient, own = run["signal"][-1], run["gradient"][0], run["own"][-1]
    said = [number(bold) for bold in re.findall(r"\*\*(.+?)\*\*", drawn.caption)]
    assert said[:2] == [pytest.approx(signal, rel=0.052), pytest.approx(gradient, rel=0.052)]
    logs = np.abs(np.log10([signal, gradient]))
    if "Both vanish" in drawn.caption:
        assert max(signal, gradient) < 1 / 30
        assert said[2:] == pytest.approx(logs.tolist(), abs=0.051)
    elif "Both explode" in drawn.caption:
        assert min(signal, gradient) > 30
        assert said[2:] == pytest.approx(logs.tolist(), abs=0.051)
    else:
        assert "Both arrive" in drawn.caption
        assert logs.max() < np.log10(30)
        assert said[2] == pytest.approx(own, abs=0.0051)
        assert ("still" in drawn.caption) == (own > 0.1)
    assert ("Both arrive" in drawn.caption) == bool(norm or (skip and gain == 0))


@needs_browser
@pytest.mark.parametrize("gain", range(3))
def test_at_the_end_all_six_stand_beside_each_other(reader, gain):
    written = texts(reader.draw(step=END, gain=gain))
    for place, (skip, norm) in enumerate(itertools.product(range(2), range(3))):
        run = RUNS[gain, skip, norm]
        expected = run["signal"][-1], run["gradient"][0]
        shown = [number(written[f"c{place},{row}"]) for row in range(2)]
        assert shown == pytest.approx(list(expected), rel=0.052)
        assert number(written[f"c{place},2"]) == pytest.approx(run["own"][-1], abs=0.0056)


@needs_browser
@pytest.mark.parametrize("width", [700, 358, 288])
def test_the_thin_line_is_the_stack_with_neither(reader, width):
    for step, skip, norm in ((6, 1, 2), (TURN + 4, 1, 0), (END, 0, 1)):
        drawn = reader.draw(step=step, skip=skip, norm=norm, width=width)
        marks = {mark["key"]: mark for mark in drawn.marks}
        plain = {m["key"]: m for m in reader.draw(step=step, width=width).marks}
        assert not {"bare0", "bare1"} & set(plain)
        for panel, kind in enumerate(("signal", "gradient")):
            seen = [level for level in range(DEPTH + 1) if plain[f"{kind}{level}"]["opacity"] == 1]
            if not seen:
                assert f"bare{panel}" not in marks
                continue
            points = re.findall(r"([\d.]+),([\d.]+)", marks[f"bare{panel}"]["path"])
            assert len(points) == len(seen)
            for level, (x, y) in zip(seen, points, strict=True):
                bar = plain[f"{kind}{level}"]
                log = np.log10(RUNS[NOTHING][kind][level])
                end = bar["x"] + (1.5 if log < 0 else bar["w"] - 1.5)
                assert float(x) == pytest.approx(end, abs=0.11)
                assert float(y) == pytest.approx(bar["y"] + bar["h"] / 2)


# --- a reader ---


@needs_browser
def test_a_reader_cures_the_tower(reader, page):
    reader.open(page)
    assert reader.state() == {"step": OPENS, "skip": 0, "norm": 0, "gain": 1}
    caption = "document.querySelector('figcaption').textContent"
    choose = "document.querySelector('[data-option={}] [value=\"{}\"]').click()"
    reader.evaluate("document.querySelector('.stage').focus()")
    reader.press("End")
    assert "Both vanish, by 3.8 and 3.8 powers of ten" in reader.evaluate(caption)
    reader.evaluate(choose.format("skip", 1))
    assert "Both explode, by 2.1 and 3.6 powers of ten" in reader.evaluate(caption)
    reader.evaluate(choose.format("norm", 2))
    assert "Both arrive, and the vectors are still somewhat like" in reader.evaluate(caption)
    assert reader.state() == {"step": END, "skip": 1, "norm": 2, "gain": 1}
    reader.tap("run:0:1")
    assert reader.state() == {"step": END, "skip": 0, "norm": 1, "gain": 1}
    assert "no longer like their own word" in reader.evaluate(caption)
    reader.press("Home")
    assert "What comes out above 24 sub-layers?" in reader.evaluate(caption)
    assert reader.complaints == []


@needs_browser
@pytest.mark.parametrize("width", [700, 358, 288])
def test_it_fits_a_phone(reader, width):
    for step, (gain, skip, norm) in itertools.product((0, 5, TURN, 20, END), STACKS):
        drawn = reader.draw(step=step, gain=gain, skip=skip, norm=norm, width=width)
        assert drawn.height <= (560 if width == 700 else 860)
        assert all(m.get("size", 13) >= 12 for m in drawn.marks)


@needs_browser
@pytest.mark.parametrize(
    "address", ["gain=9&skip=7&norm=-3", "gain=x&skip=y&norm=z", "skip=0.5&norm=", "skip=true"]
)
@pytest.mark.parametrize("step", ["5", "26", "99", "-4", "x"])
def test_what_nobody_can_choose_is_not_drawn(reader, page, address, step):
    reader.open(page, at=f"#residual:step={step}&{address}")
    state = reader.state()
    assert state | {"step": 0} == {"step": 0, "skip": 0, "norm": 0, "gain": 1}
    assert state["step"] in (0, 5, END)
    words = reader.evaluate("""[...document.querySelectorAll('.stage, figcaption, .unseen')]
      .map((part) => part.textContent).join()""")
    assert not re.search("undefined|NaN|Infinity", words)
    assert reader.complaints == []


def test_the_still_tells_the_numbers():
    made = residual()
    bare, both = RUNS[NOTHING], RUNS[BOTH_PRE]
    numbers = [float(x) for x in re.findall(r"[\d.]*\d(?:e-\d+)?", made.alt)]
    expected = [24, 1, bare["signal"][-1], 1, bare["gradient"][0], both["signal"][-1],
                both["gradient"][0]]  # fmt: skip
    assert numbers == pytest.approx(expected, rel=0.3)
    assert made.still.count("<rect") == 4 * (DEPTH + 1)

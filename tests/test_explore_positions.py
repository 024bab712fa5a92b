"""Positions: what swapping words changes, clocks that are the package's codes, and a rotation."""

import itertools
import json
import re

import numpy as np
import pytest
from browser import needs_browser
from explore_page import write
from keras import ops

from nlp104.attention.single_head import SelfAttention
from nlp104.encoding import binary_positions, sinusoidal_positions
from nlp104.figures.explore.positions import (
    BASES,
    COUNT,
    REACH,
    VIEWS,
    WIDTHS,
    WORDS,
    positions,
    swapped,
    weights,
)

ORDERS = tuple(itertools.permutations(range(3)))
CODES = list(itertools.product(WIDTHS, BASES))


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """The figure on a page of its own."""
    return write(tmp_path_factory.mktemp("positions") / "page.html", positions())


def said(order):
    """The words in an order."""
    return " ".join(WORDS[word] for word in order)


def codes(places, d, base):
    """The equation word for word, in float64: `[place, d]`."""
    code = np.zeros((len(places), d))
    for i in range(d // 2):
        angles = np.asarray(places) / base ** (2 * i / d)
        code[:, 2 * i], code[:, 2 * i + 1] = np.sin(angles), np.cos(angles)
    return code


def rotation(k, d, base):
    """R(k) of the chapter: a block for each pair."""
    matrix = np.zeros((d, d))
    for i in range(d // 2):
        c, s = np.cos(k / base ** (2 * i / d)), np.sin(k / base ** (2 * i / d))
        matrix[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = [[c, s], [-s, c]]
    return matrix


def attend(order, places=None):
    """Outputs and weights of the words in an order, with NumPy."""
    vectors, (query, key, value) = weights()
    x = vectors[list(order)] + (0 if places is None else codes(places, 4, 100))
    powers = np.exp((x @ query) @ (x @ key).T / 2)
    powers /= powers.sum(1, keepdims=True)
    return powers @ (x @ value), powers


def marks(drawn, kind=None):
    """Marks by key."""
    return {mark["key"]: mark for mark in drawn.marks if kind in (None, mark["kind"])}


def points(path):
    """The pairs of numbers of a path of straight lines."""
    return np.array(re.findall(r"[ML]([\d.e-]+) ([\d.e-]+)", path), float)


def height(mark):
    """Where a horizontal line is."""
    return float(re.fullmatch(r"M[\d.]+ ([\d.]+)H[\d.]+", mark["path"])[1])


def value(found, key):
    """The four numbers of a column."""
    return [found[f"{key}{row},0"]["value"] for row in range(4)]


def centre(mark):
    """Its middle, from left to right."""
    return mark["x"] + mark["w"] / 2


def angle(mark):
    """Which way a hand points: from 12 o'clock, clockwise."""
    (x, y), (x1, y1) = points(mark["path"])
    return np.arctan2(x1 - x, y - y1)


def apart(one, other):
    """How far two angles are from each other, on the clock."""
    return np.abs((np.asarray(one) - other + np.pi) % (2 * np.pi) - np.pi)


def turned(angle):
    """An angle in words."""
    turns = angle / (2 * np.pi)
    return f"{turns:.1f} turns" if turns >= 1 else f"{360 * turns:.1f}°"


# --- swap ---


@needs_browser
@pytest.mark.parametrize("order", ORDERS)
def test_outputs_are_those_of_numpy_and_of_the_layer(reader, order):
    layer = SelfAttention(4)
    vectors, kernels = weights()
    layer.build((1, 3, 4))
    layer.set_weights(list(kernels))
    for on, step in ((False, 0), (False, 9), (True, 0), (True, 9), (True, COUNT - 1)):
        drawn = reader.draw(order=said(order), on=on, step=step)
        places = np.arange(step, step + 3)
        expected, _ = attend(order, places if on else None)
        assert drawn.rows == [WORDS[word] for word in order]
        np.testing.assert_allclose(drawn.values[:, :4], expected, rtol=1e-6, atol=1e-8)
        x = vectors[list(order)] + on * sinusoidal_positions(COUNT + 2, 4, 100)[places]
        outputs = ops.convert_to_numpy(layer(x[None].astype("float32")))[0]
        np.testing.assert_allclose(drawn.values[:, :4], outputs, atol=1e-5)


@needs_browser
def test_order_returns_when_positions_are_switched_on(reader):
    for order in ORDERS[1:]:
        for step in (0, 1, 2, 3, 7, 20, 41, COUNT - 1):
            first, now = (reader.draw(order=said(o), step=step) for o in (ORDERS[0], order))
            # f(PX) = P f(X): the outputs move along, and nothing else changes.
            np.testing.assert_allclose(now.values[:, :4], first.values[list(order), :4], atol=1e-8)
            np.testing.assert_allclose(now.values[:, 4], 0, atol=1e-8)
            assert "none has changed. Largest difference: **0.00**" in now.caption

            first, now = (
                reader.draw(order=said(o), step=step, on=True) for o in (ORDERS[0], order)
            )
            moved = np.abs(now.values[:, :4] - first.values[list(order), :4]).max(1)
            np.testing.assert_allclose(now.values[:, 4], moved, atol=1e-8)
            assert moved.min() > 0.05, (order, step)  # the output of every word
            assert f"by at least **{moved.min():.2f}**. Order is back" in now.caption


@needs_browser
def test_the_numbers_below_the_words_are_the_differences(reader):
    for on, order in itertools.product((False, True), ORDERS):
        drawn = reader.draw(order=said(order), on=on, step=5)
        written = {
            key: mark["source"] for key, mark in marks(drawn, "text").items() if key[0] == "d"
        }
        if order == ORDERS[0]:
            assert written == {}
            assert "Tap two words" in drawn.caption
            continue
        assert written == {
            f"d{word}": f"differ by **{difference:.2f}**"
            for word, difference in zip(order, drawn.values[:, 4], strict=True)
        }


@needs_browser
@pytest.mark.parametrize("width", [700, 358])
def test_what_is_drawn_is_what_is_computed(reader, width):
    order, step = (2, 0, 1), 6
    for on in (False, True):
        drawn = reader.draw(order=said(order), on=on, step=step, width=width)
        found = marks(drawn)
        places = np.arange(step, step + 3)
        outputs, shares = attend(order, places if on else None)
        before, _ = attend(ORDERS[0], places if on else None)
        for place, word in enumerate(order):
            np.testing.assert_allclose(value(found, f"x{word}"), weights()[0][word])
            np.testing.assert_allclose(value(found, f"o{word}"), outputs[place], atol=1e-8)
            np.testing.assert_allclose(value(found, f"b{word}"), before[word], atol=1e-8)
            if on:
                code = sinusoidal_positions(COUNT, 4, 100)[places[place]]
                np.testing.assert_allclose(value(found, f"p{place}"), code, atol=1e-6)
            assert (f"p{place}0,0" in found) is on
            assert found[f"place{place}"]["source"] == f"position {step + place}"
            assert centre(found[f"word{word}"]) == pytest.approx((place + 0.5) * width / 3)
            for other in range(3):  # a ribbon is as wide as its weight
                wire = found[f"a{','.join(map(str, order))},{place},{other}"]
                assert wire["width"] == pytest.approx(0.4 + 9 * shares[place, other], abs=1e-6)
                start, *_, far = re.match(
                    r"M([\d.]+) 164c0 44 (\S+) 48 (\S+) 92", wire["path"]
                ).groups()
                assert float(start) == pytest.approx(centre(found[f"word{order[other]}"]))
                assert float(start) + float(far) == pytest.approx(centre(found[f"word{word}"]))


def test_numpy_in_the_package_computes_as_numpy_here():
    for on in (False, True):
        places = np.arange(3) if on else None
        before, now = swapped(on)
        np.testing.assert_allclose(before, attend((0, 1, 2), places)[0], rtol=1e-6, atol=1e-6)
        there = attend((2, 1, 0), places)[0][[2, 1, 0]]
        np.testing.assert_allclose(now, there, rtol=1e-6, atol=1e-6)


# --- clock ---


@needs_browser
@pytest.mark.parametrize(("d", "base"), CODES)
def test_codes_are_the_packages(reader, d, base):
    sinusoids, bits = sinusoidal_positions(COUNT, d, base), binary_positions(COUNT, 6)
    exact = codes(range(COUNT), d, base)
    np.testing.assert_allclose(sinusoids, exact, atol=1e-7)
    for step in (0, 1, 2, 7, 8, 31, 32, 50, COUNT - 2, COUNT - 1):
        drawn = reader.draw(view="clock", step=step, d=d, base=base)
        shown = [int(row) for row in drawn.rows]
        assert shown == [p for p in range(step - 2, step + 3) if 0 <= p < COUNT]
        pairs = [f"{name} {i + 1}" for i in range(d // 2) for name in ("sine", "cosine")]
        assert drawn.columns == [*pairs, "1", "2", "4", "8", "16", "32"]
        np.testing.assert_allclose(drawn.values[:, :d], exact[shown], rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(drawn.values[:, :d], sinusoids[shown], atol=1e-6)
        np.testing.assert_array_equal(drawn.values[:, d:], bits[shown])


@needs_browser
@pytest.mark.parametrize("width", [700, 358])
@pytest.mark.parametrize(("d", "base"), CODES)
def test_a_hand_points_where_sine_and_cosine_say(reader, d, base, width):
    for step in (0, 1, 7, 40, COUNT - 1):
        drawn = reader.draw(view="clock", step=step, d=d, base=base, width=width)
        found, row = marks(drawn), codes([step], d, base)[0]
        for i in range(d // 2):
            clock = found[f"c{i}"]
            middle = np.array([clock["x"] + clock["w"] / 2, clock["y"] + clock["h"] / 2])
            start, tip = points(found[f"to{i}"]["path"])
            np.testing.assert_allclose(start, middle)
            right, up = (tip - middle) * (1, -1) / np.hypot(*(tip - middle))
            np.testing.assert_allclose([right, up], row[2 * i : 2 * i + 2], atol=1e-9)
            assert angle(found[f"from{i}"]) == pytest.approx(0, abs=1e-9)
            cells = [found[f"{d}m{step}:0,{j}"] for j in (2 * i, 2 * i + 1)]
            np.testing.assert_allclose([cell["value"] for cell in cells], row[2 * i : 2 * i + 2])
            assert cells[1]["x"] == pytest.approx(middle[0])  # both stand below their clock
            assert not cells[0].get("faint")


def sweep(mark):
    """The angle of an arc, clockwise, and where it begins: from its path and its flags."""
    x, y, r, large, clockwise, x1, y1 = map(
        float,
        re.match(r"M(\S+) (\S+)A(\S+) \S+ 0 (\d) (\d) (\S+) (\S+)", mark["path"]).groups(),
    )
    assert clockwise
    part = 2 * np.arcsin(min(1, np.hypot(x1 - x, y1 - y) / 2 / r))
    return (2 * np.pi - part) if large else part


@needs_browser
@pytest.mark.parametrize("view", ["clock", "shift"])
def test_arcs_are_what_is_left_after_whole_turns(reader, view):
    for d, base in CODES:
        for k in (0, 1, 5, 30):
            where = {"step": k} if view == "clock" else {"step": 17, "k": k}
            found = marks(reader.draw(view=view, d=d, base=base, **where))
            for i in range(d // 2):
                part = k / base ** (2 * i / d) % (2 * np.pi)
                assert sweep(found[f"arc{i}"]) == pytest.approx(part, abs=1e-5)


@needs_browser
def test_the_odometer_is_binary_and_says_what_flips(reader):
    bits = binary_positions(COUNT + 1, 6)
    for step in range(COUNT):
        drawn = reader.draw(view="clock", step=step)
        found = marks(drawn)
        shown = [found[f"b{step}:0,{bit}"]["value"] for bit in range(6)]
        np.testing.assert_array_equal(shown, bits[step])
        assert sum(bit * 2**i for i, bit in enumerate(shown)) == step
        flips = int(np.abs(bits[step + 1] - bits[step]).sum())
        assert f"flips **{flips}** of the odometer's 6 digits" in drawn.caption
    assert [found[f"v{bit}"]["source"] for bit in range(6)] == ["1", "2", "4", "8", "16", "32"]


@needs_browser
@pytest.mark.parametrize(("d", "base"), CODES)
def test_the_caption_says_how_far_the_hands_have_turned(reader, d, base):
    exact = codes(range(COUNT + 1), d, base)
    steps = np.linalg.norm(np.diff(exact, axis=0), axis=1)
    np.testing.assert_allclose(steps, steps[0])
    for step in (0, 1, 6, 7, 19, COUNT - 1):
        drawn = reader.draw(view="clock", step=step, d=d, base=base)
        hands = step / base ** (np.arange(0, d, 2) / d)
        said = re.findall(r"hand (\d+) by \[p\|\*\*(.+?)\*\*\]", drawn.caption)
        assert said == [("1", turned(hands[0])), (str(d // 2), turned(hands[-1]))]
        assert f"moves the code by **{steps[0]:.2f}**, as every step does" in drawn.caption
        texts = marks(drawn, "text")
        for i, hand in enumerate(hands):
            if f"t{i}" in texts:
                assert texts[f"t{i}"]["source"] == turned(hand)


@needs_browser
def test_the_first_hands_are_fast_and_the_last_slow(reader):
    for d, base in CODES:
        ways = []
        for step in (0, 1):
            found = marks(reader.draw(view="clock", step=step, d=d, base=base))
            ways.append([angle(found[f"to{i}"]) for i in range(d // 2)])
        speeds = np.subtract(*ways[::-1])
        assert speeds[0] == pytest.approx(1)
        np.testing.assert_allclose(speeds[1:] / speeds[:-1], base ** (-2 / d))


# --- shift ---


@needs_browser
@pytest.mark.parametrize(("d", "base"), CODES)
def test_moving_on_by_k_is_a_rotation(reader, d, base):
    for step, k in ((0, 1), (5, 3), (40, 3), (COUNT - 1, REACH), (12, 0)):
        drawn = reader.draw(view="shift", step=step, k=k, d=d, base=base)
        assert drawn.rows == [str(step), str(step + k)]
        np.testing.assert_allclose(
            drawn.values[:, :d], codes([step, step + k], d, base), atol=1e-12
        )
        moved = rotation(k, d, base) @ drawn.values[0, :d]
        np.testing.assert_allclose(drawn.values[1, :d], moved, atol=1e-12)
        far = sinusoidal_positions(COUNT + REACH, d, base)[step + k]
        np.testing.assert_allclose(drawn.values[1, :d], far, atol=1e-6)
        found, hands = marks(drawn), k / base ** (np.arange(0, d, 2) / d)
        for i, hand in enumerate(hands):
            between = angle(found[f"to{i}"]) - angle(found[f"from{i}"])
            assert apart(between, hand) < 1e-6
            assert apart(angle(found[f"from{i}"]), step / base ** (2 * i / d)) < 1e-6
            values = [found[f"{d}{key}0,{2 * i}"]["value"] for key in ("from", "to")]
            np.testing.assert_allclose(values, drawn.values[:, 2 * i])
        said = re.findall(r"hand (\d+) by \[p\|\*\*(.+?)\*\*\]", drawn.caption)
        assert said == [("1", turned(hands[0])), (str(d // 2), turned(hands[-1]))]


@needs_browser
@pytest.mark.parametrize("width", [700, 358])
@pytest.mark.parametrize(("d", "base"), CODES)
def test_the_dot_product_depends_on_the_distance_only(reader, d, base, width):
    exact = codes(np.arange(0, COUNT + REACH + 0.25, 0.25), d, base)  # quarters of positions
    curves = []
    for step, k in ((0, 3), (7, 3), (COUNT - 1, 3), (9, 0), (9, REACH), (30, 11)):
        drawn = reader.draw(view="shift", step=step, k=k, d=d, base=base, width=width)
        found, by_hand = marks(drawn), exact[4 * step] @ exact[4 * (step + k)]
        np.testing.assert_allclose(drawn.values[:, d], [d / 2, by_hand], atol=1e-8)
        assert f"dot product is **{by_hand:.2f}**".replace("-", "−") in drawn.caption
        assert f"**{by_hand:.2f}**".replace("-", "−") in found["dot"]["source"]
        x, y = points(found["curve"]["path"]).T
        low, high = (height(found[f"g{level}"]) for level in (-d // 2, d // 2))
        level = (y - low) / (high - low) * d - d / 2
        brute = exact[4 * step : 4 * (step + REACH) + 1] @ exact[4 * step]
        np.testing.assert_allclose(level, brute, atol=1e-6)
        dot = found["dotted"]
        np.testing.assert_allclose((centre(dot), dot["y"] + dot["h"] / 2), (x[4 * k], y[4 * k]))
        curves.append(found["curve"]["path"])
        if k == 3:
            assert drawn.values[1, d] == pytest.approx(
                np.cos(3 / base ** (np.arange(0, d, 2) / d)).sum(), abs=1e-8
            )
    np.testing.assert_allclose(*(points(path) for path in curves[:2]), atol=1e-5)
    np.testing.assert_allclose(points(curves[0]), points(curves[-1]), atol=1e-5)


@needs_browser
def test_no_key_is_of_two_kinds(reader):
    states = [{"order": said((2, 1, 0)), "on": True}, {"view": "clock"}, {"view": "shift"}]
    kinds = {}
    for state in states:
        drawn = reader.draw(step=9, **state)
        assert len(marks(drawn)) == len(drawn.marks)
        for key, mark in marks(drawn).items():
            assert kinds.setdefault(key, mark["kind"]) == mark["kind"], key


# --- a reader ---


def caption(reader):
    """What stands below the figure."""
    return reader.evaluate("document.querySelector('figcaption').textContent")


def choose(reader, option, value):
    """Press one of the choices above the figure."""
    reader.evaluate(f"document.querySelector('[data-option={option}] [value=\"{value}\"]').click()")


@needs_browser
def test_a_reader_swaps_words_and_switches_positions_on(reader, page):
    reader.open(page)
    start = reader.state()
    assert start == {"step": 0, "view": "swap", "on": False, "order": said(ORDERS[0]), "pick": -1,
                     "k": 3, "d": 8, "base": 100}  # fmt: skip
    assert "whose output will change?" in caption(reader)
    reader.tap("word:0")
    assert reader.state()["pick"] == 0
    assert "dog is chosen" in caption(reader)
    reader.tap("word:0")  # and not after all
    assert reader.state() == start
    reader.tap("word:0")
    reader.tap("word:2")
    assert (reader.state()["order"], reader.state()["pick"]) == ("man bites dog", -1)
    assert "Largest difference: 0.00" in caption(reader)
    choose(reader, "on", "true")
    assert "Order is back" in caption(reader)
    address = reader.evaluate("location.hash")
    assert "order=man+bites+dog" in address
    reader.open(page, at=address)
    assert reader.state() == start | {"order": "man bites dog", "on": True}
    reader.tap("word:1")
    reader.tap("word:2")
    assert reader.state()["order"] == "bites man dog"
    assert reader.complaints == []


@needs_browser
def test_a_reader_with_a_keyboard_swaps_neighbours(reader, page):
    reader.open(page)
    reader.evaluate("document.querySelector('.stage').focus()")
    reader.press("Tab", "Enter", "ArrowRight")
    assert reader.state()["order"] == "bites dog man"
    reader.press("Escape", "ArrowRight")
    assert reader.state()["step"] == 1


@needs_browser
def test_each_view_has_its_choices(reader, page):
    reader.open(page)
    for view, offered in (("clock", {"view", "d", "base"}), ("swap", {"view", "on"}),
                          ("shift", {"view", "d", "base"})):  # fmt: skip
        choose(reader, "view", view)
        shown = reader.evaluate(
            "[...document.querySelectorAll('.tools fieldset')]"
            ".filter((set) => set.checkVisibility()).map((set) => set.dataset.option)"
        )
        assert set(shown) == offered
    choose(reader, "d", "16")
    choose(reader, "base", "10000")
    assert "hand 8" in caption(reader)
    reader.evaluate("document.querySelector('[title=\"Start again\"]').click()")
    state = reader.state()
    assert (state["view"], state["d"], state["base"]) == ("shift", 16, 10_000)


@needs_browser
def test_a_reader_chooses_the_distance(reader, page):
    reader.open(page, at="#positions:view=shift&step=4")
    reader.tap("k:10")
    assert "From 4 to 14" in caption(reader)
    more = "document.querySelector('[data-at=\"by:0:{}\"]')" \
           ".dispatchEvent(new MouseEvent('click', { bubbles: true }))"  # fmt: skip
    reader.evaluate(more.replace("{}", "1"))
    assert reader.state()["k"] == 11
    for _ in range(3):
        reader.evaluate(more.replace("{}", "0"))
    assert reader.state()["k"] == 8
    value = re.search(r"dot product is (\S+)", caption(reader))[1]
    reader.evaluate("document.querySelector('[title=\"One step on\"]').click()")
    assert "From 5 to 13" in caption(reader)
    assert re.search(r"dot product is (\S+)", caption(reader))[1] == value
    for k, times, button in ((1, 3, 0), (REACH - 1, 3, 1)):  # not further than the axis goes
        reader.tap(f"k:{k}")
        for _ in range(times):
            reader.evaluate(more.replace("{}", str(button)))
        assert reader.draw(**reader.state()).rows[1] == str(5 + (REACH if button else 0))
    reader.open(page, at="#positions:view=shift")
    reader.evaluate("document.querySelector('.stage').focus()")
    reader.press("Tab", "Tab", "ArrowRight", "ArrowRight")
    assert reader.state()["k"] == 5
    assert reader.complaints == []


@needs_browser
def test_playing_moves_the_position_and_leaves_the_dot(reader):
    dots = {
        (mark["x"], round(mark["y"], 6))
        for step in range(0, COUNT, 9)
        for mark in reader.draw(view="shift", step=step).marks
        if mark["key"] == "dotted"
    }
    assert len(dots) == 1
    read = {reader.draw(view=view, step=step).caption for view in ("swap", "clock", "shift")
            for step in range(COUNT)}  # fmt: skip
    assert len(read) == 3 * COUNT  # every state says something of its own
    assert not any(re.search(r"undefined|NaN|Infinity", text) for text in read)


@needs_browser
@pytest.mark.parametrize(
    "address",
    ["view=x", "order=cat+bites+dog", "order=constructor", "order=9", "pick=7", "pick=length",
     "on=maybe", "view=clock&d=5", "view=shift&k=99", "view=shift&k=-4", "view=shift&k=x",
     "view=shift&base=0&d=x", "view=clock&step=99"],
)  # fmt: skip
def test_what_nobody_can_choose_is_not_drawn(reader, page, address):
    reader.open(page, at=f"#positions:{address}")
    words = reader.evaluate("document.querySelector('.explore').innerText")
    assert not re.search(r"undefined|NaN|Infinity|function", words)
    assert reader.evaluate("document.querySelectorAll('.stage text').length") > 10
    if "view=shift" in address:
        last = int(reader.draw(**reader.state()).rows[1])
        assert 0 <= last <= REACH
    act = reader.evaluate("document.querySelector('[data-act]')?.dataset.act")
    if act:
        reader.tap(act)
    assert reader.complaints == []


@needs_browser
@pytest.mark.parametrize("width", [320, 390, 782, 1280])
def test_nothing_overlaps_and_nothing_is_high(reader, page, width):
    views = [f"step=61&order=man+bites+dog&on={on}" for on in ("true", "false")]
    views += [
        f"view={view}&d={d}&base={base}&step={step}&k=29"
        for view in ("clock", "shift")
        for d in WIDTHS
        for base, step in ((16, 63), (100, 40), (10_000, 1))
    ]
    reader.open(page, width=width)
    for view in views:
        found, height = reader.clashes(f"positions:{view}", slack=2)
        assert found == [], view
        assert height <= (860 if width < 500 else 560), view
    assert reader.complaints == []


# --- one view alone ---


@pytest.fixture(scope="module")
def three(tmp_path_factory):
    """A page with each view in a figure of its own, as the chapter has them."""
    figures = positions("swap"), positions("clock", step=5), positions("shift", step=20)
    return write(tmp_path_factory.mktemp("positions") / "three.html", *figures)


def states(reader):
    """The states of all figures of a page."""
    found = "[...document.querySelectorAll('.explore')].map((root) => root.dataset.state)"
    return [json.loads(state) for state in reader.evaluate(found)]


@needs_browser
def test_three_figures_have_a_view_and_an_address_each(reader, three):
    reader.open(three)
    opened = [(state["view"], state["step"]) for state in states(reader)]
    assert opened == [("swap", 0), ("clock", 5), ("shift", 20)]
    offered = reader.evaluate(
        "[...document.querySelectorAll('.explore')].map((root) =>"
        "[...root.querySelectorAll('.tools fieldset'), root.querySelector('.bar')]"
        ".filter((part) => part.checkVisibility()).map((part) => part.dataset.option ?? 'bar'))"
    )
    assert offered == [["on"], ["d", "base", "bar"], ["d", "base", "bar"]]
    words = reader.evaluate(
        "[...document.querySelectorAll('figcaption')].map((words) => words.textContent)"
    )
    assert words[1].startswith("Position 5 has turned")
    assert words[2].startswith("From 20 to 23")
    for number, step in ((2, 6), (3, 21)):
        reader.evaluate(
            f"document.querySelectorAll('[title=\"One step on\"]')[{number - 1}].click()"
        )
        assert reader.evaluate("location.hash") == f"#positions-{number}:step={step}"
        assert states(reader)[number - 1]["step"] == step
    reader.open(three, at="#positions-3:step=40&k=7")
    shown = states(reader)
    assert [state["step"] for state in shown] == [0, 5, 40]
    assert shown[2]["k"] == 7
    for address in ("positions:view=clock&step=9", "positions-2:view=swap", "positions-3:view=x"):
        reader.open(three, at=f"#{address}")  # a view that this figure does not have
        assert [state["view"] for state in states(reader)] == list(VIEWS)
    assert reader.complaints == []


@pytest.mark.parametrize("step", [0, 5, 20, 33])
def test_the_stills_of_the_clocks_are_the_codes(step):
    for view, places in (("clock", [step]), ("shift", [step, step + 3])):
        figure = positions(view, step=step)
        assert figure.data["title"] == VIEWS[view]
        assert figure.data["views"] == [[view, view]]
        exact = codes(places, 8, 100)
        path = r'd="M([\d.]+) 54L([-\d.]+) ([-\d.]+)" class="wire s-p hand"'
        tips = np.array(re.findall(path, figure.still), float)
        ends = np.stack([tips[:, 1] - tips[:, 0], 54 - tips[:, 2]], axis=-1)
        ends /= np.linalg.norm(ends, axis=1, keepdims=True)
        np.testing.assert_allclose(ends.ravel(), exact[-1], atol=2e-3)
        numbers = re.findall(r">(−?\d\.\d)</text>", figure.still)
        shown = [f"{value:.1f}".replace("-", "−") for value in np.round(exact, 1).ravel() + 0.0]
        assert numbers == shown
        hands = (places[-1] - (step if view == "shift" else 0)) / 100 ** (np.arange(0, 8, 2) / 8)
        for hand in hands:
            assert f">{turned(hand)}</text>" in figure.still
            assert turned(hand) in figure.alt
        if view == "clock":
            bits = re.findall(r">([01])</text>", figure.still)
            assert [int(bit) for bit in bits[-6:]] == binary_positions(64, 6)[step].tolist()
        else:
            product = f"{exact[0] @ exact[1]:.2f}"
            assert f"dot product {product}</text>" in figure.still
            assert f"{product}." in figure.alt


def test_views_and_positions_that_there_are_not_are_refused():
    for name in ("clocks", "", None):
        with pytest.raises(ValueError, match="Expected views from: swap, clock, shift"):
            positions("swap", name)
    for views, step in ((("swap",), 1), ((), COUNT), (("clock",), -1), (("shift",), 0.5)):
        with pytest.raises(ValueError, match="Expected step: from 0 to"):
            positions(*views, step=step)


# --- what is handed over, and the still ---


def test_what_is_handed_over_is_small():
    figure = positions()
    assert len(json.dumps(figure.data)) < 2_000
    assert figure.data == positions().data
    assert figure.data["speeds"] == [1, 0.1]


def test_the_still_shows_what_swapping_changes():
    made = positions()
    differences = re.findall(r">(\d\.\d\d)</text>", made.still)
    expected = [np.abs(now - before).max(1) for before, now in (swapped(False), swapped(True))]
    assert differences == [f"{x:.2f}" for x in np.ravel(expected)]
    assert differences[:3] == ["0.00"] * 3
    assert min(map(float, differences[3:])) > 0.5
    numbers = re.findall(r"\d\.\d\d", made.alt)
    assert numbers == ["0.00", *differences[3:]]
    most = max(np.abs(swapped(on)).max() for on in (False, True))
    tints = [re.findall(r"cap\)\*\(?(\d\.\d+)|stroke-opacity:(\d\.\d+)", made.still)]
    for on, looks in zip((False, True), np.reshape(tints, (2, 24, 2)), strict=True):
        for value, (full, line) in zip(np.ravel(swapped(on)), looks, strict=True):
            strength = (abs(value) / most) ** 0.85
            assert bool(full) == (value > 0)
            expected = 0.07 + 0.93 * strength if value > 0 else 0.22 + 0.78 * strength
            assert float(full or line) == pytest.approx(expected, abs=6e-4)

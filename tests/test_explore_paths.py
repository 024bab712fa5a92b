"""Paths between words: counted by brute force and by layers, not by the figure's own formula."""

import itertools
import re

import keras
import numpy as np
import pytest
from browser import needs_browser
from explore_page import write
from keras import ops

from nlp104.attention.single_head import SelfAttention
from nlp104.figures import explore

KINDS = ("recurrence", "convolution, 3 wide", "convolution, 5 wide", "self-attention")
ALL = 8  # the step that shows the whole way


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """The figure on a page of its own."""
    return write(tmp_path_factory.mktemp("paths") / "page.html", explore.paths())


def sees(kind, n):
    """Who sees whom in one step: `[reader, read]`."""
    gap = np.arange(n)[:, None] - np.arange(n)
    return (
        (gap == 0) | (gap == 1),  # a state, and the one before
        np.abs(gap) <= 1,
        np.abs(gap) <= 2,
        np.full((n, n), True),
    )[kind]


def arrival(kind, n):
    """The step at which each word has heard of the first one: powers of the matrix."""
    steps, power = np.full(n, -1), np.eye(n, dtype=int)
    for step in range(n):
        steps[(steps < 0) & (power[:, 0] > 0)] = step
        power = np.minimum(power @ sees(kind, n), 1)
    return steps


@needs_browser
@pytest.mark.parametrize("n", [8, 16])
def test_the_counts_are_those_of_brute_force(reader, n):
    for step in range(ALL + 1):
        time = n - 1 if step == ALL else step
        drawn = reader.draw(step=step, n=n)
        assert drawn.rows == list(KINDS)
        assert len(drawn.columns) == n
        for kind, row in enumerate(drawn.values):
            expected = arrival(kind, n).astype(float)
            expected[expected > time] = np.nan  # not reached yet
            np.testing.assert_array_equal(row, expected)


@needs_browser
@pytest.mark.parametrize("n", [8, 16])
def test_the_counts_follow_the_formulas(reader, n):
    drawn = reader.draw(step=ALL, n=n)
    widths = (3, 5)
    layers = [int(np.ceil((n - 1) / ((k - 1) / 2))) for k in widths]
    np.testing.assert_array_equal(drawn.values[:, -1], [n - 1, *layers, 1])
    numbers = re.findall(r"\*\*(\d+)[^*]*\*\*", drawn.caption)
    assert numbers == [str(x) for x in (n - 1, *layers, 1, 1)]


@pytest.mark.parametrize("kind", [1, 2, 3])
def test_layers_of_keras_and_of_the_package_take_as_many(kind):
    keras.utils.set_random_seed(104)
    n, d = 8, 4
    x = np.random.default_rng(0).normal(size=(1, n, d)).astype("float32")
    other = x.copy()
    other[0, 0] += 1.0  # news of the first word
    heard = np.where(np.arange(n) == 0, 0, -1)
    for depth in range(1, n):
        if kind == 3:
            layer = SelfAttention(d)
        else:
            layer = keras.layers.Conv1D(d, 2 * kind + 1, padding="same")
        x, other = (ops.convert_to_numpy(layer(z)) for z in (x, other))
        moved = np.abs(x - other).max(-1)[0] > 0
        heard[(heard < 0) & moved] = depth
        x, other = x / x.std(), other / x.std()
    np.testing.assert_array_equal(heard, arrival(kind, n))


def test_a_recurrent_layer_has_to_wait_for_every_state():
    cell = keras.layers.SimpleRNNCell(3)
    state = [ops.zeros((1, 3))]
    x = np.random.default_rng(0).normal(size=(8, 1, 3)).astype("float32")
    steps = 0
    for word in x:  # no state can be computed before the one that it is made of
        _, state = cell(word, state)
        steps += 1
    whole = keras.layers.RNN(cell)(np.swapaxes(x, 0, 1))
    np.testing.assert_allclose(ops.convert_to_numpy(state[0]), whole, atol=1e-6)
    assert steps - 1 == arrival(0, 8)[-1]


# --- what is drawn ---


def nodes(drawn, kind):
    """Row, word and look of every node."""
    found = {}
    for mark in drawn.marks:
        if match := re.fullmatch(rf"n{kind},(\d+),(\d+)", mark["key"]):
            look = "waits" if mark["edge"] else "heard" if mark["strength"] == 1 else "computed"
            found[int(match[1]), int(match[2])] = look
    return found


@needs_browser
@pytest.mark.parametrize("n", [8, 16])
@pytest.mark.parametrize("kind", [1, 2, 3])
def test_what_is_lit_can_have_heard_of_it(reader, kind, n):
    rows = arrival(kind, n)[-1]
    for step in (0, 1, 2, 5, ALL):
        time = n - 1 if step == ALL else step
        seen = nodes(reader.draw(step=step, kind=kind, n=n), kind)
        assert len(seen) == (min(rows, time + 1) + 1) * n  # how many there will be is asked
        for (row, word), look in seen.items():
            heard = np.linalg.matrix_power(sees(kind, n).astype(int), row)[word, 0] > 0
            assert look == ("waits" if row > time else "heard" if heard else "computed")


@needs_browser
@pytest.mark.parametrize("n", [8, 16])
def test_a_recurrent_network_computes_one_state_in_a_step(reader, n):
    for step in range(ALL + 1):
        time = n - 1 if step == ALL else step
        drawn = reader.draw(step=step, kind=0, n=n)
        below = {place: look for place, look in nodes(drawn, 0).items() if place[0]}
        assert set(below) == {(row, row) for row in range(1, n)}  # those that wait, too
        waiting = n - 1 - time
        assert sum(look == "waits" for look in below.values()) == waiting
        if 0 < step < n - 1 and step < ALL:
            said = re.search(r"\*\*(\d+) words?\*\* still wait", drawn.caption)
            assert int(said[1]) == waiting


@needs_browser
@pytest.mark.parametrize("width", [700, 358])
@pytest.mark.parametrize("kind", range(4))
def test_the_way_leads_from_the_first_word_to_the_chosen_one(reader, kind, width):
    n = 8
    for to in range(1, n):
        drawn = reader.draw(step=ALL, kind=kind, to=to, width=width)
        marks = {mark["key"]: mark for mark in drawn.marks}
        points = re.findall(r"[\d.]+,[\d.]+", marks[f"way{kind}"]["path"])
        points = np.array([point.split(",") for point in points], float)
        centre = lambda mark: (mark["x"] + mark["w"] / 2, mark["y"] + mark["h"] / 2)  # noqa: E731
        places = {
            centre(marks[f"n{kind},{row},{word}"]): (row, word) for row, word in nodes(drawn, kind)
        }
        way = [
            next(place for at, place in places.items() if np.allclose(at, point, atol=0.1))
            for point in points
        ]
        assert [row for row, _ in way] == list(range(arrival(kind, n)[to] + 1))
        assert (way[0][1], way[-1][1]) == (0, to)
        for (_, before), (_, after) in itertools.pairwise(way):
            assert sees(kind, n)[after, before]
        assert centre(marks["news"]) == pytest.approx(tuple(points[-1]))
        too_early = reader.draw(step=int(arrival(kind, n)[to]) - 1, kind=kind, to=to, width=width)
        assert not any(mark["key"] == f"way{kind}" for mark in too_early.marks)


@needs_browser
@pytest.mark.parametrize("kind", [0, 1, 2, 3])
def test_wires_join_who_sees_whom(reader, kind):
    n, drawn = 8, reader.draw(step=ALL, kind=kind)
    marks = {mark["key"]: mark for mark in drawn.marks}
    x = [marks[f"n{kind},0,{word}"]["x"] + marks[f"n{kind},0,{word}"]["w"] / 2 for word in range(n)]
    joined = np.zeros((n, n), bool)
    for key, mark in marks.items():
        if re.fullmatch(rf"(all|lit){kind},\d+", key):
            for start, stop in re.findall(r"M([\d.]+) [\d.]+L([\d.]+)", mark["path"]):
                ends = [int(np.abs(np.array(x) - float(end)).argmin()) for end in (start, stop)]
                joined[ends[1], ends[0]] = True
    expected = sees(kind, n) if kind else np.eye(n, k=-1, dtype=bool)  # without a state's own past
    np.testing.assert_array_equal(joined, expected)


@needs_browser
def test_all_kinds_run_at_the_same_time(reader):
    n = 8
    for step in range(ALL + 1):
        time = min(step, n - 1)
        drawn = reader.draw(step=step)
        written = {mark["key"]: mark["source"] for mark in drawn.marks if mark["kind"] == "text"}
        for kind in range(4):
            need = int(arrival(kind, n)[-1])
            slots = [mark["strength"] == 1 for mark in drawn.marks
                     if re.fullmatch(rf"t8,{kind},\d", mark["key"])]  # fmt: skip
            np.testing.assert_array_equal(slots, arrival(kind, n) <= time)
            what = ("step" if kind == 0 else "layer") + "s" * (need > 1)
            running = f"{time} so far" if time else ""
            assert written[f"c{kind}"] == (f"{need} {what}" if time >= need else running)


# --- a reader ---


@needs_browser
def test_a_reader_chooses_the_kind_and_the_word(reader, page):
    reader.open(page)
    assert reader.state() == {"step": 0, "kind": 0, "to": -1, "n": 8}
    reader.tap("kind:2")
    reader.tap("to:5")
    for _ in range(3):
        reader.evaluate("document.querySelector('[title=\"One step on\"]').click()")
    assert reader.state() == {"step": 3, "kind": 2, "to": 5, "n": 8}
    caption = reader.evaluate("document.querySelector('figcaption').textContent")
    assert "Layer 3 reaches was" in caption
    reader.tap("kind:3")
    caption = reader.evaluate("document.querySelector('figcaption').textContent")
    assert "Meanwhile the recurrent network has come to say" in caption
    assert "4 words still wait" in caption
    reader.evaluate("document.querySelector('.tools [value=\"16\"]').click()")
    assert (reader.state()["n"], reader.state()["to"]) == (16, -1)
    assert reader.complaints == []


@needs_browser
def test_sixteen_words_are_for_wide_pages(reader, page):
    choice = "document.querySelector('[data-option=n]').checkVisibility()"
    for width, offered in ((1280, True), (390, False)):
        reader.open(page, at="#paths:n=16", width=width)
        reader.rest()
        assert reader.evaluate(choice) is offered
        words = "document.querySelectorAll('.stage [data-act^=to]').length"
        assert reader.evaluate(words) == (15 if offered else 7)
    reader.dress(1280)
    reader.rest()
    assert reader.evaluate(choice) is True


@needs_browser
@pytest.mark.parametrize("state", [{"kind": 9}, {"to": 99}, {"n": 5}, {"kind": "x", "to": "y"}])
def test_what_nobody_can_choose_is_not_drawn(reader, state):
    drawn = reader.draw(step=3, **state)
    assert len(drawn.columns) == 8
    assert "undefined" not in drawn.caption


def test_the_still_counts_the_steps_too():
    made = explore.paths()
    for count in (arrival(kind, 8)[-1] for kind in (0, 2, 3)):
        assert re.search(rf"\b{count} (steps|layers?)\b", made.alt)
        assert re.search(rf">{count} (steps|layers?)<", made.still)
    assert made.still.count("<rect") == (8 + 7) + 5 * 8 + 2 * 8

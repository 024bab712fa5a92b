"""The devices: what each holds is what Keras hands it, and what they send is what a ring sends."""

import itertools
import re

import numpy as np
import pytest
from browser import needs_browser
from explore_page import write

from nlp104 import Transformer
from nlp104.figures import explore
from nlp104.figures.explore.devices import (
    GRIDS,
    SIZES,
    TOKENS,
    config_of,
    held,
    ledger,
    ring,
    weights,
)
from nlp104.transformer import TransformerConfig

CASES = [(size, grid, which) for size in SIZES for grid in GRIDS for which in range(len(TOKENS))]


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """The figure on a page of its own."""
    return write(tmp_path_factory.mktemp("devices") / "page.html", explore.devices())


@pytest.fixture(scope="module")
def reader(window, page):
    """A browser that shows it."""
    window.open(page)
    return window


# --- the closed forms ---


@pytest.mark.parametrize("choices", [{}, {"tie_embeddings": True}, {"source_vocabulary_size": 5}])
def test_the_weights_are_those_of_a_model(choices):
    config = TransformerConfig(8, 24, 2, num_layers=2, vocabulary_size=10, **choices)
    model = Transformer(config)
    model({name: np.ones((1, 3), "int32") for name in ("encoder_token_ids", "decoder_token_ids")})
    made = [shape for _, shape, times in weights(config) for _ in range(times)]
    assert sorted(made) == sorted(tuple(v.shape) for v in model.trainable_variables)
    ends = {re.sub(r"(self_|cross_)(?=attention/)", "", v.path) for v in model.trainable_variables}
    for path, *_ in weights(config):
        other = path.replace("decoder_embedding", "encoder_embedding")  # where it is tied
        assert any(end.endswith(path) or end.endswith(other) for end in ends), path


def in_a_ring(devices, size):
    """Sums arrays of as many devices piece by piece, and counts what each sends."""
    random = np.random.default_rng(104)
    pieces = random.integers(0, 9, (devices, devices, size // devices))
    total, sent = pieces.sum(axis=0), 0
    for add in (True, False):  # first sums travel, then what they came to
        for step in range(devices - 1):
            number = [(device - step + (not add)) % devices for device in range(devices)]
            moving = [pieces[device, number[device]].copy() for device in range(devices)]
            sent += moving[0].size
            for device in range(devices):
                to = (device + 1) % devices
                old = pieces[to, number[device]] if add else 0
                pieces[to, number[device]] = old + moving[device]
    assert (pieces == total).all()
    return sent


@pytest.mark.parametrize("devices", [2, 4, 8])
def test_a_ring_sends_what_its_formula_says(devices):
    assert in_a_ring(devices, 64) == ring(devices) * 64
    assert ring(1) == 0


def test_a_step_of_base_by_hand():
    base = config_of("base")
    d, tokens, layers, words = 512, 2_048, 6, 37_000
    attention, network, norm = 4 * (d * d + d), 2 * d * 2_048 + 2_048 + d, 2 * d
    assert held(base, 1) == layers * (3 * attention + 2 * network + 5 * norm) + words * d + words
    whole = layers * (3 * d + 2 * d + 5 * norm)  # of W_O and W_2 the bias, and all norms
    assert held(base, 8) == whole + (held(base, 1) - whole) // 8
    vector = 1.75 * 4 * tokens * d
    expected = [2 * vector, 18 * vector, 12 * vector, 1.75 * 16 * tokens, 37 * vector, 0]
    assert ledger(base, 1, 8, [tokens])["sent"] == [expected]
    assert ledger(base, 8, 1, [tokens])["sent"] == [[0, 0, 0, 0, 0, 1.75 * 4 * held(base, 1)]]
    assert not ledger(config_of("tiny"), 2, 4, TOKENS)["vocabulary"]  # 650 words, by 4


# --- what is drawn ---


@needs_browser
@pytest.mark.parametrize(("size", "grid", "which"), CASES)
def test_the_figure_shows_the_ledger(reader, size, grid, which):
    rows, slices = GRIDS[grid]
    config = config_of(size)
    drawn = reader.draw(size=size, grid=grid, tokens=TOKENS[which], step=13)
    if config.num_heads % slices:
        assert np.isnan(drawn.values).all()
        assert "**4 heads**, and a head is not cut: 8 slices are refused" in drawn.caption
        return
    expected = ledger(config, rows, slices, TOKENS)
    kept = expected["held"]
    assert drawn.values[:, 0].tolist() == [kept, kept, 2 * kept, *expected["sent"][which]]


@needs_browser
@pytest.mark.parametrize("grid", GRIDS)
def test_slices_tile_each_matrix_and_rows_of_devices_repeat_it(reader, grid):
    rows, slices = GRIDS[grid]
    marks = {mark["key"]: mark for mark in reader.draw(grid=grid, step=6).marks}
    for number, cut in enumerate("yxyxy"):
        side = {"x": "w", "y": "h"}[cut]
        for row in range(rows):
            ids = [slices * row + s for s in range(slices)]
            frames = [marks[f"m{i},{number}"] for i in ids]
            parts = [marks[f"s{i},{number},0"] for i in ids]
            length = sum(part[side] for part in parts)
            assert length == pytest.approx(frames[0][side], abs=14 * (number == 1))
            starts = [part[cut] - frame[cut] for part, frame in zip(parts, frames, strict=True)]
            assert starts == pytest.approx(np.arange(slices) * parts[0][side])
    for device in range(8):
        assert (f"x{device}" in marks) == (device < rows * slices)
        assert (f"h{device}" in marks) == (slices > 1)  # partial sums are hatched
        if device < rows * slices:
            x, frame = marks[f"x{device}"], marks[f"X{device}"]
            assert x["h"] == pytest.approx(frame["h"] / rows)
            assert x["y"] - frame["y"] == pytest.approx(device // slices * x["h"])


@needs_browser
def test_only_those_who_add_up_are_joined(reader):
    def lines(grid, step):
        return {m["key"] for m in reader.draw(grid=grid, step=step).marks if m["kind"] == "line"}

    for step in range(14):
        assert lines("one", step) == set()
        assert bool(lines("rows", step)) == (step == 11)
        assert bool(lines("slices", step)) == (step in (1, 4, 7, 9, 10))
        assert bool(lines("both", step)) == (step in (1, 4, 7, 9, 10, 11))
    assert {"bus0", "bus1"} <= lines("both", 4)  # along the rows
    assert {"bus0", "bus3", "down0"} <= lines("both", 11)  # between them


# --- a reader ---


@needs_browser
def test_a_reader_asks_a_device(reader, page):
    reader.open(page, at="#devices:grid=both")
    reader.tap("device:6")
    words = reader.evaluate("document.querySelector('.stage').textContent")
    assert "Device 7 works on" in words
    for part in ("1,025–2,048 of", "5–6 of 8", "1,025–1,536 of", "18,501–27,750 of"):
        assert part in words
    reader.evaluate("document.querySelector('[data-option=grid] [value=one]').click()")
    assert "Device 1 works on" in reader.evaluate("document.querySelector('.stage').textContent")
    assert reader.complaints == []


@needs_browser
@pytest.mark.parametrize(
    "address", ["grid=none&size=x&tokens=7", "device=-4&step=4", "device=1e9", "grid=constructor"]
)
def test_what_nobody_can_choose_is_drawn(reader, page, address):
    reader.open(page, at=f"#devices:{address}")
    words = reader.evaluate("document.querySelector('.explore').innerText")
    assert not re.search(r"undefined|NaN|Infinity|function", words)
    assert reader.evaluate("document.querySelectorAll('.stage rect').length") > 40
    assert reader.complaints == []


@needs_browser
@pytest.mark.parametrize("width", [320, 390, 782, 1280])
def test_nothing_overlaps_and_nothing_jumps(reader, page, width):
    reader.open(page, width=width)
    heights = set()
    for size, grid, step in itertools.product(("tiny", "big"), GRIDS, (0, 4, 11)):
        address = f"size={size}&grid={grid}&tokens={TOKENS[1]}&step={step}&device=7"
        found, height = reader.clashes(f"devices:{address}")
        assert found == [], address
        heights.add(height)
    assert len(heights) == 1
    assert heights.pop() <= (700 if width < 500 else 480)
    assert reader.complaints == []


# --- the still ---


def test_the_still_draws_the_slices_of_all_eight():
    figure = explore.devices()
    rects = re.findall(r'class="f-(\w+)"', figure.still)
    assert {name: rects.count(name) for name in set(rects)} == {
        **dict.fromkeys(("ink", "q", "k", "v"), 8), "r": 24,
    }  # fmt: skip
    alone, shared = (held(config_of("base"), slices) * 4 / 1e6 for slices in (1, 4))
    assert f"hold {alone:.0f} MB of weights; here each holds {shared:.0f} MB" in figure.alt

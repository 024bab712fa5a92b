"""The explorable of a decoder that writes: its weights are those of the package's softmax."""

import itertools
import re

import numpy as np
import pytest
from browser import needs_browser
from explore_page import write

from nlp104.attention.masks import causal_mask, masked_softmax
from nlp104.figures import explore

WORDS = ["[PAD]", "[START]", "le", "chat", "dort", "ici"]
NEXT = ["", *WORDS[2:], "[END]"]
COUNT, HEADS = len(WORDS), 2
SCORES = (2 * np.random.default_rng(104).normal(size=(HEADS, COUNT, COUNT))).round(4)
LAST = COUNT - 1  # the step of training; the words are written in steps 0 to 4


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """A page with the figure."""
    figure = explore.masked_attention(SCORES, WORDS, NEXT)
    return write(tmp_path_factory.mktemp("masked") / "page.html", figure)


def places(step, padding):
    """The rows, and columns, that a step shows."""
    return np.arange(0 if padding == "on" else 1, min(step + 1, LAST) + 1)


def seen(step, padding, future):
    """Which of them may be seen, `[row, column]`."""
    here = places(step, padding)
    mask = np.ones((COUNT, COUNT), bool) if future == "visible" else np.array(causal_mask(COUNT))
    mask[:, 0] = False  # padding
    return mask[np.ix_(here, here)]


def softmax(scores):
    """Without any mask."""
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def scores(step, padding, head):
    """Those of the rows and columns that a step shows."""
    here = places(step, padding)
    return SCORES[head][np.ix_(here, here)]


STATES = [
    dict(zip(("step", "padding", "future", "when", "head"), values, strict=True))
    for values in itertools.product(
        range(LAST + 1), ("off", "on"), ("hidden", "visible"), ("before", "after"), range(HEADS)
    )
]


def expected(state):
    """The weights of a state, and which of them may be seen."""
    may = seen(state["step"], state["padding"], state["future"])
    rows = scores(state["step"], state["padding"], state["head"])
    if state["when"] == "before":
        return np.array(masked_softmax(rows, may)), may
    return softmax(rows) * may, may


@needs_browser
def test_the_weights_of_every_state_are_those_of_the_package(reader):
    for state in STATES:
        drawn = reader.draw(**state)
        weights, may = expected(state)
        here = places(state["step"], state["padding"])
        assert drawn.rows == drawn.columns == [WORDS[place] for place in here]
        np.testing.assert_array_equal(np.isnan(drawn.values), ~may)
        np.testing.assert_allclose(np.nan_to_num(drawn.values), weights, atol=1e-12)
        cells = drawn.cells("a")
        assert [cell["hidden"] for cell in cells] == (~may).ravel().tolist()
        np.testing.assert_allclose(
            [cell["value"] for cell in cells], np.nan_to_num(drawn.values).ravel(), atol=0
        )
        assert {cell["text"] for cell in cells if cell["hidden"]} <= {"0"}


@needs_browser
def test_a_row_adds_up_to_1_unless_the_mask_comes_too_late(reader):
    for state in STATES:
        drawn = reader.draw(**state)
        sums = np.nansum(drawn.values, axis=1)
        _, may = expected(state)
        empty = ~may.any(axis=1)
        np.testing.assert_array_equal(sums[empty], 0.0)
        if state["when"] == "before":
            np.testing.assert_allclose(sums[~empty], 1.0, atol=1e-12)
        else:
            everything = softmax(scores(state["step"], state["padding"], state["head"]))
            thrown = (everything * ~may).sum(axis=1)
            np.testing.assert_allclose(sums, 1.0 - thrown, atol=1e-12)
            assert (sums[(~may).any(axis=1)] < 1.0).all()
        # Bars and sums show the same.
        width = {mark["key"]: mark["w"] for mark in drawn.marks if mark["kind"] == "area"}
        texts = {mark["key"]: mark["source"] for mark in drawn.marks if mark["kind"] == "text"}
        for place, row, total in zip(
            places(state["step"], state["padding"]), drawn.values, sums, strict=True
        ):
            assert texts[f"t{place}"] == f"{total:.2f}"
            ground = width[f"b{place}"]
            bars = [width[f"s{place},{j}"] for j in range(len(row))]
            gap = 1.2  # between two bars
            shares = np.maximum(0, np.nan_to_num(row) * ground - gap)
            np.testing.assert_allclose(bars, shares, atol=1e-9)


@needs_browser
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_row_of_padding_alone_is_zero_and_said_to_be(reader, when):
    drawn = reader.draw(step=LAST, padding="on", when=when)
    np.testing.assert_array_equal(np.nan_to_num(drawn.values[0]), 0.0)
    assert drawn.rows[0] == "[PAD]"
    assert "**[PAD]** may look at nothing" in drawn.caption
    assert "**0.00**" in drawn.caption


@needs_browser
def test_what_leaks_is_the_weight_on_later_words(reader):
    told = 0
    for step, head, padding in itertools.product(range(LAST + 1), range(HEADS), ("off", "on")):
        here = places(step, padding)
        state = {"step": step, "head": head, "padding": padding, "future": "visible"}
        weights, may = expected(state | {"when": "before"})
        later = np.triu(np.ones_like(may), 1) & may
        leaks = (weights * later).sum(axis=1)
        drawn = reader.draw(**state)
        assert [cell["leak"] for cell in drawn.cells("a")] == later.ravel().tolist()
        for row, place in enumerate(here):
            caption = reader.draw(**state, row=int(place)).caption
            if leaks[row] == 0:
                assert "A leak" not in caption
                continue
            told += 1
            assert f"row **{WORDS[place]}**" in caption
            first, *answer = re.findall(r"\[a\|\*\*([\d.]+)\*\*\]", caption)
            assert first == f"{leaks[row]:.2f}"
            written = [j for j, other in enumerate(here)
                       if later[row, j] and WORDS[other] == NEXT[place]]  # fmt: skip
            assert answer == [f"{weights[row, j]:.2f}" for j in written]
    assert told > 50
    # Unasked, the row is followed that sees most of the word that it has to write.
    weights, _ = expected({"step": LAST, "padding": "off", "future": "visible", "when": "before",
                           "head": 0})  # fmt: skip
    rows = range(len(weights))
    seen = [
        sum(weights[row, j] for j in rows if j > row and WORDS[1 + j] == NEXT[1 + row])
        for row in rows
    ]
    assert (
        f"row **{WORDS[1 + int(np.argmax(seen))]}**"
        in reader.draw(step=LAST, future="visible").caption
    )


@needs_browser
@pytest.mark.parametrize("padding", ["off", "on"])
def test_training_computes_the_rows_that_came_out_while_writing(reader, padding):
    for head in range(HEADS):
        whole = reader.draw(step=LAST, padding=padding, head=head).values
        for step in range(LAST):
            part = reader.draw(step=step, padding=padding, head=head).values
            count = len(part)
            np.testing.assert_array_equal(part, whole[:count, :count])
            np.testing.assert_array_equal(whole[:count, count:], np.nan)  # what came later
    # Where the future is seen, they are not the same.
    part, whole = (reader.draw(step=step, future="visible").values for step in (2, LAST))
    assert (part[:3, :3] > whole[:3, :3] + 1e-3).any()


@needs_browser
def test_the_chosen_row_is_written_out_line_by_line(reader):
    for step, row, when, future in itertools.product(
        (3, LAST), (1, 3), ("before", "after"), ("hidden", "visible")
    ):
        drawn = reader.draw(step=step, row=row, when=when, future=future, padding="on")
        may = seen(step, "on", future)[row]
        raw = scores(step, "on", 0)[row]
        hidden = np.where(may, raw, -np.inf)
        lines = {"score": raw}
        if when == "before":
            lines |= {"+ mask": hidden, "softmax": softmax(hidden)}
        else:
            lines |= {"softmax": softmax(raw), "× mask": softmax(raw) * may}
        steps = [mark["source"] for mark in drawn.marks if mark["kind"] == "step"]
        assert steps == list(lines)
        texts = {mark["key"]: mark["source"] for mark in drawn.marks if mark["kind"] == "text"}
        for name, numbers in lines.items():
            shown = [texts[f"l{name}{place}"] for place in places(step, "on")]
            shown = [float(text.replace("−", "-").replace("∞", "inf")) for text in shown]
            digits = 1 if name in ("score", "+ mask") else 2
            np.testing.assert_allclose(shown, numbers, atol=0.501 * 10.0**-digits)


@needs_browser
def test_it_opens_at_a_row_from_which_a_word_is_hidden(reader, page):
    reader.open(page)
    drawn = reader.draw(**reader.state())
    row = drawn.rows.index(WORDS[3])
    assert np.flatnonzero(np.isnan(drawn.values[row])).tolist() == [row + 1]
    assert f"Row **{WORDS[3]}** may look at" in drawn.caption
    assert f"**{WORDS[4]}** comes later" in drawn.caption
    assert "**−∞**" in drawn.caption


@needs_browser
def test_choices_lead_to_where_there_is_something_to_see(reader):
    click = "document.querySelector('[data-option=%s] [value=%s]').click()"
    assert reader.state()["step"] == 3  # the mask is seen at once
    reader.evaluate(
        "for (const _ of [1, 2, 3]) document.querySelector('[title=\"One step back\"]').click()"
    )
    assert reader.state()["step"] == 0
    reader.evaluate(click % ("future", "visible"))
    assert reader.state()["step"] >= 2
    assert "A leak" in reader.evaluate("document.querySelector('figcaption').textContent")
    reader.evaluate(click % ("future", "hidden"))
    reader.evaluate(click % ("when", "after"))
    caption = reader.evaluate("document.querySelector('figcaption').textContent")
    assert "Masked too late" in caption
    weights, _ = expected({**reader.state(), "when": "after"})
    worst = weights.sum(axis=1).argmin()
    assert f"Row {WORDS[1 + worst]} keeps only {weights[worst].sum():.2f}." in caption
    reader.tap("row:3")
    assert reader.state()["row"] == 3


NUMBERS = """() => {
  const rows = new Map(), touching = [];
  for (const text of document.querySelectorAll('.stage text')) {
    const { left, right, top, width } = text.getBoundingClientRect(), words = text.textContent;
    if (!width || !/^[−.\\d]+$/.test(words) || text.getAttribute('opacity') === '0') continue;
    if (!rows.has(top)) rows.set(top, []);
    rows.get(top).push({ left, right, words });
  }
  for (const row of rows.values()) {
    row.sort((one, other) => one.left - other.left);
    for (let i = 1; i < row.length; i++)
      if (row[i].left <= row[i - 1].right) touching.push([row[i - 1].words, row[i].words]);
  }
  return touching;
}"""


@needs_browser
@pytest.mark.parametrize("width", [390, 360, 320])
def test_on_a_phone_numbers_do_not_touch_and_all_fits_one_screen(reader, page, width):
    reader.open(page, width=width)
    tall = "document.querySelector('.explore').offsetHeight"
    for padding in ("off", "on"):
        choice = f"[data-option=padding] [value={padding}]"
        reader.evaluate(f"document.querySelector('{choice}').click()")
        for step in range(LAST + 1):
            reader.evaluate(
                f"""{{ const slider = document.querySelector('[type=range]');
                slider.value = {step}; slider.dispatchEvent(new Event('input')); }}"""
            )
            assert reader.call(NUMBERS) == [], (padding, step)
            if width == 390 and padding == "off":
                assert reader.evaluate(tall) <= 800


@needs_browser
def test_the_word_of_a_row_can_be_read_while_things_move(reader, page):
    reader.open(page, motion="no-preference")
    reader.evaluate("document.querySelector('[title=\"One step on\"]').click()")
    assert reader.evaluate("document.getAnimations().length") > 0
    looks = reader.evaluate("""['r:4:0', 'r:5:0'].map((row) =>
      [...document.querySelector(`[data-at="${row}"]`).children]
        .map((part) => getComputedStyle(part).fill))""")
    ink, ground = "rgb(27, 36, 48)", "rgb(255, 255, 255)"
    assert looks == [[ground, ink], [ink, ground]]  # a pill, and what is written on it


def test_the_still_is_the_finished_sentence():
    made = explore.masked_attention(SCORES, WORDS, NEXT)
    weights = np.array(masked_softmax(SCORES[0, 1:, 1:], causal_mask(COUNT - 1)))
    numbers = re.findall(r"<text[^>]*>([\d.]+)</text>", made.still)
    shown = np.array(numbers, float).reshape(COUNT - 1, COUNT - 1)
    np.testing.assert_allclose(shown, weights, atol=0.00501)
    assert made.still.count('class="hatch"') == (COUNT - 1) * (COUNT - 2) / 2
    assert all(word in made.alt for word in WORDS[1:])


@pytest.mark.parametrize(
    ("scores", "tokens", "words", "message"),
    [
        (SCORES[0], WORDS, NEXT, "Expected scores of shape (any, 6, 6). Received: (6, 6)."),
        (SCORES[:, 1:], WORDS, NEXT, "Expected scores of shape (any, 6, 6). Received: (2, 5, 6)."),
        (SCORES, WORDS[1:], NEXT, "Expected scores of shape (any, 5, 5). Received: (2, 6, 6)."),
        (SCORES, WORDS, NEXT[1:], "Expected 6 next tokens. Received: 5."),
    ],
)
def test_what_does_not_fit_is_refused_in_words(scores, tokens, words, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        explore.masked_attention(scores, tokens, words)

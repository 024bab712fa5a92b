"""The laboratory of the softmax: its numbers are NumPy's and the layers', and say what they should.

"Near d" for the variance of the drawn scores: each of the n scores has the variance d. Scores of
one sample share a query, so their squares are correlated. The variance of their mean square is
d² (2 + 14 / d) / n; three times its root is allowed.
"""

import json
import re

import numpy as np
import pytest
from browser import needs_browser
from explore_page import write
from keras import ops

from nlp104.attention.single_head import DotProductAttention, ScaledDotProductAttention
from nlp104.figures import explore
from nlp104.figures.explore.softmax_lab import (
    SHOWN,
    START,
    WIDTHS,
    WORDS,
    dot_products,
    random_vectors,
)

SCORES = dot_products(104, SHOWN)
ROOTS = np.sqrt(WIDTHS)


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """The figure on a page of its own."""
    return write(tmp_path_factory.mktemp("lab") / "page.html", explore.softmax_lab())


def softmax(logits):
    """Without the package."""
    powers = np.exp(logits - logits.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def measure(weights):
    """Entropy in bits, largest weight, largest entry of the Jacobian: of one row of weights."""
    entropy = -sum(p * np.log2(p) for p in weights if p > 0)
    return entropy, weights.max(), np.abs(np.diag(weights) - np.outer(weights, weights)).max()


def texts(drawn):
    """What is written, by the key of the mark."""
    return {mark["key"]: mark["source"] for mark in drawn.marks if mark["kind"] == "text"}


def number(text):
    """The first number in a text, powers of ten with it."""
    plain = re.sub(r"·10\$\^\{−(\d+)\}\$", r"e-\1", text).replace("−", "-").replace("*", "")
    return float(re.search(r"-?[\d.]+(e-\d+)?", plain)[0])


def shown(drawn):
    """How many words it is like choosing among, and the steepest slope, as the reader sees them."""
    written = texts(drawn)
    return number(written["among"].partition("among")[2]), number(written["slope"])


def means(seed=104, samples=500):
    """Entropy, largest weight and steepest slope without the scale and with it `[3, width]`."""
    scores = dot_products(seed, samples)
    found = []
    for logits in (scores, scores / ROOTS[:, None, None]):
        weights = softmax(logits)
        entropy = -(weights * np.log2(np.maximum(weights, 1e-300))).sum(-1)
        slope = (weights * (1 - weights)).max(-1)
        found.append(np.stack([entropy, weights.max(-1), slope]).mean(-1))
    return found


# --- the numbers ---


@needs_browser
@pytest.mark.parametrize("scale", [False, True])
def test_weights_are_those_of_the_layers(reader, scale):
    queries, keys = random_vectors(104, SHOWN)
    layer = ScaledDotProductAttention() if scale else DotProductAttention()
    for step, width in enumerate(WIDTHS):
        vectors = queries[:, :width], keys[..., :width]
        _, weights = layer(*vectors, return_attention_scores=True)
        weights = ops.convert_to_numpy(weights)
        for sample in (0, 1, SHOWN - 1):
            drawn = reader.draw(step=step, sample=sample, scale=scale)
            assert ("apart, as before" in drawn.caption) == (scale and width == 1)
            assert (drawn.rows, drawn.columns) == (list(WORDS), ["score", "weight"])
            logits = SCORES[step, sample] / (ROOTS[step] if scale else 1)
            np.testing.assert_allclose(drawn.values[:, 0], logits, atol=6e-4)
            np.testing.assert_allclose(drawn.values[:, 1], weights[sample], atol=5e-4)


@needs_browser
@pytest.mark.parametrize("scale", [False, True])
def test_the_two_numbers_are_numpys(reader, scale):
    rng = np.random.default_rng(3)
    states = [{"sample": sample} for sample in range(0, SHOWN, 3)]
    states += [{"hand": ",".join(f"{x:.2f}" for x in 6 * rng.normal(size=5))} for _ in range(4)]
    states += [{"hand": "1,1,1,1,1"}, {"hand": "90,-90,-90,-90,-90"}]
    for step in (0, 4, 10):
        for state in states:
            drawn = reader.draw(step=step, scale=scale, **state)
            weights = softmax(drawn.values[:, 0])
            np.testing.assert_allclose(drawn.values[:, 1], weights, atol=1e-12)
            entropy, _, slope = measure(weights)
            among, steepest = shown(drawn)
            assert among == pytest.approx(2**entropy, abs=0.0501)
            assert steepest == pytest.approx(slope, abs=0.000501 if slope > 5e-4 else slope)
            fields = [next(m for m in drawn.marks if m["key"] == f"{k}{i}")["w"]
                      for k in "cm" for i in range(5)]  # fmt: skip
            assert 5 * sum(fields[5:]) / sum(fields[:5]) == pytest.approx(2**entropy)


def test_the_steepest_slope_is_the_steepest():
    scores, nudge = np.random.default_rng(5).normal(0, 2, 5), 1e-6
    slopes = [
        (softmax(scores + nudge * way) - softmax(scores - nudge * way)) / (2 * nudge)
        for way in np.eye(5)
    ]
    assert np.abs(slopes).max() == pytest.approx(measure(softmax(scores))[2], abs=1e-8)


def test_what_is_handed_over_is_small_and_drawn_once():
    figure = explore.softmax_lab()
    assert len(json.dumps(figure.data)) < 30_000
    assert figure.data == explore.softmax_lab(seed=104).data
    assert figure.data["scores"] != explore.softmax_lab(seed=1).data["scores"]
    np.testing.assert_allclose(figure.data["scores"], SCORES, atol=5.01e-4)


# --- what the eye is to learn ---


@pytest.mark.parametrize("seed", [104, 1, 2])
def test_longer_vectors_saturate_the_softmax_and_the_scale_prevents_it(seed):
    off, on = means(seed)
    entropy, largest, slope = off
    assert np.all(np.diff(entropy) < 0)
    assert np.all(np.diff(largest) > 0)
    assert np.all(np.diff(slope[3:]) < 0)  # at first it rises a little
    assert (entropy[-1], slope[-1]) < (0.15, 0.03)
    assert largest[-1] > 0.95
    # With the scale all three stay level, from the width on where sums are nearly normal.
    np.testing.assert_allclose(on[:, 3:], on[:, 3:4] * np.ones(8), rtol=0.06)
    assert on[0].min() > 1.8
    assert on[1].max() < 0.5
    assert on[2].min() > 0.2


@needs_browser
def test_the_samples_on_the_page_saturate_too(reader):
    for step, low, high in ((0, 3.5, 5.0), (10, 1.0, 1.25)):
        seen = [shown(reader.draw(step=step, sample=sample)) for sample in range(SHOWN)]
        assert low <= np.mean(seen, 0)[0] <= high
    level = [shown(reader.draw(step=10, sample=sample, scale=True)) for sample in range(SHOWN)]
    assert 3.2 < np.mean(level, 0)[0] < 4.0


@pytest.mark.parametrize("seed", [104, 1, 2])
def test_the_variance_of_the_samples_is_near_the_width(seed):
    for samples in (SHOWN, 500):
        scores = dot_products(seed, samples)
        count = samples * len(WORDS)
        for width, all_scores in zip(WIDTHS, scores, strict=True):
            allowed = 3 * np.sqrt((2 + 14 / width) / count)
            assert abs(all_scores.var() / width - 1) < allowed, (width, samples)


# --- a hand on the scores ---

GRIP = """(i) => {
  const grip = document.querySelectorAll('[role="slider"]')[i].getBoundingClientRect();
  return [grip.x + grip.width / 2, grip.y + grip.height / 2];
}"""


def drag(reader, word, *ways):
    """Pull a score up by so many pixels, one way after the other."""
    x, y = reader.call(GRIP, word)
    button = {"button": "left", "clickCount": 1}
    reader.ask("Input.dispatchMouseEvent", type="mousePressed", x=x, y=y, **button)
    for way in ways:
        y -= way
        reader.ask("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y, buttons=1, **button)
    reader.ask("Input.dispatchMouseEvent", type="mouseReleased", x=x, y=y, **button)


def caption(reader):
    """What stands below the figure."""
    return reader.evaluate("document.querySelector('figcaption').textContent")


@needs_browser
def test_a_score_follows_the_hand(reader, page):
    reader.open(page, at="#softmax_lab:step=2")
    before = reader.draw(step=2).values
    drag(reader, 1, 10, 20, 16)  # 46 of 184 pixels for −4 to 4: 2 more
    state = reader.state()
    assert state["word"] == 1
    after = reader.draw(**state).values
    changed = after[:, 0] - before[:, 0]
    assert changed[1] == pytest.approx(2.0, abs=0.11)  # it snaps to tenths
    np.testing.assert_allclose(np.delete(changed, 1), 0.0, atol=0.0051)
    assert after[1, 1] > before[1, 1] + 0.2
    for text in ("You pulled cats from", f"{before[1, 1]:.2f} to {after[1, 1]:.2f}"):
        assert text in caption(reader)
    hash_ = reader.evaluate("location.hash")
    reader.open(page, at=hash_)
    assert reader.state() == state
    drag(reader, 1, -40, -400)  # not further than the axis goes
    assert reader.draw(**reader.state()).values[1, 0] == -4.0
    assert reader.complaints == []


@needs_browser
def test_a_score_follows_the_keys(reader, page):
    reader.open(page, at="#softmax_lab:step=0&sample=0")
    reader.evaluate("document.querySelector('.stage').focus()")
    reader.press("Tab", "Tab")
    active = "document.activeElement"
    assert reader.evaluate(f"{active}.ariaLabel") == "Score of black"
    values = lambda: reader.draw(**reader.state()).values[:, 0]  # noqa: E731
    start = values()
    reader.press("ArrowUp", "ArrowUp", "ArrowUp")
    assert values()[0] == pytest.approx(round(start[0], 1) + 0.3)
    assert float(reader.evaluate(f"{active}.ariaValueNow")) == pytest.approx(values()[0])
    reader.press("ArrowDown")
    assert values()[0] == pytest.approx(round(start[0], 1) + 0.2)
    reader.press("ArrowRight")
    assert reader.evaluate(f"{active}.ariaLabel") == "Score of cats"
    assert reader.state()["word"] == 1
    reader.press("End")
    assert values()[1] == 4.0
    reader.press("Home")
    assert values()[1] == -4.0
    assert reader.state()["step"] == 0
    ends = [reader.evaluate(f"{active}.ariaValue{end}") for end in ("Min", "Max")]
    assert ends == ["-4", "4"]
    reader.press("Escape", "ArrowRight")  # the stage again: one width further
    assert (reader.state()["step"], reader.state()["hand"]) == (1, "")
    assert reader.complaints == []


@needs_browser
def test_a_saturated_softmax_does_not_feel_a_hand_and_a_scaled_one_does(reader, page):
    felt = {}
    for scale in ("false", "true"):
        reader.open(page, at=f"#softmax_lab:step=10&sample=0&scale={scale}")
        before = reader.draw(**reader.state()).values
        drag(reader, 2, 12)
        after = reader.draw(**reader.state()).values
        assert after[2, 0] > before[2, 0] + 0.4
        felt[scale] = after[2, 1] - before[2, 1]
        assert ("does not feel it" in caption(reader)) is (scale == "false")
    assert felt["false"] < 1e-5
    assert felt["true"] > 0.05


@needs_browser
def test_the_hand_is_divided_like_everything_and_forgotten_at_the_next_width(reader, page):
    reader.open(page, at="#softmax_lab:step=6&hand=16,8,0,0,-8")
    np.testing.assert_array_equal(reader.draw(**reader.state()).values[:, 0], [16, 8, 0, 0, -8])
    reader.evaluate("document.querySelector('.tools [value=true]').click()")
    np.testing.assert_array_equal(reader.draw(**reader.state()).values[:, 0], [2, 1, 0, 0, -1])
    reader.evaluate("document.querySelector('[title=\"One step on\"]').click()")
    assert reader.state()["hand"] == ""
    reader.tap("sample")
    assert reader.state()["sample"] == START["sample"] + 1
    reader.open(page, at=f"#softmax_lab:sample={SHOWN - 1}&hand=1,2,3,4,5")
    reader.tap("sample")
    assert (reader.state()["sample"], reader.state()["hand"]) == (0, "")


@needs_browser
@pytest.mark.parametrize("hand", ["x", "1,2", "1,2,3,4,NaN", "1e9,0,0,0,0", "3", ",,,,,"])
def test_a_hand_that_holds_no_scores_is_no_hand(reader, hand):
    drawn = reader.draw(step=3, hand=hand)
    np.testing.assert_array_equal(drawn.values, reader.draw(step=3).values)
    assert "pulled" not in drawn.caption


@needs_browser
def test_a_word_that_is_not_there_is_the_first(reader):
    drawn = reader.draw(step=3, hand="3,2,1,0,0", word=9)
    assert "You pulled **black**" in drawn.caption
    assert sum(bool(mark.get("first")) for mark in drawn.marks if mark.get("slide")) == 1


@needs_browser
def test_a_finger_pulls_and_does_not_scroll(reader, page):
    reader.ask("Emulation.setTouchEmulationEnabled", enabled=True)
    try:
        reader.open(page, width=390)
        heights = "[...document.querySelectorAll('[role=slider]')].map((s) => s.getBBox().height)"
        assert min(reader.evaluate(heights)) >= 44
        start = reader.draw(width=358).values[3, 0]
        x, y = reader.call(GRIP, 3)
        reader.ask("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": y}])
        for way in range(7, 43, 7):  # 42 of 112 pixels for −4 to 4: 3 more
            point = {"x": x, "y": y - way}
            reader.ask("Input.dispatchTouchEvent", type="touchMove", touchPoints=[point])
        reader.ask("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
        reader.rest()
        state = reader.state()
        assert state["word"] == 3
        assert reader.draw(width=358, **state).values[3, 0] == pytest.approx(start + 3, abs=0.11)
        assert reader.evaluate("scrollY") == 0
        assert reader.complaints == []
    finally:
        reader.ask("Emulation.setTouchEmulationEnabled", enabled=False)


def test_the_still_shows_the_sample_it_opens_with_at_every_width():
    made = explore.softmax_lab()
    numbers = np.array(re.findall(r"<text[^>]*>(\d\.\d\d)</text>", made.still), float)
    first = SCORES[:, START["sample"]]
    plain, scaled = softmax(first), softmax(first / ROOTS[:, None])
    np.testing.assert_allclose(numbers.reshape(2, 11, 5), [plain, scaled], atol=0.00501)
    assert re.findall(r"at least (\d\.\d\d)", made.alt) == [f"{plain[6:].max(1).min():.2f}"]
    assert re.findall(r"more than (\d\.\d\d)", made.alt) == [f"{scaled.max():.2f}"]

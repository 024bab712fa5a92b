"""The loss of one place: the page's numbers are the package's, and training ends where it must."""

import re

import keras
import numpy as np
import pytest
from browser import needs_browser
from explore_page import write
from test_loss import value_and_gradient

from nlp104.figures import explore
from nlp104.figures.explore.cross_entropy import RATE, SMOOTHINGS, STEPS
from nlp104.training import MaskedCrossentropy, smoothed_crossentropy

WORDS = ["chat", "le", "chien", "noir", "dort", "[PAD]"]
LOGITS = [1.5, 0.3, 1.2, -0.4, -0.8, 0.0]
GIVEN = {
    "words": WORDS,
    "logits": LOGITS,
    "source": "The black cat sleeps.",
    "target": "Le chat noir dort.",
    "place": 1,
}
COUNT = len(WORDS)
HANDS = [LOGITS, [8, -4, -4, -4, -4, -4], [-4, 8, 0, 0.1, -0.1, 3], [0] * 6, [6, 0, 0, 0, 0, 0]]
IDS = [5, 0, 1, 2, 3, 4]  # in the package the padding is token 0, so *chat* is token 1
LOOK = """(state) => {
  const root = document.querySelector('.explore'), scene = scenes[0];
  const data = JSON.parse(root.querySelector('script[type="application/json"]').textContent);
  const { x, q, way, parts, loss, floor, leads, plain, calm } =
    nlp104.cross_entropy.look(data, { ...scene.start, ...state });
  return { x, q, way, parts, loss, floor, leads, plain, calm };
}"""


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """The figure on a page of its own."""
    path = tmp_path_factory.mktemp("cross_entropy") / "page.html"
    return write(path, explore.cross_entropy(**GIVEN))


# --- without the package, in float64 ---


def target(epsilon):
    """The smoothed target of *chat*."""
    return (1 - epsilon) * (np.arange(COUNT) == 0) + epsilon / COUNT


def softmax(x):
    """Of one row."""
    powers = np.exp(x - np.max(x))
    return powers / powers.sum()


def loss_of(x, epsilon):
    """Cross-entropy of the place."""
    return -(target(epsilon) * np.log(softmax(np.asarray(x, dtype="float64")))).sum()


def descent(x, epsilon, steps):
    """The scores before the first step and after each: `[step, word]`."""
    path = [np.array(x, dtype="float64")]
    for _ in range(steps):
        path.append(path[-1] - RATE * (softmax(path[-1]) - target(epsilon)))
    return np.array(path)


def lead_of(x):
    """By how much the score of *chat* is above the highest of the others."""
    return x[..., 0] - x[..., 1:].max(-1)


def hand(x):
    """As it stands in the state."""
    return ",".join(f"{each:g}" for each in x)


def mark(drawn, key):
    """The mark with this key, if there is one."""
    return next((mark for mark in drawn.marks if mark["key"] == key), None)


# --- the numbers ---


@needs_browser
@pytest.mark.parametrize("epsilon", SMOOTHINGS)
def test_loss_and_push_are_the_packages(reader, page, epsilon):
    reader.open(page)
    loss = MaskedCrossentropy(epsilon)
    for scores in HANDS:
        state = {"smoothing": round(100 * epsilon), "hand": hand(scores)}
        seen, drawn = reader.call(LOOK, state), reader.draw(**state)
        logits = np.array(scores, dtype="float32")[None, IDS]
        value, gradient = value_and_gradient(lambda x: loss(np.array([1]), x), logits)
        pushes = -gradient[0, np.argsort(IDS)]
        # The package computes in float32.
        assert seen["loss"] == pytest.approx(float(value), rel=2e-6, abs=2e-6)
        np.testing.assert_allclose(drawn.values[:, 3], pushes, atol=1e-6)
        # The closed forms do not.
        expected = softmax(scores), target(epsilon)
        assert seen["loss"] == pytest.approx(loss_of(scores, epsilon), abs=1e-12)
        assert seen["parts"][0] == pytest.approx(-expected[1][0] * np.log(expected[0][0]))
        assert sum(seen["parts"]) == pytest.approx(seen["loss"], abs=1e-12)
        columns = [scores, *expected, expected[1] - expected[0]]
        np.testing.assert_allclose(drawn.values, np.transpose(columns), atol=1e-12)
        assert drawn.columns == ["score", "said", "asked for", "push"]


@needs_browser
@pytest.mark.parametrize("epsilon", SMOOTHINGS)
def test_every_step_is_one_of_plain_descent(reader, page, epsilon):
    reader.open(page)
    for scores in HANDS[:3]:
        path, plain = descent(scores, epsilon, STEPS), descent(scores, 0.0, STEPS)
        state = {"smoothing": round(100 * epsilon), "hand": hand(scores)}
        for step in (0, 1, 7, STEPS):
            seen = reader.call(LOOK, state | {"step": step})
            np.testing.assert_allclose(seen["x"], path[step], atol=1e-9)
            np.testing.assert_allclose(seen["leads"], lead_of(path[: step + 1]), atol=1e-9)
            np.testing.assert_allclose(seen["plain"], lead_of(plain[: step + 1]), atol=1e-9)


@needs_browser
def test_a_step_is_one_of_keras(reader, page):
    layer = keras.layers.Dense(COUNT, use_bias=False)
    model = keras.Sequential([keras.Input((1,)), layer])
    layer.set_weights([np.array(LOGITS)[None, IDS]])
    model.compile(keras.optimizers.SGD(RATE), loss=MaskedCrossentropy(0.1))
    reader.open(page)
    for step in (1, 2, 3):
        model.train_on_batch(np.ones((1, 1)), np.array([1]))
        scores = np.array(layer.get_weights()[0])[0, np.argsort(IDS)]
        np.testing.assert_allclose(reader.call(LOOK, {"step": step})["x"], scores, atol=2e-5)


@needs_browser
@pytest.mark.parametrize("epsilon", SMOOTHINGS[1:])
def test_with_smoothing_it_comes_to_rest_at_the_target(reader, page, epsilon):
    reader.open(page)
    seen = reader.call(LOOK, {"smoothing": round(100 * epsilon), "step": STEPS})
    q = target(epsilon)
    finite = np.log((1 - epsilon + epsilon / COUNT) / (epsilon / COUNT))
    entropy = -(q * np.log(q)).sum()
    assert seen["calm"]
    assert seen["floor"] == pytest.approx(entropy, abs=1e-12)
    assert seen["loss"] == pytest.approx(entropy, abs=1e-4)
    assert seen["loss"] >= seen["floor"]
    assert seen["leads"][-1] == pytest.approx(finite, abs=0.01)
    drawn = reader.draw(smoothing=round(100 * epsilon), step=STEPS)
    assert "**Nothing is pushed** any more" in drawn.caption
    assert not [mark for mark in drawn.marks if mark["key"].startswith("push")]
    far = descent(LOGITS, epsilon, 2000)[-1]
    assert lead_of(far) == pytest.approx(finite, abs=1e-9)


@needs_browser
def test_without_smoothing_it_never_does(reader, page):
    reader.open(page)
    seen = reader.call(LOOK, {"smoothing": 0, "step": STEPS})
    assert np.all(np.diff(seen["leads"]) > 0)
    assert not seen["calm"]
    assert (seen["floor"], seen["q"]) == (0, [1, 0, 0, 0, 0, 0])
    drawn = reader.draw(smoothing=0, step=STEPS)
    assert "**more is cheaper**" in drawn.caption
    pushes = [mark["key"] for mark in drawn.marks if mark["key"].startswith("push")]
    assert pushes == [f"push {word}" for word in range(COUNT)]
    assert lead_of(descent(LOGITS, 0.0, 20_000))[-1] > 12


@needs_browser
def test_padding_costs_nothing_and_pushes_nothing(reader, page):
    reader.open(page)
    for scores in HANDS:
        state = {"place": "padding", "hand": hand(scores), "step": 9}
        seen, drawn = reader.call(LOOK, state), reader.draw(**state)
        assert seen["x"] == scores
        assert (seen["loss"], seen["way"]) == (0, [0] * COUNT)
        logits = np.array(scores, dtype="float32")[None, IDS]
        assert float(MaskedCrossentropy(0.1)(np.array([0]), logits)) == 0
        assert np.isnan(drawn.values[:, 2]).all()
        assert not [m for m in drawn.marks if re.match("push|gap|asked|pays|curve", m["key"])]
        assert mark(drawn, "frame")["hatch"]
        assert [w["word"] for w in drawn.marks if w.get("chosen")] == ["[PAD]"]


# --- the picture ---


@needs_browser
@pytest.mark.parametrize("width", [700, 340])
def test_the_bar_ends_on_the_curve_of_all_that_the_place_could_cost(reader, page, width):
    reader.open(page)
    for scores in HANDS:
        for word in (0, 1):
            drawn = reader.draw(width=width, hand=hand(scores), word=word)
            right, others = mark(drawn, "pays right"), mark(drawn, "pays others")
            loss = loss_of(scores, 0.1)
            unit = (right["w"] + others["w"]) / loss
            part = -target(0.1)[0] * np.log(softmax(scores)[0])
            assert right["w"] == pytest.approx(unit * part)
            assert right["x"] + right["w"] == pytest.approx(others["x"])
            floor = float(mark(drawn, "floor")["path"][1:].split()[0]) - right["x"]
            assert floor == pytest.approx(unit * -(target(0.1) * np.log(target(0.1))).sum())
            points = np.array(re.findall(r"[ML](\S+) ([-\d.e]+)", mark(drawn, "curve")["path"]))
            x, y = points.astype("float64").T
            ticks = [mark(drawn, f"tick {tick}")["y"] for tick in (8, -4)]
            score = 8 - 12 * (y - ticks[0]) / (ticks[1] - ticks[0])
            assert len(score) > 20
            for at, cost in zip(score, (x - right["x"]) / unit, strict=True):
                moved = [at if k == word else old for k, old in enumerate(scores)]
                assert cost == pytest.approx(loss_of(moved, 0.1), abs=1e-9)
            knob = mark(drawn, f"knob {word}")
            assert right["y"] + right["h"] / 2 == pytest.approx(knob["y"] + knob["h"] / 2)


@needs_browser
def test_an_arrow_is_as_long_as_the_step_that_it_announces(reader, page):
    reader.open(page)
    for step in (0, 1):
        here, next_ = reader.draw(step=step), reader.draw(step=step + 1)
        for word in (0, 1):
            path = mark(here, f"push {word}")["path"]
            rise = -float(re.search(r"v(-?[\d.]+)", path)[1])
            moved = mark(here, f"knob {word}")["y"] - mark(next_, f"knob {word}")["y"]
            assert np.sign(rise) == np.sign(moved)
            if abs(moved) > 10:  # a shorter one could not be seen
                assert rise == pytest.approx(moved)
    sure = reader.draw(hand=hand(HANDS[4]))
    rises = [-float(re.search(r"v(-?[\d.]+)", mark(sure, f"push {k}")["path"])[1]) for k in (0, 1)]
    assert rises[0] < 0 < rises[1]  # too sure: down, and the others up


@needs_browser
def test_the_sentence_says_on_which_side_it_is(reader, page):
    reader.open(page)
    for scores, epsilon, words in (
        (LOGITS, 10, ["gets **0.40** and is asked for **0.92**", "**up**", "**0.42**"]),
        ([6, 0, 0, 0, 0, 0], 10, ["gets **0.99**", "**too sure**", "**down**"]),
        ([8, -4, -4, -4, -4, -4], 10, ["gets **1.0000**", "**too sure**"]),
        ([6, 0, 0, 0, 0, 0], 0, ["asked for **1.00**", "**up**", "**more is cheaper**"]),
    ):
        said = reader.draw(hand=hand(scores), smoothing=epsilon).caption
        assert all(part in said for part in words), said
    above = loss_of(HANDS[4], 0.1) + (target(0.1) * np.log(target(0.1))).sum()
    assert f"**{above:.2f}** above its floor" in reader.draw(hand=hand(HANDS[4])).caption


# --- a hand ---

GRIP = """(i) => {
  const { x, y, width, height } = document.querySelector(`[data-act="score:${i}"]`)
    .getBoundingClientRect();
  return [x + width / 2, y + height / 2];
}"""


@needs_browser
def test_a_score_follows_the_hand_and_a_run_starts_there(reader, page):
    reader.open(page, at="#cross_entropy:step=5")
    before = reader.draw(step=5).values[:, 0]
    x, y = reader.call(GRIP, 0)
    button = {"button": "left", "clickCount": 1}
    reader.ask("Input.dispatchMouseEvent", type="mousePressed", x=x, y=y, **button)
    for way in (16, 32):  # a score of 1 is 16 pixels
        place = {"x": x, "y": y - way}
        reader.ask("Input.dispatchMouseEvent", type="mouseMoved", buttons=1, **place, **button)
    reader.ask("Input.dispatchMouseEvent", type="mouseReleased", **place, **button)
    state = reader.state()
    assert (state["step"], state["word"]) == (0, 0)
    after = reader.draw(**state).values[:, 0]
    assert after[0] == pytest.approx(before[0] + 2, abs=0.051)  # it snaps to tenths
    np.testing.assert_allclose(after[1:], before[1:], atol=0.0051)
    reader.evaluate("document.querySelector('[title=\"One step on\"]').click()")
    seen = reader.call(LOOK, reader.state())
    np.testing.assert_allclose(seen["x"], descent(after, 0.1, 1)[1], atol=1e-9)
    reader.evaluate("document.querySelector('[title=\"Start again\"]').click()")
    np.testing.assert_allclose(reader.draw(**reader.state()).values[:, 0], LOGITS)
    assert reader.complaints == []


@needs_browser
def test_a_score_follows_the_keys(reader, page):
    reader.open(page)
    reader.evaluate("document.querySelector('.stage').focus()")
    reader.press("Tab", "ArrowUp", "ArrowUp", "ArrowRight", "ArrowDown")
    state = reader.state()
    assert state["word"] == 1
    changed = [1.7, 0.2, *LOGITS[2:]]
    np.testing.assert_allclose(reader.draw(**state).values[:, 0], changed, atol=1e-9)
    reader.press("End")
    assert reader.draw(**reader.state()).values[1, 0] == 8
    assert reader.evaluate("document.activeElement.ariaValueNow") == "8"


@needs_browser
@pytest.mark.parametrize("hand", ["1,2", "a,b,c,d,e,f", "NaN,0,0,0,0,0", "1e9,0,0,0,0,-1e9"])
def test_what_no_hand_has_set_breaks_nothing(reader, page, hand):
    reader.open(page)
    values = reader.draw(hand=hand).values
    assert np.isfinite(values).all()
    if "1e9" not in hand:
        np.testing.assert_allclose(values[:, 0], LOGITS)


@needs_browser
@pytest.mark.parametrize("width", [1280, 700, 390, 320])
def test_no_words_lie_on_others(reader, page, width):
    reader.open(page, width=width)
    states = [f"hand={hand(scores)}&word={word}" for scores in HANDS for word in (0, 1)]
    states += [f"step={step}&smoothing={each}" for step in (1, 5, 60, STEPS) for each in (0, 10)]
    states += ["place=padding", "hand=-4,8,8,8,8,8&step=20"]
    heights = set()
    for state in states:
        clashes, height = reader.clashes(f"cross_entropy:{state}")
        assert clashes == [], state
        heights.add(height)
    assert len(heights) == 1  # what stands below does not move


# --- what is handed over ---


def test_the_words_in_place_of_the_picture():
    made = explore.cross_entropy(**GIVEN)
    asked = target(0.1)[0]
    costs = []
    for said in (0.4, asked, 0.9999):
        p = np.array([said, *[(1 - said) / (COUNT - 1)] * (COUNT - 1)])
        logits = np.log(p).astype("float32")[None]
        costs.append(f"{float(smoothed_crossentropy(np.array([0]), logits, 0.1)[0]):.2f}")
    first, lowest, last = costs
    assert float(lowest) < float(last) < float(first)
    assert f"If it gets 0.40, the loss is {first}," in made.alt
    assert f"at {asked:.2f} it is lowest, {lowest};" in made.alt
    assert f"at 0.9999 it is {last}," in made.alt
    for cost in costs:
        assert f">{cost}<" in made.still


@pytest.mark.parametrize("smoothing", SMOOTHINGS)
def test_what_is_chosen_first(smoothing):
    made = explore.cross_entropy(**GIVEN, smoothing=smoothing)
    assert made.data["smoothing"] == round(100 * smoothing)
    assert (made.data["right"], made.data["padding"], made.data["written"]) == (0, 5, "Le")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"words": "chat"}, "must be a list of strings. Received: 'chat'"),
        ({"words": ["chat"], "logits": [0]}, r"two or more different words. Received: ..chat..\.$"),
        ({"words": ["chat", "chat"], "logits": [0, 0]}, "two or more different words"),
        ({"logits": [0.0]}, r"Expected 6 scores. Received: shape \(1,\)"),
        ({"logits": [9, 0, 0, 0, 0, 0]}, "Expected scores from -4 to 8"),
        ({"logits": [np.nan, 0, 0, 0, 0, 0]}, "Expected scores from -4 to 8"),
        ({"smoothing": 0.5}, "Received: 0.5"),
        ({"place": 0}, "Expected the place of one of .* Received: 0"),
        ({"place": 4}, "Received: 4"),
        ({"place": -1}, "an integer of at least 0. Received: -1"),
    ],
)
def test_what_cannot_be_shown_is_refused(wrong, message):
    with pytest.raises(ValueError, match=message):
        explore.cross_entropy(**GIVEN | wrong)


def test_without_padding_among_the_words():
    words = ["chat", "chien"]
    made = explore.cross_entropy(**GIVEN | {"words": words, "logits": [0, 0]})
    assert made.data["padding"] == -1

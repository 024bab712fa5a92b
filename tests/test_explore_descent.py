"""Two ways down a valley: the places are those of Keras' own optimizers, and of a closed form."""

import keras
import numpy as np
import pytest
from browser import needs_browser
from explore_page import write
from keras import ops

from nlp104.figures import explore
from nlp104.figures.explore.descent import (
    BETAS,
    EPSILON,
    RATES,
    START,
    STEEP,
    STEPS,
    adam,
    plain,
)

WALKS = plain, adam
WAYS = [(rate, steep) for rate in RATES for steep in STEEP]


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """The figure on a page of its own."""
    return write(tmp_path_factory.mktemp("descent") / "page.html", explore.descent())


@pytest.mark.parametrize(("rate", "steep"), WAYS)
def test_plain_descent_is_a_product(rate, steep):
    """Each step multiplies both places: x by 1 - r, y by 1 - r s."""
    factors = 1 - rate * np.array([1, steep])
    expected = np.array(START) * factors ** np.arange(STEPS + 1)[:, None]
    np.testing.assert_allclose(plain(rate, steep), expected, rtol=1e-9)


@pytest.mark.parametrize(("rate", "steep"), WAYS)
def test_adam_walks_as_keras_does(rate, steep):
    place = keras.Variable(np.array(START, "float32"))
    options = {"beta_1": BETAS[0], "beta_2": BETAS[1], "epsilon": EPSILON}
    optimizer = keras.optimizers.Adam(rate, **options)
    optimizer.build([place])
    path = [ops.convert_to_numpy(place)]
    for _ in range(STEPS):
        optimizer.apply([place.value * np.array([1, steep], "float32")], [place])
        path.append(ops.convert_to_numpy(place))
    np.testing.assert_allclose(adam(rate, steep), path, atol=2e-3)


@needs_browser
@pytest.mark.parametrize(("rate", "steep"), WAYS)
def test_the_figure_has_the_places_of_both(reader, rate, steep):
    state = {"rate": RATES.index(rate), "steep": STEEP.index(steep)}
    for step in (0, 1, 7, STEPS):
        drawn = reader.draw(step=step, **state)
        assert (drawn.rows, drawn.columns) == (
            ["plain descent", "Adam"],
            ["along", "across", "loss"],
        )
        for row, walk in zip(drawn.values, (plain, adam), strict=True):
            x, y = walk(rate, steep)[step]
            np.testing.assert_allclose(
                row, [x, y, (x * x + steep * y * y) / 2], rtol=1e-6, atol=1e-9
            )


@needs_browser
def test_what_jumps_out_is_said_and_not_drawn(reader):
    """Beyond 2 / s plain descent explodes; the way that is drawn stays in the picture."""
    for width in (700, 358):
        drawn = reader.draw(step=STEPS, rate=RATES.index(0.1), steep=STEEP.index(25), width=width)
        assert "jumped out of the picture" in drawn.caption
        marks = {mark["key"]: mark for mark in drawn.marks}
        ground, steps = marks["v0 ground"], [m for k, m in marks.items() if k.startswith("v0 step")]
        assert 1 < len(steps) < STEPS
        for mark in steps:
            assert ground["x"] <= mark["x"] <= ground["x"] + ground["w"]
            assert ground["y"] <= mark["y"] <= ground["y"] + ground["h"]
        assert len([key for key in marks if key.startswith("v1 step")]) == STEPS + 1


@pytest.mark.parametrize("rate", RATES)
def test_adams_first_step_does_not_know_how_steep_it_is(rate):
    firsts = [adam(rate, steep)[1] for steep in STEEP]
    for first in firsts:
        np.testing.assert_allclose(first, np.array(START) - rate * np.sign(START), atol=1e-6)


@needs_browser
def test_a_reader_chooses_a_rate_and_a_valley(reader, page):
    reader.open(page)
    start = reader.state()
    reader.evaluate('document.querySelector(\'[data-option="rate"] [value="3"]\').click()')
    reader.evaluate('document.querySelector(\'[data-option="steep"] [value="0"]\').click()')
    assert reader.state() == start | {"rate": 3, "steep": 0}
    caption = reader.evaluate("document.querySelector('figcaption').textContent")
    assert "the same rate of 0.1" in caption
    assert "as steep all around" in caption
    assert reader.complaints == []


@needs_browser
@pytest.mark.parametrize("width", [1280, 390, 320])
def test_no_words_lie_on_others(reader, page, width):
    reader.open(page, width=width)
    for step in (0, STEPS):
        clashes, _ = reader.clashes(f"descent:step={step}")
        assert clashes == []


@needs_browser
@pytest.mark.parametrize("state", [{"rate": 9}, {"steep": -1}, {"rate": "x", "steep": "y"}])
def test_what_there_is_not_is_drawn_all_the_same(reader, state):
    assert np.isfinite(reader.draw(step=3, **state).values).all()


def test_the_words_in_place_of_the_picture(page):
    """They tell of the rate at which it opens, as the text around it does."""
    made = explore.descent()
    steep, rate = STEEP[made.data["chosen"]["steep"]], RATES[made.data["chosen"]["rate"]]
    loss = {walk: (walk(rate, steep) ** 2 * [1, steep]).sum(axis=1) / 2 for walk in WALKS}
    assert f"{steep} times as steep across as along, with the rate {rate}." in made.alt
    assert "at step 2 it has left the picture" in made.alt
    assert f"from {loss[plain][0]:.1f} to {loss[plain][2]:.1f}." in made.alt
    assert made.alt.endswith(f"its loss is {loss[adam][-1]:.2f}.")
    assert made.still.count('class="f-ink"') == 2 + STEPS + 1

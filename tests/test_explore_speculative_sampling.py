"""What becomes of a draft's guesses: shares by brute force, the package's own rule, the words."""

import itertools

import numpy as np
import pytest
from browser import needs_browser
from explore_page import write

from nlp104.figures import explore
from nlp104.figures.explore.speculative_sampling import DRAFTS, MODEL, TOKENS, outcome

COLUMNS = ["model p", "draft q", "kept", "drawn instead", "comes out"]
NAMES = list(DRAFTS)


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """The figure on a page of its own."""
    made = explore.speculative_sampling()
    return write(tmp_path_factory.mktemp("speculation") / "page.html", made)


def counted(p, q, again, cells=1000):
    """What comes out, from every pair of a guess and a die of so many sides."""
    out = np.zeros(len(p))
    lacking = p if again else np.maximum(p - q, 0)
    for guess, side in itertools.product(range(len(q)), range(cells)):
        share = q[guess] / cells
        if (side + 0.5) / cells * q[guess] < p[guess]:
            out[guess] += share
        else:
            out += share * lacking / lacking.sum()
    return out


@pytest.mark.parametrize("draft", NAMES)
@pytest.mark.parametrize("again", [False, True])
def test_the_outcome_is_that_of_dice(draft, again):
    p, q = np.array(MODEL), np.array(DRAFTS[draft])
    kept, flow = outcome(p, q, again)
    out = kept + flow.sum(axis=0)
    np.testing.assert_allclose(out, counted(p, q, again), atol=1.5e-3)
    np.testing.assert_allclose(kept + flow.sum(axis=1), q, atol=1e-12)  # each guess is one or other
    if not again:
        np.testing.assert_allclose(out, p, atol=1e-12)


def test_any_draft_leaves_no_trace():
    rng = np.random.default_rng(104)
    for p, q in rng.dirichlet(np.ones(6), (200, 2)):
        kept, flow = outcome(p, q)
        np.testing.assert_allclose(kept + flow.sum(axis=0), p, atol=1e-12)
        assert kept.sum() == pytest.approx(1 - np.abs(p - q).sum() / 2)  # Leviathan et al., 3.5


@needs_browser
@pytest.mark.parametrize("again", [False, True])
def test_the_figure_has_these_numbers(reader, again):
    for number, (_, draft) in enumerate(explore.speculative_sampling().data["drafts"]):
        p, q = np.array(MODEL), np.array(draft)
        kept, flow = outcome(p, q, again)
        drawn = flow.sum(axis=0)
        expected = np.stack([p, q, kept, drawn, kept + drawn], axis=1)
        for step in range(4):
            shown = reader.draw(step=step, draft=number, again=again)
            assert (shown.rows, shown.columns) == (list(TOKENS), COLUMNS)
            np.testing.assert_allclose(shown.values, expected, atol=1e-9)


@needs_browser
def test_what_is_refused_moves_to_what_lacks_it(reader):
    """The pieces lie on b, one on the other; then on a and c, up to the model's line."""

    def place(step, key):
        marks = {mark["key"]: mark for mark in reader.draw(step=step, draft=0).marks}
        return marks[key]

    before, after = (place(step, "flow 1 0") for step in (2, 3))
    assert before["h"] == pytest.approx(after["h"])
    assert before["x"] == place(2, "kept 1")["x"]
    assert after["x"] == place(3, "kept 0")["x"]
    line = place(3, "p 0")["path"]
    assert after["y"] == pytest.approx(float(line.split()[1].split("H")[0]), abs=1.01)


@needs_browser
def test_the_mistake_is_told(reader):
    said = reader.draw(step=3, draft=0, again=True).caption
    assert "b gets a second chance: it comes out **0.42** of the time, not **0.30**" in said
    assert "what the model says, exactly" in reader.draw(step=3, draft=0).caption
    assert "Of all guesses **60 %** are kept" in reader.draw(step=1, draft=0).caption
    alike = NAMES.index("the same")
    assert "Nothing has to be drawn again" in reader.draw(step=3, draft=alike).caption


@needs_browser
@pytest.mark.parametrize("draft", NAMES)
@pytest.mark.parametrize("value", [0, 0.35, 1])
def test_the_others_share_what_a_pull_leaves_as_they_did(reader, page, draft, value):
    reader.open(page)
    q = DRAFTS[draft]
    pulled = reader.evaluate(f"nlp104.speculative_sampling.pull({list(q)}, 1, {value})")
    rest = np.array([q[0], q[2]]) if q[1] < 1 else np.ones(2)
    a, c = rest * (1 - value) / rest.sum()
    np.testing.assert_allclose(pulled, [a, value, c], atol=6e-5)


@needs_browser
def test_a_handle_obeys_the_keyboard(reader, page):
    reader.open(page)
    reader.evaluate("document.querySelector('[data-act=\"q:2\"]').focus()")
    for key in ("ArrowDown", "ArrowDown"):
        reader.press(key)
    q = [float(share) for share in reader.state()["hand"].split(",")]
    assert sum(q) == pytest.approx(1, abs=2e-4)
    np.testing.assert_allclose(q, [0.3 * 5 / 4, 0.1 * 5 / 4, 0.5], atol=2e-4)
    assert reader.state()["draft"] == -1
    assert reader.complaints == []


@needs_browser
@pytest.mark.parametrize("width", [1280, 390, 320])
@pytest.mark.parametrize("draft", range(len(NAMES)))
def test_no_words_lie_on_others(reader, page, width, draft):
    reader.open(page, width=width)
    for step in range(4):
        clashes, _ = reader.clashes(f"speculative_sampling:step={step}&draft={draft}")
        assert clashes == []


@needs_browser
@pytest.mark.parametrize("state", [{"draft": 9}, {"hand": "x,y,z"}, {"hand": "3,3,3"}])
def test_what_there_is_not_is_drawn_all_the_same(reader, state):
    shown = reader.draw(step=3, **state)
    np.testing.assert_allclose(shown.values[:, -1], MODEL, atol=1e-9)


def test_the_words_in_place_of_the_picture():
    made = explore.speculative_sampling()
    assert "kept a 0.3, b 0.1, c 0.2: together 60%" in made.alt
    assert made.alt.endswith("Together that is a 0.5, b 0.3, c 0.2, as the model says.")

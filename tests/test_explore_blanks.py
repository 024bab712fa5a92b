"""Words that a reader hides: every number is the record's, whatever is tapped."""

import json

import numpy as np
import pytest
from browser import needs_browser
from explore_page import write

from nlp104.figures import explore, results

PLAYED = json.loads(results.read("blanks/played.json"))
SENTENCES, VOCABULARY = PLAYED["sentences"], PLAYED["vocabulary"]
STEPS = [(one, places) for one in SENTENCES for places in one["opens"]]
CHOICES = [(n, choice) for n, one in enumerate(SENTENCES) for choice in one["answers"]]


def begins(number):
    """The first step of a sentence."""
    return sum(len(one["opens"]) for one in SENTENCES[:number])


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """The figure on a page of its own."""
    made = explore.blanks(SENTENCES, VOCABULARY)
    return write(tmp_path_factory.mktemp("blanks") / "page.html", made)


@needs_browser
def test_each_choice_shows_what_the_model_said(reader, page):
    reader.open(page)
    for number, choice in CHOICES:
        sentence = SENTENCES[number]
        drawn = reader.draw(step=begins(number), hidden=choice)
        rows, values = [], []
        for place, said in zip(choice.split(","), sentence["answers"][choice], strict=True):
            own = sentence["words"][int(place)]
            shown = dict(map(tuple, said["best"])) | {own: said["own"]}
            alone = sentence["answers"][place][0]
            seen = dict(map(tuple, alone["best"])) | {own: alone["own"]}
            for word, share in shown.items():
                rows.append(f"{word} (for {own})")
                seen_too = seen.get(word) if "," in choice else None
                values.append([100 * share, np.nan if seen_too is None else 100 * seen_too])
        assert drawn.rows == rows
        np.testing.assert_allclose(np.array(drawn.values, float), values, atol=1e-9)


@needs_browser
def test_a_bar_is_as_long_as_its_word_is_likely(reader, page):
    reader.open(page)
    for number, choice in CHOICES[:: len(CHOICES) // 12]:
        marks = {
            mark["key"]: mark for mark in reader.draw(step=begins(number), hidden=choice).marks
        }
        said = SENTENCES[number]["answers"][choice][0]["best"]
        longs = [marks[f"bar 0 {i} bar"]["w"] for i in range(len(said))]
        shares = np.array([share for _, share in said])
        wide = shares * longs[0] / shares[0] > 2  # what is shorter would not be seen
        np.testing.assert_allclose(np.array(longs)[wide] / longs[0], (shares / shares[0])[wide])


@needs_browser
def test_words_are_hidden_and_come_back(reader, page):
    reader.open(page)
    first = SENTENCES[0]
    places = [int(choice) for choice in first["answers"] if "," not in choice]
    ((opened,), _) = first["opens"]
    one, other = [place for place in places if place != opened][:2]
    assert reader.state() == {"step": 0, "hidden": "first"}
    reader.tap(f"hide:{one}")
    assert reader.state()["hidden"] == f"{opened},{one}"
    reader.tap(f"hide:{other}")  # a third: the first can be seen again
    assert reader.state()["hidden"] == f"{one},{other}"
    reader.tap(f"hide:{one}")
    reader.tap(f"hide:{other}")
    assert reader.state()["hidden"] == ""
    caption = reader.evaluate("document.querySelector('figcaption').textContent")
    assert caption == "Nothing is hidden. Tap a word."
    assert reader.complaints == []


@needs_browser
def test_the_steps_hide_one_word_and_then_two(reader, page):
    reader.open(page)
    reader.tap("hide:0")
    reader.evaluate("document.querySelector('[title=\"One step on\"]').click()")
    assert reader.state() == {"step": 1, "hidden": "first"}
    assert [len(places) for _, places in STEPS] == [1, 2] * len(SENTENCES)
    for step, (sentence, places) in enumerate(STEPS):
        drawn = reader.draw(step=step, hidden="first")
        own = {row.split("(for ")[1].rstrip(")") for row in drawn.rows}
        assert own == {sentence["words"][place] for place in places}


@needs_browser
@pytest.mark.parametrize("hidden", ["x", "99", "-1", "1,1", "1,2,3,4", "constructor"])
def test_what_cannot_be_hidden_is_drawn_all_the_same(reader, page, hidden):
    reader.open(page)
    drawn = reader.draw(step=0, hidden=hidden)
    assert drawn.caption
    assert len(drawn.rows) <= 12


@needs_browser
@pytest.mark.parametrize("width", [1280, 700, 390, 320])
def test_no_words_lie_on_others(reader, page, width):
    reader.open(page, width=width)
    for number, choice in CHOICES[::3]:
        clashes, _ = reader.clashes(f"blanks:step={begins(number)}&hidden={choice}")
        assert clashes == [], (SENTENCES[number]["name"], choice)


SAID = {"best": [["sleeps", 0.4], ["is", 0.1]], "own": 0.02, "place": 7}
IT = {"name": "it", "words": ["It", "rains"], "opens": [[1]], "answers": {"1": [SAID]}}


def test_the_words_in_place_of_the_picture():
    made = explore.blanks([IT], 4000)
    assert made.alt == (
        "It ___ In the blank the model says sleeps 40%, is 10%. rains stood there: 2%, place 7."
    )
    assert all(word in made.still for word in ("It", "blank", "sleeps", "40%", "is", "10%"))
    assert "rains" not in made.still


def test_what_there_is_not_is_refused():
    with pytest.raises(ValueError, match="at least one sentence"):
        explore.blanks([], 4000)
    with pytest.raises(ValueError, match=r"some of the choices 1\. Received: 0,1, in 'it'"):
        explore.blanks([IT | {"opens": [[1, 0]]}], 4000)
    with pytest.raises(ValueError, match=r"Received: none, in 'it'"):
        explore.blanks([IT | {"opens": []}], 4000)

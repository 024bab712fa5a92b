"""Patching: what the decoder writes with vectors of another sentence is what the model writes."""

import numpy as np
import pytest
from browser import needs_browser
from explore_page import write
from keras import ops

from nlp104.figures import explore
from nlp104.figures.explore.patching import EXPERIMENTS, PLACES, SENTENCE, WORDS, subsets


@pytest.fixture(scope="module")
def figure(load_once):
    return explore.patching(load_once("grammar"))


@pytest.fixture(scope="module")
def page(figure, tmp_path_factory):
    """The figure on a page of its own."""
    return write(tmp_path_factory.mktemp("patching") / "page.html", figure)


@pytest.fixture(scope="module")
def reader(window, page):
    window.open(page)
    return window


def test_every_set_of_places_occurs_once():
    masks = subsets()
    assert len({tuple(places) for places in masks}) == 64
    assert masks[0] == []
    assert sorted(masks[63]) == list(range(14))
    assert masks[8] == [PLACES[3]]  # it
    assert len(masks[32]) == 14 - len(PLACES)


@pytest.mark.parametrize("number", range(len(EXPERIMENTS)))
def test_with_all_vectors_the_other_sentence_is_read(load_once, figure, number):
    translator = load_once("grammar")
    shares = np.array(figure.data["experiments"][number]["shares"])
    for mask, words in ((0, EXPERIMENTS[number][1]), (63, EXPERIMENTS[number][2])):
        french = translator.translate([SENTENCE.format(*words)])[0]
        assert f"qu'{WORDS[shares[mask].argmax()]} " in french
    assert np.all(shares >= 0)
    assert np.all(shares.sum(axis=1) <= 1)


def test_one_vector_is_exchanged_as_by_hand(load_once, figure):
    """The adjective's, alone, with the whole model run token by token."""
    translator = load_once("grammar")
    one = figure.data["experiments"][0]
    texts = [SENTENCE.format(*words) for words in EXPERIMENTS[0][1:]]
    ids = np.array([[*translator.source_tokenizer.encode(text), 3] for text in texts])
    own, lent = ops.convert_to_numpy(translator.model.encode(ids))
    own[11] = lent[11]
    tokens = translator.target_tokenizer.encode(translator.translate(texts[:1])[0])
    begun = tokens[: tokens.index(translator.target_tokenizer.token_to_id("il"))]
    logits = translator.model.decode(np.array([[2, *begun]]), own[None])
    p = ops.convert_to_numpy(ops.softmax(logits[0, -1]))
    by_hand = [p[translator.target_tokenizer.token_to_id(word)] for word in WORDS]
    assert one["shares"][16] == pytest.approx(by_hand, abs=6e-4)
    assert one["mine"][4] == "tired"
    assert one["theirs"][4] == "wide"


def test_the_words_in_place_of_the_picture_say_what_the_model_says(figure):
    shares = figure.data["experiments"][0]["shares"]
    assert f"writes il, {100 * shares[0][0]:.0f} %" in figure.alt
    assert f"elle, {100 * shares[16][1]:.0f} %" in figure.alt


@needs_browser
@pytest.mark.parametrize("number", range(len(EXPERIMENTS)))
def test_a_step_exchanges_one_vector_and_the_last_all(reader, figure, number):
    one = figure.data["experiments"][number]
    for step in range(8):
        mask = 63 if step == 7 else 2 ** (step - 1) if step else 0
        drawn = reader.draw(step=step, experiment=number, out=-1)
        assert drawn.values[:2, 0].tolist() == one["shares"][mask]
        assert drawn.values.sum() == pytest.approx(1.0)
        marks = {mark["key"]: mark for mark in drawn.marks}
        ways = {key for key in marks if key.startswith("way") and key != "way"}
        assert ways == {f"way{row}" for row in range(6) if mask >> row & 1}
        dashed = {f"open{row}" for row in range(6) if not mask >> row & 1}
        assert {key for key in marks if key.startswith("open")} == dashed
        best = WORDS[int(np.argmax(one["shares"][mask]))]
        assert f"qu'**{best}**" in drawn.caption
        turned = np.argmax(one["shares"][mask]) != np.argmax(one["shares"][0])
        assert ("changes its mind" in drawn.caption) == turned


@needs_browser
def test_any_vectors_are_exchanged_together_and_come_back(reader, page, figure):
    reader.open(page)
    reader.tap("row:3")
    assert reader.state()["out"] == 8
    reader.tap("row:0")
    assert reader.state()["out"] == 9
    drawn = reader.draw(**reader.state())
    assert drawn.values[:2, 0].tolist() == figure.data["experiments"][0]["shares"][9]
    reader.tap("row:3")
    assert reader.state()["out"] == 1
    reader.evaluate("document.querySelector('[title=\"One step on\"]').click()")
    assert reader.state()["out"] == -1
    assert reader.complaints == []


@needs_browser
@pytest.mark.parametrize("out", [64, -2, "x", 1.5])
def test_whatever_the_address_says_there_is_a_picture(reader, out):
    assert len(reader.draw(step=1, out=out).values) == len(WORDS) + 1


@needs_browser
@pytest.mark.parametrize("width", [1280, 700, 390, 320])
def test_no_words_lie_on_others(reader, page, width):
    reader.open(page, width=width)
    for number in range(len(EXPERIMENTS)):
        for step in (0, 4, 7):
            clashes, _ = reader.clashes(f"patching:experiment={number}&step={step}")
            assert clashes == [], (number, step)

"""Byte-pair encoding merge by merge: the page cuts a text as the library does."""

import itertools
import json
import re
from collections import Counter
from urllib.parse import urlencode

import pytest
from browser import needs_browser
from explore_page import write

from nlp104.data import Tokenizer, grammar
from nlp104.data.tokenizer import SPECIAL_TOKENS
from nlp104.figures import explore

SENTENCES = [example.target for example in grammar.generate(600, seed=1)]
MERGES = 120
TEXTS = (
    "Le petit chaton dort parce qu'il est fatigué.",
    "aujourd'hui, qui est-ce ?",
    "rechat",
    "été",
)


def _words():
    """The words as the library cuts them before it counts, and how often they occur."""
    signs = r"▁?[^\w▁'-]|▁?[\w'-]+"
    return Counter(
        token
        for text in SENTENCES
        for word in text.split()
        for token in re.findall(signs, f"▁{word}")
    )


WORDS = _words()
LETTERS = len(set("".join(WORDS)))


def _library(number):
    """The library's tokenizer with so many merges."""
    size = len(SPECIAL_TOKENS) + LETTERS + number
    return Tokenizer.train(SENTENCES, kind="bpe", vocabulary_size=size)


@pytest.fixture(scope="module")
def pairs(tmp_path_factory):
    """The merges that the library learns."""
    path = tmp_path_factory.mktemp("bpe") / "bpe.json"
    _library(MERGES).save(path)
    return json.loads(path.read_text(encoding="utf-8"))["model"]["merges"]


@pytest.fixture(scope="module")
def page(pairs, tmp_path_factory):
    """The figure on a page of its own."""
    made = explore.merges(pairs, WORDS, TEXTS[0], step=20)
    return write(tmp_path_factory.mktemp("merges") / "page.html", made)


def _tokens(drawn):
    """The tokens that are drawn, in reading order."""
    marks = [mark for mark in drawn.marks if mark["key"].startswith("piece ")]
    return [mark["word"] for mark in sorted(marks, key=lambda mark: int(mark["key"].split()[1]))]


@needs_browser
@pytest.mark.parametrize("number", [0, 1, 37, MERGES])
def test_the_page_cuts_as_the_library_does(reader, page, number):
    library = _library(number)
    reader.open(page)
    for text in TEXTS:
        drawn = reader.draw(step=number, text=text)
        assert _tokens(drawn) == library.tokens(text)
        assert drawn.values == [[len(library.tokens(text))]]


@needs_browser
def test_what_is_new_is_filled_and_what_is_unknown_is_dashed(reader, page, pairs):
    reader.open(page)
    for step in (0, 5, 37, 38):
        drawn = reader.draw(step=step, text=TEXTS[0])
        before = _tokens(reader.draw(step=max(0, step - 1), text=TEXTS[0]))
        new = "".join(pairs[step - 1]) if step and before != _tokens(drawn) else None
        marks = [mark for mark in drawn.marks if mark["key"].startswith("piece ")]
        assert {mark["word"] for mark in marks if mark["chosen"]} == ({new} if new else set())
    drawn = reader.draw(step=0, text="kiwi")
    marks = [mark for mark in drawn.marks if mark["key"].startswith("piece ")]
    unknown = {mark["word"] for mark in marks if mark["dashed"]}
    assert unknown == set("▁kiwi") - set("".join(WORDS)) != set()


@needs_browser
@pytest.mark.parametrize(
    ("typed", "same"),
    [("L\u2019e\u0301te\u0301", "L'été"), ("  le\u00a0chat ", "le chat"), ("▁le", "le")],
)
def test_a_typed_text_is_tidied_as_the_tokenizer_does(reader, page, typed, same):
    reader.open(page)
    assert _tokens(reader.draw(step=30, text=typed)) == _tokens(reader.draw(step=30, text=same))


@needs_browser
def test_a_reader_types(reader, page):
    reader.open(page)
    assert reader.state() == {"step": 20, "text": TEXTS[0]}
    assert reader.evaluate("document.querySelector('.field input').value") == TEXTS[0]
    reader.evaluate("document.querySelector('.field input').select()")
    reader.ask("Input.insertText", text="104 rats & <b>")
    assert reader.state() == {"step": 20, "text": "104 rats & <b>"}
    shown = reader.evaluate(
        "[...document.querySelectorAll('.stage .token text')].map(t => t.textContent)"
    )
    assert sorted("".join(shown)) == sorted("▁104▁rats▁&▁<b>")
    reader.evaluate("document.querySelector('.field input').select()")
    reader.evaluate("document.execCommand('delete')")
    caption = "document.querySelector('figcaption').textContent"
    assert reader.evaluate(caption) == "There is no text. Type some."
    reader.evaluate("document.querySelector('[title=\"Start again\"]').click()")
    assert reader.state()["text"] == ""  # what was typed stays
    assert reader.complaints == []


@needs_browser
def test_what_was_typed_stands_in_the_address(reader, page):
    reader.open(page, at="#merges:text=104&step=7")
    assert _tokens(reader.draw(**reader.state())) == ["▁", "1", "0", "4"]
    assert reader.evaluate("document.querySelector('.field input').value") == "104"


@needs_browser
@pytest.mark.parametrize("width", [1280, 700, 390, 320])
def test_no_words_lie_on_others(reader, page, width):
    reader.open(page, width=width)
    for step in (0, 1, 60, MERGES):
        for text in (*TEXTS, "a" * 60, ""):
            clashes, _ = reader.clashes("merges:" + urlencode({"step": step, "text": text}))
            assert clashes == [], (step, text)


@needs_browser
def test_nothing_below_the_text_moves_from_merge_to_merge(reader, page):
    reader.open(page, width=390)
    heights = {reader.clashes(f"merges:step={step}")[1] for step in range(0, MERGES + 1, 20)}
    assert len(heights) == 1


def test_each_merge_is_counted_and_none_is_rarer_than_the_next(pairs):
    merges = explore.merges(pairs, WORDS, TEXTS[0]).data["merges"]
    times = [count for *_, count in merges]
    assert times == sorted(times, reverse=True)
    for step in (0, 1, 60):  # against the library's own cut of every word
        tokenizer = _library(step)
        neighbours = Counter()
        for word, count in WORDS.items():
            tokens = tokenizer.tokens(word.removeprefix("▁"))
            if not word.startswith("▁"):
                tokens = tokens[1:] if tokens[0] == "▁" else [tokens[0][1:], *tokens[1:]]
            for pair in itertools.pairwise(tokens):
                neighbours[pair] += count
        one, other, count = merges[step]
        assert count == neighbours[one, other] == max(neighbours.values())


def test_the_words_in_place_of_the_picture():
    made = explore.merges([("a", "t")], {"▁rat": 5}, "rat", step=9)
    assert made.alt == "rat After 1 of 1 merges: ▁ r at, 3 tokens in place of 4."
    assert "1: a + t, 5 times side by side" in made.still


def test_what_there_is_not_is_refused():
    with pytest.raises(ValueError, match="at least one merge"):
        explore.merges([], {"▁rat": 5}, "rat")
    with pytest.raises(ValueError, match="Received: 'r', 't'"):
        explore.merges([("r", "t")], {"▁rat": 5}, "rat")

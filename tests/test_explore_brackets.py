"""Brackets read token by token: the pile is that of a reader without the package's code."""

import re

import numpy as np
import pytest
from browser import needs_browser
from explore_page import write

from nlp104.data import grammar
from nlp104.data.grammar import brackets
from nlp104.figures import explore
from nlp104.utils.errors import InputError

WORDS = "The dress that he buys is white ."
SENTENCES = {
    "the cat": ("The black cat sleeps .", "(S (NP DT JJ NN )NP (VP VBZ )VP . )S"),
    "the dress": (
        WORDS,
        "(S (NP (NP DT NN )NP (SBAR (WHNP WDT )WHNP (S (NP PRP )NP (VP VBZ )VP )S )SBAR )NP "
        "(VP VBZ (ADJP JJ )ADJP )VP . )S",
    ),
    "unclosed": (
        WORDS,
        "(S (NP (NP (NP (NP DT NN )NP (SBAR (WHNP WDT )WHNP (S (NP PRP )NP (VP VBZ (ADJP JJ )ADJP "
        ")VP )S )SBAR )VP . )S",
    ),
    "short of its end": ("It sleeps .", "(S (NP PRP )NP (VP VBZ"),
    "too many words": ("It .", "(S (NP PRP )NP (VP VBZ )VP . )S"),
    "closed too often": ("It", "(S PRP )S )S"),
    "empty phrase": ("It", "(S (NP )NP PRP )S"),
}
NAMES = list(SENTENCES)


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """The figure on a page of its own."""
    return write(tmp_path_factory.mktemp("brackets") / "page.html", explore.brackets(SENTENCES))


def balance(tokens):
    """How many phrases are open, by counting signs alone."""
    return sum(token.startswith("(") - token.startswith(")") for token in tokens)


@needs_browser
@pytest.mark.parametrize("name", ["the cat", "the dress"])
def test_the_open_phrases_of_a_tree_are_counted(reader, name):
    tokens = SENTENCES[name][1].split()
    for step in range(len(tokens) + 1):
        drawn = reader.draw(step=step, sentence=NAMES.index(name))
        read = [token for token in tokens[:step] if not brackets.is_bracket(token)]
        assert drawn.values.ravel().tolist() == [balance(tokens[:step]), len(read)]
        keys = [mark["key"] for mark in drawn.marks]
        assert sum(bool(re.fullmatch(r"open \d+", key)) for key in keys) == balance(tokens[:step])
        begun = sum(token.startswith("(") for token in tokens[:step])
        assert sum(bool(re.fullmatch(r"bar \d+", key)) for key in keys) == begun
    assert "All that was opened is closed: a tree" in drawn.caption


@needs_browser
def test_a_bar_lies_over_the_words_of_its_phrase(reader):
    words, tokens = (text.split() for text in SENTENCES["the dress"])
    drawn = reader.draw(step=len(tokens), sentence=1)
    marks = {mark["key"]: mark for mark in drawn.marks}
    for place, (first, last) in enumerate(brackets.spans(tokens)):
        if tokens[place].startswith("("):
            bar = marks[f"bar {place}"]
            assert bar["x"] < marks[f"word {first}"]["x"] < bar["x"] + bar["w"]
            assert bar["x"] < marks[f"word {last}"]["x"] < bar["x"] + bar["w"]
            others = [marks[f"word {i}"]["x"] for i in range(len(words)) if not first <= i <= last]
            assert not any(bar["x"] < x < bar["x"] + bar["w"] for x in others)


@needs_browser
@pytest.mark.parametrize("name", NAMES)
def test_what_the_package_cannot_read_is_no_tree(reader, name):
    words, tokens = (text.split() for text in SENTENCES[name])
    drawn = reader.draw(step=99, sentence=NAMES.index(name))
    try:
        brackets.read(tokens, words)
    except InputError:
        assert "no tree" in drawn.caption
    else:
        assert "All that was opened is closed: a tree" in drawn.caption


@needs_browser
def test_the_fault_is_named_where_it_stands(reader):
    said = reader.draw(step=99, sentence=NAMES.index("unclosed")).caption
    assert said.startswith("**)VP** cannot close: **NP** was put on last.")
    assert "**4** phrases are left open" in said
    assert (
        "nothing is open" in reader.draw(step=99, sentence=NAMES.index("closed too often")).caption
    )
    assert (
        "has no word left" in reader.draw(step=99, sentence=NAMES.index("too many words")).caption
    )
    assert "**2** phrases are still open" in reader.draw(step=99, sentence=3).caption


@needs_browser
def test_trees_of_the_grammar_are_read_to_their_end(reader, tmp_path):
    told = grammar.generate(12, seed=3)
    trees = {
        str(i): (" ".join(e.source_words), " ".join(brackets.write(brackets.parse(e.tree))))
        for i, e in enumerate(told)
    }
    reader.open(write(tmp_path / "page.html", explore.brackets(trees)))
    for number in range(len(trees)):
        assert reader.draw(step=99, sentence=number).caption.endswith("a tree.")


@needs_browser
def test_another_sentence_begins_and_a_token_is_a_step(reader, page):
    reader.open(page)
    assert reader.state() == {"step": 6, "sentence": 0}
    reader.evaluate('document.querySelector(\'[data-option="sentence"] [value="2"]\').click()')
    assert reader.state() == {"step": 0, "sentence": 2}
    reader.tap("to:3")
    assert reader.state() == {"step": 3, "sentence": 2}
    assert reader.complaints == []


@needs_browser
@pytest.mark.parametrize("width", [1280, 390, 320])
def test_no_words_lie_on_others(reader, page, width):
    reader.open(page, width=width)
    for sentence in (0, 1, 2):
        for step in (0, 5, 14, 28):
            clashes, _ = reader.clashes(f"brackets:step={step}&sentence={sentence}")
            assert clashes == []


@needs_browser
@pytest.mark.parametrize("state", [{"sentence": 9}, {"sentence": "x"}, {"step": -3}])
def test_what_there_is_not_is_drawn_all_the_same(reader, state):
    assert np.isfinite(reader.draw(**({"step": 3} | state)).values).all()


@pytest.mark.parametrize("wrong", [{}, {"it": ("", "(S")}, {"it": ("It", "")}])
def test_a_sentence_without_words_or_tokens_is_refused(wrong):
    with pytest.raises(ValueError, match="Expected"):
        explore.brackets(wrong)


def test_the_words_in_place_of_the_picture():
    made = explore.brackets(SENTENCES)
    assert made.alt.endswith(
        "After 6 of them The black cat are read. Open, the last put on last: S."
    )
    assert len(re.findall("<rect", made.still)) > 8

"""What two versions of a sentence have in common, and what is outlined."""

import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

from nlp104.figures.differences import GAP, MARK, differences, word_runs

GOLD = "Nous avons bu de l'eau parce que nous avions soif."
SAID = "Nous avons bu de l'eau."


def shown(*arguments):
    """The two texts of what is displayed."""
    InteractiveShell.instance()
    with capture_output() as captured:
        differences(*arguments)
    (output,) = captured.outputs
    return output.data["text/html"], output.data["text/plain"]


@pytest.mark.parametrize(
    "pair",
    [(GOLD, SAID), ("Le chat noire dort.", "Le chat noir dort."), ("", SAID), ("a b", "c d")],
)
def test_the_runs_are_the_sentences(pair):
    found = word_runs(*pair)
    for text, row in zip(pair, found, strict=True):
        words = " ".join(words for words, _ in row if words)
        assert words.replace(" .", ".") == text
    same = [[words for words, odd in row if not odd] for row in found]
    assert same[0] == same[1]
    for (first, odd), (second, _) in zip(*found, strict=True):
        assert odd == (first != second)


def test_what_is_left_out_is_a_gap():
    page, plain = shown("Left out", [("one", "We drank.", {"gold": GOLD, "model": (SAID, "−3")})])
    assert page.count(MARK) == page.count(GAP) == 1
    assert "[parce que nous avions soif]." in plain
    assert plain.splitlines()[-1] == "  model: Nous avons bu de l'eau [ ]. (−3)"


def test_what_is_said_cannot_become_html():
    page, plain = shown("a < b", [("<b>", "<u>", {"<i>": "<q> a", "two": "a"})])
    for tag in ("<b>", "<u>", "<i>", "<q>"):
        assert tag not in page
        assert tag in plain


def test_names_take_no_more_room_than_the_longest_needs():
    one = {"said": "a", "right": "b"}
    assert "grid-template-columns:3.3em" in shown("", [("", "", one)])[0]
    more = {"greedy": ("a", "log P of 1,000"), "4 beams": "b"}
    assert shown("", [("", "", one), ("", "", more)])[0].count("columns:7.9em") == 4


def test_a_note_stands_below_the_title():
    rows = [("", "", {"said": "a", "right": "b"})]
    page, plain = shown("Title", rows, "Of 2 < 3.")
    assert "Of 2 &lt; 3." in page
    assert plain.splitlines()[:2] == ["Title", "Of 2 < 3."]
    assert shown("Title", rows)[1].splitlines()[1:] == plain.splitlines()[2:]

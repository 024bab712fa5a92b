"""The sheet of sentences and translations: what it says in HTML and in plain text."""

import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

from nlp104.figures.two_columns import LABELS, SENTENCES, two_columns


def shown(*arguments, **settings):
    """The two texts of what is displayed."""
    InteractiveShell.instance()
    with capture_output() as captured:
        two_columns(*arguments, **settings)
    (output,) = captured.outputs
    return output.data["text/html"], output.data["text/plain"]


def test_what_stands_between_asterisks_is_bold():
    page, plain = shown({"": [("**Wow!**", "**Ça** alors !")]})
    assert ">Wow!</strong><" in page
    assert ">Ça</strong> alors\u00a0!" in page
    assert plain == "Wow!\n  → Ça alors !"


def test_what_is_said_cannot_become_html():
    page, plain = shown({"a < b": [("<b>", ["**<i>** & <u>"])]})
    for tag in ("<b>", "<i>", "<u>"):
        assert tag not in page
        assert tag in plain
    assert "a &lt; b" in page


def test_groups_have_names_and_rows_have_lines():
    rows = [("one", ["un", "beam 4: une"]), ("two", "deux")]
    page, plain = shown({"numbers": rows, "": [("three", "trois")]})
    assert page.count("<p ") == 1
    assert page.count("border-top") == 3
    assert plain.splitlines() == [
        "numbers",
        *("one", "  → un", "    beam 4: une"),
        *("two", "  → deux"),
        *("three", "  → trois"),
    ]


@pytest.mark.parametrize(("labels", "columns"), [(False, SENTENCES), (True, LABELS)])
def test_labels_stay_beside_what_they_name(labels, columns):
    page, _ = shown({"": [("epoch 4", "**Tout va bien.**")]}, labels=labels)
    assert columns in page

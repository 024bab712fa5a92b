"""Notebooks again and again: in orders of chance, on one core and more; a failure ends the row."""

import sys

from tools import notebooks, repeat

REPORT = """
import sys
path = next(a.partition("=")[2] for a in sys.argv if a.startswith("--junitxml="))
cases = "".join(
    f'<testcase classname="{name}" name="Cell 0">{"<failure/>" * ("masks" in name)}</testcase>'
    for name in sys.argv
    if name.endswith(".ipynb")
)
open(path, "w").write(f"<testsuites><testsuite>{cases}</testsuite></testsuites>")
"""


def test_every_order_has_every_notebook_once():
    first, second = repeat.order(1), repeat.order(2)
    assert first != second
    assert sorted(first) == sorted(second) == sorted(notebooks.chapters())
    assert repeat.order(1) == first


def test_a_pass_says_what_failed():
    found = repeat.one_pass(3, cores=[0], command=[sys.executable, "-c", REPORT])
    assert found["cells"] == len(notebooks.chapters())
    assert len(found["failed"]) == 1
    assert found["failed"][0].endswith("masks.ipynb Cell 0")
    assert (found["seed"], found["cores"]) == (3, 1)


def test_in_turns_on_all_cores_and_on_each():
    turns = [*repeat.turns(5, done=2, cores=[0, 1])]
    assert turns == [
        [(3, [0, 1])],
        [(4, [0]), (5, [1])],
        [(6, [0, 1])],
        [(7, [0])],
    ]
    assert [number for turn in repeat.turns(9) for number, _ in turn] == [*range(1, 10)]


def test_a_row_ends_where_something_failed():
    good, bad = {"failed": []}, {"failed": ["masks Cell 4"]}
    assert repeat.in_a_row([good, bad, good, good]) == [good, good]
    assert repeat.in_a_row([good, good]) == [good, good]
    assert repeat.in_a_row([good, bad]) == []

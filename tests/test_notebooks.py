"""The notebooks keep the rules of tools/notebooks.py, and each of these rules can fail."""

import copy
import json
import re
import shutil
import subprocess

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from nbval.plugin import get_sanitize_patterns

from nlp104.figures import explore
from nlp104.figures.chapter_map import TOPICS, chapter_map
from tools import check, execute, notebooks, redraw

NOTEBOOKS = notebooks.chapters()


def name(path):
    return str(path.relative_to(notebooks.ROOT))


# The book as it is.


def test_there_are_notebooks():
    assert len(NOTEBOOKS) >= 3


@pytest.mark.parametrize("path", NOTEBOOKS, ids=name)
def test_notebook_keeps_the_rules(path):
    assert notebooks.problems(path.read_text()) == []


# Each rule, on a small notebook that breaks it.


def stream(text, channel="stdout"):
    return new_output("stream", name=channel, text=text)


def picture():
    return new_output("display_data", {"text/html": f"{notebooks.STILL}…</figure>"})


def dots():
    return new_output("display_data", {"image/png": "iVBORw0KGgo="})


def code(source, *outputs, tags=()):
    return new_code_cell(source, outputs=list(outputs), metadata={"tags": list(tags)})


def good():
    """A notebook that breaks no rule."""
    notebook = new_notebook(
        cells=[
            new_markdown_cell("# A title\n\nSome $x$, a {word}, `code` and ```` ``` ````."),
            code(notebooks.setup_source(), tags=["hide-input"]),
            code(notebooks.MAP.format(topic="masks"), picture(), tags=["hide-input"]),
            code("loss()", stream("0.1234"), picture(), tags=["nbval-ignore-output"]),
            code("print('A:\\n4')", stream("A:\n4\n")),
            code("1 / 0", error(), tags=["raises-exception"]),
            code("# @title Checks\nassert 2 + 2 == 4", tags=["hide-input"]),
            code("# @title Solution 1\nprint(4)", stream("4\n"), tags=["hide-cell"]),
        ]
    )
    for number, cell in enumerate(notebook.cells[1:], start=1):
        cell.execution_count = number
    return notebook


def error(value="division by zero"):
    return new_output("error", ename="ZeroDivisionError", evalue=value)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=name)
def test_stored_figures_carry_todays_styles_and_scripts(path):
    for data in redraw.stored_figures(nbformat.read(path, as_version=4)):
        # Where this fails: python -m tools.redraw
        assert redraw.redrawn(data["text/html"]) == data["text/html"]


@pytest.mark.parametrize(
    "figure", [explore.evolution(), chapter_map("masks")], ids=["scene", "map"]
)
def test_redrawing_brings_an_old_figure_up_to_date(figure):
    old = re.sub(r"(?s)(<style>|<script>|<pattern )[^<]*", r"\1 old", figure.html)
    assert old != figure.html
    assert redraw.redrawn(old) == figure.html
    assert redraw.redrawn("<b>no figure</b>") == "<b>no figure</b>"


@pytest.mark.parametrize("topic", TOPICS)
def test_redrawing_draws_a_map_again(topic):
    made = chapter_map(topic).html
    assert redraw.redrawn(made.replace("normalise", "norm")) == made


def test_redrawing_draws_a_map_again_that_lies_beside_the_parts():
    beside = chapter_map("the whole", folder=".").html
    assert redraw.redrawn(beside.replace("normalise", "norm")) == beside


def test_every_link_of_every_map_leads_to_a_chapter():
    book = notebooks.ROOT / "book"
    for path in [*book.glob("*.ipynb"), *book.glob("part*/*.ipynb")]:
        links = re.findall(r'<a href=\\"(\.[^"\\]*\.ipynb)\\" aria-label', path.read_text("utf-8"))
        assert links, path
        for link in links:
            assert (path.parent / link).is_file(), f"{path}: {link}"


def test_good_notebook_has_no_problems():
    assert notebooks.problems(notebooks.canonical(good())) == []


def swap_outputs(notebook, index, *outputs):
    notebook.cells[index].outputs = list(outputs)


def retag(notebook, index, *tags):
    notebook.cells[index].metadata.tags = list(tags)


def rewrite(notebook, index, source):
    notebook.cells[index].source = source


def ask_in_vain(notebook):
    rewrite(notebook, 0, "**Predict** it.")
    retag(notebook, 4, "predict")
    swap_outputs(notebook, 4)


BREAKAGES = [
    ("first code cell is not the set-up cell", lambda n: n.cells.pop(1)),
    ("second code cell is not the map", lambda n: rewrite(n, 2, "chapter_map('masks')")),
    ("second code cell is not the map", lambda n: n.cells.pop(2)),
    ("set-up cell prints something", lambda n: swap_outputs(n, 1, stream("Installing\n"))),
    ("not executed once each, in order", lambda n: n.cells[4].update(execution_count=None)),
    ("not executed once each, in order", lambda n: n.cells[4].update(execution_count=2)),
    ("not executed once each, in order", lambda n: n.cells[6].update(execution_count=8)),
    ("nothing in it is compared", lambda n: [swap_outputs(n, i) for i in (4, 5, 7)]),
    ("code cell 3, which is not compared, none states", lambda n: swap_outputs(n, 4)),
    ("code cell 3, which is not compared, none states", lambda n: swap_outputs(n, 4, picture())),
    ("cell 5 is empty", lambda n: rewrite(n, 4, "  \n")),
    ("cell 1 is empty", lambda n: rewrite(n, 0, "")),
    ("cell 5 names a path of one machine", lambda n: swap_outputs(n, 4, stream("/home/me/x.py"))),
    ("cell 5 names a path of one machine", lambda n: rewrite(n, 4, "open('/tmp/x')")),
    ("cell 5 names a path of one machine", lambda n: rewrite(n, 4, r"open('C:\Users\me\x')")),
    (
        "cell 6 names a path of one machine",
        lambda n: swap_outputs(n, 5, error("in /home/reader/x.py")),
    ),
    ("cell 1 names a path of one machine", lambda n: rewrite(n, 0, "Look at /Users/me/x")),
    ("cell 5 steers nbval with a comment", lambda n: rewrite(n, 4, "#NBVAL_SKIP\nprint(4)")),
    ("cell 5 is tagged nbval-skip", lambda n: retag(n, 4, "nbval-skip")),
    ("cell 5 is tagged skip-execution", lambda n: retag(n, 4, "skip-execution")),
    ("cell 5 is tagged predict, and answers no", lambda n: retag(n, 4, "predict")),
    ("cell 5 is tagged predict, and answers no", ask_in_vain),
    ("cell 7 is folded and has no title", lambda n: rewrite(n, 6, "print(4)")),
    ("cell 8 is a solution that is not tagged", lambda n: retag(n, 7)),
    ("cell 5 checks something", lambda n: rewrite(n, 4, "x = 4\nassert x == 4")),
    ("cell 5 draws something", lambda n: rewrite(n, 4, "plots.curves({})")),
    ("cell 5 draws something", lambda n: rewrite(n, 4, "show(figure, alt='a point')")),
    ("cell 5 has a line of 81 columns", lambda n: rewrite(n, 4, "x" * 81)),
    ("cell 5 wrote to stderr", lambda n: n.cells[4].outputs.append(stream("oh", "stderr"))),
    ("cell 6 stores an error: ZeroDivisionError", lambda n: retag(n, 5)),
    ("cell 4 shows a picture of dots", lambda n: n.cells[3].outputs.append(dots())),
    ("cell 1 shows an image without a text", lambda n: rewrite(n, 0, "![](a.png)")),
    ("cell 1 shows an image without a text", lambda n: rewrite(n, 0, '<img src="a.png">')),
    ("cell 1 holds MyST markup", lambda n: rewrite(n, 0, "As {cite}`vaswani2017` say")),
    ("cell 1 holds MyST markup", lambda n: rewrite(n, 0, "```{note}\nA note.\n```")),
    ("cell 1 holds MyST markup", lambda n: rewrite(n, 0, ":::{tip}\nA tip.\n:::")),
    ("cell 1 holds MyST markup", lambda n: rewrite(n, 0, "(a-label)=\n# Title")),
]


@pytest.mark.parametrize(("expected", "spoil"), BREAKAGES)
def test_broken_notebook_is_reported(expected, spoil):
    notebook = good()
    spoil(notebook)
    found = notebooks.problems(notebooks.canonical(notebook))
    assert any(expected in problem for problem in found), found


def test_markdown_code_is_not_markup():
    notebook = good()
    notebook.cells[0].source = "# T\n\n```\n{cite}`x`\n```\n\nand ![a point](a.png)"
    assert notebooks.problems(notebooks.canonical(notebook)) == []


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace('"display_name": "Python 3"', '"display_name": "mine"'),
        lambda text: text.replace('"cellView": "form",\n', ""),
        lambda text: text.replace('"source_hidden": true', '"source_hidden": false', 1),
        lambda text: text.rstrip(),
        lambda text: text.replace('"tags": [', '"scrolled": true, "tags": [', 1),
    ],
)
def test_other_forms_are_reported(change):
    text = notebooks.canonical(good())
    assert change(text) != text
    assert "it is not in canonical form: make execute" in notebooks.problems(change(text))


def test_a_cell_may_answer_the_question_of_the_last_text():
    notebook = good()
    rewrite(notebook, 0, "**Predict** it.")
    retag(notebook, 4, "predict")
    assert notebooks.problems(notebooks.canonical(notebook)) == []


def test_foreign_file_is_reported():
    assert "not a valid notebook" in notebooks.problems("{}")[0]
    assert "not a valid notebook" in notebooks.problems("<html>")[0]


def test_canonical_keeps_the_notebook_and_is_final():
    notebook = good()
    before = copy.deepcopy(notebook)
    text = notebooks.canonical(notebook)
    assert notebook == before
    again = nbformat.reads(text, as_version=4)
    assert notebooks.canonical(again) == text
    assert [cell.id for cell in again.cells] == [cell.id for cell in before.cells]
    assert [c.get("outputs") for c in again.cells] == [c.get("outputs") for c in before.cells]


def test_a_title_folds_a_cell_everywhere_and_a_solution_with_its_outputs():
    notebook = good()
    retag(notebook, 6)  # a title is enough
    cells = nbformat.reads(notebooks.canonical(notebook), as_version=4).cells
    folded = [cell.metadata.get("jupyter", {}) for cell in cells]
    assert folded[1] == folded[2] == folded[6] == {"source_hidden": True}
    assert folded[-1] == {"source_hidden": True, "outputs_hidden": True}
    assert not any(folded[3:6])
    assert [cell.metadata.get("cellView") for cell in cells[6:]] == ["form", "form"]
    assert [cell.metadata.tags for cell in cells[6:]] == [["hide-input"], ["hide-cell"]]


# What make execute stores.


def test_execute_stores_outputs_in_canonical_form(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(notebooks.ROOT))
    path = tmp_path / "chapter.ipynb"
    notebook = good()
    notebook.cells[1].source = "'an old set-up cell'"
    drawing = f"{notebooks.STILL}…</figure>"
    notebook.cells[3].source = f"from IPython.display import HTML\nHTML({drawing!r})"
    notebook.cells[4].source = "import os\nprint('here:', os.listdir())\nprint('second')"
    notebook.cells[4].outputs = [stream("something else")]
    nbformat.write(notebook, path)
    seconds, memory = execute.execute(path)
    first = path.read_text()
    stored = nbformat.reads(first, as_version=4)
    assert notebooks.problems(first) == []
    assert stored.cells[4].outputs == [stream("here: ['chapter.ipynb']\nsecond\n")]
    assert 0 < seconds < 60
    assert 10**7 < memory < 2**32
    execute.execute(path)
    assert path.read_text() == first


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("import sys\nprint('a warning', file=sys.stderr)", "a warning"),
        ("print(4)\nraise KeyError('lost')", "lost"),
    ],
)
def test_execute_leaves_a_failing_notebook_alone(tmp_path, capfd, source, reason):
    path = tmp_path / "chapter.ipynb"
    notebook = good()
    notebook.cells = [*notebook.cells[1:3], notebook.cells[4]]
    notebook.cells[2].source = source
    nbformat.write(notebook, path)
    before = path.read_text()
    assert execute.main([str(path)]) == 1
    said = capfd.readouterr()
    assert reason in said.out
    # A kernel that is ended may leave a word of libzmq's, about a socket that is no more.
    assert re.sub(r"Assertion failed: .*\(src/signaler\.cpp:\d+\)\n", "", said.err) == ""
    assert path.read_text() == before


# What nbval compares.


def test_nbval_compares_what_it_should(tmp_path):
    """Stored outputs that are wrong fail; those that may differ do not."""
    shutil.copy(notebooks.ROOT / "book" / "conftest.py", tmp_path)
    show = "from IPython.display import HTML, display\n"
    drawn = f"{notebooks.STILL}<svg/>\\n</figure>"
    cells = [
        code("print(2 + 2)", stream("5\n")),
        code("2 + 2", new_output("execute_result", {"text/plain": "5"}, execution_count=2)),
        code("1 / 0", tags=["raises-exception"]),
        code("print('more than was stored')"),
        code("print(2 + 2)", stream("4\n")),
        code("object()", new_output("execute_result", {"text/plain": OBJECT}, execution_count=6)),
        code("import sys\nprint('w', file=sys.stderr)", stream("another warning\n", "stderr")),
        code("print(2 + 2)", stream("5\n"), tags=["nbval-ignore-output"]),
        code(f"{show}display(HTML('{drawn}'))", new_output("display_data", DRAWING)),
    ]
    for number, cell in enumerate(cells, start=1):
        cell.execution_count = number
    nbformat.write(new_notebook(cells=cells, metadata=notebooks.METADATA), tmp_path / "n.ipynb")
    command = [*check.NBVAL, "-rA", "-p", "no:cacheprovider", str(tmp_path)]
    said = subprocess.run(
        command, cwd=notebooks.ROOT, env=notebooks.environment(), capture_output=True, text=True
    ).stdout
    verdicts = {int(n): v for v, n in re.findall(r"(PASSED|FAILED) \S*::Cell (\d+)", said)}
    assert verdicts == {number: "FAILED" if number < 4 else "PASSED" for number in range(9)}, said


OBJECT = "<object at 0x7f0011223344>"
DRAWING = {
    "text/html": f"{notebooks.STILL}<svg>\n<circle/></svg></figure>",
    "text/plain": "<IPython.core.display.HTML object>",
}


def test_nbval_stops_a_cell_that_hangs_and_not_one_that_trains_on_a_slow_machine():
    costs = json.loads(check.COSTS.read_text(encoding="utf-8"))["chapters"].values()
    assert 3 * max(cost["CPU seconds"] for cost in costs) < notebooks.CELL_LIMIT < 20 * 60
    limit = next(option for option in check.NBVAL if option.startswith("--nbval-cell-timeout="))
    assert limit.partition("=")[2] == str(notebooks.CELL_LIMIT)


# What the sanitising rules replace: for each section of the file what must change, and what not.
RULES = {
    "address": (
        {
            "<keras.src.Dense object at 0x7f1b2c3d4e50>": "<keras.src.Dense object at 0xADDRESS>",
            "<function f at 0x000001F4A2B3C4D5>\nx": None,
            "a at 0x10ab34f50, b at 0x10ab34f51": "a at 0xADDRESS, b at 0xADDRESS",
        },
        ["0xff0000", "looked at 0x10", "at 12345678", "the loss at step 0x", "float 1e-06"],
    ),
    "drawing": (
        {f"a {notebooks.STILL}<svg>\n</svg></figure> b": "a FIGURE b"},
        ['<figure class="nlp104 explore"><p>\n</p></figure>', "<figure></figure>"],
    ),
    "explorable": (
        {
            "<style>a\n</style><script>b</script>": "PARTPART",
            "<div><svg x='1'><g>\n</g></svg></div>": "<div>PART</div>",
        },
        ['<script type="application/json">{}</script>', "<table></table>"],
    ),
}


def sanitising_rules():
    text = (notebooks.ROOT / "tests" / "nbval-sanitize.cfg").read_text()
    sections = re.split(r"^\[(.+)\]$", text, flags=re.MULTILINE)[1:]
    return dict(zip(sections[::2], sections[1::2], strict=True))


def test_every_sanitising_rule_has_an_example():
    assert sanitising_rules().keys() == RULES.keys()
    text = (notebooks.ROOT / "tests" / "nbval-sanitize.cfg").read_text()
    assert len(get_sanitize_patterns(text)) == text.count("\nregex:") == len(RULES)


@pytest.mark.parametrize("rule", RULES)
def test_sanitising_rule_replaces_what_it_should_and_nothing_else(rule):
    [(pattern, replacement)] = get_sanitize_patterns(sanitising_rules()[rule])
    changed, kept = RULES[rule]
    for before, after in changed.items():
        now = re.sub(pattern, replacement, before)
        assert now != before
        assert after is None or now == after
    for text in kept:
        assert re.sub(pattern, replacement, text) == text


def test_switched_off_rule_would_be_noticed():
    """Without the blank after `replace:` nbval drops a rule in silence: the count above sees it."""
    assert get_sanitize_patterns("regex: a\nreplace: b") == [("a", "b")]
    assert get_sanitize_patterns("regex: a\nreplace:") == []

"""Examples of the reference can be pasted: each runs from nothing and prints what it says."""

import ast
import doctest
import re
import shlex

import pytest

from tools import concepts

API = concepts.ROOT / "book" / "api"
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE

# The pages of which every class and function has an example.
PAGES = {
    "attention": ["attention"],
    "encoding": ["encoding"],
    "transformer": ["transformer"],
    "data": ["data", "tokenizer", "corpus", "grammar", "batches"],
    "training": ["training"],
    "decoding": ["decoding"],
    "translation": ["translation", "translator", "evaluation", "export", "serve"],
}
WITHOUT = {
    "nlp104.transformer.configured_model.ConfiguredModel": "its two models have theirs",
    "nlp104.transformer.skip_padding.SkipsPadding": "it saves time, which no example prints",
    "nlp104.transformer.token_mean.TokenMeanLoss": "what it changes is seen in a log of `fit` only",
}

PAGES_OF_API = sorted(API.glob("*.md"))
# The pages with commands in a `bash` block, which is not run; those in a `console` block are.
NOT_RUN = {
    "cli": "a training takes minutes",
    "export": "a program takes half a minute, and a package more for one of them",
    "serve": "a server runs until Ctrl-C",
}


def examples(module):
    """The docstrings of a module that have examples: a `doctest.DocTest` for each.

    Read, not imported: `doctest`'s own finder passes over functions with a decorator.
    """
    path = concepts.FILES[module]
    parser, found = doctest.DocTestParser(), []

    def look(node, name):
        text = ast.get_docstring(node)
        if text and ">>>" in text:
            found.append(parser.get_doctest(text, {}, name, str(path), node.body[0].lineno))
        for child in node.body:
            if isinstance(child, ast.ClassDef | ast.FunctionDef):
                look(child, f"{name}.{child.name}")

    look(ast.parse(path.read_text(encoding="utf-8")), module)
    return found


def run(example):
    """What is wrong with an example that is pasted into a new session; empty if nothing is."""
    said = []
    example.globs = {"__name__": "__main__"}  # nothing else is there
    doctest.DocTestRunner(verbose=False, optionflags=FLAGS).run(example, out=said.append)
    return "".join(said)


def blocks(page, language):
    """The code blocks of a page in one language."""
    text = page.read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


EXAMPLES = {module: found for module in concepts.FILES if (found := examples(module))}


@pytest.fixture(autouse=True)
def _session(tmp_path, monkeypatch, load_once):
    """What all examples find: an empty directory to write to, and models that are loaded."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("nlp104.translation.pretrained.load_pretrained", load_once)


def test_a_wrong_example_is_noticed():
    parser = doctest.DocTestParser()
    assert not run(parser.get_doctest(">>> 1 + 1\n2", {}, "right", "", 0))
    assert "Got:\n    2" in run(parser.get_doctest(">>> 1 + 1\n3", {}, "wrong", "", 0))
    assert "NameError" in run(parser.get_doctest(">>> np.ones(1)", {}, "no import", "", 0))


@pytest.mark.slow
@pytest.mark.parametrize("module", EXAMPLES)
def test_examples_print_what_they_say(module):
    wrong = [said for example in EXAMPLES[module] if (said := run(example))]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("room", PAGES)
def test_everything_documented_has_an_example(room):
    named = {example.name for found in EXAMPLES.values() for example in found}
    without = set()
    for page in PAGES[room]:
        for name in concepts.documented(API / f"{page}.md"):
            if not name.startswith("module-"):
                defined = f"{concepts.module_of(name)}.{name.rpartition('.')[2]}"
                without |= {name} - ({name} if defined in named else set())
    assert without == {name for name in WITHOUT if name.startswith(f"nlp104.{room}.")}


@pytest.mark.parametrize("page", PAGES_OF_API, ids=lambda page: page.stem)
def test_code_on_a_page_runs(page):
    """One block after the other, as a reader would paste them."""
    names = {"__name__": "__main__"}
    for block in blocks(page, "python"):
        exec(compile(block, str(page), "exec"), names)
    text = "\n".join(blocks(page, "pycon"))
    wrong = run(doctest.DocTestParser().get_doctest(text, {}, page.stem, str(page), 0))
    assert not wrong, wrong


@pytest.mark.slow
def test_commands_on_a_page_print_what_it_says(capsys):
    from nlp104.cli.main import main

    (session,) = blocks(API / "cli.md", "console")
    for typed in session.split("$ nlp104 ")[1:]:
        command, _, expected = typed.partition("\n")
        assert main(shlex.split(command)) == 0
        printed = capsys.readouterr().out
        assert doctest.OutputChecker().check_output(expected, printed, FLAGS), printed


def test_only_what_takes_minutes_is_not_run():
    shown = {page.stem for page in PAGES_OF_API if blocks(page, "(?:bash|sh|shell)")}
    assert shown == set(NOT_RUN)

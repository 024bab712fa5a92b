"""The book's own pages: links lead somewhere, nothing is left out, nothing comes from elsewhere."""

import functools
import importlib.util
import inspect
import json
import os
import re
import shutil
import sys
from importlib.resources import files
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from browser import needs_browser, visit
from docutils import nodes
from docutils.utils import new_document

from nlp104.cli.options import make_parser
from nlp104.figures.language import SERIES, TOKENS
from tools import concepts, notebooks

ROOT = Path(__file__).resolve().parents[1]
BOOK = ROOT / "book"
PAGES = sorted(
    page
    for pattern in ("*.md", "*.ipynb")
    for page in BOOK.rglob(pattern)
    if not {"_build", ".ipynb_checkpoints"} & set(page.relative_to(BOOK).parts)
)


# The modules that say what they give to readers: the rooms, and what chapters draw with.
PUBLIC = [
    module
    for module, path in concepts.FILES.items()
    if "__all__" in path.read_text(encoding="utf-8")
    and (module.count(".") == 1 or module.startswith("nlp104.figures."))
]


@functools.cache
def prose(page):
    """The Markdown of a page, code blocks left out."""
    text = page.read_text(encoding="utf-8")
    if page.suffix == ".ipynb":
        cells = json.loads(text)["cells"]
        text = "\n\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")
    return re.sub(r"```.*?```", "", text, flags=re.DOTALL)


@functools.cache
def anchors(page):
    """What a link to this page may name after the #: its anchors and its headings."""
    text = prose(page)
    headings = re.findall(r"^#+ (.*)$", text, flags=re.MULTILINE)
    slugs = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
    documented = concepts.documented(page) if page.parent.name == "api" else set()
    return slugs | set(re.findall(r'<a id="([^"]+)"', text)) | documented


def contents(entry):
    """All files that an entry of the table of contents names."""
    if isinstance(entry, dict):
        found = {value for key, value in entry.items() if key in ("file", "root")}
        return found.union(*(contents(value) for value in entry.values()))
    return set().union(*map(contents, entry)) if isinstance(entry, list) else set()


def script(path):
    """A Python file that belongs to no package, as a module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_table_of_contents_names_every_page_once():
    listed = contents(yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8")))
    assert listed == {str(page.relative_to(ROOT).with_suffix("")) for page in PAGES}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(BOOK)))
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
        if re.match(r"\w+:", target):
            continue
        path, _, anchor = target.partition("#")
        other = (page.parent / path).resolve() if path else page
        assert other.is_file(), f"{page.name}: {target}"
        names = {anchor, anchor.rpartition(".")[0]}  # a method is documented with its class
        assert not anchor or names & anchors(other), f"{page.name}: {target}"


@pytest.mark.parametrize("name", ["bibliography", "glossary"])
def test_anchors_are_unique(name):
    names = re.findall(r'<a id="([^"]+)"', prose(BOOK / f"{name}.md"))
    assert names
    assert len(names) == len(set(names))


def test_the_bibliography_has_every_source_that_the_package_cites():
    known = anchors(BOOK / "bibliography.md")
    for module in (ROOT / "nlp104").rglob("*.py"):
        text = " ".join(module.read_text(encoding="utf-8").split())
        for author, year in re.findall(r"\(([A-Z]\w+)(?: et al\.| and [A-Z]\w+)?, (\d{4})", text):
            assert author.lower() + year in known, f"{module.name} cites {author}, {year}"


def test_the_reference_leads_to_each_of_its_pages():
    listed = set(re.findall(r"\]\((\w+)\.md\)", prose(BOOK / "api" / "index.md")))
    assert listed == {page.stem for page in (BOOK / "api").glob("*.md")} - {"index"}


@pytest.mark.parametrize("module", PUBLIC)
def test_the_reference_leaves_nothing_public_out(module):
    """Each name is documented once, where readers import it from; constants stand in the prose."""
    pages = sorted((BOOK / "api").glob("*.md"))
    documented = [name for page in pages for name in concepts.documented(page)]
    text = "\n".join(map(prose, pages))
    for name in importlib.import_module(module).__all__:
        value = getattr(importlib.import_module(module), name)
        if inspect.isclass(value) or inspect.isfunction(value):
            assert documented.count(f"{module}.{name}") == 1, name
        elif inspect.ismodule(value):
            assert f"module-{module}.{name}" in documented, name
        else:
            assert f"`{name}`" in text, name


def test_the_reference_shows_the_help_of_every_command():
    commands = re.findall(r"^ {4}(\w+)(?:  |$)", make_parser().format_help(), re.MULTILINE)
    page = (BOOK / "api" / "cli.md").read_text(encoding="utf-8")
    shown = re.findall(r"^## `nlp104 (\w+)`\n\n```{command-help} \1\n```$", page, re.MULTILINE)
    assert shown == commands != []


def test_a_page_loads_nothing_from_elsewhere():
    sources = [
        *BOOK.rglob("assets/*.css"),
        *BOOK.rglob("assets/*.svg"),
        *BOOK.rglob("_templates/**/*.html"),
    ]
    assert sources
    for source in sources:
        text = source.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
        assert not re.search(r"https?://|@import", text), source
    for page in PAGES:
        assert not re.search(r"!\[[^\]]*\]\(http|<(img|script|iframe|link)\b", prose(page)), page


def test_a_changed_style_alone_renews_the_book(tmp_path):
    source, copies = tmp_path / "here" / "assets", tmp_path / "out" / "_static"
    elsewhere = tmp_path / "elsewhere"  # an extension has a folder of its own, outside the book
    (source / "house").mkdir(parents=True)
    elsewhere.mkdir()
    (copies / "house").mkdir(parents=True)
    config = SimpleNamespace(
        html_static_path=["assets", str(elsewhere)],
        root_doc="book/index",
        exclude_patterns=["**/*.py"],
    )
    app = SimpleNamespace(confdir=tmp_path / "here", outdir=tmp_path / "out", config=config)
    (source / "house" / "cells.css").write_text("p {}", encoding="utf-8")
    (source / "never_copied.py").touch()
    (elsewhere / "funcs.js").touch()
    house = script(BOOK / "_ext" / "house.py")
    assert house.renew_assets(app, None, set(), set(), set()) == ["book/index"]
    shutil.copy2(source / "house" / "cells.css", copies / "house")
    shutil.copy2(elsewhere / "funcs.js", copies)
    assert house.renew_assets(app, None, set(), set(), set()) == []
    os.utime(copies / "house" / "cells.css", (0, 0))
    assert house.renew_assets(app, None, set(), set(), set()) == ["book/index"]


def test_the_gallery_leads_to_every_figure_to_play_with():
    """An address is what the player gives to the figure: the second of its name has a number."""
    gallery = script(BOOK / "_ext" / "gallery.py")
    figure = r'<figure class="nlp104 explore" data-scene="(\w+)" aria-label="([^"]*)"'
    scenes = set()
    for notebook in notebooks.chapters():
        page = notebook.with_suffix(".html").name
        stored = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
        drawn = [
            re.match(figure, html)
            for cell in stored
            for output in cell.get("outputs", [])
            for html in ["".join(output.get("data", {}).get("text/html", []))]
        ]
        drawn = [match.groups() for match in drawn if match]
        cards = gallery.cards_of(notebook, page)
        assert len(cards) == len(set(drawn))
        for card in cards.values():
            link = re.match(rf'<a href="{re.escape(page)}#(\w+?)(?:-(\d))?:">', card)
            ((title,),) = [re.findall("<strong>(.*)</strong>", card)]
            place = [name for name, _ in drawn].index(link[1])
            for _ in range(int(link[2] or 1) - 1):
                place = [name for name, _ in drawn].index(link[1], place + 1)
            assert drawn[place] == (link[1], title)
            scenes.add(link[1])
    folders = files("nlp104.figures.explore").joinpath("scenes").iterdir()
    assert scenes == {folder.name for folder in folders}


def test_docstrings_are_written_like_chapters():
    lines = [
        "With $A$ links, |A| of them, the `Score`s are ``|x|`` wide:",
        "",
        r"    $$\frac{|A|}{2}$$",
        "",
        ">>> cost(5)",
        "$5|each",
        "",
        "$x$s | y",
    ]
    script(BOOK / "_ext" / "reference.py").escape_prose(None, "", "", None, None, lines)
    assert lines == [
        r"With :math:`A` links, \|A\| of them, the `Score`\ s are ``|x|`` wide:",
        "",
        r"    .. math:: \frac{|A|}{2}",
        "",
        ">>> cost(5)",
        "$5|each",
        "",
        r":math:`x`\ s \| y",
    ]


def test_a_short_name_leads_to_where_one_room_documents_it(monkeypatch):
    def place(page, aliased=False, objtype="class"):
        return SimpleNamespace(docname=page, node_id="id", aliased=aliased, objtype=objtype)

    known = {
        "Transformer": [("nlp104.transformer.Transformer", place("transformer"))],
        "Batches": [
            ("nlp104.data.Batches", place("batches")),
            ("nlp104.data.batches.Batches", place("batches", aliased=True)),
        ],
        "data": [("nlp104.data", place("data", objtype="module"))],
        "step": [("nlp104.transformer.Decoder.step", place("a")), ("Encoder.step", place("b"))],
    }
    domain = SimpleNamespace(find_obj=lambda *arguments, searchmode: known.get(arguments[3], []))
    reference = script(BOOK / "_ext" / "reference.py")
    monkeypatch.setattr(reference, "make_refnode", lambda *arguments: arguments[-1])

    def link(name):
        node = {"reftype": "obj", "refdoc": "page", "reftarget": name}
        env = SimpleNamespace(domains={"py": domain})
        return reference.link_across_modules(SimpleNamespace(builder=None), env, node, None)

    assert link("nlp104.Transformer") == link("Transformer") == "nlp104.transformer.Transformer"
    assert link("Batches") == "nlp104.data.Batches"
    assert link("nlp104.data") == "nlp104.data"
    assert link("data") is link("step") is link("unheard_of") is None


def test_a_line_ends_before_a_number_or_after_it():
    page = new_document("page")
    page += nodes.title("", "All 9 % of 2 × 2")
    page += nodes.paragraph("", "Of 16 × 16 tokens 92 % cost 9.5 · 10¹² × x.")
    page += nodes.paragraph("", "", nodes.strong("", "4.5 %"), nodes.literal("", "7 % 2 × 3"))
    script(BOOK / "_ext" / "house.py").bind_numbers(None, page)
    assert [each.astext() for each in page] == [
        "All 9 % of 2 × 2",
        "Of 16\xa0×\xa016 tokens 92\xa0% cost 9.5\xa0·\xa010¹² × x.",
        "4.5\xa0%7 % 2 × 3",
    ]


def test_columns_are_told_from_prose():
    cells = script(BOOK / "_ext" / "cells.py")
    assert cells.in_columns("        loss  BLEU\nseries  1.90  15.22\nours    2.33  29.13\n")
    assert not cells.in_columns("It says  nothing twice.\n  And this is set in a little.\n")
    assert not cells.in_columns("one\n\n  two\n")
    log = "epoch 1/10  accuracy 0.1193  loss 2.8393  val_accuracy 0.2333  val_loss 2.4799  3 s\n"
    assert not cells.in_columns(2 * log)


def test_a_folded_cell_shows_its_picture_before_its_code():
    def cell(mode, *outputs):
        code = nodes.literal_block("", "draw()", nb_element="cell_code_source")
        shown = nodes.container("", *outputs, nb_element="cell_code_output")
        children = [code, shown] if outputs else [code]
        return nodes.container("", *children, nb_element="cell_code", hide_mode=mode)

    figure = nodes.raw("", '<figure class="nlp104 still"></figure>', format="html")
    number = nodes.literal_block("", "0.5")
    cells = [
        cell("input", figure.deepcopy()),
        cell("input", figure.deepcopy(), number.deepcopy()),
        cell("input", number.deepcopy()),
        cell("input", number.deepcopy(), figure.deepcopy()),
        cell("input"),
        cell("all", figure.deepcopy()),
        cell("", figure.deepcopy()),
    ]
    page = new_document("page")
    page.extend(cells)
    script(BOOK / "_ext" / "cells.py").PicturesFirst(page).run()
    moved = [each.children[0].get("nb_element") == "cell_code_output" for each in cells]
    assert moved == [True, True, False, False, False, False, False]
    assert [len(each.children) for each in cells] == [2, 2, 2, 2, 1, 2, 2]


def test_a_folded_cell_is_named_by_its_title_and_a_folded_log_by_what_it_is():
    page = new_document("page")
    for mode in ("input", "all", "output", ""):
        code = nodes.literal_block("", "# @title Draw it\ndraw()", nb_element="cell_code_source")
        page += nodes.container("", code, nb_element="cell_code", hide_mode=mode)
    script(BOOK / "_ext" / "cells.py").label_folded_cells(None, page)
    names = [cell.get("prompt_show") for cell in page]
    assert names == ["Draw it", "Draw it", "What this prints", None]
    assert [cell.get("prompt_hide") for cell in page] == names


def test_neighbours_that_answer_a_question_lie_under_one_cover():
    def cell(*tags, output=True):
        code = nodes.literal_block("", "ask()", nb_element="cell_code_source")
        said = nodes.container("", nodes.paragraph("", "4"), nb_element="cell_code_output")
        children = [code, said] if output else [code]
        return nodes.container("", *children, nb_element="cell_code", classes=["cell", *tags])

    first, second, third = (cell("tag_predict") for _ in range(3))
    plain, silent = cell(), cell("tag_predict", output=False)
    page = new_document("page")
    page += nodes.section("", nodes.paragraph("", "?"), first, second, plain, silent, third)
    script(BOOK / "_ext" / "cells.py").GuessFirst(page).run()
    (section,) = page.children
    covers = [each for each in section.children if "guess" in each["classes"]]
    assert [cover.children for cover in covers] == [[first, second], [third]]
    buttons = [each.astext().count("checkbox") for each in (first, second, plain, silent, third)]
    assert buttons == [2, 0, 0, 0, 2]  # one for this cover, one for all of the page


COVERED = """<!doctype html><html lang="en"><title>A page</title><style>{style}</style>
<div class="guess"><div class="cell"><div class="cell_output">{buttons}<p>4</p></div></div>
<div class="cell"><div class="cell_output"><p>5</p></div></div></div>
<details><summary>Answer</summary>It is 6.</details>
<div class="guess"><div class="cell"><div class="cell_output">{buttons}<p>6</p></div></div></div>
<div class="guess"><div class="cell"><div class="cell_output">{buttons}<p>7</p></div></div></div>"""


@needs_browser
def test_an_answer_is_covered_until_the_reader_wants_it(tmp_path):
    buttons = script(BOOK / "_ext" / "cells.py").GUESS
    style = (BOOK / "assets" / "house" / "guess.css").read_text(encoding="utf-8")
    page = tmp_path / "page.html"
    page.write_text(COVERED.format(style=style, buttons=buttons), encoding="utf-8")
    see = "[...document.querySelectorAll('p')].map((p) => getComputedStyle(p).visibility)"

    async def seen(tab):
        return [state == "visible" for state in await tab.run(see)]

    press = "document.querySelectorAll('{}')[{}].click()"

    async def read(tab):
        await tab.open(page.as_uri(), 390, "light")  # looks at all, and so has uncovered it
        await tab.run(press.format(".guess-all", 0))
        assert await seen(tab) == [False, False, False, False]
        await tab.run(press.format(".guess-made", 0))  # of two outputs
        assert await seen(tab) == [True, True, False, False]
        await tab.run(press.format("summary", 0))  # who reads the answer in words may see it, too
        assert await seen(tab) == [True, True, True, False]
        await tab.run(press.format("summary", 0))
        assert await seen(tab) == [True, True, False, False]
        await tab.run(press.format(".guess-all", 1))
        assert await seen(tab) == [True, True, True, True]

    visit(read)


def test_what_others_write_can_be_heard():
    cell = '<summary aria-label="Toggle hidden content">\n<p>Draw it</p>\n</summary>'
    signature = "f(<dl>\n<dd><em>x</em>,</dd>\n</dl>\n)<dl>\n<dt>a</dt>\n<dd>b</dd>\n</dl>"
    context = {"body": cell + signature}
    mend = script(BOOK / "_ext" / "house.py").mend_markup
    mend(None, "page", "page.html", context, None)
    assert "<summary>\n<p>Draw it" in context["body"]
    assert 'f(<dl role="presentation">\n<dd><em>x</em>' in context["body"]
    assert "<dl>\n<dt>a</dt>" in context["body"]
    mend(None, "search", "search.html", context := {}, None)  # a page without a text of its own
    assert context == {}


def test_a_shared_page_shows_what_it_is_about():
    house = script(BOOK / "_ext" / "house.py")
    app = SimpleNamespace(config=SimpleNamespace(html_baseurl="https://a.b/c/"))
    byline, lead = "Reading time: " + 20 * "long, ", "A mask hides " + 20 * "what is to come, "
    document = nodes.section(
        "", nodes.paragraph("", "", nodes.emphasis("", byline)), nodes.paragraph("", lead)
    )
    context = {"title": "Masks &amp; <em>more</em>"}
    for add in (house.add_description, house.add_preview):
        add(app, "book/part2/masks", "page.html", context, document)
    told = dict(
        re.findall(r'<meta (?:name|property)="([^"]*)" content="([^"]*)" />', context["metatags"])
    )
    assert told["description"].startswith("A mask hides what")
    assert len(told["description"]) < 165
    assert told["og:description"] == told["description"]
    assert told["og:title"] == "Masks &amp; more"
    assert told["og:url"] == "https://a.b/c/book/part2/masks.html"
    assert told["og:image"].removeprefix("https://a.b/c/_static/") == "preview.png"
    assert (BOOK / "assets" / "preview.png").is_file()


@pytest.mark.parametrize(
    "drawer", ["make_figures.py", "make_plan_figures.py", "make_file_figure.py"]
)
def test_the_pictures_are_those_that_the_script_draws(drawer, monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path])  # the others import the first
    for name, content in script(BOOK / "assets" / drawer).pictures().items():
        assert (BOOK / "assets" / name).read_text(encoding="utf-8") == content, name


def house_style():
    """The style sheets of the book, in the order in which a page loads them."""
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    paths = config["sphinx"]["config"]["html_css_files"]
    assert sorted(paths) == sorted(
        path.relative_to(BOOK / "assets").as_posix() for path in BOOK.rglob("assets/**/*.css")
    )
    return "".join((BOOK / "assets" / path).read_text(encoding="utf-8") for path in paths)


def test_the_page_leaves_room_for_a_picture_that_has_not_come_yet():
    css = house_style()
    rule = r'img\[src\*="([a-z-]+)"\] \{\s+aspect-ratio: (\d+) / (\d+);\s+width: \2px'
    sizes = {name: size for name, *size in re.findall(rule, css)}
    names = {"overview-", "plan-waiting-", "plan-loss-", "plan-devices-", "one-file-"}
    assert set(sizes) == names
    for name, (width, height) in sizes.items():
        for theme in ("light", "dark"):
            picture = (BOOK / "assets" / f"{name}{theme}.svg").read_text(encoding="utf-8")
            assert f'viewBox="0 0 {width} {height}"' in picture


def test_the_page_uses_the_colours_of_the_figures():
    css = house_style().lower()
    concepts = {"query": "q", "key": "k", "value": "v", "attention": "a", "position": "p"}
    tokens = {name: f"{concept}-ink" for name, concept in concepts.items()}
    tokens |= {name: f"{name}-line" for name in SERIES}
    blocks = css.split('html[data-theme="dark"]')[:2]
    for name, token in tokens.items():
        for colour, block in zip(TOKENS[token], blocks, strict=True):
            assert f"--house-{name}: {colour};" in block
    for theme, colours in enumerate(zip(*TOKENS.values(), strict=True)):
        overview = (BOOK / "assets" / f"overview-{('light', 'dark')[theme]}.svg").read_text()
        used = set(re.findall(r"#[0-9a-f]{6}", overview.lower()))
        assert used
        assert used <= set(colours)

"""What the book needs beyond Sphinx' settings.

Buttons, page descriptions, anchors, titles of folded cells, fresh assets, and in the reference
readable signatures, links from module to module and the help of the commands.
"""

import importlib.util
import inspect
import os
import re
import subprocess
import sys
from html import escape
from pathlib import Path

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.util import inspect as signatures
from sphinx.util.docutils import ReferenceRole, SphinxDirective
from sphinx.util.matching import Matcher
from sphinx.util.nodes import make_refnode

REPOSITORY = Path(__file__).resolve().parents[2]
# What others write, and what a screen reader can use.
MENDED = {
    # The name of a folded cell is its title.
    '<summary aria-label="Toggle hidden content">': "<summary>",
    # An option is one word: no line ends inside its dashes.
    '<span class="pre">-': '<span class="pre option">-',
    # A signature with a line for each argument is no list of definitions.
    "<dl>\n<dd>": '<dl role="presentation">\n<dd>',
}


def prepare_autodoc() -> None:
    """Let autodoc import nlp104 from this checkout, on the backend that starts fastest."""
    sys.path.insert(0, str(REPOSITORY))
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    backend = "jax" if importlib.util.find_spec("jax") else "tensorflow"
    os.environ.setdefault("KERAS_BACKEND", backend)


def escape_prose(app, what, name, obj, options, lines) -> None:
    """Let docstrings write |A| for a size, $x^2$, and `Example`s for several, as chapters do."""
    in_example = False
    for number, line in enumerate(lines):
        in_example = line.lstrip().startswith(">>>") or (
            in_example and bool(line.strip())
        )
        if in_example:
            continue
        if display := re.fullmatch(r"( *)\$\$(.+)\$\$", line):
            lines[number] = f"{display[1]}.. math:: {display[2]}"
            continue
        parts = re.split(
            r"(``.+?``|`[^`]+`|\$[^$]+\$)", line
        )  # prose, code or equation, prose, …
        parts[::2] = [part.replace("|", r"\|") for part in parts[::2]]
        parts[1::2] = [
            re.sub(r"^\$(.*)\$$", r":math:`\1`", part) for part in parts[1::2]
        ]
        parts[2::2] = [
            r"\ " + part if part[:1].isalpha() else part for part in parts[2::2]
        ]
        lines[number] = "".join(parts)


def lead_on(app, what, name, obj, options, lines) -> None:
    """End what the reference says of a class or function with its source and its chapters."""
    if what not in ("class", "function"):
        return
    from tools import concepts, notebooks

    obj = inspect.unwrap(obj)
    file = Path(inspect.getsourcefile(obj)).relative_to(REPOSITORY).as_posix()
    code, first = inspect.getsourcelines(obj)
    url = f"{notebooks.address()}/blob/main/{file}"
    url += f"#L{first}-L{first + len(code) - 1}"
    shown, links = f"Source: `{file.removeprefix('nlp104/')} <{url}>`__", []
    for concept in concepts.concepts():
        if concept.name == name:
            for section in concept.sections:
                links.append(
                    f":chapter:`{concepts.title_of(section)} <{section}>`"
                )
    if links:
        shown += f" · Taught in: {', '.join(links)}"
    lines += ["", ".. container:: leads-on", "", f"   {shown}", ""]


def sign_with_init(app, what, name, obj, options, signature, returns):
    """Show the arguments of ``__init__``: the ``__new__(*args, **kwargs)`` of Keras hides them."""
    if what != "class" or obj.__init__ is object.__init__:
        return None
    arguments = signatures.signature(obj.__init__, bound_method=True)
    return signatures.stringify_signature(
        arguments, show_annotation=False
    ), None


def link_across_modules(app, env, node, contnode):
    """Link a `name` in a docstring also where another room documents it, if only one does.

    `nlp104.Transformer` is a short way to a name of a room. Aliases are what modules define and
    their rooms document. A module is meant where its whole name stands: `data` may be an argument.
    """
    if node.get("reftype") != "obj":
        return None
    name = node["reftarget"].removeprefix("nlp104.")
    found = [
        (full, place)
        for full, place in env.domains["py"].find_obj(
            env, None, None, name, None, searchmode=1
        )
        if not place.aliased
        and (place.objtype != "module" or full == node["reftarget"])
    ]
    if len(found) != 1:
        return None
    [(full, place)] = found
    return make_refnode(
        app.builder,
        node["refdoc"],
        place.docname,
        place.node_id,
        contnode,
        full,
    )


class ChapterLink(ReferenceRole):
    """``:chapter:`Masks <part2/masks#a-row-with-nothing-left>` `` links as Markdown does.

    So MyST finds the anchor that Sphinx has made of the heading, and complains of one that is gone.
    """

    def run(self):
        """Leave the link to be resolved when all chapters are read."""
        chapter, _, section = self.target.partition("#")
        link = pending_xref(
            self.rawtext,
            nodes.inline(self.title, self.title),
            refdomain="doc",
            refdoc=self.env.docname,
            reftype="myst",
            reftarget=f"book/{chapter}",
            reftargetid=section,
            refexplicit=True,
        )
        return [link], []


class CommandHelp(SphinxDirective):
    """``{command-help} train`` shows what ``nlp104 train --help`` prints."""

    required_arguments = 1

    def run(self):
        """Ask the command; the page is read again when its options change."""
        self.env.note_dependency(
            str(REPOSITORY / "nlp104" / "cli" / "options.py")
        )
        help = subprocess.run(
            [sys.executable, "-m", "nlp104", self.arguments[0], "--help"],
            cwd=REPOSITORY,
            env={**os.environ, "COLUMNS": "80"},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        return [nodes.literal_block(help, help, language="none")]


class Drawn(SphinxDirective):
    """``{drawn}`` shows Python that draws with the parts, and what it draws.

    The code finds a `Drawing` named `drawing`, 360 pixels wide, and ends with its height.
    """

    has_content = True

    def run(self):
        """Execute the code; the page is read again when the parts change."""
        from nlp104.figures import drawing, language

        for module in (drawing, language):
            self.env.note_dependency(module.__file__)
        *lines, height = self.content
        names = {"drawing": drawing.Drawing(360)}
        exec("\n".join(lines), names)
        svg = names["drawing"].svg(
            float(height), label=" ".join(self.content[0].split("#")[1:])
        )
        html = f'<figure class="nlp104 still"><style>{language.sheet()}</style>{language.PATTERNS}'
        code = "\n".join(lines)
        return [
            nodes.raw("", f"{html}{svg}</figure>", format="html"),
            nodes.literal_block(code, code, language="python"),
        ]


def label_folded_cells(app, doctree) -> None:
    """Name a folded cell by its title; myst-nb's own wording is the same for all."""
    for cell in doctree.findall(nodes.container):
        if cell.get("nb_element") == "cell_code" and cell.get("hide_mode"):
            title = cell.astext().partition("\n")[0].removeprefix("# @title ")
            cell["prompt_show"] = cell["prompt_hide"] = title


def mark_columns(app, doctree) -> None:
    """Tell outputs that are set in columns: on a phone they scroll, where prose would wrap."""
    for output in doctree.findall(nodes.literal_block):
        if "output" in output["classes"] and in_columns(output.astext()):
            output["classes"].append("columns")


def in_columns(text) -> bool:
    """Whether at least two lines have a gap in them, as tables made of spaces do.

    Lines too long for a page of code are no table of ours: a log, which may wrap.
    """
    lines = text.splitlines()
    gaps = sum(bool(re.search(r"\S {2,}\S", line)) for line in lines)
    return gaps >= 2 and max(map(len, lines)) <= 80


def register_anchors(app, doctree) -> None:
    """Make ``<a id="vaswani2017"></a>`` a target of ``[…](bibliography.md#vaswani2017)``.

    Plain HTML anchors are invisible wherever the page is read; MyST by itself knows only headings.
    The same for all that the reference documents: ``[…](api/corpus.md#nlp104.data.split)``.
    """
    page, documented = app.env.docname, app.env.domains["py"].objects.values()
    names = [entry.node_id for entry in documented if entry.docname == page]
    for node in doctree.findall(nodes.raw):
        names += re.findall(r'<a id="([^"]+)"', node.astext())
    slugs = app.env.metadata[page].setdefault("myst_slugs", {})
    slugs.update({name: (0, name, name) for name in names})


def link_to_pages(app, doctree) -> None:
    """Let links in outputs, such as those of the map, lead to the pages of the book."""
    for node in doctree.findall(nodes.raw):
        html = re.sub(r'(href="[^":]+)\.ipynb"', r'\1.html"', node.astext())
        if html != node.astext():
            node.replace_self(nodes.raw("", html, format=node["format"]))


def add_description(app, pagename, templatename, context, doctree) -> None:
    """Describe a page to search engines by its first paragraph, unless its front matter does."""
    if doctree is None or 'name="description"' in context.get("metatags", ""):
        return
    paragraphs = (
        " ".join(p.astext().split())
        for p in doctree.findall(nodes.paragraph)
        if not isinstance(p[0], nodes.emphasis)  # how long it takes to read
    )
    words = next(
        (p for p in paragraphs if len(p) > 60 and "<" not in p), ""
    )  # the first real one
    if len(words) > 160:
        words = words[:160].rsplit(" ", 1)[0] + " …"
    if words:
        context["metatags"] = (
            context.get("metatags", "")
            + f'<meta name="description" content="{escape(words)}" />'
        )


def add_preview(app, pagename, templatename, context, doctree) -> None:
    """What others show of a page where its address is shared: title, words and picture.

    They read whole addresses only.
    """
    if doctree is None:
        return
    address = app.config.html_baseurl
    words = re.search(
        r'name="description" content="([^"]*)"', context.get("metatags", "")
    )
    told = {
        "og:type": "article",
        "og:title": re.sub("<[^>]*>", "", context["title"]),  # is HTML
        "og:description": words and words[1],
        "og:image": f"{address}_static/preview.png",
        "og:url": f"{address}{pagename}.html",
    }
    context["metatags"] = context.get("metatags", "") + "".join(
        f'<meta property="{name}" content="{value}" />'
        for name, value in told.items()
        if value
    )


def arrange_buttons(app, pagename, templatename, context, doctree) -> None:
    """On notebooks, show Colab and download as two plain links instead of two menus."""
    buttons = context["header_buttons"]
    launch = [
        button for button in buttons if button.get("label") == "launch-buttons"
    ]
    for group in launch:
        buttons.remove(group)
        for button in reversed(group["buttons"]):
            buttons.insert(
                0,
                {
                    "type": "link",
                    "url": button["url"],
                    "text": f"Open in {button['text']}",
                    "label": "launch",
                },
            )
    if launch:
        buttons.insert(
            len(launch),
            {
                "type": "link",
                "url": f"{context['pathto']('_sources', 1)}/{context['sourcename']}",
                "icon": "fas fa-download",
                "tooltip": "Download this notebook",
                "label": "download",
            },
        )


def name_toggles(app, pagename, templatename, context, doctree) -> None:
    """Give the arrows of the navigation, which are mere icons, a name for screen readers."""
    navigation = context["generate_toctree_html"]

    def named(*arguments, **options):
        html = str(navigation(*arguments, **options))
        return html.replace(
            "<summary>", '<summary aria-label="Show or hide its pages">'
        )

    context["generate_toctree_html"] = named


def mend_markup(app, pagename, templatename, context, doctree) -> None:
    """Put right what stands between a page and those who listen to it."""
    for written, mended in MENDED.items() if "body" in context else ():
        context["body"] = context["body"].replace(written, mended)


def renew_assets(app, env, added, changed, removed) -> list[str]:
    """Have Sphinx work if a style or a picture changed: it copies them only when a page did."""
    copies = Path(app.outdir) / "_static"
    left_out = Matcher(app.config.exclude_patterns)
    for folder in app.config.html_static_path:
        for asset in (Path(app.confdir) / folder).iterdir():
            copy = copies / asset.name
            if left_out(os.path.relpath(asset, app.confdir)):
                continue
            if (
                not copy.exists()
                or copy.stat().st_mtime < asset.stat().st_mtime
            ):
                return [app.config.root_doc]
    return []


def setup(app):
    """Connect all of the above; called by Sphinx."""
    prepare_autodoc()
    app.setup_extension("live_translator")
    # Jupyter Book always sets this; the extension that would know it is left out.
    app.add_config_value("comments_config", {}, "")
    app.connect("env-get-outdated", renew_assets)
    app.connect("autodoc-process-docstring", escape_prose)
    app.connect("autodoc-process-docstring", lead_on)
    app.connect("autodoc-process-signature", sign_with_init)
    app.connect("missing-reference", link_across_modules)
    app.add_role("chapter", ChapterLink())
    app.add_directive("command-help", CommandHelp)
    app.add_directive("drawn", Drawn)
    app.connect("doctree-read", label_folded_cells)
    app.connect("doctree-read", mark_columns)
    app.connect("doctree-read", link_to_pages)
    app.connect("doctree-read", register_anchors)
    app.connect("html-page-context", add_description)
    app.connect("html-page-context", add_preview)  # it reads the description
    # After the theme, which adds its buttons at priority 501.
    app.connect("html-page-context", arrange_buttons, priority=502)
    app.connect("html-page-context", name_toggles, priority=502)
    app.connect("html-page-context", mend_markup)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

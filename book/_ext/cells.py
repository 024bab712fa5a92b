"""How cells and what they put out stand on a page: titles, pictures, columns, links."""

import re
from pathlib import Path

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.docutils import SphinxDirective


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
        sheet = Path(language.__file__).with_suffix(".css")
        self.env.note_dependency(str(sheet))
        *lines, height = self.content
        names = {"drawing": drawing.Drawing(360)}
        exec("\n".join(lines), names)
        svg = names["drawing"].svg(
            float(height), label=" ".join(self.content[0].split("#")[1:])
        )
        html = language.still(language.PATTERNS + svg)
        code = "\n".join(lines)
        return [
            nodes.raw("", html, format="html"),
            nodes.literal_block(code, code, language="python"),
        ]


def label_folded_cells(app, doctree) -> None:
    """Name a folded cell by its title; myst-nb's own wording is the same for all."""
    for cell in doctree.findall(nodes.container):
        if cell.get("nb_element") == "cell_code" and cell.get("hide_mode"):
            title = cell.astext().partition("\n")[0].removeprefix("# @title ")
            if cell["hide_mode"] == "output":  # its code is seen
                title = "What this prints"
            cell["prompt_show"] = cell["prompt_hide"] = title


class PicturesFirst(SphinxPostTransform):
    """Shows what a folded cell draws, and the code for it underneath."""

    default_priority = 200  # once myst-nb has folded the code, at 199
    formats = ("html",)

    def run(self, **kwargs):
        """Move the code of each cell that is folded and draws."""
        for cell in self.document.findall(nodes.container):
            if cell.get("hide_mode") == "input" and draws(cell):
                code = cell.children[0]
                cell.remove(code)
                cell.append(code)


def draws(cell) -> bool:
    """Whether a picture is the first of what a cell puts out."""
    output = cell.children[-1]
    is_output = output.get("nb_element") == "cell_code_output"
    return is_output and "<figure" in "".join(
        node.astext() for node in output.children[:1]
    )


# Two checkboxes that the style sheet turns into buttons: no script has to be loaded for them.
GUESS = (
    '<div class="guess-controls">'
    '<label><input type="checkbox" class="guess-made">Made your guess? Look.</label>'
    '<label><input type="checkbox" class="guess-all">show all on this page</label>'
    "</div>"
)


class GuessFirst(SphinxPostTransform):
    """Covers the outputs that answer a question, tagged `predict`, until the reader wants them.

    Neighbours answer the same question, and are uncovered together.
    """

    default_priority = 201  # once the pictures stand first
    formats = ("html",)

    def run(self, **kwargs):
        """Put such cells into a frame of their own."""
        for cell in [*self.document.findall(nodes.container)]:
            output = output_of(cell)
            if output is None or "tag_predict" not in cell["classes"]:
                continue
            place = cell.parent.index(cell)
            before = cell.parent[place - 1] if place else cell
            if "guess" in before["classes"]:
                cell.parent.remove(cell)
                before += cell
            else:
                output.insert(0, nodes.raw("", GUESS, format="html"))
                frame = nodes.container(classes=["guess"])
                cell.replace_self(frame)
                frame += cell


def output_of(cell):
    """The container of what a cell puts out; `None` if there is none."""
    found = (
        n for n in cell.children if n.get("nb_element") == "cell_code_output"
    )
    return next(found, None) if cell.get("nb_element") == "cell_code" else None


def mark_columns(app, doctree) -> None:
    """Tell outputs that are set in columns: on a phone they scroll, where prose would wrap."""
    for output in doctree.findall(nodes.literal_block):
        if "output" in output["classes"] and in_columns(output.astext()):
            output["classes"].append("columns")


def quieten_checks(app, doctree) -> None:
    """Tell outputs that only say what was checked: they stand in the margin of attention."""
    for output in doctree.findall(nodes.literal_block):
        if "output" in output["classes"] and output.astext().startswith(
            "Checked:"
        ):
            output["classes"].append("checked")


def in_columns(text) -> bool:
    """Whether at least two lines have a gap in them, as tables made of spaces do.

    Lines too long for a page of code are no table of ours: a log, which may wrap.
    """
    lines = text.splitlines()
    gaps = sum(bool(re.search(r"\S {2,}\S", line)) for line in lines)
    return gaps >= 2 and max(map(len, lines)) <= 80


def link_to_pages(app, doctree) -> None:
    """Let links in outputs, such as those of the map, lead to the pages of the book."""
    for node in doctree.findall(nodes.raw):
        html = re.sub(r'(href="[^":]+)\.ipynb"', r'\1.html"', node.astext())
        if html != node.astext():
            node.replace_self(nodes.raw("", html, format=node["format"]))


def setup(app):
    """Connect all of the above; called by Sphinx."""
    app.add_directive("drawn", Drawn)
    app.add_post_transform(PicturesFirst)
    app.add_post_transform(GuessFirst)
    app.connect("doctree-read", label_folded_cells)
    app.connect("doctree-read", mark_columns)
    app.connect("doctree-read", quieten_checks)
    app.connect("doctree-read", link_to_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

"""Lead from a concept to its file and its chapter: `python -m tools.concepts` writes the page.

The concepts stand in `tools/concepts.toml`, each with the name that the package has for it and the
sections that teach it. From the name follow the file that defines it and its place in the API
reference. A name, file or section that is gone is an error.
"""

import ast
import json
import pkgutil
import re
import sys
import textwrap
from dataclasses import dataclass
from functools import cache

from tools import imports, notebooks

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = notebooks.ROOT
FILES = imports.modules()
PAGE = ROOT / "book" / "where-things-are.md"
DECLARED = tomllib.loads((ROOT / "tools" / "concepts.toml").read_text(encoding="utf-8"))
HELPERS = DECLARED.pop("helpers")

TEMPLATE = """\
# Where things are

This page leads from a concept to its name in the package `nlp104`, to the file that holds it, and
to the chapter that teaches it, if one does. The other way round, from a chapter to its files,
stands [below](#from-a-chapter-to-its-files).

The package is divided into rooms, folders with one subject each. An arrow shows what a room
imports: always what stands further down.

```text
{drawing}```

Beside the rooms stands one file that needs none of them,
[`one_file.py`](part3/the-transformer-in-one-file.md): a whole Transformer to read in one sitting.

{rooms}
## From a chapter to its files

Most chapters build their piece by hand, and then show that the package's does the same.

| chapter | files in `nlp104` |
|---|---|
{chapters}

Two pages are no notebooks. [The Transformer in one file](part3/the-transformer-in-one-file.md)
shows {one_file}. [A thousand devices](part4/a-thousand-devices.md) draws on what
[`experiments/plan.py`]({plan}) found, and on {distribution}.
"""


@dataclass(frozen=True)
class Concept:
    """A line of `concepts.toml`; `name` is a dotted name in the package, or that of a module."""

    concept: str
    room: str
    name: str
    sections: tuple[str, ...]


def concepts():
    """All that is declared, in its order."""
    return [
        Concept(concept, room, f"nlp104.{room}.{name}", tuple(sections))
        for room, lines in DECLARED.items()
        for concept, (name, *sections) in lines.items()
    ]


def module_of(name):
    """The module that defines what a dotted name stands for; a module defines itself."""
    return name if name in FILES else pkgutil.resolve_name(name).__module__


def documented(page):
    """The names that a page of the API reference documents, and the modules that it describes."""
    names, module = set(), ""
    directive = r"^\.\. (\w+):: ([\w.]+)((?:\n   :.*)*)"
    for kind, name, options in re.findall(directive, page.read_text(encoding="utf-8"), re.M):
        if kind in ("automodule", "currentmodule"):
            module = name
        if kind == "automodule":
            names.add(f"module-{name}")
            if ":members:" in options:
                names |= {f"{name}.{member}" for member in defined(name)}
        if kind in ("autoclass", "autofunction"):
            names.add(name if name.startswith("nlp104.") else f"{module}.{name}")
    return names


def defined(module):
    """The public functions and classes that a module defines, as autodoc finds them."""
    tree = ast.parse(FILES[module].read_text(encoding="utf-8"))
    found = [node for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))]
    return [node.name for node in found if not node.name.startswith("_")]


def reference():
    """The page of the API reference and the anchor there of each name that is documented."""
    pages = sorted((ROOT / "book" / "api").glob("*.md"))
    return {name: f"api/{page.name}#{name}" for page in pages for name in documented(page)}


def name_link(name, anchors):
    """A name, as a link to where it is documented, if it is; a method is with its class."""
    shown = "`" + name.split(".", 2)[2] + "`"  # from the room on
    owner = name.rpartition(".")[0]
    if owner in anchors:
        return f"[{shown}]({anchors[owner].partition('#')[0]}#{name})"
    target = anchors.get(name) or anchors.get(f"module-{name}")
    return f"[{shown}]({target})" if target else shown


def file_link(module, root):
    """A link to the source of a module, which is shown by its path in the folder `root`."""
    url = f"{notebooks.address()}/blob/main/{FILES[module].relative_to(ROOT).as_posix()}"
    return f"[`{FILES[module].relative_to(root).as_posix()}`]({url})"


@cache
def title(chapter):
    """The title of a chapter, without what follows a colon."""
    cells = json.loads(chapter.read_text(encoding="utf-8"))["cells"]
    heading = next("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    return re.match(r"# ([^:\n]*)", heading)[1]


def section_link(section):
    """A link to a chapter or to a section of one."""
    chapter, hash_, anchor = section.partition("#")
    return f"[{title_of(section)}]({chapter}.ipynb{hash_}{anchor})"


def title_of(section):
    """The title of the chapter that a section is in."""
    return title(ROOT / "book" / f"{section.partition('#')[0]}.ipynb")


def table_of(room, anchors):
    """The concepts of a room."""
    folder = FILES[f"nlp104.{room}"].parent
    description = ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8")))
    lines = [
        f"## `{room}`\n",
        description.splitlines()[0] + "\n",
        "| concept | name | file | chapter |",
        "|---|---|---|---|",
    ]
    for concept in concepts():
        if concept.room == room:
            name = name_link(concept.name, anchors)
            file = file_link(module_of(concept.name), folder)
            section = section_link(concept.sections[0]) if concept.sections else ""
            lines.append(f"| {concept.concept} | {name} | {file} | {section} |")
    return "\n".join(lines) + "\n"


def table_of_chapters():
    """The files that each chapter is about."""
    lines = []
    for path in notebooks.chapters():
        chapter = path.relative_to(ROOT / "book").with_suffix("").as_posix()
        modules = [
            module_of(concept.name)
            for concept in concepts()
            if chapter in [section.partition("#")[0] for section in concept.sections]
        ]
        files = [file_link(module, ROOT / "nlp104") for module in dict.fromkeys(modules)]
        lines.append(f"| {section_link(chapter)} | {', '.join(files)} |")
    return "\n".join(lines)


def drawing():
    """The rooms and what they import, in lines that fit a phone."""
    lines = imports.drawing(imports.rooms(imports.graph())).splitlines()
    after = " " * (lines[0].index("→") + len("→  "))
    return "".join(textwrap.fill(line, 42, subsequent_indent=after) + "\n" for line in lines)


def page():
    """The page, as text."""
    anchors = reference()
    return TEMPLATE.format(
        drawing=drawing(),
        rooms="\n".join(table_of(room, anchors) for room in DECLARED),
        chapters=table_of_chapters(),
        one_file=file_link("nlp104.one_file", ROOT / "nlp104"),
        plan=f"{notebooks.address()}/blob/main/experiments/plan.py",
        distribution=file_link("nlp104.training.distribution", ROOT / "nlp104"),
    )


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")

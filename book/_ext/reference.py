"""What the pages of the reference need: readable signatures, links, and the help of the commands."""

import importlib.util
import inspect
import os
import re
import subprocess
import sys
from pathlib import Path

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.util import inspect as signatures
from sphinx.util.docutils import ReferenceRole, SphinxDirective
from sphinx.util.nodes import make_refnode

REPOSITORY = Path(__file__).resolve().parents[2]


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


def skip_fields(app, what, name, obj, skip, options):
    """Leave out the fields of a named tuple: its docstring lists them, Python calls them aliases."""
    return True if type(obj).__name__ == "_tuplegetter" else None


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


def setup(app):
    """Connect all of the above; called by Sphinx."""
    prepare_autodoc()
    app.connect("autodoc-process-docstring", escape_prose)
    app.connect("autodoc-process-docstring", lead_on)
    app.connect("autodoc-skip-member", skip_fields)
    app.connect("autodoc-process-signature", sign_with_init)
    app.connect("missing-reference", link_across_modules)
    app.add_role("chapter", ChapterLink())
    app.add_directive("command-help", CommandHelp)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

"""The translator that lives in the book: its figure on the first page, its model beside the pages.

A notebook stores the figure without a model. Here it learns where one lies: in a folder of its own,
not in ``_static``, whose scripts would be added to every page.
"""

import gzip
from pathlib import Path

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

PACKAGE = Path(__file__).resolve().parents[2] / "nlp104"
NAME = "eng-fra-typed"
FOLDER = f"_models/{NAME}"
FIGURE = '<figure class="nlp104 translator" '
NAMED = f'"name":"{NAME}"'  # among what such a figure carries


def sources():
    """The files that the figure and its scripts are made of; nothing is imported to find them."""
    translation = PACKAGE / "translation"
    for folder in (translation / "models" / NAME, translation / "web"):
        yield from (path for path in folder.iterdir() if path.is_file())
    yield from (PACKAGE / "utils").glob("elements.*")
    yield PACKAGE / "figures" / "explore" / "translator.py"


class LiveTranslator(SphinxDirective):
    """``{live-translator}`` shows the released translator, to be watched and typed to."""

    def run(self):
        """Record its sentences; the page is read again when the model or the figure change."""
        import nlp104
        from nlp104.figures import explore

        for path in sources():
            self.env.note_dependency(str(path))
        figure = explore.translator(nlp104.load_pretrained(NAME))
        return [nodes.raw("", figure.html, format="html")]


def write_model(app) -> None:
    """Write the scripts that a reader may ask for, unless they are there and up to date."""
    if app.builder.format != "html":
        return
    folder = Path(app.outdir) / FOLDER
    newest = max(path.stat().st_mtime for path in sources())
    written = [path.stat().st_mtime for path in folder.glob("*.js")]
    if written and min(written) >= newest:
        return
    import nlp104
    from nlp104.translation import pretrained, web

    card = pretrained.read_card(pretrained.FOLDER / NAME)
    model = nlp104.load_pretrained(NAME)
    folder.mkdir(parents=True, exist_ok=True)
    for number, script in enumerate(web.parts(model, NAME, card["languages"])):
        (folder / f"{number}.js").write_text(script, encoding="utf-8")


def tell_place(app, pagename, templatename, context, doctree) -> None:
    """Tell every figure of this model where it lies, in how many parts, and how large it is."""
    before, *figures = context.get("body", "").split(FIGURE)
    if not any(NAMED in figure for figure in figures):
        return
    scripts = [*(Path(app.outdir) / FOLDER).glob("*.js")]
    size = sum(len(gzip.compress(path.read_bytes())) for path in scripts)
    place = context["pathto"](f"{FOLDER}/", 1)
    told = f'data-model="{place}" data-parts="{len(scripts)}" data-size="{size / 1e6:.1f} MB" '
    dressed = ((told if NAMED in figure else "") + figure for figure in figures)
    context["body"] = FIGURE.join((before, *dressed))


def setup(app):
    """Connect all of the above; called by Sphinx."""
    app.add_directive("live-translator", LiveTranslator)
    app.connect("builder-inited", write_model)
    app.connect("html-page-context", tell_place)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

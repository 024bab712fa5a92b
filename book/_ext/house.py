"""What is around and behind a page: anchors, descriptions, buttons, mended markup, fresh assets."""

import os
import re
from html import escape
from pathlib import Path

from docutils import nodes
from sphinx.util.matching import Matcher

# What others write, and what a screen reader can use.
MENDED = {
    # The name of a folded cell is its title.
    '<summary aria-label="Toggle hidden content">': "<summary>",
    # An option is one word: no line ends inside its dashes.
    '<span class="pre">-': '<span class="pre option">-',
    # A signature with a line for each argument is no list of definitions.
    "<dl>\n<dd>": '<dl role="presentation">\n<dd>',
}

# Where a blank is not the language's, or part of an address.
KEPT = nodes.FixedTextElement, nodes.literal, nodes.math, nodes.title


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


def bind_numbers(app, doctree) -> None:
    """Keep together what a line's end would tear: *92 %*, *16 × 16*, *9.5 · 10¹²*.

    Not in titles: the addresses of sections are made from them.
    """
    for text in list(doctree.findall(nodes.Text)):
        if isinstance(text.parent, KEPT):
            continue
        bound = re.sub(r"(?<=\d) (?=%)", "\xa0", text)
        bound = re.sub(r"(?<=\d) ([×·]) (?=\d)", "\xa0\\1\xa0", bound)
        if bound != text:
            text.parent.replace(text, nodes.Text(bound))


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
        source = Path(app.confdir) / folder
        for asset in source.rglob("*"):
            copy = copies / asset.relative_to(source)
            if asset.is_dir() or left_out(os.path.relpath(asset, app.confdir)):
                continue
            if (
                not copy.exists()
                or copy.stat().st_mtime < asset.stat().st_mtime
            ):
                return [app.config.root_doc]
    return []


def setup(app):
    """Connect all of the above; called by Sphinx."""
    for extension in ("reference", "cells", "gallery", "live_translator"):
        app.setup_extension(extension)
    # Jupyter Book always sets this; the extension that would know it is left out.
    app.add_config_value("comments_config", {}, "")
    app.connect("env-get-outdated", renew_assets)
    app.connect("doctree-read", register_anchors)
    app.connect("doctree-read", bind_numbers)
    app.connect("html-page-context", add_description)
    app.connect("html-page-context", add_preview)  # it reads the description
    # After the theme, which adds its buttons at priority 501.
    app.connect("html-page-context", arrange_buttons, priority=502)
    app.connect("html-page-context", name_toggles, priority=502)
    app.connect("html-page-context", mend_markup)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

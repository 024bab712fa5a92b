"""All figures to play with on one page: how each begins, and the way to it in its chapter."""

import json
import re
from collections import Counter
from html import escape
from pathlib import Path

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

# What `nlp104.figures.explore.explorable` writes.
EXPLORABLE = re.compile(
    r'<figure class="nlp104 explore" data-scene="(?P<scene>\w+)" aria-label="(?P<title>[^"]*)">'
    r'.*?<div class="instead".*?(?P<still><svg.*</svg>)</div>',
    re.DOTALL,
)
CARD = (
    '<a href="{page}#{address}:"><span class="picture" aria-hidden="true">{still}</span>'
    "<strong>{title}</strong><span>{chapter}</span></a>"
)


class Gallery(SphinxDirective):
    """``{gallery} part1`` shows what can be played with in the chapters of a folder."""

    required_arguments = 1

    def run(self):
        """Make a card of each stored figure, in the order of the table of contents."""
        from nlp104.figures import language

        here = Path(self.env.docname).parent
        cards = {}
        for name in self.env.external_site_map:
            notebook = Path(self.env.srcdir, f"{name}.ipynb")
            is_here = (here / self.arguments[0]) in Path(name).parents
            if is_here and notebook.exists():
                self.env.note_dependency(str(notebook))
                page = Path(name).relative_to(here).with_suffix(".html")
                for title, card in cards_of(notebook, page.as_posix()).items():
                    cards.pop(title, None)  # the last of a name counts
                    cards[title] = card
        html = f'<div class="gallery">{"".join(cards.values())}</div>'
        html = language.still(language.PATTERNS + html)
        return [nodes.raw("", html, format="html")]


def cards_of(notebook, page):
    """From the title of each figure of a chapter to a card, which leads to it.

    A figure that begins anew further down, under the same title, counts where it stands last.
    """
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    heading = "".join(cells[0]["source"]).partition("\n")[0]
    chapter = escape(heading.removeprefix("# ").partition(":")[0])
    copies, cards = Counter(), {}
    for cell in cells:
        for output in cell.get("outputs", []):
            html = "".join(output.get("data", {}).get("text/html", []))
            if drawn := EXPLORABLE.match(html):
                copies[drawn["scene"]] += 1
                number = copies[drawn["scene"]]
                # As the player has it: the first of its name, the second, …
                address = drawn["scene"] + f"-{number}" * (number > 1)
                cards[drawn["title"]] = CARD.format(
                    page=page,
                    address=address,
                    chapter=chapter,
                    **drawn.groupdict(),
                )
    return cards


def setup(app):
    """Make the directive known; called by Sphinx."""
    app.add_directive("gallery", Gallery)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

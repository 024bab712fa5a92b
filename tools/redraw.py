"""Put today's styles, scripts and maps into the stored figures: `python -m tools.redraw`.

Every figure of a notebook carries them along. nbval does not compare them, and a changed colour is
no reason to run a chapter again.
"""

import re
import sys

import nbformat

from nlp104.figures.chapter_map import chapter_map
from nlp104.figures.explore.explorable import Explorable
from nlp104.figures.language import PATTERNS, sheet
from nlp104.translation import web
from tools import notebooks


def redrawn(html):
    """A stored figure of the package, as it would be written today around the same drawing."""
    if not html.startswith('<figure class="nlp104'):
        return html
    is_map = html.startswith('<figure class="nlp104 map">')
    if is_map and (topic := re.search(r">You are here: ([\w -]+)<", html)):
        folder = re.search(r'<a href="(\.+)/', html)
        return chapter_map(topic[1], folder[1] if folder else "..").html
    style, code, scene = sheet(), None, re.match(r'<figure [^>]*data-scene="(\w+)"', html)
    if html.startswith('<figure class="nlp104 translator"'):
        style, code = web.style(), web.code()
    elif scene:
        figure = Explorable(scene[1], "", {}, "", "")
        style, code = figure.style, figure.code
    if code:
        html = re.sub(r"(<script>.*?</script>)+", lambda _: code, html, flags=re.DOTALL)
        html = re.sub(r'<svg class="patterns".*?</svg>', lambda _: PATTERNS, html, flags=re.DOTALL)
    return re.sub(r"<style>.*?</style>", lambda _: f"<style>{style}</style>", html, flags=re.DOTALL)


def stored_figures(notebook):
    """The outputs of a notebook that hold HTML."""
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if "text/html" in output.get("data", {}):
                yield output.data


def main(paths):
    for path in paths:
        notebook = nbformat.read(path, as_version=4)
        before = notebooks.canonical(notebook)
        for data in stored_figures(notebook):
            data["text/html"] = redrawn(data["text/html"])
        after = notebooks.canonical(notebook)
        if after != before:
            notebooks.replace(path, after)
            print(path.relative_to(notebooks.ROOT))


if __name__ == "__main__":
    sys.exit(main(notebooks.chapters()))

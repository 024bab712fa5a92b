"""What every explorable is made of: data, a script that shows them, a style, a still picture."""

import base64
import html
import json
from importlib.resources import files
from pathlib import Path

from nlp104.figures.style import to_png
from nlp104.utils.files import replacing

PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
:root {{ color-scheme: light dark; }}
body {{ background: Canvas; color: CanvasText; font: 1rem/1.5 sans-serif; margin: 1rem; }}
</style>
</head><body>{body}</body></html>
"""


class Explorable:
    """A figure to play with; displayed if it is the last line of a cell.

    Args:
        name: That of the script and of the class of its outermost element: ``NAME.js``.
        title: What it is called.
        data: What the script shows: whatever JSON can hold.
        still: A matplotlib figure to be shown where scripts are off.
        alt: The still figure in words.

    Attributes:
        data: As handed in.
    """

    def __init__(self, name, title, data, still, alt):
        self.name, self.title, self.data, self.still, self.alt = name, title, data, still, alt

    @property
    def html(self):
        """The explorable as HTML that needs nothing else."""
        picture = base64.b64encode(to_png(self.still)).decode()
        # "</" would end the element; "\\/" is the same to JSON.
        data = json.dumps(self.data, ensure_ascii=False, separators=(",", ":")).replace(
            "</", "<\\/"
        )
        return (
            f'<div class="nlp104 nlp104-{self.name}" role="group" '
            f'aria-label="{html.escape(self.title)}">'
            f"<style>{_text('house.css')}</style>"
            f'<noscript><img alt="{html.escape(self.alt)}" '
            f'src="data:image/png;base64,{picture}"></noscript>'
            f'<script type="application/json">{data}</script>'
            f"<script>{_text(f'{self.name}.js')}</script></div>"
        )

    def save(self, path):
        """Write a page of its own, for a browser or a slide.

        Args:
            path: The file to write.
        """
        with replacing(Path(path)) as temporary:
            page = PAGE.format(title=html.escape(self.title), body=self.html)
            temporary.write_text(page, encoding="utf-8")

    def _repr_mimebundle_(self, include=None, exclude=None):
        return {"text/html": self.html, "text/plain": f"{self.title}. {self.alt}"}


def _text(name):
    """A file that stands beside this one."""
    return (files("nlp104.figures.explore") / name).read_text(encoding="utf-8").strip()

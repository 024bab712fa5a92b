"""What every explorable is made of: data, a script that shows them, a style, a still picture."""

import html
from importlib.resources import files
from pathlib import Path

from nlp104.figures.language import PATTERNS, sheet
from nlp104.utils.files import replacing
from nlp104.utils.scripts import ELEMENTS, LOOKS, packaged, script_json, style_sheet

HERE = "figures/explore"
SHARED = (  # in the order they are run
    "numbers",
    "text",
    "kinds",
    "marks",
    "stage",
    "frame",
    "chapters",
    "address",
    "hands",
    "player",
)
PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
:root {{ color-scheme: light dark; }}
body {{ font: 1rem/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 750px; padding: 16px; }}
</style>
</head><body><main>{body}</main></body></html>
"""


class Explorable:
    """A figure to play with; displayed if it is the last line of a cell.

    Args:
        name: That of the folder of its scripts: ``scenes/NAME``.
        title: What it is called.
        data: What the script shows: whatever JSON can hold.
        still: What is shown where scripts are off: an SVG element, as text.
        alt: The still in words.

    Attributes:
        data: As handed in, with the title.
    """

    def __init__(self, name, title, data, still, alt):
        self.name, self.title, self.still, self.alt = name, title, still, alt
        self.data = {"title": title, **data}

    @property
    def html(self):
        """The explorable as HTML that needs nothing else."""
        data = script_json(self.data, ensure_ascii=False, separators=(",", ":"))
        return (
            f'<figure class="nlp104 explore" data-scene="{self.name}" '
            f'aria-label="{html.escape(self.title, quote=True)}">'
            f"<style>{self.style}</style>{PATTERNS}"
            f'<div class="instead" role="img" aria-label="{html.escape(self.alt, quote=True)}">'
            f'<p class="title">{html.escape(self.title)}</p>{self.still}</div>'
            f'<script type="application/json">{data}</script>{self.code}</figure>'
        )

    @property
    def scripts(self):
        """The files that it carries: what all share, then its own, last of them the scene."""
        own = sorted(self._own(".js"), key=lambda path: (path.endswith("/scene.js"), path))
        shared = (f"{HERE}/player/{name}.js" for name in SHARED)
        return (ELEMENTS, *shared, *own)

    @property
    def style(self):
        """The style sheet that it carries."""
        shared = (f"{HERE}/player/{name}.css" for name in ("stage", "frame", "bar", "slim"))
        return sheet() + style_sheet(LOOKS, *shared, *self._own(".css"))

    def _own(self, ending):
        """The files of its scene with this ending."""
        folder = f"{HERE}/scenes/{self.name}"
        names = (file.name for file in files("nlp104").joinpath(*folder.split("/")).iterdir())
        return sorted(f"{folder}/{name}" for name in names if name.endswith(ending))

    @property
    def code(self):
        """Its scripts as elements of HTML."""
        return "".join(f"<script>{packaged(name)}</script>" for name in self.scripts)

    def save(self, path):
        """Write a page of its own, for a browser or a slide.

        Args:
            path: The file to write.

        Example:
            >>> from pathlib import Path
            >>> from nlp104.figures import explore
            >>> explore.heads().save("heads.html")
            >>> Path("heads.html").read_text(encoding="utf-8").splitlines()[0]
            '<!doctype html>'
        """
        with replacing(Path(path)) as temporary:
            page = PAGE.format(title=html.escape(self.title), body=self.html)
            temporary.write_text(page, encoding="utf-8")

    def _repr_mimebundle_(self, include=None, exclude=None):
        return {"text/html": self.html, "text/plain": f"{self.title}. {self.alt}"}

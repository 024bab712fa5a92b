"""The page in which a translator lives: its front end, and everything in one file of HTML.

`front.js` listens, `show.js` shows; the engine behind them is `worker.js`. The book carries
the front end alone, with sentences that were recorded, and loads the rest when a reader asks for
it: `parts`. A page that was exported carries everything: `page`.
"""

import html
from collections.abc import Mapping, Sequence
from typing import Any

from nlp104.translation.translator import Translator
from nlp104.translation.web.packing import engine, pack
from nlp104.utils.scripts import ELEMENTS, LOOKS, packaged, script_json, style_sheet

HERE = "translation/web"
FRONT = (  # in the order they are run, once elements can be made
    "view.js",
    "frame.js",
    "heads.js",
    "show.js",
    "loading.js",
    "invite.js",
    "answers.js",
    "front.js",
)
STYLES = (  # a later one prevails
    "page.css",
    "ask.css",
    "sentences.css",
    "panels.css",
    "bar.css",
    "numbers.css",
    "phone.css",
)
PARTS = 8  # in which a model comes: a classic script does not tell how much of it has arrived
ELSEWHERE = (
    "These sentences were recorded. "
    "Type your own in the page that nlp104 export --format web writes."
)
PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<meta name="description" content="{lead}">
<link rel="icon" href="data:,">
<style>
html {{ background: light-dark(#ffffff, #14181e); color-scheme: light dark; }}
body {{ font: 1rem/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 800px; }}
body {{ padding: 8px 16px 32px; }}
footer {{ color: light-dark(#57616e, #a3adb9); font-size: 0.9rem; }}
</style>
</head>
<body>
<main>
{figure}
</main>
<footer>
<p>A token is a word or a part of one. Before the decoder writes one, it shares out its attention
over the tokens that were read: the threads. They show what was mixed, not why.</p>
<p>Greedy search takes the likeliest token each time. Four beams keep four beginnings, and compare
them at the end.</p>
<p>{about}</p>
</footer>
</body>
</html>
"""


def page(translator: Translator, name: str, card: Mapping[str, Any] | None = None) -> str:
    """Writes a page that translates: one file, which needs no server and no network.

    Args:
        translator: `nlp104.translation.Translator`.
        name: What the page calls the model.
        card: What `nlp104.translation.pretrained.read_card` returns: the codes of the `languages`,
            `examples` to try, and under `attribution` whose sentences it learned from.

    Returns:
        The page as HTML.

    Raises:
        ValueError: If `nlp104.translation.web.pack` refuses the model.

    Example:
        >>> import nlp104
        >>> from nlp104.translation import web
        >>> card = {"languages": ["en", "fr"], "examples": ["The black cat sleeps."]}
        >>> web.page(nlp104.load_pretrained("grammar"), "grammar", card).splitlines()[0]
        '<!doctype html>'
    """
    card = card or {}
    languages = list(card.get("languages", ()))
    title = "Watch it translate"
    lead = f"The model “{name}” runs in this page, on your computer. Nothing you type leaves it."
    model = pack(translator, name, languages)
    data = {
        "title": title,
        "lead": lead,
        "heading": "h1",
        "name": name,
        "inside": True,
        "languages": languages,
        "examples": list(card.get("examples", ())),
        "recorded": [],
    }
    inside = f"<script>{model}nlp104web.source = {_json(engine())};</script>"
    parameters = f"The model has {translator.model.count_params():,} parameters."
    about = html.escape(" ".join([parameters, card.get("attribution", "")]).strip())
    still = "<p>This page needs JavaScript, all of which is in the page itself.</p>"
    whole = figure(data, still, inside)
    return PAGE.format(title=title, lead=html.escape(lead, True), figure=whole, about=about)


def figure(data: Mapping[str, Any], still: str, before: str = "") -> str:
    """Returns the front end as HTML, for a page or for the output of a cell.

    Args:
        data: What `front.js` shows, whatever JSON can hold: `title`, `lead`, `languages`,
            `examples` and `recorded`.
        still: HTML for where scripts are off.
        before: Scripts that it needs.
    """
    return (
        f'<figure class="nlp104 translator" aria-label="{html.escape(data["title"], True)}">'
        f'<style>{style()}</style><div class="instead">{still}</div>{before}'
        f'<script type="application/json">{_json(data)}</script>{code()}</figure>'
    )


def style() -> str:
    """Returns the style sheet of the front end."""
    return style_sheet(LOOKS, *(f"{HERE}/{name}" for name in STYLES))


def code() -> str:
    """Returns the scripts of the front end, as elements of HTML."""
    scripts = (ELEMENTS, *(f"{HERE}/{name}" for name in FRONT))
    return "".join(f"<script>{packaged(name)}</script>" for name in scripts)


def parts(translator: Translator, name: str, languages: Sequence[str] = ()) -> list[str]:
    """Cuts engine and model into scripts, which the front end of the book loads in turn.

    Args:
        translator: `nlp104.translation.Translator`.
        name: What the page calls the model; scripts of one name lie in a folder of that name.
        languages: The codes of the languages from and to which it translates.

    Returns:
        Classic scripts, to be called ``0.js``, ``1.js``, … The first is the engine.

    Example:
        >>> import nlp104
        >>> from nlp104.translation import web
        >>> scripts = web.parts(nlp104.load_pretrained("grammar"), "grammar", ["en", "fr"])
        >>> len(scripts)
        9
    """
    model = pack(translator, name, languages)
    size = -(-len(model) // PARTS)
    texts = [engine(), *(model[first : first + size] for first in range(0, len(model), size))]
    place = f"[{_json(name)}]"
    return [
        f"((globalThis.nlp104web ??= {{}}).parts ??= {{}}){place} ??= [];\n"
        f"nlp104web.parts{place}[{number}] = {_json(text)};\n"
        for number, text in enumerate(texts)
    ]


def _json(value):
    return script_json(value, ensure_ascii=False, separators=(",", ":"))

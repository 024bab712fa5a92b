"""Draw the book's emblem and the picture of its first page as SVG, for light and for dark pages.

    python book/assets/make_figures.py
    python book/assets/make_figures.py --preview

The second also makes preview.png, which a shared link shows; it needs Chromium. The picture is a drawing of the idea, not a measurement: the heights of its bars are chosen, and its
caption says so. The colours are those of `nlp104.figures.language`.
"""

import subprocess
import sys
import tempfile
from html import escape
from pathlib import Path

from nlp104.figures.language import TOKENS

HERE = Path(__file__).resolve().parent


def palette(theme):
    """The colours of the visual language, 0 for light pages and 1 for dark ones."""
    names = {
        "query": "q-line",
        "key": "k-line",
        "value": "v-line",
        "weight": "a-line",
    }
    names |= {
        "ink": "ink",
        "quiet": "muted",
        "card": "soft",
        "box": "bg",
        "line": "line",
    }
    return {name: TOKENS[token][theme] for name, token in names.items()} | {
        "on_chip": dict.fromkeys(("query", "key", "value"), TOKENS["bg"][theme])
    }


LIGHT, DARK = palette(0), palette(1)
SOURCE = {  # token → the height of its bar
    "the": 0.04,
    "animal": 0.70,
    "sleeps": 0.05,
    "because": 0.04,
    "it": 0.09,
    "is": 0.03,
    "tired": 0.05,
}
TARGET = ("l’", "animal", "dort", "parce", "qu’")
WIDTH, HEIGHT = 720, 504
FONTS = "system-ui, -apple-system, 'Segoe UI', 'Noto Sans', Arial, sans-serif"


def text(x, y, words, fill, size=20, anchor="middle", weight=400):
    """Words at a place; `words` may hold tspan elements."""
    return (
        f'<text x="{x}" y="{y}" fill="{fill}" font-size="{size}" font-weight="{weight}" '
        f'text-anchor="{anchor}">{words}</text>'
    )


def box(x, y, width, height, fill, stroke="none", thickness=1.5, dashes=""):
    """A rounded rectangle; with `dashes`, such as "6 4", its edge is dashed."""
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    return (
        f'<rect{dashed} x="{x}" y="{y}" width="{width}" height="{height}" rx="6" fill="{fill}" '
        f'stroke="{stroke}" stroke-width="{thickness}"/>'
    )


def curve(x1, y1, x2, y2, stroke, thickness, opacity=1.0):
    """A soft line from one place down to another."""
    middle = (y1 + y2) / 2
    return (
        f'<path d="M{x1} {y1}C{x1} {middle} {x2} {middle} {x2} {y2}" fill="none" '
        f'stroke="{stroke}" stroke-width="{thickness}" stroke-opacity="{opacity}"/>'
    )


def chip(x, y, letter, role, colors, size):
    """A small coloured square that stands for a vector."""
    square = box(x - 17, y, 34, 26, colors[role])
    return square + text(
        x, y + 19, letter, colors["on_chip"][role], size, weight=700
    )


def arrow(x1, y1, x2, y2, stroke):
    """A straight arrow, along one axis."""
    dx, dy = (x2 > x1) - (x2 < x1), (y2 > y1) - (y2 < y1)
    tip = f"{x2} {y2}L{x2 - 9 * dx - 5 * dy} {y2 - 9 * dy - 5 * dx}"
    tip += f"L{x2 - 9 * dx + 5 * dy} {y2 - 9 * dy + 5 * dx}Z"
    shaft = f"M{x1} {y1}L{x2 - 8 * dx} {y2 - 8 * dy}"
    return f'<path d="{shaft}" stroke="{stroke}" stroke-width="2"/><path d="M{tip}" fill="{stroke}"/>'


def overview(colors):
    """One step of a translation, twice: where the picture is narrow, with larger letters.

    In an image, `max-width` means the width at which the image is shown.
    """
    style = (
        "<style>.narrow{display:none}@media(max-width:500px){"
        ".narrow{display:inline}.wide{display:none}}</style>"
    )
    wide = step(colors, word=20, label=19, small=15, letter=18, mix_x=544)
    narrow = step(
        colors,
        word=22.5,
        label=22.5,
        small=22.5,
        letter=22,
        mix_x=620,
    )
    both = f'<g class="wide">{wide}</g><g class="narrow">{narrow}</g>'
    return svg(WIDTH, HEIGHT, style + both)


def step(colors, word, label, small, letter, mix_x):
    """Compare a query with all keys, mix the values by the weights.

    `word`, `label`, `small` and `letter` are sizes of letters; at `mix_x` values are mixed.
    """
    query_x, middle_y = 382, 388
    lines, parts = (
        [],
        [box(1, 1, WIDTH - 2, HEIGHT - 2, colors["card"], colors["line"])],
    )
    for number, (token, height) in enumerate(SOURCE.items()):
        x = 65 + 98.5 * number
        bar = max(3, 150 * height)
        parts.append(box(x - 14, 166 - bar, 28, bar, colors["weight"]))
        parts.append(box(x - 48, 174, 96, 36, colors["box"], colors["line"]))
        parts.append(text(x, 199, escape(token), colors["ink"], word))
        parts.append(
            chip(x - 20, 218, "k", "key", colors, letter)
            + chip(x + 20, 218, "v", "value", colors, letter)
        )
        lines.append(
            curve(x - 20, 244, query_x, middle_y, colors["key"], 1.4, 0.75)
        )
        lines.append(
            curve(
                x + 20,
                244,
                mix_x,
                middle_y,
                colors["value"],
                1 + 13 * height,
                0.8,
            )
        )
    parts += lines
    parts.append(
        text(
            17,
            40,
            "attention weights: where to look",
            colors["quiet"],
            label,
            "start",
        )
    )

    for number, token in enumerate(TARGET):
        x = 50 + 83 * number
        parts.append(box(x - 40, 448, 80, 36, colors["box"], colors["line"]))
        parts.append(text(x, 473, escape(token), colors["ink"], word))
    parts.append(arrow(query_x, 448, query_x, middle_y + 26, colors["query"]))
    parts.append(chip(query_x, middle_y, "q", "query", colors, letter))
    parts.append(
        text(
            query_x - 28,
            middle_y + 19,
            "compare keys",
            colors["quiet"],
            label,
            "end",
        )
    )
    parts.append(chip(mix_x, middle_y, "Σ", "value", colors, letter))
    beside = (
        (28, "start") if mix_x < 560 else (-28, "end")
    )  # where there is room
    parts.append(
        text(
            mix_x + beside[0],
            middle_y + 19,
            "mix values",
            colors["quiet"],
            label,
            beside[1],
        )
    )
    parts.append(arrow(mix_x, middle_y + 26, mix_x, 448, colors["value"]))
    parts.append(
        box(mix_x - 36, 448, 72, 36, colors["box"], colors["value"], 2.5)
    )
    parts.append(text(mix_x, 473, "il", colors["ink"], word, weight=700))
    parts.append(arrow(428, 466, mix_x - 42, 466, colors["quiet"]))
    between = (428 + mix_x - 42) / 2
    parts.append(text(between, 452, "next word", colors["quiet"], small))
    return "".join(parts)


def emblem():
    """Three vectors and what they make: the sign in the corner of every page."""
    parts = [box(0, 0, 32, 32, LIGHT["ink"])]
    for x, color, y in (
        (4, LIGHT["query"], 14),
        (12, LIGHT["key"], 6),
        (20, LIGHT["value"], 10),
    ):
        parts.append(
            f'<rect x="{x + 1}" y="{y}" width="6" height="{27 - y}" rx="1.5" fill="{color}"/>'
        )
    return svg(32, 32, "".join(parts))


def svg(width, height, content):
    """A complete SVG file."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" font-family="{FONTS}">{content}</svg>\n'
    )


def pictures():
    """All of them, by file name."""
    return {
        "overview-light.svg": overview(LIGHT),
        "overview-dark.svg": overview(DARK),
        "logo.svg": emblem(),
        "favicon.svg": emblem(),
    }


def preview():
    """What a shared link shows: the emblem, the book's name and the picture, 1200 by 630."""
    lines = (
        "The Transformer",
        "with Keras: seen,",
        "built, trained",
        "and tested.",
    )
    parts = [
        f'<rect width="1200" height="630" fill="{LIGHT["box"]}"/>',
        f'<g transform="translate(56 70) scale(2.6)">{emblem()}</g>',
        text(56, 248, "NLP 104", LIGHT["ink"], 68, "start", weight=700),
        *(
            text(56, 318 + 44 * row, line, LIGHT["quiet"], 34, "start")
            for row, line in enumerate(lines)
        ),
        f'<g transform="translate(412 49) scale({532 / HEIGHT:.4f})">{overview(LIGHT)}</g>',
    ]
    return svg(1200, 630, "".join(parts))


def photograph(drawing, path):
    """Turn a drawing into a PNG: those who show links show no SVG."""
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder, "page.html")
        page.write_text(
            f"<style>body {{ margin: 0 }}</style>{drawing}", encoding="utf-8"
        )
        flags = (
            "--headless --no-sandbox --hide-scrollbars --window-size=1200,630"
        )
        subprocess.run(
            ["chromium", *flags.split(), f"--screenshot={path}", page.as_uri()],
            check=True,
            capture_output=True,
        )


if __name__ == "__main__":
    for name, content in pictures().items():
        (HERE / name).write_text(content, encoding="utf-8")
    if "--preview" in sys.argv:
        photograph(preview(), HERE / "preview.png")

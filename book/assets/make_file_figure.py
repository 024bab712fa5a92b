"""Draw `nlp104/one_file.py` to scale, for *The Transformer in one file*, light and dark.

    python book/assets/make_file_figure.py

Every piece is as high as it has lines; letters are as large as they must be on a phone.
"""

import ast
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(ROOT)]  # wherever it is run from

from make_figures import box, palette, svg, text  # noqa: E402

WIDTH, HEIGHT = 480, 706
LINE = 2.2  # pixels
LETTER = 17
TOP, LEFT, COLUMN = 40, 6, 156
# How a piece begins, what it is called, what it does, and whether it is new.
PIECES = (
    ('"""', "Head", "imports, and four ids", False),
    ("# Words ---", "Words", "pairs → ids → batches", True),
    ("# The model ---", "The model", "batch → scores", False),
    ("# Training ---", "Training", "scores → loss → weights", False),
    ("# Translation ---", "Translation", "English → French", False),
    (
        "def read_pairs",
        "File to translation",
        "file → pairs; calls the rest",
        True,
    ),
)

# Written in an earlier chapter, though it stands among new ones.
KNOWN = ("pad",)


def pieces(code):
    """Name, job, novelty, first line and number of lines of each piece; lines count from 0."""
    lines = code.splitlines()
    starts = [
        next(i for i, line in enumerate(lines) if line.startswith(begin))
        for begin, *_ in PIECES
    ]
    return [
        (*piece[1:], start, end - start)
        for piece, start, end in zip(
            PIECES, starts, [*starts[1:], len(lines)], strict=True
        )
    ]


def drawing(colors, code):
    """The file as a column; in the model its classes; beside each piece its job."""
    ink, quiet = colors["ink"], colors["quiet"]
    total = len(code.splitlines())
    title = f"{total} lines; the filled ones are new to you"
    parts = [text(LEFT, 20, title, ink, LETTER, "start", 700)]
    side = LEFT + COLUMN + 14
    for name, job, new, start, count in pieces(code):
        y, high = TOP + LINE * start, LINE * count
        place = LEFT, round(y + 1, 1), COLUMN, round(high - 2, 1)
        fill = (ink, ink) if new else (colors["card"], colors["line"])
        parts.append(box(*place, *fill))
        middle = y + min(high / 2, 70)
        about = f"{name}: {count} lines"
        rows = ((about, ink, -4, 700), (job, quiet, 18, 400))
        for words, colour, down, weight in rows:
            place = side, round(middle + down, 1)
            parts.append(text(*place, words, colour, LETTER, "start", weight))
    for node in ast.parse(code).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            name, _, new, start, _ = next(
                piece
                for piece in reversed(pieces(code))
                if piece[3] < node.lineno
            )
            y = TOP + LINE * (node.lineno - 1)
            high = LINE * (node.end_lineno - node.lineno + 1)
            if name == "The model":
                place = LEFT + 5, round(y, 1), COLUMN - 10, round(high, 1)
                parts.append(box(*place, colors["box"], colors["line"]))
            if node.name in KNOWN:
                inset = (
                    LEFT + 5,
                    round(y - 5, 1),
                    COLUMN - 10,
                    round(high + 10, 1),
                )
                parts.append(box(*inset, colors["box"], colors["line"]))
                new = False
            middle = max(y + high / 2, TOP + LINE * start + 14)
            place = LEFT + COLUMN / 2, round(middle + 5, 1)
            colour = colors["box"] if new else ink
            parts.append(text(*place, node.name, colour, 15.5))
    return svg(WIDTH, HEIGHT, "".join(parts))


def pictures():
    """Both of them, by file name."""
    code = (ROOT / "nlp104" / "one_file.py").read_text(encoding="utf-8")
    return {
        f"one-file-{name}.svg": drawing(palette(theme), code)
        for theme, name in enumerate(("light", "dark"))
    }


if __name__ == "__main__":
    for name, content in pictures().items():
        (HERE / name).write_text(content, encoding="utf-8")

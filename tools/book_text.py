"""Writes `nlp104/data/book.txt`, what a language model reads: `python -m tools.book_text`.

The running text of the chapters as it was on a day, without code, tables, displayed formulas and
links. It is dated and not kept up with the book: numbers that a chapter states rest on it.
"""

import re
import unicodedata
from collections import Counter
from datetime import date

import nbformat

from tools import notebooks

PATH = notebooks.ROOT / "nlp104" / "data" / "book.txt"
RARE = 20  # a character that the book has less often is left out
PLAIN = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "–": "-", "−": "-", "…": "..."})


def plain(markdown):
    """Running text: one line for each paragraph."""
    text = re.sub(r"```.*?```|\$\$.*?\$\$|<!--.*?-->", " ", markdown, flags=re.DOTALL)
    text = re.sub(r"<[^<>]+>", " ", text)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)  # links: what is read of them
    text = re.sub(r"\\(?:mathrm|text|mathbf|operatorname)\b|[\\{}$`*]", "", text)
    paragraphs = re.split(r"\n\s*\n|\n(?=[-#]|\d+\. )", text.translate(PLAIN))
    paragraphs = [re.sub(r"^#+ ", "", " ".join(lines.split())) for lines in paragraphs]
    return "\n".join(line for line in paragraphs if line and not line.startswith("|"))


def book(paths):
    """The text of all chapters, without its rare characters."""
    cells = (
        cell.source
        for path in paths
        for cell in nbformat.read(path, as_version=4).cells[1:]
        if cell.cell_type == "markdown"
    )
    text = "\n".join(filter(None, map(plain, cells))) + "\n"
    text = unicodedata.normalize("NFKD", text)  # accents become marks of their own
    text = "".join(character for character in text if not unicodedata.combining(character))
    counts = Counter(text)
    return "".join(character for character in text if counts[character] >= RARE)


def main():
    paths = [path for path in notebooks.chapters() if path.parent.name in PARTS]
    text = book(paths)
    PATH.write_text(text, encoding="utf-8")
    print(f"{date.today()}: {len(paths)} chapters, {len(text):,} characters in {PATH}")


PARTS = ("part1", "part2", "part3")

if __name__ == "__main__":
    main()

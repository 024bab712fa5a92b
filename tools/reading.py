"""What a reader of a chapter sees before anything is unfolded, counted: `python -m tools.reading`.

Visible text is Markdown outside of `<details>`; visible code stands in cells that are not folded.
A reader is given a minute for 200 words and for 15 lines of code.
"""

import re
import sys
from pathlib import Path
from typing import NamedTuple

import nbformat

from tools import notebooks

WORDS_A_MINUTE, LINES_A_MINUTE = 200, 15


class Reading(NamedTuple):
    """What is seen of a chapter; also the most of it that may be."""

    words: int
    lines: int  # of code
    wide: int  # lines of code that a page has to be moved sideways for
    verdicts: int  # True and False in printed outputs, where a reader wants a number
    minutes: int

    def beyond(self, bounds):
        """The names of what exceeds `bounds`."""
        pairs = zip(self, bounds, strict=True)
        return [name for name, (is_, most) in zip(self._fields, pairs, strict=True) if is_ > most]


BOUNDS = Reading(words=2200, lines=150, wide=0, verdicts=5, minutes=20)
CODE_IS_THE_SUBJECT = {"the-model": BOUNDS._replace(lines=250)}


def bounds(path):
    """The most that a chapter may show."""
    return CODE_IS_THE_SUBJECT.get(path.stem, BOUNDS)


def read(path):
    """Counts one notebook."""
    words = lines = wide = verdicts = 0
    for cell in nbformat.read(path, as_version=4).cells:
        tags = cell.metadata.get("tags", [])
        if cell.cell_type == "markdown":
            text = re.sub(r"<details.*?</details>", " ", cell.source, flags=re.DOTALL)
            words += len(text.split())
        elif cell.cell_type == "code":
            if not notebooks.is_folded(cell):
                code = cell.source.splitlines()
                lines += sum(bool(line.strip()) for line in code)
                wide += sum(len(line) > notebooks.COLUMNS for line in code)
            if "hide-cell" not in tags:
                printed = "".join(o.text for o in cell.outputs if o.output_type == "stream")
                verdicts += len(re.findall(r"\b(?:True|False)\b", printed))
    minutes = round(words / WORDS_A_MINUTE + lines / LINES_A_MINUTE)
    return Reading(words, lines, wide, verdicts, minutes)


def main(names):
    """Prints a table; fails if a chapter is beyond a bound."""
    paths = [Path(name) for name in names] or notebooks.chapters()
    print(f"{'chapter':48}", *(f"{name:>8}" for name in Reading._fields))
    broken = 0
    for path in paths:
        reading = read(path)
        beyond = reading.beyond(bounds(path))
        broken += bool(beyond)
        print(f"{'/'.join(path.parts[-2:]):48}", *(f"{n:8,}" for n in reading), *beyond)
    print(f"{len(paths)} chapters, {broken} beyond a bound: {BOUNDS._asdict()}")
    return int(bool(broken))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

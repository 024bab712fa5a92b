"""How this book is tested: `python -m tools.tested` writes the page from what runs have left.

The runs take long; each keeps what it found in ``results/tested``: `tools.colab`, `tools.repeat`,
`tools.versions` and `tools.kills`.
"""

import json
from pathlib import Path

import nbformat

from experiments import records
from tools import colab, faults, notebooks, repeat, versions

PAGE = notebooks.ROOT / "book" / "how-this-book-is-tested.md"

FAULTS_SHOWN = (
    "dot products not scaled",
    "causal mask hides the token itself",
    "padding counts in the loss",
)

TEMPLATE = """\
# How this book is tested

Every number in this book has a source: a cell prints it, or a stored run names the command that
found it. Where we counted by reading, the text says so. This page says what keeps that true, and
shows what the last long runs found. Chapters change between such runs, so counts of cells differ
from run to run.

## At every change

`make test` and `make slow` do all this on a machine with two cores, in 30 to 60 minutes:

- **Every chapter runs** from top to bottom, and each output that does not depend on the machine is
  compared with the one you read ([nbval](https://nbval.readthedocs.io/)). The assertions in folded
  cells run with it.
- **The package** is compared with what is not ours: NumPy in float64, Keras' own layers, stored
  results of PyTorch, brute force, a closed form; all this on TensorFlow and on JAX.
- **The figures that move** are opened in a browser, with scripts and without, and their numbers are
  compared with the package's.
- **The examples** of the reference are run as they stand, but for two that need what few
  machines have: [ONNX Runtime](api/export.md#nlp104.translation.export_translator), and
  [several devices](api/training.md#nlp104.training.make_distribution).

## Would a mistake be noticed?

{faults}

## As a stranger in Colab

Each chapter runs alone, in an empty folder, without a network, with Colab's versions
(`python -m tools.colab`). The package is what the chapter's first cell installs, except that here
it comes from a file and not from its address on the web. A cell is *alike* if its compared output
is the one in this book.

{colab}

## Again and again

{repeats}

## On other versions

The core of the package's tests (layers, losses, batches, training, decoding, tokenizers, trained
models) is run in fresh environments (`python -m tools.versions`). *Oldest* has the lowest version
of everything that the package asks for; *skipped* are tests of what an environment lacks, such as
another backend.

{versions}

## Killed at any moment

{kills}

## Seldom, because it takes long

- `make long` runs the tests that train for minutes; ten thousand random command lines are among
  them.
- `python tests/pages/check_pages.py --axe axe.min.js` opens every page wide and narrow, light and
  dark. It looks for links to a page or a place that is not there, for weak contrast, for barriers
  to those who do not see the page or use no mouse, and for anything that is loaded from elsewhere.
  Links to other hosts are not followed.

## What is not tested

That the times hold on your machine: they depend on what else it does. That a translation is good:
[Real sentences](part3/real-sentences.ipynb) shows what goes wrong. A GPU adds numbers in another
order, so the last digits differ there.
"""


def faults_list(planted):
    """How many mistakes can be planted, and some of them."""
    shown = []
    for fault in planted:
        if fault.name in FAULTS_SHOWN:
            link = f"[{title_of(fault.chapter)}]({fault.chapter.removeprefix('book/')})"
            changed = f"`{fault.old}` becomes `{fault.new}`"
            shown.append(f"- *{fault.name}*: {changed}; the chapter is {link}.")
    return (
        f"`make faults` plants {len(planted)} mistakes in a copy of the package, one after the "
        "other. Each must be noticed by a test *and* by the chapter that teaches the piece, or the "
        "command fails. Three of them:\n\n" + "\n".join(shown)
    )


def title_of(chapter):
    """The title of a chapter, by its path."""
    notebook = nbformat.read(notebooks.ROOT / chapter, as_version=4)
    return notebook.cells[0].source.splitlines()[0].strip("# ")


def colab_table(record):
    """How many cells are alike, the versions, and in a fold a row for each chapter."""
    fold = "<details><summary>Chapter by chapter</summary>"
    lines = [fold, "", "| chapter | alike | seconds of a core | GiB |", "|---|--:|--:|--:|"]
    compared = 0
    chapters = [path.relative_to(notebooks.ROOT).with_suffix("") for path in notebooks.chapters()]
    for name, run in sorted(
        record["chapters"].items(), key=lambda item: chapters.index(Path(item[0]))
    ):
        link = f"[{title_of(f'{name}.ipynb')}]({name.removeprefix('book/')}.ipynb)"
        alike = run["cells"] - len(run["different"])
        compared += alike
        gib = run["MiB"] / 1024
        lines.append(f"| {link} | {alike} of {run['cells']} | {run['CPU seconds']} | {gib:.1f} |")
    cells = sum(run["cells"] for run in record["chapters"].values())
    used = ", ".join(f"{name} {version}" for name, version in record["versions"].items())
    summary = f"Together {compared:,} of {cells:,} cells are alike, with {used}."
    return "\n".join([summary, "", *lines, "", "</details>"])


def kills_sentence(record):
    """What came of the trainings that were killed."""
    when = ", ".join(f"{count} {moment}" for moment, count in record["kills"].items())
    return (
        f"A small training, with dropout, was killed {sum(record['kills'].values())} times at "
        f"random moments ({when}), ten times a run, and went on from its files after each. "
        f"{record['same']} of {record['runs']} runs ended with the same weights, the same moments "
        "of Adam, the same files and the same history as one that nobody disturbed, bit for bit "
        "(`python -m tools.kills 200`)."
    )


def repeats_sentence(passes):
    """What came of the notebooks that were executed again and again."""
    row = repeat.in_a_row(passes)
    if not row:
        return (
            "Since the last change to the notebooks they have not been executed again in other "
            "orders (`python -m tools.repeat 10`)."
        )
    alone = sum(each["cores"] == 1 for each in row)
    cells = sum(each["cells"] for each in row)
    counts = sorted({f"{each['cells']:,}" for each in row})
    return (
        f"All notebooks were executed and compared {len(row)} times (`python -m tools.repeat 10`), "
        f"each time in another order, {alone} of these times on one core alone. All {cells:,} "
        f"cells, {' or '.join(counts)} each time, gave the stored output, or one that is marked as "
        "free to differ, such as a time."
    )


def read(path):
    return json.loads(path.read_text(encoding="utf-8"))


def page():
    """The page, as text."""
    return TEMPLATE.format(
        faults=faults_list(faults.load()),
        colab=colab_table(read(colab.RECORD)),
        repeats=repeats_sentence(read(repeat.RECORD)["passes"]),
        versions=versions.summary(read(versions.RECORD)),
        kills=kills_sentence(read(records.RESULTS / "tested" / "kills.json")),
    )


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")

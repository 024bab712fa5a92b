"""What a notebook of this book must look like: its canonical form, and the rules that it keeps.

`canonical` is what `tools/execute.py` writes; `problems` is what `tests/test_notebooks.py` asks.
"""

import copy
import os
import re
from pathlib import Path

import nbformat
import yaml

ROOT = Path(__file__).resolve().parents[1]

SETUP = """\
# @title Set-up: on Colab, this installs nlp104
import importlib.util
import os

# TensorFlow starts without its log lines, and newer GPUs keep full float32.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("NVIDIA_TF32_OVERRIDE", "0")
if importlib.util.find_spec("nlp104") is None:
    %pip install --quiet "nlp104 @ git+{address}"\
"""
MAP = """\
# @title Where this chapter is on the map
from nlp104.figures.chapter_map import chapter_map

chapter_map("{topic}")\
"""

MAP_PATTERN = (
    re.escape(MAP)
    .replace(re.escape("{topic}"), r"[a-z -]+")
    .replace('"\\)', '"(, folder="\\.")?\\)')  # a page that lies beside the parts
)

# Seconds until a cell is said to hang; on a slow, busy machine one trains for 300.
CELL_LIMIT = 900
COLUMNS = 80  # of code that a page shows without moving it sideways

METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
STILL = '<figure class="nlp104 still">'  # what plots.show displays
LOCAL_PATH = re.compile(
    r"(?<![\w.:/])/(?:home|root|Users|tmp|work|var/folders|private)/\w|[A-Z]:\\Users"
)
DIRECTIVE = re.compile(
    r"^ *(?:`{3,}|:{3,}|~{3,})\{|\{[a-zA-Z][\w:.-]*\}`|^\([\w-]+\)=\s*$", re.MULTILINE
)
UNSUPPORTED = {
    "nbval-skip": "a cell that is skipped proves nothing",
    "skip-execution": "nbval does not know it",
}


def address(root=ROOT):
    """The repository's address: it stands in `_config.yml`, and everything else follows it."""
    return yaml.safe_load((root / "_config.yml").read_text())["repository"]["url"]


def setup_source():
    """The first code cell of every notebook."""
    return SETUP.format(address=address())


def chapters(root=ROOT):
    """The notebooks of the book, in the reading order of `_toc.yml`."""
    names = re.findall(
        r"^\s*(?:- file|root):\s*(\S+)", (root / "_toc.yml").read_text(), re.MULTILINE
    )
    paths = (root / f"{name}.ipynb" for name in names)
    return [path for path in paths if path.exists()]


def environment(**settings):
    """The environment in which notebooks are executed: the same for stored and for new outputs."""
    inherited = {name: value for name, value in os.environ.items() if name != "MPLBACKEND"}
    fixed = {
        "KERAS_BACKEND": "tensorflow",
        "PYTHONHASHSEED": "0",
        "TF_CPP_MIN_LOG_LEVEL": "3",
    }
    return {**inherited, **fixed, **settings}


def is_drawing(output):
    """Whether an output is a figure that `plots.show` drew."""
    return "".join(output.get("data", {}).get("text/html", "")).startswith(STILL)


def canonical(notebook):
    """The one way in which a notebook is written, as text.

    Of the metadata, the tags are kept. A cell that begins with `# @title` is folded wherever a
    chapter is read: in the book, in Colab and in JupyterLab. Its outputs stay visible unless it is
    a solution (`hide-cell`).
    """
    notebook = copy.deepcopy(notebook)
    notebook.metadata = METADATA
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    for cell in notebook.cells:
        cell.source = cell.source.rstrip()
        tags = cell.metadata.get("tags", [])
        cell.metadata = nbformat.from_dict({"tags": tags} if tags else {})
        if cell.cell_type != "code":
            continue
        if cell.source.startswith("# @title"):
            if not is_folded(cell):
                cell.metadata["tags"] = [*tags, "hide-input"]
            cell.metadata["cellView"] = "form"
            hidden = ["source_hidden"] + ["outputs_hidden"] * ("hide-cell" in cell.metadata.tags)
            cell.metadata["jupyter"] = dict.fromkeys(hidden, True)
    return nbformat.writes(notebook) + "\n"


def replace(path, text):
    """Write a file whole or not at all."""
    temporary = path.with_suffix(".part")
    temporary.write_text(text)
    os.replace(temporary, path)


def printed(cell):
    """The texts in the outputs of a cell."""
    for output in cell.outputs:
        yield from (output.get("text", ""), output.get("evalue", ""))
        yield from output.get("data", {}).values()


def is_compared(cell):
    """Whether nbval compares something in this cell that says more than "a figure was drawn"."""
    tags = cell.metadata.get("tags", [])
    return "nbval-ignore-output" not in tags and any(
        output.output_type == "error" or output.get("name") == "stdout" or "data" in output
        for output in cell.outputs
        if not is_drawing(output)
    )


def problems(text):
    """Every rule that the notebook breaks, one sentence each; none if it may be published."""
    try:
        notebook = nbformat.reads(text, as_version=4)
        nbformat.validate(notebook)
    except Exception as error:
        return [f"it is not a valid notebook: {error}"]
    found = [] if text == canonical(notebook) else ["it is not in canonical form: make execute"]
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    if not code or code[0].source != setup_source():
        found.append("its first code cell is not the set-up cell of tools/notebooks.py")
    elif code[0].outputs:
        found.append("its set-up cell prints something: is nlp104 not installed?")
    if len(code) < 2 or not re.fullmatch(MAP_PATTERN, code[1].source):
        found.append("its second code cell is not the map of tools/notebooks.py")
    if [cell.execution_count for cell in code] != list(range(1, len(code) + 1)):
        found.append("its code cells were not executed once each, in order: make execute")
    if not any(is_compared(cell) for cell in code):
        found.append("nothing in it is compared")
    for number, cell in enumerate(code):
        following = (c for c in code[number + 1 :] if not is_ignored(c))
        if is_ignored(cell) and not is_compared(next(following, cell)):
            found.append(
                f"after its code cell {number + 1}, which is not compared, none states facts"
            )
    question = None  # the last one
    for number, cell in enumerate(notebook.cells, start=1):
        if cell.cell_type == "markdown":
            question = "**Predict" in cell.source
        elif "predict" in cell.metadata.get("tags", []) and not (question and cell.outputs):
            found.append(
                f"its cell {number} is tagged predict, and answers no **Predict** of the text"
            )
        check = code_problems if cell.cell_type == "code" else text_problems
        found += [f"its cell {number} {problem}" for problem in check(cell)]
    return found


def is_ignored(cell):
    return "nbval-ignore-output" in cell.metadata.get("tags", [])


def is_folded(cell):
    """Whether the page shows the title of a cell and not its code."""
    return bool({"hide-input", "hide-cell"} & set(cell.metadata.get("tags", [])))


def code_problems(cell):
    """What is wrong with one code cell."""
    tags = cell.metadata.get("tags", [])
    if not cell.source.strip():
        yield "is empty"
    if any(LOCAL_PATH.search(text) for text in [cell.source, *printed(cell)]):
        yield "names a path of one machine"
    if re.search(r"^\s*#\s*(NBVAL_|PYTEST_VALIDATE)", cell.source, re.MULTILINE):
        yield "steers nbval with a comment: use a tag"
    for tag in set(tags) & set(UNSUPPORTED):
        yield f"is tagged {tag}: {UNSUPPORTED[tag]}"
    title = re.match("# @title (.*)", cell.source)
    if is_folded(cell) and not title:
        yield "is folded and has no title: it begins with '# @title …', which says what it does"
    if not is_folded(cell):
        yield from visible_code_problems(cell.source)
    if title and "solution" in title[1].lower() and "hide-cell" not in tags:
        yield "is a solution that is not tagged hide-cell"
    for output in cell.outputs:
        if output.get("name") == "stderr":
            yield "wrote to stderr"
        if output.output_type == "error" and "raises-exception" not in tags:
            yield f"stores an error: {output.ename}"
        if any(kind.startswith("image/") for kind in output.get("data", ())):
            yield "shows a picture of dots, which is right on one ground only: plots.show(…, alt=…)"


def visible_code_problems(source):
    """Why this code should not be seen before a reader unfolds it, or not as it is."""
    fold = "fold it with '# @title …'"
    if re.search(r"^\s*assert\b", source, re.MULTILINE):
        yield f"checks something: {fold}"
    if re.search(r"\bplots\.\w+\(|\balt=", source):
        yield f"draws something: {fold}"
    widest = max(map(len, source.splitlines()), default=0)
    if widest > COLUMNS:
        yield f"has a line of {widest} columns, and pages show {COLUMNS}: {fold}, or break the line"


def text_problems(cell):
    """What is wrong with one Markdown cell."""
    prose = re.sub(r"```\w*\n.*?```", "", cell.source, flags=re.DOTALL)
    if not prose.strip():
        yield "is empty"
    if DIRECTIVE.search(prose):
        yield "holds MyST markup, which reads badly outside the book"
    if re.search(r"!\[\]\(|<img(?![^>]*\balt=)", prose):
        yield "shows an image without a text for those who cannot see it"
    if LOCAL_PATH.search(cell.source):
        yield "names a path of one machine"

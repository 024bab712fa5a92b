"""Execute notebooks and store their outputs: `make execute`, NOTEBOOKS="…" names some.

Each runs in its own folder, in a fresh kernel of this Python. One that raises an error or writes to
stderr is left as it was.
"""

import sys
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

from tools import notebooks

MEMORY = "__import__('resource').getrusage(__import__('resource').RUSAGE_SELF).ru_maxrss"


def time_limit(path):
    """How many seconds a chapter may take on two cores: a whole training run has twice as many."""
    return 90 if "train" in path.stem or path.parent.name == "part4" else 45


def execute(path):
    """Run one notebook and write it back; returns seconds and the peak memory in bytes."""
    notebook = nbformat.read(path, as_version=4)
    first = next(cell for cell in notebook.cells if cell.cell_type == "code")
    first.source = notebooks.setup_source()
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    client = NotebookClient(
        notebook,
        timeout=notebooks.CELL_LIMIT,
        kernel_name="python3",
        resources={"metadata": {"path": path.parent}},
        record_timing=False,
        extra_arguments=["--log-level=CRITICAL"],  # the kernel's own remarks are not the chapter's
        coalesce_streams=True,
    )
    start = time.perf_counter()
    with client.setup_kernel(env=notebooks.environment()):
        for index, cell in enumerate(notebook.cells):
            client.execute_cell(cell, index)
        seconds = time.perf_counter() - start
        reply = client.wait_for_reply(client.kc.execute("", user_expressions={"memory": MEMORY}))
    said = [o for c in notebook.cells for o in c.get("outputs", []) if o.get("name") == "stderr"]
    if said:
        raise RuntimeError("it writes to stderr:\n" + "".join(output.text for output in said))
    notebooks.replace(path, notebooks.canonical(notebook))
    unit = 1 if sys.platform == "darwin" else 1024  # the system's choice for ru_maxrss
    memory = reply["content"]["user_expressions"]["memory"]["data"]["text/plain"]
    return seconds, int(memory) * unit


def main(names):
    paths = [Path(name).resolve() for name in names] or notebooks.chapters()
    failed = False
    for path in paths:
        name = path.relative_to(notebooks.ROOT) if notebooks.ROOT in path.parents else path
        print(f"{name}: ", end="", flush=True)
        try:
            seconds, memory = execute(path)
        except (CellExecutionError, RuntimeError, OSError) as error:
            print(f"failed, and left as it was\n{error}")
            failed = True
            continue
        slow = (
            f" (more than the {time_limit(path)} s allowed)" if seconds > time_limit(path) else ""
        )
        print(f"{seconds:.0f} s{slow}, {memory / 2**30:.1f} GiB")
        for problem in notebooks.problems(path.read_text()):
            print(f"  {problem}")
            failed = True
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

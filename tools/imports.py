"""Which part of the package imports which: `python -m tools.imports` draws it.

The folders of `nlp104` are its rooms. Imports run downwards only: a room imports what stands below
it in `LAYERS`, never what stands beside or above it, and no two files import each other.
"""

import ast

from tools.notebooks import ROOT

# From top to bottom; the one place where the order is declared. Nothing imports the top layer:
# `cli` is for the terminal, `figures` for the chapters.
LAYERS = (
    ("cli", "figures"),
    ("translation",),
    ("training", "decoding"),
    ("transformer",),
    ("attention", "data"),
    ("encoding",),
    ("utils",),
)
# Files that stand beside the rooms, in none of them.
ALONE = ("__main__", "one_file")


def modules(root=ROOT):
    """The file of each module of the package, by its dotted name."""
    found = {}
    for path in sorted((root / "nlp104").rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports(module, files):
    """Those of the modules `files` that one of them imports, anywhere in it."""
    for node in ast.walk(ast.parse(files[module].read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from files.keys() & {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module in files:
            for alias in node.names:  # a module of that package, or a name in its __init__
                inner = f"{node.module}.{alias.name}"
                yield inner if inner in files else node.module
        elif isinstance(node, ast.Call) and ast.unparse(node.func) == "attach":
            names = [*ast.literal_eval(node.args[1])]  # see nlp104/utils/lazy.py
            names += [n for keyword in node.keywords for n in ast.literal_eval(keyword.value)]
            yield from (f"{module}.{name}" for name in names)


def graph(root=ROOT):
    """For each module of the package the set of those that it imports."""
    files = modules(root)
    return {module: set(imports(module, files)) for module in files}


def room(module):
    """The room of a module; "" for the package itself and the files beside the rooms."""
    name = module.partition(".")[2].partition(".")[0]
    return "" if name in ALONE else name


def rooms(edges):
    """For each room the set of the other rooms that it imports."""
    found = {name: set() for layer in LAYERS for name in layer}
    for module, others in edges.items():
        if room(module):
            found[room(module)] |= {room(other) for other in others} - {room(module), ""}
    return found


def upwards(arrows):
    """The arrows from room to room that do not lead down, as pairs."""
    height = {name: -level for level, layer in enumerate(LAYERS) for name in layer}
    return [(a, b) for a in arrows for b in arrows[a] if height[b] >= height[a]]


def cycle(edges):
    """Modules that import each other in a ring, first and last the same; empty if there is none."""
    done = set()

    def search(trail):
        for other in sorted(edges[trail[-1]] - done):
            if other in trail:
                return [*trail[trail.index(other) :], other]
            if found := search([*trail, other]):
                return found
        done.add(trail[-1])
        return []

    return next(filter(None, (search([start]) for start in sorted(edges))), [])


def drawing(arrows):
    """The rooms in their layers, each with what it imports."""
    width = max(map(len, arrows))
    order = [name for layer in LAYERS for name in layer]
    layers = []
    for layer in LAYERS:
        lines = (
            f"{name:{width}}  →  {', '.join(sorted(arrows[name], key=order.index))}"
            if arrows[name]
            else name
            for name in layer
        )
        layers.append("\n".join(lines))
    return ("\n" + "─" * (2 * width) + "\n").join(layers) + "\n"


def main():
    print(drawing(rooms(graph())), end="")


if __name__ == "__main__":
    main()

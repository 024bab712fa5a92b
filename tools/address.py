"""Give the repository another address everywhere: `make address URL=https://github.com/owner/name`.

It stands by hand only in `_config.yml`. The badges, the set-up cell of each notebook, the links for
Colab and the published book and the package's metadata follow from there.
"""

import re
import subprocess
import sys

from tools import notebooks

GITHUB = re.compile(r"https://github\.com/([\w-]+)/([\w.-]+?)(?:\.git)?/?")


def forms(url):
    """The address as it occurs in links: the repository, Colab's view of it, the published book."""
    match = GITHUB.fullmatch(url)
    if match is None:
        raise ValueError(
            f"Expected an address like https://github.com/owner/name. Received: {url!r}."
        )
    owner, name = match.groups()
    return f"github.com/{owner}/{name}", f"github/{owner}/{name}", f"{owner}.github.io/{name}"


def files(root):
    """The text files of the repository, also those that git does not know yet."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=root,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    kinds = {".cff", ".cfg", ".ipynb", ".md", ".py", ".toml", ".yml", ".html", ".css", ".js"}
    paths = (root / name for name in listed.split("\0") if name)
    return [path for path in paths if path.suffix in kinds and path.is_file()]


def change(url, root=notebooks.ROOT):
    """Replace the address in all files; returns those that changed."""
    changed = {}
    pairs = list(zip(forms(notebooks.address(root)), forms(url), strict=True))
    for path in files(root):
        text = new = path.read_text(encoding="utf-8")
        for old_form, new_form in pairs:
            new = re.sub(rf"(?<![\w.-]){re.escape(old_form)}(?![\w-])", new_form, new)
        if new != text:
            changed[path] = new
    # Where the old address is read from changes last: a change that was stopped can be repeated.
    for path in sorted(changed, key=lambda path: path.name == "_config.yml"):
        notebooks.replace(path, changed[path])
    return [*changed]


def main(arguments):
    if len(arguments) != 1:
        print("Usage: make address URL=https://github.com/owner/name", file=sys.stderr)
        return 2
    try:
        changed = change(arguments[0])
    except ValueError as error:
        print(f"Error: {error}", file=sys.stderr)
        return 1
    for path in changed:
        print(path.relative_to(notebooks.ROOT))
    print(f"{len(changed)} files changed; the address is {notebooks.address()}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

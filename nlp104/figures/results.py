"""The stored results of long runs: the files in the folder ``results`` of the repository.

A chapter draws from them what takes too long, or needs a corpus too large, to be computed in it.
They come with the package, so they are there on Colab, too.
"""

from pathlib import Path

# In a clone the folder stands beside the package; where it was installed, inside it; what stands
# beside it there is another's.
_PACKAGE = Path(__file__).resolve().parents[1]
FOLDER = next(
    (folder for folder in (_PACKAGE / "results", _PACKAGE.with_name("results")) if folder.is_dir()),
    _PACKAGE / "results",
)


def read(name: str) -> str:
    """Returns the text of a file of the folder ``results``.

    Args:
        name: The path inside the folder, for example ``"corpora/fra-eng.json"``.

    Returns:
        The text of the file.

    Raises:
        FileNotFoundError: If there is no such file.

    Example:
        >>> import json
        >>> from nlp104.figures import results
        >>> json.loads(results.read("corpora/grammar.json"))["corpus"]
        'grammar'
    """
    path = FOLDER / name
    if not path.is_file():
        raise FileNotFoundError(
            f"Expected a file of the folder results. Received: {name!r}, which is not there."
        )
    return path.read_text(encoding="utf-8")

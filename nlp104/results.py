"""The stored results of long runs: the files in the folder ``results`` of the repository.

A chapter draws from them what takes too long, or needs a corpus too large, to be computed in it.
"""

import importlib.metadata
import urllib.request
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "results"

_TIMEOUT = 30  # seconds


def read(name: str) -> str:
    """Returns the text of a file of the folder ``results``.

    In a clone of the repository the file is read there. Where only the package is installed, as on
    Colab, it comes from the repository's address.

    Args:
        name: The path inside the folder, for example ``"corpora/fra-eng.json"``.

    Returns:
        The text of the file.

    Raises:
        FileNotFoundError: If the clone has no such file.
        ConnectionError: If the file is not there and cannot be downloaded.
    """
    if FOLDER.is_dir():
        if not (FOLDER / name).is_file():
            raise FileNotFoundError(
                f"Expected a file of the folder results. Received: {name!r}, which is not there."
            )
        return (FOLDER / name).read_text(encoding="utf-8")
    url = address(name)
    try:
        with urllib.request.urlopen(url, timeout=_TIMEOUT) as answer:
            return answer.read().decode("utf-8")
    except OSError as error:
        raise ConnectionError(
            f"Expected the stored results {name} at {url}. Received: {error}. "
            "In a clone of the repository they are read without a network."
        ) from error


def address(name: str) -> str:
    """Returns where a file of the folder ``results`` lies on the network."""
    urls = importlib.metadata.metadata("nlp104").get_all("Project-URL") or []
    repository = dict(url.split(", ", 1) for url in urls)["Repository"]
    owner_and_name = repository.removeprefix("https://github.com/")
    return f"https://raw.githubusercontent.com/{owner_and_name}/main/results/{name}"

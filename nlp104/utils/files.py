"""Files that are written whole or not at all."""

import os
import re
from contextlib import contextmanager
from pathlib import Path

BLOCK = 2**20  # bytes


@contextmanager
def replacing(path):
    r"""Writes a file in one piece: the name it yields becomes `path` when the block succeeds.

    By then the content is on the disk, so that not even a power cut leaves half of it.

    Args:
        path: The file to write; its directory must exist.

    Example:
        >>> from pathlib import Path
        >>> from nlp104.utils.files import replacing
        >>> with replacing("history.csv") as temporary:
        ...     length = temporary.write_text("loss")
        >>> Path("history.csv").read_text(), temporary.exists()
        ('loss', False)
    """
    path = Path(path)
    # Keras and NumPy look at the end of a name, so what makes it temporary stands in front.
    temporary = path.with_name(f".{os.getpid()}-{path.name}")
    try:
        yield temporary
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        if error.filename and Path(error.filename) == temporary:
            error.filename = str(path)  # what the user has named
        raise
    finally:
        temporary.unlink(missing_ok=True)


def require_room(path, size):
    """Raises `OSError` unless a file of so many bytes can be written; it is empty afterwards.

    To be called before HDF5 writes: where a disk fills meanwhile, it takes the process with it.

    Args:
        path: The file.
        size: The bytes.

    Example:
        >>> from pathlib import Path
        >>> from nlp104.utils.files import require_room
        >>> require_room("weights.h5", 10_000)
        >>> Path("weights.h5").stat().st_size
        0
    """
    path = Path(path)
    try:
        with path.open("wb") as file:
            for first in range(0, size, BLOCK):  # zeros: a hole in a file would take no room
                file.write(bytes(min(BLOCK, size - first)))
            file.truncate(0)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path.parent)) from error


def what_lacks(path):
    """Why a file is not there, in words about its directory.

    Example:
        >>> from pathlib import Path
        >>> from nlp104.utils.files import what_lacks
        >>> what_lacks(Path("run", "run.json")), what_lacks(Path("run.json"))
        ('does not exist', 'has no run.json')
    """
    if path.parent.is_dir():
        return f"has no {path.name}"
    return "is no directory" if path.parent.exists() else "does not exist"


def sweep(directory):
    """Removes what processes that were killed while they wrote have left in a directory.

    Args:
        directory: One in which nobody else writes now.

    Example:
        >>> from pathlib import Path
        >>> from nlp104.utils.files import sweep
        >>> length = Path(".104-model.npz").write_text("half of a mod")
        >>> sweep(".")
        >>> Path(".104-model.npz").exists()
        False
    """
    for path in Path(directory).iterdir():
        if re.match(r"\.\d+-", path.name) and path.is_file():
            path.unlink()

"""Files that are written whole or not at all."""

import os
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(path):
    r"""Writes a file in one piece: the name it yields becomes `path` when the block succeeds.

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
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)

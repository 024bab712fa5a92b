"""No log lines of TensorFlow's C++ parts, which the reader could do nothing about."""

import contextlib
import os
import sys


@contextlib.contextmanager
def silenced():
    """Closes standard error while a block runs, to warnings and logs of Python, too.

    Errors are raised as ever.

    ``TF_CPP_MIN_LOG_LEVEL`` does not stop all lines: some come before it is read, some from parts
    that do not read it.

    Example:
        >>> from nlp104.utils.quiet import silenced
        >>> with silenced():
        ...     import keras
    """
    if sys.stderr is None:  # closed already, as a service may have it
        yield
        return
    sys.stderr.flush()
    stderr, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(stderr, 2)
        os.close(stderr)
        os.close(nowhere)

"""Errors that a user can set right: the command line shows their message and nothing else.

Each is one of Python's own errors, too, and can be caught as such. Whatever else is raised while a
command runs is a bug, or the world's doing (a full disk, no network): see `nlp104.cli.main`.
Arguments that a command cannot get wrong are checked with Python's own errors alone.
"""


class UserError(Exception):
    """What a user gave cannot be used; the message says what was expected and what was received."""


class InputError(UserError, ValueError):
    """A value, a text or the content of a file is not as expected."""


class MissingError(UserError, FileNotFoundError):
    """A file or a directory is not where it is expected."""


class OccupiedError(UserError, FileExistsError):
    """Something stands where an output shall be written."""


def is_out_of_memory(error):
    """Whether memory is what was missing: each backend says so in its own way.

    TensorFlow has a class of errors for it; JAX and PyTorch say it in the words of a
    `RuntimeError`.

    Example:
        >>> from nlp104.utils.errors import is_out_of_memory
        >>> is_out_of_memory(RuntimeError("RESOURCE_EXHAUSTED: Out of memory"))
        True
        >>> is_out_of_memory(FileNotFoundError("RESOURCE_EXHAUSTED: notes.txt"))
        False
    """
    if isinstance(error, RuntimeError):
        words = ("RESOURCE_EXHAUSTED", "DefaultCPUAllocator", "out of memory")
        return any(word in str(error) for word in words)
    return isinstance(error, MemoryError) or type(error).__name__ == "ResourceExhaustedError"


def first_line(error):
    r"""The first line of what an error says, or its kind if it says nothing.

    Example:
        >>> from nlp104.utils.errors import first_line
        >>> first_line(ValueError("Too long.\nAnd more.")), first_line(KeyError())
        ('Too long.', 'KeyError')
    """
    return (str(error).strip() or type(error).__name__).splitlines()[0]

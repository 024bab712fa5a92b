"""The command line: ``nlp104 train | translate | evaluate | export | serve``.

(Also ``python -m nlp104``.) This module starts a command and tells what ended it. The options stand
in ``options``; what the commands do stands in ``commands``, imported when the options have been
read: ``--help`` need not wait for Keras.

Exit status: 0 done, 1 what was given cannot be used, 2 an option is wrong, 70 a bug in ``nlp104``,
130 stopped with Ctrl-C. What a user or the computer can set right is told in one line. A bug keeps
its traceback, and the last line says where to report it.
"""

import errno
import gc
import os
import sys
import traceback
from pathlib import Path

from nlp104 import __version__
from nlp104.cli.options import DATA_HELP, make_parser
from nlp104.utils.errors import UserError, first_line, is_out_of_memory
from nlp104.utils.quiet import silenced

BUG = 70  # EX_SOFTWARE of BSD's sysexits.h
ISSUES = "https://github.com/nlp104/nlp104/issues"
PACKAGE = Path(__file__).resolve().parents[1]  # whose files are not the user's
BACKENDS = ("tensorflow", "jax", "torch")
# A mistake of the user, the network, a loss that became infinite.
EXPECTED = (UserError, ConnectionError, FloatingPointError)
OF_THE_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO)


def main(arguments=None):
    """Runs one command.

    Args:
        arguments: List of strings; what was typed after ``nlp104`` if left out.

    Returns:
        The exit status. Wrong options raise ``SystemExit(2)``, as `argparse` does.

    Example:
        >>> from nlp104.cli.main import main
        >>> main(["translate", "--model", "grammar", "The black cat sleeps."])
        Le chat noir dort.
        0
    """
    parser = make_parser()
    options = vars(parser.parse_args(arguments))
    name = options.pop("command")
    for key, value in options.items():
        if value == [] and key != "sentences":  # what argparse before Python 3.13 makes of `=--`
            parser.error(f"argument --{key.replace('_', '-')}: expected one argument, found '--'")
    if name == "train" and "data" not in options and "resume" not in options:
        parser.error("train needs --data: " + DATA_HELP)
    try:
        return getattr(_import_commands(), name)(**options)
    except BrokenPipeError:  # whoever read the output has gone, as `| head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        print(f"\nnlp104 {name}: stopped", file=sys.stderr)
        return 130
    except Exception as error:
        if _is_expected(error):
            print(f"nlp104 {name}: error: {_one_line(error)}", file=sys.stderr)
            return 1
        traceback.print_exc()
        print(
            f"nlp104 {name}: this is a bug in nlp104 {__version__}, not a mistake of yours. Please "
            f"report it with all lines above: {ISSUES}",
            file=sys.stderr,
        )
        return BUG


def _import_commands():
    """Imports what needs Keras, without the lines that TensorFlow logs when it starts."""
    if "keras" in sys.modules:
        from nlp104.cli import commands

        return commands
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    # What an import makes stays to the end. To look through it for garbage, again and again while
    # it grows and once more at the exit, costs 1.5 of 5 seconds.
    gc.disable()
    try:
        with silenced():
            from nlp104.cli import commands

            commands.warm_up()
    finally:
        gc.enable()
    gc.freeze()
    return commands


def _is_expected(error):
    """Whether an error tells of what the user gave or of the computer, not of a bug."""
    if isinstance(error, EXPECTED) or _is_unwritable(error) or is_out_of_memory(error):
        return True
    if isinstance(error, ModuleNotFoundError):  # a backend does not come with nlp104
        return _package(error) in BACKENDS
    if not isinstance(error, OSError):
        return False
    if error.filename is None:
        return error.errno in OF_THE_DISK
    return not Path(str(error.filename)).resolve().is_relative_to(PACKAGE)


def _is_unwritable(error):
    """Whether something was to be printed that the encoding of the output has no bytes for."""
    if not isinstance(error, UnicodeEncodeError):
        return False
    try:
        error.object.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        return True
    return False


def _package(error):
    return (error.name or "").partition(".")[0]


def _one_line(error):
    if isinstance(error, ModuleNotFoundError):
        return (
            f"Expected {_package(error)}, on which Keras shall compute. Received: no such package. "
            f"Install it, or name another one in KERAS_BACKEND: {', '.join(BACKENDS)}."
        )
    if is_out_of_memory(error):
        return (
            "Expected memory for all that is computed at once. Received: "
            f"{first_line(error):.200} Smaller batches, fewer beams and shorter sentences need "
            "less."
        )
    if isinstance(error, UnicodeEncodeError):
        return (
            f"Expected an output that can hold {error.object[error.start]!r}. Received: one of "
            f"{sys.stdout.encoding}. Let it be UTF-8: PYTHONIOENCODING=utf-8."
        )
    if isinstance(error, OSError) and error.filename and error.strerror:
        return f"{error.strerror}: {error.filename}"
    return " ".join(str(error).split()) or type(error).__name__

"""The command line: ``nlp104 train | translate | evaluate | export | serve``.

(Also ``python -m nlp104``.) This module starts a command and turns expected errors into one line.
The options stand in ``options``; what the commands do stands in ``commands``, imported when the
options have been read: ``--help`` need not wait for Keras.

Exit status: 0 done, 1 the data or the model cannot be used, 2 an option is wrong, 130 stopped with
Ctrl-C. Errors of the program itself keep their traceback.
"""

import os
import sys

from nlp104.cli.options import DATA_HELP, make_parser
from nlp104.utils.quiet import silenced

# What the world outside can get wrong: files, their contents, values, a learning rate that makes
# the loss infinite. All else is a defect of ours.
EXPECTED_ERRORS = (ValueError, OSError, FloatingPointError)


def main(arguments=None):
    """Runs one command.

    Args:
        arguments: List of strings; what was typed after ``nlp104`` if left out.

    Returns:
        The exit status. Wrong options raise ``SystemExit(2)``, as `argparse` does.
    """
    parser = make_parser()
    options = vars(parser.parse_args(arguments))
    name = options.pop("command")
    if name == "train" and "data" not in options and "resume" not in options:
        parser.error("train needs --data: " + DATA_HELP)
    try:
        return getattr(_import_commands(), name)(**options)
    except BrokenPipeError:  # whoever read the output has gone, as `| head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except EXPECTED_ERRORS as error:
        print(f"nlp104 {name}: error: {_one_line(error)}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"\nnlp104 {name}: stopped", file=sys.stderr)
        return 130


def _import_commands():
    """Imports what needs Keras, without the lines that TensorFlow logs when it starts."""
    if "keras" in sys.modules:
        from nlp104.cli import commands

        return commands
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    with silenced():
        from nlp104.cli import commands

        commands.warm_up()
    return commands


def _one_line(error):
    if isinstance(error, OSError) and error.filename and error.strerror:
        return f"{error.strerror}: {error.filename}"
    return " ".join(str(error).split())

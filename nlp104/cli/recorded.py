"""The settings that ``run.json`` records, held against the options that they once were."""

import contextlib
import io

from nlp104.cli.options import make_parser
from nlp104.training.run_record import read_record
from nlp104.training.settings import DEFAULTS
from nlp104.utils.errors import InputError


def read_run(directory):
    """Returns what `read_record` returns, with all settings, of which each could be typed.

    Raises:
        FileNotFoundError: If there is no run.
        ValueError: If the file is damaged, or a setting is none.

    Example:
        >>> from nlp104.cli.recorded import read_run
        >>> from nlp104.training.run_record import write_record
        >>> write_record(".", {"settings": {"data": "fra.txt", "epochs": 0}})
        >>> read_run(".")
        Traceback (most recent call last):
            ...
        nlp104.utils.errors.InputError: ... Received: argument --epochs: expected an ...
    """
    record = read_record(directory)
    settings = record["settings"]
    words = ["train", "--output=."]
    for name, value in settings.items():
        flag = "--" + name.replace("_", "-")
        if name == "shared_vocabulary" and value is False:
            words.append("--no-shared-vocabulary")
        elif value is not None and value is not False:
            words.append(flag if value is True else f"{flag}={value}")
    with contextlib.redirect_stderr(io.StringIO()) as said:
        try:
            typed = vars(make_parser().parse_args(words))
        except SystemExit:
            typed = {}
    for name, value in settings.items():
        if name not in DEFAULTS or (typed.get(name) or None) != (value or None):
            reason = said.getvalue().strip().rpartition("error: ")[2] or f"{name} = {value!r:.60}"
            raise InputError(f"Expected settings of a run in {directory}. Received: {reason}.")
    return {**record, "settings": DEFAULTS | settings}

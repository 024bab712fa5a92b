"""What an experiment found, as JSON under ``results``."""

import json
import statistics

import numpy as np

from nlp104.figures.results import FOLDER as RESULTS
from nlp104.utils.files import replacing

__all__ = ["RESULTS", "rounds", "runs_so_far", "spread", "turns", "write"]


def write(path, record):
    """Writes a dictionary in one piece: what the file holds may have taken an hour."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as temporary:
        text = json.dumps(record, indent=1, ensure_ascii=False)
        temporary.write_text(text + "\n", encoding="utf-8")


def runs_so_far(path, **settings):
    """The runs that a record holds already, by their names: what need not be trained again.

    Args:
        path: Of the record.
        **settings: What of the record says how its runs were made.

    Raises:
        ValueError: If they were made with other settings.
    """
    if not path.exists():
        return {}
    record = json.loads(path.read_text(encoding="utf-8"))
    for name, value in settings.items():
        if record[name] != value:
            raise ValueError(
                f"Expected {name}={record[name]!r}, as the runs in {path.name} have it: further "
                f"ones would be compared with them. Received: {value!r}."
            )
    return record["runs"]


def spread(values, digits, scale=1):
    """What several seeds found, for a table: the mean and, in brackets, the lowest and highest."""
    mean, low, high = (f"{scale * f(values):.{digits}f}" for f in (np.mean, min, max))
    return f"{mean} ({low}-{high})"


def turns(names, count):
    """The names `count` times over, every other time backwards: a slow minute meets all of them."""
    for number in range(count):
        yield from list(names)[:: -1 if number % 2 else 1]


def rounds(values, digits):
    """What several rounds found, for a record: the median, and each."""
    return {
        "median": round(statistics.median(values), digits),
        "rounds": [round(value, digits) for value in values],
    }

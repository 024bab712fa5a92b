"""How far a run has come."""

import math
from dataclasses import dataclass, field, fields

from nlp104.utils.errors import InputError


@dataclass
class Position:
    """How far a run has come: with the values of all variables, this is its whole state.

    Attributes:
        epoch: Complete epochs.
        step: Complete steps of the current epoch.
        seconds: That these steps have taken.
        best: The lowest validation loss.
        bad_epochs: Epochs since then.
        history: A dictionary of numbers for each epoch.
    """

    epoch: int = 0
    step: int = 0
    seconds: float = 0.0
    best: float = math.inf
    bad_epochs: int = 0
    history: list = field(default_factory=list)


def read_position(found, data, path, is_validated):
    """Returns the position in a state that was saved.

    Args:
        found: What the state holds: `asdict` of a position, and the `data` that it belongs to.
        data: What the data are now, with the number of `steps` of an epoch.
        path: Where the state was found.
        is_validated: Whether the run goes on with validation: each row of its history has the same
            columns.

    Raises:
        ValueError: If it belongs to other data, is no position at all, or has rows with validation
            where the others would have none, or the other way round.

    Example:
        >>> from nlp104.training.position import read_position
        >>> found = {"epoch": 1, "step": 7, "history": [{"loss": 2.5}], "data": {"steps": 10}}
        >>> read_position(found, {"steps": 10}, "latest.npz", is_validated=False).step
        7
    """
    if not isinstance(found, dict) or "data" not in found:
        raise InputError(f"Expected a position in {path}. Received: {found!r:.60}.")
    if found["data"] != data:
        raise InputError(
            f"Expected the training data of {path}, {found['data']!r:.200}. Received: {data}."
        )
    known = {field.name: field.type for field in fields(Position)}
    found = {name: value for name, value in found.items() if name != "data"}
    for name, value in found.items():
        kind = known.get(name, ())  # of an unknown name nothing is an instance
        if not isinstance(value, (int, float) if kind is float else kind):
            raise InputError(f"Expected a position in {path}. Received: {name} = {value!r:.60}.")
    position = Position(**found)
    rows = position.history
    if not (
        0 <= position.epoch == len(rows)
        and 0 <= position.step < data["steps"]
        and all(isinstance(row, dict) and list(row) == list(rows[0]) for row in rows)
        and all(isinstance(value, (int, float)) for row in rows for value in row.values())
    ):
        raise InputError(
            f"Expected a row for each epoch in {path}, and a step below {data['steps']}. Received: "
            f"{len(rows)} rows, epoch {position.epoch}, step {position.step}."
        )
    was_validated = any(name.startswith("val_") for row in rows for name in row)
    if rows and was_validated != is_validated:
        how = {True: "with validation", False: "without validation"}
        raise InputError(
            f"Expected a run {how[was_validated]}, as in {path}. Received: {how[is_validated]}."
        )
    return position

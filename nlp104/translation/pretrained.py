"""Models that were trained for the book and come with the package, so that nobody needs to train.

Each stands in a folder of ``nlp104/translation/models`` with two cards: ``README.md`` says on what
and how it was trained, how well it translates and what it cannot do; ``card.json`` says its
languages, and examples of what it can translate. ``python -m tools.release`` puts a model there,
with weights of 16 bits. Here they become 32 again: processors compute faster in that.
"""

from pathlib import Path
from typing import Any

from nlp104.training.run_record import read_record
from nlp104.translation.translator import MODEL, Translator
from nlp104.utils.errors import InputError
from nlp104.utils.foreign import parse_json, read_text

FOLDER = Path(__file__).parent / "models"
CARD = "card.json"
LISTS = ("languages", "examples")  # in it


def names() -> list[str]:
    """Returns the names of the models."""
    return sorted(path.name for path in FOLDER.iterdir() if (path / MODEL).is_file())


def load_pretrained(name: str) -> Translator:
    """Loads a trained translator.

    Args:
        name: ``"grammar"``: English to French, for sentences of `nlp104.data.grammar`;
            ``"eng-fra"``: English to French, for everyday sentences; ``"eng-fra-typed"``: the same,
            trained longer, on sentences as people type them and on its own best French, too.

    Returns:
        A `nlp104.translation.Translator`.

    Raises:
        ValueError: If there is no model of that name.

    Example:
        >>> import nlp104
        >>> nlp104.load_pretrained("grammar").translate(["The black cat sleeps."])
        ['Le chat noir dort.']
    """
    if name not in names():
        raise ValueError(f"Expected one of {', '.join(names())} as `name`. Received: {name!r}.")
    return Translator.load(FOLDER / name, dtype="float32")


def read_card(directory: str | Path) -> dict[str, Any]:
    """Returns what is recorded of a translator for those who want to try it.

    Args:
        directory: That of a model of the book, with ``card.json``; or that of a run, whose
            ``run.json`` knows the languages.

    Returns:
        A dictionary of `languages`, the codes of the language from which and of that to which it
        translates, and of `examples`, sentences. Each is empty where nothing is recorded. And of
        `attribution`, a sentence, where those are to be named whose text it learned from.

    Raises:
        ValueError: If ``card.json`` or ``run.json`` is damaged.

    Example:
        >>> from nlp104.translation import pretrained
        >>> pretrained.read_card(pretrained.FOLDER / "grammar")["languages"]
        ['en', 'fr']
    """
    path = Path(directory) / CARD
    if path.is_file():
        try:
            card = parse_json(read_text(path))
        except ValueError as error:
            raise InputError(f"Expected JSON in {path}. Received: {error}") from error
    else:
        path = Path(directory)
        try:
            card = {"languages": read_record(path).get("languages", []), "examples": []}
        except FileNotFoundError:
            card = {"languages": [], "examples": []}
    if not (isinstance(card, dict) and all(_is_texts(card.get(name)) for name in LISTS)):
        raise InputError(
            f"Expected {' and '.join(LISTS)} as lists of texts in {path}. Received: {card!r:.80}."
        )
    if not isinstance(card.get("attribution", ""), str):
        raise InputError(f"Expected a text as attribution in {path}. Received: {card!r:.80}.")
    return card


def _is_texts(value):
    return isinstance(value, list) and all(isinstance(text, str) for text in value)

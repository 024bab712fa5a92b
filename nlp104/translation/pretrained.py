"""Models that were trained for the book and come with the package, so that nobody needs to train.

Each stands in a folder of ``nlp104/translation/models`` with two cards: ``README.md`` says on what
and how it was trained, how well it translates and what it cannot do; ``card.json`` says its
languages, and examples of what it can translate. ``python -m tools.release`` puts a model there,
with weights of 16 bits. Here they become 32 again: processors compute faster in that.
"""

import json
from pathlib import Path
from typing import Any

from nlp104.training.run_record import read_record
from nlp104.translation.translator import Translator

FOLDER = Path(__file__).parent / "models"
CARD = "card.json"


def names() -> list[str]:
    """Returns the names of the models."""
    return sorted(path.name for path in FOLDER.iterdir() if path.is_dir())


def load_pretrained(name: str) -> Translator:
    """Loads a trained translator.

    Args:
        name: ``"grammar"``: English to French, for sentences of `nlp104.data.grammar`;
            ``"eng-fra"``: English to French, for everyday sentences; ``"eng-fra-typed"``: the same,
            trained longer, and on sentences as people type them, too.

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
    stored = Translator.load(FOLDER / name)
    return Translator(
        stored.model.with_dtype("float32"), stored.source_tokenizer, stored.target_tokenizer
    )


def read_card(directory: str | Path) -> dict[str, Any]:
    """Returns what is recorded of a translator for those who want to try it.

    Args:
        directory: That of a model of the book, with ``card.json``; or that of a run, whose
            ``run.json`` knows the languages.

    Returns:
        A dictionary of `languages`, the codes of the language from which and of that to which it
        translates, and of `examples`, sentences. Each is empty where nothing is recorded. And of
        `attribution`, a sentence, where those are to be named whose text it learnt from.

    Raises:
        ValueError: If ``run.json`` is damaged.

    Example:
        >>> from nlp104.translation import pretrained
        >>> pretrained.read_card(pretrained.FOLDER / "grammar")["languages"]
        ['en', 'fr']
    """
    card = Path(directory) / CARD
    if card.is_file():
        return json.loads(card.read_text(encoding="utf-8"))
    try:
        record = read_record(directory)
    except FileNotFoundError:
        record = {}
    return {"languages": record.get("languages", []), "examples": []}

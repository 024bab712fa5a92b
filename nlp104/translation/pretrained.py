"""Models that were trained for the book and come with the package, so that nobody needs to train.

Each stands in a folder of ``models`` beside its card, which says on what and how it was
trained, how well it translates and what it cannot do. ``python -m tools.release`` puts one there,
with weights of 16 bits. Here they become 32 again: processors compute faster in that.
"""

from pathlib import Path

from nlp104.translation.translator import Translator

FOLDER = Path(__file__).parent / "models"


def names() -> list[str]:
    """Returns the names of the models."""
    return sorted(path.name for path in FOLDER.iterdir() if path.is_dir())


def load_pretrained(name: str) -> Translator:
    """Loads a trained translator.

    Args:
        name: ``"grammar"``: English to French, for sentences of `nlp104.data.grammar`;
            ``"eng-fra"``: English to French, for everyday sentences.

    Returns:
        A `nlp104.translation.Translator`.

    Raises:
        ValueError: If there is no model of that name.

    Example:
        >>> load_pretrained("grammar").translate(["The black cat sleeps."])
        ['Le chat noir dort.']
    """
    if name not in names():
        raise ValueError(f"`name` must be one of {', '.join(names())}. Received: {name!r}.")
    stored = Translator.load(FOLDER / name)
    return Translator(
        stored.model.with_dtype("float32"), stored.source_tokenizer, stored.target_tokenizer
    )

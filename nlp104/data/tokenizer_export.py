"""Tokenizers in the format of the `tokenizers` library, which reads them without this package.

`nlp104.data.Tokenizer` normalises a sentence before that library cuts it, and puts words together
after it. Here both become part of the library's own pipeline, and so do `[END]` and padding.
"""

import tokenizers
from tokenizers import Regex, decoders, normalizers, processors

from nlp104.data import tokenizer as text

_JOINT = "\u2060"  # no token holds it: `tokenizer.normalize` takes it out


def reading(tokenizer: text.Tokenizer) -> tokenizers.Tokenizer:
    """Returns a tokenizer for sources: ``encode_batch`` gives rows of one length, ready to use.

    Each is `tokenizer.encode` of its sentence, then `[END]`, then padding. (Greek apart, if the
    text is put in lower case: here every final sigma becomes an ordinary one.)

    Args:
        tokenizer: `nlp104.data.Tokenizer`.

    Returns:
        A `tokenizers.Tokenizer`.

    Example:
        >>> [row.ids for row in reading(tokenizer).encode_batch(["The cat sleeps.", "Yes."])]
        [[7, 12, 31, 4, 3], [98, 4, 3, 0, 0]]
    """
    config = tokenizer.get_config()
    names = dict(enumerate(config["vocabulary"]))
    # A text that spells "[END]" does not end: with a space in its name no text can ask for it.
    names |= {i: " " + names[i] for i in (text.PAD_ID, text.START_ID, text.END_ID)}
    ids = {token: i for i, token in names.items()}
    portable = text.pipeline(config["kind"], ids, config["merges"])
    steps = [normalizers.Lowercase()] if config["lowercase"] else []
    if config["kind"] != "whitespace":
        steps = [*_normalizers(), *steps]
    portable.normalizer = normalizers.Sequence(steps)
    end = text.SPECIAL_TOKENS[text.END_ID]
    portable.post_processor = processors.TemplateProcessing(
        single=f"$A {end}", special_tokens=[(end, text.END_ID)]
    )
    portable.enable_padding(pad_id=text.PAD_ID, pad_token=text.SPECIAL_TOKENS[text.PAD_ID])
    return portable


def writing(tokenizer: text.Tokenizer) -> tokenizers.Tokenizer:
    """Returns a tokenizer for translations: ``decode`` gives what `tokenizer.decode` does.

    Args:
        tokenizer: `nlp104.data.Tokenizer`.

    Returns:
        A `tokenizers.Tokenizer`. It expects rows as `nlp104.decoding` returns them, with tokens,
        `[END]` and padding.

    Example:
        >>> writing(tokenizer).decode([7, 12, 31, 4, 3, 0, 0])
        'Le chat dort.'
    """
    config = tokenizer.get_config()
    kind, vocabulary = config["kind"], config["vocabulary"]
    if kind == "word":
        vocabulary = [_with_spaces(token, config) for token in vocabulary]
    special = (
        text.PAD_ID,
        text.START_ID,
        text.END_ID,
    )  # not written: they get no place
    ids = {token: i for i, token in enumerate(vocabulary) if i not in special}
    portable = text.pipeline(kind, ids, config["merges"])
    if kind == "word":
        portable.decoder = decoders.Sequence(
            [
                decoders.Fuse(),
                # Of two quotation marks the second closes: it touches the word before it.
                decoders.Replace(Regex(f'"{_JOINT}[^"]*\\K▁"{_JOINT}'), '"'),
                decoders.Replace(Regex(f"{_JOINT}▁?"), ""),
                decoders.Replace("▁", " "),
                decoders.Strip(" ", 1, 0),
            ]
        )
    return portable


def _with_spaces(token, config):
    """A word with a mark for the space before it, a sign with one for where it touches a word."""
    if token == '"':
        return "▁" + token + _JOINT  # opens, see `writing`
    before = "" if token in config["closes_left"] else "▁"
    return before + token + (_JOINT if token in config["closes_right"] else "")


def _normalizers():
    """What `tokenizer.normalize` does."""
    yield normalizers.NFC()
    for character, replacement in text.CHARACTERS.items():
        yield normalizers.Replace(chr(character), replacement)
    yield normalizers.Replace(Regex(r"[\s\x1c-\x1f]+"), " ")
    yield normalizers.Strip()

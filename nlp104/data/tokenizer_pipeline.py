"""What a tokenizer is made of: normalising, cutting, looking up, and joining again.

All of it is the `tokenizers` library's own, so that one file of that library holds the whole way
from a text to ids and back. This module says which of its parts are used, and how.
"""

import itertools
import json
import re
from collections.abc import Collection

import tokenizers
from tokenizers import Regex, decoders, models, normalizers, pre_tokenizers

from nlp104.data import word_spacing

PAD_ID, UNKNOWN_ID, START_ID, END_ID = 0, 1, 2, 3
SPECIAL_TOKENS = ("[PAD]", "[UNK]", "[START]", "[END]")
KINDS = ("word", "bpe", "whitespace")

# Where sub-words stop: at every sign. Apostrophes and hyphens may be part of one.
_SIGN = r"▁?[^\p{L}\p{M}\p{N}▁'-]"

# No token holds white space. So these two can be marks between the tokens while they are joined.
_JOINT = "\n"  # no space here
_END = "\t"  # here the sentence ends

# Before which tokens no space stands, and after which.
_LEFT = r"\A(?!{}\z)"
_RIGHT = r"\A ?{}\K\z"


def assemble(
    kind: str,
    model: models.Model,
    lowercase: bool = False,
    closes_left: Collection[str] = (),
    closes_right: Collection[str] = (),
) -> tokenizers.Tokenizer:
    """Returns the library's tokenizer: `model` between all that comes before it and after it."""
    pipeline = tokenizers.Tokenizer(model)
    pipeline.normalizer = normalizer(kind, lowercase)
    pipeline.pre_tokenizer = pre_tokenizer(kind)
    pipeline.decoder = decoder(kind, closes_left, closes_right)
    return pipeline


def normalizer(kind: str, lowercase: bool = False) -> normalizers.Normalizer:
    """Returns what puts a text into one form; ready-made tokens keep their characters."""
    lower = [normalizers.Lowercase()] if lowercase else []
    if kind == "whitespace":
        # A text that spells "[PAD]" holds no padding. (The other kinds cut it into three.)
        special = Regex(r"(?<!\S)\[(?:PAD|START|END)\](?!\S)")
        return normalizers.Sequence([*lower, normalizers.Replace(special, "[UNK]")])
    return normalizers.Sequence(
        [
            normalizers.Replace(Regex(r"[\u200b\u200c\u200d\u2060\ufeff\u00ad]"), ""),
            normalizers.Replace(Regex(r"[\u2018\u2019\u02bc\u2032]"), "'"),
            normalizers.Replace("▁", "_"),  # it marks a space inside sub-word tokens
            *lower,
            normalizers.NFC(),  # last of what changes letters: now all that belongs together meets
            normalizers.Replace(Regex(r"[\s\x1c-\x1f]+"), " "),
            normalizers.Strip(),
        ]
    )


def pre_tokenizer(kind: str) -> pre_tokenizers.PreTokenizer:
    """Returns what cuts a text into words, or into the pieces that sub-words may not cross."""
    if kind == "whitespace":
        return pre_tokenizers.WhitespaceSplit()
    if kind == "word":
        return pre_tokenizers.Split(Regex(word_spacing.PATTERN), "removed", invert=True)
    return pre_tokenizers.Sequence(
        [pre_tokenizers.Metaspace(), pre_tokenizers.Split(Regex(_SIGN), "isolated")]
    )


def decoder(
    kind: str, closes_left: Collection[str] = (), closes_right: Collection[str] = ()
) -> decoders.Decoder:
    """Returns what makes one text of the tokens up to `[END]`, without padding."""
    replace = decoders.Replace
    joints = []
    if kind == "bpe":
        spaces = [replace("▁", " ")]
    elif kind == "whitespace":
        spaces = [replace(Regex(r"\A"), " ")]
    else:
        left, right = _any_of({*closes_left} - {'"'}), _any_of({*closes_right} | {'"'})
        spaces = [
            replace(Regex(_LEFT.format(left)), " "),
            replace(Regex(_RIGHT.format(right)), _JOINT),
        ]
        joints = [
            # A quotation mark opens: it touches the next word. Of two, the second closes.
            replace(Regex(f'"{_JOINT}[^"]*\\K "{_JOINT}'), '"'),
            replace(Regex(f"{_JOINT} ?"), ""),
        ]
    return decoders.Sequence(
        [
            *spaces,
            replace(Regex(r"\A ?\[END\]\z"), _END),
            replace(Regex(r"\A ?\[(?:PAD|START)\]\z"), ""),
            decoders.Fuse(),
            replace(Regex(rf"{_END}[\s\S]*"), ""),
            *joints,
            decoders.Strip(" ", 1, 0),
        ]
    )


def recognize(
    pipeline: tokenizers.Tokenizer,
) -> tuple[str, bool, Collection[str], Collection[str]] | None:
    """Returns the arguments with which `assemble` makes such a tokenizer; `None` if none do.

    Another one might do anything with a text: make it a million times as long, or never end.

    Example:
        >>> from tokenizers.models import WordLevel
        >>> from nlp104.data.tokenizer_pipeline import assemble, recognize
        >>> pipeline = assemble("word", WordLevel(), closes_left=",.")
        >>> kind, lowercase, left, right = recognize(pipeline)
        >>> kind, lowercase, sorted(left), sorted(right)
        ('word', False, [',', '.'], ['"'])
    """
    found = _parts(pipeline)
    left, right = (_tokens_of(shape, found["decoder"]) for shape in (_LEFT, _RIGHT))
    for kind, lowercase in itertools.product(KINDS, (False, True)):
        closes = (left, right) if kind == "word" else ((), ())
        if _parts(assemble(kind, models.WordLevel(), lowercase, *closes)) == found:
            return kind, lowercase, *closes
    return None


def _parts(pipeline):
    """All but the vocabulary, as plain values."""
    bare = tokenizers.Tokenizer(models.WordLevel())
    for name in ("normalizer", "pre_tokenizer", "decoder"):
        if (part := getattr(pipeline, name)) is not None:
            setattr(bare, name, part)
    return json.loads(bare.to_str())


def _tokens_of(shape, decoder):
    """The tokens that stand in one of the two patterns of a decoder for words."""
    start, end = shape.format("(?:\n)").split("\n")
    for part in (decoder or {}).get("decoders", ()):
        regex = part.get("pattern", {}).get("Regex", "")
        if regex.startswith(start) and regex.endswith(end):
            escaped = re.findall(r"(?:\\.|[^\\|])+", regex[len(start) : -len(end)], re.DOTALL)
            return {re.sub(r"\\(.)", r"\1", token, flags=re.DOTALL) for token in escaped}
    return set()


def _any_of(tokens):
    return f"(?:{'|'.join(map(re.escape, sorted(tokens)))})"


_NORMALIZER = normalizer("word")


def normalize(text: str) -> str:
    """Returns `text` in the one form that everything else in the package expects.

    Unicode is composed (NFC), no-break and other exotic spaces become ordinary ones, zero-width
    characters disappear, typographic apostrophes become ``'``, and runs of space fold into one.
    Accents, case and punctuation stay: they carry meaning.

    Args:
        text: Any string.

    Returns:
        The normalised string, without space at either end.

    Example:
        >>> from nlp104.data import normalize
        >>> normalize("L’été\u00a0 !")
        "L'été !"
    """
    return _NORMALIZER.normalize_str(text)

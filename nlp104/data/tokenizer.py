"""Text to integers and back: normalisation, and the `Tokenizer` for words or parts of words.

A network sees integers. This module turns a sentence into a list of them, and such a list back into
a sentence, so that what went in comes out again.
"""

import json
import os
import unicodedata
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import tokenizers
from tokenizers import Regex, decoders, models, pre_tokenizers, trainers

from nlp104.data import word_spacing
from nlp104.utils.errors import InputError

PAD_ID, UNKNOWN_ID, START_ID, END_ID = 0, 1, 2, 3
SPECIAL_TOKENS = ("[PAD]", "[UNK]", "[START]", "[END]")
KINDS = ("word", "bpe", "whitespace")

_FORMAT = "nlp104 tokenizer 1"

# Invisible characters go, the many apostrophes become one, and "▁", which marks a space inside
# sub-word tokens, may not occur in the text itself. Exotic spaces are folded by str.split().
CHARACTERS = str.maketrans(
    dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff\u00ad", "")
    | dict.fromkeys("\u2018\u2019\u02bc\u2032", "'")
    | {"▁": "_"}
)

# Where sub-words stop: at every sign. Apostrophes and hyphens may be part of one.
_SIGN = r"▁?[^\p{L}\p{M}\p{N}▁'-]"


def normalize(text: str, lowercase: bool = False) -> str:
    """Returns `text` in the one form that everything else in the package expects.

    Unicode is composed (NFC), no-break and other exotic spaces become ordinary ones, zero-width
    characters disappear, typographic apostrophes become ``'``, and runs of space fold into one.
    Accents, case and punctuation stay: they carry meaning.

    Args:
        text: Any string.
        lowercase: Whether to put everything in lower case as well.

    Returns:
        The normalised string, without space at either end.

    Example:
        >>> normalize("L’été\u00a0 !")
        "L'été !"
    """
    text = unicodedata.normalize("NFC", text).translate(CHARACTERS)
    text = " ".join(text.split())
    return text.lower() if lowercase else text


class Tokenizer:
    """Turns sentences into lists of token ids, and back.

    Make one with `Tokenizer.train` or `Tokenizer.load`. Ids 0 to 3 are the special tokens
    ``[PAD]``, ``[UNK]``, ``[START]`` and ``[END]``.

    Args:
        kind: ``"word"`` (words and signs), ``"bpe"`` (parts of words) or ``"whitespace"`` (the text
            is tokenised already: what stands between two spaces is a token, taken as it is).
        vocabulary: All tokens in the order of their ids; the first four are the special tokens.
        merges: For ``"bpe"``: the pairs of tokens that are joined, in order.
        lowercase: Whether the text is put in lower case first.
        closes_left: For ``"word"``: signs written without a space before them.
        closes_right: For ``"word"``: signs written without a space after them.
    """

    def __init__(
        self,
        kind: str,
        vocabulary: list[str],
        merges: Iterable[tuple[str, str]] = (),
        lowercase: bool = False,
        closes_left: Iterable[str] = (),
        closes_right: Iterable[str] = (),
    ):
        self.kind = kind
        self.lowercase = lowercase
        self._vocabulary = list(vocabulary)
        self._merges = [(first, second) for first, second in merges]
        self._closes_left = frozenset(closes_left)
        self._closes_right = frozenset(closes_right)
        self._ids = {token: i for i, token in enumerate(self._vocabulary)}
        self._backend = pipeline(kind, self._ids, self._merges)

    @classmethod
    def train(
        cls,
        sentences: Iterable[str],
        kind: str = "bpe",
        vocabulary_size: int = 8000,
        lowercase: bool = False,
    ) -> "Tokenizer":
        """Chooses a vocabulary for the given sentences; their order does not matter.

        Words: the most frequent ones, among equals the alphabetically first. Parts of words:
        byte-pair encoding (Sennrich et al., 2016, https://arxiv.org/abs/1508.07909), which starts
        from single characters and joins the most frequent pair of neighbours again and again.

        A character that the sentences do not hold becomes ``[UNK]``. Falling back to bytes instead
        would spend 256 places of the vocabulary on tokens that a small corpus shows too rarely for
        their embeddings to be learned.

        Args:
            sentences: The text to learn from.
            kind: ``"word"``, ``"bpe"`` or ``"whitespace"``.
            vocabulary_size: The largest size of the vocabulary, special tokens included.
            lowercase: Whether to put all text in lower case first.

        Returns:
            A `Tokenizer`.

        Raises:
            ValueError: If the kind is unknown, there is no text or the vocabulary is too small.

        Example:
            >>> tokenizer = Tokenizer.train(["L'eau est froide.", "L'eau dort ?"], kind="word")
            >>> tokenizer.tokens("L'eau dort.")
            ["L'", 'eau', 'dort', '.']
            >>> tokenizer.decode(tokenizer.encode("L'eau est froide ?"))
            "L'eau est froide ?"
        """
        if kind not in KINDS:
            raise ValueError(f"`kind` must be one of {', '.join(KINDS)}. Received: {kind!r}.")
        clean = _cleaner(kind, lowercase)
        sentences = [clean(sentence) for sentence in sentences]
        if not any(sentences):
            raise ValueError("Expected text to train a tokenizer on. Received: none.")
        alphabet = sorted({"▁", *"".join(sentences)} - {" "}) if kind == "bpe" else ["a word"]
        smallest = len(SPECIAL_TOKENS) + len(alphabet)
        if vocabulary_size < smallest:
            raise InputError(
                f"`vocabulary_size` must be at least {smallest}, for the special tokens and "
                f"{'every character' if kind == 'bpe' else 'a word'}. Received: {vocabulary_size}."
            )
        if kind == "bpe":
            return cls._train_bpe(sentences, alphabet, vocabulary_size, lowercase)
        return cls._train_words(sentences, kind, vocabulary_size, lowercase)

    @classmethod
    def _train_words(cls, sentences, kind, vocabulary_size, lowercase):
        split = pipeline(kind, {"[UNK]": UNKNOWN_ID}).pre_tokenizer.pre_tokenize_str
        pieces = [split(sentence) for sentence in sentences]
        counts = Counter(token for sentence in pieces for token, _ in sentence)
        for token in SPECIAL_TOKENS:
            del counts[token]
        ranked = sorted(counts, key=lambda token: (-counts[token], token))
        vocabulary = [*SPECIAL_TOKENS, *ranked[: vocabulary_size - len(SPECIAL_TOKENS)]]
        closes_left, closes_right = word_spacing.learn_spacing(pieces)
        return cls(kind, vocabulary, [], lowercase, closes_left, closes_right)

    @classmethod
    def _train_bpe(cls, sentences, alphabet, vocabulary_size, lowercase):
        backend = pipeline("bpe", {"[UNK]": UNKNOWN_ID})
        trainer = trainers.BpeTrainer(
            vocab_size=vocabulary_size,
            special_tokens=list(SPECIAL_TOKENS),
            initial_alphabet=alphabet,
            show_progress=False,
        )
        backend.train_from_iterator(sentences, trainer)
        model = json.loads(backend.to_str())["model"]
        vocabulary = sorted(model["vocab"], key=model["vocab"].get)
        return cls("bpe", vocabulary, merges=model["merges"], lowercase=lowercase)

    def encode(self, text: str) -> list[int]:
        """Returns the ids of the tokens of one sentence, without special tokens around them."""
        return self.encode_batch([text])[0]

    def encode_batch(self, texts: Iterable[str]) -> list[list[int]]:
        """Returns `encode` of every text, much faster than one at a time."""
        clean = _cleaner(self.kind, self.lowercase)
        encodings = self._backend.encode_batch_fast([clean(text) for text in texts])
        return [encoding.ids for encoding in encodings]

    def tokens(self, text: str) -> list[str]:
        """Returns the tokens of one sentence as the model sees them, unknown ones as ``[UNK]``."""
        return [self._vocabulary[i] for i in self.encode(text)]

    def decode(self, ids: Iterable[int]) -> str:
        """Returns the sentence that the ids stand for.

        Reading stops at the first ``[END]``; ``[PAD]`` and ``[START]`` are left out. Words get the
        spaces of the training text: a sign touches the word next to it if it mostly did so there.
        Thus ``?`` has a space before it in French and none in English.

        Args:
            ids: Integers from 0 to `vocabulary_size` - 1, in a list or an array.

        Returns:
            The text.

        Raises:
            ValueError: If an id is outside the vocabulary.
        """
        tokens = []
        for i in map(int, ids):
            if i == END_ID:
                break
            token = self.id_to_token(i)
            if i not in (PAD_ID, START_ID):
                tokens.append(token)
        if self.kind == "bpe":
            return self._backend.decoder.decode(tokens)
        if self.kind == "whitespace":
            return " ".join(tokens)
        return word_spacing.join(tokens, self._closes_left, self._closes_right)

    @property
    def vocabulary_size(self) -> int:
        """The number of tokens, special tokens included."""
        return len(self._vocabulary)

    def id_to_token(self, i: int) -> str:
        """Returns the token with id `i`; raises `ValueError` if there is none."""
        if not 0 <= i < len(self._vocabulary):
            raise ValueError(
                f"Expected a token id from 0 to {len(self._vocabulary) - 1}. Received: {i}."
            )
        return self._vocabulary[i]

    def token_to_id(self, token: str) -> int:
        """Returns the id of `token`, or that of ``[UNK]`` if there is no such token."""
        return self._ids.get(token, UNKNOWN_ID)

    def get_config(self) -> dict:
        """Returns the arguments of `Tokenizer` that make an equal one."""
        return {
            "kind": self.kind,
            "lowercase": self.lowercase,
            "closes_left": sorted(self._closes_left),
            "closes_right": sorted(self._closes_right),
            "vocabulary": self._vocabulary,
            "merges": self._merges,
        }

    def save(self, path: str | os.PathLike) -> None:
        """Writes the tokenizer to one JSON file, all of it or nothing."""
        content = {"format": _FORMAT, **self.get_config()}
        unfinished = Path(f"{path}.unfinished")
        unfinished.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
        os.replace(unfinished, path)

    @classmethod
    def load(cls, path: str | os.PathLike) -> "Tokenizer":
        """Reads a tokenizer that `save` wrote; raises `ValueError` if the file holds none."""
        try:
            content = json.loads(Path(path).read_text(encoding="utf-8"))
            if content.pop("format") != _FORMAT or content["vocabulary"][:4] != [*SPECIAL_TOKENS]:
                raise ValueError("not our format")
            return cls(**content)
        except OSError:
            raise
        except Exception as error:  # the library for BPE raises plain Exceptions
            raise InputError(
                f"Expected a tokenizer written by Tokenizer.save in {path}. "
                "Received: a damaged or a different file."
            ) from error


def _cleaner(kind, lowercase):
    """Ready-made tokens keep their characters; all other text is normalised."""
    if kind == "whitespace":
        return str.lower if lowercase else str
    return lambda text: normalize(text, lowercase)


def pipeline(kind, ids, merges=()):
    """The pipeline of the `tokenizers` library: how text is cut, and what the pieces' ids are."""
    # A text that spells "[PAD]" holds no padding: of the special tokens only [UNK] is looked up.
    ids = {t: i for t, i in ids.items() if t == "[UNK]" or t not in SPECIAL_TOKENS}
    if kind == "bpe":
        backend = tokenizers.Tokenizer(models.BPE(ids, merges, unk_token="[UNK]"))
        backend.pre_tokenizer = pre_tokenizers.Sequence(
            [pre_tokenizers.Metaspace(), pre_tokenizers.Split(Regex(_SIGN), "isolated")]
        )
        backend.decoder = decoders.Metaspace()
        return backend
    backend = tokenizers.Tokenizer(models.WordLevel(ids, unk_token="[UNK]"))
    if kind == "whitespace":
        backend.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    else:
        backend.pre_tokenizer = pre_tokenizers.Split(
            Regex(word_spacing.PATTERN), "removed", invert=True
        )
    return backend

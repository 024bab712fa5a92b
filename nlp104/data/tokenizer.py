"""Text to integers and back: the `Tokenizer` for words or parts of words.

A network sees integers. This module turns a sentence into a list of them, and such a list back into
a sentence, so that what went in comes out again.
"""

import operator
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import tokenizers
from tokenizers import models, trainers

from nlp104.data.tokenizer_pipeline import (
    END_ID,
    KINDS,
    PAD_ID,
    SPECIAL_TOKENS,
    START_ID,
    UNKNOWN_ID,
    assemble,
    normalize,
    normalizer,
    pre_tokenizer,
    recognize,
)
from nlp104.data.word_spacing import learn_spacing
from nlp104.utils.arguments import require_one_of, require_positive, require_texts
from nlp104.utils.errors import InputError
from nlp104.utils.files import replacing
from nlp104.utils.foreign import read_text

__all__ = [
    "END_ID",
    "KINDS",
    "PAD_ID",
    "SPECIAL_TOKENS",
    "START_ID",
    "UNKNOWN_ID",
    "Tokenizer",
    "normalize",
]


class Tokenizer:
    """Turns sentences into lists of token ids, and back.

    Make one with `Tokenizer.train` or `Tokenizer.load`. Ids 0 to 3 are the special tokens
    ``[PAD]``, ``[UNK]``, ``[START]`` and ``[END]``.

    It wraps a `tokenizers.Tokenizer` and is saved in that library's own format. There
    ``tokenizers.Tokenizer.from_file(path)`` gives the same ids and the same texts, with these
    differences:

    - The special tokens are ordinary ones to the library: what it calls special, a text could
      spell. So ``skip_special_tokens`` changes nothing; its ``decode`` always does as `decode`.
    - Its ``decode`` passes over ids outside the vocabulary, its ``id_to_token`` and
      ``token_to_id`` return `None` where these here raise `ValueError` and return ``[UNK]``.

    Text is put in lower case letter by letter: the Greek Σ is σ at the end of a word, too.

    Args:
        pipeline: A `tokenizers.Tokenizer` as `train` makes it.

    Raises:
        ValueError: If it has other special tokens, adds something to what it encodes, or does
            anything else to a text.

    Example:
        >>> import tokenizers
        >>> from nlp104.data import Tokenizer
        >>> Tokenizer.train(["L'eau est froide."], kind="word").save("tokenizer.json")
        >>> Tokenizer.load("tokenizer.json").encode("L'eau est froide.")
        [5, 6, 7, 8, 4]
        >>> tokenizers.Tokenizer.from_file("tokenizer.json").encode("L'eau est froide.").ids
        [5, 6, 7, 8, 4]
    """

    def __init__(self, pipeline: tokenizers.Tokenizer):
        ids = pipeline.get_vocab()
        self._pipeline = pipeline
        self._vocabulary = sorted(ids, key=ids.__getitem__)
        if not (
            self._vocabulary[:4] == [*SPECIAL_TOKENS]
            and sorted(ids.values()) == list(range(len(ids)))
            and getattr(pipeline.model, "unk_token", None) == SPECIAL_TOKENS[UNKNOWN_ID]
            and not pipeline.get_added_tokens_decoder()
            and pipeline.post_processor is pipeline.padding is pipeline.truncation is None
            and recognize(pipeline)
        ):
            raise ValueError(
                f"Expected ids 0 to 3 for {', '.join(SPECIAL_TOKENS)}, no gap in the ids, no added "
                "tokens, template, padding or truncation, and a normaliser, a pre-tokeniser and a "
                "decoder as `Tokenizer.train` makes them. Received: another tokenizer."
            )

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
            >>> from nlp104.data import Tokenizer
            >>> sentences = ["L'eau est froide.", "L'eau dort ?"]
            >>> words = Tokenizer.train(sentences, kind="word")
            >>> words.tokens("L'eau dort.")
            ["L'", 'eau', 'dort', '.']
            >>> words.decode(words.encode("L'eau est froide ?"))
            "L'eau est froide ?"
            >>> Tokenizer.train(sentences, kind="bpe", vocabulary_size=25).tokens("L'eau dort.")
            ["▁L'eau", '▁', 'd', 'o', 'r', 't', '.']
        """
        require_one_of(KINDS, kind=kind)
        [vocabulary_size] = require_positive(vocabulary_size=vocabulary_size)
        require_texts(sentences=sentences)
        sentences, normalize_one = list(sentences), normalizer(kind, lowercase).normalize_str
        with _of_unicode(sentences):
            sentences = [normalize_one(sentence) for sentence in sentences]
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
        cut = pre_tokenizer(kind).pre_tokenize_str
        pieces = [cut(sentence) for sentence in sentences]
        counts = Counter(token for sentence in pieces for token, _ in sentence)
        for token in SPECIAL_TOKENS:
            del counts[token]
        ranked = sorted(counts, key=lambda token: (-counts[token], token))
        vocabulary = [*SPECIAL_TOKENS, *ranked[: vocabulary_size - len(SPECIAL_TOKENS)]]
        ids = {token: i for i, token in enumerate(vocabulary)}
        model = models.WordLevel(ids, unk_token="[UNK]")
        return cls(assemble(kind, model, lowercase, *learn_spacing(pieces)))

    @classmethod
    def _train_bpe(cls, sentences, alphabet, vocabulary_size, lowercase):
        learner = tokenizers.Tokenizer(models.BPE(unk_token="[UNK]"))
        learner.pre_tokenizer = pre_tokenizer("bpe")
        trainer = trainers.BpeTrainer(
            vocab_size=vocabulary_size,
            special_tokens=list(SPECIAL_TOKENS),
            initial_alphabet=alphabet,
            show_progress=False,
        )
        learner.train_from_iterator(sentences, trainer)
        # Only its model goes on: the learner itself now takes a "[PAD]" in a text for padding.
        return cls(assemble("bpe", learner.model, lowercase))

    def encode(self, text: str) -> list[int]:
        """Returns the ids of the tokens of one sentence, without special tokens around them."""
        return self.encode_batch([text])[0]

    def encode_batch(self, texts: Iterable[str]) -> list[list[int]]:
        """Returns `encode` of every text, much faster than one at a time.

        Raises:
            ValueError: If `texts` is a string, or one of them is none, or half of a character.
        """
        require_texts(texts=texts)
        texts = list(texts)
        with _of_unicode(texts):
            return [encoding.ids for encoding in self._pipeline.encode_batch_fast(texts)]

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
            ValueError: If an id is no integer, or outside the vocabulary.

        Example:
            >>> from nlp104.data import Tokenizer
            >>> tokenizer = Tokenizer.train(["L'eau dort.", "Que dit-il ?"], kind="word")
            >>> ids = tokenizer.encode("L'eau dort ?")
            >>> tokenizer.decode([2, *ids, 3, 0, 0])  # [START], …, [END], padding
            "L'eau dort ?"
        """
        return self._pipeline.decode(self._known(ids))

    @property
    def vocabulary_size(self) -> int:
        """The number of tokens, special tokens included."""
        return len(self._vocabulary)

    def id_to_token(self, i: int) -> str:
        """Returns the token with id `i`; raises `ValueError` if there is none."""
        [i] = self._known([i])
        return self._vocabulary[i]

    def token_to_id(self, token: str) -> int:
        """Returns the id of `token`, or that of ``[UNK]`` if there is no such token."""
        i = self._pipeline.token_to_id(token)
        return UNKNOWN_ID if i is None else i

    def save(self, path: str | os.PathLike) -> None:
        """Writes the tokenizer to one file of the `tokenizers` library, all of it or nothing."""
        with replacing(path) as temporary:
            temporary.write_text(self.to_str(), encoding="utf-8")

    def to_str(self) -> str:
        """Returns what `save` writes: the JSON of the `tokenizers` library."""
        return self._pipeline.to_str()

    @classmethod
    def load(cls, path: str | os.PathLike) -> "Tokenizer":
        """Reads a tokenizer that `save` wrote; raises `ValueError` if the file holds none."""
        content = read_text(path)
        try:
            return cls(tokenizers.Tokenizer.from_buffer(content))
        except Exception as error:  # the library raises plain Exceptions
            raise InputError(
                f"Expected a tokenizer written by Tokenizer.save in {path}. "
                "Received: a damaged or a different file."
            ) from error

    def _known(self, ids):
        """The ids as Python's integers, all of them in the vocabulary."""
        try:
            ids = [operator.index(i) for i in ids]  # `int` would cut 4.9, and read "4"
        except TypeError:
            raise ValueError(f"Expected integers as ids. Received: {ids!r:.80}.") from None
        last = len(self._vocabulary) - 1
        for i in ids:
            if not 0 <= i <= last:
                raise ValueError(f"Expected a token id from 0 to {last}. Received: {i}.")
        return ids


@contextmanager
def _of_unicode(texts: list[str]) -> Iterator[None]:
    """Says which of the texts the library cannot read."""
    for text in texts:
        if not isinstance(text, str):  # the library would take two for one
            raise ValueError(f"Expected a string for each sentence. Received: {text!r}.")
    try:
        yield
    except (TypeError, UnicodeEncodeError):  # what a terminal makes of bytes that are no UTF-8
        wrong = next(text for text in texts if any("\ud800" <= c <= "\udfff" for c in text))
        raise InputError(f"Expected Unicode text. Received: {wrong!r:.80}.") from None

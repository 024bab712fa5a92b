"""What a model learns from: tokenizers, corpora and their splits, batches, a grammar, images."""

from nlp104.data import grammar
from nlp104.data.batches import Batches
from nlp104.data.corpus import Corpus, load_corpus
from nlp104.data.digits import Digits, load_digits
from nlp104.data.splits import comparable, split
from nlp104.data.tokenizer import (
    END_ID,
    PAD_ID,
    SPECIAL_TOKENS,
    START_ID,
    UNKNOWN_ID,
    Tokenizer,
    normalize,
)

__all__ = [
    "END_ID",
    "PAD_ID",
    "SPECIAL_TOKENS",
    "START_ID",
    "UNKNOWN_ID",
    "Batches",
    "Corpus",
    "Digits",
    "Tokenizer",
    "comparable",
    "grammar",
    "load_corpus",
    "load_digits",
    "normalize",
    "split",
]

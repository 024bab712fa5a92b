"""Text in, text out: translators, trained ones, how good they are, how they are served."""

from nlp104.translation.evaluation import (
    alignment_error_rate,
    attention_alignment,
    bleu,
    exact_match,
)
from nlp104.translation.export import export_page, export_translator
from nlp104.translation.pretrained import load_pretrained
from nlp104.translation.serve import TranslationServer
from nlp104.translation.translator import Translator

__all__ = [
    "TranslationServer",
    "Translator",
    "alignment_error_rate",
    "attention_alignment",
    "bleu",
    "exact_match",
    "export_page",
    "export_translator",
    "load_pretrained",
]

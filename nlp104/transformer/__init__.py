"""The Transformer: its configuration, its blocks, its two stacks and the models made of them.

What is special, the cache of decoding and the padding that is skipped in training, has a module
of its own.
"""

from nlp104.utils.lazy import attach

__all__, __getattr__, __dir__ = attach(
    __name__,
    {
        "config": ["TransformerConfig"],
        "decoder": ["Decoder", "DecoderLayer"],
        "encoder": ["Encoder", "EncoderLayer"],
        "feed_forward": ["FeedForward"],
        "language_model": ["LanguageModel"],
        "model": ["Transformer"],
        "output_head": ["OutputHead"],
        "presets": ["PRESETS"],
        "residual": ["Residual"],
    },
)

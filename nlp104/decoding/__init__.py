"""A source translated, a prompt continued, token by token: greedy, by sampling, by beam search.

The whole loop is one program, compiled from the second call on (not on PyTorch). It keeps the keys
and values of the tokens that it has read and written (the cache), so that each step computes one
position, and ends when the last row has ended. Rows do not depend on each other or on padding.
"""

from nlp104.decoding.beam_search import beam_search
from nlp104.decoding.drafts import NGrams, PromptLookup
from nlp104.decoding.greedy import greedy
from nlp104.decoding.sampling import sample
from nlp104.decoding.speculative import Stride, speculate

__all__ = ["NGrams", "PromptLookup", "Stride", "beam_search", "greedy", "sample", "speculate"]

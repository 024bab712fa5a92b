"""How a query looks at many inputs: masks, versions 0 to 5 of attention, multi-head attention.

Every version answers a query with a weighted mean of values. They differ in where the weights come
from::

    V0  AdditiveAttention          e_i = tanh(q W_q + x_i W_x) · w
    V1  DotProductAttention        e_i = q · x_i
    V2  ScaledDotProductAttention  e_i = q · x_i / √d
    V3  ScaledDotProductAttention  the same for a matrix of queries
    V4  CrossAttention             keys X W_K say where to look, values X W_V what is carried
    V5  SelfAttention              queries X W_Q come from the same X
    V6  MultiHeadAttention         several V5 side by side, joined by W_O

All take an `attention_mask`, ``True`` = attend, and return the weights, too, if
``return_attention_scores=True``.
"""

from nlp104.attention.fused import fused_attention
from nlp104.attention.masks import (
    attention_weights,
    causal_mask,
    combine_masks,
    masked_softmax,
    padding_mask,
)
from nlp104.attention.multi_head import MultiHeadAttention
from nlp104.attention.single_head import (
    AdditiveAttention,
    CrossAttention,
    DotProductAttention,
    ScaledDotProductAttention,
    SelfAttention,
)

__all__ = [
    "AdditiveAttention",
    "CrossAttention",
    "DotProductAttention",
    "MultiHeadAttention",
    "ScaledDotProductAttention",
    "SelfAttention",
    "attention_weights",
    "causal_mask",
    "combine_masks",
    "fused_attention",
    "masked_softmax",
    "padding_mask",
]

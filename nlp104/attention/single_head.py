"""Versions 0 to 5 of attention, from the additive network to self-attention.

They show where `nlp104.attention.MultiHeadAttention` comes from; `nlp104.attention` has them all.
"""

import math

import keras
from keras import ops

from nlp104.attention.masks import masked_softmax


def attention_weights(queries, keys, attention_mask=None):
    """The weights of versions 1 to 6: softmax(Q Kᵀ), the scale being in Q already.

    Args:
        queries: `[..., query, dim]`.
        keys: `[..., key, dim]`.
        attention_mask: booleans that broadcast to `[..., query, key]`.

    Returns:
        `[..., query, key]`.
    """
    return masked_softmax(ops.matmul(queries, ops.swapaxes(keys, -1, -2)), attention_mask)


@keras.saving.register_keras_serializable(package="nlp104")
class AdditiveAttention(keras.layers.Layer):
    """Version 0: a small feed-forward network compares the query with every input.

    e_i = v · tanh(W_q q + W_x x_i),  a = softmax(e),  y = Σ a_i x_i  (Bahdanau et al., 2015,
    appendix A.1.2). Query and inputs may differ in width.

    Args:
        hidden_dim: width of the network, d_e.
        **kwargs: arguments of `keras.layers.Layer`.

    Call arguments:
        query: `[batch, query_dim]`.
        inputs: `[batch, length, dim]`.
        attention_mask: booleans `[batch, length]`, ``True`` = attend.
        return_attention_scores: whether to return the weights, too.

    Returns:
        `[batch, dim]`, and the weights `[batch, length]` if asked for.
    """

    def __init__(self, hidden_dim, **kwargs):
        super().__init__(**kwargs)
        self.hidden_dim = hidden_dim

    def build(self, query_shape, inputs_shape):
        self.query_kernel = self.add_weight((query_shape[-1], self.hidden_dim), name="query_kernel")
        self.inputs_kernel = self.add_weight(
            (inputs_shape[-1], self.hidden_dim), name="inputs_kernel"
        )
        self.score_kernel = self.add_weight((self.hidden_dim, 1), name="score_kernel")

    def call(self, query, inputs, attention_mask=None, return_attention_scores=False):
        query = ops.expand_dims(ops.matmul(query, self.query_kernel), 1)
        hidden = ops.tanh(query + ops.matmul(inputs, self.inputs_kernel))
        scores = ops.squeeze(ops.matmul(hidden, self.score_kernel), -1)  # [batch, length]
        weights = masked_softmax(scores, attention_mask)
        outputs = ops.squeeze(ops.matmul(ops.expand_dims(weights, 1), inputs), 1)
        return (outputs, weights) if return_attention_scores else outputs

    def get_config(self):
        return {**super().get_config(), "hidden_dim": self.hidden_dim}


@keras.saving.register_keras_serializable(package="nlp104")
class DotProductAttention(keras.layers.Layer):
    """Version 1: the dot product compares; there is nothing to learn.

    e_i = q · x_i,  a = softmax(e),  y = Σ a_i x_i  (Luong et al., 2015, section 3.1).

    Call arguments:
        query: one query `[batch, dim]`, or a matrix of them `[batch, query, dim]`.
        inputs: `[batch, length, dim]`.
        attention_mask: booleans `[batch, length]`, or `[batch, query, length]` for a matrix of
            queries; ``True`` = attend.
        return_attention_scores: whether to return the weights, too.

    Returns:
        Outputs shaped like `query`, and the weights, shaped like the mask, if asked for.

    Raises:
        ValueError: if query and inputs differ in width.
    """

    def build(self, query_shape, inputs_shape):
        _require_width(query_shape, inputs_shape[-1])

    def scale(self, dim):
        """The factor for a dot product over `dim` entries."""
        return 1.0

    def call(self, query, inputs, attention_mask=None, return_attention_scores=False):
        if len(query.shape) == 2:  # A matrix of one query.
            mask = None if attention_mask is None else ops.expand_dims(attention_mask, 1)
            outputs, weights = self.call(ops.expand_dims(query, 1), inputs, mask, True)
            outputs, weights = ops.squeeze(outputs, 1), ops.squeeze(weights, 1)
        else:
            queries = query * self.scale(query.shape[-1])
            weights = attention_weights(queries, inputs, attention_mask)  # [batch, query, length]
            outputs = ops.matmul(weights, inputs)  # [batch, query, dim]
        return (outputs, weights) if return_attention_scores else outputs


@keras.saving.register_keras_serializable(package="nlp104")
class ScaledDotProductAttention(DotProductAttention):
    """Version 2, and version 3 for a matrix of queries: the dot product divided by √d.

    e_i = q · x_i / √d  (Vaswani et al., 2017, section 3.2.1). The dot product of two vectors of d
    independent entries of unit variance has the variance d; divided by √d it keeps the softmax out
    of saturation at any width. Called like `DotProductAttention`.
    """

    def scale(self, dim):
        """1/√d."""
        return 1.0 / math.sqrt(dim)


@keras.saving.register_keras_serializable(package="nlp104")
class CrossAttention(keras.layers.Layer):
    """Version 4: keys say where to look, values what is carried.

    K = X W_K,  V = X W_V,  Y = softmax(Q Kᵀ / √d_k) V.

    Args:
        key_dim: width of the keys, d_k, and so of the queries.
        value_dim: width of the values; `key_dim` by default.
        **kwargs: arguments of `keras.layers.Layer`.

    Call arguments:
        query: `[batch, query, key_dim]`.
        inputs: `[batch, length, dim]`.
        attention_mask: booleans that broadcast to `[batch, query, length]`, ``True`` = attend.
        return_attention_scores: whether to return the weights, too.

    Returns:
        `[batch, query, value_dim]`, and the weights `[batch, query, length]` if asked for.

    Raises:
        ValueError: if the queries are not `key_dim` wide.
    """

    def __init__(self, key_dim, value_dim=None, **kwargs):
        super().__init__(**kwargs)
        self.key_dim = key_dim
        self.value_dim = value_dim or key_dim

    def build(self, query_shape, inputs_shape):
        _require_width(query_shape, self.key_dim)
        self.key_kernel = self.add_weight((inputs_shape[-1], self.key_dim), name="key_kernel")
        self.value_kernel = self.add_weight((inputs_shape[-1], self.value_dim), name="value_kernel")

    def call(self, query, inputs, attention_mask=None, return_attention_scores=False):
        keys = ops.matmul(inputs, self.key_kernel)  # [batch, length, key_dim]
        values = ops.matmul(inputs, self.value_kernel)  # [batch, length, value_dim]
        weights = attention_weights(query / math.sqrt(self.key_dim), keys, attention_mask)
        outputs = ops.matmul(weights, values)  # [batch, query, value_dim]
        return (outputs, weights) if return_attention_scores else outputs

    def get_config(self):
        return {**super().get_config(), "key_dim": self.key_dim, "value_dim": self.value_dim}


@keras.saving.register_keras_serializable(package="nlp104")
class SelfAttention(CrossAttention):
    """Version 5: version 4 with queries from the inputs themselves.

    Q = X W_Q,  K = X W_K,  V = X W_V,  Y = softmax(Q Kᵀ / √d_k) V  (Vaswani et al., 2017, eq. 1).
    Takes the arguments of `CrossAttention`.

    Call arguments:
        inputs: `[batch, length, dim]`.
        attention_mask: booleans that broadcast to `[batch, length, length]`, ``True`` = attend.
        return_attention_scores: whether to return the weights, too.

    Returns:
        `[batch, length, value_dim]`, and the weights `[batch, length, length]` if asked for.
    """

    def build(self, inputs_shape):
        self.query_kernel = self.add_weight((inputs_shape[-1], self.key_dim), name="query_kernel")
        super().build((*inputs_shape[:-1], self.key_dim), inputs_shape)

    def call(self, inputs, attention_mask=None, return_attention_scores=False):
        query = ops.matmul(inputs, self.query_kernel)  # [batch, length, key_dim]
        return super().call(query, inputs, attention_mask, return_attention_scores)


def _require_width(query_shape, width):
    if query_shape[-1] != width:
        raise ValueError(
            "A dot product needs a query as wide as what it is compared with. "
            f"Expected a width of {width}. Received: query of shape {tuple(query_shape)}"
        )

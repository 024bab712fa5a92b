"""Versions 0 to 5 of attention, from the additive network to self-attention.

They show where `nlp104.attention.MultiHeadAttention` comes from. As everywhere in the package, keys
and values come from the argument `value`, and a mask is True where a query may look.
"""

import math

import keras
from keras import ops

from nlp104.attention.masks import attention_weights, combine_masks, keys_mask, masked_softmax
from nlp104.utils.arguments import require_positive
from nlp104.utils.specs import TracedSpec


@keras.saving.register_keras_serializable(package="nlp104")
class AdditiveAttention(TracedSpec):
    """Version 0: a small feed-forward network compares the query with every input.

    e_i = tanh(q W_q + x_i W_x) · w,  a = softmax(e),  y = Σ a_i x_i  (Bahdanau et al., 2015,
    appendix A.1.2). Query and inputs may differ in width.

    Args:
        hidden_dim: width of the network, d_e.
        **kwargs: arguments of `keras.layers.Layer`.

    Call arguments:
        query: `[batch, query_dim]`.
        value: the inputs x, `[batch, length, dim]`.
        attention_mask: booleans `[batch, length]`, ``True`` = attend.
        return_attention_scores: whether to return the weights, too.
        value_mask: filled by Keras where `value` carries an implicit mask.

    Returns:
        `[batch, dim]`, and the weights `[batch, length]` if asked for.

    Raises:
        ValueError: if `hidden_dim` is not a positive integer.

    Example:
        >>> from keras import ops
        >>> from nlp104.attention import AdditiveAttention
        >>> query, inputs = ops.ones((1, 3)), ops.ones((1, 4, 2))  # four inputs, all alike
        >>> mask = ops.array([[True, True, False, False]])
        >>> layer = AdditiveAttention(hidden_dim=16)
        >>> output, weights = layer(query, inputs, mask, return_attention_scores=True)
        >>> print(ops.convert_to_numpy(weights).round(2))
        [[0.5 0.5 0. 0. ]]
    """

    def __init__(self, hidden_dim, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True  # here as below: a mask of the queries is one of the outputs
        [self.hidden_dim] = require_positive(hidden_dim=hidden_dim)

    def build(self, query_shape, value_shape):
        self.query_kernel = self.add_weight((query_shape[-1], self.hidden_dim), name="query_kernel")
        self.value_kernel = self.add_weight((value_shape[-1], self.hidden_dim), name="value_kernel")
        self.score_kernel = self.add_weight((self.hidden_dim, 1), name="score_kernel")

    def call(
        self, query, value, attention_mask=None, return_attention_scores=False, value_mask=None
    ):
        query = ops.expand_dims(ops.matmul(query, self.query_kernel), 1)
        hidden = ops.tanh(query + ops.matmul(value, self.value_kernel))
        scores = ops.squeeze(ops.matmul(hidden, self.score_kernel), -1)  # [batch, length]
        weights = masked_softmax(scores, combine_masks(attention_mask, value_mask))
        outputs = ops.squeeze(ops.matmul(ops.expand_dims(weights, 1), value), 1)
        return (outputs, weights) if return_attention_scores else outputs

    def compute_output_shape(self, query_shape, value_shape):
        return (query_shape[0], value_shape[-1])

    def get_config(self):
        return {**super().get_config(), "hidden_dim": self.hidden_dim}


@keras.saving.register_keras_serializable(package="nlp104")
class DotProductAttention(TracedSpec):
    """Version 1: the dot product compares; there is nothing to learn.

    e_i = q · x_i,  a = softmax(e),  y = Σ a_i x_i  (Luong et al., 2015, section 3.1).

    Call arguments:
        query: one query `[batch, dim]`, or a matrix of them `[batch, query, dim]`.
        value: the inputs x, `[batch, length, dim]`.
        attention_mask: booleans `[batch, length]`, or `[batch, query, length]` for a matrix of
            queries; ``True`` = attend.
        return_attention_scores: whether to return the weights, too.
        value_mask: filled by Keras where `value` carries an implicit mask.

    Returns:
        Outputs shaped like `query`, and the weights, shaped like the mask, if asked for.

    Raises:
        ValueError: if query and inputs differ in width.

    Example:
        >>> import math
        >>> from keras import ops
        >>> from nlp104.attention import DotProductAttention
        >>> query, inputs = ops.array([[1.0, 0.0]]), ops.array([[[0.0, 8.0], [math.log(3), 0.0]]])
        >>> output, weights = DotProductAttention()(query, inputs, return_attention_scores=True)
        >>> print(ops.convert_to_numpy(weights).round(2))  # of the scores 0 and log 3
        [[0.25 0.75]]
        >>> print(ops.convert_to_numpy(output).round(2))  # 0.25 · 8 = 2
        [[0.82 2. ]]
    """

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True

    def build(self, query_shape, value_shape):
        _require_width(query_shape, value_shape[-1])

    def scale(self, dim):
        """The factor for a dot product over `dim` entries."""
        return 1.0

    def call(
        self, query, value, attention_mask=None, return_attention_scores=False, value_mask=None
    ):
        is_one_query = len(query.shape) == 2
        if is_one_query:  # a matrix of one query
            query = ops.expand_dims(query, 1)
            if attention_mask is not None and len(attention_mask.shape) == 2:
                attention_mask = keys_mask(attention_mask)
        attention_mask = combine_masks(attention_mask, keys_mask(value_mask))
        # [batch, query, length], and [batch, query, dim]
        weights = attention_weights(query * self.scale(query.shape[-1]), value, attention_mask)
        outputs = ops.matmul(weights, value)
        if is_one_query:
            outputs, weights = ops.squeeze(outputs, 1), ops.squeeze(weights, 1)
        return (outputs, weights) if return_attention_scores else outputs

    def compute_output_shape(self, query_shape, value_shape):
        return query_shape


@keras.saving.register_keras_serializable(package="nlp104")
class ScaledDotProductAttention(DotProductAttention):
    """Version 2, and version 3 for a matrix of queries: the dot product divided by √d.

    e_i = q · x_i / √d  (Vaswani et al., 2017, section 3.2.1). The dot product of two vectors of d
    independent entries of mean 0 and variance 1 has the variance d; divided by √d it keeps the
    softmax out of saturation at any width. Called like `DotProductAttention`.

    Example:
        >>> import math
        >>> from keras import ops
        >>> from nlp104.attention import DotProductAttention, ScaledDotProductAttention
        >>> query = ops.array([[1.0, 0.0, 0.0, 0.0]])
        >>> inputs = ops.array([[[0.0] * 4, [2 * math.log(3), 0.0, 0.0, 0.0]]])
        >>> for layer in (DotProductAttention(), ScaledDotProductAttention()):
        ...     output, weights = layer(query, inputs, return_attention_scores=True)
        ...     print(ops.convert_to_numpy(weights).round(2))
        [[0.1 0.9]]
        [[0.25 0.75]]
    """

    def scale(self, dim):
        """1/√d."""
        return 1.0 / math.sqrt(dim)


@keras.saving.register_keras_serializable(package="nlp104")
class CrossAttention(TracedSpec):
    """Version 4: keys say where to look, values what is carried.

    K = X W_K,  V = X W_V,  Y = softmax(Q Kᵀ / √d_k) V.

    Args:
        key_dim: width of the keys, d_k, and so of the queries.
        value_dim: width of the values; `key_dim` by default.
        **kwargs: arguments of `keras.layers.Layer`.

    Call arguments:
        query: `[batch, query, key_dim]`.
        value: X, from which both keys and values are made, `[batch, length, dim]`.
        attention_mask: booleans that broadcast to `[batch, query, length]`, ``True`` = attend.
        return_attention_scores: whether to return the weights, too.
        value_mask: filled by Keras where `value` carries an implicit mask.

    Returns:
        `[batch, query, value_dim]`, and the weights `[batch, query, length]` if asked for.

    Raises:
        ValueError: if a width is not a positive integer, or the queries are not `key_dim` wide.

    Example:
        >>> from keras import ops
        >>> from nlp104.attention import CrossAttention
        >>> query, inputs = ops.ones((1, 2, 4)), ops.ones((1, 3, 7))  # three inputs, all alike
        >>> layer = CrossAttention(key_dim=4, value_dim=6)
        >>> outputs, weights = layer(query, inputs, return_attention_scores=True)
        >>> print(ops.convert_to_numpy(weights).round(2))
        [[[0.33 0.33 0.33]
          [0.33 0.33 0.33]]]
    """

    def __init__(self, key_dim, value_dim=None, **kwargs):
        super().__init__(**kwargs)
        value_dim = key_dim if value_dim is None else value_dim
        self.key_dim, self.value_dim = require_positive(key_dim=key_dim, value_dim=value_dim)
        self.supports_masking = True
        self.input_spec = keras.InputSpec(ndim=3)  # one query would meet the inputs of all rows

    def build(self, query_shape, value_shape):
        _require_width(query_shape, self.key_dim)
        self._add_keys_and_values(value_shape)

    def _add_keys_and_values(self, value_shape):
        self.key_kernel = self.add_weight((value_shape[-1], self.key_dim), name="key_kernel")
        self.value_kernel = self.add_weight((value_shape[-1], self.value_dim), name="value_kernel")

    def call(
        self, query, value, attention_mask=None, return_attention_scores=False, value_mask=None
    ):
        attention_mask = combine_masks(attention_mask, keys_mask(value_mask))
        keys = ops.matmul(value, self.key_kernel)  # [batch, length, key_dim]
        values = ops.matmul(value, self.value_kernel)  # [batch, length, value_dim]
        weights = attention_weights(query / math.sqrt(self.key_dim), keys, attention_mask)
        outputs = ops.matmul(weights, values)  # [batch, query, value_dim]
        return (outputs, weights) if return_attention_scores else outputs

    def compute_output_shape(self, query_shape, value_shape):
        return (*query_shape[:-1], self.value_dim)

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
        mask: filled by Keras where `inputs` carry an implicit mask: padding is no key for anyone.
        inputs_mask: filled in the place of `mask` where there is an `attention_mask`, too.

    Returns:
        `[batch, length, value_dim]`, and the weights `[batch, length, length]` if asked for.

    Example:
        >>> from keras import ops
        >>> from nlp104.attention import SelfAttention, causal_mask
        >>> inputs = ops.ones((1, 3, 7))  # three tokens, all alike
        >>> layer = SelfAttention(key_dim=4)
        >>> outputs, weights = layer(inputs, causal_mask(3), return_attention_scores=True)
        >>> print(ops.convert_to_numpy(weights).round(2))
        [[[1.   0.   0.  ]
          [0.5  0.5  0.  ]
          [0.33 0.33 0.33]]]
    """

    def build(self, inputs_shape):
        self.query_kernel = self.add_weight((inputs_shape[-1], self.key_dim), name="query_kernel")
        self._add_keys_and_values(inputs_shape)

    def call(
        self,
        inputs,
        attention_mask=None,
        return_attention_scores=False,
        mask=None,
        inputs_mask=None,
    ):
        query = ops.matmul(inputs, self.query_kernel)  # [batch, length, key_dim]
        mask = inputs_mask if mask is None else mask
        return super().call(query, inputs, attention_mask, return_attention_scores, mask)

    def compute_output_shape(self, inputs_shape):
        return (*inputs_shape[:-1], self.value_dim)


def _require_width(query_shape, width):
    if query_shape[-1] != width:
        shape = tuple(query_shape)
        raise ValueError(f"Expected a query with a width of {width}. Received: one of {shape}.")

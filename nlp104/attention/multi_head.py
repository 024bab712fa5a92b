"""Version 6 of attention: several heads side by side, joined by W_O."""

import math

import keras
from keras import ops

from nlp104.attention.fused import fused_attention, has_fused_attention
from nlp104.attention.masks import causal_mask, combine_masks
from nlp104.attention.single_head import attention_weights
from nlp104.utils.arguments import require_not_negative, require_positive


@keras.saving.register_keras_serializable(package="nlp104")
class MultiHeadAttention(keras.layers.Layer):
    """Version 6: several attentions side by side, each with its own projections.

    head_i = softmax(Q W_Qi (K W_Ki)ᵀ / √d_k) V W_Vi,  Y = [head_1; …; head_h] W_O  (Vaswani et al.,
    2017, section 3.2.2).

    The weights are those of `keras.layers.MultiHeadAttention`, in the same order and shapes, and so
    are the results, but for a query that may see nothing: its heads give zeros where Keras' give
    the mean of the values.

    Args:
        num_heads: number of heads, h.
        key_dim: width of the queries and keys of one head, d_k.
        value_dim: width of the values of one head; `key_dim` by default.
        dropout: rate of dropout on the attention weights.
        use_bias: whether the projections have a bias.
        output_shape: width of the output; that of `query` by default.
        seed: seed of the dropout.
        gain: factor on Glorot's limits for the first weights of queries, keys and values.
            `torch.nn.MultiheadAttention` takes ``2 ** -0.5``, `keras.layers.MultiHeadAttention`
            less still.
        **kwargs: arguments of `keras.layers.Layer`.

    Call arguments:
        query: `[batch, query, query_dim]`.
        value: `[batch, length, value_dim]`.
        key: `[batch, length, key_dim]`; `value` by default.
        attention_mask: booleans that broadcast to `[batch, query, length]` or
            `[batch, heads, query, length]`, ``True`` = attend.
        use_causal_mask: whether to hide from every query the positions after its own.
        return_attention_scores: whether to return the weights, too.
        training: whether dropout is active.

    Returns:
        `[batch, query, output_shape]`, and the weights `[batch, heads, query, length]`, as they are
        before dropout, if asked for.

    Raises:
        ValueError: if `num_heads`, `key_dim` or `value_dim` is not a positive integer, or `gain` is
            negative.

    Example:
        >>> layer = MultiHeadAttention(num_heads=2, key_dim=8)
        >>> x = keras.random.normal((4, 10, 16))
        >>> y, scores = layer(x, x, use_causal_mask=True, return_attention_scores=True)
        >>> y.shape, scores.shape
        ((4, 10, 16), (4, 2, 10, 10))
    """

    def __init__(
        self,
        num_heads,
        key_dim,
        value_dim=None,
        dropout=0.0,
        use_bias=True,
        output_shape=None,
        seed=None,
        gain=1.0,
        **kwargs,
    ):
        super().__init__(**kwargs)
        value_dim = key_dim if value_dim is None else value_dim
        require_positive(num_heads=num_heads, key_dim=key_dim, value_dim=value_dim)
        require_not_negative(gain=gain)
        self.num_heads = num_heads
        self.key_dim = key_dim
        self.value_dim = value_dim
        self.dropout = dropout
        self.use_bias = use_bias
        self.output_dim = output_shape
        self.seed = seed
        self.gain = gain
        self.dropout_layer = keras.layers.Dropout(dropout, seed=seed, dtype=self.dtype_policy)
        # The one operation knows no dropout, and on JAX one width for keys and values.
        self.fused = dropout == 0 and value_dim == key_dim and has_fused_attention()

    def build(self, query_shape, value_shape, key_shape=None):
        key_shape = key_shape or value_shape
        output_dim = self.output_dim or query_shape[-1]
        keys, values = (self.num_heads, self.key_dim), (self.num_heads, self.value_dim)
        add, gain = self._add_projection, self.gain
        self.query_kernel, self.query_bias = add("query", query_shape[-1:], keys, gain)
        self.key_kernel, self.key_bias = add("key", key_shape[-1:], keys, gain)
        self.value_kernel, self.value_bias = add("value", value_shape[-1:], values, gain)
        self.output_kernel, self.output_bias = add("output", values, (output_dim,))

    def _add_projection(self, name, input_shape, output_shape, gain=1.0):
        """Adds a kernel from some axes to others, and its bias."""
        # Glorot's limits for the matrix that the kernel is. Left to itself the initialiser would
        # take [dim, heads, head_dim] for a convolution, with limits several times smaller.
        glorot = keras.initializers.GlorotUniform()
        matrix_shape = (math.prod(input_shape), math.prod(output_shape))
        kernel = self.add_weight(
            (*input_shape, *output_shape),
            initializer=lambda shape, dtype: ops.reshape(gain * glorot(matrix_shape, dtype), shape),
            name=f"{name}_kernel",
        )
        bias = None
        if self.use_bias:
            bias = self.add_weight(output_shape, initializer="zeros", name=f"{name}_bias")
        return kernel, bias

    def call(
        self,
        query,
        value,
        key=None,
        attention_mask=None,
        use_causal_mask=False,
        return_attention_scores=False,
        training=None,
    ):
        if use_causal_mask:
            causal = causal_mask(ops.shape(query)[1], ops.shape(value)[1])
            attention_mask = combine_masks(attention_mask, causal)
        keys, values = self.project_keys_values(value, key)
        return self.attend(query, keys, values, attention_mask, return_attention_scores, training)

    def matrices(self):
        """The projections as matrices, which whoever calls the two halves often makes once.

        That saves more than reshaping: XLA, on a CPU, makes a plain loop of the product of one
        vector with a matrix that is still to be reshaped.

        Returns:
            By the names "query", "key", "value" and "output" a pair in the layer's precision. First
            the matrix `[dim, heads * head_dim]`, for "output" `[heads * value_dim, output_dim]`;
            then the bias as a vector, or None.
        """
        return {name: self._matrix(name) for name in ("query", "key", "value", "output")}

    def project_keys_values(self, value, key=None, matrices=None):
        """First half of a call: the keys and values, which a decoder computes once and keeps.

        Args:
            value: `[batch, length, value_dim]`.
            key: `[batch, length, key_dim]`; `value` by default.
            matrices: from `matrices`; by default they are made for this call.

        Returns:
            Keys and values, each `[batch, heads, length, head_dim]`.
        """
        key = value if key is None else key
        keys = self._split_heads(self._project("key", key, matrices))
        values = self._split_heads(self._project("value", value, matrices))
        return keys, values

    def attend(
        self,
        query,
        keys,
        values,
        attention_mask=None,
        return_attention_scores=False,
        training=None,
        matrices=None,
    ):
        """Second half of a call: looks at projected keys and values.

        Takes and returns what a call does, but for the keys and values `[batch, heads, length,
        head_dim]` from `project_keys_values`, and the `matrices` of this layer.
        """
        queries = self._split_heads(self._project("query", query, matrices))
        if attention_mask is not None and len(attention_mask.shape) == 3:
            attention_mask = ops.expand_dims(attention_mask, 1)  # [batch, 1, query, length]
        queries = queries / math.sqrt(self.key_dim)
        if self.fused and not return_attention_scores:
            outputs = fused_attention(queries, keys, values, attention_mask)
        else:
            scores = attention_weights(queries, keys, attention_mask)
            outputs = ops.matmul(self.dropout_layer(scores, training=training), values)
        outputs = self._project("output", self._join_heads(outputs), matrices)
        return (outputs, scores) if return_attention_scores else outputs

    def _matrix(self, name):
        # Casts for callers of the two halves, who are outside of Keras' autocasting.
        kernel = ops.cast(getattr(self, f"{name}_kernel"), self.compute_dtype)
        inputs = kernel.shape[:-1] if name == "output" else kernel.shape[:1]
        matrix = ops.reshape(kernel, (math.prod(inputs), -1))
        bias = getattr(self, f"{name}_bias")
        if bias is not None:
            bias = ops.reshape(ops.cast(bias, self.compute_dtype), (-1,))
        return matrix, bias

    def _project(self, name, x, matrices):
        """`[batch, length, dim]` to `[batch, length, heads * head_dim]`, in one product."""
        matrix, bias = matrices[name] if matrices else self._matrix(name)
        x = ops.matmul(ops.cast(x, self.compute_dtype), matrix)
        return x if bias is None else x + bias

    def _split_heads(self, x):
        """`[batch, length, heads * head_dim]` to `[batch, heads, length, head_dim]`."""
        head_dim = x.shape[-1] // self.num_heads
        x = ops.reshape(x, (-1, ops.shape(x)[1], self.num_heads, head_dim))
        return ops.transpose(x, (0, 2, 1, 3))

    def _join_heads(self, x):
        """`[batch, heads, length, head_dim]` to `[batch, length, heads * head_dim]`."""
        x = ops.transpose(x, (0, 2, 1, 3))
        return ops.reshape(x, (-1, ops.shape(x)[1], self.num_heads * self.value_dim))

    def get_config(self):
        return {
            **super().get_config(),
            "num_heads": self.num_heads,
            "key_dim": self.key_dim,
            "value_dim": self.value_dim,
            "dropout": self.dropout,
            "use_bias": self.use_bias,
            "output_shape": self.output_dim,
            "seed": self.seed,
            "gain": self.gain,
        }

"""Version 6 of attention: several heads side by side, joined by W_O."""

import math

import keras
from keras import ops

from nlp104.attention.fused import fused_attention, has_fused_attention
from nlp104.attention.lora import LowRankUpdates
from nlp104.attention.masks import attention_weights, causal_mask, combine_masks, keys_mask
from nlp104.attention.projections import Projections, as_projection, join_heads, split_heads
from nlp104.encoding.positions import rotate
from nlp104.utils.arguments import require_positive, require_rate, require_switch
from nlp104.utils.initializers import copy_of
from nlp104.utils.specs import TracedSpec

# Glorot's limits for the three matrices that queries, keys and values would be as one: those for
# one matrix, divided by √2. PyTorch and fairseq begin so, too. Post-norm does not train without it.
SMALL_START = {
    "class_name": "VarianceScaling",
    "config": {"scale": 0.5, "mode": "fan_avg", "distribution": "uniform"},
}


@keras.saving.register_keras_serializable(package="nlp104")
class MultiHeadAttention(LowRankUpdates, TracedSpec):
    """Version 6: several attentions side by side, each with its own projections.

    head_i = softmax(Q W_Qi (K W_Ki)ᵀ / √d_k) V W_Vi,  Y = [head_1; …; head_h] W_O  (Vaswani et al.,
    2017, section 3.2.2).

    The weights are those of `keras.layers.MultiHeadAttention`, in the same order and shapes, and so
    are the results, but for a query that may see nothing: its heads always give zeros, where Keras'
    give the mean of the values on the fused path.

    Args:
        num_heads: number of heads, h.
        key_dim: width of the queries and keys of one head, d_k.
        value_dim: width of the values of one head; `key_dim` by default.
        dropout: rate of dropout on the attention weights.
        use_bias: whether the projections have a bias.
        output_shape: width of the output; that of `query` by default.
        rotary: whether to turn queries and keys by their positions, see
            `nlp104.encoding.rotate`; for self-attention.
        num_key_value_heads: number of heads of keys and values, of which each serves
            num_heads / num_key_value_heads heads of queries, side by side (grouped-query attention,
            Ainslie et al., 2023); `num_heads` by default. The weights then are those of
            `keras.layers.GroupQueryAttention`. Decoding keeps fewer keys and values.
        window: how many positions a query sees where `use_causal_mask`, see `causal_mask`.
        lora_rank: rank of updates to add when the layer is built, see `enable_lora`.
        kernel_initializer: of the matrices of queries, keys and values, each drawn as one matrix
            for all heads. By default uniform within Glorot's limits divided by √2.
        output_initializer: of the matrix W_O.
        bias_initializer: of all biases.
        seed: seed of the dropout.
        **kwargs: arguments of `keras.layers.Layer`.

    Call arguments:
        query: `[batch, query, dim]`; the last axes of all three may differ.
        value: `[batch, length, dim]`.
        key: `[batch, length, dim]`; `value` by default.
        attention_mask: booleans that broadcast to `[batch, query, length]` or
            `[batch, heads, query, length]`, ``True`` = attend.
        use_causal_mask: whether to hide from every query the positions after its own.
        return_attention_scores: whether to return the weights, too.
        training: whether dropout is active.
        value_mask: booleans `[batch, length]`, combined with the others: filled by Keras where
            `value` carries an implicit mask.
        key_mask: the same of `key`, where it is given.

    Returns:
        `[batch, query, output_shape]`, and the weights `[batch, heads, query, length]`, as they are
        before dropout, if asked for.

    Raises:
        ValueError: if a number of heads or positions or a width is not a positive integer, if
            `num_heads` is not divisible by `num_key_value_heads`, or `key_dim` by 2 if `rotary`, if
            `dropout` is not from 0 to 1, or a switch neither True nor False.

    Example:
        >>> import keras
        >>> from keras import ops
        >>> from nlp104.attention import MultiHeadAttention
        >>> layer = MultiHeadAttention(num_heads=2, key_dim=8)
        >>> x = keras.random.normal((1, 3, 16), seed=104)
        >>> y, weights = layer(x, x, use_causal_mask=True, return_attention_scores=True)
        >>> tuple(y.shape), tuple(weights.shape)  # a matrix of weights for each head
        ((1, 3, 16), (1, 2, 3, 3))
        >>> print(ops.convert_to_numpy(ops.sum(weights, axis=-1)).round(2))
        [[[1. 1. 1.]
          [1. 1. 1.]]]
        >>> layer.count_params()  # W_Q, W_K, W_V and W_O: 4 · (16 · 16 + 16)
        1088
    """

    def __init__(
        self,
        num_heads,
        key_dim,
        value_dim=None,
        dropout=0.0,
        use_bias=True,
        output_shape=None,
        rotary=False,
        kernel_initializer=SMALL_START,
        output_initializer="glorot_uniform",
        bias_initializer="zeros",
        seed=None,
        num_key_value_heads=None,
        window=None,
        lora_rank=None,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.num_heads, self.key_dim, self.value_dim, self.num_key_value_heads = require_positive(
            num_heads=num_heads,
            key_dim=key_dim,
            value_dim=key_dim if value_dim is None else value_dim,
            num_key_value_heads=num_heads if num_key_value_heads is None else num_key_value_heads,
        )
        if self.num_heads % self.num_key_value_heads:
            raise ValueError(
                "`num_heads` must be divisible by `num_key_value_heads`. Received: "
                f"num_heads={num_heads}, num_key_value_heads={num_key_value_heads}."
            )
        if rotary and self.key_dim % 2:
            raise ValueError(f"`key_dim` must be even if `rotary`. Received: {key_dim}.")
        self.output_dim, self.window = output_shape, window
        if output_shape is not None:
            [self.output_dim] = require_positive(output_shape=output_shape)
        if window is not None:
            [self.window] = require_positive(window=window)
        require_switch(use_bias=use_bias, rotary=rotary)
        self.use_bias, self.rotary = use_bias, rotary
        [self.dropout] = require_rate(dropout=dropout)
        self.kernel_initializer = keras.initializers.get(kernel_initializer)
        self.output_initializer = keras.initializers.get(output_initializer)
        self.bias_initializer = keras.initializers.get(bias_initializer)
        if lora_rank is not None:
            [lora_rank] = require_positive(lora_rank=lora_rank)
        self.seed, self.lora_rank = seed, lora_rank
        self.supports_masking = True  # a mask of the queries stays one of the outputs
        self.input_spec = keras.InputSpec(ndim=3)
        self.dropout_layer = keras.layers.Dropout(dropout, seed=seed, dtype=self.dtype_policy)
        # The one operation knows no dropout, and on JAX one width for keys and values.
        self.fused = dropout == 0 and self.value_dim == key_dim and has_fused_attention()

    def build(self, query_shape, value_shape, key_shape=None):
        key_shape = key_shape or value_shape
        output_dim = self.output_dim or query_shape[-1]
        heads, shared = self.num_heads, self.num_key_value_heads
        queries, keys, values = (
            (heads, self.key_dim),
            (shared, self.key_dim),
            (shared, self.value_dim),
        )
        add, initializer = self._add_projection, self.kernel_initializer
        self.query_kernel, self.query_bias = add("query", query_shape[-1:], queries, initializer)
        self.key_kernel, self.key_bias = add("key", key_shape[-1:], keys, initializer)
        self.value_kernel, self.value_bias = add("value", value_shape[-1:], values, initializer)
        self.output_kernel, self.output_bias = add(
            "output", (heads, self.value_dim), (output_dim,), self.output_initializer
        )
        self.built = True
        if self.lora_rank is not None:
            self.enable_lora(self.lora_rank)

    def _add_projection(self, name, input_shape, output_shape, initializer):
        """Adds a kernel from some axes to others, and its bias."""
        # Left to itself the initialiser would take [dim, heads, head_dim] for a convolution, with
        # limits several times smaller.
        matrix_shape = (math.prod(input_shape), math.prod(output_shape))
        initializer = copy_of(initializer)  # which otherwise draws the same numbers again
        kernel = self.add_weight(
            (*input_shape, *output_shape),
            initializer=lambda shape, dtype: ops.reshape(initializer(matrix_shape, dtype), shape),
            name=f"{name}_kernel",
        )
        bias = None
        if self.use_bias:
            bias = self.add_weight(
                output_shape, initializer=copy_of(self.bias_initializer), name=f"{name}_bias"
            )
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
        value_mask=None,
        key_mask=None,
    ):
        attention_mask = combine_masks(attention_mask, keys_mask(value_mask), keys_mask(key_mask))
        outputs, scores = self.look(
            query, value, key, attention_mask, use_causal_mask, return_attention_scores
        )
        return (outputs, scores) if return_attention_scores else outputs

    def look(
        self,
        query,
        value,
        key=None,
        attention_mask=None,
        use_causal_mask=False,
        return_attention_scores=False,
    ):
        """A call that always returns a pair, as the blocks want it.

        Returns:
            The outputs and the weights, which are None where they were not asked for.
        """
        if use_causal_mask:
            causal = causal_mask(ops.shape(query)[1], ops.shape(value)[1], window=self.window)
            attention_mask = combine_masks(attention_mask, causal)
        projections = self.projections()
        keys, values = self.project_keys_values(projections, value, key)
        return self.attend(
            projections, query, keys, values, attention_mask, return_attention_scores
        )

    # The two halves of a look, for the decoder, which keeps the keys and values between them.

    def projections(self):
        """The weights as matrices, `nlp104.attention.projections.Projections`."""

        def matrix(name, num_inputs=1):
            kernel, bias = self.merged_kernel(name), getattr(self, f"{name}_bias")
            return as_projection(kernel, bias, num_inputs, self.compute_dtype)

        return Projections(matrix("query"), matrix("key"), matrix("value"), matrix("output", 2))

    def project_keys_values(self, projections, value, key=None, positions=None):
        """First half of a look: keys and values, `[batch, key/value heads, length, head_dim]`.

        `positions` are those of the keys, 0, 1, … by default; only ``rotary=True`` asks for them.
        """
        heads = self.num_key_value_heads
        keys = split_heads(projections.key(value if key is None else key), heads)
        values = split_heads(projections.value(value), heads)
        return self._rotate(keys, positions), values

    def attend(
        self,
        projections,
        query,
        keys,
        values,
        attention_mask=None,
        return_attention_scores=False,
        positions=None,
    ):
        """Second half of a look, at projected keys and values."""
        queries = split_heads(projections.query(query), self.num_heads)
        queries = self._rotate(queries, positions) / math.sqrt(self.key_dim)
        if (group := self.num_heads // self.num_key_value_heads) > 1:
            keys, values = (ops.repeat(x, group, axis=1) for x in (keys, values))
        if attention_mask is not None and len(attention_mask.shape) == 3:
            attention_mask = ops.expand_dims(attention_mask, 1)  # [batch, 1, query, length]
        if self.fused and not return_attention_scores:
            scores = None
            outputs = fused_attention(queries, keys, values, attention_mask)
        else:
            scores = attention_weights(queries, keys, attention_mask)
            outputs = ops.matmul(self.dropout_layer(scores), values)
        outputs = projections.output(join_heads(outputs))
        return outputs, scores if return_attention_scores else None

    def _rotate(self, x, positions):
        if self.rotary and positions is None:
            positions = ops.arange(ops.shape(x)[2], dtype="int32")
        return rotate(x, positions) if self.rotary else x

    def compute_output_shape(self, query_shape, value_shape, key_shape=None):
        return (*query_shape[:-1], self.output_dim or query_shape[-1])

    def get_config(self):
        serialize = keras.initializers.serialize
        return {
            **super().get_config(),
            "num_heads": self.num_heads,
            "key_dim": self.key_dim,
            "value_dim": self.value_dim,
            "dropout": self.dropout,
            "use_bias": self.use_bias,
            "output_shape": self.output_dim,
            "rotary": self.rotary,
            "kernel_initializer": serialize(self.kernel_initializer),
            "output_initializer": serialize(self.output_initializer),
            "bias_initializer": serialize(self.bias_initializer),
            "seed": self.seed,
            "num_key_value_heads": self.num_key_value_heads,
            "window": self.window,
            "lora_rank": self.lora_rank,
        }

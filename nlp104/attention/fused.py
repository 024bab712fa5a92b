"""The weighted mean of the values in one operation, where a device has one."""

import keras
from keras import ops


def fused_attention(query, key, value, attention_mask=None):
    """The weighted mean of the values, without ever holding the weights where the device can.

    On a GPU that saves memory that grows with the square of the length (Dao et al., 2022), and
    time. On JAX it is cuDNN that does, in half precision and, with a mask, for even lengths;
    elsewhere XLA writes the weights down.

    Args:
        query: `[batch, heads, query, key_dim]`, scaled.
        key: `[batch, heads, length, key_dim]`.
        value: `[batch, heads, length, key_dim]`.
        attention_mask: booleans that broadcast to `[batch, heads, query, length]`.

    Returns:
        `[batch, heads, query, key_dim]`, as from `attention_weights` times the values; zeros for
        a query that may see nothing.

    Example:
        >>> from keras import ops
        >>> from nlp104.attention import fused_attention
        >>> query = ops.zeros((1, 1, 1, 2))  # finds both keys equally good
        >>> value = ops.array([[[[1.0, 0.0], [3.0, 4.0]]]])
        >>> print(ops.convert_to_numpy(fused_attention(query, value, value)))
        [[[[2. 2.]]]]
    """

    def heads_last(x):
        return ops.transpose(x, (0, 2, 1, 3))

    mask, options = attention_mask, {}
    if mask is not None:
        mask = ops.reshape(mask, (1,) * (4 - len(mask.shape)) + tuple(ops.shape(mask)))
    if keras.backend.backend() == "jax":
        # cuDNN, which Keras chooses in half precision, wants known shapes and a row of the mask for
        # every query, and with a mask has no gradient where a length is odd. Keras finds out too
        # late: it logs or raises.
        lengths = query.shape[2], key.shape[2]
        known = all(isinstance(size, int) for size in (*query.shape, *key.shape))
        if not known or (mask is not None and any(length % 2 for length in lengths)):
            options = {"flash_attention": False}
        elif mask is not None:
            mask = ops.broadcast_to(mask, (*ops.shape(mask)[:2], *lengths))
    outputs = ops.dot_product_attention(
        *map(heads_last, (query, key, value)), mask=mask, scale=1.0, **options
    )
    outputs = heads_last(outputs)
    if mask is not None:  # left to itself, the operation gives the mean of all values here
        outputs = outputs * ops.cast(ops.any(mask, axis=-1, keepdims=True), outputs.dtype)
    return outputs


def has_fused_attention():
    """Whether weights and weighted mean are one operation here: PyTorch, and JAX on a GPU."""
    if keras.backend.backend() == "jax":
        return not keras.distribution.list_devices()[0].startswith(("cpu", "tpu"))
    return keras.backend.backend() == "torch"

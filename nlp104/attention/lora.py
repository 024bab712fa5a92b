"""LoRA: a trained matrix stays as it is, and a product of two thin ones is learned beside it."""

import math

import keras
from keras import ops

from nlp104.utils.arguments import require_positive

MATRICES = ("query", "key", "value", "output")


class LowRankUpdates(keras.layers.Layer):
    """Four matrices, W_Q, W_K, W_V and W_O, to which updates of a low rank can be added.

    W + A B, where A is `[inputs, rank]` and B `[rank, outputs]` (Hu et al., 2021). B starts at
    zero, so that nothing changes before it is trained. The scale that the paper has besides is 1,
    as Keras' is by default.

    Example:
        >>> import numpy as np
        >>> from nlp104.attention import MultiHeadAttention  # is made from this
        >>> layer = MultiHeadAttention(num_heads=1, key_dim=2, kernel_initializer="zeros")
        >>> layer.build((None, None, 2), (None, None, 2))
        >>> layer.enable_lora(rank=1)
        >>> _ = layer.query_lora_a.assign([[1], [2]])
        >>> _ = layer.query_lora_b.assign([[3, 4]])
        >>> print(np.array(layer.merged_kernel("query"))[:, 0])
        [[3. 4.]
         [6. 8.]]
    """

    lora_rank = None
    lora_enabled = False

    def enable_lora(self, rank):
        """Freezes the weights, and adds to each matrix an update that learns.

        As `keras.layers.Dense.enable_lora` does, under the same name and in place.

        Args:
            rank: columns of A and rows of B.

        Raises:
            ValueError: if `rank` is not a positive integer, or the layer is not built, or has such
                updates.

        Example:
            >>> import keras
            >>> from nlp104.attention import MultiHeadAttention
            >>> layer = MultiHeadAttention(num_heads=2, key_dim=8)
            >>> x = keras.random.normal((1, 3, 16), seed=104)
            >>> before = layer(x, x)
            >>> layer.enable_lora(rank=1)
            >>> [tuple(variable.shape) for variable in layer.trainable_weights[:2]]
            [(16, 1), (1, 16)]
            >>> len(layer.trainable_weights)  # an A and a B for each of W_Q, W_K, W_V and W_O
            8
            >>> bool(keras.ops.all(layer(x, x) == before))
            True
        """
        [rank] = require_positive(rank=rank)
        if not self.built:
            raise ValueError("Expected a layer that is built. Received: one that is not yet.")
        if self.lora_enabled:
            raise ValueError(
                f"Expected a layer without LoRA. Received: lora_rank={self.lora_rank}."
            )
        for variable in self.weights:
            variable.trainable = False
        self._tracker.unlock()  # as Keras does it: a built layer takes no new weights
        for name in MATRICES:
            inputs, outputs = self._sizes(name)
            for end, shape, initializer in (
                ("a", (inputs, rank), "he_uniform"),
                ("b", (rank, outputs), "zeros"),
            ):
                weight = self.add_weight(shape, initializer, "float32", name=f"{name}_lora_{end}")
                setattr(self, f"{name}_lora_{end}", weight)
        self._tracker.lock()
        self.lora_rank, self.lora_enabled = rank, True

    def merged_kernel(self, name):
        """A kernel as it acts, of the kernel's own shape: with its update, where it has one."""
        kernel = getattr(self, f"{name}_kernel")
        if not self.lora_enabled:
            return kernel
        a, b = (getattr(self, f"{name}_lora_{end}") for end in "ab")
        return kernel + ops.reshape(ops.matmul(a, b), kernel.shape)

    def load_own_variables(self, store):
        # A block's configuration knows of no rank: where the file holds updates, it says which.
        if not self.lora_enabled and len(store.keys()) == len(self.weights) + 2 * len(MATRICES):
            self.enable_lora(rank=store[str(len(self.weights))].shape[-1])
        super().load_own_variables(store)

    def _sizes(self, name):
        """Rows and columns of a kernel as a matrix."""
        shape = getattr(self, f"{name}_kernel").shape
        num_inputs = 2 if name == "output" else 1
        return math.prod(shape[:num_inputs]), math.prod(shape[num_inputs:])

"""From vectors to logits: the last product of the model."""

import keras
from keras import ops

from nlp104.utils.arguments import require_positive, require_switch
from nlp104.utils.specs import TracedSpec


@keras.saving.register_keras_serializable(package="nlp104")
class OutputHead(TracedSpec):
    """Scores every token of the vocabulary: x W + b, in float32.

    Args:
        vocabulary_size: number of tokens.
        tied: whether W is given in every call instead of learned here: the paper takes the matrix
            of the embeddings (Vaswani et al., 2017, section 3.4).
        **kwargs: arguments of `keras.layers.Layer`.

    Call arguments:
        inputs: `[batch, length, dim]`, or `[tokens, dim]`.
        kernel: `[dim, vocabulary_size]`, if `tied`.

    Returns:
        Logits `[batch, length, vocabulary_size]`, or `[tokens, vocabulary_size]`; float32 under
        mixed precision, too.

    Raises:
        ValueError: if `vocabulary_size` is not a positive integer, or there is no `kernel` though
            `tied`, or one though not.

    Example:
        >>> from keras import ops
        >>> from nlp104.transformer import OutputHead
        >>> head = OutputHead(vocabulary_size=3, tied=True)
        >>> kernel = ops.array([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]])
        >>> print(ops.convert_to_numpy(head(ops.array([[1.0, 2.0]]), kernel)))  # b is still 0
        [[1. 2. 3.]]
    """

    def __init__(self, vocabulary_size, tied=False, **kwargs):
        super().__init__(**kwargs)
        [self.vocabulary_size] = require_positive(vocabulary_size=vocabulary_size)
        require_switch(tied=tied)
        self.tied = tied
        self.supports_masking = True

    def build(self, inputs_shape):
        if not self.tied:
            self.kernel = self.add_weight(
                (inputs_shape[-1], self.vocabulary_size), name="output_kernel"
            )
        self.bias = self.add_weight(
            (self.vocabulary_size,),
            initializer="zeros",
            name="output_bias",
            autocast=False,  # added to float32 logits
        )

    def call(self, inputs, kernel=None):
        if (kernel is not None) != self.tied:
            raise ValueError(
                "Expected a `kernel` if `tied`, and only then. "
                f"Received: tied={self.tied}, kernel={kernel}."
            )
        kernel = ops.cast(kernel if self.tied else self.kernel, inputs.dtype)
        return ops.cast(ops.matmul(inputs, kernel), "float32") + ops.cast(self.bias, "float32")

    def compute_output_shape(self, inputs_shape):
        return (*inputs_shape[:-1], self.vocabulary_size)

    def load_own_variables(self, store):
        # Files from before this was a layer hold the variables with the model, which has read them.
        if store.keys():
            super().load_own_variables(store)

    def get_config(self):
        return {
            **super().get_config(),
            "vocabulary_size": self.vocabulary_size,
            "tied": self.tied,
        }

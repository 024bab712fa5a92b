"""Adam as in the paper, and a model compiled with it."""

import keras

from nlp104.training.loss import MaskedCrossentropy
from nlp104.training.metrics import MaskedAccuracy
from nlp104.transformer.skip_padding import SkipsPadding


def adam(learning_rate):
    """Adam as in Vaswani et al. (2017), section 5.3: β₁ = 0.9, β₂ = 0.98, ε = 1e-9.

    Args:
        learning_rate: A number or a schedule such as `WarmupSchedule`.

    Example:
        >>> from nlp104.training import adam
        >>> optimizer = adam(learning_rate=1e-3)
        >>> optimizer.beta_1, optimizer.beta_2, optimizer.epsilon
        (0.9, 0.98, 1e-09)
    """
    return keras.optimizers.Adam(learning_rate, beta_1=0.9, beta_2=0.98, epsilon=1e-9)


def compile_model(model, learning_rate, label_smoothing=0.1, jit_compile="auto", loss=None):
    """Compiles a model with the loss, the optimizer and the accuracy of this room.

    All of them give padding no weight, so a `nlp104.Transformer` is told to skip it, see
    `nlp104.transformer.skip_padding`.

    Args:
        model: A `keras.Model` that returns logits `[batch, length, vocabulary]`.
        learning_rate: A number or a schedule such as `WarmupSchedule`.
        label_smoothing: As of `MaskedCrossentropy`; nothing to another loss.
        jit_compile: As of `keras.Model.compile`.
        loss: Another loss than `MaskedCrossentropy`, which must give padding (label 0) no weight,
            too: where it is not skipped, as on JAX and with XLA, the loss sees it.

    Raises:
        ValueError: If the weights are in float16, where Adam's ε is zero: 0 / 0.

    Example:
        >>> from nlp104 import Transformer
        >>> from nlp104.data import Batches
        >>> from nlp104.training import WarmupSchedule, compile_model
        >>> from nlp104.transformer import TransformerConfig
        >>> model = Transformer(TransformerConfig(8, 32, 2, num_layers=1, vocabulary_size=10))
        >>> compile_model(model, WarmupSchedule(peak=1e-3, warmup_steps=100))
        >>> batches = Batches([[4, 5], [6]], [[7], [8, 9]])
        >>> loss, accuracy = model.evaluate(batches, verbose=0)
        >>> batches.num_tokens, round(5 * accuracy, 4) in range(6)  # of five labels so many
        (5, True)
    """
    if model.dtype_policy.variable_dtype == "float16":
        raise ValueError(
            "Expected weights in float32, as of 'mixed_float16': in float16 Adam's ε of 1e-9 is 0, "
            f"and it would divide by it. Received: dtype={model.dtype_policy.name!r}."
        )
    model.compile(
        optimizer=adam(learning_rate),
        loss=MaskedCrossentropy(label_smoothing) if loss is None else loss,
        # Keras hands no `sample_weight` to what stands in `metrics`: the accuracy would not weigh
        # tokens as the loss beside it does.
        weighted_metrics=[MaskedAccuracy()],
        jit_compile=jit_compile,
    )
    if isinstance(model, SkipsPadding):
        model.skip_padding = True

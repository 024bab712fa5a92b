"""Adam as in the paper, and a model compiled with it."""

import keras

from nlp104.training.loss import MaskedCrossentropy
from nlp104.training.metrics import MaskedAccuracy, TokenLoss


def adam(learning_rate):
    """Adam as in Vaswani et al. (2017), section 5.3: β₁ = 0.9, β₂ = 0.98, ε = 1e-9.

    Args:
        learning_rate: A number or a schedule such as `WarmupSchedule`.
    """
    return keras.optimizers.Adam(learning_rate, beta_1=0.9, beta_2=0.98, epsilon=1e-9)


def compile_model(model, learning_rate, label_smoothing=0.1, jit_compile="auto"):
    """Compile a model with the loss, the optimizer and the per-token metrics of this module.

    Args:
        model: A `keras.Model` that returns logits `[batch, length, vocabulary]`.
        learning_rate: A number or a schedule such as `WarmupSchedule`.
        label_smoothing: As of `MaskedCrossentropy`.
        jit_compile: As of `keras.Model.compile`.
    """
    loss = MaskedCrossentropy(label_smoothing)
    loss.skips_padding = True  # and so do the metrics, see `nlp104.transformer.skip_padding`
    model.compile(
        optimizer=adam(learning_rate),
        loss=loss,
        metrics=[TokenLoss(label_smoothing), MaskedAccuracy()],
        jit_compile=jit_compile,
    )

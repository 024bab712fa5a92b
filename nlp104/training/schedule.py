"""How fast training walks: a learning rate that rises and then falls."""

import math

import keras
from keras import ops

from nlp104.utils.arguments import require_number, require_positive
from nlp104.utils.errors import InputError


@keras.saving.register_keras_serializable(package="nlp104")
class WarmupSchedule(keras.optimizers.schedules.LearningRateSchedule):
    r"""Learning rate that rises linearly to a peak and then falls.

    With $s$ counting the steps from 1 and $w$ = `warmup_steps`, it falls with the inverse square
    root:

    $$\mathrm{peak} \cdot \min\left(\frac{s}{w}, \sqrt{\frac{w}{s}}\right)$$

    This is equation 3 of Vaswani et al. (2017), $d^{-1/2} \min(s^{-1/2}, s\,w^{-3/2})$, with the
    learning rate that it reaches at step $w$ named instead of implied: see `from_hidden_dim`.

    When the number of steps $S$ = `total_steps` is known, it can fall in a straight line instead,
    as in Devlin et al. (2019), to 0 right after the last step:

    $$\mathrm{peak} \cdot \min\left(\frac{s}{w}, \frac{S + 1 - s}{S + 1 - w}\right)$$

    Args:
        peak: The highest learning rate, reached at step `warmup_steps`.
        warmup_steps: Number of steps on the way up.
        total_steps: Number of steps in all, for the fall in a straight line. `None`: the fall is
            that of the inverse square root, which has no end.

    Raises:
        ValueError: If `peak` or `warmup_steps` is not positive, or `total_steps` is less than
            `warmup_steps`.

    Example:
        >>> from nlp104.training import WarmupSchedule
        >>> schedule = WarmupSchedule(peak=1e-3, warmup_steps=100)
        >>> [round(float(schedule(step - 1)), 6) for step in (1, 50, 100, 400)]
        [1e-05, 0.0005, 0.001, 0.0005]
        >>> paper = WarmupSchedule.from_hidden_dim(512)
        >>> round(paper.peak, 6), paper.warmup_steps
        (0.000699, 4000)
    """

    def __init__(self, peak, warmup_steps=4000, total_steps=None):
        require_number("peak", peak, lambda rate: 0 < rate < math.inf, "a number above 0")
        [warmup_steps] = require_positive(warmup_steps=_whole(warmup_steps))
        if total_steps is not None:
            [total_steps] = require_positive(total_steps=_whole(total_steps))
        if total_steps is not None and total_steps < warmup_steps:
            raise InputError(
                "Expected a warm-up no longer than the training. Received: "
                f"warmup_steps={warmup_steps}, total_steps={total_steps}."
            )
        self.peak = float(peak)
        self.warmup_steps, self.total_steps = warmup_steps, total_steps

    @classmethod
    def from_hidden_dim(cls, hidden_dim, warmup_steps=4000):
        """The schedule of the paper: its peak is `(hidden_dim * warmup_steps) ** -0.5`."""
        require_positive(hidden_dim=hidden_dim, warmup_steps=_whole(warmup_steps))
        return cls((hidden_dim * warmup_steps) ** -0.5, warmup_steps)

    def __call__(self, step):
        step = ops.cast(step, "float32") + 1.0  # Keras counts from 0, the paper from 1
        warmup = float(self.warmup_steps)
        if self.total_steps is None:
            fall = ops.sqrt(warmup / step)
        else:
            end = self.total_steps + 1.0
            fall = ops.maximum((end - step) / (end - warmup), 0.0)
        return self.peak * ops.minimum(step / warmup, fall)

    def get_config(self):
        return {
            "peak": self.peak,
            "warmup_steps": self.warmup_steps,
            "total_steps": self.total_steps,
        }


def _whole(number):
    """4000.0, which arithmetic gives, as 4000; what has a fraction as it is."""
    return int(number) if isinstance(number, float) and number.is_integer() else number

"""What a training run says while it works: a line for each epoch, and how long it will take."""

import sys
import time
from collections import deque

import numpy as np

STEPS = 40  # are measured before an estimate: half of them may be the first of their shape
LOOKS = 1000  # are remembered


class Progress:
    """Prints the progress of a training run.

    Args:
        epochs: Number of epochs in all.
        steps: Number of steps in an epoch.
        verbose: As of `nlp104.training.train`.
    """

    def __init__(self, epochs, steps, verbose="auto"):
        if verbose == "auto":
            verbose = 1 if sys.stdout.isatty() else 2
        self.epochs, self.steps, self.verbose = epochs, steps, verbose
        self._last = None  # time and number of the step at which it was looked last
        self._paces = deque(maxlen=LOOKS)  # seconds for a step, and how many steps it held for
        self._enough = min(STEPS, max(1, epochs * steps // 10))
        self._has_estimated = False

    def step(self, epoch, step, loss):
        """Report from inside an epoch.

        Args:
            epoch: Number of complete epochs.
            step: Number of complete steps of this epoch.
            loss: Mean loss of the epoch so far.
        """
        if not self.verbose or (self.verbose == 2 and self._has_estimated):
            return
        now, done = time.perf_counter(), epoch * self.steps + step
        self.measure(epoch, step, now)
        if self._last is None:  # the first step, which traces and compiles, tells nothing
            self._last = now, done
        left = ""
        if self._measured() >= self._enough and sum(p * n for p, n in self._paces) >= 2:
            left = f"{duration(self._pace() * (self.epochs * self.steps - done))} left"
        if self.verbose == 1:
            line = f"epoch {epoch + 1}/{self.epochs}  step {step}/{self.steps}  loss {loss:.4f}"
            self._write(f"\r{line}  {left}\x1b[K")
        elif left:
            self._has_estimated = True
            self._write(f"about {left}\n")

    def measure(self, epoch, step, now):
        """Note how fast the steps were since the last time.

        Args:
            epoch: Number of complete epochs.
            step: Number of complete steps of this epoch.
            now: When the last of them was complete, by `time.perf_counter`.
        """
        done = epoch * self.steps + step
        if self._last and done > self._last[1]:
            steps = done - self._last[1]
            self._paces.append(((now - self._last[0]) / steps, steps))
            self._last = now, done

    def _measured(self):
        return sum(steps for _, steps in self._paces)

    def _pace(self):
        """Seconds for a step, the median: one of a new shape may take a minute to compile."""
        paces, steps = zip(*sorted(self._paces), strict=True)
        half_of_all = np.searchsorted(np.cumsum(steps), self._measured() / 2)
        return paces[half_of_all]

    def epoch(self, row):
        """Report a complete epoch.

        Args:
            row: The epoch's line of the history.
        """
        if not self.verbose:
            return
        line = f"epoch {row['epoch']}/{self.epochs}"
        for name, value in row.items():
            if name.removeprefix("val_") in ("loss", "accuracy"):
                line += f"  {name} {value:.4f}"
        line += f"  {row['tokens_per_second']:,.0f} tokens/s  {duration(row['seconds'])}"
        self._write(f"\r{line}\x1b[K\n" if self.verbose == 1 else f"{line}\n")

    def _write(self, text):
        sys.stdout.write(text)
        sys.stdout.flush()


def duration(seconds):
    """A time that is easy to read: `"42 s"`, `"12 min"`, `"2 h 05 min"`."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60:02d} min"

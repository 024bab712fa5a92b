"""Fitting a model: progress, validation, checkpoints, and a resume that loses nothing.

The directory of a run holds, after some epochs::

    history.csv                         a line for each epoch
    checkpoints/latest.npz              all that decides how training goes on
    checkpoints/previous.npz            the same as it was when it was saved before
    checkpoints/epoch-0007.weights.h5   the weights after each of the last few epochs
    checkpoints/best.weights.h5         the weights of the lowest validation loss
"""

import csv
import math
import shutil
import time
from dataclasses import asdict
from pathlib import Path

import keras

from nlp104.data.batches import Batches
from nlp104.training.checkpoints import (
    epoch_checkpoints,
    has_state,
    load_state,
    save_state,
    save_weights,
)
from nlp104.training.interruption import stop_on_signal
from nlp104.training.position import Position, read_position
from nlp104.training.progress import Progress
from nlp104.utils.arguments import require_positive, require_whole
from nlp104.utils.files import replacing, sweep

SAVE_SECONDS = 600  # a long epoch saves its state this often
LOOK_SECONDS = 0.5  # between two looks at the loss: each look waits for the device


def train(
    model,
    training,
    validation=None,
    epochs=10,
    output=None,
    resume=False,
    patience=None,
    keep=5,
    verbose="auto",
):
    """Fit a compiled model for a number of epochs.

    `model.fit` does the work, once for each epoch. So `training` can begin anywhere in an epoch,
    and between two calls everything that the next one depends on is known and can be saved: a run
    that was stopped and resumed ends with the same weights, bit for bit, as one that was not (on a
    CPU; a GPU adds numbers in varying order, and on PyTorch Keras' dropout draws from a generator
    that is no part of the model).

    Ctrl-C or SIGTERM ends the current step, saves the state and raises `KeyboardInterrupt`; a
    second Ctrl-C stops at once.

    Args:
        model: A compiled `keras.Model`, see `nlp104.training.compile_model`.
        training: `nlp104.data.Batches`.
        validation: `Batches` on which the model is evaluated after every epoch, or `None`.
        epochs: Number of epochs in all, those before a resume included.
        output: Directory for `history.csv` and checkpoints. `None` writes nothing.
        resume: Go on from the state in `output`, if there is one.
        patience: Stop after this many epochs without a lower validation loss. `None`: never.
        keep: Number of last epochs whose weights are kept, for `average_checkpoints`.
        verbose: 0 prints nothing; 1 a line for each epoch, and one that moves with the time left;
            2 a line for each epoch, and early on how long the steps that are left will take.
            `"auto"` is 1 in a terminal and 2 elsewhere.

    Returns:
        The history, a dictionary from the name of each column to its values, one for each epoch.

    Raises:
        ValueError: If the model is not compiled, or with `steps_per_execution` or `use_ema`, data
            are no `Batches`, a number is out of its range, `patience` comes without `validation`,
            or the state in `output` is of other shapes or other data, or of a run with validation
            where there is none now, or the other way round. The model then is as it was.
        FileExistsError: If `output` holds the state of a run and `resume` is false.
        FloatingPointError: If the loss is no longer a number.
        KeyboardInterrupt: After Ctrl-C, with a message that says how to go on.

    Example:
        >>> from nlp104 import Transformer
        >>> from nlp104.data import Batches
        >>> from nlp104.training import compile_model, train
        >>> from nlp104.transformer import TransformerConfig
        >>> model = Transformer(TransformerConfig(8, 32, 2, num_layers=1, vocabulary_size=10))
        >>> compile_model(model, learning_rate=0.01)
        >>> copies = [[4, 5, 6], [7, 8], [9]]  # each is its own translation
        >>> history = train(model, Batches(copies, copies), epochs=3, output="run", verbose=0)
        >>> history["epoch"], history["loss"][2] < history["loss"][0]
        ([1, 2, 3], True)
    """
    _require_step_by_step(model)
    data = {"training": training, "validation": training if validation is None else validation}
    for name, batches in data.items():
        if not isinstance(batches, Batches):
            raise ValueError(f"`{name}` must be `Batches`. Received: {type(batches).__name__}.")
    require_whole(epochs=epochs, keep=keep)
    require_positive(patience=1 if patience is None else patience)
    if patience is not None and validation is None:
        raise ValueError("patience counts epochs without a lower validation loss: pass validation.")
    run = _Run(model, training, validation, output, keep, resume)
    progress = Progress(epochs, run.steps, verbose)
    position = run.position
    with stop_on_signal() as stop:
        while position.epoch < epochs and (patience is None or position.bad_epochs < patience):
            row = _fit_epoch(run, progress, stop)
            if position.step < run.steps:
                run.save()
            else:
                if validation is not None:
                    validation.seek(0)  # sums of the same numbers in the same order
                    scores = model.evaluate(validation, verbose=0, return_dict=True)
                    row |= {f"val_{name}": score for name, score in scores.items()}
                    run.check(scores["loss"], "validation loss")
                progress.epoch(run.finish_epoch(row))
            if stop:
                raise KeyboardInterrupt(run.how_to_go_on())
    rows = position.history
    return {name: [row[name] for row in rows] for name in rows[0]} if rows else {}


def _require_step_by_step(model):
    """Raises an error unless every step is seen, and `fit` ends without changing the weights."""
    if not model.compiled:
        raise ValueError("The model is not compiled: call nlp104.training.compile_model first.")
    optimizer = getattr(model.optimizer, "inner_optimizer", model.optimizer)
    if model.steps_per_execution != 1 or optimizer.use_ema:
        raise ValueError(
            "Expected a model compiled with steps_per_execution=1 and an optimizer without EMA. "
            f"Received: {model.steps_per_execution} and use_ema={optimizer.use_ema}."
        )


def _fit_epoch(run, progress, stop):
    """Fit what is left of the current epoch; returns what Keras logged."""
    epoch = run.position.epoch
    run.training.seek(epoch, run.position.step)
    watch, span = _Watch(run, progress, stop), {"initial_epoch": epoch, "epochs": epoch + 1}
    logs = run.model.fit(run.training, callbacks=[watch], verbose=0, **span).history
    row = {name: values[-1] for name, values in logs.items()}
    run.check(row["loss"])
    return row


class _Run:
    """A model, its data, its position and its files."""

    def __init__(self, model, training, validation, output, keep, resume):
        self.model, self.training, self.keep = model, training, keep
        self.directory = None if output is None else Path(output)
        self.position = Position()
        training.seek(0)
        self.steps = len(training)
        self.data = {"steps": self.steps, "tokens": training.num_tokens, "seed": training.seed}
        self.metrics = None  # sums of the metrics with which a resumed epoch goes on
        _build(model, training)
        if output is None:
            return
        self.checkpoints = self.directory / "checkpoints"
        self.state = self.checkpoints / "latest.npz"
        self.checkpoints.mkdir(parents=True, exist_ok=True)
        if has_state(self.state):
            if not resume:
                raise FileExistsError(
                    f"{self.state} holds the state of a run: pass resume=True to go on with it, "
                    "or choose another output directory."
                )
            sweep(self.checkpoints)
            self._resume(validation is not None)

    def _resume(self, is_validated):
        self.position = load_state(
            self.state, self.model, lambda p: read_position(p, self.data, self.state, is_validated)
        )
        self.metrics = [keras.ops.convert_to_numpy(v) for v in self.model.metrics_variables]

    def save(self):
        """Save the state."""
        if self.directory is not None:
            save_state(self.state, self.model, {**asdict(self.position), "data": self.data})

    def finish_epoch(self, row):
        """Add a line to the history and write every file that changes with an epoch."""
        position = self.position
        row = {
            "epoch": position.epoch + 1,
            **row,
            "learning_rate": float(keras.ops.convert_to_numpy(self.model.optimizer.learning_rate)),
            "tokens_per_second": self.training.num_tokens / position.seconds,
            "seconds": position.seconds,
        }
        position.history.append(row)
        is_best = row.get("val_loss", math.inf) < position.best
        position.best = min(position.best, row.get("val_loss", math.inf))
        position.bad_epochs = 0 if is_best else position.bad_epochs + 1
        position.epoch, position.step, position.seconds = position.epoch + 1, 0, 0.0
        if self.directory is not None:
            name = f"epoch-{position.epoch:04d}.weights.h5"
            save_weights(self.checkpoints / name, self.model)
            if is_best:
                with replacing(self.checkpoints / "best.weights.h5") as temporary:
                    shutil.copyfile(self.checkpoints / name, temporary)
            paths = epoch_checkpoints(self.directory)
            for path in paths[: max(0, len(paths) - self.keep)]:
                path.unlink()
            self._write_history()
            self.save()  # last: a run that is killed before repeats the epoch, and all its files
        return row

    def _write_history(self):
        rows = self.position.history
        with (
            replacing(self.directory / "history.csv") as temporary,
            temporary.open("w", newline="", encoding="utf-8") as file,
        ):
            writer = csv.DictWriter(file, fieldnames=list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)

    def check(self, loss, name="loss"):
        """Raise an error if the loss is no longer a number."""
        if math.isfinite(loss):
            return
        position = self.position
        message = (
            f"The {name} became {loss} in epoch {position.epoch + 1} by step {position.step}: "
            "lower the learning rate or warm up longer."
        )
        if self.directory is not None and has_state(self.state):
            message += f" The last good state is kept in {self.state}."
        raise FloatingPointError(message)

    def how_to_go_on(self):
        """What to tell whoever stopped the run."""
        position = self.position
        done = f"Stopped in epoch {position.epoch + 1} after {position.step} of {self.steps} steps."
        if self.directory is None:
            return f"{done} The model keeps what it has learned."
        return f"{done} The state is kept in {self.directory}: resume the run to go on from there."


class _Watch(keras.callbacks.Callback):
    """Counts steps, and every now and then looks at the loss, reports and saves."""

    def __init__(self, run, progress, stop):
        super().__init__()
        self._run, self._progress, self._stop = run, progress, stop
        self._begun = self._ended = self._looked = self._saved = time.perf_counter()
        self._seconds_before = run.position.seconds

    def on_train_begin(self, logs=None):
        """Keras before 3.14 reads ahead on JAX to build a model: a short epoch is over by now."""
        self._run.training.seek(self._run.position.epoch, self._run.position.step)

    def on_epoch_begin(self, epoch, logs=None):
        """Keras has just reset the metrics; a resumed epoch goes on with the sums it had."""
        if self._run.metrics is not None and self._run.position.step:
            variables = self.model.metrics_variables
            for variable, value in zip(variables, self._run.metrics, strict=True):
                variable.assign(value)
        self._run.metrics = None

    def on_train_batch_end(self, batch, logs=None):
        """Count a complete step."""
        # With JAX, self.model brings the state of training back into the model's variables. That
        # is what saving and stopping need, and too slow for every step.
        run, now = self._run, time.perf_counter()
        if now - self._ended > LOOK_SECONDS:  # it may have compiled, and is measured by itself
            self._progress.measure(run.position.epoch, run.position.step, self._ended)
        self._ended = now
        run.position.step += 1
        run.position.seconds = self._seconds_before + now - self._begun
        if self._stop:
            self.model.stop_training = True
        elif now - self._looked > LOOK_SECONDS:
            self._looked = now
            loss = float(logs["loss"])
            run.check(loss)
            self._progress.step(run.position.epoch, run.position.step, loss)
            # After the last step an epoch is saved as a whole, and can only be resumed as one.
            if now - self._saved > SAVE_SECONDS and run.position.step < run.steps:
                self._saved = now
                run.model = self.model
                run.save()


def _build(model, training):
    """Make all variables exist, those of the optimizer and of the metrics included."""
    inputs, labels = training[0]
    inputs, labels = {name: ids[:1] for name, ids in inputs.items()}, labels[:1]
    model.compute_metrics(inputs, labels, model(inputs, training=False))
    model.reset_metrics()
    model.optimizer.build(model.trainable_variables)

"""Training that can be stopped anywhere: the same weights, the same history, no broken files."""

import csv
import math
import os
import re
import shutil
import signal
from types import SimpleNamespace

import keras
import numpy as np
import pytest
from full_disk import full_disk
from layer_checks import ON_ACCELERATOR

from nlp104.data.batches import Batches
from nlp104.training import loop
from nlp104.training.checkpoints import (
    average_checkpoints,
    epoch_checkpoints,
    has_state,
    load_state,
    save_state,
    save_weights,
)
from nlp104.training.interruption import stop_on_signal
from nlp104.training.loop import _Watch, train
from nlp104.training.optimizer import adam, compile_model
from nlp104.training.position import Position
from nlp104.training.progress import Progress, duration
from nlp104.training.schedule import WarmupSchedule
from nlp104.transformer.config import TransformerConfig
from nlp104.transformer.model import Transformer
from nlp104.transformer.token_mean import TokenMeanLoss
from nlp104.utils.files import replacing

VOCABULARY = 11
FILES = pytest.mark.skipif(
    keras.backend.backend() != "tensorflow", reason="what becomes of files is the same everywhere"
)
EXACT = pytest.mark.skipif(
    keras.backend.backend() == "torch" or ON_ACCELERATOR,
    reason="dropout draws from PyTorch's own generator; a GPU adds in varying order",
)


class Toy(TokenMeanLoss):
    """The smallest model with logits, dropout and a sum over the source: it traces in no time."""

    def __init__(self, width=8, dropout=0.2):
        super().__init__()
        self.source = keras.layers.Embedding(VOCABULARY, width)
        self.target = keras.layers.Embedding(VOCABULARY, width)
        self.dropout = keras.layers.Dropout(dropout)
        self.out = keras.layers.Dense(VOCABULARY)

    def call(self, inputs, training=None):
        source = inputs["encoder_token_ids"]
        real = keras.ops.cast(source != 0, "float32")[..., None]
        bag = keras.ops.sum(self.source(source) * real, axis=1, keepdims=True)
        x = self.target(inputs["decoder_token_ids"]) + bag
        return self.out(self.dropout(x, training=training))


def sentences(count, seed, longest=6):
    rng = np.random.default_rng(seed)
    return [rng.integers(4, VOCABULARY, n).tolist() for n in rng.integers(1, longest + 1, count)]


# JAX traces every shape: there, all batches are as wide as the longest one.
BUCKET_WIDTH = 8 if keras.backend.backend() == "jax" else 4


def make_batches(count=60, seed=0, batch_size=10, **options):
    options = {"bucket_width": BUCKET_WIDTH, **options}
    return Batches(sentences(count, seed), sentences(count, seed + 1), batch_size, **options)


def make_toy(seed=1, learning_rate=0.01, **options):
    keras.utils.set_random_seed(seed)
    model = Toy(**options)
    compile_model(model, learning_rate)
    return model


def make_transformer(seed=1):
    keras.utils.set_random_seed(seed)
    model = Transformer(
        TransformerConfig(8, 16, 2, num_layers=1, vocabulary_size=VOCABULARY, dropout=0.2)
    )
    compile_model(model, WarmupSchedule(0.01, 10))
    return model


def everything(model):
    """All that decides how training goes on, as arrays."""
    variables = [*model.variables, *model.optimizer.variables]
    return [keras.ops.convert_to_numpy(variable) for variable in variables]


def same(first, second):
    return len(first) == len(second) and all(map(np.array_equal, first, second))


def without_time(history):
    return {k: v for k, v in history.items() if k not in ("seconds", "tokens_per_second")}


def interrupt(monkeypatch, epoch, step, number=signal.SIGINT):
    """Send a signal to this process when a step of an epoch, both counted from 0, is complete."""
    original = loop._Watch.on_train_batch_end

    def on_train_batch_end(self, batch, logs=None):
        position = self._run.position
        if (position.epoch, position.step) == (epoch, step):
            signal.raise_signal(number)
        original(self, batch, logs)

    monkeypatch.setattr(loop._Watch, "on_train_batch_end", on_train_batch_end)


@EXACT
@pytest.mark.parametrize(
    "make_model", [make_toy, pytest.param(make_transformer, marks=pytest.mark.slow)]
)
def test_resume_is_exact(make_model, tmp_path, monkeypatch):
    """Stopped in mid-epoch with dropout on, resumed by a model that began elsewhere."""
    whole = make_model()
    history = train(whole, make_batches(), epochs=3, output=tmp_path / "whole", verbose=0)

    with monkeypatch.context() as patch:
        interrupt(patch, epoch=1, step=2)
        with pytest.raises(KeyboardInterrupt, match="after 3 of 6 steps"):
            train(make_model(), make_batches(), epochs=3, output=tmp_path / "parts", verbose=0)
    resumed = make_model(seed=99)
    assert not same(everything(resumed), everything(whole))
    parts = train(
        resumed, make_batches(), epochs=3, output=tmp_path / "parts", resume=True, verbose=0
    )
    assert same(everything(resumed), everything(whole))
    assert without_time(parts) == without_time(history)
    assert history["loss"][2] < history["loss"][0]


@pytest.mark.slow
@EXACT
def test_what_building_the_model_reads_costs_no_batch(monkeypatch):
    """Keras before 3.14 read ahead on JAX: an epoch of two batches was over before it began."""

    def reads_ahead(model, batches, **options):
        list(batches.get_numpy_iterator())
        return keras.Model.fit(model, batches, **options)

    expected = train(make_toy(), make_batches(20), epochs=2, verbose=0)
    monkeypatch.setattr(Toy, "fit", reads_ahead, raising=False)
    assert train(make_toy(), make_batches(20), epochs=2, verbose=0)["loss"] == expected["loss"]


@pytest.mark.slow
@EXACT
def test_resume_between_epochs_and_of_a_complete_run(tmp_path):
    validation = make_batches(20, seed=7)
    whole = make_toy()
    history = train(whole, make_batches(), validation, epochs=2, verbose=0)
    for epochs in (1, 2, 2):  # the last time there is nothing left to do
        model = make_toy(seed=epochs)
        parts = train(
            model, make_batches(), validation, epochs, output=tmp_path, resume=True, verbose=0
        )
    assert same(everything(model), everything(whole))
    assert without_time(parts) == without_time(history)


def test_stop_without_output_keeps_the_model(monkeypatch):
    interrupt(monkeypatch, epoch=0, step=3, number=signal.SIGTERM)
    model = make_toy()
    with pytest.raises(KeyboardInterrupt, match=r"after 4 of 6 steps\. The model keeps"):
        train(model, make_batches(), verbose=0)
    assert int(model.optimizer.iterations) == 4


def test_signals():
    before = signal.getsignal(signal.SIGINT)
    with stop_on_signal() as stop:
        assert not stop
        signal.raise_signal(signal.SIGINT)
        assert stop
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.slow
def test_same_seed_same_run_other_order_another():
    models = []
    for options in ({}, {}, {"shuffle": False}):
        models.append(make_toy())
        train(models[-1], make_batches(**options), epochs=2, verbose=0)
    first, second, third = map(everything, models)
    assert same(first, second)
    assert not same(first, third)


@pytest.mark.skipif(keras.backend.backend() != "tensorflow", reason="JAX traces every shape")
def test_one_trace_for_all_shapes_and_epochs(monkeypatch):
    shapes = []
    original = Toy.call

    def call(self, inputs, training=None):
        shapes.append((training, tuple(inputs["decoder_token_ids"].shape)))
        return original(self, inputs, training=training)

    monkeypatch.setattr(Toy, "call", call)
    data = make_batches(bucket_width=1)
    assert len(data.shapes) > 3
    train(make_toy(), data, make_batches(20, seed=7, bucket_width=1), epochs=3, verbose=0)
    traces = [call for call in shapes if call[1][0] != 1]  # not the call that makes the variables
    assert traces == [(True, (None, None)), (False, (None, None))]


def test_files_and_history(tmp_path):
    validation = make_batches(20, seed=7)
    model = make_toy()
    history = train(model, make_batches(), validation, epochs=4, output=tmp_path, keep=2, verbose=0)
    assert {path.name for path in (tmp_path / "checkpoints").iterdir()} == {
        "latest.npz",
        "previous.npz",
        "best.weights.h5",
        "epoch-0003.weights.h5",
        "epoch-0004.weights.h5",
    }
    with (tmp_path / "history.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [[float(row[name]) for row in rows] for name in history] == list(history.values())
    assert history["epoch"] == [1, 2, 3, 4]
    assert {"loss", "accuracy", "val_loss", "val_accuracy", "learning_rate"} < set(history)
    # The best weights give the lowest validation loss, the last ones are the model's.
    last = model.get_weights()
    model.load_weights(tmp_path / "checkpoints" / "epoch-0004.weights.h5")
    assert same(model.get_weights(), last)
    model.load_weights(tmp_path / "checkpoints" / "best.weights.h5")
    best = model.evaluate(validation, verbose=0, return_dict=True)["loss"]
    assert best == pytest.approx(min(history["val_loss"]), rel=1e-5)


def test_a_run_that_keeps_no_epoch_keeps_none(tmp_path):
    train(make_toy(), make_batches(), epochs=2, output=tmp_path, keep=0, verbose=0)
    assert not list(tmp_path.rglob("epoch-*.weights.h5"))


class Killed(BaseException):
    """Stands for SIGKILL: nobody catches it."""


def run_of_two_epochs(output, resume=False):
    """Trains, and says what stands in its files."""
    validation = make_batches(20, seed=7)
    options = {"epochs": 2, "keep": 2, "verbose": 0}
    model = make_toy()
    train(model, make_batches(), validation, output=output, resume=resume, **options)
    found = {}
    for path in sorted((output / "checkpoints").glob("*.h5")):
        model.load_weights(path)
        found[path.name] = b"".join(weight.tobytes() for weight in model.get_weights())
    rows = list(csv.DictReader((output / "history.csv").read_text().splitlines()))
    return found, [[row["epoch"], row["loss"], row["val_loss"]] for row in rows]


@pytest.fixture(scope="module")
def files_of_two_epochs(tmp_path_factory):
    """Of a run that nobody kills."""
    return run_of_two_epochs(tmp_path_factory.mktemp("whole"))


@pytest.mark.slow
@FILES
@pytest.mark.parametrize("number", range(4, 9))
def test_killed_before_any_of_its_files_a_run_ends_with_all_of_them(
    tmp_path, monkeypatch, number, files_of_two_epochs
):
    """The first epoch writes four files, the second five: it dies before one gets its name."""
    replace, left = os.replace, number

    def replace_or_die(*paths):
        nonlocal left
        left -= 1
        if left < 0:
            raise Killed
        replace(*paths)

    monkeypatch.setattr(os, "replace", replace_or_die)
    with pytest.raises(Killed):
        run_of_two_epochs(tmp_path)
    monkeypatch.undo()
    assert left == -1
    found = run_of_two_epochs(tmp_path, resume=True)
    assert found == files_of_two_epochs
    weights, rows = found
    assert len(weights) == 3  # two epochs, and the best
    assert len(rows) == 2


def test_loss_equals_evaluation_of_a_frozen_model():
    """Without dropout and with a learning rate of 0, training and validation loss agree."""
    model = make_toy(dropout=0.0, learning_rate=0.0)
    history = train(model, make_batches(), make_batches(batch_size=7), epochs=1, verbose=0)
    assert history["loss"][0] == pytest.approx(history["val_loss"][0], rel=1e-5)
    assert history["accuracy"][0] == pytest.approx(history["val_accuracy"][0], rel=1e-5)


def test_patience_counts_epochs_without_improvement(tmp_path):
    validation = make_batches(20, seed=7)
    options = {"epochs": 9, "patience": 2, "output": tmp_path, "verbose": 0}
    history = train(make_toy(learning_rate=0.0), make_batches(), validation, **options)
    assert history["epoch"] == [1, 2, 3]  # the first is the best, two others are no better
    again = train(make_toy(learning_rate=0.0), make_batches(), validation, resume=True, **options)
    assert again == history


def test_loss_that_is_no_number_keeps_the_last_good_state(tmp_path):
    def rate(boundary):
        return keras.optimizers.schedules.PiecewiseConstantDecay([boundary], [0.01, 1e38])

    model = make_toy(learning_rate=rate(8))
    with pytest.raises(FloatingPointError, match=r"The loss became \w+ in epoch 2 .*latest.npz"):
        train(model, make_batches(), epochs=3, output=tmp_path, verbose=0)
    good = make_toy(learning_rate=rate(99))
    train(good, make_batches(), epochs=1, output=tmp_path, resume=True, verbose=0)
    assert all(np.isfinite(array).all() for array in everything(good))
    assert [path.name for path in epoch_checkpoints(tmp_path)] == ["epoch-0001.weights.h5"]


def test_a_long_epoch_saves_in_between(tmp_path, monkeypatch):
    monkeypatch.setattr(loop, "LOOK_SECONDS", -1)
    monkeypatch.setattr(loop, "SAVE_SECONDS", -1)
    steps = []
    original = loop.save_state

    def record(path, model, position):
        steps.append((position["epoch"], position["step"]))
        original(path, model, position)

    monkeypatch.setattr(loop, "save_state", record)
    train(make_toy(), make_batches(30), epochs=2, output=tmp_path, verbose=0)
    assert steps == [(0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (2, 0)]


@pytest.mark.slow
@EXACT
def test_a_crash_between_the_last_step_and_the_end_of_an_epoch(tmp_path, monkeypatch):
    """While a model is evaluated, its state must be one from which training can go on."""
    whole, validation = make_toy(), make_batches(20, seed=7)
    train(whole, make_batches(), validation, epochs=2, verbose=0)
    monkeypatch.setattr(loop, "LOOK_SECONDS", -1)
    monkeypatch.setattr(loop, "SAVE_SECONDS", -1)
    crashing = make_toy()

    def crash(*_, **__):
        raise RuntimeError("power cut")

    monkeypatch.setattr(crashing, "evaluate", crash)
    with pytest.raises(RuntimeError, match="power cut"):
        train(crashing, make_batches(), validation, epochs=2, output=tmp_path, verbose=0)
    model = make_toy(seed=5)
    train(model, make_batches(), validation, epochs=2, output=tmp_path, resume=True, verbose=0)
    assert same(everything(model), everything(whole))


@pytest.mark.slow
@EXACT
def test_a_crash_resumes_from_the_last_save(tmp_path, monkeypatch):
    """Nobody could save: training goes on from the state in between, and ends the same."""
    whole = make_toy()
    train(whole, make_batches(), epochs=2, verbose=0)
    monkeypatch.setattr(loop, "LOOK_SECONDS", -1)
    monkeypatch.setattr(loop, "SAVE_SECONDS", -1)
    original = loop._Watch.on_train_batch_end

    def crash(self, batch, logs=None):
        original(self, batch, logs)
        if (self._run.position.epoch, self._run.position.step) == (1, 4):
            raise RuntimeError("power cut")

    with monkeypatch.context() as patch:
        patch.setattr(loop._Watch, "on_train_batch_end", crash)
        with pytest.raises(RuntimeError, match="power cut"):
            train(make_toy(), make_batches(), epochs=2, output=tmp_path, verbose=0)
    model = make_toy(seed=5)
    train(model, make_batches(), epochs=2, output=tmp_path, resume=True, verbose=0)
    assert same(everything(model), everything(whole))


def test_progress_lines(capsys, monkeypatch):
    train(make_toy(), make_batches(), make_batches(20, seed=7), epochs=2, verbose=2)
    lines = capsys.readouterr().out.splitlines()
    # On a slow machine there is time for estimates.
    lines = [line for line in lines if not line.endswith(" left")]
    assert len(lines) == 2
    assert lines[1].startswith("epoch 2/2  ")
    for word in ("loss ", "accuracy ", "val_loss ", "val_accuracy ", " tokens/s"):
        assert word in lines[1]
    train(make_toy(), make_batches(), epochs=1, verbose=0)
    assert capsys.readouterr().out == ""


def test_estimate_of_the_time_left(capsys, monkeypatch):
    """Steps of one second each: the estimate leaves out the first one, which took a minute."""
    clock = [60.0]
    monkeypatch.setattr("nlp104.training.progress.time.perf_counter", lambda: clock[0])
    for verbose, expected in (
        (1, "\repoch 1/5  step 61/100  loss 2.5000  7 min left\x1b[K"),
        (2, "about 7 min left\n"),
    ):
        progress = Progress(epochs=5, steps=100, verbose=verbose)
        clock[0] = 60.0
        progress.step(0, 1, 2.5)
        clock[0] += 30.0
        progress.step(0, 31, 2.5)
        assert "left" not in capsys.readouterr().out  # too few steps
        clock[0] += 30.0
        progress.step(0, 61, 2.5)
        assert capsys.readouterr().out == expected
    assert [duration(s) for s in (0, 89, 90, 5340, 7500)] == [
        "0 s",
        "89 s",
        "2 min",
        "89 min",
        "2 h 05 min",
    ]


def test_the_time_left_is_not_that_of_compiling(capsys, monkeypatch):
    """On a GPU a new shape is compiled for half a minute, and then takes milliseconds."""
    clock = [0.0]
    monkeypatch.setattr("time.perf_counter", lambda: clock[0])
    position = Position()
    run = SimpleNamespace(position=position, steps=1000, check=lambda loss: None)
    watch = _Watch(run, Progress(epochs=10, steps=1000, verbose=2), stop=False)
    for step in range(200):
        clock[0] += 30.0 if step in (0, 1, 3, 4, 7, 12, 20, 33, 54, 88, 143) else 0.01
        watch.on_train_batch_end(step, {"loss": 2.5})
    [line] = capsys.readouterr().out.splitlines()
    minutes = int(re.fullmatch(r"about (\d+) min left", line)[1])
    assert 1 <= minutes <= 3  # some 9,900 steps of 0.01 s


def test_a_short_training_is_told_how_long_it_takes(capsys, monkeypatch):
    clock = [0.0]
    monkeypatch.setattr("time.perf_counter", lambda: clock[0])
    progress = Progress(epochs=1, steps=15, verbose=2)
    for step in range(1, 4):
        clock[0] += 60.0
        progress.step(0, step, 2.5)
    assert capsys.readouterr().out == "about 13 min left\n"


def test_not_compiled_and_patience_without_validation():
    with pytest.raises(ValueError, match="not compiled"):
        train(Toy(), make_batches())
    with pytest.raises(ValueError, match="pass validation"):
        train(make_toy(), make_batches(), patience=1)


def test_another_run_in_the_output(tmp_path):
    train(make_toy(), make_batches(), epochs=1, output=tmp_path, verbose=0)
    state = (tmp_path / "checkpoints" / "latest.npz").read_bytes()
    options = {"output": tmp_path, "epochs": 2, "verbose": 0}
    with pytest.raises(FileExistsError, match="pass resume=True"):
        train(make_toy(), make_batches(), **options)
    with pytest.raises(ValueError, match=r"another model.*has the shape \(11, 8\) instead of"):
        train(make_toy(width=9), make_batches(), resume=True, **options)
    with pytest.raises(ValueError, match=r"Expected the training data of .* Received: "):
        train(make_toy(), make_batches(seed=3), resume=True, **options)
    assert (tmp_path / "checkpoints" / "latest.npz").read_bytes() == state


DAMAGE = {
    "half": lambda state: state[: len(state) // 2],
    "empty": lambda state: b"",
    "text": lambda state: b"text",
    "one bit": lambda state: state[:900] + bytes([state[900] ^ 1]) + state[901:],
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_damaged_state_is_a_clear_error(tmp_path, damage):
    path = tmp_path / "latest.npz"
    model = make_toy()
    loop._build(model, make_batches())
    save_state(path, model, {"epoch": 1})
    assert load_state(path, model) == {"epoch": 1}
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(ValueError, match=r"latest\.npz is damaged"):
        load_state(path, model)


@pytest.fixture(scope="module")
def after_three_epochs():
    """All that a run of three epochs ends with."""
    whole = make_toy()
    train(whole, make_batches(), epochs=3, verbose=0)
    return everything(whole)


@pytest.fixture(scope="module")
def two_epochs(tmp_path_factory):
    """The directory of a run of two."""
    output = tmp_path_factory.mktemp("two")
    train(make_toy(), make_batches(), epochs=2, output=output, verbose=0)
    return output


@pytest.mark.slow
@FILES
@pytest.mark.parametrize("damage", [*DAMAGE, "gone"])
def test_the_state_before_stands_in_for_a_damaged_one(
    tmp_path, caplog, damage, two_epochs, after_three_epochs
):
    """And the run ends as if nothing had happened."""
    run = shutil.copytree(two_epochs, tmp_path / "run")
    state = run / "checkpoints" / "latest.npz"
    if damage == "gone":  # killed after the old one was put aside
        state.unlink()
    else:
        state.write_bytes(DAMAGE[damage](state.read_bytes()))
    model = make_toy(seed=5)
    history = train(model, make_batches(), epochs=3, output=run, resume=True, verbose=0)
    (warning,) = caplog.messages
    assert str(state) in warning
    assert "previous.npz" in warning
    assert history["epoch"] == [1, 2, 3]
    assert same(everything(model), after_three_epochs)


def test_what_a_killed_process_was_writing_is_swept_away(tmp_path):
    train(make_toy(), make_batches(), epochs=1, output=tmp_path, verbose=0)
    leftover = tmp_path / "checkpoints" / ".4711-latest.npz"
    leftover.write_bytes(b"half of a sta")
    train(make_toy(), make_batches(), epochs=1, output=tmp_path, resume=True, verbose=0)
    assert not leftover.exists()
    assert (tmp_path / "checkpoints" / "latest.npz").exists()


def test_average_is_the_mean_of_the_weights(tmp_path):
    model = make_toy()
    loop._build(model, make_batches())
    rng = np.random.default_rng(0)
    paths, weights = [], []
    for number in range(3):
        paths.append(tmp_path / f"{number}.weights.h5")
        weights.append([rng.normal(size=w.shape).astype("float32") for w in model.get_weights()])
        model.set_weights(weights[-1])
        save_weights(paths[-1], model)
    average_checkpoints(model, paths)
    for mean, *parts in zip(model.get_weights(), *weights, strict=True):
        np.testing.assert_allclose(mean, np.mean(parts, axis=0, dtype="float64"), rtol=1e-6)
    average_checkpoints(model, paths[1:2])
    assert same(model.get_weights(), weights[1])


def test_an_average_leaves_the_optimizer_as_it_is(tmp_path):
    model, path = make_built_toy(), tmp_path / "1.weights.h5"
    save_weights(path, model)
    weights = model.get_weights()
    train(model, make_batches(), epochs=1, verbose=0)
    optimizer, moments = model.optimizer, [np.array(v) for v in model.optimizer.variables]
    average_checkpoints(model, [path])
    assert same(model.get_weights(), weights)
    assert model.optimizer is optimizer
    assert same([np.array(v) for v in optimizer.variables], moments)


def test_room_is_asked_for_all_that_a_file_of_weights_holds(tmp_path):
    """The moments are in it, too: without them HDF5 would find out, and bring down the process."""
    model, path = make_built_toy(width=200), tmp_path / "1.weights.h5"
    save_weights(path, model)
    size = path.stat().st_size
    path.unlink()
    with full_disk(size * 2 // 3), pytest.raises(OSError, match="File too large"):
        save_weights(path, model)
    assert not list(tmp_path.iterdir())


def test_bad_checkpoints_leave_the_model_as_it_is(tmp_path):
    model = make_toy()
    loop._build(model, make_batches())
    before = model.get_weights()
    good, bad = tmp_path / "good.weights.h5", tmp_path / "bad.weights.h5"
    save_weights(good, make_built_toy())
    bad.write_bytes(good.read_bytes()[:100])
    for paths in ([good, bad], [good, tmp_path / "none.weights.h5"]):
        with pytest.raises(ValueError, match=f"{paths[1].name} is missing, damaged or belongs"):
            average_checkpoints(model, paths)
        assert same(model.get_weights(), before)
    save_weights(bad, make_built_toy(width=9))
    with pytest.raises(ValueError, match="belongs to another model"):
        average_checkpoints(model, [good, bad])
    assert same(model.get_weights(), before)
    with pytest.raises(ValueError, match="at least one checkpoint"):
        average_checkpoints(model, [])


def make_built_toy(**options):
    model = make_toy(seed=2, **options)
    loop._build(model, make_batches())
    return model


def test_weights_that_are_no_numbers_are_not_saved(tmp_path):
    model = make_built_toy()
    save_state(tmp_path / "latest.npz", model, {})
    before = (tmp_path / "latest.npz").read_bytes()
    model.set_weights([w * math.nan for w in model.get_weights()])
    with pytest.raises(FloatingPointError, match="not finite"):
        save_state(tmp_path / "latest.npz", model, {})
    assert (tmp_path / "latest.npz").read_bytes() == before
    with pytest.raises(FloatingPointError, match="not finite"):
        save_weights(tmp_path / "1.weights.h5", model)
    assert not (tmp_path / "1.weights.h5").exists()


def test_the_path_of_a_state_may_be_a_string(tmp_path):
    model, other, path = make_built_toy(), make_toy(seed=3), str(tmp_path / "latest.npz")
    loop._build(other, make_batches())
    assert not has_state(path)
    for epoch in (1, 2):
        save_state(path, model, {"epoch": epoch})
    assert has_state(path)
    assert load_state(path, other) == {"epoch": 2}
    assert same(everything(model), everything(other))
    os.remove(path)
    assert has_state(path)
    assert load_state(path, other) == {"epoch": 1}  # from previous.npz


@pytest.mark.slow
def test_a_state_in_bfloat16_is_the_same_when_it_is_loaded(tmp_path):
    def make():
        keras.utils.set_random_seed(1)
        model = Transformer(
            TransformerConfig(8, 16, 2, num_layers=1, vocabulary_size=11), dtype="bfloat16"
        )
        compile_model(model, 0.01)
        return model

    model, other, path = make(), make(), tmp_path / "latest.npz"
    train(model, make_batches(), epochs=1, verbose=0)
    loop._build(other, make_batches())
    save_state(path, model, {"epoch": 1})
    assert load_state(path, other) == {"epoch": 1}
    assert same(*([np.float32(v) for v in everything(m)] for m in (model, other)))


def test_a_validation_loss_that_is_no_number_stops_the_run(tmp_path, monkeypatch):
    model = make_toy()
    worthless = {"loss": math.nan, "accuracy": 0.0}
    monkeypatch.setattr(model, "evaluate", lambda *args, **options: worthless)
    with pytest.raises(FloatingPointError, match=r"The validation loss became nan in epoch 1"):
        train(model, make_batches(), make_batches(20), epochs=2, output=tmp_path, verbose=0)
    assert not list((tmp_path / "checkpoints").iterdir())


@pytest.mark.parametrize("at_first", [True, False], ids=["with", "without"])
@pytest.mark.slow
def test_a_run_goes_on_with_validation_as_it_began(tmp_path, at_first):
    def go_on(is_validated, epochs):
        validation = make_batches(20, seed=7) if is_validated else None
        options = {"output": tmp_path, "resume": True, "verbose": 0}
        return train(make_toy(), make_batches(), validation, epochs, **options)

    go_on(at_first, 1)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.*")}
    with pytest.raises(ValueError, match=r"Expected a run with.* validation.*\. Received: with"):
        go_on(not at_first, 2)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*.*")} == before
    assert go_on(at_first, 2)["epoch"] == [1, 2]


def test_no_half_written_file(tmp_path):
    path = tmp_path / "file.txt"
    path.write_text("old")
    with pytest.raises(OSError, match="full"), replacing(path) as temporary:  # noqa: PT012
        temporary.write_text("ne")
        raise OSError("the disk is full")
    assert path.read_text() == "old"
    with replacing(path) as temporary:
        temporary.write_text("new")
    assert path.read_text() == "new"
    assert os.listdir(tmp_path) == ["file.txt"]


@EXACT
@pytest.mark.slow
def test_a_disk_that_fills_between_epochs_costs_nothing_that_is_saved(tmp_path):
    whole, run = make_toy(), tmp_path / "run"
    history = train(whole, make_batches(), epochs=2, output=tmp_path / "whole", verbose=0)
    train(make_toy(), make_batches(), epochs=1, output=run, verbose=0)
    before = {path.name: path.read_bytes() for path in (run / "checkpoints").iterdir()}
    room = len(before["epoch-0001.weights.h5"]) // 2
    resumed = make_toy()
    with full_disk(room), pytest.raises(OSError, match="File too large") as error:
        train(resumed, make_batches(), epochs=2, output=run, resume=True, verbose=0)
    assert error.value.filename == str(run / "checkpoints")
    assert {path.name: path.read_bytes() for path in (run / "checkpoints").iterdir()} == before
    parts = train(resumed, make_batches(), epochs=2, output=run, resume=True, verbose=0)
    assert same(everything(resumed), everything(whole))
    assert without_time(parts) == without_time(history)


def test_checkpoints_are_in_the_order_of_epochs(tmp_path):
    (tmp_path / "checkpoints").mkdir()
    for epoch in (2, 10, 10000, 9):
        (tmp_path / "checkpoints" / f"epoch-{epoch:04d}.weights.h5").touch()
    names = [path.name for path in epoch_checkpoints(tmp_path)]
    assert [int(name[6:].split(".")[0]) for name in names] == [2, 9, 10, 10000]


def test_adam_moments_are_part_of_the_state(tmp_path):
    """What `test_resume_is_exact` compares is not empty."""
    model = make_built_toy()
    assert len(model.optimizer.variables) > 2 * len(model.trainable_variables)
    assert len(model.variables) == len(model.weights) + 1  # the seed of the dropout
    assert isinstance(model.optimizer, type(adam(0.1)))


@pytest.mark.parametrize("options", [{"steps_per_execution": 3}, {"use_ema": True}])
def test_what_hides_steps_or_changes_weights_between_epochs_is_refused(options):
    model, steps = Toy(), options.get("steps_per_execution", 1)
    optimizer = keras.optimizers.Adam(0.01, use_ema="use_ema" in options)
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(optimizer, loss, steps_per_execution=steps)
    with pytest.raises(ValueError, match=r"steps_per_execution=1 .* without EMA. Received"):
        train(model, make_batches(), epochs=2, verbose=0)


@pytest.mark.parametrize(
    "options", [{"patience": 0}, {"epochs": 1.5}, {"epochs": -1}, {"keep": -1}], ids=str
)
def test_numbers_that_make_no_sense_are_refused(options):
    with pytest.raises(ValueError, match=r"must be an? .*integer"):
        train(make_toy(), make_batches(), make_batches(20), verbose=0, **options)


@pytest.mark.parametrize("name", ["training", "validation"])
@pytest.mark.parametrize("kind", [list, tuple, iter])
def test_data_that_are_no_batches_are_refused_before_anything_begins(name, kind, tmp_path):
    model, options = make_toy(), {"epochs": 1, "output": tmp_path / "run", "verbose": 0}
    for wrong in (kind([make_batches(20)[0]]), kind([])):
        data = {"training": make_batches(), "validation": make_batches(20), name: wrong}
        told = rf"`{name}` must be `Batches`. Received: {type(wrong).__name__}\."
        with pytest.raises(ValueError, match=told):
            train(model, **data, **options)
    assert not model.built
    assert not (tmp_path / "run").exists()


def test_a_refused_resume_leaves_the_model_as_it_is(tmp_path):
    train(make_toy(), make_batches(), epochs=1, output=tmp_path, verbose=0)
    model = make_built_toy()
    before = everything(model)
    with pytest.raises(ValueError, match="Expected the training data"):
        train(model, make_batches(seed=3), epochs=2, output=tmp_path, resume=True, verbose=0)
    assert same(everything(model), before)


@pytest.mark.slow
def test_weights_of_a_deeper_model_are_no_checkpoint(tmp_path):
    def make(num_layers):
        config = TransformerConfig(8, 16, 2, num_layers=num_layers, vocabulary_size=VOCABULARY)
        return Transformer(config)

    save_weights(tmp_path / "two.weights.h5", make(2))
    model = make(1)
    before = model.get_weights()
    with pytest.raises(ValueError, match="belongs to another model"):
        average_checkpoints(model, [tmp_path / "two.weights.h5"])
    assert same(model.get_weights(), before)
    for path in ("two.weights.h5", tmp_path / "two.weights.h5"):
        with pytest.raises(ValueError, match=r"must be a list of paths\. Received: .*two\.weights"):
            average_checkpoints(model, path)


def test_weights_in_float16_are_not_trained():
    """Adam's ε is 0 there: after one step all weights were NaN, in silence."""
    sizes = TransformerConfig(8, 16, 2, num_layers=1, vocabulary_size=9)
    model = Transformer(sizes, dtype="float16")
    with pytest.raises(ValueError, match=r"mixed_float16.* Received: dtype='float16'"):
        compile_model(model, 1e-3)
    for dtype in ("mixed_float16", "bfloat16"):
        compile_model(Transformer(sizes, dtype=dtype), 1e-3)

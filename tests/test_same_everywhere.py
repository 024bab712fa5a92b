"""What a training ends with: to the bit on one machine, nearly on other threads and backends."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tools import check

PROGRAM = Path(__file__).with_name("small_training.py")
pytestmark = pytest.mark.slow


def train(folder, backend="tensorflow", threads=1):
    """The losses and the weights with which a training ends, in a process of its own."""
    if importlib.util.find_spec(backend) is None:
        pytest.skip(f"{backend} is not installed")
    path = folder / f"{backend}-{threads}-{len(list(folder.iterdir()))}.npz"
    environment = {
        **os.environ,
        **check.limits(threads),
        "KERAS_BACKEND": backend,
        "TF_CPP_MIN_LOG_LEVEL": "3",
    }
    subprocess.run([sys.executable, PROGRAM, path], env=environment, check=True)
    with np.load(path) as found:
        return found["loss"], found["weights"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("trainings")


@pytest.fixture(scope="module")
def one_thread(folder):
    return train(folder)


def test_the_same_seed_ends_the_same_to_the_bit(one_thread, folder):
    for first, second in zip(one_thread, train(folder), strict=True):
        np.testing.assert_array_equal(first, second)


def test_it_has_learnt(one_thread):
    loss, _ = one_thread
    assert loss[-1] < loss[0] - 0.1


@pytest.mark.parametrize(("backend", "threads"), [("tensorflow", 2), ("jax", 2), ("torch", 2)])
def test_threads_and_backends_change_the_last_digits_only(one_thread, folder, backend, threads):
    """They add numbers in another order; twenty steps of Adam carry that on."""
    loss, weights = train(folder, backend, threads)
    np.testing.assert_allclose(loss, one_thread[0], rtol=1e-5)
    np.testing.assert_allclose(weights, one_thread[1], atol=2e-4)

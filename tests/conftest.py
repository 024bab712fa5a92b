"""Settings that every test shares: a quiet backend, fixed seeds, repeatable property tests."""

import functools
import os
import shutil
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("KERAS_BACKEND", "tensorflow")

import pytest
from hypothesis import settings

settings.register_profile("repeatable", derandomize=True, deadline=None, max_examples=25)
settings.load_profile("repeatable")


def pytest_configure(config):
    """JAX compiles a program once in a process, not anew for each model that is like another."""
    folder = tempfile.mkdtemp(prefix="nlp104-jax-")
    config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))
    os.environ["JAX_COMPILATION_CACHE_DIR"] = folder
    os.environ["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0"


@pytest.fixture(autouse=True)
def _seed():
    """Every test starts from the same random state."""
    import keras  # not by the process that only hands out the tests

    keras.utils.set_random_seed(104)


@pytest.fixture(scope="session")
def load_once():
    """As `load_pretrained`, but each model once: every new one compiles its programs anew.

    For tests that change no weight.
    """
    from nlp104.translation import pretrained

    return functools.cache(pretrained.load_pretrained)


@pytest.fixture(params=["wide", "narrow"])
def layout(request):
    """Of a drawing that is made twice: for a page and for a phone."""
    return request.param


@pytest.fixture(scope="session")
def window():
    """A browser for all tests of a process."""
    from explore_page import browser  # most tests need none

    with browser() as reader:
        yield reader


@pytest.fixture(scope="module")
def reader(page, window):
    """A browser that shows a file's `page` of figures."""
    window.open(page)
    return window

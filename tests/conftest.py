"""Settings that every test shares: a quiet backend, fixed seeds, repeatable property tests."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("KERAS_BACKEND", "tensorflow")

import keras
import pytest
from hypothesis import settings

settings.register_profile("repeatable", derandomize=True, deadline=None, max_examples=25)
settings.load_profile("repeatable")


@pytest.fixture(autouse=True)
def _seed():
    """Every test starts from the same random state."""
    keras.utils.set_random_seed(104)


@pytest.fixture(params=["wide", "narrow"])
def layout(request):
    """Of a drawing that is made twice: for a page and for a phone."""
    return request.param


@pytest.fixture(scope="module")
def reader(page):
    """A browser that shows a file's `page` of figures."""
    from explore_page import browser  # most tests need none

    with browser() as reader:
        reader.open(page)
        yield reader

"""The digits are those that scikit-learn carries, right way up."""

import numpy as np
import pytest

from nlp104.data import load_digits

# Of the test set, as its repository counts them, from 0 to 9.
COUNTS = (178, 182, 177, 183, 181, 182, 181, 179, 174, 180)


def test_there_are_as_many_of_each_as_their_source_says():
    images, labels = load_digits()
    assert images.shape == (1797, 8, 8)
    assert (images.min(), images.max()) == (0, 16)
    np.testing.assert_array_equal(np.bincount(labels), COUNTS)


def test_the_digits_stand_upright():
    images, labels = load_digits()
    mean = [images[labels == digit].mean(axis=0) for digit in range(10)]
    one, seven = mean[1], mean[7]
    columns, rows = one.sum(axis=0), one.sum(axis=1)
    assert columns.max() > 1.5 * rows.max()  # a one is a stroke from top to bottom
    assert seven[:3].sum() > 1.2 * seven[5:].sum()  # a seven has its bar at the top
    np.testing.assert_array_equal(images[0, 0], [0, 0, 5, 13, 9, 1, 0, 0])


def test_they_are_scikit_learns():
    datasets = pytest.importorskip("sklearn.datasets")
    images, labels = load_digits()
    theirs = datasets.load_digits()
    np.testing.assert_array_equal(images, theirs.images)
    np.testing.assert_array_equal(labels, theirs.target)

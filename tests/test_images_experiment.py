"""The variants of `experiments.images` are what they say; patches are pieces of images."""

import json

import numpy as np
import pytest
from keras import ops

from experiments import images
from nlp104.data import load_digits
from nlp104.figures import results

DIGITS = load_digits().images[:6]


@pytest.mark.parametrize(("height", "width"), [(2, 4), (2, 2), (4, 4), (1, 8)])
def test_patches_are_pieces_row_by_row(height, width):
    made = images.patches(DIGITS, height, width)
    slices = [
        DIGITS[:, y : y + height, x : x + width].reshape(6, -1)
        for y in range(0, 8, height)
        for x in range(0, 8, width)
    ]
    np.testing.assert_array_equal(made, np.stack(slices, axis=1))


def test_copies_are_moved_by_one_pixel_and_paper_comes_in():
    copies = images.shifted(DIGITS).reshape(9, 6, 8, 8)
    np.testing.assert_array_equal(copies[4], DIGITS)  # in the middle: as it is
    np.testing.assert_array_equal(copies[1][:, 1:], DIGITS[:, :-1])  # moved down
    assert copies[1][:, 0].max() == 0
    assert images.shifted(DIGITS, images.STRAIGHT).shape == (30, 8, 8)


@pytest.mark.slow
@pytest.mark.parametrize("positions", [True, False])
def test_without_positions_an_image_is_a_bag_of_patches(positions):
    model = images.Seer(images.CONFIG, 9, positions)
    x = images.patches(DIGITS) / 16
    one, other = (ops.convert_to_numpy(model(order)) for order in (x, x[:, ::-1]))
    assert np.allclose(one, other, atol=1e-4) is not positions


def test_the_record_holds_every_variant_with_every_seed():
    record = json.loads(results.read("images/scores.json"))
    assert list(record["runs"]) == list(images.VARIANTS)
    for run in record["runs"].values():
        assert len(run["accuracies"]) == len(images.SEEDS) == len(record["seeds"])
    readme = (results.FOLDER / "images" / "README.md").read_text(encoding="utf-8")
    assert images.table(record) in readme

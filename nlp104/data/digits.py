"""Small images of handwritten digits, for a Transformer that reads no text."""

from importlib.resources import as_file, files
from typing import NamedTuple

import numpy as np


class Digits(NamedTuple):
    """Images and what they show.

    Attributes:
        images: `[image, 8, 8]`, integers from 0 (paper) to 16 (ink).
        labels: `[image]`, integers from 0 to 9.

    Example:
        >>> from nlp104.data import load_digits
        >>> images, labels = load_digits()
        >>> int(labels[3]), images[3, 0].tolist()  # the upper edge of a 3
        (3, [0, 0, 7, 15, 13, 1, 0, 0])
    """

    images: np.ndarray
    labels: np.ndarray


def load_digits():
    """The 1,797 digits that scikit-learn carries, in its order, without scikit-learn.

    Thirteen people wrote them. They are the test set of *Optical Recognition of Handwritten Digits*
    (E. Alpaydin and C. Kaynak, 1998, UCI Machine Learning Repository, doi:10.24432/C50P49, CC BY
    4.0): scans of 32 × 32 dots, of which each pixel counts the inked ones in a block of 4 × 4.

    Returns:
        `Digits`, the images and their labels.

    Example:
        >>> from nlp104.data import load_digits
        >>> digits = load_digits()
        >>> digits.images.shape, int(digits.images.max()), digits.labels[:10].tolist()
        ((1797, 8, 8), 16, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    """
    with as_file(files("nlp104.data") / "digits.npz") as path, np.load(path) as stored:
        return Digits(stored["images"], stored["labels"])

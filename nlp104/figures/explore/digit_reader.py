"""The small Vision Transformer of `draw_digit`: its packed weights, as the page has them, in Keras.

`python -m experiments.images --reader` trains it.
"""

import json
from pathlib import Path

import numpy as np
from keras import ops

from nlp104.transformer import Encoder, TransformerConfig
from nlp104.translation.web.weights import page_name, unpack_weights

WEIGHTS = Path(__file__).with_name("scenes") / "draw_digit" / "weights.json"


class Reader:
    """Reads an image of a digit.

    Args:
        packed: what `weights` gives.

    Example:
        >>> from nlp104.data import load_digits
        >>> from nlp104.figures.explore.digit_reader import Reader, weights
        >>> logits, look = Reader(weights())(load_digits().images[3])
        >>> int(logits.argmax()), look.shape
        (3, (8,))
    """

    def __init__(self, packed):
        self.packed = packed
        self.tensors = unpack_weights(packed)
        rows, dim = self.tensors["places"].shape
        inner = len(self.tensors["layer_0/feed_forward/expand/kernel"])
        config = TransformerConfig(
            dim,
            inner,
            packed["heads"],
            num_layers=packed["layers"],
            normalize_first=True,
            activation="gelu",
            dropout=0.0,
            epsilon=packed["epsilon"],
        )
        self.encoder = Encoder(config)
        self.encoder.build((None, rows, dim))
        for variable in self.encoder.weights:
            tensor = self.tensors[page_name(variable.path)]
            variable.assign(tensor.T.reshape(variable.shape))

    def __call__(self, image):
        """The logits of the ten digits, and where the class token looks.

        Args:
            image: `[8, 8]`, from 0 to 16.

        Returns:
            `[10]`; and `[8]`, the weights of the patches in the last layer, the mean of the heads,
            which sum to 1, for the look at itself is left out.
        """
        cut = np.reshape(image, (4, 2, 2, 4)).swapaxes(1, 2).reshape(8, 8)
        cut = (cut - self.packed["mean"]) / self.packed["spread"]
        tensors = self.tensors
        words = cut @ tensors["embedding/kernel"].T + tensors["embedding/bias"]
        x = tensors["places"] + np.concatenate([np.zeros_like(words[:1]), words])
        x = ops.convert_to_tensor(x[None], "float32")
        outputs, weights = self.encoder(x, return_attention_scores=True)
        first = ops.convert_to_numpy(outputs)[0, 0]
        looks = ops.convert_to_numpy(weights[-1])[0, :, 0, 1:]
        looks = (looks / looks.sum(axis=-1, keepdims=True)).mean(axis=0)
        return tensors["to_classes/kernel"] @ first + tensors["to_classes/bias"], looks


def weights():
    """What the page carries: the packed weights of the model, as JSON holds them."""
    return json.loads(WEIGHTS.read_text(encoding="ascii"))

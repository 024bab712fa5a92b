"""The weights of a model for a page: a few bits for each, and a scale for each row.

Six bits are one letter of base64: every matrix is written row by row, as whole numbers from -31 to
31, and each row has the scale that makes its largest weight 31 (absmax quantisation, Dettmers et
al., 2022, section 2, https://arxiv.org/abs/2208.07339). A row is what makes one output, so that its
scale is one of the sum. Biases, normalisations and scales are few and keep their 32 bits.
`results/web` holds what that costs.
"""

import base64
import math
import re

import keras
import numpy as np

from nlp104.utils.errors import InputError

TABLES = ("embeddings", "positions")  # a row for each token, for each position
DIGITS = np.frombuffer(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", "uint8")


def page_name(path):
    """What a page calls a variable: its path, without the name of the model.

    Example:
        >>> from nlp104.translation.web.weights import page_name
        >>> page_name("transformer/decoder/layer_0/self_attention/query_kernel")
        'decoder/layer_0/self_attention/query/kernel'
    """
    path = path.partition("/")[2]
    path = re.sub(r"learned_positions\w*/", "", path)  # Keras counts them
    return path.replace("_kernel", "/kernel").replace("_bias", "/bias")


def as_rows(variable):
    """A vector `[n]`, or a matrix `[outputs, inputs]`; of a table a row for each entry."""
    value = keras.ops.convert_to_numpy(variable).astype("float32")
    name = page_name(variable.path)
    if not np.isfinite(value).all():
        wrong = value[~np.isfinite(value)][0]
        raise InputError(f"Expected finite weights. Received: {wrong} in {name}.")
    if name.endswith(TABLES):
        return value
    if not name.endswith("kernel"):
        return value.reshape(-1)
    # Attentions: [dim, heads, head_dim], and the other way round for W_O.
    outputs = value.shape[-1:] if "output" in name else value.shape[1:]
    return value.reshape(-1, math.prod(outputs)).T


def quantize(rows, bits):
    """Whole numbers `[outputs, inputs]`, and the scale of each row `[outputs]`.

    Example:
        >>> import numpy as np
        >>> from nlp104.translation.web.weights import quantize
        >>> numbers, scales = quantize(np.array([[0.1, -0.31], [0.0, 0.0]], "float32"), bits=6)
        >>> numbers.tolist(), [f"{scale:.2f}" for scale in scales]
        ([[10.0, -31.0], [0.0, 0.0]], ['0.01', '0.00'])
    """
    most = 2 ** (bits - 1) - 1
    scales = np.abs(rows).max(axis=1) / np.float32(most)
    numbers = np.rint(rows / np.where(scales > 0, scales, 1)[:, None])
    return numbers.astype("float32"), scales


def pack_weights(tensors, bits=6):
    """Writes vectors and matrices, each with its name, as JSON may hold them.

    Args:
        tensors: Name to array, as `as_rows` gives them.
        bits: 6 or 8 for each number of a matrix.

    Returns:
        `{"matrices": {name: {"shape", "scales", "weights"}}, "vectors": {name: text}}`.
    """
    matrices, vectors = {}, {}
    for name, rows in tensors.items():
        if rows.ndim == 1:
            vectors[name] = _base64(rows)
            continue
        numbers, scales = quantize(rows, bits)
        matrices[name] = {
            "shape": list(rows.shape),
            "scales": _base64(scales),
            "weights": _letters(numbers) if bits == 6 else _base64(numbers.astype("int8")),
        }
    return {"matrices": matrices, "vectors": vectors}


def unpack_weights(packed):
    """Reads what `pack_weights` has written in six bits: name to array, as a page has it.

    Example:
        >>> import numpy as np
        >>> from nlp104.translation.web.weights import pack_weights, unpack_weights
        >>> kernel = np.array([[0.1, -0.31]], "float32")
        >>> bool(np.allclose(unpack_weights(pack_weights({"kernel": kernel}))["kernel"], kernel))
        True
    """
    tensors = {name: _floats(text) for name, text in packed["vectors"].items()}
    value_of = np.zeros(128, "float32")  # of a letter, by its code
    value_of[DIGITS] = np.arange(64) - 32
    for name, matrix in packed["matrices"].items():
        letters = np.frombuffer(matrix["weights"].encode("ascii"), "uint8")
        rows = value_of[letters].reshape(matrix["shape"])
        tensors[name] = rows * _floats(matrix["scales"])[:, None]
    return tensors


def _letters(numbers):
    """One letter of base64 for each number from -32 to 31."""
    return DIGITS[numbers.astype("int64").reshape(-1) + 32].tobytes().decode("ascii")


def _base64(array):
    little = array.astype(array.dtype.newbyteorder("<"))
    return base64.b64encode(little.tobytes()).decode("ascii")


def _floats(text):
    return np.frombuffer(base64.b64decode(text), "<f4")

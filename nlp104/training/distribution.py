"""Many devices: which of them holds which slice of the model, and which rows of a batch.

`keras.distribution` does the work. It splits the rows of a batch over the first axis of a grid of
devices, and the weights over the second one as `SLICES` says: the heads of every attention, the
inner width of every feed-forward network, the vocabulary. A head never needs another head's
numbers, and the inner units of the feed-forward network meet only in its second product. So one
sum for each sub-layer is all that devices of one row exchange inside of the layers on the way
forward, and one for each input of a sub-layer on the way back (Shoeybi et al., 2019, Megatron-LM,
https://arxiv.org/abs/1909.08053, section 3; here with an encoder, and attention between the two,
as well).
"""

import re

import keras

from nlp104.utils.errors import InputError

ROWS, SLICED = "batch", "model"  # the two axes of the grid

# The path of a weight, and the axis of it that is cut. Keras searched for these patterns until
# 3.13 and matches whole paths from 3.14 on: with `.*` in front and the whole name behind, both
# find the same. What no pattern finds is held by every device.
SLICES = {
    r".*/(query|key|value)_kernel": (None, SLICED, None),  # [hidden_dim, heads, key_dim]
    r".*/(query|key|value)_bias": (SLICED, None),  # [heads, key_dim]
    r".*attention/output_kernel": (SLICED, None, None),  # [heads, key_dim, hidden_dim]
    r".*/(expand|gate)/kernel": (None, SLICED),  # [hidden_dim, intermediate_dim]
    r".*/(expand|gate)/bias": (SLICED,),
    r".*/contract/kernel": (SLICED, None),  # [intermediate_dim, hidden_dim]
}
EMBEDDINGS = {  # by the vocabulary that is cut
    "source": {r".*/encoder_embedding/embeddings": (SLICED, None)},
    "target": {
        r".*/decoder_embedding/embeddings": (SLICED, None),
        r".*/output_head/output_kernel": (None, SLICED),
        r".*/output_head/output_bias": (SLICED,),
    },
}


def parse_grid(text):
    """The grid of devices that a text asks for.

    Args:
        text: ``"data"``, every device takes rows; or ``"model:2x4"``, two times four devices share
            rows and weights.

    Returns:
        Devices over the rows of a batch, None for all there are, and over the weights.

    Raises:
        ValueError: If it is neither.

    Example:
        >>> from nlp104.training.distribution import parse_grid
        >>> parse_grid("model:2x4"), parse_grid("data")
        ((2, 4), (None, 1))
    """
    if text == "data":
        return None, 1
    found = re.fullmatch(r"model:([1-9]\d{0,5})x([1-9]\d{0,5})", text)
    if not found:
        raise InputError(f"Expected data or model:ROWSxSLICES, as in model:2x4. Received: {text}.")
    return int(found[1]), int(found[2])


def make_distribution(text, config):
    """What `keras.distribution.set_distribution` takes, before the model is built.

    A vocabulary that does not divide by the number of slices is not cut.

    Args:
        text: As of `parse_grid`.
        config: `nlp104.transformer.TransformerConfig`.

    Returns:
        `keras.distribution.DataParallel` or `keras.distribution.ModelParallel`.

    Raises:
        ValueError: If the backend cannot do it, there are too few devices, or the heads, those of
            keys and values, or the feed-forward network do not divide.

    Example:
        >>> import keras
        >>> from nlp104.training import make_distribution
        >>> from nlp104.transformer import TransformerConfig
        >>> config = TransformerConfig(8, 32, 2, num_layers=1, vocabulary_size=10)
        >>> devices = make_distribution("data", config)  # doctest: +SKIP
        >>> keras.distribution.set_distribution(devices)  # doctest: +SKIP
    """
    rows, slices = parse_grid(text)
    backend = keras.backend.backend()
    if backend != "jax":
        raise InputError(
            "Only JAX trains on many devices through keras.distribution. Received: KERAS_BACKEND="
            f"{backend}. Set KERAS_BACKEND=jax; what is saved loads on every backend."
        )
    devices = keras.distribution.list_devices()
    needed = slices if rows is None else rows * slices
    if needed > len(devices):
        raise InputError(f"Expected {needed} devices for {text}. Received: {len(devices)}.")
    if slices == 1:
        return keras.distribution.DataParallel(devices=devices[:rows])
    for name in ("num_heads", "num_key_value_heads", "intermediate_dim"):
        size = getattr(config, name)
        if size and size % slices:  # no number of keys' and values' own: as many as of queries
            raise InputError(f"Expected `{name}` to divide by {slices}. Received: {size}.")
    mesh = keras.distribution.DeviceMesh((rows, slices), (ROWS, SLICED), devices[:needed])
    layout = keras.distribution.LayoutMap(mesh)
    for pattern, axes in slices_of(config, slices).items():
        layout[pattern] = axes
    return keras.distribution.ModelParallel(layout_map=layout, batch_dim_name=ROWS)


def slices_of(config, slices):
    """The patterns of `SLICES` and of those vocabularies that divide by the number of slices."""
    sizes = {
        "source": config.source_vocabulary_size or config.vocabulary_size,
        "target": config.vocabulary_size,
    }
    found = dict(SLICES)
    for side, patterns in EMBEDDINGS.items():
        if sizes[side] % slices == 0:
            found |= patterns
    return found


def num_replicas():
    """Among how many devices the rows of a batch are divided now, 1 without a distribution."""
    found = keras.distribution.distribution()
    return 1 if found is None else found.device_mesh.shape[0]


def require_sliced(model):
    """Raises an error unless every weight is cut as its pattern says.

    A pattern that matches nothing would leave a weight on every device, in silence.

    Args:
        model: A built `nlp104.Transformer`.

    Returns:
        The paths of the weights that are cut.

    Raises:
        RuntimeError: If a weight is cut otherwise.

    Example:
        >>> from nlp104 import Transformer
        >>> from nlp104.training.distribution import require_sliced
        >>> from nlp104.transformer import TransformerConfig
        >>> model = Transformer(TransformerConfig(8, 32, 2, num_layers=1, vocabulary_size=10))
        >>> require_sliced(model)  # no devices were chosen: nothing is cut
        []
    """
    found = keras.distribution.distribution()
    mesh = found and found.device_mesh
    slices = mesh.shape[1] if mesh and len(mesh.shape) > 1 else 1
    if slices == 1:
        return []
    patterns = slices_of(model.config, slices)
    cut = []
    for variable in model.trainable_variables:
        wanted = next((a for p, a in patterns.items() if re.fullmatch(p, variable.path)), ())
        axes = tuple(variable.value.sharding.spec)
        if tuple(a for a in axes if a) != tuple(a for a in wanted if a):
            raise RuntimeError(f"Expected {variable.path} to be cut by {wanted}. Received: {axes}.")
        cut += [variable.path] if wanted else []
    return cut

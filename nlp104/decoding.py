"""From source token ids to target token ids, step by step.

The whole loop is one compiled program. It runs the encoder once, keeps the keys and values of the
tokens that it has written (the cache), and so computes one position in each step.
"""

import weakref

import keras
import numpy as np
from keras import ops

from nlp104.attention import padding_mask
from nlp104.text import END_ID, START_ID

EXTRA_LENGTH = 50  # so much longer than its source may a translation be (Vaswani et al., 6.1)
ROUND = 16  # lengths are rounded up to a multiple where every new shape is compiled


def greedy(model, encoder_token_ids, max_length=None, jit_compile=False):
    """Translate by taking the most probable token in every step.

    A row's translation does not depend on the other rows or on padding. The first call traces the
    program, the following ones use it again, with the model's weights as they then are.

    Args:
        model: `nlp104.Transformer`.
        encoder_token_ids: Integers of shape `[batch, source]`, each row ended by `[END]` and padded
            with 0.
        max_length: Number of tokens at which a translation is cut off. By default a row may have 50
            more than its source.
        jit_compile: Whether TensorFlow compiles with XLA: several times faster, after seconds of
            compiling for each new shape (numbers of rows are rounded up to powers of two, lengths
            to multiples of 16, so shapes are few). JAX always compiles.

    Returns:
        Integers of shape `[batch, target]` in the form of labels: tokens, `[END]` (unless the row
        was cut off), then 0.

    Raises:
        ValueError: If the ids are no matrix, empty, or not of the model's vocabulary, or if a
            sequence is, or might become, longer than the model allows.

    Example:
        >>> greedy(model, np.array([[7, 12, 3, 0], [9, 8, 7, 3]])).shape
        (2, 5)
    """
    ids = _checked(model, encoder_token_ids)
    longest = model.max_sequence_length
    if max_length is None:
        lengths = np.count_nonzero(ids, axis=1)
        limits = np.minimum(lengths + EXTRA_LENGTH, longest)  # [batch]
    elif 0 < max_length <= longest:
        limits = np.full(len(ids), max_length)
    else:
        raise ValueError(
            "max_length must be between 1 and the model's max_sequence_length="
            f"{longest}, received {max_length}."
        )
    batch, room = len(ids), limits.max()
    if jit_compile or keras.backend.backend() == "jax":
        rows = 2 ** (batch - 1).bit_length() - batch
        columns = min(-ids.shape[1] % ROUND, longest - ids.shape[1])
        ids, limits = np.pad(ids, ((0, rows), (0, columns))), np.pad(limits, (0, rows))
        room = min(room + -room % ROUND, longest)
    output = _program(model, jit_compile)(ids, limits.astype("int32"), int(room))
    output = ops.convert_to_numpy(output)[:batch]
    return output[:, : np.count_nonzero(output, axis=1).max()]


def _greedy(model, encoder_token_ids, limits, room):
    """The program: `[batch, source]` and the rows' longest lengths `[batch]` to `[batch, room]`."""
    mask = padding_mask(encoder_token_ids)  # [batch, source]
    places = ops.arange(room, dtype="int32")

    def unfinished(step, token, output, finished, cache):
        return ops.logical_not(ops.all(finished))

    def write(step, token, output, finished, cache):
        logits, cache = model.decode_step(token, step, cache, mask)  # [batch, vocabulary]
        token = ops.cast(ops.argmax(logits[:, 1:], axis=-1), "int32") + 1  # never padding
        token = ops.expand_dims(ops.where(finished, 0, token), 1)  # [batch, 1]
        output = ops.where(places == step, token, output)
        finished = finished | (token[:, 0] == END_ID) | (step + 1 >= limits)
        return step + 1, token, output, finished, cache

    batch = ops.shape(encoder_token_ids)[0]
    encoder_output = model.encode(encoder_token_ids, training=False)
    state = (
        ops.convert_to_tensor(0, dtype="int32"),
        ops.full((batch, 1), START_ID, dtype="int32"),
        ops.zeros((batch, room), dtype="int32"),
        limits <= 0,
        model.start_cache(encoder_output, room),
    )
    _, _, output, _, _ = ops.while_loop(unfinished, write, state)
    return output


_programs: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()  # from a model to its programs


def _program(model, jit_compile):
    programs = _programs.setdefault(model, {})
    if jit_compile not in programs:
        programs[jit_compile] = _compile(_greedy, model, jit_compile)
    return programs[jit_compile]


def _compile(function, model, jit_compile):
    """Compile `function(model, ids, limits, room)` into a function of the last three."""
    # A program that held its model would keep it in the dictionary for ever.
    model = weakref.ref(model)
    backend = keras.backend.backend()
    if backend == "tensorflow":
        import tensorflow as tf

        if jit_compile:
            return tf.function(
                lambda ids, limits, room: function(model(), ids, limits, room), jit_compile=True
            )
        # One trace for all shapes.
        signature = [tf.TensorSpec(shape, "int32") for shape in ([None, None], [None], [])]
        return tf.function(
            lambda ids, limits, room: function(model(), ids, limits, room), signature
        )
    if backend == "jax":
        import jax

        def stateless(values, ids, limits, room):
            # Weights are an argument: what is closed over would be compiled in as a constant.
            with keras.StatelessScope(zip(model().variables, values, strict=True)):
                return function(model(), ids, limits, room)

        compiled = jax.jit(stateless, static_argnums=3)
        return lambda *args: compiled([variable.value for variable in model().variables], *args)
    import torch

    @torch.no_grad()
    def eager(ids, limits, room):
        ids, limits = ops.convert_to_tensor(ids), ops.convert_to_tensor(limits)
        return function(model(), ids, limits, room)

    return eager


def _checked(model, ids):
    ids = np.asarray(ids)
    if ids.ndim != 2 or 0 in ids.shape or not np.issubdtype(ids.dtype, np.integer):
        raise ValueError(
            "Expected integer token ids of shape [batch, source] with at least one row and one "
            f"column, received {ids.dtype} of shape {list(ids.shape)}."
        )
    if ids.min() < 0 or ids.max() >= model.source_vocabulary_size:
        raise ValueError(
            f"Expected token ids from 0 to {model.source_vocabulary_size - 1}, "
            f"received {ids.min()} to {ids.max()}."
        )
    if ids.shape[1] > model.max_sequence_length:
        raise ValueError(
            f"Expected at most max_sequence_length={model.max_sequence_length} source tokens, "
            f"received {ids.shape[1]}."
        )
    return ids.astype("int32")

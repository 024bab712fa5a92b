"""Decoding as one program: its arguments made ready, compiled once for each model, run.

A program is a function ``function(model, *arrays, num_steps)`` of `keras.ops` alone, `num_steps`
being the number of steps that it has space for. TensorFlow traces it when it is asked for again: to
trace takes two seconds, in which it writes a hundred tokens as it stands.
"""

import functools
import itertools
import weakref
from numbers import Integral

import keras
import numpy as np
from keras import ops

from nlp104.data.tokenizer import START_ID
from nlp104.transformer.configured_model import ConfiguredModel
from nlp104.transformer.language_model import LanguageModel
from nlp104.utils.arguments import require_number
from nlp104.utils.errors import InputError

EXTRA_LENGTH = 50  # by so many tokens what is written may exceed what was given (Vaswani, 6.1)
ROUND = 16  # lengths are rounded up to a multiple where every new shape is compiled


def prepare(model, token_ids, max_length, jit_compile):
    """Check the arguments that all ways to decode share.

    Returns:
        Token ids, the number of tokens that each row may have `[rows]`, and the largest of these.
        The ids are `[rows, source]`; prompts have space for what continues them, `[rows, steps]`.
        Where the backend compiles each shape, rows are added (which may have no token) and all
        sizes are rounded up.
    """
    if not isinstance(model, ConfiguredModel):
        raise ValueError(f"Expected a Transformer or a LanguageModel. Received: {model!r}.")
    ids = _checked(model, token_ids)
    lengths, longest = np.count_nonzero(ids, axis=1), model.max_sequence_length
    if max_length is None:
        limits = np.minimum(lengths + EXTRA_LENGTH, longest)  # [batch]
    else:
        require_max_length(model, max_length)
        limits = np.full(len(ids), max_length)
    continues = isinstance(model, LanguageModel)
    if continues:
        _check_prompts(ids, lengths, limits)
    elif model.vocabulary_size <= START_ID:
        raise ValueError(
            f"Expected a vocabulary with the special tokens, of which [START] is {START_ID}. "
            f"Received: vocabulary_size={model.vocabulary_size}."
        )
    num_steps = int(limits.max())
    if jit_compile or keras.backend.backend() == "jax":
        rows = 2 ** (len(ids) - 1).bit_length() - len(ids)
        columns = min(-ids.shape[1] % ROUND, longest - ids.shape[1])
        ids, limits = np.pad(ids, ((0, rows), (0, columns))), np.pad(limits, (0, rows))
        num_steps = min(num_steps + -num_steps % ROUND, longest)
    if continues:
        ids = np.pad(ids, ((0, 0), (0, num_steps)))[:, :num_steps]
    return ids, limits.astype("int32"), num_steps


def require_max_length(model, max_length):
    """Raises `ValueError` unless the model can write as many tokens; returns it as an `int`."""
    longest = model.max_sequence_length

    def fits(number):
        return isinstance(number, Integral) and 0 < number <= longest

    expected = f"an integer between 1 and the model's max_sequence_length={longest}"
    return int(require_number("max_length", max_length, fits, expected, InputError))


def _check_prompts(ids, lengths, limits):
    if not lengths.all() or (np.cumprod(ids != 0, axis=1).sum(axis=1) != lengths).any():
        raise ValueError(
            "Expected prompts of at least one token each, padded with 0 at the end. Received: "
            "a row that begins with 0, or has a token after a 0."
        )
    if (lengths > limits).any():
        raise ValueError(
            f"Expected prompts of at most max_length={limits.max()} tokens. "
            f"Received: one of {lengths.max()}."
        )


def run(function, model, arrays, num_steps, jit_compile, **settings):
    """Run a program, compiled for this model and these settings.

    Args:
        function: ``function(model, *arrays, num_steps=…, **settings)``, which returns a tuple of
            tensors.
        model: `nlp104.Transformer` or `nlp104.transformer.LanguageModel`.
        arrays: NumPy arrays. New values and new lengths need no new program.
        num_steps: Number of steps to make space for.
        jit_compile: Whether TensorFlow compiles with XLA, a program for each shape.
        **settings: Each new value needs a new program.

    Returns:
        The tensors as NumPy arrays.
    """
    programs = _programs.setdefault(model, {})
    # The number of weights, too: `enable_lora` adds some.
    key = (function, jit_compile, len(model.weights), *sorted(settings.items()))
    if key not in programs:
        function = functools.partial(function, **settings)
        programs[key] = _compile(function, model, arrays, jit_compile)
    return [ops.convert_to_numpy(output) for output in programs[key](*arrays, num_steps)]


_programs: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()  # from a model to its programs


def _compile(function, model, arrays, jit_compile):
    """Compile ``function(model, *arrays, num_steps=…)`` into a function of all but the model."""
    # A program that held its model would keep it in the dictionary for ever.
    model = weakref.ref(model)
    backend = keras.backend.backend()
    if backend == "tensorflow":
        import tensorflow as tf

        def graph(*arguments):
            *tensors, num_steps = arguments
            return function(model(), *tensors, num_steps=num_steps)

        # TensorFlow warns of a function that is traced often. Each program is one of its own, which
        # it does not see in a function of Python.
        graph = functools.partial(graph)
        if jit_compile:
            return tf.function(graph, jit_compile=True, autograph=False)
        # One trace for all shapes.
        signature = [tf.TensorSpec([None] * array.ndim, array.dtype) for array in arrays]
        signature.append(tf.TensorSpec([], "int32"))
        program = tf.function(graph, signature, autograph=False)
        calls = itertools.count()

        def from_the_second_call_on(*arguments):
            return program(*arguments) if next(calls) else graph(*map(tf.constant, arguments))

        return from_the_second_call_on
    if backend == "jax":
        import jax

        def stateless(values, num_steps, *tensors):
            # Weights are an argument: what is closed over would be compiled in as a constant.
            with keras.StatelessScope(zip(model().variables, values, strict=True)):
                return function(model(), *tensors, num_steps=num_steps)

        compiled = jax.jit(stateless, static_argnums=1)

        def with_weights(*arguments):
            *tensors, num_steps = arguments
            return compiled([variable.value for variable in model().variables], num_steps, *tensors)

        return with_weights
    import torch

    @torch.no_grad()
    def eager(*arguments):
        *tensors, num_steps = arguments
        return function(model(), *map(ops.convert_to_tensor, tensors), num_steps=num_steps)

    return eager


def _checked(model, ids):
    try:
        ids = np.asarray(ids)
    except ValueError:
        raise ValueError(
            "Expected rows of one length, the shorter ones filled up with 0. "
            "Received: rows of different lengths."
        ) from None
    if ids.ndim != 2 or 0 in ids.shape or not np.issubdtype(ids.dtype, np.integer):
        raise ValueError(
            "Expected integer token ids of shape [batch, length] with at least one row and one "
            f"column. Received: {ids.dtype} of shape {list(ids.shape)}."
        )
    if ids.min() < 0 or ids.max() >= model.source_vocabulary_size:
        raise ValueError(
            f"Expected token ids from 0 to {model.source_vocabulary_size - 1}. "
            f"Received: {ids.min()} to {ids.max()}."
        )
    if ids.shape[1] > model.max_sequence_length:
        raise ValueError(
            f"Expected at most max_sequence_length={model.max_sequence_length} tokens in a row. "
            f"Received: {ids.shape[1]}."
        )
    return ids.astype("int32")


def trim(ids):
    """Without the columns of nothing but padding: `[…, num_steps]` to `[…, length]`."""
    return ids[..., : np.count_nonzero(ids, axis=-1).max()]

"""From source token ids to target token ids, step by step.

The whole loop is one compiled program. It runs the encoder once, keeps the keys and values of the
tokens that it has written (the cache), so that each step computes one position, and ends when the
last row has ended. The first call traces the program, the following ones use it again, with the
model's weights as they then are.

A row's translation does not depend on the other rows or on padding.
"""

import math
import random

import numpy as np
from keras import ops

from nlp104 import beam
from nlp104.attention import masked_softmax, padding_mask
from nlp104.checks import require_not_negative, require_positive
from nlp104.programs import prepare, run
from nlp104.text import END_ID, START_ID


def greedy(model, encoder_token_ids, max_length=None, jit_compile=False):
    """Translate by taking the most probable token in every step.

    Args:
        model: `nlp104.Transformer`.
        encoder_token_ids: Integers of shape `[batch, source]`, each row ended by `[END]` and padded
            with 0.
        max_length: Number of tokens at which a translation is cut off. By default a row may have 50
            more than its source.
        jit_compile: Whether TensorFlow compiles with XLA: faster (for one row several times), after
            seconds of compiling for each new shape (numbers of rows are rounded up to powers of
            two, lengths to multiples of 16, so shapes are few). JAX always compiles.

    Returns:
        Integers of shape `[batch, target]` in the form of labels, which is tokens, `[END]` (unless
        the row was cut off), then 0.

    Raises:
        ValueError: If the ids are no matrix, empty, or not of the model's vocabulary, or if a
            sequence is, or might become, longer than the model allows.

    Example:
        >>> greedy(model, np.array([[7, 12, 3, 0], [9, 8, 7, 3]])).shape
        (2, 5)
    """
    ids, limits, room = prepare(model, encoder_token_ids, max_length, jit_compile)
    (output,) = run(_greedy, model, [ids, limits], room, jit_compile)
    return _trim(output[: len(encoder_token_ids)])


def sample(
    model,
    encoder_token_ids,
    temperature=1.0,
    top_k=None,
    top_p=None,
    seed=None,
    max_length=None,
    jit_compile=False,
):
    """Translate by drawing every token from the distribution that the model gives.

    The probabilities are softmax(logits / temperature). Of them only the `top_k` largest are kept
    (Fan et al., 2018), of these the fewest that together reach `top_p` (Holtzman et al., 2020), and
    what is kept is scaled to a sum of 1.

    Args:
        model: `nlp104.Transformer`.
        encoder_token_ids: As for `greedy`.
        temperature: Below 1 the probable tokens become more so; towards 0 this becomes `greedy`.
        top_k: Number of tokens to draw from; all by default. With 1 this is `greedy`.
        top_p: Probability of the tokens to draw from, above 0 and at most 1; all by default.
        seed: Integer of at least 0. The same seed gives the same translations: the random numbers
            are the same on every backend, and those of a row depend on its place alone. By default
            one is drawn with the module `random`, which `keras.utils.set_random_seed` sets.
        max_length: As for `greedy`.
        jit_compile: As for `greedy`.

    Returns:
        Integers of shape `[batch, target]`, as `greedy`.

    Raises:
        ValueError: As `greedy`, and if another argument is out of its range.

    Example:
        >>> sample(model, np.array([[7, 12, 3, 0], [9, 8, 7, 3]]), top_p=0.9, seed=104).shape
        (2, 6)
    """
    if not 0 < temperature < math.inf:
        raise ValueError(f"`temperature` must be a number above 0. Received: {temperature!r}")
    if top_k is not None:
        require_positive(top_k=top_k)
    if top_p is not None and not 0 < top_p <= 1:
        raise ValueError(f"`top_p` must be above 0 and at most 1. Received: {top_p!r}")
    seed = random.getrandbits(32) if seed is None else seed
    if not isinstance(seed, int) or seed < 0:
        raise ValueError(f"`seed` must be an integer of at least 0. Received: {seed!r}")
    ids, limits, room = prepare(model, encoder_token_ids, max_length, jit_compile)
    draws = [np.random.default_rng((seed, row)).random(room, "float32") for row in range(len(ids))]
    numbers = [np.array(number, "float32") for number in (temperature, top_p or 1.0)]
    if top_k is None and top_p is not None:
        top_k = model.vocabulary_size
    (output,) = run(
        _sample, model, [ids, limits, np.stack(draws), *numbers], room, jit_compile, top_k=top_k
    )
    return _trim(output[: len(encoder_token_ids)])


def beam_search(
    model,
    encoder_token_ids,
    num_beams=4,
    length_penalty=0.6,
    max_length=None,
    num_best=None,
    jit_compile=False,
):
    """Translate by keeping the `num_beams` most probable beginnings in every step.

    The score of a translation Y of |Y| tokens, `[END]` included, is log P(Y | X) / lp(Y) with
    lp(Y) = ((5 + |Y|) / 6) ** length_penalty (Wu et al., 2016, equation 14, without coverage).

    Of all that one more token can make of the beam, the `num_beams` most probable are kept. Those
    that end leave the beam with their final score; the others are the beam of the next step. A row
    stops when its beam is empty, or when nothing that the beam might become could be among its
    best: log-probabilities only fall, so a beginning of log-probability s reaches at most s / lp at
    the row's longest length. With one beam this is `greedy`, with enough of them it finds the best
    of all translations.

    Args:
        model: `nlp104.Transformer`.
        encoder_token_ids: As for `greedy`.
        num_beams: Number of beginnings to keep, k.
        length_penalty: α, at least 0, where log-probabilities are compared as they are. More of it
            gives longer translations.
        max_length: As for `greedy`. A translation that is cut off comes after all that end.
        num_best: Number of translations to return for each row, at most `num_beams`.
        jit_compile: As for `greedy`.

    Returns:
        The best translations, integers of shape `[batch, target]`, as `greedy`. With `num_best` the
        best so many, integers of shape `[batch, num_best, target]`, and their scores `[batch,
        num_best]`, best first. Where there are fewer, the rest is 0 and has the score -∞.

    Raises:
        ValueError: As `greedy`, and if another argument is out of its range.

    Example:
        >>> ids, scores = beam_search(model, np.array([[7, 12, 3, 0], [9, 8, 7, 3]]), num_best=2)
        >>> ids.shape, scores.shape
        ((2, 2, 6), (2, 2))
    """
    require_positive(num_beams=num_beams)
    if num_best is not None:
        require_positive(num_best=num_best)
        if num_best > num_beams:
            raise ValueError(
                f"`num_best` must be at most num_beams={num_beams}. Received: {num_best}"
            )
    require_not_negative(length_penalty=length_penalty)
    ids, limits, room = prepare(model, encoder_token_ids, max_length, jit_compile)
    outputs = run(
        beam.search,
        model,
        [ids, limits, np.array(length_penalty, "float32")],
        room,
        jit_compile,
        num_beams=num_beams,
        num_best=num_best or 1,
    )
    ids, scores = (output[: len(encoder_token_ids)] for output in outputs)
    return _trim(ids[:, 0]) if num_best is None else (_trim(ids), scores)


def _greedy(model, encoder_token_ids, limits, room):
    def choose(logits, step):
        # Not `ops.argmax`: XLA's, on a CPU, takes as long as a layer.
        return ops.top_k(logits, 1)[1][:, 0]

    return _write(model, encoder_token_ids, limits, room, choose)


def _sample(model, encoder_token_ids, limits, draws, temperature, top_p, room, top_k):
    def choose(logits, step):
        logits = logits / temperature
        if top_k is None:
            tokens = ops.broadcast_to(ops.arange(ops.shape(logits)[1]), ops.shape(logits))
        else:  # sorted, so that what is kept comes first
            logits, tokens = ops.top_k(logits, min(top_k, logits.shape[1]))
        probabilities = masked_softmax(logits)
        sums = ops.cumsum(probabilities, axis=1)
        kept = sums - probabilities < top_p  # the first always
        mass = ops.max(ops.where(kept, sums, 0.0), axis=1, keepdims=True)
        # The draw, from 0 to below 1, falls into one token's share of the mass.
        draw = ops.expand_dims(ops.take(draws, step, axis=1), 1) * mass  # [batch, 1]
        before = (sums <= draw) & (sums < mass)
        place = ops.sum(ops.cast(before, "int32"), axis=1, keepdims=True)
        return ops.take_along_axis(tokens, place, axis=1)[:, 0]

    return _write(model, encoder_token_ids, limits, room, choose)


def _write(model, encoder_token_ids, limits, room, choose):
    """Write all rows at once, one token in each step.

    Args:
        model: `nlp104.Transformer`.
        encoder_token_ids: Integers `[batch, source]`.
        limits: Integers `[batch]`, the number of tokens at which a row is cut off.
        room: Number of steps to make space for.
        choose: Function from logits `[batch, number]` and the step to places among them `[batch]`.

    Returns:
        One tensor, integers `[batch, room]`.
    """
    mask = padding_mask(encoder_token_ids)  # [batch, source]
    positions = ops.arange(room, dtype="int32")

    def unfinished(step, token, output, finished, cache):
        return ops.logical_not(ops.all(finished))

    def write(step, token, output, finished, cache):
        logits, cache = model.decode_step(token, step, cache, mask)  # [batch, 1, vocabulary]
        token = ops.cast(choose(logits[:, 0, 1:], step), "int32") + 1  # never padding
        token = ops.expand_dims(ops.where(finished, 0, token), 1)  # [batch, 1]
        output = ops.where(positions == step, token, output)
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
    return (output,)


def _trim(ids):
    """Without the columns of nothing but padding: `[…, room]` to `[…, target]`."""
    return ids[..., : np.count_nonzero(ids, axis=-1).max()]

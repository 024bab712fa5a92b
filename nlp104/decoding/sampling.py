"""Sampling: every token is drawn from the distribution that the model gives."""

import math
import random

import numpy as np
from keras import ops

from nlp104.attention.masks import masked_softmax
from nlp104.decoding.compiled import prepare, run, trim
from nlp104.decoding.greedy import write
from nlp104.utils.arguments import require_number, require_positive, require_whole


def sample(
    model,
    token_ids,
    temperature=1.0,
    top_k=None,
    top_p=None,
    seed=None,
    max_length=None,
    jit_compile=False,
):
    """Translate, or continue, by drawing every token from the distribution that the model gives.

    The probabilities are softmax(logits / temperature). Of them only the `top_k` largest are kept
    (Fan et al., 2018), of these the fewest that together reach `top_p` (Holtzman et al., 2020), and
    what is kept is scaled to a sum of 1.

    Args:
        model: As for `greedy`.
        token_ids: As for `greedy`.
        temperature: Below 1 the probable tokens become more so; towards 0 this becomes
            `greedy`, which is to be taken for less than 1e-6.
        top_k: Number of tokens to draw from; all by default. With 1 this is `greedy`.
        top_p: Probability of the tokens to draw from, above 0 and at most 1; all by default.
        seed: Integer of at least 0. The same seed gives the same texts: the random numbers
            are the same on every backend, and those of a row depend on its place alone. By default
            one is drawn with the module `random`, which `keras.utils.set_random_seed` sets.
        max_length: As for `greedy`.
        jit_compile: As for `greedy`.

    Returns:
        Integers of shape `[batch, length]`, as `greedy`.

    Raises:
        ValueError: As `greedy`, and if another argument is out of its range.

    Example:
        >>> import numpy as np
        >>> import nlp104
        >>> from nlp104.decoding import sample
        >>> translator = nlp104.load_pretrained("grammar")
        >>> ids = np.array([[*translator.source_tokenizer.encode("The cat is small."), 3]])
        >>> for seed in (0, 1):  # hot, so that it errs
        ...     output = sample(translator.model, ids, temperature=2.0, top_k=5, seed=seed)
        ...     print(translator.target_tokenizer.decode(output[0]))
        Le chat est petit.
        Le chat est grand.
    """
    ids, limits, num_steps = prepare(model, token_ids, max_length, jit_compile)
    numbers, settings = choices(model, temperature, top_k, top_p)
    seed = drawn_seed(seed)
    draws = np.stack([draws_of(row, seed, num_steps) for row in range(len(ids))])
    arrays = [ids, limits, draws, *numbers]
    (output,) = run(_sample, model, arrays, num_steps, jit_compile, **settings)
    return trim(output[: len(token_ids)])


def _sample(model, token_ids, limits, draws, temperature, top_p, num_steps, top_k):
    def choose(logits, step):
        return draw(logits, ops.take(draws, step, axis=1), temperature, top_p, top_k)

    return write(model, token_ids, limits, num_steps, choose)


def choices(model, temperature, top_k, top_p):
    """What `sample` may draw from, checked and as `draw` wants it.

    Returns:
        The temperature and `top_p` as arrays, and a dictionary with `top_k`.

    Raises:
        ValueError: If an argument is out of its range.
    """
    expected = "a number of at least 1e-6; its limit at 0 is `greedy`"
    # Logits that are divided by less leave float32.
    require_number("temperature", temperature, lambda t: 1e-6 <= t < math.inf, expected)
    if top_k is not None:
        [top_k] = require_positive(top_k=top_k)
    if top_p is not None:
        require_number("top_p", top_p, lambda p: 0 < p <= 1, "above 0 and at most 1")
    if top_k is None and top_p is not None:
        top_k = model.vocabulary_size
    numbers = [np.array(number, "float32") for number in (temperature, top_p or 1.0)]
    return numbers, {"top_k": top_k}


def drawn_seed(seed):
    """`seed`, checked, or one that the module `random` draws."""
    [seed] = require_whole(seed=random.getrandbits(32) if seed is None else seed)
    return seed


def draws_of(row, seed, num_steps):
    """The random numbers of a row, from 0 to below 1, one for each token that is read."""
    return np.random.default_rng((seed, row)).random(num_steps, "float32")


def draw(logits, draws, temperature, top_p, top_k):
    """Draw a place for each row of logits `[rows, number]`, by a random number each: `[rows]`."""
    logits = logits / temperature
    if top_k is None:
        tokens = ops.broadcast_to(
            ops.arange(ops.shape(logits)[1], dtype="int32"), ops.shape(logits)
        )
    else:  # sorted, so that what is kept comes first
        logits, tokens = ops.top_k(logits, min(top_k, logits.shape[1]))
    probabilities = masked_softmax(logits)
    sums = ops.cumsum(probabilities, axis=1)
    kept = sums - probabilities < top_p  # the first always
    mass = ops.max(ops.where(kept, sums, 0.0), axis=1, keepdims=True)
    # The draw, from 0 to below 1, falls into one token's share of the mass.
    share = ops.expand_dims(draws, 1) * mass  # [rows, 1]
    before = (sums <= share) & (sums < mass)
    place = ops.sum(ops.cast(before, "int32"), axis=1, keepdims=True)
    return ops.take_along_axis(tokens, place, axis=1)[:, 0]

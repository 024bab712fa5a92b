"""Greedy decoding: the most probable token in every step."""

import functools

from keras import ops

from nlp104.attention.masks import padding_mask
from nlp104.data.tokenizer import END_ID, START_ID
from nlp104.decoding.compiled import prepare, run, trim
from nlp104.transformer.language_model import LanguageModel


def greedy(model, token_ids, max_length=None, jit_compile=False):
    """Translate, or continue, by taking the most probable token in every step.

    Args:
        model: `nlp104.Transformer`, which translates; or a causal
            `nlp104.transformer.LanguageModel`, which continues.
        token_ids: Integers of shape `[batch, length]`, padded with 0: sources, each ended by
            `[END]`; or prompts, at least one token each. A prompt is read token by token as if it
            were being written, so prompts of unlike lengths go together.
        max_length: Number of tokens at which a row is cut off, the prompt included. By default a
            row may have 50 more than was given.
        jit_compile: Whether TensorFlow compiles with XLA: faster (for one row several times), after
            seconds of compiling for each new shape (numbers of rows are rounded up to powers of
            two, lengths to multiples of 16, so shapes are few). JAX always compiles, PyTorch never.

    Returns:
        Integers of shape `[batch, length]`, the translations in the form of labels, which is
        tokens, `[END]` (unless the row was cut off), then 0; the continuations in the same form
        behind their prompts.

    Raises:
        ValueError: If the ids are no matrix, empty, or not of the model's vocabulary, or if a
            sequence is, or might become, longer than the model allows.

    Example:
        >>> import numpy as np
        >>> import nlp104
        >>> from nlp104.decoding import greedy
        >>> translator = nlp104.load_pretrained("grammar")
        >>> ids = translator.source_tokenizer.encode("The black cat sleeps.")
        >>> output = greedy(translator.model, np.array([[*ids, 3]]))  # 3 is [END]
        >>> translator.target_tokenizer.decode(output[0])
        'Le chat noir dort.'
    """
    ids, limits, num_steps = prepare(model, token_ids, max_length, jit_compile)
    (output,) = run(_greedy, model, [ids, limits], num_steps, jit_compile)
    return trim(output[: len(token_ids)])


def _greedy(model, token_ids, limits, num_steps):
    return write(model, token_ids, limits, num_steps, lambda logits, step: best(logits))


def best(logits):
    """The place of the largest of the logits `[rows, number]`: `[rows]`."""
    # Not `ops.argmax`: XLA's, on a CPU, takes as long as a layer.
    return ops.top_k(logits, 1)[1][:, 0]


def write(model, token_ids, limits, num_steps, choose):
    """Write all rows at once, one token in each step.

    Args:
        model: `nlp104.Transformer` or `nlp104.transformer.LanguageModel`.
        token_ids: Integers, sources `[batch, source]` or prompts `[batch, num_steps]`.
        limits: Integers `[batch]`, the number of tokens at which a row is cut off.
        num_steps: Number of steps to make space for.
        choose: Function from logits `[batch, number]` and the step to places among them `[batch]`.

    Returns:
        One tensor, integers `[batch, num_steps]`.
    """
    token, output, ahead, cache, read = begin(model, token_ids, num_steps)
    positions = ops.arange(num_steps, dtype="int32")

    def unfinished(step, token, output, finished, cache):
        return ops.logical_not(ops.all(finished))

    def extend(step, token, output, finished, cache):
        logits, cache = read(token, step, cache)  # [batch, 1, vocabulary]
        token = ops.cast(choose(logits[:, 0, 1:], step), "int32") + 1  # never padding
        place = step + ahead
        given = ops.take(output, place, axis=1)  # what a prompt has here, or 0
        ended = (given == 0) & (token == END_ID)
        token = ops.where(finished, 0, ops.where(given == 0, token, given))
        token = ops.expand_dims(token, 1)  # [batch, 1]
        output = ops.where(positions == place, token, output)
        return step + 1, token, output, finished | ended | (place + 1 >= limits), cache

    step = ops.convert_to_tensor(0, dtype="int32")
    state = (step, token, output, limits <= ahead, cache)  # a prompt may be full
    _, _, output, _, _ = ops.while_loop(unfinished, extend, state)
    return (output,)


def begin(model, token_ids, num_steps):
    """How the loop begins.

    Returns:
        The token that is read first `[batch, 1]`; what is written already `[batch, length]`; how
        many places ahead of what is read it is written; the cache; and a function from tokens
        `[batch, number]`, the step of the first and the cache to logits and the new cache.
    """
    start = _continue if isinstance(model, LanguageModel) else _translate
    return start(model, token_ids, num_steps)


def _translate(model, sources, num_steps):
    """`[START]` is read, which is no part of what is written."""
    batch, mask = ops.shape(sources)[0], padding_mask(sources)
    kernel = model.output_kernel()

    def read(token, step, cache):
        return model.decode_step(token, step, cache, mask, output_kernel=kernel)

    token = ops.full((batch, 1), START_ID, dtype="int32")
    output = ops.zeros((batch, num_steps), dtype="int32")
    cache = model.start_cache(model.encode(sources, training=False), num_steps)
    return token, output, 0, cache, read


def _continue(model, prompts, num_steps):
    """The first token is read, what follows it is written one place on."""
    cache = model.start_cache(ops.shape(prompts)[0], num_steps)
    first = ops.reshape(prompts[:, 0], (-1, 1))  # a shape that TensorFlow's loop knows
    read = functools.partial(model.decode_step, output_kernel=model.output_kernel())
    return first, prompts, 1, cache, read

"""Greedy decoding: the most probable token in every step."""

from keras import ops

from nlp104.attention.masks import padding_mask
from nlp104.data.tokenizer import END_ID, START_ID
from nlp104.decoding.compiled import prepare, run, trim


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
        >>> import numpy as np
        >>> import nlp104
        >>> from nlp104.decoding import greedy
        >>> translator = nlp104.load_pretrained("grammar")
        >>> ids = translator.source_tokenizer.encode("The black cat sleeps.")
        >>> output = greedy(translator.model, np.array([[*ids, 3]]))  # 3 is [END]
        >>> translator.target_tokenizer.decode(output[0])
        'Le chat noir dort.'
    """
    ids, limits, num_steps = prepare(model, encoder_token_ids, max_length, jit_compile)
    (output,) = run(_greedy, model, [ids, limits], num_steps, jit_compile)
    return trim(output[: len(encoder_token_ids)])


def _greedy(model, encoder_token_ids, limits, num_steps):
    def choose(logits, step):
        # Not `ops.argmax`: XLA's, on a CPU, takes as long as a layer.
        return ops.top_k(logits, 1)[1][:, 0]

    return write(model, encoder_token_ids, limits, num_steps, choose)


def write(model, encoder_token_ids, limits, num_steps, choose):
    """Write all rows at once, one token in each step.

    Args:
        model: `nlp104.Transformer`.
        encoder_token_ids: Integers `[batch, source]`.
        limits: Integers `[batch]`, the number of tokens at which a row is cut off.
        num_steps: Number of steps to make space for.
        choose: Function from logits `[batch, number]` and the step to places among them `[batch]`.

    Returns:
        One tensor, integers `[batch, num_steps]`.
    """
    mask = padding_mask(encoder_token_ids)  # [batch, source]
    positions = ops.arange(num_steps, dtype="int32")

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
        ops.zeros((batch, num_steps), dtype="int32"),
        limits <= 0,
        model.start_cache(encoder_output, num_steps),
    )
    _, _, output, _, _ = ops.while_loop(unfinished, write, state)
    return (output,)

"""Beam search: the best translation as a whole.

Two sets of hypotheses are kept for each row. Those in the *beam* are unfinished and compete with
their log-probability. The *finished* ones compete with their score, which never changes again.
"""

from typing import Any, NamedTuple

import numpy as np
from keras import ops

from nlp104.attention.masks import padding_mask
from nlp104.data.tokenizer import END_ID, PAD_ID, START_ID
from nlp104.decoding.compiled import prepare, run, trim
from nlp104.transformer.language_model import LanguageModel
from nlp104.utils.arguments import require_number, require_positive

NEVER = -np.inf  # the score of a place that no hypothesis has taken


class BeamState(NamedTuple):
    """What the search knows between two steps, for all rows.

    Attributes:
        step: number of tokens that are written, a scalar.
        active: whether a row is still being searched, `[batch]`.
        tokens: the last token of each hypothesis in the beam, `[batch, num_beams]`.
        history: in which place of the beam a hypothesis has been at each position, `[batch,
            num_beams, steps]`; -1 at those to come.
        beam: the unfinished hypotheses, `[batch, num_beams, steps]`.
        beam_scores: their log-probabilities, `[batch, num_beams]`.
        finished: the best of those that have ended, best first, `[batch, num_best, steps]`.
        finished_scores: their scores, `[batch, num_best]`.
        cache: of the model, see `Transformer.start_cache`.
    """

    step: Any
    active: Any
    tokens: Any
    history: Any
    beam: Any
    beam_scores: Any
    finished: Any
    finished_scores: Any
    cache: Any


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
        encoder_token_ids: Sources, as for `greedy`.
        num_beams: Number of beginnings to keep, k.
        length_penalty: α, from 0, where log-probabilities are compared as they are, to 10. More
            of it gives longer translations.
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
        >>> import numpy as np
        >>> import nlp104
        >>> from nlp104.decoding import beam_search
        >>> translator = nlp104.load_pretrained("grammar")
        >>> ids = np.array([[*translator.source_tokenizer.encode("You sleep."), 3]])
        >>> (ids,), (scores,) = beam_search(translator.model, ids, num_best=2)
        >>> for row, score in zip(ids, scores):
        ...     print(translator.target_tokenizer.decode(row), round(float(score), 1))
        Vous dormez. -0.4
        Vous voyez. -5.0
    """
    if isinstance(model, LanguageModel):
        raise ValueError("Beam search translates: expected a Transformer. Received: LanguageModel.")
    [num_beams] = require_positive(num_beams=num_beams)
    if num_best is not None:
        [num_best] = require_positive(num_best=num_best)
        if num_best > num_beams:
            raise ValueError(
                f"`num_best` must be at most num_beams={num_beams}. Received: {num_best}."
            )
    require_length_penalty(length_penalty)
    ids, limits, num_steps = prepare(model, encoder_token_ids, max_length, jit_compile)
    outputs = run(
        search,
        model,
        [ids, limits, np.array(length_penalty, "float32")],
        num_steps,
        jit_compile,
        num_beams=num_beams,
        num_best=num_best or 1,
    )
    ids, scores = (output[: len(encoder_token_ids)] for output in outputs)
    return trim(ids[:, 0]) if num_best is None else (trim(ids), scores)


def require_length_penalty(length_penalty):
    """Raises `ValueError` unless α is a number from 0 to 10; returns it as a `float`."""
    # With much more, lp(Y) of a long translation leaves float32.
    expected = "a number from 0 to 10"
    return float(require_number("length_penalty", length_penalty, lambda a: 0 <= a <= 10, expected))


def search(model, encoder_token_ids, limits, length_penalty, num_steps, num_beams, num_best):
    """Search all rows at once.

    Args:
        model: `nlp104.Transformer`.
        encoder_token_ids: Integers `[batch, source]`.
        limits: Integers `[batch]`, the number of tokens at which a row is cut off.
        length_penalty: Scalar.
        num_steps: Number of steps to make space for.
        num_beams: Number of hypotheses that are kept from one step to the next.
        num_best: Number of hypotheses to return.

    Returns:
        The best hypotheses `[batch, num_best, num_steps]` and their scores `[batch, num_best]`.
        First the finished ones, best first, then those that were cut off, best first. Where there
        are fewer, the rest is 0 and has the score `NEVER`.
    """
    batch = ops.shape(encoder_token_ids)[0]
    encoder_mask = padding_mask(encoder_token_ids)
    encoder_output = model.encode(encoder_token_ids, training=False)
    kernel = model.output_kernel()
    positions = ops.arange(num_steps, dtype="int32")
    choices = min(num_beams + 1, model.vocabulary_size)  # one of them might be padding
    beams = ops.expand_dims(ops.arange(num_beams, dtype="int32"), 1)  # [num_beams, 1]

    def score(log_probability, length):
        """The score of a hypothesis (Wu et al., 2016, equation 14, without coverage)."""
        length = ops.cast(length, "float32")
        return log_probability / ((5.0 + length) / 6.0) ** length_penalty

    def searching(*state):
        return ops.any(BeamState(*state).active)

    def extend(*state):
        state = BeamState(*state)
        here = positions == state.step
        history = ops.where(here, beams, state.history)
        logits, cache = model.decode_step(
            state.tokens, state.step, state.cache, encoder_mask, history, kernel
        )

        # The `num_beams` most probable of all that one more token can make of the beam: they are
        # among the best few of each hypothesis, so only these few become log-probabilities.
        total = ops.logsumexp(logits, axis=-1, keepdims=True)
        logits, tokens = ops.top_k(logits, choices)  # [batch, num_beams, choices]
        scores = ops.expand_dims(state.beam_scores, 2) + (logits - total)
        scores = ops.where(tokens == PAD_ID, NEVER, scores)
        scores, places = ops.top_k(ops.reshape(scores, (batch, -1)), num_beams)
        parents = places // choices  # [batch, num_beams]
        tokens = ops.take_along_axis(ops.reshape(tokens, (batch, -1)), places, axis=1)
        written = ops.where(here, ops.expand_dims(tokens, 2), _take(state.beam, parents))
        length = state.step + 1

        # Those that end leave the beam with their final score. A row that has stopped stays so.
        row, ended = ops.expand_dims(state.active, 1), tokens == END_ID
        final = ops.where(ended & row, score(scores, length), NEVER)  # [batch, num_beams]
        finished = ops.concatenate([state.finished, written], axis=1)
        finished_scores = ops.concatenate([state.finished_scores, final], axis=1)
        finished_scores, places = ops.top_k(finished_scores, num_best)
        beam_scores = ops.where(row, ops.where(ended, NEVER, scores), state.beam_scores)

        # Log-probabilities only fall, so none of the beam can reach more than this.
        bound = score(ops.max(beam_scores, axis=1), limits)  # [batch]
        return BeamState(
            step=length,
            active=state.active & (length < limits) & (bound > finished_scores[:, -1]),
            tokens=tokens,
            history=_take(history, parents),
            beam=ops.where(ops.expand_dims(row, 2), written, state.beam),
            beam_scores=beam_scores,
            finished=_take(finished, places),
            finished_scores=finished_scores,
            cache=cache,
        )

    # At first the beam holds one hypothesis.
    first = ops.equal(ops.arange(num_beams, dtype="int32"), 0)
    never = ops.full((batch, num_beams), NEVER, dtype="float32")
    state = BeamState(
        step=ops.convert_to_tensor(0, dtype="int32"),
        active=limits > 0,
        tokens=ops.full((batch, num_beams), START_ID, dtype="int32"),
        history=ops.full((batch, num_beams, num_steps), -1, dtype="int32"),
        beam=ops.zeros((batch, num_beams, num_steps), dtype="int32"),
        beam_scores=ops.where(first, 0.0, never),
        finished=ops.zeros((batch, num_best, num_steps), dtype="int32"),
        finished_scores=ops.full((batch, num_best), NEVER, dtype="float32"),
        cache=model.start_cache(encoder_output, num_steps, num_beams),
    )
    state = BeamState(*ops.while_loop(searching, extend, state))
    beam_scores = score(state.beam_scores, ops.expand_dims(limits, 1))
    return _select(state.finished, state.finished_scores, state.beam, beam_scores)


def _select(finished, finished_scores, beam, beam_scores):
    """The best of the finished hypotheses, which are sorted, and then of those in the beam."""
    beam_scores, places = ops.top_k(beam_scores, beam_scores.shape[1])
    hypotheses = ops.concatenate([finished, _take(beam, places)], axis=1)
    scores = ops.concatenate([finished_scores, beam_scores], axis=1)
    # What is left is to put the empty places behind the others.
    number = scores.shape[1]
    rank = ops.arange(number, dtype="int32") + number * ops.cast(scores == NEVER, "int32")
    _, places = ops.top_k(-rank, finished_scores.shape[1])
    scores = ops.take_along_axis(scores, places, axis=1)
    hypotheses = ops.where(ops.expand_dims(scores == NEVER, 2), 0, _take(hypotheses, places))
    return hypotheses, scores


def _take(hypotheses, places):
    """Hypotheses `[batch, any, num_steps]` at places `[batch, num]` of their own row."""
    batch, number, num_steps = ops.shape(hypotheses)
    rows = ops.expand_dims(ops.arange(batch, dtype="int32") * number, 1)
    return ops.take(ops.reshape(hypotheses, (batch * number, num_steps)), rows + places, axis=0)

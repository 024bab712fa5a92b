"""Speculative decoding: several tokens in one pass of the model, and the same text.

A draft guesses some tokens ahead. To read them all takes the model about as long as to read one,
and at each place it says what it would have written there itself. The guesses that are right are
kept, and behind them the model's own next token: no pass is for nothing.
"""

from typing import NamedTuple

import numpy as np
from keras import ops

from nlp104.data.tokenizer import END_ID
from nlp104.decoding.compiled import prepare, run, trim
from nlp104.decoding.drafts import PromptLookup
from nlp104.decoding.greedy import begin, best
from nlp104.decoding.sampling import choices, draw, drawn_seed, draws_of
from nlp104.utils.arguments import require_positive

LOOKUP = PromptLookup()  # one for all calls, see `speculate`


class Stride(NamedTuple):
    """What one pass of the model brought.

    Attributes:
        drafted: the tokens that the draft proposed.
        accepted: how many of them, from the first on, the model would have written, too.
        written: the tokens that the text grew by: those, and the model's next one, unless the text
            ended before. None where the pass did no more than read a prompt.

    Example:
        >>> from nlp104.decoding import Stride
        >>> stride = Stride(drafted=(7, 9, 4), accepted=1, written=(7, 8))
        >>> stride.written[: stride.accepted] == stride.drafted[: stride.accepted]
        True
    """

    drafted: tuple[int, ...]
    accepted: int
    written: tuple[int, ...]


def speculate(
    model,
    token_ids,
    draft=LOOKUP,
    num_drafted=4,
    temperature=None,
    top_k=None,
    top_p=None,
    seed=None,
    max_length=None,
    jit_compile=False,
):
    """Write what `greedy` or `sample` would, in fewer passes of the model.

    The model reads `num_drafted` tokens of a draft at once (Leviathan et al., 2023; Chen et al.,
    2023, with a draft that is sure of its guesses). Without a temperature a guess is right if it is
    the model's most probable token, and the result is `greedy`'s, token for token.

    With one, a guess x is kept with the probability p(x) that the model gives it; if it is not, a
    token is drawn from p without x. Together that is a token drawn from p. One random number
    decides both: it draws a token of p, and the guess is kept if it is that token. The number is
    the one that `sample` would use at this place, so with the same seed the result is `sample`'s.

    Either way, where two tokens are as good as equal, rounding may decide otherwise, because a
    product of several rows is not summed in the order of a product of one.

    Args:
        model: As for `greedy`.
        token_ids: As for `greedy`. Rows are written one after the other: this is a way to write
            one text in less time, not many.
        draft: Function that guesses tokens, see `nlp104.decoding.drafts`; `PromptLookup()` by
            default. A translation begins with `[START]`. It becomes part of the compiled program:
            one that is made anew is compiled anew.
        num_drafted: Number of tokens to ask the draft for in each pass, k.
        temperature: As for `sample`; without one, writing is greedy.
        top_k: As for `sample`.
        top_p: As for `sample`.
        seed: As for `sample`.
        max_length: As for `greedy`.
        jit_compile: As for `greedy`.

    Returns:
        Token ids as from `greedy`, and for each row the list of its `Stride`s, one for each pass. A
        prompt is read `num_drafted` + 1 tokens at a time.

    Raises:
        ValueError: As `greedy` and `sample`; if `draft` is no function or cannot be hashed,
            `num_drafted` is not a positive integer, or there is no temperature for `top_k`, `top_p`
            or `seed`.

    Example:
        >>> import numpy as np
        >>> import nlp104
        >>> from nlp104.decoding import NGrams, greedy, speculate
        >>> translator = nlp104.load_pretrained("grammar")
        >>> encode, target = translator.source_tokenizer.encode, translator.target_tokenizer
        >>> known = ["Le chat noir est petit.", "Le chien dort."]
        >>> draft = NGrams([2, *target.encode(text), 3] for text in known)  # [START] … [END]
        >>> ids = np.array([[*encode("The black cat sleeps."), 3]])
        >>> output, (strides,) = speculate(translator.model, ids, draft)
        >>> target.decode(output[0]), bool((output == greedy(translator.model, ids)).all())
        ('Le chat noir dort.', True)
        >>> for stride in strides:
        ...     print(stride.accepted, "of", len(stride.drafted), target.decode(stride.written))
        3 of 4 Le chat noir dort
        2 of 2 .
    """
    [num_drafted] = require_positive(num_drafted=num_drafted)
    if not callable(draft) or draft.__hash__ is None:  # compiled once for each
        raise ValueError(
            "Expected as `draft` a function that can be a key of a dictionary, see "
            f"`nlp104.decoding.drafts`. Received: {draft!r}."
        )
    ids, limits, num_steps = prepare(model, token_ids, max_length, jit_compile)
    numbers, settings = [], {}
    if temperature is not None:
        numbers, settings = choices(model, temperature, top_k, top_p)
        seed = drawn_seed(seed)
    elif (top_k, top_p, seed) != (None, None, None):
        raise ValueError(
            "Expected a `temperature` with `top_k`, `top_p` or `seed`: without one nothing is "
            f"drawn. Received: top_k={top_k}, top_p={top_p}, seed={seed}."
        )
    num_drafted = min(num_drafted, model.max_sequence_length - 1)
    num_steps = max(num_steps, num_drafted + 1)
    settings |= {"draft": draft, "num_drafted": num_drafted}
    texts, strides = [], []
    for row in range(len(token_ids)):
        draws = [draws_of(row, seed, num_steps), *numbers] if numbers else []
        arrays = [ids[row : row + 1], limits[row : row + 1], *draws]
        text, record, passes = run(
            _write_in_strides, model, arrays, num_steps, jit_compile, **settings
        )
        texts.append(text)
        strides.append([_stride(*entry) for entry in record[:passes].tolist()])
    return trim(np.stack(texts)), strides


def _stride(accepted, length, *tokens):
    """From what is recorded of a pass: the tokens are those drafted, then the model's own."""
    drafted = tokens[: len(tokens) // 2]
    written = tokens[len(drafted) :][:length]
    return Stride(tuple(filter(None, drafted)), accepted, tuple(written))


def _write_in_strides(
    model, given, limits, draws=None, *numbers, num_steps, draft, num_drafted, **settings
):
    """Write one text, pass by pass.

    Args:
        model: `nlp104.Transformer` or `nlp104.transformer.LanguageModel`.
        given: Integers, the source or the prompt, `[1, length]`.
        limits: Integers `[1]`, the number of tokens at which the text is cut off.
        draws: Numbers `[num_steps]` to draw tokens by; without them writing is greedy.
        *numbers: For `draw`.
        num_steps: Number of positions to make space for.
        draft: As for `speculate`.
        num_drafted: As for `speculate`.
        **settings: For `draw`.

    Returns:
        The text, what each pass did (see `_stride`), and the number of passes.
    """
    token, output, ahead, cache, read = begin(model, given, num_steps)
    text = output[0] if ahead else ops.concatenate([token[0], output[0]])
    limit = limits[0] + 1 - ahead  # of the tokens of `text`, which begins with what is read first
    places = ops.arange(ops.shape(text)[0], dtype="int32")
    width = num_drafted + 1
    window = ops.arange(width, dtype="int32")

    def put(new, place, number, text):
        """The text with the first so many of some new tokens from a place on."""
        offsets = places - place
        new = ops.take(new, ops.clip(offsets, 0, new.shape[0] - 1))
        return ops.where((offsets >= 0) & (offsets < number), new, text)

    def unfinished(text, length, known, ended, cache, record, passes):
        return ops.logical_not(ended) & (length < limit)

    def stride(text, length, known, ended, cache, record, passes):
        start = ops.minimum(known, num_steps - width)  # at the end some are read again
        # Behind the last guess there must be room for the model's own token.
        free = ops.minimum(start + width, limit - 1) - length
        guess = ops.cast(draft(text, length, num_drafted), "int32")
        fits = (window[:-1] < free) & (guess > 0) & (guess < model.vocabulary_size)
        guess = ops.where(fits, guess, 0)  # [num_drafted]; 0 is never right
        tokens = put(guess, length, num_drafted, text)
        tokens = ops.take(tokens, ops.minimum(start + window, places[-1]))  # [width]
        logits, cache = read(ops.expand_dims(tokens, 0), start, cache)
        logits = logits[0, :, 1:]  # [width, vocabulary - 1]: never padding
        if draws is None:
            own = best(logits)
        else:
            own = draw(logits, ops.take(draws, start + window), *numbers, **settings)
        # From behind the last token of the text on; a prompt may not be read that far.
        last = length - 1 - start
        own = ops.take(ops.cast(own, "int32") + 1, ops.minimum(last + window, width - 1))

        accepted = ops.sum(ops.cumprod(ops.cast(guess == own[:-1], "int32")))
        written = ops.where(last < width, accepted + 1, 0)
        before_end = ops.sum(ops.cumprod(ops.cast(own != END_ID, "int32")))
        ended = before_end < written
        written = ops.minimum(written, before_end + 1)
        accepted = ops.minimum(accepted, written)
        entry = ops.concatenate([ops.stack([accepted, written]), guess, own])
        return (
            put(own, length, written, text),
            length + written,
            # What was read beyond is wrong. The next pass replaces it before a token looks at it.
            ops.minimum(start + width, length + accepted),
            ended,
            cache,
            ops.where(ops.expand_dims(places, 1) == passes, entry, record),
            passes + 1,
        )

    zero = ops.convert_to_tensor(0, dtype="int32")
    length = ops.sum(ops.cast(text > 0, "int32"))
    record = ops.zeros((ops.shape(text)[0], 1 + 2 * width), dtype="int32")
    state = (text, length, zero, limit <= 0, cache, record, zero)
    text, _, _, _, _, record, passes = ops.while_loop(unfinished, stride, state)
    return text[1 - ahead :], record, passes

"""Attention, step by step: what the equation does to one matrix of scores."""

import numpy as np
from keras import ops

from nlp104.attention.masks import causal_mask, masked_softmax
from nlp104.figures.drawing import Drawing, shown
from nlp104.figures.explore.explorable import Explorable
from nlp104.figures.explore.numbers import as_matrix, short

STAGES = 8  # from Q, K and V to the answers
LONG = 12  # vectors with more numbers are drawn as strokes, as wide as three cells


def pipeline(
    query,
    key,
    value,
    rows,
    columns=None,
    *,
    features=(),
    mask=None,
    follow=0,
    opening=0,
    title="Attention, step by step",
):
    """softmax(Q Kᵀ / √d_k + M) V: one matrix of scores, transformed in place.

    The reader steps through the terms of the equation, chooses the row that is followed, opens a
    score or an output to see its products, changes the mask, the head, and takes the scale away.
    Vaswani et al. (2017), equation 1 and section 3.2.3.

    Args:
        query: Q, `[query, key_dim]`, or `[heads, query, key_dim]` for a choice of heads.
        key: K, `[key, key_dim]` or `[heads, key, key_dim]`.
        value: V, `[key, value_dim]` or `[heads, key, value_dim]`.
        rows: the token of each query.
        columns: the token of each key, if keys and values come from another sentence
            (cross-attention). There is no causal mask then.
        features: short names of the `key_dim` numbers of a query and a key, if they have any.
        mask: booleans `[query, key]`, True = may be seen. One more choice, "given", beside none,
            causal, and padding where a token is [PAD]; chosen at the start. One that is equal to a
            choice keeps that one's name. False: nothing about masks, for readers who have not met
            them.
        follow: number of the query whose row is followed at the start.
        opening: number of the step that is shown at the start, where no mask is: 1 compares.
        title: what there is to see.

    Returns:
        An object that a notebook displays; ``save(path)`` writes a page of its own.

    Raises:
        ValueError: The arrays do not fit together.

    Example:
        >>> import numpy as np
        >>> from nlp104.figures import explore
        >>> figure = explore.pipeline(np.eye(2), np.eye(2), np.eye(2), ["black", "cat"])
        >>> figure.data["mask"]
        'none'
    """
    cross = columns is not None
    columns = list(columns if cross else rows)
    shape = len(rows), len(columns)
    heads = (None,) if np.ndim(query) == 3 else ()
    query = as_matrix(query, (*heads, shape[0], None), "query")
    heads = query.shape[:-2]
    key = as_matrix(key, (*heads, shape[1], query.shape[-1]), "key")
    value = as_matrix(value, (*heads, shape[1], None), "value")
    if len(features) not in (0, query.shape[-1]):
        raise ValueError(f"Expected {query.shape[-1]} features. Received: {len(features)}.")
    if follow not in range(shape[0]):
        raise ValueError(f"Expected follow to be the number of a row. Received: {follow}.")
    if opening not in range(STAGES):
        raise ValueError(f"Expected opening to be the number of a step. Received: {opening}.")
    query, key, value = (x if heads else x[None] for x in (query, key, value))

    masks, start = _masks(columns, shape, cross), "none"
    visible = masks[start]
    if mask is False:
        masks = {}
    elif mask is not None:
        mask = as_matrix(mask, shape, "mask").astype(bool)
        same = [name for name, other in masks.items() if np.array_equal(mask, other)]
        start = same[0] if same else "given"
        visible = masks.setdefault(start, mask)
    data = {
        "rows": list(rows),
        "columns": columns,
        "cross": cross,
        "features": list(features),
        "follow": follow,
        "opening": opening,
        "mask": start,
        "masks": {name: short(other) for name, other in masks.items()},
        "heads": [
            {"query": short(q, 5), "key": short(k, 5), "value": short(v, 5)}
            for q, k, v in zip(query, key, value, strict=True)
        ],
    }
    scores = query[0] @ key[0].T / np.sqrt(query.shape[-1])
    weights = ops.convert_to_numpy(masked_softmax(ops.convert_to_tensor(scores), visible))
    shares = ", ".join(
        f"{word} {weight:.2f}" for word, weight in zip(columns, weights[follow], strict=True)
    )
    alt = (
        "Q on the left, K transposed above, V above right: where they cross, the attention weights "
        f"and the output. The row of {rows[follow]} gives each word its weight: {shares}."
    )
    still = _still(query[0], key[0], value[0], weights, visible, rows, columns, follow)
    return Explorable("pipeline", title, data, still, alt)


def _masks(columns, shape, cross):
    """The masks that make sense here: by name, booleans [query, key]."""
    words = np.array([word.upper() != "[PAD]" for word in columns])
    masks = {"none": np.ones(shape, bool)}
    if not cross:
        masks["causal"] = ops.convert_to_numpy(causal_mask(shape[0]))
    if not words.all():
        masks["padding"] = masks["none"] & words
        if not cross:
            masks["both"] = masks["causal"] & words
    return masks


def _still(query, key, value, weights, visible, rows, columns, follow):
    """The weights: left factor on the left, right factor above, result where they cross."""
    drawing = Drawing(360)
    depth, width = (x.shape[1] if x.shape[1] <= LONG else 3 for x in (query, value))
    name = max(54, 7 * max(map(len, map(shown, rows))) + 8)
    most = 60.0 if len(columns) < 3 else 44.0
    cell = min(most, (342 - name) / (len(columns) + 0.4 * depth + 0.7 * width))
    thin = min(4.0, 160 / query.shape[1]) if query.shape[1] > LONG else 22
    across, down = 0.4 * cell * depth, 22
    top = 26 + max(down * len(columns), thin * query.shape[1])
    left, below = across + name + 6, top + 28
    right = left + cell * len(columns) + 12
    _vectors(drawing, 0, below, query, "q", across / query.shape[1], 30)
    _vectors(drawing, left, top - thin * query.shape[1], key, "k", cell, thin, upright=True)
    part = 0.7 * cell * width / value.shape[1]
    _vectors(drawing, right, top - down * len(columns), value, "v", part, down)
    _vectors(drawing, right, below, weights @ value, "v", part, 30)
    drawing.tokens(across + 4, below, rows, width=name, height=30, chosen=follow)
    drawing.matrix(
        left, below, weights, "a", width=cell, height=30, most=0.9, digits=2, hidden=~visible
    )
    for place, word in enumerate(columns):
        word = shown(word)
        fits = word if 7 * len(word) <= cell + 2 else f"{word[: int(cell / 7) - 1]}…"
        drawing.text(left + (place + 0.5) * cell, top + 14, fits, anchor="middle", size=12)
    high = left + len(columns) * cell / 2, top - thin * query.shape[1] - 13
    last = right + part * value.shape[1] / 2
    for x, y, name, concept in (
        (across / 2, top + 14, "Q", "q"),
        (*high, "K^T", "k"),
        (last, top - down * len(columns) - 13, "V", "v"),
        (last, top + 14, "AV", "v"),
    ):
        drawing.text(x, y, name, maths=True, concept=concept, anchor="middle")
    return drawing.svg(below + 30 * len(rows) + 4)


def _vectors(drawing, x, y, values, concept, width, height, upright=False):
    """Tints; of long vectors strokes from a line, up (or to the right) if positive."""
    if values.shape[1] <= LONG:
        values = values.T if upright else values
        return drawing.matrix(x, y, values, concept, width=width, height=height)
    most = np.abs(values).max()
    for row, vector in enumerate(values):
        path = ""
        for place, number in enumerate(vector / most * 0.45):
            if upright:
                path += f"M{x + (row + 0.5) * width:.1f} {y + (place + 0.5) * height:.1f}"
                path += f"h{number * width:.1f}"
            else:
                path += f"M{x + (place + 0.5) * width:.1f} {y + (row + 0.5) * height:.1f}"
                path += f"v{-number * height:.1f}"
        thickness = round(0.6 * (height if upright else width), 1)
        drawing.add("path", d=path, class_=f"s-{concept}", fill="none", stroke_width=thickness)

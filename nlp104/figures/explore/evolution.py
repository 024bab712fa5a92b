"""The seven versions of attention, side by side, on one sentence made by hand."""

import numpy as np
from keras import ops

from nlp104.attention import single_head
from nlp104.attention.masks import causal_mask
from nlp104.attention.multi_head import MultiHeadAttention
from nlp104.figures import plots, style
from nlp104.figures.explore import handmade
from nlp104.figures.explore.explorable import Explorable
from nlp104.figures.explore.formulas import VERSIONS

COLOURS = {  # of a panel, those of the whole book
    "query": style.QUERY,
    "key": style.KEY,
    "value": style.VALUE,
    "inputs": style.RESIDUAL,
    "scores": style.FEED_FORWARD,
    "weights": style.ATTENTION,
    "output": style.VALUE,
}
NOTE = (
    "The vectors and the matrices are made by hand, so that every number can be followed; nothing "
    "here was learned. A word whose query is zero looks at all words alike."
)
ALT = (
    "The weights of eight queries over the twelve words. Versions 0 to 4, asked what is too tired, "
    "look at the animal; versions 2 and 3, which divide by the root of the width 8, are the least "
    "sure. In version 5 the word it looks at tired. Of the two heads of version 6 one looks at "
    "tired, the other at the animal and the street alike."
)


def evolution():
    """Versions 0 to 6 of attention, to step through.

    The reader chooses a version, the last word of the sentence, the word whose query is followed, a
    causal mask and the number of heads. What is new in a version is framed. All weights and outputs
    come from the layers of `nlp104.attention`.

    Returns:
        An object that a notebook displays. Its ``data["states"]`` holds all numbers, under the keys
        ``"version,last word,causal (0 or 1),heads"``; ``save(path)`` writes a page of its own.

    Example:
        >>> evolution().data["states"]["4,tired,0,1"]["said"][0]
        '“too tired” looks at animal (94 %). Out comes: masc. 0.94. Entropy: 0.52 of 3.58 bits.'
    """
    states = {}
    for last in handmade.LAST:
        for version in range(7):
            for causal in (0, 1) if version > 4 else (0,):
                for heads in (1, 2) if version == 6 else (1,):
                    key = f"{version},{last},{causal},{heads}"
                    states[key] = _state(version, last, causal, heads)
    data = {
        "versions": [
            dict(zip(("name", "formula", "news"), texts, strict=True)) for *texts, _ in VERSIONS
        ],
        "last": handmade.LAST,
        "colours": COLOURS,
        "note": NOTE,
        "states": states,
    }
    return Explorable("evolution", "The evolution of attention", data, _still(states), ALT)


def compute(version, inputs, questions=None, causal=False, num_heads=1):
    """What a version makes of the sentence.

    Args:
        version: 0 to 6.
        inputs: X, `[length, 8]`.
        questions: In versions 0 to 4 the queries from outside, `[query, width]`.
        causal: In versions 5 and 6, whether nobody may look ahead.
        num_heads: In version 6, 1 or 2.

    Returns:
        For each head a tuple of its queries, keys, values, scores and weights; and the output.
    """
    kernels, X = handmade.kernels(version, num_heads), inputs[None]
    if version < 5:
        layer = (
            single_head.AdditiveAttention(2),
            single_head.DotProductAttention(),
            single_head.ScaledDotProductAttention(),
            single_head.ScaledDotProductAttention(),
            single_head.CrossAttention(3, 2),
        )[version]
        arguments = (questions if version < 3 else questions[None], X)
    elif version == 5:
        layer, arguments = single_head.SelfAttention(2, 8), (X,)
    else:
        value_dim = 8 if num_heads == 1 else 2
        layer = MultiHeadAttention(num_heads, 2, value_dim, use_bias=False, output_shape=8)
        arguments = (X, X)
    layer.build(*(array.shape for array in arguments))
    layer.set_weights(kernels)
    mask = causal_mask(len(inputs))[None] if causal else None
    output, weights = layer(*arguments, attention_mask=mask, return_attention_scores=True)

    if version < 4:
        projected = [(questions, inputs, inputs)]
    elif version == 4:
        projected = [(questions, *(inputs @ kernel for kernel in kernels))]
    else:
        by_head = kernels[:3] if version == 6 else [kernel[:, None] for kernel in kernels]
        projected = [[inputs @ kernel[:, i] for kernel in by_head] for i in range(num_heads)]
    count = len(projected[0][0])
    weights = ops.convert_to_numpy(weights).reshape(num_heads, count, -1)
    heads = []
    for (queries, keys, values), of_head in zip(projected, weights, strict=True):
        if version == 0:
            scores = (np.tanh(queries @ kernels[0] + keys @ kernels[1]) @ kernels[2]).T
        else:
            scores = queries @ keys.T / (1.0 if version == 1 else np.sqrt(keys.shape[1]))
        heads.append((queries, keys, values, scores, of_head))
    return heads, ops.convert_to_numpy(output).reshape(count, -1)


def _state(version, last, causal, num_heads):
    """What is shown once the reader has chosen."""
    tokens = [*handmade.SENTENCE, last]
    rows, questions, chosen = tokens, None, tokens.index("it")
    if version < 5:
        asked = handmade.LAST if version > 2 else (last,)
        rows, chosen = [f"too {word}" for word in asked], asked.index(last)
        questions = handmade.questions(version)[[handmade.LAST.index(word) for word in asked]]
    heads, output = compute(version, handmade.embed(tokens), questions, causal, num_heads)
    seen = np.tri(len(tokens), dtype=bool) if causal else np.ones((len(rows), len(tokens)), bool)
    names = handmade.labels(version, num_heads)
    output_names = handmade.FEATURES if version > 4 else names[0][1]
    new = VERSIONS[version][3]

    def panel(role, title, lines, columns, numbers, allowed=None):
        numbers = np.where(True if allowed is None else allowed, numbers.round(4), np.nan)
        return {
            "role": role,
            "title": title,
            "rows": lines,
            "columns": columns,
            "numbers": [[_short(number) for number in line] for line in numbers.tolist()],
            "queries": role in ("query", "scores", "weights", "output"),
            "new": role in new,
        }

    groups = []
    for (queries, keys, values, scores, weights), (key_names, value_names) in zip(
        heads, names, strict=True
    ):
        panels = [panel("query", "queries Q", rows, key_names, queries)]
        if version < 4:
            panels += [panel("inputs", "inputs X", tokens, key_names, keys)]
        else:
            panels += [panel("key", "keys K", tokens, key_names, keys)]
            panels += [panel("value", "values V", tokens, value_names, values)]
        if num_heads == 1:
            panels += [panel("scores", "scores", rows, tokens, scores, seen)]
        panels += [panel("weights", "weights", rows, tokens, weights, seen)]
        groups.append(
            {"title": f"Head {len(groups) + 1}" if num_heads > 1 else "", "panels": panels}
        )
    last_group = groups[-1]
    if num_heads > 1:
        last_group = {"title": "Both answers side by side, times W_O", "panels": []}
        groups.append(last_group)
    last_group["panels"].append(panel("output", "output Y", rows, output_names, output))
    said = [
        _say(row, tokens, [head[4][i] for head in heads], seen[i].sum(), output_names, output[i])
        for i, row in enumerate(rows)
    ]
    return {"rows": rows, "chosen": chosen, "groups": groups, "said": said}


def _short(number):
    """A number as JSON holds it in few letters; nothing for one that is masked."""
    return None if np.isnan(number) else int(number) if number.is_integer() else number


def _say(row, tokens, weights, count, names, output):
    """One query in words: where it looks, how surely, and what it gets."""
    looks = []
    for of_head in weights:
        best = [i for i in range(len(tokens)) if of_head[i] > 0.95 * of_head.max()]
        where = " and ".join(f"{tokens[i]} ({100 * of_head[i]:.0f} %)" for i in best)
        looks.append(f"all {count} words alike" if len(best) == count > 1 else where)
    with_head = [f"with head {i} at {look}" for i, look in enumerate(looks, 1)]
    look = "at " + looks[0] if len(looks) == 1 else ", ".join(with_head)
    gets = ", ".join(f"{n} {y:.2f}" for n, y in zip(names, output, strict=True) if abs(y) > 0.05)
    bits = [abs(np.sum(w[w > 0] * np.log2(w[w > 0]))) for w in weights]
    surely = " and ".join(f"{bit:.2f}" for bit in bits)
    return (
        f"“{row}” looks {look}. Out comes: {gets or 'zero'}. "
        f"Entropy: {surely} of {np.log2(count):.2f} bits."
    )


def _still(states):
    """Where each version looks, for those who cannot run the script."""
    rows, looks = [], []
    for version, (name, *_) in enumerate(VERSIONS):
        state = states[f"{version},tired,0,{2 if version == 6 else 1}"]
        for group in state["groups"]:
            for panel in group["panels"]:
                if panel["role"] == "weights":
                    rows.append(", ".join(filter(None, (name, group["title"].lower()))))
                    looks.append(panel["numbers"][state["chosen"]])
    return plots.heatmap(
        np.array(looks),
        rows,
        [*handmade.SENTENCE, "tired"],
        title="Where each version looks",
        row_label="asked: what is too tired? From V5 on: it",
        annotate=True,
        limits=(0.0, 1.0),
    )

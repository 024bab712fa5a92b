"""What the assembled machine says: the job of each kind of wire, and what becomes of it without.

`**…**` is strong, `[k|…]` has the colour of a concept; `player/text.js` reads both. The space
between a number and its sign does not break.
"""

from typing import NamedTuple

import numpy as np

FIVE = ("e0", "e1", "d0", "d1", "d2")  # the sub-layers: e in the encoder, d in the decoder
SUB_LAYERS, PAPER = 5, 6  # in a layer of both stacks; layers in the paper
COLUMNS = {
    "right, %": "exact_match",
    "right words, %": "right_words",
    "next word right, %": "accuracy",
    "loss": "losses",
}


class Kind(NamedTuple):
    """A kind of wire."""

    name: str
    title: str  # a short name
    variant: str  # the runs that lack it
    concept: str  # whose colour it has
    pulled: tuple  # which of those that are drawn the runs lack
    job: tuple  # what it does, in two lines
    chapter: str  # who teaches it


KINDS = {
    "skip": Kind(
        "skip connections",
        "skips",
        "no skip connections",
        "r",
        FIVE,
        ("carry what came in", "past each sub-layer"),
        "Skip connections",
    ),
    "norm": Kind(
        "normalisation",
        "norms",
        "no normalisation",
        "r",
        FIVE,
        ("brings every vector", "back to one size"),
        "Skip connections",
    ),
    "ffn": Kind(
        "feed-forward",
        "feed-forward",
        "no feed-forward",
        "r",
        ("e1", "d2"),
        ("works on each word", "by itself"),
        "Feed-forward",
    ),
    "pos": Kind(
        "positions",
        "positions",
        "no positions",
        "p",
        ("e", "d"),
        ("tell each word", "where it stands"),
        "Positions",
    ),
    "causal": Kind(
        "causal mask",
        "causal mask",
        "no causal mask",
        "a",
        ("d0",),
        ("hides the words that", "are still to come"),
        "Masks",
    ),
    "pad": Kind(
        "padding masks",
        "padding mask",
        "no padding mask",
        "a",
        ("d1",),
        ("hide the filling behind", "short sentences"),
        "Masks",
    ),
    "bridge": Kind(
        "the bridge",
        "bridge",
        "no cross-attention",
        "a",
        ("k", "v", "d1"),
        ("the only way from", "English to French"),
        "Projections",
    ),
    "heads": Kind(
        "several heads",
        "heads",
        "one head",
        "a",
        ("e0", "d0", "d1"),
        ("look at the same words", "in {heads} ways at once"),
        "Multi-head",
    ),
}


def rows(model):
    """What is pulled in each row, as it is written and as it is said."""
    heads = model["num_heads"]
    titles = ["nothing", *(kind.title for kind in KINDS.values())]
    says = ["all wires in", *(f"without {kind.name}" for kind in KINDS.values())]
    return [*titles[:-1], f"{heads - 1} of {heads} heads"], [*says[:-1], "with one head"]


def jobs(model):
    """What each kind is for."""
    heads = model["num_heads"]
    return (
        f"**{SUB_LAYERS} skip connections** ({SUB_LAYERS * model['num_layers']} in all layers, "
        f"{SUB_LAYERS * PAPER} in the paper): each carries what comes in past a sub-layer and adds "
        "it to what comes out. Signals keep a way up, gradients a way down.",
        f"**{SUB_LAYERS} normalisations**, one after each sum: they bring every vector back to one "
        "size, so that no layer gets numbers that have grown too large for it.",
        "**2 feed-forward networks**: attention mixes words, and here each word is worked on by "
        "itself, through a layer that is wider, with a bend in the middle.",
        "**2 sets of positions**, one for each stack: a [p|wave] that differs from place to "
        "place is added to each word. Attention by itself cannot tell first from last.",
        "**1 causal mask**: while French words look at French words, those still to come are "
        "hidden. They are what the machine has to guess.",
        "**2 padding masks**, wherever somebody looks at English: they hide the filling behind "
        "short sentences. (The French filling comes last, where the causal mask hides it.)",
        "**1 bridge**: the memory, as [k|keys] and [v|values], goes to the cross-attention of "
        "every decoder layer. There is no other way from English to French.",
        f"**{heads} heads** in each of 3 attentions: the same words are looked at in {heads} ways "
        f"at once, each {model['hidden_dim'] // heads} numbers wide.",
    )


def results(record, scores):
    """What becomes of the machine without each of them."""
    tested, padding, count = (record[key] for key in ("test_sentences", "padding_added", "seeds"))
    count = len(count)
    full = scores["full"]

    def verdict(name):
        right = scores[name]["right"]
        if not right.any():
            return f"not one of {tested} translations is right, in any of {count} runs"
        if right.max() < full["right"].min():
            return f"{_percent(right)} are right, fewer in every run than with all wires"
        if right.min() > full["right"].max():
            return f"{_percent(right)} are right, more in every run than with all wires"
        return f"{_percent(right)} are right, no clear difference from {_percent(full['right'])}"

    def loss(name):
        return f"**{scores[name]['mean'][3]:.3f}**"

    _, words, *_ = scores["no positions"]["mean"]
    order = words - scores["no positions"]["mean"][0]
    best = min(scores, key=lambda name: scores[name]["mean"][3]) == "no causal mask"
    bare = record["runs"]["no cross-attention"].values()
    deaf = all(len(set(run["examples"])) == 1 for run in bare)
    return (
        f"Without skip connections {verdict('no skip connections')}. The loss stays at "
        f"{loss('no skip connections')}, beside {loss('full')}: it has hardly learned anything.",
        f"Without normalisation {verdict('no normalisation')}; with so few layers that is no "
        f"disaster. Before the sub-layer (pre-norm) it does as well as after the sum: "
        f"{_percent(scores['pre-norm']['right'])}.",
        f"A surprise: without feed-forward networks {verdict('no feed-forward')}. To look words up "
        "and to put them in place, attention is enough; other tasks may need more.",
        f"Without positions {verdict('no positions')}. The causal mask still tells how much is "
        f"written; only {order:.1f}\u00a0% have the right words in a wrong order.",
        f"The loss is {loss('no causal mask')}, {'the best of all' if best else 'not bad'}, and "
        f"{verdict('no causal mask')}. In training the next word stood in sight: it has learned "
        "to copy it.",
        f"Pulled from cross-attention only: {verdict('no padding mask')}. But to look past padding "
        f"is a habit now: with {padding} more behind each sentence "
        f"**{scores['no padding mask']['padded']:.1f}\u00a0%** are left (with the mask "
        f"**{full['padded']:.1f}\u00a0%**).",
        f"Without the bridge {verdict('no cross-attention')}. The decoder never hears of the "
        f"English{' and says the same to every sentence' if deaf else ''}; its loss, "
        f"{loss('no cross-attention')}, is that of French alone.",
        f"With one head, as wide as the {record['model']['num_heads']} together, "
        f"{verdict('one head')}. This task needs no more views than one.",
    )


def _percent(right):
    return f"**{np.mean(right):.1f}\u00a0%**"

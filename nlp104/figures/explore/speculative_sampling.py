"""A draft guesses a token, the model keeps it or draws another: what comes out is the model's."""

import numpy as np

from nlp104.figures.drawing import Drawing
from nlp104.figures.explore.explorable import Explorable

TOKENS = ("a", "b", "c")
MODEL = (0.5, 0.3, 0.2)  # p, of the model
OPENS_WITH = "likes c"  # the chapter has drawn "likes b" when a reader comes to the figure
DRAFTS = {  # q, what a draft may say
    "likes b": (0.2, 0.7, 0.1),
    OPENS_WITH: (0.3, 0.1, 0.6),
    "only b": (0.0, 1.0, 0.0),
    "no idea": (1 / 3, 1 / 3, 1 / 3),
    "the same": MODEL,
}
TITLE = "Kept, or replaced"
ALT = (
    "Three columns, for a, b and c. Of the draft's guesses are kept {kept}: together {share:.0%}. "
    "The rest is refused: {over}. As much is drawn instead: {lack}. Together that is {out}, as the "
    "model says."
)


def speculative_sampling():
    """Why a draft leaves no trace: what is kept of its guesses, what is refused, what is drawn.

    A guess x of the draft q is kept with probability min(1, p(x) / q(x)). When it is refused, the
    model draws from max(0, p - q), scaled to a sum of 1; the reader may let it draw from p itself,
    and see what goes wrong. Leviathan et al. (2023), section 2.3.

    Returns:
        An object that a notebook displays; ``save(path)`` writes a page of its own.

    Example:
        >>> from nlp104.figures import explore
        >>> explore.speculative_sampling().data["model"]
        [0.5, 0.3, 0.2]
    """
    p, q = np.array(MODEL), np.array(DRAFTS[OPENS_WITH])
    kept, flow = outcome(p, q)
    data = {
        "tokens": list(TOKENS),
        "model": list(MODEL),
        "drafts": [[name, [round(share, 4) for share in draft]] for name, draft in DRAFTS.items()],
    }
    alt = ALT.format(
        kept=_listed(kept),
        share=kept.sum(),
        over=_listed(flow.sum(axis=1)),
        lack=_listed(flow.sum(axis=0)),
        out=_listed(kept + flow.sum(axis=0)),
    )
    return Explorable("speculative_sampling", TITLE, data, _still(kept, flow), alt)


def outcome(p, q, again=False):
    """What becomes of the guesses of a draft.

    Args:
        p: of the model, the probability of each token.
        q: of the draft.
        again: whether the model draws from p itself, which is wrong.

    Returns:
        What is kept of each token, and how often which is drawn for which, `[refused, drawn]`.
    """
    kept = np.minimum(p, q)
    lacking = p if again else p - kept
    drawn = lacking / lacking.sum() if lacking.sum() else lacking
    return kept, np.outer(q - kept, drawn)


def _listed(shares):
    """Those that are more than nothing: "a 0.2, b 0.3"."""
    told = zip(TOKENS, shares, strict=True)
    return ", ".join(f"{token} {share:.1f}" for token, share in told if share > 1e-9)


def _still(kept, flow):
    """Above, what becomes of the guesses; below, what comes out."""
    drawing, unit, middle = Drawing(360), 180, {"anchor": "middle"}
    rows = {
        "guessed: kept, and refused": (flow, "stroke:var(--s2-line)"),
        "coming out: kept, and drawn instead": (
            flow.T,
            "stroke:var(--s1-line);stroke-dasharray:3 3",
        ),
    }
    for row, (title, (pieces, line)) in enumerate(rows.items()):
        base = 160 + 190 * row
        drawing.text(0, base - 148, title, strong=True)
        for column, token in enumerate(TOKENS):
            x, top = 20 + 120 * column, base
            fill, none = "fill:var(--s1-line);fill-opacity:0.3", "fill:none;stroke-width:1.5"
            sizes = [(kept[column], fill)]
            sizes += [(size, f"{none};{line}") for size in pieces[column]]
            for size, look in sizes:
                if size < 1e-9:
                    continue
                top -= unit * size
                box = {"x": x, "y": top + 1, "width": 76, "height": unit * size - 2, "rx": 3}
                if not row and look != fill:
                    drawing.add("rect", class_="hatch", **box)
                drawing.add("rect", style=look, **box)
                drawing.text(x + 38, top + unit * size / 2, f"{size:.1f}", **middle)
            drawing.text(x + 38, base + 14, token, strong=True, **middle)
    return drawing.svg(base + 26)

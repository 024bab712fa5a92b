"""Plain gradient descent and Adam in one valley: steep across, flat along."""

import numpy as np

from nlp104.figures.drawing import Drawing
from nlp104.figures.explore.explorable import Explorable

STEPS = 30
START = (-2.2, 0.9)
RATES = (0.01, 0.03, 0.07, 0.1, 0.3)
STEEP = (1, 5, 25)  # the second direction is so many times as steep as the first
BETAS, EPSILON = (0.9, 0.98), 1e-9  # Vaswani et al. (2017), section 5.3
RATE, STEEPEST = 0.1, 25  # of the figure as it opens, and of its still; plain descent jumps out
FAR = 2.9, 1.45  # what lies farther from the middle is not drawn
ALT = (
    "Two pictures of a valley that is {steep} times as steep across as along, with the rate "
    "{rate}. Plain descent jumps from side to side, farther each time: at step {out} it has left "
    "the picture, and its loss has grown from {start} to {plain}. Adam walks down in a curve; "
    "after {steps} steps its loss is {adam}."
)


def descent():
    """How plain gradient descent and Adam walk down the same valley at the same rate.

    The loss is (x² + s y²) / 2. The reader chooses the rate and how many times, s, the valley is
    steeper across than along, and follows both step by step. Kingma and Ba (2015), algorithm 1.

    Returns:
        An object that a notebook displays; ``save(path)`` writes a page of its own.

    Example:
        >>> from nlp104.figures import explore
        >>> explore.descent().data["rates"]
        [0.01, 0.03, 0.07, 0.1, 0.3]
    """
    data = {
        "steps": STEPS,
        "start": list(START),
        "rates": list(RATES),
        "steep": list(STEEP),
        "betas": list(BETAS),
        "epsilon": EPSILON,
        "chosen": {"rate": RATES.index(RATE), "steep": STEEP.index(STEEPEST)},
    }
    drawn = {"plain descent": plain(RATE, STEEPEST), "Adam": adam(RATE, STEEPEST)}
    beyond = (np.abs(drawn["plain descent"]) > FAR).any(axis=1)
    out = int(beyond.argmax())  # the first step outside the picture
    drawn["plain descent"] = drawn["plain descent"][: out + 1]
    ends = [_loss(path[-1]) for path in drawn.values()]
    alt = ALT.format(
        steep=STEEPEST,
        steps=STEPS,
        rate=RATE,
        out=out,
        start=f"{_loss(START):.1f}",
        plain=f"{ends[0]:.1f}",
        adam=f"{ends[1]:.2f}",
    )
    title = "One valley, two ways down"
    return Explorable("descent", title, data, _still(drawn), alt)


def plain(rate, steep):
    """Every place of plain gradient descent: `[step, 2]`, the start first."""
    path = [np.array(START)]
    for _ in range(STEPS):
        path.append(path[-1] - rate * path[-1] * (1, steep))
    return np.array(path)


def adam(rate, steep):
    """Every place of Adam: `[step, 2]`, the start first."""
    path, m, v = [np.array(START)], np.zeros(2), np.zeros(2)
    for t in range(1, STEPS + 1):
        gradient = path[-1] * (1, steep)
        m = BETAS[0] * m + (1 - BETAS[0]) * gradient
        v = BETAS[1] * v + (1 - BETAS[1]) * gradient**2
        repaired = m / (1 - BETAS[0] ** t), v / (1 - BETAS[1] ** t)
        path.append(path[-1] - rate * repaired[0] / (np.sqrt(repaired[1]) + EPSILON))
    return np.array(path)


def _loss(place):
    """In the steepest valley."""
    x, y = place
    return (x * x + STEEPEST * y * y) / 2


def _still(drawn):
    """Both walks, one below the other; what leaves the picture is cut at its edge."""
    drawing, high, unit = Drawing(360), 168, 57.9
    for row, (name, path) in enumerate(drawn.items()):
        top, middle = 24 + row * (high + 30), (180, 24 + row * (high + 30) + high / 2)
        out = bool((np.abs(path[-1]) > FAR).any())
        steps = f"step {len(path) - 1}: " + "out, " * out
        remark = f"{steps}loss {_loss(path[-1]):.{1 if out else 2}f}"
        drawing.text(0, top - 12, name, strong=True)
        drawing.text(360, top - 12, remark, anchor="end", muted=True)
        drawing.add("rect", x=0, y=top, width=360, height=high, rx=8, class_="box")
        for level in (0.5, 1.0, 1.6, 2.4):
            size = {"rx": unit * level, "ry": unit * level / np.sqrt(STEEPEST)}
            place = {"cx": middle[0], "cy": middle[1]}
            drawing.add("ellipse", **place, **size, class_="wire s-edge")
        seen = path[: len(path) - out]
        ways = [(middle[0] + unit * x, middle[1] - unit * y) for x, y in seen]
        if out:  # as far as the edge
            before, beyond = path[-2:]
            part = (FAR[1] * np.sign(beyond[1]) - before[1]) / (beyond[1] - before[1])
            x, y = before + part * (beyond - before)
            ways.append((middle[0] + unit * x, middle[1] - unit * y))
        drawing.wire(ways, "ink", arrow=out)
        for x, y in ways[: len(seen)]:
            drawing.add("rect", x=x - 2, y=y - 2, width=4, height=4, rx=2, class_="f-ink")
    return drawing.svg(24 + 2 * (high + 30))

"""Plain gradient descent and Adam in one valley: steep across, flat along."""

import numpy as np

from nlp104.figures.drawing import Drawing
from nlp104.figures.explore.explorable import Explorable

STEPS = 30
START = (-2.2, 0.9)
RATES = (0.01, 0.03, 0.07, 0.1, 0.3)
STEEP = (1, 5, 25)  # the second direction is so many times as steep as the first
BETAS, EPSILON = (0.9, 0.98), 1e-9  # Vaswani et al. (2017), section 5.3
RATE = 0.1  # of the figure in a browser; there plain descent jumps out
STILL_RATE, STILL_STEEP = 0.07, 25
ALT = (
    "Two pictures of a valley that is {steep} times as steep across as along, with {steps} steps "
    "of the rate {rate}. Plain descent jumps from side to side and has come from {start} to "
    "{plain} along the valley; Adam, to {adam}, in a curve."
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
        "chosen": {"rate": RATES.index(RATE), "steep": STEEP.index(STILL_STEEP)},
    }
    paths = {"plain": plain, "Adam": adam}
    drawn = {name: walk(STILL_RATE, STILL_STEEP) for name, walk in paths.items()}
    ends = {name.lower(): f"{path[-1, 0]:.2f}" for name, path in drawn.items()}
    alt = ALT.format(
        steep=STILL_STEEP, steps=STEPS, rate=STILL_RATE, start=f"{START[0]:.2f}", **ends
    )
    title = "One valley, two ways down"
    return Explorable("descent", title, data, _still(drawn), alt.replace("-", "−"))


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


def _still(drawn):
    """Both walks, one below the other."""
    drawing, high, unit = Drawing(360), 168, 66
    for row, (name, path) in enumerate(drawn.items()):
        top, middle = 24 + row * (high + 30), (180, 24 + row * (high + 30) + high / 2)
        drawing.text(0, top - 12, name, strong=True)
        for level in (0.5, 1.0, 1.6, 2.4):
            size = {"rx": unit * level, "ry": unit * level / np.sqrt(STILL_STEEP)}
            place = {"cx": middle[0], "cy": middle[1]}
            drawing.add("ellipse", **place, **size, class_="wire s-edge")
        points = [(middle[0] + unit * x, middle[1] - unit * y) for x, y in path]
        drawing.wire(points, "ink")
        for x, y in points:
            drawing.add("rect", x=x - 2, y=y - 2, width=4, height=4, rx=2, class_="f-ink")
    return drawing.svg(24 + 2 * (high + 30))

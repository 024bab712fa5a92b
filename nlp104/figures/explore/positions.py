"""How attention comes to know the order: words to swap, clocks to read, a shift that turns them."""

from itertools import permutations

import numpy as np

from nlp104.encoding import sinusoidal_positions
from nlp104.figures.drawing import Drawing
from nlp104.figures.explore.explorable import Explorable
from nlp104.figures.explore.numbers import short
from nlp104.figures.order import clock

WORDS = ("dog", "bites", "man")
ORDER, REVERSED = "dog bites man", "man bites dog"
COUNT, REACH = 64, 32  # positions to stand at, and how far another one may be away
WIDTHS, BASES = (4, 8, 16), (16, 100, 10_000)
VIEWS = {  # from each view to the title of a figure that shows nothing else
    "swap": "Does attention notice a swap?",
    "clock": "A position, as the hands of clocks",
    "shift": "Move on by k: every hand turns",
}
D, K = 8, 3  # of the clocks when the figure opens, and how many steps on
# The self-attention of the first view. Its weights are random; of 3,000 seeds this one changes the
# outputs most, so that the change can be seen at each of the positions.
WIDTH, BASE, SEED = 4, 100, 831


def positions(*views, step=0):
    """What attention sees of the order, and how a position is written as the hands of clocks.

    Three views of one position. *Swap*: three words go through one self-attention; the reader swaps
    them, with positions added or without. *Clock*: the sinusoidal code of a position, a clock for
    each pair of columns, beside the position as a binary number. *Shift*: the codes of two
    positions, the angles between them, and their dot product by distance. Vaswani et al. (2017),
    section 3.5.

    Args:
        views: those the reader can choose from, the first one first: ``"swap"``, ``"clock"``,
            ``"shift"``; by default all three. With *swap* alone nothing is played.
        step: the position at which the figure opens, from 0 to 63.

    Returns:
        An object that a notebook displays; ``save(path)`` writes a page of its own.

    Raises:
        ValueError: There is no such view, or no such position.

    Example:
        >>> from nlp104.figures import explore
        >>> explore.positions().data["words"]
        ['dog', 'bites', 'man']
        >>> explore.positions("clock", step=5).data["title"]
        'A position, as the hands of clocks'
    """
    views = views or tuple(VIEWS)
    for view in views:
        if view not in VIEWS:
            raise ValueError(f"Expected views from: {', '.join(VIEWS)}. Received: {view!r}.")
    count = 1 if views == ("swap",) else COUNT
    if step not in range(count):
        raise ValueError(f"Expected step: from 0 to {count - 1}. Received: {step!r}.")
    vectors, kernels = weights()
    data = {
        "words": list(WORDS),
        "orders": {
            " ".join(WORDS[word] for word in order): list(order) for order in permutations(range(3))
        },
        "vectors": short(vectors),
        "kernels": short(kernels),
        "speeds": short(_speeds(WIDTH)),
        "count": count,
        "reach": REACH,
        "views": [[view, view] for view in views],
        "widths": [[width, str(width)] for width in WIDTHS],
        "bases": [[base, f"{base:,}"] for base in BASES],
        "start": {"step": step, "view": views[0], "k": K, "d": D, "base": BASE},
    }
    title = VIEWS[views[0]] if len(views) == 1 else "How does a word know its place?"
    still = {"swap": _swap_still, "clock": _clock_still, "shift": _shift_still}[views[0]]
    return Explorable("positions", title, data, *still(step))


def weights():
    """Vectors of the words `[word, 4]`, and W_Q, W_K and W_V `[3, 4, 4]`: one decimal each."""
    rng = np.random.default_rng(SEED)
    vectors = rng.normal(size=(len(WORDS), WIDTH))
    return np.round(vectors, 1), np.round(rng.normal(0, 0.6, (3, WIDTH, WIDTH)), 1)


def swapped(on, step=0):
    """Outputs of each word in "dog bites man" and in "man bites dog": two of `[word, 4]`."""
    vectors, kernels = weights()
    places = sinusoidal_positions(step + len(WORDS), WIDTH, BASE)[step:].astype("float64") * on
    back = [2, 1, 0]
    return _attend(vectors + places, *kernels), _attend(vectors[back] + places, *kernels)[back]


def _attend(x, *kernels):
    """Self-attention in float64, as NumPy."""
    queries, keys, values = (x @ kernel for kernel in kernels)
    powers = np.exp(queries @ keys.T / np.sqrt(WIDTH))
    return powers / powers.sum(-1, keepdims=True) @ values


def _swap_still(step):
    """Both outputs of every word: without positions, and with them."""
    outputs = {name: swapped(name == "on", step) for name in ("off", "on")}
    drawing, row, cell = Drawing(310), 26, 25
    most = max(np.abs(pair).max() for pair in outputs.values())
    for number, (name, pair) in enumerate(outputs.items()):
        top = 138 * number
        title = {"off": "without positions", "on": "with positions"}[name]
        drawing.text(0, top + 14, title, strong=True, concept="p" if name == "on" else None)
        drawing.tokens(0, top + 46, WORDS, width=50, height=row)
        for column, (order, values) in enumerate(zip((ORDER, REVERSED), pair, strict=True)):
            left = 54 + 110 * column
            drawing.text(left + 2 * cell, top + 36, order, muted=True, anchor="middle", size=12)
            drawing.matrix(left, top + 46, values, "v", width=cell, height=row, most=most)
        drawing.text(310, top + 36, "apart", muted=True, anchor="end", size=12)
        for word, apart in enumerate(np.abs(pair[1] - pair[0]).max(-1)):
            middle = top + 46 + (word + 0.5) * row
            drawing.text(310, middle, f"{apart:.2f}", strong=True, anchor="end")
    apart = {name: np.abs(now - before).max(-1) for name, (before, now) in outputs.items()}
    alt = (
        f"The outputs of self-attention for “{ORDER}” and for “{REVERSED}”. Without "
        f"positions each word has the same output in both, largest difference "
        f"{apart['off'].max():.2f}. With positions the outputs of dog, bites and man differ by up "
        "to {:.2f}, {:.2f} and {:.2f}."
    ).format(*apart["on"])
    return drawing.svg(264), alt


def _clock_still(step):
    """The hands of a position, its code, and the position as a binary number."""
    drawing, (code,) = _dials(0, step), _codes(step)
    bits = [step >> bit & 1 for bit in range(6)]
    _row(drawing, 128, step, code)
    drawing.text(30, 176, "the same, binary: 1, 2, 4, …", muted=True, size=12)
    look = {"width": 34, "height": 26, "most": 1.0, "digits": 0}
    drawing.matrix(30, 188, [bits], "r", **look)
    numbers = ", ".join(f"{value:.2f}" for value in code)
    alt = (
        f"Position {step} as {D // 2} clocks, whose hands have turned by "
        f"{', '.join(_degrees(step))}; its code, {numbers}; and its binary digits from the lowest, "
        f"{', '.join(map(str, bits))}."
    )
    return drawing.svg(216), alt


def _shift_still(step):
    """The hands and the codes of two positions, and their dot product."""
    drawing, codes = _dials(step, step + K), _codes(step, step + K)
    for row, code in enumerate(codes):
        _row(drawing, 128 + 30 * row, step + row * K, code)
    product = codes[0] @ codes[1]
    drawing.text(30, 204, f"k = {K}, dot product {product:.2f}", strong=True)
    alt = (
        f"From position {step} to position {step + K} the hands of {D // 2} clocks turn by "
        f"{', '.join(_degrees(K))}. The dot product of the two codes is {product:.2f}."
    )
    return drawing.svg(216), alt


def _speeds(width):
    """How far the hand of each pair turns with every position, in radians."""
    return BASE ** (-np.arange(0, width, 2) / width)


def _codes(*places):
    return sinusoidal_positions(max(places) + 1, D, BASE).astype("float64")[list(places)]


def _degrees(steps):
    """How far each hand turns, as the figure writes it."""
    turns = steps * _speeds(D) / (2 * np.pi)
    return [f"{turn:.1f} turns" if turn >= 1 else f"{360 * turn:.1f}°" for turn in turns]


def _dials(start, end):
    """A clock for each pair: a hand at `end`, a thin one at `start`, and the angle between."""
    drawing = Drawing(310)
    for pair, (speed, turned) in enumerate(zip(_speeds(D), _degrees(end - start), strict=True)):
        x, look = 65 + 70 * pair, {"anchor": "middle", "size": 12}
        drawing.text(x, 8, f"hand {pair + 1}", muted=True, **look)
        if start:
            tip = f"{x + 26 * np.sin(start * speed):.2f} {54 - 26 * np.cos(start * speed):.2f}"
            drawing.add("path", d=f"M{x} 54L{tip}", class_="wire s-ink")
        clock(drawing, x, 54, 31, end * speed, arc=not start)
        drawing.text(x, 98, turned, concept="p", **look)
    return drawing


def _row(drawing, top, position, code):
    """The code of a position in cells."""
    drawing.text(24, top + 13, f"{position}", anchor="end", strong=True)
    look = {"width": 35, "height": 26, "most": 1.0, "digits": 1}
    drawing.matrix(30, top, [np.round(code, 1) + 0.0], "p", **look)  # no −0.0

"""What depth does to a signal and to a gradient, with and without skip connections and norms."""

import numpy as np

from nlp104.figures.drawing import Drawing
from nlp104.figures.explore.explorable import Explorable
from nlp104.figures.explore.numbers import short

LAYERS, HEADS, WIDTH, LENGTH = 12, 2, 32, 8
NORMS = (None, "post", "pre")
GAINS = (0.5, 1.0, 2.0)  # by how much the first weights are larger than Glorot's
EPSILON = 1e-6


def residual(seed=104):
    """A signal on its way up 24 sub-layers, and a gradient on its way down.

    The stack has 12 fresh layers of attention and feed-forward network. The reader switches the
    skip connections, puts the norm behind the sum or in front of the box, chooses the size of the
    first weights, and follows both. He et al. (2016), equation 1; Ba et al. (2016), equation 4;
    Xiong et al. (2020), figure 1.

    Args:
        seed: of the weights, the vectors and the gradient.

    Returns:
        An object that a notebook displays; ``save(path)`` writes a page of its own.

    Example:
        >>> from nlp104.figures import explore
        >>> len(explore.residual().data["runs"])  # gains × skips × norms
        18
    """
    x, gradient, weights = start(seed)
    runs = {
        (gain, skip, norm): measure(x, gradient, weights, skip, norm, gain)
        for gain in GAINS
        for skip in (False, True)
        for norm in NORMS
    }
    shown = [
        {name: short(v, 4) if name == "own" else short(np.log10(v), 3) for name, v in run.items()}
        for run in runs.values()
    ]
    bare, both = runs[1.0, False, None], runs[1.0, True, "pre"]
    alt = (
        f"A stack of {2 * LAYERS} sub-layers. Without skips and norms a signal of size 1 comes out "
        f"with {bare['signal'][-1]:.1g}, and of a gradient of length 1 on top "
        f"{bare['gradient'][0]:.1g} arrives at the bottom. With skips and pre-norm it is "
        f"{both['signal'][-1]:.1f} and {both['gradient'][0]:.1f}."
    )
    data = {"layers": LAYERS, "runs": shown}
    still = _still({"no skips, no norms": bare, "skips and pre-norm": both})
    return Explorable("residual", "What is left after 24 sub-layers?", data, still, alt)


def start(seed):
    """Vectors of size 1, a gradient of length 1, and the matrices of each sub-layer.

    The matrices are drawn within Glorot's limits: four of an attention (queries, keys, values,
    output) and two of a feed-forward network, in turns.
    """
    rng = np.random.default_rng(seed)
    x, gradient = rng.normal(size=(2, LENGTH, WIDTH))
    attend, feed = [(WIDTH, WIDTH)] * 4, [(WIDTH, 4 * WIDTH), (4 * WIDTH, WIDTH)]
    weights = [
        [rng.uniform(-1, 1, shape) * np.sqrt(6 / sum(shape)) for shape in shapes]
        for shapes in (attend, feed) * LAYERS
    ]
    return x / _size(x), gradient / np.linalg.norm(gradient), weights


def attention(x, matrices):
    """Multi-head self-attention of `[length, width]`, and how a gradient goes back through it."""
    W_Q, W_K, W_V, W_O = matrices
    scale = 1 / np.sqrt(WIDTH // HEADS)
    q, k, v = (_split(x @ W) for W in (W_Q, W_K, W_V))  # [head, length, width of a head]
    powers = np.exp(scale * (q @ _t(k) - (q @ _t(k)).max(-1, keepdims=True)))
    p = powers / powers.sum(-1, keepdims=True)

    def back(gradient):
        joined = _split(gradient @ W_O.T)
        of_p = joined @ _t(v)
        of_scores = scale * p * (of_p - (of_p * p).sum(-1, keepdims=True))
        of_q, of_k, of_v = of_scores @ k, _t(of_scores) @ q, _t(p) @ joined
        return _join(of_q) @ W_Q.T + _join(of_k) @ W_K.T + _join(of_v) @ W_V.T

    return _join(p @ v) @ W_O, back


def feed_forward(x, matrices):
    """Two linear maps with a ReLU in between, and how a gradient goes back through them."""
    W_1, W_2 = matrices
    h = np.maximum(x @ W_1, 0)
    return h @ W_2, lambda gradient: (gradient @ W_2.T * (h > 0)) @ W_1.T


def layer_norm(x):
    """Each token with mean 0 and variance 1, and how a gradient goes back through that."""
    deviation = np.sqrt(x.var(-1, keepdims=True) + EPSILON)
    y = (x - x.mean(-1, keepdims=True)) / deviation

    def back(gradient):
        means = gradient.mean(-1, keepdims=True), (gradient * y).mean(-1, keepdims=True)
        return (gradient - means[0] - y * means[1]) / deviation

    return y, back


def _t(x):
    return x.swapaxes(-1, -2)


def _split(x):
    return x.reshape(len(x), HEADS, -1).swapaxes(0, 1)


def _join(x):
    return x.swapaxes(0, 1).reshape(x.shape[1], -1)


def _same(x):
    return x, lambda gradient: gradient


def measure(x, gradient, weights, skip, norm, gain=1.0):
    """Send vectors up a stack, and a gradient down.

    Args:
        x: `[length, width]`.
        gradient: of the same shape, set off on top.
        weights: the matrices of each sub-layer, see `start`.
        skip: whether a wire runs past each sub-layer.
        norm: ``"post"``: of what comes out of each; ``"pre"``: of what goes in, and once more at
            the very top; None.
        gain: by how much all matrices are larger.

    Returns:
        A dictionary. Root mean squares are `signal` on the wire below each sub-layer and on top,
        `change` that comes out of each, `sum` in front of a post-norm. Lengths: `gradient` on the
        wire below each sub-layer and on top, `past` each along the wire, `through` it. And `own`,
        the mean cosine of the signal's vectors with those that went in.
    """
    before, after = (layer_norm if norm == place else _same for place in ("pre", "post"))
    states, changes, sums, backs = [x], [], [], []
    for number, matrices in enumerate(weights):
        box = feed_forward if number % 2 else attention
        h, back_before = before(states[-1])
        change, back_box = box(h, [gain * matrix for matrix in matrices])
        total = states[-1] + change if skip else change
        y, back_after = after(total)
        states.append(y)
        changes.append(change)
        sums.append(total)
        backs.append((back_before, back_box, back_after))
    gradients, pasts, throughs = [before(states[-1])[1](gradient)], [], []
    for back_before, back_box, back_after in reversed(backs):
        past = back_after(gradients[-1])
        through = back_before(back_box(past))
        gradients.append(past + through if skip else through)
        pasts.append(past)
        throughs.append(through)
    return {
        "signal": [_size(y) for y in states],
        "change": [_size(y) for y in changes],
        "sum": [_size(y) for y in sums],
        "gradient": [np.linalg.norm(g) for g in reversed(gradients)],
        "past": [np.linalg.norm(g) for g in reversed(pasts)],
        "through": [np.linalg.norm(g) for g in reversed(throughs)],
        "own": [(_unit(y) * _unit(x)).sum(-1).mean() for y in states],
    }


def _size(x):
    return np.sqrt(np.mean(x**2))


def _unit(x):
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


def _still(runs):
    """Signal and gradient at every height of two stacks: powers of ten as bars."""
    drawing, row, ten = Drawing(360), 11, 18  # pixels of a power of ten
    for column, (title, run) in enumerate(runs.items()):
        left = 184 * column
        drawing.text(left, 10, title, strong=True)
        for number, name in enumerate(("signal", "gradient")):
            one = left + 76 + 92 * number
            drawing.text(one, 32, f"{'↑↓'[number]} {name}", anchor="end", muted=True)
            for level, value in enumerate(np.log10(run[name])):
                y, long = 46 + (2 * LAYERS - level) * row, max(2, ten * abs(value))
                x = one - long if value < 0 else one
                drawing.add("rect", x=x, y=y, width=long, height=row - 3, rx=2, class_="f-r")
            drawing.wire([(one, 42), (one, 46 + (2 * LAYERS + 1) * row)])
            drawing.text(one, 58 + (2 * LAYERS + 1) * row, "1", anchor="middle", muted=True)
    return drawing.svg(68 + (2 * LAYERS + 1) * row)

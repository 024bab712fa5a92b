"""Deep stacks whose wires can be pulled, and what arrives at each depth of them.

A stack is attention and feed-forward networks in turns. Its skip connections can be left out, its
norms stand before or after the sub-layers, or nowhere. It is measured as it starts, untrained:
how large the vectors are on their way up, how long the gradient is on its way down, and how many
words can still be recognised.
"""

import keras
import numpy as np
from keras import ops

from nlp104.attention.multi_head import MultiHeadAttention
from nlp104.transformer.feed_forward import FeedForward

__all__ = ["Probe", "Stack", "gradient_lengths", "recognised", "sizes", "through"]

HEADS = 2


class Probe(keras.layers.Layer):
    """Adds zeros that can be learned; see `gradient_lengths`."""

    def build(self, shape):
        self.zeros = self.add_weight(shape[1:], initializer="zeros")

    def call(self, x):
        return x + self.zeros


def through(sub_layer, x, norm, skips, place):
    """One sub-layer; `place` of the norm is "pre", "post" or None.

    Example:
        >>> import numpy as np
        >>> from nlp104.figures.depth import through
        >>> x = np.array([[1.0, 3.0]])
        >>> for skips in (True, False):  # 2x, with x added or not
        ...     print(through(lambda h: 2 * h, x, None, skips, None))
        [[3. 9.]]
        [[2. 6.]]
    """
    h = norm(x) if place == "pre" else x
    y = x + sub_layer(h) if skips else sub_layer(h)
    return norm(y) if place == "post" else y


class Stack(keras.layers.Layer):
    """Attention and feed-forward in turns, a probe in front of each.

    Args:
        skips: whether a wire leads around each sub-layer.
        norm: where its layer normalisation stands: ``"pre"``, ``"post"`` or None, nowhere.
        num_layers: number of layers of two sub-layers each.
        width: of the vectors.
        gain: factor on the initial weights of the attentions; 1 is Glorot's.

    Call arguments:
        x: `[batch, length, width]`.

    Returns:
        The same shape; with ``norm="pre"`` normalised once more, as at the top of an encoder.

    Example:
        >>> import keras
        >>> from nlp104.figures.depth import Stack
        >>> stack = Stack(skips=True, norm="pre", num_layers=3)
        >>> x = keras.random.normal((1, 5, 32), seed=104)
        >>> len(stack.states(x))  # the input and six sub-layers
        7
    """

    def __init__(self, skips, norm, num_layers=12, width=32, gain=1.0):
        if norm not in ("pre", "post", None):
            raise ValueError(f"`norm` must be 'pre', 'post' or None. Received: {norm!r}.")
        super().__init__()
        self.skips, self.norm = skips, norm
        start = {"scale": gain**2, "mode": "fan_avg", "distribution": "uniform"}
        self.sub_layers = []
        for _ in range(num_layers):
            glorot = keras.initializers.VarianceScaling(**start)
            attend = MultiHeadAttention(HEADS, width // HEADS, kernel_initializer=glorot)
            self.sub_layers += [attend, FeedForward(width, 4 * width)]
        self.norms = [keras.layers.LayerNormalization(epsilon=1e-6) for _ in self.sub_layers]
        self.last_norm = keras.layers.LayerNormalization(epsilon=1e-6)
        self.probes = [Probe() for _ in self.sub_layers]

    def build(self, shape):
        norms = self.norms if self.norm else []
        last = [self.last_norm] if self.norm == "pre" else []
        for part in (*self.probes, *norms, *last, *self.sub_layers[1::2]):
            part.build(shape)
        for attend in self.sub_layers[0::2]:
            attend.build(shape, shape)
        self.built = True

    def states(self, x):
        """What is on the wire: in front, and after every sub-layer."""
        if not self.built:
            self.build(x.shape)
        states = [x]
        for i, sub_layer in enumerate(self.sub_layers):

            def change(h, layer=sub_layer, attends=i % 2 == 0):
                return layer(h, h) if attends else layer(h)

            x = self.probes[i](x)
            x = through(change, x, self.norms[i], self.skips, self.norm)
            states.append(x)
        return states

    def call(self, x):
        x = self.states(x)[-1]
        return self.last_norm(x) if self.norm == "pre" else x

    def compute_output_spec(self, x):
        """Known without a trial run through all layers, which would take most of the time."""
        return keras.KerasTensor(x.shape, dtype=x.dtype)


def sizes(states):
    """Root mean square of what `Stack.states` returned, at every depth.

    Example:
        >>> import numpy as np
        >>> from nlp104.figures.depth import sizes
        >>> sizes([np.array([[3.0, 4.0]]), np.zeros((1, 2))]).round(2).tolist()  # √(25 / 2), 0
        [3.54, 0.0]
    """
    arrays = (ops.convert_to_numpy(state) for state in states)
    return np.array([np.sqrt(np.mean(state**2)) for state in arrays])


def gradient_lengths(stack, x, seed=0):
    """Length of the gradient in front of each sub-layer, for a random one of length 1 on top.

    One step of gradient descent with step size 1 leaves minus the gradient in each probe.

    Args:
        stack: a `Stack` that has not been trained. This is its first step.
        x: `[1, length, width]`.
        seed: of the gradient on top.

    Example:
        >>> import keras
        >>> from nlp104.figures.depth import Stack, gradient_lengths
        >>> x = keras.ops.convert_to_numpy(keras.random.normal((1, 5, 32), seed=104))
        >>> lengths = gradient_lengths(Stack(skips=True, norm="post", num_layers=1), x)
        >>> len(lengths), bool((lengths > 0).all())  # in front of each of the two sub-layers
        (2, True)
    """
    top = np.random.default_rng(seed).normal(size=x.shape).astype("float32")
    top /= np.linalg.norm(top)
    model = keras.Sequential([stack])
    optimizer = keras.optimizers.SGD(1.0)
    model.compile(optimizer, loss=lambda top, y: ops.sum(top * y), run_eagerly=True)
    model.fit(x, top, verbose=0)
    filled = [ops.convert_to_numpy(probe.zeros) for probe in stack.probes]
    return np.array([np.linalg.norm(gradient) for gradient in filled])


def recognised(states, words, line):
    """Whether vectors still resemble their own word more than any other, at every depth.

    Args:
        states: what `Stack.states` returned for the vectors of one line, ``words[line][None]``.
        words: one vector for each word, `[words, width]`.
        line: the words of the line, `[length]`.

    Returns:
        Two arrays with a number for every depth. The first holds the share of places of which that
        is true, the second the mean cosine of a place with its word.

    Example:
        >>> import numpy as np
        >>> from nlp104.figures.depth import recognised
        >>> words, line = np.eye(3), np.array([0, 2])  # three words, a line of two of them
        >>> blurred = np.array([[[0.8, 0.6, 0.0], [0.8, 0.0, 0.6]]])  # the second looks like word 0
        >>> shares, cosines = recognised([words[line][None], blurred], words, line)
        >>> shares.tolist(), cosines.round(2).tolist()
        ([1.0, 0.5], [1.0, 0.7])
    """
    shares, cosines = [], []
    lengths = np.linalg.norm(words, axis=1)
    for state in states:
        state = ops.convert_to_numpy(state)[0]
        alike = state @ words.T / (np.linalg.norm(state, axis=1)[:, None] * lengths)
        shares.append(np.mean(alike.argmax(axis=1) == line))
        cosines.append(alike[np.arange(len(line)), line].mean())
    return np.array(shares), np.array(cosines)

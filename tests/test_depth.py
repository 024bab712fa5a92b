"""Deep stacks: their wires against formulas in float64, their gradients against differences."""

import keras
import numpy as np
import pytest
from keras import ops

from nlp104.figures import depth


def normalised(x):
    x = np.asarray(x, "float64")
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-6)


def line(length=5, width=8, seed=0):
    return np.random.default_rng(seed).normal(size=(1, length, width)).astype("float32")


@pytest.mark.parametrize("norm", ["pre", "post", None])
@pytest.mark.parametrize("skips", [True, False])
def test_a_stack_is_wired_as_it_says(skips, norm):
    x = line()
    stack = depth.Stack(skips, norm, num_layers=2, width=8)
    states = [ops.convert_to_numpy(state) for state in stack.states(x)]
    assert len(states) == 1 + 2 * 2
    np.testing.assert_array_equal(states[0], x)
    for number, layer in enumerate(stack.sub_layers):
        before = states[number]
        seen = normalised(before).astype("float32") if norm == "pre" else before
        change = layer(seen, seen) if number % 2 == 0 else layer(seen)
        after = ops.convert_to_numpy(change).astype("float64") + (before if skips else 0)
        expected = normalised(after) if norm == "post" else after
        np.testing.assert_allclose(states[number + 1], expected, atol=2e-4)
    last = normalised(states[-1]) if norm == "pre" else states[-1]
    np.testing.assert_allclose(ops.convert_to_numpy(stack(x)), last, atol=2e-4)


@pytest.mark.parametrize(("skips", "norm"), [(True, "post"), (True, "pre"), (False, None)])
def test_gradients_are_those_of_differences(skips, norm):
    keras.utils.set_random_seed(1)
    x = line(length=2, width=4)
    stack = depth.Stack(skips, norm, num_layers=1, width=4)
    stack(x)
    top = np.random.default_rng(0).normal(size=x.shape).astype("float32")
    top /= np.linalg.norm(top)

    def value(x):
        return float(np.sum(top * ops.convert_to_numpy(stack(x)).astype("float64")))

    step, slopes = 1e-3, []
    for place in np.ndindex(*x.shape):
        nudge = np.zeros_like(x)
        nudge[place] = step
        slopes.append((value(x + nudge) - value(x - nudge)) / (2 * step))
    lengths = depth.gradient_lengths(stack, x)
    assert lengths.shape == (2,)
    np.testing.assert_allclose(lengths[0], np.linalg.norm(slopes), rtol=0.03)


def test_sizes_and_words_are_those_of_a_loop():
    words = np.random.default_rng(3).normal(size=(6, 8)).astype("float32")
    order = np.array([0, 3, 3, 5, 1])
    stack = depth.Stack(True, "post", num_layers=2, width=8)
    states = stack.states(words[order][None])
    shares, cosines = depth.recognised(states, words, order)
    assert (shares[0], round(float(cosines[0]), 5)) == (1.0, 1.0)
    for depth_, state in enumerate(states):
        state = ops.convert_to_numpy(state)[0]
        right, own = 0, []
        for vector, word in zip(state, order, strict=True):
            alike = [vector @ w / np.linalg.norm(vector) / np.linalg.norm(w) for w in words]
            right += int(np.argmax(alike) == word)
            own.append(alike[word])
        assert shares[depth_] == right / len(order)
        assert cosines[depth_] == pytest.approx(np.mean(own), abs=1e-5)
        assert depth.sizes(states)[depth_] == pytest.approx(np.sqrt((state**2).mean()), rel=1e-5)


def test_a_norm_that_is_nowhere_known():
    with pytest.raises(ValueError, match=r"'pre', 'post' or None.* Received: 'middle'"):
        depth.Stack(True, "middle")

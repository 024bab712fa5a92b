"""The drawn pipeline holds the numbers of the equations, each where it belongs."""

import math
import re

import keras
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nlp104 import attention
from nlp104.figures import attention_steps

TOKENS = ["The", "black", "$cat$", "sleeps"]
FRENCH = ["[START]", "Le", "chat"]
RNG = np.random.default_rng(104)
Q, K, V = RNG.normal(size=(4, 2)), RNG.normal(size=(4, 2)), RNG.normal(size=(4, 3))


def drawn(figure):
    """From each title to the numbers behind its colours; the last one where a title repeats."""
    meshes = [mesh for mesh in figure.axes[0].collections if mesh.get_gid()]
    return {mesh.get_gid(): np.asarray(mesh.get_array()).reshape(_shape(mesh)) for mesh in meshes}


def _shape(mesh):
    rows, columns, _ = mesh.get_coordinates().shape
    return rows - 1, columns - 1


def written(figure, title, which=-1):
    """The texts inside the cells of a matrix, row by row."""
    axes = figure.axes[0]
    mesh = [mesh for mesh in axes.collections if mesh.get_gid() == title][which]
    corners = mesh.get_coordinates()
    (left, top), (right, bottom) = corners[0, 0], corners[-1, -1]
    inside = [
        text
        for text in axes.texts
        if left < text.get_position()[0] < right and top < text.get_position()[1] < bottom
    ]
    inside.sort(key=lambda text: (text.get_position()[1], text.get_position()[0]))
    return [text.get_text() for text in inside]


def texts(figure):
    return [text.get_text() for text in figure.axes[0].texts]


def frames(figure):
    """The boxes in the colour of the ink: what is followed, as (width, height)."""
    ink = [0x26 / 255, 0x24 / 255, 0x1F / 255]
    return [
        (patch.get_width(), patch.get_height())
        for patch in figure.axes[0].patches
        if not patch.get_fill() and np.allclose(patch.get_edgecolor()[:3], ink)
    ]


def by_hand(query, key, value, mask):
    """The weights and the output, one number at a time."""
    weights = np.zeros((len(query), len(key)))
    for i, q in enumerate(query):
        seen = [j for j in range(len(key)) if mask[i][j]]
        powers = {
            j: math.exp(sum(a * b for a, b in zip(q, key[j], strict=True)) / math.sqrt(len(q)))
            for j in seen
        }
        for j in seen:
            weights[i, j] = powers[j] / sum(powers.values())
    return weights, weights @ np.asarray(value)


@settings(max_examples=8, deadline=None)
@given(
    queries=st.integers(1, 6),
    keys=st.integers(1, 6),
    width=st.integers(1, 12),
    seed=st.integers(0, 99),
)
def test_every_step_is_that_of_the_equation(queries, keys, width, seed):
    rng = np.random.default_rng(seed)
    query, key = rng.normal(size=(queries, width)), rng.normal(size=(keys, width))
    value, mask = rng.normal(size=(keys, 2)), rng.random((queries, keys)) < 0.6
    rows, columns = [f"q{i}" for i in range(queries)], [f"k{i}" for i in range(keys)]
    weights, output = by_hand(query, key, value, mask)
    shown = drawn(attention_steps.pipeline(query, key, value, rows, columns, mask=mask))
    np.testing.assert_allclose(shown["S"], query @ key.T)
    np.testing.assert_allclose(shown[r"$S\,/\,\sqrt{d_k}$"], query @ key.T / math.sqrt(width))
    np.testing.assert_allclose(shown["A"], weights, atol=1e-6)
    np.testing.assert_allclose(shown["Y"], output, atol=1e-6)


def test_without_a_mask_no_mask_is_drawn():
    shown = drawn(attention_steps.pipeline(Q, K, V, TOKENS))
    assert "M" not in shown
    np.testing.assert_allclose(shown["A"].sum(axis=1), 1.0, rtol=1e-6)


def test_it_is_the_packages_attention():
    layer = attention.SelfAttention(key_dim=2, value_dim=3)
    inputs = RNG.normal(size=(4, 5))
    layer.build((1, 4, 5))
    kernels = layer.get_weights()
    output, weights = layer(inputs[None], return_attention_scores=True)
    shown = drawn(attention_steps.projections(inputs, kernels, TOKENS))
    figure = attention_steps.pipeline(shown["Q"], shown["K"], shown["V"], TOKENS)
    np.testing.assert_allclose(drawn(figure)["A"], weights[0], atol=1e-5)
    np.testing.assert_allclose(drawn(figure)["Y"], output[0], atol=1e-5)


def test_the_mask_is_written_and_hides_its_weights():
    figure = attention_steps.pipeline(Q, K, V, TOKENS, mask=np.tri(4, dtype=bool))
    assert written(figure, "M") == [
        "0" if key <= query else "-∞" for query in range(4) for key in range(4)
    ]
    assert written(figure, "A")[0] == "1.00"
    assert len(written(figure, "A")) == 10  # of 16
    hatched = [patch for patch in figure.axes[0].patches if patch.get_hatch()]
    assert len(hatched) == 3 * 6  # in M and twice in A


def test_numbers_stand_in_their_cells():
    value = np.array([[1.0, -2.0], [0.0, 3.0], [4.0, 5.0], [-0.0, 7.0]])
    figure = attention_steps.pipeline(Q, K, value, TOKENS)
    assert written(figure, "V") == ["1", "-2", "0", "3", "4", "5", "0", "7"]
    assert written(figure, "Q") == [f"{round(x, 1) + 0.0:.1f}" for x in Q.ravel()]
    weights = by_hand(Q, K, V, np.full((4, 4), True))[0]
    assert written(figure, "A") == [f"{x:.2f}" for x in weights.ravel()]


def test_wide_matrices_show_colours_only():
    query, key = RNG.normal(size=(4, 32)), RNG.normal(size=(4, 32))
    figure = attention_steps.pipeline(query, key, V, TOKENS)
    assert written(figure, "Q") == written(figure, "$K^T$") == []
    assert len(written(figure, "S")) == 16
    np.testing.assert_allclose(drawn(figure)["$K^T$"], key.T)


def test_tokens_and_shapes_are_named():
    figure = attention_steps.pipeline(Q[:3], K, V, FRENCH, TOKENS, title="Title")
    assert figure.axes[0].get_title(loc="left") == "Title"
    shapes = {"Q   3 × 2", "$K^T$   2 × 4", "S   3 × 4", "A   3 × 4", "V   4 × 3", "Y   3 × 3"}
    assert shapes <= set(texts(figure))
    assert texts(figure).count("chat") == 5  # Q, S, S / √d_k, A, Y
    assert texts(figure).count("$cat$") == 6  # over Kᵀ, S, S / √d_k and twice A, beside V


def test_a_row_is_followed_through_all_steps_but_keys_and_values():
    assert frames(attention_steps.pipeline(Q, K, V, TOKENS)) == []
    followed = frames(attention_steps.pipeline(Q, K, V, TOKENS, follow=2))
    assert followed == [(2, 1), (4, 1), (4, 1), (4, 1), (4, 1), (3, 1)]  # Q, S, S/√d_k, A, A, Y


def test_an_entry_is_followed_to_its_row_and_its_column():
    kernels = RNG.normal(size=(3, 5, 2))
    figure = attention_steps.projections(np.ones((4, 5)), kernels, TOKENS, follow=(1, 0))
    np.testing.assert_allclose(frames(figure), 3 * [(5, 1), (1, 5), (1, 1)])


def test_projections_multiply_inputs_and_kernels():
    inputs, kernels = RNG.normal(size=(4, 5)), RNG.normal(size=(3, 5, 2))
    figure = attention_steps.projections(inputs, kernels, TOKENS, features=list("abcde"))
    for letter, kernel in zip("QKV", kernels, strict=True):
        expected = [[sum(x * w) for w in kernel.T] for x in inputs]
        np.testing.assert_allclose(drawn(figure)[letter], expected)
        np.testing.assert_allclose(drawn(figure)[f"$W_{letter}$"], kernel)
    assert texts(figure).count("a") == 6  # over X and beside W, three times


@pytest.mark.parametrize("width", [2, 32])
def test_everything_lies_on_the_card(width):
    query, key = RNG.normal(size=(2, 4, width))
    figure = attention_steps.pipeline(
        query, key, key, TOKENS, mask=np.tri(4, dtype=bool), follow=0, title="Title"
    )
    figure.canvas.draw()
    card = figure.bbox
    for artist in (*figure.axes[0].texts, *figure.axes[0].patches, *figure.axes[0].collections):
        box = artist.get_window_extent()
        assert card.x0 <= box.x0 <= box.x1 <= card.x1, artist
        assert card.y0 <= min(box.y0, box.y1), artist  # the axis points down
        assert max(box.y0, box.y1) <= card.y1, artist


def test_tensors_of_the_backend_are_accepted():
    query, key, value = (keras.ops.convert_to_tensor(x, "float32") for x in (Q, K, V))
    shown = drawn(attention_steps.pipeline(query, key, value, TOKENS))
    np.testing.assert_allclose(shown["S"], Q @ K.T, atol=1e-5)


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda: attention_steps.pipeline(Q, K, V, FRENCH), "'query' must have shape (3, any)"),
        (lambda: attention_steps.pipeline(Q, V, V, TOKENS), "'key' must have shape (4, 2), got (4"),
        (lambda: attention_steps.pipeline(Q, K, V[0], TOKENS), "'value' must have shape (4, any)"),
        (
            lambda: attention_steps.pipeline(Q, K, V, TOKENS, mask=np.tri(3)),
            "'mask' must have shape (4, 4), got (3, 3)",
        ),
        (
            lambda: attention_steps.projections(Q, [V, V, V], TOKENS),
            "'W_Q' must have shape (2, any), got (4, 3)",
        ),
        (
            lambda: attention_steps.projections(Q, [V, V, V], FRENCH),
            "'inputs' must have shape (3, any)",
        ),
    ],
)
def test_bad_input_is_refused_in_words(draw, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        draw()

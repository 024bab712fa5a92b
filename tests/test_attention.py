"""Masks and the seven versions of attention against NumPy, Keras, PyTorch and each other."""

import functools
import math

import keras
import numpy as np
import pytest
from golden import set_weights, torch_case
from hypothesis import given
from hypothesis import strategies as st
from keras import ops
from layer_checks import check_layer, compiled

from nlp104.attention.fused import fused_attention
from nlp104.attention.masks import causal_mask, combine_masks, masked_softmax, padding_mask
from nlp104.attention.multi_head import MultiHeadAttention
from nlp104.attention.single_head import (
    AdditiveAttention,
    CrossAttention,
    DotProductAttention,
    ScaledDotProductAttention,
    SelfAttention,
)
from nlp104.transformer.feed_forward import FeedForward


def array(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


def some_mask(*shape, seed=0):
    """A random mask that leaves every row something to see."""
    mask = np.random.default_rng(seed).random(shape) < 0.6
    mask[..., 0] = True
    return mask


def to_numpy(tensor):
    return ops.convert_to_numpy(tensor)


def assert_close(actual, expected, atol=1e-5):
    np.testing.assert_allclose(to_numpy(actual), to_numpy(expected), atol=atol, rtol=1e-5)


def numpy_attention(queries, keys, values, mask=None):
    """softmax(Q Kᵀ / √d) V in float64."""
    queries, keys, values = (np.asarray(x, "float64") for x in (queries, keys, values))
    scores = queries @ np.swapaxes(keys, -1, -2) / math.sqrt(queries.shape[-1])
    weights = numpy_softmax(scores, mask)
    return weights @ values, weights


def numpy_softmax(scores, mask=None):
    scores = np.asarray(scores, "float64")
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    exponentials = np.exp(scores - scores.max(-1, keepdims=True))
    return exponentials / exponentials.sum(-1, keepdims=True)


class TestMasks:
    def test_padding_mask_is_where_the_id_is_not_zero(self):
        mask = to_numpy(padding_mask(np.array([[5, 7, 0], [1, 0, 0]])))
        assert mask.dtype == bool
        assert mask.tolist() == [[True, True, False], [True, False, False]]

    @given(st.sampled_from([1, 4]), st.sampled_from([1, 3, 6]), st.integers(0, 6))
    def test_causal_mask_by_brute_force(self, queries, keys, offset):
        expected = [[key <= query + offset for key in range(keys)] for query in range(queries)]
        assert to_numpy(causal_mask(queries, keys, offset)).tolist() == expected

    @pytest.mark.parametrize("kind", [np.int64, np.int32, lambda n: np.array(n, "int64")])
    def test_causal_mask_takes_integers_of_numpy(self, kind):
        expected = to_numpy(causal_mask(1, 4, offset=2))
        assert (to_numpy(causal_mask(1, 4, offset=kind(2))) == expected).all()
        with pytest.raises(ValueError, match=r"Expected an integer as position\. Received: 1\.7"):
            causal_mask(1, 4, offset=1.7)

    @pytest.mark.parametrize("window", [2**31 - 1, 2**31, 10**30])
    def test_a_window_beyond_every_length_hides_nothing(self, window):
        assert (to_numpy(causal_mask(4, window=window)) == np.tri(4, dtype=bool)).all()

    def test_causal_mask_is_square_by_default(self):
        assert (to_numpy(causal_mask(5)) == np.tril(np.ones((5, 5), bool))).all()

    def test_combined_mask_attends_where_all_attend(self):
        a, b = some_mask(2, 1, 4, seed=1), some_mask(3, 4, seed=2)
        assert (to_numpy(combine_masks(a, None, b)) == (a & b)).all()
        assert combine_masks(None, a) is a
        assert combine_masks(None, None) is None
        assert combine_masks() is None

    def test_masks_of_a_batch_hold_for_all_heads(self):
        heads, batch = some_mask(3, 2, 5, 4, seed=1), some_mask(3, 1, 4, seed=2)
        expected = heads & batch[:, None]
        for masks in ((heads, batch), (batch, heads)):
            assert (to_numpy(combine_masks(*masks)) == expected).all()


class TestMaskedSoftmax:
    @given(st.lists(st.lists(st.booleans(), min_size=4, max_size=4), min_size=3, max_size=3))
    def test_equals_numpy_and_masked_positions_are_zero(self, rows):
        scores, mask = array(3, 4) * 10, np.array(rows)
        weights = to_numpy(masked_softmax(scores, mask))
        assert (weights[~mask] == 0).all()
        seeing = mask.any(-1)
        np.testing.assert_allclose(weights.sum(-1), seeing, atol=1e-6)
        if seeing.any():
            assert_close(weights[seeing], numpy_softmax(scores[seeing], mask[seeing]))

    def test_a_mask_of_integers_counts_as_booleans(self):
        scores, mask = array(3, 4), np.array([2, 1, 0, 0])
        expected = to_numpy(masked_softmax(scores, mask.astype(bool)))
        assert (to_numpy(masked_softmax(scores, mask)) == expected).all()

    def test_without_mask_equals_numpy(self):
        scores = array(2, 3, 4)
        assert_close(masked_softmax(scores), numpy_softmax(scores))

    @pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
    def test_large_scores_and_a_fully_masked_row_are_finite(self, dtype):
        scores = ops.cast([[6e4, -6e4, 6e4], [1.0, 2.0, 3.0], [-6e4, -6e4, 6e4]], dtype)
        mask = np.array([[True, True, False], [False] * 3, [True, True, False]])
        weights = masked_softmax(scores, mask)
        assert keras.backend.standardize_dtype(weights.dtype) == dtype
        expected = [[1, 0, 0], [0, 0, 0], [0.5, 0.5, 0]]
        assert to_numpy(ops.cast(weights, "float32")).tolist() == expected


def test_additive_attention_equals_numpy():
    query, inputs, mask = array(2, 3), array(2, 5, 4, seed=1), some_mask(2, 5)
    layer = AdditiveAttention(6)
    outputs, weights = layer(query, inputs, attention_mask=mask, return_attention_scores=True)
    query_kernel, inputs_kernel, score_kernel = (w.astype("float64") for w in layer.get_weights())
    scores = np.empty((2, 5))
    for row in range(2):
        for i in range(5):
            hidden = np.tanh(query[row] @ query_kernel + inputs[row, i] @ inputs_kernel)
            scores[row, i] = (hidden @ score_kernel).item()
    expected = numpy_softmax(scores, mask)
    assert_close(weights, expected)
    assert_close(outputs, np.einsum("bi,bid->bd", expected, inputs))


@pytest.mark.parametrize("masked", [False, True])
def test_dot_product_attention_equals_numpy(masked):
    query, inputs = array(2, 4), array(2, 5, 4, seed=1)
    mask = some_mask(2, 5) if masked else None
    outputs, weights = DotProductAttention()(
        query, inputs, attention_mask=mask, return_attention_scores=True
    )
    expected = numpy_softmax(np.einsum("bd,bid->bi", query, inputs), mask)
    assert_close(weights, expected)
    assert_close(outputs, np.einsum("bi,bid->bd", expected, inputs))


@pytest.mark.parametrize("masked", [False, True])
def test_scaled_dot_product_attention_equals_numpy(masked):
    queries, inputs = array(2, 3, 4), array(2, 5, 4, seed=1)
    mask = some_mask(2, 3, 5) if masked else None
    outputs, weights = ScaledDotProductAttention()(
        queries, inputs, attention_mask=mask, return_attention_scores=True
    )
    expected_outputs, expected_weights = numpy_attention(queries, inputs, inputs, mask)
    assert_close(weights, expected_weights)
    assert_close(outputs, expected_outputs)


def test_cross_attention_equals_numpy():
    queries, inputs, mask = array(2, 3, 4), array(2, 5, 6, seed=1), some_mask(2, 3, 5)
    layer = CrossAttention(key_dim=4, value_dim=6)
    outputs, weights = layer(queries, inputs, attention_mask=mask, return_attention_scores=True)
    key_kernel, value_kernel = layer.get_weights()
    expected = numpy_attention(queries, inputs @ key_kernel, inputs @ value_kernel, mask)
    assert_close(outputs, expected[0])
    assert_close(weights, expected[1])


def test_self_attention_equals_numpy():
    inputs, mask = array(2, 5, 6), some_mask(2, 5, 5)
    layer = SelfAttention(key_dim=4, value_dim=6)
    outputs, weights = layer(inputs, attention_mask=mask, return_attention_scores=True)
    expected = numpy_attention(*(inputs @ kernel for kernel in layer.get_weights()), mask)
    assert_close(outputs, expected[0])
    assert_close(weights, expected[1])


@pytest.mark.parametrize("use_causal_mask", [False, True])
def test_multi_head_attention_equals_numpy_head_by_head(use_causal_mask):
    query, value, key = array(2, 4, 6), array(2, 5, 7, seed=1), array(2, 5, 8, seed=2)
    mask = some_mask(2, 4, 5)
    layer = MultiHeadAttention(num_heads=3, key_dim=2, value_dim=4, output_shape=8)
    layer.build(query.shape, value.shape, key.shape)
    layer.set_weights([array(*w.shape, seed=3) for w in layer.weights])
    call = compiled(
        functools.partial(layer, use_causal_mask=use_causal_mask, return_attention_scores=True)
    )
    outputs, scores = call(query, value, key, attention_mask=mask)
    wq, bq, wk, bk, wv, bv, wo, bo = layer.get_weights()
    if use_causal_mask:
        mask = mask & np.tril(np.ones((4, 5), bool))
    expected = np.tile(bo.astype("float64"), (2, 4, 1))
    for head in range(3):
        head_outputs, head_scores = numpy_attention(
            query @ wq[:, head] + bq[head],
            key @ wk[:, head] + bk[head],
            value @ wv[:, head] + bv[head],
            mask,
        )
        assert_close(scores[:, head], head_scores)
        expected += head_outputs @ wo[head]
    assert_close(outputs, expected, atol=5e-5)


@pytest.mark.parametrize(("queries", "keys"), [(0, 3), (4, 0), (0, 0)])
def test_no_positions_are_no_error(queries, keys):
    """Who asks nothing gets nothing; who has nothing to look at gets the bias of the output."""
    layer = MultiHeadAttention(num_heads=3, key_dim=2, value_dim=4, output_shape=8)
    layer.build((2, 4, 6), (2, 5, 7))
    layer.set_weights([array(*w.shape, seed=3) for w in layer.weights])
    outputs = compiled(layer)(array(2, queries, 6), array(2, keys, 7, seed=1))
    assert outputs.shape == (2, queries, 8)
    assert_close(outputs, np.tile(layer.get_weights()[-1], (2, queries, 1)))


@pytest.mark.parametrize("length", [5, 6])  # of the keys: cuDNN has another way if it is even
@pytest.mark.parametrize(
    "shape", [None, (1,), (4,), (2, 1, 1), (2, 1, 4), (2, 3, 4), (1, 1, 4), (1, 3, 1)]
)
def test_fused_attention_equals_numpy_and_nothing_to_see_is_zero(shape, length):
    query = array(2, 3, 4, 6)
    key, value = array(2, 3, length, 6, seed=1), array(2, 3, length, 6, seed=2)
    mask = None if shape is None else some_mask(*shape, length)
    outputs = compiled(fused_attention)(query / math.sqrt(6), key, value, mask)
    assert_close(outputs, numpy_attention(query, key, value, mask)[0])
    if mask is not None:
        mask[..., -1, :] = False
        outputs = to_numpy(fused_attention(query, key, value, mask))
        rows = np.broadcast_to(mask.any(-1)[..., None], outputs.shape)
        assert not outputs[~rows].any()
        assert outputs[rows].all()


@pytest.mark.skipif(keras.backend.backend() != "jax", reason="JAX alone calls cuDNN itself")
@pytest.mark.parametrize(
    ("lengths", "has_mask", "asked"),
    [
        ((4, 6), True, True),
        ((3, 6), True, False),
        ((4, 5), True, False),
        ((3, 5), False, True),
    ],
)
def test_cudnn_is_only_asked_for_what_it_can_do(lengths, has_mask, asked, monkeypatch):
    """It wants a row of the mask for every query, and with a mask cannot train with an odd length.

    On a GPU Keras would log an error for the first, and raise one for the second.
    """
    calls = []

    def record(query, key, value, mask, scale, **options):
        calls.append((mask, options))
        return query

    monkeypatch.setattr(ops, "dot_product_attention", record)
    query, key = array(2, 3, lengths[0], 8), array(2, 3, lengths[1], 8)
    fused_attention(query, key, key, np.ones((2, 1, 1, lengths[1]), bool) if has_mask else None)
    [(mask, options)] = calls
    assert options == ({} if asked else {"flash_attention": False})
    if has_mask and asked:
        assert mask.shape == (2, 1, *lengths)


@pytest.mark.parametrize("options", [{}, {"dropout": 0.1}, {"value_dim": 4}])
def test_outputs_are_the_same_with_and_without_the_weights(options):
    x, mask = array(2, 4, 6), some_mask(2, 4, 4)
    mask[0, 1] = False
    layer = MultiHeadAttention(num_heads=3, key_dim=2, **options)
    expected, _ = layer(x, x, attention_mask=mask, return_attention_scores=True)
    assert_close(layer(x, x, attention_mask=mask), to_numpy(expected))


class TestEachVersionIsACaseOfTheNext:
    def test_version_1_scores_as_version_0_with_another_scorer(self):
        """They share all but the scores: with nothing to tell inputs apart, both average."""
        query, inputs = array(2, 4), array(2, 5, 4, seed=1)
        additive = AdditiveAttention(6)
        additive.build(query.shape, inputs.shape)
        query_kernel, inputs_kernel, score_kernel = additive.get_weights()
        additive.set_weights([query_kernel, inputs_kernel, 0 * score_kernel])
        mean = inputs.mean(1)
        assert_close(additive(query, inputs), mean)
        assert_close(DotProductAttention()(0 * query, inputs), mean)

    def test_version_2_is_version_1_with_the_query_divided(self):
        query, inputs = array(2, 4), array(2, 5, 4, seed=1)
        assert_close(
            ScaledDotProductAttention()(query, inputs),
            to_numpy(DotProductAttention()(query / math.sqrt(4), inputs)),
        )

    def test_version_3_is_version_2_query_by_query(self):
        queries, inputs, mask = array(2, 3, 4), array(2, 5, 4, seed=1), some_mask(2, 3, 5)
        layer = ScaledDotProductAttention()
        outputs, weights = layer(queries, inputs, attention_mask=mask, return_attention_scores=True)
        for i in range(3):
            one_output, one_weights = layer(
                queries[:, i], inputs, attention_mask=mask[:, i], return_attention_scores=True
            )
            assert_close(one_output, to_numpy(outputs[:, i]))
            assert_close(one_weights, to_numpy(weights[:, i]))

    def test_version_4_with_identity_matrices_is_version_3(self):
        queries, inputs, mask = array(2, 3, 4), array(2, 5, 4, seed=1), some_mask(2, 3, 5)
        cross = CrossAttention(key_dim=4)
        cross.build(queries.shape, inputs.shape)
        cross.set_weights([np.eye(4), np.eye(4)])
        assert_close(
            cross(queries, inputs, attention_mask=mask),
            to_numpy(ScaledDotProductAttention()(queries, inputs, attention_mask=mask)),
        )

    def test_version_5_is_version_4_with_projected_queries(self):
        inputs, mask = array(2, 5, 6), some_mask(2, 5, 5)
        self_attention, cross = SelfAttention(4, 6), CrossAttention(4, 6)
        self_attention.build(inputs.shape)
        cross.build((2, 5, 4), inputs.shape)
        query_kernel, *others = self_attention.get_weights()
        cross.set_weights(others)
        assert_close(
            self_attention(inputs, attention_mask=mask),
            to_numpy(cross(inputs @ query_kernel, inputs, attention_mask=mask)),
        )

    def test_version_6_with_one_head_and_no_output_projection_is_version_5(self):
        inputs, mask = array(2, 5, 6), some_mask(2, 5, 5)
        self_attention = SelfAttention(6)
        self_attention.build(inputs.shape)
        multi_head = MultiHeadAttention(num_heads=1, key_dim=6, use_bias=False)
        multi_head.build(inputs.shape, inputs.shape)
        kernels = [kernel[:, None] for kernel in self_attention.get_weights()]
        multi_head.set_weights([*kernels, np.eye(6)[None]])
        assert_close(
            multi_head(inputs, inputs, attention_mask=mask),
            to_numpy(self_attention(inputs, attention_mask=mask)),
        )


class TestMultiHeadAttentionEqualsKeras:
    @pytest.mark.parametrize(
        ("arguments", "mask_shape"),
        [
            ({}, None),
            ({}, (2, 4, 5)),
            ({}, (2, 1, 5)),
            ({}, (4, 5)),
            ({}, (2, 3, 4, 5)),
            ({"value_dim": 4}, None),
            ({"use_bias": False}, (2, 4, 5)),
            ({"value_dim": 4, "output_shape": 8}, (2, 4, 5)),
        ],
    )
    def test_with_its_weights(self, arguments, mask_shape):
        arguments = {"num_heads": 3, "key_dim": 2, **arguments}
        query, value, key = array(2, 4, 6), array(2, 5, 6, seed=1), array(2, 5, 6, seed=2)
        mask = None if mask_shape is None else some_mask(*mask_shape)
        theirs, ours = keras.layers.MultiHeadAttention(**arguments), MultiHeadAttention(**arguments)
        theirs.build(query.shape, value.shape, key.shape)
        ours.build(query.shape, value.shape, key.shape)
        theirs.set_weights([array(*w.shape, seed=3) for w in theirs.weights])
        ours.set_weights(theirs.get_weights())
        for causal in (False, True):
            our_outputs, our_scores, their_outputs, their_scores = (
                result
                for layer in (ours, theirs)
                for result in compiled(
                    functools.partial(layer, use_causal_mask=causal, return_attention_scores=True)
                )(query, value, key, attention_mask=mask)
            )
            assert_close(our_outputs, to_numpy(their_outputs), atol=5e-5)
            assert_close(our_scores, to_numpy(their_scores))

    def test_same_weights_in_the_same_order(self):
        theirs, ours = (
            layer(3, 2) for layer in (keras.layers.MultiHeadAttention, MultiHeadAttention)
        )
        theirs.build((None, None, 6), (None, None, 8))
        ours.build((None, None, 6), (None, None, 8))
        assert [w.shape for w in ours.weights] == [w.shape for w in theirs.weights]

    def test_but_a_query_that_sees_nothing_gets_zeros(self):
        x, mask = array(1, 3, 6), np.ones((1, 3, 3), bool)
        mask[0, 1] = False
        theirs, ours = (
            layer(3, 2) for layer in (keras.layers.MultiHeadAttention, MultiHeadAttention)
        )
        theirs.build(x.shape, x.shape)
        ours.build(x.shape, x.shape)
        theirs.set_weights([array(*w.shape, seed=3) for w in theirs.weights])
        ours.set_weights(theirs.get_weights())
        actual, expected = (
            to_numpy(compiled(layer)(x, x, attention_mask=mask)) for layer in (ours, theirs)
        )
        assert_close(actual[:, [0, 2]], expected[:, [0, 2]])
        assert_close(actual[0, 1], ours.get_weights()[-1])  # The bias of W_O alone.
        assert np.abs(actual - expected)[0, 1].max() > 0.1


@pytest.mark.parametrize("origin", ["stored", "live"])
@pytest.mark.parametrize("name", ["self", "causal", "cross"])
def test_multi_head_attention_equals_torch(origin, name):
    case = torch_case(origin, name)
    layer = MultiHeadAttention(num_heads=3, key_dim=4, use_bias=name != "cross")
    query, value, key = (case[field].astype("float32") for field in ("query", "value", "key"))
    layer.build(query.shape, value.shape, key.shape)
    set_weights(layer, case["weights"])
    outputs, scores = layer(
        query,
        value,
        key,
        attention_mask=case["mask"][:, None, :],
        use_causal_mask=name == "causal",
        return_attention_scores=True,
    )
    assert_close(outputs, case["outputs"], atol=2e-5)
    assert_close(scores, case["scores"])


class TestMultiHeadAttention:
    def test_projecting_then_splitting_is_projecting_per_head(self):
        """One product with [dim, heads * head_dim] is `heads` products with [dim, head_dim]."""
        x = array(2, 5, 6)
        layer = MultiHeadAttention(num_heads=3, key_dim=2, value_dim=4)
        layer.build(x.shape, x.shape)
        kernel, bias = layer.get_weights()[2:4]
        keys, values = layer.project_keys_values(layer.projections(), x)
        assert keys.shape == (2, 3, 5, 2)
        assert values.shape == (2, 3, 5, 4)
        for head in range(3):
            assert_close(keys[:, head], x @ kernel[:, head] + bias[head])

    def test_keys_and_values_can_be_kept(self):
        """Projected one position at a time they are those of the whole sequence."""
        x, query = array(2, 5, 6), array(2, 3, 6, seed=1)
        layer = MultiHeadAttention(num_heads=3, key_dim=2)
        expected = to_numpy(layer(query, x))
        kept = layer.projections()
        parts = [layer.project_keys_values(kept, x[:, i : i + 1]) for i in range(5)]
        keys, values = (ops.concatenate(tensors, axis=2) for tensors in zip(*parts, strict=True))
        outputs, scores = layer.attend(kept, query, keys, values)
        assert scores is None
        assert_close(outputs, expected)

    @pytest.mark.parametrize("dtype", ["float32", "mixed_bfloat16"])
    @pytest.mark.parametrize("use_bias", [True, False])
    def test_projections_are_matrices_of_the_kernels(self, use_bias, dtype):
        """In the precision of the layer, and what a call gives is what the two halves give."""
        x, query = array(2, 5, 6), array(2, 3, 6, seed=1)
        layer = MultiHeadAttention(3, 2, value_dim=4, use_bias=use_bias, dtype=dtype)
        layer.build(query.shape, x.shape)
        layer.set_weights([array(*weight.shape, seed=i) for i, weight in enumerate(layer.weights)])
        kept = layer.projections()
        shapes = [tuple(projection.matrix.shape) for projection in kept]
        assert shapes == [(6, 6), (6, 6), (6, 12), (12, 6)]
        assert all((projection.bias is not None) == use_bias for projection in kept)
        outputs, _ = layer.attend(kept, query, *layer.project_keys_values(kept, x))
        assert keras.backend.standardize_dtype(outputs.dtype) == layer.compute_dtype
        expected = ops.cast(layer(query, x), "float32")
        assert_close(ops.cast(outputs, "float32"), to_numpy(expected), atol=1e-6)

    def test_order_of_keys_does_not_matter(self):
        query, value, mask = array(2, 3, 6), array(2, 5, 6, seed=1), some_mask(2, 3, 5)
        layer, order = MultiHeadAttention(3, 2), [3, 0, 4, 2, 1]
        assert_close(
            layer(query, value[:, order], attention_mask=mask[:, :, order]),
            to_numpy(layer(query, value, attention_mask=mask)),
        )

    @given(st.integers(1, 5), st.integers(0, 1000))
    def test_what_is_masked_does_not_matter(self, length, seed):
        """Neither junk after the values nor junk before them."""
        query, values = array(2, 3, 6), array(2, 5, 6, seed=1)
        junk = 100 * array(2, 5, 6, seed=seed)
        real = np.arange(5) < length
        layer = MultiHeadAttention(3, 2, seed=1)
        layer.build(query.shape, values.shape)
        expected = to_numpy(layer(query, values, attention_mask=real[None, None]))
        changed = np.where(real[:, None], values, junk)
        assert_close(layer(query, changed, attention_mask=real[None, None]), expected)
        assert_close(
            layer(query, changed[:, ::-1], attention_mask=real[None, None, ::-1]), expected
        )

    @given(st.integers(0, 4))
    def test_no_position_sees_its_future(self, now):
        x = array(1, 6, 6)
        changed = x.copy()
        changed[:, now + 1 :] += 100 * array(1, 5 - now, 6, seed=1)
        layer = MultiHeadAttention(3, 2)
        before = to_numpy(layer(x, x, use_causal_mask=True))
        after = to_numpy(layer(changed, changed, use_causal_mask=True))
        assert_close(after[:, : now + 1], before[:, : now + 1])
        assert np.abs(after - before)[:, now + 1 :].max() > 1e-3

    @pytest.mark.parametrize("policy", ["float32", "mixed_float16", "mixed_bfloat16"])
    def test_nothing_to_see_is_zero_and_has_finite_gradients(self, policy):
        x, mask = 100 * array(1, 3, 6), np.zeros((1, 3, 3), bool)
        layer = MultiHeadAttention(3, 2, dtype=policy)
        outputs, scores = layer(x, x, attention_mask=mask, return_attention_scores=True)
        assert not to_numpy(ops.cast(outputs, "float32")).any()
        assert not to_numpy(ops.cast(scores, "float32")).any()
        inputs = keras.Input((3, 6))
        model = keras.Model(inputs, layer(inputs, inputs, attention_mask=mask))
        model.compile(keras.optimizers.SGD(1.0), "mse")
        model.train_on_batch(x, np.ones((1, 3, 6)))
        assert all(np.isfinite(w).all() for w in layer.get_weights())

    def test_dropout_acts_in_training_only_and_keeps_the_mean(self):
        x = array(1, 4, 6)
        layer = MultiHeadAttention(3, 2, dropout=0.5, seed=1)
        expected, scores = layer(x, x, return_attention_scores=True)
        assert_close(layer(x, x, training=False), to_numpy(expected))
        unasked = to_numpy(layer(x, x, training=True))  # the one fused operation knows no dropout
        assert np.abs(unasked - to_numpy(expected)).max() > 0.01
        batch = np.repeat(x, 4000, axis=0)
        outputs, same_scores = layer(batch, batch, return_attention_scores=True, training=True)
        assert np.abs(to_numpy(outputs[0] - expected[0])).max() > 0.01
        assert_close(ops.mean(outputs, axis=0), to_numpy(expected[0]), atol=0.05)
        assert_close(same_scores[0], to_numpy(scores[0]))  # Returned as they are before dropout.

    def test_a_seed_decides_what_is_dropped(self):
        x, outputs = array(2, 4, 6), []
        for seed in (1, 1, 2):
            ones = {"kernel_initializer": "ones", "output_initializer": "ones"}
            layer = MultiHeadAttention(3, 2, dropout=0.5, seed=seed, **ones)
            outputs.append(to_numpy(layer(x, x, training=True)))
        np.testing.assert_array_equal(outputs[0], outputs[1])
        assert np.abs(outputs[0] - outputs[2]).max() > 1e-3

    def test_random_biases_differ(self):
        layer = MultiHeadAttention(2, 4, bias_initializer="random_normal")
        layer.build((1, 3, 8), (1, 3, 8))
        query, key = to_numpy(layer.query_bias), to_numpy(layer.key_bias)
        assert not np.array_equal(query, key)

    @pytest.mark.parametrize("shape", [(16, 16), (2, 3, 4, 16)])
    def test_only_three_axes(self, shape):
        with pytest.raises(ValueError, match="expected ndim=3"):
            MultiHeadAttention(2, 8)(array(*shape), array(*shape))

    def test_an_odd_width_cannot_be_turned(self):
        with pytest.raises(ValueError, match=r"`key_dim` must be even if `rotary`\. Received: 3"):
            MultiHeadAttention(2, 3, rotary=True)

    @pytest.mark.parametrize("scale", [None, 1.0, 0.01])
    def test_kernels_start_within_glorot_limits_of_their_matrices(self, scale):
        """By default those of queries, keys and values divided by √2."""
        options = {}
        if scale is not None:
            options["kernel_initializer"] = keras.initializers.VarianceScaling(
                scale, "fan_avg", "uniform"
            )
        layer = MultiHeadAttention(num_heads=8, key_dim=16, value_dim=32, **options)
        layer.build((None, None, 128), (None, None, 64))
        sizes = [(128, 128), (64, 128), (64, 256), (256, 128)]
        gain = math.sqrt(0.5 if scale is None else scale)
        for kernel, (inputs, outputs), factor in zip(
            layer.get_weights()[::2], sizes, [gain, gain, gain, 1.0], strict=True
        ):
            limit = factor * math.sqrt(6 / (inputs + outputs))
            assert 0.98 * limit < np.abs(kernel).max() <= limit
            assert kernel.std() == pytest.approx(limit / math.sqrt(3), rel=0.05)
        assert not any(bias.any() for bias in layer.get_weights()[1::2])

    def test_initialisers_are_those_asked_for_and_no_two_kernels_start_alike(self):
        layer = MultiHeadAttention(
            2,
            8,
            kernel_initializer="he_normal",
            output_initializer="zeros",
            bias_initializer="ones",
        )
        layer.build((None, None, 16), (None, None, 16))
        query, query_bias, key, _, value, _, output, output_bias = layer.get_weights()
        assert np.abs(query - key).max() > 0.01
        assert np.abs(key - value).max() > 0.01
        assert query.std() == pytest.approx(math.sqrt(2 / 16), rel=0.2)
        assert (query_bias == 1).all()
        assert not output.any()
        assert (output_bias == 1).all()

    def test_the_start_is_that_of_torch(self):
        torch = pytest.importorskip("torch")
        torch.manual_seed(0)
        theirs = torch.nn.MultiheadAttention(128, 4).in_proj_weight.detach().numpy()
        layer = MultiHeadAttention(num_heads=4, key_dim=32)
        layer.build((None, None, 128), (None, None, 128))
        ours = [to_numpy(kernel) for kernel in layer.get_weights()[:6:2]]
        assert theirs.std() == pytest.approx(np.std(ours), rel=0.02)
        assert np.abs(theirs).max() == pytest.approx(np.abs(ours).max(), rel=0.02)


def test_rotary_turns_queries_and_keys_by_their_positions():
    """Against a rotation by hand: pairs of dimensions as complex numbers."""

    def turned(x):
        angles = np.arange(x.shape[-2])[:, None] * 10000 ** (-np.arange(0, 4, 2) / 4)
        pairs = (x[..., 0::2] + 1j * x[..., 1::2]) * np.exp(1j * angles)
        return np.stack([pairs.real, pairs.imag], -1).reshape(x.shape)

    x = array(2, 5, 6)
    layer = MultiHeadAttention(num_heads=2, key_dim=4, rotary=True)
    outputs, scores = layer(x, x, return_attention_scores=True)
    wq, bq, wk, bk, wv, bv, wo, bo = layer.get_weights()
    expected = np.tile(bo.astype("float64"), (2, 5, 1))
    for head in range(2):
        queries, keys, values = (
            x @ w[:, head] + b[head] for w, b in ((wq, bq), (wk, bk), (wv, bv))
        )
        head_outputs, head_scores = numpy_attention(turned(queries), turned(keys), values)
        assert_close(scores[:, head], head_scores)
        expected += head_outputs @ wo[head]
    assert_close(outputs, expected)


@pytest.mark.parametrize(
    ("layer", "query"),
    [
        (AdditiveAttention(6), array(2, 4)),
        (DotProductAttention(), array(2, 4)),
        (ScaledDotProductAttention(), array(2, 3, 4)),
        (CrossAttention(key_dim=4), array(2, 3, 4)),
        (SelfAttention(key_dim=4), None),
        (MultiHeadAttention(num_heads=2, key_dim=4), array(2, 3, 4)),
    ],
    ids=lambda thing: type(thing).__name__,
)
def test_an_implicit_mask_is_honoured(layer, query):
    """What Keras attaches, as here, has the effect of the same mask passed by name."""
    ids = np.array([[4, 2, 7, 0, 0], [1, 3, 5, 9, 0]])
    embedding = keras.layers.Embedding(11, 4, mask_zero=True)
    value = embedding(ids)
    plain = np.asarray(to_numpy(value))
    mask = ids != 0
    if query is None or query.ndim == 3:
        mask = mask[:, None]  # alike for all queries
    queries = () if query is None else (query,)
    expected = to_numpy(layer(*queries, plain, attention_mask=mask))
    assert np.abs(to_numpy(layer(*queries, plain)) - expected).max() > 1e-3
    assert_close(layer(*queries, value), expected)


@pytest.mark.parametrize(
    "layer", [DotProductAttention(), CrossAttention(4), MultiHeadAttention(2, key_dim=4)]
)
def test_implicit_masks_of_query_and_key(layer, recwarn):
    """That of the queries goes on with the outputs; that of keys of their own hides them."""
    ids = np.array([[4, 2, 7, 0, 0], [1, 3, 5, 9, 0]])
    vectors = keras.layers.Embedding(11, 4, mask_zero=True)(ids)
    plain = np.asarray(to_numpy(vectors))
    outputs = layer(vectors, array(2, 3, 4))
    np.testing.assert_array_equal(to_numpy(outputs._keras_mask), ids != 0)
    assert not [str(each.message) for each in recwarn if "mask" in str(each.message)]
    if isinstance(layer, MultiHeadAttention):
        query, value = array(2, 3, 4), array(2, 5, 4, seed=1)
        expected = layer(query, value, plain, attention_mask=(ids != 0)[:, None])
        assert_close(layer(query, value, vectors), to_numpy(expected))


def test_errors_say_what_was_expected_and_received():
    with pytest.raises(ValueError, match=r"`num_heads` must be a positive integer.*0"):
        MultiHeadAttention(num_heads=0, key_dim=4)
    with pytest.raises(ValueError, match=r"`key_dim` must be a positive integer.*2\.5"):
        MultiHeadAttention(num_heads=2, key_dim=2.5)
    with pytest.raises(ValueError, match=r"`value_dim` must be a positive integer.*-1"):
        MultiHeadAttention(num_heads=2, key_dim=2, value_dim=-1)
    with pytest.raises(ValueError, match=r"`output_shape` must be a positive integer.*\(4,\)"):
        MultiHeadAttention(num_heads=2, key_dim=2, output_shape=(4,))
    with pytest.raises(ValueError, match=r"`num_heads` must be a positive integer.*True"):
        MultiHeadAttention(num_heads=True, key_dim=2)
    with pytest.raises(ValueError, match=r"width of 5.*\(2, 4\)"):
        DotProductAttention()(array(2, 4), array(2, 3, 5))
    with pytest.raises(ValueError, match=r"width of 3.*\(2, 3, 4\)"):
        CrossAttention(key_dim=3)(array(2, 3, 4), array(2, 3, 5))
    with pytest.raises(ValueError, match=r"`lora_rank` must be a positive integer.*-1"):
        MultiHeadAttention(num_heads=2, key_dim=2, lora_rank=-1)
    with pytest.raises(ValueError, match=r"`window` must be a positive integer.*0"):
        causal_mask(3, window=0)
    with pytest.raises(ValueError, match=r"`dropout` must be from 0 to 1.*None"):
        MultiHeadAttention(num_heads=2, key_dim=2, dropout=None)
    with pytest.raises(ValueError, match=r"`rotary` must be True or False.*'no'"):
        MultiHeadAttention(num_heads=2, key_dim=2, rotary="no")


@pytest.mark.parametrize("layer", [CrossAttention(4), SelfAttention(4)])
def test_one_query_does_not_meet_the_inputs_of_every_row(layer):
    """Versions 1 to 3 take a single query for each row; to these it would be a whole sentence."""
    inputs = [array(2, 4)] if isinstance(layer, SelfAttention) else [array(2, 4), array(2, 3, 4)]
    with pytest.raises(ValueError, match=r"expected ndim=3, found ndim=2"):
        layer(*inputs)


@pytest.mark.parametrize("layer", [DotProductAttention(), AdditiveAttention(6)])
def test_a_mask_of_one_row_holds_for_all_rows(layer):
    query, value, mask = array(2, 4), array(2, 3, 4, seed=1), np.array([True, False, True])
    expected = layer(query, value, attention_mask=np.stack([mask, mask]))
    assert_close(layer(query, value, attention_mask=mask), expected)


ONE_QUERY = {"query": array(2, 4), "value": array(2, 5, 4, seed=1)}
QUERIES = {"query": array(2, 3, 4), "value": array(2, 5, 4, seed=1)}


@pytest.mark.parametrize(
    ("layer_class", "arguments", "inputs", "num_weights"),
    [
        (AdditiveAttention, {"hidden_dim": 6}, ONE_QUERY, 3),
        (DotProductAttention, {}, ONE_QUERY, 0),
        (ScaledDotProductAttention, {}, ONE_QUERY, 0),
        (ScaledDotProductAttention, {}, QUERIES, 0),
        (CrossAttention, {"key_dim": 4, "value_dim": 6}, QUERIES, 2),
        (SelfAttention, {"key_dim": 4, "value_dim": 6}, {"inputs": array(2, 5, 6)}, 3),
        (
            MultiHeadAttention,
            {"num_heads": 3, "key_dim": 2, "value_dim": 4, "output_shape": 8, "seed": 1},
            {
                "query": array(2, 3, 6),
                "value": array(2, 5, 6),
                "attention_mask": some_mask(2, 3, 5),
            },
            8,
        ),
        (
            MultiHeadAttention,
            {"num_heads": 3, "key_dim": 2, "use_bias": False},
            {"query": array(2, 3, 6), "value": array(2, 5, 6, seed=1), "key": array(2, 5, 6)},
            4,
        ),
    ],
)
def test_layer(layer_class, arguments, inputs, num_weights):
    check_layer(layer_class, arguments, inputs, num_weights)


def test_an_implicit_mask_joins_a_mask_of_four_axes():
    vectors, real = array(2, 3, 8), np.array([[True, True, True], [True, False, False]])
    layer = MultiHeadAttention(num_heads=2, key_dim=4)
    _, expected = layer(vectors, vectors, value_mask=real, return_attention_scores=True)
    everything = np.ones((2, 1, 3, 3), bool)
    _, found = layer(
        vectors, vectors, attention_mask=everything, value_mask=real, return_attention_scores=True
    )
    assert_close(found, expected)
    assert np.all(to_numpy(found)[1, :, :, 1:] == 0)


def test_self_attention_joins_its_mask_with_the_implicit_one():
    vectors = array(1, 3, 8)
    layer = SelfAttention(key_dim=4)
    real = np.array([[True, True, False]])
    _, weights = layer(vectors, causal_mask(3), return_attention_scores=True, mask=real)
    expected = combine_masks(causal_mask(3), real[:, None])
    _, expected = layer(vectors, expected, return_attention_scores=True)
    assert_close(weights, expected)
    assert np.all(to_numpy(weights)[..., 2] == 0)


def test_scores_of_integers_give_weights_and_not_zeros():
    weights = masked_softmax(ops.array([[1, 2]]))
    assert_close(weights, [[1 / (1 + math.e), math.e / (1 + math.e)]])


def test_a_function_may_draw_the_first_weights():
    def ones(shape, dtype=None):
        return ops.ones(shape, dtype)

    layer = MultiHeadAttention(2, 4, kernel_initializer=ones)
    layer.build((1, 3, 8), (1, 3, 8))
    assert (to_numpy(layer.query_kernel) == 1).all()
    feed_forward = FeedForward(8, 16, kernel_initializer=ones)
    feed_forward.build((1, 3, 8))
    assert (feed_forward.get_weights()[0] == 1).all()


def test_self_attention_joins_a_mask_with_what_keras_attaches():
    x = keras.layers.Embedding(11, 8, mask_zero=True)(np.array([[1, 2, 0]]))
    _, weights = SelfAttention(4)(x, causal_mask(3), return_attention_scores=True)
    expected = to_numpy(causal_mask(3)) & np.array([True, True, False])
    np.testing.assert_array_equal(to_numpy(weights)[0] > 0, expected)


def test_a_sequence_of_one_token_is_no_mistake(recwarn):
    np.testing.assert_array_equal(to_numpy(masked_softmax(array(2, 3, 1))), 1)
    assert not [each for each in recwarn if "softmax" in str(each.message)]

"""Positions and embeddings against their formulas, and the properties they are used for."""

import math

import keras
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from keras import ops
from layer_checks import check_layer

from nlp104.encoding.embedding import TokenAndPositionEmbedding
from nlp104.encoding.positions import (
    LearnedPositions,
    SinusoidalPositions,
    binary_positions,
    rotate,
    sinusoidal_positions,
)


def array(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


def to_numpy(tensor):
    return ops.convert_to_numpy(tensor)


class TestBinaryPositions:
    @given(st.integers(1, 40), st.integers(1, 8))
    def test_are_the_binary_digits_lowest_first(self, length, num_bits):
        encoding = binary_positions(length, num_bits)
        assert encoding.shape == (length, num_bits)
        for position, digits in enumerate(encoding):
            expected = format(position % 2**num_bits, f"0{num_bits}b")[::-1]
            assert "".join(str(int(digit)) for digit in digits) == expected

    def test_are_unique_up_to_two_to_the_number_of_bits(self):
        assert len(np.unique(binary_positions(16, 4), axis=0)) == 16
        assert len(np.unique(binary_positions(17, 4), axis=0)) == 16


class TestSinusoidalPositions:
    @pytest.mark.parametrize(("length", "dim", "base"), [(20, 512, 10000.0), (7, 6, 100.0)])
    def test_equal_the_formula(self, length, dim, base):
        encoding = sinusoidal_positions(length, dim, base)
        assert encoding.shape == (length, dim)
        assert encoding.dtype == np.float32
        for position in range(length):
            for i in range(dim // 2):
                angle = position / base ** (2 * i / dim)
                expected = [math.sin(angle), math.cos(angle)]
                assert encoding[position, 2 * i : 2 * i + 2] == pytest.approx(expected, abs=1e-6)

    def test_of_four_words_in_four_dimensions(self):
        """ "I am a robot" at base 100, as it stands in many a text on the subject."""
        table = [
            [0.0, 1.0, 0.0, 1.0],
            [0.84, 0.54, 0.10, 1.0],
            [0.91, -0.42, 0.20, 0.98],
            [0.14, -0.99, 0.30, 0.96],
        ]
        encoding = sinusoidal_positions(4, 4, base=100)
        np.testing.assert_allclose(encoding, table, atol=0.006)

    def test_layouts_are_permutations_of_each_other(self):
        interleaved = sinusoidal_positions(9, 8)
        concatenated = sinusoidal_positions(9, 8, layout="concatenated")
        assert (concatenated == interleaved[:, [0, 2, 4, 6, 1, 3, 5, 7]]).all()
        assert (concatenated != interleaved).any()

    def test_longest_wavelength(self):
        """At 512 dimensions it is 9,646.6 times 2π, and a little short of 10,000 times."""
        encoding = sinusoidal_positions(2, 512)
        wavelength = 2 * math.pi / math.asin(float(encoding[1, 510]))
        assert wavelength / (2 * math.pi) == pytest.approx(9646.6, rel=1e-4)

    def test_are_unique_and_bounded(self):
        encoding = sinusoidal_positions(2048, 64)
        assert len(np.unique(encoding, axis=0)) == 2048
        assert np.abs(encoding).max() <= 1
        np.testing.assert_allclose((encoding**2).sum(1), 32, rtol=1e-5)

    @given(st.integers(0, 200), st.integers(0, 200))
    def test_moving_on_is_a_rotation_that_does_not_depend_on_the_position(self, position, distance):
        encoding = sinusoidal_positions(401, 16)
        frequencies = 10000.0 ** (-np.arange(0, 16, 2) / 16)
        rotation = np.zeros((16, 16))
        for i, angle in enumerate(distance * frequencies):
            sine, cosine = math.sin(angle), math.cos(angle)
            rotation[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = [[cosine, sine], [-sine, cosine]]
        moved = rotation @ encoding[position]
        np.testing.assert_allclose(moved, encoding[position + distance], atol=1e-5)

    def test_errors(self):
        with pytest.raises(ValueError, match=r"must be even.*5"):
            sinusoidal_positions(4, 5)
        for encode in (sinusoidal_positions, binary_positions):  # -1 made an empty table
            with pytest.raises(ValueError, match=r"`length` must be .* at least 0.*-1"):
                encode(-1, 4)
            with pytest.raises(ValueError, match=r"must be a positive integer.*-2"):
                encode(4, -2)
        with pytest.raises(ValueError, match=r"'interleaved' or 'concatenated'.*'halves'"):
            sinusoidal_positions(4, 6, layout="halves")


class TestRotate:
    def test_turns_pairs_of_dimensions(self):
        x, positions = array(2, 3, 5, 8), np.array([0, 1, 2, 7, 100])
        expected = np.empty(x.shape)
        for i in range(4):
            for row, position in enumerate(positions):
                turned = np.exp(1j * position / 10000.0 ** (2 * i / 8))
                pair = (x[..., row, 2 * i] + 1j * x[..., row, 2 * i + 1]) * turned
                expected[..., row, 2 * i], expected[..., row, 2 * i + 1] = pair.real, pair.imag
        np.testing.assert_allclose(to_numpy(rotate(x, positions)), expected, atol=2e-5)

    @given(st.integers(0, 300), st.integers(0, 300), st.integers(0, 300))
    def test_dot_products_depend_on_the_distance_only(self, query, key, shift):
        q, k = array(1, 1, 16), array(1, 1, 16, seed=1)

        def dot(query_position, key_position):
            rotated = to_numpy(rotate(q, [query_position])), to_numpy(rotate(k, [key_position]))
            return np.vdot(*rotated)

        assert dot(query, key) == pytest.approx(dot(query + shift, key + shift), abs=2e-3)

    def test_distance_matters(self):
        """Or the property above would hold for no rotation at all."""
        q = array(1, 1, 16)
        dots = [np.vdot(q, to_numpy(rotate(q, [distance]))) for distance in range(4)]
        assert np.ptp(dots) > 0.1

    def test_lengths_stay(self):
        x = array(2, 5, 8)
        norms = np.linalg.norm(to_numpy(rotate(x, np.arange(5))), axis=-1)
        np.testing.assert_allclose(norms, np.linalg.norm(x, axis=-1), rtol=1e-5)

    def test_angles_are_exact_for_half_precision_too(self):
        """In bfloat16 the positions 1000 and 1001 are the same number."""
        x = ops.cast(ops.ones((1, 2, 4)), "bfloat16")
        rotated = rotate(x, np.array([1000, 1001]))
        assert keras.backend.standardize_dtype(rotated.dtype) == "bfloat16"
        expected = to_numpy(rotate(np.ones((1, 2, 4), "float32"), np.array([1000, 1001])))
        np.testing.assert_allclose(to_numpy(ops.cast(rotated, "float32")), expected, atol=0.02)

    def test_integers_are_turned_as_numbers(self):
        expected = rotate(np.array([[1.0, 0.0]], "float32"), [1])
        assert (to_numpy(rotate(np.array([[1, 0]]), [1])) == to_numpy(expected)).all()

    def test_odd_width(self):
        with pytest.raises(ValueError, match=r"must be even.*3"):
            rotate(array(1, 2, 3), np.arange(2))


class TestPositionLayers:
    @pytest.mark.parametrize("layout", ["interleaved", "concatenated"])
    def test_sinusoidal_adds_the_formula(self, layout):
        x = array(2, 5, 8)
        layer = SinusoidalPositions(20, base=100.0, layout=layout)
        expected = x + sinusoidal_positions(20, 8, 100.0, layout)[3:8]
        np.testing.assert_allclose(to_numpy(layer(x, offset=3)), expected, atol=1e-6)

    def test_learned_adds_its_rows(self):
        x = array(2, 5, 8)
        layer = LearnedPositions(20)
        expected = to_numpy(layer(x, offset=3))
        np.testing.assert_allclose(expected, x + layer.get_weights()[0][3:8], atol=1e-6)
        table = LearnedPositions(1000)
        table.build((None, None, 64))
        assert table.get_weights()[0].std() == pytest.approx(64**-0.5, rel=0.02)

    @pytest.mark.parametrize("layer_class", [SinusoidalPositions, LearnedPositions])
    def test_one_step_at_a_time(self, layer_class):
        x = array(2, 5, 8)
        layer = layer_class(20)
        whole = to_numpy(layer(x))
        for step in range(5):
            one = layer(x[:, step : step + 1], offset=ops.convert_to_tensor(step, "int32"))
            np.testing.assert_allclose(to_numpy(one)[:, 0], whole[:, step], atol=1e-6)

    def test_positions_do_not_collide_in_bfloat16(self):
        layer = SinusoidalPositions(2048, dtype="mixed_bfloat16")
        encoding = to_numpy(ops.cast(layer(np.zeros((1, 2048, 64), "float32")), "float32"))[0]
        assert len(np.unique(encoding, axis=0)) == 2048
        np.testing.assert_allclose(encoding, sinusoidal_positions(2048, 64), atol=0.004)


class TestTokenAndPositionEmbedding:
    @pytest.mark.parametrize("positions", ["sinusoidal", "learned", None])
    def test_equals_numpy(self, positions):
        ids = np.array([[3, 1, 4], [1, 5, 0]])
        layer = TokenAndPositionEmbedding(7, 8, max_sequence_length=10, positions=positions)
        outputs = to_numpy(layer(ids))
        embeddings, *table = layer.get_weights()
        expected = embeddings[ids] * math.sqrt(8)
        if positions == "learned":
            expected = expected + table[0][:3]
        elif positions == "sinusoidal":
            expected = expected + sinusoidal_positions(3, 8)
        np.testing.assert_allclose(outputs, expected, atol=1e-6)
        later = to_numpy(layer(ids[:, 2:], offset=2))
        np.testing.assert_allclose(later, expected[:, 2:], atol=1e-6)

    def test_scaled_embeddings_have_unit_variance(self):
        layer = TokenAndPositionEmbedding(5000, 16, 5000, positions=None)
        outputs = to_numpy(layer(np.arange(5000)[None]))
        assert outputs.std() == pytest.approx(1, rel=0.02)
        assert layer.get_weights()[0].std() == pytest.approx(1 / 4, rel=0.02)

    def test_transposed_scores_every_embedding(self):
        layer, x = TokenAndPositionEmbedding(7, 8, 10), array(2, 3, 8)
        layer.build((None, None))
        expected = np.einsum("btd,vd->btv", x, layer.get_weights()[0])
        np.testing.assert_allclose(to_numpy(x @ to_numpy(layer.transposed())), expected, atol=1e-5)

    def test_dropout_acts_on_the_sum_in_training_only(self):
        layer = TokenAndPositionEmbedding(7, 64, 100, dropout=0.5)
        ids = np.ones((1, 100), "int32")
        plain, dropped = to_numpy(layer(ids)), to_numpy(layer(ids, training=True))
        gone = dropped == 0
        assert 0.4 < gone.mean() < 0.6
        np.testing.assert_allclose(dropped[~gone], 2 * plain[~gone], rtol=1e-5)

    def test_errors(self):
        layer = TokenAndPositionEmbedding(7, 8, max_sequence_length=3)
        with pytest.raises(ValueError, match=r"max_sequence_length=3 tokens.*4"):
            layer(np.ones((1, 4), "int32"))
        with pytest.raises(ValueError, match=r"'learned', 'sinusoidal'.*None.*'rotary'"):
            TokenAndPositionEmbedding(7, 8, 3, positions="rotary")
        with pytest.raises(ValueError, match=r"must be even.*5"):
            TokenAndPositionEmbedding(7, 5, 3)(np.ones((1, 2), "int32"))


VECTORS = {"inputs": array(2, 5, 8)}
TOKENS = {"token_ids": np.array([[3, 1, 4, 1, 5], [2, 6, 0, 0, 0]], "int32")}
EMBEDDING = {"vocabulary_size": 7, "hidden_dim": 8, "max_sequence_length": 10}


@pytest.mark.parametrize(
    ("layer_class", "arguments", "inputs", "num_weights"),
    [
        (SinusoidalPositions, {"max_length": 9, "layout": "concatenated"}, VECTORS, 0),
        (LearnedPositions, {"max_length": 9}, VECTORS, 1),
        (TokenAndPositionEmbedding, EMBEDDING, TOKENS, 1),
        (TokenAndPositionEmbedding, {**EMBEDDING, "positions": "learned"}, TOKENS, 2),
        (TokenAndPositionEmbedding, {**EMBEDDING, "positions": None}, TOKENS, 1),
    ],
)
def test_layer(layer_class, arguments, inputs, num_weights):
    check_layer(layer_class, arguments, inputs, num_weights)


@pytest.mark.parametrize("layer_class", [SinusoidalPositions, LearnedPositions])
def test_positions_beyond_the_last_are_an_error_and_not_nan(layer_class):
    layer = layer_class(max_length=3)
    layer(array(1, 3, 4))
    for length, offset in ((4, 0), (2, 2), (1, -1)):
        with pytest.raises(
            ValueError, match=rf"max_length=3 .*length {length} from .* {offset} on"
        ):
            layer(array(1, length, 4), offset=offset)


@pytest.mark.parametrize("layer_class", [SinusoidalPositions, LearnedPositions])
def test_positions_are_added_to_integers_as_to_numbers(layer_class):
    layer, inputs = layer_class(max_length=3), np.arange(12).reshape(1, 3, 4)
    outputs = layer(inputs)  # rounded to integers, the positions would be lost
    table = np.asarray(to_numpy(ops.convert_to_tensor(layer.table)), "float64")
    assert keras.backend.standardize_dtype(outputs.dtype) == "float32"
    np.testing.assert_allclose(to_numpy(outputs), inputs + table, rtol=1e-6)


@pytest.mark.parametrize("dtype", ["uint8", "int8", "uint16", "uint32", "int64"])
def test_ids_of_every_kind_of_integer(dtype):
    layer = TokenAndPositionEmbedding(9, 4, max_sequence_length=3)
    ids = np.array([[1, 7, 3]])
    assert (to_numpy(layer(ids.astype(dtype))) == to_numpy(layer(ids.astype("int32")))).all()
    with pytest.raises(ValueError, match=r"must hold integers\. Received: dtype=float32"):
        layer(ops.convert_to_tensor(ids.astype("float32")))


@pytest.mark.skipif(keras.backend.backend() != "jax", reason="lengths are symbols on JAX only")
@pytest.mark.parametrize("layer_class", [SinusoidalPositions, LearnedPositions])
def test_a_length_that_is_still_open_is_no_error(layer_class):
    import jax

    layer = layer_class(max_length=3)
    layer.build((None, None, 4))
    open_shape = (*jax.export.symbolic_shape("batch, length"), 4)
    inputs = jax.ShapeDtypeStruct(open_shape, "float32")
    assert jax.eval_shape(layer, inputs).shape == open_shape


@pytest.mark.parametrize("base", [0, -2.0, float("inf")])
def test_a_base_is_above_0(base):
    for make in (
        lambda: SinusoidalPositions(50, base=base),
        lambda: sinusoidal_positions(5, 4, base=base),
        lambda: rotate(array(1, 3, 4), [0, 1, 2], base=base),
    ):
        with pytest.raises(ValueError, match="`base` must be a number above 0"):
            make()


def test_bad_options_are_refused_at_once():
    with pytest.raises(ValueError, match="layout"):
        SinusoidalPositions(50, layout="x")
    with pytest.raises(ValueError, match=r"`dropout` must be from 0 to 1\. Received: 2"):
        TokenAndPositionEmbedding(10, 4, 5, dropout=2.0)


def test_ids_have_two_axes_and_vectors_three():
    with pytest.raises(ValueError, match="expected ndim=2"):
        TokenAndPositionEmbedding(10, 4, 5)(np.ones((1, 1, 3), "int32"))
    with pytest.raises(ValueError, match="expected ndim=3"):
        SinusoidalPositions(50)(array(16, 16))

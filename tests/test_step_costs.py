"""What a step costs, counted again: product by product, from the figure's boxes, by XLA."""

import pytest

from nlp104.figures.explore.devices import config_of
from nlp104.figures.explore.shapes import measure, preset
from nlp104.figures.step_costs import PARTS, Product, kept, products, roof, step_flops
from nlp104.transformer import TransformerConfig

CONFIG = TransformerConfig(8, 24, 2, num_layers=3, vocabulary_size=50)


def test_flops_are_those_of_the_matrix_products():
    """Counted again, product by product."""
    rows, source, target = 3, 5, 7
    d, ff, heads = CONFIG.hidden_dim, CONFIG.intermediate_dim, CONFIG.num_heads

    def product(m, k, n):
        return 2 * m * k * n

    def attention(queries, keys):
        projections = 2 * product(queries, d, d) + 2 * product(keys, d, d)
        scores = heads * product(queries, d // heads, keys)
        return projections + scores + heads * product(queries, keys, d // heads)

    def feed_forward(length):
        return product(length, d, ff) + product(length, ff, d)

    layer = attention(source, source) + feed_forward(source)
    layer += attention(target, target) + attention(target, source) + feed_forward(target)
    forward = CONFIG.num_layers * layer + product(target, d, CONFIG.vocabulary_size)
    assert step_flops(CONFIG, rows, source, target) == 3 * rows * forward


@pytest.mark.parametrize("name", ["tiny", "base", "big"])
def test_they_are_those_of_the_figure_of_shapes(name):
    boxes = measure(batch=16, source=20, target=25, **preset(name))
    expected = 2 * sum(box["multiply_adds"] for box in boxes)
    found = products(config_of(name), 16, 20, 25)
    assert sum(product.flops for product in found) == expected
    assert {product.part for product in found} == set(PARTS)


def test_a_product_moves_both_factors_and_the_result():
    one = Product("scores and mixture", "scores", times=6, m=4, k=2, n=3)
    assert (one.flops, one.bytes) == (6 * 2 * 24, 6 * 4 * (8 + 6 + 12))
    assert one.intensity == one.flops / one.bytes
    square = Product("vocabulary", "logits", 1, 300, 300, 300)
    assert square.intensity == pytest.approx(300 / 6)


def test_below_the_ridge_memory_is_the_limit_and_above_it_arithmetic():
    assert [roof(x, peak=100, bandwidth=5) for x in (1, 20, 21, 1000)] == [5, 100, 100, 100]


def test_what_is_kept_by_hand():
    found = kept(TransformerConfig(8, 24, 2, num_layers=1, vocabulary_size=50), 3, 5, 7)
    read = 5 * (4 * 8 + 2 * 8 + 24 + 2 * 8)  # Q, K, V, mixture; sum and norm; inner units; both
    write = 7 * (4 * 8 + 2 * 8 + (2 * 8 + 2 * 8) + 24 + 2 * 8) + 5 * 2 * 8  # K and V of 5 tokens
    assert found["vectors"] == 3 * (read + write + 8 * (5 + 7))
    assert found["tables"] == 3 * 2 * (5 * 5 + 7 * 7 + 7 * 5)
    assert found["logits"] == 3 * 7 * 50 * 2
    fused = kept(CONFIG, 3, 5, 7, fused=True)
    assert fused == kept(CONFIG, 3, 5, 7) | {"tables": 0}

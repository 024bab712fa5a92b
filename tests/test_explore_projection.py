"""The explorable of Q = X W_Q, K = X W_K and V = X W_V: its numbers are NumPy's, in every state."""

import re

import numpy as np
import pytest
from browser import needs_browser
from explore_page import write

from nlp104.figures import explore

TOKENS = ["The", "cat", "sleeps", "here"]
FEATURES = ["noun", "verb", "place", "article", "length"]
WIDTHS = {"Q": 3, "K": 3, "V": 2}


def arrays(kind):
    """X `[4, 5]` and three matrices: whole numbers, or such that have to be rounded to be shown."""
    rng = np.random.default_rng(104)
    shapes = [(4, 5), *((5, width) for width in WIDTHS.values())]
    if kind == "whole":
        return [rng.integers(-3, 4, shape).astype(float) for shape in shapes]
    return [rng.normal(size=shape).round(3) for shape in shapes]


KINDS = ("whole", "fractional")
ARRAYS = {kind: arrays(kind) for kind in KINDS}


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """A figure of whole numbers, and below it one of fractions."""
    figures = [explore.projection(X, W, TOKENS, FEATURES, 1) for X, *W in ARRAYS.values()]
    return write(tmp_path_factory.mktemp("projection") / "page.html", *figures)


@pytest.fixture(autouse=True)
def _begin_again(request):
    """Every test of the page finds it as it was."""
    if "reader" in request.fixturenames:
        request.getfixturevalue("reader").open(request.getfixturevalue("page"))


def products(X, kernels):
    """Q, K and V side by side."""
    return np.concatenate([X @ kernel for kernel in kernels], axis=1)


def all_three(reader, figure):
    """What the last step shows, in the state that the figure is in."""
    steps = reader.evaluate(f"scenes[{figure}].chapters.length")
    return reader.draw(figure, **reader.state(figure) | {"step": steps - 1, "cell": ""})


@needs_browser
@pytest.mark.parametrize("figure", range(2), ids=KINDS)
def test_every_step_shows_products_and_in_the_end_all_of_them(reader, figure):
    X, *kernels = ARRAYS[KINDS[figure]]
    expected = dict(zip("QKV", (X @ kernel for kernel in kernels), strict=True))
    shown = dict.fromkeys("QKV", 0)
    steps = reader.evaluate(f"scenes[{figure}].chapters.length")
    assert steps == 1 + (3 + 3) + 4 + 4 + 1  # a row of Q cell by cell, then row by row
    for step in range(steps - 1):
        drawn = reader.draw(figure, step=step)
        letter = drawn.columns[0][0]
        assert drawn.rows == TOKENS
        assert drawn.values.shape == expected[letter].shape
        known = ~np.isnan(drawn.values)
        np.testing.assert_allclose(drawn.values[known], expected[letter][known], atol=1e-8)
        assert known.sum() >= shown[letter]  # what is known stays known
        shown[letter] = known.sum()
    assert shown == {letter: 4 * width for letter, width in WIDTHS.items()}
    drawn = reader.draw(figure, step=steps - 1)
    assert drawn.columns == ["Q 1", "Q 2", "Q 3", "K 1", "K 2", "K 3", "V 1", "V 2"]
    np.testing.assert_allclose(drawn.values, products(X, kernels), atol=1e-8)


@needs_browser
@pytest.mark.parametrize("width", [700, 340])
@pytest.mark.parametrize("figure", range(2), ids=KINDS)
def test_the_cells_on_the_stage_hold_these_numbers(reader, figure, width):
    X, *kernels = ARRAYS[KINDS[figure]]
    steps = reader.evaluate(f"scenes[{figure}].chapters.length")
    drawn = reader.draw(figure, width, step=steps - 1)
    for concept, kernel in zip("qkv", kernels, strict=True):
        cells = drawn.cells(concept)
        assert all(cell["known"] for cell in cells)
        values = np.array([cell["value"] for cell in cells])
        product = X @ kernel
        np.testing.assert_allclose(values[-product.size :], product.ravel(), atol=1e-8)
        if width == 700:  # a phone has no room for the matrices of the end
            np.testing.assert_array_equal(values[: -product.size], kernel.ravel())


@needs_browser
@pytest.mark.parametrize("figure", range(2), ids=KINDS)
def test_a_cell_is_the_sum_of_the_products_that_are_written_beside_it(reader, figure):
    X, kernel, *_ = ARRAYS[KINDS[figure]]
    digits = (0, 1)[figure]
    for row in range(4):
        for column in range(3):
            reader.tap(f"cell:Q{row},{column}", figure)
            drawn = reader.draw(figure, **reader.state(figure))
            words = [mark["source"] for mark in drawn.marks if mark["kind"] == "text"]
            start = words.index("×") - 1  # the ledger: a × b = p, for each feature, then the sum
            ledger = words[start : words.index("×") + 5 * 5]
            left, right, result = (ledger[place : 5 * 5 : 5] for place in (0, 2, 4))
            factors = X[row], kernel[:, column]
            for written, numbers in zip(
                (left, right, result), (*factors, np.multiply(*factors)), strict=True
            ):
                written = [float(text.replace("−", "-")) for text in written]
                np.testing.assert_allclose(written, numbers, atol=0.5 * 10.0**-digits + 1e-6)
            total = float(ledger[25].removeprefix("= ").replace("−", "-"))
            assert total == pytest.approx(X[row] @ kernel[:, column], abs=0.5 * 10.0**-digits)
            assert f"**{ledger[25].removeprefix('= ')}**" in drawn.caption
            assert f"**{TOKENS[row]}**" in drawn.caption


@needs_browser
@pytest.mark.parametrize(("letter", "row", "column"), [("Q", 0, 0), ("Q", 4, 2), ("Q", 2, 1)])
@pytest.mark.parametrize("figure", range(2), ids=KINDS)
def test_a_weight_changes_one_column_of_one_product(reader, figure, letter, row, column):
    X, *kernels = ARRAYS[KINDS[figure]]
    by = (1.0, 0.5)[figure]
    before = all_three(reader, figure).values
    reader.tap(f"weight:{letter}:{row}:{column}", figure)
    changed = [kernel.copy() for kernel in kernels]
    for times, way in ((3, 1), (4, -1)):
        for _ in range(times):
            reader.tap(f"change:{way}", figure)
        changed[0][row, column] += times * way * by
        after = all_three(reader, figure).values
        np.testing.assert_allclose(after, products(X, changed), atol=1e-8)
        moved = np.flatnonzero((after != before).any(axis=0))
        assert moved.tolist() == [column]
        meets = X[:, row] != 0  # a word without this feature gains nothing
        np.testing.assert_array_equal(after[:, column] != before[:, column], meets)


@needs_browser
def test_every_matrix_can_be_changed_and_the_changes_add_up(reader):
    X, *kernels = ARRAYS["whole"]
    changed = [kernel.copy() for kernel in kernels]
    first = {"Q": 1, "K": 7, "V": 11}  # the step in which a matrix is in question
    for number, (letter, step) in enumerate(first.items()):
        reader.evaluate("location.hash = ''")
        state = reader.state() | {"step": step, "cell": ""}
        query = "&".join(f"{key}={value}" for key, value in state.items())
        reader.evaluate(f"location.hash = {'#projection:' + query!r}")
        reader.rest()
        assert reader.state()["step"] == step
        reader.tap(f"weight:{letter}:3:1")
        reader.tap("change:1")
        changed[number][3, 1] += 1
    np.testing.assert_array_equal(all_three(reader, 0).values, products(X, changed))
    assert len(reader.state()["edits"].split()) == 3


@needs_browser
def test_a_word_moves_with_its_row_and_no_number_changes(reader):
    X, *kernels = ARRAYS["whole"]
    before = all_three(reader, 0)
    order = [0, 1, 2, 3]
    for word in (0, 0, 3, 2):
        reader.tap(f"swap:{word}")
        place = order.index(word)
        other = (place + 1) % 4  # the last one changes places with the first
        order[place], order[other] = order[other], order[place]
        after = all_three(reader, 0)
        assert after.rows == [TOKENS[number] for number in order]
        np.testing.assert_array_equal(after.values, before.values[order])
    assert order != sorted(order)
    np.testing.assert_array_equal(after.values, products(X[order], kernels))
    reader.rest()
    heights = reader.evaluate(
        """(() => {
          const marks = [...document.querySelectorAll('.explore')[0].querySelectorAll('.token')];
          return marks.filter((mark) => mark.dataset.act?.startsWith('swap:')).map((mark) =>
            [mark.textContent, mark.getBoundingClientRect().top]);
        })()"""
    )
    seen = [word for word, _ in sorted(heights, key=lambda pair: pair[1])]
    assert seen == [TOKENS[number] for number in order]


BRIEF = dict(zip(["noun", "verb", "pl.", "art.", "len."], FEATURES, strict=True))
MEANINGS = [
    {f"{letter}{k}": f"{verb} a {letter}{k}" for k in range(WIDTHS[letter])}
    for letter, verb in (("Q", "wants"), ("K", "is"), ("V", "tells"))
]


@needs_browser
def test_it_opens_at_a_cell_whose_meaning_is_told(reader, tmp_path):
    X, *kernels = ARRAYS["whole"]
    named = explore.projection(X, kernels, TOKENS, BRIEF, 1, MEANINGS)
    reader.open(write(tmp_path / "page.html", named))
    assert reader.state()["step"] == 1  # the row of the followed word, the first column of Q
    total = write_whole(X[1] @ kernels[0][:, 0])
    assert f"**cat** wants a Q0 with strength [q|**{total}**]." in reader.draw(step=1).caption
    for width in (700, 340):
        words = [mark["source"] for mark in reader.draw(width=width, step=1).marks
                 if mark["kind"] == "text"]  # fmt: skip
        assert set(BRIEF if width == 340 else FEATURES) <= set(words)
        assert {"wants", *MEANINGS[0]} <= set(words)
    reader.tap("cell:V1,1")
    assert "**cat** tells a V1 with strength" in reader.draw(**reader.state()).caption


def write_whole(number):
    """As the page writes it."""
    return f"{number:.0f}".replace("-", "−")


BAD = {
    "a token too many": lambda X, W: ((X[:3], W, TOKENS), "inputs", "(4, any)", "(3, 5)"),
    "one vector": lambda X, W: ((X[0], W, TOKENS), "inputs", "(4, any)", "(5,)"),
    "a batch": lambda X, W: ((X[None], W, TOKENS), "inputs", "(4, any)", "(1, 4, 5)"),
    "too few features": lambda X, W: (
        (X[:, :4], W, TOKENS), "W_Q", "(4, any)", "(5, 3)",
    ),
    "one matrix lies": lambda X, W: (
        (X, [W[0], W[1].T, W[2]], TOKENS), "W_K", "(5, any)", "(3, 5)",
    ),
    "several heads": lambda X, W: (
        (X, [W[0], W[1], W[2][:, None]], TOKENS), "W_V", "(5, any)", "(5, 1, 2)",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_arrays_that_do_not_fit_are_refused_in_words(case):
    X, *kernels = ARRAYS["whole"]
    arguments, name, wanted, given = BAD[case](X, kernels)
    with pytest.raises(ValueError, match="Expected") as caught:
        explore.projection(*arguments)
    assert f"Expected {name} of shape {wanted}. Received: {given}." in str(caught.value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kernels": ARRAYS["whole"][1:3]}, "Expected W_Q, W_K and W_V. Received: 2 matrices."),
        ({"features": FEATURES[:4]}, "Expected 5 features. Received: 4."),
        ({"follow": 4}, "Expected follow from 0 to 3. Received: 4."),
        ({"follow": -1}, "Expected follow from 0 to 3. Received: -1."),
        ({"meanings": [{"a": "is an a"}] * 3}, "Expected a meaning for each column of Q, K and V."),
    ],
)
def test_whatever_else_does_not_fit_is_refused_in_words(change, message):
    X, *kernels = ARRAYS["whole"]
    arguments = {"inputs": X, "kernels": kernels, "tokens": TOKENS, "features": FEATURES} | change
    with pytest.raises(ValueError, match=re.escape(message)):
        explore.projection(**arguments)


def test_the_still_holds_the_same_numbers():
    X, *kernels = ARRAYS["whole"]
    made = explore.projection(X, kernels, TOKENS)
    cells = made.still.count('class="base')
    assert cells == X.size + sum(kernel.size + 4 * kernel.shape[1] for kernel in kernels)
    assert made.data["inputs"] == X.tolist()
    assert [kernel["values"] for kernel in made.data["kernels"]] == [W.tolist() for W in kernels]
    assert all(token in made.alt for token in TOKENS)

"""The explorable of several heads: the package's layer if cut rightly, and the wrong cut."""

import json
import re

import numpy as np
import pytest
from browser import needs_browser
from explore_page import write
from keras import ops

from nlp104.attention.multi_head import MultiHeadAttention
from nlp104.figures import explore
from nlp104.figures.explore.heads import HEADS, INPUTS, KERNELS, OTHER, OTHER_INPUT, WORDS

IN, PROJECT, SPLIT, LOOK, MIX, JOIN, OUT = range(7)
N, D = INPUTS.shape
WIDTH = D // HEADS
THIRD = 2  # the word that can be replaced


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    return write(tmp_path_factory.mktemp("heads") / "page.html", explore.heads())


def inputs(word):
    """X, with the third word as it was (0) or replaced (1)."""
    X = INPUTS.copy()
    if word:
        X[THIRD] = OTHER_INPUT
    return X


def computed(reshape, word):
    """What stands in each step, by NumPy: a list of arrays as the table shows them."""
    X = inputs(word)
    wide = [X @ W for W in KERNELS[:3]]
    if reshape == "right":
        split = [x.reshape(N, HEADS, WIDTH).transpose(1, 0, 2) for x in wide]
    else:
        split = [x.reshape(HEADS, N, WIDTH) for x in wide]
    Q, K, V = split
    powers = np.exp(Q @ K.transpose(0, 2, 1) / np.sqrt(WIDTH))
    A = powers / powers.sum(axis=-1, keepdims=True)
    Y = A @ V
    joined = (Y.transpose(1, 0, 2) if reshape == "right" else Y).reshape(N, D)
    pieces = [x[head] for head in range(HEADS) for x in split]
    return [
        X, np.hstack(wide), np.hstack(pieces), np.hstack(A), np.hstack(Y), joined,
        joined @ KERNELS[3],
    ]  # fmt: skip


CASES = [(reshape, word) for reshape in ("right", "wrong") for word in (0, 1)]


@needs_browser
@pytest.mark.parametrize("word", [0, 1])
def test_cut_rightly_it_is_the_packages_layer(reader, word):
    X = inputs(word)[None].astype("float32")
    layer = MultiHeadAttention(HEADS, WIDTH, use_bias=False)
    layer.build(X.shape, X.shape)
    layer.set_weights(
        [*(W.reshape(D, HEADS, WIDTH) for W in KERNELS[:3]), KERNELS[3].reshape(HEADS, WIDTH, D)]
    )
    output, weights = map(ops.convert_to_numpy, layer(X, X, return_attention_scores=True))
    drawn = reader.draw(step=OUT, word=word)
    np.testing.assert_allclose(drawn.values, output[0], atol=1e-5)
    drawn = reader.draw(step=LOOK, word=word)
    np.testing.assert_allclose(drawn.values, np.hstack(weights[0]), atol=1e-6)
    wrong = reader.draw(step=OUT, word=word, reshape="wrong")
    assert wrong.values.shape == output[0].shape  # no error, the shape is right
    assert np.abs(wrong.values - output[0]).max() > 1.0


@needs_browser
@pytest.mark.parametrize(("reshape", "word"), CASES)
def test_every_step_is_what_numpy_computes(reader, reshape, word):
    for step, expected in enumerate(computed(reshape, word)):
        drawn = reader.draw(step=step, reshape=reshape, word=word)
        np.testing.assert_allclose(drawn.values, expected, atol=1e-8)
        rows = [*WORDS[:THIRD], OTHER if word else WORDS[THIRD], *WORDS[THIRD + 1 :]]
        assert drawn.rows == ([f"Row {i + 1}" for i in range(N)] if SPLIT <= step <= MIX else rows)


def cells(drawn, name):
    """The values of the marks `name0,0` to `name3,3` at their places: `{(x, y): value}`."""
    found = [m for m in drawn.marks if m["kind"] == "cell" and re.match(name + r"\d", m["key"])]
    return {(round(m["x"], 3), round(m["y"], 3)): m["value"] for m in found}


def values(drawn, name):
    """The values of the cells whose keys begin so, by key."""
    found = (m for m in drawn.marks if m["kind"] == "cell" and m["key"].startswith(name))
    return {m["key"]: m["value"] for m in found}


def as_matrix(found):
    """Cells at their places as a matrix: from top to bottom, from left to right."""
    across, down = (sorted(set(places)) for places in zip(*found, strict=True))
    return np.array([[found[x, y] for x in across] for y in down])


@needs_browser
@pytest.mark.parametrize("width", [750, 358, 288])
@pytest.mark.parametrize(("reshape", "word"), CASES)
def test_the_numbers_travel_to_the_places_that_the_reshape_deals(reader, reshape, word, width):
    _, wide, pieces, *_, joined, _ = computed(reshape, word)
    state = {"reshape": reshape, "word": word, "width": width}
    before, after = (reader.draw(step=step, **state) for step in (PROJECT, SPLIT))
    for m, letter in enumerate("qkv"):
        W = wide[:, m * D : (m + 1) * D]
        np.testing.assert_array_equal(as_matrix(cells(before, letter)), W)
        np.testing.assert_array_equal(as_matrix(cells(after, letter)), W)  # the shadow stays
        travelled = values(before, f"{letter}'")
        assert values(after, f"{letter}'") == travelled
        now = [m for m in after.marks if m["key"] in travelled]
        assert len(now) == N * D
        middle = np.median([m["x" if width > 560 else "y"] for m in now])
        for head in range(HEADS):
            inside = {
                (m["x"], m["y"]): m["value"]
                for m in now
                if (m["x" if width > 560 else "y"] > middle) == head
            }
            column = (3 * head + m) * WIDTH
            piece = pieces[:, column : column + WIDTH]
            np.testing.assert_array_equal(as_matrix(inside), piece.T if letter == "k" else piece)
    there = reader.draw(step=JOIN, **state)
    answers = {(m["x"], m["y"]): m["value"] for m in there.marks if m["key"] in values(there, "Y'")}
    np.testing.assert_allclose(as_matrix(answers), joined, atol=1e-8)


def dots(drawn, name):
    """Which rows and columns of a matrix have a dot, `{(row, column)}`."""
    found = (re.fullmatch(name + r"(\d),(\d)\*", m["key"]) for m in drawn.marks)
    return {(int(m[1]), int(m[2])) for m in found if m}


@needs_browser
@pytest.mark.parametrize("step", range(7))
@pytest.mark.parametrize("reshape", ["right", "wrong"])
def test_a_dot_marks_what_the_other_word_moves(reader, reshape, step):
    plain, changed = (reader.draw(step=step, reshape=reshape, word=word) for word in (0, 1))
    assert [m for m in plain.marks if m["key"].endswith("*")] == []
    first, second = computed(reshape, 0), computed(reshape, 1)
    expected = np.argwhere(np.abs(second[IN] - first[IN]) > 0.005)
    assert dots(changed, "X") == {tuple(place) for place in expected.tolist()}
    if step in (LOOK, MIX, JOIN, OUT):
        moved = np.abs(second[LOOK] - first[LOOK]) > 0.005
        for head in range(HEADS):
            inside = np.argwhere(moved[:, head * N : (head + 1) * N])
            assert dots(changed, f"A{head}") == {tuple(place) for place in inside.tolist()}
    if step == OUT:
        assert {w for w, _ in dots(changed, "O")} == (
            {0, 1, 2, 3} if reshape == "right" else {2, 3}
        )


@needs_browser
def test_one_word_moves_its_own_row_of_every_head_or_other_words_rows_of_one(reader):
    """The insight: a head's row is a word's, until the cut runs between words."""
    rows = {}
    for reshape in ("right", "wrong"):
        old, new = (reader.draw(step=SPLIT, reshape=reshape, word=word).values for word in (0, 1))
        moved = (old != new).reshape(N, HEADS, 3 * WIDTH).any(axis=-1)  # [row, head]
        rows[reshape] = [np.flatnonzero(moved[:, head]).tolist() for head in range(HEADS)]
    assert rows["right"] == [[THIRD], [THIRD]]
    assert rows["wrong"] == [[], [0, 1]]  # where other words belong
    captions = {
        reshape: reader.draw(step=SPLIT, reshape=reshape, word=1).caption for reshape in rows
    }
    assert "In both heads row 3 moves" in captions["right"]
    assert "In head 2 rows 1 and 2 move, where **Big** and **grey** belong" in captions["wrong"]


@needs_browser
def test_with_the_wrong_cut_two_words_never_hear_of_the_others(reader):
    outputs = {
        reshape: [reader.draw(step=OUT, reshape=reshape, word=word) for word in (0, 1)]
        for reshape in ("right", "wrong")
    }
    right, wrong = (np.abs(new.values - old.values).max(axis=1) for old, new in outputs.values())
    assert (right > 0.05).all()
    assert (wrong[:2] == 0).all()  # exactly
    assert (wrong[2:] > 0.05).all()
    assert "All 4 words move" in outputs["right"][1].caption
    assert "**Big** and **grey** never hear of **logs**" in outputs["wrong"][1].caption


@needs_browser
def test_two_heads_ask_two_questions_and_the_wrong_cut_hides_one_answer(reader):
    weights = reader.draw(step=LOOK).values.reshape(N, HEADS, N)[THIRD]
    assert weights[0, :2].sum() > 0.95  # cats in head 1: what it is like
    assert weights[1].argmax() == 3  # in head 2: what lives
    said = reader.draw(step=LOOK).caption
    assert "**cats** looks most at **Big** and **grey** ([a|0.50]) in head 1" in said
    assert "**nap** ([a|0.80]) in head 2" in said
    wrong = reader.draw(step=LOOK, reshape="wrong").caption
    assert "**cats** can find only **cats** and **nap**; **Big** and **grey** are in" in wrong


@needs_browser
@pytest.mark.parametrize("width", [750, 358])
def test_every_piece_says_which_word_it_comes_from(reader, width):
    for reshape in ("right", "wrong"):
        drawn = reader.draw(step=SPLIT, reshape=reshape, width=width)
        pills = [m for m in drawn.marks if re.fullmatch(r"p\d,\d", m["key"])]
        inside = [[m["word"] for m in pills if m["key"][1] == str(head)] for head in range(HEADS)]
        if reshape == "right":
            assert inside == [list(WORDS)] * HEADS
        else:
            assert inside == [list(WORDS[:2]), list(WORDS[2:])]
        heights = {round(m["h"]) for m in pills}
        assert len(heights) == 1
        q = next(m for m in drawn.marks if m["key"] == "q'0,0")
        assert heights.pop() == round((1 if reshape == "right" else 2) * q["h"] - 4)
        cuts = [m["path"] for m in drawn.marks if m["key"] in ("cutq", "cutk", "cutv")]
        assert all(("v" in path) == (reshape == "right") for path in cuts)
        assert len(cuts) == 3


def at(drawn, key):
    """The mark of this key as a box."""
    (mark,) = (m for m in drawn.marks if m["key"] == key)
    return mark["x"], mark["y"], mark["x"] + mark["w"], mark["y"] + mark["h"]


@needs_browser
def test_a_tapped_number_shows_what_it_is_made_of(reader):
    drawn = reader.draw(step=PROJECT, cell="q:2:0")
    assert "times column **1**" in drawn.caption
    assert "0·0 + 0·0 + 2·2 + 1·1 = [q|**5**]" in drawn.caption
    drawn = reader.draw(step=LOOK, cell="A:0:2:1")
    assert "[q|(5, 1)] · [k|(2, 0)] ÷ √2 = 7.07" in drawn.caption
    assert "[a|**0.50**]" in drawn.caption
    drawn = reader.draw(step=MIX, cell="Y:1:2:1")
    value = computed("right", 0)[MIX][2, 3]
    assert f"= [v|**{value:.2f}**]" in drawn.caption
    left, top, right, bottom = at(drawn, "fcolumn")
    column = [m for m in drawn.marks if re.fullmatch(r"v'\d,3", m["key"])]
    assert len(column) == N
    assert all(left <= m["x"] and m["x"] + m["w"] <= right for m in column)
    assert all(top <= m["y"] and m["y"] + m["h"] <= bottom for m in column)
    drawn = reader.draw(step=OUT, cell="O:2:3")
    assert f"= **{computed('right', 0)[OUT][2, 3]:.2f}**" in drawn.caption

    said = {}
    for cell in ("q:0:0", "q:0:2", "q:2:0"):
        for reshape in ("right", "wrong"):
            drawn = reader.draw(step=SPLIT, cell=cell, reshape=reshape)
            said[cell, reshape] = drawn.caption
            number = next(m for m in drawn.marks if m["key"] == f"q'{cell[2]},{cell[4]}")
            left, top, right, bottom = at(drawn, "fthere")
            assert left <= number["x"] <= number["x"] + number["w"] <= right
            assert top <= number["y"] <= number["y"] + number["h"] <= bottom
    assert "Head 1 gets it, in the row of **Big**" in said["q:0:0", "right"]
    assert "in its place, by chance" in said["q:0:0", "wrong"]
    assert "belongs to head 2, **Big**; here it is in head 1, in row 2" in said["q:0:2", "wrong"]
    assert "belongs to head 1, **cats**; here it is in head 2, in row 1" in said["q:2:0", "wrong"]


@needs_browser
def test_a_reader_follows_a_word_into_the_heads(reader):
    reader.evaluate("location.hash = '#heads:step=2&reshape=wrong'")
    reader.rest()
    reader.tap("word:0")
    assert reader.state()["follow"] == 0
    frames = "[...document.querySelectorAll('.stage .outline')].length"
    assert reader.evaluate(frames) == 3 + 3  # of the wide matrices, of one head
    reader.call("() => document.querySelector('[data-option=reshape] [value=right]').click()")
    assert reader.evaluate(frames) == 3 + 2 * 3
    reader.tap("k:1:2")
    assert reader.state()["cell"] == "k:1:2"
    assert reader.evaluate(frames) == 2  # there and here
    reader.tap("k:1:2")
    assert reader.state()["cell"] == ""
    reader.press("ArrowRight")
    assert reader.complaints == []


@needs_browser
def test_it_opens_cut_in_two_and_what_is_alone_stands_in_the_middle(reader, page):
    reader.open(page, width=390)
    assert reader.state()["step"] == SPLIT
    for width in (750, 358, 288):
        drawn = reader.draw(step=PROJECT, width=width)
        cells = [m for m in drawn.marks if m["kind"] == "cell"]
        above = min(m["y"] for m in cells)
        below = drawn.height - max(m["y"] + m["h"] for m in cells)
        assert abs(above - below) <= 10


@needs_browser
def test_a_caption_has_room_on_a_phone_and_the_stage_stays(reader):
    for width in (750, 358, 288):
        drawn = [
            reader.draw(step=step, width=width, reshape=reshape, word=word, follow=follow)
            for step in range(7)
            for reshape, word in CASES
            for follow in (0, 2)
        ]
        assert len({d.height for d in drawn}) == 1
        plain = [reader.call("(c) => nlp104.plain(c)", d.caption) for d in drawn]
        assert max(map(len, plain)) <= 132
    for case in range(4):  # no two steps say the same
        assert len({d.caption for d in drawn[2 * case :: 8]}) == 7


def test_the_still_shows_both_cuts():
    made = explore.heads()
    numbers = np.array(re.findall(r"<text[^>]*>(\d)</text>", made.still), int)
    Q = (INPUTS @ KERNELS[0]).astype(int)
    pieces = {
        "right": Q.reshape(N, HEADS, WIDTH).transpose(1, 0, 2),
        "wrong": Q.reshape(HEADS, N, WIDTH),
    }
    expected = np.concatenate([np.r_[Q.ravel(), piece.ravel()] for piece in pieces.values()])
    np.testing.assert_array_equal(numbers, expected)
    for word in ("without a transpose", "Big", "cats", "nap"):
        assert word in made.alt


def test_the_numbers_can_be_followed_by_eye():
    for word in (0, 1):
        X = inputs(word)
        for array in (X, *KERNELS, *(X @ W for W in KERNELS[:3])):
            assert set(array.ravel()) <= set(range(7))
    assert len(json.dumps(explore.heads().data)) < 1000

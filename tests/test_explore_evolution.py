"""The explorable of the seven versions: its weights are those of the package's own layers."""

import re

import numpy as np
import pytest
from browser import needs_browser
from explore_page import write
from keras import ops

from nlp104.attention import single_head
from nlp104.attention.multi_head import MultiHeadAttention
from nlp104.figures import explore
from nlp104.figures.explore import handmade

VERSIONS, ENDINGS = range(7), ("tired", "wide")
IT = handmade.WORDS.index("it")


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    return write(tmp_path_factory.mktemp("evolution") / "page.html", explore.evolution())


def computed(version, ending):
    """Weights `[heads, query, 5]` and outputs `[query, width]`, by the layer of a version."""
    X = handmade.embed(ending)[None].astype("float32")
    if version < 5:
        questions = handmade.questions(version).astype("float32")
        layer = (
            single_head.AdditiveAttention(2),
            single_head.DotProductAttention(),
            single_head.ScaledDotProductAttention(),
            single_head.ScaledDotProductAttention(),
            single_head.CrossAttention(4),
        )[version]
        asked = questions[[ENDINGS.index(ending)]] if version < 3 else questions[None]
        arguments = (asked, X)
    elif version == 5:
        layer, arguments = single_head.SelfAttention(4), (X,)
    else:
        layer = MultiHeadAttention(2, 4, use_bias=False, output_shape=4)
        arguments = (X, X)
    layer.build(*(array.shape for array in arguments))
    layer.set_weights(handmade.kernels(version))
    output, weights = layer(*arguments, return_attention_scores=True)
    weights = ops.convert_to_numpy(weights).reshape(2 if version == 6 else 1, -1, 5)
    return weights, ops.convert_to_numpy(output).reshape(weights.shape[1], -1)


def votes(drawn):
    """What is written beside the nouns."""
    texts = [mark["source"] for mark in drawn.marks if mark["key"] in ("t0", "t1", "t2", "t3")]
    assert len(texts) == 4
    return np.array([float(text) for text in texts])


def chosen(drawn):
    """The nouns that win."""
    nouns = [mark for mark in drawn.marks if mark["key"] in ("n0", "n1", "n2", "n3")]
    return [mark["word"] for mark in nouns if mark["chosen"]]


@needs_browser
@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("version", VERSIONS)
def test_weights_are_those_of_the_layers(reader, version, ending):
    weights, _ = computed(version, ending)
    for head, expected in enumerate(weights):
        drawn = reader.draw(step=version, ending=ending, head=head)
        assert drawn.columns == [*handmade.WORDS, ending]
        assert len(drawn.rows) == (1, 1, 1, 2, 2, 5, 5)[version]
        np.testing.assert_allclose(drawn.values, expected, atol=2e-6)
        np.testing.assert_allclose(drawn.values.sum(axis=1), 1.0, atol=1e-12)
        cells = np.array([cell["value"] for cell in drawn.cells("a")])
        np.testing.assert_array_equal(cells, drawn.values.ravel())


@needs_browser
@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("version", VERSIONS)
def test_votes_are_what_the_layers_give_out(reader, version, ending):
    weights, output = computed(version, ending)
    for row in range(len(output)) if version > 4 else (-1,):
        drawn = reader.draw(step=version, ending=ending, row=row)
        followed = row if row >= 0 else ENDINGS.index(ending) if version > 2 else 0
        np.testing.assert_allclose(votes(drawn), output[followed][:4], atol=0.00501)
    whole = reader.draw(step=version, ending=ending)
    bars = {mark["key"]: mark["w"] for mark in whole.marks if mark["key"].startswith("v")}
    assert len(bars) == 4 * len(weights)  # of two heads each has its part


@needs_browser
@pytest.mark.parametrize("ending", ENDINGS)
def test_the_matrices_are_products(reader, ending):
    X = handmade.embed(ending)
    for version in VERSIONS:
        for head in range(2 if version == 6 else 1):
            drawn = reader.draw(step=version, ending=ending, head=head)
            cells = {cell["key"]: cell["value"] for cell in drawn.marks if cell["kind"] == "cell"}
            kernels = handmade.kernels(version)
            letters = {4: "KV", 5: "QKV", 6: "QKV"}.get(version, "")
            for letter, kernel in zip(letters, kernels, strict=False):
                kernel = kernel[:, head] if version == 6 else kernel
                for name, array in ((f"W{letter}", kernel), (letter, X @ kernel)):
                    shown = [[cells[f"{name}{i},{j}"] for j in range(4)] for i in range(len(array))]
                    np.testing.assert_allclose(shown, array, atol=1e-9)
            assert {"Q", "K", "V"} - set(letters) == {
                letter for letter in "QKV" if f"{letter}0,0" not in cells
            }


@needs_browser
@pytest.mark.parametrize("ending", ENDINGS)
def test_scaling_lowers_the_largest_weight(reader, ending):
    plain, scaled = (reader.draw(step=version, ending=ending).values for version in (1, 2))
    assert scaled.max() < plain.max() - 0.01
    assert scaled.argmax() == plain.argmax()
    assert scaled.min() > plain.min()  # the others keep a share


@needs_browser
@pytest.mark.parametrize(
    ("ending", "noun", "tied"),
    [("tired", "animal", ["animal", "dog"]), ("wide", "street", ["street", "bridge"])],
)
def test_self_attention_leaves_two_nouns_and_several_heads_find_the_one(reader, ending, noun, tied):
    five, six = (reader.draw(step=version, ending=ending) for version in (5, 6))
    counted = dict(zip(handmade.NOUNS, votes(five), strict=True))
    assert five.values[IT].argmax() == 4  # it looks for the adjective
    assert abs(counted[tied[0]] - counted[tied[1]]) < 0.02
    assert (
        min(counted[name] for name in tied)
        > 0.4
        > max(count for name, count in counted.items() if name not in tied)
    )
    assert chosen(five) == []
    assert "tie" in five.caption
    assert all(name in five.caption for name in tied)

    counted = dict(zip(handmade.NOUNS, votes(six), strict=True))
    assert chosen(six) == [noun]
    rest = [count for name, count in counted.items() if name != noun]
    assert counted[noun] > max(rest) + 0.2
    assert re.search(rf"\*\*it\*\* is the \*\*{noun}\*\*", six.caption)
    second = reader.draw(step=6, ending=ending, head=1)
    heads = [drawn.values[IT] for drawn in (six, second)]
    assert heads[0].argmax() == 4
    assert set(np.argsort(heads[1])[-2:]) == {0, 2}  # both nouns of the sentence, and only they


@needs_browser
@pytest.mark.parametrize("ending", ENDINGS)
def test_up_to_version_3_queries_stand_above_x_and_scores_beside_it(reader, ending):
    """In X's own columns: the products that make a score stand below each other."""
    for version in VERSIONS:
        drawn = reader.draw(step=version, ending=ending)
        cells = {mark["key"]: mark for mark in drawn.marks if mark["kind"] == "cell"}
        scores = {m["key"]: m["source"] for m in drawn.marks if re.fullmatch(r"e\d,\d", m["key"])}
        if version > 3:
            assert "asked0,0" not in cells
            assert scores == {}
            continue
        questions = handmade.questions(version)
        asked = questions if version == 3 else questions[[ENDINGS.index(ending)]]
        shown = [[cells[f"asked{i},{j}"] for j in range(8)] for i in range(len(asked))]
        np.testing.assert_array_equal([[c["value"] for c in row] for row in shown], asked)
        for j in range(8):
            assert {row[j]["x"] for row in shown} == {cells[f"X0,{j}"]["x"]}
        assert max(row[0]["y"] for row in shown) < cells["X0,0"]["y"] - 40
        written = [[scores[f"e{r},{i}"] for i in range(5)] for r in range(len(asked))]
        written = np.array([[x.replace("\u2212", "-") for x in row] for row in written], float)
        powers = np.exp(written)
        weights, _ = computed(version, ending)
        np.testing.assert_allclose(
            powers / powers.sum(axis=1, keepdims=True), weights[0], atol=0.02
        )
        if version == 1:
            np.testing.assert_array_equal(written, asked @ handmade.embed(ending).T)


@needs_browser
def test_what_a_version_adds_is_framed(reader):
    for version in VERSIONS:
        for width in (700, 340):
            drawn = reader.draw(width=width, step=version)
            frames = [mark for mark in drawn.marks if mark["key"] == "new"]
            assert len(frames) == 1, version
            (frame,) = frames
            inside = {
                mark["key"].rstrip("0123456789,")
                for mark in drawn.marks
                if mark["kind"] in ("cell", "token")
                and frame["x"] <= mark["x"] <= mark["x"] + mark["w"] <= frame["x"] + frame["w"]
                and frame["y"] <= mark["y"] <= mark["y"] + mark["h"] <= frame["y"] + frame["h"]
            }
            new = {3: {"asked"}, 4: {"WK", "WV", "K", "V"}, 5: {"WQ", "Q"}, 6: {"head"}}
            assert inside == new.get(version, set()), version
            scores = [
                mark["key"]
                for mark in drawn.marks
                if re.fullmatch(r"le|e\d,\d", mark["key"])
                and frame["x"] <= mark["x"] <= frame["x"] + frame["w"]
                and frame["y"] <= mark["y"] <= frame["y"] + frame["h"]
            ]
            assert len(scores) == (6 if version < 3 else 0), version


@needs_browser
def test_scores_are_divided_by_the_root_of_the_width_of_a_key(reader, page):
    """As in the layers: that is d as long as a key is a word of the sentence, then d_k."""
    reader.open(page)
    root = """[...document.querySelectorAll('.variant')].find((v) => v.checkVisibility())
      .querySelector('.root')?.textContent ?? ''"""
    roots = []
    for version in VERSIONS:
        reader.evaluate(f"location.hash = '#evolution:step={version}'")
        reader.rest()
        roots.append(reader.evaluate(root))
    assert roots == ["", "", "d", "d", "dk", "dk", ""]


@needs_browser
def test_a_reader_asks_for_another_word_head_and_ending(reader):
    def go(step):
        reader.evaluate(f"location.hash = '#evolution:step={step}'")
        reader.rest()

    go(6)
    reader.tap("head:1")
    assert reader.state()["head"] == 1
    reader.tap("row:1")
    assert reader.state()["row"] == 1
    caption = reader.evaluate("document.querySelector('figcaption').textContent")
    weights, _ = computed(6, "tired")
    best = weights[1, 1].argmax()
    assert f"head 2 crossed looks most at {handmade.WORDS[best]}" in caption
    assert f"{weights[1, 1, best]:.2f}" in caption
    go(3)
    reader.tap("row:1")  # the other question
    assert reader.state()["ending"] == "wide"
    shown = "[...document.querySelectorAll('.variant')].filter((v) => v.checkVisibility()).length"
    assert reader.evaluate(shown) == 1  # one equation at a time
    assert reader.complaints == []


SHOWN = "[...document.querySelectorAll('{}')].filter((e) => e.checkVisibility({{ \
visibilityProperty: true }})).map((e) => e.textContent)"


@needs_browser
@pytest.mark.parametrize("until", VERSIONS)
def test_it_ends_with_a_version_and_opens_there(reader, tmp_path, until):
    reader.open(write(tmp_path / "page.html", explore.evolution(until=until)), width=390)
    assert reader.state()["step"] == until
    names = [f"V{version}" for version in range(until + 1)]
    assert reader.evaluate(SHOWN.format(".chapters button")) == (names if until else [])
    assert len(reader.evaluate("[...document.querySelectorAll('.variant')].map(() => 0)")) == len(
        names
    )
    for version in range(until + 1):
        whole = reader.draw(step=version)
        np.testing.assert_allclose(whole.values, computed(version, "tired")[0][0], atol=2e-6)
        reader.call("(i) => document.querySelectorAll('.chapters button')[i].click()", version)
        assert reader.state()["step"] == version
        assert reader.evaluate(SHOWN.format(".chapters .now")) == ([f"V{version}"] if until else [])
        assert len(reader.evaluate(SHOWN.format(".variant"))) == 1
    reader.evaluate("document.querySelector('[title=\"Start again\"]').click()")
    assert reader.state()["step"] == 0
    assert reader.complaints == []


@needs_browser
@pytest.mark.parametrize("width", [1280, 390])
def test_names_of_versions_stand_below_their_steps(reader, tmp_path, width):
    reader.open(write(tmp_path / "page.html", explore.evolution()), width=width)
    middles = reader.evaluate("""[...document.querySelectorAll('.chapters button')].map((name) => {
      const { left, width } = name.getBoundingClientRect();
      return left + width / 2 - document.querySelector('.track input').getBoundingClientRect().left;
    })""")
    long = reader.evaluate("document.querySelector('.track input').clientWidth")
    expected = 10 + (long - 20) * np.arange(7) / 6
    np.testing.assert_allclose(middles[1:-1], expected[1:-1], atol=1.5)  # the ends stay inside
    np.testing.assert_allclose(middles, expected, atol=6)


def test_all_seven_open_with_the_first():
    assert explore.evolution().data == explore.evolution(until=6).data | {"start": 0}
    assert explore.evolution(until=0).data["start"] == 0


@pytest.mark.parametrize("until", [-1, 7, "V3", 2.5])
def test_a_version_that_there_is_not_is_refused(until):
    message = f"Expected until: a version from 0 to 6. Received: {until!r}."
    with pytest.raises(ValueError, match=re.escape(message)):
        explore.evolution(until=until)


def test_it_opens_with_another_version():
    assert explore.evolution(start=5).data == explore.evolution().data | {"start": 5}
    message = "Expected start: a version from 0 to 3. Received: 5."
    with pytest.raises(ValueError, match=re.escape(message)):
        explore.evolution(until=3, start=5)


@needs_browser
def test_the_columns_of_x_are_named_where_they_are_wide_enough(reader):
    for width, count in ((700, 8), (358, 8), (328, 8), (300, 0)):
        for version in VERSIONS:
            drawn = reader.draw(width=width, step=version)
            names = [mark["source"] for mark in drawn.marks if re.fullmatch(r"f\d", mark["key"])]
            assert names == list(handmade.FEATURES)[:count]


@pytest.mark.parametrize("version", VERSIONS)
def test_the_still_shows_the_last_version_and_says_it(version):
    made = explore.evolution(until=version)
    weights, _ = computed(version, "tired")
    numbers = np.array(re.findall(r"<text[^>]*>([\d.]+)</text>", made.still), float)
    np.testing.assert_allclose(numbers.reshape(weights.shape), weights, atol=0.00501)
    followed, name = (IT, "it") if version > 4 else (0, "tired?")
    assert f"“{name}”" in made.alt
    told = np.array(re.findall(r"\d\.\d\d", made.alt), float).reshape(-1, 5)
    np.testing.assert_allclose(told, weights[:, followed], atol=0.00501)
    assert [made.alt.count(word) for word in ("crossed", "street")] == [len(weights)] * 2


def test_one_hot_words_fit_what_is_looked_for():
    for ending, noun in (("tired", "animal"), ("wide", "street")):
        X = handmade.embed(ending)
        np.testing.assert_array_equal(X.sum(axis=1), 1.0)
        assert X[4].argmax() == handmade.FEATURES.index(handmade.ENDINGS[ending])
        np.testing.assert_array_equal(
            X[[0, 2]].argmax(axis=1), [handmade.NOUNS.index(n) for n in ("animal", "street")]
        )
        assert noun in handmade.WORDS

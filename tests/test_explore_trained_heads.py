"""The explorable of trained heads: its numbers are the model's, also where heads are off."""

import json

import numpy as np
import pytest
from browser import needs_browser
from explore_page import write
from keras import ops

import nlp104
from nlp104.figures import explore
from nlp104.figures.explore.trained_heads import attentions, switched_off

CROSSING = "The animal did not cross the street because it was too {}."
SENTENCES = {
    "tired": CROSSING.format("tired"),
    "wide": CROSSING.format("wide"),
    "like": ("I like the black cat.", "like", "aime"),
}
TIRED, WIDE, LIKE = range(3)
KINDS = ("encoder", "decoder", "cross")
ENCODER_2, CROSS_2 = 1, 5
ANIMAL, STREET, IT, ADJECTIVE = 1, 6, 8, 11


@pytest.fixture(scope="module")
def translator():
    """The small trained model."""
    return nlp104.load_pretrained("grammar")


@pytest.fixture(scope="module")
def figure(translator):
    """Two sentences that differ in one word, and another one."""
    return explore.trained_heads(translator, SENTENCES)


@pytest.fixture(scope="module")
def inputs(translator):
    """For each sentence what the model reads, its own translation included."""
    found = []
    for wanted in SENTENCES.values():
        text = wanted if isinstance(wanted, str) else wanted[0]
        (french,) = translator.translate([text])
        source, target = translator.source_tokenizer, translator.target_tokenizer
        found.append(
            {
                "encoder_token_ids": np.array([[*source.encode(text), 3]]),
                "decoder_token_ids": np.array([[2, *target.encode(french)]]),
            }
        )
    return found


@pytest.fixture(scope="module")
def page(figure, tmp_path_factory):
    return write(tmp_path_factory.mktemp("heads") / "page.html", figure)


def weights_of(model, inputs):
    """The weights of the six attentions, `[heads, query, key]` each."""
    scores = model.attention_scores(inputs)
    return [ops.convert_to_numpy(layer)[0] for kind in KINDS for layer in scores[kind]]


def mute(translator, at, off):
    """A copy of the model in which these heads have nothing to hand over: their values are 0."""
    copy = translator.model.with_dtype(translator.model.dtype_policy)
    layer = attentions(copy)[at]
    for weight in (layer.value_kernel, layer.value_bias):
        values = ops.convert_to_numpy(weight).copy()
        values[..., [head for head in range(4) if off >> head & 1], :] = 0.0
        weight.assign(values)
    return copy


def chances(translator, model, inputs, sentence):
    """The probabilities of the two words at the watched step, by a plain forward pass."""
    logits = ops.convert_to_numpy(model(inputs, training=False))[0, sentence["step"]]
    powers = np.exp(logits.astype("float64") - logits.max())
    ids = [translator.target_tokenizer.token_to_id(word) for word in sentence["words"]]
    return powers[ids] / powers.sum()


# --- the numbers ---


@pytest.mark.slow
@pytest.mark.parametrize("number", range(3), ids=SENTENCES)
def test_maps_are_the_models_weights(translator, figure, inputs, number):
    sentence = figure.data["sentences"][number]
    expected = weights_of(translator.model, inputs[number])
    assert len(sentence["maps"]) == len(expected) == 6
    for at, (rounded, weights) in enumerate(zip(sentence["maps"], expected, strict=True)):
        shown = np.array(rounded)
        np.testing.assert_allclose(shown / 100, weights, atol=0.00501)
        assert np.abs(shown.sum(axis=-1) - 100).max() <= 0.5 * shown.shape[-1]
        if KINDS[at // 2] == "decoder":
            assert not weights[:, ~np.tri(weights.shape[-1], dtype=bool)].any()


def test_data_are_small(figure):
    assert len(json.dumps(figure.data, separators=(",", ":")).encode()) <= 40_000


@pytest.mark.parametrize("number", range(3), ids=SENTENCES)
def test_all_heads_on_the_right_word_is_written(translator, figure, inputs, number):
    sentence = figure.data["sentences"][number]
    words = [["il", "elle"], ["elle", "il"], ["aime", "ai"]][number]
    assert sentence["words"] == words
    assert sentence["written"][sentence["step"]] == words[0]
    expected = chances(translator, translator.model, inputs[number], sentence)
    assert expected[0] > 0.85 > 0.01 > expected[1]
    for after in sentence["next"]:
        np.testing.assert_allclose(np.array(after[0]) / 1000, expected, atol=0.00051)


@pytest.mark.slow
@pytest.mark.parametrize("at", range(6))
def test_a_head_that_is_off_hands_over_nothing(translator, figure, inputs, at):
    for off in (0b0001, 0b0101, 0b0110, 0b1111):
        silent = mute(translator, at, off)
        for number in (TIRED, WIDE, LIKE)[at % 2 :]:
            sentence = figure.data["sentences"][number]
            expected = chances(translator, silent, inputs[number], sentence)
            shown = np.array(sentence["next"][at][off]) / 1000
            np.testing.assert_allclose(shown, expected, atol=0.00051)


@pytest.mark.parametrize("at", range(6))
def test_heads_of_a_layer_do_not_change_each_others_looks(translator, inputs, at):
    intact = weights_of(translator.model, inputs[WIDE])
    silent = weights_of(mute(translator, at, 0b0101), inputs[WIDE])
    np.testing.assert_allclose(silent[at], intact[at], atol=1e-6)
    if at in (ENCODER_2, CROSS_2 - 1):  # but those of the layers above
        assert np.abs(silent[CROSS_2] - intact[CROSS_2]).max() > 0.05


@pytest.mark.slow
def test_the_model_is_left_as_it_was(translator, figure):
    before = [ops.convert_to_numpy(weight).copy() for weight in translator.model.weights]
    explore.trained_heads(translator, {"wide": SENTENCES["wide"]})

    def fail_without(layer):
        with switched_off(layer, 0, 2):
            kernel = ops.convert_to_numpy(layer.output_kernel)
            assert kernel.any(axis=(1, 2)).tolist() == [False, True, False, True]
            raise RuntimeError

    for layer in attentions(translator.model):
        with pytest.raises(RuntimeError):
            fail_without(layer)
    for weight, value in zip(translator.model.weights, before, strict=True):
        np.testing.assert_array_equal(ops.convert_to_numpy(weight), value)


# --- what the eye is to learn ---


def test_it_looks_at_the_animal_in_both_sentences_and_only_wide_at_the_street(figure):
    tired, wide = (
        np.array(figure.data["sentences"][number]["maps"][ENCODER_2]) for number in (TIRED, WIDE)
    )
    for maps in (tired, wide):
        assert maps[0, IT, ANIMAL] >= 99
        assert maps[:, IT].mean(axis=0).argmax() == ANIMAL
    assert wide[0, ADJECTIVE, STREET] >= 90
    assert tired[0, ADJECTIVE, STREET] <= 5


def test_two_heads_together_change_the_word_and_neither_does_alone(figure):
    tired, wide = (figure.data["sentences"][number]["next"] for number in (TIRED, WIDE))
    for at, both in ((ENCODER_2, 0b0101), (CROSS_2, 0b0110)):
        for one in (both & 0b0011, both & 0b1100):
            elle, il = wide[at][one]
            assert elle > 600 > 100 > il
        elle, il = wide[at][both]
        assert il > 500 > 150 > elle
        assert tired[at][both][0] > 600  # il stays
    assert wide[ENCODER_2][0b0101] == pytest.approx([126, 562], abs=10)


def test_steps_lead_to_what_can_be_seen(figure):
    it, adjective, back, across, one, two = figure.data["sentences"][WIDE]["stations"]
    assert it == {"at": ENCODER_2, "head": 0, "row": IT, "off": 0}
    assert adjective == it | {"row": ADJECTIVE}
    assert (back["at"], across["at"]) == (3, CROSS_2)
    assert back["row"] == across["row"] == figure.data["sentences"][WIDE]["written"].index("elle")
    assert across["head"] == 1
    assert (one, two) == (adjective | {"off": 0b0001}, adjective | {"off": 0b0101})
    like, other, *_ = figure.data["sentences"][LIKE]["stations"]
    assert (like["row"], other["row"]) == (1, 0)  # like, which looks at I, which looks at like
    assert np.array(figure.data["sentences"][LIKE]["maps"][ENCODER_2])[other["head"], 0, 1] > 80


@pytest.mark.slow
def test_heads_are_switched_off_where_it_is_wanted(translator):
    """Before *sleep* a head has to look ahead: *dort* has no vowel, and *ne* stays whole."""
    sentences = {"ne": ("The black cat does not sleep.", "not", "ne"), "wide": SENTENCES["wide"]}
    ne, wide = explore.trained_heads(translator, sentences, off="cross").data["sentences"]
    across, one, two = ne["stations"][3:]
    step = ne["written"].index("ne")
    assert across == {"at": CROSS_2, "head": 0, "row": step, "off": 0}
    assert one == {"at": CROSS_2, "head": 3, "row": step, "off": 0b1000}
    assert two["off"].bit_count() == 2
    assert np.array(ne["maps"][CROSS_2])[3, step].argmax() == ne["source"].index("sleep")
    assert ne["words"] == ["ne", "n'"]
    (whole, _), (left, vowel) = ne["next"][CROSS_2][0], ne["next"][CROSS_2][0b1000]
    assert whole > 850 > 300 > left
    assert vowel > left
    assert [s["off"] for s in wide["stations"]] == [0, 0, 0, 0, 0b0010, 0b0110]
    chosen = explore.trained_heads(translator, sentences, off="decoder", opens="cross")
    own = chosen.data["sentences"][0]
    assert [s["at"] for s in own["stations"]] == [1, 1, 3, 5, 3, 3]
    assert own["stations"][4]["row"] == step
    assert own["stations"][chosen.data["opens"]] == across
    looks = f"looks most at {ne['source'][np.argmax(ne['maps'][CROSS_2][0][step])]}, "
    assert "last look at the source, with “The black cat does not sleep .”" in chosen.alt
    assert f"a row for each word that is written. ne {looks}" in chosen.alt


# --- on the page ---


@needs_browser
@pytest.mark.parametrize("number", range(3), ids=SENTENCES)
def test_the_page_shows_every_head(reader, translator, figure, inputs, number):
    sentence = figure.data["sentences"][number]
    for at, layer in enumerate(weights_of(translator.model, inputs[number])):
        kind = KINDS[at // 2]
        for head, weights in enumerate(layer):
            drawn = reader.draw(sentence=number, at=at, head=head)
            expected = weights.astype("float64")
            if kind == "decoder":
                expected[~np.tri(len(expected), dtype=bool)] = np.nan
            np.testing.assert_allclose(drawn.values, expected, atol=0.00501)
            rows = {"encoder": "source", "decoder": "read", "cross": "written"}[kind]
            assert drawn.rows == sentence[rows]
            assert drawn.columns == sentence["read" if kind == "decoder" else "source"]
            hidden = np.array([cell["hidden"] for cell in drawn.cells("a")])
            np.testing.assert_array_equal(hidden, np.isnan(expected).ravel())
            row = sentence["follow"] if kind == "encoder" else sentence["step"]
            looks = np.array(sentence["maps"][at])[head, row]
            best = drawn.columns[looks.argmax()]
            assert f"**{drawn.rows[row]}**" in drawn.caption
            assert f"looks most at **{best}**" in drawn.caption
            assert (" each" in drawn.caption.split(".")[0]) == ((looks == looks.max()).sum() > 1)


@needs_browser
def test_followed_numbers_are_those_of_the_row(reader, figure):
    for row in (IT, ADJECTIVE):
        drawn = reader.draw(sentence=WIDE, row=row)
        percents = np.array(figure.data["sentences"][WIDE]["maps"][ENCODER_2])[0, row]
        written = [
            next(cell["text"] for cell in drawn.marks if cell["key"] == f"w{row},{key}")
            for key in range(len(percents))
        ]
        assert written == [str(x) if x else "" for x in percents]
        texts = {mark["key"]: mark["source"] for mark in drawn.marks if mark["kind"] == "text"}
        assert texts["tl0"] == f"{percents.max()}\u00a0%"
        others = [cell for cell in drawn.cells("a") if not cell["key"].startswith(f"w{row},")]
        assert not any(cell["text"] for cell in others)
        phone = reader.draw(sentence=WIDE, row=row, width=358)  # cells too narrow for a 100
        assert not any(cell["text"] for cell in phone.cells("a") if cell["key"][0] == "w")


@needs_browser
def test_a_weight_looks_alike_in_the_small_map_the_large_one_and_as_a_bar(reader, figure):
    drawn = reader.draw(at=ENCODER_2, head=0, row=IT)
    percents = np.array(figure.data["sentences"][0]["maps"][ENCODER_2])[0, IT]
    column = percents.argmax()
    marks = {mark["key"]: mark for mark in drawn.marks}
    small, bar = marks[f"s0,{IT},{column}"], marks["bl0"]
    assert percents[column] >= marks[f"w{IT},{column}"]["max"]  # the strongest tint
    assert (small["concept"], small["strength"]) == (bar["concept"], bar["strength"]) == ("look", 1)


@needs_browser
def test_the_next_word_is_told_before_and_after(reader):
    drawn = reader.draw(step=5, sentence=WIDE)
    assert (
        "Without heads 1 and 3 of encoder 2, **elle** falls from **90\u00a0%** to" in drawn.caption
    )
    assert "Now **il** is the likeliest" in drawn.caption
    marks = {mark["key"]: mark for mark in drawn.marks}
    assert [marks[f"pn{n}"]["word"] for n in range(3)] == ["elle", "il", "other"]
    assert marks["tn0"]["source"].startswith("90 → ")
    assert [marks[f"tn{n}"]["strong"] for n in range(3)] == [False, True, False]
    assert marks["bn0"]["w"] < marks["bn1"]["w"]
    assert marks["kn0"]["x"] > marks["kn1"]["x"]  # ticks: before
    stays = reader.draw(step=5, sentence=TIRED)
    assert "**il** stays the likeliest" in stays.caption
    whole = reader.draw(step=5, sentence=WIDE, off=0)
    assert "Without" not in whole.caption
    assert not {"kn0", "kn1", "kn2"} & {mark["key"] for mark in whole.marks}


@needs_browser
def test_a_twin_sentence_is_told_beside_it(reader):
    assert "With “wide”: **animal**, [a|**100\u00a0%**]" in reader.draw(sentence=TIRED).caption
    drawn = reader.draw(sentence=TIRED, row=ADJECTIVE)
    assert "With “wide”, **wide**: **street**, [a|**95\u00a0%**]" in drawn.caption
    assert "With" not in reader.draw(sentence=LIKE).caption


HIT = """(act) => {
  const mark = document.querySelector(`[data-act="${act}"]`), page = document.documentElement;
  mark.scrollIntoView({ block: 'center' });
  const { left, right, top, bottom } = mark.getBoundingClientRect();
  const hit = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
  hit.dispatchEvent(new MouseEvent('click', { bubbles: true }));
  return hit.closest('[data-act]')?.dataset.act;
}"""


@pytest.mark.slow
@needs_browser
def test_a_finger_switches_heads_and_walks_through_the_model(reader):
    reader.evaluate("location.hash = '#trained_heads:sentence=1'")
    reader.rest()
    for width in (1280, 390, 320):
        reader.dress(width)
        reader.rest()
        reader.evaluate("document.querySelector('[title=\"Start again\"]').click()")
        for act, changed in (
            ("off:0", {"off": 0b0001}), ("off:2", {"off": 0b0101}), ("head:2", {"head": 2}),
            ("row:11", {"row": 11}), ("off:0", {"off": 0b0100}),
            ("at:0", {"at": 0, "off": 0, "row": 11}),  # another layer: all on, the same word
            ("off:3", {"off": 0b1000}),
            ("at:5", {"at": 5, "off": 0, "row": -1}),  # other words
        ):  # fmt: skip
            assert reader.call(HIT, act) == act
            assert changed.items() <= reader.state().items(), act
        assert "while elle is written" in reader.evaluate(
            "document.querySelector('figcaption').textContent"
        )
    assert reader.complaints == []


@needs_browser
def test_a_followed_word_stays_only_where_the_sentence_has_it(reader):
    choose = "document.querySelector('[data-option=sentence] [value=\"{}\"]').click()"
    looks = """[...document.querySelectorAll('.stage text')].map((text) => text.textContent)
      .find((text) => text.endsWith(' looks at'))"""
    reader.dress(390)
    reader.evaluate("location.hash = '#trained_heads:sentence=0'")
    reader.rest()
    reader.tap("row:5")
    assert reader.evaluate(looks) == "the looks at"
    reader.evaluate(choose.format(WIDE))  # its twin has the same word there
    assert reader.evaluate(looks) == "the looks at"
    reader.evaluate(choose.format(LIKE))
    assert reader.evaluate(looks) == "like looks at"
    reader.evaluate(choose.format(TIRED))
    assert reader.evaluate(looks) == "it looks at"
    reader.dress()


# --- what is refused ---


@pytest.mark.parametrize(
    ("sentences", "message"),
    [
        ({}, "at least one sentence"),
        ({"a": "I like the black cat."}, "a sentence with 'it'"),
        ({"a": ("I like the black cat.", "like", "noire")}, "a translation with noire"),
        ({"a": "The cat sees it."}, "a translation with il or elle"),
    ],
)
def test_what_does_not_occur_is_refused(translator, sentences, message):
    with pytest.raises(ValueError, match=f"Expected .*{message}.* Received: "):
        explore.trained_heads(translator, sentences)


@pytest.mark.parametrize("name", ["off", "opens"])
def test_another_attention_is_refused(translator, name):
    with pytest.raises(ValueError, match=rf"Expected {name}: .* Received: 'both'"):
        explore.trained_heads(translator, SENTENCES, **{name: "both"})


def test_a_large_model_is_refused(translator):
    class Large:
        model = nlp104.Transformer.from_preset("tiny", 10, num_layers=3)

    with pytest.raises(ValueError, match=r"at most 2 layers and 4 heads\. Received: 3 layers"):
        explore.trained_heads(Large, {"a": "b"})

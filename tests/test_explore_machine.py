"""The machine: its numbers are those of the model's sub-layers, its words the greedy ones."""

import json
import re
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
from browser import needs_browser
from explore_page import write
from keras import ops
from test_explore import LOOK

import nlp104
from nlp104.data.tokenizer import END_ID, START_ID
from nlp104.figures import chapter_map, explore
from nlp104.figures.explore import machine_captions
from nlp104.figures.explore.machine import trace
from nlp104.transformer.residual import Residual

SENTENCE = "The black cat sleeps."
OTHERS = (
    "The cat sleeps.",
    "The animal did not cross the street.",
    "The tired old woman sees the black dog.",
)
STEPS = [("enc", box, -1) for box in machine_captions.ENCODER] + [
    ("dec", box, turn)
    for turn in range(6)
    for box in (machine_captions.TURN if turn else machine_captions.FIRST_TURN)
]


@pytest.fixture(scope="module")
def translator():
    return nlp104.load_pretrained("grammar")


@pytest.fixture(scope="module")
def figure(translator):
    return explore.machine(translator, SENTENCE)


@pytest.fixture(scope="module")
def ids(figure):
    return [np.array([figure.data["ids"][tower]]) for tower in ("enc", "dec")]


@pytest.fixture(scope="module")
def traced(translator, ids):
    vectors, _ = trace(translator.model, *(row[0].tolist() for row in ids))
    return vectors


@pytest.fixture(scope="module")
def page(figure, tmp_path_factory):
    return write(tmp_path_factory.mktemp("machine") / "page.html", figure)


def numpy(tensor):
    return ops.convert_to_numpy(tensor)


# --- the numbers are the model's ---


@pytest.mark.slow
def test_every_sub_layer_hands_on_what_it_does_inside_the_model(translator, ids, traced):
    model, changes, ends, original = translator.model, {}, {}, Residual.call

    def call(wire, inputs, sub_layer, training=None):
        def listened(x):
            made = sub_layer(x)
            changes[id(wire)] = numpy(made[0] if isinstance(made, tuple) else made)[0]
            return made

        end = original(wire, inputs, sub_layer=listened, training=training)
        ends[id(wire)] = numpy(end[0] if isinstance(end, tuple) else end)[0]
        return end

    with mock.patch.object(Residual, "call", call):
        model({"encoder_token_ids": ids[0], "decoder_token_ids": ids[1]})
    compared = 0
    for tower, stack, wires in (
        ("enc", model.encoder, {"self": "attention", "ffn": "feed_forward"}),
        (
            "dec",
            model.decoder,
            {"self": "self_attention", "cross": "cross_attention", "ffn": "feed_forward"},
        ),
    ):
        first, last = stack.blocks
        end = ends[id(first.feed_forward_residual)]
        np.testing.assert_allclose(traced[tower]["low"], end, atol=1e-5)
        for number, (box, name) in enumerate(wires.items(), start=1):
            wire = id(getattr(last, f"{name}_residual"))
            np.testing.assert_allclose(traced[tower][box], changes[wire], atol=1e-5)
            np.testing.assert_allclose(traced[tower][f"add{number}"], ends[wire], atol=1e-5)
            assert traced[tower][box].dtype == "float32"
            compared += 1
    assert compared == 5
    np.testing.assert_allclose(traced["enc"]["add2"], numpy(model.encode(ids[0]))[0], atol=1e-5)


@pytest.mark.parametrize("tower", ["enc", "dec"])
def test_embedding_and_wave_add_up(translator, figure, traced, tower):
    boxes, model = traced[tower], translator.model
    layer = {"enc": model.encoder_embedding, "dec": model.decoder_embedding}[tower]
    rows = numpy(layer.embeddings)[figure.data["ids"][tower]]
    np.testing.assert_allclose(boxes["emb"], rows * np.sqrt(128), atol=1e-5)
    np.testing.assert_allclose(boxes["emb"] + boxes["wave"], boxes["pos"], atol=1e-5)
    place, column = np.arange(6), np.arange(64)
    angles = place[:, None] / 10_000 ** (2 * column / 128)
    np.testing.assert_allclose(boxes["wave"][:, ::2], np.sin(angles), atol=1e-5)
    np.testing.assert_allclose(boxes["wave"][:, 1::2], np.cos(angles), atol=1e-5)


def test_what_is_shown_are_the_first_twelve_of_them(figure, traced):
    for tower, boxes in figure.data["vectors"].items():
        for box, values in boxes.items():
            np.testing.assert_allclose(values, traced[tower][box][:, :12], atol=0.00501)
    np.testing.assert_allclose(figure.data["waves"], traced["enc"]["wave"][:, :12], atol=0.00501)
    assert figure.data["sizes"]["width"] == traced["enc"]["low"].shape[1] == 128


def test_weights_are_means_of_the_heads_of_the_last_layer(translator, figure, ids):
    scores = translator.model.attention_scores(
        {"encoder_token_ids": ids[0], "decoder_token_ids": ids[1]}
    )
    for kind, name in (("enc", "encoder"), ("dec", "decoder"), ("cross", "cross")):
        mean = numpy(scores[name][-1])[0].mean(axis=0)
        np.testing.assert_allclose(figure.data["weights"][kind], mean, atol=5.1e-5)
        np.testing.assert_allclose(mean.sum(axis=1), 1.0, atol=1e-5)
    assert not np.triu(figure.data["weights"]["dec"], 1).any()  # nobody looks ahead


def test_numbers_inside_the_networks_are_counted(translator, figure, traced):
    for tower, stack, box in (("enc", "encoder", "add1"), ("dec", "decoder", "add2")):
        expand = getattr(translator.model, stack).blocks[-1].feed_forward.expand
        kernel, bias = (numpy(w).astype("float64") for w in (expand.kernel, expand.bias))
        inside = traced[tower][box] @ kernel + bias
        assert figure.data["alive"][tower] == (inside > 0).sum(axis=1).tolist()


# --- what the eye is to learn ---


@pytest.mark.slow
@pytest.mark.parametrize("sentence", [SENTENCE, *OTHERS])
def test_every_word_is_the_most_probable_one(translator, sentence):
    data = explore.machine(translator, sentence).data
    source, read = [*translator.source_tokenizer.encode(sentence), END_ID], [START_ID]
    for word, top in zip(data["next"], data["top"], strict=True):
        logits = numpy(
            translator.model(
                {"encoder_token_ids": np.array([source]), "decoder_token_ids": np.array([read])}
            )
        )[0, -1].astype("float64")
        chances = np.exp(logits - logits.max()) / np.exp(logits - logits.max()).sum()
        best = np.argsort(-chances)[:4]
        assert word == top[0][0] == translator.target_tokenizer.id_to_token(int(best[0]))
        np.testing.assert_allclose([p for _, p in top], chances[best], atol=1e-4)
        read.append(int(best[0]))
    assert read[-1] == END_ID
    assert data["written"][-1] == translator.translate([sentence])[0]


def test_noir_is_written_while_looking_at_black(figure):
    data = figure.data
    turn = data["next"].index("noir")
    assert data["target"][turn] == "chat"
    row = data["weights"]["cross"][turn]
    assert data["source"][int(np.argmax(row))] == "black"
    assert max(row) > 0.9
    assert [np.argmax(r) for r in data["weights"]["cross"][:4]] == [0, 2, 1, 3]  # the order turns
    assert "chat looks at black" in figure.alt
    assert f"{max(row):.2f} of 1, and noir is written next" in figure.alt
    assert "black" in figure.still
    assert "noir" in figure.still


def test_what_was_computed_for_a_word_stays_when_more_are_written(translator, figure, traced):
    source, target = figure.data["ids"]["enc"], figure.data["ids"]["dec"]
    for count in (1, 3):
        shorter, _ = trace(translator.model, source, target[:count])
        for box, values in shorter["dec"].items():
            np.testing.assert_allclose(values, traced["dec"][box][:count], atol=1e-5)


def test_the_encoder_runs_once_and_first(figure):
    stops = [(s["tower"], s["box"], s["turn"]) for s in figure.data["steps"]]
    assert stops == STEPS
    for tower, box, turn in stops:
        assert (tower == "enc") == (turn == -1), box


def marks(drawn, pattern):
    return {m["key"]: m for m in drawn.marks if re.fullmatch(pattern, m["key"])}


@needs_browser
def test_the_decoder_comes_back_to_one_memory(reader, figure):
    first = None
    for step, (tower, _, _) in enumerate(STEPS):
        drawn = reader.draw(step=step)
        chips = marks(drawn, r"encv\d[bs]")
        lit = [key for key, m in marks(drawn, r"(enc|dec)[a-z]+\d?").items() if m.get("lit")]
        assert all(key.startswith(tower) for key in lit)
        if tower == "dec":
            first = first or chips
            assert chips == first
            assert len(chips) == 12
    assert reader.evaluate("scenes[0].chapters") == (
        ["read"] * 9 + ["Le"] * 6
        + [word for word in ("chat", "noir", "dort", ".", "end") for _ in range(4)]
    )  # fmt: skip


def strokes(mark, height):
    """The numbers that a chip's strokes stand for."""
    found = re.findall(r"M\S+ \S+v(-?[\d.]+)", mark["path"])
    lengths = -np.array(found, float) / (height / 2 - 1.5)
    return np.sign(lengths) * np.abs(lengths) ** (1 / 0.6) * 2.5


@needs_browser
def test_the_strokes_are_the_vectors_where_they_stop(reader, figure):
    for step, (tower, box, turn) in enumerate(STEPS):
        if box in ("tok", "mem"):
            continue
        drawn, V = reader.draw(step=step), figure.data["vectors"][tower]
        order = figure.data["stack"][tower]
        before = order[order.index(box) - 1]
        inside = box in ("self", "cross", "ffn")
        held = before if inside or box == "out" else box
        for i in range(6) if tower == "enc" else [turn]:
            chips = marks(drawn, rf"{tower}[vx]{i}s")
            wanted = np.clip(V[held][i], -2.5, 2.5)
            np.testing.assert_allclose(strokes(chips[f"{tower}v{i}s"], 19), wanted, atol=0.06)
            if inside:
                chip = chips[f"{tower}x{i}s"]
                assert chip["opacity"] == 1
                np.testing.assert_allclose(
                    strokes(chip, 19), np.clip(V[box][i], -2.5, 2.5), atol=0.06
                )


@needs_browser
@pytest.mark.parametrize("width", [700, 358])
def test_ribbons_are_as_thick_as_weights_and_end_at_the_query(reader, figure, width):
    for step, (tower, box, turn) in enumerate(STEPS):
        if box not in ("self", "cross"):
            continue
        drawn = reader.draw(step=step, width=width)
        query = 2 if tower == "enc" else turn
        row = np.array(figure.data["weights"]["cross" if box == "cross" else tower][query])
        ribbons = marks(drawn, r"w\d")
        assert set(ribbons) == {f"w{j}" for j in np.flatnonzero(row > 0.004)}
        for j in np.flatnonzero(row > 0.05):
            assert ribbons[f"w{j}"]["width"] == pytest.approx(16 * row[j])
        top = {key: float(re.findall(r"[\d.]+", m["path"])[-2]) for key, m in ribbons.items()}
        if box == "self" or width == 358:
            middle = sum(top[f"w{j}"] * row[j] for j in range(len(row)) if f"w{j}" in top)
            lane = marks(drawn, r"[ef]\d")[f"{'e' if tower == 'enc' else 'f'}{query}"]
            assert middle == pytest.approx(lane["x"] + lane["w"] / 2, abs=3)
        np.testing.assert_allclose(drawn.values[query], row[: len(drawn.columns)], atol=1e-12)


@needs_browser
def test_a_word_that_is_written_goes_in_again(reader):
    for step, (_, box, turn) in enumerate(STEPS):
        if box != "out":
            continue
        out = marks(reader.draw(step=step), r"[fo]\d")
        assert set(out) == {f"f{i}" for i in range(min(turn + 2, 6))} | {
            f"o{i}" for i in range(turn + 1)
        }
        if turn < 5:  # the very pill that was written glides to the bottom of the next lane
            assert out[f"f{turn + 1}"]["y"] == out[f"o{turn}"]["y"]
            after = marks(reader.draw(step=step + 1), r"f\d")[f"f{turn + 1}"]
            assert after["y"] == out["f0"]["y"]
            assert after["x"] > out[f"f{turn}"]["x"]
            assert after["word"] == out[f"o{turn}"]["word"]


# --- what a hand does ---


@needs_browser
@pytest.mark.parametrize("width", [1280, 390])
def test_every_box_stops_the_vectors_and_says_what_it_is(reader, figure, width):
    reader.dress(width)
    reader.rest()
    places = {"enc": 2, "dec": 21}
    for tower, step in places.items():
        for box in figure.data["stack"][tower]:
            reader.evaluate(f"location.hash = '#machine:step={step}'")
            reader.rest()
            reader.tap(f"box:{tower}:{box}")
            state = reader.state()
            assert state["open"] == f"{tower}:{box}"
            assert STEPS[state["step"]][2] == (-1 if tower == "enc" else 2)  # the turn stays
            said = reader.evaluate("document.querySelector('figcaption').textContent")
            plain = re.sub(r"\*\*|\[[qkvap]\||\]", "", figure.data["about"][f"{tower}:{box}"])
            assert said == plain
            lit = [m["key"] for m in reader.draw(**state).marks if m.get("lit") and m["layer"] == 0]
            assert f"{tower}{box}" in lit
        reader.tap("box:mem")
        assert reader.state()["open"] == "mem"
    reader.dress()


@needs_browser
def test_a_reader_follows_another_word(reader, figure):
    reader.evaluate("location.hash = '#machine:step=4'")
    reader.rest()
    assert reader.state()["follow"] == 2
    for word in range(6):
        reader.tap(f"follow:{word}")
        drawn = reader.draw(**reader.state())
        assert drawn.caption == figure.data["steps"][4]["said"][word]
        ribbons = marks(drawn, r"w\d")
        widths = [ribbons[f"w{j}"]["width"] for j in range(6)]
        expected = 16 * np.array(figure.data["weights"]["enc"][word])
        np.testing.assert_allclose(widths, np.maximum(expected, 0.75))
        (band,) = marks(drawn, "marked").values()
        token = marks(drawn, r"e\d")[f"e{word}"]
        assert token["chosen"]
        assert band["x"] + band["w"] / 2 == pytest.approx(token["x"] + token["w"] / 2)
    assert figure.data["source"][2] == "cat"
    reader.evaluate("location.hash = '#machine:step=25'")
    reader.rest()
    reader.tap("turn:1")
    assert STEPS[reader.state()["step"]] == ("dec", STEPS[25][1], 1)


@needs_browser
def test_a_phone_shows_one_tower_and_a_glyph_of_both(reader):
    for step, (tower, box, _) in enumerate(STEPS):
        wide, slim = (reader.draw(step=step, width=width) for width in (700, 358))
        assert not marks(wide, r"g(enc|dec)\w+")
        glyph = marks(slim, r"g(enc|dec)\w+")
        assert len(glyph) == 8 + 11
        strong = [key for key, m in glyph.items() if m["strength"] == 1]
        assert strong == ([] if box == "mem" else [f"g{tower}{box}"])
        for other in ("enc", "dec"):
            assert marks(wide, f"{other}tok")
            assert bool(marks(slim, f"{other}tok")) == (other == tower)


@needs_browser
def test_on_a_phone_only_the_box_at_work_is_open(reader):
    """So figure, sentence and slider find room on one screen, and the figure keeps its height."""
    heights = set()
    for step, (tower, box, _) in enumerate(STEPS):
        drawn = reader.draw(step=step, width=358)
        heights.add(drawn.height)
        boxes = marks(drawn, rf"{tower}(emb|pos|low|self|ffn)")
        open_ones = [key for key, mark in boxes.items() if mark["h"] > 22]
        assert open_ones in ([], [f"{tower}{box}"]), step
    assert len(heights) == 1
    assert heights.pop() <= 540


@needs_browser
def test_it_begins_with_the_memory_filled(reader, page):
    reader.open(page)
    assert STEPS[reader.state()["step"]] == ("enc", "mem", -1)
    assert len(marks(reader.draw(**reader.state()), r"encv\ds")) == 6


@needs_browser
def test_on_a_phone_every_step_happens_on_the_screen(reader, page):
    """Wherever the page was scrolled: the box of the step is above the sentence that tells it."""
    reader.open(page, width=390)
    reader.evaluate("document.body.style.padding = '900px 0'")
    look = """(step, from) => {
      const root = document.querySelector('.explore'), slider = root.querySelector('input');
      scrollTo(0, from);
      slider.value = step;
      slider.dispatchEvent(new Event('input'));
      const { box, tower } = JSON.parse(root.querySelector('script').textContent).steps[step];
      const act = box === 'mem' ? box : `${tower}:${box}`;
      const lit = root.querySelector(`[data-act="box:${act}"] rect`).getBoundingClientRect();
      const sentence = root.querySelector('figcaption').getBoundingClientRect();
      return [lit.top, sentence.top - lit.bottom, innerHeight - sentence.bottom];
    }"""
    for step in range(len(STEPS)):
        for start in (700, 900, 1100):
            above, below, room = reader.call(look, step, start)
            assert above >= 0, (step, start)
            assert below >= 0, (step, start)
            assert room >= 0, (step, start)
    reader.evaluate("document.body.style.padding = 0")
    reader.dress()


@needs_browser
def test_while_it_plays_a_reader_who_scrolls_away_is_not_called_back(reader, page):
    reader.open(page, width=390)
    reader.evaluate("document.body.style.padding = '900px 0'")
    reader.evaluate("window.setTimeout = (next) => { window.next = next; }")
    play = "scrollTo(0, 900); document.querySelector('.play').click()"
    onward = "scrollTo(0, 600); next(); scrollY"
    away = "dispatchEvent(new Event('wheel'))"
    reader.evaluate(play)
    assert reader.evaluate(onward) != 600
    reader.evaluate(away)
    assert reader.evaluate(onward) == 600
    reader.evaluate(f"document.querySelector('.play').click(); {play}")  # pause, and on
    assert reader.evaluate(onward) != 600
    reader.evaluate(away)
    assert reader.call("() => { scrollTo(0, 600); return scrollY; }") == 600
    reader.evaluate("document.querySelector('[aria-label=\"One step on\"]').click()")
    assert reader.evaluate("scrollY") != 600
    reader.open(page)


# --- captions, other sentences, bad input ---


def test_captions_are_short_and_say_the_numbers(figure):
    for step in figure.data["steps"]:
        for said in [step["said"]] if isinstance(step["said"], str) else step["said"]:
            assert len(re.sub(r"\*\*|\[[qkvap]\||\]", "", said)) <= 140, said
    said = {(s["box"], s["turn"]): s["said"] for s in figure.data["steps"]}
    assert "**cat** is number **75** in a list of 435" in said["tok", -1][2]
    weights = figure.data["weights"]
    assert f"[a|**{max(weights['enc'][2]):.2f}**] of **.**" in said["self", -1][2]
    assert f"at **black** with [a|**{max(weights['cross'][2]):.2f}**] of 1" in said["cross", 2]
    chance = figure.data["top"][2][0][1]
    assert f"After **chat**, **noir** wins with **{chance:.2f}**" in said["out", 2]
    assert said["out", 5].endswith("the sentence is finished. **Le chat noir dort.**")


def test_every_box_names_its_chapter():
    places = {
        "tok": "English", "emb": "embedding", "pos": "positions", "low": "layers",
        "self": "self-attention", "masked": "masked self-attention", "cross": "cross-attention",
        "add": "skip", "ffn": "feed-forward", "mem": "layers", "out": "linear, softmax",
    }  # fmt: skip
    assert set(places) == set(machine_captions.ABOUT)
    book = Path(__file__).parents[1] / "book"
    for kind, (*_, chapter) in machine_captions.ABOUT.items():
        path = book / f"{chapter_map.PARTS[places[kind]][0]}.ipynb"
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        assert "".join(cells[0]["source"]).startswith(f"# {chapter}"), kind


def test_shapes_are_those_of_the_vectors(figure, traced):
    about = figure.data["about"]
    for tower, count in (("enc", 6), ("dec", 1)):
        for box in figure.data["stack"][tower]:
            title, text = about[f"{tower}:{box}"][2:].split("**, ")
            assert title
            if box in traced[tower]:
                assert f"→ {count} × {traced[tower][box].shape[1]}." in text
    assert "1 × 128 and 6 × 128 → 1 × 128." in about["dec:cross"]
    assert "1 × 128 → 1 × 654." in about["dec:out"]
    assert "6 × 6 weights in each of 4 heads" in about["enc:self"]


@pytest.mark.slow
@needs_browser
@pytest.mark.parametrize("sentence", OTHERS)
def test_other_sentences_fit_every_window(reader, translator, sentence, tmp_path):
    figure = explore.machine(translator, sentence)
    data = json.dumps(figure.data, ensure_ascii=False, separators=(",", ":"))
    assert len(data.encode()) <= 30_720
    reader.open(write(tmp_path / "page.html", figure))
    for width in (1280, 782, 390, 320):
        reader.dress(width)
        reader.rest()
        assert reader.call(LOOK, 0, False, False) == [], width
    assert reader.complaints == []


def test_bad_input_is_refused_in_words(translator):
    with pytest.raises(ValueError, match=r"Expected follow to be the number of a token. Rec.* 6"):
        explore.machine(translator, SENTENCE, follow=6)
    long = "The animal did not cross the street because it was too tired."
    with pytest.raises(ValueError, match=r"at most 10 tokens .* Received: 14 that become 16"):
        explore.machine(translator, long)
    model = nlp104.Transformer.from_preset(
        "tiny", vocabulary_size=654, source_vocabulary_size=435, normalize_first=True
    )
    other = mock.Mock(model=model)
    with pytest.raises(ValueError, match=r"Received: .*'normalize_first': True"):
        explore.machine(other, SENTENCE)

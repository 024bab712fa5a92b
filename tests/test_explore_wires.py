"""The wires: what lights up, what is pulled, and numbers that are those of the stored runs."""

import copy
import json
import re

import numpy as np
import pytest
from browser import needs_browser
from explore_page import write
from test_explore import LOOK

from nlp104.figures import results
from nlp104.figures.explore.wires import LONGEST, WORD, wires
from nlp104.figures.explore.wires_texts import COLUMNS, KINDS

RECORD = json.loads(results.read("wires/losses.json"))
ORDER = ("skip", "norm", "ffn", "pos", "causal", "pad", "bridge", "heads")
VARIANT = {
    "skip": "no skip connections",
    "norm": "no normalisation",
    "ffn": "no feed-forward",
    "pos": "no positions",
    "causal": "no causal mask",
    "pad": "no padding mask",
    "bridge": "no cross-attention",
    "heads": "one head",
}
SUB_LAYERS = {"e0", "e1", "d0", "d1", "d2"}
WIRES = {  # what is drawn, by hand: one layer of each stack, and what lies below
    "skip": SUB_LAYERS,
    "norm": SUB_LAYERS,
    "ffn": {"e1", "d2"},
    "pos": {"e", "d"},
    "causal": {"d0"},
    "pad": {"e0", "d1"},
    "bridge": {"k", "v"},
    "heads": {"e0", "d0", "d1"},
}
ALL = {(kind, place) for kind, places in WIRES.items() for place in places}


@pytest.fixture(scope="module")
def figure():
    return wires(RECORD)


@pytest.fixture(scope="module")
def page(figure, tmp_path_factory):
    return write(tmp_path_factory.mktemp("wires") / "page.html", figure)


def lights(kind):
    """The step at which a kind is lit; at the next one it is pulled."""
    return 2 * ORDER.index(kind) + 1


def score(variant, key):
    """The scores of the runs: percent, or the last loss."""
    runs = [RECORD["runs"][variant][str(seed)] for seed in RECORD["seeds"]]
    if key == "losses":
        return np.array([run["losses"][-1] for run in runs])
    return 100 * np.array([run[key] for run in runs])


def means(variant):
    return [score(variant, key).mean() for key in COLUMNS.values()]


def drawn_wires(drawn, lit=None):
    """Kind and place of every wire that is drawn, or of those that are lit."""
    found = set()
    for mark in drawn.marks:
        kind, _, place = mark["key"].partition(":")
        if kind in WIRES and (lit is None or bool(mark.get("lit")) is lit):
            found.add((kind, place.split(":")[0]))
    return found


def texts(drawn):
    return {mark["key"]: mark["source"] for mark in drawn.marks if mark["kind"] == "text"}


def marks(drawn):
    return {mark["key"]: mark for mark in drawn.marks}


def bare(text):
    return re.sub(r"\*\*|\[\w\||\]", "", text)


# --- the numbers ---


def test_the_kinds_are_the_stored_variants():
    assert tuple(KINDS) == ORDER
    assert {key: kind.variant for key, kind in KINDS.items()} == VARIANT
    left = set(RECORD["runs"]) - set(VARIANT.values())
    assert left == {"full", "pre-norm"}  # the one is compared with, the other pulls no wire


@needs_browser
def test_the_table_holds_the_means_of_the_runs(reader):
    drawn = reader.draw(step=0)
    assert drawn.columns == ["right, %", "right words, %", "next word right, %", "loss"]
    np.testing.assert_allclose(drawn.values, [means("full")], atol=1e-6)
    for kind in ORDER:
        drawn = reader.draw(step=lights(kind))
        np.testing.assert_allclose(drawn.values[0], means("full"), atol=1e-6)
        assert np.isnan(drawn.values[1]).all()  # to be guessed
        drawn = reader.draw(step=lights(kind) + 1)
        wanted = [means("full"), means(VARIANT[kind])]
        np.testing.assert_allclose(drawn.values, wanted, atol=1e-6)


@needs_browser
@pytest.mark.parametrize("width", [700, 358])
def test_bars_dots_and_ticks_are_the_scores(reader, width):
    drawn = reader.draw(step=16, seen=511, width=width)
    shown, written = marks(drawn), texts(drawn)
    for i, variant in enumerate(["full", *VARIANT.values()]):
        track = shown[f"track{i}"]
        share = lambda mark, x=0.0, t=track: 100 * (mark["x"] + x - t["x"]) / t["w"]  # noqa: E731
        right, words, _, loss = means(variant)
        bar = shown[f"bar{i}"]
        assert bar["w"] == pytest.approx(max(1, track["w"] * right / 100))
        assert share(shown[f"words{i}"]) == pytest.approx(words, abs=1e-4)
        dots = [shown[f"dot{i},{seed}"] for seed in range(3)]
        np.testing.assert_allclose(
            [share(dot, 2.5) for dot in dots], score(variant, "exact_match"), atol=1e-3
        )
        assert len({dot["y"] for dot in dots}) == 3  # none lies on another one
        assert float(written[f"right{i}"]) == pytest.approx(right, abs=0.0501)
        assert float(written[f"loss{i}"]) == pytest.approx(loss, abs=0.000501)


@needs_browser
def test_what_was_not_yet_pulled_is_not_told(reader):
    for step, seen in ((0, 1), (5, 1), (6, 1), (7, 1 | 1 << 3 | 1 << 8)):
        drawn = reader.draw(step=step, seen=seen)
        shown, written = marks(drawn), texts(drawn)
        for i in range(9):
            known = i == 0 or bool(seen >> i & 1) or (step == 6 and i == 3)
            assert (f"bar{i}" in shown) is (f"dot{i},0" in shown) is known
            assert (written[f"right{i}"] != "?") is (written[f"loss{i}"] != "?") is known
            assert ("percent" in shown[f"press {i}"]["says"]) is known
            assert bare(shown[f"press {i}"]["says"]).startswith(("all", "with"))


@needs_browser
def test_what_is_written_beside_the_machine_is_the_record(reader):
    full, loss = means("full")[0], means("full")[3]
    for kind in ORDER:
        written = texts(reader.draw(step=lights(kind) + 1))
        right, *_, lost = means(VARIANT[kind])
        assert bare(written["note0"]) == f"{full:.1f} → {right:.1f} % right"
        assert bare(written["note1"]) == f"loss {loss:.3f} → {lost:.3f}"
        assert written["note2"] == "(means of 3 runs)"


def percents(variant, key="exact_match"):
    return f"{score(variant, key).mean():.1f}"


def losses(variant):
    return f"{score(variant, 'losses').mean():.3f}"


NUMBERS = {  # of the captions, in the order they are said
    "skip": ["500", "3", losses("no skip connections"), losses("full")],
    "norm": [percents("no normalisation"), percents("pre-norm")],
    "ffn": [percents("no feed-forward")],
    "pos": [
        percents("no positions"),
        f"{means('no positions')[1] - means('no positions')[0]:.1f}",
    ],
    "causal": [losses("no causal mask"), "500", "3"],
    "pad": [
        percents("no padding mask"), percents("full"), "10",
        percents("no padding mask", "exact_match_padded"), percents("full", "exact_match_padded"),
    ],
    "bridge": ["500", "3", losses("no cross-attention")],
    "heads": ["4", percents("one head"), percents("full")],
}  # fmt: skip


@needs_browser
def test_captions_say_the_numbers_of_the_record(reader):
    said = re.findall(r"\d+(?:\.\d+)?", reader.draw(step=0).caption)
    assert said == [f"{score('full', 'exact_match').mean():.0f}", "100"]
    for kind, numbers in NUMBERS.items():
        caption = reader.draw(step=lights(kind) + 1).caption
        assert re.findall(r"\d+(?:\.\d+)?", caption) == numbers, caption
    said = re.findall(r"\d+", reader.draw(step=lights("skip")).caption)
    assert said == [str(5 * layers) for layers in (1, RECORD["model"]["num_layers"], 6)]
    said = re.findall(r"\d+", reader.draw(step=lights("heads")).caption)
    heads = RECORD["model"]["num_heads"]
    assert said == [str(x) for x in (heads, 3, heads, RECORD["model"]["hidden_dim"] // heads)]
    count = {kind: len(places) for kind, places in WIRES.items()} | {"bridge": 1, "heads": 4}
    for kind in ORDER:
        assert reader.draw(step=lights(kind)).caption.startswith(f"**{count[kind]} ")


@needs_browser
def test_captions_compare_as_the_runs_do(reader):
    full = score("full", "exact_match")
    for kind in ORDER:
        right, caption = (
            score(VARIANT[kind], "exact_match"),
            reader.draw(step=lights(kind) + 1).caption,
        )
        words = (
            "not one of 500" if not right.any()
            else "fewer in every run" if right.max() < full.min()
            else "more in every run" if right.min() > full.max()
            else "no clear difference"
        )  # fmt: skip
        for other in ("not one of 500", "fewer in every", "more in every", "no clear difference"):
            assert (other in caption) is words.startswith(other), kind
    best = min(RECORD["runs"], key=lambda name: score(name, "losses").mean())
    assert best == "no causal mask"
    assert "the best of all" in reader.draw(step=lights("causal") + 1).caption


# --- what the eye is to learn ---


@needs_browser
def test_three_wires_carry_everything_and_the_loss_does_not_tell(reader):
    table = {kind: reader.draw(step=lights(kind) + 1).values for kind in ORDER}
    dead = {kind for kind, (_, without) in table.items() if without[0] == 0}
    assert dead == {"skip", "causal", "bridge"}
    loss = {kind: without[3] for kind, (_, without) in table.items()}
    full = table["skip"][0][3]
    assert min(loss, key=loss.get) == "causal"
    assert loss["causal"] < full / 10
    assert table["causal"][1][2] > 99.9  # the next word is right, and no sentence is
    assert loss["skip"] > 200 * full
    assert loss["bridge"] > 50 * full
    before = score("pre-norm", "exact_match")  # of which the caption says that it does as well
    assert before.max() > score("full", "exact_match").min()
    assert before.min() < score("full", "exact_match").max()
    better = {kind for kind in ORDER if score(VARIANT[kind], "exact_match").min() > 96.01}
    assert better == {"ffn"}


# --- the drawing ---


@needs_browser
@pytest.mark.parametrize("width", [1180, 700, 358, 288])
def test_exactly_the_wires_of_a_kind_are_lit(reader, width):
    assert drawn_wires(reader.draw(step=0, width=width), lit=True) == ALL
    for kind in ORDER:
        drawn = reader.draw(step=lights(kind), width=width)
        assert drawn_wires(drawn) == ALL
        assert drawn_wires(drawn, lit=True) == {(kind, place) for place in WIRES[kind]}
        boxes = {
            mark["key"] for mark in drawn.marks if mark["key"].startswith("box") and mark["lit"]
        }
        around = {"heads": {"box:e0", "box:d0", "box:d1"}, "bridge": {"box:d1"}}
        assert boxes == around.get(kind, set())


@needs_browser
@pytest.mark.parametrize("width", [700, 358])
def test_a_pulled_wire_is_not_drawn_and_all_others_are(reader, width):
    for kind in ORDER:
        pulled = {(kind, place) for place in WIRES[kind]}
        if kind == "pad":  # the runs lack that of cross-attention and keep the other one
            pulled = {("pad", "d1")}
        if kind == "bridge":  # its sub-layer adds nothing
            pulled |= {("heads", "d1"), ("pad", "d1")}
        drawn = reader.draw(step=lights(kind) + 1, width=width)
        assert drawn_wires(drawn) == ALL - pulled, kind
        keys = set(marks(drawn))
        assert not {key for key in keys if key.startswith(f"tint {kind}:")} or kind == "pad"
        assert ("box:d1" in keys) is (kind != "bridge")
        words = {text for key, text in texts(drawn).items() if key.startswith(("d", "e"))}
        assert ("normalise" in words) is (kind != "norm")
        assert ("+ position" in words) is (kind != "pos")
        assert ("feed-forward" in words) is (kind != "ffn")


def test_the_padding_mask_is_pulled_where_the_runs_lack_it():
    from experiments import wires as experiment

    assert "cross_attention" in experiment.NoPaddingMask.attend.__code__.co_consts
    assert KINDS["pad"].pulled == ("d1",)
    for kind, pulled in WIRES.items():
        if kind not in ("pad", "bridge"):
            assert set(KINDS[kind].pulled) == pulled


@needs_browser
def test_words_go_round_what_adds_nothing(reader):
    """A sub-layer that gives zeros leaves only the skip connection around it."""
    breaks = {"ffn": (1, 1), "bridge": (0, 1)}
    for step in range(17):
        kind = ORDER[step // 2 - 1] if step and step % 2 == 0 else None
        shown = marks(reader.draw(step=step))
        cuts = tuple(shown[f"{tower}trunk"]["path"].count("M") - 1 for tower in "ed")
        assert cuts == breaks.get(kind, (0, 0)), step
    for kind, hole in (("ffn", "d2"), ("bridge", "d1")):
        shown = marks(reader.draw(step=lights(kind) + 1))
        (start,), (stop,) = (
            re.findall(pattern, shown["dtrunk"]["path"])
            for pattern in (r"V([\d.]+)M", r"M[\d.]+ ([\d.]+)V[\d.]+$")
        )
        y = [float(y) for y in re.findall(r"[ML][\d.]+ ([\d.]+)", shown[f"skip:{hole}"]["path"])]
        assert [y[0], y[-1]] == [float(start), float(stop)]  # from the one end to the other


@needs_browser
@pytest.mark.parametrize("width", [700, 358])
def test_every_wire_leads_where_it_should(reader, width):
    shown = marks(reader.draw(step=0, width=width))
    inside = lambda key: (shown[key]["y"], shown[key]["y"] + shown[key]["h"])  # noqa: E731
    for key, s in (("k", -3), ("v", 3)):
        path = shown[f"bridge:{key}"]["path"]
        numbers = [float(x) for x in re.findall(r"[\d.]+", path)]
        memory, cross = shown["**memory**:e"], shown["box:d1"]
        assert numbers[:2] == pytest.approx(
            [memory["x"] + memory["w"], memory["y"] + memory["h"] / 2 + s]
        )
        assert numbers[-2:] == pytest.approx([cross["x"], cross["y"] + cross["h"] / 2 + s])
    parts = ("box:e0", "ffn:e1", "box:d0", "box:d1", "ffn:d2")
    for part in parts:
        place = part[-2:]
        y = [float(y) for y in re.findall(r"[ML][\d.]+ ([\d.]+)", shown[f"skip:{place}"]["path"])]
        low, high = inside(part)
        assert y[0] > high
        assert y[-1] < low  # around the sub-layer
        assert inside(f"norm:{place}")[1] < y[-1]  # and then it is normalised
    hidden = [mark for key, mark in shown.items() if key.startswith("causal:")]
    assert [round(4 * mark["w"] / (4 * mark["h"])) for mark in hidden] == [3, 2, 1]
    for place in ("e0", "d1"):
        masked = [mark for key, mark in shown.items() if key.startswith(f"pad:{place}")]
        assert [round(mark["w"] / mark["h"]) for mark in masked] == [1, 1, 1, 1]
    free = [mark for key, mark in shown.items() if key.startswith("see:d0")]
    assert [round(mark["w"] / mark["h"]) for mark in free] == [1, 2, 3, 4]


# --- translations ---


def test_translations_are_those_of_the_runs(figure):
    variants = ["full", *VARIANT.values()]
    for variant, said in zip(variants, figure.data["said"], strict=True):
        for seed, sentences in zip(RECORD["seeds"], said, strict=True):
            run, full = (RECORD["runs"][name][str(seed)]["examples"] for name in (variant, "full"))
            for text, right, shown in zip(run, full, sentences, strict=True):
                plain = shown.replace("**", "")
                if not text:
                    assert shown == "(not a word)"
                    continue
                assert len(plain) <= LONGEST + 2
                for word, whole in zip(plain.split(), text.split(), strict=False):
                    assert word in (whole, f"{whole[:WORD]}…", "…")
                assert ("…" in plain) or plain == text
                words = iter(right.split())
                missing = [word for word in plain.split() if word not in words]
                assert ("**" in shown) is bool(missing)  # strong: what the full model lacks there
                if variant == "full":
                    assert shown == plain
    assert figure.data["said"][4][2][0] == "Le héros **heureux** aide les **sorcières.**"


@needs_browser
@pytest.mark.parametrize("width", [700, 358, 288])
def test_the_chosen_sentence_is_shown_as_the_chosen_run_translates_it(reader, figure, width):
    for step in (0, 3, 4, 8, 10):
        for run in range(3):
            for sentence in range(3):
                drawn = reader.draw(step=step, run=run, sentence=sentence, width=width)
                written, said = texts(drawn), figure.data["said"]

                def lines(who, written=written):
                    return bare(" ".join(written.get(f"{who}{i}", "") for i in range(4)).strip())

                assert lines("English") == RECORD["example_sources"][sentence]
                assert lines("all in") == said[0][run][sentence]
                wanted = "?" if step % 2 else bare(said[step // 2][run][sentence])
                assert lines("pulled") == (wanted if step else "nothing yet")
                says = marks(drawn)[f"sentence{sentence}"]["says"]
                assert RECORD["example_sources"][sentence] in says
                assert said[0][run][sentence] in says
                assert (" Pulled: " in says) is (step > 0 and step % 2 == 0)
                assert (wanted in says) or wanted == "?"


# --- a reader ---


def caption(reader):
    return reader.evaluate("document.querySelector('figcaption').textContent")


@needs_browser
def test_a_reader_taps_a_wire_and_pulls_it(reader, page):
    reader.open(page)
    assert reader.state() == {"step": 0, "sentence": 0, "run": 0, "seen": 1}
    tap = """(words) => {
      const mark = [...document.querySelectorAll('.stage [data-act]')].find((mark) =>
        mark.ariaLabel.startsWith(words)).getBoundingClientRect();
      return [mark.x + mark.width / 2, mark.y + mark.height / 2];
    }"""

    def touch(words):
        x, y = reader.call(tap, words)
        for kind in ("mousePressed", "mouseReleased"):
            reader.ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    touch("causal mask of masked attention")
    assert reader.state()["step"] == lights("causal")
    assert "those still to come are hidden" in caption(reader)
    touch("causal mask of masked attention")
    assert reader.state()["step"] == lights("causal") + 1
    assert "0.001, the best of all, and not one of 500 translations is right" in caption(reader)
    touch("causal mask of masked attention: pulled out")  # what is out can be put back
    assert reader.state()["step"] == lights("causal")
    touch("Pull out")
    assert reader.state() == {"step": 10, "sentence": 0, "run": 0, "seen": 1 | 1 << 5}
    touch("run 3")
    touch("sentence 2: I did not arrive.")
    assert (reader.state()["sentence"], reader.state()["run"]) == (1, 2)
    drawn = "[...document.querySelectorAll('.stage text')].map((text) => text.textContent)"
    assert "Il Il Il nerveuse nerveuse" in " ".join(reader.evaluate(drawn))
    touch("Put back in")
    assert reader.state()["step"] == 9
    touch("feed-forward")  # in the drawing
    assert reader.state()["step"] == lights("ffn")
    touch("without positions")  # in the list
    assert reader.state()["step"] == lights("pos")
    touch("bridge")
    assert reader.state()["step"] == lights("bridge")
    touch("all wires in")
    assert reader.state()["step"] == 0
    assert reader.complaints == []


@needs_browser
@pytest.mark.parametrize("width", [1280, 390])
def test_every_piece_can_be_touched(reader, page, width):
    """In the middle of every mark that can be pressed nothing else of another kind lies on top."""
    reader.open(page, width=width)
    reader.rest()
    found = reader.evaluate("""
      [...document.querySelectorAll('.stage :is([data-at^="e:"], [data-at^="d:"])')].map((mark) => {
        mark.scrollIntoView({ block: 'center' });
        const box = mark.getBoundingClientRect(), right = box.right - 5;
        const at = (x) => document.elementFromPoint(x, box.y + box.height / 2)
          .closest('[data-act]')?.dataset.act;
        return [mark.ariaLabel, mark.dataset.act, box.height,
          [at(box.x + box.width / 2), at(right), at(box.x + 5)].includes(mark.dataset.act)];
      })""")
    assert (
        len(found) == 2 * 5 + 2 * 1 + 3 + 3 + 2 + 1
    )  # skips, norms; positions; looks, masks; ffn; bridge
    for says, act, high, reached in found:
        assert reached, says
        assert high >= 16, says
        kind = ORDER[int(act.split(":")[1]) - 1]
        assert re.match({
            "skip": "skip connection around (self-|masked |cross-)?(attention|feed-forward)$",
            "norm": "normalise$", "ffn": "feed-forward$", "pos": r"\+ position$",
            "causal": "causal mask of masked attention$",
            "pad": "padding mask of (self|cross)-attention$",
            "bridge": "cross-attention$|bridge from the memory",
            "heads": "(self-|masked )attention$",
        }[kind], says)  # fmt: skip


@needs_browser
def test_a_reader_with_a_keyboard_pulls_wires_too(reader, page):
    reader.open(page)
    reader.evaluate("document.querySelector('.stage').focus()")
    said = lambda: reader.evaluate("document.activeElement.ariaLabel")  # noqa: E731
    groups = []
    for _ in range(5):
        reader.press("Tab")
        groups.append(said())
    assert (*groups[:2], groups[4]) == ("+ position", "+ position", "run 1")
    assert groups[2].startswith("all wires in: 92.2 percent right")
    assert groups[3].startswith("sentence 1: The hero helps")
    reader.evaluate("document.querySelector('[data-at^=\"l:0\"]').focus()")
    reader.press("ArrowDown")
    assert (said(), reader.state()["step"]) == ("without skip connections", 1)
    reader.press("Enter")
    assert reader.state()["step"] == 2
    assert said() == "without skip connections: 0.0 percent right, loss 4.253"  # still in the hand
    reader.press("ArrowDown", "ArrowDown")
    assert (said(), reader.state()["step"]) == ("without feed-forward", 5)
    reader.press("Escape", "Tab", "Tab")
    assert said() == "feed-forward"  # the one in the encoder
    reader.press(" ")
    assert (said(), reader.state()["step"]) == ("feed-forward: pulled out", 6)
    reader.press("ArrowUp")
    assert (said(), reader.state()["step"]) == ("normalise", lights("norm"))
    reader.press("Escape", "ArrowRight", "ArrowRight")  # the stage: step by step
    assert reader.state()["step"] == 5
    assert reader.complaints == []


@needs_browser
def test_the_tour_goes_through_all_wires(reader, page):
    reader.open(page)
    chapters = reader.evaluate("scenes[0].chapters")
    assert chapters == ["whole", *2 * len(ORDER) * ["one by one"]]
    reader.evaluate("document.querySelector('.stage').focus()")
    for step in range(1, 17):
        reader.press("ArrowRight")
        assert reader.state()["step"] == step
        assert reader.state()["seen"] == 2 ** (step // 2 + 1) - 1
    assert reader.evaluate("document.querySelectorAll('.stage text').length") > 60
    written = reader.evaluate(
        "[...document.querySelectorAll('.stage text')].map((text) => text.textContent)"
    )
    assert "?" not in written
    reader.evaluate("document.querySelector('[title=\"Start again\"]').click()")
    assert reader.state()["seen"] == 1


@needs_browser
@pytest.mark.parametrize("state", [
    {"sentence": 9, "run": -4}, {"sentence": "x", "run": "y", "seen": "z"}, {"seen": -1},
    {"seen": 10**12}, {"step": 2, "run": 1.5},
])  # fmt: skip
def test_what_nobody_can_choose_is_not_drawn(reader, state):
    for width in (700, 288):
        drawn = reader.draw(width=width, **{"step": 8} | state)
        assert not re.search("undefined|NaN", json.dumps(drawn.marks) + drawn.caption)
        assert sum(bool(mark.get("first")) for mark in drawn.marks) == 6  # one in each group


# --- on every window ---

OVERLAPS = """() => {
  const found = [], texts = [...document.querySelectorAll('.stage text')].filter((text) =>
    text.textContent.trim() && text.getAttribute('opacity') !== '0');
  const boxes = texts.map((text) => text.getBoundingClientRect());
  boxes.forEach((a, i) => boxes.slice(0, i).forEach((b, j) => {
    const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
    const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
    if (wide > 0.5 && high > 3) found.push([texts[i].textContent, texts[j].textContent]);
  }));
  for (const text of document.querySelectorAll('.stage [data-act] text')) {
    const words = text.getBoundingClientRect(), pill = text.parentNode.getBoundingClientRect();
    if (words.left < pill.left + 2 || words.right > pill.right - 2) found.push(text.textContent);
  }
  return found;
}"""


@pytest.mark.slow
@needs_browser
@pytest.mark.parametrize("width", [1280, 782, 742, 738, 390, 320])
def test_it_fits_every_window(reader, page, width):
    reader.open(page, width=width)
    reader.rest()
    assert reader.call(LOOK, 0, False, False) == []  # contrasts are the same at every width
    high = reader.evaluate("document.querySelector('.stage').clientHeight")
    assert high <= (560 if width > 740 else 860)
    for step in range(17):
        reader.evaluate(f"location.hash = '#wires:step={step}&sentence=2&run=1&seen=511'")
        reader.rest()
        assert reader.call(OVERLAPS) == [], step
        assert reader.evaluate("document.querySelector('.stage').clientHeight") == high
    assert reader.complaints == []


# --- what is handed over ---


def without(*path):
    record = copy.deepcopy(RECORD)
    *way, last = path
    place = record
    for key in way:
        place = place[key]
    del place[last]
    return record


@pytest.mark.parametrize(("record", "said"), [
    ({}, "Expected seeds and runs"),
    (without("runs", "no positions"), "no positions"),
    (without("runs", "one head", "2"), "one head .* too much: 2"),
    (without("runs", "full", "3", "right_words"), "full .* right_words"),
    (without("runs", "pre-norm", "1", "exact_match_padded"), "pre-norm .* exact_match_padded"),
    (without("runs", "full", "1", "examples", 0), "3 examples in each run of full"),
])  # fmt: skip
def test_a_record_that_lacks_something_is_refused(record, said):
    with pytest.raises(ValueError, match=said):
        wires(record)


def test_what_is_handed_over_is_small(figure):
    assert len(json.dumps(figure.data, ensure_ascii=False)) < 16_000
    assert figure.data == wires(copy.deepcopy(RECORD)).data


def test_other_numbers_give_other_words():
    record = copy.deepcopy(RECORD)
    for seed in record["runs"]["no feed-forward"].values():
        seed["exact_match"] = 0.5
    for seed in record["runs"]["no causal mask"].values():
        seed["losses"][-1] = 9.0
    kinds = {kind["key"]: kind for kind in wires(record).data["kinds"]}
    assert "**50.0\u00a0%** are right, fewer in every run" in kinds["ffn"]["result"]
    assert "the best of all" not in kinds["causal"]["result"]


def test_the_still_shows_all_scores(figure):
    variants = ["full", *VARIANT.values()]
    wanted = [f"{score(name, 'exact_match').mean():.1f}" for name in variants]
    assert re.findall(r">(\d+\.\d)<", figure.still) == wanted
    lost = [f"{score(name, 'losses').mean():.3f}" for name in variants]
    assert re.findall(r">(\d\.\d{3})<", figure.still) == lost
    assert re.findall(r"\b(\d+\.\d)\b(?!\d)", figure.alt) == wanted
    assert re.findall(r"\d\.\d{3}", figure.alt) == [lost[0], lost[5]]
    assert figure.still.count("<circle") == 3 * 9 + 5  # runs, and sums
    for words, count in (("normalise", 5), ("feed-forward", 3), ("+ position", 2), ("memory", 1)):
        assert figure.still.count(f">{words}<") == count, words

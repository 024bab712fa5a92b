"""The chapter *What changed since 2017*: its drawing, and what its experiment trains and stores."""

import json

import numpy as np
import pytest
from test_schematics import assert_colours, assert_readable, boxes, texts, tree, wires

from experiments import changed
from nlp104.figures import results
from nlp104.figures.drawing import NARROW, WIDE
from nlp104.figures.two_blocks import HEADS, two_blocks
from nlp104.transformer.language_model import LanguageModel

DRAWING = two_blocks()
NAMES = list(changed.BLOCKS)


# --- the drawing ---


def test_the_drawing_can_be_read(layout):
    assert_readable(DRAWING, layout)
    assert_colours(DRAWING, layout)


def test_what_has_changed_is_lit_and_nothing_else(layout):
    svg = tree(DRAWING, layout)
    lit = {words for words, (*_, is_lit) in boxes(svg).items() if is_lit}
    assert lit == {"RMSNorm", "rotary", "feed-forward SwiGLU"}
    written = texts(svg)
    assert (written.count("LayerNorm"), written.count("RMSNorm")) == (2, 3)


def test_queries_and_keys_are_turned_and_values_are_not(layout):
    svg = tree(DRAWING, layout)
    found = boxes(svg)
    x, y, width, height, _ = found["rotary"]
    around = [box for words, box in found.items() if words.startswith("attention")]
    assert any(a < x < x + width < a + c and b < y < y + height < b + d for a, b, c, d, _ in around)
    ends = {"q": [], "k": [], "v": []}
    for kind, points in wires(svg):
        if kind.removeprefix("wire s-") in ends:
            ends[kind[-1]].append(points)
    assert [len(ways) for ways in ends.values()] == [2, 2, 1]  # below and above; past it
    for concept, ways in ends.items():
        assert all((x < points[0] < x + width) == (concept != "v") for points in ways)


def test_heads_of_keys_and_values_are_as_many_as_drawn(layout):
    paths = [
        (path.get("class"), path.get("d").count("M"), path.get("style"))
        for path in tree(DRAWING, layout).iter("path")
        if path.get("class") in ("f-q", "f-k", "f-v")
    ]
    numbers = [(kind, count) for kind, count, _ in paths]
    all_, few = HEADS, HEADS // 2
    assert numbers == [
        *((f"f-{concept}", all_) for concept in "qkv"),
        ("f-q", all_), ("f-k", few), ("f-v", few),
    ]  # fmt: skip
    strong = {style for kind, count, style in paths if count == few}
    assert len(strong) == 1
    assert not strong & {style for kind, count, style in paths if count == all_}


def test_the_wire_of_today_meets_plus_signs_only(layout):
    """Around the parts of today lead strong wires; those of 2017 run into a norm."""
    strong = [points for kind, points in wires(tree(DRAWING, layout)) if "strong" in kind]
    half = {"wide": WIDE, "narrow": NARROW}[layout] / 2
    assert all(x > half for points in strong for x in points[::2])
    around = [points for points in strong if len(points) > 4]
    assert len(around) == 2


# --- the experiment ---


@pytest.mark.parametrize("name", [name for name in NAMES[1:] if "today" not in name])
def test_a_variant_differs_from_2017_in_one_thing(name):
    one, other = (changed.config(n, 50).to_dict() for n in ("2017", name))
    differing = {key for key in one if one[key] != other[key]}
    gate = {"gated", "activation", "intermediate_dim"}  # of equal weights, and its function
    assert differing == gate or len(differing) == 1


def test_todays_two_differ_in_the_tie_alone():
    today, tied = (changed.config(n, 50).to_dict() for n in ("today", "today, tied"))
    assert {key: tied[key] for key in today if today[key] != tied[key]} == {"tie_embeddings": True}


def test_the_cache_is_counted_as_it_is():
    for name in ("2017", "today"):
        config = changed.config(name, 50)
        cache = LanguageModel(config).start_cache(batch_size=1, max_length=3)
        numbers = sum(np.prod(a.shape) for layer in cache for a in (layer.keys, layer.values))
        assert changed.cache_bytes(config) == numbers * 4 // 3


def test_intervals_are_those_of_paired_differences():
    runs = {"2017": {"losses": [1.0, 2.0, 3.0]}, "pre-norm": {"losses": [1.1, 2.3, 3.2]}}
    mean, half = changed.differences(runs, "pre-norm")
    assert mean == pytest.approx(0.2)
    assert half == pytest.approx(4.303 * 0.1 / 3**0.5, rel=1e-6)


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("Le chat ne dort pas.", "Le chat dort pas."),
        ("Je n'ai pas faim.", "J'ai pas faim."),
        ("Je ne vois pas qu'il n'entre pas.", "Je vois pas qu'il entre pas."),
        ("Une reine aime la chaîne.", "Une reine aime la chaîne."),
        ("Il dit que je n'aime pas l'âne.", "Il dit que j'aime pas l'âne."),
    ],
)
def test_spoken_french(written, said):
    assert changed.spoken(written) == said


@pytest.mark.parametrize(("part", "key"), [("blocks", "losses"), ("lora", "without ne")])
def test_the_records_hold_every_run_and_the_readme_their_table(part, key):
    record = json.loads(results.read(f"changed/{part}.json"))
    wanted = NAMES if part == "blocks" else ["as it was", *changed.LORA_RATES]
    assert list(record["runs"]) == wanted
    for name, run in record["runs"].items():
        assert len(run[key]) == (1 if name == "as it was" else len(changed.SEEDS))
    readme = (results.FOLDER / "changed" / "README.md").read_text(encoding="utf-8")
    assert changed.PARTS[part][1](record["runs"]) in readme


def test_weights_that_lora_trains_in_closed_form():
    """Six attentions of four matrices 128 × 128: rank · (128 + 128) each."""
    runs = json.loads(results.read("changed/lora.json"))["runs"]
    for rank in (1, 4, 16):
        assert runs[f"rank {rank}"]["trained"] == 6 * 4 * rank * (128 + 128)
    assert runs["as it was"]["trained"] == 0

"""Shapes: every number is that of a model that is built and run; areas say what they should."""

import json
import re
from collections import Counter
from math import prod

import keras
import numpy as np
import pytest
from browser import needs_browser
from explore_page import write

import nlp104
from nlp104 import one_file
from nlp104.attention import multi_head
from nlp104.figures.explore.shapes import (
    BATCH,
    PAGE,
    START,
    WIDE,
    WORDS,
    measure,
    preset,
    shapes,
    shares,
)
from nlp104.figures.explore.shapes_boxes import BOXES, KINDS, SIZES

NAMES = [name for name, *_ in SIZES.values()]
CHOICES = (PAGE, *WORDS)
TITLES = [box.title for box in BOXES]
GENERATOR = np.random.default_rng(104)


def at_random(tied):
    """Sizes of a small model, and of what it is given."""

    def draw(high):
        return int(GENERATOR.integers(1, high))

    heads = draw(5)
    return {"batch": draw(4), "source": draw(9), "target": draw(9), "d": 2 * heads * draw(5),
            "heads": heads, "ff": draw(40), "layers": draw(4), "words": 4 + draw(60),
            "tied": tied}  # fmt: skip


RANDOM = [at_random(tied) for tied in 6 * (0, 1)]


def build(sizes):
    """The package's model of these sizes."""
    config = nlp104.transformer.TransformerConfig(
        sizes["d"], sizes["ff"], sizes["heads"], num_layers=sizes["layers"],
        vocabulary_size=sizes["words"], tie_embeddings=bool(sizes["tied"]),
    )  # fmt: skip
    return nlp104.Transformer(config)


@pytest.fixture
def light(monkeypatch):
    """Weights are zeros in half precision: a model of 214 million is built at once."""
    add = keras.layers.Layer.add_weight

    def zeros(layer, *args, **kwargs):
        return add(layer, *args, **kwargs | {"initializer": "zeros", "dtype": "float16"})

    monkeypatch.setattr(keras.layers.Layer, "add_weight", zeros)


def by_kind(model):
    """The parameters of a model by the layers that hold them."""
    found, kinds = dict.fromkeys(KINDS, 0), list(KINDS)
    for layer in model._flatten_layers(include_self=False):
        kind = {
            "TokenAndPositionEmbedding": 0, "OutputHead": 0, "MultiHeadAttention": 1,
            "FeedForward": 2, "LayerNormalization": 3,
        }.get(type(layer).__name__)  # fmt: skip
        if kind is not None:
            found[kinds[kind]] += layer.count_params()
    return found


def counted(made):
    """The parameters of all boxes by their kinds."""
    found, kinds = dict.fromkeys(KINDS, 0), list(KINDS)
    for box in made:
        found[kinds[box["kind"]]] += box["parameters"]
    return found


# --- the numbers are the package's ---


@pytest.mark.slow
@pytest.mark.parametrize("name", WORDS)
def test_presets_have_as_many_parameters_as_are_built(light, name):
    sizes = preset(name)
    model = nlp104.Transformer.from_preset(name, vocabulary_size=sizes["words"])
    made = measure(**BATCH, **sizes)
    assert sum(box["parameters"] for box in made) == model.count_params()
    assert counted(made) == by_kind(model)
    assert sum(shares(made).values()) == pytest.approx(1)


def test_the_first_sizes_are_those_of_the_model_in_the_chapter():
    at = preset(PAGE)
    sizes = (at[name] for name in ("english", "words", "layers", "d", "ff", "heads"))
    model = one_file.Transformer(*sizes)
    length, target = START["source"], START["target"]
    model((np.ones((START["batch"], length)), np.ones((START["batch"], target))))
    made = measure(**START, **at)
    assert sum(box["parameters"] for box in made) == model.count_params() == 101_652
    assert made[-1]["gives"] == [(3, 7, 628)]


@pytest.mark.slow
@pytest.mark.parametrize("sizes", RANDOM, ids=str)
def test_models_of_random_sizes_have_as_many_parameters(sizes):
    model = build(sizes)
    made = measure(**sizes)
    assert sum(box["parameters"] for box in made) == model.count_params()
    assert counted(made) == by_kind(model)


def listen(model, sizes):
    """One forward pass: what layers, heads and weights give, and every product of matrices."""
    heard, splits, joins, products = [], [], [], []
    call = keras.layers.Layer.__call__
    split, join = multi_head.split_heads, multi_head.join_heads
    multiply = keras.src.backend.numpy.matmul

    def listening(layer, *args, **kwargs):
        result = call(layer, *args, **kwargs)
        if not isinstance(result, (tuple, list)):
            heard.append((layer.name, tuple(args[0].shape), tuple(result.shape)))
        return result

    def splitting(x, heads):
        splits.append(tuple(split(x, heads).shape))
        return split(x, heads)

    def joining(x):
        joins.append((tuple(x.shape), tuple(join(x).shape)))
        return join(x)

    def multiplying(x, y):
        products.append(prod(x.shape) * y.shape[-1])
        return multiply(x, y)

    rng = np.random.default_rng(0)
    ids = {
        f"{stack}_token_ids": rng.integers(1, sizes["words"], (sizes["batch"], sizes[length]))
        for stack, length in (("encoder", "source"), ("decoder", "target"))
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(keras.layers.Layer, "__call__", listening)
        patch.setattr(multi_head, "split_heads", splitting)
        patch.setattr(multi_head, "join_heads", joining)
        patch.setattr(keras.src.backend.numpy, "matmul", multiplying)
        scores = model.attention_scores(ids)
    weights = {kind: [tuple(layer.shape) for layer in layers] for kind, layers in scores.items()}
    return heard, splits, joins, products, weights


@pytest.mark.parametrize("sizes", RANDOM[:6], ids=str)
def test_shapes_and_products_are_those_of_a_forward_pass(sizes):
    model = build(sizes)
    heard, splits, joins, products, weights = listen(model, sizes)
    boxes, layers = measure(**sizes), sizes["layers"]
    at = {letter: sizes[name] for letter, (name, *_) in SIZES.items()}
    at["K"] = at["D"] // at["H"]

    def outputs(name):
        return [shape for layer, _, shape in heard if layer == name]

    def of(title, stack):
        return next(m for b, m in zip(BOXES, boxes, strict=True)
                    if b.stack == stack and b.title == title)  # fmt: skip

    def once(shapes):
        assert len(set(shapes)) == 1, shapes
        return shapes[0]

    # Embeddings: ids in, vectors out.
    tied = sizes["tied"]
    embeddings = [(x, y) for layer, x, y in heard if layer.endswith("coder_embedding")]
    for (ids, vectors), (name, stack) in zip(
        embeddings, (("source", 0), ("target", 1)), strict=True
    ):
        box = of(f"{name} embedding", stack)
        assert [ids] == box["takes"] == of(f"{name} ids", stack)["gives"]
        assert [vectors] == box["gives"]
    assert (model.encoder_embedding is model.decoder_embedding) == tied

    # Attention. In each layer keys and values are split before queries are.
    kinds = [("self-attention", 0, "encoder")] * layers
    kinds += [("causal attention", 1, "decoder"), ("cross-attention", 1, "cross")] * layers
    for number, (title, stack, kind) in enumerate(kinds):
        keys, values, queries = splits[3 * number : 3 * number + 3]
        assert [queries, keys, values] == of(f"{title}: Q, K, V", stack)["gives"]
        box = of(f"{title}: weights", stack)
        assert [queries, keys] == box["takes"]
        assert [once(weights[kind])] == box["gives"]
        assert len(weights[kind]) == layers
        joined, out = joins[number]
        assert joined == queries
        assert [out] == of(f"{title}: heads joined", stack)["gives"]

    # Feed-forward networks and wires.
    x = (at["B"], at["S"], at["D"]), (at["B"], at["T"], at["D"])
    for stack in (0, 1):
        for name, title in (("expand", "inside"), ("contract", "back")):
            length = x[stack][1]
            pairs = [(s, t) for layer, s, t in heard if layer == name]
            own = pairs[:layers] if stack == 0 else pairs[layers:]
            tower = ("encoder", "decoder")[stack]
            box = of(f"{tower} feed-forward: {title}", stack)
            assert box["takes"] == [once(own)[0]]
            assert box["gives"] == [once(own)[1]]
            assert once(own)[0][1] == length
    norms = outputs("normalization")  # a layer of the decoder has three, of the encoder two
    assert norms == [x[0]] * 2 * layers + [x[1]] * 3 * layers
    wires = [box for box in boxes if box["kind"] == 3]
    assert [box["gives"] for box in wires] == [[x[0]]] * 2 + [[x[1]]] * 3
    assert all(box["takes"] == 2 * box["gives"] for box in wires)
    assert [once(outputs("output_head"))] == boxes[-1]["gives"]

    # Every product of matrices, one by one.
    expected = Counter()
    for box in BOXES:
        for _, word, copies in box.products:
            times = len(copies) * (layers if box.layer else 1)
            expected[prod(at[letter] for letter in word)] += times
    assert Counter(products) == expected
    assert sum(products) == sum(box["multiply_adds"] for box in boxes)
    assert [box["numbers"] for box in boxes] == [sum(map(prod, box["gives"])) for box in boxes]


def test_each_box_holds_what_its_layer_holds():
    sizes = dict(RANDOM[0], tied=0, layers=2)
    model, made = build(sizes), measure(**sizes)
    encoder, decoder = model.encoder.blocks[1], model.decoder.blocks[0]

    def held(first, last):
        return sum(box["parameters"] for box in made[first:last]) // 2

    assert held(2, 5) == encoder.attention.count_params()
    assert held(5, 6) == encoder.attention_residual.count_params()
    assert made[6]["parameters"] == 2 * encoder.feed_forward.expand.count_params()
    assert made[7]["parameters"] == 2 * encoder.feed_forward.contract.count_params()
    assert held(11, 14) == decoder.self_attention.count_params()
    assert held(15, 18) == decoder.cross_attention.count_params()
    assert held(2, 9) == encoder.count_params()
    assert held(11, 22) == decoder.count_params()
    assert made[-1]["parameters"] == model.output_head.count_params()
    for box in (made[2], made[11], made[15]):  # W and b of queries, keys and values
        assert box["parameters"] == 2 * 3 * (sizes["d"] ** 2 + sizes["d"])


# --- the page computes as Python does ---

OWN = [
    dict(zip(NAMES, sizes, strict=True))
    for sizes in (
        (16, 20, 25, 512, 8, 2048, 6, 37_000, 1), (1, 5, 80, 96, 3, 100, 1, 50, 0),
        (3, 7, 6, 32, 4, 80, 2, 50, 1), (128, 640, 12, 1000, 8, 333, 24, 256_000, 0),
    )
]  # fmt: skip


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """The figure on a page of its own."""
    return write(tmp_path_factory.mktemp("shapes") / "page.html", shapes())


def own(reader, width=700, **sizes):
    """What is drawn at sizes of one's own."""
    return reader.draw(width=width, **BATCH | preset("base") | {"preset": "own"} | sizes)


def texts(drawn):
    """What is written, by the key of its mark, without signs."""
    return {m["key"]: m["source"].replace("**", "") for m in drawn.marks if m["kind"] == "text"}


def areas(drawn, start):
    """Rectangles whose keys begin so."""
    return [m for m in drawn.marks if m["kind"] == "area" and m["key"].startswith(start)]


def panel(drawn):
    """What the box says of itself."""
    written, found, key = texts(drawn), {}, None
    for number in range(20):
        if f"key{number}" in written:
            key = written[f"key{number}"] or key
            found.setdefault(key, []).append(written[f"value{number}"])
    return found


def listed(text):
    """The numbers of a shape, if it has one."""
    return [int(x) for x in re.search(r"\[([\d, ]+)\]$", text)[1].split(",")]


@pytest.mark.slow
@needs_browser
def test_the_table_of_the_page_is_that_of_python(reader):
    states = [{"preset": name, "step": 3} | BATCH for name in CHOICES] + [
        {"preset": "own", "english": 0, **sizes} for sizes in OWN + RANDOM
    ]
    for state in states:
        drawn = reader.draw(**state)
        sizes = preset(state["preset"]) | BATCH if state["preset"] != "own" else state
        made = measure(**{name: sizes[name] for name in (*NAMES, "english") if name in sizes})
        expected = [[box["numbers"], box["parameters"], box["multiply_adds"]] for box in made]
        np.testing.assert_array_equal(drawn.values, expected)
        for row, box, at in zip(drawn.rows, BOXES, made, strict=True):
            assert row.startswith(f"{box.title} [")
            said = [tuple(listed(text + "]")) for text in row.split("]")[:-1]]
            assert set(said) == set(at["gives"])
            assert len(said) == len(box.gives)
        written = texts(drawn)
        assert written["parameters"] == f"{sum(box['parameters'] for box in made):,}"
        for place, share in enumerate(shares(made).values()):
            percent = float(written[f"kind{place}"].split()[-2])
            assert percent == pytest.approx(100 * share, abs=0.5 if share > 0.01 else 0.005)


@pytest.mark.slow
@needs_browser
def test_the_panel_says_what_a_box_takes_gives_and_holds(reader):
    for sizes in OWN:
        made = measure(**sizes)
        order = sorted(range(len(made)), key=lambda i: -made[i]["numbers"])
        for number, (box, at) in enumerate(zip(BOXES, made, strict=True)):
            said = panel(own(reader, step=number + 1, **sizes))
            for key in ("takes", "gives"):
                shown = [] if said[key] == ["nothing"] else [listed(text) for text in said[key]]
                assert {tuple(shape) for shape in shown} == set(at[key])
            times = sizes["layers"] if box.layer else 1
            held = [
                prod(listed(text)) * (text.count("$") // 2 or text.count(" ") // 2 or 1)
                for text in said["holds"] if text != "nothing"
            ]  # fmt: skip
            if box.kind != 3:
                assert sum(held) * times == at["parameters"]
            (parameters,) = said["parameters"]
            each, *layers = parameters.split(" × ")
            assert (0 if each == "none" else int(each.replace(",", ""))) * times == at["parameters"]
            assert layers == ([f"{times} layers"] if times > 1 and each != "none" else [])
            numbers, memory = said["output"]
            assert numbers == f"{at['numbers']:,} numbers"
            size, rank = memory.split(", rank ")
            value, unit = re.fullmatch(r"([\d.]+) ?(\w*)B", size).groups()
            scale = {"": 1, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}[unit]
            assert float(value) * scale == pytest.approx(4 * at["numbers"], rel=0.006)
            place = int(rank.split()[0])
            assert made[order[place - 1]]["numbers"] == at["numbers"]


@needs_browser
@pytest.mark.parametrize("heads", [12, 3, 7])
def test_a_width_that_heads_do_not_divide_is_refused_in_the_words_of_the_package(reader, heads):
    with pytest.raises(ValueError, match="must be divisible") as refused:
        nlp104.transformer.TransformerConfig(512, 2048, heads)
    with pytest.raises(ValueError, match="not divisible"):
        measure(**OWN[0] | {"heads": heads})
    for step in (0, 3, 9, 24):
        drawn = own(reader, heads=heads, step=step, was="heads:8")
        assert str(refused.value).replace("`", "") in drawn.caption
        assert np.isnan(drawn.values).all()
        assert texts(drawn)["parameters"] == "–"
        empty = {m["key"].split(",")[0] for m in areas(drawn, "b") if m.get("outline")}
        assert empty == {f"b{i}" for i, box in enumerate(BOXES) if "H" in box.gives[0][1]}


# --- areas say what they should ---


@needs_browser
@pytest.mark.parametrize("width", [700, 358])
@pytest.mark.parametrize("name", CHOICES)
def test_a_tensor_has_the_area_of_its_numbers(reader, width, name):
    drawn = reader.draw(preset=name, width=width, **BATCH)
    made = measure(**BATCH, **preset(name))
    area = {}
    for number, box in enumerate(made):
        marks = [m for m in areas(drawn, f"b{number},") if m["w"] > 1.5]
        if number not in (0, 9):  # ids are lines
            area[number] = sum((m["w"] + 0.8 * (len(marks) > 3)) * m["h"] for m in marks)
            assert {round(m["h"], 6) for m in marks} == {
                round(13 * shape[-2] / 25, 6) for shape in box["gives"]
            }
    scale = area[22] / made[22]["numbers"]
    for number, found in area.items():
        expected = scale * made[number]["numbers"]
        assert found == pytest.approx(expected, rel=0.12 if found < 150 else 0.06), number
    # Between ids and logits all are as wide as d, and the inside of the feed-forward as d_ff.
    plain = [i for i, box in enumerate(BOXES) if box.gives[0][1][2:] == "D"]
    widths = {round(m["w"], 6) for i in plain for m in areas(drawn, f"b{i},")}
    inside = {round(m["w"], 6) for i in (6, 19) for m in areas(drawn, f"b{i},")}
    assert len(widths) == len(inside) == 1
    sizes = preset(name)
    assert inside.pop() / widths.pop() == pytest.approx(sizes["ff"] / sizes["d"])


@needs_browser
@pytest.mark.parametrize("width", [700, 358])
@pytest.mark.parametrize("name", CHOICES)
def test_a_matrix_has_the_area_of_its_parameters(reader, width, name):
    sizes = preset(name)
    drawn = reader.draw(preset=name, width=width, **BATCH)
    inside, outside = areas(drawn, "w"), areas(drawn, "e")
    d, ff, words = sizes["d"], sizes["ff"], sizes["words"]
    tables = words if sizes["tied"] else 2 * words + (sizes["english"] or words)
    assert len(inside) == 16 * sizes["layers"]
    scale = sum(m["w"] + 0.8 for m in inside) / (sizes["layers"] * (12 * d + 4 * ff))
    assert sum(m["w"] + 0.8 for m in outside) == pytest.approx(scale * tables, rel=0.01)
    (high,) = {round(m["h"], 9) for m in inside + outside}
    assert high == pytest.approx(scale * d)
    assert {round((m["w"] + 0.8) / scale) for m in inside} == {d, ff}
    assert max(m["x"] + m["w"] for m in inside + outside) <= width
    assert max(m["y"] + m["h"] for m in outside) <= drawn.height
    lit = [m for m in areas(reader.draw(preset=name, width=width, step=3), "w")
           if m["strength"] == 1]  # fmt: skip
    assert len(lit) == 3 * sizes["layers"]
    bar = [m["w"] for m in areas(drawn, "share")]
    np.testing.assert_allclose(
        np.array(bar) / width, list(shares(measure(**BATCH, **sizes)).values()), rtol=1e-9
    )


@needs_browser
def test_a_tied_matrix_is_one_and_lights_up_for_three(reader):
    for tied in (0, 1):
        for step in (2, 11, 23):
            drawn = own(reader, tied=tied, step=step)
            lit = {m["key"].split(",")[0] for m in areas(drawn, "e") if m["strength"] == 1}
            assert lit == ({"e1"} if tied else {f"e{step - 1}"})
            assert ("Tied: its matrix is the source's" in drawn.caption) == (tied and step > 2)
    assert own(reader, tied=1, was="tied:0").caption.startswith("tied **no → yes**: ")


# --- what it teaches is so ---


def grown(reader, name, before, after):
    """How many times larger each output became, as the badges and the caption say."""
    drawn = own(reader, **{name: after, "was": f"{name}:{before}"})
    found = {}
    for number, box in enumerate(BOXES):
        badge = re.search(r" ([×÷])([\d.]+)$", texts(drawn)[f"n{number}"])
        if badge:
            found[box.title] = float(badge[2]) if badge[1] == "×" else 1 / float(badge[2])
    return found, drawn.caption


@needs_browser
def test_twice_the_heads_cost_no_parameter_and_double_the_weights(reader):
    found, caption = grown(reader, "heads", 8, 16)
    assert found == {title: 2 for title in TITLES if title.endswith(": weights")}
    assert "**not one parameter** more or less, arithmetic the **same**" in caption
    assert "**× 2** in 3 boxes (weights)" in caption


@needs_browser
def test_a_source_twice_as_long_makes_one_output_four_times_as_large(reader):
    found, caption = grown(reader, "source", 20, 40)
    assert [title for title, times in found.items() if times == 4] == ["self-attention: weights"]
    assert found["cross-attention: weights"] == 2
    assert found["cross-attention: Q, K, V"] == 1.6  # (25 + 2 · 40) / (25 + 2 · 20)
    assert not any("decoder" in title or "causal" in title for title in found)
    assert "**not one parameter**" in caption
    assert "**× 4** in 1 box (weights), **× 2** in 9 boxes" in caption
    longer = grown(reader, "target", 20, 40)[0]
    assert [title for title, times in longer.items() if times == 4] == ["causal attention: weights"]


@needs_browser
def test_what_else_grows(reader):
    found, caption = grown(reader, "batch", 16, 32)
    assert found == dict.fromkeys(TITLES, 2)
    assert "**not one parameter**" in caption
    assert "**× 2** in 23 boxes" in caption
    found, caption = grown(reader, "ff", 2048, 1024)
    assert found == {f"{tower} feed-forward: inside": 0.5 for tower in ("encoder", "decoder")}
    assert caption.startswith("$d_{ff}$ **2048 → 1024**: parameters **÷ 1.25**")
    found, caption = grown(reader, "layers", 6, 12)
    assert found == {}
    assert "No output has more numbers" in caption
    assert "parameters **× 1.7**" in caption
    found, caption = grown(reader, "words", 37_000, 8_000)
    assert list(found) == ["logits"]
    found, caption = grown(reader, "tied", 0, 1)
    assert found == {}
    assert "parameters **÷ 1.6**" in caption
    assert "arithmetic the **same**" in caption


def test_only_the_inside_is_wider_and_logits_dwarf_all():
    for name in CHOICES:
        sizes = preset(name)
        made = measure(**BATCH, **sizes)
        between = [box["gives"][0] for box in made[1:-1] if len(box["gives"][0]) == 3]
        wide = [shape for shape in between if shape[2] != sizes["d"]]
        assert [shape[2] for shape in wide] == 2 * [sizes["ff"]]
        assert all(shape[:2] in ((16, 20), (16, 25)) for shape in between)
        numbers = sorted(box["numbers"] for box in made)
        assert numbers[-1] == made[-1]["numbers"]
        if name not in ("tiny", PAGE):
            assert numbers[-1] > 7 * numbers[-2]
        kinds = shares(made)
        most = "embed, output" if name == PAGE else "feed-forward"
        assert max(kinds, key=kinds.get) == most
    assert shares(measure(**BATCH, **preset("tiny")))["feed-forward"] == pytest.approx(
        0.45, abs=0.005
    )
    base = measure(**BATCH, **preset("base"))  # what the chapter's first exercise asks for
    by_title = {box["title"]: box for box in base}
    assert by_title["residual + norm: feed-forward"]["gives"] == [(16, 20, 512)]
    assert by_title["cross-attention: Q, K, V"]["gives"][0] == (16, 8, 25, 64)
    assert by_title["cross-attention: weights"]["gives"] == [(16, 8, 25, 20)]
    assert by_title["decoder feed-forward: inside"]["gives"] == [(16, 25, 2048)]
    assert by_title["logits"]["gives"] == [(16, 25, 37_000)]
    assert sum(box["parameters"] for box in base[2:9]) == 6 * 3_152_384  # exercise 2
    assert sum(box["parameters"] for box in base[11:22]) == 6 * 4_204_032


@needs_browser
def test_the_last_step_answers_the_first_question(reader):
    for name in CHOICES:
        made = measure(**BATCH, **preset(name))
        kinds, numbers = shares(made), sorted(box["numbers"] for box in made)
        asked, answer = (reader.draw(preset=name, step=step, **BATCH).caption for step in (0, 24))
        assert f"**{sum(box['parameters'] for box in made):,}** parameters in all" in asked
        most = max(kinds, key=kinds.get)
        times = float(re.search(r"Largest output: \*\*logits\*\*, × ([\d.]+)", answer)[1])
        assert times == pytest.approx(numbers[-1] / numbers[-2], rel=0.006)
        assert f"**{most}**, {100 * kinds[most]:.0f} %" in answer


# --- a reader ---


def caption(reader):
    """What stands below the figure."""
    return reader.evaluate("document.querySelector('figcaption').textContent")


def fader(reader, name, sign):
    """Press above or below a knob."""
    reader.call(
        """(label) => document.querySelector(`[aria-label="${label}"]`).dispatchEvent(
          new MouseEvent("click", { bubbles: true }))""",
        f"{name} {sign}",
    )


@needs_browser
def test_a_reader_moves_faders_and_taps_boxes(reader, page):
    reader.open(page)
    start = reader.state()
    assert start == {"step": 0, "was": "", "preset": PAGE, **START, **preset(PAGE)}
    assert "101,652" in reader.evaluate("document.querySelector('.stage').textContent")
    fader(reader, "source", "+")
    assert "101,652" in reader.evaluate("document.querySelector('.stage').textContent")
    reader.evaluate("document.querySelector('[data-option=preset] [value=tiny]').click()")
    start = reader.state()
    assert start == {
        "step": 0,
        "was": "",
        "preset": "tiny",
        **START,
        "source": 10,
        **preset("tiny"),
    }
    fader(reader, "heads", "+")
    assert reader.state() == start | {"preset": "own", "heads": 6, "was": "heads:4"}
    assert "128 is not divisible by 6" in caption(reader)
    fader(reader, "heads", "+")
    assert "heads 4 → 8: not one parameter more or less" in caption(reader)
    address = reader.evaluate("location.hash")
    fader(reader, "d", "−")
    assert reader.state()["was"] == "d:128"
    reader.tap("box:12")
    assert (reader.state()["step"], reader.state()["was"]) == (13, "")
    assert caption(reader).startswith("causal attention: weights.")
    reader.evaluate("document.querySelector('[data-option=preset] [value=big]').click()")
    assert reader.state() == start | preset("big") | {"preset": "big", "step": 13}
    assert "214,282,376" in reader.evaluate("document.querySelector('.stage').textContent")
    reader.evaluate("document.querySelector('[title=\"Start again\"]').click()")
    assert reader.state() == start | preset("big") | {"preset": "big"}
    reader.open(page, at=address)
    assert "heads 4 → 8" in caption(reader)
    checked = "[...document.querySelectorAll('.tools input:checked')].map((i) => i.value)"
    assert reader.evaluate(checked) == ["own"]
    assert reader.complaints == []


@needs_browser
def test_a_reader_with_a_keyboard_pulls_a_fader(reader, page):
    reader.open(page)
    reader.evaluate("document.querySelector('[aria-label=\"source: 8\"]').focus()")
    reader.press("ArrowUp", "ArrowUp")
    assert (reader.state()["source"], reader.state()["was"]) == (12, "source:8")
    reader.press("ArrowRight", "ArrowDown")
    assert (reader.state()["target"], reader.state()["was"]) == (6, "target:7")
    reader.press("Home")
    assert reader.state()["target"] == 5
    reader.press("End")
    assert reader.state()["target"] == 1280
    reader.press("Escape", "ArrowRight")
    assert (reader.state()["step"], reader.state()["was"]) == (1, "")
    assert reader.complaints == []


@needs_browser
@pytest.mark.parametrize(
    "address",
    ["preset=own&d=x&heads=0&ff=-3", "preset=nobody", "preset=own&layers=1e9", "was=d:x",
     "preset=own&was=heads:7&step=4", "preset=own&was=constructor:1", "preset=own&words=1&batch=1",
     "preset=own&d=1000000&tied=7&step=9"],
)  # fmt: skip
def test_what_nobody_can_choose_is_drawn_or_refused(reader, page, address):
    reader.open(page, at=f"#shapes:{address}")
    words = reader.evaluate("document.querySelector('.explore').innerText")
    assert not re.search(r"undefined|NaN|Infinity|function", words)
    assert reader.evaluate("document.querySelectorAll('.stage text').length") > 40
    assert reader.evaluate("document.querySelectorAll('.stage rect').length") < 800
    reader.tap("box:3")
    assert reader.complaints == []


ADDRESSES = [
    *(f"preset={name}&step={step}" for name in ("this%20page", "tiny", "big")
      for step in (0, 1, 16, 23, 24)),
    "preset=own&heads=6&step=3",
    *(f"preset=own&was={name}:5&step={step}&batch=512&source=1280&target=1280&d=2048&heads=32&"
      f"ff=8192&layers=24&words=256000" for name, step in (("source", 0), ("batch", 16), ("d", 4))),
    "preset=own&batch=1&source=5&target=5&d=32&heads=1&ff=64&layers=1&words=50&was=words:256000",
]  # fmt: skip


@pytest.mark.slow
@needs_browser
@pytest.mark.parametrize("width", [320, 390, 782, 1280])
def test_nothing_overlaps_and_nothing_is_high(reader, page, width):
    reader.open(page, width=width)
    heights = set()
    for address in ADDRESSES:
        found, height = reader.clashes(f"shapes:{address}")
        assert found == [], address
        heights.add(height)
        small = reader.evaluate(
            "[...document.querySelectorAll('.stage text')].filter((t) => t.textContent)"
            ".map((t) => parseFloat(getComputedStyle(t).fontSize)).filter((size) => size < 12)"
        )
        assert small == []
    assert len(heights) == 1  # nothing jumps while a fader moves
    assert heights.pop() <= (860 if width < 500 else 660)
    assert reader.complaints == []


# --- what is handed over, and the still ---


def test_what_is_handed_over_is_small_and_every_box_says_something_of_its_own():
    figure = shapes()
    assert len(json.dumps(figure.data)) < 12_000
    assert len(set(TITLES)) == len({box.says for box in BOXES}) == len(BOXES) == 23
    for box in BOXES:
        assert set(re.findall(r"\{(.)\}", box.says)) <= {*SIZES, "K"}


def test_the_still_draws_base_to_scale():
    figure = shapes()
    made = measure(**BATCH, **preset("base"))
    total = sum(box["parameters"] for box in made)
    assert f"{total:,}" in figure.alt
    assert f"{made[-1]['numbers']:,} numbers, are 18 times as large as the next" in figure.alt
    for share in shares(made).values():
        assert f"{share:.1%}" in figure.alt
    assert f"{total / 1e6:.1f} M parameters" in figure.still
    rects = re.findall(
        r'<rect x="([\d.]+)" y="[\d.]+" width="([\d.]+)" height="([\d.]+)"', figure.still
    )
    widths = [float(width) for _, width, _ in rects]
    assert sum(widths[:4]) == pytest.approx(4 * WIDE, abs=0.1)  # the logits
    one = 4 * WIDE / 37_000
    assert sum(abs(width - 512 * one) < 0.1 for width in widths) == 12 + 9
    assert sum(abs(width - 2048 * one) < 0.1 for width in widths) == 2
    assert all(float(x) + float(width) <= WIDE + 0.01 for x, width, _ in rects)

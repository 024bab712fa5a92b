"""Attention, step by step: the numbers on the page against the package's layers and NumPy."""

import itertools
import re

import numpy as np
import pytest
from browser import needs_browser, visit

from nlp104 import attention
from nlp104.figures.explore.pipeline import pipeline

WORDS = ["The", "black", "cat", "sleeps"]
PADDED = ["the", "black", "cat", "sleeps", "[PAD]"]
SIX = ["The", "black", "cat", "sleeps", ".", "[END]"]
# Part 2's example, made by hand.
QUERY = np.array([[0, 3, 0, 0], [0, 2, 0, 2], [3, 1, 0, 0], [0, 4, -1, 0]])
KEY = np.array([[0, -1, 0, 1], [2, 0, 0, 0], [0, 2, 0, 0], [0, 0, 1, 0]])
VALUE = np.array([[0, 0, 0], [0, 2, 0], [2, 0, -1], [1, 0, 1]])
RNG = np.random.default_rng(104)
GIVEN = np.array([[1, 0, 0, 1], [1, 1, 0, 0], [0, 0, 0, 0]], bool)  # the last row sees nothing


def noise(*shape):
    return np.round(RNG.normal(size=shape), 1)


ARRAYS = {
    "hand": (QUERY, KEY, VALUE),
    "padded": (noise(5, 4), noise(5, 4), noise(5, 4)),
    "cross": (noise(3, 4), noise(4, 4), noise(4, 3)),
    "heads": (noise(2, 6, 32), noise(2, 6, 32), noise(2, 6, 32)),
}
# Part 1's: only products are known (Alammar, 2018), and vectors of width 64 that have them.
THINKING, ONES = ["Thinking", "Machines"], np.ones(32)
WORKED = (
    np.array([np.r_[ONES, ONES], np.r_[0.5 * ONES, 1.5 * ONES]]),
    np.array([np.r_[2 * ONES, 1.5 * ONES], np.r_[ONES, 2 * ONES]]),
    np.array([[1.0, 0.0, 2.0], [0.0, 1.0, -2.0]]),
)
FIGURES = {
    "hand": pipeline(*ARRAYS["hand"], WORDS, follow=2),
    "padded": pipeline(*ARRAYS["padded"], PADDED),
    "cross": pipeline(*ARRAYS["cross"], ["Le", "chat", "noir"], WORDS, mask=GIVEN),
    "heads": pipeline(*ARRAYS["heads"], SIX),
}
ALL = FIGURES | {"worked": pipeline(*WORKED, THINKING, mask=False, title="Thinking, Machines")}
STEPS = {"hand": 11, "padded": 12, "cross": 10, "heads": 8}  # one for each row, up to five rows
BOTH = np.tri(5, dtype=bool) & (np.arange(5) < 4)
MASKS = {
    ("hand", "none"): np.ones((4, 4), bool),
    ("hand", "causal"): np.tri(4, dtype=bool),
    ("padded", "none"): np.ones((5, 5), bool),
    ("padded", "causal"): np.tri(5, dtype=bool),
    ("padded", "padding"): np.tile(np.arange(5) < 4, (5, 1)),
    ("padded", "both"): BOTH,
    ("cross", "none"): np.ones((3, 4), bool),
    ("cross", "given"): GIVEN,
    ("heads", "none"): np.ones((6, 6), bool),
    ("heads", "causal"): np.tri(6, dtype=bool),
}
CASES = [
    (name, mask, scale, head)
    for (name, mask), scale in itertools.product(MASKS, (True, False))
    for head in range(2 if name == "heads" else 1)
]
LOOK = """(async () => {
  await new Promise((done) => {
    addEventListener("hashchange", () => setTimeout(done), { once: true });
    location.hash = HASH;
  });
  return READ;
})()"""
READ = """(() => {
  const root = document.querySelector(".nlp104");
  const all = (what, from = root) => [...from.querySelectorAll(what)];
  const texts = (what, from) => all(what, from).map((e) => e.textContent);
  return {
    state: JSON.parse(root.dataset.state),
    scores: texts('[data-at^="score:"] > text'),
    hatched: all('[data-at^="score:"] > .hatch[opacity="1"]').length,
    outputs: texts('[data-at^="output:"] > text'),
    sums: texts('.stage g.text > text[text-anchor="end"][font-weight="650"]'), // beside the bars
    texts: texts(".stage g.text"),
    caption: texts("figcaption")[0],
    lit: texts(".equation .lit"),
    options: all("fieldset").map((e) => texts("label", e)),
    chapters: texts(".chapters button"),
    table: texts(".unseen th ~ td"),
    focus: document.activeElement.dataset.at,
    over: all(".stage svg")[0].clientWidth - all(".stage")[0].clientWidth,
  };
})()"""


@pytest.fixture(scope="module")
def seen(tmp_path_factory):
    """What stands on the pages: by name of the figure and address, and by name of a key."""
    folder, found = tmp_path_factory.mktemp("pages"), {}

    async def reader(tab):
        async def evaluate(script):
            answer = await tab.ask(
                "Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True
            )
            assert "exceptionDetails" not in answer, answer
            return answer["result"].get("value")

        async def look(name, **state):
            hash_ = "&".join(f"{key}={value}" for key, value in state.items())
            script = LOOK.replace("HASH", f'"pipeline:{hash_}"').replace("READ", READ)
            found[name, hash_] = await evaluate(script)

        async def press(key, code):
            for kind in ("keyDown", "keyUp"):
                await tab.ask(
                    "Input.dispatchKeyEvent",
                    type=kind,
                    key=key,
                    code=key,
                    windowsVirtualKeyCode=code,
                )

        for name, figure in FIGURES.items():
            figure.save(folder / f"{name}.html")
            page = await tab.open((folder / f"{name}.html").as_uri(), 1280, "light")
            assert page["problems"] == tab.complaints == tab.missing == []
            found[name] = await evaluate(READ)
            for _, mask, scale, head in (case for case in CASES if case[0] == name):
                switches = {"mask": mask, "scale": str(scale).lower(), "head": head}
                for step in (STEPS[name] - 3, STEPS[name] - 1):
                    await look(name, step=step, **switches)
            for step in range(STEPS[name]):
                await look(name, step=step)
            assert tab.complaints == []
        await tab.open((folder / "hand.html").as_uri(), 390, "dark")
        for step in range(STEPS["hand"]):
            await look("hand", step=step, row=1)
            assert found["hand", f"step={step}&row=1"]["over"] <= 0
        await look("hand", step=0)
        await evaluate("document.querySelector('.nlp104 .stage').focus()")
        found["stage"] = await evaluate(READ)
        await press("ArrowRight", 39)
        found["right"] = await evaluate(READ)
        for group in ("row", "score"):
            await press("Tab", 9)
            found[f"tab {group}"] = await evaluate(READ)
            await press("ArrowDown", 40)
            found[f"down {group}"] = await evaluate(READ)
        await press("Escape", 27)
        await press("End", 35)
        found["end"] = await evaluate(READ)
        assert tab.complaints == []

    visit(reader)
    return found


def numbers(texts, shape):
    return np.array([float(text.replace("−", "-")) for text in texts]).reshape(shape)


def arrays(name, head):
    return [x[head] if x.ndim == 3 else x for x in ARRAYS[name]]


def address(name, mask, scale, head, back=3):
    return f"step={STEPS[name] - back}&mask={mask}&scale={str(scale).lower()}&head={head}"


@needs_browser
@pytest.mark.parametrize(("name", "mask", "scale", "head"), CASES)
def test_weights_and_outputs_are_those_of_the_layers(seen, name, mask, scale, head):
    query, key, value = arrays(name, head)
    visible = MASKS[name, mask]
    kind = attention.ScaledDotProductAttention if scale else attention.DotProductAttention
    query, key = query.astype("float32"), key.astype("float32")
    _, weights = kind()(query[None], key[None], visible[None], return_attention_scores=True)
    scores = query @ key.T / (np.sqrt(query.shape[1]) if scale else 1.0)
    same = attention.masked_softmax(scores.astype("float32"), visible)
    np.testing.assert_allclose(same, weights[0], atol=1e-5)
    output = (np.asarray(weights[0], "float64") @ value)[None]
    shown = seen[name, address(name, mask, scale, head)]
    np.testing.assert_allclose(numbers(shown["scores"], visible.shape), weights[0], atol=0.0051)
    shown = seen[name, address(name, mask, scale, head, back=1)]
    np.testing.assert_allclose(numbers(shown["scores"], visible.shape), weights[0], atol=0.0051)
    table = numbers(shown["table"], output[0].shape)
    np.testing.assert_allclose(table, output[0], atol=0.0051)
    if name != "heads":  # there the outputs are too many to be written
        np.testing.assert_allclose(numbers(shown["outputs"], output[0].shape), table, atol=0.051)


@needs_browser
@pytest.mark.parametrize(("name", "mask"), MASKS)
def test_rows_sum_to_one_and_what_is_masked_gets_exactly_nothing(seen, name, mask):
    visible = MASKS[name, mask]
    shown = seen[name, address(name, mask, True, 0)]
    weights = np.array(shown["scores"]).reshape(visible.shape)
    assert (weights[~visible] == "0").all()  # and not 0.00
    assert (weights[visible] != "0").all()
    assert shown["hatched"] == (~visible).sum()
    sums = numbers(weights.ravel(), visible.shape).sum(axis=1)
    np.testing.assert_allclose(sums, visible.any(axis=1), atol=0.006 * visible.shape[1])
    some, none = visible.any(axis=1).sum(), (~visible.any(axis=1)).sum()
    assert sorted(shown["sums"]) == ["0.00"] * none + ["1.00"] * some


@needs_browser
def test_without_the_scale_long_vectors_saturate(seen):
    on, off = (
        numbers(seen["heads", address("heads", "none", scale, 0)]["scores"], (6, 6)).max(axis=1)
        for scale in (True, False)
    )
    assert (off >= on).all()
    assert off.mean() > on.mean() + 0.2
    said = seen["heads", address("heads", "none", False, 0)]["caption"]
    assert f"Largest weight: {off[0]:.2f}; with the scale: {on[0]:.2f}." in said
    assert "with the scale" not in seen["heads", address("heads", "none", True, 0)]["caption"]


@needs_browser
def test_one_matrix_goes_through_the_stations(seen):
    scores = QUERY @ KEY.T
    assert np.array_equal(numbers(seen["hand", "step=1"]["scores"], (4, 4)), scores)
    scaled = numbers(seen["hand", "step=2"]["scores"], (4, 4))
    assert np.array_equal(scaled, scores / 2)
    assert seen["hand", "step=3"]["scores"] == seen["hand", "step=2"]["scores"]  # no mask yet
    powers = numbers(seen["hand", "step=4"]["scores"], (4, 4))
    np.testing.assert_allclose(powers, np.exp(scores / 2), atol=0.051)
    weights = np.exp(scores / 2) / np.exp(scores / 2).sum(axis=1, keepdims=True)
    for row in range(4):  # row by row
        shown = numbers(seen["hand", f"step={5 + row}"]["scores"], (4, 4))
        done = np.arange(4)[:, None] <= row
        np.testing.assert_allclose(shown, np.where(done, weights, powers), atol=0.0051)
    assert seen["hand"]["chapters"].count("÷ sum") == 1
    lit = [seen["hand", f"step={step}"]["lit"] for step in (0, 1, 2, 3, 4, 9)]
    assert lit == [["Q", "KT", "V"], ["Q", "KT"], ["√dk"], ["+ M"], ["softmax", "(", ")"], ["V"]]


@needs_browser
def test_a_score_and_an_output_are_written_out(seen):
    texts = seen["hand", "step=1"]["texts"]  # cat looks for an adjective
    assert [texts.count(x) for x in ("×", "=", "= 6")] == [4, 4, 1]
    assert seen["hand", "step=1"]["caption"].endswith("4 products add up to 6.")
    shown = seen["hand", "step=9"]  # and gets the darkness of black
    assert "= 1.65" in shown["texts"]
    assert shown["caption"].endswith("0.82 of black. Column 2 adds up to 1.65.")
    assert "= 0.82" not in shown["texts"]


@needs_browser
def test_the_choices_are_those_that_make_sense(seen):
    scale = ["÷ √dk", "off"]
    assert seen["hand"]["options"] == [["none", "causal"], scale]
    assert seen["padded"]["options"] == [["none", "causal", "padding", "both"], scale]
    assert seen["cross"]["options"] == [["none", "given"], scale]
    assert seen["heads"]["options"] == [["none", "causal"], scale, ["1", "2"]]
    assert seen["cross"]["state"]["mask"] == "given"
    assert "of the other sentence" in seen["cross"]["caption"]
    assert "other" not in seen["hand"]["caption"]
    for name, steps in STEPS.items():
        assert seen[name, f"step={steps - 1}"]["state"]["step"] == steps - 1
    empty = seen["cross", address("cross", "given", True, 0)]
    assert empty["caption"].endswith("divided by its sum 0: it sees nothing and stays 0.")


@needs_browser
def test_a_reader_with_a_keyboard_follows_rows_and_opens_scores(seen):
    assert seen["right"]["state"]["step"] == 1
    assert seen["tab row"]["focus"] == "row:2:0"
    assert seen["down row"]["state"]["row"] == 3
    assert seen["tab score"]["focus"] == "score:3:2"  # sleeps wants a noun most
    assert seen["down row"]["caption"].endswith("4 products add up to 8.")
    assert seen["down score"]["state"] == seen["tab score"]["state"]  # there is no lower row
    assert seen["end"]["state"]["step"] == 10


@pytest.fixture
def reader(window):
    """A browser; each test opens the page that it looks at."""
    return window


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Each figure on a page of its own."""
    folder = tmp_path_factory.mktemp("figures")
    for name, figure in ALL.items():
        figure.save(folder / f"{name}.html")
    return {name: folder / f"{name}.html" for name in ALL}


def written(drawn, key):
    """The numbers in the row of a word: `{column: text}`."""
    found = (re.fullmatch(key + r"(\d)", mark["key"]) for mark in drawn.marks)
    texts = {mark["key"]: mark.get("text", mark.get("source")) for mark in drawn.marks}
    return [texts[match[0]] for match in found if match]


@needs_browser
def test_what_cannot_be_pressed_is_no_button(reader, pages):
    """The numbers of a long vector are strokes, which say so with an empty name."""
    reader.open(pages["heads"])
    assert sum(mark.get("act") == "" for mark in reader.draw().marks) > 10
    for name in ("data-act", "role", "tabindex"):
        assert reader.evaluate(f"document.querySelectorAll('.stage [{name}=\"\"]').length") == 0


@needs_browser
def test_only_what_is_put_into_a_caption_is_strong(reader, pages):
    reader.open(pages["cross"])
    steps = reader.evaluate("scenes[0].chapters.length")
    said = [reader.draw(step=step, row=2, mask="given").caption for step in range(steps)]
    assert any("**4** words of the other sentence" in caption for caption in said)
    assert any("[v|values] of the other sentence, each" in caption for caption in said)
    assert any("may look at **0** of **4** words" in caption for caption in said)


@needs_browser
@pytest.mark.parametrize("width", [700, 358, 288])
def test_the_worked_example_without_a_word_about_masks(reader, pages, width):
    reader.open(pages["worked"])
    chapters = reader.evaluate("scenes[0].chapters")
    assert chapters == ["QKV", "QKᵀ", "÷√d", "eˣ", "÷ sum", "÷ sum", "×V", "all"]
    assert "M" not in reader.evaluate("document.querySelector('.equation').textContent")
    assert reader.evaluate("document.querySelectorAll('fieldset').length") == 1  # the scale
    stations = {1: ["112", "96"], 2: ["14", "12"], 4: ["0.88", "0.12"], 7: ["0.88", "0.12"]}
    for step, row in stations.items():
        assert written(reader.draw(step=step, width=width), "S0,") == row
    assert written(reader.draw(step=5, width=width), "S1,") == ["0.27", "0.73"]
    powers = written(reader.draw(step=3, width=width), "S0,")
    exact = np.exp([14.0, 12.0])
    if width == 700:  # so that 1.20 of 1.37 can be seen to be 0.88
        assert powers == ["1.20·10⁶", "1.63·10⁵"]
        assert "adds up to **1.37·10⁶**." in reader.draw(step=3).caption
        assert exact == pytest.approx([1.20e6, 1.63e5], rel=0.003)
        assert exact.sum() == pytest.approx(1.37e6, rel=0.004)
    trace = [written(reader.draw(step=7, width=width), f"t{line},") for line in range(5)]
    assert trace == [["112", "96"], ["14", "12"], powers, ["0.88", "0.12"], []]
    said = [reader.draw(step=step, width=width).caption for step in range(8)]
    assert not any("mask" in text or "∞" in text or "$M$" in text for text in said)
    output = reader.draw(step=7, width=width).values
    weights = np.exp([[14.0, 12.0], [13.0, 14.0]])
    weights /= weights.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(output, weights @ WORKED[2], atol=1e-9)
    off = reader.draw(step=7, width=width, scale=False)  # 112 against 96: all or nothing
    assert written(off, "S0,") == ["1.00", "0.00"]


@needs_browser
@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("width", [700, 358, 288])
def test_no_number_is_pale(reader, pages, name, width):
    reader.open(pages[name])
    pale = 0
    for step in range(reader.evaluate("scenes[0].chapters.length")):
        for mark in reader.draw(step=step, width=width).marks:
            if mark["opacity"] < 1:
                pale += 1
                assert mark["kind"] != "text", (step, mark["key"])
                assert not mark.get("numbers"), (step, mark["key"])
    assert pale > 0  # what is not in use still steps back


OVERLAPS = """() => {
  const texts = [...document.querySelectorAll('.stage text')].filter((text) =>
    /\\d/.test(text.textContent) && text.getAttribute('opacity') !== '0');
  const found = [];
  texts.forEach((one, i) => texts.slice(i + 1).forEach((two) => {
    const [a, b] = [one.getBoundingClientRect(), two.getBoundingClientRect()];
    const above = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
    const beside = Math.min(a.right, b.right) - Math.max(a.left, b.left);
    if (above > 5 && beside > -1) found.push([one.textContent, two.textContent, beside]);
  }));
  return found;
}"""


@needs_browser
@pytest.mark.parametrize("name", ALL)
def test_numbers_do_not_touch_on_a_phone(reader, pages, name):
    for width in (390, 320):
        reader.open(pages[name], width=width)
        for step in range(reader.evaluate("scenes[0].chapters.length")):
            reader.call("(step) => { location.hash = `#pipeline:step=${step}`; }", step)
            reader.rest()
            assert reader.state()["step"] == step
            assert reader.call(OVERLAPS) == [], (width, step)


def test_a_mask_that_is_a_choice_keeps_its_name():
    figure = pipeline(QUERY, KEY, VALUE, WORDS, mask=np.tri(4, dtype=bool))
    assert figure.data["mask"] == "causal"
    assert list(figure.data["masks"]) == ["none", "causal"]
    assert FIGURES["cross"].data["masks"]["given"] == GIVEN.astype(int).tolist()
    assert ALL["worked"].data["masks"] == {}
    assert "Thinking 0.88, Machines 0.12" in ALL["worked"].alt


@pytest.mark.parametrize("name", FIGURES)
def test_the_still_shows_the_weights(name):
    figure = FIGURES[name]
    query, key, _ = arrays(name, 0)
    scores = np.where(MASKS[name, figure.data["mask"]], query @ key.T, -np.inf)[[0]]
    weights = np.exp(scores / np.sqrt(query.shape[1]))
    if name != "hand":  # its example follows another row
        shares = (weights / weights.sum())[0]
        assert all(f"{share:.2f}" in figure.alt for share in shares)
    assert 'viewBox="0 0 360 ' in figure.still
    assert not re.search(r'(width|height|d)="[^"]*(-\d[^" ]*"|nan)', figure.still.split("<path")[0])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"query": QUERY[:3]}, "Expected query of shape (4, any). Received: (3, 4)."),
        ({"key": VALUE}, "Expected key of shape (4, 4). Received: (4, 3)."),
        ({"value": VALUE[0]}, "Expected value of shape (4, any). Received: (3,)."),
        ({"query": QUERY[None]}, "Expected key of shape (1, 4, 4). Received: (4, 4)."),
        ({"mask": np.tri(3)}, "Expected mask of shape (4, 4). Received: (3, 3)."),
        ({"follow": 4}, "Expected follow to be the number of a row. Received: 4."),
        ({"opening": 8}, "Expected opening to be the number of a step. Received: 8."),
        ({"features": ["adj."]}, "Expected 4 features. Received: 1."),
    ],
)
def test_bad_input_is_refused_in_words(change, message):
    good = {"query": QUERY, "key": KEY, "value": VALUE, "rows": WORDS}
    with pytest.raises(ValueError, match=re.escape(message)):
        pipeline(**(good | change))

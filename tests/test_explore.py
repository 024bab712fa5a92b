"""The explorables: what all scenes share, the page around them and what a reader does there."""

import gzip
import json
import re
import time
from html.parser import HTMLParser
from importlib.resources import files
from urllib.parse import urlencode

import numpy as np
import pytest
from browser import needs_browser
from explore_page import write

from nlp104.attention.masks import masked_softmax
from nlp104.data import load_digits
from nlp104.data.grammar.lexicon import NOUNS
from nlp104.figures import explore, results
from nlp104.figures.drawing import Drawing
from nlp104.figures.explore.explorable import Explorable
from nlp104.figures.language import CONCEPTS, PATTERNS, sheet
from nlp104.utils.scripts import LOOKS, packaged

ENGLISH = ["The", "animal", "was", "too", "tired"]
FRENCH = ["[PAD]", "[START]", "l'", "animal", "est", "fatigué"]
SCENES = (
    "projection",
    "masked_attention",
    "evolution",
    "pipeline",
    "softmax_lab",
    "paths",
    "trained_heads",
    "heads",
    "machine",
    "residual",
    "positions",
    "wires",
    "shapes",
    "decoding",
    "family_tree",
    "devices",
    "word_map",
    "bleu",
    "descent",
    "speculative_sampling",
    "brackets",
    "blanks",
    "patching",
    "merges",
    "cross_entropy",
    "draw_digit",
    "next_letter",
)
FOURS = re.findall("....", "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
WIDTHS = (1280, 782, 390, 320)
EVIL = "<img src=x onerror='evil = 1'> & \"</script><script>evil = 1</script><!--<script>\""


@pytest.fixture(scope="module")
def figures(load_once):
    """One of each scene, of the size that chapters have."""
    rng = np.random.default_rng(104)
    kernels = rng.integers(-2, 3, (3, 4, 3))
    played = json.loads(results.read("blanks/played.json"))
    guessed = json.loads(results.read("language-model/guesses.json"))["passages"]
    return {
        "projection": explore.projection(
            rng.integers(0, 3, (5, 4)), kernels, ENGLISH, ("noun", "lives", "verb", "degree")
        ),
        "masked_attention": explore.masked_attention(
            2 * rng.normal(size=(2, 6, 6)), FRENCH, ["", *FRENCH[2:], "[END]"]
        ),
        "evolution": explore.evolution(),
        "pipeline": explore.pipeline(*rng.normal(size=(3, 2, 5, 4)), ENGLISH),
        "softmax_lab": explore.softmax_lab(),
        "paths": explore.paths(),
        "trained_heads": explore.trained_heads(
            load_once("grammar"),
            {
                "tired": "The animal did not cross the street because it was too tired.",
                "like": ("I like the black cat.", "like", "aime"),
            },
        ),
        "patching": explore.patching(load_once("grammar")),
        "heads": explore.heads(),
        "machine": explore.machine(load_once("grammar"), "The black cat sleeps."),
        "residual": explore.residual(),
        "positions": explore.positions(),
        "wires": explore.wires(json.loads(results.read("wires/losses.json"))),
        "shapes": explore.shapes(),
        "decoding": explore.decoding(),
        "family_tree": explore.family_tree(),
        "devices": explore.devices(),
        "bleu": explore.bleu(),
        "descent": explore.descent(),
        "speculative_sampling": explore.speculative_sampling(),
        "blanks": explore.blanks(played["sentences"], played["vocabulary"]),
        "brackets": explore.brackets(
            {
                "the cat": ("The black cat sleeps .", "(S (NP DT JJ NN )NP (VP VBZ )VP . )S"),
                "wrong": (
                    "The dress that he buys is white .",
                    "(S (NP (NP DT NN )NP (SBAR (WHNP WDT )WHNP (S (NP PRP )NP (VP VBZ )VP )S "
                    ")SBAR (VP VBZ (ADJP JJ )ADJP )VP . )S",
                ),
            }
        ),
        "merges": explore.merges(
            [pair for a, b, c, d in FOURS for pair in ((a, b), (c, d), (a + b, c + d))],
            {f"▁{word}": 2 for word in FOURS},
            "abcd efg what",
        ),
        "cross_entropy": explore.cross_entropy(
            ["chat", "le", "chien", "noir", "dort", "[PAD]"],
            [1.5, 0.3, 1.2, -0.4, -0.8, 0.0],
            "The black cat sleeps.",
            "Le chat noir dort.",
            1,
        ),
        "draw_digit": explore.draw_digit(list(zip(*reversed(load_digits()), strict=True))[950:952]),
        "next_letter": explore.next_letter(guessed, step=21),
        "word_map": explore.word_map(
            NOUNS[:24], {name: rng.normal(size=(24, 64)) for name in ("by lot", "near", "far")}
        ),
    }


@pytest.fixture(scope="module")
def page(figures, tmp_path_factory):
    """All of them one below the other."""
    return write(tmp_path_factory.mktemp("explore") / "page.html", *figures.values())


@pytest.fixture(scope="module")
def alone(figures, tmp_path_factory):
    """Each on a page of its own."""
    folder = tmp_path_factory.mktemp("alone")
    return {name: write(folder / f"{name}.html", figure) for name, figure in figures.items()}


@pytest.fixture(scope="module")
def reader(window):
    """A browser; each test opens the page that it looks at."""
    return window


# --- what is handed over ---


class _Elements(HTMLParser):
    """The elements of a page, each closed where it should be."""

    VOID = ("meta", "img", "input", "br")

    def __init__(self, text):
        super().__init__()
        self.found, self.open, self.texts = [], [], {}
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, text):
        self.texts.setdefault(self.open[-1] if self.open else "", []).append(text)

    def handle_comment(self, text):
        raise AssertionError(f"A comment: {text}")


def test_no_scene_is_forgotten(figures):
    folders = files("nlp104.figures.explore").joinpath("scenes").iterdir()
    assert {folder.name for folder in folders} == set(SCENES) == set(figures)


def _file(name):
    return files("nlp104").joinpath(*name.split("/")).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", SCENES)
def test_the_html_is_whole_and_holds_its_data(figures, name):
    figure = figures[name]
    elements = _Elements(figure.html)
    data, *scripts = elements.texts["script"]
    assert json.loads(data) == json.loads(json.dumps(figure.data))
    assert [s.strip() for s in scripts] == [_file(script).strip() for script in figure.scripts]
    tag, outer = elements.found[0]
    assert (tag, outer["data-scene"], outer["aria-label"]) == ("figure", name, figure.title)
    (still,) = (look for _, look in elements.found if look.get("class") == "instead")
    assert still["aria-label"] == figure.alt
    bundle = figure._repr_mimebundle_()
    assert bundle["text/html"] == figure.html
    assert figure.alt in bundle["text/plain"]


@pytest.mark.parametrize("name", SCENES)
def test_nothing_in_the_html_leads_outside(figures, name):
    html = figures[name].html
    code = re.sub(r"^ *//.*", "", html, flags=re.MULTILINE)
    addresses = set(re.findall(r"\w+://[^\s\"'`<>)]+|[\"'`(]//\w[^\s\"'`]*", code))
    assert addresses <= {"http://www.w3.org/2000/svg"}
    for word in ("fetch", "import", "importScripts", "XMLHttpRequest", "WebSocket", "EventSource",
                 "sendBeacon", "Worker", "Image", "eval", "Function"):  # fmt: skip
        assert not re.search(rf"\b{word}\b", html), word
    assert set(re.findall(r"url\(.*?\)", html)) == {"url(#nlp104-hatch)", "url(#nlp104-leak)"}
    for _, attributes in _Elements(html).found:
        assert not {"src", "srcset", "href", "xlink:href", "action"} & set(attributes)
        assert not any(attribute.startswith("on") for attribute in attributes)


@pytest.mark.parametrize("name", SCENES)
def test_scripts_and_styles_of_an_output_are_small(figures, name):
    scripts = figures[name].scripts
    parts = [*map(_file, scripts), figures[name].style, PATTERNS]
    assert len(gzip.compress("".join(parts).encode())) <= 28_000
    own = "".join(_file(script) for script in scripts if "/scenes/" in script)
    assert len(gzip.compress(own.encode())) <= 10_000


def test_save_writes_one_page(figures, tmp_path):
    figure = figures["evolution"]
    figure.save(tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert figure.html in text
    assert "title" in dict(_Elements(text.partition(">")[2]).texts)
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]


def test_hostile_text_stays_text_in_the_file():
    made = Explorable("evolution", EVIL, {"a": [EVIL]}, "<svg></svg>", EVIL)
    elements = _Elements(made.html)
    assert json.loads(elements.texts["script"][0]) == {"title": EVIL, "a": [EVIL]}
    assert [tag for tag, _ in elements.found].count("script") == 1 + len(made.scripts)
    assert "img" not in dict(elements.found)
    assert elements.found[0][1]["aria-label"] == EVIL


@needs_browser
def test_hostile_text_stays_text_on_the_page(reader, tmp_path):
    tokens = [EVIL, "**b**<b>", "$x_1$", "[q|x]"]
    figure = explore.projection(np.eye(4), [np.eye(4)] * 3, tokens, tokens)
    figure.title = figure.data["title"] = figure.alt = EVIL
    reader.open(write(tmp_path / "page.html", figure))
    for step in range(reader.evaluate("scenes[0].chapters.length")):
        _go(reader, step)
        assert reader.evaluate("typeof evil") == "undefined"
        assert reader.evaluate("document.querySelectorAll('img').length") == 0
    assert reader.evaluate("document.querySelector('.title').textContent") == EVIL
    words = reader.evaluate("[...document.querySelectorAll('.token text')].map(t => t.textContent)")
    assert set(words) >= {EVIL, "**b**<b>", "$x_1$"}
    assert reader.complaints == []


# --- the numbers ---


@needs_browser
def test_the_page_computes_as_numpy_and_the_package_do(reader, alone):
    reader.open(alone["evolution"])
    rng = np.random.default_rng(1)
    A, B = rng.normal(size=(5, 7)), rng.normal(size=(7, 3))
    product = reader.call("(A, B) => nlp104.multiply(A, B)", A.tolist(), B.tolist())
    np.testing.assert_allclose(product, A @ B, atol=1e-9)
    np.testing.assert_array_equal(reader.call("(A) => nlp104.transpose(A)", A.tolist()), A.T)
    for signs in ([1, 1, -1], [-1, -1, 1]):
        tenths = f"nlp104.dot([0.1, 0.2, 0.3], {signs})"
        assert reader.evaluate(f"Object.is({tenths}, 0)")  # neither 5.6e-17 nor −0

    scores = 30 * rng.normal(size=(6, 5))
    scores[4] += 1000.0  # exp alone would overflow
    seen = rng.random((6, 5)) < 0.6
    seen[1], seen[2], seen[3] = False, True, np.arange(5) == 2
    masked = np.where(seen, scores, -np.inf)
    with_none = [[None if np.isinf(x) else x for x in row] for row in masked.tolist()]
    weights = np.array(
        reader.call("(A) => A.map((r) => nlp104.softmax(r.map((x) => x ?? -Infinity)))", with_none)
    )
    powers = np.exp(masked - np.where(seen.any(1), masked.max(1), 0.0)[:, None])
    expected = powers / np.maximum(powers.sum(1, keepdims=True), 1e-300)
    np.testing.assert_allclose(weights, expected, atol=1e-14)
    np.testing.assert_array_equal(weights[1], 0.0)
    np.testing.assert_allclose(weights, masked_softmax(scores.astype("float32"), seen), atol=1e-5)


@needs_browser
def test_numbers_are_written_as_python_writes_them(reader, alone):
    reader.open(alone["evolution"])
    numbers = [0.0, -0.001, 0.004, 12.345, -7.0, *np.random.default_rng(2).normal(size=50).tolist()]
    for digits in (0, 1, 2):
        written = reader.call("(A, d) => A.map((x) => nlp104.write(x, d))", numbers, digits)
        expected = [f"{x:.{digits}f}" for x in numbers]
        expected = [x if float(x) else x.lstrip("-") for x in expected]
        assert written == [x.replace("-", "−") for x in expected]
    assert reader.evaluate("nlp104.write(-Infinity)") == "−∞"


@needs_browser
def test_an_index_is_smaller_than_its_letter_and_lower(reader, alone):
    reader.open(alone["evolution"], at="#evolution:step=6")
    letters = reader.evaluate("""
      [...document.querySelectorAll('.stage text')].filter((t) => /^W.$/.test(t.textContent))
        .map((text) => [...text.children].map((piece) => [piece.textContent,
          parseFloat(getComputedStyle(piece).fontSize), piece.getStartPositionOfChar(0).y]))""")
    assert [index[0] for _, index in letters] == ["Q", "K", "V"]
    for (_, size, line), (_, small, low) in letters:
        assert 12 <= small < size
        assert low > line


@needs_browser
def test_a_matrix_looks_the_same_in_a_still_and_on_the_stage(reader, alone):
    reader.open(alone["evolution"])
    values = np.array([[0.8, -0.4, 0.0], [0.3, -1.6, 1.2]])
    hidden = np.array([[False, False, False], [True, False, False]])
    look = """[...svg.querySelectorAll('rect')].map((rect) => {
      const { fillOpacity, strokeOpacity, fill, stroke } = getComputedStyle(rect);
      const [tinted, lined] = [fill !== 'none' && +fillOpacity > 0, stroke !== 'none'];
      const { x, y, width, height } = rect.getBoundingClientRect();
      const { left, top } = svg.getBoundingClientRect();
      return [x - left, y - top, width, height, tinted && fill, tinted && +fillOpacity,
              lined && +strokeOpacity > 0 && stroke, lined && +strokeOpacity > 0 && strokeOpacity];
    }).filter((look) => look[4] || look[6])"""
    drawing = Drawing(200)
    drawing.matrix(10, 20, values, "a", width=44, height=34, digits=1, hidden=hidden)
    still = reader.call(
        f"""(html) => {{
          const figure = document.querySelector('.explore');
          figure.insertAdjacentHTML('beforeend', html);
          const svg = figure.lastElementChild, found = {look};
          svg.remove();
          return found;
        }}""",
        drawing.svg(100),
    )
    moving = reader.call(
        f"""(values, hidden) => {{
          const svg = nlp104.svg('svg', {{ width: 200, height: 100 }});
          document.querySelector('.explore').append(svg);
          const of = (i, j) => ({{ hidden: hidden[i][j] }});
          new nlp104.Stage(svg).draw([nlp104.matrix('m', values, {{
            x: 10, y: 20, w: 44, h: 34, concept: 'a', max: 1.6, of }})], true);
          svg.querySelectorAll('.hatch[opacity="0"]').forEach((rect) => rect.remove());
          const found = {look};
          svg.remove();
          return found;
        }}""",
        values.tolist(),
        hidden.tolist(),
    )
    assert len(still) == 11  # six cells, two tints, two outlines, one hatching
    assert len(moving) == len(still)
    for one, other in zip(still, moving, strict=True):
        assert one[4::2] == other[4::2]
        assert np.array(one[:4] + one[5::2], float) == pytest.approx(
            np.array(other[:4] + other[5::2], float), abs=2e-3
        )


@pytest.mark.slow
@needs_browser
def test_a_key_may_name_another_part_at_another_width(reader, alone):
    """The old part goes, and the new one stands in its place."""
    reader.open(alone["evolution"])
    kinds = reader.call(
        """() => {
          const svg = nlp104.svg('svg'), stage = new nlp104.Stage(svg);
          const drawn = (mark) => {
            stage.draw([mark], true);
            return [...svg.querySelectorAll('g > g')].map((group) => group.getAttribute('class'));
          };
          return [
            drawn(nlp104.label('a', 5, 5, 'word', {})),
            drawn(nlp104.token('a', { x: 5, y: 5, w: 40, h: 20, source: 'word' })),
            drawn(nlp104.label('a', 5, 5, 'word', {})),
          ];
        }"""
    )
    assert kinds[0] != kinds[1]
    assert kinds[0] == kinds[2]
    assert [len(each) for each in kinds] == [1, 1, 1]


# --- one reader after the other ---


def _go(reader, step, figure=0):
    reader.call(
        """(figure, step) => {
          const root = document.querySelectorAll('.explore')[figure];
          const slider = root.querySelector('input[type=range]');
          slider.value = step;
          slider.dispatchEvent(new Event('input'));
        }""",
        figure,
        step,
    )


def _choose(reader, option, value, figure=0):
    reader.call(
        """(figure, option, value) => document.querySelectorAll('.explore')[figure]
          .querySelector(`[data-option="${option}"] [value="${value}"]`).click()""",
        figure,
        option,
        value,
    )


SEEN = """(figure) => {
  const root = document.querySelectorAll('.explore')[figure];
  return {
    caption: root.querySelector('figcaption').textContent,
    table: [...root.querySelectorAll('.unseen tr')].slice(1).map((row) =>
      [...row.querySelectorAll('td')].map((cell) => cell.textContent)),
    stage: [...root.querySelectorAll('.stage g > g')].map((group) =>
      [group.getAttribute('class'), group.style.transform, group.textContent].join()).sort(),
  };
}"""


@pytest.mark.slow
@needs_browser
@pytest.mark.parametrize("name", SCENES)
def test_what_is_heard_follows_what_is_seen(reader, alone, name):
    reader.open(alone[name])
    figure, read = "document.querySelector('.explore')", set()
    last = reader.evaluate(f"+{figure}.querySelector('[type=range]').max")
    for step in range(last + 1):
        _go(reader, step)
        seen, drawn = reader.call(SEEN, 0), reader.draw(step=step)
        plain = reader.call("(caption) => nlp104.plain(caption)", drawn.caption)
        assert seen["caption"] == plain
        assert not re.search(r"[*$]|\[[qkvapr]\||undefined|NaN", plain)
        assert len(seen["table"]) == len(drawn.rows)
        for line, values in zip(seen["table"], drawn.values, strict=True):
            assert len(values) == len(drawn.columns)
            for text, value in zip(line, values, strict=True):
                assert (text == "hidden") == np.isnan(value)
                if text != "hidden":
                    assert float(text.replace("−", "-")) == pytest.approx(value, abs=0.00501)
        assert plain in reader.evaluate(f"{figure}.querySelector('[type=range]').ariaValueText")
        read.add(plain)
    assert len(read) == step + 1  # no two steps say the same
    assert reader.evaluate(f"{figure}.querySelector('figcaption').ariaLive") == "polite"
    assert reader.complaints == []


# Buttons whose name lacks what is written on them: who speaks to the computer cannot press these.
UNCALLED = """() => {
  const plain = (text) => text.toLowerCase().replace(/\\s+/g, ' ').trim();
  return [...document.querySelectorAll('.explore [data-act]')]
    .filter((mark) => mark.lastElementChild.checkVisibility({ opacityProperty: true }))
    .map((mark) => [plain(mark.textContent), plain(mark.ariaLabel)])
    .filter(([written, name]) => !name.includes(written));
}"""


@pytest.mark.slow
@needs_browser
@pytest.mark.parametrize("name", SCENES)
def test_a_button_is_called_what_is_written_on_it(reader, alone, name):
    reader.open(alone[name])
    for step in range(reader.evaluate("scenes[0].chapters.length")):
        _go(reader, step)
        assert reader.call(UNCALLED) == []


PRESSED = """(figure, number) => {
  const root = document.querySelectorAll('.explore')[figure];
  const kinds = new Map([...root.querySelectorAll('[data-act]')].map((mark) =>
    [mark.dataset.act.split(':')[0], mark]));
  const mark = [...kinds.values()][number];
  mark?.dispatchEvent(new MouseEvent('click', { bubbles: true }));
  return mark?.dataset.act;
}"""


@pytest.mark.slow
@needs_browser
@pytest.mark.parametrize("name", SCENES)
def test_every_state_has_an_address(reader, alone, name):
    reader.open(alone[name])
    start, steps = reader.state(), reader.evaluate("scenes[0].chapters.length")
    assert reader.evaluate("location.hash") == ""
    addresses = {}
    for number in range(3):  # a step, then something that can be pressed in it
        _go(reader, (number + 2) % steps)
        if reader.call(PRESSED, 0, number):
            reader.call(PRESSED, 0, number + 1)
        addresses[reader.evaluate("location.hash")] = reader.state(), reader.call(SEEN, 0)
    for option in reader.evaluate("[...document.querySelectorAll('.tools fieldset:not([hidden])')]"
                                  ".map((set) => set.dataset.option)"):  # fmt: skip
        _choose(reader, option, reader.evaluate(
            f"[...document.querySelectorAll('[data-option={option}] input')].at(-1).value"
        ))  # fmt: skip
    addresses[reader.evaluate("location.hash")] = reader.state(), reader.call(SEEN, 0)
    assert len(addresses) >= 3
    for address, (state, seen) in addresses.items():
        assert address.startswith(f"#{name}:")
        reader.open(alone[name], at=address)
        assert reader.state() == state
        assert reader.call(SEEN, 0) == seen
    kept = reader.evaluate("scenes[0].keep ?? []")
    reader.evaluate("document.querySelector('[title=\"Start again\"]').click()")
    assert reader.state() == start | {key: state[key] for key in kept} | {"step": 0}
    assert reader.complaints == []


@needs_browser
def test_an_address_without_a_state_leads_to_the_figure(reader, page):
    """The links of the gallery."""
    for name in (SCENES[0], SCENES[-1]):
        reader.open(page, at=f"#{name}:")
        reader.rest()
        look = f"""document.querySelector('[data-scene="{name}"]').getBoundingClientRect().top"""
        assert -1 <= reader.evaluate(look) < 900, name
        assert reader.state(SCENES.index(name)) == reader.evaluate(
            f"({{ step: 0, ...scenes[{SCENES.index(name)}].start }})"
        )


@pytest.mark.slow
@needs_browser
@pytest.mark.parametrize("name", SCENES)
def test_an_address_of_old_or_of_nobody_shows_the_figure(reader, alone, name):
    reader.open(alone[name], at="#100%")
    start = reader.state()
    for address, step in {
        f"{name}:": start["step"], "other:step=2": start["step"],
        f"{name}:step=-3&nobody=1": 0, f"{name}:step=two": 0,
        f"{name}:step=1": 1, "100%": 1, f"{name}:step=2&mask=nobody&ending=&future=1": 2,
        f"{name}:row=77&head=9&cell=Q99,9&weight=x&edits=x&order=9&step=2.5": None,
    }.items():  # fmt: skip
        reader.evaluate(f"location.hash = '#{address}'")
        reader.rest()
        if step is not None:
            assert reader.state() == start | {"step": step}, address
        assert reader.evaluate("document.querySelectorAll('.stage text').length") > 5, address
        assert reader.complaints == [], address
    reader.open(alone[name], at=f"#{address}")
    reader.evaluate("document.querySelector('[title=\"One step on\"]').click()")
    assert reader.complaints == []


@pytest.mark.slow
@needs_browser
def test_a_link_on_the_page_leads_to_a_state(reader, page):
    reader.open(page)
    before = [reader.state(figure)["step"] for figure in (0, 1, 3)]
    reader.evaluate(
        "location.hash = '#evolution:step=4&ending=wide'; new Promise(requestAnimationFrame)"
    )
    assert (reader.state(2)["step"], reader.state(2)["ending"]) == (4, "wide")
    assert [reader.state(figure)["step"] for figure in (0, 1, 3)] == before


ACTIVE = "document.activeElement"


@needs_browser
def test_a_reader_with_a_keyboard_walks_through_all_steps(reader, alone):
    reader.open(alone["evolution"])
    for _ in range(3):  # the title's tools, then the stage
        reader.press("Tab")
        if reader.evaluate(f"{ACTIVE}.className") == "stage":
            break
    assert reader.evaluate(f"{ACTIVE}.className") == "stage"
    steps = reader.evaluate("scenes[0].chapters.length")
    for keys, step in (
        (["ArrowRight"], 1), (["ArrowRight", "ArrowRight"], 3), (["ArrowLeft"], 2),
        (["End"], steps - 1), (["ArrowRight"], steps - 1), (["Home"], 0), (["ArrowLeft"], 0),
    ):  # fmt: skip
        reader.press(*keys)
        assert reader.state()["step"] == step
    assert reader.evaluate(f"{ACTIVE}.className") == "stage"


@needs_browser
@pytest.mark.parametrize(("title", "end"), [("One step on", 5), ("One step back", 0)])
def test_a_button_that_has_come_to_the_end_keeps_the_focus(reader, alone, title, end):
    reader.open(alone["trained_heads"], at="#trained_heads:step=3")
    button = f"document.querySelector('[title=\"{title}\"]')"
    reader.evaluate(f"{button}.focus()")
    reader.press(*("Enter",) * 6)
    assert reader.state()["step"] == end
    assert reader.evaluate(f"document.activeElement === {button}")
    reader.tap("head:3")
    reader.evaluate(f"{button}.focus()")
    reader.press("Enter")  # nothing: what was chosen stays
    assert reader.state()["head"] == 3


@needs_browser
def test_a_reader_with_a_keyboard_presses_what_can_be_pressed(reader, alone):
    reader.open(alone["evolution"], at="#evolution:step=5")
    reader.evaluate("document.querySelector('.stage').focus()")
    reader.press("Tab")
    assert reader.evaluate(f"{ACTIVE}.getAttribute('aria-label')") == "Query of it"
    assert reader.evaluate(f"{ACTIVE}.getAttribute('aria-pressed')") == "true"
    reader.press("ArrowUp")  # moves on and presses
    assert reader.evaluate(f"{ACTIVE}.getAttribute('aria-label')") == "Query of street"
    assert reader.state()["row"] == 2
    reader.press("ArrowUp", "ArrowUp", "ArrowUp")  # stops at the first
    assert reader.state()["row"] == 0
    reader.press("Escape")
    assert reader.evaluate(f"{ACTIVE}.className") == "stage"
    for key in ("Enter", " "):
        reader.open(alone["projection"], at="#projection:step=3")
        reader.evaluate("document.querySelector('.stage').focus()")
        reader.press("Tab")
        pressed = reader.evaluate(f"{ACTIVE}.dataset.act")
        assert pressed.startswith("swap:")
        reader.press(key)
        assert reader.state()["order"] == "1,0,2,3,4"
        assert reader.evaluate(f"{ACTIVE}.dataset.act") == pressed  # still in the hand
        assert reader.state()["step"] == 3  # neither played nor moved


REACHED = """(figure) => {
  const root = document.querySelectorAll('.explore')[figure];
  const marks = [...root.querySelectorAll('[data-act]')];
  const places = new Map(marks.map((mark) => [mark.dataset.at, mark]));
  const reached = new Set(marks.filter((mark) => mark.tabIndex === 0));
  for (const mark of reached) {
    const [group, row, column] = mark.dataset.at.split(':');
    for (const [down, right] of [[0, 1], [0, -1], [1, 0], [-1, 0]]) {
      const next = places.get(`${group}:${+row + down}:${+column + right}`);
      if (next) reached.add(next);
    }
  }
  const can = new Set([...reached].map((mark) => mark.dataset.act));
  return [
    marks.map((mark) => mark.dataset.act).filter((act) => !can.has(act)),
    marks.filter((mark) => !['button', 'slider'].includes(mark.getAttribute('role'))
      || !mark.getAttribute('aria-label') || mark.closest('[aria-hidden=true]')).length,
    [...root.querySelectorAll('.stage g > g:not([data-act])')].filter((mark) =>
      mark.getAttribute('aria-hidden') !== 'true').length,
  ];
}"""


@pytest.mark.slow
@needs_browser
@pytest.mark.parametrize("name", SCENES)
def test_a_keyboard_reaches_all_that_a_hand_does(reader, alone, name):
    reader.open(alone[name])
    missed = reader.evaluate(
        f"""scenes[0].chapters.flatMap((chapter, step) => {{
          const slider = document.querySelector('.explore [type=range]');
          slider.value = step;
          slider.dispatchEvent(new Event('input'));
          return [-1, 0, 1, 2].map((number) => {{
            if (number >= 0) ({PRESSED})(0, number);
            return [step, number, ...({REACHED})(0)];
          }});
        }}).filter(([step, number, hidden, nameless, shown]) => hidden.length + nameless + shown)"""
    )
    assert missed == []


RESTLESS = """(figure, count) => {
  const root = document.querySelectorAll('.explore')[figure], seen = new Set();
  let seed = 104;
  const pick = (list) => list[(seed = (48271 * seed) % 2147483647) % list.length];
  const slider = root.querySelector('[type=range]');
  for (let i = 0; i < count; i++) {
    const marks = [...root.querySelectorAll('[data-act]')];
    const inputs = [...root.querySelectorAll('fieldset:not([hidden]) input')];
    const buttons = [...root.querySelectorAll('.bar button')];
    const kind = pick(['mark', 'mark', 'mark', 'mark', 'choice', 'step', 'button']);
    if (kind === 'mark' && marks.length)
      pick(marks).dispatchEvent(new MouseEvent('click', { bubbles: true }));
    if (kind === 'choice' && inputs.length) pick(inputs).click();
    if (kind === 'button') pick(buttons).click();
    if (kind === 'step') {
      slider.value = pick([...Array(+slider.max + 1).keys()]);
      slider.dispatchEvent(new Event('input'));
    }
    const words = root.querySelector('figcaption').textContent
      + [...root.querySelectorAll('.stage text, .unseen td')].map((e) => e.textContent).join(' ')
      + marks.map((mark) => mark.ariaLabel).join(' ');
    if (/NaN|undefined|Infinity|\\[object/.test(words)) return root.dataset.state;
    seen.add(root.dataset.state);
  }
  return seen.size;
}"""


@pytest.mark.slow
@needs_browser
@pytest.mark.parametrize("name", SCENES)
def test_a_restless_reader_breaks_nothing(reader, alone, name):
    reader.open(alone[name], width=390)
    assert reader.call(RESTLESS, 0, 120) > 20
    assert reader.complaints == []


DRAWN = """() => {
  const root = document.querySelector('.explore'), passing = ['data-source', 'style'];
  const written = (element) => [element.tagName, element.style.transform,
    ...[...element.attributes].map(({ name, value }) => [name, value])
      .filter(([name]) => !passing.includes(name)).sort().map(String),
    ...(element.children.length ? [...element.children].map(written) : [element.textContent])];
  const layers = [...root.querySelectorAll('.stage svg > g')];
  return [root.querySelector('figcaption').textContent, root.querySelector('.count').textContent,
    ...layers.map((layer) => [...layer.children].map((mark) => `${written(mark)}`).sort())];
}"""


@pytest.mark.slow
@needs_browser
@pytest.mark.parametrize("name", SCENES)
def test_what_is_seen_depends_on_the_state_alone(reader, alone, name):
    """And not on the way there: a walk leaves nothing behind, and nothing in another layer."""
    for steps in (7, 19, 40):
        reader.open(alone[name], width=390)
        reader.call(RESTLESS, 0, steps)
        reader.evaluate("document.querySelector('.play').textContent === 'Pause' "
                        "&& document.querySelector('.play').click()")  # fmt: skip
        walked, state = reader.call(DRAWN), reader.state()
        known = {key: value for key, value in state.items() if value is not None}
        address = urlencode(known).replace("True", "true").replace("False", "false")
        reader.open(alone[name], width=390, at=f"#{name}:{address}")
        reader.rest()
        assert reader.call(DRAWN) == walked, state


@needs_browser
def test_the_smallest_figures_work(reader, tmp_path):
    words = ["[PAD]", "[START]", "le"]
    figures = [
        explore.projection(np.eye(2), [np.eye(2), np.ones((2, 1)), np.eye(2)], ["a", "b"]),
        explore.projection([[1.5]], [[[2.0]]] * 3, ["one"]),
        explore.masked_attention(np.zeros((1, 3, 3)), words, ["", "le", "[END]"]),
    ]
    reader.open(write(tmp_path / "page.html", *figures), width=390)
    for figure in range(len(figures)):
        assert reader.call(RESTLESS, figure, 100) > 3
        assert reader.call(LOOK, figure, False, True) == []
    assert reader.complaints == []


@needs_browser
def test_it_plays_by_itself_and_stops_at_a_touch(reader, alone):
    reader.open(alone["projection"])
    reader.evaluate("document.querySelector('.stage').focus()")
    button = "document.querySelector('.play').textContent"
    live = "document.querySelector('figcaption').getAttribute('aria-live')"
    assert (reader.evaluate(button), reader.evaluate(live)) == ("Play", "polite")
    reader.press(" ")
    assert (reader.evaluate(button), reader.evaluate(live)) == ("Pause", "off")
    deadline = time.monotonic() + 10
    while reader.state()["step"] == 0:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert reader.evaluate("location.hash") == ""  # the history is not filled while it plays
    reader.press(" ")
    assert (reader.evaluate(button), reader.evaluate(live)) == ("Play", "polite")
    assert reader.state()["step"] == 1
    assert reader.evaluate("location.hash") == "#projection:step=1"
    reader.press("End", " ")  # from the end it plays from the start
    assert (reader.state()["step"], reader.evaluate(button)) == (0, "Pause")
    reader.press("ArrowRight")
    assert (reader.state()["step"], reader.evaluate(button)) == (1, "Play")


@needs_browser
@pytest.mark.parametrize("name", ["projection", "pipeline"])  # the stage; an equation, too
def test_nothing_moves_for_a_reader_who_wants_it_so(reader, alone, name):
    moving = "document.getAnimations().length"
    for motion, moves in (("reduce", False), ("no-preference", True)):
        reader.open(alone[name], motion=motion)
        reader.evaluate("document.querySelector('.stage').focus()")
        reader.press("End")
        assert (reader.evaluate(moving) > 0) is moves
        if moves:
            reader.evaluate("Promise.all(document.getAnimations().map((a) => a.finished))")
            glided = reader.call(SEEN, 0)
        else:
            still = reader.call(SEEN, 0)
    assert glided == still


@needs_browser
def test_a_page_with_captions_of_its_own_leaves_that_of_a_figure_alone(reader, figures, tmp_path):
    path = write(tmp_path / "page.html", figures["evolution"])
    own = "<style>figcaption { font: 300 italic 20px serif; padding-left: 8px }</style>"
    path.write_text(
        path.read_text(encoding="utf-8").replace("<style>", f"{own}<style>", 1), "utf-8"
    )
    reader.open(path)
    look = reader.evaluate("""(() => {
      const look = getComputedStyle(document.querySelector('.explore > figcaption'));
      return [look.fontWeight, look.fontStyle, look.fontSize, look.paddingLeft];
    })()""")
    assert look == ["400", "normal", "16px", "0px"]


@needs_browser
def test_two_copies_live_on_one_page(reader, figures, tmp_path):
    path = write(tmp_path / "page.html", figures["evolution"], figures["evolution"])
    reader.open(path)
    start = reader.state(1)
    _go(reader, 3, figure=1)
    _choose(reader, "ending", "wide", figure=1)
    assert reader.state(0) == start
    assert reader.state(1) == start | {"step": 3, "ending": "wide"}
    address = reader.evaluate("location.hash")
    assert address.startswith("#evolution-2:")
    checked = "[...document.querySelectorAll('.tools input:checked')].map((i) => i.value)"
    assert reader.evaluate(checked) == ["tired", "wide"]
    reader.open(path, at=address)
    assert reader.state(0) == start
    assert reader.state(1) == start | {"step": 3, "ending": "wide"}
    reader.open(path, at=address.replace("-2", ""))
    assert reader.state(0) == start | {"step": 3, "ending": "wide"}
    assert reader.state(1) == start
    assert reader.complaints == []


@pytest.mark.slow
@needs_browser
def test_the_still_stands_in_where_scripts_are_off(reader, alone):
    shown = """[...document.querySelectorAll('.instead')].map((still) => [
      still.checkVisibility(), still.querySelectorAll('svg rect').length > 8,
      still.scrollWidth <= document.documentElement.clientWidth])"""
    stages = "document.querySelectorAll('.stage').length"
    for path in alone.values():
        reader.ask("Emulation.setScriptExecutionDisabled", value=True)
        try:  # what scripts of the page may not do, the debugger may
            reader.open(path, width=390)
            assert reader.evaluate(shown) == [[True, True, True]], path.name
            assert reader.evaluate(stages) == 0
        finally:
            reader.ask("Emulation.setScriptExecutionDisabled", value=False)
        reader.open(path, width=390)
        assert [visible for visible, *_ in reader.evaluate(shown)] == [False]
        assert reader.evaluate(stages) == 1


# --- on every window ---

LOOK = """(figure, contrast, choices) => {
  const root = document.querySelectorAll('.explore')[figure];
  const svg = root.querySelector('.stage svg'), slider = root.querySelector('[type=range]');
  const page = document.documentElement, problems = new Set();
  const bar = root.querySelector('.bar');
  bar.style.position = 'static'; // on a phone it floats; here its place in the page is asked
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const colours = new Map();
  const rgba = (name) => {
    if (!colours.has(name)) {
      canvas.clearRect(0, 0, 1, 1);
      canvas.fillStyle = name;
      canvas.fillRect(0, 0, 1, 1);
      colours.set(name, [...canvas.getImageData(0, 0, 1, 1).data].map((v) => v / 255));
    }
    return colours.get(name);
  };
  const luminance = (rgb) => rgb.slice(0, 3)
    .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const ground = rgba(getComputedStyle(root).backgroundColor);
  const look = (where) => {
    if (page.scrollWidth > page.clientWidth) problems.add(`${where}: scrolls sideways`);
    const frame = svg.getBoundingClientRect(), sizes = new Map();
    for (const text of svg.querySelectorAll('text')) {
      const words = text.textContent.trim(), group = text.parentNode;
      if (!words || text.getAttribute('opacity') === '0') continue;
      if (group.getAttribute('opacity') === '0') continue;
      const { left, right } = text.getBoundingClientRect();
      if (left < frame.left - 4 || right > frame.right + 4) // − is wider than a digit
        problems.add(`${where}: ${words} from ${left - frame.left} to ${right - frame.left}`);
      const pieces = text.children.length ? [...text.children] : [text];
      for (const piece of pieces) if (parseFloat(getComputedStyle(piece).fontSize) < 12)
        problems.add(`${where}: ${words} is small`);
      if (!contrast) continue;
      let below = ground;
      for (const rect of group.querySelectorAll('rect:not([opacity="0"])')) {
        const { fill, fillOpacity } = getComputedStyle(rect);
        if (fill === 'none' || fill.startsWith('url')) continue;
        const colour = rgba(fill), share = colour[3] * fillOpacity;
        below = below.map((v, i) => (1 - share) * v + share * colour[i]);
      }
      const opacity = Number(group.getAttribute('opacity'));
      const through = (colour) => ground.map((v, i) => (1 - opacity) * v + opacity * colour[i]);
      for (const piece of pieces) {
        const pair = [rgba(getComputedStyle(piece).fill), below].map(through).map(luminance);
        const ratio = (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05);
        if (ratio < 4.5) problems.add(`${where}: ${words} has a contrast of ${ratio}`);
      }
    }
  };
  for (const option of [null, ...(choices ? root.querySelectorAll('.tools input') : [])]) {
    root.querySelector('[title="Start again"]').click();
    option?.click();
    const chosen = option ? `${option.name} ${option.value}, ` : '', tops = new Set();
    for (let step = 0; step <= slider.max; step++) {
      slider.value = step;
      slider.dispatchEvent(new Event('input'));
      look(`${chosen}step ${step}`);
      tops.add(Math.round(bar.getBoundingClientRect().top - root.getBoundingClientRect().top));
    }
    if (tops.size > 1) problems.add(`${chosen}the bar stands at ${[...tops]}`);
    const first = [...root.querySelectorAll('.tools input')].find((i) => i.name === option?.name);
    first?.click();
  }
  root.querySelector('[title="Start again"]').click();
  bar.style.position = '';
  return [...problems];
}"""


@pytest.mark.slow
@needs_browser
@pytest.mark.parametrize("name", SCENES)
def test_every_step_fits_every_window(reader, alone, name):
    """And *Next* does not move away from the thumb, whatever is switched on."""
    reader.open(alone[name])
    for width in WIDTHS:
        colours = width == 782  # they are the same at every width, and all else in both themes
        for theme in ("light", "dark") if colours else ("light",):
            reader.dress(width, theme)
            reader.rest()
            problems = reader.call(LOOK, 0, colours, width in (782, 320))  # the options of each
            assert problems == [], (width, theme)
    assert reader.complaints == []
    assert reader.requested == [alone[name].as_uri()]


@pytest.mark.slow
@needs_browser
@pytest.mark.parametrize("name", SCENES)
def test_chapters_have_their_names_where_there_is_room(reader, alone, name):
    """The one that is shown always has; none lies on another one or outside of its row."""
    reader.open(alone[name])
    find = """() => {
      const root = document.querySelector('.explore'), row = root.querySelector('.chapters');
      const slider = root.querySelector('[type=range]');
      return scenes[0].chapters.slice(0, +slider.max + 1).map((chapter, step) => {
        slider.value = step;
        slider.dispatchEvent(new Event('input'));
        const seen = [...row.children].filter((name) =>
          name.checkVisibility({ visibilityProperty: true }));
        const { left, right } = row.getBoundingClientRect();
        return [row.querySelector('.now').textContent === nlp104.plain(chapter), left, right,
          seen.map((name) => [name.getBoundingClientRect().left,
            name.getBoundingClientRect().right, name.matches('.now')])];
      });
    }"""
    names = "document.querySelectorAll('.explore .chapters button:not([hidden])')"
    count = reader.evaluate(f"{names}.length")
    for width in WIDTHS:
        reader.dress(width)
        reader.rest()
        for right_one, left, right, names in reader.call(find):
            assert right_one
            assert [now for *_, now in names].count(True) == (count > 1)
            assert len(names) >= min(count, 3) * (count > 1)
            before = left + 3.5  # names have margins of 6 pixels, and may share 4
            for start, end, _ in names:
                assert before - 4.5 <= start < end <= right + 1
                before = end


@needs_browser
def test_on_a_phone_the_bar_and_its_sentence_stay_on_the_screen(reader, alone):
    reader.open(alone["wires"], width=390)
    look = """(step) => {
      scrollTo({ top: 60, behavior: 'instant' });
      const root = document.querySelector('.explore'), bar = root.querySelector('.bar');
      const { top, bottom } = bar.getBoundingClientRect();
      const hit = document.elementFromPoint(195, bottom - 30);
      const { height } = root.getBoundingClientRect();
      const words = root.querySelector('figcaption'), sentence = words.getBoundingClientRect();
      const read = document.elementFromPoint(195, sentence.top + 20);
      return [bottom <= innerHeight, height > innerHeight + 100, bar.contains(hit),
        Math.abs(sentence.bottom - top) < 1, words.contains(read)];
    }"""
    assert reader.call(look) == [True] * 5
    reader.dress(1280)
    reader.rest()
    position = "getComputedStyle(document.querySelector('.explore .bar')).position"
    assert reader.evaluate(position) == "static"


@needs_browser
@pytest.mark.parametrize("name", ["heads", "pipeline", "paths"])  # higher than what is left of 900
def test_on_a_phone_a_step_brings_its_drawing_onto_the_screen(reader, alone, name):
    reader.open(alone[name], width=390)
    reader.evaluate("document.body.style.padding = '900px 0'")
    look = """() => {
      const root = document.querySelector('.explore');
      const top = (name) => root.querySelector(name)?.getBoundingClientRect().top;
      const { bottom } = root.querySelector('.stage').getBoundingClientRect();
      return [top('.equation') ?? top('.stage'), top('figcaption') - bottom];
    }"""
    for step in (1, 2, 3):
        for start in (600, 900, 1300):
            reader.evaluate(f"scrollTo(0, {start})")
            _go(reader, step)
            above, below = reader.call(look)
            assert above > -1, (step, start)
            assert below > -1, (step, start)
    reader.dress()


@needs_browser
def test_an_equation_stays_on_one_line(reader, alone):
    reader.open(alone["evolution"], width=360)
    reader.rest()
    ends = """['firstChild', 'lastChild'].map((end) => {
      const range = document.createRange();
      range.selectNode(document.querySelector('.equation .variant.lit')[end]);
      return range.getBoundingClientRect().bottom;
    })"""
    for step in range(6):  # the last one asks another question
        _go(reader, step)
        first, last = reader.evaluate(ends)
        assert last == pytest.approx(first, abs=6), step


def test_rules_of_captions_have_one_home():
    """What explorables and the translator share, both carry."""
    own = [f"figures/explore/player/{name}.css" for name in ("frame", "bar", "stage")]
    for path in (*own, "translation/web/page.css"):
        found = re.findall(r"figcaption \{([^}]*)\}", packaged(path))
        assert not any("font" in rule or "color" in rule for rule in found), path
    assert ":is(.explore, .translator) figcaption {" in packaged(LOOKS)


@needs_browser
@pytest.mark.parametrize("name", ["shapes", "masked_attention", "decoding"])
def test_a_choice_has_room_for_a_thumb(reader, alone, name):
    reader.open(alone[name], width=360)
    sizes = """[...document.querySelectorAll('.choice')].filter((box) => box.clientWidth)
      .flatMap((box) => [...box.children].map((label) => [label.clientWidth,
        label.clientHeight + 2]))"""  # with the box's border
    for size in reader.evaluate(sizes):
        assert min(size) >= 44


@needs_browser
@pytest.mark.parametrize("name", ["shapes", "machine", "decoding"])
def test_choices_leave_no_strip_beside_them(reader, alone, name):
    """Where they stand in two rows, each row is full."""
    reader.open(alone[name])
    rows = """() => [...document.querySelectorAll('.choice')].filter((box) => box.clientWidth)
      .map((box) => {
        const end = new Map(), frame = box.getBoundingClientRect();
        for (const label of box.children) {
          const { top, right } = label.getBoundingClientRect();
          end.set(Math.round(top), right);
        }
        return [...end.values()].map((right) => Math.round(frame.right - right));
      })"""
    found = []
    for width in (390, 360, 320):
        reader.dress(width)
        reader.rest()
        found += reader.call(rows)
    assert {gap for gaps in found for gap in gaps} <= {1}
    assert any(len(gaps) > 1 for gaps in found) == (name == "shapes")


@needs_browser
def test_a_finger_leaves_nothing_lit(reader, alone):
    """What a finger has touched would look hovered over until it touches something else."""
    reader.open(alone["trained_heads"])
    rules = """(() => {
      const found = [], look = (rules, media) => [...rules].forEach((rule) => {
        if (rule.media) look(rule.cssRules, media + rule.conditionText);
        else if (rule.selectorText?.includes(':hover')) found.push([rule.selectorText, media]);
      });
      for (const { cssRules } of document.styleSheets) look(cssRules, '');
      return found;
    })()"""
    found = reader.evaluate(rules)
    assert len(found) >= 3
    for selector, media in found:
        assert media == "(hover: hover)" or ".play" in selector, selector


@needs_browser
@pytest.mark.parametrize("name", ["wires", "machine", "devices", "evolution"])
def test_low_marks_have_room_for_a_finger(reader, alone, name):
    """28 pixels, and none reaches over to another one."""
    reader.open(alone[name])
    for width in (358, 718):
        marks = reader.draw(width=width, step=6).marks
        reach = [(mark["hit"], mark["act"]) for mark in marks if mark.get("act") and "hit" in mark]
        reach = [(hit, act) for hit, act in reach if not act.startswith("follow")]  # lie in boxes
        assert len(reach) > 4
        for i, (a, one) in enumerate(reach):
            assert a["h"] >= 28, one
            for b, other in reach[i + 1 :]:
                across = min(a["x"] + a["w"], b["x"] + b["w"]) - max(a["x"], b["x"])
                down = min(a["y"] + a["h"], b["y"] + b["h"]) - max(a["y"], b["y"])
                assert min(across, down) < 0.5, (one, other)


@pytest.mark.slow
@needs_browser
def test_a_page_follows_the_theme_that_is_chosen_on_it(reader, alone):
    ground = "getComputedStyle(document.querySelector('.explore')).backgroundColor"
    light, dark = "rgb(255, 255, 255)", "rgb(20, 24, 30)"
    for system, own, said in (
        ("light", light, {"theme": "dark"}), ("dark", dark, {"theme": "light"}),
    ):  # fmt: skip
        reader.open(alone["evolution"], theme=system)
        assert reader.evaluate(ground) == own
        reader.evaluate(f"document.documentElement.dataset.theme = '{said['theme']}'")
        assert reader.evaluate(ground) == ({light, dark} - {own}).pop()


def test_every_concept_has_its_classes():
    style = sheet()
    for concept in CONCEPTS:
        for kind in (f".f-{concept} ", f".s-{concept} ", f".t-{concept} ", f".f-t-{concept} "):
            assert kind in style

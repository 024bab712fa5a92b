"""The translator's page: what a reader sees is what the model does, wherever the page lies."""

import gzip
import json
import re
import shutil
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from browser import needs_browser

from nlp104.figures import explore
from nlp104.figures.explore.explorable import PAGE
from nlp104.figures.explore.trained_heads import attentions, switched_off
from nlp104.figures.language import TOKENS
from nlp104.translation import Translator, web
from nlp104.translation.pretrained import FOLDER, read_card
from tools import redraw
from tools.notebooks import ROOT

sys.path.append(str(ROOT / "book" / "_ext"))
import live_translator

CARD = read_card(FOLDER / "grammar")
SENTENCES = ["The black cat sleeps.", "They do not sleep.", "I like the big black dog."]
WIDE = "The animal did not cross the street because it was too wide."
DONE = "() => document.querySelector('.translator').dataset.writing === 'false'"
READY = "() => document.querySelector('.translator').dataset.engine === 'ready'"
# Waits until a function of the page says yes; what the page looked like if it never does.
WAIT = """(test) => new Promise((done, fail) => {
  const from = performance.now(), yes = eval(test);
  const ask = () => yes() ? done() : performance.now() - from > 30000
    ? fail(new Error(document.body.innerText)) : setTimeout(ask, 20);
  ask();
})"""
TYPE = """(text) => {
  document.querySelector('.ask input').value = text;
  document.querySelector('.ask').requestSubmit();
}"""
# Words on each other, or outside their window.
CLASH = """() => {
  const found = [], right = document.documentElement.clientWidth;
  const seen = [...document.querySelectorAll('.translator *')].filter((each) =>
    each.checkVisibility({ visibilityProperty: true }) && !each.closest('.unseen, .scroll')
    && [...each.childNodes].some((node) => node.nodeType === 3 && node.data.trim()));
  const boxes = seen.map((each) => {
    const range = document.createRange();
    range.selectNodeContents(each);
    return [each, each.textContent, range.getBoundingClientRect()];
  });
  for (const [, text, box] of boxes)
    if (box.left < -0.5 || box.right > right + 0.5) found.push(`${text} is outside`);
  boxes.forEach(([one, text, a], i) => boxes.slice(i + 1).forEach(([other, words, b]) => {
    if (one.contains(other) || other.contains(one)) return;
    if (Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1
        && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 5)
      found.push(`${text} on ${words}`);
  }));
  if (document.documentElement.scrollWidth > right) found.push('it scrolls sideways');
  return found;
}"""


@pytest.fixture(scope="module")
def grammar(load_once):
    """The small model, with the weights that a page has."""
    return web.rounded(load_once("grammar"))


@pytest.fixture(scope="module")
def figure(grammar):
    """The figure of a chapter, with recorded sentences."""
    return explore.translator(grammar, "grammar", CARD["languages"], SENTENCES)


def test_recorded_weights_stay_shares_of_a_whole_when_heads_are_averaged(figure):
    for run in figure.data["recorded"]:
        means = np.mean(run["cross"], axis=1)  # [layers, written, read], in per cent
        np.testing.assert_allclose(means.sum(-1), 100, atol=0.3)


@pytest.fixture(scope="module")
def scripts(load_once):
    """What the book has beside its pages."""
    return web.parts(load_once("grammar"), "grammar", CARD["languages"])


def place(folder, figure, scripts):
    """A page that knows where its model lies; some of the scripts may be missing."""
    (folder / "grammar").mkdir(exist_ok=True)
    for number, script in enumerate(scripts):
        (folder / "grammar" / f"{number}.js").write_text(script, encoding="utf-8")
    told = 'data-model="grammar/" data-parts="9" data-size="1.3 MB" '
    html = figure.html.replace(live_translator.FIGURE, live_translator.FIGURE + told)
    path = folder / "page.html"
    path.write_text(PAGE.format(title="A page", body=html), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def book(figure, scripts, tmp_path_factory):
    return place(tmp_path_factory.mktemp("book"), figure, scripts)


@pytest.fixture
def loaded(window, book):
    """A reader who has had the model loaded."""
    window.open(book)
    press(window, ".invite button")
    window.call(WAIT, READY)
    return window


def press(reader, selector):
    reader.call("(selector) => document.querySelector(selector).click()", selector)


def texts(reader, selector):
    return reader.call(
        "(selector) => [...document.querySelectorAll(selector)].map((each) => each.innerText)",
        selector,
    )


def text(reader, selector):
    [found] = texts(reader, selector)
    return found


def write(reader, sentence):
    """Type a sentence; gives what is written."""
    reader.call(TYPE, sentence)
    reader.call(WAIT, DONE)
    return text(reader, ".result")


# --- what is handed over ---


def test_colours_are_those_of_all_figures():
    found = re.findall(r"--([\w-]+): light-dark\((#\w+), (#\w+)\)", web.style())
    assert len(found) >= 12
    for token, *colours in found:
        assert tuple(colours) == TOKENS[token], token


@pytest.mark.slow
def test_the_front_end_is_light_and_asks_nobody(figure):
    html = figure.html
    weight = len(gzip.compress((html + web.engine()).encode()))
    assert weight <= 60_000
    assert "http" not in html.replace("http://www.w3.org/2000/svg", "")
    assert not re.search(r"fetch\(|XMLHttpRequest|import\(", html)


@pytest.mark.slow
def test_recorded_is_what_the_model_does(grammar, figure):
    for sentence, recorded in zip(SENTENCES, figure.data["recorded"], strict=True):
        seen = grammar.attention(sentence)
        assert [recorded["translation"]] == grammar.translate([sentence])
        assert (recorded["source"], recorded["target"]) == (seen.source_tokens, seen.target_tokens)
        np.testing.assert_allclose(np.array(recorded["cross"]) / 100, seen.cross, atol=0.00501)
        assert [words[0][0] for words in recorded["words"]] == seen.target_tokens  # greedy
        for words in recorded["words"]:
            chances = [p for _, p in words]
            assert chances == sorted(chances, reverse=True)
            assert 0.5 < sum(chances) <= 1.003
    assert figure.alt.startswith("“The black cat sleeps.” becomes “Le chat noir dort.”")


def test_without_a_sentence_there_is_nothing_to_record(grammar):
    with pytest.raises(ValueError, match=r"at least one sentence\. Received: none"):
        explore.translator(grammar, sentences=[])


def test_a_stored_figure_is_redrawn(figure):
    old = re.sub(r"(?s)(<style>|<script>)[^<]*", r"\1 old", figure.html)
    assert old != figure.html
    assert redraw.redrawn(old) == figure.html


# --- before there is a model ---


@needs_browser
def test_recorded_sentences_are_stepped_through(window, book, figure):
    window.open(book)
    recorded = figure.data["recorded"][1]
    layer = np.array(recorded["cross"])[-1].mean(axis=0)
    press(window, ".picks button:nth-child(2)")
    assert text(window, ".result") == recorded["translation"]
    press(window, "[aria-label='Start again']")
    for step, word in enumerate(recorded["target"]):
        chosen = text(window, ".target [aria-pressed='true']")
        assert chosen == word.strip("[]").replace("END", "end")
        assert len(texts(window, ".target .unwritten")) == len(recorded["target"]) - step - 1
        tints = window.evaluate(
            "[...document.querySelectorAll('.source .token')].map((each) => "
            "Number(each.style.getPropertyValue('--w')))"
        )
        np.testing.assert_allclose(tints, layer[step] / 100, atol=0.00051)
        threads = window.evaluate("document.querySelectorAll('.threads .now').length")
        assert threads == (layer[step] >= 1.5).sum()
        assert window.evaluate("document.querySelectorAll('.threads .before').length") == step
        said = text(window, "figcaption")
        most = recorded["source"][layer[step].argmax()].strip("[]").replace("END", "end")
        assert f"layer 2 looked most at {'the ' * (most == 'end')}{most}" in said
        assert texts(window, ".bars .won .name") == [chosen]
        press(window, "[aria-label='One word on']")
    assert text(window, ".result") == recorded["translation"]
    press(window, "[aria-label='One word back']")
    assert window.evaluate("document.querySelectorAll('.threads .before').length") == step - 1
    assert window.complaints == []


@needs_browser
def test_a_head_is_followed_and_every_weight_can_be_read(window, book, figure):
    window.open(book)
    press(window, "[data-look='1:2']")
    head = np.array(figure.data["recorded"][0]["cross"])[1, 2]
    assert "head 3 of layer 2 looked most at" in text(window, "figcaption")
    window.evaluate("document.querySelector('.numbers').open = true")
    window.rest()
    shown = [[int(x) for x in row.split("\t")[1:]] for row in texts(window, "tbody tr")]
    np.testing.assert_array_equal(shown, np.floor(head + 0.5))  # a half is rounded up
    label = window.evaluate("document.querySelector(\"[data-look='1:2']\").ariaLabel")
    assert label.startswith("Layer 2, head 3: looks most at ")


@needs_browser
def test_words_and_heads_are_reached_with_the_keyboard(window, book):
    window.open(book)
    window.evaluate("document.querySelector('.target [aria-pressed=\"true\"]').focus()")
    before = int(window.evaluate("document.querySelector('.translator').dataset.step"))
    window.press("ArrowLeft", "ArrowLeft", "ArrowRight")
    assert window.evaluate("document.querySelector('.translator').dataset.step") == str(before - 1)
    assert window.evaluate("document.activeElement.ariaPressed") == "true"
    window.evaluate("document.querySelector('.grid [aria-pressed=\"true\"]').focus()")
    window.press("ArrowRight")
    assert "head 1 of layer 2" in text(window, "figcaption")
    assert window.evaluate("document.activeElement.dataset.look") == "1:0"


@pytest.mark.slow
@needs_browser
def test_it_writes_word_by_word_unless_motion_is_unwanted(window, book):
    window.open(book, motion="no-preference")
    found = window.evaluate(
        """new Promise((done) => {
          const at = (selector) => document.querySelector(selector), seen = [];
          const look = () => [at('.count').innerText, at('.play').innerText,
            at('figcaption').ariaLive, document.querySelectorAll('.target .unwritten').length];
          at("[aria-label='Start again']").click();
          at('.play').click();
          const clock = setInterval(() => {
            if (seen.at(-1)?.[0] !== at('.count').innerText) seen.push(look());
            if (seen.length < 3) return;
            clearInterval(clock);
            at('.play').click();
            done([...seen, look()]);
          }, 20);
        })"""
    )
    assert found == [
        ["2 / 6", "Pause", "off", 4],
        ["3 / 6", "Pause", "off", 3],
        ["4 / 6", "Pause", "off", 2],
        ["4 / 6", "Play", "polite", 2],
    ]


@needs_browser
@pytest.mark.parametrize(
    ("languages", "said"),
    [
        (["en", "fr"], ["A sentence in English", "What it read in English"]),
        ([], ["A sentence", "What it read"]),
        (["not a code", "2"], ["A sentence in not a code", "What it read in not a code"]),
    ],
)
def test_languages_are_called_by_their_names(window, figure, tmp_path, languages, said):
    path = tmp_path / "page.html"
    html = web.figure(figure.data | {"languages": languages}, figure.still)
    path.write_text(PAGE.format(title="A page", body=html), encoding="utf-8")
    window.open(path)
    assert texts(window, ".picks button") == SENTENCES
    field, read = "document.querySelector('.ask input')", "document.querySelector('.source')"
    assert window.evaluate(f"[{field}.placeholder, {read}.ariaLabel]") == said


@needs_browser
def test_elsewhere_it_says_where_one_can_type(window, figure, tmp_path):
    path = tmp_path / "notebook.html"
    path.write_text(PAGE.format(title="A notebook", body=figure.html), encoding="utf-8")
    window.open(path)
    assert text(window, ".invite") == web.ELSEWHERE
    assert window.evaluate("document.querySelector('.ask').hidden")
    assert window.requested == [path.as_uri()]


# --- with its model ---


@needs_browser
def test_it_translates_what_is_typed(loaded, grammar):
    sentences = [WIDE, "She is tired.", "The dogs eat because they are hungry."]
    assert [write(loaded, each) for each in sentences] == grammar.translate(sentences)
    seen = grammar.attention(sentences[-1])
    loaded.evaluate("document.querySelector('.numbers').open = true")
    press(loaded, "[data-look='0:1']")
    shown = [[int(x) for x in row.split("\t")[1:]] for row in texts(loaded, "tbody tr")]
    np.testing.assert_allclose(shown, 100 * seen.cross[0, 1], atol=0.51)
    assert re.fullmatch(r"Computed here in \d+ ms\.", text(loaded, ".time"))
    assert text(loaded, "[role='status']") == f"Translation: {seen.translation}"
    assert loaded.complaints == []


@pytest.mark.slow
@needs_browser
def test_a_head_that_is_off_changes_what_is_written(loaded, grammar):
    whole = write(loaded, WIDE)
    copy = Translator(
        grammar.model.with_dtype(grammar.model.dtype_policy),
        grammar.source_tokenizer,
        grammar.target_tokenizer,
    )
    layer = attentions(copy.model)[-1]
    for head in (1, 2):
        press(loaded, f"[data-look='1:{head}']")
        press(loaded, ".switches button")
        loaded.call(WAIT, DONE)
    with switched_off(layer, 1, 2):
        expected = copy.translate([WIDE])
    assert [text(loaded, ".result")] == expected != [whole]
    assert text(loaded, ".with-all") == f"With all heads: {whole}"
    assert texts(loaded, ".switches button") == ["Switch head 3 of layer 2 on", "All on"]
    # Another sentence, which was never written with all heads: that is done beside it.
    write(loaded, "The black cat sleeps.")
    loaded.call(WAIT, "() => !document.querySelector('.with-all').hidden")
    assert "With all heads" in text(loaded, ".with-all")
    press(loaded, ".switches button:last-child")
    loaded.call(WAIT, DONE)
    assert text(loaded, ".result") == "Le chat noir dort."
    assert texts(loaded, ".grid .off") == []


@pytest.mark.slow
@needs_browser
def test_four_beams_are_searched_and_ranked(loaded, grammar):
    write(loaded, WIDE)
    press(loaded, ".choice input[value='4']")
    loaded.call(WAIT, DONE)
    assert [text(loaded, ".result")] == grammar.translate([WIDE], num_beams=4)
    rows = [row.split("\n") for row in texts(loaded, ".candidates li")]
    assert rows[0][0] == text(loaded, ".result")
    scores = [float(score.replace("−", "-")) for _, score in rows]
    assert len(scores) == 4
    assert scores == sorted(scores, reverse=True)


@needs_browser
def test_what_cannot_be_translated_is_refused(loaded):
    before = text(loaded, ".result")
    loaded.call(TYPE, "  ")
    assert text(loaded, "[role='alert']") == "Type a sentence first."
    loaded.call(TYPE, "cat " * 101)
    loaded.call(WAIT, "() => document.querySelector('.problem').innerText.includes('Received')")
    assert re.fullmatch(r"Expected at most \d+ tokens\. Received: 10\d\.", text(loaded, ".problem"))
    assert text(loaded, ".result") == before
    assert write(loaded, "The <b>cat</b> sleeps 👍🏽 \u202eabc") is not None
    assert not loaded.evaluate("document.querySelector('.problem').checkVisibility()")
    assert "unk" in texts(loaded, ".source .token")[1]
    assert loaded.evaluate("!document.querySelector('.tokens b')")


@needs_browser
def test_escape_ends_the_writing(loaded):
    before = text(loaded, ".result")
    loaded.evaluate("document.querySelector('.ask input').focus()")
    loaded.evaluate(  # one task: no answer can come before the key
        f"({TYPE})({json.dumps(WIDE)}); document.querySelector('.ask input').dispatchEvent("
        "new KeyboardEvent('keydown', { key: 'Escape', bubbles: true }))"
    )
    assert loaded.evaluate(f"({DONE})()")
    assert text(loaded, ".result") == before
    assert write(loaded, "They do not sleep.") == "Ils ne dorment pas."


@needs_browser
def test_a_model_that_does_not_come_can_be_asked_for_again(window, figure, scripts, tmp_path):
    path = place(tmp_path, figure, scripts[:4])
    window.open(path)
    press(window, ".invite button")
    window.call(WAIT, "() => !document.querySelector('.problem').hidden")
    assert text(window, ".problem").startswith("Part 5 of 9 did not arrive. Is the connection up?")
    place(tmp_path, figure, scripts)
    assert text(window, ".invite button") == "Try again"
    press(window, ".invite button")
    window.call(WAIT, READY)
    assert not window.evaluate("document.querySelector('.problem').checkVisibility()")
    assert write(window, "The black cat sleeps.") == "Le chat noir dort."


@needs_browser
def test_loading_can_be_stopped(window, book):
    window.open(book)
    press(window, ".invite button")
    assert text(window, ".invite button") == "Stop"
    press(window, ".invite button")
    assert text(window, ".invite button") == "Type your own: load the model (1.3 MB)"
    window.rest()
    assert window.evaluate("document.querySelector('.translator').dataset.engine") == "none"


@needs_browser
def test_it_needs_no_worker(window, book):
    window.open(book)
    window.evaluate("window.Worker = undefined")
    press(window, ".invite button")
    window.call(WAIT, READY)
    assert write(window, "The black cat sleeps.") == "Le chat noir dort."


@needs_browser
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("switch", [None, "light", "dark"])
def test_colours_follow_the_switch_of_the_book_and_else_the_system(window, book, theme, switch):
    window.open(book, theme=theme)
    if switch:
        window.call("(theme) => (document.documentElement.dataset.theme = theme)", switch)
    ground = window.evaluate(
        "getComputedStyle(document.querySelector('.translator')).backgroundColor"
    )
    expected = TOKENS["bg"][(switch or theme) == "dark"]
    assert [int(x) for x in re.findall(r"\d+", ground)] == [*bytes.fromhex(expected[1:])]


@needs_browser
@pytest.mark.parametrize("width", [1280, 390, 320])
def test_nothing_overlaps_or_leaves_the_window(window, book, width):
    window.open(book, width=width)
    assert window.call(CLASH) == []
    height = window.evaluate("document.querySelector('.translator').offsetHeight")
    assert height <= {1280: 900, 390: 1.2 * 844, 320: 1.3 * 844}[width]
    press(window, ".invite button")
    window.call(WAIT, READY)
    window.evaluate("document.querySelectorAll('details').forEach((each) => (each.open = true))")
    write(window, WIDE)
    press(window, "[data-look='1:1']")
    press(window, ".choice input[value='4']")
    window.call(WAIT, DONE)
    window.rest()
    assert window.call(CLASH) == []


@needs_browser
@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.slow
def test_a_word_of_many_pieces_stays_in_its_window(window, load_once, tmp_path, width):
    """In sub-words, with a sign that has no word before it; see the German steamer's captains."""
    word = "Donaudampfschifffahrtsgesellschaftskapitänsmützenfabrikantenwitwe"
    figure = explore.translator(load_once("eng-fra"), "eng-fra", ["en", "fr"], [f"{word} 7 ☃."])
    path = tmp_path / "page.html"
    path.write_text(PAGE.format(title="A page", body=figure.html), encoding="utf-8")
    window.open(path, width=width)
    assert window.call(CLASH) == []
    pieces = texts(window, ".source .token")
    assert len(pieces) > 20
    assert min(map(len, pieces[:20])) >= 1
    assert "▁" not in pieces


# --- a page of its own ---


@pytest.fixture(scope="module")
def own(load_once, tmp_path_factory):
    """The page that is exported."""
    path = tmp_path_factory.mktemp("own") / "page.html"
    card = CARD | {"attribution": "Sentences: <nobody>."}
    path.write_text(web.page(load_once("grammar"), "a <b> model", card), encoding="utf-8")
    return path


@needs_browser
def test_the_exported_page_works_without_any_network(window, own, grammar):
    offline = {"offline": True, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0}
    window.ask("Network.emulateNetworkConditions", **offline)
    try:
        window.open(own)
        window.call(WAIT, "() => document.querySelector('.result')?.innerText")
        assert text(window, ".result") == grammar.translate(CARD["examples"][:1])[0]
        assert write(window, WIDE) == grammar.translate([WIDE])[0]
    finally:
        window.ask("Network.emulateNetworkConditions", **offline | {"offline": False})
    assert [each for each in window.requested if not each.startswith("blob:")] == [own.as_uri()]
    assert window.complaints == []
    assert text(window, "h1") == "Watch it translate"
    assert "“a <b> model”" in text(window, ".lead")
    assert "Sentences: <nobody>." in text(window, "footer")
    assert "layer 2 looked most" in text(window, "figcaption")


def test_the_exported_page_leads_nowhere(own):
    page = own.read_text(encoding="utf-8")
    assert "http" not in page.replace("http://www.w3.org/2000/svg", "").replace("https://arxiv", "")
    assert not re.search(r"<(?:link|img|script)[^>]+(?:href|src)=\"(?!data:)", page)


# --- in the book ---


def test_pages_are_told_where_the_model_lies(tmp_path, figure):
    folder = tmp_path / live_translator.FOLDER
    folder.mkdir(parents=True)
    for number in range(9):
        (folder / f"{number}.js").write_bytes(np.random.default_rng(number).bytes(100_000))
    app = SimpleNamespace(outdir=str(tmp_path))
    released = figure.html.replace('"name":"grammar"', f'"name":"{live_translator.NAME}"')
    body = f"<p>Text</p>{figure.html}<p>Text</p>{released}"
    page = {"body": body, "pathto": lambda name, _: f"../../{name}"}
    live_translator.tell_place(app, "part3/page", "page.html", page, None)
    other, told = re.findall(r"<figure [^>]*>", page["body"])
    assert "data-" not in other, "a model of one's own lies nowhere in the book"
    assert f'data-model="../../{live_translator.FOLDER}/"' in told
    assert 'data-parts="9" data-size="0.9 MB"' in told
    for body in ("<p>Text</p>", f"<p>Text</p>{figure.html}"):
        another = {"body": body}
        live_translator.tell_place(app, "page", "page.html", another, None)
        assert another == {"body": body}


def test_the_models_scripts_are_written_once(tmp_path, scripts, monkeypatch):
    calls = []
    monkeypatch.setattr(web, "parts", lambda *arguments: calls.append(arguments) or scripts)
    builder = SimpleNamespace(format="html")
    app = SimpleNamespace(outdir=str(tmp_path), builder=builder)
    live_translator.write_model(app)
    live_translator.write_model(app)
    [(model, name, languages)] = calls
    assert (name, languages, model.model.count_params()) == (
        "eng-fra-typed",
        ["en", "fr"],
        4_659_008,
    )
    written = sorted((tmp_path / live_translator.FOLDER).iterdir())
    assert [path.read_text(encoding="utf-8") for path in written] == scripts
    shutil.rmtree(tmp_path / "_models")
    builder.format = "latex"
    live_translator.write_model(app)
    assert not (tmp_path / "_models").exists()

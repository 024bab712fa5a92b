"""The explorables: their numbers against NumPy, their HTML, and what a reader does with them."""

import asyncio
import itertools
import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from browser import needs_browser, visit

from nlp104.figures import explore
from nlp104.figures.explore import handmade
from nlp104.figures.explore.explorable import Explorable
from nlp104.figures.style import grid

KEYS = [
    *(f"{v},{last},0,1" for v in range(5) for last in ("tired", "wide")),
    *(f"5,{last},{causal},1" for last in ("tired", "wide") for causal in (0, 1)),
    *(f"6,{w},{c},{h}" for w in ("tired", "wide") for c in (0, 1) for h in (1, 2)),
]


@pytest.fixture(scope="module")
def demo():
    return explore.evolution()


def panels(state, role):
    """The numbers of all panels of a role, one for each head."""
    return [
        np.array(panel["numbers"], dtype=float)
        for group in state["groups"]
        for panel in group["panels"]
        if panel["role"] == role
    ]


def softmax(scores):
    exponentials = np.exp(scores - scores.max(-1, keepdims=True))
    return exponentials / exponentials.sum(-1, keepdims=True)


def test_all_choices_of_a_reader_have_a_state(demo):
    assert sorted(demo.data["states"]) == sorted(KEYS)


@pytest.mark.parametrize("key", KEYS)
def test_weights_and_outputs_are_the_equations(demo, key):
    version, last, causal, num_heads = key.split(",")
    version, causal, num_heads = int(version), int(causal), int(num_heads)
    state = demo.data["states"][key]
    tokens = ("the animal did not cross the street because it was too " + last).split()
    X = handmade.embed(tokens)
    kernels = handmade.kernels(version, num_heads)
    if version < 5:
        Q = 3.0 * np.array([[1, 2, -1, 0, 0, 0, 0, 0], [1, -1, 2, 0, 0, 0, 0, 0]])
        if version < 3:
            Q = Q[["tired", "wide"].index(last)][None]
    answers = []
    for head in range(num_heads):
        if version == 0:
            W_q, W_x, w = kernels
            scores = np.array([[np.tanh(q @ W_q + x @ W_x) @ w for x in X] for q in Q])[..., 0]
            values = X
        elif version < 4:
            scores, values = Q @ X.T, X
            if version > 1:
                scores = scores / np.sqrt(8)
        elif version == 4:
            scores, values = Q[:, :3] / 3 @ (X @ kernels[0]).T / np.sqrt(3), X @ kernels[1]
        else:
            W_Q, W_K, W_V = (W if version == 5 else W[:, head] for W in kernels[:3])
            scores, values = (X @ W_Q) @ (X @ W_K).T / np.sqrt(2), X @ W_V
        if causal:
            scores = np.where(np.tri(len(X), dtype=bool), scores, -np.inf)
        weights = softmax(scores)
        if num_heads == 1:
            there = panels(state, "scores")[0]
            np.testing.assert_allclose(np.where(np.isnan(there), -np.inf, there), scores, atol=1e-3)
        shown = panels(state, "weights")[head]
        np.testing.assert_allclose(np.nan_to_num(shown), weights, atol=1e-3)
        assert np.isnan(shown).sum() == (causal and len(X) * (len(X) - 1) / 2)
        mixed = kernels[3][head] if version == 6 else np.eye(values.shape[1])
        answers.append(weights @ values @ mixed)
    np.testing.assert_allclose(panels(state, "output")[0], sum(answers), atol=1e-3)


def test_one_head_without_mixing_is_version_5(demo):
    states = demo.data["states"]
    for last, causal in itertools.product(("tired", "wide"), (0, 1)):
        five, six = states[f"5,{last},{causal},1"], states[f"6,{last},{causal},1"]
        assert five["said"] == six["said"]
        for role in ("query", "key", "value", "scores", "weights", "output"):
            np.testing.assert_array_equal(panels(five, role), panels(six, role))


@pytest.mark.parametrize("key", KEYS)
def test_labels_fit_the_numbers(demo, key):
    state = demo.data["states"][key]
    assert len(state["said"]) == len(state["rows"]) > state["chosen"]
    for panel in itertools.chain(*(group["panels"] for group in state["groups"])):
        assert {len(line) for line in panel["numbers"]} == {len(panel["columns"])}
        assert len(panel["rows"]) == len(panel["numbers"])
        assert panel["queries"] == (panel["role"] in ("query", "scores", "weights", "output"))
        assert panel["role"] in demo.data["colours"]


def test_what_is_said_is_what_is_shown(demo):
    for key, (where, surely) in {
        "1,wide,0,1": ("street", 100),
        "4,tired,0,1": ("animal", 94),
        "5,wide,0,1": ("wide", 98),
    }.items():
        state = demo.data["states"][key]
        weights = panels(state, "weights")[0][state["chosen"]]
        said = state["said"][state["chosen"]]
        assert f" looks at {where} ({surely} %)." in said
        assert round(100 * weights.max()) == surely
        entropy = -sum(w * np.log2(w) for w in weights if w > 0)
        assert abs(float(re.search(r"Entropy: ([\d.]+) of 3.58 bits", said)[1]) - entropy) < 0.02
    assert (
        "looks at all 9 words alike. Out comes: zero."
        in demo.data["states"]["5,tired,1,1"]["said"][8]
    )


class _Elements(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.found, self.texts = [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))

    def handle_data(self, text):
        self.texts.append(text)


def test_the_html_holds_all_it_needs_and_reads_back(demo):
    elements = _Elements(demo.html)
    assert json.loads(elements.texts[1]) == json.loads(json.dumps(demo.data))
    (image,) = (attributes for tag, attributes in elements.found if tag == "img")
    assert image["alt"] == demo.alt
    assert image["src"].startswith("data:image/png;base64,")
    assert not re.search(r"https?:|\bfetch\b|\bimport\b|XMLHttp|@import|url\(", demo.html)
    assert demo._repr_mimebundle_()["text/html"] == demo.html
    assert demo.alt in demo._repr_mimebundle_()["text/plain"]


def test_hostile_text_stays_text(tmp_path):
    figure, _ = grid()
    evil = "</script><script>alert('x')</script> & \"quotes\""
    made = Explorable("evolution", evil, {"a": [evil]}, figure, evil)
    elements = _Elements(made.html)
    assert [tag for tag, _ in elements.found].count("script") == 2
    assert json.loads(elements.texts[1]) == {"a": [evil]}
    assert elements.found[0][1]["aria-label"] == evil
    made.save(tmp_path / "page.html")
    assert made.html in (tmp_path / "page.html").read_text(encoding="utf-8")
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]


STATE = "({...document.querySelector('.nlp104').dataset})"


async def _evaluate(tab, script):
    answer = await tab.ask("Runtime.evaluate", expression=script, returnByValue=True)
    assert "exceptionDetails" not in answer, answer
    return answer["result"].get("value")


async def _press(tab, key, code):
    for kind in ("keyDown", "keyUp"):
        await tab.ask(
            "Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code
        )


@needs_browser
def test_a_reader_with_a_keyboard_walks_through_all_versions(demo, tmp_path):
    demo.save(tmp_path / "page.html")
    url = (tmp_path / "page.html").as_uri()

    async def reader(tab):
        for width in (390, 1280):
            for theme in ("light", "dark"):
                seen = await tab.open(url, width, theme)
                assert seen["problems"] == []
                assert tab.complaints == tab.missing == []
                assert tab.requested == [url]
        assert await _evaluate(tab, STATE) == {"version": "0", "state": "0,tired,0,1", "row": "0"}
        await _press(tab, "Tab", 9)
        for version in range(1, 7):
            await _press(tab, "ArrowRight", 39)
            state = await _evaluate(tab, STATE)
            assert state["version"] == str(version)
            expected = demo.data["states"][state["state"]]
            said = await _evaluate(tab, "document.querySelector('.said').textContent")
            assert said == expected["said"][int(state["row"])]
            cells = "[...document.querySelectorAll('table.heat tbody td')].map(e => e.textContent)"
            shown = iter(await _evaluate(tab, cells))
            for panel in itertools.chain(*(group["panels"] for group in expected["groups"])):
                for number in itertools.chain(*panel["numbers"]):
                    text, weight = next(shown), panel["role"] == "weights"
                    assert abs(float(text or 0) - number * (100 if weight else 1)) <= 0.501
            assert not list(shown)
        assert state == {"version": "6", "state": "6,tired,0,2", "row": "8"}
        await _press(tab, "Tab", 9)  # the last word
        await _press(tab, "ArrowRight", 39)
        assert (await _evaluate(tab, STATE))["state"] == "6,wide,0,2"
        await _press(tab, "Tab", 9)  # the heads
        await _press(tab, "ArrowLeft", 37)
        assert (await _evaluate(tab, STATE))["state"] == "6,wide,0,1"
        await _press(tab, "Tab", 9)  # whose query
        await _press(tab, "ArrowUp", 38)
        assert (await _evaluate(tab, STATE))["row"] == "7"
        await _press(tab, "Tab", 9)  # the mask
        await _press(tab, " ", 32)
        assert (await _evaluate(tab, STATE))["state"] == "6,wide,1,1"
        said = await _evaluate(tab, "document.querySelector('.said').textContent")
        assert said == demo.data["states"]["6,wide,1,1"]["said"][7]

    visit(reader)


@needs_browser
def test_without_scripts_the_still_picture_is_there(demo, tmp_path):
    demo.save(tmp_path / "page.html")
    url = (tmp_path / "page.html").as_uri()

    async def reader(tab):
        await tab.ask("Emulation.setScriptExecutionDisabled", value=True)
        await tab.ask("Page.navigate", url=url)
        await asyncio.wait_for(tab.loaded.wait(), 60)
        # What scripts of the page may not do, the debugger may.
        assert await _evaluate(tab, "document.querySelector('.nlp104 img').naturalWidth") > 500
        assert await _evaluate(tab, "document.querySelectorAll('table').length") == 0

    visit(reader)

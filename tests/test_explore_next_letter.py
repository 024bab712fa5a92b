"""Shannon's guessing game: what a reader guesses is counted, and what is hidden stays hidden."""

import json
import time

import numpy as np
import pytest
from browser import needs_browser
from explore_page import write

from nlp104.figures import explore, results

RECORD = json.loads(results.read("language-model/guesses.json"))
PASSAGES = RECORD["passages"]
FIRST = PASSAGES[0]
HIDDEN = FIRST["hidden"].lower()
MODEL, TABLE = (FIRST["guessers"][who] for who in ("the model", "triples"))
CAPTION = "document.querySelector('figcaption').textContent"
AWAY = "zxq"  # no text of the figure begins with these
START = 12


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """The figure on a page of its own."""
    made = explore.next_letter(PASSAGES, step=START)
    return write(tmp_path_factory.mktemp("next") / "page.html", made)


def _type(reader, *letters, **how):
    """Press real keys."""
    for letter in letters:
        reader.ask("Input.dispatchKeyEvent", type="keyDown", key=letter, text=letter, **how)
        reader.ask("Input.dispatchKeyEvent", type="keyUp", key=letter, **how)


def _focus(reader):
    reader.evaluate("document.querySelector('.stage').focus()")


def _of(drawn, name):
    """The marks whose keys are a name and a number, by that number."""
    found = {}
    for mark in drawn.marks:
        word, _, number = mark["key"].rpartition(" ")
        if word == name and number.isdigit():
            found[int(number)] = mark
    return found


def _key(letter):
    return "_" if letter == " " else letter


# --- a reader plays ---


@needs_browser
def test_a_wrong_letter_is_marked_and_the_right_one_opens(reader, page):
    reader.open(page)
    assert reader.state() == {"step": START, "text": FIRST["name"], "mine": "", "tried": ""}
    right = HIDDEN[START]
    for wrong in AWAY[:2]:
        reader.tap(f"guess:{wrong}")
    assert reader.state()["step"] == START
    assert reader.evaluate(CAPTION) == f"Letter {START + 1} is not z, x. Guess on."
    pressed = "document.querySelector('[data-act=\"guess:{}\"]').ariaPressed"
    assert [reader.evaluate(pressed.format(key)) for key in "zxq"] == ["true", "true", "false"]
    reader.tap("guess:z")  # once more: it is known to be wrong
    assert reader.state()["tried"] == "zx"
    reader.tap(f"guess:{_key(right)}")
    state = reader.state()
    assert (state["step"], state["tried"], state["mine"]) == (START + 1, "", "_" * START + "c")
    assert f"you 3 guesses, the model {MODEL['places'][START]}." in reader.evaluate(CAPTION)
    drawn = reader.draw(**state)
    assert list(_of(drawn, "yours")) == [START]
    written = [mark for mark in drawn.marks if mark["key"] == f"yours {START} guesses"]
    assert [mark["source"] for mark in written] == ["3"]
    assert reader.complaints == []


@needs_browser
def test_real_keys_work_and_the_space_bar_is_a_letter(reader, page):
    reader.open(page, at="#next_letter:step=0")
    _focus(reader)
    typed = HIDDEN[: HIDDEN.index(" ") + 2]
    _type(reader, "z", *typed[0].upper(), *typed[1:])
    state = reader.state()
    assert (state["step"], state["mine"]) == (len(typed), "b" + "a" * (len(typed) - 1))
    _type(reader, "r", modifiers=2)  # Ctrl+R is the browser's
    _type(reader, "1", "é", "_")
    assert reader.state() == state
    play = "document.querySelector('.play').textContent"
    if HIDDEN[len(typed)] != " ":
        _type(reader, " ")  # no space stands there: a guess, and nothing plays
        assert (reader.state()["tried"], reader.evaluate(play)) == ("_", "Play")
    assert reader.complaints == []


@needs_browser
def test_who_clicks_a_key_may_go_on_typing(reader, page):
    reader.open(page, at="#next_letter:step=0")
    x, y = reader.evaluate(
        "(() => { const box = document.querySelector('[data-act=\"guess:z\"] rect')"
        ".getBoundingClientRect(); return [box.x + 9, box.y + 9]; })()"
    )
    for what in ("mousePressed", "mouseReleased"):
        reader.ask("Input.dispatchMouseEvent", type=what, x=x, y=y, button="left", clickCount=1)
    assert reader.state()["tried"] == "z"
    _type(reader, " ", HIDDEN[0])
    assert (reader.state()["step"], reader.state()["mine"]) == (1, "c")


@needs_browser
def test_arrows_walk_over_the_drawn_keys_without_a_guess(reader, page):
    reader.open(page, at="#next_letter:step=0")
    before = reader.state()
    _focus(reader)
    reader.press("Tab")
    names, active = [], "document.activeElement.getAttribute('aria-label')"
    for arrow in ("ArrowRight", "ArrowDown", "ArrowDown", "ArrowLeft", "ArrowUp", "ArrowLeft"):
        names.append(reader.evaluate(active))
        reader.press(arrow)
    assert names == ["q", "w", "s", "x", "z", "a"]
    assert reader.evaluate(active) == "a"  # the first of its row
    assert reader.state() == before
    reader.press("ArrowDown", "Enter")
    assert (reader.state()["tried"], reader.evaluate(active)) == ("z", "z, wrong")
    reader.press("Tab")
    assert reader.evaluate(active) == "show it"


@needs_browser
def test_a_letter_that_is_shown_is_not_counted(reader, page):
    reader.open(page, at="#next_letter:step=0")
    reader.tap("guess:z")
    reader.tap("open")
    assert reader.state() == {"step": 1, "text": FIRST["name"], "mine": "", "tried": ""}
    reader.tap(f"guess:{_key(HIDDEN[1])}")
    assert reader.state()["mine"] == "_a"
    assert _of(reader.draw(**reader.state()), "yours").keys() == {1}


@needs_browser
def test_it_plays_letter_by_letter_and_starts_again_without_what_was_guessed(reader, page):
    reader.open(page, at="#next_letter:step=1&mine=c&tried=zx")
    _focus(reader)
    reader.evaluate("document.querySelector('.play').click()")
    deadline = time.monotonic() + 20
    while reader.state()["step"] < 3:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    state = reader.state()
    assert (state["mine"], state["tried"]) == ("c", "")
    reader.evaluate("document.querySelector('[title=\"Start again\"]').click()")
    assert reader.state() == {"step": 0, "text": FIRST["name"], "mine": "", "tried": ""}
    reader.evaluate(f"document.querySelector('[value=\"{PASSAGES[1]['name']}\"]').click()")
    reader.tap("guess:" + _key(PASSAGES[1]["hidden"][0].lower()))
    assert reader.state() == {"step": 1, "text": PASSAGES[1]["name"], "mine": "a", "tried": ""}


@needs_browser
@pytest.mark.parametrize("passage", PASSAGES, ids=lambda one: one["name"])
def test_a_whole_text_can_be_guessed(reader, page, passage):
    reader.open(page, at=f"#next_letter:text={passage['name']}&step=0")
    _focus(reader)
    _type(reader, *passage["hidden"])
    letters = len(passage["hidden"])
    state = reader.state()
    assert (state["step"], state["mine"]) == (letters, "a" * letters)
    assert reader.draw(**state).values[0, 0] == 1
    assert reader.evaluate("document.querySelectorAll('[data-act^=guess]').length") == 0
    _type(reader, "a", " ")
    assert reader.state() == state


# --- what is hidden ---


@needs_browser
@pytest.mark.parametrize("passage", PASSAGES, ids=lambda one: one["name"])
def test_the_hidden_letters_stand_nowhere(reader, page, passage):
    hidden = passage["hidden"]
    for step in (0, 1, hidden.index(" ") + 1, len(hidden) - 4):
        reader.open(page, at=f"#next_letter:text={passage['name']}&step={step}&tried=zq")
        seen = reader.evaluate(
            "[...document.querySelectorAll('.stage text, .explore :not(script, style, svg *)')]"
            ".filter((e) => e.checkVisibility() && !e.children.length || e.tagName === 'text')"
            ".map((e) => e.textContent)"
        )
        (tree,) = (reader.ask("Accessibility.getFullAXTree")["nodes"],)
        told = [
            node[part]["value"]
            for node in tree
            if not node["ignored"]
            for part in ("name", "description", "value")
            if isinstance(node.get(part, {}).get("value"), str)
        ]
        assert any(passage["shown"].strip() in text for text in seen)
        assert "space" in told
        coming = [word for word in hidden[step:].split(" ")[1:] if len(word) > 3]
        for text in (*seen, *told):
            assert not [word for word in coming if word in text.split()], (text, step)
        drawn = reader.draw(text=passage["name"], step=step)
        letters = {i: mark["source"] for i, mark in _of(drawn, "letter").items()}
        assert letters == {
            i: "?" if i == step else "␣" if hidden[i] == " " else hidden[i] for i in range(step + 1)
        }
        assert set(_of(drawn, "hidden")) == set(range(step, len(hidden)))
        assert set(_of(drawn, "model")) == set(range(step))


def test_neither_the_still_nor_its_words_say_more():
    made = explore.next_letter(PASSAGES, step=START)
    opened, rest = FIRST["hidden"][:START], FIRST["hidden"][START:]
    assert made.alt.startswith(f"{FIRST['shown']}{opened}___ ")
    assert not [word for word in rest.split() if len(word) > 3 and word in made.alt]
    assert made.still.count('class="hatch"') == len(rest)


# --- the numbers ---


@needs_browser
def test_piles_are_as_high_as_the_guesses(reader, page):
    reader.open(page)
    mine = "".join("abcdefghijklmnopqrstuvwxyzA"[(7 * i) % 27] for i in range(len(HIDDEN)))
    drawn = reader.draw(step=len(HIDDEN), mine=mine)
    model = _of(drawn, "model")
    heights = np.array([model[i]["h"] for i in range(len(HIDDEN))])
    places = np.array(MODEL["places"])
    np.testing.assert_allclose(heights / heights.max(), (places + 0.5) / (places.max() + 0.5))
    letters = _of(drawn, "letter")
    for i in range(len(HIDDEN)):
        middle = letters[i]["x"]
        assert model[i]["x"] + model[i]["w"] / 2 == pytest.approx(middle)
        yours = _of(drawn, "yours")[i]
        assert yours["x"] + yours["w"] / 2 == pytest.approx(middle)
        assert yours["y"] + yours["h"] < letters[i]["y"] < model[i]["y"]
    counts = {
        int(mark["key"].split()[1]): mark["source"]
        for mark in drawn.marks
        if mark["key"].startswith("yours ") and mark["key"].endswith("guesses")
    }
    expected = [(7 * i) % 27 + 1 for i in range(len(HIDDEN))]
    assert counts == {i: str(count) for i, count in enumerate(expected) if count > 1}


@needs_browser
def test_means_are_those_of_the_same_letters_for_all(reader, page):
    reader.open(page)
    for passage in PASSAGES:
        guessers = passage["guessers"].values()
        for step, mine in ((5, ""), (9, "_b__ac"), (7, "_______zA"), (24, "aaaA____d")):
            own = [i for i, c in enumerate(mine[:step]) if c != "_"]
            counted = own or list(range(step))
            rows = [
                [np.mean(np.array(who["places"])[counted]), -np.mean(np.log(who["own"])[counted])]
                for who in guessers
            ]
            drawn = reader.draw(step=step, mine=mine, text=passage["name"])
            assert drawn.rows == [*(["you"] if own else []), *passage["guessers"]]
            if own:
                yours = np.mean([(mine[i] == "A") * 26 or ord(mine[i]) - 97 for i in own]) + 1
                assert drawn.values[0, 0] == pytest.approx(yours)
                assert np.isnan(drawn.values[0, 1])
            np.testing.assert_allclose(drawn.values[-2:], rows, atol=1e-9)


@needs_browser
def test_what_the_model_bet_is_shown_of_the_open_letter(reader, page):
    reader.open(page)
    for passage in PASSAGES:
        model = passage["guessers"]["the model"]
        for step in range(1, len(passage["hidden"]) + 1):
            drawn = reader.draw(step=step, text=passage["name"])
            letters = _of(drawn, "best")
            right = passage["hidden"][step - 1].lower()
            best = dict(list(model["best"][step - 1].items()))
            if right not in best:
                best.popitem()
                best[right] = model["own"][step - 1]
            names = ["space" if letter == " " else letter for letter in best]
            assert [letters[k]["source"] for k in range(6)] == names
            bars = [m["w"] for m in drawn.marks if m["key"].endswith(" bar") and "best" in m["key"]]
            share = np.array(list(best.values()))
            wide = np.array(bars) > 1.5
            np.testing.assert_allclose(
                np.array(bars)[wide] / share[wide], bars[0] / share[0], rtol=1e-9
            )
            strong = [letters[k]["source"] for k in range(6) if letters[k]["strong"]]
            assert strong == ["space" if right == " " else right]
            nats = f"{-np.log(model['own'][step - 1]):.1f} nats"
            assert nats in drawn.caption or step == len(passage["hidden"])


@needs_browser
@pytest.mark.parametrize("passage", PASSAGES, ids=lambda one: one["name"])
def test_the_end_says_where_guessing_is_hard(reader, page, passage):
    reader.open(page)
    hidden, places = passage["hidden"], np.array(passage["guessers"]["the model"]["places"])
    begins = np.array([c != " " and (i == 0 or hidden[i - 1] == " ") for i, c in enumerate(hidden)])
    caption = reader.draw(step=len(hidden), text=passage["name"]).caption
    numbers = [float(part) for part in caption.split("**")[1::2]]
    assert numbers == pytest.approx([places[begins].mean(), places[~begins].mean()], abs=0.0501)


@needs_browser
@pytest.mark.parametrize(
    "width",
    [390, *(pytest.param(width, marks=pytest.mark.slow) for width in (1280, 782, 700, 320))],
)
def test_no_words_lie_on_others(reader, page, width):
    reader.open(page, width=width)
    for passage in PASSAGES:
        for step in (0, 1, 9, len(passage["hidden"]) - 1, len(passage["hidden"])):
            for mine, tried in (("", ""), ("a" * 40, "zxq"), ("bcdcbclAx" * 4, "")):
                address = f"text={passage['name']}&step={step}&mine={mine}&tried={tried}"
                clashes, _ = reader.clashes(f"next_letter:{address}")
                assert clashes == [], address


@needs_browser
def test_an_address_of_nobody_is_played_all_the_same(reader, page):
    reader.open(page, at="#next_letter:mine=%3F%21&tried=%3F%3F1&text=nobody&step=3")
    assert "the model needed" in reader.evaluate(CAPTION)
    assert reader.complaints == []


# --- what is refused ---


def _passage(**changed):
    model = {"places": [1, 2], "own": [0.6, 0.3], "best": [{"a": 0.6}, {"r": 0.3}]}
    return {"name": "car", "shown": "A c", "hidden": "ar", "guessers": {"it": model}} | changed


@pytest.mark.parametrize(
    ("passages", "message"),
    [
        ([], "at least one passage. Received: none"),
        (
            [_passage(hidden="r.")],
            "from a to z and spaces to guess. Received: '.' in 'r.', in 'car'",
        ),
        ([_passage(hidden="")], "Received: '' in ''"),
        ([_passage(shown="a" * 33)], "at most 32 characters"),
        ([_passage(hidden="are")], "for each of the 3 hidden letters. Received: 2, in 'car'"),
        ([_passage(), _passage(guessers={})], "one or two guessers. Received: 0, in 'car'"),
    ],
)
def test_what_cannot_be_played_is_refused(passages, message):
    with pytest.raises(ValueError, match=message):
        explore.next_letter(passages)


def test_there_are_no_more_steps_than_letters():
    assert explore.next_letter([_passage()], step=9).data["step"] == 2

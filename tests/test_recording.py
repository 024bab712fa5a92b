"""The recording in the README: what the model said, in a picture that moves and comes to rest."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest
from browser import needs_browser

from nlp104.figures.language import TOKENS
from tools import recording

SVG = "{http://www.w3.org/2000/svg}"
SEEN = """(times) => times.map((time) => {
  for (const each of document.getAnimations()) { each.pause(); each.currentTime = 1000 * time; }
  return [...document.querySelectorAll("[class^=w]")]
    .filter((word) => getComputedStyle(word).opacity > 0.5).length;
})"""
OUTSIDE = """() => {
  const frame = document.documentElement.getBoundingClientRect();
  return [...document.querySelectorAll("text")].filter((text) => {
    const box = text.getBoundingClientRect();
    return box.left < frame.left || box.right > frame.right || box.bottom > frame.bottom;
  }).map((text) => text.textContent);
}"""


@pytest.fixture(scope="module")
def recorded(load_once):
    return recording.record(load_once(recording.MODEL), recording.SENTENCE)


def stored(kind, theme):
    return (recording.ASSETS / f"translating-{kind}{theme}.svg").read_text(encoding="utf-8")


def texts(svg):
    return [text.text for text in ElementTree.fromstring(svg).iter(f"{SVG}text")]


@pytest.mark.slow
def test_what_is_recorded_is_a_greedy_translation(recorded):
    read, written = len(recorded["source"]), len(recorded["target"])
    assert np.shape(recorded["looks"]) == (written, read)
    assert np.all(np.sum(recorded["looks"], axis=1) <= 1 + 1e-5)  # the rest goes to [END]
    for piece, likely in zip(recorded["target"], recorded["likely"], strict=True):
        chances = [chance for _, chance in likely]
        assert likely[0][0] == piece  # greedy: the likeliest is what was written
        assert chances == sorted(chances, reverse=True)
        assert sum(chances) <= 1


@pytest.mark.parametrize("theme", recording.THEMES)
@pytest.mark.parametrize("kind", ["", "still-"])
def test_the_stored_pictures_show_what_the_model_says(recorded, kind, theme):
    """After another model has been released: python -m tools.recording."""
    svg = stored(kind, theme)
    drawn = recording.pictures(recorded)[f"translating-{kind}{theme}.svg"]
    assert texts(svg) == texts(drawn)
    assert len(svg) < 60_000
    assert ("<style>" in svg) is (kind == "")
    assert not re.search(r"<script|<image|href|url\(", svg)
    colours = {values[recording.THEMES.index(theme)] for values in TOKENS.values()}
    assert set(re.findall(r"#[0-9a-f]{6}", svg)) <= colours


def test_every_word_comes_after_its_bands_and_stays():
    film = recording.Film(steps=3)
    for step in range(3):
        for name in ("during", "look", "word", "lit"):
            getattr(film, name)(step)
    film.end()
    for name, points in film.frames.items():
        times = [time for time, *_ in points]
        assert times == sorted(times), name
        assert points[0][:2] == (0, 0), name
        assert points[-1][:2] == (film.seconds, 0), name  # it begins anew from nothing
        assert film.seconds - times[-2] < 1, name
    rest = {name: points[-2][1] for name, points in film.frames.items()}
    assert {name for name, opacity in rest.items() if opacity == 1} == {"w0", "w1", "w2", "e0"}
    assert {rest[f"b{step}"] for step in range(3)} == {recording.TRACE}
    for step in range(3):
        arrived = min(time for time, _, hidden in film.frames[f"b{step}"] if hidden == 0)
        shown = min(time for time, opacity in film.frames[f"w{step}"] if opacity == 1)
        assert step * recording.STEP < arrived < shown < (step + 1) * recording.STEP


@needs_browser
def test_words_appear_one_by_one_inside_of_the_frame(recorded, window):
    words, step = len(recorded["target"]), recording.STEP
    times = [0, *(step * (number + 1) - 0.05 for number in range(words)), step * words + 2]
    window.open(recording.ASSETS / "translating-light.svg", motion="no-preference")
    assert window.call(SEEN, times) == [*range(words + 1), words]
    assert window.call(OUTSIDE) == []

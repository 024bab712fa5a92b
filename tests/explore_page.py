"""One page of explorables in one browser, for all tests of a file; without `async`."""

import asyncio
import contextlib
import json

import numpy as np
from browser import pages

from nlp104.figures.explore.explorable import PAGE

# A page keeps its scenes to itself; this hands out what each was built to, before it is mounted.
LISTEN = """
window.scenes = [];
let parts;
Object.defineProperty(window, "nlp104", { get: () => parts, set(value) {
  let mount;
  parts = Object.defineProperty(value, "scene", { get: () => mount, set(scene) {
    mount = (name, build) => scene(name, (...all) => {
      scenes.push(build(...all));
      return scenes.at(-1);
    });
  } });
} });
"""
KEYS = {"Tab": 9, "Enter": 13, "Escape": 27, " ": 32, "End": 35, "Home": 36} | {
    f"Arrow{way}": 37 + number for number, way in enumerate(("Left", "Up", "Right", "Down"))
}


# Texts on each other or outside the stage, by more than `slack` at its sides; its height.
CLASH = """(slack) => {
  const svg = document.querySelector('.stage svg'), frame = svg.getBoundingClientRect();
  const seen = (text) => text?.textContent
    && [text, text.parentNode].every((mark) => mark.getAttribute('opacity') !== '0');
  const boxes = [...svg.querySelectorAll('g > g')].map((group) => group.querySelector('text'))
    .filter(seen).map((text) => [text.textContent, text.getBoundingClientRect()]), found = [];
  for (const [words, box] of boxes)
    if (box.left < frame.left - slack || box.right > frame.right + slack
        || box.bottom > frame.bottom + 2)
      found.push(`${words} is outside`);
  boxes.forEach(([words, a], i) => boxes.slice(i + 1).forEach(([others, b]) => {
    const beside = a.left < b.right - 0.5 && b.left < a.right - 0.5;
    if (beside && a.top < b.bottom - 5 && b.top < a.bottom - 5)
      found.push(`${words} on ${others}`);
  }));
  return [found, frame.height];
}"""


class Reader:
    """A tab and what a reader does in it."""

    def __init__(self, run, tab):
        self._run, self._tab = run, tab

    def ask(self, method, **parameters):
        """A command of the debugging protocol."""
        return self._run(self._tab.ask(method, **parameters))

    @property
    def requested(self):
        """The addresses that the page asked for."""
        return self._tab.requested

    @property
    def complaints(self):
        """What the console and the network complain about."""
        return [*self._tab.complaints, *self._tab.missing]

    def open(self, path, *, at="", width=1280, theme="light", motion="reduce"):
        """Show a file, from a given address on."""
        self.dress(width, theme, motion)
        for url in ("about:blank", path.as_uri() + at):  # another #address alone loads nothing
            self._tab.clear()
            self.ask("Page.navigate", url=url)
            self._run(asyncio.wait_for(self._tab.loaded.wait(), 60))

    def dress(self, width=1280, theme="light", motion="reduce"):
        """The window, and what its reader prefers."""
        self._run(self._tab.resize(width, 900))
        features = {"prefers-color-scheme": theme, "prefers-reduced-motion": motion}
        features = [{"name": name, "value": value} for name, value in features.items()]
        self.ask("Emulation.setEmulatedMedia", features=features)

    def rest(self):
        """Wait for the next picture: what watches its own size has seen it by then."""
        self.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")

    def clashes(self, address, slack=4):
        """Go to an address: what lies on what there, or outside; and the height of the stage."""
        self.evaluate(f"location.hash = '#{address}'")
        self.rest()
        return self.call(CLASH, slack)

    def evaluate(self, script):
        """What a script in the page returns."""
        answer = self.ask(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def call(self, function, *arguments):
        """What a function of the page returns for these arguments."""
        return self.evaluate(f"({function})(...{json.dumps(arguments)})")

    def press(self, *keys):
        """Press keys, one after the other."""
        for key in keys:
            code = {"key": key, "code": key, "windowsVirtualKeyCode": KEYS[key]}
            if key in ("Enter", " "):  # these write, too
                code["text"] = {"Enter": "\r"}.get(key, key)
            self.ask("Input.dispatchKeyEvent", type="keyDown", **code)
            code.pop("text", None)
            self.ask("Input.dispatchKeyEvent", type="keyUp", **code)

    def tap(self, action, figure=0):
        """Press the mark with this action."""
        self.call(
            """(figure, action) => document.querySelectorAll(".explore")[figure]
              .querySelector(`[data-act="${action}"]`).dispatchEvent(
                new MouseEvent("click", { bubbles: true }))""",
            figure,
            action,
        )

    def state(self, figure=0):
        """The state that a figure is in."""
        return json.loads(
            self.call("(i) => document.querySelectorAll('.explore')[i].dataset.state", figure)
        )

    def draw(self, figure=0, width=700, **state):
        """What a scene makes of a state: caption, table and marks, as the player gets them."""
        drawn = self.call(
            """(i, width, state) => {
              const scene = scenes[i], all = { step: 0, ...scene.start, ...state };
              const { marks, ...rest } = scene.draw(all, width);
              return { ...rest, marks: marks.flat(Infinity).filter(Boolean), state: all };
            }""",
            figure,
            width,
            state,
        )
        return Drawn(**drawn)


class Drawn:
    """One state of a scene."""

    def __init__(self, marks, caption, table, state, height, focus=None):
        self.marks, self.caption, self.state, self.height = marks, caption, state, height
        self.focus = focus
        self.rows, self.columns = table["rows"], table["columns"]
        self.values = np.array(table["values"], dtype="float64")  # NaN: hidden or not yet known

    def cells(self, concept):
        """The marks of the matrices in the colour of a concept, in the order they are drawn."""
        return [m for m in self.marks if m["kind"] == "cell" and m["concept"] == concept]


def write(path, *figures):
    """A page with these figures, as wide as its window."""
    body = "".join(figure.html for figure in figures)
    page = PAGE.format(title="Explorables", body=body).replace("max-width: 750px", "")
    path.write_text(page, encoding="utf-8")
    return path


@contextlib.contextmanager
def browser():
    """Start a browser; gives a `Reader`."""
    loop = asyncio.new_event_loop()
    with pages.chromium() as address:
        opened = pages.open_tab(address)
        tab = loop.run_until_complete(opened.__aenter__())
        reader = Reader(loop.run_until_complete, tab)
        reader.ask("Page.addScriptToEvaluateOnNewDocument", source=LISTEN)
        yield reader
        loop.run_until_complete(opened.__aexit__(None, None, None))
    loop.close()

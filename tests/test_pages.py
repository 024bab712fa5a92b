"""The check of the built pages sees a page that moves and a dead link, and no others."""

import importlib

import pytest
from browser import needs_browser, visit

STEADY = "tests/pages/steady.js"
PAGE = """<!doctype html><html lang="en"><title>A page</title>
<meta name="viewport" content="width=device-width"><style>p {{ height: 900px }}</style>
<div id="late"></div><p>First</p><p>Second</p>
<figure class="nlp104 explore" data-scene="scene"><h2>Scene</h2><div id="stage"></div>
<input type="range" min="0" max="3" value="0"><p>Below</p></figure>
<script>{script}</script>"""
GROWS_LATE = "setTimeout(() => (document.querySelector('#late').style.height = '200px'), 60);"
GROWS_WHEN_STEPPED = """
document.querySelector("input").addEventListener("input", ({ target }) => {
  document.querySelector("#stage").style.height = `${120 * target.value}px`;
});"""


@pytest.mark.slow
@needs_browser
@pytest.mark.parametrize(
    ("script", "where"),
    [("", None), (GROWS_LATE, "while it loads"), (GROWS_WHEN_STEPPED, "while scene is stepped")],
)
def test_what_moves_under_the_eyes_of_a_reader_is_reported(pytestconfig, tmp_path, script, where):
    page = tmp_path / "page.html"
    page.write_text(PAGE.format(script=script), encoding="utf-8")
    steady = (pytestconfig.rootpath / STEADY).read_text(encoding="utf-8")

    async def read(tab):
        for width in (1280, 390):
            await tab.open(page.as_uri(), width, "light")
            found = await tab.run(steady)
            assert [where in problem for problem in found] == [True] * bool(where), found
            assert await tab.run("document.querySelector('input').value") == "0"

    visit(read)


@pytest.mark.parametrize("base", ["file", "http://127.0.0.1:8104"])
def test_a_link_that_leads_nowhere_is_reported(pytestconfig, tmp_path, monkeypatch, base):
    monkeypatch.syspath_prepend(pytestconfig.rootpath / "tests" / "pages")
    check = importlib.import_module("check_pages")
    html = tmp_path / "html"
    (html / "part").mkdir(parents=True)
    (html / "part" / "masks.html").write_text('<h2 class="a" id="a-row">A row</h2>', "utf-8")
    (html / "part" / "notebook.ipynb").touch()
    base = html.as_uri() if base == "file" else base
    alive = ["masks.html", "masks.html#a-row", "masks.html?a=b", "notebook.ipynb#a-row"]
    dead = ["mask.html", "masks.html#a-column", ""]
    for links, is_dead in ((alive, False), (dead, True)):
        for link in links:
            assert check.is_dead(f"{base}/part/{link}", base, html) == is_dead, link
    assert not check.is_dead("https://arxiv.org/abs/1706.03762", base, html)
    (tmp_path / "outside.html").touch()
    assert check.is_dead((tmp_path / "outside.html").as_uri(), html.as_uri(), html)

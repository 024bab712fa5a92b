"""Open every page of the built book in Chromium and check what a reader would see.

    python tests/pages/check_pages.py --screenshots /tmp/shots --axe /tmp/axe.min.js

Each page is opened light and dark, 1280 and 390 pixels wide, from the disk and from a local server.
Checked: nothing is requested from anywhere else, nothing is missing, the console holds no error,
the page does not scroll sideways, no name runs out of its cell, mathematics is set, every image has
alternative text, links lead to a page and to a place in it that are there (those to other hosts are
not followed), text has a contrast of at least 4.5 : 1 (large text 3 : 1), the page weighs at most
400 KB gzipped without mathematics, and it stays where it is (`steady.js` says what is measured).
With `--axe`, axe-core's rules of WCAG 2.2 A and AA, with all that folds unfolded: `npm pack
axe-core@4.14.1` brings `axe.min.js`.

The check needs no package of its own. It is not part of `make test`: where there is no browser
there is nothing to see.
"""

import argparse
import asyncio
import contextlib
import functools
import gzip
import http.server
import re
import sys
import threading
from collections import Counter
from pathlib import Path
from urllib.parse import unquote, urlsplit

from tab import WIDTHS, chromium, open_tab

THEMES = ("light", "dark")
WEIGHT_LIMIT = 400_000  # bytes, gzipped, without MathJax
STEADY, BARRIERS = (
    Path(__file__).with_name(name).read_text(encoding="utf-8")
    for name in ("steady.js", "barriers.js")
)


@contextlib.contextmanager
def server(directory):
    """Serve a directory on a free local port; gives its address."""

    class Handler(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *arguments):
            """Say nothing."""

    handler = functools.partial(Handler, directory=str(directory))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as service:
        threading.Thread(target=service.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{service.server_port}"
        service.shutdown()


def weight(urls, base, html):
    """Bytes of a page and all it loads, gzipped one by one, without MathJax."""
    own = (url.removeprefix(base) for url in urls if url.startswith(base))
    files = {unquote(urlsplit(url).path).lstrip("/") for url in own}
    return sum(
        len(gzip.compress((html / name).read_bytes()))
        for name in files
        if "/mathjax/" not in name and (html / name).is_file()
    )


@functools.cache
def anchors(file):
    """What a link to this page of the book may name behind a #: a place, a figure to play with."""
    page, copies = file.read_text(encoding="utf-8"), Counter()
    names = set(re.findall(r'\bid="([^"]+)"', page))
    for scene in re.findall(r'<figure [^>]*data-scene="(\w+)"', page):
        copies[scene] += 1
        names.add(f"{scene}-{copies[scene]}:" if copies[scene] > 1 else f"{scene}:")
    return names


def is_dead(link, base, html):
    """Whether a link into the book, which lies at `base`, misses the file or the place there."""
    address = urlsplit(link)
    if address[:2] != urlsplit(base)[:2]:
        return False  # another host's
    path = Path(unquote(address.path))
    file = path if address.scheme == "file" else html / path.relative_to("/")
    if not (file.is_file() and file.is_relative_to(html)):
        return True
    name = unquote(address.fragment)
    return bool(name) and file.suffix == ".html" and name not in anchors(file)


def problems(tab, seen, base, html, size):
    """What is wrong with the page that the tab shows, in words."""
    elsewhere = sorted({u for u in tab.requested if not u.startswith((base, "data:", "about:"))})
    if elsewhere:
        yield f"requests elsewhere: {elsewhere}"
    yield from (f"not loaded: {what}" for what in tab.missing)
    yield from (f"console: {what.splitlines()[0]}" for what in tab.complaints)
    yield from seen["problems"]
    yield from (f"link to nowhere: {link}" for link in seen["links"] if is_dead(link, base, html))
    if size > WEIGHT_LIMIT:
        yield f"weighs {size / 1000:.0f} KB gzipped"


async def check(html, pages, screenshots, axe, socket_address, served):
    """Open all pages in all ways; returns the number of problems."""
    async with open_tab(socket_address) as tab:
        return await look_at_all(tab, html, pages, screenshots, axe, served)


async def look_at_all(tab, html, pages, screenshots, axe, served):
    """Open all pages in all ways in a tab; returns the number of problems."""
    count, weights = 0, {}
    for base in (html.as_uri(), served):
        for page in pages:
            for width in WIDTHS:
                for theme in THEMES:
                    seen = await tab.open(f"{base}/{page}", width, theme)
                    size = weight(tab.requested, base, html)
                    weights[page] = size
                    found = [*problems(tab, seen, base, html, size), *await tab.run(STEADY)]
                    if axe and base == served:
                        await tab.run(axe)
                        found += await tab.run(BARRIERS)
                    for problem in found:
                        count += 1
                        print(f"{urlsplit(base).scheme} {page} {width} {theme}: {problem}")
                    if screenshots and base == served:
                        await tab.open(f"{base}/{page}", width, theme)  # as a reader finds it
                        name = f"{page.removesuffix('.html').replace('/', '-')}_{width}_{theme}"
                        await tab.screenshot(screenshots / name)
    for page, size in sorted(weights.items(), key=lambda item: -item[1]):
        print(f"{size / 1000:7.0f} KB gzipped  {page}")
    return count


def main():
    """Read the options, check, and exit with status 1 if anything is wrong."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument(
        "--html", type=Path, default=Path("book/_build/html"), help="the built book"
    )
    parser.add_argument("--screenshots", type=Path, help="save pictures of the pages here")
    parser.add_argument("--axe", type=Path, help="axe-core's axe.min.js, to look for barriers")
    parser.add_argument("pages", nargs="*", help="pages to open; all of them by default")
    options = parser.parse_args()
    html = options.html.resolve()
    if not (html / "index.html").is_file():
        sys.exit(f"{options.html} holds no built book: run `make book` first.")
    pages = options.pages or sorted(
        str(path.relative_to(html))
        for path in html.rglob("*.html")
        if "_static" not in path.parts and path != html / "index.html"
    )
    if absent := [page for page in options.pages if not (html / page).is_file()]:
        sys.exit(f"No such page in {options.html}: {', '.join(absent)}")
    if options.screenshots:
        options.screenshots.mkdir(parents=True, exist_ok=True)
    axe = options.axe and options.axe.read_text(encoding="utf-8")
    with chromium() as address, server(html) as served:
        count = asyncio.run(check(html, pages, options.screenshots, axe, address, served))
    print(f"{len(pages)} pages, {count} problems")
    sys.exit(count > 0)


if __name__ == "__main__":
    main()

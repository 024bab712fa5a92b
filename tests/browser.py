"""Tests that use a page as a reader does, in the browser of the page check."""

import asyncio
import importlib.util
import shutil
from pathlib import Path

import pytest

_spec = importlib.util.spec_from_file_location("tab", Path(__file__).with_name("pages") / "tab.py")
pages = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(pages)

needs_browser = pytest.mark.skipif(
    not any(map(shutil.which, pages.BROWSERS)), reason="there is no browser"
)


def visit(reader):
    """Run the coroutine `reader(tab)` with a tab of a new browser."""

    async def use(socket_address):
        async with pages.open_tab(socket_address) as tab:
            await reader(tab)

    with pages.chromium() as socket_address:
        asyncio.run(use(socket_address))

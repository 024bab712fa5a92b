"""A tab of Chromium, driven through its debugging protocol.

The websocket client is that of tornado, which Jupyter brings: no package of its own is needed.
"""

import asyncio
import base64
import contextlib
import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tornado.websocket import websocket_connect

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--hide-scrollbars",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--remote-debugging-port=0",
)
WIDTHS = {1280: 900, 390: 844}  # width → height of the window
SLICE = 2_000  # pixels from top to bottom in one picture
SCROLL = """new Promise((done) => {
  (document.querySelector(".bd-header-article") ?? document.body).style.position = "static";
  scrollTo({ top: TOP, behavior: "instant" });
  requestAnimationFrame(() => requestAnimationFrame(done));
})"""
LOOK = Path(__file__).with_name("look.js").read_text(encoding="utf-8")


class Tab:
    """A tab of the browser: takes commands, collects what it requests and complains about."""

    def __init__(self, socket):
        self.socket, self.count, self.answers = socket, 0, {}
        self.session = None
        self.clear()

    def clear(self):
        """Forget what was collected for the page before."""
        self.requested, self.missing, self.complaints = [], [], []
        self.loaded = asyncio.Event()

    async def listen(self):
        """Take in everything that the browser says."""
        while (message := await self.socket.read_message()) is not None:
            message = json.loads(message)
            if "id" in message:
                answer = self.answers.pop(message["id"])
                if not answer.done():  # nobody waits for it any more
                    answer.set_result(message)
            elif message.get("sessionId") == self.session:
                self.take(message["method"], message["params"])

    def take(self, event, data):
        """Note one event."""
        if event == "Network.requestWillBeSent":
            self.requested.append(data["request"]["url"])
        elif event == "Network.loadingFailed" and not data.get("canceled"):
            self.missing.append(data["errorText"])
        elif event == "Network.responseReceived" and data["response"]["status"] >= 400:
            self.missing.append(f"{data['response']['status']} {data['response']['url']}")
        elif event == "Runtime.exceptionThrown":
            details = data["exceptionDetails"]
            self.complaints.append(details.get("exception", details).get("description", "error"))
        elif event == "Log.entryAdded" and data["entry"]["level"] == "error":
            self.complaints.append(data["entry"]["text"])
        elif event == "Runtime.consoleAPICalled" and data["type"] in ("error", "assert"):
            self.complaints.append(str([a.get("value") for a in data["args"]]))
        elif event == "Page.loadEventFired":
            self.loaded.set()

    async def ask(self, method, **parameters):
        """Send one command and wait for its answer."""
        self.count += 1
        answer = asyncio.get_running_loop().create_future()
        self.answers[self.count] = answer
        message = {"id": self.count, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        await self.socket.write_message(json.dumps(message))
        result = await asyncio.wait_for(answer, 60)
        if "error" in result:
            raise RuntimeError(f"{method}: {result['error']['message']}")
        return result["result"]

    async def attach(self):
        """Open the tab and switch on everything that is watched."""
        target = await self.ask("Target.createTarget", url="about:blank")
        attached = await self.ask(
            "Target.attachToTarget", targetId=target["targetId"], flatten=True
        )
        self.session = attached["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log"):
            await self.ask(f"{domain}.enable")
        await self.ask("Network.setCacheDisabled", cacheDisabled=True)

    async def open(self, url, width, theme):
        """Show a page in a window of this width to a reader who prefers this theme."""
        self.clear()
        await self.resize(width, WIDTHS[width])
        await self.ask(
            "Emulation.setEmulatedMedia",
            features=[
                {"name": "prefers-color-scheme", "value": theme},
                {"name": "prefers-reduced-motion", "value": "reduce"},
            ],
        )
        await self.ask("Page.navigate", url=url)
        await asyncio.wait_for(self.loaded.wait(), 60)
        return await self.run(LOOK)

    async def run(self, script):
        """What a script in the page returns."""
        result = await self.ask(
            "Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True
        )
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"]["exception"]["description"])
        return result["result"].get("value")

    async def screenshot(self, path):
        """Save the whole page as PNG files of at most `SLICE` pixels: PATH-0.png, PATH-1.png, …"""
        height = round((await self.ask("Page.getLayoutMetrics"))["cssContentSize"]["height"])
        for number, top in enumerate(range(0, height, SLICE)):
            # A reader's way, by scrolling: what is captured from outside the window may be blank.
            await self.resize(self.width, min(SLICE, height - top))
            await self.ask(
                "Runtime.evaluate", expression=SCROLL.replace("TOP", str(top)), awaitPromise=True
            )
            picture = await self.ask("Page.captureScreenshot")
            path.with_name(f"{path.name}-{number}.png").write_bytes(
                base64.b64decode(picture["data"])
            )

    async def resize(self, width, height):
        """Give the window a size; a narrow one is a phone."""
        self.width = width
        await self.ask(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )


@contextlib.asynccontextmanager
async def open_tab(socket_address):
    """Give a tab of the browser that listens at this address."""
    tab = Tab(await websocket_connect(socket_address, max_message_size=2**28))
    listener = asyncio.create_task(tab.listen())
    await tab.attach()
    yield tab
    listener.cancel()


@contextlib.contextmanager
def chromium():
    """Start a browser with an empty profile; gives the address of its debugging socket."""
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        sys.exit(f"No browser found: looked for {', '.join(BROWSERS)} on the PATH.")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        port_file = Path(profile, "DevToolsActivePort")
        process = subprocess.Popen(
            [program, *FLAGS, f"--user-data-dir={profile}"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            deadline = time.monotonic() + 60
            while not (port_file.exists() and len(port_file.read_text().split()) == 2):
                if process.poll() is not None or time.monotonic() > deadline:
                    sys.exit(f"{program} did not start.")
                time.sleep(0.1)
            port, path = port_file.read_text().split()
            yield f"ws://127.0.0.1:{port}{path}"
        finally:
            process.terminate()
            process.wait()

"""The page of a translator at an address on this computer: ``nlp104 serve``.

It is the page of `nlp104.translation.web`, the same that `export_page` writes to a file. It does
its work in the reader's browser: this server hands it out, at the one address ``/``, and is never
told what is typed.

There is no encryption and no account: the server listens to this computer only. But every page in
the reader's browser runs on this computer, too, and one of them may come under a name that its
owner lets point to 127.0.0.1. So the ``Host`` of a request must be this server's own.
"""

import os
import sys
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from nlp104.translation import web
from nlp104.translation.translator import Translator
from nlp104.utils.errors import UserError

HOST, PORT = "127.0.0.1", 8104
NAMES = (HOST, "localhost", "[::1]")  # under which a browser on this computer finds the server
# The page may load nothing but itself, and ask nobody. Its worker is made of its own text.
POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; "
    "worker-src blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


class PortError(UserError, OSError):
    """The port is taken, or the system does not give it."""


class TranslationServer(ThreadingHTTPServer):
    """The server; `serve_forever` runs it, `shutdown` and `server_close` end it.

    Args:
        translator: `nlp104.translation.Translator`.
        name: What the page calls the model.
        port: The port to listen at; 0 has the system choose one, which `server_port` tells.
        card: As of `nlp104.translation.web.page`.

    Raises:
        ValueError: If the model cannot be put into a page.
        OSError: If the port is taken, or the system does not give it.

    Example:
        >>> import threading
        >>> import urllib.request
        >>> import nlp104
        >>> from nlp104.translation import TranslationServer
        >>> server = TranslationServer(nlp104.load_pretrained("grammar"), "grammar", port=0)
        >>> threading.Thread(target=server.serve_forever, daemon=True).start()
        >>> server.url
        'http://127.0.0.1:.../'
        >>> with urllib.request.urlopen(server.url) as reply:
        ...     print(reply.read(15))
        b'<!doctype html>'
        >>> server.shutdown()
        >>> server.server_close()
    """

    daemon_threads = True
    allow_reuse_address = os.name == "posix"  # Windows would let two servers have one port

    def __init__(
        self,
        translator: Translator,
        name: str,
        port: int = PORT,
        card: Mapping[str, Any] | None = None,
    ):
        try:
            super().__init__((HOST, port), _Handler)
        except (OSError, OverflowError) as error:
            another = port + 1 if 1023 < port < 65535 else PORT
            reason = (getattr(error, "strerror", None) or str(error)).lower().rstrip(".")
            raise PortError(
                f"Expected a port to listen at. Received: {port} ({reason}). Choose another, "
                f"--port {another}."
            ) from error
        self.url = f"http://{HOST}:{self.server_port}/"
        self.hosts = [f"{known}:{self.server_port}" for known in NAMES]
        if self.server_port == 80:  # which browsers leave out
            self.hosts += NAMES
        try:
            self.page = web.page(translator, name, card).encode()
        except BaseException:
            self.server_close()
            raise

    def handle_error(self, request, client_address):
        """A browser that has gone before its answer came is no error."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    server: TranslationServer
    server_version, sys_version = "nlp104", ""
    timeout = 30  # seconds to wait for what a request announces

    def do_GET(self):
        path, hosts = self.path.partition("?")[0], self.headers.get_all("Host", [])
        known = self.server.hosts
        if len(hosts) != 1 or hosts[0].lower() not in known:
            received = ", ".join(hosts) or "none"
            expected = f"Expected the Host {known[0]} or {known[1]}."
            self.send_error(403, f"{expected} Received: {received}.")
        elif path != "/":
            self.send_error(404, f"Expected /. Received: {path}.")
        else:
            self.reply(200, self.server.page, "text/html; charset=utf-8")

    do_HEAD = do_GET

    def reply(self, status, content, kind):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Content-Security-Policy", POLICY)
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def send_error(self, code, message=None, explain=None):
        """An error is a sentence, also one that `http.server` itself finds."""
        message = message or self.responses[code][0]
        self.close_connection = True
        self.reply(code, message.encode(), "text/plain; charset=utf-8")

    def log_message(self, *_):
        """Says nothing."""

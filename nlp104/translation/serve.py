"""A page on which a reader types a sentence and watches the model translate it: ``nlp104 serve``.

A small server for one reader on one computer. It knows three addresses::

    GET  /            the page, which asks for the other two
    GET  /model       {"model", "languages", "longest", "examples"}
    POST /translate   {"text", "num_beams"} → {"translation", "source", "target", "weights"}

What is wrong with a request is answered by ``{"error": …}`` and a status of 400, 403, 404, 405, 413
or 415; a bug by 500. There is no encryption, no account, no queue: the server listens to this
computer only. But every page in the reader's browser runs on this computer, too. Three rules keep
pages from elsewhere out:

- the ``Host`` is this server's: no page can ask through a name of its own for 127.0.0.1;
- an ``Origin``, if there is one, is this server's: browsers say which page asks;
- a POST is ``application/json``, which a page may not send elsewhere without permission.
"""

import json
import os
import sys
import threading
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from typing import Any

from nlp104.translation.translator import Translator
from nlp104.utils.errors import InputError, UserError

HOST, PORT = "127.0.0.1", 8104
NAMES = (HOST, "localhost", "[::1]")  # under which a browser on this computer finds the server
LONGEST = 100  # tokens of a sentence: more of them no page can show
LARGEST = 16_384  # bytes of a request
BEAMS = (1, 4)  # each number is a program of its own, compiled when it is first asked for
METHODS = {"/": ("GET", "HEAD"), "/model": ("GET", "HEAD"), "/translate": ("POST",)}
# The page may load nothing but itself, and ask nobody but this server.
POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


class PortError(UserError, OSError):
    """The port is taken, or the system does not give it."""


def answer(translator: Translator, text: str, num_beams: int = 1) -> dict[str, Any]:
    """Translates a sentence and tells what the decoder looked at: what the page shows.

    Args:
        translator: `nlp104.translation.Translator`.
        text: One sentence.
        num_beams: 1, greedy, or 4.

    Returns:
        `translation`, a string; `source`, the tokens that the encoder read; `target`, the tokens
        that the decoder wrote, both as `translator.Attention` has them; and `weights`, its
        cross-attention in nested lists `[layers, heads, target, source]`, rounded to four digits.

    Raises:
        ValueError: If the sentence is empty or too long, or an argument is no such thing.

    Example:
        >>> import nlp104
        >>> from nlp104.translation.serve import answer
        >>> found = answer(nlp104.load_pretrained("grammar"), "The black cat sleeps.")
        >>> found["translation"], found["target"]
        ('Le chat noir dort.', ['Le', 'chat', 'noir', 'dort', '.', '[END]'])
    """
    if not isinstance(text, str) or not text.strip():
        raise InputError("Expected a sentence as `text`. Received: none.")
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise InputError("Expected Unicode as `text`. Received: half a character.")
    if type(num_beams) is not int or num_beams not in BEAMS:
        raise InputError(f"Expected 1 (greedy) or 4 as `num_beams`. Received: {num_beams!r}.")
    if (length := len(translator.source_tokenizer.encode(text))) > LONGEST:
        raise InputError(f"Expected at most {LONGEST} tokens. Received: {length}.")
    found = translator.attention(text, num_beams=num_beams)
    return {
        "translation": found.translation,
        "source": found.source_tokens,
        "target": found.target_tokens,
        "weights": found.cross.astype("float64").round(4).tolist(),
    }


class TranslationServer(ThreadingHTTPServer):
    """The server; `serve_forever` runs it, `shutdown` and `server_close` end it.

    Args:
        translator: `nlp104.translation.Translator`.
        name: What the page calls the model.
        port: The port to listen at; 0 has the system choose one, which `server_port` tells.
        languages: The codes of the languages from and to which it translates, where they are known.
        examples: Sentences for the page to suggest.

    Raises:
        OSError: If the port is taken, or the system does not give it.

    Example:
        >>> import json
        >>> import threading
        >>> import urllib.request
        >>> import nlp104
        >>> from nlp104.translation import TranslationServer
        >>> server = TranslationServer(nlp104.load_pretrained("grammar"), "grammar", port=0)
        >>> threading.Thread(target=server.serve_forever, daemon=True).start()
        >>> server.url
        'http://127.0.0.1:.../'
        >>> with urllib.request.urlopen(server.url + "model") as reply:
        ...     print(json.load(reply)["model"])
        grammar
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
        languages: Sequence[str] = (),
        examples: Sequence[str] = (),
    ):
        try:
            super().__init__((HOST, port), _Handler)
        except OSError as error:
            another = port + 1 if 1023 < port < 65535 else PORT
            reason = (error.strerror or str(error)).lower()
            raise PortError(
                f"Expected a port to listen at. Received: {port} ({reason}). Choose another, "
                f"--port {another}."
            ) from error
        self.url = f"http://{HOST}:{self.server_port}/"
        self.hosts = [f"{known}:{self.server_port}" for known in NAMES]
        if self.server_port == 80:  # which browsers leave out
            self.hosts += NAMES
        self.translator = translator
        self.about = {
            "model": name,
            "languages": list(languages),
            "longest": LONGEST,
            "examples": list(examples),
        }
        self.lock = threading.Lock()  # one sentence at a time
        self.page = (files("nlp104.translation") / "pages" / "translate.html").read_bytes()

    def handle_error(self, request, client_address):
        """A browser that has gone before its answer came is no error."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class _Refused(Exception):
    """A status, and a sentence that says why a request is not served."""


class _Handler(BaseHTTPRequestHandler):
    server: TranslationServer
    server_version, sys_version = "nlp104", ""
    timeout = 30  # seconds to wait for what a request announces
    allow = ("GET", "HEAD", "POST")

    def respond(self):
        path = self.path.partition("?")[0]
        try:
            body = self.read_body()  # first: a client sends it all before it hears an answer
            self.check_sender()
            if path not in METHODS:
                raise _Refused(404, f"Expected /, /model or /translate. Received: {path}.")
            self.allow = METHODS[path]
            if self.command not in self.allow:
                allowed = " or ".join(self.allow)
                raise _Refused(405, f"Expected {allowed} for {path}. Received: {self.command}.")
            if path == "/":
                self.reply(200, self.server.page, "text/html; charset=utf-8")
            elif path == "/model":
                self.reply(200, self.server.about)
            else:
                self.reply(200, self.translate(body))
        except _Refused as refusal:
            self.send_error(*refusal.args)

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = respond

    def read_body(self):
        """Returns what the request announces, but not more than 64 times the largest request."""
        length = self.headers.get("Content-Length", "")
        length = int(length[:9]) if length.isdecimal() else 0
        try:
            return self.rfile.read(min(length, 64 * LARGEST))
        except TimeoutError:
            reason = "Expected as many bytes as Content-Length says. Received: fewer."
            raise _Refused(400, reason) from None

    def check_sender(self):
        """Refuses what a page from elsewhere has sent, see above."""
        hosts, origins = (self.headers.get_all(name, []) for name in ("Host", "Origin"))
        known = self.server.hosts
        if len(hosts) != 1 or hosts[0].lower() not in known:
            received = ", ".join(hosts) or "none"
            expected = f"Expected the Host {known[0]} or {known[1]}."
            raise _Refused(403, f"{expected} Received: {received}.")
        own = f"http://{hosts[0].lower()}"
        if origins not in ([], [own]):
            received = ", ".join(origins) or "none"
            raise _Refused(403, f"Expected no Origin or {own}. Received: {received}.")

    def translate(self, body):
        """Returns the answer to the content of a POST."""
        if self.headers.get_content_type() != "application/json":
            received = self.headers.get("Content-Type") or "none"
            expected = "Expected the Content-Type application/json."
            raise _Refused(415, f"{expected} Received: {received}.")
        if not self.headers.get("Content-Length", "").isdecimal():
            raise _Refused(400, "Expected a Content-Length, the number of bytes. Received: none.")
        if len(body) > LARGEST:
            raise _Refused(413, f"Expected at most {LARGEST:,} bytes. Received: more.")
        try:
            request = _parsed(body)
            with self.server.lock:
                return answer(self.server.translator, **request)
        except InputError as error:
            raise _Refused(400, str(error)) from None
        except Exception:
            self.send_error(500, "This is a bug in nlp104. Its terminal says more.")
            raise

    def reply(self, status, content, kind="application/json; charset=utf-8"):
        """Sends bytes, or something as JSON."""
        if not isinstance(content, bytes):
            content = json.dumps(content, ensure_ascii=False).encode()
        self.send_response(status)
        if status == 405:
            self.send_header("Allow", ", ".join(self.allow))
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Content-Security-Policy", POLICY)
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def send_error(self, code, message=None, explain=None):
        """Errors are JSON; also those that `http.server` itself finds."""
        if code == 501:  # a method that it has never heard of
            code = 405
        self.close_connection = True
        self.reply(code, {"error": message or self.responses[code][0]})

    def log_message(self, *_):
        """Says nothing."""


def _parsed(body):
    """Returns the arguments in a request, not looked at yet."""
    try:
        request = json.loads(body)
    except (ValueError, RecursionError):
        raise InputError(
            'Expected JSON, such as {"text": "The cat sleeps."}. Received: something else.'
        ) from None
    if not isinstance(request, dict) or not {"text"} <= set(request) <= {"text", "num_beams"}:
        raise InputError(
            "Expected a JSON object with `text` and, if wanted, `num_beams`. Received: another one."
        )
    return request

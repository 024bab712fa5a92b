"""A page on which a reader types a sentence and watches the model translate it: ``nlp104 serve``.

A small server for one reader on one computer. It knows three addresses::

    GET  /            the page, which asks for the other two
    GET  /model       {"model", "languages", "longest", "examples"}
    POST /translate   {"text", "num_beams"} → {"translation", "source", "target", "weights"}

What is wrong with a request is answered by ``{"error": …}`` and a status of 400, 404, 405 or 413.
There is no encryption, no account, no queue: the server listens to this computer only.
"""

import json
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from typing import Any

from nlp104.translation.translator import Translator

HOST, PORT = "127.0.0.1", 8104
LONGEST = 100  # tokens of a sentence: more of them no page can show
LARGEST = 16_384  # bytes of a request
BEAMS = (1, 4)  # each number is a program of its own, compiled when it is first asked for
EXAMPLES = {
    "eng-fra": ("I don't like black cats.", "The little girl was afraid of the dog."),
    "grammar": (
        "The black cat sleeps.",
        "The animal did not cross the street because it was too tired.",
        "The animal did not cross the street because it was too wide.",
    ),
}
# The page may load nothing but itself, and ask nobody but this server.
POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


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
        >>> found = answer(nlp104.load_pretrained("grammar"), "The black cat sleeps.")
        >>> found["translation"], found["target"]
        ('Le chat noir dort.', ['Le', 'chat', 'noir', 'dort', '.', '[END]'])
    """
    if not isinstance(text, str) or not text.strip():
        raise ValueError("Expected a sentence as `text`. Received: none.")
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise ValueError("Expected `text` to be Unicode. Received: half a character.")
    if type(num_beams) is not int or num_beams not in BEAMS:
        raise ValueError(f"`num_beams` must be 1 (greedy) or 4. Received: {num_beams!r}.")
    if (length := len(translator.source_tokenizer.encode(text))) > LONGEST:
        raise ValueError(f"Expected at most {LONGEST} tokens. Received: {length}.")
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

    Raises:
        OSError: If the port is taken, or the system does not give it.

    Example:
        >>> server = TranslationServer(nlp104.load_pretrained("grammar"), "grammar", port=0)
        >>> threading.Thread(target=server.serve_forever, daemon=True).start()
        >>> server.url
        'http://127.0.0.1:49152/'
    """

    daemon_threads = True
    allow_reuse_address = os.name == "posix"  # Windows would let two servers have one port

    def __init__(self, translator: Translator, name: str, port: int = PORT):
        try:
            super().__init__((HOST, port), _Handler)
        except OSError as error:
            another = port + 1 if 1023 < port < 65535 else PORT
            reason = (error.strerror or str(error)).lower()
            message = f"Cannot listen at port {port} ({reason}): choose another, --port {another}."
            raise OSError(message) from error
        self.url = f"http://{HOST}:{self.server_port}/"
        self.translator = translator
        languages = ("en", "fr") if name in EXAMPLES else ()
        self.about: dict[str, Any] = {"model": name, "languages": languages, "longest": LONGEST}
        self.about["examples"] = EXAMPLES.get(name, ())
        self.lock = threading.Lock()  # one sentence at a time
        self.page = (files("nlp104.translation") / "pages" / "translate.html").read_bytes()

    def handle_error(self, request, client_address):
        """A browser that has gone before its answer came is no error."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    server: TranslationServer
    server_version, sys_version = "nlp104", ""
    timeout = 30  # seconds to wait for what a request announces

    def respond(self):
        path = self.path.partition("?")[0]
        self.allow = {"/": "GET, HEAD", "/model": "GET, HEAD", "/translate": "POST"}.get(path)
        if self.allow is None:
            self.send_error(404, f"There is no {path} here. Expected: /, /model or /translate.")
        elif self.command not in self.allow.split(", "):
            self.send_error(405, f"{path} answers to {self.allow}. Received: {self.command}.")
        elif path == "/":
            self.reply(200, self.server.page, "text/html; charset=utf-8")
        elif path == "/model":
            self.reply(200, self.server.about)
        else:
            self.translate()

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = respond

    def translate(self):
        try:
            length = self.headers.get("Content-Length", "")
            if not length.isdecimal():
                raise ValueError("Expected a Content-Length: the number of bytes of the request.")
            body = self.rfile.read(min(int(length), 64 * LARGEST))  # a client first sends it all
            if int(length) > LARGEST:
                self.send_error(413, f"Expected at most {LARGEST:,} bytes. Received: {length}.")
                return
            request = _parsed(body)
            with self.server.lock:
                found = answer(self.server.translator, **request)
        except TimeoutError:
            self.send_error(400, "Expected as many bytes as Content-Length says. Received: fewer.")
        except ValueError as error:
            self.send_error(400, str(error))
        else:
            self.reply(200, found)

    def reply(self, status, content, kind="application/json; charset=utf-8"):
        """Sends bytes, or something as JSON."""
        if not isinstance(content, bytes):
            content = json.dumps(content, ensure_ascii=False).encode()
        self.send_response(status)
        if status == 405:
            self.send_header("Allow", self.allow)
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
            code, self.allow = 405, "GET, HEAD, POST"
        self.close_connection = True
        self.reply(code, {"error": message or self.responses[code][0]})

    def log_message(self, *_):
        """Says nothing."""


def _parsed(body):
    """The arguments in a request, not looked at yet."""
    try:
        request = json.loads(body)
    except (ValueError, RecursionError):
        raise ValueError('Expected JSON, such as {"text": "The cat sleeps."}.') from None
    if not isinstance(request, dict) or not {"text"} <= set(request) <= {"text", "num_beams"}:
        raise ValueError("Expected a JSON object with `text` and, if wanted, `num_beams`.")
    return request

"""The page on which a reader watches the model translate: its server, its command, its safety."""

import asyncio
import http.client
import io
import json
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from browser import needs_browser, pages, visit
from decoding_models import make_model

import nlp104
from nlp104.cli.main import main
from nlp104.data.tokenizer import Tokenizer
from nlp104.training.run_record import write_record
from nlp104.training.settings import DEFAULTS
from nlp104.translation import serve
from nlp104.translation.pretrained import FOLDER, read_card
from nlp104.translation.translator import Translator

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "nlp104" / "translation" / "pages" / "translate.html").read_text(encoding="utf-8")
JSON = {"Content-Type": "application/json"}
BODY = json.dumps({"text": "The black cat sleeps."})
SENTENCE = "The animal did not cross the street because it was too tired."
LARGE = b'{"text": "' + b"a" * serve.LARGEST + b'"}'


@pytest.fixture(scope="module")
def translator():
    return nlp104.load_pretrained("grammar")


@pytest.fixture(scope="module")
def server(translator):
    with serve.TranslationServer(
        translator, "grammar", 0, **read_card(FOLDER / "grammar")
    ) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def request(server, method, path, body=None, headers=()):
    """Status, headers and body of an answer."""
    connection = http.client.HTTPConnection(serve.HOST, server.server_port, timeout=60)
    connection.request(method, path, body, JSON | dict(headers))
    response = connection.getresponse()
    content = response.read()
    connection.close()
    return response.status, response.headers, content


def ask(server, **arguments):
    status, _, content = request(server, "POST", "/translate", json.dumps(arguments))
    return status, json.loads(content)


def said(server, sent):
    """The answer to bytes, as bytes."""
    with socket.create_connection((serve.HOST, server.server_port), timeout=60) as connection:
        connection.sendall(sent)
        with connection.makefile("rb") as file:
            return file.read()


def refused(server, method, path, body=None, headers=()):
    """Status and sentence of an error, which is JSON and tells nothing of the program."""
    status, headers, content = request(server, method, path, body, headers)
    answer = json.loads(content)
    assert headers["Content-Type"].startswith("application/json")
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert list(answer) == ["error"]
    assert "Traceback" not in answer["error"]
    assert ".py" not in answer["error"]
    return status, answer["error"]


@pytest.mark.parametrize("num_beams", [1, 4])
@pytest.mark.parametrize("sentence", [SENTENCE, "The zyzzyva sleeps !"])
def test_it_answers_what_the_translator_says(server, translator, sentence, num_beams):
    status, found = ask(server, text=sentence, num_beams=num_beams)
    assert status == 200
    (translation,) = translator.translate([sentence], num_beams=num_beams)
    assert found["translation"] == translation
    expected = translator.attention(sentence, translation)
    assert found["source"] == expected.source_tokens
    assert found["target"] == expected.target_tokens
    weights = np.array(found["weights"])
    config = translator.model.get_config()
    sizes = len(expected.target_tokens), len(expected.source_tokens)
    assert weights.shape == (config["num_layers"], config["num_heads"], *sizes)
    np.testing.assert_allclose(weights, expected.cross, atol=1e-4)
    np.testing.assert_allclose(weights.sum(-1), 1, atol=5e-5 * sizes[1] + 1e-5)


def test_unknown_words_are_seen(server):
    _, found = ask(server, text="The zyzzyva sleeps.")
    assert found["source"] == ["The", "[UNK]", "sleeps", ".", "[END]"]


def test_the_same_text_has_the_same_answer_also_from_many_at_once(server):
    texts = ["The black cat sleeps.", SENTENCE] * 2
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda text: ask(server, text=text, num_beams=1), texts))
    assert answers == [ask(server, text=text) for text in texts]


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (b"", "Expected JSON"),
        (b"text=The+cat+sleeps.", "Expected JSON"),
        (b'{"text": "caf\xe9"}', "Expected JSON"),
        (b"[" * 5000, "Expected JSON"),
        (b'["The cat sleeps."]', "a JSON object with `text`"),
        (b'{"sentence": "The cat sleeps."}', "a JSON object with `text`"),
        (b'{"text": "The cat sleeps.", "beams": 4}', "a JSON object with `text`"),
        (b'{"text": ""}', "Expected a sentence"),
        (b'{"text": " \\u00a0\\n"}', "Expected a sentence"),
        (b'{"text": "\\u200b"}', "Expected a sentence"),
        (b'{"text": null}', "Expected a sentence"),
        (b'{"text": ["The cat sleeps."]}', "Expected a sentence"),
        (b'{"text": "\\ud83d"}', "half a character"),
        (b'{"text": "The cat sleeps.", "num_beams": 0}', "Received: 0."),
        (b'{"text": "The cat sleeps.", "num_beams": true}', "Received: True."),
        (b'{"text": "The cat sleeps.", "num_beams": 1e9}', "Received: 1000000000.0."),
        (b'{"text": "The cat sleeps.", "num_beams": "4"}', "Received: '4'."),
        (json.dumps({"text": "cat " * 101}).encode(), "at most 100 tokens. Received: 101."),
    ],
)
def test_bad_requests_are_told_what_is_wrong(server, body, told):
    status, error = refused(server, "POST", "/translate", body)
    assert status == 400
    assert told in error


def test_a_request_that_is_too_large_is_refused_and_the_next_one_answered(server):
    for size in (1, 20):
        status, error = refused(server, "POST", "/translate", LARGE * size)
        assert status == 413
        assert f"at most {serve.LARGEST:,} bytes" in error
    assert ask(server, text="The black cat sleeps.")[0] == 200


def test_it_listens_to_this_computer_only(server):
    """All of 127.0.0.0/8 is this computer; a server at every address would answer at another."""
    assert server.server_address[0] == "127.0.0.1"
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.2", server.server_port), timeout=5)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "LocalHost", "[::1]"])
def test_it_answers_at_its_own_addresses_and_to_its_own_page(server, host):
    host = f"{host}:{server.server_port}"
    for headers in ({"Host": host}, {"Host": host, "Origin": f"http://{host.lower()}"}):
        assert request(server, "GET", "/", headers=headers)[0] == 200
        assert request(server, "GET", "/model", headers=headers)[0] == 200
        status, _, body = request(server, "POST", "/translate", BODY, headers)
        assert (status, json.loads(body)["translation"]) == (200, "Le chat noir dort.")


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",  # a name that its owner lets point to 127.0.0.1
        "evil.example:{port}",
        "127.0.0.1",  # that is port 80
        "127.0.0.1:1",
        "localhost:{port}.evil.example",
        "localhost.evil.example:{port}",
        "user@localhost:{port}",
        "0.0.0.0:{port}",
        "",
    ],
)
def test_a_foreign_host_is_refused(server, host):
    headers = {"Host": host.format(port=server.server_port)}
    for method, path in (("GET", "/"), ("GET", "/model"), ("POST", "/translate"), ("GET", "/x")):
        body = BODY if method == "POST" else None
        status, error = refused(server, method, path, body, headers)
        assert status == 403
        assert error.startswith(f"Expected the Host 127.0.0.1:{server.server_port} or localhost:")
        assert error.endswith(f"Received: {headers['Host'] or 'none'}.")


@pytest.mark.parametrize(
    "origin",
    [
        "https://evil.example",
        "null",  # a page without a home, such as a file
        "",
        "http://127.0.0.1",
        "http://127.0.0.1:1",
        "https://127.0.0.1:{port}",
        "http://127.0.0.1:{port}.evil.example",
        "http://localhost:{port}",  # its own, but not the one that the Host names
    ],
)
@pytest.mark.parametrize("kind", ["application/json", "text/plain"])
def test_a_foreign_origin_is_refused(server, origin, kind):
    origin = origin.format(port=server.server_port)
    headers = {"Origin": origin, "Content-Type": kind}
    for method, path in (("GET", "/"), ("GET", "/model"), ("POST", "/translate")):
        body = BODY if method == "POST" else None
        status, error = refused(server, method, path, body, headers)
        assert status == 403
        assert f"Received: {origin or 'none'}." in error
    status, headers, _ = request(server, "OPTIONS", "/translate", headers=headers)
    assert status == 403  # what a browser asks before it sends JSON for a page from elsewhere
    assert not [name for name in headers if name.startswith("Access-Control")]


@pytest.mark.parametrize(
    "lines",
    [
        "",
        "Host: localhost:{port}\r\nHost: localhost:{port}\r\n",
        "Host: localhost:{port}\r\nHost: evil.example\r\n",
        "Host: localhost:{port}\r\nOrigin: http://localhost:{port}\r\nOrigin: http://a\r\n",
    ],
)
def test_no_host_or_two_of_a_kind_are_refused(server, lines):
    for method in ("GET / ", "POST /translate "):
        head = f"{method}HTTP/1.1\r\n{lines.format(port=server.server_port)}\r\n"
        assert said(server, head.encode()).startswith(b"HTTP/1.0 403 ")


@pytest.mark.parametrize("kind", ["application/json; charset=utf-8", "Application/JSON;charset=x"])
def test_json_may_name_its_charset(server, kind):
    assert request(server, "POST", "/translate", BODY, {"Content-Type": kind})[0] == 200


@pytest.mark.parametrize(
    "kind",
    [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/jsonp",
        "text/plain; application/json",
        "application/json, text/plain",
        "",
    ],
)
def test_a_post_that_is_not_said_to_be_json_is_refused(server, kind):
    """Those are the types that a page from elsewhere may send without asking."""
    status, error = refused(server, "POST", "/translate", BODY, {"Content-Type": kind})
    assert status == 415
    assert error == (f"Expected the Content-Type application/json. Received: {kind or 'none'}.")


def test_a_post_without_a_type_is_refused(server):
    head = "POST /translate HTTP/1.1\r\nHost: localhost:{}\r\nContent-Length: {}\r\n\r\n{}"
    reply = said(server, head.format(server.server_port, len(BODY), BODY).encode())
    assert reply.startswith(b"HTTP/1.0 415 ")
    assert reply.endswith(
        b'{"error": "Expected the Content-Type application/json. Received: none."}'
    )


def test_what_is_refused_is_not_translated(server, monkeypatch):
    monkeypatch.setattr(serve, "answer", None)
    for headers in ({"Origin": "null"}, {"Host": "evil.example"}, {"Content-Type": "text/plain"}):
        assert request(server, "POST", "/translate", BODY, headers)[0] in (403, 415)


@pytest.mark.parametrize("headers", [{"Origin": "null"}, {"Content-Type": "text/plain"}])
def test_a_long_request_hears_why_it_is_refused(server, headers):
    for _ in range(5):
        assert refused(server, "POST", "/translate", LARGE * 20, headers)[0] in (403, 415)


@pytest.mark.parametrize("error", [ValueError, KeyError, TypeError, FileNotFoundError])
def test_a_bug_is_no_bad_request(server, monkeypatch, error):
    terminal = io.StringIO()  # capfd may lose what a thread writes while it reads
    monkeypatch.setattr("sys.stderr", terminal)

    def fails(*_, **__):
        raise error("planted")

    monkeypatch.setattr(Translator, "attention", fails)
    status, said = refused(server, "POST", "/translate", BODY)
    assert (status, said) == (500, "This is a bug in nlp104. Its terminal says more.")
    for _ in range(100):  # the terminal hears of it after the client
        if "planted" in terminal.getvalue():
            break
        time.sleep(0.1)
    assert "Traceback" in terminal.getvalue()
    assert f"{error.__name__}: " in terminal.getvalue()
    monkeypatch.undo()
    assert ask(server, text=SENTENCE)[0] == 200


@pytest.mark.parametrize("path", ["/translate/", "/pages/translate.html", "/../README.md", "/%"])
def test_there_are_no_other_addresses(server, path):
    assert refused(server, "GET", path)[0] == 404
    assert refused(server, "POST", path, b"{}")[0] == 404


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "PATCH", "OPTIONS", "BREW"])
def test_methods(server, method):
    status, _ = refused(server, method, "/translate")
    assert status == 405
    assert "POST" in request(server, method, "/translate")[1]["Allow"]
    assert method == "GET" or refused(server, method, "/")[0] == 405
    assert refused(server, "POST", "/", b"{}")[0] == 405
    status, headers, body = request(server, "HEAD", "/?from=here")
    assert (status, headers["Content-Length"], body) == (200, str(len(PAGE.encode())), b"")


@pytest.mark.parametrize(
    "sent",
    [
        b"POST /translate HTTP/1.1\r\n\r\n",
        b"POST /translate HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        b"POST /translate HTTP/1.1\r\nContent-Length: " + b"9" * 5000 + b"\r\n\r\n{}",
        b"POST /translate HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"POST /translate HTTP/1.1\r\nContent-Length: 50\r\n\r\n{}",
        b"GET http://[x HTTP/1.1\r\n\r\n",
        b"this is no request\r\n\r\n",  # nor does what says no HTTP get a status line
    ],
)
def test_broken_requests(server, monkeypatch, capfd, sent):
    monkeypatch.setattr(serve._Handler, "timeout", 0.2)
    own = f" HTTP/1.1\r\nHost: localhost:{server.server_port}\r\nContent-Type: application/json"
    sent = sent.replace(b" HTTP/1.1", own.encode())
    head, _, body = said(server, sent).rpartition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.0 40" if b"HTTP" in sent else b"")
    assert list(json.loads(body)) == ["error"]
    assert capfd.readouterr().err == ""


def test_a_reader_who_leaves_is_no_error(server, capfd):
    body = json.dumps({"text": SENTENCE}).encode()
    for _ in range(3):
        with socket.create_connection((serve.HOST, server.server_port)) as connection:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            head = f"POST /translate HTTP/1.1\r\nContent-Length: {len(body)}\r\n\r\n"
            connection.sendall(head.encode() + body)
    assert ask(server, text=SENTENCE)[0] == 200
    assert capfd.readouterr().err == ""


def test_a_model_may_have_a_smaller_limit_of_its_own():
    tokenizer = Tokenizer.train(["a b c d e f g h i"], kind="word")
    translator = Translator(make_model(), tokenizer, tokenizer)
    with pytest.raises(ValueError, match=r"at most 69 tokens\. Received: 80"):
        serve.answer(translator, "a " * 80)


def test_the_page_and_what_it_says_of_the_model(server, translator):
    status, headers, body = request(server, "GET", "/")
    assert (status, body.decode()) == (200, PAGE)
    assert headers["Content-Type"] == "text/html; charset=utf-8"
    assert headers["Content-Security-Policy"].startswith("default-src 'none';")
    _, _, body = request(server, "GET", "/model")
    about = json.loads(body)
    assert (about["model"], about["longest"]) == ("grammar", serve.LONGEST)
    assert about["languages"] == ["en", "fr"]
    assert "The black cat sleeps." in about["examples"]
    with serve.TranslationServer(translator, "grammar", port=0) as mine:  # a name tells nothing
        assert (mine.about["examples"], mine.about["languages"]) == ([], [])


def test_the_page_asks_nobody_else_and_builds_no_html_from_text():
    assert not re.search(r"(https?:)?//\w|@import|url\(|\bsrc=|XMLHttpRequest|WebSocket", PAGE)
    assert not re.search(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|Function\(|srcdoc|"
        r"DOMParser|createContextualFragment|setAttribute\(\"on",
        PAGE,
    )
    assert re.findall(r"fetch\((\w+)|ask\(\"(\w+)\"", PAGE) == [
        ("path", ""),
        ("", "translate"),
        ("", "model"),
    ]


class Elements(HTMLParser):
    """The elements of the page, and which of them a label holds."""

    def __init__(self):
        super().__init__()
        self.found, self.labels = [], 0
        self.feed(PAGE)

    def handle_starttag(self, tag, attributes):
        self.labels += tag == "label"
        self.found.append((tag, dict(attributes), self.labels > 0))

    def handle_endtag(self, tag):
        self.labels -= tag == "label"


def test_every_field_has_a_label_and_every_name_is_there():
    elements = Elements().found
    ids = [attributes["id"] for _, attributes, _ in elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'\bat\("(\w+)"\)', PAGE)) <= set(ids)
    named = {attributes["for"] for tag, attributes, _ in elements if "for" in attributes}
    for tag, attributes, inside in elements:
        if tag in ("input", "select", "textarea"):
            assert inside or attributes.get("id") in named, attributes
    assert ("html", {"lang": "en"}, False) in elements
    assert any(attributes.get("aria-live") == "polite" for _, attributes, _ in elements)


def test_a_port_that_is_taken(server, translator, capsys):
    port = server.server_port
    with pytest.raises(OSError, match=rf"port .*Received: {port} \(.*--port \d+\."):
        serve.TranslationServer(translator, "grammar", port)
    assert main(["serve", "--model", "grammar", "--port", str(port)]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert re.fullmatch(
        rf"nlp104 serve: error: Expected a port .* Received: {port} .*\n", captured.err
    )
    for wrong in ("-1", "65536", "http"):
        with pytest.raises(SystemExit):
            main(["serve", "--port", wrong])
        assert "expected an integer from 0 to 65535" in capsys.readouterr().err


def test_the_command_tells_what_is_recorded(translator, tmp_path, monkeypatch):
    """Of a model of the book its card, of a run its record; nothing follows from a name."""
    told = []
    monkeypatch.setattr(
        serve.TranslationServer, "serve_forever", lambda server: told.append(server.about)
    )
    run = tmp_path / "eng-fra"
    translator.save(run)
    for model in ("grammar", str(run)):
        assert main(["serve", "--model", model, "--port", "0"]) == 0
    write_record(run, {"settings": DEFAULTS, "languages": ["pt", "en"]})
    assert main(["serve", "--model", str(run), "--port", "0"]) == 0
    book, bare, recorded = told
    assert (book["model"], book["languages"]) == ("grammar", ["en", "fr"])
    assert "The black cat sleeps." in book["examples"]
    assert (bare["model"], bare["languages"], bare["examples"]) == ("eng-fra", [], [])
    assert (recorded["languages"], recorded["examples"]) == (["pt", "en"], [])


def test_the_command_serves_until_ctrl_c():
    command = [sys.executable, "-m", "nlp104", "serve", "--model", "grammar", "--port", "0"]
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A job in the background inherits that Ctrl-C is ignored; a reader's terminal does not.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    try:
        line = process.stdout.readline()
        told = re.fullmatch(r"grammar translates at http://127\.0\.0\.1:(\d+)/ \(.*\)\n", line)
        connection = http.client.HTTPConnection(serve.HOST, int(told[1]), timeout=60)
        connection.request("GET", "/")
        assert connection.getresponse().read().decode() == PAGE
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert (process.returncode, out, err) == (0, "\n", "")


def test_the_page_is_installed_with_the_package():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    patterns = project["tool"]["setuptools"]["package-data"]["nlp104.translation"]
    package = ROOT / "nlp104" / "translation"
    assert package / "pages" / "translate.html" in {f for p in patterns for f in package.glob(p)}


@needs_browser
def test_a_language_may_be_called_anything(translator):
    """A run names its languages after its files."""

    async def read(tab):
        for languages, told in ((("en", "lc.fr"), "English to lc.fr,"), ((), "” runs on")):
            with serve.TranslationServer(translator, "mine", 0, languages) as server:
                threading.Thread(target=server.serve_forever, daemon=True).start()
                seen = await tab.open(server.url, 390, "light")
                server.shutdown()
            assert seen["problems"] == []
            script = "document.getElementById('about').textContent"
            said = (await tab.ask("Runtime.evaluate", expression=script))["result"]["value"]
            assert told in said

    visit(read)


@needs_browser
def test_a_reader_types_a_sentence_and_goes_through_its_translation(server):
    state = """[...document.querySelectorAll("#source .token, #target .token")]
        .map((token) => token.firstChild.textContent).join(" ") + " | " +
        ["translation", "count", "problem"].map((id) => document.getElementById(id).textContent)
        .join(" | ")"""

    async def read(tab):
        seen = await tab.open(server.url, 390, "dark")
        assert seen["problems"] == []

        async def run(script, until):
            await tab.ask("Runtime.evaluate", expression=script)
            for _ in range(300):
                answer = await tab.ask("Runtime.evaluate", expression=state)
                if re.search(until, answer["result"]["value"]):
                    return answer["result"]["value"]
                await asyncio.sleep(0.1)
            raise AssertionError(answer["result"]["value"])

        submit = "document.getElementById('text').value = {}; document.forms[0].requestSubmit()"
        whole = "The black cat sleeps . [END] Le chat noir dort . [END] | Le chat noir dort. | "
        first = await run(submit.format("'The black cat sleeps.'"), "dort")
        assert first == whole + "step 1 of 6 | "
        await run("document.getElementById('forward').focus()", "step 1 ")
        for name, step in (("Right", 2), ("Right", 3), ("Left", 2)):
            await tab.ask("Input.dispatchKeyEvent", type="keyDown", key=f"Arrow{name}")
            assert await run("", f"step {step} of") == whole + f"step {step} of 6 | "
        attack = json.dumps("<img src=x onerror=document.title='taken'> <b>cat</b>")
        shown = await run(submit.format(attack), r"^\[UNK\]")
        assert "cat" in shown
        assert not await count(tab, "#result :is(img, b)")
        await run(submit.format("' '"), "Type a sentence first")
        seen = await tab.ask(
            "Runtime.evaluate", expression=pages.LOOK, awaitPromise=True, returnByValue=True
        )
        assert seen["result"]["value"]["problems"] == []
        assert all(url.startswith((server.url, "data:")) for url in tab.requested)
        assert (tab.complaints, tab.missing) == ([], [])

    async def count(tab, selector):
        script = f"document.querySelectorAll({json.dumps(selector)}).length"
        return (await tab.ask("Runtime.evaluate", expression=script))["result"]["value"]

    visit(read)

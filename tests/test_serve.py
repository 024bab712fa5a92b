"""The page of a translator: its server, its commands, its safety."""

import contextlib
import http.client
import re
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from browser import needs_browser, visit

import nlp104
from nlp104.cli.main import main
from nlp104.training.run_record import write_record
from nlp104.training.settings import DEFAULTS
from nlp104.translation import serve, web
from nlp104.translation.pretrained import FOLDER, read_card

ROOT = Path(__file__).parents[1]
CARD = read_card(FOLDER / "grammar")


@pytest.fixture(scope="module")
def translator():
    return nlp104.load_pretrained("grammar")


@pytest.fixture(scope="module")
def server(translator):
    with serve.TranslationServer(translator, "grammar", 0, CARD) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def request(server, method, path, body=None, headers=()):
    """Status, headers and body of an answer."""
    connection = http.client.HTTPConnection(serve.HOST, server.server_port, timeout=60)
    connection.request(method, path, body, dict(headers))
    response = connection.getresponse()
    content = response.read()
    connection.close()
    return response.status, response.headers, content


def said(server, sent):
    """The answer to bytes, as bytes."""
    with socket.create_connection((serve.HOST, server.server_port), timeout=60) as connection:
        connection.sendall(sent)
        with connection.makefile("rb") as file:
            return file.read()


def refused(server, method, path, body=None, headers=()):
    """Status and sentence of an error, which tells nothing of the program."""
    status, headers, content = request(server, method, path, body, headers)
    assert headers["Content-Type"] == "text/plain; charset=utf-8"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert b"Traceback" not in content
    return status, content.decode()


def test_it_hands_out_the_page(server, translator):
    page = web.page(translator, "grammar", CARD).encode()
    status, headers, body = request(server, "GET", "/")
    assert (status, body) == (200, page)
    assert headers["Content-Type"] == "text/html; charset=utf-8"
    assert headers["Content-Security-Policy"].startswith("default-src 'none';")
    status, headers, body = request(server, "HEAD", "/?from=here")
    assert (status, headers["Content-Length"], body) == (200, str(len(page)), b"")


def test_it_listens_to_this_computer_only(server):
    """All of 127.0.0.0/8 is this computer; a server at every address would answer at another."""
    assert server.server_address[0] == "127.0.0.1"
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.2", server.server_port), timeout=5)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "LocalHost", "[::1]"])
def test_it_answers_at_its_own_addresses(server, host):
    headers = {"Host": f"{host}:{server.server_port}"}
    assert request(server, "GET", "/", headers=headers)[0] == 200


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
    for path in ("/", "/x"):
        status, error = refused(server, "GET", path, headers=headers)
        assert status == 403
        assert error.startswith(f"Expected the Host 127.0.0.1:{server.server_port} or localhost:")
        assert error.endswith(f"Received: {headers['Host'] or 'none'}.")


@pytest.mark.parametrize(
    "lines",
    [
        "",
        "Host: localhost:{port}\r\nHost: localhost:{port}\r\n",
        "Host: localhost:{port}\r\nHost: evil.example\r\n",
    ],
)
def test_no_host_or_two_are_refused(server, lines):
    head = f"GET / HTTP/1.1\r\n{lines.format(port=server.server_port)}\r\n"
    assert said(server, head.encode()).startswith(b"HTTP/1.0 403 ")


@pytest.mark.parametrize("path", ["/page.html", "/../README.md", "/%", "/<b>"])
def test_there_are_no_other_addresses(server, path):
    assert refused(server, "GET", path) == (404, f"Expected /. Received: {path}.")


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "BREW"])
def test_there_is_nothing_to_do_but_read(server, method):
    status, headers, body = request(server, method, "/")
    assert (status, body) == (501, f"Unsupported method ('{method}')".encode())
    assert not [name for name in headers if name.startswith("Access-Control")]


@pytest.mark.parametrize(
    "sent",
    [
        b"GET http://[x HTTP/1.1\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\n\r\n",
        b"this is no request\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 1000 + b"\r\n",
        b"GET / HTTP/1.1\r\nX: " + b"y" * 70_000 + b"\r\n\r\n",
    ],
)
def test_broken_requests(server, capfd, sent):
    assert b"Traceback" not in said(server, sent)
    assert capfd.readouterr().err == ""
    assert request(server, "GET", "/")[0] == 200


def test_a_reader_who_leaves_is_no_error(server, capfd):
    for _ in range(3):
        with socket.create_connection((serve.HOST, server.server_port)) as connection:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            connection.sendall(f"GET / HTTP/1.1\r\nHost: {server.hosts[0]}\r\n\r\n".encode())
    assert request(server, "GET", "/")[0] == 200
    assert capfd.readouterr().err == ""


@pytest.mark.slow
def test_those_who_say_nothing_keep_nobody_waiting(server, capfd, monkeypatch):
    """And are hung up on after a while."""
    monkeypatch.setattr(serve._Handler, "timeout", 1)
    with contextlib.ExitStack() as stack:
        silent = [
            stack.enter_context(socket.create_connection((serve.HOST, server.server_port)))
            for _ in range(50)
        ]
        for connection in silent[::2]:
            connection.sendall(b"GET / HT")
        assert request(server, "GET", "/")[0] == 200
        for connection in silent:
            connection.settimeout(60)
            assert connection.recv(1) == b""
    assert capfd.readouterr().err == ""


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


@pytest.mark.parametrize("port", [70_000, -1])
def test_a_port_that_there_is_not(translator, port):
    with pytest.raises(OSError, match=rf"port .*Received: {port} \(.*0-65535\)\. .*--port 8104\."):
        serve.TranslationServer(translator, "grammar", port)


def test_the_current_directory_has_a_name(monkeypatch, capsys):
    monkeypatch.chdir(FOLDER / "grammar")
    monkeypatch.setattr(serve.TranslationServer, "serve_forever", lambda server: None)
    assert main(["serve", "--model", ".", "--port", "0"]) == 0
    assert capsys.readouterr().out.startswith("grammar translates at ")


def test_a_model_that_no_page_can_hold_frees_its_port(translator, monkeypatch):
    with socket.socket() as free:
        free.bind((serve.HOST, 0))
        port = free.getsockname()[1]
    monkeypatch.setattr(web.packing, "LARGEST", 1000)
    with pytest.raises(ValueError, match="at most 1,000 parameters"):
        serve.TranslationServer(translator, "grammar", port)
    monkeypatch.undo()
    serve.TranslationServer(translator, "grammar", port).server_close()


@pytest.mark.slow
def test_the_command_tells_what_is_recorded(translator, tmp_path, monkeypatch):
    """Of a model of the book its card, of a run its record; nothing follows from a name."""
    told = []
    monkeypatch.setattr(serve.web, "page", lambda _, *about: told.append(about) or "")
    monkeypatch.setattr(serve.TranslationServer, "serve_forever", lambda server: None)
    run = tmp_path / "eng-fra"
    translator.save(run)
    for model in ("grammar", str(run)):
        assert main(["serve", "--model", model, "--port", "0"]) == 0
    write_record(run, {"settings": DEFAULTS, "languages": ["pt", "en"]})
    assert main(["serve", "--model", str(run), "--port", "0"]) == 0
    bare = {"languages": [], "examples": []}
    assert told == [
        ("grammar", CARD),
        ("eng-fra", bare),
        ("eng-fra", bare | {"languages": ["pt", "en"]}),
    ]


@pytest.mark.slow
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
        assert connection.getresponse().read(15) == b"<!doctype html>"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert (process.returncode, out, err) == (0, "\n", "")


@pytest.mark.slow
@needs_browser
def test_the_page_translates_under_the_rules_that_come_with_it(server):
    """In its worker, made of the page's own text; and it asks nobody for anything."""

    async def read(tab):
        seen = await tab.open(server.url, 390, "dark")
        assert seen["problems"] == []
        written = await tab.run(
            """new Promise((done) => {
              const field = document.querySelector("form input"), { form } = field;
              const look = () => {
                const text = document.querySelector(".result").textContent;
                if (text.includes("dort.")) return done(text);
                if (!form.hidden && !field.value) {
                  field.value = "The black cat sleeps.";
                  form.requestSubmit();
                }
                setTimeout(look, 50);
              };
              look();
            })"""
        )
        assert "Le chat noir dort." in written
        assert all(url.startswith((server.url, "data:", "blob:")) for url in tab.requested)
        assert (tab.complaints, tab.missing) == ([], [])

    visit(read)

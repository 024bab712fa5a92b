"""Stored results: read where they lie, or fetched from the repository's address."""

import http.server
import json
import threading

import pytest

from nlp104 import corpus, results
from tools import notebooks


def test_a_file_of_the_clone_is_read():
    facts = json.loads(results.read("corpora/grammar.json"))
    data = corpus.load("grammar", sizes=(50, 5, 5))
    assert facts["attribution"] == data.attribution
    with pytest.raises(FileNotFoundError, match="nothing"):
        results.read("corpora/nothing.json")


def test_the_address_is_that_of_the_repository():
    raw = notebooks.address().replace("https://github.com", "https://raw.githubusercontent.com")
    assert results.address("a/b.json") == f"{raw}/main/results/a/b.json"


@pytest.fixture
def server(tmp_path):
    """A repository on the network, with one file in it."""
    (tmp_path / "served").mkdir()
    (tmp_path / "served" / "one.csv").write_text("é,1\n", encoding="utf-8")

    class Handler(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *args):
            super().__init__(*args, directory=tmp_path / "served")

        def log_message(self, *args):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{running.server_port}"
        running.shutdown()


def test_without_a_clone_it_is_fetched(server, tmp_path, monkeypatch):
    monkeypatch.setattr(results, "FOLDER", tmp_path / "nowhere")
    monkeypatch.setattr(results, "address", lambda name: f"{server}/{name}")
    assert results.read("one.csv") == "é,1\n"
    with pytest.raises(ConnectionError, match=r"two\.csv .*404"):
        results.read("two.csv")

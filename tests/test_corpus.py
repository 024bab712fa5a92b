import gzip
import hashlib
import io
import logging
import random
import tarfile
import threading
import tracemalloc
import zipfile
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlp104.data import corpus, download, named_corpora, splits
from nlp104.data.download import Archive, fetch
from nlp104.data.splits import comparable, split, subset
from nlp104.training import settings

# --- splits -------------------------------------------------------------------------------------

sentence = st.integers(0, 30).map(lambda i: f"sentence {i}")
some_pairs = st.lists(st.tuples(sentence, sentence), min_size=1, max_size=60)


@given(some_pairs, st.integers(0, 20), st.integers(0, 20), st.integers(0, 3))
def test_split_divides_without_leak(pairs, validation, test, seed):
    pairs = [*pairs, *[("large", f"group {i}") for i in range(21)]]  # so that training has some
    parts = split(pairs, seed, validation, test)
    train, validation_pairs, test_pairs = parts
    assert sorted([*train, *validation_pairs, *test_pairs]) == sorted(pairs)
    assert len(validation_pairs) <= validation
    assert len(test_pairs) <= test
    for part in parts:  # the order stays
        rest = iter(pairs)
        assert all(pair in rest for pair in part)
    for side in (0, 1):
        sentences = [{pair[side] for pair in part} for part in parts]
        assert not sentences[0] & sentences[1]
        assert not sentences[0] & sentences[2]
        assert not sentences[1] & sentences[2]


def test_split_does_not_depend_on_order():
    generator = random.Random(1)
    pairs = [(f"s{generator.randrange(300)}", f"t{generator.randrange(300)}") for _ in range(200)]
    expected = [set(part) for part in split(pairs, validation=40, test=40)]
    assert all(expected)
    for _ in range(3):
        generator.shuffle(pairs)
        assert [set(part) for part in split(pairs, validation=40, test=40)] == expected
    assert [set(part) for part in split(pairs, 105, validation=40, test=40)] != expected


def test_split_is_the_same_for_ever():
    pairs = [(f"source {i}", f"target {i}") for i in range(10)]
    _, validation, test = split(pairs, 104, validation=2, test=2)
    ranked = sorted(
        pairs, key=lambda p: hashlib.sha256(f"104 source source {p[0][7:]}".encode()).digest()
    )
    assert set(test) == set(ranked[:2])
    assert set(validation) == set(ranked[2:4])


def test_split_takes_two_percent_by_default():
    pairs = [(f"s{i}", f"t{i}") for i in range(1000)]
    assert [len(part) for part in split(pairs)] == [960, 20, 20]


def test_copies_that_differ_in_case_and_punctuation_stay_together():
    pairs = [("Go!", "Va !"), ("go", "Pars."), ("GO ...", "vas-y"), ("Run", "vas y!")]
    pairs += [(f"s{i}", f"t{i}") for i in range(20)]
    for seed in range(20):
        parts = split(pairs, seed, validation=6, test=6)
        assert sorted(len(set(part) & set(pairs[:4])) for part in parts) == [0, 0, 4]


def test_essence():
    assert comparable("L'été, c'est FINI !") == comparable("l été c est fini")
    assert comparable("?!") == "?!"
    assert comparable("été") != comparable("ete")
    assert comparable("STRASSE") == comparable("Straße")  # `lower` would leave the ß


def test_the_light_settings_name_the_same_parts():
    """They may not import this module, and with it Keras."""
    assert settings.SPLITS == splits.SPLITS


def test_sample_is_a_choice_of_the_seed_alone():
    pairs = [(f"s{i:03}", f"t{i:03}") for i in range(200)]
    chosen = subset(pairs, 20)
    assert len(chosen) == 20
    assert chosen == sorted(chosen)  # in the order of the corpus
    assert chosen != pairs[:20]
    assert sorted(subset(pairs[::-1], 20)) == chosen
    assert subset(pairs, 20, seed=1) != chosen
    assert subset(pairs, None) == subset(pairs, 200) == pairs
    assert subset(pairs, 0) == []


# --- files --------------------------------------------------------------------------------------


def all_pairs(loaded):
    return sorted([*loaded.train, *loaded.validation, *loaded.test])


def write(path, text):
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


ROWS = [(f"I see {i}.", f"Je vois {i}.") for i in range(60)]
TSV = "".join(f"{source}\t{target}\n" for source, target in ROWS)


def test_a_file_of_columns(tmp_path):
    loaded = corpus.load_corpus(write(tmp_path / "pairs.tsv", TSV))
    assert all_pairs(loaded) == sorted(ROWS)
    assert (len(loaded.train), len(loaded.validation), len(loaded.test)) == (58, 1, 1)
    assert (loaded.source_language, loaded.target_language) == ("en", "fr")


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("\n", "\tCC-BY 2.0 (France) Attribution: tatoeba.org #1\n"),
        lambda text: text.replace("\n", "\r\n"),
        lambda text: "\ufeff" + text,
        lambda text: text + "\n   \n",
        lambda text: text.removesuffix("\n"),
        lambda text: text.replace(" ", "\u202f").replace(".", "\u200b."),
    ],
    ids=["third column", "CRLF", "BOM", "blank lines", "no last line end", "exotic spaces"],
)
def test_the_same_pairs_in_other_files(tmp_path, change):
    assert all_pairs(corpus.load_corpus(write(tmp_path / "pairs.txt", change(TSV)))) == sorted(ROWS)


def test_other_columns(tmp_path):
    path = write(tmp_path / "pairs.tsv", TSV.replace("I see", "x\tI see"))
    loaded = corpus.load_corpus(path, source_language="fr", target_language="en", columns=(3, 2))
    assert all_pairs(loaded) == sorted((target, source) for source, target in ROWS)
    assert (loaded.source_language, loaded.target_language) == ("fr", "en")


def test_files_of_lines_with_their_own_parts(tmp_path):
    for part, rows in (("train", ROWS[:50]), ("val", ROWS[50:55]), ("test", ROWS[55:])):
        write(tmp_path / f"{part}.en", "".join(f"{source}\n" for source, _ in rows))
        write(tmp_path / f"{part}.fr", "".join(f"{target}\n" for _, target in rows))
    prefix = str(tmp_path / "train")
    loaded = corpus.load_corpus(prefix, validation=tmp_path / "val", test=tmp_path / "test")
    assert (loaded.train, loaded.validation, loaded.test) == (ROWS[:50], ROWS[50:55], ROWS[55:])
    # A part that is missing is taken from the training pairs.
    loaded = corpus.load_corpus(prefix, validation=tmp_path / "val", sizes=(None, None, 7))
    assert loaded.validation == ROWS[50:55]
    assert len(loaded.test) == 7
    assert sorted([*loaded.train, *loaded.test]) == sorted(ROWS[:50])


def test_a_line_may_hold_what_other_programs_take_for_its_end(tmp_path):
    write(tmp_path / "a.en", "one\u2028two\x0bthree\tfour\n" * 3)
    write(tmp_path / "a.fr", "un\ndeux\ntrois\n")
    loaded = corpus.load_corpus(tmp_path / "a")
    assert {source for source, _ in all_pairs(loaded)} == {"one two three four"}


def test_ready_made_tokens_stay_as_they_are(tmp_path):
    write(tmp_path / "a.en", "pul@@ ley\u2019s  e\u0301\n" * 3)
    write(tmp_path / "a.fr", "un\ndeux\ntrois\n")
    train = [
        corpus.load_corpus(tmp_path / "a", normalized=n, sizes=(3, 0, 0)).train for n in (0, 1)
    ]
    assert train[0][0] == ("pul@@ ley\u2019s  e\u0301", "un")
    assert train[1][0] == ("pul@@ ley's é", "un")


def test_empty_sides_are_left_out_with_a_warning(tmp_path, caplog):
    path = write(tmp_path / "pairs.tsv", TSV + "alone\t\n\u200b\tseul\n")
    with caplog.at_level(logging.WARNING):
        assert all_pairs(corpus.load_corpus(path)) == sorted(ROWS)
    assert "left out 2 pairs with an empty side" in caplog.text


def test_a_very_long_line_is_loaded(tmp_path):
    path = write(tmp_path / "pairs.tsv", TSV + "word " * 10_000 + "\tmot\n")
    assert max(len(source.split()) for source, _ in all_pairs(corpus.load_corpus(path))) == 10_000


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", r"Expected sentence pairs in .*pairs\.tsv\. Received: none"),
        ("\n\n", r"Expected sentence pairs in .*pairs\.tsv\. Received: none"),
        ("\t\n", r"Expected sentence pairs in .*pairs\.tsv\. Received: none"),
        ("a\tb\nonly one\n", r"at least 2 tab-separated columns in .*, line 2\. Received: 1"),
        (b"a\tb\nc\tx\xe9t\xe9\n", r"UTF-8 text in .*0xe9 in line 2, byte 4 \(offset 7"),
        (b"\xef\xbb\xbfa\t\xff\n", r"UTF-8 text in .*0xff in line 1, byte 6 \(offset 5"),
        ("a\tb\n", r"enough sentence pairs .* Received: 1 in all"),
    ],
    ids=["empty", "blank", "no words", "one column", "latin-1", "after a BOM", "one pair"],
)
def test_bad_files_of_columns(tmp_path, content, message):
    with pytest.raises(ValueError, match=message):
        corpus.load_corpus(write(tmp_path / "pairs.tsv", content))


def test_bad_files_of_lines(tmp_path):
    write(tmp_path / "a.en", "one\ntwo\n")
    with pytest.raises(FileNotFoundError, match=r"there is no .*a\.fr\.$"):
        corpus.load_corpus(tmp_path / "a")
    write(tmp_path / "a.fr", "un\n")
    with pytest.raises(ValueError, match=r"as many lines .* 2 in .*a\.en and 1 in .*a\.fr"):
        corpus.load_corpus(tmp_path / "a")
    with pytest.raises(FileNotFoundError, match="grammar, fra-eng, ted-pt-en, multi30k-en-de"):
        corpus.load_corpus("gramar")


def test_sizes_are_limits(tmp_path):
    loaded = corpus.load_corpus(write(tmp_path / "pairs.tsv", TSV), sizes=(20, 10, 5))
    assert (len(loaded.train), len(loaded.validation), len(loaded.test)) == (20, 10, 5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sizes": (-1, None, None)}, "`size of train` must be .* at least 0. Received: -1"),
        ({"sizes": (None, 1.5, None)}, "`size of validation` must be an integer of at least 0."),
        ({"columns": (0, 1)}, "`source_column` must be a positive integer. Received: 0"),
        ({"sizes": (1, 2)}, r"`sizes` must hold one for each of train, .*\. Received: \(1, 2\)"),
        ({"sizes": 100}, r"`sizes` must hold one for each of train, validation, test\. Rec.*: 100"),
        ({"columns": (1,)}, r"`columns` must hold one for each of source, target\. .*: \(1,\)"),
        ({"columns": (1, 2, 3)}, r"`columns` must hold one for each .*: \(1, 2, 3\)"),
    ],
)
def test_sizes_and_columns_that_do_not_exist(tmp_path, options, message):
    with pytest.raises(ValueError, match=message):
        corpus.load_corpus(write(tmp_path / "pairs.tsv", TSV), **options)


def test_references_join_all_translations_of_a_sentence():
    pairs = [("a", "x"), ("b", "y"), ("a", "z"), ("a", "x"), ("c", "w")]
    loaded = corpus.Corpus("test", "en", "fr", [], [], pairs, accepted={"c": ("w", "v")})
    assert loaded.references() == [("a", ("x", "z")), ("b", ("y",)), ("c", ("w", "v"))]
    assert loaded.references("validation") == []


# --- named corpora ------------------------------------------------------------------------------


def test_the_grammar():
    loaded = corpus.load_corpus("grammar", sizes=(200, 30, 40))
    assert (len(loaded.train), len(loaded.validation), len(loaded.test)) == (200, 30, 40)
    parts = [{source for source, _ in getattr(loaded, p)} for p in ("train", "validation", "test")]
    assert len(parts[0] | parts[1] | parts[2]) == 270
    references = dict(loaded.references())
    assert all(target in references[source] for source, target in loaded.test)
    assert corpus.load_corpus("grammar", sizes=(200, 30, 40)) == loaded
    assert corpus.load_corpus("grammar", sizes=(200, 30, 40), seed=1).train != loaded.train
    with pytest.raises(ValueError, match=r"from en to fr\. Received: from fr to en"):
        corpus.load_corpus("grammar", source_language="fr", target_language="en")


@pytest.fixture
def directory(tmp_path):
    (tmp_path / "fra-eng").mkdir()
    write(tmp_path / "fra-eng" / "fra.txt", TSV)
    for name, count in (("train", 30), ("val", 20), ("test_2016_flickr", 10)):
        for language, text in (("en", "A cat"), ("de", "Eine Katze")):
            lines = "".join(f"{text} {name} {i}.\n" for i in range(count))
            (tmp_path / "multi30k").mkdir(exist_ok=True)
            write(tmp_path / "multi30k" / f"{name}.{language}", lines)
            name_here = {"train": "train", "val": "dev", "test_2016_flickr": "test"}[name]
            language_here = {"en": "en", "de": "pt"}[language]
            (tmp_path / "ted-pt-en").mkdir(exist_ok=True)
            write(tmp_path / "ted-pt-en" / f"{language_here}.{name_here}", lines)
    return tmp_path


def test_named_corpora_from_a_directory(directory, monkeypatch):
    french = corpus.load_corpus("fra-eng", directory=directory)
    assert all_pairs(french) == sorted(ROWS)
    assert "tatoeba" in french.attribution
    assert corpus.load_corpus("fra-eng", directory=directory / "fra-eng") == french
    monkeypatch.setenv("NLP104_DATA", str(directory))
    german = corpus.load_corpus("multi30k-en-de")
    assert (len(german.train), len(german.validation), len(german.test)) == (30, 20, 10)
    assert german.test[3] == ("A cat test_2016_flickr 3.", "Eine Katze test_2016_flickr 3.")
    talks = corpus.load_corpus("ted-pt-en")
    assert (talks.source_language, talks.target_language) == ("pt", "en")
    assert (len(talks.train), len(talks.validation), len(talks.test)) == (30, 20, 10)
    assert talks.train[0] == ("Eine Katze train 0.", "A cat train 0.")


def test_languages_of_a_named_corpus_can_be_swapped(directory):
    there = corpus.load_corpus("fra-eng", directory=directory)
    back = corpus.load_corpus(
        "fra-eng", source_language="fr", target_language="en", directory=directory
    )
    assert all_pairs(back) == sorted((target, source) for source, target in all_pairs(there))
    with pytest.raises(ValueError, match=r"languages of fra-eng, en and fr\. Received: de and en"):
        corpus.load_corpus("fra-eng", target_language="de", directory=directory)
    with pytest.raises(ValueError, match=r"neither `validation` nor `test`.*Received: .*test="):
        corpus.load_corpus("fra-eng", directory=directory, test=directory / "x")


def test_a_directory_that_is_not_there(tmp_path):
    with pytest.raises(FileNotFoundError, match="Expected a directory"):
        corpus.load_corpus("fra-eng", directory=tmp_path / "nowhere")


def test_the_catalogue_is_consistent():
    for known in named_corpora.CORPORA.values():
        members = {name for archive in known.archives for name in archive.members}
        assert {name for files in known.files for name in files} == members
        for archive in known.archives:
            assert archive.name.endswith((".zip", ".tar.gz", ".gz"))
            checked = [known_hash for _, known_hash in archive.urls]
            # Either the archive or each file in it is checked, at the first address at least.
            assert checked[0] or set(archive.sha256) == set(archive.members)
            for value in [*filter(None, checked), *archive.sha256.values()]:
                assert len(value.split(":")[-1]) == (40 if value.startswith("sha1:") else 64)


# --- downloads ----------------------------------------------------------------------------------


class Server:
    """A web server on this machine: `files` maps a path to its answers, the last of which stays."""

    def __init__(self):
        self.files, self.requests = {}, []
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                server.requests.append(self.path)
                answers = server.files.get(self.path, [(404, b"")])
                status, body = answers.pop(0) if len(answers) > 1 else answers[0]
                if "Mozilla" not in self.headers.get("User-Agent", ""):
                    status, body = 406, b""
                length = len(body) + (1000 if status == "truncated" else 0)
                self.send_response(200 if status == "truncated" else status)
                self.send_header("Content-Length", str(length))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}"
        threading.Thread(target=self.http.serve_forever, daemon=True).start()


@pytest.fixture
def server():
    server = Server()
    yield server
    server.http.shutdown()
    server.http.server_close()


def zipped(files):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            info = zipfile.ZipInfo(name)  # with no time: the same bytes in every process
            archive.writestr(info, text, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def sha256(data):
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def one_archive(server, known_hash, *more):
    urls = ((f"{server.url}/fra-eng.zip", known_hash), *more)
    return (Archive("fra-eng.zip", urls, {"fra.txt": "fra.txt"}),)


def names(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_an_archive_is_the_same_at_any_time(monkeypatch):
    """Workers that collect the tests a moment apart must find the same ones."""
    now = zipped({"a": "x"})
    monkeypatch.setattr("time.time", lambda: 1e9)
    assert zipped({"a": "x"}) == now


GOOD = zipped({"__MACOSX/fra-eng/._fra.txt": "x", "_about.txt": "x", "fra-eng/fra.txt": TSV})


def test_download_unpack_and_use(server, tmp_path, monkeypatch, capsys):
    server.files["/fra-eng.zip"] = [(200, GOOD)]
    known = replace(named_corpora.CORPORA["fra-eng"], archives=one_archive(server, sha256(GOOD)))
    monkeypatch.setitem(named_corpora.CORPORA, "fra-eng", known)
    monkeypatch.setenv("NLP104_DATA", str(tmp_path))
    loaded = corpus.load_corpus("fra-eng")
    assert all_pairs(loaded) == sorted(ROWS)
    assert names(tmp_path) == ["fra-eng/fra.txt"]
    assert "100%" in capsys.readouterr().err
    assert corpus.load_corpus("fra-eng") == loaded
    assert server.requests == ["/fra-eng.zip"]


def test_a_broken_download_is_tried_again(server, tmp_path):
    server.files["/fra-eng.zip"] = [("truncated", GOOD[:100]), (200, GOOD)]
    folder = fetch("fra-eng", one_archive(server, sha256(GOOD)), tmp_path)
    assert (folder / "fra.txt").read_text() == TSV
    assert len(server.requests) == 2


def test_another_address_is_tried(server, tmp_path):
    server.files |= {"/fra-eng.zip": [(403, b"")], "/mirror/fra-eng.zip": [(200, GOOD)]}
    archives = one_archive(server, None, (f"{server.url}/mirror/fra-eng.zip", None))
    assert (fetch("fra-eng", archives, tmp_path) / "fra.txt").read_text() == TSV


@pytest.mark.parametrize(
    ("answer", "known_hash", "reason"),
    [
        ((404, b""), None, "HTTP 404"),
        ((403, b"forbidden"), None, "HTTP 403"),
        (("truncated", GOOD[:200]), None, "no connection"),
        ((200, GOOD[:-50]), None, "broken or unexpected content"),
        ((200, GOOD[:200] + b"x" + GOOD[201:]), sha256(GOOD), "broken or unexpected content"),
        ((200, zipped({"other": "x"})), None, "broken or unexpected content"),
        ((200, b"<html>please log in</html>"), None, "broken or unexpected content"),
    ],
    ids=["404", "403", "cut", "short", "changed", "other file", "log-in page"],
)
def test_a_failed_download_says_what_to_do_and_leaves_nothing(
    server, tmp_path, answer, known_hash, reason
):
    server.files["/fra-eng.zip"] = [answer]
    message = rf"Cannot download fra-eng: .*\({reason}\).*Put fra-eng.zip, or from it fra.txt, into"
    with pytest.raises(ConnectionError, match=message):
        fetch("fra-eng", one_archive(server, known_hash), tmp_path)
    assert names(tmp_path) == []
    server.files["/fra-eng.zip"] = [(200, GOOD)]
    fetch("fra-eng", one_archive(server, known_hash), tmp_path)
    assert names(tmp_path) == ["fra-eng/fra.txt"]


def test_no_server_at_all(tmp_path):
    archives = (Archive("a.gz", (("http://127.0.0.1:9/a.gz", None),), {"a": "a"}),)
    with pytest.raises(ConnectionError, match=r"\(no connection\)"):
        fetch("a", archives, tmp_path)


def test_compressed_files_are_checked_by_their_content(server, tmp_path):
    text = TSV.encode()
    url = ((f"{server.url}/train.en.gz", None),)
    digest = {"train.en": hashlib.sha256(text).hexdigest()}
    archives = (Archive("train.en.gz", url, {"train.en": "train.en"}, digest),)
    server.files["/train.en.gz"] = [(200, gzip.compress(text + b"!"))]
    with pytest.raises(ConnectionError, match="unexpected content"):
        fetch("multi30k", archives, tmp_path)
    assert names(tmp_path) == []
    server.files["/train.en.gz"] = [(200, gzip.compress(text))]
    fetch("multi30k", archives, tmp_path)
    assert (tmp_path / "multi30k" / "train.en").read_bytes() == text


def test_tar_archives(server, tmp_path):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name in ("datasets/gl_pt_to_en/pt.dev", "./datasets/pt_to_en/pt.dev"):
            entry = tarfile.TarInfo(name)
            entry.size = len(name)
            archive.addfile(entry, io.BytesIO(name.encode()))
    server.files["/a.tar.gz"] = [(200, buffer.getvalue())]
    url = ((f"{server.url}/a.tar.gz", None),)
    archives = (Archive("a.tar.gz", url, {"pt.dev": "datasets/pt_to_en/pt.dev"}),)
    folder = fetch("ted-pt-en", archives, tmp_path)
    assert (folder / "pt.dev").read_text() == "./datasets/pt_to_en/pt.dev"


HOSTILE = {
    "a link": {"type": tarfile.SYMTYPE, "linkname": "/etc/passwd"},
    "a hard link": {"type": tarfile.LNKTYPE, "linkname": "../../passwd"},
    "a directory": {"type": tarfile.DIRTYPE},
    "a device": {"type": tarfile.CHRTYPE},
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_what_is_no_file_is_not_read_from_an_archive(server, tmp_path, kind):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        entry = tarfile.TarInfo("data/pt.dev")
        for name, value in HOSTILE[kind].items():
            setattr(entry, name, value)
        archive.addfile(entry)
    server.files["/a.tar.gz"] = [(200, buffer.getvalue())]
    archives = (Archive("a.tar.gz", ((f"{server.url}/a.tar.gz", None),), {"pt.dev": "pt.dev"}),)
    with pytest.raises(ConnectionError, match="unexpected content"):
        fetch("ted-pt-en", archives, tmp_path)
    assert names(tmp_path) == []


@pytest.mark.parametrize("place", ["../../fra.txt", "/tmp/fra.txt", "a/../../../fra.txt"])
def test_an_archive_cannot_choose_where_its_files_go(server, tmp_path, place):
    server.files["/fra-eng.zip"] = [(200, zipped({place: TSV}))]
    (tmp_path / "inside").mkdir()
    fetch("fra-eng", one_archive(server, None), tmp_path / "inside")
    assert names(tmp_path) == ["inside/fra-eng/fra.txt"]


@pytest.mark.parametrize("kind", [".zip", ".tar.gz", ".gz"])
def test_a_bomb_does_not_go_off(server, tmp_path, monkeypatch, kind):
    monkeypatch.setattr(download, "_LARGEST", 10**5)
    zeros = b"0" * 10**7  # a hundredth of that when it is packed
    if kind == ".gz":
        packed = gzip.compress(zeros)
    elif kind == ".zip":
        packed = zipped({"a": zeros.decode()})
    else:
        buffer, entry = io.BytesIO(), tarfile.TarInfo("a")
        entry.size = len(zeros)
        with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
            archive.addfile(entry, io.BytesIO(zeros))
        packed = buffer.getvalue()
    server.files[f"/a{kind}"] = [(200, packed)]
    archives = (Archive(f"a{kind}", ((f"{server.url}/a{kind}", None),), {"a": "a"}),)
    tracemalloc.start()
    with pytest.raises(ConnectionError, match="unexpected content"):
        fetch("a", archives, tmp_path)
    assert tracemalloc.get_traced_memory()[1] < 5e6
    tracemalloc.stop()
    assert names(tmp_path) == []


def test_two_processes_may_fetch_at_once(server, tmp_path, monkeypatch):
    """While one has its archive, another fetches, unpacks and tidies up: neither is disturbed."""
    server.files["/fra-eng.zip"] = [(200, GOOD)]
    alone = download._download

    def interrupted(*arguments):
        alone(*arguments)
        monkeypatch.setattr(download, "_download", alone)
        fetch("fra-eng", one_archive(server, None), tmp_path)
        assert names(tmp_path / "fra-eng")[-1] == "fra.txt"
        (tmp_path / "fra-eng" / "fra.txt").unlink()  # what counts is what this one does

    monkeypatch.setattr(download, "_download", interrupted)
    folder = fetch("fra-eng", one_archive(server, None), tmp_path)
    assert (folder / "fra.txt").read_text() == TSV
    assert names(tmp_path) == ["fra-eng/fra.txt"]


def test_an_archive_put_there_by_hand_is_used_and_kept(server, tmp_path):
    (tmp_path / "fra-eng").mkdir()
    path = write(tmp_path / "fra-eng" / "fra-eng.zip", GOOD)
    # Any version will do: the hash is that of the download.
    folder = fetch("fra-eng", one_archive(server, "sha256:" + "0" * 64), tmp_path)
    assert (folder / "fra.txt").read_text() == TSV
    (folder / "fra.txt").unlink()
    path.write_bytes(GOOD[:-30])
    with pytest.raises(ValueError, match="delete it to download it again"):
        fetch("fra-eng", one_archive(server, None), tmp_path)
    assert names(tmp_path) == ["fra-eng/fra-eng.zip"]
    assert server.requests == []


def test_a_full_disk_is_not_a_network_problem(server, tmp_path, monkeypatch):
    server.files["/fra-eng.zip"] = [(200, GOOD)]

    def disk_full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(download.Path, "write_bytes", disk_full)
    with pytest.raises(OSError, match="No space left") as error:
        fetch("fra-eng", one_archive(server, None), tmp_path)
    assert not isinstance(error.value, ConnectionError)
    assert names(tmp_path) == []
    assert len(server.requests) == 1


def test_a_part_or_a_size_that_there_is_not():
    loaded = corpus.Corpus("mine", "en", "fr", [], [], [("a", "x")])
    for part in ("name", "tests"):
        with pytest.raises(ValueError, match=f"one of train, validation, test. Received: '{part}'"):
            loaded.references(part)
    for size in (-1, 1.5):
        with pytest.raises(ValueError, match=f"`test` must be an integer .* Received: {size}"):
            split([("a", "x"), ("b", "y")], test=size)


def test_given_parts_have_their_sizes_and_the_choice_its_seed(tmp_path):
    write(tmp_path / "train.tsv", TSV)
    part = write(tmp_path / "part.tsv", TSV.replace("I see", "You saw"))
    options = {"validation": part, "test": part}
    loaded = corpus.load_corpus(tmp_path / "train.tsv", sizes=(9, 5, 3), **options)
    assert (len(loaded.train), len(loaded.validation), len(loaded.test)) == (9, 5, 3)
    again = corpus.load_corpus(tmp_path / "train.tsv", sizes=(9, 5, 3), seed=1, **options)
    for name in ("train", "validation", "test"):
        assert getattr(again, name) != getattr(loaded, name)
    one, other = (corpus.load_corpus(tmp_path / "train.tsv", seed=seed).test for seed in (1, 2))
    assert one != other


def test_the_mark_before_a_file_is_no_part_of_its_tokens(tmp_path):
    path = write(tmp_path / "pairs.tsv", "\ufeff" + TSV)
    assert all_pairs(corpus.load_corpus(path, normalized=False)) == sorted(ROWS)

"""Fetching the files of a corpus: once, and whole or not at all."""

import gzip
import hashlib
import os
import sys
import tarfile
import tempfile
import zipfile
import zlib
from dataclasses import dataclass, field
from pathlib import Path

from nlp104.utils.errors import InputError, MissingError
from nlp104.utils.files import replacing

# One of the servers answers only clients that look like a browser.
_HEADERS = {"User-Agent": "Mozilla/5.0 (compatible; nlp104)"}
_ATTEMPTS = 2  # for each address
_LARGEST = 2**30  # bytes of a file out of an archive: a bomb would fill the memory

# What reading a broken archive raises; KeyError if it lacks the file.
_BROKEN = (ValueError, EOFError, KeyError, zlib.error, zipfile.BadZipFile, tarfile.TarError)


@dataclass(frozen=True)
class Archive:
    """A file on the network, and the files of a corpus that are packed in it.

    Attributes:
        name: The file name of the archive: ``.zip``, ``.tar.gz`` or ``.gz``.
        urls: From where to take it, in this order, each with the hash of what lies there; `None`
            where the content changes from time to time.
        members: The file name that each member gets, and the end of its path inside the archive.
        sha256: The hashes of members, as far as they are known.
    """

    name: str
    urls: tuple[tuple[str, str | None], ...]
    members: dict[str, str]
    sha256: dict[str, str] = field(default_factory=dict)


def fetch(
    corpus: str, archives: tuple[Archive, ...], directory: str | os.PathLike | None = None
) -> Path:
    """Returns a folder that holds all files of the archives, and downloads what is missing.

    The files are used without a look at the network if they stand in `directory` itself or in its
    folder `corpus`; an archive that stands in that folder is unpacked.

    Args:
        corpus: The name of the folder.
        archives: What the corpus consists of.
        directory: Where to look and to download to. Defaults to the environment variable
            ``NLP104_DATA``, else to the user's cache.

    Returns:
        The folder.

    Raises:
        FileNotFoundError: If the directory does not exist.
        ConnectionError: If a file cannot be downloaded. It says which file to put where.
        ValueError: If an archive that somebody put there is broken.
    """
    directory = directory or os.environ.get("NLP104_DATA")
    if directory and not Path(directory).is_dir():
        raise MissingError(f"Expected a directory with corpora. Received: {directory}.")
    if not directory:
        import pooch  # only where it is needed: on import it warns in notebooks without widgets

        directory = pooch.os_cache("nlp104")
    directory = Path(directory)
    for folder in (directory, directory / corpus):
        if all((folder / name).is_file() for archive in archives for name in archive.members):
            return folder
    folder = directory / corpus
    folder.mkdir(parents=True, exist_ok=True)
    for archive in archives:
        if not all((folder / name).is_file() for name in archive.members):
            _fetch_archive(corpus, archive, folder)
    return folder


def _fetch_archive(corpus, archive, folder):
    path = folder / archive.name
    if path.is_file():
        try:
            return _unpack(archive, path, folder)
        except (*_BROKEN, gzip.BadGzipFile) as error:
            raise InputError(
                f"Expected an archive with {', '.join(archive.members)} in {path}. Received: a "
                "broken or a different file; delete it to download it again."
            ) from error
    problems = []
    for url, known_hash in archive.urls:
        for _ in range(_ATTEMPTS):
            try:
                # A place of its own: another process may be fetching the same.
                with tempfile.TemporaryDirectory(prefix=".", dir=folder) as place:
                    fetched = Path(place, archive.name)
                    _download(url, known_hash, fetched)
                    return _unpack(archive, fetched, folder)
            except (OSError, *_BROKEN) as error:
                if getattr(error, "errno", None) is not None:
                    raise  # the disk is full or read-only: another try will not help
                problem = f"{url} ({_reason(error)})"
        problems.append(problem)
    raise ConnectionError(
        f"Cannot download {corpus}: tried {' and '.join(problems)}. Put {archive.name}, or from it "
        f"{', '.join(archive.members)}, into {folder}; another place for the folder {corpus} can "
        "be named in the environment variable NLP104_DATA."
    )


def _reason(error):
    response = getattr(error, "response", None)  # requests gives one if the server answered
    if response is not None:
        return f"HTTP {response.status_code}"
    return "no connection" if isinstance(error, OSError) else "broken or unexpected content"


def _download(url, known_hash, path):
    """Pooch writes a temporary file, and moves it to `path` only when it is whole and right."""
    import pooch

    pooch.get_logger().setLevel("WARNING")
    print(f"Downloading {url}", file=sys.stderr)
    downloader = pooch.HTTPDownloader(
        progressbar=_Progress(), chunk_size=2**16, headers=_HEADERS, timeout=30
    )
    pooch.retrieve(url, known_hash, fname=path.name, path=path.parent, downloader=downloader)


def _unpack(archive, path, folder):
    """Pooch's own processors write in place, and say nothing of a member that is not there."""
    for name, member in archive.members.items():
        content = _read_member(path, member)
        expected = archive.sha256.get(name)
        if expected and hashlib.sha256(content).hexdigest() != expected:
            raise ValueError(f"{name} is not what it was when its hash was noted.")
        with replacing(folder / name) as unfinished:
            unfinished.write_bytes(content)


def _read_member(path, member):
    """The content of the file in the archive `path` whose own path ends with `member`.

    Nothing is unpacked to where the archive wants it: paths and links in it lead nowhere.
    """

    def find(names):
        for name in names:
            if f"/{name}".endswith(f"/{member}"):
                return name
        raise KeyError(f"No {member} in {path}")

    if path.name.endswith(".zip"):
        with zipfile.ZipFile(path) as archive, archive.open(find(archive.namelist())) as file:
            return _read(file)
    if path.name.endswith(".tar.gz"):
        with tarfile.open(path) as archive:
            found = archive.getmember(find(archive.getnames()))
            if not found.isreg():
                raise ValueError(f"{found.name} in {path} is no file.")
            return _read(archive.extractfile(found))
    with gzip.open(path) as file:
        return _read(file)


def _read(file):
    content = file.read(_LARGEST + 1)
    if len(content) > _LARGEST:
        raise ValueError(f"A file of more than {_LARGEST:,} bytes.")
    return content


class _Progress:
    """The progress display that pooch asks for: tenths on one line, which a log can hold too."""

    def __init__(self):
        self.total = 0
        self._done = self._tenths = 0

    def update(self, n):
        self._done += n
        tenths = min(10, 10 * self._done // self.total) if self.total else 0
        if tenths > self._tenths:
            self._tenths = tenths
            print(f"{tenths}0%", end="\n" if tenths == 10 else " ", file=sys.stderr, flush=True)

    def reset(self):
        self._done = 0

    def close(self):
        pass

"""Sentence pairs for training, validation and test, from a name or from files, without leaks."""

import logging
import os
from collections.abc import Sized
from dataclasses import dataclass, field
from pathlib import Path

from nlp104.data.download import fetch
from nlp104.data.named_corpora import CORPORA
from nlp104.data.splits import SPLITS, Pair, split, subset
from nlp104.data.tokenizer import normalize
from nlp104.utils.arguments import require_one_of, require_positive, require_whole
from nlp104.utils.errors import InputError, MissingError

NAMES = ("grammar", *CORPORA)
GRAMMAR_SIZES = (20_000, 1_000, 1_000)

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class Corpus:
    """Sentence pairs in three parts.

    Attributes:
        name: What it was loaded by.
        source_language: The language of the first sentence of each pair.
        target_language: The language of the second.
        train: The pairs to learn from.
        validation: The pairs to watch while training.
        test: The pairs to report on, once.
        attribution: Whose it is and under which licence.
        description: What it is, in one sentence.
        accepted: For the grammar corpus: all right translations of a source sentence.

    Example:
        >>> from nlp104.data import Corpus
        >>> test = [("Hi.", "Salut."), ("Hi.", "Bonjour."), ("Thanks.", "Merci.")]
        >>> Corpus("mine", "en", "fr", train=[], validation=[], test=test).references("test")
        [('Hi.', ('Salut.', 'Bonjour.')), ('Thanks.', ('Merci.',))]
    """

    name: str
    source_language: str
    target_language: str
    train: list[Pair]
    validation: list[Pair]
    test: list[Pair]
    attribution: str = ""
    description: str = ""
    accepted: dict[str, tuple[str, ...]] = field(default_factory=dict, repr=False)

    def references(self, split: str = "test") -> list[tuple[str, tuple[str, ...]]]:
        """Returns each source sentence of a part once, with all its right translations.

        Args:
            split: ``"train"``, ``"validation"`` or ``"test"``.

        Returns:
            A list of (source, (target, …)).

        Raises:
            ValueError: If there is no such part.
        """
        require_one_of(SPLITS, split=split)
        grouped: dict[str, dict[str, None]] = {}
        for source, target in getattr(self, split):
            grouped.setdefault(source, {})[target] = None
        return [(s, self.accepted.get(s) or tuple(targets)) for s, targets in grouped.items()]


def load_corpus(
    name_or_path: str | os.PathLike,
    source_language: str | None = None,
    target_language: str | None = None,
    directory: str | os.PathLike | None = None,
    seed: int = 104,
    validation: str | os.PathLike | None = None,
    test: str | os.PathLike | None = None,
    sizes: tuple[int | None, int | None, int | None] = (None, None, None),
    columns: tuple[int, int] = (1, 2),
    normalized: bool = True,
) -> Corpus:
    r"""Loads a corpus by its name or from files.

    A corpus that brings its own parts keeps them. Missing ones are taken from the training pairs by
    `nlp104.data.split`, so that no sentence stands in two of what it makes; a part that is given
    is taken as it is, with what it shares with the others. Pairs with an empty side are left out,
    with a warning.

    Args:
        name_or_path: ``"grammar"``, ``"fra-eng"``, ``"ted-pt-en"`` or ``"multi30k-en-de"``; or the
            path of a file of tab-separated columns; or the prefix P of two files of lines, ``P.en``
            and ``P.fr``.
        source_language: Defaults to that of the named corpus, for files to ``"en"``. The languages
            of a named corpus may be swapped.
        target_language: Defaults to that of the named corpus, for files to ``"fr"``.
        directory: Where the files of a named corpus are, or are to be put. Defaults to the
            environment variable ``NLP104_DATA``, else to the user's cache.
        seed: The seed of the split, and of the grammar.
        validation: The path or the prefix of validation pairs, for a corpus from files.
        test: The path or the prefix of test pairs, for a corpus from files.
        sizes: How many pairs each of train, validation and test has at most; for the grammar, how
            many sentences are made. `None` leaves it to the corpus.
        columns: The columns of source and target in a file of columns, counted from 1.
        normalized: Whether to normalise the text (see `nlp104.data.normalize`). Ready-made tokens
            are better taken as they are.

    Returns:
        A `Corpus`.

    Raises:
        ValueError: If the languages or the content of a file are not as expected, there are not
            three sizes or not two columns, or a size is negative or a column no positive integer.
        FileNotFoundError: If there is no such corpus or file.
        ConnectionError: If a named corpus is not there and cannot be downloaded.

    Example:
        >>> from pathlib import Path
        >>> from nlp104.data import load_corpus
        >>> lines = ["Hi.\tSalut.", "Go on.\tContinue.", "Thanks!\tMerci !", "Who?\tQui ?"]
        >>> size = Path("pairs.tsv").write_text("\n".join(lines), encoding="utf-8")
        >>> corpus = load_corpus("pairs.tsv", sizes=(None, 1, 1))
        >>> len(corpus.train), len(corpus.validation), corpus.test
        (2, 1, [('Who?', 'Qui ?')])
        >>> len(load_corpus("grammar", sizes=(100, 10, 10)).train)  # nothing to download either
        100
    """
    name = os.fspath(name_or_path)
    _require_one_each(SPLITS, "sizes", sizes)
    _require_one_each(("source", "target"), "columns", columns)
    source_column, target_column = columns
    require_positive(source_column=source_column, target_column=target_column)
    for part, size in zip(SPLITS, sizes, strict=True):
        require_whole(**{f"size of {part}": 0 if size is None else size})
    if name in NAMES and (validation, test) != (None, None):
        raise InputError(
            f"Expected neither `validation` nor `test`, which the corpus {name} brings itself. "
            f"Received: validation={validation!r}, test={test!r}."
        )
    if name == "grammar":
        return _load_grammar(source_language, target_language, seed, sizes)
    clean = normalize if normalized else str.strip
    attribution = description = ""
    if name in CORPORA:
        known = CORPORA[name]
        source_language = source_language or known.languages[0]
        target_language = target_language or known.languages[1]
        _check_languages(name, {source_language, target_language}, set(known.languages))
        folder = fetch(known.folder, known.archives, directory)
        parts = [_read([folder / file for file in files], clean) for files in known.files]
        if source_language != known.languages[0]:
            parts = [[(second, first) for first, second in part] for part in parts]
        parts += [[]] * (3 - len(parts))
        attribution, description = known.attribution, known.description
    else:
        languages = source_language or "en", target_language or "fr"
        source_language, target_language = languages
        parts = [
            [] if path is None else _read(_files(path, *languages), clean, columns)
            for path in (name, validation, test)
        ]
    train, validation_pairs, test_pairs = parts
    if not (validation_pairs and test_pairs):
        train, *rest = split(
            train, seed, 0 if validation_pairs else sizes[1], 0 if test_pairs else sizes[2]
        )
        validation_pairs, test_pairs = validation_pairs or rest[0], test_pairs or rest[1]
    return Corpus(
        name,
        source_language,
        target_language,
        train=subset(train, sizes[0], seed),
        validation=subset(validation_pairs, sizes[1], seed),
        test=subset(test_pairs, sizes[2], seed),
        attribution=attribution,
        description=description,
    )


def _require_one_each(parts, name, values):
    if not (isinstance(values, Sized) and len(values) == len(parts)):
        raise ValueError(
            f"`{name}` must hold one for each of {', '.join(parts)}. Received: {values!r}."
        )


def _check_languages(name, received, expected):
    if received != expected:
        raise InputError(
            f"Expected the languages of {name}, {' and '.join(sorted(expected))}. "
            f"Received: {' and '.join(sorted(received))}."
        )


def _load_grammar(source_language, target_language, seed, sizes):
    from nlp104.data import grammar

    if (source_language or "en", target_language or "fr") != ("en", "fr"):
        raise InputError(
            "Expected the languages of the grammar, from en to fr. "
            f"Received: from {source_language} to {target_language}."
        )
    parts, accepted = [], {}
    for name, size, default in zip(SPLITS, sizes, GRAMMAR_SIZES, strict=True):
        examples = grammar.generate(default if size is None else size, seed=seed, split=name)
        parts.append([(example.source, example.target) for example in examples])
        accepted |= {example.source: example.targets for example in examples}
    return Corpus(
        "grammar",
        "en",
        "fr",
        *parts,
        attribution="NLP 104, under the licence of the package",
        description="English sentences made by a grammar, with gold French translations.",
        accepted=accepted,
    )


def _files(path, source_language, target_language):
    """The one file of columns or the two files of lines that `path` stands for."""
    path = os.fspath(path)
    if os.path.isfile(path):
        return [Path(path)]
    files = [Path(f"{path}.{language}") for language in (source_language, target_language)]
    missing = [str(file) for file in files if not file.is_file()]
    if not missing:
        return files
    raise MissingError(
        f"Expected one of {', '.join(NAMES)}, a file of tab-separated columns, or the prefix of "
        f"two files of lines. Received: {path!r}, but there is no "
        f"{(path or 'file without a name') if len(missing) == 2 else missing[0]}."
    )


def _read(files, clean, columns=(1, 2)):
    """Returns the pairs of one file of columns or of two files of lines."""
    lines = [_lines(file) for file in files]
    if len(files) == 1:
        pairs = list(_columns(files[0], lines[0], columns))
    else:
        if len(lines[0]) != len(lines[1]):
            raise InputError(
                f"Expected as many lines in both files. Received: {len(lines[0])} in {files[0]} "
                f"and {len(lines[1])} in {files[1]}."
            )
        pairs = list(zip(*lines, strict=True))
    pairs = [(clean(source), clean(target)) for source, target in pairs]
    full = [pair for pair in pairs if all(pair)]
    name = " and ".join(map(str, files))
    if not full:
        raise InputError(f"Expected sentence pairs in {name}. Received: none.")
    if len(full) < len(pairs):
        _LOG.warning("%s: left out %d pairs with an empty side.", name, len(pairs) - len(full))
    return full


def _columns(file, lines, columns):
    for number, line in enumerate(lines, start=1):
        cells = line.split("\t")
        if len(cells) >= max(columns):
            yield cells[columns[0] - 1], cells[columns[1] - 1]
        elif line.strip():
            raise InputError(
                f"Expected at least {max(columns)} tab-separated columns in {file}, line {number}. "
                f"Received: {len(cells)} ({line[:40]!r})."
            )


def _lines(file):
    data = Path(file).read_bytes()
    try:
        text = data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        byte = error.start - data.rfind(b"\n", 0, error.start)
        raise InputError(
            f"Expected UTF-8 text in {file}. Received: 0x{data[error.start]:02x} in line {line}, "
            f"byte {byte} (offset {error.start} in the file)."
        ) from None
    # Not splitlines(), which also breaks at characters that may stand inside a sentence.
    return text.removesuffix("\n").split("\n") if text else []

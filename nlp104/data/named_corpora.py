"""The corpora that can be loaded by name: what they are and where they lie."""

from dataclasses import dataclass

from nlp104.data.download import Archive

_MULTI30K = (
    "https://raw.githubusercontent.com/multi30k/dataset/"
    "a3d2e0d26b56f3846f66a952536ffed4e401d05a/data/task1/raw/"
)
_MULTI30K_SHA256 = {
    "train.en": "460a15fbd157e34a7a9957ee388c1ca247fe47af3ef25fb50442af6c274e0fc6",
    "train.de": "2c2b73fd2b548fbcde3a875e0a78d6ee94d498bfdee6bd3eae3945779e9ddf72",
    "val.en": "1f2a23d992769b5b3d209b0a10dd0b77c08cceb1f20dfb97ed0aafa49d107227",
    "val.de": "660e09eb7e1da2f856ea13ee5ad3cf6d36b3d5b0b733c857e94c5747a3dfc660",
    "test_2016_flickr.en": "399a4382932c1aadd3ceb9bef1008d388a64c76d4ae4e9d4728c6f4301cac182",
    "test_2016_flickr.de": "4be6b5b3236b79c25475c6bb829800a7ce559e9ba7a1f6c2394fe4d40be46d16",
}
_TED = "phontron.com/data/qi18naacl-dataset.tar.gz"
_TED_SHA256 = "sha256:216a86c3df4d4f522856fe9b920ff5be6b394d769cc88974ae8f9f5546953bbc"


@dataclass(frozen=True)
class Named:
    """What is known about a corpus that is loaded by its name.

    Attributes:
        languages: The language of the source and of the target, unless the caller swaps them.
        folder: The folder of the cache that holds its files.
        archives: Where the files come from.
        files: For all pairs, or for each of train, validation and test: one file of columns or two
            of lines.
        attribution: Whose it is and under which licence.
        description: One sentence for the reader.
    """

    languages: tuple[str, str]
    folder: str
    archives: tuple[Archive, ...]
    files: tuple[tuple[str, ...], ...]
    attribution: str
    description: str


def _multi30k(name, sha256):
    return Archive(f"{name}.gz", ((f"{_MULTI30K}{name}.gz", None),), {name: name}, {name: sha256})


CORPORA = {
    "fra-eng": Named(
        languages=("en", "fr"),
        folder="fra-eng",
        archives=(
            Archive(
                "fra-eng.zip",
                (
                    (
                        "http://d2l-data.s3-accelerate.amazonaws.com/fra-eng.zip",
                        "sha1:94646ad1522d915e7b0f9296181140edcf86a4f5",
                    ),
                    ("https://www.manythings.org/anki/fra-eng.zip", None),
                ),
                {"fra.txt": "fra.txt"},
            ),
        ),
        files=(("fra.txt",),),
        attribution="tatoeba.org and manythings.org/anki, CC BY 2.0 FR",
        description="Short everyday English sentences and their French translations (Tatoeba).",
    ),
    "ted-pt-en": Named(
        languages=("pt", "en"),
        folder="ted-pt-en",
        archives=(
            Archive(
                "qi18naacl-dataset.tar.gz",
                (
                    (f"http://www.{_TED}", _TED_SHA256),
                    (
                        f"https://web.archive.org/web/20240301220426if_/http://www.{_TED}",
                        _TED_SHA256,
                    ),
                ),
                {
                    f"{language}.{part}": f"datasets/pt_to_en/{language}.{part}"
                    for part in ("train", "dev", "test")
                    for language in ("pt", "en")
                },
            ),
        ),
        files=(("pt.train", "en.train"), ("pt.dev", "en.dev"), ("pt.test", "en.test")),
        attribution="TED talks, Qi et al. 2018 (N18-2084), CC BY-NC-ND 4.0",
        description="Transcripts of TED talks, Portuguese and English, lower-cased and tokenised.",
    ),
    "multi30k-en-de": Named(
        languages=("en", "de"),
        folder="multi30k",
        archives=tuple(_multi30k(name, sha256) for name, sha256 in _MULTI30K_SHA256.items()),
        files=(
            ("train.en", "train.de"),
            ("val.en", "val.de"),
            ("test_2016_flickr.en", "test_2016_flickr.de"),
        ),
        attribution="Elliott et al. 2016 (W16-3210), non-commercial research and education",
        description="Captions of photographs, English and German (Multi30k, task 1, test 2016).",
    ),
}

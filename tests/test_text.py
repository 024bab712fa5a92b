import itertools
import json
import random
import unicodedata
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlp104.data import grammar, tokenizer, word_spacing
from nlp104.data.tokenizer import SPECIAL_TOKENS, Tokenizer, normalize

ENGLISH = [
    "Does the cat sleep?",
    "The animal didn't cross the street, because it was too tired.",
    "It's 8:30 p.m. and we have 1,000.50 dollars (more or less).",
    'He said: "It is late." Then he left!',
    '"Really?" she asked.',
    "Wait... What?",
    "Who is it?",
    "Tom's sister-in-law lives at Mr. Smith's; he doesn't.",
]
FRENCH = [
    "Est-ce que le chat dort ?",
    "L'animal n'a pas traversé la rue.",
    "Qu'est-ce qu'il y a aujourd'hui, quelqu'un le sait ?",
    "Jusqu'à l'été, j'étais là : c'était bien !",
    "A-t-elle dit « oui » ou « non » ?",
    "Lorsqu'il pleut, l'eau monte ; ça va.",
    "Peut-être qu'on s'est trompés d'heure...",
    "Où est-il ?",
]


@pytest.fixture(scope="module")
def trained():
    return {
        (kind, language): Tokenizer.train(sentences, kind=kind, vocabulary_size=500)
        for kind in ("word", "bpe", "whitespace")
        for language, sentences in (("en", ENGLISH), ("fr", FRENCH))
    }


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("  two\u00a0\u202f spaces\t\n", "two spaces"),
        ("zero\u200bwidth\ufeff", "zerowidth"),
        ("l\u2019e\u0301te\u0301", "l'été"),
        ("Ça VA ?", "Ça VA ?"),
        ("▁", "_"),
        ("\u2028", ""),
    ],
)
def test_normalize(raw, expected):
    assert normalize(raw) == expected


def test_normalize_lowercase_keeps_accents():
    assert normalize("L’ÉTÉ À Noël", lowercase=True) == "l'été à noël"


@given(st.text())
def test_normalized_text_stays_as_it_is(raw):
    once = normalize(raw)
    assert normalize(once) == once
    assert unicodedata.is_normalized("NFC", once)
    assert once == once.strip()
    assert "  " not in once
    assert not set(once) & set("\u00a0\u202f\u200b\ufeff’▁\t\n")


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("L'animal n'a pas traversé la rue.", "L' animal n' a pas traversé la rue ."),
        ("Qu'est-ce que c'est ?", "Qu' est-ce que c' est ?"),
        ("aujourd'hui, quelqu'un", "aujourd'hui , quelqu'un"),
        ("Jusqu'ici lorsqu'il", "Jusqu' ici lorsqu' il"),
        ("I don't; it's Tom's.", "I don't ; it's Tom's ."),
        ("at 8:30 p.m. for 1,000.5!", "at 8:30 p.m. for 1,000.5 !"),
        ("Wait... «Oui»", "Wait ... « Oui »"),
        ("le peut-être", "le peut-être"),
    ],
)
def test_words_and_signs(sentence, expected):
    tokenizer = Tokenizer.train([sentence], kind="word")
    assert " ".join(tokenizer.tokens(sentence)) == expected


@pytest.mark.parametrize("kind", ["word", "bpe"])
@pytest.mark.parametrize(("language", "sentences"), [("en", ENGLISH), ("fr", FRENCH)])
def test_decode_gives_the_sentence_back(trained, kind, language, sentences):
    tokenizer = trained[kind, language]
    for sentence in sentences:
        assert tokenizer.decode(tokenizer.encode(sentence)) == sentence


def test_decode_gives_every_sentence_of_the_grammar_back():
    examples = grammar.generate(500, seed=1, split="train")
    for side in ("source", "target"):
        sentences = [getattr(example, side) for example in examples]
        tokenizer = Tokenizer.train(sentences, kind="word")
        assert [tokenizer.decode(ids) for ids in tokenizer.encode_batch(sentences)] == sentences


def test_spacing_is_learned_from_the_text():
    english = Tokenizer.train(["Yes? No? Well? I see."], kind="word")
    french = Tokenizer.train(["Oui ? Non ? Bien ? Je vois."], kind="word")
    assert english.decode(english.encode("No ?")) == "No?"
    assert french.decode(french.encode("Non?")) == "Non ?"


def test_learn_spacing_against_a_count_by_hand():
    pieces = [("«", (0, 1)), ("a", (1, 2)), (",", (2, 3)), ("b", (4, 5)), ("»", (6, 7))]
    assert word_spacing.learn_spacing([pieces]) == ({","}, {"«"})


@given(st.lists(st.sampled_from(["l'", "chat", "n'", "a", "?", ".", "peut-être", '"']), max_size=8))
def test_join_loses_and_adds_nothing_but_spaces(tokens):
    joined = word_spacing.join(tokens, {"."}, {"l'", "n'"})
    assert joined.replace(" ", "") == "".join(tokens)
    assert "  " not in joined


LETTERS = sorted(set("".join(ENGLISH + FRENCH)))


@given(st.text(alphabet=LETTERS, max_size=40))
def test_bpe_is_lossless_on_known_characters(sentence):
    tokenizer = _bpe_of_all()
    ids = tokenizer.encode(sentence)
    assert tokenizer.UNKNOWN_ID not in ids
    assert tokenizer.decode(ids) == normalize(sentence)


def _bpe_of_all(cache=[]):  # noqa: B006
    if not cache:
        cache.append(Tokenizer.train(ENGLISH + FRENCH, kind="bpe", vocabulary_size=300))
    return cache[0]


def test_bpe_always_joins_a_most_frequent_pair(tmp_path):
    """Byte-pair encoding as its paper states it, by brute force on the pre-cut pieces."""
    tokenizer = Tokenizer.train(ENGLISH, kind="bpe", vocabulary_size=130)
    tokenizer.save(tmp_path / "bpe.json")
    merges = json.loads((tmp_path / "bpe.json").read_text(encoding="utf-8"))["merges"]
    assert len(merges) > 20
    cut = tokenizer._backend.pre_tokenizer.pre_tokenize_str
    pieces = Counter(tuple(p) for s in ENGLISH for p, _ in cut(normalize(s)))
    for merge in merges:
        counts = Counter()
        for piece, count in pieces.items():
            for pair in itertools.pairwise(piece):
                counts[pair] += count
        assert counts[tuple(merge)] == max(counts.values())
        pieces = Counter({_merged(piece, tuple(merge)): count for piece, count in pieces.items()})
    pieces_of = tokenizer.tokens(ENGLISH[0])
    assert all(tuple([token]) for token in pieces_of)
    assert set(pieces_of) <= {token for piece in pieces for token in piece}


def _merged(piece, pair):
    out = []
    for token in piece:
        if out and (out[-1], token) == pair:
            out[-1] += token
        else:
            out.append(token)
    return tuple(out)


def test_bpe_tokens_never_cross_from_a_word_to_a_sign():
    tokenizer = Tokenizer.train(["dog. dog. dog.", "cat ? cat ? cat ?"] * 50, kind="bpe")
    assert tokenizer.tokens("dog.") == ["▁dog", "."]
    assert tokenizer.tokens("cat ?") == ["▁cat", "▁?"]


def test_words_are_ranked_by_frequency_then_alphabet():
    tokenizer = Tokenizer.train(["b a c", "c d", "c b"], kind="whitespace", vocabulary_size=7)
    assert [tokenizer.id_to_token(i) for i in range(7)] == [*SPECIAL_TOKENS, "c", "b", "a"]
    assert tokenizer.tokens("a d") == ["a", "[UNK]"]


@pytest.mark.parametrize("kind", tokenizer.KINDS)
def test_training_does_not_depend_on_order_or_chance(kind, tmp_path):
    # Every pair of letters is equally frequent: only a stable choice among equals survives this.
    sentences = [f"{a}{b} {b}{a}" for a, b in itertools.combinations("abcdefghijkl", 2)]
    files = set()
    for seed in range(6):
        shuffled = random.Random(seed).sample(sentences, len(sentences))
        Tokenizer.train(shuffled, kind=kind, vocabulary_size=50).save(tmp_path / "t.json")
        files.add((tmp_path / "t.json").read_bytes())
    assert len(files) == 1


@pytest.mark.parametrize("kind", tokenizer.KINDS)
def test_special_tokens_have_their_ids_and_cannot_be_written(trained, kind):
    tokenizer = trained[kind, "en"]
    assert [tokenizer.id_to_token(i) for i in range(4)] == list(SPECIAL_TOKENS)
    assert [tokenizer.token_to_id(token) for token in SPECIAL_TOKENS] == [0, 1, 2, 3]
    for token in SPECIAL_TOKENS:
        assert not {0, 2, 3} & set(tokenizer.encode(f"the {token} cat"))


@pytest.mark.parametrize("kind", tokenizer.KINDS)
def test_special_tokens_in_the_training_text_stay_out_of_the_vocabulary(kind):
    tokenizer = Tokenizer.train(["[PAD] a [END] b"], kind=kind)
    vocabulary = [tokenizer.id_to_token(i) for i in range(tokenizer.vocabulary_size)]
    assert len(set(vocabulary)) == len(vocabulary)


def test_decode_reads_up_to_the_end_and_skips_padding(trained):
    tokenizer = trained["word", "en"]
    ids = tokenizer.encode("Who is it?")
    assert tokenizer.decode([2, *ids, 3, *ids, 0, 0]) == "Who is it?"
    assert tokenizer.decode([0, *ids, 0]) == "Who is it?"
    assert tokenizer.decode([]) == ""
    assert tokenizer.decode([1, 1]) == "[UNK] [UNK]"


@pytest.mark.parametrize("kind", tokenizer.KINDS)
def test_ids_outside_the_vocabulary(trained, kind):
    tokenizer = trained[kind, "fr"]
    for i in (-1, tokenizer.vocabulary_size):
        expected = f"from 0 to {tokenizer.vocabulary_size - 1}. Received: {i}"
        with pytest.raises(ValueError, match=expected):
            tokenizer.decode([5, i])
        with pytest.raises(ValueError, match=expected):
            tokenizer.id_to_token(i)


def test_unknown_words_and_characters(trained):
    word, bpe = trained["word", "en"], trained["bpe", "en"]
    assert word.tokens("the zebra sleep") == ["the", "[UNK]", "sleep"]
    assert word.token_to_id("zebra") == tokenizer.UNKNOWN_ID
    assert "[UNK]" in bpe.tokens("cat 猫")
    assert bpe.tokens("cat 猫")[0] == bpe.tokens("cat")[0]


@pytest.mark.parametrize("kind", tokenizer.KINDS)
def test_encode_batch_is_encode_of_each(trained, kind):
    tokenizer = trained[kind, "fr"]
    assert tokenizer.encode_batch(FRENCH) == [tokenizer.encode(s) for s in FRENCH]
    assert tokenizer.encode("") == []


def test_lowercase():
    tokenizer = Tokenizer.train(["The CAT"], kind="word", lowercase=True)
    assert tokenizer.tokens("THE cat") == ["the", "cat"]


def test_ready_made_tokens_are_taken_as_they_are():
    line = "pul@@ ley l\u2019 e\u0301 &apos;s don't"
    tokenizer = Tokenizer.train([line], kind="whitespace")
    assert tokenizer.tokens(line) == line.split()
    assert tokenizer.decode(tokenizer.encode(line)) == line


def test_vocabulary_size_is_a_limit():
    many = [f"word{i}" for i in range(100)]
    assert Tokenizer.train(many, kind="word", vocabulary_size=20).vocabulary_size == 20
    assert Tokenizer.train(many, kind="bpe", vocabulary_size=40).vocabulary_size == 40
    assert Tokenizer.train(["a b"], kind="word", vocabulary_size=20).vocabulary_size == 6


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sentences": []}, "Expected text to train a tokenizer on"),
        ({"sentences": ["", " \u200b "]}, "Expected text to train a tokenizer on"),
        ({"kind": "char"}, "word, bpe, whitespace. Received: 'char'"),
        ({"kind": "word", "vocabulary_size": 4}, "at least 5, .* Received: 4"),
        ({"kind": "bpe", "vocabulary_size": 7}, "at least 8, .* every character. Received: 7"),
    ],
)
def test_training_refuses(options, message):
    with pytest.raises(ValueError, match=message):
        Tokenizer.train(**({"sentences": ["abc a"], "kind": "word"} | options))


@pytest.mark.parametrize("kind", tokenizer.KINDS)
def test_save_and_load(trained, kind, tmp_path):
    tokenizer = trained[kind, "fr"]
    tokenizer.save(tmp_path / "tokenizer.json")
    loaded = Tokenizer.load(tmp_path / "tokenizer.json")
    assert [path.name for path in tmp_path.iterdir()] == ["tokenizer.json"]
    assert loaded.vocabulary_size == tokenizer.vocabulary_size
    for sentence in [*FRENCH, "un zèbre [END]"]:
        assert loaded.encode(sentence) == tokenizer.encode(sentence)
        assert loaded.decode(loaded.encode(sentence)) == tokenizer.decode(loaded.encode(sentence))
    loaded.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "tokenizer.json").read_bytes()


def test_load_refuses_damaged_and_foreign_files(trained, tmp_path):
    path = tmp_path / "tokenizer.json"
    trained["bpe", "fr"].save(path)
    whole = path.read_bytes()
    content = json.loads(whole)
    foreign = [
        b"",
        b"\xff\xfe",
        b"[]",
        b'{"model": {}}',
        json.dumps(
            content | {"kind": "unigram", "merges": [["x", "y"]], "vocabulary": []}
        ).encode(),
        json.dumps(content | {"merges": [["no", "such"]]}).encode(),
        json.dumps(content | {"format": "nlp104 tokenizer 99"}).encode(),
    ]
    for data in [whole[: len(whole) * n // 7] for n in range(1, 7)] + foreign:
        path.write_bytes(data)
        with pytest.raises(ValueError, match=r"Expected a tokenizer .* in .*tokenizer\.json"):
            Tokenizer.load(path)
    with pytest.raises(FileNotFoundError):
        Tokenizer.load(tmp_path / "missing.json")


def test_a_failed_save_leaves_the_old_file(trained, tmp_path, monkeypatch):
    path = tmp_path / "tokenizer.json"
    trained["word", "en"].save(path)
    before = path.read_bytes()

    def disk_full(*_):
        raise OSError("No space left on device")

    monkeypatch.setattr(tokenizer.os, "replace", disk_full)
    with pytest.raises(OSError, match="No space"):
        trained["word", "fr"].save(path)
    assert path.read_bytes() == before

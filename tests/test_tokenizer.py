import itertools
import json
import os
import random
import re
import unicodedata
from collections import Counter

import numpy as np
import pytest
import tokenizers
from hypothesis import example, given
from hypothesis import strategies as st

from nlp104.data import grammar, tokenizer, tokenizer_pipeline, word_spacing
from nlp104.data.tokenizer import SPECIAL_TOKENS, UNKNOWN_ID, Tokenizer, normalize

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


@given(st.text())
@example("“L’e\u0301te\u0301”\u2009?\x1f\x85\u2060▁")
def test_normalize_against_pythons_own_unicode(raw):
    text = re.sub("[\u200b\u200c\u200d\u2060\ufeff\u00ad]", "", raw)
    text = re.sub("[‘’ʼ′]", "'", text).replace("▁", "_")
    assert normalize(raw) == " ".join(unicodedata.normalize("NFC", text).split())


@given(st.text() | st.text(st.sampled_from("eE\u0301\u200b\u00ad ’▁"), max_size=6))
@example("e\u200b\u0301")  # what meets when the invisible is gone is composed
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
    close = [("a", (0, 1)), ("-", (1, 2)), ("b", (2, 3))]
    apart = [("a", (0, 1)), ("-", (2, 3)), ("b", (4, 5))]
    assert word_spacing.learn_spacing([close]) == ({"-"}, {"-"})
    assert word_spacing.learn_spacing([close, apart]) == (set(), set())  # half is not most


def joined(words, closes_left, closes_right):
    """The rule for spaces, word by word."""
    text, touches, inside_quotes = "", True, False
    for word in words:
        to_left, to_right = word in closes_left, word in closes_right
        if word == '"':  # opens and closes in turn
            to_left, to_right = inside_quotes, not inside_quotes
            inside_quotes = not inside_quotes
        text += word if touches or to_left else " " + word
        touches = to_right
    return text


# Signs that mean something in a regular expression, and quotation marks that were learned.
CLOSES = {".", "]", "^", "...", '"'}, {"l'", "(", "[", "\\", "...", '"'}


@given(st.lists(st.sampled_from([*CLOSES[0], *CLOSES[1], "chat", "L'", "?", "[UNK]"])))
def test_words_are_joined_by_the_rule(words):
    decoder = tokenizer_pipeline.decoder("word", *CLOSES)
    assert decoder.decode(words) == joined(words, *CLOSES)
    assert tokenizer_pipeline.decoder("word").decode(words) == joined(words, (), ())


def test_the_rule_by_hand():
    words = ["l'", "eau", "...", '"', "a", '"', "(", "b", "]"]
    assert joined(words, *CLOSES) == 'l\'eau..."a" (b]'


LETTERS = sorted(set("".join(ENGLISH + FRENCH)))


@given(st.text(alphabet=LETTERS, max_size=40))
def test_bpe_is_lossless_on_known_characters(sentence):
    tokenizer = _bpe_of_all()
    ids = tokenizer.encode(sentence)
    assert UNKNOWN_ID not in ids
    assert tokenizer.decode(ids) == normalize(sentence)


def _bpe_of_all(cache=[]):  # noqa: B006
    if not cache:
        cache.append(Tokenizer.train(ENGLISH + FRENCH, kind="bpe", vocabulary_size=300))
    return cache[0]


def test_bpe_always_joins_a_most_frequent_pair(tmp_path):
    """Byte-pair encoding as its paper states it, by brute force on the pre-cut pieces."""
    tokenizer = Tokenizer.train(ENGLISH, kind="bpe", vocabulary_size=130)
    tokenizer.save(tmp_path / "bpe.json")
    content = json.loads((tmp_path / "bpe.json").read_text(encoding="utf-8"))
    merges = content["model"]["merges"]
    assert len(merges) > 20
    cut = tokenizers.Tokenizer.from_file(str(tmp_path / "bpe.json")).pre_tokenizer.pre_tokenize_str
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


@pytest.mark.parametrize("ids", [[4.9], np.array([4.0, 5.0]), "45", ["4"], [[4, 5]], [None], 4])
def test_what_is_no_id(trained, ids):
    tokenizer = trained["word", "fr"]
    with pytest.raises(ValueError, match=r"^Expected integers as ids\. Received: "):
        tokenizer.decode(ids)
    assert tokenizer.decode(np.array([4, 5], "uint8")) == tokenizer.decode([4, 5])
    for i in ("a", "4", 4.0, None, [4], np.float32(4)):
        with pytest.raises(ValueError, match=r"^Expected integers as ids\. Received: "):
            tokenizer.id_to_token(i)
    assert tokenizer.id_to_token(np.uint8(4)) == tokenizer.id_to_token(4)


def test_unknown_words_and_characters(trained):
    word, bpe = trained["word", "en"], trained["bpe", "en"]
    assert word.tokens("the zebra sleep") == ["the", "[UNK]", "sleep"]
    assert word.token_to_id("zebra") == UNKNOWN_ID
    assert "[UNK]" in bpe.tokens("cat 猫")
    assert bpe.tokens("cat 猫")[0] == bpe.tokens("cat")[0]


@pytest.mark.parametrize("kind", tokenizer.KINDS)
def test_encode_batch_is_encode_of_each(trained, kind):
    tokenizer = trained[kind, "fr"]
    assert tokenizer.encode_batch(FRENCH) == [tokenizer.encode(s) for s in FRENCH]
    assert tokenizer.encode("") == []


@pytest.mark.parametrize("wrong", [("Le chat", "dort."), ["Le", "chat"], None, b"chat"])
def test_what_is_no_text_is_refused(trained, wrong):
    """The library itself would take two texts for one sentence."""
    with pytest.raises(ValueError, match=r"Expected a string for each sentence\. Received: "):
        trained["word", "fr"].encode_batch(["Le chat", wrong])


@pytest.mark.parametrize("kind", tokenizer.KINDS)
def test_lowercase_keeps_accents(kind):
    tokenizer = Tokenizer.train(["L’ÉTÉ À Noël"], kind=kind, lowercase=True)
    assert tokenizer.encode("l’été à noël") == tokenizer.encode("L’ÉTÉ À NOËL")
    assert UNKNOWN_ID not in tokenizer.encode("L’ÉTÉ")


@pytest.mark.parametrize("kind", ["word", "bpe"])
def test_letters_and_accents_are_one_also_where_only_the_small_letter_is(kind):
    tokenizer = Tokenizer.train(["\u01f0"], kind=kind, lowercase=True)
    assert tokenizer.encode("J\u030c") == tokenizer.encode("\u01f0")


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
        ({"sentences": ["un", "caf\udce9"]}, r"Expected Unicode text\. Received: 'caf\\udce9'"),
        ({"sentences": ["un", None]}, r"Expected a string for each sentence\. Received: None"),
        ({"vocabulary_size": 10.5}, "`vocabulary_size` must be a positive integer. Received: 10.5"),
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
    words = content["model"]["vocab"]
    last = max(words, key=words.get)
    padding = {"strategy": "BatchLongest", "direction": "Right", "pad_to_multiple_of": None}
    padding |= {"pad_id": 0, "pad_type_id": 0, "pad_token": "[PAD]"}
    added = {"id": 3, "content": "[END]", "single_word": False, "lstrip": False, "rstrip": False}
    added |= {"normalized": False, "special": True}
    end = {"SpecialToken": {"id": "[END]", "type_id": 0}}
    template = {"type": "TemplateProcessing", "single": [end], "pair": [end]}
    template["special_tokens"] = {"[END]": {"id": "[END]", "ids": [3], "tokens": ["[END]"]}}
    foreign = [
        {"format": "nlp104 tokenizer 1", "kind": "word", "vocabulary": [*SPECIAL_TOKENS, "a"]},
        content | {"version": "99.0"},
        content | {"padding": padding},
        content | {"added_tokens": [added]},
        content | {"post_processor": template},
        content | {"model": {"type": "Unigram", "vocab": [["[UNK]", 0.0]], "unk_id": 0}},
        content | {"model": content["model"] | {"merges": [["no", "such"]]}},
        content | {"model": content["model"] | {"unk_token": None}},
        content | {"model": content["model"] | {"vocab": words | {"[PAD]": 1, "[UNK]": 0}}},
        content | {"model": content["model"] | {"vocab": words | {last: len(words)}}},
    ]
    nonsense = [b"", b"\xff\xfe", b"[]", b'{"model": {}}']
    cut_off = [whole[: len(whole) * n // 7] for n in range(1, 7)]
    for data in [*cut_off, *nonsense, *(json.dumps(file).encode() for file in foreign)]:
        path.write_bytes(data)
        with pytest.raises(ValueError, match=r"Expected a tokenizer .* in .*tokenizer\.json"):
            Tokenizer.load(path)
    path.write_bytes(json.dumps(content).encode())  # none of this was in vain
    assert Tokenizer.load(path).encode("le chat") == trained["bpe", "fr"].encode("le chat")
    with pytest.raises(FileNotFoundError):
        Tokenizer.load(tmp_path / "missing.json")


def test_a_failed_save_leaves_the_old_file(trained, tmp_path, monkeypatch):
    path = tmp_path / "tokenizer.json"
    trained["word", "en"].save(path)
    before = path.read_bytes()

    def disk_full(*_):
        raise OSError("No space left on device")

    monkeypatch.setattr(os, "replace", disk_full)
    with pytest.raises(OSError, match="No space"):
        trained["word", "fr"].save(path)
    assert path.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["tokenizer.json"]


# The saved file in the hands of the library.

TEXTS = [
    'He said: "It\'s the 2nd cat," and "no" twice.',
    "L'été ! Qu'il dorme ?  Oui… (peut-être)",
    "[PAD] [END] [START] \u200bA\u00a0B ‘c’ ▁ İ",
    "",
]
TOKENIZERS = {
    f"{kind}{' lowercase' if lowercase else ''}": Tokenizer.train(
        TEXTS * 3, kind=kind, vocabulary_size=200, lowercase=lowercase
    )
    for kind in tokenizer.KINDS
    for lowercase in (False, True)
}
letters = st.text(st.sampled_from("\"'’.,!?()[]PADEN dL\u00a0\u2060\u0301\x1céß▁_-0Σ"), max_size=30)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tokenizers")
    for name, ours in TOKENIZERS.items():
        ours.save(folder / name)
    return {name: tokenizers.Tokenizer.from_file(str(folder / name)) for name in TOKENIZERS}


@pytest.mark.parametrize("name", TOKENIZERS)
@given(text=letters | st.text(max_size=20))
@example(TEXTS[0])
@example(TEXTS[1])
@example(TEXTS[2])
def test_the_library_reads_as_ours(files, name, text):
    ours, library = TOKENIZERS[name], files[name]
    found = library.encode(text)
    assert found.ids == ours.encode(text)
    assert found.tokens == ours.tokens(text)
    assert not {0, 2, 3} & set(found.ids)
    assert library.decode(found.ids) == ours.decode(found.ids)


@pytest.mark.parametrize("name", TOKENIZERS)
@given(data=st.data())
def test_the_library_writes_as_ours(files, name, data):
    """With all special tokens among the ids, and against the rules in plain Python."""
    ours = TOKENIZERS[name]
    ids = st.integers(0, ours.vocabulary_size - 1) | st.sampled_from([0, 1, 2, 3])
    rows = data.draw(st.lists(st.lists(ids | st.just(ours.token_to_id('"'))), max_size=3))
    texts = [ours.decode(row) for row in rows]
    assert files[name].decode_batch(rows) == texts
    for row, text in zip(rows, texts, strict=True):
        read = [i for i in itertools.takewhile(lambda i: i != 3, row) if i not in (0, 2)]
        tokens = [ours.id_to_token(i) for i in read]
        if name.startswith("bpe"):
            assert text == "".join(tokens).replace("▁", " ").removeprefix(" ")
        elif name.startswith("whitespace"):
            assert text == " ".join(tokens)
        else:
            assert text.replace(" ", "") == "".join(tokens)


def test_what_the_library_does_differently(files):
    ours, library = TOKENIZERS["word"], files["word"]
    assert [library.token_to_id(token) for token in SPECIAL_TOKENS] == [0, 1, 2, 3]
    assert library.get_added_tokens_decoder() == {}  # none that a text could spell
    assert library.decode([0, 2, 5, 3, 5], skip_special_tokens=False) == ours.decode([5])
    assert library.decode([5, ours.vocabulary_size]) == ours.decode([5])
    assert library.id_to_token(ours.vocabulary_size) is None
    assert library.token_to_id("zebra") is None
    greek = Tokenizer.train(["ὁ Λόγος"], kind="word", lowercase=True)
    assert greek.tokens("Ὁ ΛΌΓΟΣ λόγος") == ["ὁ", "[UNK]", "λόγος"]

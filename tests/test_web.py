"""The translator in a page: its JavaScript against the package's own Python, number by number."""

import gzip
import json
import shutil
import sys

import numpy as np
import pytest
import tokenizers
from browser import needs_browser
from decoding_models import randomize
from keras.utils import pad_sequences
from web_engine import ask, unicode_texts, write_page

import nlp104
from experiments.web import in_javascript, same
from nlp104.data import Tokenizer
from nlp104.data.grammar import generate
from nlp104.decoding import beam_search
from nlp104.figures.explore.trained_heads import attentions, switched_off
from nlp104.transformer import TransformerConfig
from nlp104.transformer.model import Transformer
from nlp104.translation import Translator, web
from nlp104.translation.web.weights import pack_weights, unpack_weights
from nlp104.utils.errors import InputError
from tools.notebooks import ROOT

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ENGLISH = [
    "I love you.",
    "Where is the library?",
    "She hasn't come back yet, has she?",
    "The animal did not cross the street because it was too wide.",
    'He said: "Don\'t wait for me."',
    "What time is it?",
    "My brother has never been to Paris.",
    "Tom and Mary were sitting on the sofa in the living room.",
    "Please close the door.",
    "Zyzzyva 漢字 👍🏽 café naïve",
    "no",
    "He's taller than his father, isn't he?",
]
FRENCH = ["Je t'aime.", "Où se trouve la bibliothèque ?", "Elle n'est pas encore revenue.", "non"]
UNICODE = unicode_texts(seed=104, count=1500)
# What a Transformer may be: the bits of its weights, its tokenizers, its configuration.
KINDS = {
    "paper": (6, ["bpe"], {"tie_embeddings": True}),
    "rotary": (
        6,
        ["word", "word"],
        {"positions": "rotary", "activation": "gelu", "normalize_first": True},
    ),
    "learned": (
        8,
        ["bpe", "word"],
        {"positions": "learned", "activation": "silu", "normalize_first": True},
    ),
    "none": (8, ["whitespace"], {"positions": None, "activation": "tanh", "epsilon": 1e-3}),
    "lower": (6, ["word lower", "bpe lower"], {"positions": "learned", "num_layers": 1}),
    "lower whitespace": (6, ["whitespace lower"], {"tie_embeddings": True, "num_layers": 1}),
}


def small(kinds, options):
    """A translator with random weights, and tokenizers that have seen every kind of character."""
    tokenizers = []
    for kind in kinds:
        kind, *lower = kind.split()
        size = 900 if kind == "bpe" else 2500
        texts = [*UNICODE[:1000], *ENGLISH, *FRENCH]
        tokenizers.append(Tokenizer.train(texts, kind, size, lowercase=bool(lower)))
    source, target = tokenizers[0], tokenizers[-1]
    sizes = {"vocabulary_size": target.vocabulary_size, "max_sequence_length": 60}
    if source is not target:
        sizes["source_vocabulary_size"] = source.vocabulary_size
    model = Transformer(TransformerConfig(18, 30, 3, **{"num_layers": 2, **sizes, **options}))
    randomize(model, 104)
    return Translator(model, source, target)


@pytest.fixture(scope="module")
def packed():
    """All translators of the page by name, each with its bits."""
    made = {name: (small(kinds, options), bits) for name, (bits, kinds, options) in KINDS.items()}
    released = {name: (nlp104.load_pretrained(name), 6) for name in ("grammar", "eng-fra")}
    return made | released


@pytest.fixture(scope="module")
def page(tmp_path_factory, packed):
    return write_page(tmp_path_factory.mktemp("web"), **packed)


@pytest.fixture(scope="module")
def whole(packed):
    """The same translators in Keras, with the weights that the page has."""
    return {name: web.rounded(*one) for name, one in packed.items()}


# Text to ids and back.


@needs_browser
@pytest.mark.parametrize("name", KINDS)
@pytest.mark.slow
def test_every_text_has_the_same_ids_and_they_the_same_text(reader, packed, name):
    translator, _ = packed[name]
    pair = [translator.source_tokenizer, translator.target_tokenizer]
    for side, tokenizer in enumerate(pair[: len(KINDS[name][1])]):
        ids = tokenizer.encode_batch(UNICODE)
        assert len({i for row in ids for i in row}) > 300  # not all of it is unknown
        found = ask(reader, "encode", name, side, UNICODE)
        assert [text for text, a, b in zip(UNICODE, found, ids, strict=True) if a != b] == []
        rng = np.random.default_rng(side)
        rows = [*ids, *rng.integers(0, tokenizer.vocabulary_size, (300, 12)).tolist()]
        rows += [rng.permutation([0, 1, 2, 3, *row]).tolist() for row in ids[:200]]
        texts = [tokenizer.decode(row) for row in rows]
        assert ask(reader, "decode", name, side, rows) == texts


@needs_browser
@pytest.mark.parametrize("name", ["grammar", "eng-fra"])
def test_sentences_have_the_same_ids(reader, packed, name):
    examples = generate(1500, seed=3)
    translator, _ = packed[name]
    for side, tokenizer in enumerate((translator.source_tokenizer, translator.target_tokenizer)):
        texts = (
            [e.target if side else e.source for e in examples] + ENGLISH + FRENCH + UNICODE[:500]
        )
        ids = tokenizer.encode_batch(texts)
        assert ask(reader, "encode", name, side, texts) == ids
        assert ask(reader, "decode", name, side, ids) == [tokenizer.decode(row) for row in ids]


# The forward pass.


def in_keras(translator, sources, targets):
    """Logits `[target, vocabulary]` of each sentence."""
    inputs = {"encoder_token_ids": sources, "decoder_token_ids": targets}
    inputs = {name: pad_sequences(rows, padding="post") for name, rows in inputs.items()}
    logits = np.array(translator.model(inputs))
    return [rows[: len(target)] for rows, target in zip(logits, targets, strict=True)]


@pytest.mark.slow
@needs_browser
@pytest.mark.parametrize("name", KINDS)
def test_logits_are_those_of_keras(reader, whole, name):
    translator, rng = whole[name], np.random.default_rng(8)
    sizes = translator.model.source_vocabulary_size, translator.model.vocabulary_size
    sources, targets = (
        [rng.integers(1, size, rng.integers(1, 12)).tolist() for _ in range(24)] for size in sizes
    )
    found = ask(reader, "logits", name, sources, targets)
    for rows, expected in zip(found, in_keras(translator, sources, targets), strict=True):
        # Weights drawn by lot make much of what 32 bits round: 0.00015 was seen. A slip makes 0.1.
        np.testing.assert_allclose(rows, expected, atol=1e-3)


@needs_browser
@pytest.mark.slow
def test_logits_of_the_released_model_are_those_of_keras(reader, packed, whole):
    encode = whole["eng-fra"].source_tokenizer.encode_batch
    sources = [[*row, 3] for row in encode(ENGLISH)]
    targets = [[2, *row] for row in encode([FRENCH[i % len(FRENCH)] for i in range(len(ENGLISH))])]
    some = """(...all) => logits(...all).map((rows) =>
      rows.map((row) => row.filter((_, i) => i % 37 === 0)))"""
    found = np.concatenate(reader.call(some, "eng-fra", sources, targets))
    stored, expected = (
        np.concatenate(in_keras(one, sources, targets))[:, ::37]
        for one in (packed["eng-fra"][0], whole["eng-fra"])
    )
    np.testing.assert_allclose(found, expected, atol=2e-4)
    assert 1e-3 < np.abs(stored - expected).mean() < 0.3  # the weights have been rounded


# Searching.


def searched(reader, name, texts, **options):
    """Candidates of each sentence; a few sentences at a time, as a browser has to answer soon."""
    few = range(0, len(texts), 6)
    return [c for i in few for c in ask(reader, "search", name, texts[i : i + 6], options)]


@pytest.mark.slow
@needs_browser
def test_translations_are_those_of_the_package(reader, whole):
    sentences = [example.source for example in generate(200, seed=9)]
    for beams in (1, 4):
        expected = whole["grammar"].translate(sentences, num_beams=beams)
        found = searched(reader, "grammar", sentences, beams=beams)
        assert [best for (best, _), *_ in found] == expected


@pytest.mark.slow
@needs_browser
def test_translations_of_the_released_model_are_those_of_the_package(reader, whole):
    for beams in (1, 4):
        expected = whole["eng-fra"].translate(ENGLISH, num_beams=beams)
        found = searched(reader, "eng-fra", ENGLISH, beams=beams)
        assert [best for (best, _), *_ in found] == expected


@pytest.mark.slow
@needs_browser
@pytest.mark.parametrize("alpha", [0, 0.6, 2.5])
def test_all_beams_and_their_scores_are_those_of_the_package(reader, whole, alpha):
    """Also where nothing ends, and translations are cut off: weights drawn by lot say anything."""
    translator, texts = whole["learned"], ENGLISH[:6]
    found = searched(reader, "learned", texts, beams=4, alpha=alpha)
    for text, candidates in zip(texts, found, strict=True):
        ids = np.array([[*translator.source_tokenizer.encode(text), 3]])
        (rows,), (scores,) = beam_search(translator.model, ids, 4, alpha, num_best=4)
        written = [translator.target_tokenizer.decode(row) for row in rows]
        assert [candidate for candidate, _ in candidates] == written
        np.testing.assert_allclose([score for _, score in candidates], scores, atol=1e-3)


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("node"), reason="there is no Node")
def test_the_experiment_runs_the_same_scripts(packed, whole):
    sentences = [example.source for example in generate(5, seed=9)]
    found = in_javascript(packed["grammar"][0], sentences, beams=1)
    assert found == whole["grammar"].translate(sentences)
    assert same(found, [*found[:3], "", "no"]) == 3


# The weights of its attention, and heads that are switched off.


def done(reader, name, **request):
    """The last message about a sentence."""
    return ask(reader, "translate", name, request)[-1]


@pytest.mark.slow
@needs_browser
@pytest.mark.parametrize(
    ("name", "text"), [("grammar", "The black cat sleeps."), ("eng-fra", ENGLISH[3])]
)
@pytest.mark.parametrize("beams", [1, 4])
def test_the_weights_are_those_of_the_translator(reader, whole, name, text, beams):
    expected = whole[name].attention(text, num_beams=beams)
    found = done(reader, name, text=text, beams=beams)
    assert found["translation"] == expected.translation
    assert found["target"] == expected.target_tokens
    for kind, weights in found["weights"].items():
        np.testing.assert_allclose(weights, getattr(expected, kind), atol=1e-4)
    assert len(found["words"]) == len(found["target"])
    if beams == 1:  # always the likeliest, so their probabilities make that of the whole
        assert [words[0][0] for words in found["words"]] == found["target"]
        total = sum(np.log(words[0][1]) for words in found["words"])
        assert found["log_probability"] == pytest.approx(total)


@pytest.mark.slow
@needs_browser
def test_a_head_that_is_off_adds_nothing(reader, whole):
    translator, text = (
        whole["grammar"],
        "The animal did not cross the street because it was too wide.",
    )
    with_all = done(reader, "grammar", text=text)["translation"]
    changed = []
    config = translator.model.config
    kinds = [
        (kind, i) for kind in ("encoder", "decoder", "cross") for i in range(config.num_layers)
    ]
    for (kind, layer), attention in zip(kinds, attentions(translator.model), strict=True):
        off = [[kind, layer, head] for head in (0, 2)]
        with switched_off(attention, 0, 2):
            expected = translator.attention(text)
        found = done(reader, "grammar", text=text, off=off)
        assert found["translation"] == expected.translation
        np.testing.assert_allclose(found["weights"]["cross"], expected.cross, atol=1e-4)
        changed.append(found["translation"] != with_all)
    assert any(changed)


# The file.


def test_six_bits_make_a_small_file(packed):
    texts = {bits: web.pack(packed["eng-fra"][0], "eng-fra", bits=bits) for bits in (6, 8)}
    sizes = {bits: (len(text), len(gzip.compress(text.encode()))) for bits, text in texts.items()}
    assert sizes[6][0] < 5_200_000
    assert sizes[6][1] < 3_600_000
    assert sizes[8][0] > 1.25 * sizes[6][0]


def test_a_packed_model_may_stand_in_a_page(packed):
    name = '</script><!--"é\\'
    text = web.pack(packed["none"][0], name, languages=["en", "</script>"])
    assert "<" not in text
    assert text.isascii()
    found = json.loads(text[text.index("] = ") + 4 : -2])
    assert (found["name"], found["languages"]) == (name, ["en", "</script>"])


@pytest.mark.slow
@pytest.mark.parametrize("bits", [6, 8])
def test_rounding_moves_no_weight_by_more_than_half_a_step(packed, bits):
    translator = packed["eng-fra"][0]
    after = web.rounded(translator, bits).model.weights
    for old, new in zip(translator.model.weights, after, strict=True):
        old, new = np.array(old), np.array(new)
        assert np.abs(old - new).max() <= np.abs(old).max() / (2**bits - 2) + 1e-6


def test_what_is_packed_in_six_bits_is_read_as_numpy_rounds_it():
    rows = np.random.default_rng(1).normal(size=(5, 7)).astype("float32")
    found = unpack_weights(json.loads(json.dumps(pack_weights({"a": rows, "b": rows[0]}))))
    step = np.abs(rows).max(axis=1, keepdims=True) / 31
    np.testing.assert_allclose(found["a"], np.rint(rows / step) * step, rtol=1e-6)
    np.testing.assert_array_equal(found["b"], rows[0])


def test_a_row_of_zeros_stays_one(packed):
    translator, _ = packed["paper"]
    zeros = Translator(translator.model.with_dtype("float32"), *[translator.source_tokenizer] * 2)
    for weight in zeros.model.weights:
        weight.assign(np.zeros(weight.shape))
    assert not any(np.array(weight).any() for weight in web.rounded(zeros).model.weights)


@pytest.mark.slow
def test_what_the_engine_does_not_know_is_refused(packed, monkeypatch):
    translator, _ = packed["paper"]
    with pytest.raises(InputError, match=r"Expected 6 or 8 bits. Received: 7."):
        web.pack(translator, bits=7)
    with pytest.raises(InputError, match=r"Expected 6 or 8 bits. Received: 5."):
        web.rounded(translator, bits=5)
    odd = small(["word"], {"activation": "elu"})
    with pytest.raises(
        InputError, match=r"Expected an activation of relu, gelu, silu, tanh. Rec.*elu"
    ):
        web.pack(odd)
    for setting, value in {
        "gated": True,
        "normalization": "rms",
        "num_key_value_heads": 1,
        "attention_window": 4,
    }.items():
        with pytest.raises(InputError, match=f"with {setting}=.*, for a page. Rec.*{value!r}"):
            web.pack(small(["word"], {setting: value}))
    tuned = small(["word"], {})
    tuned.model.enable_lora(2)
    with pytest.raises(InputError, match=r"without LoRA.*merge_lora.*Received: lora_rank=2"):
        web.pack(tuned)
    monkeypatch.setattr(web.packing, "LARGEST", 1000)
    with pytest.raises(InputError, match=r"at most 1,000 parameters, for a page. Received: "):
        web.pack(translator)


def test_weights_that_are_no_numbers_are_refused():
    for name, value in (("kernel", np.inf), ("bias", np.nan)):
        broken = small(["word"], {})
        weight = next(weight for weight in broken.model.weights if weight.path.endswith(name))
        weight.assign(np.full(weight.shape, value))
        with pytest.raises(InputError, match=rf"^Expected finite weights\. Received: {value} in "):
            web.pack(broken)


def test_a_tokenizer_from_elsewhere_is_refused(packed):
    translator, _ = packed["none"]
    pipeline = tokenizers.Tokenizer.from_str(translator.source_tokenizer.to_str())
    pipeline.normalizer = tokenizers.normalizers.NFD()
    with pytest.raises(ValueError, match=r"a normaliser, .* Received: another tokenizer"):
        Tokenizer(pipeline)


def test_signs_that_the_vocabulary_has_no_room_for():
    """The decoder still knows which words they touch."""
    reader = Tokenizer.train(['a b c d a b c d! e? (f) "a"'], kind="word", vocabulary_size=8)
    found = web.packing._tokenizer(reader)
    assert (found["kind"], found["touchesLeft"], found["touchesRight"]) == ("word", [], ['"'])


def test_the_scripts_are_installed_with_the_package():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert "nlp104.translation.web" in project["tool"]["setuptools"]["packages"]
    patterns = project["tool"]["setuptools"]["package-data"]["nlp104.translation.web"]
    folder = ROOT / "nlp104" / "translation" / "web"
    installed = {path for pattern in patterns for path in folder.glob(pattern)}
    assert {path for path in folder.iterdir() if path.suffix in (".js", ".css")} == installed

"""The models that come with the package: they load, they translate as their cards say."""

import json
import re

import numpy as np
import pytest

import nlp104
from nlp104.data import grammar
from nlp104.data.tokenizer import Tokenizer
from nlp104.figures import results
from nlp104.training.run_record import write_record
from nlp104.training.settings import DEFAULTS
from nlp104.translation import evaluation, pretrained
from nlp104.translation.translator import load_tokenizers, save_tokenizers
from tools import release

FAMOUS = {
    "The black cat sleeps.": "Le chat noir dort.",
    "The animal did not cross the street because it was too tired.": (
        "L'animal n'a pas traversé la rue parce qu'il était trop fatigué."
    ),
    "The animal did not cross the street because it was too wide.": (
        "L'animal n'a pas traversé la rue parce qu'elle était trop large."
    ),
}


@pytest.fixture(scope="module")
def translator():
    return nlp104.load_pretrained("grammar")


@pytest.mark.slow
def test_famous_sentences(translator):
    assert translator.translate(list(FAMOUS)) == list(FAMOUS.values())


@pytest.mark.slow
def test_translates_as_well_as_its_card_says(translator):
    examples = grammar.generate(100, seed=7, split="test")
    translations = translator.translate([example.source for example in examples])
    exact = evaluation.exact_match(translations, [example.targets for example in examples])
    card = (pretrained.FOLDER / "grammar" / "README.md").read_text(encoding="utf-8")
    said = float(re.search(r"exact match[^\d]*([\d.]+) %", card)[1]) / 100
    assert exact > said - 0.04  # four standard errors of a share near 1 in 100 sentences


@pytest.mark.parametrize("name", pretrained.names())
def test_every_model_has_a_card_and_is_small(name):
    folder = pretrained.FOLDER / name
    card = (folder / "README.md").read_text(encoding="utf-8")
    for word in ("Data", "Licence", "seed", "BLEU", "Known failures"):
        assert word in card
    assert sum(path.stat().st_size for path in folder.iterdir()) < 10 * 2**20


@pytest.mark.parametrize("name", pretrained.names())
def test_what_the_page_of_serve_says_of_a_model_is_on_its_card(name):
    card = pretrained.read_card(pretrained.FOLDER / name)
    assert card["languages"] == ["en", "fr"]
    tokenizer, _ = load_tokenizers(pretrained.FOLDER / name)
    assert card["examples"]
    assert not any("[UNK]" in tokenizer.tokens(example) for example in card["examples"])


def test_the_card_of_a_run_is_its_record(tmp_path):
    nothing = {"languages": [], "examples": []}
    directory = tmp_path / "grammar"  # a name tells nothing
    directory.mkdir()
    assert pretrained.read_card(directory) == nothing
    write_record(directory, {"settings": DEFAULTS | {"data": "grammar"}})  # of an old run
    assert pretrained.read_card(directory) == nothing
    write_record(directory, {"settings": DEFAULTS, "languages": ["pt", "en"]})
    assert pretrained.read_card(directory) == {"languages": ["pt", "en"], "examples": []}


@pytest.mark.slow
def test_everyday_sentences():
    translator = nlp104.load_pretrained("eng-fra")
    right = {
        "I don't like black cats.": "Je n'aime pas les chats noirs.",
        "I am reading a book about animals.": "Je lis un livre sur les animaux.",
        "I don't know when she got married.": "Je ne sais pas quand elle s'est mariée.",
    }
    assert translator.translate(list(right)) == list(right.values())


@pytest.mark.parametrize("name", ["eng-fra", "eng-fra-typed"])
def test_the_card_gives_the_stored_scores(name):
    scores = json.loads(results.read(f"{name}/scores.json"))
    cards = [(pretrained.FOLDER / name / "README.md").read_text(encoding="utf-8")]
    cards.append(results.read(f"{name}/README.md"))
    for card in cards:
        for search in ("greedy", "beam 4"):
            assert f"{scores[search]['bleu']:.2f}" in card
        assert scores["greedy"]["signature"] in card
    if name == "eng-fra-typed":
        assert all(f"{scores[s]['as_typed']['bleu']:.2f}" in cards[0] for s in ("greedy", "beam 4"))


@pytest.mark.slow
def test_small_letters_do_not_disturb_the_model_that_has_met_them():
    translator = nlp104.load_pretrained("eng-fra-typed")
    for typed in ("I saw the fight.", "i saw the fight"):
        assert translator.translate([typed]) == ["J'ai vu le combat."]
    assert translator.translate(["how's your wife, tom?"]) == ["Comment va ta femme, Tom ?"]


def test_a_folder_without_a_model_has_no_name(tmp_path, monkeypatch):
    for name in ("whole", "__pycache__"):
        (tmp_path / name).mkdir()
    (tmp_path / "whole" / "model.keras").touch()
    monkeypatch.setattr(pretrained, "FOLDER", tmp_path)
    assert pretrained.names() == ["whole"]


def test_unknown_name():
    with pytest.raises(ValueError, match=r"Expected one of .*grammar.* Received: 'klingon'"):
        nlp104.load_pretrained("klingon")


def test_a_release_that_fails_leaves_nothing(tmp_path, monkeypatch):
    def save(self, directory):
        directory.mkdir()
        (directory / "model.keras").write_bytes(b"half")
        raise OSError(28, "No space left on device")

    run, models = pretrained.FOLDER / "grammar", tmp_path / "models"
    models.mkdir()
    monkeypatch.setattr(release, "FOLDER", models)
    monkeypatch.setattr(release.Translator, "save", save)
    with pytest.raises(OSError, match="No space"):
        release.release(run, "small")
    assert [*models.iterdir()] == []
    assert [*tmp_path.iterdir()] == [models]


@pytest.mark.slow
def test_a_released_model_is_that_of_the_run_rounded_to_16_bits(translator, tmp_path, monkeypatch):
    run = pretrained.FOLDER / "grammar"
    monkeypatch.setattr(pretrained, "FOLDER", tmp_path)
    monkeypatch.setattr(release, "FOLDER", tmp_path)
    stored = release.release(run, "small")
    assert (stored / "model.keras").stat().st_size < 0.55 * (run / "model.keras").stat().st_size
    assert pretrained.read_card(stored) == pretrained.read_card(run)
    released = nlp104.load_pretrained("small")
    assert released.model.dtype_policy.name == released.model.decoder.dtype_policy.name == "float32"
    for expected, found in zip(
        translator.model.get_weights(), released.model.get_weights(), strict=True
    ):
        np.testing.assert_array_equal(found, expected.astype("float16").astype("float32"))
    assert released.translate(list(FAMOUS)) == list(FAMOUS.values())
    before = (stored / "model.keras").read_bytes()
    with pytest.raises(FileExistsError, match="choose another name"):
        release.release(run, "small")
    assert (stored / "model.keras").read_bytes() == before


def test_tokenizers_of_the_other_form_do_not_stay_behind(tmp_path):
    texts = (["a b c"], ["x y z"], ["u v w"])
    shared, source, target = (Tokenizer.train(text, vocabulary_size=9) for text in texts)
    save_tokenizers(tmp_path, shared, shared)
    save_tokenizers(tmp_path, source, target)
    assert [t.tokens("x u") for t in load_tokenizers(tmp_path)] == [
        t.tokens("x u") for t in (source, target)
    ]
    save_tokenizers(tmp_path, shared, shared)
    one, other = load_tokenizers(tmp_path)
    assert one is other
    assert [path.name for path in tmp_path.iterdir()] == ["tokenizer.json"]

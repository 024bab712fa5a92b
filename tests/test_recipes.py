"""`experiments.recipes` trains as it says, on equal pairs, and its table is that of its numbers."""

import json

import numpy as np
import pytest

from experiments import recipes
from nlp104.data.corpus import load_corpus
from nlp104.figures import results

SCALE = recipes.Scale("tiny", 60, epochs=1, batch_size=20, warmup_steps=2)


@pytest.fixture(scope="module")
def corpus():
    return load_corpus("grammar", sizes=(SCALE.pairs, 20, 20))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("L'été, j'ai 2 chats !", "lete , jai chats !"),
        ("« Où ça ? »", "ou ca ?"),
        ("Cœur", "cur"),  # œ is a letter of its own: it goes
        ("42", ""),
    ],
)
def test_text_as_the_series_has_it(text, expected):
    assert recipes.stripped(text) == expected


@pytest.mark.long
@pytest.mark.parametrize("name", recipes.RECIPES)
def test_a_recipe_trains_and_is_scored(corpus, name):
    found = recipes.run(name, SCALE, corpus)
    assert 0 < found["loss"] < 2 * np.log(found["parameters"])
    assert 0 <= found["bleu"] <= found["bleu_stripped"] + 1e-6 <= 100
    assert len(found["samples"]) >= 20
    if name == "series":
        said = [found["example"], *(translation for _, _, translation in found["samples"])]
        assert all(text.replace("[UNK]", "") == recipes.stripped(text) for text in said)


@pytest.mark.slow
def test_parameters_of_the_series_model(corpus):
    """Counted by hand: every head is as wide as the model."""
    made = recipes.RECIPES["series"](SCALE, corpus.train)
    d, inner, heads, layers = 128, 512, 4, 2
    words = made.config.vocabulary_size
    attention = 3 * (d + 1) * heads * d + (heads * d + 1) * d
    norm, feed_forward = 2 * d, (d + 1) * inner + (inner + 1) * d
    encoder = attention + feed_forward + 2 * norm
    decoder = 2 * attention + feed_forward + 3 * norm
    expected = 2 * words * d + layers * (encoder + decoder) + (d + 1) * words
    assert made.model.count_params() == expected


@pytest.mark.long
def test_equal_steps(corpus):
    """All recipes see the same pairs, equally often, in batches of the same size."""
    ours = recipes.RECIPES["ours"](SCALE, corpus.train)
    theirs = recipes.RECIPES["series"](SCALE, corpus.train)
    assert ours.batches.num_pairs == len(theirs.ids[0]) == SCALE.pairs
    for made in (ours, theirs):
        made.train()
        assert int(made.model.optimizer.iterations) == SCALE.pairs // SCALE.batch_size


def test_what_is_stored_is_not_trained_again_and_the_table_is_complete(tmp_path, monkeypatch):
    trained = []

    def run(name, scale, corpus):
        trained.append(name)
        numbers = dict.fromkeys(("parameters", "seconds", "loss", "accuracy", "exact_match"), 0.5)
        return numbers | {"bleu": 12.25, "bleu_stripped": 23.5}

    monkeypatch.setattr(recipes, "RESULTS", tmp_path / "recipes")
    monkeypatch.setattr(recipes, "run", run)
    monkeypatch.setattr(
        recipes, "load_corpus", lambda *_, **__: load_corpus("grammar", sizes=(10, 5, 5))
    )
    for _ in range(2):
        recipes.main(["--data", "fra.txt"])
        assert trained == list(recipes.RECIPES)
    record = json.loads((tmp_path / "recipes" / "reduced.json").read_text(encoding="utf-8"))
    head, _, *rows = recipes.table(record).splitlines()
    assert [row.split(" | ")[0].strip("| ") for row in rows] == list(recipes.RECIPES)
    assert all(row.count("|") == head.count("|") for row in rows)
    assert "| 12.25 | 23.50 | 50.0 |" in rows[0]


def test_the_report_shows_the_stored_numbers():
    record = json.loads(results.read("recipes/reduced.json"))
    assert recipes.table(record) in results.read("recipes/README.md")

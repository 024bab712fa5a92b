"""The parts of `experiments.blanks`: blanks, exact answers, references; and what is stored."""

import json

import keras
import numpy as np
import pytest

from experiments import blank_models, blanks, english_blanks
from experiments.grammar_blanks import fillings
from nlp104.data import Tokenizer
from nlp104.figures import results
from nlp104.transformer import LanguageModel

STORED = results.FOLDER / "blanks"


def _words(sentence):
    return sentence.split()


def test_exact_answers_are_those_of_the_tables():
    """By hand: the grammar first says which noun is meant, then draws one of its adjectives."""
    words = _words("The cat did not eat the cake because it was too dry .")
    second = dict.fromkeys(("hard", "bitter", "dry"), 1 / 6)
    first = dict.fromkeys(("tired", "sick", "shy", "nervous"), 1 / 8)
    assert fillings(words, 11) == pytest.approx(second | first)
    the, others = 4 / 7, dict.fromkeys(("This", "My", "Our"), 1 / 7)
    assert fillings(words, 0) == pytest.approx({"The": the} | others)


def test_a_noun_that_is_drawn_again_is_counted():
    """The second animal has the other French gender in 8 of 10 sentences, and is no goose."""
    words = _words("The goose helps the cat because it is kind .")
    found = fillings(words, 4)
    assert "goose" not in found
    assert found["cat"] / found["cow"] == pytest.approx((0.8 / 10) / (0.2 / 9), rel=1e-6)


def test_the_stored_answers_fit_what_the_dice_had_thrown():
    """The loss of the exact distribution is its entropy, but for chance."""
    asked = json.loads((STORED / "exact.json").read_text(encoding="utf-8"))["asked"][:200]
    said = [list(one["fillings"].values()) for one in asked]
    entropy = np.array([-np.sum(np.log(p) * p) for p in said])
    loss = np.array([-np.log(one["fillings"][one["words"][one["place"]]]) for one in asked])
    assert all(sum(p) == pytest.approx(1) for p in said)
    error = np.std(loss - entropy) / np.sqrt(len(asked))
    assert abs(np.mean(loss - entropy)) < 3 * error < 0.3


def test_words_are_chosen_and_hidden_as_in_the_paper():
    ids = np.tile(np.r_[2, 4:14, 0, 0], (5000, 1))
    given, labels = blank_models.hide(ids, 20, np.random.default_rng(1))
    chosen = labels > 0
    assert not chosen[:, [0, -2, -1]].any()
    assert chosen.sum() / 50_000 == pytest.approx(0.15, abs=0.01)
    np.testing.assert_array_equal(given[~chosen], ids[~chosen])
    np.testing.assert_array_equal(labels[chosen], ids[chosen])
    assert np.mean(given[chosen] == 20) == pytest.approx(0.8, abs=0.02)
    others = given[chosen & (given != 20)]
    assert others.min() >= 4
    assert others.max() < 20
    # 10 % stay, and of the 10 % of strays one in sixteen is by chance the same.
    assert np.mean(given[chosen] == ids[chosen]) == pytest.approx(0.1 + 0.1 / 16, abs=0.015)


@pytest.mark.parametrize("causal", [True, False])
def test_only_what_is_asked_is_computed_and_it_is_the_same(causal):
    model = LanguageModel.from_config(
        {**blanks.MODEL, **blanks.SMALL, "vocabulary_size": 21, "causal": causal}
    )
    ids = np.array([[2, 5, 6, 7, 0, 0], [2, 8, 9, 10, 11, 12]] * 40)
    (inputs, labels), *_ = blank_models.batches(ids, 20, 1, 1, 8, causal)
    given, places = inputs
    assert (labels > 3).all()
    whole = np.asarray(model(given)).reshape(-1, 21)[places]
    np.testing.assert_allclose(blank_models.Asked(model)(inputs), whole, atol=1e-4)


def test_trying_every_word_is_the_rule_of_bayes():
    """p(word | both sides) from the probabilities of whole sentences, one at a time."""
    model = LanguageModel.from_config(
        {**blanks.MODEL, **blanks.SMALL, "vocabulary_size": 13, "causal": True}
    )
    row, place = np.array([2, 5, 6, 7, 0]), 2
    [found] = blank_models.by_trial(model, row[None], [place], 12)
    joint = []
    for word in range(4, 12):
        tried = np.array([2, 5, word, 7])
        logits = np.asarray(model(tried[None, :-1]))[0]
        logits = logits - np.logaddexp.reduce(logits, axis=-1, keepdims=True)
        joint.append(np.exp(logits[np.arange(3), tried[1:]].sum()))
    np.testing.assert_allclose(np.exp(found[4:]), np.array(joint) / np.sum(joint), atol=1e-4)
    assert np.exp(found[:4]).sum() == 0


def test_logistic_regression_is_at_its_minimum():
    rng = np.random.default_rng(3)
    x = rng.normal(size=(40, 60))
    labels = (x[:, 0] + rng.normal(size=40) > 0).astype(int)
    logits = blank_models.logistic(x, labels, np.concatenate([x, np.eye(60), np.zeros((1, 60))]))
    bias = logits[-1]
    weights = np.r_[logits[40:-1] - bias, bias]
    full = np.c_[x, np.ones(40)]

    def loss(weights):
        margins = (2 * labels - 1) * (full @ weights)
        return np.logaddexp(0, -margins).mean() + 0.01 / 2 * weights @ weights

    steps = rng.normal(size=(50, 61)) * 1e-3
    assert all(loss(weights) < loss(weights + step) for step in steps)


def test_bags_count_words_and_pairs():
    ids = np.array([[2, 5, 6, 5, 0]])
    tested = np.array([[2, 6, 5, 9, 6]])
    words, others = blank_models.bags(ids, tested)
    assert sorted(words[0]) == [1, 2]
    assert sorted(others[0]) == [1, 2]  # 9 was never seen
    pairs, others = blank_models.bags(ids, tested, neighbours=2)
    assert pairs.tolist() == [[1, 1]]
    assert others.sum() == 1  # 6 5


def test_swapped_sentences_have_the_same_bag():
    rng = np.random.default_rng(1)
    assert english_blanks.swapped("He is here now.", rng) is None
    made = {english_blanks.swapped("one two three four five", rng) for _ in range(50)}
    assert made == {"one three two four five", "one two four three five"}
    tokenizer = Tokenizer.train(["one two three four five"], kind="word")
    ids, labels = english_blanks.pairs_swapped(["one two three four five"] * 3, tokenizer, 6, rng)
    assert labels.tolist() == [0, 1] * 3
    bags, _ = blank_models.bags(ids, ids)
    np.testing.assert_array_equal(bags[::2], bags[1::2])  # so no bag of words can tell


def test_a_blank_is_found_in_its_brackets():
    tokenizer = Tokenizer.train(["a cat sat on a mat"] * 3, kind="bpe", vocabulary_size=40)
    ids, place = english_blanks.place_of("a [cat] sat on a mat", tokenizer)
    assert tokenizer.decode(ids[place : place + 1]) == "cat"
    with pytest.raises(ValueError, match="one token"):
        english_blanks.place_of("a cat [zebra] on", tokenizer)


def test_what_is_played_with_is_what_the_model_says_of_each_choice():
    """Against a softmax in NumPy of one row at a time, with the places hidden by hand."""
    texts = ["the cat sat on a mat .", "a dog saw the cat ."]
    tokenizer = Tokenizer.train(texts * 3, kind="bpe", vocabulary_size=60)
    mask_id = tokenizer.vocabulary_size
    keras.utils.set_random_seed(104)
    config = {"hidden_dim": 8, "intermediate_dim": 16, "num_heads": 2, "num_layers": 1}
    config |= {"vocabulary_size": mask_id + 1, "dropout": 0.0, "causal": False}
    model = LanguageModel.from_config(config)
    (one,) = english_blanks.played(model, tokenizer, {"cat": (texts[1], ((2,), (1, 2)))})
    words = texts[1].split()
    assert (one["words"], one["opens"]) == (words, [[2], [1, 2]])
    (ids,) = blank_models.rows(tokenizer, [texts[1]], english_blanks.LONGEST)
    assert len(one["answers"]) == len(words) + len(words) * (len(words) - 1) // 2
    for choice, answers in one["answers"].items():
        places = [int(place) + 1 for place in choice.split(",")]
        row = ids[None].copy()
        row[0, places] = mask_id
        logits = np.array(model(row), "float64")[0, places, :mask_id]
        logits[:, : blank_models.FIRST] = -np.inf
        p = np.exp(logits) / np.exp(logits).sum(axis=-1, keepdims=True)
        for place, answer, shares in zip(places, answers, p, strict=True):
            assert answer["own"] == pytest.approx(shares[ids[place]], abs=6e-5)
            assert answer["place"] == 1 + (shares > shares[ids[place]] + 1e-9).sum()
            np.testing.assert_allclose(
                [share for _, share in answer["best"]], np.sort(shares)[:-6:-1], atol=6e-5
            )


def test_the_records_hold_all_that_the_readme_tells():
    grammar_record, english = (
        json.loads((STORED / f"{name}.json").read_text()) for name in ("grammar", "english")
    )
    seeds = [str(seed) for seed in blanks.SEEDS]
    assert list(grammar_record["runs"]) == list(english["runs"]) == seeds
    readme = (STORED / "README.md").read_text(encoding="utf-8")
    assert set(blanks.tables(grammar_record, english).splitlines()) <= set(readme.splitlines())

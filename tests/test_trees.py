"""The experiment on trees: what it counts, on data small enough to count by hand."""

import json

import numpy as np
import pytest

from experiments import trees
from nlp104.data.grammar import brackets
from nlp104.figures import results


@pytest.fixture(scope="module")
def data():
    return trees.Data(sentences=40, tested=5)


def test_training_has_short_sentences_only_and_no_test_sentence(data):
    assert len(data.train) == 40
    assert all(len(e.source_words) <= trees.SHORT for e in data.train + data.short)
    assert all(len(e.source_words) > trees.SHORT for e in data.long)
    seen = {e.source for e in data.train}
    assert not any(e.source in seen for e in data.short + data.long)


def test_the_control_learns_from_as_many_sentences_of_all_lengths(data):
    short, control = (data.batches(name, seed=1) for name in ("rotary", "sinusoidal, all lengths"))
    assert short.num_pairs == control.num_pairs == 40
    assert max(len(e.source_words) for e in data.all_lengths) > trees.SHORT
    assert control.num_tokens > short.num_tokens


class Perfect:
    """Stands in for a model: says what is right, and looks at the word behind that word."""

    def __init__(self, data, wrong_from=99):
        self.source_tokenizer, self.target_tokenizer = data.tokenizers
        self.lines = {e.source: trees.line(e) for e in (*data.short, *data.long)}
        self.wrong_from = wrong_from  # the word from which on it guesses
        self.model = self

    def translate(self, sentences, **_):
        return [self.lines.get(sentence, "") for sentence in sentences]

    def __call__(self, ids):
        asked = ids["decoder_token_ids"]
        logits = np.eye(self.target_tokenizer.vocabulary_size)[np.roll(asked, -1, axis=1)]
        tokens = [self.target_tokenizer.id_to_token(i) for i in asked[0, 1:]]
        for place, (word, _) in enumerate(brackets.spans(tokens)):
            if word >= self.wrong_from:
                logits[0, place] = np.eye(len(logits[0, place]))[0]
        return logits

    def attention_scores(self, ids):
        asked, words = ids["decoder_token_ids"][0], ids["encoder_token_ids"].shape[1]
        tokens = [self.target_tokenizer.id_to_token(i) for i in asked[1:]]
        weights = np.zeros((1, 4, len(asked), words))
        for row, (token, (first, last)) in enumerate(
            zip(tokens, brackets.spans(tokens), strict=True)
        ):
            weights[0, :, row, (last if token[0] == ")" else first) + 1] = 1
        return {"cross": [weights, weights]}


def test_a_perfect_model_has_no_mistakes(data):
    found = trees.examine(Perfect(data), data)
    assert all(right == total for right, total in found["exact"].values())
    assert sum(total for _, total in found["exact"].values()) == len(data.short + data.long)
    assert not any(sum(kinds.values()) for kinds in found["mistakes"].values())
    assert all(right == total for right, total in found["next_token"].values())
    for shares in found["looks"].values():
        np.testing.assert_array_equal(shares, np.array([0, 0, 1])[:, None, None] * np.ones((2, 4)))


def test_places_are_counted_from_one(data):
    """A model that knows nothing beyond the seventh word."""
    found = trees.next_token(Perfect(data, wrong_from=7), data.long)
    for place, (right, total) in found.items():
        assert right == (total if int(place) <= 7 else 0)
    assert found["1"][1] == len(data.long)


def test_the_share_of_some_lengths():
    run = {"exact": {"5": [1, 2], "6": [3, 6], "11": [0, 4]}}
    assert trees.share(run, range(11)) == 50
    assert trees.share(run, [11]) == 0


def test_the_table_is_that_of_the_numbers():
    record = json.loads(results.read("trees/runs.json"))
    assert list(record["runs"]) == list(trees.VARIANTS)
    assert all(list(runs) == ["1", "2", "3"] for runs in record["runs"].values())
    assert trees.table(record) in results.read("trees/README.md")

"""`experiments.seeds`: validation alone chooses, and the interval is that of a bootstrap."""

import json
from pathlib import Path

import numpy as np
import pytest
import sacrebleu

from experiments import records, seeds
from nlp104.translation.evaluation import Bleu

WORDS = ["un", "chat", "noir", "dort", "ici", "et", "le", "chien", "rouge", "mange"]


def sentences(count, rng):
    return [" ".join(rng.choice(WORDS, size=8)) for _ in range(count)]


def test_the_interval_is_that_of_a_bootstrap():
    rng = np.random.default_rng(104)
    references = sentences(60, rng)
    hypotheses = [  # half of them right, half of them nearly
        text if rng.random() < 0.5 else text.replace("chat", "chien") for text in references
    ]
    drawn = []
    for _ in range(400):
        rows = rng.integers(0, 60, size=60)
        chosen = [hypotheses[i] for i in rows], [[references[i] for i in rows]]
        drawn.append(sacrebleu.corpus_bleu(*chosen, tokenize="none", force=True).score)
    low, high = np.percentile(drawn, [2.5, 97.5])
    half = seeds.half_interval(hypotheses, [[text] for text in references], tokenized=True)
    assert half == pytest.approx((high - low) / 2, rel=0.15)


def test_sub_words_are_joined_before_they_are_counted():
    references = sentences(20, np.random.default_rng(1))
    hypotheses = [text.replace("chat", "ch@@ at") for text in references]
    assert seeds.half_interval(hypotheses, [[text] for text in references], tokenized=True) == 0
    assert seeds.half_interval(hypotheses, [[text] for text in references], tokenized=False) > 0


def test_every_accepted_translation_counts():
    """Where each is one of the references, every draw has 100."""
    references = sentences(20, np.random.default_rng(1))
    accepted = [[text[::-1], text][: 1 + i % 2] or [text] for i, text in enumerate(references)]
    hypotheses = [texts[-1] for texts in accepted]
    assert seeds.half_interval(hypotheses, accepted, tokenized=True) == 0


class Fake:
    """A translator whose translations name the search, and a corpus of two parts."""

    test, validation = [("a", "b c d e")], [("f", "g h i j")]

    def references(self, part):
        return [(source, (target,)) for source, target in getattr(self, part)]


BLEU_OF = {  # (source, beams, penalty): what it is said to score
    ("f", 1, None): 40.0,
    ("f", 5, 0.6): 41.0,
    ("f", 5, 1.0): 42.0,
    ("f", 5, 1.5): 42.0,
    ("a", 5, 1.0): 39.0,  # validation chose this search, though another is better here
    ("a", 5, 1.5): 45.0,
}


@pytest.fixture
def run(tmp_path, monkeypatch):
    def score(translator, pairs, tokenized, num_beams, length_penalty=None):
        found = BLEU_OF[pairs[0][0], num_beams, length_penalty]
        return ["b c d e"], Bleu(found, "signature"), 1.0

    def settings_and_corpus(run, **places):
        return {"seed": int(run.name), "tokens": "whitespace"}, Fake()

    monkeypatch.setattr(seeds, "settings_and_corpus", settings_and_corpus)
    monkeypatch.setattr(seeds.Translator, "load", lambda run: None)
    monkeypatch.setattr(seeds, "score", score)
    monkeypatch.setattr(records, "RESULTS", tmp_path)
    return tmp_path


def test_validation_alone_chooses_and_of_equals_the_first(run):
    found = seeds.of_run(Path("7"))
    assert (found["chosen"], found["bleu"]) == ("beam 5, penalty 1.0", 39.0)
    assert set(found["validation"]) == set(seeds.SEARCHES)


def test_runs_are_added_to_those_that_are_known(run, capsys):
    seeds.main(["name", "1", "2", "--data", "train"])
    BLEU_OF["a", 5, 1.0] = 40.5
    seeds.main(["name", "3", "--data", "train"])
    BLEU_OF["a", 5, 1.0] = 39.0
    record = json.loads((run / "name" / "seeds.json").read_text(encoding="utf-8"))
    assert [each["bleu"] for each in record["runs"].values()] == [39.0, 39.0, 40.5]
    assert record["mean"] == 39.5
    assert "mean 39.50" in capsys.readouterr().out

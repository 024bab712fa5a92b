"""What `experiments.corpus_facts` counts, against counts by brute force."""

import json
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments import corpus_facts
from nlp104.data import corpus, grammar
from nlp104.data.batches import Batches
from nlp104.figures import results

SENTENCES = st.sampled_from(["a", "b", "c d", "d a", "e"])
PAIRS = st.lists(st.tuples(SENTENCES, SENTENCES), min_size=2, max_size=20, unique=True)


@given(PAIRS, st.sampled_from([0.2, 0.5]))
def test_a_random_split_leaks_what_a_loop_counts(pairs, share):
    train, test = corpus_facts.random_split(pairs, share)
    assert sorted(train + test) == sorted(pairs)
    assert len(test) == round(share * len(pairs))
    if test:
        sources = list(dict.fromkeys(source for source, _ in test))
        leaked = [s for s in sources if any(s == other for other, _ in train)]
        assert corpus_facts.leak(train, test) == len(leaked) / len(sources)


def test_memory_gives_the_translation_of_the_nearest_sentence():
    pairs = [("the black cat sleeps", "1"), ("the dog sleeps", "2"), ("a black bird", "3")]
    memory = corpus_facts.Memory(pairs)
    assert memory.translate("The dog sleeps!") == "2"
    assert memory.translate("the cat") == "1"
    words = [set(source.split()) for source, _ in pairs]
    weight = {w: np.log(3 / sum(w in s for s in words)) for s in words for w in s}

    def cosine(sentence, query):
        both = sum(weight[w] ** 2 for w in sentence & query)
        return both / sum(weight[w] ** 2 for w in sentence) ** 0.5

    for query in ("black dog", "a cat", "bird sleeps the"):
        best = max(range(3), key=lambda i: cosine(words[i], set(query.split())))
        assert memory.translate(query) == pairs[best][1]


def test_padding_of_random_batches_is_that_of_padded_arrays():
    generator = random.Random(0)
    rows = [[4] * generator.randint(1, 30) for _ in range(200)]
    rows[0] = [4] * 60  # makes one of the two batches wide, and not the other
    sides = rows[:100], rows[100:]
    shares = corpus_facts.padding(*sides)
    whole = Batches(*sides, batch_size=100, bucket_width=1)
    assert shares["longest of all"] == pytest.approx(whole.padding_share)
    assert whole.padding_share > shares["random batches"] > 0


def test_words_that_differ_in_accents_alone_are_counted():
    found = corpus_facts.merged_by_stripping(["Il a mangé.", "Il va à la mer.", "Il mange là."])
    assert found["words"] == 9
    assert found["words_that_collide"] == 6
    assert found["share_of_running_words"] == round(6 / 11, 4)


@pytest.mark.slow
def test_stored_facts_of_the_grammar_are_those_of_its_sentences():
    facts = json.loads(results.read("corpora/grammar.json"))
    pairs = corpus_facts.all_pairs(corpus.load_corpus("grammar"))
    assert corpus_facts.repeats(pairs) == {
        key: tuple(facts[key]) if isinstance(facts[key], list) else facts[key]
        for key in corpus_facts.repeats(pairs)
    }


def test_a_corpus_without_a_name_is_counted_from_its_file(tmp_path, monkeypatch):
    pairs = [(e.source, e.target) for e in grammar.generate(300, seed=0)]
    path = tmp_path / "pairs.tsv"
    lines = [f"{french}\t{english}" for english, french in pairs]
    twice = [f"{line} " for line in lines[:100]]  # the same again, but for a blank at the end
    path.write_text("\n".join(lines + twice), encoding="utf-8")
    monkeypatch.setattr(corpus_facts, "RESULTS", tmp_path)
    corpus_facts.main(f"own --file {path} --source fr --target en --attribution us".split())
    facts = json.loads((tmp_path / "own.json").read_text(encoding="utf-8"))
    assert (facts["languages"], facts["attribution"]) == (["fr", "en"], "us")
    assert (facts["lines"], facts["pairs"]) == (400, 300)
    assert sum(facts["lengths"]["fr"]) == 300
    assert facts["leak_of_a_random_split_of_the_lines"][0] > 0.1
    assert facts["leak_of_the_clean_split"] == [0.0, 0.0]


def test_a_name_that_is_not_known_needs_a_file(capsys):
    with pytest.raises(SystemExit):
        corpus_facts.main(["por-eng"])
    assert "--file" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["grammar", "fra-eng", "por-eng", "multi30k-en-de"])
def test_stored_facts_agree_with_each_other(name):
    facts = json.loads(results.read(f"corpora/{name}.json"))
    assert facts["corpus"] == name
    assert max(facts["unique_sources"], facts["unique_targets"]) <= facts["pairs"]
    assert [sum(counts) for counts in facts["lengths"].values()] == [facts["pairs"]] * 2
    assert list(facts["lengths"]) == facts["languages"]
    assert facts["leak_of_the_clean_split"] == [0.0, 0.0]
    shares = facts["padding"]
    assert 1 > shares["longest of all"] > shares["random batches"] > shares["buckets of 1"] > 0

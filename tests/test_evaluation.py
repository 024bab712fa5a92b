"""BLEU, exact match and alignment error rate against brute force and examples from papers."""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlp104.translation.evaluation import (
    alignment_error_rate,
    attention_alignment,
    bleu,
    corpus_score,
    exact_match,
    join_subwords,
    score,
)


def plain_bleu(hypotheses, references):
    """Corpus BLEU of tokenised text as Papineni et al. (2002) define it, without smoothing."""
    matched, total = [0] * 4, [0] * 4
    hypothesis_length = reference_length = 0
    for hypothesis, accepted in zip(hypotheses, references, strict=True):
        words, alternatives = hypothesis.split(), [reference.split() for reference in accepted]
        hypothesis_length += len(words)
        lengths = [len(alternative) for alternative in alternatives]
        reference_length += min(lengths, key=lambda n: (abs(n - len(words)), n))
        for n in range(1, 5):
            grams = Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))
            allowed = Counter()
            for alternative in alternatives:
                allowed |= Counter(
                    tuple(alternative[i : i + n]) for i in range(len(alternative) - n + 1)
                )
            matched[n - 1] += sum((grams & allowed).values())
            total[n - 1] += sum(grams.values())
    precision = math.exp(sum(math.log(m / t) for m, t in zip(matched, total, strict=True)) / 4)
    brevity = min(1.0, math.exp(1 - reference_length / hypothesis_length))
    return 100 * brevity * precision


HYPOTHESES = ["the cat sat on the mat today", "a dog ran over the hill and away"]
REFERENCES = [
    ["the cat sat on the mat", "a cat is sitting on the mat today"],
    ["the dog ran over the hill and far away"],
]


def test_bleu_equals_its_definition():
    score = bleu(HYPOTHESES, REFERENCES, tokenized=True)
    assert score.score == pytest.approx(plain_bleu(HYPOTHESES, REFERENCES), rel=1e-9)
    assert 0 < score.score < 100


def test_bleu_of_single_references():
    singles = [accepted[0] for accepted in REFERENCES]
    score = bleu(HYPOTHESES, singles, tokenized=True).score
    assert score == pytest.approx(plain_bleu(HYPOTHESES, [[single] for single in singles]))
    assert score < bleu(HYPOTHESES, REFERENCES, tokenized=True).score


def test_bleu_tells_how_it_was_computed():
    score = bleu(["Le chat dort ici."], ["Le chat dort ici."])
    assert score.score == pytest.approx(100)
    assert "tok:13a" in score.signature
    assert "version:" in score.signature
    assert "tok:none" in bleu(["a b c d"], ["a b c d"], tokenized=True).signature
    assert str(score) == f"100.00 ({score.signature})"


def test_bleu_splits_signs_of_running_text_only():
    assert bleu(["il dort , là ."], ["il dort, là."]).score == pytest.approx(100)
    assert bleu(["il dort , là ."], ["il dort, là."], tokenized=True).score < 50


def test_bleu_joins_subwords_of_tokenised_text():
    joined = bleu(["trans@@ form@@ ers are h@@ ere ."], ["transformers are here ."], tokenized=True)
    assert joined.score == pytest.approx(bleu(["a b c d"], ["a b c d"], tokenized=True).score)
    assert join_subwords("a@@ b c d@@") == "ab c d"


def test_the_best_bleu_is_100_and_not_a_rounding_error_more():
    """sacreBLEU's own is 100.00000000000004 here."""
    sentences = ["a b c d"]
    assert corpus_score(sentences, sentences)[1].score == pytest.approx(100)
    assert bleu(sentences, sentences).score == 100


def test_nothing_to_translate_is_an_error():
    class Copier:
        def translate(self, texts):
            return list(texts)

    assert score(Copier(), iter([("a b", ("a b", "b a"))]))[2] == 1
    for nothing in ([], iter(())):
        with pytest.raises(ValueError, match=r"at least one pair\. Received: none"):
            score(Copier(), nothing)


def test_exact_match_counts_sentences():
    hypotheses = ["il dort .", "elle  mange .", "Il dort .", ""]
    references = ["il dort .", ("il mange .", "elle mange ."), ["il dort ."], ""]
    assert exact_match(hypotheses, references) == 0.75


@pytest.mark.parametrize("tokenized", [False, True])
def test_any_sequence_of_texts_is_a_list_of_them(tokenized):
    references = [reference[0] for reference in REFERENCES]
    expected = bleu(HYPOTHESES, references, tokenized)
    for of in (np.array, iter, tuple):
        assert bleu(of(HYPOTHESES), of(references), tokenized) == expected
        assert exact_match(of(HYPOTHESES), of(HYPOTHESES)) == 1


@pytest.mark.parametrize("score", [bleu, exact_match])
def test_unequal_counts_and_nothing_are_errors(score):
    with pytest.raises(ValueError, match="Received: 2 hypotheses and 1 references"):
        score(["a", "b"], ["a"])
    with pytest.raises(ValueError, match="at least one hypothesis"):
        score([], [])
    with pytest.raises(ValueError, match="Received: none for 2"):
        score(["a", "b"], ["a", ()])


@pytest.mark.parametrize("score", [bleu, exact_match])
@pytest.mark.parametrize("wrong", [None, 3, b"a"])
def test_what_is_no_text_is_named(score, wrong):
    # None and 3 ended in an AttributeError or TypeError.
    for hypotheses, references in (([wrong], ["a"]), (["a"], [wrong]), (["a"], [("a", wrong)])):
        with pytest.raises(ValueError, match="Expected sentences as strings"):
            score(hypotheses, references)


def test_alignment_error_rate_by_hand():
    # Three predicted links: one sure, one only possible, one wrong; one sure link missed.
    predicted, sure, possible = [{(0, 0), (1, 1), (2, 2)}], [{(0, 0), (3, 3)}], [{(1, 1)}]
    assert alignment_error_rate(predicted, sure, possible) == pytest.approx(1 - (1 + 2) / (3 + 2))


links = st.sets(st.tuples(st.integers(0, 3), st.integers(0, 3)))


@given(st.lists(st.tuples(links, links, links), min_size=1, max_size=4))
def test_alignment_error_rate_is_a_corpus_rate(sentences):
    predicted, sure, extra = map(list, zip(*sentences, strict=True))
    rate = alignment_error_rate(predicted, sure, extra)
    a = {(n, *link) for n, found in enumerate(predicted) for link in found}
    s = {(n, *link) for n, found in enumerate(sure) for link in found}
    p = s | {(n, *link) for n, found in enumerate(extra) for link in found}
    hits = sum(link in s for link in a) + sum(link in p for link in a)
    assert rate == pytest.approx(1 - hits / (len(a) + len(s)) if a or s else 0)
    assert 0 <= rate <= 1
    assert alignment_error_rate(sure, sure, extra) == 0


def test_without_possible_links_it_is_one_minus_f1():
    predicted, gold = {(0, 0), (1, 1), (2, 0)}, {(0, 0), (1, 2)}
    precision, recall = 1 / 3, 1 / 2
    f1 = 2 * precision * recall / (precision + recall)
    assert alignment_error_rate([predicted], [gold]) == pytest.approx(1 - f1)


def test_alignment_of_unequal_counts_is_an_error():
    with pytest.raises(ValueError, match="2 predicted, 1 sure and 1 possible"):
        alignment_error_rate([set(), set()], [set()])


def test_alignment_from_attention():
    scores = np.array([[0.1, 0.9, 0.0], [0.8, 0.1, 0.1], [0.2, 0.2, 0.6], [0.0, 0.6, 0.4]])
    assert attention_alignment(scores) == {(1, 0), (0, 1), (2, 2), (1, 3)}
    for wrong in (np.zeros(3), np.zeros((2, 0)), np.zeros((1, 2, 2))):
        with pytest.raises(ValueError, match=r"shape \[target, source\]"):
            attention_alignment(wrong)


@pytest.mark.parametrize("wrong", [[["a", "b"]], [[None, 1.0]], [[1j, 0.0]], [["1", "2"]]])
def test_an_alignment_is_not_read_from_what_is_no_number(wrong):
    with pytest.raises(ValueError, match=r"shape \[target, source\], numbers"):
        attention_alignment(wrong)


def test_an_alignment_is_not_read_from_nan():
    with pytest.raises(ValueError, match="1 of them NaN"):
        attention_alignment([[float("nan"), 1.0]])

"""How good translations and attention are: BLEU, exact match and alignment error rate."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain

import numpy as np
from sacrebleu.metrics import BLEU

from nlp104.utils.arguments import require_texts


@dataclass(frozen=True)
class Bleu:
    """A BLEU score with everything that is needed to compare it with another one.

    Attributes:
        score: Corpus BLEU between 0 and 100.
        signature: sacreBLEU's description of how it was computed.

    Example:
        >>> from nlp104.translation import bleu
        >>> found = bleu(["le chat noir dort bien ."], ["le chat noir dort ici ."])
        >>> round(found.score, 2), found.signature
        (53.73, 'nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:...')
    """

    score: float
    signature: str

    def __str__(self):
        return f"{self.score:.2f} ({self.signature})"


def join_subwords(text):
    """Undoes a segmentation marked by `@@`: `"trans@@ form@@ er"` becomes `"transformer"`.

    Example:
        >>> from nlp104.translation.evaluation import join_subwords
        >>> join_subwords("a trans@@ form@@ er")
        'a transformer'
    """
    return text.replace("@@ ", "").removesuffix("@@")


def bleu(hypotheses, references, tokenized=False):
    """Returns corpus BLEU (Papineni et al., 2002) by sacreBLEU (Post, 2018).

    Args:
        hypotheses: Translations, a list of strings.
        references: For each translation the right one, or a tuple or list of right ones; their
            numbers may differ.
        tokenized: False for running text, which sacreBLEU tokenises in its standard way. True for
            corpora that were tokenised and split into sub-words marked by `@@` beforehand: the
            sub-words are joined and words are taken as they stand. Such scores compare only with
            scores on the very same tokenisation.

    Returns:
        A `Bleu` with `score` and `signature`.

    Raises:
        ValueError: If the numbers of hypotheses and references differ, a sentence has none, or
            something is not a string.

    Example:
        >>> from nlp104.translation import bleu
        >>> print(bleu(["le chat noir dort ."], ["le chat noir dort ."]))
        100.00 (nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:...)
        >>> found = bleu(["il dort bien ici ."], [("il dort ici .", "il dort bien là .")])
        >>> round(found.score, 1)  # of the n-grams 5/5, 3/4, 1/3 and, smoothed, 1/4 are right
        50.0
    """
    metric, found = corpus_score(hypotheses, references, tokenized)
    # Rounding may end at 100.00000000000004.
    return Bleu(min(found.score, 100.0), str(metric.get_signature()))


def corpus_score(hypotheses, references, tokenized=False, **options):
    """What sacreBLEU has: its metric, and its own score with all that it knows; see `bleu`.

    `options` are those of its `corpus_score`, such as ``n_bootstrap``.
    """
    hypotheses, alternatives = _pairs(hypotheses, references)
    if tokenized:
        hypotheses = [join_subwords(hypothesis) for hypothesis in hypotheses]
        alternatives = [tuple(map(join_subwords, accepted)) for accepted in alternatives]
    # sacreBLEU wants the first references of all sentences, then the second ones, and so on;
    # a sentence that has no reference of some rank has None there.
    ranks = max(map(len, alternatives))
    streams = [
        [accepted[rank] if rank < len(accepted) else None for accepted in alternatives]
        for rank in range(ranks)
    ]
    # force=True keeps sacreBLEU from warning that tokenised text looks tokenised.
    metric = BLEU(tokenize="none" if tokenized else "13a", force=tokenized)
    return metric, metric.corpus_score(hypotheses, streams, **options)


def exact_match(hypotheses, references):
    """Returns the share of the translations that equal a reference word for word.

    Args:
        hypotheses: Translations, a list of strings.
        references: For each translation the right one, or a tuple or list of accepted ones.

    Returns:
        A number between 0 and 1.

    Raises:
        ValueError: If the numbers of hypotheses and references differ, a sentence has none, or
            something is not a string.

    Example:
        >>> from nlp104.translation import exact_match
        >>> exact_match(["il dort", "elle mange"], ["il dort", ("il mange", "il boit")])
        0.5
    """
    hypotheses, alternatives = _pairs(hypotheses, references)
    words = [hypothesis.split() for hypothesis in hypotheses]
    hits = [
        any(hypothesis == reference.split() for reference in accepted)
        for hypothesis, accepted in zip(words, alternatives, strict=True)
    ]
    return sum(hits) / len(hits)


def score(translator, pairs, tokenized=False, **options):
    """Translates sentences and says how well.

    Args:
        translator: `nlp104.translation.Translator`.
        pairs: Source sentences with their right translations, as `Corpus.references` gives them.
        tokenized: As of `bleu`.
        **options: Of `Translator.translate`.

    Returns:
        The translations, their `Bleu`, and the share of exact matches.

    Raises:
        ValueError: If there are no pairs, or `bleu` or `Translator.translate` raises one.
    """
    pairs = list(pairs)
    if not pairs:
        raise ValueError("Expected at least one pair. Received: none.")
    sources, references = zip(*pairs, strict=True)
    hypotheses = translator.translate(sources, **options)
    return (
        hypotheses,
        bleu(hypotheses, references, tokenized),
        exact_match(hypotheses, references),
    )


def attention_alignment(scores):
    """Reads an alignment from cross-attention: each target word's most attended source word.

    Args:
        scores: Attention weights of shape `[target, source]`, rows for the target words.

    Returns:
        A set of links `(source index, target index)`, one for each target word.

    Raises:
        ValueError: If `scores` is not a matrix of numbers with at least one column.

    Example:
        >>> from nlp104.translation import attention_alignment
        >>> weights = [[0.1, 0.9], [0.8, 0.2]]  # chat looks at cat, noir at black
        >>> source, target = ["black", "cat"], ["chat", "noir"]
        >>> sorted((source[i], target[j]) for i, j in attention_alignment(weights))
        [('black', 'noir'), ('cat', 'chat')]
    """
    scores = np.asarray(scores)
    if scores.dtype.kind in "OSUc":  # objects, texts and complex numbers have no order
        raise ValueError(
            "Expected attention scores of shape [target, source], numbers. "
            f"Received: {scores.dtype}."
        )
    if scores.ndim != 2 or scores.shape[1] == 0 or np.isnan(scores).any():
        raise ValueError(
            "Expected attention scores of shape [target, source], numbers, with at least one source"
            f" word. Received: shape {list(scores.shape)}, {np.isnan(scores).sum()} of them NaN."
        )
    return {(int(source), target) for target, source in enumerate(scores.argmax(axis=1))}


def alignment_error_rate(predicted, sure, possible=None):
    r"""Returns the alignment error rate of a corpus (Och & Ney, 2003, section 4).

    With $A$ the predicted links, $S$ the sure and $P \supseteq S$ the possible gold links:

    $$1 - \frac{|A \cap S| + |A \cap P|}{|A| + |S|}$$

    Args:
        predicted: For each sentence pair a collection of links `(source index, target index)`.
        sure: For each sentence pair the gold links that must be found.
        possible: For each sentence pair the further links that may be found without penalty.
            Sure links are possible ones whether or not they are repeated here.

    Returns:
        A number between 0 (perfect) and 1. Without any predicted and any sure link it is 0.

    Raises:
        ValueError: If the numbers of sentence pairs differ.

    Example:
        >>> from nlp104.translation import alignment_error_rate
        >>> found, sure, possible = {(0, 0), (1, 2)}, {(0, 0)}, {(1, 1)}
        >>> round(alignment_error_rate([found], [sure], [possible]), 4)  # 1 - (1 + 1) / (2 + 1)
        0.3333
    """
    possible = [()] * len(sure) if possible is None else possible
    if not len(predicted) == len(sure) == len(possible):
        raise ValueError(
            f"Expected one set of links for each sentence pair. Received: {len(predicted)} "
            f"predicted, {len(sure)} sure and {len(possible)} possible ones."
        )
    agreed = expected = 0
    for links, sure_links, possible_links in zip(predicted, sure, possible, strict=True):
        links, sure_links = set(map(tuple, links)), set(map(tuple, sure_links))
        possible_links = sure_links | set(map(tuple, possible_links))
        agreed += len(links & sure_links) + len(links & possible_links)
        expected += len(links) + len(sure_links)
    return 1.0 - agreed / expected if expected else 0.0


def _pairs(hypotheses, references):
    """Returns two lists: the translations, and for each a tuple of those that are accepted."""
    require_texts(hypotheses=hypotheses, references=references)
    hypotheses, references = list(hypotheses), list(references)
    if len(hypotheses) != len(references):
        raise ValueError(
            "Expected one reference, or one collection of references, for each hypothesis. "
            f"Received: {len(hypotheses)} hypotheses and {len(references)} references."
        )
    if not hypotheses:
        raise ValueError("Expected at least one hypothesis. Received: none.")
    alternatives = [
        tuple(item) if isinstance(item, Iterable) and not isinstance(item, str) else (item,)
        for item in references
    ]
    if not all(alternatives):
        number = alternatives.index(()) + 1
        raise ValueError(f"Expected a reference for each sentence. Received: none for {number}.")
    for text in chain(hypotheses, *alternatives):
        if not isinstance(text, str):
            raise ValueError(f"Expected sentences as strings. Received: {text!r:.80}.")
    return hypotheses, alternatives

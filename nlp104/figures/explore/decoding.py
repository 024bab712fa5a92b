"""Decoding: greedy, beams and dice, on what a trained translator said."""

import json
import math

from nlp104.figures import results
from nlp104.figures.drawing import Drawing, shown
from nlp104.figures.explore import decoding_texts as texts
from nlp104.figures.explore.explorable import Explorable

RECORD = "decoding/eng-fra.json"
COLUMNS = ("from", "word", "log", "norm", "top", "look", "state", "heat")
BEAMS = (1, 2, 4)
ALPHAS = (0.0, 0.6)


def decoding():
    """A translation is written, and somebody has to choose the words.

    The first word is drawn whole: the decoder's last vector, logits, softmax, logarithms, choice.
    Then a word is written in each step: greedily, by beam search with 1, 2 or 4 beams, with and
    without a length penalty, or by dice at three temperatures, with the tail cut off or not. The
    source shows what cross-attention looks at; keys and values of every token are kept.

    The probabilities are those of the model `nlp104.load_pretrained` calls ``"eng-fra"``, recorded
    for all that the reader can bring about: ``experiments.decoding_record``. The page
    searches by itself, as `nlp104.decoding` does.

    Returns:
        An object that a notebook displays; ``save(path)`` writes a page of its own.

    Example:
        >>> from nlp104.figures import explore
        >>> explore.decoding().data["sentences"][0]["english"]
        'I wait for the bus.'
    """
    record = json.loads(results.read(RECORD))
    if tuple(record["columns"]) != COLUMNS:
        raise ValueError(f"Expected a record of {COLUMNS}. Received: {record['columns']}.")
    data = record | {
        "lead": texts.LEAD,
        "captions": texts.CAPTIONS,
        "verdicts": texts.VERDICTS,
        "beams": BEAMS,
        "alphas": ALPHAS,
        "cuts": [
            "all" if cut == {"top_p": 1.0} else f"{texts.CUTS[name]} {value}"
            for cut in record["cuts"]
            for name, value in cut.items()
        ],
    }
    found = [search_record(record, 0, num_beams)[0] for num_beams in BEAMS]
    lines = [
        (k, text(record, tokens), score) for k, (tokens, score) in zip(BEAMS, found, strict=True)
    ]
    alt = f"{record['sentences'][0]['english']} " + " ".join(
        f"With {k} beam{'s' * (k > 1)}: {french} log P = {score:.2f}." for k, french, score in lines
    )
    return Explorable("decoding", texts.TITLE, data, _still(record, lines), alt)


def search_record(record, sentence, num_beams, alpha=0.0):
    """Beam search on what was recorded, as `nlp104.decoding.beam_search` on the model.

    Args:
        record: what `decoding` reads.
        sentence: its number.
        num_beams: how many beginnings are kept, k.
        alpha: exponent of the length penalty.

    Returns:
        All that ended, tokens as numbers in ``record["words"]`` and score, best first.
    """
    beginnings, tops = [], {}
    for before, word, *_, top in (node[:5] for node in record["sentences"][sentence]["nodes"]):
        beginnings.append((*beginnings[before], word) if beginnings else ())
        tops[beginnings[-1]] = [(t, log / 1000) for t, log in zip(top[::2], top[1::2], strict=True)]

    def after(prefixes):
        return [tops[prefix] for prefix in prefixes]

    return beams(after, end_of(record), record["limit"], num_beams, alpha)


def beams(after, end, limit, num_beams, alpha):
    """Beam search as `nlp104.decoding.beam_search`, wherever the log-probabilities come from.

    Args:
        after: a function from beginnings, tuples of tokens, to what may follow each: pairs of a
            token and its log-probability.
        end: the token that ends a translation.
        limit: how many tokens it may have.
        num_beams: how many beginnings are kept, k.
        alpha: exponent of the length penalty.

    Returns:
        All that ended, tokens and score, best first.
    """

    def score(total, length):
        return total / ((5 + length) / 6) ** alpha

    beam, ended = [((), 0.0)], []
    for length in range(1, limit + 1):
        following = after([tokens for tokens, _ in beam])
        found = [
            ((*tokens, token), total + log)
            for (tokens, total), pairs in zip(beam, following, strict=True)
            for token, log in pairs
        ]
        found = sorted(found, key=lambda each: -each[1])[:num_beams]
        ended += [(tokens, score(total, length)) for tokens, total in found if tokens[-1] == end]
        ended.sort(key=lambda each: -each[1])
        beam = [each for each in found if each[0][-1] != end]
        if not beam or (ended and score(beam[0][1], limit) <= ended[0][1]):
            break
    return ended


def end_of(record):
    """The number of [END]."""
    return record["words"].index("[END]")


def text(record, tokens):
    """Tokens as a sentence."""
    words = [record["words"][token] for token in tokens if token != end_of(record)]
    return "".join(words).replace("▁", " ").strip()


def _still(record, lines):
    """The first words with their probabilities, and what one, two and four beams find."""
    drawing, sentence = Drawing(360), record["sentences"][0]
    drawing.text(0, 10, sentence["english"], strong=True)
    drawing.text(360, 10, "first word: probability, log", size=12, muted=True, anchor="end")
    top = sentence["nodes"][0][4]
    for row, (word, log) in enumerate(zip(top[::2], top[1::2], strict=True)):
        y, p = 26 + 24 * row, math.exp(log / 1000)
        drawing.tokens(0, y, [shown(record["words"][word].strip("▁"))], width=84, height=24)
        bar = {"x": 92, "y": y + 6, "height": 12, "rx": 2, "class_": "f-r"}
        drawing.add("rect", width=170, fill_opacity=0.12, **bar)
        drawing.add("rect", width=170 * p, fill_opacity=0.9, **bar)
        share = f"{100 * p:.0f} %" if p >= 0.01 else "< 1 %"
        drawing.text(308, y + 12, share, size=12, anchor="end")
        drawing.text(360, y + 12, _written(log / 1000), size=12, anchor="end")
    y = 26 + 24 * len(top[::2]) + 20
    for row, (beams, french, score) in enumerate(lines):
        drawing.text(0, y + 24 * row, f"k = {beams}", size=12, muted=True)
        drawing.text(48, y + 24 * row, french, strong=beams == BEAMS[-1])
        drawing.text(360, y + 24 * row, f"log P = {_written(score)}", size=12, anchor="end")
    return drawing.svg(y + 24 * len(lines))


def _written(x):
    """A negative number as scripts write it, who round a half away from 0."""
    return f"{x - 1e-9:.2f}".replace("-", "−")

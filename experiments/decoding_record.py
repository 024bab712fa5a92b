"""What a trained translator says at every fork: all that searches and draws can reach.

    python -m experiments.decoding_record

asks the released model and writes ``results/decoding/eng-fra.json``, in about a minute;
`nlp104.figures.explore.decoding` plays with it.
"""

import argparse
import json
import sys

import numpy as np
from keras import ops

from nlp104.data.tokenizer import END_ID, PAD_ID, START_ID
from nlp104.decoding import sample
from nlp104.decoding.sampling import draws_of
from nlp104.figures.explore.decoding import ALPHAS, BEAMS, COLUMNS, beams
from nlp104.figures.explore.numbers import short
from nlp104.figures.results import FOLDER
from nlp104.translation.pretrained import load_pretrained
from nlp104.utils.files import replacing

PATH = FOLDER / "decoding" / "eng-fra.json"
MODEL = "eng-fra"
SENTENCES = ("I wait for the bus.", "Please help me.")
LIMIT = 9  # tokens of a translation, [END] included
TOP = 6  # words of each distribution that are recorded
TEMPERATURES = (0.3, 1.0, 1.5)
CUTS = ({"top_p": 1.0}, {"top_k": 5}, {"top_p": 0.9})  # the first cuts nothing, but sorts
SEEDS = (1, 2, 3)


def record(translator, sentences=SENTENCES):
    """What a model says in all states that a reader can bring about.

    A node is a beginning. Its row is ``COLUMNS``: the node that it continues; its last token, a
    number in ``words``; that token's log-probability; the logarithm that makes logits of
    log-probabilities; the likeliest next tokens, each with its log-probability; what it looks at
    in per cent, the mean of the last cross-attention's heads; twelve numbers of the decoder's last
    vector, then four of the token's key and four of its value in the last layer, as digits from 0
    (lowest) to 9; and for each temperature T, if something is drawn there, the logarithm of the sum
    of all p^(1/T), and of the smallest set of tokens that together reach 0.9 the size and the sum.
    Logarithms and sums are in thousandths.
    """
    words = {}
    found = [Beginnings(translator, sentence) for sentence in sentences]
    return {
        "model": MODEL,
        "limit": LIMIT,
        "width": translator.model.config.hidden_dim,
        "vocabulary": translator.model.vocabulary_size,
        "temperatures": TEMPERATURES,
        "cuts": CUTS,
        "seeds": SEEDS,
        "dice": [short(draws_of(0, seed, LIMIT), 4) for seed in SEEDS],
        "columns": COLUMNS,
        "sentences": [each.record(words) for each in found],
        "words": list(words),
    }


class Beginnings:
    """The beginnings of a translation that have been asked about, and what the model said.

    Args:
        translator: `nlp104.translation.Translator`.
        sentence: The source.
    """

    def __init__(self, translator, sentence):
        self.model, self.sentence = translator.model, sentence
        self.tokenizer, source = translator.target_tokenizer, translator.source_tokenizer
        self.ids = np.array([[*source.encode(sentence), END_ID]])
        self.source = [source.id_to_token(i) for i in self.ids[0]]
        self.memory = self.model.encode(self.ids, training=False)
        self.said = {}

    def ask(self, prefixes):
        """Log-probabilities `[prefixes, vocabulary]`."""
        new = [prefix for prefix in dict.fromkeys(prefixes) if prefix not in self.said]
        if new:
            rows = np.array([[START_ID, *p, *[PAD_ID] * (LIMIT - len(p))] for p in new])
            memory = ops.repeat(self.memory, len(new), axis=0)
            logits = ops.convert_to_numpy(self.model.decode(rows, memory, training=False))
            for prefix, row in zip(new, logits, strict=True):
                self.said[prefix] = row[len(prefix)].astype("float64")
        return np.array([log_softmax(self.said[prefix]) for prefix in prefixes])

    def write(self, prefix):
        """Goes on greedily."""
        while len(prefix) < LIMIT and END_ID not in prefix:
            prefix = (*prefix, int(self.ask([prefix])[0].argmax()))

    def follow(self, num_beams, alpha):
        """Asks about every beginning that beam search keeps."""

        def after(prefixes):
            rows = self.ask(prefixes)
            return [[(int(t), row[t]) for t in np.argsort(-row)[:num_beams]] for row in rows]

        beams(after, END_ID, LIMIT, num_beams, alpha)

    def draw(self):
        """Draws as often as a reader can; gives the tokens, `[temperature][cut][seed]`."""
        drawn = []
        for temperature in TEMPERATURES:
            drawn.append([])
            for cut in CUTS:
                options = {"temperature": temperature, **cut, "max_length": LIMIT}
                rows = [sample(self.model, self.ids, seed=s, **options)[0] for s in SEEDS]
                rows = [tuple(int(token) for token in row if token) for row in rows]
                self.ask([row[:n] for row in rows for n in range(len(row))])
                drawn[-1].append(rows)
        return drawn

    def record(self, words):
        """Asks everything; the answers, with tokens as places in `words`, which grows."""
        for token in np.argsort(-self.ask([()])[0])[:TOP].tolist():
            self.write((token,))
        for num_beams in BEAMS:
            for alpha in ALPHAS:
                self.follow(num_beams, alpha)
        searched = set(self.said)
        drawn = self.draw()
        hot = [{row[:n] for rows in c for row in rows for n in range(len(row))} for c in drawn]
        assert all(prefix[:-1] in self.said for prefix in self.said if prefix)
        prefixes = sorted(self.said, key=lambda prefix: (len(prefix), prefix not in searched))
        numbers = {prefix: number for number, prefix in enumerate(prefixes)}
        looks, states = self.inside(prefixes)

        def word(token):
            return words.setdefault(self.tokenizer.id_to_token(token), len(words))

        nodes = []
        for prefix, look, state in zip(prefixes, looks, states, strict=True):
            logits, [logs] = self.said[prefix], self.ask([prefix])
            top = np.argsort(-logs)[:TOP]
            before = self.ask([prefix[:-1]])[0][prefix[-1]] if prefix else 0.0
            nodes.append(
                [
                    numbers[prefix[:-1]] if prefix else -1,
                    word(prefix[-1] if prefix else START_ID),
                    _thousandths(before),
                    _thousandths(logits[top[0]] - logs[top[0]]),
                    [x for token in top for x in (word(token), _thousandths(logs[token]))],
                    short(100 * look, 0),
                    state,
                    [
                        _heat(logs, T) if prefix in h else 0
                        for h, T in zip(hot, TEMPERATURES, strict=True)
                    ],
                ]
            )
        return {
            "english": self.sentence,
            "source": self.source,
            "nodes": nodes,
            "draws": [[[list(map(word, row)) for row in rows] for rows in c] for c in drawn],
        }

    def inside(self, prefixes):
        """What each node looks at, `[nodes, source]`; and its numbers, a string of digits each."""
        rows = np.array([[START_ID, *p, *[PAD_ID] * (LIMIT - len(p))] for p in prefixes])
        last = np.array([len(prefix) for prefix in prefixes]), np.arange(len(prefixes))
        memory = ops.repeat(self.memory, len(rows), axis=0)
        inputs = {"encoder_token_ids": np.repeat(self.ids, len(rows), axis=0)}
        scores = self.model.attention_scores(inputs | {"decoder_token_ids": rows})
        looks = ops.convert_to_numpy(scores["cross"][-1]).mean(axis=1)[last[::-1]]
        vectors = self.model.decoder(self.model.decoder_embedding(rows), memory, training=False)
        cache = self.model.start_cache(memory, LIMIT + 1)
        for step in range(LIMIT + 1):
            _, cache = self.model.decode_step(rows[:, step : step + 1], step, cache)
        kept = [ops.convert_to_numpy(x)[:, 0, :, 0] for x in (cache[-1].keys, cache[-1].values)]
        parts = [ops.convert_to_numpy(vectors), *kept]
        parts = [part[last[::-1]][:, :count] for part, count in zip(parts, (12, 4, 4), strict=True)]
        return looks, ["".join(row) for row in zip(*map(_digits, parts), strict=True)]


def log_softmax(logits):
    """Log-probabilities of the last axis."""
    logits = logits - logits.max(axis=-1, keepdims=True)
    return logits - np.log(np.exp(logits).sum(axis=-1, keepdims=True))


def _heat(logs, temperature):
    """Of one temperature: log sum p^(1/T); how many tokens reach 0.9 together, and their sum."""
    logs = np.delete(logs, PAD_ID)  # is never drawn
    total = np.log(np.exp(logs / temperature).sum())
    sums = np.cumsum(np.sort(np.exp(logs / temperature - total))[::-1])
    count = int((sums < 0.9).sum()) + 1
    return [_thousandths(total), count, _thousandths(sums[count - 1])]


def _digits(part):
    """Rows of numbers as rows of digits, one scale for all."""
    most = np.abs(part).max()
    return ["".join(map(str, row)) for row in np.rint(4.5 + 4.5 * part / most).astype(int).tolist()]


def _thousandths(x):
    return round(1000 * float(x))


def main(arguments=None):
    name = "python -m experiments.decoding_record"
    argparse.ArgumentParser(prog=name, description=__doc__).parse_args(arguments)
    found = record(load_pretrained(MODEL))
    PATH.parent.mkdir(exist_ok=True)
    with replacing(PATH) as temporary:
        text = json.dumps(found, ensure_ascii=False, separators=(",", ":"))
        temporary.write_text(text.replace("],[", "],\n[") + "\n", encoding="utf-8")
    print(f"written to {PATH}: {PATH.stat().st_size:,} bytes")


if __name__ == "__main__":
    sys.exit(main())

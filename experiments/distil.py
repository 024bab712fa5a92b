"""Translate the training part with a trained model, and keep what comes near to a person's words.

    python -m experiments.distil NAME written.tsv --data fra.txt
    python -m experiments.distil RUN written.tsv --data train --validation valid --test test.2016

People translate one sentence in many ways, and a small model that learns all of them hesitates
between them. So for each English sentence the model writes its four best translations, and that
with the highest sentence BLEU against the people's is kept, with that score: pairs that a model of
the same size can learn from as well (Kim & Rush, 2016, "Sequence-level knowledge distillation",
interpolated). `experiments.english_french` reads them with ``--written``; to ``nlp104 train`` they
are a file of pairs like any other. A stopped run goes on where it was.
"""

import argparse
import sys
from pathlib import Path

import numpy as np
from sacrebleu.metrics import BLEU

from experiments.runs import add_places, load_translator, settings_and_corpus
from nlp104.data.batches import pad_rows
from nlp104.data.corpus import load_corpus
from nlp104.data.tokenizer import END_ID
from nlp104.decoding.beam_search import NEVER, beam_search
from nlp104.translation.evaluation import join_subwords
from nlp104.translation.pretrained import names

SEED = 104  # of the split with which the released models were trained
BEAMS = 4
ROWS = 256  # sentences that are translated at a time
AT_A_TIME = 4096  # that are written to the file at a time


def candidates(translator, sources):
    """The best translations of each source, at most `BEAMS`, best first."""
    ids = translator.source_tokenizer.encode_batch(sources)
    order = np.argsort([len(row) for row in ids], kind="stable")
    found = [None] * len(sources)
    for first in range(0, len(order), ROWS):
        places = order[first : first + ROWS]
        rows = pad_rows([[*ids[i], END_ID] for i in places])
        written, scores = beam_search(translator.model, rows, BEAMS, num_best=BEAMS)
        for i, texts, points in zip(places, written, scores, strict=True):
            found[i] = [
                translator.target_tokenizer.decode(text)
                for text, point in zip(texts, points, strict=True)
                if point != NEVER
            ]
    return found


def nearest(texts, references, tokenized=False):
    """The text with the highest sentence BLEU against the references, and its score.

    `tokenized` is as of `nlp104.translation.bleu`.

    Example:
        >>> nearest(["Il dort.", "Elle dort bien."], ["Elle dort."])
        ('Elle dort bien.', 55.03...)
    """
    metric = BLEU(effective_order=True, tokenize="none" if tokenized else "13a")
    read = join_subwords if tokenized else str
    accepted = [read(reference) for reference in references]
    scores = [metric.sentence_score(read(text), accepted).score for text in texts]
    best = int(np.argmax(scores))
    return texts[best], scores[best]


def corpus_of(name, **places):
    """What a released model or that of a run learned from, and whether that is tokenised."""
    if name in names():
        return load_corpus(places["data"], seed=SEED), False
    settings, corpus = settings_and_corpus(name, **places)
    return corpus, settings["tokens"] == "whitespace"


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m experiments.distil", description=__doc__)
    parser.add_argument("name", help="a released model, or a run's directory")
    parser.add_argument("output", type=Path, help="the file of pairs to write")
    add_places(parser)
    options = vars(parser.parse_args(arguments))
    output = options.pop("output")
    translator, (corpus, tokenized) = load_translator(options["name"]), corpus_of(**options)
    pairs, done = corpus.references("train"), 0
    if output.exists():  # a killed run may have left half a line
        written = output.read_bytes()
        whole = written[: written.rfind(b"\n") + 1]
        output.write_bytes(whole)
        done = whole.count(b"\n")
    with output.open("a", encoding="utf-8") as file:
        for first in range(done, len(pairs), AT_A_TIME):
            sources, references = zip(*pairs[first : first + AT_A_TIME], strict=True)
            found = candidates(translator, sources)
            for source, texts, accepted in zip(sources, found, references, strict=True):
                text, score = nearest(texts, accepted, tokenized)
                file.write(f"{source}\t{text}\t{score:.1f}\n")
            file.flush()
            print(f"{first + len(found):,} of {len(pairs):,}", flush=True)


if __name__ == "__main__":
    sys.exit(main())

"""Score a model that comes with the package on the test part of its corpus.

    python -m experiments.score NAME --data fra.txt

writes ``results/NAME/scores.json``: sacreBLEU and exact match, greedy and with four beams, BLEU by
the length of the source, the same for sentences as people type them, in lower case and without the
full stop, and some translations, drawn by lot. A source with several translations in the test part
counts once, and each of them is right.
"""

import argparse
import sys

import numpy as np

from experiments import records
from experiments.english_french import BOTH, as_typed
from nlp104.data.corpus import load_corpus
from nlp104.translation.evaluation import bleu, exact_match
from nlp104.translation.pretrained import load_pretrained

SHOWN = 40
LENGTHS = ((1, 4), (5, 6), (7, 9), (10, 14), (15, 99))  # words


def scores(name, data, seed):
    """Translate the test part and count.

    Args:
        name: As of `nlp104.load_pretrained`.
        data: As of `nlp104.data.corpus.load_corpus`.
        seed: That of the split with which the model was trained.

    Returns:
        A dictionary that JSON can hold.
    """
    pairs = load_corpus(data, seed=seed).references("test")
    sources, references = zip(*pairs, strict=True)
    translator = load_pretrained(name)
    shown = np.random.default_rng(seed).permutation(len(pairs))[:SHOWN].tolist()
    found = {
        "sentences": len(pairs),
        "sources": [sources[i] for i in shown],
        "references": [references[i] for i in shown],
    }
    typed = [as_typed(source, BOTH) for source in sources]
    for search, num_beams in (("greedy", 1), ("beam 4", 4)):
        hypotheses = translator.translate(sources, batch_size=64, num_beams=num_beams)
        of_typed = translator.translate(typed, batch_size=64, num_beams=num_beams)
        total = bleu(hypotheses, references)
        by_length = {}
        for first, last in LENGTHS:
            of_length = [i for i, s in enumerate(sources) if first <= len(s.split()) <= last]
            if not of_length:
                continue
            score = bleu([hypotheses[i] for i in of_length], [references[i] for i in of_length])
            by_length[f"{first}-{last}"] = {"sentences": len(of_length), "bleu": score.score}
        found[search] = {
            "bleu": total.score,
            "signature": total.signature,
            "exact_match": exact_match(hypotheses, references),
            "by_length": by_length,
            "as_typed": {
                "bleu": bleu(of_typed, references).score,
                "exact_match": exact_match(of_typed, references),
                "translations": [of_typed[i] for i in shown],
            },
            "translations": [hypotheses[i] for i in shown],
        }
    return found


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m experiments.score", description=__doc__)
    parser.add_argument("name", help="what nlp104.load_pretrained calls it")
    parser.add_argument("--data", required=True, help="the file that it was trained on")
    parser.add_argument("--seed", type=int, default=104, help="of the split")
    options = parser.parse_args(arguments)
    path = records.RESULTS / options.name / "scores.json"
    records.write(path, scores(**vars(options)))
    print(f"written to {path}")


if __name__ == "__main__":
    sys.exit(main())

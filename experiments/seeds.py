"""One training with several seeds: how far apart do they end?

    python -m experiments.seeds NAME RUN [RUN …] --data train --validation valid --test test.2016

writes ``results/NAME/seeds.json``. Which search translates the test part is chosen for each run by
one rule, which was written here before the second run had ended: of `SEARCHES` that with the
highest BLEU on the validation part; of equals the first. Around each BLEU of the test part stands
sacreBLEU's bootstrap interval: 95 % of a thousand draws of as many sentences lie within.
"""

import argparse
import sys
from pathlib import Path

import numpy as np

from experiments import records
from experiments.runs import add_places, settings_and_corpus
from nlp104.translation.evaluation import corpus_score, score
from nlp104.translation.translator import Translator

SEARCHES = {
    "greedy": {"num_beams": 1},
    "beam 5, penalty 0.6": {"num_beams": 5, "length_penalty": 0.6},
    "beam 5, penalty 1.0": {"num_beams": 5, "length_penalty": 1.0},
    "beam 5, penalty 1.5": {"num_beams": 5, "length_penalty": 1.5},
}
DRAWS = 1000


def half_interval(hypotheses, references, tokenized):
    """Half the width of the interval that holds 95 % of the BLEU of `DRAWS` draws of sentences.

    `references` has for each sentence all that are accepted, as `nlp104.translation.bleu` takes.
    """
    _, drawn = corpus_score(hypotheses, references, tokenized, n_bootstrap=DRAWS)
    return drawn._ci  # which has no public name but a place in the text of the score


def of_run(run, **places):
    """What one run has by the rule.

    Args:
        run: Directory that `nlp104 train` made.
        **places: `data`, `validation` and `test`, as of `nlp104 train`.

    Returns:
        ``{"seed", "validation": {search: BLEU}, "chosen", "bleu", "half_interval", "exact_match",
        "signature"}``; the last four are of the test part.
    """
    settings, corpus = settings_and_corpus(run, **places)
    translator = Translator.load(run)
    tokenized = settings["tokens"] == "whitespace"

    def scored(pairs, search):
        return score(translator, pairs, tokenized, **SEARCHES[search])

    held_out, pairs = corpus.references("validation"), corpus.references("test")
    validation = {search: scored(held_out, search)[1].score for search in SEARCHES}
    chosen = max(SEARCHES, key=validation.get)
    hypotheses, bleu, exact = scored(pairs, chosen)
    return {
        "seed": settings["seed"],
        "validation": validation,
        "chosen": chosen,
        "bleu": bleu.score,
        "half_interval": half_interval(hypotheses, [accepted for _, accepted in pairs], tokenized),
        "exact_match": exact,
        "signature": bleu.signature,
    }


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m experiments.seeds", description=__doc__)
    parser.add_argument("name", help="folder of results")
    parser.add_argument("runs", nargs="+", type=Path, help="directories that nlp104 train made")
    add_places(parser)
    options = vars(parser.parse_args(arguments))
    path, directories = records.RESULTS / options.pop("name") / "seeds.json", options.pop("runs")
    runs = records.runs_so_far(path)
    for directory in directories:
        found = of_run(directory, **options)
        runs[f"seed {found['seed']}"] = found
        mean = float(np.mean([run["bleu"] for run in runs.values()]))
        records.write(path, {"runs": runs, "mean": mean})
        print(f"seed {found['seed']}: {found['bleu']:.2f} ± {found['half_interval']:.2f}")
    print(f"mean {mean:.2f}, written to {path}")


if __name__ == "__main__":
    sys.exit(main())

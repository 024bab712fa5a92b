"""Does a model listen to its source? What its loss curve does not tell.

    python -m experiments.listening RUN --data train --validation valid --test test.2016

writes ``RUN/listening.json``: the loss and the share of right tokens on some validation sentences
with their own sources and with the sources of others, and how widely every head looks. A decoder
that is a good language model has a low loss without any source; and a head whose entropy is that of
equal weights looks at everything, which is to say at nothing.
"""

import argparse
import sys
from pathlib import Path

import numpy as np
from keras import ops

from experiments import records
from experiments.runs import add_places, settings_and_corpus
from nlp104.data.batches import Batches
from nlp104.training.optimizer import compile_model
from nlp104.translation.translator import Translator

COUNT = 64


def listening(run, **places):
    """Examine the model of a run.

    Args:
        run: Directory that `nlp104 train` made.
        **places: `data`, `validation` and `test`, as of `nlp104 train`.

    Returns:
        ``{"sentences", "own source": {"loss", "accuracy"}, "other source": {…}, "entropy": {kind:
        [[of every head] of every layer]}, "entropy of equal weights": {kind: number}}`` with the
        kinds of `nlp104.Transformer.attention_scores`, in nats.
    """
    pairs = settings_and_corpus(run, **places)[1].validation
    drawn = np.random.default_rng(0).permutation(len(pairs))[:COUNT]
    translator = Translator.load(run)
    tokenizers = translator.source_tokenizer, translator.target_tokenizer
    sides = zip(*(pairs[i] for i in drawn), strict=True)
    ids = [t.encode_batch(side) for t, side in zip(tokenizers, sides, strict=True)]
    # Sorted by length, so that the next sentence's source is about as long as one's own.
    inputs, labels = Batches(*ids, batch_size=COUNT, bucket_width=1, shuffle=False)[0]
    source = inputs["encoder_token_ids"]
    compile_model(translator.model, 0.0, label_smoothing=0.0)  # only to be evaluated
    others = inputs | {"encoder_token_ids": np.roll(source, 1, axis=0)}
    return {
        "sentences": len(labels),
        "own source": _prediction(translator.model, inputs, labels),
        "other source": _prediction(translator.model, others, labels),
        **_entropies(translator.model, inputs),
    }


def _prediction(model, inputs, labels):
    return model.evaluate(inputs, labels, batch_size=len(labels), verbose=0, return_dict=True)


def _entropies(model, inputs):
    """Means over the positions that hold a token."""
    source, target = (inputs[name] != 0 for name in ("encoder_token_ids", "decoder_token_ids"))
    seen = {  # who asks, and how many each of them can see
        "encoder": (source, source.sum(1, keepdims=True)),
        "decoder": (target, np.arange(1, target.shape[1] + 1)[None]),
        "cross": (target, source.sum(1, keepdims=True)),
    }
    found, equal = {}, {}
    for kind, layers in model.attention_scores(inputs).items():
        asking, numbers = seen[kind]
        weights = np.stack([ops.convert_to_numpy(layer) for layer in layers], axis=1)
        entropy = -(weights * np.log(np.maximum(weights, 1e-30))).sum(-1)  # [batch, layer, head, …]
        found[kind] = np.moveaxis(entropy, (1, 2), (-2, -1))[asking].mean(0).tolist()
        equal[kind] = float(np.broadcast_to(np.log(numbers), asking.shape)[asking].mean())
    return {"entropy": found, "entropy of equal weights": equal}


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m experiments.listening", description=__doc__)
    parser.add_argument("run", type=Path, help="directory that nlp104 train made")
    add_places(parser)
    options = parser.parse_args(arguments)
    path = options.run / "listening.json"
    records.write(path, listening(**vars(options)))
    print(f"written to {path}")


if __name__ == "__main__":
    sys.exit(main())

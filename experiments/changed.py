"""What did each change since 2017 buy, at a small size? And what does LoRA learn with how little?

    python -m experiments.changed [--parts blocks lora]

*blocks* trains the paper's block as a small language model on the book's text, then the same with
one change at a time, then with those of today together, with three seeds each, and writes
``results/changed/blocks.json``. *lora* teaches the translator of the grammar that comes with the
package to speak as in the street, without *ne*, with updates of several ranks and with all of its
weights, and writes ``results/changed/lora.json``. A run that was stopped goes on where it was. The
chapter *What changed since 2017* draws the files.
"""

import argparse
import functools
import re
import sys
import time

import keras
import numpy as np

from experiments import records
from experiments.language_model import LENGTH, ROWS, book, loss_on, split, train_on
from nlp104.data.batches import Batches
from nlp104.data.corpus import load_corpus
from nlp104.training.optimizer import compile_model
from nlp104.training.run_record import software_versions
from nlp104.training.schedule import WarmupSchedule
from nlp104.transformer.config import TransformerConfig
from nlp104.transformer.language_model import LanguageModel
from nlp104.translation.evaluation import exact_match
from nlp104.translation.pretrained import load_pretrained

RESULTS = records.RESULTS / "changed"
SEEDS = (1, 2, 3)
STEPS, PEAK = 250, 5e-3
PAPER = {
    "hidden_dim": 64,
    "intermediate_dim": 192,
    "num_heads": 4,
    "num_layers": 2,
    "dropout": 0.0,
    "max_sequence_length": 256,
}
SWIGLU = {"gated": True, "activation": "silu", "intermediate_dim": 128}  # 2/3 of the width
TODAY = {
    "normalize_first": True,
    "normalization": "rms",
    **SWIGLU,
    "positions": "rotary",
    "num_key_value_heads": 2,
}
BLOCKS = {
    "2017": {},
    "pre-norm": {"normalize_first": True},
    "RMSNorm": {"normalization": "rms"},
    "GELU": {"activation": "gelu"},
    "SwiGLU": SWIGLU,
    "learned positions": {"positions": "learned"},
    "rotary positions": {"positions": "rotary"},
    "grouped queries": {"num_key_value_heads": 2},
    "window of 32": {"attention_window": 32},
    "tied embeddings": {"tie_embeddings": True},
    "today, tied": {**TODAY, "tie_embeddings": True},
    "today": TODAY,
}
LORA_STEPS, BATCH = 120, 32
# Of 5e-3 and 2e-2 the better one for ranks 1 and 16, of 2.5e-4 and 1e-3 that for all weights, with
# another seed.
LORA_RATES = {"rank 1": 2e-2, "rank 4": 1e-2, "rank 16": 5e-3, "all weights": 2.5e-4}
T = 4.303  # of Student's t with two degrees of freedom, 95 %


def config(name, vocabulary_size):
    """The configuration of a variant."""
    return TransformerConfig(**{**PAPER, **BLOCKS[name]}, vocabulary_size=vocabulary_size)


def cache_bytes(config):
    """What the cache keeps for each token, in float32: keys and values of all layers."""
    heads = config.num_key_value_heads or config.num_heads
    return 2 * config.num_layers * heads * config.key_dim * 4


def train_block(name, seed):
    """Trains a variant: its loss on new text, its weights, the CPU time of its training."""
    train, validation, vocabulary_size = split(book())
    keras.utils.set_random_seed(seed)
    model = LanguageModel(config(name, vocabulary_size))
    seconds = train_on(model, train, STEPS, seed, PEAK)
    return loss_on(model, validation), model.count_params(), seconds


def blocks():
    """The losses of all variants, a seed at a time."""
    path = RESULTS / "blocks.json"
    runs = records.runs_so_far(path)
    record = {
        "command": "python -m experiments.changed --parts blocks",
        "seeds": SEEDS,
        "steps": STEPS,
        "rows": ROWS,
        "length": LENGTH,
        "learning_rate": PEAK,
        "versions": software_versions(keras.backend.backend()),
        "runs": runs,
    }
    for seed in SEEDS:
        for name in BLOCKS:
            kept = {"weights": 0, "cache bytes": cache_bytes(config(name, 9))}
            run = runs.setdefault(name, {**kept, "losses": [], "CPU seconds": []})
            if len(run["losses"]) > SEEDS.index(seed):
                continue
            loss, run["weights"], seconds = train_block(name, seed)
            run["losses"].append(round(loss, 4))
            run["CPU seconds"].append(round(seconds, 1))
            print(f"{name}, seed {seed}: {run['losses'][-1]}", flush=True)
            records.write(path, record)
    return runs


def differences(runs, name):
    """A variant's loss minus that of *2017* with the same seed: the mean, half of its interval.

    The interval is that of Student's t for the mean of the paired differences, 95 %.
    """
    found = np.subtract(runs[name]["losses"], runs["2017"]["losses"])
    return found.mean(), T * found.std(ddof=1) / np.sqrt(len(found))


def blocks_table(runs):
    """The runs as a table in Markdown."""
    columns = ("block", "weights", "cache, bytes a token", "loss, nats a character")
    lines = [f"| {' | '.join(columns)} | against 2017 | CPU s |", "|---|---|---|---|---|---|"]
    for name, run in runs.items():
        mean, half = differences(runs, name)
        against = "" if name == "2017" else f"{mean:+.3f} ± {half:.3f}"
        loss, seconds = np.mean(run["losses"]), np.mean(run["CPU seconds"])
        lines.append(
            f"| {name} | {run['weights']:,} | {run['cache bytes']:,} | {loss:.3f} | {against} "
            f"| {seconds:.0f} |"
        )
    return "\n".join(lines)


def spoken(text):
    """French as it is spoken: without *ne*, and *je* elided before what then follows it."""
    text = re.sub(r"\b([Jj])e n'", r"\1'", text)
    return re.sub(r"\bne |\bn'", "", text)


@functools.cache
def street():
    """Pairs whose French is spoken, to learn from and to be asked, and how they were written."""
    corpus = load_corpus("grammar", sizes=(4000, 10, 500))
    train = [(source, spoken(target)) for source, target in corpus.train]
    return train, corpus.references("test")


def batches(translator, pairs, seed):
    """Batches of a list of pairs."""
    sides = zip(*pairs, strict=True)
    tokenizers = (translator.source_tokenizer, translator.target_tokenizer)
    ids = [[t.encode(text) for text in side] for t, side in zip(tokenizers, sides, strict=True)]
    return Batches(*ids, batch_size=BATCH, bucket_width=1, seed=seed)


def tune(translator, method, seed, steps=LORA_STEPS, rate=None):
    """Fine-tunes a translator to spoken French; returns the CPU time."""
    keras.utils.set_random_seed(seed)
    model = translator.model
    if method.startswith("rank"):
        model.enable_lora(int(method.split()[1]))
    schedule = WarmupSchedule(rate or LORA_RATES[method], steps // 10, total_steps=steps)
    compile_model(model, schedule)
    train, _ = street()
    begun = time.process_time()
    model.fit(batches(translator, train[: steps * BATCH], seed), verbose=0)
    return time.process_time() - begun


def asked(translator):
    """Shares of right answers in spoken French: where it differs from written, and elsewhere."""
    _, references = street()
    new = [any(spoken(t) != t for t in targets) for _, targets in references]
    said = translator.translate([source for source, _ in references], batch_size=250)
    right = [
        exact_match([answer], [tuple(map(spoken, targets))]) == 1
        for answer, (_, targets) in zip(said, references, strict=True)
    ]
    return {"without ne": np.mean(right, where=new), "others": np.mean(right, where=~np.array(new))}


def lora():
    """What each way of tuning has learned."""
    path = RESULTS / "lora.json"
    runs = records.runs_so_far(path)
    record = {
        "command": "python -m experiments.changed --parts lora",
        "seeds": SEEDS,
        "steps": LORA_STEPS,
        "batch": BATCH,
        "learning_rates": LORA_RATES,
        "versions": software_versions(keras.backend.backend()),
        "runs": runs,
    }
    for seed in SEEDS:
        for name in ("as it was", *LORA_RATES):
            run = runs.setdefault(name, {"trained": 0, "without ne": [], "others": []})
            if len(run["others"]) > (0 if name == "as it was" else SEEDS.index(seed)):
                continue
            translator = load_pretrained("grammar")
            if name != "as it was":
                run.setdefault("CPU seconds", []).append(round(tune(translator, name, seed), 1))
                weights = translator.model.trainable_weights
                run["trained"] = sum(int(np.prod(weight.shape)) for weight in weights)
            for part, share in asked(translator).items():
                run[part].append(round(float(share), 4))
            print(f"{name}, seed {seed}: {run}", flush=True)
            records.write(path, record)
    return runs


def lora_table(runs):
    """The runs as a table in Markdown: means over the seeds, lowest and highest."""

    def shares(values):
        if len(set(values)) == 1:
            return f"{100 * values[0]:.1f}"
        return records.spread(values, 1, 100)

    lines = ["| what learns | weights | without *ne*, % right | others, % right |"]
    lines.append("|---|---|---|---|")
    for name, run in runs.items():
        parts = " | ".join(shares(run[part]) for part in ("without ne", "others"))
        lines.append(f"| {name} | {run['trained']:,} | {parts} |")
    return "\n".join(lines)


PARTS = {"blocks": (blocks, blocks_table), "lora": (lora, lora_table)}


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m experiments.changed", description=__doc__)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    for part in parser.parse_args(arguments).parts:
        train, table = PARTS[part]
        print(table(train()))


if __name__ == "__main__":
    sys.exit(main())

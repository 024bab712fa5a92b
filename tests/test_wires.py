"""Each variant of `experiments.wires` lacks its wire and no other."""

import json

import numpy as np
import pytest
from keras import ops

from experiments import wires
from nlp104.figures import results
from nlp104.transformer import block
from nlp104.transformer.residual import Residual

SMALL = {"num_layers": 2, "hidden_dim": 8, "intermediate_dim": 16, "num_heads": 2}
SOURCE, TARGET = np.array([[5, 6, 7, 8, 3]]), np.array([[2, 9, 8, 7]])
VARIANTS = tuple(wires.VARIANTS)


def logits(model, source=SOURCE, target=TARGET):
    inputs = {"encoder_token_ids": source, "decoder_token_ids": target}
    return ops.convert_to_numpy(model(inputs, training=False))


def differ(a, b):
    return not np.allclose(a, b, atol=1e-4)


def changed(ids, place):
    ids = ids.copy()
    ids[0, place] = 10
    return ids


def without_effect(model, part):
    """Whether other weights in all layers of one kind leave the logits as they are."""
    before = logits(model)
    for layer in (*model.encoder.blocks, *model.decoder.blocks):
        for name, piece in vars(layer).items():
            if name.endswith(part) and hasattr(piece, "weights"):
                for weight in piece.weights:
                    weight.assign(
                        weight + np.linspace(0, 1, np.prod(weight.shape)).reshape(weight.shape)
                    )
    return not differ(before, logits(model))


def no_more_than_ones(residual, x):
    """What comes out if the sub-layer says the same to everything."""
    return ops.convert_to_numpy(residual(x, sub_layer=lambda _: ops.ones((1, 2, 8))))


EXAMINATIONS = {
    "no positions": lambda m: (
        not differ(m.encode(SOURCE[:, ::-1]), ops.convert_to_numpy(m.encode(SOURCE))[:, ::-1])
    ),
    "no causal mask": lambda m: differ(
        logits(m)[:, :3], logits(m, target=changed(TARGET, 3))[:, :3]
    ),
    "no padding mask": lambda m: differ(logits(m), logits(m, np.pad(SOURCE, ((0, 0), (0, 3))))),
    "no cross-attention": lambda m: not differ(logits(m), logits(m, changed(SOURCE, 1))),
    "no feed-forward": lambda m: without_effect(m, "feed_forward"),
    "no normalisation": lambda m: without_effect(m, "residual"),
    "no skip connections": lambda m: (
        not differ(
            *(no_more_than_ones(m.encoder.blocks[0].attention_residual, x) for x in np.eye(2, 8))
        )
    ),
    "one head": lambda m: m.encoder.blocks[0].attention.num_heads == 1,
    "pre-norm": lambda m: m.config.normalize_first,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", VARIANTS)
def test_a_variant_fails_its_own_examination_and_no_other(name):
    model = wires.build(name, 12, 12, **SMALL)
    failed = [which for which, fails in EXAMINATIONS.items() if fails(model)]
    assert failed == [which for which in [name] if which != "full"]
    assert block.Residual is Residual  # the package is as it was


def test_right_words_in_any_order():
    said = ["Le chat noir dort.", "Dort. le noir chat", "Le chat dort."]
    accepted = [("Le chat noir dort.",)] * 3
    assert wires.right_words(said, accepted) == pytest.approx(2 / 3)


def test_the_table_is_that_of_the_numbers():
    record = json.loads(results.read("wires/losses.json"))
    assert list(record["runs"]) == list(VARIANTS)
    assert wires.table(record) in results.read("wires/README.md")

"""`experiments.listening` tells a model that reads its source from one that does not."""

import json

import numpy as np
import pytest

from experiments.listening import COUNT, listening
from nlp104.data import grammar
from nlp104.data.corpus import load_corpus
from nlp104.training.run_record import write_record
from nlp104.training.settings import complete_settings
from nlp104.translation.pretrained import load_pretrained

SIZES = 200, 80, 10


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    """Files of the grammar, as paths for `nlp104 train`."""
    folder, corpus = tmp_path_factory.mktemp("pairs"), load_corpus("grammar", sizes=SIZES)
    found = {}
    for name, part in (("data", "train"), ("validation", "validation"), ("test", "test")):
        found[name] = str(folder / f"{part}.tsv")
        lines = ["\t".join(pair) for pair in getattr(corpus, part)]
        (folder / f"{part}.tsv").write_text("\n".join(lines), encoding="utf-8")
    return found


def examine(translator, tmp_path, places):
    translator.save(tmp_path / "run")
    write_record(tmp_path / "run", {"settings": complete_settings({"data": "pairs.tsv"})})
    found = listening(tmp_path / "run", **places)
    json.dumps(found)
    assert found["sentences"] == COUNT
    return found


@pytest.mark.slow
def test_a_trained_model_listens(tmp_path, places):
    found = examine(load_pretrained("grammar"), tmp_path, places)
    assert found["own source"]["accuracy"] > 0.9
    assert found["other source"]["accuracy"] < 0.7
    assert found["other source"]["loss"] > found["own source"]["loss"] + 2
    equal = found["entropy of equal weights"]
    for kind, layers in found["entropy"].items():
        assert all(0 <= entropy < equal[kind] for heads in layers for entropy in heads)


@pytest.mark.slow
def test_a_model_with_equal_weights_and_no_memory_is_found_out(tmp_path, places):
    """Queries of 0 look at everything alike; values of 0 bring nothing back from the source."""
    translator = load_pretrained("grammar")
    for weight in translator.model.weights:
        if "attention/query" in weight.path or "cross_attention/value" in weight.path:
            weight.assign(np.zeros(weight.shape))
    found = examine(translator, tmp_path, places)
    assert found["own source"] == pytest.approx(found["other source"], rel=1e-5)
    for kind, layers in found["entropy"].items():
        np.testing.assert_allclose(layers, found["entropy of equal weights"][kind], rtol=1e-5)


@pytest.mark.slow
def test_equal_weights_by_hand(tmp_path, places):
    """The entropy of n equal weights is log n: of as many as the source has tokens."""
    found = examine(load_pretrained("grammar"), tmp_path, places)
    drawn = np.random.default_rng(0).permutation(SIZES[1])[:COUNT]
    pairs = grammar.generate(SIZES[1], seed=104, split="validation")
    translator = load_pretrained("grammar")
    source, target = translator.source_tokenizer.encode, translator.target_tokenizer.encode
    lengths = [  # with [END]
        (len(source(pairs[i].source)) + 1, len(target(pairs[i].target)) + 1) for i in drawn
    ]
    equal = found["entropy of equal weights"]
    encoder = sum(n * np.log(n) for n, _ in lengths) / sum(n for n, _ in lengths)
    cross = sum(m * np.log(n) for n, m in lengths) / sum(m for _, m in lengths)
    decoder = sum(np.log(i) for _, m in lengths for i in range(1, m + 1))
    decoder /= sum(m for _, m in lengths)
    assert equal == pytest.approx({"encoder": encoder, "cross": cross, "decoder": decoder})

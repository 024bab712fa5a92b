"""A training step is traced once: a second trace costs seconds before the first step."""

import numpy as np
import pytest

from nlp104.data import Batches
from nlp104.training import compile_model
from nlp104.transformer import LanguageModel, Transformer

SIZES = {"vocabulary_size": 10, "num_layers": 1, "hidden_dim": 8, "num_heads": 2}


def translator():
    ids = np.random.default_rng(0).integers(4, 10, (8, 5)).tolist()
    return Transformer.from_preset("tiny", **SIZES), (Batches(ids, ids, batch_size=4),)


def language_model():
    ids = np.random.default_rng(0).integers(4, 10, (8, 6))
    return LanguageModel.from_preset("tiny", **SIZES), (ids[:, :-1], ids[:, 1:])


@pytest.mark.parametrize("make", [translator, language_model])
@pytest.mark.slow
def test_fit_traces_a_step_once(make, monkeypatch):
    model, data = make()
    compile_model(model, 1e-3)
    traces, step = [], model.train_step
    monkeypatch.setattr(model, "train_step", lambda *data: traces.append(1) or step(*data))
    model.fit(*data, batch_size=4, epochs=2, verbose=0)
    assert len(traces) == 1
    assert model.optimizer.iterations == 4


def test_what_is_unfrozen_before_it_is_compiled_anew_learns():
    model, data = language_model()
    kernel = model.weights[-1]
    kernel.trainable = False
    for learns in (False, True):
        kernel.trainable = learns
        compile_model(model, 1e-2)
        before = np.array(kernel)
        model.fit(*data, batch_size=4, verbose=0)
        assert (np.array(kernel) != before).any() == learns

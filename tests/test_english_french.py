"""A model that is widened says what it said before, and its new neurons can learn."""

from dataclasses import replace

import keras
import numpy as np
import pytest
from keras import ops

from experiments import english_french
from nlp104.training.loss import MaskedCrossentropy
from nlp104.transformer.model import Transformer
from nlp104.translation.pretrained import load_pretrained


@pytest.mark.slow
def test_a_wider_model_begins_with_the_same_function_and_learns():
    old = load_pretrained("grammar").model
    ids = np.array([[5, 9, 11, 3], [7, 3, 0, 0]])
    inputs = {"encoder_token_ids": ids, "decoder_token_ids": ids}
    width = old.config.intermediate_dim
    wide = Transformer(replace(old.config, intermediate_dim=3 * width))
    wide(inputs)
    english_french.widen(wide, old)
    expected, found = (ops.convert_to_numpy(model(inputs)) for model in (old, wide))
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)
    new_rows = [w[width:] for w in wide.weights if w.path.endswith("contract/kernel")]
    assert len(new_rows) == 2 * old.config.num_layers
    assert not any(np.any(ops.convert_to_numpy(rows)) for rows in new_rows)
    wide.compile(keras.optimizers.SGD(0.1), MaskedCrossentropy())  # traced far faster than Adam
    for _ in range(2):  # in the second step the first matrix has something to learn as well
        wide.train_on_batch(inputs, ids)
    for weight in wide.weights:
        if weight.path.endswith("contract/kernel"):
            assert np.all(np.any(ops.convert_to_numpy(weight)[width:] != 0, axis=0))


def test_a_narrower_model_cannot_start_from_a_wider(tmp_path, capsys):
    arguments = ["--data", "fra.txt", "--start", "grammar", "--intermediate-dim", "8"]
    with pytest.raises(SystemExit):
        english_french.main([str(tmp_path / "run"), *arguments])
    assert "Expected --intermediate-dim from" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()

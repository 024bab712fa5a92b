"""Small models with random weights, and sources for them: what the tests of decoding share."""

import numpy as np

from nlp104.data.tokenizer import END_ID, PAD_ID
from nlp104.transformer.config import TransformerConfig
from nlp104.transformer.model import Transformer

VOCABULARY = 13


def make_model(seed=0, vocabulary_size=VOCABULARY, num_layers=2, normalize_first=True, **options):
    """A model with random weights, so large that its translations differ and some of them end."""
    options = {"max_sequence_length": 70, "normalize_first": normalize_first, **options}
    config = TransformerConfig(
        16, 32, 2, num_layers=num_layers, vocabulary_size=vocabulary_size, **options
    )
    model = Transformer(config)
    randomize(model, seed)
    return model


def randomize(model, seed):
    """Gives a model other random weights, the same on every backend."""
    rng = np.random.default_rng(seed)
    head = model.output_head.weights
    for weight in (*head, *model.weights[: -len(head)]):
        is_matrix = len(weight.shape) > 1 and "bias" not in weight.name
        is_gain = weight.name in ("gamma", "scale")
        noise = rng.normal(0, 0.5 if is_matrix else 0.1, weight.shape)
        weight.assign(noise + 1.0 if is_gain else noise)


def random_sources(seed, batch, length, vocabulary_size=VOCABULARY):
    """Rows of random lengths, each ended and then padded."""
    rng = np.random.default_rng(seed)
    ids = rng.integers(4, vocabulary_size, (batch, length)).astype("int32")
    for row, real in enumerate(rng.integers(1, length + 1, batch)):
        ids[row, real - 1] = END_ID
        ids[row, real:] = PAD_ID
    return ids


def rows(ids):
    """Token ids without padding, after checking that padding stands at the end only."""
    result = []
    for row in np.asarray(ids).tolist():
        real = len(row) - row[::-1].index(next(i for i in row[::-1] if i)) if any(row) else 0
        assert 0 not in row[:real]
        result.append(row[:real])
    return result


def traced_shapes(monkeypatch):
    """A list that grows by the shape of the sources each time that a program is traced."""
    traces = []
    original = Transformer.encode

    def encode(self, encoder_token_ids, *args, **kwargs):
        traces.append(tuple(encoder_token_ids.shape))
        return original(self, encoder_token_ids, *args, **kwargs)

    monkeypatch.setattr(Transformer, "encode", encode)
    return traces

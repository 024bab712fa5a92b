"""Sizes of models: for each name, fields of `nlp104.transformer.TransformerConfig`."""

# "base" and "big" are the paper's (Vaswani et al., 2017, table 3); "series" has the sizes of the
# tutorial series that the book follows; "tiny" and "small" train on two CPU cores.
PRESETS = {
    "tiny": {"num_layers": 2, "hidden_dim": 128, "intermediate_dim": 512, "num_heads": 4},
    "small": {
        "num_layers": 3,
        "hidden_dim": 192,
        "intermediate_dim": 768,
        "num_heads": 6,
        "tie_embeddings": True,
    },
    "series": {"num_layers": 6, "hidden_dim": 512, "intermediate_dim": 2048, "num_heads": 8},
    "base": {
        "num_layers": 6,
        "hidden_dim": 512,
        "intermediate_dim": 2048,
        "num_heads": 8,
        "tie_embeddings": True,
    },
    "big": {
        "num_layers": 6,
        "hidden_dim": 1024,
        "intermediate_dim": 4096,
        "num_heads": 16,
        "dropout": 0.3,
        "tie_embeddings": True,
    },
}


def preset(name, **overrides):
    """The sizes of a preset, and what is given instead or besides.

    Args:
        name: a key of `PRESETS`.
        **overrides: fields of `TransformerConfig`, and other arguments of a model.

    Raises:
        ValueError: if there is no such preset.

    Example:
        >>> from nlp104.transformer.presets import preset
        >>> preset("tiny", num_layers=1, positions="rotary")["num_layers"]
        1
    """
    if name not in PRESETS:
        raise ValueError(f"A preset is one of {', '.join(PRESETS)}. Received: {name!r}.")
    return {**PRESETS[name], **overrides}

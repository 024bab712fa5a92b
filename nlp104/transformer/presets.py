"""Sizes of models: arguments of `nlp104.Transformer` by name."""

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

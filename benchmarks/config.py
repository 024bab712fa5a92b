"""What is measured: sizes of models, and entries, each of which is a peer on a backend."""

import importlib.metadata
import importlib.util
import os
import platform
from dataclasses import dataclass

import nlp104
from nlp104.transformer.presets import PRESETS

PEERS = {  # the module in benchmarks.peers, and the packages that it needs
    "nlp104": ("ours", ()),
    "series": ("series", ()),
    "stock": ("stock", ()),
    "kerashub": ("kerashub", ("keras_hub",)),
    "torch": ("pytorch", ("torch",)),
}
BACKENDS = ("tensorflow", "jax", "torch")
VOCABULARY_SIZES = {"base": 32_000}  # the others: 8,000
SIZES = {name: PRESETS[name] for name in ("tiny", "small", "base")}


@dataclass(frozen=True)
class Config:
    """One model, the same for every peer: post-norm, ReLU, untied embeddings, LayerNorm ε 1e-6.

    Dropout acts in three places: on attention weights, on the sub-layers' outputs and on the sums
    of embeddings and positions. Adam has β₁ = 0.9, β₂ = 0.98, ε = 1e-9.
    """

    vocabulary_size: int
    num_layers: int
    hidden_dim: int
    intermediate_dim: int
    num_heads: int
    head_dim: int | None = None  # for the series alone; by default the heads share the width
    dropout: float = 0.1
    max_sequence_length: int = 512
    batch_size: int = 64
    tokens_per_batch: int | None = None  # instead, in nlp104's own batches
    learning_rate: float = 1e-4
    epsilon: float = 1e-6
    dtype: str = "float32"
    seed: int = 104

    @classmethod
    def of(cls, size, **others):
        names = ("num_layers", "hidden_dim", "intermediate_dim", "num_heads")
        sizes = {name: SIZES[size][name] for name in names}
        return cls(VOCABULARY_SIZES.get(size, 8_000), **sizes, **others)


@dataclass(frozen=True)
class Entry:
    """A peer on a backend, for example `nlp104-tensorflow-xla`; plain PyTorch is just `torch`."""

    peer: str
    backend: str
    jit_compile: bool = False  # asks TensorFlow for XLA, plain PyTorch for `torch.compile`

    @classmethod
    def parse(cls, name):
        peer, _, rest = name.partition("-")
        if peer == "torch":
            rest = f"torch-{rest}"
        backend, _, suffix = rest.partition("-")
        entry = cls(peer, backend, suffix in ("xla", "compiled"))
        if peer not in PEERS or entry.backend not in BACKENDS or entry.name != name:
            raise ValueError(
                f"Expected PEER-BACKEND or PEER-tensorflow-xla with a peer of {', '.join(PEERS)} "
                f"and a backend of {', '.join(BACKENDS)}, or torch, or torch-compiled. "
                f"Received: {name!r}."
            )
        return entry

    @property
    def name(self):
        if self.peer == "torch":
            return "torch" + "-compiled" * self.jit_compile
        return f"{self.peer}-{self.backend}" + "-xla" * self.jit_compile

    @property
    def ours(self):
        return self.peer == "nlp104"

    @property
    def packages(self):
        return dict.fromkeys(("keras", self.backend, *PEERS[self.peer][1]))

    def missing(self):
        """The packages that this entry needs and that are not installed."""
        return [name for name in self.packages if importlib.util.find_spec(name) is None]


def default_entries():
    """All that can be compared; or, where KERAS_BACKEND names one backend, what runs on it."""
    backend = os.environ.get("KERAS_BACKEND")
    keras_peers = [peer for peer in PEERS if peer != "torch"]
    if backend:
        names = [f"{peer}-{backend}" for peer in keras_peers] + ["torch", "torch-compiled"]
        if backend == "tensorflow":
            names.insert(1, "nlp104-tensorflow-xla")
        return names
    return [
        "nlp104-tensorflow",
        "nlp104-tensorflow-xla",
        "nlp104-jax",
        "series-tensorflow",
        "stock-tensorflow",
        "stock-jax",
        "kerashub-tensorflow",
        "kerashub-jax",
        "torch",
    ]


def versions(entries):
    """What the numbers depend on."""
    modules = dict.fromkeys(name for entry in entries for name in entry.packages)
    distributions = importlib.metadata.packages_distributions()  # TensorFlow's have many names
    names = [distributions.get(module, [module])[0] for module in modules]
    found = {"python": platform.python_version(), "nlp104": nlp104.__version__}
    return found | {name: importlib.metadata.version(name) for name in names}

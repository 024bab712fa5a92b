"""The configuration of a Transformer: one object for the model, a run's settings, the command line.

Light on purpose (no Keras): the command line shows what can be chosen in its help. A new option is
a new field here, and its use. If it is an `_option`, `nlp104 train` offers it, ``run.json`` keeps
it and a resumed run checks it.
"""

import math
from dataclasses import KW_ONLY, asdict, dataclass, field, fields
from typing import Any

from nlp104.utils.arguments import require_number, require_one_of, require_positive, require_switch
from nlp104.utils.errors import InputError


def _option(default, help, **limits):
    """A field that `nlp104 train` offers; `limits` are arguments of its option."""
    return field(default=default, metadata={"help": help, **limits})


def _size(help):
    return field(metadata={"help": help, "type": "count"})


@dataclass(frozen=True)
class TransformerConfig:
    """Sizes and choices of a Transformer, or of a part of one.

    The defaults are the paper's (Vaswani et al., 2017), but for the smaller start of the attentions
    and for embeddings of their own for source, target and logits, which the paper ties.

    Args:
        hidden_dim: width of the model, d_model; divisible by `num_heads`.
        intermediate_dim: width inside the feed-forward network, d_ff.
        num_heads: number of attention heads, h.
        num_layers: number of encoder layers and of decoder layers, N.
        vocabulary_size: number of target tokens, and of source tokens if not given apart. A model
            needs it, a part of one does not.
        source_vocabulary_size: number of source tokens, if it differs.
        tie_embeddings: whether source, target and output share one matrix (section 3.4), which
            needs one vocabulary for both languages.
        max_sequence_length: length of the longest sequence.
        positions: ``"sinusoidal"``, ``"learned"`` or ``"rotary"``; None leaves them out.
        dropout: rate of dropout on the output of every sub-layer, before it is added, and on the
            sums of embeddings and positions: the two places that the paper names (section 5.4).
        attention_dropout: rate of dropout on the attention weights.
        activation_dropout: rate of dropout inside the feed-forward network.
        activation: what stands between the two linear layers of the feed-forward network, by its
            name in Keras.
        gated: whether a third linear layer is multiplied in there, see `FeedForward`.
        normalize_first: pre-norm instead of the paper's post-norm, see `Residual`.
        normalization: ``"layer"`` or ``"rms"``, which subtracts no mean and adds no bias, see
            `Residual`.
        epsilon: added to the variance, or to the mean of the squares, in a normalisation.
        num_key_value_heads: number of heads of keys and values, each shared by as many heads of
            queries; one for each by default. See `nlp104.attention.MultiHeadAttention`.
        attention_window: how many positions causal self-attention sees, its own included; all
            before it by default. An encoder and the attention to a source are not narrowed.
        kernel_initializer: of the feed-forward networks and of the attentions' W_O, by its name in
            Keras or as a dictionary.
        attention_gain: factor on Glorot's limits for the first weights of the attentions' queries,
            keys and values. PyTorch and fairseq begin with 1/√2; with 1 post-norm may never start
            to listen.

    Raises:
        ValueError: if a size is not a positive integer, a number is out of its range, or the
            configuration does not fit together.

    Example:
        >>> from nlp104.transformer import TransformerConfig
        >>> config = TransformerConfig(512, 2048, 8, vocabulary_size=37_000, tie_embeddings=True)
        >>> config.key_dim, config.num_layers, config.dropout
        (64, 6, 0.1)
        >>> TransformerConfig(hidden_dim=10, intermediate_dim=40, num_heads=3)
        Traceback (most recent call last):
            ...
        nlp104.utils.errors.InputError: `hidden_dim` must be divisible by `num_heads`. ...
    """

    hidden_dim: int = _size("width of the model")
    intermediate_dim: int = _size("width inside the feed-forward network")
    num_heads: int = _size("attention heads")
    _: KW_ONLY
    num_layers: int = _option(6, "layers of each stack", type="count")
    vocabulary_size: int | None = None
    source_vocabulary_size: int | None = None
    tie_embeddings: bool = False
    max_sequence_length: int = 2048
    positions: str | None = _option(
        "sinusoidal", "sinusoidal, learned or rotary", choices=("sinusoidal", "learned", "rotary")
    )
    dropout: float = _option(0.1, "on sub-layers and embeddings", type="fraction")
    attention_dropout: float = _option(0.0, "on attention weights", type="fraction")
    activation_dropout: float = _option(0.0, "inside the feed-forward network", type="fraction")
    activation: str = _option(
        "relu", "of the feed-forward network", choices=("relu", "gelu", "silu", "tanh")
    )
    gated: bool = _option(
        False, "multiply a third linear layer into the feed-forward network", type="switch"
    )
    normalize_first: bool = _option(
        False, "pre-norm instead of the paper's post-norm", type="switch"
    )
    normalization: str = _option("layer", "layer or rms", choices=("layer", "rms"))
    epsilon: float = 1e-6
    num_key_value_heads: int | None = _option(
        None, "heads of keys and values, each shared by several of queries", type="count"
    )
    attention_window: int | None = _option(
        None, "positions that causal self-attention sees", type="count"
    )
    kernel_initializer: Any = "glorot_uniform"
    attention_gain: float = _option(
        2**-0.5, "factor on the first weights of queries, keys and values", type="positive"
    )

    def __post_init__(self):
        for name in ("hidden_dim", "intermediate_dim", "num_heads", "num_layers"):
            self._require_positive(name)
        self._require_positive("max_sequence_length")
        for name in (
            "vocabulary_size",
            "source_vocabulary_size",
            "num_key_value_heads",
            "attention_window",
        ):
            if getattr(self, name) is not None:
                self._require_positive(name)
        for name in ("dropout", "attention_dropout", "activation_dropout"):
            self._require_number(name, lambda rate: 0 <= rate < 1, "at least 0 and below 1")
        # Beyond that float32 cannot hold the weights, nor Python the square, a variance.
        expected = "a number above 0, from 1e-30 to 1e30"
        self._require_number("attention_gain", lambda g: 1e-30 <= g <= 1e30, expected)
        self._require_number("epsilon", lambda e: 0 <= e < math.inf, "a number of at least 0")
        require_switch(
            InputError,
            tie_embeddings=self.tie_embeddings,
            gated=self.gated,
            normalize_first=self.normalize_first,
        )
        for name, kinds in (("activation", str), ("kernel_initializer", str | dict)):
            if not isinstance(value := getattr(self, name), kinds):  # what JSON can hold
                raise InputError(
                    f"`{name}` must be given by its name or configuration. Received: {value!r}."
                )
        known = _FIELDS["positions"].metadata["choices"]
        if self.positions not in (*known, None):
            raise InputError(
                f"`positions` must be one of {', '.join(known)} or None. "
                f"Received: {self.positions!r}."
            )
        known = _FIELDS["normalization"].metadata["choices"]
        require_one_of(known, InputError, normalization=self.normalization)
        if self.hidden_dim % self.num_heads:
            raise InputError(
                "`hidden_dim` must be divisible by `num_heads`. "
                f"Received: hidden_dim={self.hidden_dim}, num_heads={self.num_heads}."
            )
        if self.positions == "rotary" and self.key_dim % 2:
            raise InputError(
                "Rotary positions turn pairs of numbers: `hidden_dim / num_heads` must be even. "
                f"Received: hidden_dim={self.hidden_dim}, num_heads={self.num_heads}."
            )
        if self.num_key_value_heads and self.num_heads % self.num_key_value_heads:
            raise InputError(
                "`num_heads` must be divisible by `num_key_value_heads`. Received: "
                f"num_heads={self.num_heads}, num_key_value_heads={self.num_key_value_heads}."
            )
        if self.tie_embeddings and self.source_vocabulary_size not in (None, self.vocabulary_size):
            raise InputError(
                "`tie_embeddings=True` needs one vocabulary for source and target. Received: "
                f"source_vocabulary_size={self.source_vocabulary_size}, "
                f"vocabulary_size={self.vocabulary_size}."
            )

    def _require_positive(self, name):
        [size] = require_positive(**{name: getattr(self, name)})
        object.__setattr__(self, name, size)  # a plain integer, which JSON can hold

    def _require_number(self, name, fits, expected):
        number = require_number(name, getattr(self, name), fits, expected, InputError)
        object.__setattr__(self, name, number)

    @property
    def key_dim(self):
        """Width of the queries, keys and values of one head, d_k."""
        return self.hidden_dim // self.num_heads

    @property
    def least_weights(self):
        """How many weights a `Transformer` has at least: all of its large matrices, no vector."""
        vocabulary = self.vocabulary_size or 0
        rows = vocabulary
        if not self.tie_embeddings:
            rows += vocabulary + (self.source_vocabulary_size or vocabulary)
        if self.positions == "learned":
            rows += self.max_sequence_length
        # In both stacks: queries and outputs of three attentions, two feed-forward networks.
        layer = 6 * self.hidden_dim + 4 * self.intermediate_dim
        return self.hidden_dim * (rows + self.num_layers * layer)

    def to_dict(self):
        """Returns the arguments that make an equal configuration, fit for JSON."""
        return asdict(self)

    @classmethod
    def split(cls, arguments):
        """Splits a flat dictionary, as `get_config` of a layer has it.

        Returns:
            A configuration of the entries that belong to it, and a dictionary of the others.
        """
        own = {name: value for name, value in arguments.items() if name in _FIELDS}
        return cls(**own), {k: v for k, v in arguments.items() if k not in _FIELDS}


_FIELDS = {f.name: f for f in fields(TransformerConfig)}

# What `nlp104 train` offers: for each name the help and the limits of its option.
OPTIONS = {name: dict(f.metadata) for name, f in _FIELDS.items() if f.metadata}

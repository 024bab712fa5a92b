"""What the package's models have in common: they are made from a configuration."""

import keras

from nlp104.attention.lora import MATRICES
from nlp104.attention.multi_head import MultiHeadAttention
from nlp104.encoding.embedding import TokenAndPositionEmbedding
from nlp104.transformer.config import TransformerConfig
from nlp104.transformer.output_head import OutputHead
from nlp104.transformer.presets import preset
from nlp104.transformer.token_mean import TokenMeanLoss
from nlp104.utils.arguments import require_floating_point


class ConfiguredModel(TokenMeanLoss):
    """A model from token ids to logits that is made from a `TransformerConfig`.

    `Transformer` and `LanguageModel` are such models.

    Args:
        config: `TransformerConfig`, with a `vocabulary_size`.
        **kwargs: arguments of `keras.Model`.

    Raises:
        ValueError: if `config` is something else, or has no `vocabulary_size`.
    """

    def __init__(self, config, **kwargs):
        super().__init__(**kwargs)
        if not isinstance(config, TransformerConfig) or config.vocabulary_size is None:
            raise ValueError(
                "`config` must be a TransformerConfig with a `vocabulary_size`. "
                f"Received: {config!r}."
            )
        self.config = config
        self.vocabulary_size = config.vocabulary_size
        self.source_vocabulary_size = config.source_vocabulary_size or config.vocabulary_size
        self.max_sequence_length = config.max_sequence_length

    @classmethod
    def from_preset(cls, name, vocabulary_size, **overrides):
        """A model with the sizes of a preset.

        Args:
            name: a key of `PRESETS`.
            vocabulary_size: number of tokens.
            **overrides: fields of `TransformerConfig` that differ from the preset, and other
                arguments of the model.

        Raises:
            ValueError: if there is no such preset.

        Example:
            >>> from nlp104 import Transformer
            >>> model = Transformer.from_preset("tiny", 1000, num_layers=1, positions="rotary")
            >>> model.config.num_layers, model.config.hidden_dim
            (1, 128)
        """
        return cls.from_config(preset(name, vocabulary_size=vocabulary_size, **overrides))

    @classmethod
    def from_config(cls, config):
        config, others = TransformerConfig.split(config)
        rank = others.pop("lora_rank", None)
        model = cls(config, **others)
        if rank is not None:
            model.enable_lora(rank)
        return model

    def with_dtype(self, dtype):
        """A model of its own with the same weights, which computes in another precision.

        Args:
            dtype: a dtype policy. ``"float32"`` makes a model that was trained in mixed precision
                run everywhere, ``"float16"`` one that takes half the room on a disk. Parts that are
                frozen learn in it, but for those under LoRA.
        """
        model = type(self).from_config({**self.get_config(), "dtype": dtype})
        for theirs, own in zip(model._attentions(), self._attentions(), strict=True):
            if own.lora_enabled and not theirs.lora_enabled:  # some have updates, or other ranks
                theirs.enable_lora(own.lora_rank)
        model.set_weights(self.get_weights())
        return model

    @property
    def lora_rank(self):
        """The rank of the attentions' updates (see `enable_lora`), `None` if not all have one."""
        ranks = {attention.lora_rank for attention in self._attentions()}
        return ranks.pop() if len(ranks) == 1 else None

    def enable_lora(self, rank):
        """Freezes the model, but for updates of a low rank of all matrices of its attentions.

        W + A B in the place of W (Hu et al., 2021), see `nlp104.attention.lora`. To be compiled
        after, not before: an optimizer keeps to the weights that it was made for. `merge_lora`
        makes a plain model of it.

        Args:
            rank: columns of A and rows of B.

        Raises:
            ValueError: if `rank` is not a positive integer, or the model has such updates, or is
                compiled.

        Example:
            >>> from nlp104.transformer import LanguageModel
            >>> model = LanguageModel.from_preset("tiny", vocabulary_size=100)
            >>> model.enable_lora(rank=4)
            >>> sum(w.shape[0] * w.shape[1] for w in model.trainable_weights)
            8192
            >>> 2 * 4 * 4 * (128 + 128)  # layers · matrices · rank · (inputs + outputs)
            8192
        """
        if self.compiled:
            raise ValueError(
                "Expected a model that is not compiled: its optimizer would go on with the frozen "
                "weights. Received: a compiled one. `model.with_dtype(model.dtype_policy)` is a "
                "copy that is not."
            )
        attentions = self._attentions()
        if ranks := {attention.lora_rank for attention in attentions if attention.lora_enabled}:
            received = ", ".join(map(str, sorted(ranks)))
            raise ValueError(f"Expected a model without LoRA. Received: lora_rank={received}.")
        for attention in attentions:
            attention.enable_lora(rank)
        for variable in self.weights:
            variable.trainable = "_lora_" in variable.name

    def merge_lora(self):
        """A plain model of its own that does the same: A B is added to W, and everything learns.

        Example:
            >>> import numpy as np
            >>> from nlp104.transformer import LanguageModel
            >>> model = LanguageModel.from_preset("tiny", vocabulary_size=100)
            >>> plain, ids = model.count_params(), np.array([[5, 6, 7]])
            >>> model.enable_lora(rank=4)
            >>> merged = model.merge_lora()
            >>> merged.count_params() == plain, np.allclose(merged(ids), model(ids), atol=1e-4)
            (True, True)
        """
        model = type(self).from_config({**self.get_config(), "lora_rank": None})
        weights = [variable for variable in self.weights if "_lora_" not in variable.name]
        for theirs, own in zip(model.weights, weights, strict=True):
            theirs.assign(own)
        for theirs, own in zip(model._attentions(), self._attentions(), strict=True):
            for name in MATRICES:
                getattr(theirs, f"{name}_kernel").assign(own.merged_kernel(name))
        return model

    def _attentions(self):
        return [x for x in self._flatten_layers() if isinstance(x, MultiHeadAttention)]

    def make_train_function(self, force=False):
        # Where the optimizer makes its variables in the first step, TensorFlow traces it twice.
        if self.built and not self.optimizer.built:
            self.optimizer.build(self.trainable_variables)
        return super().make_train_function(force)

    def save(self, *arguments, **options):
        require_floating_point(self)  # Keras asks for the configuration with the file open
        super().save(*arguments, **options)

    def get_config(self):
        require_floating_point(self)
        lora = {} if self.lora_rank is None else {"lora_rank": self.lora_rank}
        return {**super().get_config(), **self.config.to_dict(), **lora}

    # The two ends, as the configuration wants them.

    def compute_output_spec(self, inputs, training=None):
        # Logits are float32, whatever the model computes in.
        shapes = keras.tree.map_structure(lambda ids: ids.shape, inputs)
        return keras.KerasTensor(self.compute_output_shape(shapes), "float32")

    def _embedding(self, vocabulary_size, name):
        positions = self.config.positions
        return TokenAndPositionEmbedding(
            vocabulary_size,
            self.config.hidden_dim,
            self.max_sequence_length,
            # Rotary positions belong to the attentions.
            positions=None if positions == "rotary" else positions,
            dropout=self.config.dropout,
            dtype=self.dtype_policy,
            name=name,
        )

    def _output_head(self):
        return OutputHead(
            self.vocabulary_size,
            tied=self.config.tie_embeddings,
            dtype=self.dtype_policy,
            name="output_head",
        )

    def _tied_kernel(self, embedding):
        return embedding.transposed() if self.config.tie_embeddings else None

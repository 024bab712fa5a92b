"""`nlp104`, used the way its command line uses it."""

from itertools import count

from benchmarks.peers.keras_peer import KerasPeer
from nlp104 import decoding
from nlp104.data.batches import Batches
from nlp104.training.optimizer import compile_model
from nlp104.transformer.config import TransformerConfig
from nlp104.transformer.model import Transformer


class Peer(KerasPeer):
    """`Transformer`, `compile_model` and `Batches`, with attention dropout like the others."""

    has_beam_search = True

    def make_model(self, config):
        return Transformer(
            TransformerConfig(
                config.hidden_dim,
                config.intermediate_dim,
                config.num_heads,
                num_layers=config.num_layers,
                vocabulary_size=config.vocabulary_size,
                dropout=config.dropout,
                attention_dropout=config.dropout,
                max_sequence_length=config.max_sequence_length,
                epsilon=config.epsilon,
            )
        )

    def compile(self):
        compile_model(
            self.model,
            self.config.learning_rate,
            label_smoothing=0.0,
            jit_compile=True if self.jit_compile else "auto",
        )

    @property
    def width(self):
        return None

    def batches(self, sources, targets):
        self._batches = Batches(
            sources,
            targets,
            batch_size=self.config.batch_size,
            tokens_per_batch=self.config.tokens_per_batch,
            bucket_width=8 if self.compiles else 1,  # as `nlp104 train` chooses it
            seed=self.config.seed,
        )

        def epochs():
            for epoch in count():
                self._batches.seek(epoch)
                yield from self._batches

        return epochs()

    def warm_up(self):
        """Batches of every shape, where each is compiled: any may come in any turn."""
        if self.compiles:
            shapes = {}
            for inputs, labels in self._batches:
                shapes[labels.shape, inputs["encoder_token_ids"].shape] = inputs, labels
            self.train(list(shapes.values()), own=True)

    def output_bias(self):
        return self.model.output_head.bias

    def decode(self, encoder_token_ids, max_length, num_beams=1):
        options = {"max_length": max_length, "jit_compile": self.jit_compile}
        if num_beams == 1:
            return decoding.greedy(self.model, encoder_token_ids, **options)
        return decoding.beam_search(self.model, encoder_token_ids, num_beams=num_beams, **options)

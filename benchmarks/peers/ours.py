"""`nlp104`, used the way its command line uses it."""

from benchmarks.peers.keras_peer import KerasPeer, Listed
from nlp104 import decoding
from nlp104.data.batches import Batches
from nlp104.training.optimizer import compile_model
from nlp104.transformer.model import Transformer


class Peer(KerasPeer):
    """`Transformer`, `compile_model` and `Batches`, with attention dropout like the others."""

    name = "nlp104"
    batching = "buckets"
    packages = ("nlp104", "keras")

    def make_model(self, config):
        return Transformer(
            config.vocabulary_size,
            num_layers=config.num_layers,
            hidden_dim=config.hidden_dim,
            intermediate_dim=config.intermediate_dim,
            num_heads=config.num_heads,
            dropout=config.dropout,
            attention_dropout=config.dropout,
            max_sequence_length=config.max_sequence_length,
            epsilon=config.epsilon,
        )

    def compile(self):
        compile_model(
            self.model,
            self.config.learning_rate,
            label_smoothing=0.0,
            jit_compile=True if self.jit_compile else "auto",
        )

    def load(self, sources, targets):
        self._batches = Batches(
            sources,
            targets,
            batch_size=self.config.batch_size,
            tokens_per_batch=self.config.tokens_per_batch,
            bucket_width=8 if self.compiles else 1,  # as `nlp104 train` chooses it
            seed=self.config.seed,
        )
        self._epoch = 0

    def train_own(self, steps):
        """The last steps of an epoch, of the next one each time: batches in random order."""
        batches = self._batches
        batches.seek(self._epoch)
        here = self._epoch, max(0, len(batches) - steps)
        self._epoch += 1
        batches.seek(*here)
        self.fit(batches)
        return self._given(*here)

    def _given(self, epoch, step):
        self._batches.seek(epoch, step)
        yield from self._batches

    def warm_up(self):
        if self.compiles:
            # Batches of every shape, since any may come in any turn.
            shapes = {}
            for inputs, labels in self._batches:
                shapes[labels.shape, inputs["encoder_token_ids"].shape] = inputs, labels
            self.fit(Listed(list(shapes.values())))
        self.train_own(2)

    def output_bias(self):
        return self.model.output_bias

    def decode(self, encoder_token_ids, max_length, num_beams=1):
        options = {"max_length": max_length, "jit_compile": self.jit_compile}
        if num_beams == 1:
            return decoding.greedy(self.model, encoder_token_ids, **options)
        return decoding.beam_search(self.model, encoder_token_ids, num_beams=num_beams, **options)

"""The model of the tutorial series' third part, with its masks repaired and its own decoding loop.

"A Deep Dive into Transformers with TensorFlow and Keras: Part 3": subclassed layers around
`keras.layers.MultiHeadAttention`, with `Add` and `LayerNormalization`. There Keras' implicit masks
get lost on the way; here they are made from the ids and passed explicitly. Its heads are as wide as
the whole model; here they share the width, as in the paper and in the other peers, unless the
configuration has a `head_dim`.
"""

import keras
import numpy as np
from keras import layers, ops

from benchmarks.peers.keras_peer import KerasPeer, sinusoid, start_tokens, token_inputs


class Embedding(layers.Layer):
    def __init__(self, config, **kwargs):
        super().__init__(**kwargs)
        self.width = config.hidden_dim
        self.embedding = layers.Embedding(config.vocabulary_size, config.hidden_dim)
        self.positions = sinusoid(config.max_sequence_length, config.hidden_dim)
        self.dropout = layers.Dropout(config.dropout)

    def call(self, ids, training=None):
        x = self.embedding(ids) * np.sqrt(self.width).astype("float32")
        positions = ops.convert_to_tensor(self.positions)[: ops.shape(ids)[1]]
        return self.dropout(x + ops.cast(positions, x.dtype), training=training)


class Attention(layers.Layer):
    """Attention, then the sum with its query, then the normalisation."""

    def __init__(self, config, **kwargs):
        super().__init__(**kwargs)
        self.attention = layers.MultiHeadAttention(
            config.num_heads,
            config.head_dim or config.hidden_dim // config.num_heads,
            dropout=config.dropout,
        )
        self.dropout = layers.Dropout(config.dropout)
        self.add = layers.Add()
        self.normalization = layers.LayerNormalization(epsilon=config.epsilon)

    def call(self, x, value, mask_of_keys, causal=False, training=None):
        change = self.attention(
            query=x,
            value=value,
            key=value,
            attention_mask=ops.expand_dims(mask_of_keys, 1),
            use_causal_mask=causal,
            training=training,
        )
        return self.normalization(self.add([x, self.dropout(change, training=training)]))


class FeedForward(layers.Layer):
    def __init__(self, config, **kwargs):
        super().__init__(**kwargs)
        self.network = keras.Sequential(
            [
                layers.Dense(config.intermediate_dim, activation="relu"),
                layers.Dense(config.hidden_dim),
                layers.Dropout(config.dropout),
            ]
        )
        self.add = layers.Add()
        self.normalization = layers.LayerNormalization(epsilon=config.epsilon)

    def call(self, x, training=None):
        return self.normalization(self.add([x, self.network(x, training=training)]))


class Transformer(keras.Model):
    def __init__(self, config, **kwargs):
        super().__init__(**kwargs)
        numbers = range(config.num_layers)
        self.source_embedding, self.target_embedding = Embedding(config), Embedding(config)
        self.encoder = [(Attention(config), FeedForward(config)) for _ in numbers]
        self.decoder = [
            (Attention(config), Attention(config), FeedForward(config)) for _ in numbers
        ]
        self.logits = layers.Dense(config.vocabulary_size)

    def call(self, inputs, training=None):
        source, target = inputs["encoder_token_ids"], inputs["decoder_token_ids"]
        source_mask, target_mask = ops.not_equal(source, 0), ops.not_equal(target, 0)
        memory = self.source_embedding(source, training=training)
        for attention, feed_forward in self.encoder:
            memory = attention(memory, memory, source_mask, training=training)
            memory = feed_forward(memory, training=training)
        x = self.target_embedding(target, training=training)
        for own, cross, feed_forward in self.decoder:
            x = own(x, x, target_mask, causal=True, training=training)
            x = cross(x, memory, source_mask, training=training)
            x = feed_forward(x, training=training)
        return self.logits(x)


class Peer(KerasPeer):
    """The series' model, trained by `model.fit` on random batches padded to their longest."""

    def make_model(self, config):
        model = Transformer(config)
        model(token_inputs(length=2))
        return model

    def output_bias(self):
        return self.model.logits.bias

    def search(self, max_length, num_beams):
        """The whole model, encoder included, on the whole prefix, once for every token."""

        def last(ids, tokens):
            inputs = {"encoder_token_ids": ids, "decoder_token_ids": tokens}
            logits = self.model(inputs, training=False)[:, -1]
            return ops.expand_dims(ops.cast(ops.argmax(logits, axis=-1), "int32"), 1)

        def greedy(ids):
            tokens = start_tokens(ids)
            for _ in range(max_length):
                tokens = ops.concatenate([tokens, last(ids, tokens)], axis=1)
            return tokens[:, 1:]

        def greedy_in_graph(ids):
            import tensorflow as tf

            def write(step, written):
                tokens = tf.transpose(written.stack())  # [batch, step + 1]
                return step + 1, written.write(step + 1, last(ids, tokens)[:, 0])

            written = tf.TensorArray(tf.int32, size=0, dynamic_size=True, element_shape=[None])
            written = written.write(0, start_tokens(ids)[:, 0])
            _, written = tf.while_loop(
                lambda step, _: step < max_length, write, (tf.constant(0), written)
            )
            return tf.transpose(written.stack())[:, 1:]

        return greedy_in_graph if keras.backend.backend() == "tensorflow" else greedy

    def program(self, function):
        """A graph on TensorFlow, like the tutorial's; elsewhere eager: every prefix is a shape."""
        if keras.backend.backend() == "jax":
            return function
        return super().program(function)

"""A plain Transformer from stock `keras.layers`, functional, and a greedy loop in one program."""

import keras
from keras import layers, ops

from benchmarks.peers.keras_peer import KerasPeer, sinusoid, start_tokens, token_inputs


class Peer(KerasPeer):
    """`keras.layers.MultiHeadAttention` with explicit masks; no cache, since Keras has none."""

    def make_model(self, config):
        inputs = token_inputs()
        source, target = inputs["encoder_token_ids"], inputs["decoder_token_ids"]
        memory = keras.Input((None, config.hidden_dim), name="encoder_output")
        self.encoder = keras.Model(source, self._encode(config, source), name="encoder")
        logits = self._decode(config, target, memory, source)
        self.decoder = keras.Model([target, memory, source], logits, name="decoder")
        return keras.Model(inputs, self.decoder([target, self.encoder(source), source]))

    def _encode(self, config, source):
        mask = ops.expand_dims(ops.not_equal(source, 0), 1)  # [batch, 1, source]
        x = _embed(config, source)
        for _ in range(config.num_layers):
            x = _residual(config, x, _attention(config)(x, x, attention_mask=mask))
            x = _residual(config, x, _feed_forward(config, x))
        return x

    def _decode(self, config, target, memory, source):
        own_mask = ops.expand_dims(ops.not_equal(target, 0), 1)
        mask = ops.expand_dims(ops.not_equal(source, 0), 1)
        x = _embed(config, target)
        for _ in range(config.num_layers):
            change = _attention(config)(x, x, attention_mask=own_mask, use_causal_mask=True)
            x = _residual(config, x, change)
            x = _residual(config, x, _attention(config)(x, memory, attention_mask=mask))
            x = _residual(config, x, _feed_forward(config, x))
        return layers.Dense(config.vocabulary_size, name="logits")(x)

    def output_bias(self):
        return self.decoder.get_layer("logits").bias

    def search(self, max_length, num_beams):
        def greedy(ids):
            memory = self.encoder(ids, training=False)
            places = ops.arange(max_length + 1)

            def write(step, tokens):
                logits = self.decoder([tokens[:, :-1], memory, ids], training=False)
                logits = ops.take(logits, step, axis=1)  # [batch, vocabulary]
                best = ops.cast(ops.argmax(logits, axis=-1), "int32")
                tokens = ops.where(places == step + 1, ops.expand_dims(best, 1), tokens)
                return step + 1, tokens

            start = start_tokens(ids)
            tokens = ops.pad(
                start, ((0, 0), (0, max_length))
            )  # the future is masked, whatever it is
            step = ops.convert_to_tensor(0, dtype="int32")
            _, tokens = ops.while_loop(lambda step, _: step < max_length, write, (step, tokens))
            return tokens[:, 1:]

        return greedy


def _attention(config):
    return layers.MultiHeadAttention(
        config.num_heads, config.hidden_dim // config.num_heads, dropout=config.dropout
    )


def _feed_forward(config, x):
    return layers.Dense(config.hidden_dim)(
        layers.Dense(config.intermediate_dim, activation="relu")(x)
    )


def _residual(config, x, change):
    change = layers.Dropout(config.dropout)(change)
    return layers.LayerNormalization(epsilon=config.epsilon)(x + change)


@keras.saving.register_keras_serializable(package="benchmarks")
class Positions(layers.Layer):
    """Scales embeddings and adds the paper's positions to them."""

    def __init__(self, length, **kwargs):
        super().__init__(**kwargs)
        self.length = length

    def build(self, shape):
        self.table = sinusoid(self.length, shape[-1])

    def call(self, x):
        table = ops.convert_to_tensor(self.table)[: ops.shape(x)[1]]
        return x * x.shape[-1] ** 0.5 + ops.cast(table, x.dtype)

    def compute_output_shape(self, shape):
        return shape


def _embed(config, ids):
    x = layers.Embedding(config.vocabulary_size, config.hidden_dim)(ids)
    return layers.Dropout(config.dropout)(Positions(config.max_sequence_length)(x))

"""KerasHub's Transformer layers and samplers, put together as its translation tutorial does.

Its embedding has learned positions: `max_sequence_length × hidden_dim` more parameters a side than
the others, and one lookup instead of a constant.
"""

import keras
import keras_hub
from keras import layers, ops

from benchmarks.peers.keras_peer import KerasPeer, start_tokens, token_inputs
from nlp104.data.tokenizer import END_ID


class Transformer(keras.Model):
    def __init__(self, config, **kwargs):
        super().__init__(**kwargs)
        self.config = config
        block = {
            "intermediate_dim": config.intermediate_dim,
            "num_heads": config.num_heads,
            "dropout": config.dropout,
            "layer_norm_epsilon": config.epsilon,
        }
        self.source_embedding, self.target_embedding = _embedding(config), _embedding(config)
        self.source_dropout = layers.Dropout(config.dropout)
        self.target_dropout = layers.Dropout(config.dropout)
        self.encoder = [
            keras_hub.layers.TransformerEncoder(**block) for _ in range(config.num_layers)
        ]
        self.decoder = [
            keras_hub.layers.TransformerDecoder(**block) for _ in range(config.num_layers)
        ]
        self.logits = layers.Dense(config.vocabulary_size)

    def encode(self, source, training=None):
        mask = ops.not_equal(source, 0)
        x = self.source_dropout(self.source_embedding(source), training=training)
        for block in self.encoder:
            x = block(x, padding_mask=mask, training=training)
        return x, mask

    def call(self, inputs, training=None):
        memory, mask = self.encode(inputs["encoder_token_ids"], training)
        target = inputs["decoder_token_ids"]
        x = self.target_dropout(self.target_embedding(target), training=training)
        for block in self.decoder:
            x = block(
                x,
                memory,
                decoder_padding_mask=ops.not_equal(target, 0),
                encoder_padding_mask=mask,
                training=training,
            )
        return self.logits(x)

    def step(self, token, index, memory, mask, own, cross, cross_index=None):
        """Decodes one position with KerasHub's caches, each `[batch, layer, 2, …]`."""
        x = self.target_embedding(token, start_index=index)
        new_own, new_cross = [], []
        for i, block in enumerate(self.decoder):
            x, own_cache, cross_cache = block(
                x,
                memory,
                encoder_padding_mask=mask,
                self_attention_cache=own[:, i],
                self_attention_cache_update_index=index,
                cross_attention_cache=cross[:, i],
                cross_attention_cache_update_index=cross_index,
                training=False,
            )
            new_own.append(own_cache)
            new_cross.append(cross_cache)
        return self.logits(x)[:, 0], ops.stack(new_own, axis=1), ops.stack(new_cross, axis=1)

    def empty_cache(self, like, length):
        c = self.config
        shape = (
            ops.shape(like)[0],
            c.num_layers,
            2,
            length,
            c.num_heads,
            c.hidden_dim // c.num_heads,
        )
        return ops.zeros(shape, dtype=self.compute_dtype)


class Peer(KerasPeer):
    """Trained on batches of a fixed length; decodes with KerasHub's samplers and their caches."""

    has_beam_search = True
    fixed_length = True

    def make_model(self, config):
        model = Transformer(config)
        model(token_inputs(length=2))
        return model

    def output_bias(self):
        return self.model.logits.bias

    def search(self, max_length, num_beams):
        model = self.model
        sampler = (
            keras_hub.samplers.GreedySampler()
            if num_beams == 1
            else keras_hub.samplers.BeamSampler(num_beams=num_beams)
        )

        def translate(ids):
            memory, mask = model.encode(ids, training=False)
            own = model.empty_cache(ids, max_length + 1)
            start = start_tokens(ids)
            cross = model.empty_cache(ids, ops.shape(ids)[1])
            _, own, cross = model.step(start, 0, memory, mask, own, cross, cross_index=0)
            rows = ops.shape(ids)[0]

            def one_for_each_beam(x, prompt):
                beams = ops.shape(prompt)[0] // rows
                return ops.repeat(x, beams, axis=0) if num_beams > 1 else x

            def following(prompt, cache, index):
                # The sampler counts the position to be written; the model reads the one before.
                token = ops.slice(prompt, [0, index - 1], [ops.shape(prompt)[0], 1])
                fixed = [one_for_each_beam(x, prompt) for x in (memory, mask, cross)]
                logits, cache, _ = model.step(token, index - 1, fixed[0], fixed[1], cache, fixed[2])
                return logits, None, cache

            prompt = ops.pad(start, ((0, 0), (0, max_length)))
            tokens = sampler(
                next=following,
                prompt=prompt,
                cache=own,
                index=1,
                stop_token_ids=[END_ID],
                model=model,
            )
            return tokens[:, 1:]

        return translate


def _embedding(config):
    return keras_hub.layers.TokenAndPositionEmbedding(
        config.vocabulary_size, config.max_sequence_length, config.hidden_dim
    )

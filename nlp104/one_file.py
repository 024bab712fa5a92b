"""The Transformer in one file: words, model, training and translation in nothing but Keras.

    python -m nlp104.one_file                the book's small language; a minute and a half
    python -m nlp104.one_file pairs.tsv 10   a sentence, a tab, its translation on each line; epochs

Numbered sections are those of "Attention is all you need" (Vaswani et al., 2017, arXiv 1706.03762).
"""

import math
import random
import re
import sys
from collections import Counter

import keras
import numpy as np
from keras import layers, ops

PADDING, UNKNOWN, START, END = range(4)  # ids that no word has


# Words ------------------------------------------------------------------------------------------


class Vocabulary:
    """Words to ids and back. A word is letters (with an apostrophe behind: l'), or one sign."""

    split = re.compile(r"[\w-]+'?|[^\w\s]").findall

    def __init__(self, texts, size=15_000):
        counts = Counter(word for text in texts for word in self.split(text))
        self.words = ["", "[UNK]", "[START]", "[END]", *dict(counts.most_common(size - 4))]
        self.ids = {word: i for i, word in enumerate(self.words)}
        glued = Counter(re.findall(r"\S([^\w\s])", " ".join(texts)))  # no blank before it
        self.glued = {sign for sign, count in glued.items() if 2 * count > counts[sign]}

    def encode(self, text):
        if (length := len(self.split(text))) > 255:  # and [END]: as many places as `Embed` knows
            raise ValueError(f"Expected at most 255 words. Received: {length}, {text:.40}…")
        return [self.ids.get(word, UNKNOWN) for word in self.split(text)]

    def decode(self, ids):
        text = "".join(w if w in self.glued else f" {w}" for w in (self.words[i] for i in ids))
        return text.replace("' ", "'").strip()  # l' animal . becomes l'animal.


def pad(rows):
    """Lists of ids as one rectangle, filled up with padding: [batch, length]."""
    table = np.full((len(rows), max(map(len, rows))), PADDING, dtype="int32")
    for line, row in zip(table, rows, strict=True):
        line[: len(row)] = row
    return table


class Batches(keras.utils.PyDataset):
    """Batches of pairs of ids. Sentences of like length stand together: little is padding."""

    def __init__(self, pairs, source, target, size=64):
        super().__init__()
        self.size = size
        self.rows = [([*source.encode(s), END], [START, *target.encode(t), END]) for s, t in pairs]
        self.on_epoch_end()

    def on_epoch_end(self):  # brings other sentences together, of like length again
        random.shuffle(self.rows)
        self.rows.sort(key=lambda row: (len(row[1]), len(row[0])))
        self.batches = [self.rows[i : i + self.size] for i in range(0, len(self.rows), self.size)]
        self.batches.insert(1, self.batches.pop())  # from the first two Keras sees what varies

    def __len__(self):
        return len(self.batches)

    def __getitem__(self, index):
        sources, targets = map(pad, zip(*self.batches[index], strict=True))
        if index == 1 and sources.shape[1] == self[0][0][0].shape[1]:  # equal by chance
            sources = np.pad(sources, ((0, 0), (0, 1)))
        return (sources, targets[:, :-1]), targets[:, 1:]  # what is read, what is asked for


# The model --------------------------------------------------------------------------------------


class Embed(layers.Layer):
    """Section 3.4 and 3.5: ids [batch, length] to vectors that know their place [.., .., dim]."""

    def __init__(self, words, dim, dropout, longest=256):
        super().__init__()
        small = keras.initializers.RandomNormal(stddev=dim**-0.5)
        self.table = layers.Embedding(words, dim, embeddings_initializer=small)
        self.dropout = layers.Dropout(dropout)
        position, pair = np.arange(longest)[:, None], np.arange(0, dim, 2)
        angle = position / 10_000 ** (pair / dim)
        waves = np.stack([np.sin(angle), np.cos(angle)], -1)
        self.positions = waves.reshape(longest, dim).astype("float32")

    def call(self, ids):
        x = self.table(ids) * self.table.output_dim**0.5
        places = ops.arange(ops.shape(ids)[1])
        x = x + ops.take(self.positions, places, axis=0)
        return self.dropout(x)


class Attention(layers.Layer):
    """Section 3.2: every query asks every key that the mask allows, and mixes their values."""

    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.head_dim = heads, dim // heads
        # Half of Glorot's variance, or deep stacks may not learn; one for all would repeat itself.
        half = keras.initializers.VarianceScaling(0.5, "fan_avg", "uniform")
        dense = (layers.Dense(dim, kernel_initializer=half.clone()) for _ in range(3))
        self.to_query, self.to_key, self.to_value = dense
        self.to_output = layers.Dense(dim)

    def split(self, x):
        x = ops.reshape(x, (-1, ops.shape(x)[1], self.heads, self.head_dim))
        return ops.transpose(x, (0, 2, 1, 3))  # [batch, heads, length, head_dim]

    def call(self, query, context, mask):
        q = self.split(self.to_query(query))
        k = self.split(self.to_key(context))
        v = self.split(self.to_value(context))
        scores = ops.matmul(q, ops.transpose(k, (0, 1, 3, 2)))
        scores = scores / math.sqrt(self.head_dim)
        scores = ops.where(mask, scores, -1e9)
        weights = ops.softmax(scores)  # [batch, heads, query, key]
        x = ops.transpose(ops.matmul(weights, v), (0, 2, 1, 3))
        return self.to_output(ops.reshape(x, ops.shape(query)))


class FeedForward(layers.Layer):
    """Section 3.3: each token for itself, wide and back."""

    def __init__(self, dim, inner):
        super().__init__()
        self.widen = layers.Dense(inner, activation="relu")
        self.back = layers.Dense(dim)

    def call(self, x):
        return self.back(self.widen(x))


class Residual(layers.Layer):
    """Section 3.1: LayerNorm(x + change), the wire around every sub-layer."""

    def __init__(self, dropout):
        super().__init__()
        self.dropout = layers.Dropout(dropout)
        self.norm = layers.LayerNormalization(epsilon=1e-6)

    def call(self, x, change):
        return self.norm(x + self.dropout(change))


class EncoderLayer(layers.Layer):
    """Section 3.1, left: every word looks at every word, then thinks."""

    def __init__(self, dim, inner, heads, dropout):
        super().__init__()
        self.attention, self.wire_1 = Attention(dim, heads), Residual(dropout)
        self.think, self.wire_2 = FeedForward(dim, inner), Residual(dropout)

    def call(self, x, mask):
        x = self.wire_1(x, self.attention(x, x, mask))
        return self.wire_2(x, self.think(x))


class DecoderLayer(layers.Layer):
    """Section 3.1, right: a look back, a look across at the source, a thought."""

    def __init__(self, dim, inner, heads, dropout):
        super().__init__()
        self.look_back, self.wire_1 = Attention(dim, heads), Residual(dropout)
        self.look_across, self.wire_2 = Attention(dim, heads), Residual(dropout)
        self.think, self.wire_3 = FeedForward(dim, inner), Residual(dropout)

    def call(self, x, context, mask, context_mask):
        x = self.wire_1(x, self.look_back(x, x, mask))
        x = self.wire_2(x, self.look_across(x, context, context_mask))
        return self.wire_3(x, self.think(x))


class Transformer(keras.Model):
    """(source ids, target ids) to a score for every word, at every place of the target."""

    def __init__(
        self, source_words, target_words, depth=2, dim=128, inner=512, heads=4, dropout=0.1
    ):
        super().__init__()
        sizes = dim, inner, heads, dropout
        self.source_embed = Embed(source_words, dim, dropout)
        self.target_embed = Embed(target_words, dim, dropout)
        self.encoder_layers = [EncoderLayer(*sizes) for _ in range(depth)]
        self.decoder_layers = [DecoderLayer(*sizes) for _ in range(depth)]
        self.to_words = layers.Dense(target_words)

    def call(self, inputs, training=False):  # Keras hands `training` on to every layer inside
        source, target = inputs
        return self.decode(target, *self.encode(source))

    def encode(self, source):
        real = ops.not_equal(source, PADDING)[:, None, None, :]  # [batch, head, query, key]
        x = self.source_embed(source)
        for layer in self.encoder_layers:
            x = layer(x, real)
        return x, real

    def decode(self, target, context, context_real):
        places = ops.arange(ops.shape(target)[1])
        past = places[:, None] >= places  # [query, key]
        mask = ops.logical_and(ops.not_equal(target, PADDING)[:, None, None, :], past)
        x = self.target_embed(target)
        for layer in self.decoder_layers:
            x = layer(x, context, mask, context_real)
        return self.to_words(x)  # [batch, length, target_words]


# Training ---------------------------------------------------------------------------------------


def masked_loss(labels, logits, smoothing=0.1):
    """Cross-entropy with smoothed labels, the mean over the real tokens (section 5.4)."""
    labels = ops.cast(labels, "int32")  # Keras hands them over as floats
    log_p = ops.log_softmax(logits)
    right = ops.take_along_axis(log_p, labels[..., None], axis=-1)[..., 0]
    losses = -(1 - smoothing) * right - smoothing * ops.mean(log_p, axis=-1)
    real = ops.cast(ops.not_equal(labels, PADDING), losses.dtype)
    return ops.sum(losses * real) / ops.sum(real)


def masked_accuracy(labels, logits):
    """The share of real tokens whose highest score is the right one's."""
    real = ops.cast(ops.not_equal(labels, PADDING), "float32")
    right = ops.cast(ops.equal(ops.argmax(logits, axis=-1), labels), "float32")
    return ops.sum(right * real) / ops.sum(real)


def compile_model(model, steps, peak=1.5e-3, warmup=200):
    """Adam as in section 5.3; the rate rises for `warmup` steps and falls to 0 at the last."""
    warmup = min(warmup, steps // 2)
    rate = keras.optimizers.schedules.CosineDecay(
        0.0, steps - warmup, warmup_target=peak, warmup_steps=warmup
    )
    adam = keras.optimizers.Adam(rate, beta_2=0.98, epsilon=1e-9)
    model.compile(optimizer=adam, loss=masked_loss, metrics=[masked_accuracy])


# Translation ------------------------------------------------------------------------------------


def translate(model, texts, source, target, longest=60):
    """Greedily: the most probable next word, again and again, until every sentence has ended."""
    context, real = model.encode(pad([[*source.encode(text), END] for text in texts]))
    ids = np.full((len(texts), longest + 1), PADDING, dtype="int32")
    ids[:, 0] = START
    for place in range(longest):  # what is written, and an empty place, lest Keras warns
        logits = model.decode(ids[:, : place + 2], context, real)[:, place]
        ids[:, place + 1] = ops.convert_to_numpy(ops.argmax(logits, axis=-1))
        if np.all(np.any(ids == END, axis=1)):
            break
    rows = ([*row[1:], END] for row in ids.tolist())
    return [target.decode(row[: row.index(END)]) for row in rows]


def read_pairs(path):
    """The pairs of a file, shuffled; without one, those of the book's small language."""
    if path is None:
        from nlp104.data import grammar

        return [(e.source, e.target) for e in grammar.generate(28_500, seed=104)]
    with open(path, encoding="utf-8") as lines:
        pairs = [tuple(line.rstrip("\n").split("\t")[:2]) for line in lines if "\t" in line]
    return random.Random(104).sample(pairs, len(pairs))


def main(path=None, epochs=3):
    """Reads, trains, translates what was never seen, and counts."""
    keras.utils.set_random_seed(104)
    pairs = read_pairs(path)
    test, pairs = pairs[: len(pairs) // 57 or 1], pairs[len(pairs) // 57 or 1 :]
    known = {text for pair in pairs for text in pair}  # what stands in training is no test
    test = [pair for pair in test if known.isdisjoint(pair)]
    if not (pairs and test):
        raise ValueError(f"Expected pairs to train, to test. Received: {len(pairs)}, {len(test)}.")
    source, target = (Vocabulary(texts) for texts in zip(*pairs, strict=True))
    training, validation = (Batches(part, source, target) for part in (pairs, test))
    model = Transformer(len(source.words), len(target.words), dropout=0.1 if path else 0.0)
    model(training[0][0])  # its weights are made when it is first called
    compile_model(model, steps=int(epochs) * len(training))
    model.fit(training, validation_data=validation, epochs=int(epochs), verbose=2)
    few = ([text for text, _ in test[i : i + 64]] for i in range(0, len(test), 64))  # to fit memory
    translations = [line for part in few for line in translate(model, part, source, target)]
    right = np.mean([t == answer for t, (_, answer) in zip(translations, test, strict=True)])
    for (text, _), translation in zip(test[:5], translations, strict=False):
        print(f"{text}\n    {translation}")
    print(f"{right:.1%} of {len(test)} sentences never seen are exactly right")


if __name__ == "__main__":
    main(*sys.argv[1:])

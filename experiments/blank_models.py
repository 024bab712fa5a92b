"""What `experiments.blanks` trains: models that fill in blanks, and judges of few labels."""

import keras
import numpy as np
from keras import ops

from nlp104.data.tokenizer import START_ID
from nlp104.training.optimizer import compile_model
from nlp104.training.schedule import WarmupSchedule
from nlp104.transformer.language_model import LanguageModel

__all__ = [
    "Asked",
    "Judge",
    "Tuning",
    "bags",
    "batches",
    "by_trial",
    "features",
    "hide",
    "log_probabilities",
    "logistic",
    "read",
    "rows",
]

CHOSEN, HIDDEN, STRAY = 0.15, 0.8, 0.1  # of all words; of those [MASK], and any other word
FIRST = 4  # ids below are those of special tokens


# --- reading ---


def rows(tokenizer, sentences, longest):
    """Ids `[sentence, longest]` behind a start, then padding; longer sentences are left out."""
    ids = [[START_ID, *row] for row in tokenizer.encode_batch(sentences)]
    ids = [row for row in ids if len(row) <= longest]
    return keras.utils.pad_sequences(ids, maxlen=longest, padding="post")


def hide(ids, mask_id, rng):
    """What a model reads, and what it is asked for: 0 where nothing is.

    Devlin et al. (2019), section 3.1: 15 % of the words are chosen. Of these 80 % are hidden, 10 %
    are replaced by any word, and 10 % stay.
    """
    chosen = (rng.random(ids.shape) < CHOSEN) & (ids >= FIRST)
    luck = rng.random(ids.shape)
    given = np.where(chosen & (luck < HIDDEN), mask_id, ids)
    stray = chosen & (luck >= 1 - STRAY)
    given = np.where(stray, rng.integers(FIRST, mask_id, ids.shape), given)
    return given, np.where(chosen, ids, 0)


class Asked(keras.Model):
    """A language model that is asked at some places alone, which spares most of its logits.

    It reads ids `[batch, length]` and places `[asked]`, counted through all rows.
    """

    def __init__(self, language):
        super().__init__()
        self.language = language

    def call(self, inputs, training=None):
        ids, places = inputs
        x = self.language.encode(ids, training=training)
        x = ops.take(ops.reshape(x, (-1, x.shape[-1])), places, axis=0)
        return self.language.output_head(x, kernel=self.language.embedding.transposed())


def batches(ids, mask_id, seed, steps, batch, causal):
    """What `Asked` learns from: sentences of like lengths, with new blanks each time.

    For a causal model the sentences as they are: at each place it is asked for the next word.
    """
    lengths = (ids > 0).sum(axis=1)
    order = np.random.default_rng(seed).permutation(len(ids))
    order = order[np.argsort(lengths[order], kind="stable")]
    for step in range(steps):
        rng = np.random.default_rng((seed, step))
        start = rng.integers(len(ids) - batch + 1)
        some = ids[order[start : start + batch]]
        some = some[:, : (some > 0).sum(axis=1).max()]
        given, labels = (some[:, :-1], some[:, 1:]) if causal else hide(some, mask_id, rng)
        places = np.flatnonzero(labels)
        yield (given, places.astype("int32")), labels.ravel()[places]


def read(config, ids, mask_id, seed, steps, batch, peak, causal=False):
    """A language model that has read sentences."""
    keras.utils.set_random_seed(seed)
    config = {**config, "vocabulary_size": mask_id + 1, "dropout": 0.0}
    asked = Asked(LanguageModel.from_config({**config, "causal": causal}))
    compile_model(asked, WarmupSchedule(peak, steps // 10, steps), label_smoothing=0.0)
    for inputs, labels in batches(ids, mask_id, seed, steps, batch, causal):
        asked.train_on_batch(inputs, labels)
    return asked.language


def log_probabilities(model, ids, places, mask_id):
    """What a model says of one place in each row: `[row, word]`."""
    ids, said_at = ids.copy(), places
    if model.causal:
        said_at = places - 1  # after the word before
    else:
        ids[np.arange(len(ids)), places] = mask_id
    logits = []
    for some in np.array_split(np.arange(len(ids)), -(-len(ids) // 100)):
        said = ops.convert_to_numpy(model(ids[some]))
        logits.append(said[np.arange(len(some)), said_at[some], :mask_id])  # no word is a [MASK]
    logits = np.concatenate(logits)
    return logits - np.logaddexp.reduce(logits, axis=-1, keepdims=True)


def by_trial(model, ids, places, mask_id):
    """The same of a causal model that reads on: it tries every word in the blank.

    p(word | all others) is p(sentence with that word) over the sum of that for all words.
    """
    found = []
    for row, place in zip(ids, places, strict=True):
        tried = np.repeat(row[None, : (row > 0).sum()], mask_id, axis=0)
        tried[:, place] = np.arange(mask_id)
        tried[:FIRST, place] = FIRST  # padding would change the mask; not counted below
        said = ops.convert_to_numpy(ops.log_softmax(model(tried[:, :-1])))
        score = np.take_along_axis(said, tried[:, 1:, None], axis=-1).sum(axis=(1, 2))
        score[:FIRST] = -np.inf
        found.append(score - np.logaddexp.reduce(score))
    return np.array(found)


# --- judging ---


class Judge(keras.Model):
    """A language model whose vectors, on average, answer a question with yes or no."""

    def __init__(self, language):
        super().__init__()
        self.language = LanguageModel.from_config(language.get_config())
        self.language.output_head.trainable = False  # no word is asked for
        self.mean = keras.layers.GlobalAveragePooling1D()
        self.answer = keras.layers.Dense(2)
        self.answer.build((None, language.config.hidden_dim))

    def vectors(self, ids, training=None):
        x = self.language.encode(ids, training=training)
        return self.mean(x, mask=ops.not_equal(ids, 0))

    def call(self, ids, training=None):
        return self.answer(self.vectors(ids, training=training))


class Tuning:
    """Trains `Judge`s of one size on few labels, one after the other."""

    def __init__(self, language, steps, batch, peak):
        self._read, self._steps, self._batch = language, steps, batch
        self._judge = Judge(language)
        self._judge.compile(
            keras.optimizers.Adam(WarmupSchedule(peak, steps // 10, steps)),
            keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        )

    def __call__(self, ids, labels, seed, has_read):
        """A judge that has learned from these labels, and had read before or not."""
        keras.utils.set_random_seed(seed)
        judge, fresh = self._judge, Judge(self._read)
        if has_read:
            fresh.language.set_weights(self._read.get_weights())
        judge.set_weights(fresh.get_weights())
        for state in judge.optimizer.variables:
            state.assign(ops.zeros_like(state))
        rng = np.random.default_rng(seed)
        again = -(-self._steps * self._batch // len(ids))
        order = np.concatenate([rng.permutation(len(ids)) for _ in range(again)])
        order = order[: self._steps * self._batch]
        judge.fit(ids[order], labels[order], batch_size=self._batch, shuffle=False, verbose=0)
        return judge


def features(language, ids):
    """The mean vector of each sentence, from a model that stays as it is."""
    judge = Judge(language)
    judge.language.set_weights(language.get_weights())
    parts = np.array_split(ids, -(-len(ids) // 100))
    return np.concatenate([ops.convert_to_numpy(judge.vectors(part)) for part in parts])


def bags(ids, tested, neighbours=1):
    """How often each word occurs, or so many neighbours together; words never seen are left out."""

    def pieces(row):
        length = (row > 0).sum()
        return [tuple(row[i : i + neighbours]) for i in range(1, length - neighbours + 1)]

    number = {}
    for row in ids:
        for piece in pieces(row):
            number.setdefault(piece, len(number))
    bags = [np.zeros((len(part), len(number))) for part in (ids, tested)]
    for bag, part in zip(bags, (ids, tested), strict=True):
        for line, row in zip(bag, part, strict=True):
            for piece in pieces(row):
                if piece in number:
                    line[number[piece]] += 1
    return bags


def logistic(x, labels, tested, penalty=1e-2):
    """Logistic regression by Newton's method: the logits of other rows.

    With an L2 penalty the weights are a sum of rows, so a basis of their space is enough.
    """
    x, tested = (np.concatenate([part, np.ones((len(part), 1))], axis=1) for part in (x, tested))
    basis = np.linalg.qr(x.T)[0]
    z = x @ basis
    weights = np.zeros(z.shape[1])
    for _ in range(20):
        p = 1 / (1 + np.exp(-z @ weights))
        slope = z.T @ (p - labels) / len(z) + penalty * weights
        bend = z.T @ (z * (p * (1 - p))[:, None]) / len(z) + penalty * np.eye(len(weights))
        weights -= np.linalg.solve(bend, slope)
    return tested @ basis @ weights

"""Token ids to padded batches, sorted by length so that little work is spent on padding."""

import operator
from collections.abc import Sequence
from itertools import chain

import keras
import numpy as np
from keras.src.trainers.data_adapters.data_adapter import DataAdapter

from nlp104.data.tokenizer import END_ID, PAD_ID, START_ID
from nlp104.utils.arguments import require_positive, require_whole
from nlp104.utils.errors import InputError


class Batches(DataAdapter):
    """Sentence pairs as integer arrays, ready for `model.fit` and `model.evaluate`.

    One batch is ``({"encoder_token_ids": [batch, source], "decoder_token_ids": [batch, target]},
    labels [batch, target])``, all int32 and padded with 0. The source ends with ``[END]``. The
    decoder reads ``[START]`` and the target; the labels are the target and ``[END]``: at each
    position the model sees what stands before it and is asked for what comes next (teacher
    forcing).

    Both lengths of a pair are rounded up to multiples of `bucket_width`. Pairs that agree in both
    form a cell; the cells stand in the order of their lengths, and the whole is cut into batches.
    Each epoch shuffles the pairs inside every cell, and then the batches. So all epochs have the
    same number of batches of the same shapes (which matters where each shape is compiled), while a
    sentence meets others every time. What batch `i` of an epoch holds depends on the seed, the
    epoch and `i`, and on nothing else. When Keras has read an epoch to its end, the next one
    begins. Keras ignores the `shuffle`, `batch_size`, `class_weight` and `sample_weight` of `fit`.

    Wide buckets have few shapes, narrow ones little padding. Where each shape is compiled (JAX, or
    XLA, which Keras turns on by itself for TensorFlow on a GPU) 8 is a good width; otherwise
    narrower is faster.

    Args:
        sources: For each sentence its token ids, without special tokens.
        targets: The same for the translations.
        batch_size: The number of pairs in a batch.
        tokens_per_batch: Instead of `batch_size`: the number of positions, padding included, that
            the longer side of a batch may have; a longer pair is a batch of its own, and the rows
            of `multiple_of` come on top.
        max_length: Pairs with a side longer than this, its special token included, are left out and
            counted in `num_dropped`. `None` keeps all.
        bucket_width: Lengths are padded to a multiple of this.
        shuffle: Whether to shuffle. If not, batches go from short to long.
        seed: The seed of the shuffling.
        multiple_of: Rows are filled up to a multiple of this with rows of padding, so that a batch
            can be divided among so many devices. They carry no weight.

    Attributes:
        epoch: The epoch that is given out; see `seek`.
        num_pairs: The number of pairs in an epoch.
        num_dropped: The number of pairs left out because of `max_length`.
        num_tokens: The number of real target tokens (labels) in an epoch.
        padding_share: The share of all positions, both sides together, that hold padding.
        shapes: The different ``(batch, source, target)`` shapes, sorted.

    Raises:
        ValueError: If there are no pairs or not as many targets as sources, a token id is not
            positive, or an option is out of its range.

    Example:
        >>> from nlp104.data import Batches
        >>> batches = Batches([[4, 5], [6]], [[7], [8, 9]], bucket_width=1, shuffle=False)
        >>> inputs, labels = batches[0]
        >>> print(inputs["encoder_token_ids"])  # 3 is [END], 0 padding
        [[4 5 3]
         [6 3 0]]
        >>> print(inputs["decoder_token_ids"])  # 2 is [START]
        [[2 7 0]
         [2 8 9]]
        >>> print(labels)
        [[7 3 0]
         [8 9 3]]
    """

    def __init__(
        self,
        sources: Sequence[Sequence[int]],
        targets: Sequence[Sequence[int]],
        batch_size: int = 64,
        tokens_per_batch: int | None = None,
        max_length: int | None = None,
        bucket_width: int = 8,
        shuffle: bool = True,
        seed: int = 104,
        multiple_of: int = 1,
    ):
        require_positive(batch_size=batch_size, bucket_width=bucket_width, multiple_of=multiple_of)
        if tokens_per_batch is not None:
            require_positive(tokens_per_batch=tokens_per_batch)
        if max_length is not None:
            require_positive(max_length=max_length)
        if len(sources) != len(targets):
            raise ValueError(
                f"Expected as many targets as sources. Received: {len(sources)} sources and "
                f"{len(targets)} targets."
            )
        pairs = [
            (source, target)
            for source, target in zip(sources, targets, strict=True)
            if max_length is None or max(len(source), len(target)) < max_length
        ]
        if not pairs:
            limit = "" if max_length is None else f" of at most {max_length} tokens a side"
            raise InputError(
                f"Expected at least one sentence pair{limit}. "
                f"Received: {len(sources)} pairs{', all longer' if len(sources) else ''}."
            )
        [self.seed] = require_whole(seed=seed)
        self.shuffle = shuffle
        self.num_pairs = len(pairs)
        self.num_dropped = len(sources) - len(pairs)
        self._sources = _Rows([[*source, END_ID] for source, _ in pairs])
        self._targets = _Rows([[START_ID, *target, END_ID] for _, target in pairs])
        # A row of targets serves as decoder input without its end and as labels without its start.
        target_lengths = self._targets.lengths - 1
        self._bucket_width, self._multiple_of = bucket_width, multiple_of
        self._plan(self._sources.lengths, target_lengths, batch_size, tokens_per_batch)
        self.num_tokens = int(target_lengths.sum())
        self.shapes = sorted(set(self._shapes))
        positions = sum(rows * (source + target) for rows, source, target in self._shapes)
        self.padding_share = 1 - int(self._sources.lengths.sum() + self.num_tokens) / positions
        self.seek(0)

    def _plan(self, source_lengths, target_lengths, batch_size, tokens_per_batch):
        """Decides what is the same in every epoch: the cells, the cuts and the shapes."""
        source = -(-source_lengths // self._bucket_width)  # in buckets, rounded up
        target = -(-target_lengths // self._bucket_width)
        # Every second target width goes through its source widths backwards. So a batch that
        # reaches over from one target width to the next still has sources of about one length.
        self._cell = target * 2 * (source.max() + 1) + np.where(target % 2, source, -source)
        order = np.argsort(self._cell, kind="stable")
        source, target = source[order] * self._bucket_width, target[order] * self._bucket_width
        self._cuts = [*range(0, len(order), batch_size), len(order)]
        if tokens_per_batch is not None:
            self._cuts = _cuts_by_tokens(np.maximum(source, target), tokens_per_batch)
        starts = self._cuts[:-1]
        self._shapes = list(
            zip(
                (-(-np.diff(self._cuts) // self._multiple_of) * self._multiple_of).tolist(),
                np.maximum.reduceat(source, starts).tolist(),
                np.maximum.reduceat(target, starts).tolist(),
                strict=True,
            )
        )

    def seek(self, epoch: int, step: int = 0) -> None:
        """Makes batch `step` of `epoch` the next one, `self[0]`.

        `len` then is the number of batches from there to the end of the epoch. `model.fit` asks for
        it once, so the rest of an epoch needs a call of `fit` of its own.

        Args:
            epoch: The epoch, counted from 0.
            step: The number of batches of the epoch to pass over.

        Raises:
            ValueError: If there is no such epoch, or no such batch in it.

        Example:
            >>> from nlp104.data import Batches
            >>> batches = Batches([[4], [5], [6]], [[7], [8], [9]], batch_size=1)
            >>> batches.seek(epoch=2, step=1)
            >>> len(batches), batches.epoch
            (2, 2)
        """
        epoch, step = require_whole(epoch=epoch, step=step)
        if step >= (count := len(self._shapes)):
            raise ValueError(f"Expected a step from 0 to {count - 1}. Received: {step}.")
        self.epoch, self._first = epoch, step
        pairs, batches = np.arange(self.num_pairs), np.arange(len(self._shapes))
        if self.shuffle:
            generator = np.random.default_rng((self.seed, epoch))
            pairs, batches = generator.permutation(pairs), generator.permutation(batches)
        self._order = pairs[np.argsort(self._cell[pairs], kind="stable")]
        self._batches = batches

    def __len__(self):
        return len(self._shapes) - self._first

    def __iter__(self):
        return (self[index] for index in range(len(self)))

    def __getitem__(self, index):
        if not 0 <= index < len(self):
            raise IndexError(f"Expected a batch from 0 to {len(self) - 1}. Received: {index}.")
        batch = self._batches[self._first + index]
        rows = self._order[self._cuts[batch] : self._cuts[batch + 1]]
        height, source_width, target_width = self._shapes[batch]
        source = self._sources.padded(rows, height, source_width)
        target = self._targets.padded(rows, height, target_width + 1)
        labels = target[:, 1:]
        decoder = np.where(labels != PAD_ID, target[:, :-1], PAD_ID)  # [END] is no input
        return {"encoder_token_ids": source, "decoder_token_ids": decoder}, labels

    # How Keras reads. Whatever `fit` is passed, it wraps in a `DataAdapter`, and one of those it
    # takes as it is. The usual `keras.utils.PyDataset` does not do for batches of many shapes: on
    # TensorFlow Keras looks at its batches 0 and 1 and takes each dimension in which they agree for
    # constant, so that a later batch of another width is an error. Here the signature is open.
    # (Keras does not export the class: should it ever move, the import above says so at once.)

    @property
    def num_batches(self):
        """The number of batches that Keras reads in one epoch."""
        return len(self)

    def get_numpy_iterator(self):
        """The rest of the epoch; with its last batch the next epoch begins."""
        last = len(self) - 1
        for index in range(last):
            yield self[index]
        batch = self[last]
        self.seek(self.epoch + 1)
        yield batch

    get_jax_iterator = get_numpy_iterator

    def get_torch_dataloader(self):
        """The same as tensors, on the device of the model."""
        for batch in self.get_numpy_iterator():
            yield keras.tree.map_structure(keras.ops.convert_to_tensor, batch)

    def get_tf_dataset(self):
        """The same as a `tf.data.Dataset`, for any number of rows and columns."""
        import tensorflow as tf

        ids = tf.TensorSpec([None, None], "int32")
        inputs = {"encoder_token_ids": ids, "decoder_token_ids": ids}
        return untuned_dataset(self.get_numpy_iterator, (inputs, ids), len(self))


def pad_rows(rows):
    """A rectangle of token ids: rows of different lengths, with 0 behind the short ones.

    Example:
        >>> from nlp104.data.batches import pad_rows
        >>> print(pad_rows([[7, 5, 3], [4]]))
        [[7 5 3]
         [4 0 0]]
    """
    ids = np.full((len(rows), max(map(len, rows))), PAD_ID, "int32")
    for padded, row in zip(ids, rows, strict=True):
        padded[: len(row)] = row
    return ids


def untuned_dataset(generate, signature, length):
    """A `tf.data.Dataset` that prefetches and does not tune itself.

    When a dataset that tunes itself ends, TensorFlow may wait for the tuner to wake up, and it
    sleeps twice as long each time: measured were 5 idle seconds after 5 seconds of training.

    Args:
        generate: Function that returns an iterator over the elements.
        signature: Their nested `tf.TensorSpec`s.
        length: The number of elements.
    """
    import tensorflow as tf

    dataset = tf.data.Dataset.from_generator(generate, output_signature=signature)
    dataset = dataset.apply(tf.data.experimental.assert_cardinality(length)).prefetch(2)
    options = tf.data.Options()
    options.autotune.enabled = False
    return dataset.with_options(options)


class _Rows:
    """Lists of integers of different lengths, one after the other in a single array."""

    def __init__(self, rows):
        self.lengths = np.fromiter(map(len, rows), np.int64, len(rows))
        self._starts = np.cumsum(self.lengths) - self.lengths
        ids = map(operator.index, chain.from_iterable(rows))  # a TypeError for 4.7, not 4
        self._ids = np.fromiter(ids, np.int32, self.lengths.sum())
        if self._ids.min() <= PAD_ID:
            raise ValueError(
                f"Expected token ids above {PAD_ID}, the padding. Received: {self._ids.min()}."
            )

    def padded(self, rows, height, width):
        """Returns the given rows as an array [height, width], with 0 behind and below them."""
        columns = np.arange(width)
        # Past the end of its row an index points into the next one; there, padding replaces the id.
        ids = self._ids.take(self._starts[rows, None] + columns, mode="clip")
        ids = np.where(columns < self.lengths[rows, None], ids, np.int32(PAD_ID))
        return np.pad(ids, ((0, height - len(rows)), (0, 0)), constant_values=PAD_ID)


def _cuts_by_tokens(widths, tokens_per_batch):
    """Cuts where one more pair would take the batch, padded to its widest, above the limit."""
    cuts, widest = [0], 0
    for i, width in enumerate(widths.tolist()):
        widest = max(widest, width)
        if i > cuts[-1] and (i + 1 - cuts[-1]) * widest > tokens_per_batch:
            cuts.append(i)
            widest = width
    return [*cuts, len(widths)]

import itertools
import json
import random
import warnings

import keras
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlp104.data.batches import Batches

on_tensorflow = pytest.mark.skipif(
    keras.backend.backend() != "tensorflow", reason="about how Keras traces with TensorFlow"
)


def make_pairs(lengths):
    """Pairs of the given lengths; all their ids differ from those of every other pair."""
    ids = iter(range(4, 10**6))
    sources = [[next(ids) for _ in range(source)] for source, _ in lengths]
    targets = [[next(ids) for _ in range(target)] for _, target in lengths]
    return sources, targets


def random_lengths(count, longest=30):
    generator = random.Random(0)
    return [(generator.randint(1, longest), generator.randint(1, longest)) for _ in range(count)]


def unpadded(row):
    return tuple(int(i) for i in row if i)


def rows(batches):
    """The pairs of all batches as they were before padding: (source, decoder, labels)."""
    out = []
    for inputs, labels in batches:
        columns = inputs["encoder_token_ids"], inputs["decoder_token_ids"], labels
        out += [tuple(map(unpadded, row)) for row in zip(*columns, strict=True)]
    return out


def shape_of(batch):
    inputs, labels = batch
    assert inputs["decoder_token_ids"].shape == labels.shape
    return (*inputs["encoder_token_ids"].shape, labels.shape[1])


def equal(first, second):
    return all(
        np.array_equal(a, b)
        for a, b in zip(
            keras.tree.flatten(list(first)), keras.tree.flatten(list(second)), strict=True
        )
    )


lengths = st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), min_size=1, max_size=40)


@given(
    lengths,
    st.integers(1, 9),
    st.one_of(st.none(), st.integers(1, 60)),
    st.integers(1, 9),
    st.booleans(),
)
def test_every_pair_once_shifted_ended_and_padded(
    lengths, batch_size, tokens_per_batch, bucket_width, shuffle
):
    sources, targets = make_pairs(lengths)
    batches = Batches(
        sources, targets, batch_size, tokens_per_batch, None, bucket_width, shuffle, seed=5
    )
    assert sorted(rows(batches)) == sorted(
        ((*s, 3), (2, *t), (*t, 3)) for s, t in zip(sources, targets, strict=True)
    )
    given_out = list(batches)
    assert len(given_out) == len(batches)
    real = padded = 0
    for inputs, labels in given_out:
        source, decoder = inputs["encoder_token_ids"], inputs["decoder_token_ids"]
        assert decoder.shape == labels.shape
        for ids in (source, decoder, labels):
            assert ids.dtype == np.int32
            assert ids.shape[1] % bucket_width == 0
            # Padding stands at the end only, and no row could do with a narrower batch.
            assert all(row[: len(unpadded(row))].all() for row in ids)
            assert ids.shape[1] - max(len(unpadded(row)) for row in ids) < bucket_width
        widest = max(source.shape[1], decoder.shape[1])
        if tokens_per_batch is None:
            assert len(source) <= batch_size
        else:
            assert len(source) == 1 or len(source) * widest <= tokens_per_batch
        real += np.count_nonzero(source) + np.count_nonzero(labels)
        padded += source.size + labels.size
    assert batches.padding_share == pytest.approx(1 - real / padded)
    assert batches.num_tokens == sum(len(target) + 1 for target in targets)
    assert batches.num_pairs == len(lengths)


def test_all_batches_but_the_last_are_full():
    batches = Batches(*make_pairs(random_lengths(100)), batch_size=16, shuffle=False)
    assert [len(labels) for _, labels in batches] == [16] * 6 + [4]


def test_a_batch_takes_as_many_tokens_as_it_may():
    batches = Batches(
        *make_pairs([(3, 3)] * 10), tokens_per_batch=12, bucket_width=4, shuffle=False
    )
    assert [len(labels) for _, labels in batches] == [3, 3, 3, 1]


def test_sorting_saves_most_of_the_padding():
    sources, targets = make_pairs([(n, n) for n in range(1, 33)] * 8)
    assert Batches(sources, targets, 8, bucket_width=1).padding_share == 0
    everything = Batches(sources, targets, 256, bucket_width=1).padding_share
    assert everything == pytest.approx(1 - (17.5 / 33))


@pytest.mark.parametrize("options", [{"batch_size": 7}, {"tokens_per_batch": 50}])
def test_rows_of_padding_fill_a_batch_for_the_devices(options):
    pairs = make_pairs(random_lengths(100))
    bare, filled = (Batches(*pairs, multiple_of=count, **options) for count in (1, 8))
    assert (len(bare), bare.num_tokens) == (len(filled), filled.num_tokens)
    for one, other in zip(bare, filled, strict=True):
        height, width = shape_of(one)[0], shape_of(other)[0]
        assert width % 8 == 0 <= width - height < 8
        for a, b in zip(keras.tree.flatten(one), keras.tree.flatten(other), strict=True):
            assert np.array_equal(a, b[:height])
            assert not b[height:].any()
    assert filled.shapes == sorted({shape_of(batch) for batch in filled})
    assert filled.padding_share > bare.padding_share


def test_order_is_a_function_of_seed_and_epoch():
    pairs = make_pairs(random_lengths(200))
    one, other = Batches(*pairs, 8, seed=1), Batches(*pairs, 8, seed=1)
    other.seek(3)
    list(other)
    other.seek(0)
    assert equal(one, other)
    first = list(one)
    one.seek(1)
    assert not equal(first, one)
    assert sorted(rows(first)) == sorted(rows(one))
    assert not equal(first, Batches(*pairs, 8, seed=2))


def test_a_sentence_meets_others_in_the_next_epoch():
    batches = Batches(*make_pairs([(5, 5)] * 64), 8)
    company = [{frozenset(rows([batch])) for batch in batches}]
    batches.seek(1)
    company.append({frozenset(rows([batch])) for batch in batches})
    assert company[0] != company[1]


def test_every_epoch_has_the_same_shapes():
    batches = Batches(*make_pairs(random_lengths(300)), tokens_per_batch=200, bucket_width=4)
    shapes = []
    for epoch in range(4):
        batches.seek(epoch)
        shapes.append(sorted(map(shape_of, batches)))
    assert shapes[0] == shapes[1] == shapes[2] == shapes[3]
    assert batches.shapes == sorted(set(shapes[0]))


@pytest.mark.parametrize("step", [0, 1, 5, 12])
def test_resume_in_the_middle_of_an_epoch(step):
    pairs = make_pairs(random_lengths(100))
    batches = Batches(*pairs, 8)
    batches.seek(2)
    assert len(batches) == 13
    whole = list(batches)
    resumed = Batches(*pairs, 8)
    resumed.seek(2, step)
    assert len(resumed) == 13 - step
    assert equal(whole[step:], resumed)


def test_too_long_pairs_are_left_out_and_counted():
    sources, targets = make_pairs([(3, 3), (4, 3), (3, 4), (10_000, 2), (1, 1)])
    batches = Batches(sources, targets, max_length=4)
    assert batches.num_dropped == 3
    assert sorted(len(labels) - 1 for _, _, labels in rows(batches)) == [1, 3]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"targets": []}, "as many targets as sources. Received: 1 sources and 0 targets"),
        ({"sources": [], "targets": []}, "at least one sentence pair. Received: 0 pairs"),
        ({"max_length": 2}, "pair of at most 2 tokens a side. Received: 1 pairs, all longer"),
        ({"sources": [[4, 0]]}, "token ids above 0, the padding. Received: 0"),
        ({"batch_size": 0}, "`batch_size` must be a positive integer. Received: 0"),
        ({"bucket_width": 2.5}, "`bucket_width` must be a positive integer. Received: 2.5"),
        ({"tokens_per_batch": -1}, "`tokens_per_batch` must be a positive integer. Received: -1"),
        ({"sources": np.ones((1, 5), int), "max_length": 3}, "Received: 1 pairs, all longer"),
        ({"max_length": 0}, "`max_length` must be a positive integer. Received: 0"),
        ({"seed": -1}, "`seed` must be an integer of at least 0. Received: -1"),
        ({"max_length": "9"}, "`max_length` must be a positive integer. Received: '9'"),
    ],
)
def test_refuses(change, message):
    with pytest.raises(ValueError, match=message):
        Batches(**({"sources": [[4, 5]], "targets": [[6]]} | change))


def test_takes_integers_of_numpy():
    pairs = [[4, 5], [6]] * 4, [[7], [8, 9]] * 4
    sizes = {"batch_size": 2, "max_length": 9, "bucket_width": 3, "seed": 1}
    ours = Batches(*pairs, **{name: np.int64(size) for name, size in sizes.items()})
    for (_, labels), (_, expected) in zip(ours, Batches(*pairs, **sizes), strict=True):
        np.testing.assert_array_equal(labels, expected)
    assert json.dumps(ours.seed) == "1"


def test_refuses_a_step_or_a_batch_that_is_not_there():
    batches = Batches([[4]], [[5]])
    with pytest.raises(ValueError, match=r"step from 0 to 0\. Received: 1"):
        batches.seek(0, 1)
    for place, name in (((-1,), "epoch"), ((0, 0.5), "step"), ((0, -1), "step")):
        with pytest.raises(ValueError, match=f"`{name}` must be an integer of at least 0"):
            batches.seek(*place)
    with pytest.raises(IndexError):
        batches[1]


class Traced(keras.Model):
    """Predicts each label from its decoder input and the mean source; counts its traces."""

    def __init__(self):
        super().__init__()
        self.embedding = keras.layers.Embedding(1000, 4)
        self.output_layer = keras.layers.Dense(1000)
        self.traces = 0

    def call(self, inputs):
        source = self.embedding(inputs["encoder_token_ids"] % 1000)
        mean = keras.ops.mean(source, axis=1, keepdims=True)
        return self.output_layer(self.embedding(inputs["decoder_token_ids"] % 1000) + mean)

    def train_step(self, *args, **kwargs):
        self.traces += 1
        return super().train_step(*args, **kwargs)

    def test_step(self, *args, **kwargs):
        self.traces += 1
        return super().test_step(*args, **kwargs)


class Pooled(Traced):
    def call(self, inputs):
        return keras.ops.mean(super().call(inputs), axis=(1, 2))


def compiled():
    model = Traced()
    # The labels go up to 10**6: one loss for every label is enough here.
    model.compile("sgd", loss=lambda y, logits: keras.ops.mean(logits**2, axis=-1))
    model(
        {
            "encoder_token_ids": np.ones((1, 1), "int32"),
            "decoder_token_ids": np.ones((1, 1), "int32"),
        }
    )
    model.optimizer.build(model.trainable_variables)
    return model


# What Keras may see first: widths of all kinds, and those that agree on one side or on both.
SHAPES = {
    "both sides vary": random_lengths(40, longest=18),
    "sources vary": [(1 + i % 18, 5) for i in range(40)],
    "targets vary": [(5, 1 + i % 18) for i in range(40)],
    "all the same": [(5, 5)] * 40,
    "one is longer": [(5, 5)] * 39 + [(20, 5)],
    "another is longer": [(5, 5)] * 39 + [(5, 20)],
    "a corner": [(5, 5)] * 38 + [(5, 20), (20, 5)],
    "one batch": [(5, 5)] * 4,
    "two batches": [(5, 5)] * 4 + [(12, 5)] * 4,
}


@pytest.mark.parametrize("lengths", SHAPES.values(), ids=SHAPES.keys())
def test_a_batch_asked_for_alone_is_that_of_iteration(lengths):
    batches = Batches(*make_pairs(lengths), 4, bucket_width=10, seed=3)
    for epoch, step in itertools.product(range(4), (0, len(batches) // 2)):
        batches.seek(epoch, step)
        in_turn = list(batches)
        assert {shape_of(batch) for batch in in_turn} <= set(batches.shapes)
        for index in reversed(range(len(batches))):
            assert equal([in_turn[index]], [batches[index]])


@pytest.mark.slow
@pytest.mark.parametrize("lengths", SHAPES.values(), ids=SHAPES.keys())
def test_fit_evaluate_and_predict_on_all_shapes(lengths):
    """Whatever Keras sees first, and from wherever an epoch is read."""
    batches = Batches(*make_pairs(lengths), 4, bucket_width=10, seed=3)
    model = compiled()
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)  # such as "Your input ran out of data"
        for epoch, step in [(0, 0), (2, 0), (1, len(batches) // 2), (5, len(batches) - 1)]:
            batches.seek(epoch, step)
            model.fit(batches, epochs=1 if step else 2, verbose=0)
            batches.seek(epoch, step)
            model.evaluate(batches, verbose=0)
        if keras.backend.backend() == "tensorflow":
            assert model.traces == 2  # one program for all shapes
        batches.seek(0)
        # Keras joins predictions to one array, so it takes a model with one number for each pair.
        assert Pooled().predict(batches, verbose=0).shape == (len(lengths),)


class Looked(Batches):
    """Notes which batches are asked for."""

    def __init__(self, *args, **options):
        self.asked = []
        super().__init__(*args, **options)

    def __getitem__(self, index):
        batch = super().__getitem__(index)
        self.asked.append((self.epoch, index, batch))
        return batch


@pytest.mark.parametrize("lengths", SHAPES.values(), ids=SHAPES.keys())
@pytest.mark.slow
def test_fit_reads_the_epochs_one_after_the_other(lengths):
    pairs = make_pairs(lengths)
    looked, expected = (kind(*pairs, 4, bucket_width=10) for kind in (Looked, Batches))
    model = compiled()
    model.fit(looked, verbose=0)  # also to build the loss: Keras looks at a batch for that
    looked.seek(0)
    looked.asked = []
    model.fit(looked, epochs=3, verbose=0)
    assert looked.epoch == 3
    model.fit(looked, verbose=0)
    assert looked.epoch == 4
    where = [(epoch, index) for epoch, index, _ in looked.asked]
    assert where == list(itertools.product(range(4), range(len(expected))))
    for epoch in range(4):
        expected.seek(epoch)
        assert equal(expected, [batch for here, _, batch in looked.asked if here == epoch])


def test_to_look_at_batches_moves_nothing():
    batches = Batches(*make_pairs(SHAPES["one is longer"]), 4, bucket_width=10)
    for _ in range(2):
        list(batches)
        batches[1]
    compiled().fit(batches, epochs=2, verbose=0, callbacks=[Looks(batches)])
    assert batches.epoch == 2


class Looks(keras.callbacks.Callback):
    def __init__(self, batches):
        super().__init__()
        self.batches = batches

    def on_epoch_begin(self, epoch, logs=None):
        list(self.batches)


class Stop(keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        if batch == 3:
            raise KeyboardInterrupt


def test_a_broken_off_epoch_begins_anew():
    batches, model = Batches(*make_pairs(SHAPES["one is longer"]), 4, bucket_width=10), compiled()
    batches.seek(7)
    with pytest.raises(KeyboardInterrupt):
        model.fit(batches, verbose=0, callbacks=[Stop()])
    assert batches.epoch == 7
    model.fit(batches, verbose=0)
    assert batches.epoch == 8


@on_tensorflow
def test_the_dataset_is_not_tuned():
    """A tuner delays the end of every epoch: by up to as long as the epoch took."""
    options = Batches([[5]], [[6]]).get_tf_dataset().options()
    assert options.autotune.enabled is False


@on_tensorflow
def test_a_pydataset_of_these_batches_fails():
    """If this fails, Keras has become better, and `Batches` may become a `PyDataset`."""

    class Plain(keras.utils.PyDataset):
        def __len__(self):
            return len(given)

        def __getitem__(self, index):
            return given[index]

    given = list(Batches(*make_pairs(SHAPES["one is longer"]), 4, bucket_width=10, shuffle=False))
    assert shape_of(given[0]) == shape_of(given[1]) != shape_of(given[-1])
    with pytest.raises(Exception, match="shape"):
        compiled().fit(Plain(), shuffle=False, verbose=0)


def test_ids_that_are_no_integers_are_refused_and_not_cut():
    with pytest.raises(TypeError, match="'float' object cannot be interpreted as an integer"):
        Batches([[4.7]], [[5]])
    assert Batches([np.array([4, 6])], [np.array([5])])[0][1][0, :2].tolist() == [5, 3]


def test_a_batch_that_reaches_over_two_target_widths_has_sources_of_about_one_length():
    """Sources go up and down in turn: 1, 9 | 9, 1 | 1, 9. Upwards alone, each batch would mix."""
    lengths = [(source, target) for target in (2, 3, 4) for source in (1, 9)]
    shapes = Batches(*make_pairs(lengths), 1, bucket_width=1, shuffle=False)
    sources = [inputs["encoder_token_ids"].shape[1] for inputs, _ in shapes]
    assert sources in ([2, 10, 10, 2, 2, 10], [10, 2, 2, 10, 10, 2])

"""The benchmarks: their arithmetic, their batches, and that all peers are the same honest model."""

import csv
import math
import os
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from importlib import import_module

import keras
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import data, measure, report
from benchmarks.__main__ import parse
from benchmarks.config import PEERS, Config, Entry
from benchmarks.worker import Failed, Worker
from nlp104.data.batches import Batches
from nlp104.data.tokenizer import END_ID, PAD_ID, START_ID

BACKEND = keras.backend.backend()
CONFIG = Config(
    vocabulary_size=23,
    num_layers=1,
    hidden_dim=8,
    intermediate_dim=12,
    num_heads=2,
    max_sequence_length=16,
    batch_size=3,
)
HERE = [p for p in PEERS if p != "torch" and not Entry(p, BACKEND).missing()]
APART = [e for e in (Entry("torch", "torch"),) if not e.missing()]

ids = st.lists(st.integers(4, 22), min_size=1, max_size=9)
pairs = st.lists(st.tuples(ids, ids), min_size=4, max_size=12)


# Batches.


@given(pairs)
def test_batch_is_that_of_the_package(pairs):
    sources, targets = map(list, zip(*pairs, strict=True))
    inputs, labels = data.batch(sources, targets)
    (expected, expected_labels), *more = Batches(
        sources, targets, batch_size=len(pairs), bucket_width=1, shuffle=False
    )
    assert not more
    assert {len(ids) for ids in (*inputs.values(), labels)} == {len(pairs)}

    def rows(inputs, labels):
        return sorted(
            zip(
                inputs["encoder_token_ids"].tolist(),
                inputs["decoder_token_ids"].tolist(),
                labels.tolist(),
                strict=True,
            )
        )

    assert rows(inputs, labels) == rows(expected, expected_labels)


@given(pairs, st.integers(1, 4), st.sampled_from([None, 12]))
def test_stream_gives_every_pair_once_an_epoch(pairs, batch_size, width):
    sources, targets = map(list, zip(*pairs, strict=True))
    batches = data.stream(sources, targets, batch_size, width)
    epoch = [next(batches) for _ in range(len(pairs) // batch_size)]
    seen = Counter()
    for inputs, labels in epoch:
        assert labels.shape == inputs["decoder_token_ids"].shape
        assert (width or labels.shape[1]) == labels.shape[1]
        seen += Counter(
            (tuple(s[s > END_ID].tolist()), tuple(t[t > END_ID].tolist()))
            for s, t in zip(inputs["encoder_token_ids"], labels, strict=True)
        )
    given_out = Counter((tuple(s), tuple(t)) for s, t in pairs)
    assert seen <= given_out
    assert seen.total() == len(epoch) * batch_size


@given(pairs)
def test_real_tokens_are_counted_without_padding(pairs):
    sources, targets = map(list, zip(*pairs, strict=True))
    batches = [data.batch(sources, targets, 11, 15), data.batch(sources, targets)]
    assert data.real_tokens(batches) == 2 * sum(len(target) + 1 for target in targets)
    padded = len(pairs) * (11 + 15)
    real = sum(len(source) + len(target) + 2 for source, target in pairs)
    assert math.isclose(data.padding_share(batches[:1]), 1 - real / padded)


def test_same_batches_are_equal_for_all_and_of_one_shape():
    sources = [[5] * n for n in range(1, 12)]
    targets = [[6] * n for n in range(2, 13)]
    mine, theirs = (data.same_batches(sources, targets, 4, count=5) for _ in range(2))
    for (inputs, labels), (others, other_labels) in zip(mine, theirs, strict=True):
        np.testing.assert_array_equal(labels, other_labels)
        for name, array in inputs.items():
            np.testing.assert_array_equal(array, others[name])
            assert array.shape == labels.shape == (4, 16)  # 12 and [END], to a multiple of 8


def test_synthetic_sentences_have_no_padding():
    inputs, labels = data.synthetic(5, 7, 100)
    for array in (*inputs.values(), labels):
        assert array.shape == (5, 7)
        assert array.min() > PAD_ID
        assert array.max() < 100


def test_sentences_of_a_folder(tmp_path):
    """Files named like Multi30k's; what is too long for a batch is left out."""
    words = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
    for part, count in (("train", 30), ("val", 5)):
        for language in ("en", "de"):
            lines = [f"{words[i % 10]} {words[i // 10]} {language}" for i in range(count)]
            lines[2] = "far too long " * 20
            text = "\n".join(lines) + "\n"
            (tmp_path / f"{part}.{language}").write_text(text, encoding="utf-8")
    (sources, targets), test = data.sentences(tmp_path, 60)
    assert len(sources) == len(targets) == 29
    assert len(test[0]) == len(test[1]) == 4
    assert max(max(ids) for ids in sources + targets) < 60
    assert max(map(len, sources + targets)) < data.LONGEST


# Arithmetic.


def turn(tokens, seconds, cpu=1.0):
    return {"tokens": tokens, "seconds": seconds, "cpu": cpu, "steps": 2}


def test_rates_ratios_and_spread():
    fast, slow = [turn(600, 2.0), turn(100, 1.0)], [turn(100, 1.0), turn(100, 2.0)]
    assert measure.rates(fast) == [300, 100]
    assert measure.rates([turn(600, 2.0, cpu=4.0)], "cpu") == [150]
    assert measure.ratio(fast, slow) == 2.5  # of 3 and 2: every round compares its own turns
    assert measure.ratio(slow, slow) == 1
    assert measure.spread([1.0]) == 0
    assert measure.spread([90.0, 95.0, 100.0, 105.0, 110.0]) == pytest.approx(0.05)


def test_flops_are_those_of_the_matrix_products():
    """Counted again, product by product."""
    rows, source, target = 3, 5, 7
    d, ff, heads = CONFIG.hidden_dim, CONFIG.intermediate_dim, CONFIG.num_heads

    def product(m, k, n):
        return 2 * m * k * n

    def attention(queries, keys):
        projections = 2 * product(queries, d, d) + 2 * product(keys, d, d)
        scores = heads * product(queries, d // heads, keys)
        return projections + scores + heads * product(queries, keys, d // heads)

    def feed_forward(length):
        return product(length, d, ff) + product(length, ff, d)

    layer = attention(source, source) + feed_forward(source)
    layer += attention(target, target) + attention(target, source) + feed_forward(target)
    forward = CONFIG.num_layers * layer + product(target, d, CONFIG.vocabulary_size)
    assert measure.training_flops(CONFIG, rows, source, target) == 3 * rows * forward


def test_peak_memory_notices_an_array():
    before = measure.peak_memory()
    array = np.ones(40_000_000)
    assert measure.peak_memory() > before - 1  # the peak may lie before the test
    assert measure.peak_memory() >= array.nbytes / 1024**2


def test_busy_cores_notices_another_program():
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as spinning:
        busy = measure.busy_cores(1.0)
        spinning.kill()
    assert 0.3 < busy <= os.cpu_count() + 0.1


# Reports.


def results():
    common = {"first": 2.0, "memory": 100.0, "parameters": 7}
    return {
        "nlp104-jax": common | {"name": "nlp104", "turns": [turn(300, 1.0), turn(330, 1.0)]},
        "series-jax": common | {"name": "series", "turns": [turn(10, 1.0), turn(12, 1.0)]},
        "torch": common | {"name": "torch", "memory": 50.0, "turns": [turn(100, 1.0)] * 2},
    }


def test_rows_compare_with_the_best_peer():
    ours, series, torch = report.rows_of(results(), size="tiny", batches="same")
    assert {row["best_peer"] for row in (ours, series, torch)} == {"torch"}
    assert ours["tokens_per_second"] == 315
    assert ours["times_best_peer"] == pytest.approx(3.15)
    assert torch["times_best_peer"] == 1
    assert series["size"] == "tiny"


def test_goals_are_the_best_of_ours_by_the_best_of_theirs():
    training = report.rows_of(results(), size="tiny", batches="same")
    decoding = report.rows_of(results(), size="tiny", search="greedy", batch=1, length=8)
    reached = {
        row["what"]: (row["wanted"], row["reached"]) for row in report.goals(training, decoding)
    }
    start = "training, tiny, same batches"
    assert reached[f"{start}: tokens/s of the best peer"] == ("≥ 1.5", 3.15)
    assert reached[f"{start}: memory of the leanest peer"] == ("≤ 1", 2)
    decoding = "decoding, tiny, greedy, batch 1: tokens/s of the series' loop"
    assert reached[decoding] == ("≥ 20", pytest.approx(315 / 11))
    assert len(reached) == 3  # nobody caches


def test_a_batch_is_also_compared_with_the_loop_row_by_row():
    decoding = [
        {
            "size": "tiny",
            "search": "greedy",
            "batch": batch,
            "entry": f"{model}-jax",
            "model": model,
        }
        | {"tokens_per_second": rate}
        for model, batch, rate in (
            ("nlp104", 1, 50.0),
            ("series", 1, 10.0),
            ("nlp104", 32, 700.0),
            ("series", 32, 100.0),
        )
    ]
    reached = {row["what"]: row["reached"] for row in report.goals([], decoding)}
    what = "decoding, tiny, greedy, batch {}: tokens/s of the series' loop{}"
    assert reached == {
        what.format(1, ""): 5,
        what.format(32, ""): 7,
        what.format(32, ", row by row"): 70,
    }


def test_tables(tmp_path):
    rows = [{"a": 1.23456789, "b": None}, {"a": -1000.0, "c": "x"}]
    report.write_csv(tmp_path / "t.csv", rows)
    with (tmp_path / "t.csv").open() as file:
        assert list(csv.DictReader(file)) == [
            {"a": "1.23457", "b": "", "c": ""},
            {"a": "-1000", "b": "", "c": "x"},
        ]
    columns = {"A": report.number("a", 1), "B": report.number("b"), "C": lambda r: r.get("c", "")}
    assert report.markdown(rows, columns).splitlines() == [
        "| A | B | C |",
        "| --: | --: | --- |",
        "| 1.2 | – |  |",
        "| -1,000.0 | – | x |",
    ]


def test_document_holds_every_table():
    training = report.rows_of(results(), size="tiny", batches="own")
    decoding = report.rows_of(results(), size="tiny", search="beam 4", batch=1, length=8)
    text = report.document(
        {"date": "today"}, training, decoding, {"x.png": "What"}, {"torch": "too little memory"}
    )
    for part in ("| date | today |", "**nlp104-jax**", "end to end", "beam 4", "![What](x.png)"):
        assert part in text
    assert "same batches" not in text
    assert "too little memory" in text


# Entries.


def test_entries_and_options():
    entry = Entry.parse("nlp104-tensorflow-xla")
    assert entry == Entry("nlp104", "tensorflow", jit_compile=True)
    assert entry.ours
    for name in ("nlp104-tensorflow-xla", "stock-jax", "torch"):
        assert Entry.parse(name).name == name
    for name in ("keras", "stock-theano", "stock-jax-fast", "torch-jax"):
        with pytest.raises(ValueError, match=f"Expected PEER-BACKEND.*Received: '{name}'"):
            Entry.parse(name)
    options = parse(["--quick", "--rounds", "7", "--batches", "1,2"])
    assert (options.rounds, options.batches, options.sizes) == (7, [1, 2], ["tiny"])
    assert options.name.endswith("-quick")


# Peers.


@pytest.fixture(scope="module")
def peers():
    return {name: import_module(f"benchmarks.peers.{PEERS[name][0]}").Peer(CONFIG) for name in HERE}


def batch(source_width=None, target_width=None):
    return data.batch(
        [[5, 6, 7], [8], [9, 10]], [[11], [12, 13, 14, 15], [16, 17]], source_width, target_width
    )


def check_padding(logits):
    inputs, _ = batch()
    padded, _ = batch(9, 8)
    real = inputs["decoder_token_ids"] != PAD_ID
    plain, wide = logits(inputs), logits(padded)
    assert plain.shape == (3, 5, CONFIG.vocabulary_size)
    assert wide.shape == (3, 8, CONFIG.vocabulary_size)
    np.testing.assert_allclose(wide[:, :5][real], plain[real], atol=1e-5)
    # A test that can fail: the logits do depend on the source and on what was written before.
    for name in inputs:
        other = {**inputs, name: np.where(inputs[name] > START_ID, 20, inputs[name])}
        assert np.abs(logits(other)[real] - plain[real]).max() > 1e-3


@pytest.mark.parametrize("name", HERE)
def test_padding_moves_no_logit(peers, name):
    check_padding(peers[name].logits)


def test_peers_are_equally_large(peers):
    sizes = {name: peer.parameters() for name, peer in peers.items()}
    if "kerashub" in sizes:  # its positions are learned
        sizes["kerashub"] -= 2 * CONFIG.max_sequence_length * CONFIG.hidden_dim
    assert len(set(sizes.values())) == 1, sizes


@pytest.mark.parametrize("name", HERE)
def test_greedy_search_is_the_best_token_of_every_step(peers, name):
    """Against the model's own logits of the whole prefix; nobody stops, and nobody pads."""
    peer = peers[name]
    peer.silence_end()
    source = batch()[0]["encoder_token_ids"]
    tokens = np.full((3, 5), PAD_ID, "int32")
    tokens[:, 0] = START_ID
    for step in range(2):  # what is not written yet is padding
        logits = peer.logits({"encoder_token_ids": source, "decoder_token_ids": tokens})
        tokens[:, step + 1] = logits[:, step].argmax(-1)
    written = tokens[:, 1:3]
    assert not np.isin(written, [PAD_ID, END_ID]).any()
    np.testing.assert_array_equal(peer.decode(source, 2), written)


def test_own_batches_are_counted_and_given_back(peers):
    """Those of the package, where an epoch's last batches stand for all of them."""
    peer = peers["nlp104"]
    peer.load([[5, 6, 7], [8], [9, 10]] * 4, [[11], [12, 13, 14, 15], [16, 17]] * 4)
    batches = list(peer.train_own(2))
    assert [len(labels) for _, labels in batches] == [CONFIG.batch_size] * 2
    assert peer.first_step is not None


def test_own_batches_of_positions(peers, monkeypatch):
    peer = peers["nlp104"]
    monkeypatch.setattr(peer, "config", replace(CONFIG, tokens_per_batch=40))
    peer.load([[5, 6, 7], [8], [9, 10]] * 4, [[11], [12, 13, 14, 15], [16, 17]] * 4)
    batches = list(peer.train_own(2))
    for inputs, labels in batches:
        assert max(inputs["encoder_token_ids"].size, labels.size) <= 40
    assert max(len(labels) for _, labels in batches) > CONFIG.batch_size


@pytest.mark.skipif(BACKEND != "tensorflow", reason="a process of its own: once is enough")
def test_worker_answers_and_says_what_failed():
    entry = APART[0] if APART else Entry("stock", BACKEND)
    worker = Worker(entry, threads=1)
    try:
        assert worker.started["imported"] > 10
        assert worker("build", CONFIG)["parameters"] > 1000
        worker("hold", [batch(8, 8)] * 2)
        if APART:  # PyTorch, which may not share a process with the others
            check_padding(lambda inputs: worker("logits", inputs))
            assert worker("first", False)["first"] > 0
            assert worker("train", 3, False)["tokens"] == 3 * 10
        assert worker("decode", batch()[0]["encoder_token_ids"], 2, 4) is None  # no beams
        with pytest.raises(Failed, match="no_such_method"):
            worker("no_such_method")
    finally:
        worker.close()


@pytest.mark.parametrize(
    "name",
    ["corpus_facts", "decoding_profile", "depth", "precision", "profile", "recipes", "wires"],
)
def test_a_script_explains_itself_instead_of_starting(name, capsys):
    with pytest.raises(SystemExit) as exit_:
        import_module(f"benchmarks.{name}").main(["--help"])
    assert exit_.value.code == 0
    assert f"benchmarks.{name}" in capsys.readouterr().out

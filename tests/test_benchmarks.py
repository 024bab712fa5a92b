"""The benchmarks: their arithmetic, their batches, and that all peers are the same honest model."""

import csv
import os
import re
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from importlib import import_module
from itertools import islice

import keras
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import data, measure, report
from benchmarks.__main__ import parse
from benchmarks.config import PEERS, Config, Entry, versions
from benchmarks.turns import Team, decode, train
from nlp104.data.batches import Batches
from nlp104.data.tokenizer import END_ID, PAD_ID, START_ID
from nlp104.figures.step_costs import step_flops

BACKEND = keras.backend.backend()
CONFIG = Config(
    vocabulary_size=23,
    num_layers=1,
    hidden_dim=8,
    intermediate_dim=12,
    num_heads=2,
    max_sequence_length=data.LONGEST,
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
        "nlp104-jax": common | {"turns": [turn(300, 1.0), turn(330, 1.0)]},
        "series-jax": common | {"turns": [turn(10, 1.0), turn(12, 1.0)]},
        "torch": common | {"memory": 50.0, "turns": [turn(100, 1.0)] * 2},
    }


def test_rows_compare_with_the_best_peer():
    ours, series, torch = report.rows_of(results(), size="tiny", batches="same")
    assert {row["best_peer"] for row in (ours, series, torch)} == {"torch"}
    assert ours["tokens_per_second"] == 315
    assert ours["times_best_peer"] == pytest.approx(3.15)
    assert torch["times_best_peer"] == 1
    assert series["size"] == "tiny"


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
        {"date": "today"}, training, decoding, ["### What"], {"torch": "too little memory"}
    )
    for part in ("| date | today |", "**nlp104-jax**", "end to end", "beam 4", "### What"):
        assert part in text
    assert "same batches" not in text
    assert "too little memory" in text


# Entries.


def test_entries_and_options():
    entry = Entry.parse("nlp104-tensorflow-xla")
    assert entry == Entry("nlp104", "tensorflow", jit_compile=True)
    assert entry.ours
    for name in ("nlp104-tensorflow-xla", "stock-jax", "torch", "torch-compiled"):
        assert Entry.parse(name).name == name
    for name in ("keras", "stock-theano", "stock-jax-fast", "torch-jax", "stock-jax-compiled"):
        with pytest.raises(ValueError, match=f"Expected PEER-BACKEND.*Received: '{name}'"):
            Entry.parse(name)
    options = parse(["--quick", "--rounds", "7", "--batches", "1,2"])
    assert (options.rounds, options.batches, options.sizes) == (7, [1, 2], ["tiny"])
    assert options.name.endswith("-quick")
    assert not [entry.name for entry in options.entries if "jax" in entry.name]
    assert [entry.name for entry in parse(["--quick", "--entries", "torch"]).entries] == ["torch"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--parts", "decoding"],
            "Expected parts of same, own, decode, growth. Received: decoding",
        ),
        (["--sizes", "huge"], "Expected sizes of .*tiny.* Received: huge"),
        (["--qui"], "unrecognized arguments: --qui"),
        (
            ["--parts", "own", "--name", "two-cores-long"],
            "another folder: .* Received: two-cores-long",
        ),
    ],
)
def test_options_that_would_cost_a_report_are_refused(arguments, message, capsys):
    with pytest.raises(SystemExit):
        parse(arguments)
    assert re.search(message, capsys.readouterr().err)


def test_a_batch_larger_than_the_test_part_is_refused():
    with pytest.raises(ValueError, match=r"at least 4 sentences to decode\. Received: 2"):
        decode(None, None, 1, [(2, 8, 1), (4, 8, 1)], [[4, 3], [5, 3]])


def test_versions_of_what_the_entries_need():
    found = versions([Entry("stock", BACKEND), Entry("series", BACKEND)])
    assert list(found) == ["python", "nlp104", "keras", BACKEND]
    assert found["keras"] == keras.__version__


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


@pytest.mark.slow
@pytest.mark.parametrize("name", HERE)
def test_padding_moves_no_logit(peers, name):
    check_padding(peers[name].logits)


@pytest.mark.slow
def test_peers_are_equally_large(peers):
    sizes = {name: peer.parameters() for name, peer in peers.items()}
    if "kerashub" in sizes:  # its positions are learned
        sizes["kerashub"] -= 2 * CONFIG.max_sequence_length * CONFIG.hidden_dim
    assert len(set(sizes.values())) == 1, sizes


@pytest.mark.slow
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


@pytest.mark.long
@pytest.mark.parametrize("name", HERE)
def test_own_batches_hold_every_pair_once_an_epoch(peers, name):
    sources, targets = [[5, 6, 7], [8], [9, 10]] * 4, [[11], [12, 13, 14, 15], [16, 17]] * 4
    batches = list(islice(peers[name].batches(sources, targets), 8))
    for epoch in (batches[:4], batches[4:]):
        assert [len(labels) for _, labels in epoch] == [CONFIG.batch_size] * 4
        assert data.real_tokens(epoch) == sum(len(target) + 1 for target in targets)
    before = peers[name].parameters(), peers[name].logits(batch()[0])
    peers[name].train(batches[:2], own=True)
    assert peers[name].parameters() == before[0]
    assert np.abs(peers[name].logits(batch()[0]) - before[1]).max() > 1e-5  # it has learned


def test_own_batches_of_positions(peers, monkeypatch):
    peer = peers["nlp104"]
    monkeypatch.setattr(peer, "config", replace(CONFIG, tokens_per_batch=40))
    found = peer.batches([[5, 6, 7], [8], [9, 10]] * 4, [[11], [12, 13, 14, 15], [16, 17]] * 4)
    batches = list(islice(found, 2))
    for inputs, labels in batches:
        assert max(inputs["encoder_token_ids"].size, labels.size) <= 40
    assert max(len(labels) for _, labels in batches) > CONFIG.batch_size


# Processes.


class Recorded(Team):
    """A team without processes, whose entries note when it is their turn."""

    def __init__(self, names, breaks=()):
        self.failures, self.turns, self._breaks = {}, [], breaks
        self._processes = dict.fromkeys(names, self)

    def submit(self, function, *args):
        return self

    def shutdown(self):
        self.turns.append("left")

    def _ask(self, name, function, *args):
        self.turns.append((name, *args))
        return super()._ask(name, function, *args)

    def result(self):
        if self.turns[-1] in self._breaks:
            self._breaks.remove(self.turns[-1])
            raise MemoryError("too little")
        return self.turns[-1][0]


def test_entries_take_turns_there_and_back():
    team = Recorded(["a", "b", "c"])
    assert team.interleave(3, "train") == {name: [name] * 3 for name in "abc"}
    assert [name for name, _ in team.turns] == [*"abc", *"cba", *"abc"]


def test_one_that_fails_leaves_and_the_others_go_on(capsys):
    team = Recorded(["a", "b", "c"], breaks=[("b", "train")])
    assert team.interleave(2, "train") == {"a": ["a"] * 2, "c": ["c"] * 2}
    assert team.failures == {"b": "MemoryError: too little"}
    assert [t if t == "left" else t[0] for t in team.turns] == ["a", "b", "left", "c", "c", "a"]
    assert "too little" in capsys.readouterr().err


@pytest.mark.long
@pytest.mark.skipif(BACKEND != "tensorflow", reason="a process of its own: once is enough")
def test_a_process_measures_and_says_what_failed(capsys, monkeypatch):
    monkeypatch.setenv("KERAS_BACKEND", "unheard of")  # each entry has its own
    entry = APART[0] if APART else Entry("stock", BACKEND)
    wide = [batch(8, 8)] * 2
    with Team([entry], threads=1) as team:
        found = train(team, CONFIG, 2, 0.01, wide, own=False)[entry.name]
        assert found["parameters"] > 1000
        assert found["warm_up"] > found["first"] > 0
        assert found["memory"] > 0
        assert found["flops"] == step_flops(CONFIG, 3, 8, 8)
        for turn in found["turns"]:
            assert turn["tokens"] == turn["steps"] * 10
            assert turn["seconds"] > 0
        check_padding(lambda inputs: team.each("logits", inputs)[entry.name])
        cases = [(2, 3, 1), (2, 3, 4)]
        found = decode(team, CONFIG, 2, cases, [[5, 6, 3], [7, 3]])
        for turn in found[2, 3, 1][entry.name]["turns"]:
            assert turn["tokens"] == turn["calls"] * 2 * 3
            assert turn["seconds"] > 0.29
        assert found[2, 3, 4] == {}  # neither PyTorch nor Keras has a beam search
        assert team.failures == {}
        assert team.each("no_such_method") == {}
        assert "no_such_method" in team.failures[entry.name]
        assert "Traceback" in capsys.readouterr().err

"""Processes that take turns: A B C, C B A, A B C, … with only one of them at work at any time."""

import multiprocessing
import os
import sys
import time
import traceback
from concurrent.futures import ProcessPoolExecutor
from unittest import mock

from benchmarks import worker
from benchmarks.data import pad
from nlp104.figures.step_costs import step_flops

CALLS = 0.3  # seconds of decoding in a turn
BEGIN = time.monotonic()


def say(message):
    print(f"[{time.monotonic() - BEGIN:6.0f} s] {message}", file=sys.stderr, flush=True)


class Team:
    """One process for each entry: TensorFlow, JAX and PyTorch must not share one.

    One that fails is reported and leaves; the others go on.

    Args:
        entries: `benchmarks.config.Entry`s.
        threads: Processor cores for each.

    Attributes:
        failures: The reason by the name of the entry.
    """

    def __init__(self, entries, threads):
        self.failures = {}
        self._processes = {}
        spawn = multiprocessing.get_context("spawn")
        for entry in entries:
            say(f"starting {entry.name}")
            self._processes[entry.name] = ProcessPoolExecutor(1, spawn)
            # A process inherits what is set when the first call starts it.
            with mock.patch.dict(os.environ, _environment(entry, threads)):
                self._ask(entry.name, worker.begin, entry)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self._processes.values():
            process.shutdown()

    def _ask(self, name, function, *args):
        try:
            return {name: self._processes[name].submit(function, *args).result()}
        except Exception as error:  # whatever a library raises; the others can go on
            say(f"{name} failed")
            traceback.print_exception(error)
            self.failures[name] = f"{type(error).__name__}: {error}".splitlines()[0]
            self._processes.pop(name).shutdown()
            return {}

    def each(self, method, *args, backwards=False):
        """Lets every entry do something, one after the other.

        Args:
            method: Name of a method of `benchmarks.worker.Session`.
            *args: Its arguments.
            backwards: Whether the last one begins.

        Returns:
            The answers by the name of the entry, without those that failed.
        """
        answers, names = {}, list(self._processes)
        for name in reversed(names) if backwards else names:
            answers |= self._ask(name, worker.do, method, *args)
        return {name: answers[name] for name in names if name in answers}

    def interleave(self, rounds, method, *args):
        """Rounds of one turn each; returns the list of every entry's turns, of those that last."""
        answers = [self.each(method, *args, backwards=bool(i % 2)) for i in range(rounds)]
        return {name: [answer[name] for answer in answers] for name in answers[-1]}


def _environment(entry, threads):
    return {
        "KERAS_BACKEND": entry.backend,
        "OMP_NUM_THREADS": str(threads),
        "TF_NUM_INTRAOP_THREADS": str(threads),
        "TF_NUM_INTEROP_THREADS": str(threads),
        # PyTorch's threads would wait for each other by spinning, which is ruinous where another
        # program uses a core as well. OMP_WAIT_POLICY=active brings it back.
        "OMP_WAIT_POLICY": os.environ.get("OMP_WAIT_POLICY", "passive"),
        "XLA_PYTHON_CLIENT_PREALLOCATE": "false",  # several processes share the device
        "TF_FORCE_GPU_ALLOW_GROWTH": "true",
    }


def train(team, config, rounds, seconds, data, own):
    """Training in turns of about `seconds`.

    Args:
        team: `Team`.
        config: `benchmarks.config.Config`.
        rounds: Number of turns for each.
        seconds: About how long a turn takes.
        data: The batches of all, or `(sources, targets)`.
        own: Whether every peer makes its own batches, from sources and targets.

    Returns:
        By the name of the entry a dictionary with its `turns` and what else is to be known of it.
    """
    built = team.each("build", config)
    team.each("load", data, own)
    say("first steps")
    started = team.each("warm_up")
    team.each("pace", seconds)
    say("taking turns")
    turns = team.interleave(rounds, "train")
    memory = team.each("memory")
    flops = {}
    if not own:
        inputs, labels = data[0]
        shape = *inputs["encoder_token_ids"].shape, labels.shape[1]
        flops = {"flops": step_flops(config, *shape)}
    return {
        name: {**built[name], **started[name], **memory[name], **flops, "turns": turns[name]}
        for name in memory
    }


def decode(team, config, rounds, cases, sources):
    """Decoding in turns of as many calls as take `CALLS` seconds, and at least one.

    Args:
        team: `Team`.
        config: `benchmarks.config.Config`.
        rounds: Number of turns for each.
        cases: `(batch, max_length, num_beams)` triples.
        sources: Source sentences as lists of ids, as many as the largest batch.

    Returns:
        For every case, by the name of the entry, a dictionary with its `turns` and the seconds of
        its `first` call. Entries without such a search are left out.
    """
    most = max(rows for rows, _, _ in cases)
    if most > len(sources):
        raise ValueError(f"Expected at least {most} sentences to decode. Received: {len(sources)}.")
    built = team.each("build", config)
    team.each("silence_end")
    results = {}
    for case in cases:
        rows, max_length, num_beams = case
        say(f"decoding {rows} rows to {max_length} tokens with {num_beams} beams")
        request = "decode", pad(sources[:rows]), max_length, num_beams
        first = team.each(*request)
        turns = team.interleave(rounds, *request, CALLS)
        results[case] = {
            name: {**built[name], "first": first[name]["seconds"], "turns": turns[name]}
            for name in turns
            if first[name]
        }
    return results

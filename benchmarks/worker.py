"""A process for each entry: TensorFlow, JAX and PyTorch must not share one.

`Worker` starts `python -m benchmarks.worker ENTRY` and calls the methods of its `Session`, one call
at a time: pickled requests go to its standard input, pickled answers come back from a copy of its
standard output.
"""

import importlib
import os
import pickle
import subprocess
import sys
import time
import traceback
from itertools import cycle, islice

from benchmarks.config import PEERS, Entry
from benchmarks.data import real_tokens
from benchmarks.measure import peak_device_memory, peak_memory, stopwatch


class Failed(Exception):
    """What went wrong in a worker, with its traceback."""


class Worker:
    """The driver's side.

    Args:
        entry: `benchmarks.config.Entry`.
        threads: Processor cores that it may use.
    """

    def __init__(self, entry, threads):
        self.entry = entry
        count = str(threads)
        # PyTorch's threads would wait for each other by spinning, which is ruinous where another
        # program uses a core as well. OMP_WAIT_POLICY=active brings it back.
        environment = (
            {"OMP_WAIT_POLICY": "passive"}
            | os.environ
            | {
                "OMP_NUM_THREADS": count,
                "TF_NUM_INTRAOP_THREADS": count,
                "TF_NUM_INTEROP_THREADS": count,
                "XLA_PYTHON_CLIENT_PREALLOCATE": "false",  # several processes share the device
                "TF_FORCE_GPU_ALLOW_GROWTH": "true",
                "KERAS_BACKEND": entry.backend,
            }
        )
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.worker", entry.name, count],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
        )
        self.started = self._answer()

    def __call__(self, method, *args):
        """Calls a method of the session and waits for what it returns."""
        try:
            pickle.dump((method, args), self._process.stdin)
            self._process.stdin.flush()
        except BrokenPipeError:
            raise Failed(f"{self.entry.name} has ended (out of memory?)") from None
        return self._answer()

    def _answer(self):
        try:
            succeeded, value = pickle.load(self._process.stdout)
        except EOFError:
            raise Failed(f"{self.entry.name} has ended (out of memory?)") from None
        if not succeeded:
            raise Failed(f"{self.entry.name}: {value}")
        return value

    def close(self):
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()


class Session:
    """The worker's side: a peer, its data, and the clock around what it does."""

    def __init__(self, entry):
        with stopwatch() as times:
            self._module = importlib.import_module(f"benchmarks.peers.{PEERS[entry.peer][0]}")
        self._entry = entry
        self._imported = peak_memory()
        self.started = {"import": times["seconds"], "imported": self._imported}

    def build(self, config):
        with stopwatch() as times:
            self._peer = self._module.Peer(config, self._entry.jit_compile)
        self._built = times["seconds"]
        return {
            "name": self._peer.name,
            "batching": self._peer.batching,
            "parameters": self._peer.parameters(),
            "versions": self._peer.versions(),
        }

    def hold(self, batches):
        """Keeps the batches that all peers train on."""
        self._batches = batches

    def load(self, sources, targets):
        """Gives the peer sentences, which it will put into batches by itself."""
        self._peer.load(sources, targets)

    def first(self, own):
        """Trains until nothing is left to trace or compile.

        Returns:
            Seconds that building the model took, together with those up to the end of the `first`
            step, and with those up to the end of the whole `warm_up`.
        """
        begin = time.perf_counter()
        if own:
            self._peer.warm_up()
        else:
            self._peer.train(self._batches[:2])
        end = time.perf_counter()
        return {
            "first": self._built + self._peer.first_step - begin,
            "warm_up": self._built + end - begin,
        }

    def train(self, steps, own):
        """A turn: `steps` training steps, with the seconds and the real tokens that they took."""
        with stopwatch() as times:
            if own:
                batches = self._peer.train_own(steps)
            else:
                batches = list(islice(cycle(self._batches), steps))
                self._peer.train(batches)
        return times | {"tokens": real_tokens(batches), "steps": steps}

    def silence_end(self):
        self._peer.silence_end()

    def decode(self, encoder_token_ids, max_length, num_beams=1, least=0.0):
        """Translates, again and again until at least so many seconds have passed.

        Returns:
            The seconds, the tokens and the number of calls; `None` if the peer has no such search.
        """
        calls = 0
        with stopwatch() as times:
            begin = time.perf_counter()
            while not calls or time.perf_counter() - begin < least:
                try:
                    ids = self._peer.decode(encoder_token_ids, max_length, num_beams)
                except NotImplementedError:
                    return None
                calls += 1
        return times | {"tokens": calls * int((ids != 0).sum()), "calls": calls}

    def logits(self, inputs):
        return self._peer.logits(inputs)

    def memory(self):
        """MB: the most that the accelerator held; without one, the process since its imports."""
        return {"memory": peak_device_memory() or peak_memory() - self._imported}


def main(name, threads):
    entry, threads = Entry.parse(name), int(threads)
    if hasattr(os, "sched_setaffinity"):  # the one limit that every library obeys
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever is printed goes to the standard error

    def answer(function):
        try:
            result = True, function()
        except Exception:
            result = False, traceback.format_exc()
        pickle.dump(result, answers)
        answers.flush()
        return result

    def start():
        nonlocal session
        session = Session(entry)
        return session.started

    session = None
    if not answer(start)[0]:
        return
    while True:
        try:
            method, args = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        answer(lambda: getattr(session, method)(*args))  # noqa: B023  it is called at once


if __name__ == "__main__":
    main(*sys.argv[1:])

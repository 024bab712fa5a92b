"""Inside the process of one entry: a peer, its data, and the clock around what it does.

`benchmarks.turns` starts the process with `begin` and then asks for one thing after the other
with `do`.
"""

import importlib
import time
from itertools import cycle, islice

from benchmarks.config import PEERS
from benchmarks.data import real_tokens
from benchmarks.measure import peak_device_memory, peak_memory, stopwatch

_session = None


def begin(entry):
    """The first thing that a new process is asked for."""
    global _session
    _session = Session(entry)


def do(method, *args):
    """Calls a method of the process's `Session`."""
    return getattr(_session, method)(*args)


class Session:
    """One entry at work.

    Args:
        entry: `benchmarks.config.Entry`.
    """

    def __init__(self, entry):
        self._module = importlib.import_module(f"benchmarks.peers.{PEERS[entry.peer][0]}")
        self._jit_compile = entry.jit_compile
        self._imported = peak_memory()

    def build(self, config):
        with stopwatch() as times:
            self._peer = self._module.Peer(config, self._jit_compile)
        self._built = times["seconds"]
        return {"parameters": self._peer.parameters()}

    def load(self, data, own):
        """Takes the batches that all entries share or, to make its `own`, pairs of sentences."""
        self._own = own
        self._batches = self._peer.batches(*data) if own else data

    def warm_up(self):
        """Trains until nothing is left to trace or compile.

        Returns:
            Seconds that building the model took, together with the `first` step, and together with
            the whole `warm_up`.
        """
        first = self._built + self.train(1)["seconds"]
        with stopwatch() as rest:
            if self._own:
                self._peer.warm_up()
            self.train(2)
        return {"first": first, "warm_up": first + rest["seconds"]}

    def pace(self, seconds):
        """Chooses how many steps a turn has. A call of `fit` costs something in itself, too."""
        few = self.train(2)["seconds"]
        step = few / 2
        if few < seconds / 4:
            step = max((self.train(8)["seconds"] - few) / 6, few / 100)
        self._steps = max(1, round(seconds / step))

    def train(self, steps=None):
        """A turn: training steps, with the seconds and the real tokens that they took."""
        steps = steps or self._steps
        with stopwatch() as times:
            batches = list(islice(self._batches if self._own else cycle(self._batches), steps))
            self._peer.train(batches, self._own)
        return times | {"tokens": real_tokens(batches), "steps": steps}

    def silence_end(self):
        self._peer.silence_end()

    def decode(self, encoder_token_ids, max_length, num_beams=1, least=0.0):
        """A turn: translates, again and again until at least so many seconds have passed.

        Returns:
            The seconds, the tokens and the number of calls; `None` if the peer has no beam search.
        """
        if num_beams > 1 and not self._peer.has_beam_search:
            return None
        calls, start = 0, time.perf_counter()
        with stopwatch() as times:
            while not calls or time.perf_counter() - start < least:
                ids = self._peer.decode(encoder_token_ids, max_length, num_beams)
                calls += 1
        return times | {"tokens": calls * int((ids != 0).sum()), "calls": calls}

    def logits(self, inputs):
        return self._peer.logits(inputs)

    def memory(self):
        """MB: the most that the accelerator held; without one, the process since its imports."""
        return {"memory": peak_device_memory() or peak_memory() - self._imported}

"""Workers that take turns: A B C, C B A, A B C, … with only one of them at work at any time."""

import sys
import time

from benchmarks.data import pad
from benchmarks.measure import training_flops
from benchmarks.worker import Failed, Worker

CALLS = 0.3  # seconds
BEGIN = time.monotonic()


def say(message):
    print(f"[{time.monotonic() - BEGIN:6.0f} s] {message}", file=sys.stderr, flush=True)


class Team:
    """One worker for each entry. One that fails is reported and leaves; the others go on.

    Args:
        entries: `benchmarks.config.Entry`s.
        threads: Processor cores for each.

    Attributes:
        failures: The reason by the name of the entry.
        fresh: Whether the workers have trained nothing so far.
    """

    def __init__(self, entries, threads):
        self.failures = {}
        self.fresh = True
        self.workers = {}
        for entry in entries:
            say(f"starting {entry.name}")
            try:
                self.workers[entry.name] = Worker(entry, threads)
            except Failed as reason:
                self._drop(entry.name, reason)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for worker in self.workers.values():
            worker.close()

    def _drop(self, name, reason):
        say(f"{name} failed: {reason}")
        self.failures[name] = str(reason).strip().splitlines()[-1]
        if name in self.workers:
            self.workers.pop(name).close()

    def each(self, request, backwards=False):
        """Lets every worker do something, one after the other.

        Args:
            request: A function of the worker.
            backwards: Whether the last one begins.

        Returns:
            What the function returned by the name of the entry, without those that failed.
        """
        answers = {}
        names = list(self.workers)
        for name in reversed(names) if backwards else names:
            try:
                answers[name] = request(self.workers[name])
            except Failed as reason:
                self._drop(name, reason)
        return {name: answers[name] for name in names if name in answers}

    def interleave(self, turn, rounds):
        """Rounds of one turn each; returns the list of every entry's turns, of those that last."""
        answers = [self.each(turn, backwards=bool(i % 2)) for i in range(rounds)]
        return {name: [answer[name] for answer in answers] for name in answers[-1]}


def train(team, config, rounds, seconds, own, data):
    """Training in turns of about `seconds`.

    Args:
        team: `Team`.
        config: `benchmarks.config.Config`.
        rounds: Number of turns for each.
        seconds: About how long a turn takes.
        own: Whether every peer makes its own batches.
        data: `(sources, targets)` if it does, otherwise the batches of all.

    Returns:
        By the name of the entry a dictionary with its `turns` and what else is to be known of it.
    """
    built = team.each(lambda worker: worker("build", config))
    team.each(lambda worker: worker("load", *data) if own else worker("hold", data))

    def start(worker):
        say(f"first steps of {worker.entry.name}")
        return worker("first", own)

    started = team.each(start)
    steps = team.each(lambda worker: _steps(worker, seconds, own))
    flops = None
    if not own:
        inputs, labels = data[0]
        flops = training_flops(config, *inputs["encoder_token_ids"].shape, labels.shape[1])
    say("taking turns")
    turns = team.interleave(lambda w: w("train", steps[w.entry.name], own), rounds)
    # A process that has done other work before may still hold what that took.
    memory = team.each(lambda worker: worker("memory")) if team.fresh else {}
    team.fresh = False
    return {
        name: {
            **built[name],
            **started[name],
            **memory.get(name, {}),
            "flops": flops,
            "turns": turns[name],
        }
        for name in turns
    }


def _steps(worker, seconds, own):
    """How many steps take so long. A call of `fit` costs something in itself: it does not count."""
    few = worker("train", 2, own)["seconds"]
    if few > seconds / 4:
        return max(1, round(2 * seconds / few))
    more = worker("train", 8, own)["seconds"]
    return max(1, round(seconds / max((more - few) / 6, few / 100)))


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
    built = team.each(lambda worker: worker("build", config))
    team.each(lambda worker: worker("silence_end"))
    results = {}
    for case in cases:
        rows, max_length, num_beams = case
        say(f"decoding {rows} rows to {max_length} tokens with {num_beams} beams")
        request = "decode", pad(sources[:rows]), max_length, num_beams
        first, turns = _calls(team, rounds, request)
        results[case] = {
            name: {**built[name], "first": first[name]["seconds"], "turns": turns[name]}
            for name in turns
            if first[name]
        }
    return results


def _calls(team, rounds, request):
    """What a first call of everybody answers, and the turns after it."""
    first = team.each(lambda worker: worker(*request))
    return first, team.interleave(lambda worker: worker(*request, CALLS), rounds)

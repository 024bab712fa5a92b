"""Clocks, memory and the arithmetic of rates."""

import os
import resource
import statistics
import sys
import time
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def stopwatch():
    """Yields a dictionary that holds, after the block, its `seconds` and its `cpu` seconds."""
    times = {}
    wall, cpu = time.perf_counter(), time.process_time()
    yield times
    times["seconds"] = time.perf_counter() - wall
    times["cpu"] = time.process_time() - cpu


def peak_memory():
    """The most memory that this process has held so far, in MB."""
    status = Path("/proc/self/status")
    if status.exists():  # ru_maxrss would begin with what the parent held
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1024**2 if sys.platform == "darwin" else 1024)


def peak_device_memory():
    """The most memory of an accelerator that was in use so far, in MB; 0 where there is none."""
    if "torch" in sys.modules:
        torch = sys.modules["torch"]
        if torch.cuda.is_available() and torch.cuda.is_initialized():
            return torch.cuda.max_memory_allocated() / 1024**2
    if "jax" in sys.modules:
        device = sys.modules["jax"].devices()[0]
        if device.platform != "cpu":
            return (device.memory_stats() or {}).get("peak_bytes_in_use", 0) / 1024**2
    if "tensorflow" in sys.modules:
        tf = sys.modules["tensorflow"]
        if tf.config.list_physical_devices("GPU"):
            return tf.config.experimental.get_memory_info("GPU:0")["peak"] / 1024**2
    return 0.0


def busy_cores(seconds=2.0):
    """How many processor cores were at work while this function waited, on the average."""
    if not Path("/proc/stat").exists():
        return os.getloadavg()[0]  # of the last minute: it remembers what has just ended

    def busy():
        ticks = [int(word) for word in Path("/proc/stat").read_text().split()[1:9]]
        idle, waiting = ticks[3:5]
        return (sum(ticks) - idle - waiting) / os.sysconf("SC_CLK_TCK")

    before, start = busy(), time.perf_counter()
    time.sleep(seconds)
    return (busy() - before) / (time.perf_counter() - start)


def rates(turns, clock="seconds"):
    """Tokens per second of every turn."""
    return [turn["tokens"] / turn[clock] for turn in turns]


def ratio(turns, reference):
    """How many times as fast as the reference: the median over rounds, each of one turn of both.

    A machine that is slow for a while is slow for both turns of a round.
    """
    pairs = zip(rates(turns), rates(reference), strict=True)
    return statistics.median(mine / other for mine, other in pairs)


def spread(values):
    """Half the distance between the quartiles, as a share of the median."""
    if len(values) < 2:
        return 0.0
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return (high - low) / 2 / middle

"""Ctrl-C while training: the step that is running is finished first."""

import signal
import threading
from contextlib import contextmanager


class Stop:
    """True as soon as somebody asked for an end."""

    def __init__(self):
        self.asked = False

    def __bool__(self):
        return self.asked

    def ask(self, *_):
        """The first request is granted after the current step, the second one at once."""
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True


@contextmanager
def stop_on_signal():
    """Turns Ctrl-C and SIGTERM into a request, since a step cut in half would spoil the state."""
    stop = Stop()
    if threading.current_thread() is not threading.main_thread():
        yield stop  # only the main thread receives signals
        return
    before = {number: signal.signal(number, stop.ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)

"""Tells the user's Ctrl-C from a KeyboardInterrupt that an agent raises."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from arena.errors import Interrupted


class Interrupts:
    """Remembers whether the user has interrupted, even where an agent swallowed the exception."""

    def __init__(self) -> None:
        self.pending = False

    def handle(self, signum: int, frame: FrameType | None) -> None:
        """Note the signal and raise Interrupted wherever the program is."""
        self.pending = True
        raise Interrupted

    def check(self) -> None:
        """Raise Interrupted if the signal came and was swallowed."""
        if self.pending:
            raise Interrupted


@contextmanager
def user_interrupts() -> Iterator[Interrupts]:
    """Turn SIGINT into Interrupted for a while; outside the main thread nothing changes."""
    interrupts = Interrupts()
    if threading.current_thread() is not threading.main_thread():
        yield interrupts
        return
    before = signal.signal(signal.SIGINT, interrupts.handle)
    try:
        yield interrupts
    finally:
        signal.signal(signal.SIGINT, signal.SIG_DFL if before is None else before)

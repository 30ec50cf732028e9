"""Distinguishes the user's Ctrl-C from a KeyboardInterrupt that an agent raises."""

import atexit
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

from arena.errors import Interrupted

SIGNALS = (signal.SIGINT, signal.SIGTERM)
"""The signals with which users interrupt a run."""
SHOW_CURSOR = b"\x1b[?25h\n"
"""Control characters that show the cursor, which an interrupted live display has hidden, and begin a new line."""

abandoned: list[threading.Thread] = []
"""Threads for which the command line does not wait when it ends."""


def end_interrupted(*_: object) -> NoReturn:
    """End this process at once, with the exit code of an interrupted run. May be used as a handler of signals."""
    if os.isatty(2):
        os.write(2, SHOW_CURSOR)
    os._exit(Interrupted.EXIT_CODE)


def end_at_signals() -> None:
    """Let SIGINT and SIGTERM end this process as `end_interrupted` does, whenever no `user_interrupts` handles them. While Python
    shuts down, it would end by the signal instead, so they are then ignored.
    """
    for number in SIGNALS:
        atexit.register(signal.signal, number, signal.SIG_IGN)
        signal.signal(number, end_interrupted)


class Interrupts:
    """Remembers that the user has interrupted, even if an agent has caught the exception."""

    def __init__(self, *, at_once: bool = False) -> None:
        self.pending = False
        self.at_once = at_once
        """Whether a second signal ends the process at once. True on the command line, False inside a user's Python program."""
        self._held = 0

    def handle(self, signum: int, frame: FrameType | None) -> None:
        """Store the signal, and raise Interrupted at the current place in the program."""
        if self.pending and self.at_once:
            end_interrupted()
        self.pending = True
        if not self._held:
            raise Interrupted

    def check(self) -> None:
        """Raise Interrupted if a signal has arrived but its exception was caught."""
        if self.pending:
            raise Interrupted

    def __enter__(self) -> None:
        """Delay signals that arrive inside the block until the end of the block."""
        self._held += 1

    def __exit__(self, *raised: object) -> None:
        """Raise Interrupted if a signal has arrived in the block, unless the block has raised another exception."""
        self._held -= 1
        if self.pending and raised[0] is None:
            raise Interrupted


@contextmanager
def user_interrupts(*, at_once: bool = False) -> Iterator[Interrupts]:
    """Turn SIGINT and SIGTERM into Interrupted inside the block. Outside the main thread, this has no effect.

    If `at_once` is true, here or in an outer block, a second signal ends the process.
    """
    around = getattr(signal.getsignal(signal.SIGINT), "__self__", None)
    interrupts = Interrupts(at_once=at_once or (isinstance(around, Interrupts) and around.at_once))
    if threading.current_thread() is not threading.main_thread():
        yield interrupts
        return
    before = {number: signal.signal(number, interrupts.handle) for number in SIGNALS}
    try:
        yield interrupts
    finally:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)

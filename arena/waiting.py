"""Plays several matches at the same time in one process: while some matches wait for something outside, another is played.

Games and agents need not be thread-safe, because only the thread that holds the baton runs their code.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from arena.errors import Interrupted


class Baton:
    """The right to run code of games and agents. Only one thread holds it at a time; a thread that waits releases it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.ended = False
        """Whether the run is over. If so, each thread is interrupted when it stops waiting."""

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the baton during a match, in this thread."""
        with self._lock:
            token = _held.set(self)
            try:
                yield
            finally:
                _held.reset(token)

    @contextmanager
    def laid_down(self) -> Iterator[None]:
        """Release the baton inside the block. At the end of the block, Interrupted is raised if the run is over."""
        self._lock.release()
        try:
            yield
        finally:
            self._lock.acquire()
        if self.ended:
            raise Interrupted


_held: ContextVar[Baton | None] = ContextVar("baton", default=None)


@contextmanager
def waiting() -> Iterator[None]:
    """Let other matches be played while this thread waits for something outside. The block must not use the game."""
    baton = _held.get()
    if baton is None:
        yield
        return
    with baton.laid_down():
        yield

"""Several matches at the same time in one process: one of them is played while the others wait for something outside.

Games and agents need not be thread-safe, because only the thread that holds the baton runs their code.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from arena.errors import Interrupted
from arena.unmetered import seen


class Baton:
    """The thread that holds it plays; a thread lays it down to wait."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.ended = False
        """Whether the run is over. If so, a thread that comes back from waiting is interrupted."""

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold it for a match, in this thread."""
        with self._lock:
            token = _held.set(self)
            try:
                yield
            finally:
                _held.reset(token)

    @contextmanager
    def laid_down(self) -> Iterator[None]:
        """Release it to other threads inside the block; Interrupted at the end if the run is over."""
        states = seen.states
        self._lock.release()
        try:
            yield
        finally:
            self._lock.acquire()
            seen.states = states
        if self.ended:
            raise Interrupted


_held: ContextVar[Baton | None] = ContextVar("baton", default=None)


@contextmanager
def waiting() -> Iterator[None]:
    """Let other matches be played while this thread waits for something outside; the block must not use the game."""
    baton = _held.get()
    if baton is None:
        yield
        return
    with baton.laid_down():
        yield

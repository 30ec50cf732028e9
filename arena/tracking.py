"""Reports the progress of long work, such as building a table.

Rules and heuristics never print. They call `tell_progress`, which does nothing if no listener is set. A listener decides how
progress is shown. A listener can also stop the work, as in `arena validate`, which only looks for faults.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Listener = Callable[[str, int, int], None]
"""A function that gets the description of the work, the number of steps done, and the total number of steps."""


class Postponed(BaseException):
    """Raised to stop long work that is not needed now. This does not mean that anything is wrong."""


_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


def tell_progress(what: str, done: int, total: int) -> None:
    """Report that `done` of `total` steps of the work `what`, such as "building tables", are done.

    Call it from time to time during work that takes seconds.

    >>> with listening(lambda what, done, total: print(f"{what}: {done}/{total}")):
    ...     tell_progress("building tables", 1, 4)
    building tables: 1/4
    """
    listener = _listener.get()
    if listener is not None:
        listener(what, done, total)


def postpone(what: str, done: int, total: int) -> None:
    """A listener that stops the work by raising Postponed."""
    raise Postponed(what)


@contextmanager
def listening(listener: Listener) -> Iterator[Listener | None]:
    """Report all progress to `listener` inside the block. Yield the listener outside of it, or None."""
    outer = _listener.get()
    token = _listener.set(listener)
    try:
        yield outer
    finally:
        _listener.reset(token)

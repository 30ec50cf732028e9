"""Progress of long work, such as building a table.

Rules and heuristics never print. They call `tell_progress`, which does nothing without a listener. A listener decides how the
progress is shown. It may also stop the work, as `arena validate` does, which only looks for faults.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Listener = Callable[[str, int, int], None]
"""(what is being done, how much is done, how much there is)."""


class Postponed(BaseException):
    """Long work has begun that is not wanted now; nothing was wrong until then."""


_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


def tell_progress(what: str, done: int, total: int) -> None:
    """Report that `done` of `total` steps of the work `what`, such as "building tables", are done.

    Call it now and then from work that takes seconds.

    >>> with listening(lambda what, done, total: print(f"{what}: {done}/{total}")):
    ...     tell_progress("building tables", 1, 4)
    building tables: 1/4
    """
    listener = _listener.get()
    if listener is not None:
        listener(what, done, total)


def postpone(what: str, done: int, total: int) -> None:
    """A listener that stops the work: Postponed."""
    raise Postponed(what)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Report all progress to `listener` inside the block."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)

"""Finds threads that still run after the code that started them has returned."""

import sys
import threading
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from types import FrameType

from arena.errors import is_authors

POOL_FILE = "concurrent/futures/thread.py"
"""The file of Python in which idle threads of a pool wait for work."""


def find_lingering(before: Collection[threading.Thread] = ()) -> list[threading.Thread]:
    """The threads that have come since `before` and still run, without this one, the main one, and idle ones of a pool."""
    known = {*before, threading.current_thread(), threading.main_thread()}
    new = [thread for thread in threading.enumerate() if thread not in known]
    return [
        thread
        for thread in new
        if _find_authors(thread)
        or not any(frame.f_code.co_filename.replace("\\", "/").endswith(POOL_FILE) for frame in _list_frames(thread))
    ]


def place_of(thread: threading.Thread) -> str | None:
    """The place of a thread's function, as `file:line` of its author; None if only Python's own code runs in it."""
    return next((f"{frame.f_code.co_filename}:{frame.f_lineno}" for frame in reversed(_find_authors(thread))), None)


_left: list[threading.Thread] = []
"""The threads that still ran at the end of the process's last `collect_deaths`. Threads are the process's, and so is this."""


@contextmanager
def collect_deaths(*, last: bool = False) -> Iterator[list[BaseException]]:
    """Collect what threads raise inside the block instead of writing it to stderr.

    If this is the `last` that the process does, it stays so for threads that still run: they may die at any moment.
    `has_abandoned` tells of them.
    """
    died: list[BaseException] = []
    before = threading.excepthook

    def note(told: threading.ExceptHookArgs) -> None:
        if told.exc_value is not None:
            died.append(told.exc_value)

    threading.excepthook = note
    try:
        yield died
    finally:
        _left[:] = find_lingering() if last else []
        if not _left:
            threading.excepthook = before


def has_abandoned() -> bool:
    """True if a thread that ran at the end of the `last` block of `collect_deaths` would keep the process alive."""
    return any(thread.is_alive() and not thread.daemon for thread in _left)


def _find_authors(thread: threading.Thread) -> list[FrameType]:
    return [frame for frame in _list_frames(thread) if is_authors(frame.f_code.co_filename)]


def _list_frames(thread: threading.Thread) -> list[FrameType]:
    """The frames of a thread, the innermost first."""
    frame = sys._current_frames().get(thread.ident or 0)  # noqa: SLF001 - there is no other way
    found = []
    while frame is not None:
        found.append(frame)
        frame = frame.f_back
    return found

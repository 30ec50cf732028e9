"""Finds threads that still run after the code that started them has returned."""

import sys
import threading
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from types import FrameType

from arena.api.errors import is_authors
from arena.api.processes import abandoned

POOL_FILE = "concurrent/futures/thread.py"
"""The file of Python in which idle threads of a pool wait for work."""


def find_lingering(before: Collection[threading.Thread] = ()) -> dict[threading.Thread, str | None]:
    """Return the threads that were started since `before` and still run, without this one, the main one, and idle ones of a pool.

    Each comes with the place of its function, as `file:line` of its author, or None if it only runs Python's own code.
    """
    known = {*before, threading.current_thread(), threading.main_thread()}
    new = [thread for thread in threading.enumerate() if thread not in known]
    return {
        thread: next((f"{frame.f_code.co_filename}:{frame.f_lineno}" for frame in reversed(_find_authors(thread))), None)
        for thread in new
        if _find_authors(thread)
        or not any(frame.f_code.co_filename.replace("\\", "/").endswith(POOL_FILE) for frame in _list_frames(thread))
    }


@contextmanager
def collect_deaths(*, last: bool = False) -> Iterator[list[BaseException]]:
    """Collect exceptions of threads inside the block instead of writing them to stderr.

    If this is the `last` work of the process, the collection continues for threads that still run, because they may die at any
    time. The command line does not wait for them.
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
        abandoned[:] = find_lingering() if last else ()
        if not abandoned:
            threading.excepthook = before


def _find_authors(thread: threading.Thread) -> list[FrameType]:
    return [frame for frame in _list_frames(thread) if is_authors(frame.f_code.co_filename)]


def _list_frames(thread: threading.Thread) -> list[FrameType]:
    """Return the frames of a thread, the innermost first."""
    frame = sys._current_frames().get(thread.ident or 0)  # noqa: SLF001 - there is no other way
    found = []
    while frame is not None:
        found.append(frame)
        frame = frame.f_back
    return found

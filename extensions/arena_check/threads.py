"""Finds threads that are still running after the code that started them has returned."""

import sys
import threading
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from types import FrameType

from arena.api.errors import is_authors, name_place
from arena.api.processes import abandoned

POOL_FILE = "concurrent/futures/thread.py"
"""The file of Python's library in which idle threads of a pool wait for work."""


def find_lingering(before: Collection[threading.Thread] = ()) -> dict[threading.Thread, str | None]:
    """Return the threads that are running and are not in `before`. This thread, the main thread, idle threads of a pool, and
    the threads of arena itself, which watch and compile searches, are left out.

    Each thread comes with the place in the author's code that it is running, as `file:line`; or with None if it runs only code of
    Python itself.
    """

    def stays(thread: threading.Thread) -> bool:
        frames = _list_frames(thread)
        packages = [str(frame.f_globals.get("__name__")).partition(".")[0] for frame in frames]
        files = [frame.f_code.co_filename.replace("\\", "/") for frame in frames]
        return any(name.startswith("arena") for name in packages) or any(name.endswith(POOL_FILE) for name in files)

    known = {*before, threading.current_thread(), threading.main_thread()}
    new = [thread for thread in threading.enumerate() if thread not in known]
    return {
        thread: next((name_place(frame.f_code, frame.f_lineno) for frame in reversed(_find_authors(thread))), None)
        for thread in new
        if _find_authors(thread) or not stays(thread)
    }


@contextmanager
def collect_deaths(*, last: bool = False) -> Iterator[list[BaseException]]:
    """Collect exceptions of threads inside the block instead of writing them to stderr.

    If this is the `last` work of the process, exceptions are collected even after the block, because threads that are still
    running may raise at any time. The command line does not wait for these threads.
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

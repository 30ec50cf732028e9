"""Ends a call of a plugin that does not return in time: an alarm of the system examines the stack every now and then."""

import os
import signal
import sys
import threading
from time import monotonic
from types import FrameType

from arena.api.errors import is_authors

CALL_SECONDS = 10.0
"""Timeout of a check for one call of a plugin, in seconds."""
SHORTENING_CALL_SECONDS = 1.0
"""The same timeout during a search for fewer actions."""
MAX_SWALLOWED = 20
"""If a call swallows more CallTooLong exceptions than this, the process is ended."""
SWALLOWED_EXIT_CODE = 75
"""Exit code of a process that is ended for this reason."""


class CallTooLong(BaseException):
    """A call of a plugin has not returned in time. Not an Exception, so that `except Exception` does not swallow it.

    `call` is the name of the function, `seconds` its timeout, and `place` its current file and line.
    """

    def __init__(self, call: str, seconds: float, place: str) -> None:
        self.call = call
        self.seconds = seconds
        self.place = place
        super().__init__(f"{call} has not returned within {seconds:g} s")


class Patience:
    """Raises CallTooLong in every call inside a `with` block that has not returned after `seconds`.

    A call is the outermost frame inside the block that belongs neither to arena nor to Python, so callers need no extra code.
    The alarm goes off a few times in `seconds`: a call costs nothing, and no thread is needed. There is no limit outside the
    main thread, on systems without timers, and inside a C function that does not check for signals. An earlier alarm goes off
    in time, and is set again after the block.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._call: FrameType | None = None
        self._since = 0.0
        self._raised = 0
        self._late: CallTooLong | None = None
        self._base: FrameType | None = None

    def __enter__(self) -> "Patience":
        """Set the alarm."""
        self._armed = hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
        if self._armed:
            self._base = sys._getframe(1)  # noqa: SLF001 - what is called from there
            every = min(0.2, self.seconds / 4)
            self._handler = signal.signal(signal.SIGALRM, self._look)
            delay, self._interval = signal.setitimer(signal.ITIMER_REAL, every, every)
            self._due = monotonic() + delay if delay else None
            _waiting.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        """Restore the earlier alarm."""
        if not self._armed:
            return
        signal.setitimer(signal.ITIMER_REAL, 0)
        _waiting.remove(self)
        self._base = self._call = None
        signal.signal(signal.SIGALRM, signal.SIG_DFL if self._handler is None else self._handler)
        if self._due is not None:
            signal.setitimer(signal.ITIMER_REAL, max(1e-3, self._due - monotonic()), self._interval)

    def taken(self) -> CallTooLong | None:
        """Return the last exception since the last call of this method, even if it was swallowed; None if there is none."""
        late, self._late = self._late, None
        return late

    def _look(self, signum: int, frame: FrameType | None) -> None:
        now = monotonic()
        if self._due is not None and now >= self._due and callable(self._handler):  # the earlier alarm
            self._due = now + self._interval if self._interval else None
            self._handler(signum, frame)
        calls = []  # the authors' frames inside the block, the innermost first
        inner = frame
        while inner is not None and inner is not self._base:
            if is_authors(inner.f_code.co_filename):
                calls.append(inner)
            inner = inner.f_back
        calls = calls if inner is not None else []
        if not calls or calls[-1] is not self._call:
            self._call, self._since, self._raised = (calls[-1] if calls else None), now, 0
        elif now - self._since >= self.seconds:
            code, place = calls[-1].f_code, f"{calls[0].f_code.co_filename}:{calls[0].f_lineno}"
            self._late = CallTooLong(code.co_qualname, self.seconds, place)
            self._raised += 1
            around = getattr(signal.getsignal(signal.SIGINT), "__self__", None)
            if self._raised > MAX_SWALLOWED and getattr(around, "at_once", False):  # the process belongs to the command line
                text = f"{self._late}, and swallows whatever is raised in it, so that it cannot be ended ({place})\n"
                os.write(2, text.encode())
                os._exit(SWALLOWED_EXIT_CODE)
            raise self._late


_waiting: list[Patience] = []
"""The running blocks, the innermost last. Global, because signal handlers belong to the process."""


def overdue() -> CallTooLong | None:
    """Return the last CallTooLong of the innermost block since the last call of this function; None if there is none."""
    return _waiting[-1].taken() if _waiting else None

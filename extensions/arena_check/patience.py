"""Ends a call of a plugin that does not return in time: an alarm of the system looks at the stack every now and then."""

import os
import signal
import sys
import threading
from time import monotonic
from types import FrameType

from arena.errors import is_authors

CALL_SECONDS = 10.0
"""Seconds that a check waits for one call of a plugin."""
SHORTENING_CALL_SECONDS = 1.0
"""Seconds that it waits for one while it searches for fewer actions."""
MAX_SWALLOWED = 20
"""The number of CallTooLong that a call may swallow before the process is ended."""
SWALLOWED_EXIT_CODE = 75
"""The exit code of a process that is ended for that."""


class CallTooLong(BaseException):
    """A call of a plugin has not returned in time. No Exception, so that `except Exception` does not swallow it.

    `call` is the name of the function, `seconds` the time that it had, and `place` the file and line that it was at.
    """

    def __init__(self, call: str, seconds: float, place: str) -> None:
        self.call = call
        self.seconds = seconds
        self.place = place
        super().__init__(f"{call} has not returned within {seconds:g} s")


class Patience:
    """Raises CallTooLong in every call inside a `with` block that has not returned after `seconds`.

    A call is the outermost frame inside the block that belongs neither to arena nor to Python, so that nothing has to be done
    where it is made. The alarm goes off a few times in `seconds`: a call costs nothing, and no thread is needed. There is no
    limit outside the main thread, on systems without timers, and inside a function written in C that does not check for signals.
    An alarm that was set before goes off in time, and is set again after the block.
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
        """Set the alarm that was there before."""
        if not self._armed:
            return
        signal.setitimer(signal.ITIMER_REAL, 0)
        _waiting.remove(self)
        self._base = self._call = None
        signal.signal(signal.SIGALRM, signal.SIG_DFL if self._handler is None else self._handler)
        if self._due is not None:
            signal.setitimer(signal.ITIMER_REAL, max(1e-3, self._due - monotonic()), self._interval)

    def taken(self) -> CallTooLong | None:
        """The last exception since the last call of this method, even if it was swallowed; None if there is none."""
        late, self._late = self._late, None
        return late

    def _look(self, signum: int, frame: FrameType | None) -> None:
        now = monotonic()
        if self._due is not None and now >= self._due and callable(self._handler):  # the alarm that was set before
            self._due = now + self._interval if self._interval else None
            self._handler(signum, frame)
        calls = self._calls(frame)
        if not calls or calls[-1] is not self._call:
            self._call, self._since, self._raised = (calls[-1] if calls else None), now, 0
        elif now - self._since >= self.seconds:
            code, place = calls[-1].f_code, f"{calls[0].f_code.co_filename}:{calls[0].f_lineno}"
            self._late = CallTooLong(code.co_qualname, self.seconds, place)
            self._raised += 1
            around = getattr(signal.getsignal(signal.SIGINT), "__self__", None)
            if self._raised > MAX_SWALLOWED and getattr(around, "at_once", False):  # the process is the command line's
                text = f"{self._late}, and swallows whatever is raised in it, so that it cannot be ended ({place})\n"
                os.write(2, text.encode())
                os._exit(SWALLOWED_EXIT_CODE)
            raise self._late

    def _calls(self, frame: FrameType | None) -> list[FrameType]:
        """The frames of authors inside the block, the innermost first."""
        found = []
        while frame is not None and frame is not self._base:
            if is_authors(frame.f_code.co_filename):
                found.append(frame)
            frame = frame.f_back
        return found if frame is not None else []


_waiting: list[Patience] = []
"""The running blocks, the innermost last. Global, since signal handlers are those of the process."""


def overdue() -> CallTooLong | None:
    """The last CallTooLong of the innermost block since the last call of this function; None if there is none."""
    return _waiting[-1].taken() if _waiting else None

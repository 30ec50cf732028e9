"""Ends a call of a plugin that does not return in time. A timer signal interrupts the process from time to time, and its handler
examines the stack.
"""

import os
import signal
import sys
import threading
from types import FrameType

from arena.api.cli import listening
from arena.api.errors import is_authors, name_place
from arena.clock import monotonic, process_time

CALL_SECONDS = 10.0
"""Timeout of a check for one call of a plugin, in seconds."""
SHORTENING_CALL_SECONDS = 1.0
"""The shorter timeout during the search for fewer actions that show a fault."""
MIN_COMPUTING_SHARE = 0.05
"""If a process uses less than this share of a processor, it waits for something. Otherwise it computes, as fast as it may."""
MAX_PROLONGED = 6
"""How often a call gets its full time again because it has told of its progress."""
MAX_SWALLOWED = 20
"""When a call swallows more CallTooLong exceptions than this, the process is ended."""
SWALLOWED_EXIT_CODE = 75
"""Exit code of a process that is ended because a call swallows too many exceptions."""


class CallTooLong(BaseException):
    """A call of a plugin has not returned in time. This is a BaseException, so that `except Exception` in a plugin does not
    swallow it.

    `call` is the name of the function, `seconds` its timeout, and `place` the file and line that it was running.
    """

    def __init__(self, call: str, seconds: float, place: str) -> None:
        self.call = call
        self.seconds = seconds
        self.place = place
        super().__init__(f"{call} has not returned within {seconds:g} s")


class Patience:
    """Raises CallTooLong in a call inside a `with` block if the call has not returned after `seconds`. While the process
    computes, processor time counts, so that a busy machine makes no call late; while it waits, the time on the clock counts.

    A call that tells of its progress (`arena.tell_progress`), such as one that solves a game, gets its full time again, at most
    MAX_PROLONGED times. A call is the outermost frame inside the block that belongs neither to arena nor to Python, so callers
    need no extra code. A timer signal, the alarm, examines the calls only a few times in `seconds`, so it does not slow them
    down, and no thread is needed. There is no timeout outside the main thread, on systems without timers, and inside a C function
    that does not check for signals. If another alarm was set before the block, that other alarm still goes off in time, and it is
    set again after the block.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._call: FrameType | None = None
        self._spent = 0.0
        self._seen = (0.0, 0.0)
        """The clock and the processor time at the last look."""
        self._raised = 0
        self._prolonged = 0
        self._late: CallTooLong | None = None
        self._base: FrameType | None = None
        self._due: float | None = None

    def __enter__(self) -> "Patience":
        """Set the alarm."""
        self._armed = hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
        if self._armed:
            self._base = sys._getframe(1)  # noqa: SLF001 - the frame of the block
            every = min(0.2, self.seconds / 4)
            self._handler = signal.signal(signal.SIGALRM, self._look)
            delay, self._interval = signal.setitimer(signal.ITIMER_REAL, every, every)
            self._due = monotonic() + delay if delay else None
            _waiting.append(self)
            self._listening = listening(self._prolong)
            self._outer = self._listening.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        """Restore the earlier alarm."""
        if not self._armed:
            return
        signal.setitimer(signal.ITIMER_REAL, 0)
        self._listening.__exit__(None, None, None)
        _waiting.remove(self)
        self._base = self._call = None
        signal.signal(signal.SIGALRM, signal.SIG_DFL if self._handler is None else self._handler)
        if self._due is not None:
            signal.setitimer(signal.ITIMER_REAL, max(1e-3, self._due - monotonic()), self._interval)

    def taken(self) -> CallTooLong | None:
        """Return the last exception since the previous call of this method, even if a plugin swallowed it; None if
        there is none.
        """
        late, self._late = self._late, None
        return late

    def _prolong(self, what: str, done: int, total: int) -> None:
        if self._spent > self.seconds / 2 and self._prolonged < MAX_PROLONGED:
            self._prolonged += 1
            self._spent = 0.0
        if self._outer is not None:
            self._outer(what, done, total)

    def _look(self, signum: int, frame: FrameType | None) -> None:
        now, used = monotonic(), process_time()
        passed, computed = now - self._seen[0], used - self._seen[1]
        self._seen = now, used
        if self._due is not None and now >= self._due and callable(self._handler):  # the earlier alarm
            self._due = now + self._interval if self._interval else None
            self._handler(signum, frame)
        calls = []  # the frames of plugins inside the block, the innermost first
        inner = frame
        while inner is not None and inner is not self._base:
            if is_authors(inner.f_code.co_filename):
                calls.append(inner)
            inner = inner.f_back
        calls = calls if inner is not None else []
        if not calls or calls[-1] is not self._call:
            self._call, self._spent, self._raised = (calls[-1] if calls else None), 0.0, 0
            self._prolonged = 0
            return
        self._spent += passed if computed < MIN_COMPUTING_SHARE * passed else min(computed, passed)
        if self._spent >= self.seconds:
            code, place = calls[-1].f_code, name_place(calls[0].f_code, calls[0].f_lineno)
            self._late = CallTooLong(code.co_qualname, self.seconds, place)
            self._raised += 1
            around = getattr(signal.getsignal(signal.SIGINT), "__self__", None)
            if self._raised > MAX_SWALLOWED and getattr(around, "at_once", False):  # the process was started by the command line
                text = f"{self._late}, and catches every exception, so it cannot be stopped ({place})\n"
                os.write(2, text.encode())
                os._exit(SWALLOWED_EXIT_CODE)
            raise self._late


_waiting: list[Patience] = []
"""The active blocks, the innermost last. This list is global, because signal handlers belong to the process."""


def overdue() -> CallTooLong | None:
    """Return the last CallTooLong of the innermost block since the previous call of this function; None if there is none."""
    return _waiting[-1].taken() if _waiting else None

"""The clock: the only module of arena that asks for the time or sleeps.

All other modules call its functions. So a test can put a clock of its own in place of `source`, whose time moves only when
somebody sleeps. The exceptions are programs that run without arena, because they must start quickly. A linter refuses any other
use of the module `time`.
"""

import time
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """A clock with the functions of the module `time` that arena uses."""

    def monotonic(self) -> float: ...  # noqa: D102 - as in `time`
    def perf_counter(self) -> float: ...  # noqa: D102
    def process_time(self) -> float: ...  # noqa: D102
    def thread_time(self) -> float: ...  # noqa: D102
    def time(self) -> float: ...  # noqa: D102
    def clock_gettime(self, clock: int, /) -> float: ...  # noqa: D102
    def sleep(self, seconds: float, /) -> None: ...  # noqa: D102


source: Clock = time  # a module can be used in place of an object
"""The clock that all functions of this module ask."""


def monotonic() -> float:
    """Return seconds that never go backwards, for deadlines."""
    return source.monotonic()


def perf_counter() -> float:
    """Return seconds that never go backwards, with the highest resolution, to measure how long something takes."""
    return source.perf_counter()


def process_time() -> float:
    """Return the seconds of processor time that this process has used."""
    return source.process_time()


def thread_time() -> float:
    """Return the seconds of processor time that this thread has used."""
    return source.thread_time()


def wall_time() -> float:
    """Return the seconds since 1970, which jump if somebody sets the clock, for a moment that is shown or stored."""
    return source.time()


def clock_gettime(clock: int) -> float:
    """Return the seconds of a clock of the system, for example of the processor time of another process. Raises OSError if there
    is none.
    """
    return source.clock_gettime(clock)


def utc_now() -> datetime:
    """Return the present moment as a date and a time in UTC."""
    return datetime.fromtimestamp(wall_time(), UTC)


def sleep(seconds: float) -> None:
    """Wait for `seconds`."""
    source.sleep(seconds)

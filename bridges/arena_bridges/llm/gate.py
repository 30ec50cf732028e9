"""Delays or refuses requests, because of the limits of an entry or the budget of the run."""

import os
from collections import deque
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from threading import Condition
from typing import Any, NamedTuple

from arena import BackendGone
from arena.clock import monotonic, sleep
from arena_bridges.llm.budget import POLL_SECONDS, Budget, change_file, share_file

ENVIRONMENT = "ARENA_MODEL_LIMITS"
"""The environment variable that names the file with the requests of all processes of a run."""
MINUTE_SECONDS = 60.0
"""The length of the window for limits per minute."""


class Usage(NamedTuple):
    """The tokens of one answer, as reported by the backend."""

    tokens_in: int
    tokens_out: int
    cached: int = 0
    """The tokens of the question that the backend had in its cache; they are included in `tokens_in`."""
    known: bool = True
    """False if the backend does not report usage."""


class Price(NamedTuple):
    """The price of a million tokens."""

    fresh: float = 0.0
    """The price of question tokens that the backend did not have in its cache."""
    answered: float = 0.0
    cached: float = 0.0
    """The price of question tokens that the backend had in its cache."""

    @classmethod
    def read(cls, given: Mapping[Any, float] | None) -> "Price":
        """Return the price that an entry gives as `in`, `out` and `cached`. The default of `cached` is the value of `in`."""
        return cls() if given is None else cls(given["in"], given["out"], given.get("cached", given["in"]))

    def of(self, usage: Usage) -> float:
        """Return the cost of an answer."""
        fresh = usage.tokens_in - usage.cached
        return (fresh * self.fresh + usage.cached * self.cached + usage.tokens_out * self.answered) / 1e6

    def most(self, size: int, tokens: int) -> float:
        """Return the largest possible cost of a request of `size` bytes: a token has at least one byte, and the answer has at
        most `tokens` tokens.
        """
        return (size * max(self.fresh, self.cached) + tokens * self.answered) / 1e6


class Limits(NamedTuple):
    """The limits of an entry; None means no limit."""

    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    concurrency: int | None = None


class Throttle:
    """Delays requests so that no window of a minute has more than the limits allow. It is thread-safe.

    Tokens are estimated before they are known: three bytes of a question count as one token, and an answer counts with its
    maximum number of tokens. The real number replaces this estimate when the answer has arrived.
    """

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._started: deque[list[float]] = deque()
        """The start and the tokens of each request in the last minute."""
        self._in_flight = 0
        self._changed = Condition()

    def enter(self, tokens: int) -> list[float]:
        """Wait until a request with this many tokens may start. Return the entry of the request in the window."""
        with self._changed:
            while True:
                while self._started and self._started[0][0] + MINUTE_SECONDS <= monotonic():
                    self._started.popleft()
                if (wait := find_wait(self.limits, self._started, self._in_flight, tokens)) <= 0:
                    break
                self._changed.wait(None if wait == float("inf") else wait)
            started = [monotonic(), float(tokens)]
            self._started.append(started)
            self._in_flight += 1
            return started

    def leave(self, started: list[float], tokens: int | None) -> None:
        """End a request, with the number of its tokens if it is known."""
        with self._changed:
            self._in_flight -= 1
            if tokens is not None:
                started[1] = float(tokens)
            self._changed.notify_all()


class SharedThrottle:
    """A throttle that all processes of a run share. Its file is a database, so that only one process at a time changes it."""

    def __init__(self, place: Path, entry: str, limits: Limits) -> None:
        self.limits = limits
        self._place = place
        self._entry = entry

    @staticmethod
    def create(place: Path) -> None:
        """Create the file for the requests of all entries. When a request ends, its column `process` becomes NULL."""
        place.touch()
        with change_file(place) as opened:
            opened.execute(
                "CREATE TABLE request (number INTEGER PRIMARY KEY, entry TEXT, begun REAL, tokens REAL, process INTEGER)"
            )

    def enter(self, tokens: int) -> int:
        """Wait until a request with this many tokens may start. Return its number in the file."""
        import psutil

        while True:
            with change_file(self._place) as opened:
                now = monotonic()  # all processes of a machine have the same clock
                opened.execute("DELETE FROM request WHERE process IS NULL AND begun <= ?", (now - MINUTE_SECONDS,))
                rows = opened.execute(
                    "SELECT begun, tokens, process FROM request WHERE entry = ? ORDER BY begun", (self._entry,)
                ).fetchall()
                flying = [process for _, _, process in rows if process is not None]
                for process in {process for process in flying if not psutil.pid_exists(process)}:
                    opened.execute("UPDATE request SET process = NULL WHERE process = ?", (process,))
                recent = [(begun, used) for begun, used, _ in rows if begun > now - MINUTE_SECONDS]
                wait = find_wait(self.limits, recent, len(flying), tokens)
                if wait <= 0:
                    values = (self._entry, now, tokens, os.getpid())
                    added = opened.execute("INSERT INTO request (entry, begun, tokens, process) VALUES (?, ?, ?, ?)", values)
                    return int(added.lastrowid or 0)
            sleep(min(wait, POLL_SECONDS))

    def leave(self, started: int, tokens: int | None) -> None:
        """End a request, as `Throttle.leave` does."""
        with change_file(self._place) as opened:
            opened.execute("UPDATE request SET process = NULL, tokens = coalesce(?, tokens) WHERE number = ?", (tokens, started))


def find_wait(limits: Limits, started: Sequence[Sequence[float]], in_flight: int, tokens: int) -> float:
    """Return the seconds until a request may start; 0 if it may start now, infinite if another request must end first.

    `started` contains the start and the tokens of each request in the last minute, in the order of their starts.
    """
    if limits.concurrency is not None and in_flight >= limits.concurrency:
        return float("inf")
    now, wait = monotonic(), 0.0
    if limits.requests_per_minute is not None and len(started) >= limits.requests_per_minute:
        wait = started[-limits.requests_per_minute][0] + MINUTE_SECONDS - now
    if limits.tokens_per_minute is not None:
        over = sum(used for _, used in started) + tokens - limits.tokens_per_minute
        for begun, used in started:  # a request that is larger than the limit starts when the window is empty
            if over <= 0:
                break
            over -= used
            wait = max(wait, begun + MINUTE_SECONDS - now)
    return wait


def open_limits(*, shared: bool) -> None:
    """Begin to count the requests of a run. `shared` is for runs with several processes."""
    place = share_file(ENVIRONMENT, wanted=shared)
    if place is not None:
        SharedThrottle.create(place)


def throttle(url: str, model: str, limits: Limits) -> Throttle | SharedThrottle:
    """Return the throttle for an entry. All its agents share it: in this process, or in all processes of the run."""
    place = os.environ.get(ENVIRONMENT)
    if place is not None and Path(place).is_file():
        return SharedThrottle(Path(place), repr((url, model, limits)), limits)
    return _own_throttle(url, model, limits)


@cache
def _own_throttle(url: str, model: str, limits: Limits) -> Throttle:
    return Throttle(limits)


class Gate:
    """Each request of an entry must pass a gate: first the limits, then the budget."""

    def __init__(
        self,
        throttle: Throttle | SharedThrottle | None = None,
        budget: Budget | None = None,
        price: Price = Price(),  # noqa: B008 - a constant
    ) -> None:
        self._throttle = throttle
        self._budget = budget
        self._price = price

    def enter(self, size: int, tokens: int) -> "Passage":
        """Wait until a request of `size` bytes, with at most `tokens` tokens in its answer, may be sent. Raises BackendGone if no
        request may be sent any more.
        """
        started: Any = None if self._throttle is None else self._throttle.enter(size // 3 + tokens)
        try:
            reservation = None if self._budget is None else self._budget.reserve(self._price.most(size, tokens))
        except BackendGone:
            if self._throttle is not None and started is not None:
                self._throttle.leave(started, 0)
            raise
        return Passage(self, started, reservation)

    def leave(self, passage: "Passage", usage: Usage | None) -> None:
        """End a request. `usage` is the usage of its answer; None means that there was no answer, but that the request may be
        billed.
        """
        known = usage is not None and usage.known
        if self._throttle is not None and passage.started is not None:
            self._throttle.leave(passage.started, usage.tokens_in + usage.tokens_out if usage is not None and known else None)
        if self._budget is not None and passage.reservation is not None:
            self._budget.settle(passage.reservation, self._price.of(usage) if usage is not None and known else None)


class Passage(NamedTuple):
    """A request that has passed a gate."""

    gate: Gate
    started: Any
    """The value that the throttle needs to end the request; None without a throttle."""
    reservation: float | None

    def end(self, usage: Usage | None) -> None:
        """End the request, see `Gate.leave`."""
        self.gate.leave(self, usage)

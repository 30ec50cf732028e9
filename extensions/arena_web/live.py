"""The live state of a store that a run is filling. Each store has one watcher with any number of listeners (open pages), which
share one text in memory.
"""

import asyncio
import hashlib
import json
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing, suppress
from dataclasses import asdict, dataclass
from math import ceil
from pathlib import Path
from typing import Any

import anyio.to_thread
from sse_starlette import EventSourceResponse
from starlette.requests import Request

from arena.api.cli import distribution
from arena.api.errors import StoreError, describe
from arena.api.results import BoardInfo, Leaderboard, tallies_of
from arena.api.store import Run, Store
from arena.clock import monotonic
from arena_web.errors import Refusal
from arena_web.verdict import verdict

POLL_SECONDS = 0.4
"""The minimum number of seconds between two reads of the same store."""
PAUSE_PER_POLL = 4
"""The minimum pause of the watcher after reading a store, as a multiple of the reading time. So a store that is slow to read is
read less often.
"""
STOP_CHECK_SECONDS = 0.5
"""Seconds after which a silent stream checks whether the server is ending."""
RETRY_MILLISECONDS = 1000
"""Milliseconds after which a browser reconnects."""
RETRY = f"retry: {RETRY_MILLISECONDS}\r\n\r\n".encode()
PING, PING_SECONDS = b": ping\r\n\r\n", 15.0
"""A comment for a stream without events, and the seconds after which it is sent, so that proxies keep the connection."""
MAX_PART_BYTES = 64 << 10
"""The maximum number of bytes of an event that are sent at a time. They wait in memory if the client does not read."""
PACE_WINDOW_SECONDS = 20.0
"""The number of seconds over which the pace (matches per second) is measured."""
MIN_PACE_SECONDS = 3.0
"""The minimum duration of a run, in seconds, before a pace is shown."""
MAX_STREAMS = 320
"""The maximum number of concurrent event streams of a server."""


class Listeners:
    """Counts the open event streams of a server. A stream counts as soon as it is accepted. This class is a FastAPI dependency.

    Each request gets an `asyncio.Event` as `displaced` in its state. When this event is set, the stream ends to make room for an
    address with fewer streams. Without this, a few hundred connections of one client could block all others.
    """

    def __init__(self) -> None:
        self._streams: dict[asyncio.Event, str] = {}
        """The address of each stream, the oldest stream first."""

    async def __call__(self, request: Request) -> AsyncIterator[None]:
        """Reserve a place while a request is being answered; raises Refusal 429 if no place is free."""
        address = request.scope["client_address"]
        counts = Counter(self._streams.values())
        if len(self._streams) >= MAX_STREAMS:
            most = max(counts.values())
            if counts[address] == most:
                raise Refusal(429, f"{MAX_STREAMS} pages are already open", "reload the page later", RETRY_MILLISECONDS / 1000)
            oldest = next(stream for stream, other in self._streams.items() if counts[other] == most)
            del self._streams[oldest]
            oldest.set()
        request.state.displaced = displaced = asyncio.Event()
        self._streams[displaced] = address
        try:
            yield
        finally:
            self._streams.pop(displaced, None)


def send_events(events: AsyncGenerator[bytes, None]) -> EventSourceResponse:
    """Return an answer that sends encoded events, each of them in parts. It ends with `events`, or with the connection."""

    async def parts() -> AsyncIterator[bytes]:
        async with aclosing(events):
            async for event in events:
                for start in range(0, len(event), MAX_PART_BYTES):
                    yield event[start : start + MAX_PART_BYTES]

    return EventSourceResponse(parts(), ping=10**9)  # its pings would get between the parts of an event


@dataclass(frozen=True, slots=True)
class RunState:
    """The counts of a run that a page shows first, without the boards."""

    word: str
    """`finished`, `running` or `interrupted`."""
    done: int
    total: int | None
    """None if the number of matches depends on results."""


def run_state(store: Store, run: Run, *, writing: bool) -> RunState:
    """Return the progress of a run, computed only from counts. `writing` is True while a process holds the store."""
    counts = dict(store.query("SELECT board, count(*) FROM place GROUP BY board"))
    done = [counts.get(number, 0) + sheet.left_out for number, sheet in enumerate(run.boards)]
    ended = run.ended is not None
    finished = all(count == sheet.size if sheet.exact else ended for count, sheet in zip(done, run.boards, strict=True))
    if run.shard is not None and not finished:  # it has all of its matches
        return RunState("running" if writing else "finished", sum(done), sum(done))
    over = finished and not (writing and not ended)
    word = "finished" if over else "running" if writing else "interrupted"
    exact = all(sheet.exact for sheet in run.boards)
    return RunState(word, sum(done), sum([sheet.size for sheet in run.boards]) if exact else None)


def expected_total(boards: Sequence[Leaderboard]) -> int | None:
    """Return the expected number of matches of a run, using the forecasts of sequential tests; None if the number cannot be
    forecast.
    """
    total = 0
    for board in boards:
        size = board.sheet.size if board.sheet.exact else None
        if not board.sheet.exact and board.test is not None:  # the games so far, plus the further pairs that are expected
            ahead = board.test.forecast
            rest = 0 if ahead is None else ceil(ahead.likely - sum(board.test.counts))
            size = min(board.sheet.size, board.games + 2 * max(0, rest))
        if size is None:
            return None
        total += size
    return total


def facts_of(run: Run) -> dict[str, Any]:
    """Return the conditions of a run as text: its seed, times, versions and limits."""
    others = [
        f"{source} {found.version}"
        for source, found in run.plugins.items()
        if found.version and not source.startswith(f"{distribution()}:")
    ]
    return {
        "seed": "secret" if run.seed is None else run.seed,
        "started": run.started,
        "ended": run.ended,
        "limits": limits_text(run.boards),
        "versions": ", ".join([*[f"{name} {run.versions[name]}" for name in Run.SOFTWARE if name in run.versions], *others]),
    }


def limits_text(boards: Sequence[BoardInfo]) -> str:
    """Return the range of the limits on a decision over all entries of all boards, such as `1,000 to 5,000 nodes, 1 s`; `none` if
    there are no limits.
    """
    told = []
    for name, unit in (("nodes", "nodes"), ("seconds", "s")):
        found = [limits[name] for sheet in boards for limits in sheet.limits.values() if name in limits]
        if found:
            low, high = f"{min(found):,.10g}", f"{max(found):,.10g}"
            some = "" if len(found) == sum([len(sheet.labels) for sheet in boards]) else " for some"
            told.append(f"{low if low == high else f'{low} to {high}'} {unit}{some}")
    return ", ".join(told) or "none"


class Watcher:
    """Sends the state of a store to its listeners after every change. It reads the store only while it has listeners."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.starting = False
        """True if a process is about to write to the store. The store need not exist yet."""
        self.own = False
        """True while a process that this server started, and that a page can stop, writes to the store."""
        self.trouble: str | None = None
        """The error that ended the run, if the server knows it."""
        self._event = b""
        """The state as an event. It is encoded once for all listeners."""
        self._version = 0
        self._signature: object = None
        self._changed = asyncio.Event()
        self._listeners = 0
        self._task: asyncio.Task[None] | None = None
        self._paces: list[tuple[float, int]] = []

    async def stream(self, *stops: asyncio.Event) -> AsyncGenerator[bytes, None]:
        """Yield the state of the store as events, first at once and then after every change, until one of `stops` is set.

        A slow listener skips states.
        """
        self._listeners += 1
        if self._task is None:
            self._task = asyncio.create_task(self._watch())
        seen, told = 0, monotonic()
        try:
            yield RETRY
            while not any(stop.is_set() for stop in stops):
                changed = self._changed
                if self._version > seen or monotonic() - told > PING_SECONDS:
                    event = self._event if self._version > seen else PING
                    seen, told = self._version, monotonic()
                    yield event
                else:
                    with suppress(TimeoutError):
                        await asyncio.wait_for(changed.wait(), STOP_CHECK_SECONDS)
        finally:
            self._listeners -= 1
            if not self._listeners and self._task is not None:
                self._task.cancel()
                self._task = None

    async def now(self) -> dict[str, Any]:
        """Return the current state of the store."""
        return await anyio.to_thread.run_sync(self._read)

    def _write(self) -> str:
        """Return the current state as a text without line ends."""
        return json.dumps(self._read(), allow_nan=False, separators=(",", ":"))

    async def brief(self) -> dict[str, Any]:
        """Return the progress of the run in counts. A list of many stores uses this state, because it leaves out the boards."""
        return await anyio.to_thread.run_sync(self._brief)

    def _brief(self) -> dict[str, Any]:
        try:
            writing = Store.is_held(self.path)
            with Store.open(self.path) as store, store.snapshot(details=False):
                run = store.last()
                stands = run_state(store, run, writing=writing)
        except Exception as error:  # one store that cannot be read must not hide the others
            return {**self._describe_fault(error), "boards": 0, "started": None, "run": None}
        return {
            "state": self._word(stands.word),
            "message": self.trouble,
            "name": run.name,
            "boards": len(run.boards),
            "done": stands.done,
            "total": stands.total,
            "started": run.started,
            "run": hashlib.sha256(json.dumps([run.started, run.spec], sort_keys=True, default=str).encode()).hexdigest(),
        }

    def _word(self, word: str) -> str:
        return "failed" if self.trouble is not None and word != "finished" else word

    def _describe_fault(self, error: Exception) -> dict[str, Any]:
        """Return the state that is shown for a store that cannot be read."""
        word = "starting" if self.starting and self.trouble is None and isinstance(error, StoreError) else "failed"
        told = str(error) if isinstance(error, StoreError) else describe(error)
        message = self.trouble or (None if word == "starting" else told)
        nothing = {"boards": [], "done": 0, "total": None, "overall": None}
        return {**nothing, "state": word, "message": message, "name": self.path.stem, "own": self.own}

    async def _watch(self) -> None:
        while True:
            began = monotonic()
            signature = await anyio.to_thread.run_sync(self._look)
            if signature != self._signature:
                text = await anyio.to_thread.run_sync(self._write)  # the text of a large board takes a while, too
                self._version += 1
                self._event = f"id: {self._version}\r\nevent: state\r\ndata: {text}\r\n\r\n".encode()
                self._signature = signature
                before, self._changed = self._changed, asyncio.Event()
                before.set()
            await asyncio.sleep(max(POLL_SECONDS, PAUSE_PER_POLL * (monotonic() - began)))

    def _look(self) -> object:
        """Return a value that changes whenever the state does, but is much faster to compute."""
        more = (self.trouble, self.starting, self.own, Store.is_held(self.path))
        try:
            return (*more, *state_signature(self.path))
        except StoreError as error:
            return (*more, str(error))

    def _read(self) -> dict[str, Any]:
        try:
            writing = Store.is_held(self.path)  # asked before the store is read; otherwise the last matches could be missed
            with Store.open(self.path) as store, store.snapshot(details=False):
                run = store.last()
                stands = run_state(store, run, writing=writing)
                stored: int = next(iter(store.query("SELECT coalesce(max(number), -1) + 1 FROM record")))[0]
                shown = Leaderboard.last_run(store)
                boards = Leaderboard.of_run(store, shown, tallies_of(store, shown.boards), str(self.path))
            return {
                "state": self._word(stands.word),
                "message": self.trouble,
                "name": run.name,
                **facts_of(run),
                "own": self.own,
                "done": stands.done,
                "total": stands.total,
                "expected": expected_total(boards) if stands.total is None and stands.word != "finished" else None,
                "pace": self._pace(stored) if stands.word == "running" else None,
                "boards": [describe_board(board) for board in boards],
                "overall": None if (means := Leaderboard.overall(boards)) is None else asdict(means),
            }
        except Exception as error:  # a store with manipulated content must not end the stream
            return self._describe_fault(error)

    def _pace(self, stored: int) -> float | None:
        """Return the number of matches per second over the last PACE_WINDOW_SECONDS seconds; None if the run is too young.

        `stored` is the number of records that were ever written to the store. Counts of matches on the boards would not do, since
        a run that is resumed puts hundreds of matches that the store has on its boards at once.
        """
        now = monotonic()
        self._paces = [(when, count) for when, count in self._paces if now - when < PACE_WINDOW_SECONDS and count <= stored]
        self._paces.append((now, stored))
        when, count = self._paces[0]
        return (stored - count) / (now - when) if now - when >= MIN_PACE_SECONDS else None


def state_signature(path: Path) -> Sequence[object]:
    """Return values that change whenever the state of a store does; raises StoreError if the store cannot be read."""
    with Store.open(path) as store:
        return list(store.query(_STATE_SIGNATURE))


_STATE_SIGNATURE = (
    "SELECT (SELECT max(number) FROM record), (SELECT count(*) FROM place), started, ended FROM run ORDER BY number DESC LIMIT 1"
)


def describe_board(board: Leaderboard) -> dict[str, Any]:
    """Return a leaderboard as plain values: its table as text, by column, and the remarks below the table."""
    table = board.table()
    columns = [
        {
            "key": column.key,
            "heading": column.heading,
            "style": column.style,
            "cells": [table.cell(column, row) for row in table.rows],
            "bounds": [table.bounds(column, row) for row in table.rows] if column.is_interval else None,
        }
        for column in table.columns
    ]
    return {
        **board.as_dict(),
        "title": board.title,
        "games": board.games,
        "table": {"agents": [row["agent"] for row in table.rows], "columns": columns},
        "cross_cells": board.cross_cells(),
        "cross_title": board.cross_title,
        "bracket_table": None if (bracket := board.bracket_table()) is None else asdict(bracket),
        "remarks": board.explained().remarks,
        "verdict": verdict(board),
        "failures": [
            {"agent": one.agent, "kind": one.kind, "count": one.count, "first": one.first, "message": one.message}
            for one in board.failures
        ],
    }

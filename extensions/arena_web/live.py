"""The state of a store while it is filled: one watcher a store, any number of listeners, one text in memory for all."""

import asyncio
import json
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from math import ceil
from pathlib import Path
from time import monotonic
from typing import Any

import anyio.to_thread

from arena.api.cli import describe
from arena.api.results import BoardInfo, BoardTable, Leaderboard, board_table, bracket_table, of_tallies, overall, tallies_of
from arena.api.store import Run, Store, StoreError
from arena.plugins.registry import own_prefix
from arena.results.tables import cross_cells
from arena_web.errors import Refusal

POLL_SECONDS = 0.4
"""Seconds between two looks at a store, at least."""
PAUSE_PER_POLL = 4
"""The pause after a look is at least this many times as long as the look took, so that a slow store is read less often."""
STOP_CHECK_SECONDS = 0.5
"""Seconds after which a silent stream checks whether the server ends."""
RETRY_MILLISECONDS = 1000
"""Milliseconds after which a browser connects again."""
PACE_WINDOW_SECONDS = 20.0
"""Seconds over which the pace is measured."""
MIN_PACE_SECONDS = 3.0
"""Seconds of a run before there is a pace."""
MAX_STREAMS = 200
"""Event streams of a server at a time."""


class Listeners:
    """Counts the event streams of a server, each as soon as it is granted: a dependency of FastAPI."""

    def __init__(self) -> None:
        self.count = 0

    async def __call__(self) -> AsyncIterator[None]:
        """Take a place as long as a request is answered; Refusal 429 if there is none."""
        if self.count >= MAX_STREAMS:
            raise Refusal(429, f"{MAX_STREAMS} pages are listening already", "load the page again later")
        self.count += 1
        try:
            yield
        finally:
            self.count -= 1


@dataclass(frozen=True, slots=True)
class RunState:
    """The counts of a run that a page begins with, without its boards."""

    word: str
    """`finished`, `running` or `interrupted`."""
    done: int
    total: int | None
    """None where the number of matches depends on results."""


def run_state(store: Store, run: Run, *, writing: bool) -> RunState:
    """Return how a run stands, from counts alone; `writing` is True while a process holds the store."""
    counts = dict(store.query("SELECT board, count(*) FROM place GROUP BY board"))
    done = [counts.get(number, 0) for number in range(len(run.boards))]
    ended = run.ended is not None
    finished = all(count == sheet.size if sheet.exact else ended for count, sheet in zip(done, run.boards, strict=True))
    over = finished and not (writing and not ended)
    word = "finished" if over else "running" if writing else "interrupted"
    exact = all(sheet.exact for sheet in run.boards)
    return RunState(word, sum(done), sum([sheet.size for sheet in run.boards]) if exact else None)


def expected_total(boards: Sequence[Leaderboard]) -> int | None:
    """Return about how many matches a run will have taken, by the forecasts of sequential tests; None without them."""
    sizes = [_expected_size(board) for board in boards]
    known = [size for size in sizes if size is not None]
    return sum(known) if len(known) == len(sizes) else None


def _expected_size(board: Leaderboard) -> int | None:
    """The matches of one board; of a test as many as it has, and those of the pairs that are expected to follow."""
    if board.sheet.exact or board.test is None:
        return board.size
    ahead = board.test.forecast
    rest = 0 if ahead is None else ceil(ahead.likely - sum(board.test.counts))
    return min(board.sheet.size, board.games + 2 * max(0, rest))


def facts_of(run: Run) -> dict[str, Any]:
    """Return with what a run is played: its seed, its times, the versions and the limits, in words."""
    return {
        "seed": "secret" if run.seed is None else run.seed,
        "started": run.started,
        "ended": run.ended,
        "limits": limits_text(run.boards),
        "versions": _versions(run),
    }


def limits_text(boards: Sequence[BoardInfo]) -> str:
    """Return the limits of a decision over all entries of all boards, such as `1,000 to 5,000 nodes, 1 s`; `none` without any."""
    told = []
    for name, unit in (("nodes", "nodes"), ("seconds", "s")):
        found = [limits[name] for sheet in boards for limits in sheet.limits.values() if name in limits]
        if found:
            low, high = f"{min(found):,}", f"{max(found):,}"
            some = "" if len(found) == sum([len(sheet.labels) for sheet in boards]) else " for some"
            told.append(f"{low if low == high else f'{low} to {high}'} {unit}{some}")
    return ", ".join(told) or "none"


def _versions(run: Run) -> str:
    """The versions of arena and Python, and of all plugins but arena's own."""
    others = [
        f"{source} {found.version}"
        for source, found in run.plugins.items()
        if found.version and not source.startswith(own_prefix())
    ]
    return ", ".join([*[f"{name} {version}" for name, version in run.versions.items()], *others])


class Watcher:
    """Tells its listeners how a store stands, whenever that changes. It looks at it only while there are some."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.starting = False
        """True while somebody is about to write to the store, which need not be there yet."""
        self.own = False
        """True while a process of the server writes to it, which a page can stop."""
        self.trouble: str | None = None
        """The error of the run, as far as the server knows."""
        self._text = ""
        self._version = 0
        self._signature: object = None
        self._changed = asyncio.Event()
        self._listeners = 0
        self._task: asyncio.Task[None] | None = None
        self._paces: list[tuple[float, int]] = []

    async def stream(self, stop: asyncio.Event) -> AsyncIterator[dict[str, Any]]:
        """Yield the state of the store as events: at once, and after every change. A slow listener skips states."""
        self._listeners += 1
        if self._task is None:
            self._task = asyncio.create_task(self._watch())
        seen = 0
        try:
            yield {"retry": RETRY_MILLISECONDS}
            while not stop.is_set():
                changed = self._changed
                if self._version > seen:
                    seen = self._version
                    yield {"id": str(seen), "event": "state", "data": self._text}
                else:
                    with suppress(TimeoutError):
                        await asyncio.wait_for(changed.wait(), STOP_CHECK_SECONDS)
        finally:
            self._listeners -= 1
            if not self._listeners and self._task is not None:
                self._task.cancel()
                self._task = None

    async def now(self) -> dict[str, Any]:
        """The state of the store now."""
        return await anyio.to_thread.run_sync(self._read)

    async def brief(self) -> dict[str, Any]:
        """How the run stands, in counts: for a list of many stores, whose boards nobody looks at."""
        return await anyio.to_thread.run_sync(self._brief)

    def _brief(self) -> dict[str, Any]:
        try:
            writing = is_held(self.path)
            with Store.open(self.path) as store, store.snapshot():
                run = store.last()
                stands = run_state(store, run, writing=writing)
        except Exception as error:  # one store that cannot be read must not hide the others
            return {**self._describe_fault(error), "boards": 0, "started": None}
        return {
            "state": self._word(stands.word),
            "message": self.trouble,
            "name": run.name,
            "boards": len(run.boards),
            "done": stands.done,
            "total": stands.total,
            "started": run.started,
        }

    def _word(self, word: str) -> str:
        return "failed" if self.trouble is not None and word != "finished" else word

    def _describe_fault(self, error: Exception) -> dict[str, Any]:
        """The state of a store that cannot be read."""
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
                self._text = json.dumps(await self.now(), allow_nan=False, separators=(",", ":"))
                self._version += 1
                self._signature = signature
                before, self._changed = self._changed, asyncio.Event()
                before.set()
            await asyncio.sleep(max(POLL_SECONDS, PAUSE_PER_POLL * (monotonic() - began)))

    def _look(self) -> object:
        """A value that changes with the state, and takes far less time to find."""
        more = (self.trouble, self.starting, self.own, is_held(self.path))
        try:
            with Store.open(self.path) as store:
                return (*more, *store.query(_STATE_SIGNATURE))
        except StoreError as error:
            return (*more, str(error))

    def _read(self) -> dict[str, Any]:
        try:
            return self._state()
        except Exception as error:  # a store that somebody has tampered with must not end the stream
            return self._describe_fault(error)

    def _state(self) -> dict[str, Any]:
        writing = is_held(self.path)  # before the store is read, or its last matches could be missed
        with Store.open(self.path) as store, store.snapshot():
            run = store.last()
            stands = run_state(store, run, writing=writing)
            boards = of_tallies(tallies_of(store, run.boards), finished=run.ended is not None, store=str(self.path))
        return {
            "state": self._word(stands.word),
            "message": self.trouble,
            "name": run.name,
            **facts_of(run),
            "own": self.own,
            "done": stands.done,
            "total": stands.total,
            "expected": expected_total(boards) if stands.total is None and stands.word != "finished" else None,
            "pace": self._pace(stands.done) if stands.word == "running" else None,
            "boards": [describe_board(board) for board in boards],
            "overall": None if (means := overall(boards)) is None else asdict(means),
        }

    def _pace(self, done: int) -> float | None:
        """Matches a second, over the last while."""
        now = monotonic()
        self._paces = [(when, count) for when, count in self._paces if now - when < PACE_WINDOW_SECONDS and count <= done]
        self._paces.append((now, done))
        when, count = self._paces[0]
        return (done - count) / (now - when) if now - when >= MIN_PACE_SECONDS else None


_STATE_SIGNATURE = (
    "SELECT (SELECT max(number) FROM record), (SELECT count(*) FROM place), started, ended FROM run ORDER BY number DESC LIMIT 1"
)


def describe_board(board: Leaderboard) -> dict[str, Any]:
    """A leaderboard as plain values, with what a page says below it."""
    return {
        **board.as_dict(),
        "title": board.title,
        "games": board.games,
        "table": _table(board_table(board)),
        "cross_cells": cross_cells(board),
        "bracket_table": None if (bracket := bracket_table(board)) is None else asdict(bracket),
        "remarks": board.remarks,
        "failures": [
            {"agent": one.agent, "kind": one.kind, "count": one.count, "first": one.first, "message": one.message}
            for one in board.failures
        ],
    }


def _table(table: BoardTable) -> dict[str, Any]:
    """The headings and cells of a board as text, column by column, and the bounds of its intervals."""
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
    return {"agents": [row["agent"] for row in table.rows], "columns": columns}


def is_held(store: Path) -> bool:
    """True if somebody writes to a store, by the process id in the lock beside it; the lock itself is left alone."""
    real = store.resolve()
    try:
        os.kill(int(real.with_name(f"{real.name}.lock").read_text()), 0)
    except PermissionError:
        return True
    except (OSError, ValueError):
        return False
    return True

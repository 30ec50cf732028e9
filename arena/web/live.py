"""The state of a store while it is filled: one watcher a store, any number of listeners, one text in memory for all."""

import asyncio
import json
import os
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from time import monotonic
from typing import Any

import anyio.to_thread

from arena.errors import StoreError, describe
from arena.results.bracket_table import bracket_table
from arena.results.cells import BoardTable, board_table
from arena.results.leaderboard import Leaderboard, of_tallies
from arena.results.stored_tallies import tallies_of
from arena.results.tables import cross_cells, overall, remarks
from arena.store import Store
from arena.web.run_state import expected_total, facts_of, run_state

LOOK = 0.4
"""Seconds between two looks at a store, at least; a look that takes long is followed by a longer pause."""
SHARE = 4
"""The least pause after a look, in multiples of how long the look took, so that a slow store gets less of them."""
PING = 15.0
"""Seconds after which a silent stream says that it is there."""
WINDOW = 20.0
"""Seconds over which the pace is measured."""
EARLY = 3.0
"""Seconds before there is a pace."""


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

    async def stream(self, stop: asyncio.Event) -> AsyncIterator[str]:
        """Yield the state of the store as server-sent events: at once, and after every change. A slow listener skips states."""
        self._listeners += 1
        if self._task is None:
            self._task = asyncio.create_task(self._watch())
        seen = 0
        try:
            yield "retry: 1000\n\n"
            while not stop.is_set():
                changed = self._changed
                if self._version > seen:
                    seen = self._version
                    yield f"id: {seen}\nevent: state\ndata: {self._text}\n\n"
                elif not await _either(changed, stop, PING):
                    yield ": still here\n\n"
        finally:
            self._listeners -= 1
            if not self._listeners and self._task is not None:
                self._task.cancel()
                self._task = None

    async def now(self) -> dict[str, Any]:
        """The state of the store now."""
        return await anyio.to_thread.run_sync(self._told)

    async def brief(self) -> dict[str, Any]:
        """How the run stands, in counts: for a list of many stores, whose boards nobody looks at."""
        return await anyio.to_thread.run_sync(self._brief)

    def _brief(self) -> dict[str, Any]:
        try:
            writing = held(self.path)
            with Store.open(self.path) as store, store.snapshot():
                run = store.last()
                stands = run_state(store, run, writing=writing)
        except Exception as error:  # one store that cannot be read must not hide the others
            return {**self._unread(error), "boards": 0, "started": None}
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

    def _unread(self, error: Exception) -> dict[str, Any]:
        """The state of a store that cannot be read."""
        word = "starting" if self.starting and self.trouble is None and isinstance(error, StoreError) else "failed"
        told = str(error) if isinstance(error, StoreError) else describe(error)
        message = self.trouble or (None if word == "starting" else told)
        return {**_NOTHING, "state": word, "message": message, "name": self.path.stem, "own": self.own}

    async def _watch(self) -> None:
        while True:
            began = monotonic()
            signature = await anyio.to_thread.run_sync(self._look)
            if signature != self._signature:
                self._publish(await self.now())
                self._signature = signature
            await asyncio.sleep(max(LOOK, SHARE * (monotonic() - began)))

    def _publish(self, state: dict[str, Any]) -> None:
        self._text = json.dumps(state, allow_nan=False, separators=(",", ":"))
        self._version += 1
        before, self._changed = self._changed, asyncio.Event()
        before.set()

    def _look(self) -> object:
        """A value that changes with the state, and takes far less time to find."""
        more = (self.trouble, self.starting, self.own, held(self.path))
        try:
            with Store.open(self.path) as store:
                return (*more, *store.query(_SIGNATURE))
        except StoreError as error:
            return (*more, str(error))

    def _told(self) -> dict[str, Any]:
        try:
            return self._state()
        except Exception as error:  # a store that somebody has tampered with must not end the stream
            return self._unread(error)

    def _state(self) -> dict[str, Any]:
        writing = held(self.path)  # before the store is read, or its last matches could be missed
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
            "boards": [shown(board) for board in boards],
            "overall": None if (means := overall(boards)) is None else asdict(means),
        }

    def _pace(self, done: int) -> float | None:
        """Matches a second, over the last while."""
        now = monotonic()
        self._paces = [(when, count) for when, count in self._paces if now - when < WINDOW and count <= done]
        self._paces.append((now, done))
        when, count = self._paces[0]
        return (done - count) / (now - when) if now - when >= EARLY else None


_SIGNATURE = (
    "SELECT (SELECT max(number) FROM record), (SELECT count(*) FROM place), started, ended FROM run ORDER BY number DESC LIMIT 1"
)


_NOTHING: dict[str, Any] = {"boards": [], "done": 0, "total": None, "own": False, "overall": None}


def shown(board: Leaderboard) -> dict[str, Any]:
    """A leaderboard as plain values, with what a page says below it."""
    return {
        **board.as_dict(),
        "title": board.title,
        "games": board.games,
        "table": _table(board_table(board)),
        "cross_cells": cross_cells(board),
        "bracket_table": None if (bracket := bracket_table(board)) is None else asdict(bracket),
        "remarks": remarks(board),
        "failures": [
            {"agent": one.agent, "kind": one.kind, "count": one.count, "first": one.first, "message": one.message}
            for one in board.failures
        ],
    }


def _table(shown: BoardTable) -> dict[str, Any]:
    """The headings and cells of a board as text, column by column, and the bounds of its intervals."""
    columns = [
        {
            "key": column.key,
            "heading": column.heading,
            "style": column.style,
            "cells": [shown.cell(column, row) for row in shown.rows],
            "bounds": [shown.bounds(column, row) for row in shown.rows] if column.is_interval else None,
        }
        for column in shown.columns
    ]
    return {"agents": [row["agent"] for row in shown.rows], "columns": columns}


def held(store: Path) -> bool:
    """True if somebody writes to a store, by the process id in the lock beside it; the lock itself is left alone."""
    real = store.resolve()
    try:
        os.kill(int(real.with_name(f"{real.name}.lock").read_text()), 0)
    except PermissionError:
        return True
    except (OSError, ValueError):
        return False
    return True


async def _either(one: asyncio.Event, other: asyncio.Event, seconds: float) -> bool:
    """Wait for one of two events; False where neither came in time."""
    waiting = [asyncio.ensure_future(one.wait()), asyncio.ensure_future(other.wait())]
    try:
        done, _ = await asyncio.wait(waiting, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        return bool(done)
    finally:
        for task in waiting:
            task.cancel()
        with suppress(asyncio.CancelledError):
            await asyncio.gather(*waiting, return_exceptions=True)

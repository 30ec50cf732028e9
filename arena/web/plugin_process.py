"""The desks of a server: processes that work for pages, within limits of time, memory and number."""

import json
import os
import select
import sys
import threading
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from time import monotonic
from typing import Any

import anyio
import anyio.to_thread

from arena.errors import ArenaError
from arena.processes.child import ChildProcess
from arena.processes.environment import python_environment

MEMORY_MB = 1024
"""What a desk may use, with all that runs in it."""
AT_ONCE = 4
"""Requests that are worked on at a time."""
KEPT = 2
"""Desks that wait for the next request."""
STARTING = 30.0
"""Seconds for a desk to load its plugins."""
LOOK = 0.05
"""Seconds between two looks at what a desk uses."""
LARGEST = 64 << 20
"""Bytes of an answer."""


class Busy(ArenaError):
    """Too many requests are being worked on."""


class ProcessFailed(ArenaError):
    """A desk had to be ended; the message says why."""


class ProcessEnded(Exception):
    """The page that asked is gone."""


class PluginProcess:
    """One process. It is used from one thread at a time; `cancelled` may be set from any."""

    def __init__(self, plugins: Sequence[str], memory_mb: int) -> None:
        command = [sys.executable, "-P", "-m", "arena.web.plugin_host", *plugins]
        self._memory = memory_mb << 20
        self._process = ChildProcess(command, str(Path.cwd()), self._memory, python_environment())
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._in, self._out = self._process.stdin.fileno(), self._process.stdout.fileno()
        os.set_blocking(self._in, False)
        self._rest = bytearray()
        self._greeted = False
        self._worn = False
        self.cancelled = threading.Event()

    def ask(self, request: Mapping[str, Any], seconds: float) -> dict[str, Any]:
        """Return the answer to a request. Failed where it takes longer, or too much memory; Gone once it is `cancelled`."""
        if not self._greeted:
            self._read(monotonic() + STARTING, "did not start")
            self._greeted = True
        end = monotonic() + seconds
        self._write(json.dumps(request).encode() + b"\n", end)
        answer: dict[str, Any] = json.loads(self._read(end, f"took longer than {seconds:g} s"))
        self._worn = self._process.usage().memory > self._memory // 2
        return answer

    def end(self) -> None:
        """End the process and everything that it started."""
        self._process.end()

    @property
    def alive(self) -> bool:
        """Whether it can take another request, and has memory left for it."""
        return self._process.poll() is None and not self.cancelled.is_set() and not self._worn

    def _write(self, data: bytes, end: float) -> None:
        view = memoryview(data)
        while view:
            try:
                view = view[os.write(self._in, view) :]
            except BlockingIOError:
                self._look(end, "does not read")
                select.select([], [self._in], [], LOOK)
            except OSError:
                raise ProcessFailed("the process that worked on this has ended") from None

    def _read(self, end: float, late: str) -> bytes:
        poll = select.poll()
        poll.register(self._out, select.POLLIN)
        while b"\n" not in self._rest[-(1 << 16) :]:
            self._look(end, late)
            if not poll.poll(LOOK * 1000):
                continue
            data = os.read(self._out, 1 << 16)
            if not data:
                raise ProcessFailed("the process that worked on this has ended: it crashed, or used too much memory")
            self._rest += data
            if len(self._rest) > LARGEST:
                raise ProcessFailed(f"the answer has more than {LARGEST >> 20} MiB")
        line, _, self._rest = self._rest.partition(b"\n")
        return bytes(line)

    def _look(self, end: float, late: str) -> None:
        if self.cancelled.is_set():
            raise ProcessEnded
        if monotonic() > end:
            raise ProcessFailed(f"stopped: it {late}")
        if self._process.usage().memory > self._memory:
            raise ProcessFailed(f"stopped: it used more than {self._memory >> 20} MiB of memory")


class PluginProcesses:
    """Hands out desks, a few at a time, and ends those that did not behave."""

    def __init__(self, plugins: Sequence[str] = (), memory_mb: int = MEMORY_MB) -> None:
        self._plugins = tuple(plugins)
        self._memory = memory_mb
        self._idle: list[PluginProcess] = []
        self._busy: set[PluginProcess] = set()
        self._threads = anyio.CapacityLimiter(AT_ONCE * 2)

    @property
    def busy(self) -> int:
        """How many requests are being worked on."""
        return len(self._busy)

    async def ask(self, request: Mapping[str, Any], seconds: float, gone: Callable[[], Awaitable[None]]) -> dict[str, Any]:
        """Return the answer to a request; Busy where there are too many, Failed where it had to be stopped.

        `gone` returns when nobody waits for the answer any more: then the work ends at once, and Gone is raised.
        """
        if self.busy >= AT_ONCE:
            raise Busy(f"{AT_ONCE} requests are being worked on; try again in a moment")
        desk = self._taken()
        self._busy.add(desk)
        try:
            answer = await self._asked(desk, request, seconds, gone)
        except BaseException:
            self._busy.discard(desk)
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(desk.end, limiter=self._threads)
            raise
        self._busy.discard(desk)
        if desk.alive and len(self._idle) < KEPT:
            self._idle.append(desk)
        else:
            await anyio.to_thread.run_sync(desk.end, limiter=self._threads)
        return answer

    async def close(self) -> None:
        """End all desks; whoever waits for one gets Gone."""
        for desk in self._busy:
            desk.cancelled.set()
        while self._idle:
            await anyio.to_thread.run_sync(self._idle.pop().end, limiter=self._threads)

    def _taken(self) -> PluginProcess:
        while self._idle:
            desk = self._idle.pop()
            if desk.alive:
                return desk
            desk.end()
        # From this thread, which lives on: the process dies with the one that starts it.
        return PluginProcess(self._plugins, self._memory)

    async def _asked(
        self, desk: PluginProcess, request: Mapping[str, Any], seconds: float, gone: Callable[[], Awaitable[None]]
    ) -> dict[str, Any]:
        outcome: dict[str, Any] | Exception

        async def leave() -> None:
            await gone()
            desk.cancelled.set()

        async with anyio.create_task_group() as group:
            group.start_soon(leave)
            try:
                outcome = await anyio.to_thread.run_sync(desk.ask, request, seconds, limiter=self._threads)
            except (ProcessFailed, ProcessEnded) as error:
                outcome = error
            group.cancel_scope.cancel()
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

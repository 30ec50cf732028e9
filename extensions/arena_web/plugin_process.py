"""Processes that run plugins for pages, with limits on their time, memory and number."""

import threading
from collections.abc import Mapping, Sequence
from typing import Any

import anyio
import anyio.to_thread
from starlette.requests import Request

from arena import ArenaError
from arena_isolation.child import ChildLost
from arena_isolation.helper import Helper

HOST = "arena_web.plugin_host"
"""The main module of a process."""
MEMORY_MB = 1024
"""The memory limit of a process with its children."""
MAX_REQUESTS = 4
"""The maximum number of concurrent requests."""
IDLE_PROCESSES = 2
"""The maximum number of idle processes."""
START_SECONDS = 30.0
"""The timeout for loading plugins, in seconds."""
MEMORY_CHECK_SECONDS = 0.05
"""Seconds between two checks of the memory of a process."""
MAX_ANSWER_BYTES = 64 << 20
"""The maximum size of an answer in bytes."""


class Busy(ArenaError):
    """Too many requests are being worked on."""


class ProcessFailed(ArenaError):
    """A process was killed; the message has the reason."""


class ProcessEnded(Exception):
    """The requesting page is gone."""


class PluginProcess:
    """One process. It is used from one thread at a time; `cancelled` may be set from any."""

    def __init__(self, plugins: Sequence[str], memory_mb: int) -> None:
        self._memory_mb = memory_mb
        self._greeted = False
        self._worn = False
        self.cancelled = threading.Event()

        def check() -> None:
            if self.cancelled.is_set():
                raise ProcessEnded

        self._process = Helper(
            HOST,
            plugins,
            memory=memory_mb << 20,
            longest=MAX_ANSWER_BYTES,
            look=MEMORY_CHECK_SECONDS,
            check=check,
        )

    def ask(self, request: Mapping[str, Any], seconds: float) -> dict[str, Any]:
        """Return the answer; raises ProcessFailed on a timeout or too much memory, ProcessEnded when `cancelled`."""
        late = "did not start"
        try:
            if not self._greeted:
                self._process.wait_until_ready(START_SECONDS)
                self._greeted = True
            late = f"took longer than {seconds:g} s"
            answer: dict[str, Any] = self._process.ask(request, seconds)
        except ChildLost as lost:
            reasons = {
                "late": f"stopped: it {late}",
                "deaf": "stopped: it does not read",
                "memory": f"stopped: it used more than {self._memory_mb} MiB of memory",
                "long": f"the answer has more than {MAX_ANSWER_BYTES >> 20} MiB",
                "garbled": "the answer is not JSON",
            }
            crashed = "the process that worked on this has ended: it crashed, or used too much memory"
            raise ProcessFailed(reasons.get(lost.why, crashed)) from None
        self._worn = self._process.measure_memory() > self._memory_mb << 19
        return answer

    def end(self) -> None:
        """End the process and everything that it started."""
        self._process.end()

    @property
    def alive(self) -> bool:
        """True if it can take another request and has memory left for it."""
        return self._process.poll() is None and not self.cancelled.is_set() and not self._worn


class PluginProcesses:
    """A pool of processes that replaces misbehaving ones."""

    def __init__(self, plugins: Sequence[str]) -> None:
        self._plugins = tuple(plugins)
        self._idle: list[PluginProcess] = []
        self._busy: set[PluginProcess] = set()
        self._threads = anyio.CapacityLimiter(MAX_REQUESTS * 2)

    @property
    def busy(self) -> int:
        """The number of requests that are being worked on."""
        return len(self._busy)

    def prepare(self) -> None:
        """Start a process that loads its plugins before the first request. Call it from the thread that calls `ask`."""
        self._idle.append(PluginProcess(self._plugins, MEMORY_MB))

    async def ask(self, asked: Mapping[str, Any], seconds: float, page: Request) -> dict[str, Any]:
        """Return the answer to a request; raises Busy if there are too many, and ProcessFailed if the process was killed.

        If the page goes away, the work ends at once, and ProcessEnded is raised.
        """
        if self.busy >= MAX_REQUESTS:
            raise Busy(f"{MAX_REQUESTS} requests are being worked on; try again in a moment")
        while self._idle and not self._idle[-1].alive:
            self._idle.pop().end()
        # From this thread, which lives on: Linux kills a child when the thread that started it ends, see PR_SET_PDEATHSIG.
        process = self._idle.pop() if self._idle else PluginProcess(self._plugins, MEMORY_MB)
        self._busy.add(process)
        outcome: dict[str, Any] | Exception

        async def leave() -> None:
            while (await page.receive())["type"] != "http.disconnect":
                pass
            process.cancelled.set()

        try:
            async with anyio.create_task_group() as group:
                group.start_soon(leave)
                try:
                    outcome = await anyio.to_thread.run_sync(process.ask, asked, seconds, limiter=self._threads)
                except (ProcessFailed, ProcessEnded) as error:  # if raised here, it would be wrapped in a group
                    outcome = error
                group.cancel_scope.cancel()
            if isinstance(outcome, Exception):
                raise outcome
        except BaseException:
            self._busy.discard(process)
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(process.end, limiter=self._threads)
            raise
        self._busy.discard(process)
        if process.alive and len(self._idle) < IDLE_PROCESSES:
            self._idle.append(process)
        else:
            await anyio.to_thread.run_sync(process.end, limiter=self._threads)
        return outcome

    async def close(self) -> None:
        """End all processes; pending requests raise ProcessEnded."""
        for process in self._busy:
            process.cancelled.set()
        while self._idle:
            await anyio.to_thread.run_sync(self._idle.pop().end, limiter=self._threads)

"""Processes in which plugins work for pages, within limits of time, memory and number."""

import threading
from collections.abc import Mapping, Sequence
from typing import Any

import anyio
import anyio.to_thread
from starlette.requests import Request

from arena import ArenaError
from arena.api.run import ChildLost, Helper
from arena.processes.child import measure_usage

HOST = "arena_web.plugin_host"
"""The module that a process runs."""
MEMORY_MB = 1024
"""Memory of a process with all that it starts."""
MAX_REQUESTS = 4
"""Requests that are worked on at a time."""
IDLE_PROCESSES = 2
"""Processes that wait for the next request."""
START_SECONDS = 30.0
"""Seconds for a process to load its plugins."""
MEMORY_CHECK_SECONDS = 0.05
"""Seconds between two looks at the memory of a process."""
MAX_ANSWER_BYTES = 64 << 20
"""Bytes of an answer."""


class Busy(ArenaError):
    """Too many requests are being worked on."""


class ProcessFailed(ArenaError):
    """A process had to be ended; the message says why."""


class ProcessEnded(Exception):
    """The page that asked is gone."""


class PluginProcess:
    """One process. It is used from one thread at a time; `cancelled` may be set from any."""

    def __init__(self, plugins: Sequence[str], memory_mb: int) -> None:
        self._memory_mb = memory_mb
        self._process = Helper(
            HOST,
            plugins,
            memory=memory_mb << 20,
            longest=MAX_ANSWER_BYTES,
            look=MEMORY_CHECK_SECONDS,
            check=self._check_cancelled,
        )
        self._greeted = False
        self._worn = False
        self.cancelled = threading.Event()

    def ask(self, request: Mapping[str, Any], seconds: float) -> dict[str, Any]:
        """Return the answer; ProcessFailed where it takes longer or too much memory, ProcessEnded once `cancelled`."""
        late = "did not start"
        try:
            if not self._greeted:
                self._process.wait_until_ready(START_SECONDS)
                self._greeted = True
            late = f"took longer than {seconds:g} s"
            answer: dict[str, Any] = self._process.ask(request, seconds)
        except ChildLost as lost:
            raise ProcessFailed(self._explain(lost, late)) from None
        self._worn = measure_usage(self._process.pid).memory > self._memory_mb << 19
        return answer

    def end(self) -> None:
        """End the process and everything that it started."""
        self._process.end()

    @property
    def alive(self) -> bool:
        """True if it can take another request and has memory left for it."""
        return self._process.poll() is None and not self.cancelled.is_set() and not self._worn

    def _explain(self, lost: ChildLost, late: str) -> str:
        if lost.why == "late":
            return f"stopped: it {late}"
        if lost.why == "deaf":
            return "stopped: it does not read"
        if lost.why == "memory":
            return f"stopped: it used more than {self._memory_mb} MiB of memory"
        if lost.why == "long":
            return f"the answer has more than {MAX_ANSWER_BYTES >> 20} MiB"
        if lost.why == "garbled":
            return "the answer is not JSON"
        return "the process that worked on this has ended: it crashed, or used too much memory"

    def _check_cancelled(self) -> None:
        if self.cancelled.is_set():
            raise ProcessEnded


class PluginProcesses:
    """Hands out processes, a few at a time, and ends those that did not behave."""

    def __init__(self, plugins: Sequence[str]) -> None:
        self._plugins = tuple(plugins)
        self._idle: list[PluginProcess] = []
        self._busy: set[PluginProcess] = set()
        self._threads = anyio.CapacityLimiter(MAX_REQUESTS * 2)

    @property
    def busy(self) -> int:
        """The number of requests that are being worked on."""
        return len(self._busy)

    async def ask(self, asked: Mapping[str, Any], seconds: float, page: Request) -> dict[str, Any]:
        """Return the answer to what a page asks for; Busy if too many do, ProcessFailed if the process had to be stopped.

        If the page goes away, the work ends at once, and ProcessEnded is raised.
        """
        if self.busy >= MAX_REQUESTS:
            raise Busy(f"{MAX_REQUESTS} requests are being worked on; try again in a moment")
        while self._idle and not self._idle[-1].alive:
            self._idle.pop().end()
        # From this thread, which lives on: Linux kills a child when the thread that started it ends, see PR_SET_PDEATHSIG.
        process = self._idle.pop() if self._idle else PluginProcess(self._plugins, MEMORY_MB)
        self._busy.add(process)
        try:
            answer = await self._ask(process, asked, seconds, page)
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
        return answer

    async def close(self) -> None:
        """End all processes; whoever waits for one gets ProcessEnded."""
        for process in self._busy:
            process.cancelled.set()
        while self._idle:
            await anyio.to_thread.run_sync(self._idle.pop().end, limiter=self._threads)

    async def _ask(self, process: PluginProcess, asked: Mapping[str, Any], seconds: float, page: Request) -> dict[str, Any]:
        outcome: dict[str, Any] | Exception

        async def leave() -> None:
            while (await page.receive())["type"] != "http.disconnect":
                pass
            process.cancelled.set()

        async with anyio.create_task_group() as group:
            group.start_soon(leave)
            try:
                outcome = await anyio.to_thread.run_sync(process.ask, asked, seconds, limiter=self._threads)
            except (ProcessFailed, ProcessEnded) as error:
                outcome = error
            group.cancel_scope.cancel()
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

"""Processes that run plugins for pages, with limits on their time, memory and number."""

import asyncio
import os
import threading
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from typing import Any
from weakref import WeakValueDictionary

import anyio
import anyio.to_thread
from starlette.requests import Request

from arena import ArenaError
from arena_isolation.child import ChildLost
from arena_isolation.helper_process import Helper

HOST = "arena_web.plugin_host"
"""The main module of these processes."""
MEMORY_MB = 1024
"""The memory limit of a process and its children."""
MAX_REQUESTS = 4
"""The maximum number of concurrent requests."""
WAIT_SECONDS = 20.0
"""The maximum number of seconds that a request waits for others to end."""
IDLE_PROCESSES = 2
"""The maximum number of idle processes with keys, and of idle processes without keys."""
START_SECONDS = 30.0
"""The timeout for loading plugins, in seconds."""
MEMORY_CHECK_SECONDS = 0.05
"""Seconds between two checks of the memory of a process."""
MAX_ANSWER_BYTES = 64 << 20
"""The maximum size of an answer in bytes."""
KEY_ENDING = "_API_KEY"
"""The end of the names of environment variables that hold keys for services."""


class Busy(ArenaError):
    """Too many requests are already in progress."""


class ProcessFailed(ArenaError):
    """A process was killed. The message gives the reason."""


class ProcessEnded(Exception):
    """The page that sent the request is gone."""


class PluginProcess:
    """One process. Only one thread uses it at a time, but `cancelled` may be set from any thread."""

    def __init__(self, plugins: Sequence[str], memory_mb: int, *, keys: bool) -> None:
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
            {} if keys else {name: "" for name in os.environ if name.endswith(KEY_ENDING)},
            memory=memory_mb << 20,
            longest=MAX_ANSWER_BYTES,
            look=MEMORY_CHECK_SECONDS,
            check=check,
        )

    def ask(self, request: Mapping[str, Any], seconds: float) -> dict[str, Any]:
        """Send a request and return the answer; raises ProcessFailed after a timeout or if too much memory is used, and
        ProcessEnded if `cancelled` is set.
        """
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
                "deaf": "stopped: it does not read its input",
                "memory": f"stopped: it used more than {self._memory_mb} MiB of memory",
                "long": f"the answer has more than {MAX_ANSWER_BYTES >> 20} MiB",
                "garbled": "the answer is not JSON",
            }
            crashed = "the process that worked on this has ended: it crashed, or used too much memory"
            raise ProcessFailed(reasons.get(lost.why, crashed)) from None
        self._worn = self._process.measure_memory() > self._memory_mb << 19
        return answer

    def end(self) -> None:
        """End the process and every process that it started."""
        self._process.end()

    @property
    def alive(self) -> bool:
        """Return True if the process can take another request and has enough memory left for it."""
        return self._process.poll() is None and not self.cancelled.is_set() and not self._worn


class PluginProcesses:
    """A pool of processes. Processes that misbehave are replaced.

    The environment variables that hold keys are empty in them, except in those that only answer requests with `keys`.
    """

    def __init__(self, plugins: Sequence[str]) -> None:
        self._plugins = tuple(plugins)
        self._idle: dict[bool, list[PluginProcess]] = {False: [], True: []}
        self._busy: set[PluginProcess] = set()
        self._threads = anyio.CapacityLimiter(MAX_REQUESTS * 2)
        self._turns = asyncio.Semaphore(MAX_REQUESTS)
        self._turns_of: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()
        """The turns of each address with requests. So no address has more than MAX_REQUESTS places in front of others."""

    def prepare(self) -> None:
        """Start a process that loads its plugins before the first request. Call this method from the thread that calls `ask`."""
        self._idle[False].append(PluginProcess(self._plugins, MEMORY_MB, keys=False))

    async def ask(self, asked: Mapping[str, Any], seconds: float, page: Request, *, keys: bool = False) -> dict[str, Any]:
        """Return the answer to a request; raises Busy if there are too many requests, and ProcessFailed if the process was
        killed. With `keys`, the process has the keys of the user.

        When the page is closed, the work ends at once and ProcessEnded is raised.
        """
        own = self._turns_of.setdefault(page.scope.get("client_address", ""), asyncio.Semaphore(MAX_REQUESTS))
        async with AsyncExitStack() as turn:
            try:
                async with asyncio.timeout(WAIT_SECONDS):
                    await turn.enter_async_context(own)
                    await turn.enter_async_context(self._turns)
            except TimeoutError:
                raise Busy("too many requests are in progress; try again in a moment") from None
            if await page.is_disconnected():  # otherwise its process would be ended, and the next one has to be started
                raise ProcessEnded
            return await self._ask(asked, seconds, page, keys=keys)

    async def _ask(self, asked: Mapping[str, Any], seconds: float, page: Request, *, keys: bool) -> dict[str, Any]:
        idle = self._idle[keys]
        while idle and not idle[-1].alive:
            idle.pop().end()
        # Start the process from this thread, which stays alive: Linux kills a child when the thread that started it ends, see
        # PR_SET_PDEATHSIG.
        process = idle.pop() if idle else PluginProcess(self._plugins, MEMORY_MB, keys=keys)
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
                except (ProcessFailed, ProcessEnded) as error:  # raised later, because here an exception group would wrap it
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
        if process.alive and len(idle) < IDLE_PROCESSES:
            idle.append(process)
        else:
            await anyio.to_thread.run_sync(process.end, limiter=self._threads)
        return outcome

    async def close(self) -> None:
        """End all processes. Requests in progress raise ProcessEnded."""
        for process in self._busy:
            process.cancelled.set()
        for idle in self._idle.values():
            while idle:
                await anyio.to_thread.run_sync(idle.pop().end, limiter=self._threads)

"""Agents in processes of their own: started when first needed, kept from match to match, killed when they do not behave."""

import os
import select
import signal
import sys
from collections import OrderedDict
from contextlib import suppress
from functools import cache
from pathlib import Path
from time import perf_counter
from types import TracebackType
from typing import Any, Self

from arena.errors import IsolationError
from arena.isolation import protocol
from arena.isolation.protocol import Broken
from arena.isolation.sandbox import enclosed, prove
from arena.isolation.sandbox import environment as sandboxed
from arena.limits import Limits
from arena.match.match import Isolation, Program
from arena.match.record import Reason
from arena.plugins.sources import ENVIRONMENT, is_file, whole
from arena.processes.child import ChildProcess
from arena.processes.environment import python_environment
from arena.version import __version__

STARTING = 60.0
"""Seconds for a process to say hello, and for an agent to be made."""
LOOK = 0.02
"""Seconds between two looks at what a process uses while it is waited for, whether it is silent or not."""
MOST_PROCESSES = 64
"""Processes that an agent may have at a time."""
SIGNALLED = 128
"""What a sandbox adds to the signal that killed its program, to tell it as a code."""
KEPT = 32
"""Processes that are kept while others play."""
MIB = 1 << 20


class NoAgentProcess(IsolationError):
    """An agent process cannot be started at all, through no fault of the agent."""


class AgentLost(Exception):
    """An agent process is gone, and why: a timeout, too much memory, or a crash."""

    def __init__(self, reason: Reason, message: str, overrun: float | None = None) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message
        self.overrun = overrun


class AgentProcess:
    """One agent process. Requests are written, answers waited for with deadlines; whatever goes wrong is Lost."""

    def __init__(self, program: Program, memory_mb: int | None, isolation: Isolation) -> None:
        self._memory = None if memory_mb is None else memory_mb * MIB
        self.solves = self.chooses = True
        self.alive = True
        self._enclosed = isolation == "sandbox"
        self._lines: list[bytes] = []
        self._rest = b""
        self._looked = 0.0
        try:
            self._process = _started(program, self._memory or 0, isolation)
        except OSError as error:
            raise NoAgentProcess(f"cannot start a process for {program.agent}: {error}") from error
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._in, self._out = self._process.stdin.fileno(), self._process.stdout.fileno()
        os.set_blocking(self._in, False)
        self._readable = select.poll()
        self._readable.register(self._out, select.POLLIN)
        self._greet()

    def _greet(self) -> None:
        hello = self.ask(protocol.line({"type": "hello", "protocol": protocol.VERSION, "arena": __version__}), STARTING)
        try:
            protocol.expected(hello, "hello")
            if hello.get("protocol") != protocol.VERSION:
                raise Broken(f"hello: protocol: expected {protocol.VERSION}, got {hello.get('protocol')!r}")
            can = protocol.texts_of(hello, "can")
            self.chooses, self.solves = "choose" in can, "solve" in can
            if not (self.chooses or self.solves):
                raise Broken("hello: can: expected choose, solve or both")
        except Broken as broken:
            raise self.lost("crash", str(broken)) from None

    def begin(self) -> None:
        """Another match begins: the agent may print as much again."""
        self._process.chatter.again()

    def ask(self, request: bytes, seconds: float | None, margin: float = 0.0) -> dict[str, Any]:
        """Write a request, one line, and return the answer to it.

        After `seconds` the agent is told to stop, `margin` later it is killed: Lost, as where it dies, breaks the protocol or
        uses too much memory. Reports that come before the answer are under its key `reports`, the last one alone.
        """
        began = self._looked = perf_counter()
        stop = None if seconds is None else began + seconds
        end = None if stop is None else stop + margin
        if self._lines or self._rest or self._readable.poll(0):
            self._unasked()
        self._write(request, end)
        report = None
        while True:
            text = self._line(began, stop, end, seconds)
            try:
                answer = protocol.parsed(text)
            except Broken as broken:
                raise self.lost("crash", str(broken)) from None
            if answer["type"] != "report":
                break
            report = answer
        if answer["type"] == "best":
            if report is None:
                raise self.lost("crash", "said best without having reported anything")
            answer = {**report, "type": "best"}
        return answer

    def _unasked(self) -> None:
        """Nothing may come before it is asked for; what comes is the end of the process, too."""
        text = self._rest or (self._lines[0] if self._lines else self._read())
        raise self.lost("crash", f"sent {protocol.quoted(text)} unasked")

    def _write(self, data: bytes, end: float | None) -> None:
        view = memoryview(data)
        while view:
            try:
                view = view[os.write(self._in, view) :]
            except BlockingIOError:
                self._wait_to_write(end)
            except OSError:
                raise self._dead() from None

    def _wait_to_write(self, end: float | None) -> None:
        writable = select.poll()
        writable.register(self._in, select.POLLOUT)
        writable.poll(LOOK * 1000)
        self._look_if_due()
        if end is not None and perf_counter() >= end:
            raise self.lost("timeout", "does not read what it is sent")

    def _line(self, began: float, stop: float | None, end: float | None, limit: float | None) -> bytes:
        while not self._lines:
            self._look_if_due()
            now = perf_counter()
            if end is not None and now >= end:
                message = f"a decision took longer than its limit of {limit:g} s"
                raise self.lost("timeout", message, now - began - (limit or 0.0))
            if stop is not None and now >= stop:
                stop = None
                with suppress(OSError):
                    os.write(self._in, protocol.line({"type": "stop"}))
            wait = LOOK
            for moment in (stop, end):
                if moment is not None:
                    wait = min(wait, moment - now)
            if self._readable.poll(max(wait, 0.0) * 1000):
                self._split(self._read())
        return self._lines.pop(0)

    def _read(self) -> bytes:
        try:
            data = os.read(self._out, 1 << 16)
        except OSError:
            data = b""
        if not data:
            raise self._dead()
        return data

    def _split(self, data: bytes) -> None:
        *lines, self._rest = (self._rest + data).split(b"\n")
        self._lines += lines
        if len(self._rest) > protocol.LONGEST_LINE:
            raise self.lost("crash", f"sent a line of more than {protocol.LONGEST_LINE >> 20} MiB")

    def _look_if_due(self) -> None:
        if perf_counter() >= self._looked + LOOK:
            self._look()
            self._looked = perf_counter()

    def _look(self) -> None:
        """Kill it where it uses more memory or more processes than it may."""
        usage = self._process.usage()
        if usage.processes > MOST_PROCESSES:
            raise self.lost("crash", f"started more than {MOST_PROCESSES} processes")
        if self._memory is not None and usage.memory > self._memory and usage.proportional() > self._memory:
            raise self.lost("memory", f"used more than its limit of {self._memory // MIB} MiB")

    def _dead(self) -> AgentLost:
        """Its output has ended: it is dying, or closed it. Say how it ended."""
        with suppress(Exception):
            self._process.wait(0.2)
        code = self._process.poll()
        if code is not None and code > SIGNALLED and self._enclosed:
            code = SIGNALLED - code
        if code is None:
            return self.lost("crash", "closed its output")
        if code < 0:
            return self.lost("crash", f"its process was killed by {_signal(-code)}")
        return self.lost("crash", f"its process ended with code {code}")

    def lost(self, reason: Reason, message: str, overrun: float | None = None) -> AgentLost:
        """End the process and return why; the caller raises it."""
        self.end()
        return AgentLost(reason, message, overrun)

    def end(self) -> None:
        """End the process with everything that it started."""
        if self.alive:
            self.alive = False
            self._process.end()


def _started(program: Program, memory: int, isolation: Isolation) -> ChildProcess:
    asked = [whole(name) for name in os.environ.get(ENVIRONMENT, "").split(os.pathsep) if name]
    command = program.command or (sys.executable, "-P", "-m", "arena.isolation.agent_host")
    surroundings = os.environ if program.command else {**python_environment(), ENVIRONMENT: os.pathsep.join(asked)}
    if isolation != "sandbox":
        return ChildProcess(command, program.folder, memory, surroundings, program.agent)
    proven()
    files = [Path(name) for name in (*program.plugins, *asked) if is_file(name)]
    inside = enclosed(command, readable=files, folder=program.folder)
    return ChildProcess(inside, program.folder, memory, sandboxed(surroundings), program.agent)


@cache
def proven() -> None:
    """Prove the sandbox, once a process."""
    prove()


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


Key = tuple[str, int | None, str, int]


class AgentProcesses:
    """Agent processes that live on from match to match. The longest unused one goes when there are too many."""

    def __init__(self) -> None:
        self._idle: OrderedDict[str, list[AgentProcess]] = OrderedDict()
        self.started = 0
        """How many processes were started so far."""

    def take(self, program: Program, limits: Limits, isolation: Isolation) -> AgentProcess:
        """Return an idle process of a program, or start one. Lost where it does not start as it should."""
        idle = self._idle.pop(_key(program, limits, isolation), [])
        host = idle.pop() if idle else None
        if idle:
            self._idle[_key(program, limits, isolation)] = idle
        if host is not None and host.alive:
            return host
        self.started += 1
        return AgentProcess(program, limits.memory_mb, isolation)

    def give_back(self, host: AgentProcess, program: Program, limits: Limits, isolation: Isolation) -> None:
        """Keep a process for its next match, unless it is dead."""
        if not host.alive:
            return
        key = _key(program, limits, isolation)
        self._idle.setdefault(key, []).append(host)
        self._idle.move_to_end(key)
        while sum(map(len, self._idle.values())) > KEPT:
            oldest = next(iter(self._idle.values()))
            oldest.pop(0).end()
            if not oldest:
                self._idle.popitem(last=False)

    def close(self) -> None:
        """End all processes."""
        while self._idle:
            for host in self._idle.popitem()[1]:
                host.end()

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """End all processes."""
        self.close()


def _key(program: Program, limits: Limits, isolation: Isolation) -> str:
    return repr((program.agent, program.command, program.folder, program.plugins, program.options, limits.memory_mb, isolation))

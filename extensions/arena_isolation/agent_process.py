"""Agents in separate processes: started on demand, reused from match to match, and killed if they break a limit."""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any, Self

from arena import Game, Limits, __version__
from arena.api.errors import IsolationError, cut
from arena.api.match import Program, Reason
from arena.api.processes import signal_name
from arena_isolation import protocol
from arena_isolation.agent_start import MAX_PROCESSES, PLAYING_MODULE, start_agent
from arena_isolation.child import ChildLost, ChildProcess
from arena_isolation.family_clock import ProcessorUse, read_own_wait
from arena_isolation.helper import pack
from arena_isolation.protocol import Broken

HELLO_SECONDS = 15.0
"""Timeout for the first message of a process, which knows of no match yet."""
COMPILE_SECONDS = 60.0
"""Timeout for a process that compiles for itself between two matches."""
BWRAP_SIGNAL_OFFSET = 128
"""bubblewrap adds this to the signal that killed its program. The sum is its own exit code."""
MAX_IDLE_PROCESSES = 32
"""Maximum number of idle processes that are kept."""


class NoAgentProcess(IsolationError):
    """An agent process cannot be started at all, and the agent is not to blame."""


class AgentLost(Exception):
    """An agent process is lost, with the reason: a timeout, too much memory, or a crash."""

    def __init__(self, reason: Reason, message: str, overrun: float | None = None) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message
        self.overrun = overrun


@dataclass
class Loading:
    """State of the compiled search of one game and heuristic in a process."""

    game: Game
    plain_seconds: float = 0.0
    """Seconds of decisions that ran plain."""
    ask_at: float = 0.0
    """After this many plain seconds the process is asked, before a match, to load the code."""


MIN_EXTENSION_SECONDS = 0.001
"""Minimum extension of a time limit, in seconds."""
MAX_EXTENSION_FACTOR = 9
"""Maximum extension of a decision that lacks a processor, as a multiple of its limit. After that it is late in any case."""


class RequestLimits:
    """The limits of one request: when to tell the agent to stop, and when to kill it."""

    def __init__(self, seconds: float | None = None, margin: float = 0.0, cpu_seconds: float | None = None) -> None:
        self.seconds = seconds
        self.margin = margin
        self.cpu_seconds = cpu_seconds
        self.measured = cpu_seconds is not None or (seconds is not None and margin > 0)
        self.warned = False
        self.stop: float | None = None
        self.end: float | None = None
        self._began = 0.0

    def begin(self, now: float) -> None:
        """Start the clock."""
        self._began = now
        if self.seconds is not None:
            self.stop = now + self.seconds
            self.end = self.stop + self.margin

    def extend(self, lack: float) -> bool:
        """Extend the limit by the time in which the agent had no processor. Return whether the request continues."""
        assert self.seconds is not None
        self.stop = None  # already sent
        self.end = self._began + self.seconds + self.margin + min(lack, MAX_EXTENSION_FACTOR * self.seconds)
        return self.end > perf_counter() + MIN_EXTENSION_SECONDS


class AgentProcess:
    """One agent process. It writes requests and waits for answers with deadlines. Any failure raises AgentLost.

    Between an answer and the next request the process is stopped, unless the program may ponder. It is stopped at once, or, in
    a group of processes, when the group decides.
    """

    hello_seconds = HELLO_SECONDS
    patience: float | None = None
    """Timeout in seconds for an answer without a time limit; None waits for ever."""

    def __init__(self, program: Program, memory_mb: int | None, isolation: str, module: str = PLAYING_MODULE) -> None:
        """Start it. `module` is the Python module to run if the program is not a command."""
        self._memory_mb = memory_mb
        self._pondering = program.pondering
        self._company: AgentProcesses | None = None
        self._turn = RequestLimits()
        self._use: ProcessorUse | None = None
        self._used_at_end = (0.0, 0.0)
        self._crowded = False
        self.solves = self.chooses = True
        self.observes = False
        """Whether it plays from observations."""
        self.prepared: dict[tuple[int, str | None], Loading] = {}
        """State of its compiled searches, by game and heuristic."""
        self.deals: set[str] = set()
        """The chance events of the matches that it has played, if any. It must not meet the same deal again."""
        self.alive = True
        self._enclosed = isolation == "sandbox"
        try:
            self._process = start_agent(program, (memory_mb or 0) << 20, isolation, module, self._look)
        except OSError as error:
            raise NoAgentProcess(f"cannot start a process for {program.agent}: {error}") from error
        self._greet(plays=module == PLAYING_MODULE)

    def _greet(self, *, plays: bool) -> None:
        greeting = {"type": "hello", "protocol": protocol.VERSION, "arena": __version__}
        hello = self.ask(pack(greeting), self.hello_seconds, what="its hello")
        try:
            protocol.expect(hello, "hello")
            speaks = hello.get("protocol")
            if type(speaks) is not int or speaks != protocol.VERSION:
                raise Broken(
                    f"hello: protocol: expected {protocol.VERSION}, got {cut(repr(speaks))}; `arena docs protocol` describes it"
                )
            can = protocol.texts_of(hello, "can")
            self.chooses, self.solves, self.observes = "choose" in can, "solve" in can, "observe" in can
            if plays and not (self.chooses or self.solves):
                raise Broken("hello: can: expected choose, solve or both")
        except Broken as broken:
            raise self.lost("crash", str(broken)) from None

    def begin(self) -> None:
        """Begin another match. The limit of printed output starts afresh, and so does the count of processor time."""
        self._process.chatter.again()
        self._use = None

    def prepare(self, *, own: bool, compiling: bool) -> str | None:
        """Let arena's own host load the compiled search of the agent, outside of any decision's clock.

        If the agent's plugin is an entry's `own`, its process compiles for itself alone: after enough time in plain decisions,
        or now if `compiling`. Return why it runs plain, or None.
        """
        request = pack({"type": "prepare", "compiling": compiling})
        answer = self.ask(request, COMPILE_SECONDS if own else Limits().start_seconds, what="the loading of compiled code")
        try:
            protocol.expect(answer, "prepared")
            return protocol.message_of(answer, "plain")
        except Broken as broken:
            raise self.lost("crash", str(broken)) from None

    def processors(self) -> tuple[float, float]:
        """Return the seconds of this match in which it lacked a processor although it could run, and the CPU time that it has
        used.

        Both are zero if no decision had a time limit.
        """
        return self._used_at_end if self._use is None else (self._use.lack, self._use.used)

    def join(self, company: "AgentProcesses") -> None:
        """Join a group in which one process is asked at a time. The others are stopped if an answer takes long."""
        self._company = company
        self._process.meanwhile = company.settle

    def wake(self) -> None:
        """Continue the process."""
        if self._company is not None:
            self._company.moving.discard(self)
        self._process.wake()

    def rest(self) -> None:
        """Stop the process until the next request."""
        self._process.rest()

    def _end_turn(self, seconds: float) -> None:
        """Stop the process soon, and add the CPU time of a turn of `seconds`. Raises AgentLost if it used too much."""
        if self._turn.measured and self._use is not None:
            if seconds < ChildProcess.SHORT_SECONDS:
                self._use.add_short(seconds)
            else:
                self._check_cpu(self._use)
                self._use.add()
        if self._pondering:
            return
        if seconds >= ChildProcess.SHORT_SECONDS:
            self._crowded = self._process.crowded(seconds)
        if self._company is None or self._crowded:  # a busy crowd could delay its stop
            self.rest()
        else:
            self._company.moving.add(self)

    def ask(
        self,
        request: bytes,
        seconds: float | None,
        *,
        margin: float = 0.0,
        what: str = "a decision",
        cpu_seconds: float | None = None,
    ) -> dict[str, Any]:
        """Write a request of one line and return the answer to it. `what` names the activity in messages.

        After `seconds`, or after `cpu_seconds` of processor time of all its processes, the agent is told to stop; `margin`
        later it is killed. Then AgentLost is raised, as for a crash, a protocol error or too much memory. With a margin, the
        limit is extended by the time that the agent had to wait for a processor. Reports that arrive before the answer count
        for `best`; only the last one is used.
        """
        self.wake()
        seconds = self.patience if seconds is None else seconds
        turn = self._turn = RequestLimits(seconds, margin, cpu_seconds)
        if turn.measured and self._use is None:
            self._use = ProcessorUse(self._process.clock)
        elif turn.measured and self._use is not None and self._pondering:
            self._use.add()
        own_wait = read_own_wait() if turn.measured else 0.0
        began = perf_counter()
        turn.begin(began)
        try:
            answer = self._answer(request, turn)
            took = perf_counter() - began
            if seconds is not None and margin and took > seconds + margin and self._use is not None:
                # The answer may have arrived before it was read. The delay is forgiven as far as either side lacked a
                # processor.
                self._use.look(now=True)
                lack = min(self._use.lack_now(), MAX_EXTENSION_FACTOR * seconds) + read_own_wait() - own_wait
                if took > seconds + margin + lack + MIN_EXTENSION_SECONDS:
                    raise ChildLost("late")
            self._end_turn(took)
            return answer
        except Broken as broken:
            raise self.lost("crash", str(broken)) from None
        except ChildLost as lost:
            if lost.why == "late":
                lack = 0.0 if self._use is None else self._use.lack_now()
                overrun = perf_counter() - began - (seconds or 0.0) - lack
                raise self.lost("timeout", f"{what} took longer than its limit of {seconds:g} s", overrun) from None
            raise self._loss_of(lost) from None

    def _answer(self, request: bytes, turn: RequestLimits) -> dict[str, Any]:
        self._process.look()
        text = self._process.read_unasked()
        if text is not None:  # nothing may arrive before a request
            raise Broken(f"sent {protocol.quote(text)} unasked")
        self._process.send(request, turn.end)
        report = None
        while (answer := protocol.parse(self._receive(turn)))["type"] == "report":
            report = answer
        if answer["type"] != "best":
            return answer
        if report is None:
            raise Broken("said best without having reported anything")
        return {**report, "type": "best"}

    def _receive(self, turn: RequestLimits) -> bytes:
        """Return the next line. The limit is extended if the agent had to wait for a processor."""
        while True:
            try:
                return self._process.receive(turn.end, turn.stop, STOP)
            except ChildLost as lost:
                if lost.why != "late" or not turn.measured or self._use is None:
                    raise
                self._use.look(now=True)
                if not turn.extend(self._use.lack_now()):
                    raise

    def _look(self) -> None:
        """Check the processor time of a decision against its limit, every now and then during the wait."""
        if self._turn.measured and self._use is not None:
            self._use.look(now=False)
            used = self._check_cpu(self._use)
            if self._turn.cpu_seconds is not None and used >= self._turn.cpu_seconds and not self._turn.warned:
                self._turn.warned = True
                self._process.warn(STOP)

    def _check_cpu(self, use: ProcessorUse) -> float:
        """Return the processor time of this decision, or 0 if it has no limit. Raises AgentLost if it used too much."""
        turn = self._turn
        if turn.cpu_seconds is None:
            return 0.0
        used = use.used_now()
        if used > turn.cpu_seconds + turn.margin:
            message = f"a decision used more than its limit of {turn.cpu_seconds:g} CPU seconds"
            raise self.lost("timeout", message, used - turn.cpu_seconds)
        return used

    def _loss_of(self, lost: ChildLost) -> AgentLost:
        """Return the lost match for a lost process."""
        if lost.why == "memory":
            return self.lost("memory", f"used more than its limit of {self._memory_mb} MiB")
        if lost.why == "deaf":
            return self.lost("timeout", "does not read what it is sent")
        if lost.why != "ended":
            return self.lost("crash", CRASHES[lost.why])
        code = self._process.exit_code()
        if code is not None and code > BWRAP_SIGNAL_OFFSET and self._enclosed:
            code = BWRAP_SIGNAL_OFFSET - code
        if code is None:
            return self.lost("crash", "closed its output")
        how = f"was killed by {signal_name(-code)}" if code < 0 else f"ended with code {code}"
        return self.lost("crash", f"its process {how}")

    def lost(self, reason: Reason, message: str, overrun: float | None = None) -> AgentLost:
        """End the process and return the error, which the caller raises."""
        self.end()
        return AgentLost(reason, message, overrun)

    def end(self) -> None:
        """End the process and everything that it started."""
        if self.alive:
            self.alive = False
            self._used_at_end = self.processors()
            self._use = None
            if self._company is not None:
                self._company.moving.discard(self)
            self._process.end()


STOP = pack({"type": "stop"})
CRASHES = {
    "long": "sent a line that is too long",
    "processes": f"started more than {MAX_PROCESSES} processes",
}


class AgentProcesses:
    """Agent processes that are reused from match to match. If there are too many, the longest unused one is ended."""

    def __init__(self, start: Callable[[Program, int | None, str], AgentProcess] = AgentProcess) -> None:
        self._start = start
        self._idle: OrderedDict[str, list[AgentProcess]] = OrderedDict()
        self.started = 0
        """Number of processes started so far."""
        self._silent: dict[str, AgentLost] = {}
        """Errors of programs that sent no first message in time. These programs are not started again."""
        self.moving: set[AgentProcess] = set()
        """Processes that have answered and are not stopped yet. Most turns end before a process can be stopped."""

    def settle(self) -> None:
        """Stop all processes that have answered."""
        while self.moving:
            self.moving.pop().rest()

    def take(self, program: Program, limits: Limits, isolation: str, deal: str | None = None) -> AgentProcess:
        """Return an idle process of a program, or start one. Raises AgentLost if it does not start correctly.

        With a `deal`, the process must not have met this deal before: otherwise it would know the hidden cards of the others.
        """
        key = _program_key(program, limits, isolation)
        if key in self._silent:
            first = self._silent[key]
            raise AgentLost(first.reason, f"{first.message} in an earlier match; it was not started again")
        idle = self._idle.pop(key, [])
        process = next((one for one in reversed(idle) if deal not in one.deals), None)
        if process is not None:
            idle.remove(process)
        if idle:
            self._idle[key] = idle
        if process is None or not process.alive:
            self.started += 1
            self.settle()
            try:
                process = self._start(program, limits.memory_mb, isolation)
            except AgentLost as lost:
                if lost.reason == "timeout":
                    self._silent[key] = lost
                raise
            process.join(self)
        if deal is not None:
            process.deals.add(deal)
        return process

    def give_back(self, process: AgentProcess, program: Program, limits: Limits, isolation: str) -> None:
        """Keep a process for its next match, unless it is dead."""
        self.settle()
        if not process.alive:
            return
        key = _program_key(program, limits, isolation)
        self._idle.setdefault(key, []).append(process)
        self._idle.move_to_end(key)
        while sum(map(len, self._idle.values())) > MAX_IDLE_PROCESSES:
            oldest = next(iter(self._idle.values()))
            oldest.pop(0).end()
            if not oldest:
                self._idle.popitem(last=False)

    def close(self) -> None:
        """End all processes."""
        while self._idle:
            for process in self._idle.popitem()[1]:
                process.end()

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """End all processes."""
        self.close()


def _program_key(program: Program, limits: Limits, isolation: str) -> str:
    where = (program.command, program.folder, program.plugins, program.version, program.pondering, program.adapter)
    return repr((program.agent, *where, program.options, limits.memory_mb, isolation))

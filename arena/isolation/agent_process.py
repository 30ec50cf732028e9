"""Agents in processes of their own: started when first needed, kept from match to match, killed when they do not behave."""

from collections import OrderedDict
from collections.abc import Callable
from time import perf_counter
from typing import Any, Self

from arena.errors import IsolationError, cut
from arena.game import Game
from arena.isolation import protocol
from arena.isolation.agent_start import MOST_PROCESSES, PLAYS, started
from arena.isolation.processor_use import ProcessorUse
from arena.isolation.protocol import Broken
from arena.isolation.request_limits import RequestLimits
from arena.limits import START_SECONDS, Limits
from arena.match.match import Isolation, Program
from arena.match.record import Reason
from arena.processes.child import SHORT, ChildLost, signal_name
from arena.version import __version__

STARTING = 60.0
"""Seconds for a process to say hello: it knows of no match then."""
SIGNALLED = 128
"""Added by bubblewrap to the signal that killed its program: the sum is its own exit code."""
KEPT = 32
"""Processes that are kept while others play."""


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
    """One agent process. Requests are written, answers waited for with deadlines; whatever goes wrong is AgentLost.

    Between an answer and the next request it stands still, unless the program may ponder: at once, or where it has company as
    soon as that sees fit.
    """

    patience: float | None = None
    """Seconds that an answer without a limit of time is waited for; None for any time."""

    def __init__(self, program: Program, memory_mb: int | None, isolation: Isolation, module: str = PLAYS) -> None:
        """Start it; `module` is what Python runs where the program is no command."""
        self._memory_mb = memory_mb
        self._pondering = program.pondering
        self._company: AgentProcesses | None = None
        self._turn = RequestLimits()
        self._use: ProcessorUse | None = None
        self._used_at_end = (0.0, 0.0)
        self._crowded = False
        self.solves = self.chooses = True
        self.observes = False
        """Whether it plays from what it observes."""
        self.prepared: dict[tuple[int, str | None], Game] = {}
        """The games, by themselves and a heuristic, for which it has been asked to load compiled searches."""
        self.deals: set[str] = set()
        """What chance did in the matches that it has played, where there was any: a deal is met once."""
        self.speaks = protocol.VERSION
        """The version of the protocol that it answers in."""
        self.alive = True
        self._enclosed = isolation == "sandbox"
        try:
            self._process = started(program, (memory_mb or 0) << 20, isolation, module, self._look)
        except OSError as error:
            raise NoAgentProcess(f"cannot start a process for {program.agent}: {error}") from error
        self._greet(plays=module == PLAYS)

    def _greet(self, *, plays: bool) -> None:
        known = {"protocol": protocol.VERSION, "protocols": protocol.VERSIONS}
        hello = self.ask(protocol.line({"type": "hello", **known, "arena": __version__}), STARTING, what="its hello")
        try:
            protocol.expected(hello, "hello")
            speaks = hello.get("protocol")
            if type(speaks) is not int or speaks not in protocol.VERSIONS:
                raise Broken(f"hello: protocol: expected {' or '.join(map(str, protocol.VERSIONS))}, got {cut(repr(speaks))}")
            self.speaks = speaks
            can = protocol.texts_of(hello, "can")
            self.chooses, self.solves, self.observes = "choose" in can, "solve" in can, "observe" in can
            if plays and not (self.chooses or self.solves):
                raise Broken("hello: can: expected choose, solve or both")
        except Broken as broken:
            raise self.lost("crash", str(broken)) from None

    def begin(self) -> None:
        """Another match begins: the agent may print as much again, and what it uses of processors is counted anew."""
        self._process.chatter.again()
        self._use = None

    def prepare(self, *, compiling: bool) -> str | None:
        """Have arena's own host load the compiled search of the agent that it has made, outside any clock of that.

        `compiling` where it may compile for itself alone, if its plugin is that of an entry. Return why it runs plain, or None.
        """
        request = protocol.line({"type": "prepare", "compiling": compiling})
        answer = self.ask(request, STARTING if compiling else START_SECONDS, what="the loading of compiled code")
        try:
            protocol.expected(answer, "prepared")
            return protocol.message_of(answer, "plain")
        except Broken as broken:
            raise self.lost("crash", str(broken)) from None

    def processors(self) -> tuple[float, float]:
        """Seconds of this match for which it had no processor when it could have run, and of processor time that it has used.

        Zeros where no decision had a limit of time.
        """
        return self._used_at_end if self._use is None else (self._use.lack, self._use.used)

    def join(self, company: "AgentProcesses") -> None:
        """Belong to processes one of which is asked at a time; the others stand still while an answer takes long."""
        self._company = company
        self._process.meanwhile = company.settle

    def wake(self) -> None:
        """Let it go on."""
        if self._company is not None:
            self._company.moving.discard(self)
        self._process.wake()

    def rest(self) -> None:
        """Let it stand still until it is asked again."""
        self._process.rest()

    def _end_turn(self, seconds: float) -> None:
        """Stand still soon, and add what a turn of so many seconds has used; AgentLost where that is too much."""
        if self._turn.measured and self._use is not None:
            if seconds < SHORT:
                self._use.add_short(seconds)
            else:
                self._check_cpu(self._use)
                self._use.add()
        if self._pondering:
            return
        if seconds >= SHORT:
            self._crowded = self._process.crowded(seconds)
        if self._company is None or self._crowded:  # a crowd that is busy would let nobody stop it soon
            self.rest()
        else:
            self._company.moving.add(self)

    def ask(
        self,
        request: bytes,
        seconds: float | None,
        margin: float = 0.0,
        what: str = "a decision",
        cpu_seconds: float | None = None,
    ) -> dict[str, Any]:
        """Write a request, one line, and return the answer to it; `what` says what takes the time.

        After `seconds`, or `cpu_seconds` of processor time of all its processes, the agent is told to stop, `margin` later it is
        killed: AgentLost, as where it dies, breaks the protocol or uses too much memory. With a margin it is given as much longer
        as it had to wait for a processor. Reports that come before the answer count for `best`, the last one alone.
        """
        self.wake()
        seconds = self.patience if seconds is None else seconds
        turn = self._turn = RequestLimits(seconds, margin, cpu_seconds)
        if turn.measured and self._use is None:
            self._use = ProcessorUse(self._process.clock)
        elif turn.measured and self._use is not None and self._pondering:
            self._use.add()
        began = perf_counter()
        turn.begin(began)
        try:
            answer = self._answer(request, turn)
            self._end_turn(perf_counter() - began)
            return answer
        except Broken as broken:
            raise self.lost("crash", str(broken)) from None
        except ChildLost as lost:
            if lost.why == "late":
                lack = 0.0 if self._use is None else self._use.lack_now()
                overrun = perf_counter() - began - (seconds or 0.0) - lack
                raise self.lost("timeout", f"{what} took longer than its limit of {seconds:g} s", overrun) from None
            raise self._gone(lost) from None

    def _answer(self, request: bytes, turn: RequestLimits) -> dict[str, Any]:
        self._process.look()
        text = self._process.unasked()
        if text is not None:  # nothing may come before it is asked for
            raise Broken(f"sent {protocol.quoted(text)} unasked")
        self._process.send(request, turn.end)
        report = None
        while (answer := protocol.parsed(self._received(turn)))["type"] == "report":
            report = answer
        if answer["type"] != "best":
            return answer
        if report is None:
            raise Broken("said best without having reported anything")
        return {**report, "type": "best"}

    def _received(self, turn: RequestLimits) -> bytes:
        """The next line, for which is waited longer where the agent has waited for a processor."""
        while True:
            try:
                return self._process.receive(turn.end, turn.stop, _STOP)
            except ChildLost as lost:
                if lost.why != "late" or not turn.measured or self._use is None:
                    raise
                self._use.look(now=True)
                if not turn.extended(self._use.lack_now()):
                    raise

    def _look(self) -> None:
        """Hold the processor time of a decision against its limit, every now and then while it is waited for."""
        if self._turn.measured and self._use is not None:
            self._use.look(now=False)
            used = self._check_cpu(self._use)
            if self._turn.cpu_seconds is not None and used >= self._turn.cpu_seconds and not self._turn.warned:
                self._turn.warned = True
                self._process.warn(_STOP)

    def _check_cpu(self, use: ProcessorUse) -> float:
        """The processor time of this decision, 0 where it has no limit; AgentLost where it has used too much."""
        turn = self._turn
        if turn.cpu_seconds is None:
            return 0.0
        used = use.used_now()
        if used > turn.cpu_seconds + turn.margin:
            message = f"a decision used more than its limit of {turn.cpu_seconds:g} CPU seconds"
            raise self.lost("timeout", message, used - turn.cpu_seconds)
        return used

    def _gone(self, lost: ChildLost) -> AgentLost:
        """The loss of a match by a process that is lost."""
        if lost.why == "memory":
            return self.lost("memory", f"used more than its limit of {self._memory_mb} MiB")
        if lost.why == "deaf":
            return self.lost("timeout", "does not read what it is sent")
        return self.lost("crash", self._how_ended() if lost.why == "ended" else _CRASHES[lost.why])

    def _how_ended(self) -> str:
        code = self._process.exit_code()
        if code is not None and code > SIGNALLED and self._enclosed:
            code = SIGNALLED - code
        if code is None:
            return "closed its output"
        return f"its process was killed by {signal_name(-code)}" if code < 0 else f"its process ended with code {code}"

    def lost(self, reason: Reason, message: str, overrun: float | None = None) -> AgentLost:
        """End the process and return why; the caller raises it."""
        self.end()
        return AgentLost(reason, message, overrun)

    def end(self) -> None:
        """End the process with everything that it started."""
        if self.alive:
            self.alive = False
            self._used_at_end = self.processors()
            self._use = None
            if self._company is not None:
                self._company.moving.discard(self)
            self._process.end()


_STOP = protocol.line({"type": "stop"})
_CRASHES = {
    "long": f"sent a line of more than {protocol.LONGEST_LINE >> 20} MiB",
    "processes": f"started more than {MOST_PROCESSES} processes",
}


class AgentProcesses:
    """Agent processes that live on from match to match. The longest unused one goes when there are too many."""

    def __init__(self, start: Callable[[Program, int | None, Isolation], AgentProcess] = AgentProcess) -> None:
        self._start = start
        self._idle: OrderedDict[str, list[AgentProcess]] = OrderedDict()
        self.started = 0
        """The number of processes that were started so far."""
        self.moving: set[AgentProcess] = set()
        """Those that have answered and do not stand still yet: most turns are over sooner than a process can be stopped."""

    def settle(self) -> None:
        """Let all stand still that have answered."""
        while self.moving:
            self.moving.pop().rest()

    def take(self, program: Program, limits: Limits, isolation: Isolation, deal: str | None = None) -> AgentProcess:
        """Return an idle process of a program, or start one. Lost where it does not start as it should.

        It is one that has not met `deal`, if that is given: who has seen a deal knows what others hold when it comes again.
        """
        idle = self._idle.pop(_key(program, limits, isolation), [])
        process = next((one for one in reversed(idle) if deal not in one.deals), None)
        if process is not None:
            idle.remove(process)
        if idle:
            self._idle[_key(program, limits, isolation)] = idle
        if process is None or not process.alive:
            self.started += 1
            self.settle()
            process = self._start(program, limits.memory_mb, isolation)
            process.join(self)
        if deal is not None:
            process.deals.add(deal)
        return process

    def give_back(self, process: AgentProcess, program: Program, limits: Limits, isolation: Isolation) -> None:
        """Keep a process for its next match, unless it is dead."""
        self.settle()
        if not process.alive:
            return
        key = _key(program, limits, isolation)
        self._idle.setdefault(key, []).append(process)
        self._idle.move_to_end(key)
        while sum(map(len, self._idle.values())) > KEPT:
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


def _key(program: Program, limits: Limits, isolation: Isolation) -> str:
    where = (program.command, program.folder, program.plugins, program.version, program.pondering, program.adapter)
    return repr((program.agent, *where, program.options, limits.memory_mb, isolation))

"""Agents in processes of their own: started when first needed, kept from match to match, killed when they do not behave."""

from collections import OrderedDict
from collections.abc import Callable
from time import perf_counter
from typing import Any, Self

from arena import Game, __version__
from arena.api.cli import cut
from arena.api.match import Limits, Program, Reason
from arena.api.run import ChildLost, pack, signal_name
from arena.errors import IsolationError
from arena.limits import START_SECONDS
from arena.processes.child import SHORT_SECONDS
from arena_isolation import protocol
from arena_isolation.agent_start import MAX_PROCESSES, PLAYING_MODULE, start_agent
from arena_isolation.family_clock import ProcessorUse
from arena_isolation.protocol import Broken

HELLO_SECONDS = 60.0
"""Seconds for a process to say hello: it knows of no match then."""
BWRAP_SIGNAL_OFFSET = 128
"""Added by bubblewrap to the signal that killed its program: the sum is its own exit code."""
MAX_IDLE_PROCESSES = 32
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


MIN_EXTENSION_SECONDS = 0.001
"""Seconds for which it is worth while to wait on."""
MAX_EXTENSION_FACTOR = 9
"""Times its limit that a decision may wait for a processor; then it is late all the same, since nobody can wait forever."""


class RequestLimits:
    """The limits of one request: when to tell the agent to stop, and when to end it."""

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
        """The clock runs from now on."""
        self._began = now
        if self.seconds is not None:
            self.stop = now + self.seconds
            self.end = self.stop + self.margin

    def extend(self, lack: float) -> bool:
        """Tell whether it goes on, with as many seconds more than its limit as it had no processor."""
        assert self.seconds is not None
        self.stop = None  # it has been told
        self.end = self._began + self.seconds + self.margin + min(lack, MAX_EXTENSION_FACTOR * self.seconds)
        return self.end > perf_counter() + MIN_EXTENSION_SECONDS


class AgentProcess:
    """One agent process. Requests are written, answers waited for with deadlines; whatever goes wrong is AgentLost.

    Between an answer and the next request it stands still, unless the program may ponder: at once, or where it has company as
    soon as that sees fit.
    """

    patience: float | None = None
    """Seconds that an answer without a limit of time is waited for; None for any time."""

    def __init__(self, program: Program, memory_mb: int | None, isolation: str, module: str = PLAYING_MODULE) -> None:
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
        self.alive = True
        self._enclosed = isolation == "sandbox"
        try:
            self._process = start_agent(program, (memory_mb or 0) << 20, isolation, module, self._look)
        except OSError as error:
            raise NoAgentProcess(f"cannot start a process for {program.agent}: {error}") from error
        self._greet(plays=module == PLAYING_MODULE)

    def _greet(self, *, plays: bool) -> None:
        greeting = {"type": "hello", "protocol": protocol.VERSION, "arena": __version__}
        hello = self.ask(pack(greeting), HELLO_SECONDS, what="its hello")
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
        """Another match begins: the agent may print as much again, and what it uses of processors is counted anew."""
        self._process.chatter.again()
        self._use = None

    def prepare(self, *, compiling: bool) -> str | None:
        """Have arena's own host load the compiled search of the agent that it has made, outside any clock of that.

        `compiling` where it may compile for itself alone, if its plugin is that of an entry. Return why it runs plain, or None.
        """
        request = pack({"type": "prepare", "compiling": compiling})
        answer = self.ask(request, HELLO_SECONDS if compiling else START_SECONDS, what="the loading of compiled code")
        try:
            protocol.expect(answer, "prepared")
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
            if seconds < SHORT_SECONDS:
                self._use.add_short(seconds)
            else:
                self._check_cpu(self._use)
                self._use.add()
        if self._pondering:
            return
        if seconds >= SHORT_SECONDS:
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
            raise self._loss_of(lost) from None

    def _answer(self, request: bytes, turn: RequestLimits) -> dict[str, Any]:
        self._process.look()
        text = self._process.read_unasked()
        if text is not None:  # nothing may come before it is asked for
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
        """The next line, for which is waited longer where the agent has waited for a processor."""
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
        """Hold the processor time of a decision against its limit, every now and then while it is waited for."""
        if self._turn.measured and self._use is not None:
            self._use.look(now=False)
            used = self._check_cpu(self._use)
            if self._turn.cpu_seconds is not None and used >= self._turn.cpu_seconds and not self._turn.warned:
                self._turn.warned = True
                self._process.warn(STOP)

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

    def _loss_of(self, lost: ChildLost) -> AgentLost:
        """The loss of a match by a process that is lost."""
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


STOP = pack({"type": "stop"})
CRASHES = {
    "long": "sent a line that is too long",
    "processes": f"started more than {MAX_PROCESSES} processes",
}


class AgentProcesses:
    """Agent processes that live on from match to match. The longest unused one goes when there are too many."""

    def __init__(self, start: Callable[[Program, int | None, str], AgentProcess] = AgentProcess) -> None:
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

    def take(self, program: Program, limits: Limits, isolation: str, deal: str | None = None) -> AgentProcess:
        """Return an idle process of a program, or start one. Lost where it does not start as it should.

        It is one that has not met `deal`, if that is given: who has seen a deal knows what others hold when it comes again.
        """
        idle = self._idle.pop(_program_key(program, limits, isolation), [])
        process = next((one for one in reversed(idle) if deal not in one.deals), None)
        if process is not None:
            idle.remove(process)
        if idle:
            self._idle[_program_key(program, limits, isolation)] = idle
        if process is None or not process.alive:
            self.started += 1
            self.settle()
            process = self._start(program, limits.memory_mb, isolation)
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

"""One agent in a separate process, which is killed when it breaks a limit."""

from dataclasses import dataclass
from typing import Any, Protocol

from arena import Game, Limits, __version__
from arena.api.errors import IsolationError, cut
from arena.api.match import Program, Reason
from arena.api.processes import PythonProcess
from arena.clock import perf_counter
from arena_isolation import protocol
from arena_isolation.agent_start import MAX_PROCESSES, PLAYING_MODULE, start_agent
from arena_isolation.child import MAX_IN_FLIGHT, ChildLost, ChildProcess
from arena_isolation.family_clock import ProcessorUse, read_own_wait
from arena_isolation.helper_process import pack
from arena_isolation.protocol import Broken
from arena_isolation.sandbox import has_own_users
from arena_isolation.stopped_family import FIRST_LISTING_SECONDS

HELLO_SECONDS = 15.0
"""Timeout for the first message of a process, which the process sends before any match."""
SECOND_HELLO_FACTOR = 4
"""Arena's own host is started once more if its first message is late. Then its timeout is longer by this factor."""
BWRAP_SIGNAL_OFFSET = 128
"""bubblewrap adds this number to the signal that killed its program. The sum is the exit code of bubblewrap."""


class NoAgentProcess(IsolationError):
    """An agent process cannot be started at all. This is not the fault of the agent."""


class HostLate(NoAgentProcess):
    """Arena's own host has not sent its first message, although it was started twice. It sends this message before it loads any
    code of the agent, so this is not the fault of the agent.
    """


class AgentLost(Exception):
    """An agent process is lost. The message gives the reason: a timeout, too much memory, or a crash."""

    def __init__(self, reason: Reason, message: str, overrun: float | None = None) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message
        self.overrun = overrun


class Company(Protocol):
    """The processes of a pool. Only one of them is asked at a time."""

    moving: "set[AgentProcess]"
    """The processes that have not been stopped since their last answer."""

    def settle(self) -> None:
        """Stop the processes that are still moving."""


@dataclass
class Loading:
    """The state of the compiled search for one game and heuristic in a process."""

    game: Game
    plain_seconds: float = 0.0
    """Seconds spent in decisions that were not compiled."""
    ask_at: float = 0.0
    """When uncompiled decisions have taken this many seconds, the process is asked, before its next match, to load the compiled
    code.
    """
    own: Any = None
    """The search (`OwnSearch`), if the entry of the agent has its own code."""
    has_own: bool = False
    """True if the process has been asked to load the code that was compiled for this search."""


HELLO, START, LOADING = "its hello", "its start", "the loading of compiled code"
"""How messages name the answers of a process before its first decision in a match."""
MAX_LOADING_SECONDS = 10.0
"""Timeout for a process that loads compiled code during a decision."""
MIN_EXTENSION_SECONDS = 0.001
"""Minimum extension of a time limit, in seconds."""
MAX_EXTENSION_FACTOR = 9
"""The maximum extension of a decision that has to wait for a processor, as a multiple of its limit. After that, the decision
counts as late.
"""
QUEUED_SECONDS = 0.1
"""Seconds to wait after the limit before an agent counts as late. The kernel adds the time that a thread waited for a processor
only when the thread runs again, so this time may still be missing. The pause is repeated while the thread still waits for a
processor, up to the longest extension.
"""


MAX_STOPPED_CPU_SECONDS = 0.02
"""Maximum processor time that an agent may use from a stop to its next request. A signal needs a moment to stop many threads."""


def describe_use(seconds: float) -> str:
    """Describe the processor time that a stopped agent has used."""
    return f"computed during another agent's turn: used {seconds:.2f} s of CPU time while it was paused"


class RequestLimits:
    """The limits of one request: when the agent is asked to stop, and when it is killed. `starting` says that the request comes
    before the first decision of a match.
    """

    def __init__(
        self,
        seconds: float | None = None,
        margin: float = 0.0,
        cpu_seconds: float | None = None,
        *,
        starting: bool = False,
    ) -> None:
        self.seconds = seconds
        self.margin = margin
        self.cpu_seconds = cpu_seconds
        self.starting = starting and cpu_seconds is None
        """True before the first decision of a match, if the CPU time does not count."""
        self.measured = self.starting or cpu_seconds is not None or (seconds is not None and margin > 0)
        self.warned = False
        self.waited = False
        """True if the pause after the limit (see `QUEUED_SECONDS`) has been granted. Reports do not grant it again."""
        self.out_of_cpu = False
        """Whether the agent has used up its processor time."""
        self.stop: float | None = None
        self.end: float | None = None
        self.own_wait = 0.0
        self.began = 0.0

    def begin(self, now: float) -> None:
        """Start the clock."""
        self.began = now
        self.waited = False
        if self.seconds is not None:
            self.stop = now + self.seconds
            self.end = self.stop + self.margin

    @property
    def latest(self) -> float:
        """The end of the longest extension."""
        return self.began + (self.seconds or 0.0) * (1 + MAX_EXTENSION_FACTOR) + self.margin

    def extend(self, lack: float) -> bool:
        """Extend the limit by `lack`, the time in which the agent had no processor. Return True if there is time left."""
        assert self.seconds is not None
        self.stop = None  # the request to stop has been sent already
        self.end = self.began + self.seconds + self.margin + min(lack, MAX_EXTENSION_FACTOR * self.seconds)
        return self.end > perf_counter() + MIN_EXTENSION_SECONDS


class AgentProcess:
    """One agent process. The methods send requests and wait for the answers until a deadline. Any failure raises AgentLost.

    Between an answer and the next request, the process is stopped, unless the program may ponder (think during the turns of
    others). It is stopped at once or, if it has joined other processes (see `join`), possibly later.
    """

    hello_seconds = HELLO_SECONDS
    patience: float | None = None
    """Timeout in seconds for an answer without a time limit; None waits for ever."""

    def __init__(self, program: Program, memory_mb: int | None, isolation: str, module: str = PLAYING_MODULE) -> None:
        """Start the process. `module` is the Python module to run if the program is not a command."""
        self._program = program
        self._memory_mb = memory_mb
        self._pondering = program.pondering
        self._company: Company | None = None
        self._turn = RequestLimits()
        self._use: ProcessorUse | None = None
        self._used_at_end = (0.0, 0.0)
        self._crowded = False
        self.solves = self.chooses = True
        self.observes = False
        """True if the agent plays from observations."""
        self.prepared: dict[tuple[int, str | None], Loading] = {}
        """The state of the compiled searches of the process, for each game and heuristic."""
        self.deals: set[str] = set()
        """The chance events of the matches that the process has played, if any. The process must not meet the same chance events
        again.
        """
        self.has_played = False
        """True if the process has begun a match."""
        self.abandoned = 0.0
        """The seconds between the last request and the last restart of its clock; 0 if the clock was not restarted."""
        self._may_begin_anew = False
        self.alive = True
        self._enclosed = isolation == "sandbox"
        self.confined = self._enclosed and (program.command is not None or program.version is not None)
        """True if the organiser has not chosen the code of the agent, and it can hardly exchange messages with others."""
        self.shares_limits = not (self._enclosed and has_own_users())
        """False if the limits of the kernel for each user hold for the agent alone."""
        try:
            self._start(isolation, module)
        except AgentLost as lost:
            if not self._is_late_host(lost):
                raise
            self.hello_seconds *= SECOND_HELLO_FACTOR
            self.alive = True
            try:
                self._start(isolation, module)
            except AgentLost as again:
                if not self._is_late_host(again):
                    raise
                message = f"arena's own process for {program.agent} has failed to start twice: {again.message}"
                raise HostLate(message) from None

    def _start(self, isolation: str, module: str) -> None:
        """Start the process and read its first message."""
        program = self._program
        try:
            self._process = start_agent(program, (self._memory_mb or 0) << 20, isolation, module, self._look)
        except OSError as error:
            raise NoAgentProcess(f"cannot start a process for {program.agent}: {error}") from error
        self._greet(plays=module == PLAYING_MODULE)

    def _is_late_host(self, lost: AgentLost) -> bool:
        """Return True if a first message was late that arena's own host sends, before any code of the agent runs."""
        return self._program.command is None and lost.reason == "timeout" and lost.message.startswith(HELLO)

    def _greet(self, *, plays: bool) -> None:
        greeting = {"type": "hello", "protocol": protocol.VERSION, "arena": __version__}
        hello = self.ask(pack(greeting), self.hello_seconds, what=HELLO)
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
        """Begin another match. The limit on printed output and the count of CPU time start again."""
        self.has_played = True
        self._process.chatter.again()
        self._use = None
        self._may_begin_anew = self._program.command is None and self._program.version is None

    def prepare(self, private: str | None) -> str | None:
        """Let the process load the compiled search of its agent, before the clock of any decision runs. The process must be
        arena's own host.

        `private` is the folder with code that was compiled for the entry of the agent alone; None if the organiser has chosen the
        code of the agent. Return the reason why the search is not compiled, or None.
        """
        request = pack({"type": "prepare", "private": private})
        answer = self.ask(request, Limits().start_seconds, what=LOADING)
        try:
            protocol.expect(answer, "prepared")
            return protocol.message_of(answer, "plain")
        except Broken as broken:
            raise self.lost("crash", str(broken)) from None

    def processors(self) -> tuple[float, float]:
        """Return the seconds of this match in which the process could run but had no processor, and the CPU time that it has
        used.

        Both are zero if no decision had a time limit.
        """
        return self._used_at_end if self._use is None else (self._use.lack, self._use.used)

    def join(self, company: Company) -> None:
        """Share a pool with other processes. Only one of them is asked at a time. If its answer takes long, the others are
        stopped meanwhile.
        """
        self._company = company
        self._process.meanwhile = company.settle

    def wake(self) -> float:
        """Continue the process. Return the seconds of processor time that it has used although it was stopped.

        Raises AgentLost if it has started too many processes.
        """
        if self._company is not None:
            self._company.moving.discard(self)
        try:
            return self._process.wake()
        except ChildLost as lost:
            raise self._loss_of(lost) from None

    def disturbs(self) -> str | None:
        """Describe the processor time that the agent has used although it is stopped; None if that is little."""
        used = self._process.used_at_rest() if self.alive else 0.0
        return describe_use(used) if used > MAX_STOPPED_CPU_SECONDS else None

    def hoards(self) -> bool:
        """Return True if the agent can have more descriptors in unread messages than it may have."""
        usage = self._process.measure_usage()
        return usage.in_flight > MAX_IN_FLIGHT or usage.hidden_sockets > 0

    def holds_descriptors(self) -> bool:
        """Return True if the agent has any descriptor in an unread message."""
        usage = self._process.measure_usage()
        return usage.in_flight > 0 or usage.hidden_sockets > 0

    def rest(self) -> None:
        """Stop the process until the next request."""
        self._process.rest()

    @property
    def out_of_cpu(self) -> bool:
        """Whether the last decision used up its processor time."""
        return self._turn.out_of_cpu

    def _end_turn(self, seconds: float) -> None:
        """Stop the process, soon or after a long turn at once, and add the CPU time of a turn that took `seconds`. Raises
        AgentLost if the process used too much.

        The time from an answer to the stop is nobody's, so after a long turn nothing else comes before the stop.
        """
        if seconds >= FIRST_LISTING_SECONDS and not self._pondering:
            self.rest()
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
        if self._company is None or self._crowded:  # many busy threads could delay the stop
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
        """Write a request of one line, and return the answer. `what` names the activity in error messages.

        The agent is asked to stop after `seconds`, or after all its processes together have used `cpu_seconds` of processor time.
        It is killed `margin` seconds later, and AgentLost is raised. AgentLost is also raised for a crash, a protocol error or
        too much memory. The limit is extended by the time that the agent had to wait for a processor, if it is that of a decision
        with a `margin`, of a start, or of the first message of arena's own host. If the answer is `best`, the result is the last
        report that the agent sent before.
        """
        thought = self.wake()
        if thought > MAX_STOPPED_CPU_SECONDS:
            raise self.lost("timeout", describe_use(thought))
        seconds = self.patience if seconds is None else seconds
        starting = what in (START, LOADING) or (what == HELLO and self._program.command is None)
        turn = self._turn = RequestLimits(seconds, margin, cpu_seconds, starting=starting)
        if turn.measured and self._use is None:
            if what != HELLO or cpu_seconds is not None:  # otherwise it is measured only if it is late
                self._use = ProcessorUse(self._process.clock.begin(starting=what == HELLO))
        elif turn.measured and self._use is not None and self._pondering:
            self._use.add()
        turn.own_wait = read_own_wait() if turn.measured else 0.0
        asked = perf_counter()
        turn.begin(asked)
        try:
            answer = self._answer(request, turn)
            self.abandoned = turn.began - asked
            took = perf_counter() - turn.began
            if seconds is not None and margin and took > seconds + margin and self._use is not None:
                # The answer may have arrived long before it was read. So the time in which either process had no processor is not
                # counted.
                self._use.look(now=True)
                lack = min(self._use.lack_now(), MAX_EXTENSION_FACTOR * seconds) + read_own_wait() - turn.own_wait
                if took > seconds + margin + lack + MIN_EXTENSION_SECONDS:
                    raise ChildLost("late")
            if turn.starting:
                self._use = None  # only decisions count
            self._end_turn(took)
            return answer
        except Broken as broken:
            raise self.lost("crash", str(broken)) from None
        except ChildLost as lost:
            if lost.why == "late":
                lack = 0.0 if self._use is None else self._use.lack_now()
                overrun = perf_counter() - turn.began - (seconds or 0.0) - lack
                raise self.lost("timeout", f"{what} took longer than its limit of {seconds:g} s", overrun) from None
            raise self._loss_of(lost) from None

    def _answer(self, request: bytes, turn: RequestLimits) -> dict[str, Any]:
        self._process.look()
        text = self._process.read_unasked()
        if text is not None:  # no message may arrive before a request
            raise Broken(f"sent {protocol.quote(text)} unasked")
        self._process.send(request, turn.end)
        report = None
        while (answer := protocol.parse(self._receive(turn)))["type"] in ("report", "again"):
            if answer["type"] == "again":
                self._begin_anew(turn, loading=protocol.flag(answer, "loading", default=False))
            else:
                report = answer
        if answer["type"] != "best":
            return answer
        if report is None:
            raise Broken("answered `best`, but has not reported an action")
        return {**report, "type": "best"}

    def _begin_anew(self, turn: RequestLimits, *, loading: bool) -> None:
        """Start the clock of a decision again, because the process is about to load compiled code, or has loaded it.

        This is allowed once per match, and only to arena's own host with an agent that the organiser has chosen.
        """
        if not self._may_begin_anew:
            raise Broken("expected an answer, got a message of type 'again'")
        self._may_begin_anew = loading
        turn.begin(perf_counter())
        turn.warned = False
        if loading and turn.end is not None:
            turn.stop, turn.end = None, turn.end + MAX_LOADING_SECONDS
        if turn.measured and self._use is not None:
            self._use.add()
            turn.own_wait = read_own_wait()

    def _receive(self, turn: RequestLimits) -> bytes:
        """Return the next line. The limit is extended if the agent had to wait for a processor."""
        while True:
            try:
                return self._process.receive(turn.end, turn.stop, STOP)
            except ChildLost as lost:
                if lost.why != "late" or not turn.measured:
                    raise
                if self._use is None:
                    self._use = ProcessorUse(self._process.measure_from_creation())
                self._use.look(now=True)
                queued = self._use.stands_in_queue()
                if turn.extend(self._use.lack_now()):
                    turn.waited = False
                elif turn.waited and not (queued and perf_counter() < turn.latest):
                    raise
                else:
                    turn.waited, turn.end = True, perf_counter() + QUEUED_SECONDS
                    turn.own_wait = read_own_wait()  # there is no answer yet, so this process has not delayed one

    def _look(self) -> None:
        """Check whether the CPU time of a decision exceeds its limit. This is called from time to time during the wait."""
        if self._turn.measured and self._use is not None:
            self._use.look(now=False)
            used = self._check_cpu(self._use)
            if self._turn.cpu_seconds is not None and used >= self._turn.cpu_seconds and not self._turn.warned:
                self._turn.warned = True
                self._process.warn(STOP)

    def _check_cpu(self, use: ProcessorUse) -> float:
        """Return the processor time of this decision, or 0 if it has no limit. Raises AgentLost if the decision used too much."""
        turn = self._turn
        if turn.cpu_seconds is None:
            return 0.0
        used = use.used_now()
        turn.out_of_cpu = used >= turn.cpu_seconds
        if used > turn.cpu_seconds + turn.margin:
            message = f"a decision used more than its limit of {turn.cpu_seconds:g} CPU seconds"
            raise self.lost("timeout", message, used - turn.cpu_seconds)
        return used

    def _loss_of(self, lost: ChildLost) -> AgentLost:
        """Return the AgentLost error that corresponds to a ChildLost error."""
        if lost.why == "memory":
            return self.lost("memory", f"used more than its limit of {self._memory_mb} MiB")
        if lost.why == "deaf":
            return self.lost("timeout", "does not read its messages")
        if lost.why != "ended":
            return self.lost("crash", CRASHES[lost.why])
        code = self._process.exit_code()
        if code is not None and code > BWRAP_SIGNAL_OFFSET and self._enclosed:
            code = BWRAP_SIGNAL_OFFSET - code
        if code is None:
            return self.lost("crash", "closed its output")
        how = f"was killed by {PythonProcess.signal_name(-code)}" if code < 0 else f"ended with code {code}"
        return self.lost("crash", f"its process {how}")

    def lost(self, reason: Reason, message: str, overrun: float | None = None) -> AgentLost:
        """End the process and return an error for the caller to raise."""
        self.end()
        return AgentLost(reason, message, overrun)

    def end(self) -> None:
        """End the process and everything that it started."""
        if self.alive:
            self.alive = False
            self._used_at_end = (0.0, 0.0) if self._turn.starting else self.processors()
            self._use = None
            if self._company is not None:
                self._company.moving.discard(self)
            self._process.end()


STOP = pack({"type": "stop"})
CRASHES = {
    "long": "sent a line that is too long",
    "processes": f"started more than {MAX_PROCESSES} processes",
    "descriptors": f"had more than {MAX_IN_FLIGHT} descriptors in unread messages",
}

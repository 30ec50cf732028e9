"""Checks of what was handed in, before it plays: in a sandbox, with bounds of time, processor and memory."""

import re
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import partial
from time import monotonic
from typing import Any

from arena import ArenaError
from arena.api.cli import cut, describe, say
from arena.api.match import Program
from arena.api.run import pack
from arena.api.spec import Board
from arena.api.store import StoreError
from arena.errors import IsolationError
from arena_check.program_checks import program_verdicts
from arena_check.verdicts import Verdict
from arena_isolation import protocol
from arena_isolation.agent_process import AgentLost
from arena_isolation.protocol import Broken
from arena_isolation.versions import submission as version_of
from arena_ladder.code_folder import BadSubmission, CodeFolder
from arena_ladder.ledger import Ledger, Submission
from arena_ladder.spec import NAME, LadderSpec, is_name
from arena_ladder.submission_check import CheckStopped, SubmissionCheck, WatchedProcess, has_room

HOST = "arena_ladder.check_host"
"""The module that the process of a check runs."""
CPU_SECONDS = 5.0
"""Processor time of a check, all of its processes together."""
CHECK_SECONDS = 20.0
"""Seconds of a check, on the clock."""
CALL_SECONDS = 5.0
"""Seconds of one call of an agent."""
MEMORY_MB = 1024
"""MiB of a check where the spec gives agents no limit."""
CHECK_MATCHES = 2
MAX_VERDICTS = 100
"""Verdicts on an agent on one board; what its process says of itself is kept, so it is bounded."""
AGENT_NAME = re.compile(r"[a-z0-9-]{1,100}")
MAX_FINDING_LENGTH = 4000
"""Characters of a finding."""
LOOK_SECONDS = 0.5
"""Seconds between two looks at the queue."""
ERROR_PAUSE_SECONDS = 2.0
"""Seconds between two tries where the store cannot be written to."""
OWN_ERROR = "it could not be checked, by an error of arena itself: tell the host"

Finding = dict[str, Any]


class NotPassed(ArenaError):
    """A submission does not pass, and why; `findings` are what the checks say."""

    def __init__(self, reason: str, findings: Sequence[Finding] = ()) -> None:
        super().__init__(reason)
        self.findings = list(findings)


@dataclass(slots=True)
class Passed:
    """A submission that may play."""

    name: str
    """What it is called behind the name of its author."""
    agent: str | None
    """What its code calls it."""
    findings: list[Finding] = field(default_factory=list)


class Examiner:
    """Takes submissions from the queue and checks them, one at a time on every thread that runs it."""

    def __init__(self, ladder: LadderSpec, ledger: Ledger, folder: CodeFolder) -> None:
        self._ladder, self._ledger, self._folder = ladder, ledger, folder
        self.stopping = threading.Event()
        self._choosing = threading.Lock()
        self._checks: set[SubmissionCheck] = set()
        """Those in progress, of all threads."""
        self._next_look = 0.0

    def run(self) -> None:
        """Check until `stopping` is set, which ends a check; the next process makes it again."""
        check: SubmissionCheck | None = None
        while not self.stopping.is_set():
            try:
                check = check or self._next()
                if check is not None:
                    self.examine(check)
                    self._checks.discard(check)
                    check = None
                    continue
            except CheckStopped:
                return
            except StoreError as error:  # a full disk, or a program that holds the store: this one is checked again
                say(f"a check waits: {error}")
                self.stopping.wait(ERROR_PAUSE_SECONDS)
            except Exception as error:  # the next ones are checked, whatever this one did to arena
                say(f"error: the check of submission {check and check.one.id}: {describe(error)}")
                if check is not None:
                    with suppress(StoreError):
                        self._ledger.refuse(check.one.id, OWN_ERROR, ())
                    self._checks.discard(check)
                check = None
            self.stopping.wait(LOOK_SECONDS)

    def _next(self) -> SubmissionCheck | None:
        """The check that begins now; None where nothing waits, or those in progress are enough."""
        with self._choosing:
            if monotonic() < self._next_look or not has_room(list(self._checks), _memory(self._ladder)):
                return None
            one = self._ledger.next_to_check()
            if one is None:
                self._next_look = monotonic() + LOOK_SECONDS  # however many threads have nothing to do
                return None
            check = SubmissionCheck(one, self.stopping)
            self._checks.add(check)
            return check

    def examine(self, check: SubmissionCheck) -> None:
        """Check one submission and note what became of it; CheckStopped, and nothing is noted, where the ladder ends."""
        one = check.one
        try:
            passed = examine(self._ladder, self._folder, one, check)
        except (NotPassed, BadSubmission) as error:
            reason, findings = self._folder.as_handed_in(one, [str(error), getattr(error, "findings", [])])
            self._ledger.refuse(one.id, reason, findings)
            self._folder.forget(one)
        except IsolationError as error:  # nobody can be checked here; the author is not to blame
            self._ledger.refuse(one.id, f"it could not be checked, through no fault of yours: {error}", ())
        else:
            findings = self._folder.as_handed_in(one, passed.findings)
            self._ledger.accept(one.id, passed.name, passed.agent, findings, self._ladder.submissions.keep)


def examine(ladder: LadderSpec, folder: CodeFolder, one: Submission, check: SubmissionCheck | None = None) -> Passed:
    """Check a submission as `arena check` does, on the ladder's boards; NotPassed or BadSubmission where it does not pass."""
    check = check or SubmissionCheck(one, threading.Event())
    file = folder.lay_out(one)
    isolation: str = ladder.spec.document.values.get("isolation") or "sandbox"
    if one.kind == "program":
        program = Program(one.file, {}, None, (), str(file.parent), (str(file),))
        start = partial(CheckedProgram, CheckBounds(), check, _memory(ladder))
        verdicts = [verdict for board in ladder.spec.boards for verdict in _of_program(program, board, isolation, start)]
        return _judge(one, None, verdicts)
    version = version_of(str(file), file.parent, ())
    program = Program(version.source, {}, None, ladder.spec.plugins, str(file.parent), version=version)
    with CheckProcess(check, program, isolation, _memory(ladder)) as process:
        told = process.ask({"type": "describe", "plugin": str(file), "plugins": list(ladder.spec.plugins)}, "description")
        agent = _agent_of(told, one.name)
        games = next((one.get("games") for one in told["agents"] if one.get("name") == agent), None)
        boards = [board for board in ladder.spec.boards if not games or board.name in games]
        if not boards:
            raise NotPassed(f"{agent} can play none of {', '.join(board.name for board in ladder.spec.boards)}")
        return _judge(one, agent, [finding for board in boards for finding in process.check(agent, board)])


def _memory(ladder: LadderSpec) -> int:
    return ladder.spec.boards[0].seats[0].limits.memory_mb or MEMORY_MB


class CheckProcess:
    """The process in which the code of a submission is loaded and checked; NotPassed where it is lost."""

    def __init__(self, check: SubmissionCheck, program: Program, isolation: str, memory_mb: int) -> None:
        self._left = CPU_SECONDS
        self._decided = False
        try:
            self._process = WatchedProcess(check, program, memory_mb, isolation, module=HOST)
        except AgentLost as lost:
            raise NotPassed(f"its process cannot be started: {lost.message}") from lost

    def __enter__(self) -> "CheckProcess":
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the process."""
        self._process.end()

    def ask(self, request: Mapping[str, Any], kind: str) -> Mapping[str, Any]:
        """Return the answer to a request; NotPassed where there is none in time, or where it says what failed."""
        try:
            self._process.begin()
            answer = self._process.ask(pack(request), CHECK_SECONDS, what="the check", cpu_seconds=max(0.1, self._left))
            self._left -= self._process.processors()[1]
            protocol.expect(answer, kind, "failed")
        except AgentLost as lost:
            steps = {"describe": "while it was loaded", "decide": "during its first move", "check": "during the check"}
            raise NotPassed(f"{steps[request['type']]}: {lost.message.replace('a decision', 'the check')}") from lost
        except Broken as broken:
            raise NotPassed(f"its process does not answer as it should: {broken}") from broken
        if answer["type"] == "failed":
            raise NotPassed(cut(str(answer.get("message")), MAX_FINDING_LENGTH))
        return answer

    def check(self, agent: str, board: Board) -> list[Finding]:
        """The verdicts on an agent on a board; where the time runs out after a first move that is well, it may play."""
        limits = board.seats[0].limits
        about = {"agent": agent, "game": board.name, "parameters": dict(board.parameters)}
        kept = {key: value for key, value in asdict(limits).items() if key in ("nodes", "seconds", "depth") and value is not None}
        first = self.ask({"type": "decide", **about, "limits": kept}, "decided")
        if first.get("fault"):
            raise NotPassed(f"{board.name}: its first move: {cut(str(first['fault']), MAX_FINDING_LENGTH)}")
        try:
            answer = self.ask({"type": "check", **about, "matches": CHECK_MATCHES, "patience": CALL_SECONDS}, "checked")
        except NotPassed as error:
            if isinstance(error.__cause__, AgentLost) and error.__cause__.reason == "timeout":
                return [_finding(board, "time", "all checks are made", None, reached=False)]
            raise
        verdicts = answer.get("verdicts")
        if not isinstance(verdicts, list) or len(verdicts) > MAX_VERDICTS or not all(isinstance(one, dict) for one in verdicts):
            raise NotPassed(f"its process does not answer as it should: expected at most {MAX_VERDICTS} verdicts")
        return [
            _finding(board, str(one.get("check")), str(one.get("promise")), one.get("found"), reached=bool(one.get("reached")))
            for one in verdicts
        ]


@dataclass(slots=True)
class CheckBounds:
    """What is left of the time of a check, whichever processes it is made in."""

    seconds: float = CHECK_SECONDS
    cpu_seconds: float = CPU_SECONDS


class CheckedProgram(WatchedProcess):
    """A process of a program that is checked: all answers together are held to the bounds of its check."""

    def __init__(
        self,
        left: CheckBounds,
        check: SubmissionCheck,
        most_mb: int,
        program: Program,
        memory_mb: int | None,
        isolation: str,
    ) -> None:
        self._left = left
        super().__init__(check, program, memory_mb or most_mb, isolation)

    def ask(
        self,
        request: bytes,
        seconds: float | None,
        margin: float = 0.0,
        what: str = "a decision",
        cpu_seconds: float | None = None,
    ) -> dict[str, Any]:
        """Write a request and return the answer to it, as any agent process does."""
        left = self._left
        began, used = monotonic(), self.processors()[1]
        try:
            longest = max(0.1, min(CALL_SECONDS if seconds is None else seconds, left.seconds))
            most = max(0.1, left.cpu_seconds if cpu_seconds is None else min(cpu_seconds, left.cpu_seconds))
            return super().ask(request, longest, margin, what, most)
        finally:
            left.seconds -= monotonic() - began
            left.cpu_seconds -= max(0.0, self.processors()[1] - used)


def _finding(board: Board, check: str, promise: str, found: object, *, reached: bool = True) -> Finding:
    text = None if found is None else cut(str(found), MAX_FINDING_LENGTH)
    return {
        "game": board.name,
        "check": cut(check),
        "promise": cut(promise, 300),
        "kept": text is None,
        "reached": reached,
        "found": text,
    }


def _agent_of(told: Mapping[str, Any], wanted: str | None) -> str:
    """The one agent that a plugin brings, or the one of that name."""
    try:
        names = [protocol.text_of({**one, "type": "agents"}, "name") for one in told["agents"]]
    except (Broken, TypeError, KeyError) as error:
        raise NotPassed(f"its process does not answer as it should: {describe(error)}") from error
    if not all(map(AGENT_NAME.fullmatch, names)):
        raise NotPassed("its process does not answer as it should: expected names of small letters, digits and dashes")
    if wanted in names:
        return wanted
    if len(names) != 1:
        found = f"{len(names)}: {', '.join(names[:5])}" if names else "none; an @hookimpl arena_agents() returns it"
        raise NotPassed(f"expected one agent in the file, found {found}")
    return names[0]


def _of_program(program: Program, board: Board, isolation: str, start: "partial[CheckedProgram]") -> list[Finding]:
    verdicts: list[Verdict] = list(program_verdicts(program, board.game, matches=1, isolation=isolation, start=start))
    return [
        _finding(
            board,
            one.check,
            one.promise,
            None if one.violation is None else str(one.violation.finding),
            reached=one.reached,
        )
        for one in verdicts
    ]


def _in_short(found: str) -> str:
    """The promise that a finding is about, and what came instead."""
    lines = [line.strip() for line in found.splitlines()]
    got = next((line for line in lines if line.startswith("got: ")), "")
    return cut(f"{lines[0].partition(': ')[2] or lines[0]}; {got}" if got else lines[0], 500)


def _judge(one: Submission, agent: str | None, findings: list[Finding]) -> Passed:
    """What passes with these findings; NotPassed with them where a promise is broken."""
    broken = [finding for finding in findings if not finding["kept"]]
    if broken:
        first = broken[0]
        raise NotPassed(f"{first['game']}, {first['check']}: {_in_short(str(first['found']))}", findings)
    name = one.name or agent or one.file.partition(".")[0].lower()
    if not is_name(name):
        raise NotPassed(f"{cut(repr(name))} is no name for an agent here; expected {NAME}; give one with --name")
    return Passed(name, agent, findings)

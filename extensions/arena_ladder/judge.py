"""Judges a submission from outside: `python -m arena_ladder.judge` plays it in separate processes, as a match does.

Nothing that runs in a process of a submission decides here. Its description of itself is a claim: only the parts that a ladder
needs are kept, and their size is bounded. The judge is a separate process, too, so a value that crashes it ends one check only.
"""

import base64
import pickle
import re
import resource
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from time import monotonic
from typing import Any

from arena import ArenaError, Spec, SpecError
from arena.api.errors import IsolationError, cut, describe
from arena.api.games import TRAITS
from arena.api.match import Program
from arena.api.processes import take_pipes
from arena.api.spec import Board, Document, list_organisers, reload_spec
from arena_check.program_checks import ProgramCheck, program_verdicts
from arena_check.verdicts import Verdict
from arena_isolation.agent_process import AgentLost, AgentProcess, AgentProcesses
from arena_isolation.agent_start import PLAYING_MODULE
from arena_isolation.describe import DescribedAgent, DescribeHost, Description, NotDescribed
from arena_isolation.family_clock import ProcessorUse
from arena_isolation.helper import pack, serve
from arena_isolation.versions import PluginVersion, seal_submission
from arena_ladder.season import Entrant, entry_faults, season_spec
from arena_ladder.spec import NAME, is_name
from arena_ladder.submission_check import CORES

CPU_SECONDS = 5.0
"""CPU time of a check, for all processes of the submission together."""
CHECK_SECONDS = 20.0
"""Wall-clock time to wait for the submission's processes."""
CALL_SECONDS = 5.0
"""Time limit of one call of an agent, in seconds."""
USE_SECONDS = 1.0
"""Seconds over which the use of the processors is averaged."""
LEAST_SECONDS = 0.1
"""Minimum time for a call, in seconds."""
READING_MB = 2048
"""Memory limit of this process while it reads the files of a submission, in MiB."""
CHECK_MATCHES = 1
AGENT_NAME = re.compile(r"[a-z0-9-]{1,100}")
MAX_HEURISTICS = 100
"""Maximum number of heuristics that a plugin may declare."""
MAX_FINDING_CHARACTERS = 4000
MAX_REASON_CHARACTERS = 1000

Finding = dict[str, Any]


class NotPassed(ArenaError):
    """A submission does not pass. The message gives the reason, and `findings` are the results of the checks."""

    def __init__(self, reason: str, findings: Sequence[Finding] = ()) -> None:
        super().__init__(cut(reason, MAX_REASON_CHARACTERS))
        self.findings = list(findings)


@dataclass(frozen=True, slots=True)
class Brief:
    """Everything that is needed to judge a submission."""

    document: Document
    """Spec of the house."""
    plugins: tuple[str, ...]
    shared: Mapping[str, Any]
    file: str
    """The file to load or to start, in a folder that was made for it alone."""
    program: bool
    """Whether it is a program instead of a plugin."""
    name: str | None
    """The name that the author gave the agent, if any."""
    plain: str
    """Name of its file as submitted."""
    memory_mb: int

    def pack(self) -> str:
        """Pickle the brief as text. Only the ladder's own judge reads it."""
        return base64.b64encode(pickle.dumps(self)).decode()


@dataclass(slots=True)
class Passed:
    """A submission that may play."""

    name: str
    """Its name, without the name of the author."""
    agent: str | None = None
    """Its name in the code."""
    code: str | None = None
    """Hash of the code."""
    claims: Mapping[str, Any] | None = None
    """Its description of itself, reduced to the parts that a ladder needs."""
    findings: list[Finding] = field(default_factory=list)


@dataclass(slots=True)
class CheckBounds:
    """Remaining time of a check, shared by all its processes."""

    memory_mb: int
    tell: Callable[[float], None] = lambda _cores: None
    """Callback that takes the number of cores that were used or waited for lately."""
    seconds: float = CHECK_SECONDS
    cpu_seconds: float = CPU_SECONDS
    over: bool = False
    """Whether a call was ended because no time was left."""
    _use: ProcessorUse | None = None
    _asked: float = 0.0
    _since: float = field(default_factory=monotonic)

    def look(self, use: ProcessorUse | None) -> None:
        """Report every now and then how many cores the current process is asking for."""
        now = monotonic()
        if use is None or now < self._since + USE_SECONDS:
            return
        asked = use.used + use.lack
        if self._use is use:
            self.tell((asked - self._asked) / (now - self._since))
        self._use, self._asked, self._since = use, asked, now

    def start(self, program: Program, memory_mb: int | None, isolation: str, module: str = PLAYING_MODULE) -> AgentProcess:
        """Start a process of the submission. All its answers together are held to the bounds."""
        return CheckedProcess(self, program, memory_mb or self.memory_mb, isolation, module)


class CheckedProcess(AgentProcess):
    """A process of a submission under check."""

    def __init__(self, left: CheckBounds, program: Program, memory_mb: int, isolation: str, module: str) -> None:
        self._left = left
        super().__init__(program, memory_mb, isolation, module)

    def _look(self) -> None:
        self._left.look(self._use)
        super()._look()

    def prepare(self, *, own: bool, compiling: bool) -> str | None:
        """Compile nothing, because that takes longer than a check."""
        return "nothing is compiled for a check"

    def ask(self, request: bytes, seconds: float | None, *, cpu_seconds: float | None = None, **more: Any) -> dict[str, Any]:
        """Write a request and return the answer to it, as any agent process does."""
        left = self._left
        began, used = monotonic(), self.processors()[1]
        longest = max(LEAST_SECONDS, min(CALL_SECONDS if seconds is None else seconds, left.seconds))
        most = max(LEAST_SECONDS, left.cpu_seconds if cpu_seconds is None else min(cpu_seconds, left.cpu_seconds))
        try:
            return super().ask(request, longest, cpu_seconds=most, **more)
        except AgentLost as lost:
            gone = monotonic() - began >= left.seconds or self.processors()[1] - used >= left.cpu_seconds
            left.over = left.over or (lost.reason == "timeout" and gone)
            raise
        finally:
            left.seconds -= monotonic() - began
            left.cpu_seconds -= max(0.0, self.processors()[1] - used)


def judge(brief: Brief, tell: Callable[[float], None]) -> Passed:
    """Check a submission on the boards of a ladder.

    `tell` is called every now and then with the number of busy cores. Raises NotPassed if the submission does not pass, and
    IsolationError if nothing can be checked at all.
    """
    house = reload_spec(brief.document, brief.plugins, 0, shared=brief.shared)
    bounds = CheckBounds(brief.memory_mb, tell)
    label = f"submission/{Path(brief.file).stem}"
    if brief.program:
        passed = Passed("")
        entrant = Entrant({"agent": {"command": [brief.file]}, "label": label})
    else:
        with _bounded_memory(READING_MB << 20):  # parsing happens here only, and can be made to use much memory
            version = seal_submission(Path(brief.file))
        passed = _ask_what_it_is(version, house, brief, bounds)
        assert passed.agent is not None
        entrant = Entrant.of_plugin(version, passed.agent, label, passed.claims or {}, house)
    boards = _list_boards(house, entrant, passed.agent or brief.plain)
    passed.findings = _play(boards, bounds)
    broken = next((finding for finding in passed.findings if not finding["kept"]), None)
    if broken is not None:
        lines = [line.strip() for line in str(broken["found"]).splitlines()]
        got = next((line for line in lines if line.startswith("got: ")), "")
        found = f"{lines[0].partition(': ')[2] or lines[0]}; {got}" if got else lines[0]  # the promise, and the actual result
        raise NotPassed(f"{broken['game']}, {broken['check']}: {cut(found, 500)}", passed.findings)
    passed.name = brief.name or passed.agent or brief.plain.partition(".")[0].lower()
    if not is_name(passed.name):
        raise NotPassed(f"{cut(repr(passed.name))} is no name for an agent here; expected {NAME}; give one with --name")
    return passed


@contextmanager
def _bounded_memory(most_bytes: int) -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_DATA)
    most = most_bytes if before[1] == resource.RLIM_INFINITY else min(most_bytes, before[1])
    resource.setrlimit(resource.RLIMIT_DATA, (most, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, before)


def _ask_what_it_is(version: PluginVersion, house: Spec, brief: Brief, bounds: CheckBounds) -> Passed:
    """Let a process of the submission describe its plugin, and keep the parts that a ladder needs."""
    games = [board.name for board in house.boards]
    plugins = list_organisers(house.registry, games, but=version.file)
    isolation = brief.document.values.get("isolation") or "sandbox"
    try:
        with DescribeHost(version, plugins, str(house.document.folder), isolation, start=bounds.start) as host:
            description = host.description
    except NotDescribed as error:
        if isinstance(error.__cause__, IsolationError):
            raise error.__cause__ from error
        raise NotPassed(f"while it was loaded: {error}") from error
    agent = _choose_agent(description, brief.name)
    if agent.games and not agent.games & {*games}:
        raise NotPassed(f"{agent.name} can play none of {', '.join(games)}")
    return Passed("", agent.name, version.code, _bound_claims(description, agent, house))


def _choose_agent(description: Description, wanted: str | None) -> DescribedAgent:
    """Return the plugin's only agent, or the agent with the wanted name."""
    agents = description.agents
    if not all(map(AGENT_NAME.fullmatch, agents)):
        raise NotPassed("its process does not answer as it should: expected names of small letters, digits and dashes")
    if wanted is not None and wanted in agents:
        return agents[wanted]
    if len(agents) != 1:
        found = f"{len(agents)}: {', '.join([*agents][:5])}" if agents else "none; an @hookimpl arena_agents() returns it"
        raise NotPassed(f"expected one agent in the file, found {found}")
    return next(iter(agents.values()))


def _bound_claims(description: Description, agent: DescribedAgent, house: Spec) -> Mapping[str, Any]:
    """Reduce the description of a plugin to one agent and to the parts that a ladder needs."""
    games = {board.name for board in house.boards}
    own = sorted(pair for pair in description.heuristics if pair[0] in games and AGENT_NAME.fullmatch(pair[1]))
    known = sorted(pair for pair in description.known if pair in house.registry.heuristics and pair[0] in games)
    if len(own) > MAX_HEURISTICS:
        raise NotPassed(f"expected at most {MAX_HEURISTICS} heuristics, found {len(own):,}")
    told = {
        "name": agent.name,
        "needs": sorted(agent.needs),
        "copes": sorted(agent.copes & set(TRAITS)),
        "games": sorted(agent.games & games),
        "wants_heuristic": agent.wants_heuristic,
        "chooses": agent.chooses,
        "solves": agent.solves,
        "options": {},
    }
    return {
        "type": "description",
        "agents": [told],
        "games": [],
        "heuristics": [*map(list, own)],
        "known": [*map(list, sorted({*own, *known}))],
    }


def _list_boards(house: Spec, entrant: Entrant, name: str) -> list[Board]:
    """Return the boards that a submission can play, each with its seat alone. Raises NotPassed if it cannot be set up."""
    try:
        spec = season_spec(house, [entrant], 0)
    except SpecError as error:
        faults = entry_faults(error, house)
        if not faults:
            raise
        raise NotPassed("; ".join(faults.values())) from error
    label = entrant.values["label"]
    found = [replace(one, seats=tuple([seat for seat in one.seats if seat.label == label])) for one in spec.boards]
    boards = [board for board in found if board.seats]
    if not boards:
        raise NotPassed(f"{name} can play none of {', '.join(board.name for board in spec.boards)}")
    return boards


def _play(boards: Sequence[Board], bounds: CheckBounds) -> list[Finding]:
    """Let a submission move once on each board, then run all other checks that there is time for. Raises NotPassed at once."""
    findings: list[Finding] = []
    with AgentProcesses(bounds.start) as processes:
        for board in boards:
            fault = ProgramCheck(board.seats[0], board.game, processes, 0, CHECK_MATCHES).first_move()
            if fault is not None:
                raise NotPassed(f"{board.name}: its first move: {cut(fault, MAX_FINDING_CHARACTERS)}")
        for board in boards:
            seat = board.seats[0]
            verdicts = program_verdicts(seat, board.game, matches=CHECK_MATCHES, limits=[seat.limits], processes=processes)
            findings += [_finding(board, verdict, timely=not bounds.over) for verdict in verdicts]
    return findings


def _finding(board: Board, verdict: Verdict, *, timely: bool) -> Finding:
    """Turn a verdict into a finding for the author. Without enough time for it, the check was not reached."""
    violation = verdict.violation if timely else None
    return {
        "game": board.name,
        "check": cut(verdict.check),
        "promise": cut(verdict.promise, 300),
        "kept": violation is None,
        "reached": timely and verdict.reached,
        "found": None if violation is None else cut(str(violation.finding), MAX_FINDING_CHARACTERS),
    }


def answer(request: Mapping[str, str], tell: Callable[[float], None]) -> Mapping[str, Any]:
    """Return the verdict on the submission of a brief."""
    brief = pickle.loads(base64.b64decode(request["brief"]))  # noqa: S301 - of the ladder that has started this process
    try:
        return {"type": "passed", **asdict(judge(brief, tell))}
    except NotPassed as error:
        return {"type": "refused", "reason": str(error), "findings": error.findings}
    except IsolationError as error:
        return {"type": "isolation", "reason": str(error)}
    except Exception as error:  # the ladder reports it to its host
        return {"type": "failed", "reason": describe(error)}


def main() -> None:
    """Serve the ladder."""
    requests, replies = take_pipes()

    def tell(cores: float) -> None:
        replies.write(pack({"type": CORES, CORES: cores}))
        replies.flush()

    serve(lambda request: answer(request, tell), requests, replies)


if __name__ == "__main__":
    main()

"""Judges a submission: `python -m arena_ladder.judge` plays matches with it. As in every match, the code of the submission runs
in separate processes.

These processes do not decide whether the submission passes. Their description of the submission is only a claim: the ladder keeps
the parts that it needs, up to a maximum size. The judge is also a separate process, so a value that crashes it ends only one
check.
"""

import ast
import base64
import json
import os
import pickle
import re
import resource
import shutil
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO

from arena import ArenaError, Puzzle, Spec, SpecError
from arena.api.errors import CodeTooComplex, IsolationError, cut, describe
from arena.api.games import Traits
from arena.api.match import Program
from arena.api.processes import PythonProcess
from arena.api.spec import Board, Document, PythonFile, list_organisers, reload_spec
from arena.clock import monotonic
from arena_check.program_checks import ProgramCheck, program_verdicts
from arena_check.verdicts import Verdict
from arena_isolation.agent_pool import AgentProcesses
from arena_isolation.agent_process import AgentLost, AgentProcess
from arena_isolation.agent_start import PLAYING_MODULE, end_with_parent, prove_once
from arena_isolation.describe import DescribedAgent, DescribeHost, Description, NotDescribed
from arena_isolation.family_clock import ProcessorUse, read_own_wait
from arena_isolation.helper_process import pack
from arena_isolation.sandbox import private_folder
from arena_isolation.versions import PluginVersion, list_needed_plugins, seal_submission
from arena_ladder.season import Entrant, entry_faults, season_spec
from arena_ladder.spec import NAME, is_name
from arena_ladder.submission_check import CORES, STEP, USED

ALWAYS_ALLOWED = ("arena",)
"""Packages that every agent may import, because it needs them."""
CPU_SECONDS = 5.0
"""CPU seconds for a check, for all processes of the submission together."""
CHECK_SECONDS = 20.0
"""Seconds to wait for the processes of the submission, not counting the time in which these processes or the judge had no
processor. The start of arena's own program in these processes does not count, either.
"""
OWN_START_SECONDS = 120.0
"""Timeout in seconds for the start of arena's own program in a process. Most of this time is meant for busy machines."""
MIN_COUNTED_SHARE = 0.1
"""Minimum share of a wait that counts, however long the processes had no processor."""
CALL_SECONDS = 5.0
"""Time limit of one call of an agent, in seconds."""
USE_SECONDS = 1.0
"""The number of seconds over which the use of processors is averaged."""
UNTOLD_SECONDS = 0.25
"""The processor time after which the use of processors is reported in any case."""
LEAST_SECONDS = 0.1
"""The shortest time limit of a call in seconds, even if less time is left for the check."""
READING_MB = 2048
"""The memory limit of this process in MiB while it reads the files of a submission."""
CHECK_MATCHES = 1
BEYOND_LIMITS = ("timeout", "memory")
"""The first words of faults that mean that a limit was exceeded."""
AGENT_NAME = re.compile(r"[a-z0-9-]{1,100}")
MAX_HEURISTICS = 100
"""The maximum number of heuristics that a plugin may declare."""
MAX_FINDING_CHARACTERS = 4000
MAX_REASON_CHARACTERS = 1000

Finding = dict[str, Any]


class NotPassed(ArenaError):
    """A submission does not pass. The message gives the reason, and `findings` contains the results of the checks."""

    def __init__(self, reason: str, findings: Sequence[Finding] = ()) -> None:
        super().__init__(cut(reason, MAX_REASON_CHARACTERS))
        self.findings = list(findings)


@dataclass(frozen=True, slots=True)
class Brief:
    """Everything that is needed to judge a submission."""

    document: Document
    """The spec with the house agents, which are the agents of the host."""
    plugins: tuple[str, ...]
    shared: Mapping[str, Any]
    file: str
    """The file to load or to start, in a folder that contains only this submission."""
    program: bool
    """True if it is a program and not a plugin."""
    name: str | None
    """The name that the author gave to the agent, if any."""
    plain: str
    """The name of the file as submitted."""
    memory_mb: int
    packages: list[str] | None = None
    """The packages that the code may import; None means any."""
    passed: Sequence[Finding] = ()
    """What an earlier check has found until it was interrupted. These steps are not repeated."""

    def pack(self) -> str:
        """Return the brief, pickled, as text. Only the judge of the ladder reads it."""
        return base64.b64encode(pickle.dumps(self)).decode()


@dataclass(slots=True)
class Passed:
    """A submission that is allowed to play."""

    name: str
    """The name of the agent, without the name of the author."""
    agent: str | None = None
    """The name of the agent in the code."""
    code: str | None = None
    """The hash of the code."""
    claims: Mapping[str, Any] | None = None
    """The description that the submission gives of itself, reduced to the parts that a ladder needs."""
    findings: list[Finding] = field(default_factory=list)


@dataclass(slots=True)
class CheckBounds:
    """The time that is left for a check. All its processes share it."""

    memory_mb: int
    tell: Callable[[float, float], None] = lambda _cores, _used: None
    """A function that takes the number of cores that were recently used or waited for, and the processor time used so far."""
    seconds: float = CHECK_SECONDS
    cpu_seconds: float = CPU_SECONDS
    over: bool = False
    """True if a call was ended because no time was left."""
    _lack: float = 0.0
    _used: float = 0.0
    """The processor times that were waited for, and used, in the calls that have ended."""
    _before: tuple[float, float] = (0.0, 0.0)
    """Both times of the current process before the call in progress."""
    _told: tuple[float, float] = (0.0, 0.0)
    """Both times together, and the used one alone, when they were reported."""
    _since: float = field(default_factory=monotonic)

    @contextmanager
    def call(self, process: AgentProcess) -> Iterator[None]:
        """Count the processor time of a call."""
        self._before = process.processors()
        try:
            yield
        finally:
            lack, used = process.processors()
            self._lack += max(0.0, lack - self._before[0])
            self._used += max(0.0, used - self._before[1])
            self._report(self._lack, self._used)

    def look(self, use: ProcessorUse | None) -> None:
        """Report from time to time how much all processes together use."""
        if use is not None:
            lack, used = max(0.0, use.lack - self._before[0]), max(0.0, use.used - self._before[1])
            self._report(self._lack + lack, self._used + used)

    def _report(self, lack: float, used: float) -> None:
        now, (asked, told) = monotonic(), self._told
        if now >= self._since + USE_SECONDS or used >= told + UNTOLD_SECONDS:
            self.tell(max(0.0, lack + used - asked) / max(now - self._since, UNTOLD_SECONDS), used)
            self._told, self._since = (lack + used, used), now

    def start(self, program: Program, memory_mb: int | None, isolation: str, module: str = PLAYING_MODULE) -> AgentProcess:
        """Start a process of the submission. The bounds apply to the total time of all its answers."""
        return CheckedProcess(self, program, memory_mb or self.memory_mb, isolation, module)


class CheckedProcess(AgentProcess):
    """A process of a submission that is being checked."""

    def __init__(self, left: CheckBounds, program: Program, memory_mb: int, isolation: str, module: str) -> None:
        self._left = left
        self._starting = False
        super().__init__(program, memory_mb, isolation, module)

    def _look(self) -> None:
        self._left.look(self._use)
        super()._look()

    def prepare(self, private: str | None) -> str | None:
        """Do not compile anything, because that takes longer than a check."""
        return "code is not compiled for a check"

    def _greet(self, *, plays: bool) -> None:
        if self._program.command is not None:
            super()._greet(plays=plays)
            return
        # Python agents run in a program of arena, which answers `hello` before it loads the code of the submission. So the time
        # until this answer does not count. The processor time is not measured, because the process may not have entered its
        # control group yet.
        self._starting = True
        super()._greet(plays=plays)
        self._starting = False

    def ask(self, request: bytes, seconds: float | None, *, cpu_seconds: float | None = None, **more: Any) -> dict[str, Any]:
        """Write a request and return the answer to it, within the bounds that are left for the check."""
        with self._left.call(self):
            return self._ask(request, seconds, cpu_seconds, **more)

    def _ask(self, request: bytes, seconds: float | None, cpu_seconds: float | None, **more: Any) -> dict[str, Any]:
        if self._starting:
            return super().ask(request, OWN_START_SECONDS, **more)
        left = self._left
        began, own, (lack, used) = monotonic(), read_own_wait(), self.processors()

        def measure() -> tuple[float, float]:
            took, (lacked, uses) = monotonic() - began, self.processors()
            waited = max(0.0, lacked - lack) + read_own_wait() - own  # the asked process or this one had no processor
            return max(took - waited, took * MIN_COUNTED_SHARE), max(0.0, uses - used)

        longest = max(LEAST_SECONDS, min(CALL_SECONDS if seconds is None else seconds, left.seconds))
        most = max(LEAST_SECONDS, left.cpu_seconds if cpu_seconds is None else min(cpu_seconds, left.cpu_seconds))
        try:
            return super().ask(request, longest, cpu_seconds=most, **more)
        except AgentLost as lost:
            took, uses = measure()
            if lost.reason == "timeout" and (took >= left.seconds or uses >= left.cpu_seconds):
                left.over = True
                lost.message = f"its check needs more than {CHECK_SECONDS:g} s or more than {CPU_SECONDS:g} CPU seconds"
            raise
        finally:
            took, uses = measure()
            left.seconds -= took
            left.cpu_seconds -= uses


def ignore_step(_finding: Finding) -> None:
    """Forget a step of a check."""


def judge(brief: Brief, tell: Callable[[float, float], None], keep: Callable[[Finding], None] = ignore_step) -> Passed:
    """Check a submission on the boards of a ladder.

    `tell` is called from time to time with the number of cores in use and the processor time used so far, and `keep` with each
    step that the submission has passed, so that a later check of the same submission can continue there. Raises NotPassed if the
    submission does not pass, and IsolationError if nothing can be checked at all.
    """
    house = _load_house(brief)
    bounds = CheckBounds(brief.memory_mb, tell)
    label = f"submission/{Path(brief.file).stem}"
    if brief.program:
        passed = Passed("")
        entrant = Entrant({"agent": {"command": [brief.file]}, "label": label})
    else:
        with _bounded_memory(READING_MB << 20):  # only this step parses files, which could be made to use much memory
            try:
                if brief.packages is not None:
                    _check_imports(Path(brief.file).parent, Path(brief.file).name, brief.plain, brief.packages)
                version = seal_submission(Path(brief.file))
            except CodeTooComplex as error:
                raise NotPassed(str(error)) from error
        if any(isinstance(board.game, Puzzle) for board in house.boards):  # its code may have written hidden positions there
            shutil.rmtree(private_folder(version.origin(brief.document.values.get("isolation") or "sandbox")), ignore_errors=True)
        passed = _ask_what_it_is(version, house, brief, bounds)
        assert passed.agent is not None
        entrant = Entrant.of_plugin(version, passed.agent, label, passed.claims or {}, house)
    boards = _list_boards(house, entrant, passed.agent or brief.plain)
    for board in boards:
        if isinstance(board.game, Puzzle) and not board.seats[0].solver:
            need = "in a puzzle, the time limit applies to the whole solution"
            raise NotPassed(
                f"{passed.agent} has no method `solve` on {board.name}; {need}, so agents that move step by step cannot play"
            )
    passed.findings = _play(boards, bounds, brief.passed, keep)
    broken = next((finding for finding in passed.findings if not finding["kept"]), None)
    if broken is not None:
        lines = [line.strip() for line in str(broken["found"]).splitlines()]
        got = next((line for line in lines if line.startswith("got: ")), "")
        found = f"{lines[0].partition(': ')[2] or lines[0]}; {got}" if got else lines[0]  # the property and the actual result
        raise NotPassed(f"{broken['game']}, {broken['check']}: {cut(found, 500)}", passed.findings)
    passed.name = brief.name or passed.agent or brief.plain.partition(".")[0].lower()
    if not is_name(passed.name):
        raise NotPassed(f"{cut(repr(passed.name))} is not a valid agent name here; expected {NAME}; give one with --name")
    return passed


_houses: dict[bytes, Spec] = {}
"""The specs that this process has loaded. A ladder has only one."""


def _load_house(brief: Brief) -> Spec:
    key = pickle.dumps((brief.document, brief.plugins, brief.shared))
    if key not in _houses:
        _houses[key] = reload_spec(brief.document, brief.plugins, 0, shared=brief.shared)
    return _houses[key]


def find_forbidden_imports(files: Mapping[str, str], packages: Collection[str]) -> list[str]:
    """Return `FILE:LINE: PACKAGE` for every import of a package that is not allowed.

    `files` maps the names of the files in the submission to their texts. The files may import each other and the standard
    library. Imports that are computed at run time are not found, but they cannot load a package that is not installed. Text that
    is not Python has no imports.
    """
    own = {part.removesuffix(".py") for name in files for part in name.split("/")}
    allowed = {*ALWAYS_ALLOWED, *own, *packages, *sys.stdlib_module_names}
    found = []
    for name, text in sorted(files.items()):
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                modules = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module is not None and not node.level:
                modules = [node.module]
            else:
                continue
            tops = [module.partition(".")[0] for module in modules]
            found += [f"{name}:{node.lineno}: {top}" for top in tops if top not in allowed]
    return found


def _check_imports(folder: Path, module: str, plain: str, packages: list[str]) -> None:
    """Raise NotPassed if the code in a folder imports a package that is not allowed. `plain` is the name that the author gave
    `module`. Raises CodeTooComplex for a file whose syntax takes too much time to read.
    """
    for file in folder.rglob("*.py"):
        PythonFile.parse_file(file)
    files = {str(file.relative_to(folder)): file.read_text(errors="replace") for file in folder.rglob("*.py")}
    shown = plain if plain.endswith(".py") else "agent.py"
    forbidden = find_forbidden_imports({shown if name == module else name: text for name, text in files.items()}, packages)
    if forbidden:
        allowed = ", ".join(packages) or "none"
        raise NotPassed(f"it imports packages that are not allowed here: {'; '.join(forbidden[:5])}; allowed: {allowed}")


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
    """Let a process of the submission describe the plugin, and keep the parts of the description that a ladder needs."""
    games = [board.name for board in house.boards]
    plugins = list_organisers(house.registry, games, but=version.file)
    isolation = brief.document.values.get("isolation") or "sandbox"
    folder, installed = str(house.document.folder), list_needed_plugins(*games)
    try:
        with DescribeHost(version, plugins, folder, isolation, start=bounds.start, installed=installed) as host:
            description = host.description
    except NotDescribed as error:
        if isinstance(error.__cause__, IsolationError):
            raise error.__cause__ from error
        raise NotPassed(f"while it was loaded: {error}") from error
    agent = _choose_agent(description, brief.name)
    if agent.games and not agent.games & {*games}:
        raise NotPassed(f"{agent.name} cannot play any of {', '.join(games)}")
    return Passed("", agent.name, version.code, _bound_claims(description, agent, house))


def _choose_agent(description: Description, wanted: str | None) -> DescribedAgent:
    """Return the only agent of a plugin, or the agent with the wanted name."""
    agents = description.agents
    if not all(map(AGENT_NAME.fullmatch, agents)):
        raise NotPassed("its process sent an invalid answer: expected names of lowercase letters, digits and dashes")
    if wanted is not None and wanted in agents:
        return agents[wanted]
    if len(agents) != 1:
        found = (
            f"{len(agents)}: {', '.join([*agents][:5])}"
            if agents
            else "none; return it from a function arena_agents() with @hookimpl"
        )
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
        "copes": sorted(agent.copes & set(Traits.WORDS)),
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
    """Return the boards on which a submission can play. The seats of other agents are left out. Raises NotPassed if the
    submission cannot be set up.
    """
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
        raise NotPassed(f"{name} cannot play any of {', '.join(board.name for board in spec.boards)}")
    return boards


def _play(
    boards: Sequence[Board], bounds: CheckBounds, passed: Sequence[Finding], keep: Callable[[Finding], None]
) -> list[Finding]:
    """Let a submission make one move on each board, then run all other checks for which there is time. Raises NotPassed at the
    first fault.

    A solver of a puzzle may exceed its limits: the position may be too hard for it.
    """
    findings: list[Finding] = []
    with AgentProcesses(bounds.start) as processes:
        for board in () if passed else boards:  # these moves come before all other steps
            fault = ProgramCheck(board.seats[0], board.game, processes, 0, CHECK_MATCHES).first_move()
            if fault is not None and not (isinstance(board.game, Puzzle) and fault.startswith(BEYOND_LIMITS)):
                raise NotPassed(f"{board.name}: its first move: {cut(fault, MAX_FINDING_CHARACTERS)}")
        for board in boards:
            seat, known = board.seats[0], [finding for finding in passed if finding["game"] == board.name]
            findings += known
            for verdict in program_verdicts(
                seat, board.game, matches=CHECK_MATCHES, limits=[seat.limits], processes=processes, passed=len(known)
            ):
                findings.append(_finding(board, verdict, timely=not bounds.over))
                if all(finding["kept"] and finding["reached"] for finding in findings):
                    keep(findings[-1])
    return findings


def _finding(board: Board, verdict: Verdict, *, timely: bool) -> Finding:
    """Convert a verdict to a finding for the author.

    If there was not enough time for a check, the check counts as not reached.
    """
    violation = verdict.violation if timely else None
    if violation is not None and isinstance(board.game, Puzzle):
        got = next((line.strip() for line in str(violation.finding).splitlines() if line.strip().startswith("got: ")), "")
        timely = not got.removeprefix("got: ").startswith(BEYOND_LIMITS)
        violation = violation if timely else None
    return {
        "game": board.name,
        "check": cut(verdict.check),
        "promise": cut(verdict.promise, 300),
        "kept": violation is None,
        "reached": timely and verdict.reached,
        "found": None if violation is None else cut(str(violation.finding), MAX_FINDING_CHARACTERS),
    }


def answer(
    brief: Brief, tell: Callable[[float, float], None], keep: Callable[[Finding], None] = ignore_step
) -> Mapping[str, Any]:
    """Return the verdict on the submission that a brief describes."""
    try:
        return {"type": "passed", **asdict(judge(brief, tell, keep))}
    except NotPassed as error:
        return {"type": "refused", "reason": str(error), "findings": error.findings}
    except IsolationError as error:
        return {"type": "isolation", "reason": str(error)}
    except Exception as error:  # the ladder reports it to the host
        return {"type": "failed", "reason": describe(error)}


def fork_check(brief: Brief, requests: BinaryIO, replies: BinaryIO) -> None:
    """Judge a submission in a forked process, and pass its messages on. Raises SystemExit if that process crashes.

    Before the fork, this process has imported everything that the check needs. The forked process has no pipe to the ladder, so
    it cannot affect later checks.
    """
    with suppress(Exception):  # the forked process meets the same error, and reports it
        _load_house(brief)
        list_needed_plugins(*[board.name for board in _load_house(brief).boards])
        if brief.document.values.get("isolation") in (None, "sandbox"):
            prove_once()
    read, write = os.pipe()
    parent = os.getpid()
    if child := os.fork():
        os.close(write)
        with os.fdopen(read, "rb") as messages:
            for line in messages:
                replies.write(line)
                replies.flush()
        if os.waitpid(child, 0)[1] != 0:
            raise SystemExit(1)
        return
    code = 1
    try:
        end_with_parent(parent)
        for descriptor in (requests.fileno(), replies.fileno(), read):
            os.close(descriptor)
        with os.fdopen(write, "wb") as sink:

            def tell(cores: float, used: float) -> None:
                sink.write(pack({"type": CORES, CORES: cores, USED: used}))
                sink.flush()

            def keep(finding: Finding) -> None:
                sink.write(pack({"type": STEP, STEP: finding}))
                sink.flush()

            sink.write(pack(answer(brief, tell, keep)))
        code = 0
    finally:
        os._exit(code)


def main() -> None:
    """Answer the requests of the ladder. Each request is a brief as `Brief.pack` writes it."""
    requests, replies = PythonProcess.take_pipes()
    for line in requests:
        brief = pickle.loads(base64.b64decode(json.loads(line)["brief"]))  # noqa: S301 - the ladder started this process
        fork_check(brief, requests, replies)


if __name__ == "__main__":
    main()

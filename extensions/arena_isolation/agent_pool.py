"""The agent processes of a run. A process is started on demand, and reused from match to match."""

import subprocess
import sys
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Self

from arena import Limits
from arena.api.match import Forfeit, Program
from arena.clock import monotonic, sleep
from arena_isolation.agent_process import AgentLost, AgentProcess
from arena_isolation.own_compiler import OwnCompiler
from arena_isolation.unprivileged import MAX_OPEN_FILES

MAX_IDLE_PROCESSES = 32
"""Maximum number of idle processes that are kept."""


NOT_STARTED_AGAIN = "in an earlier match; the program was not started again"
"""The end of the message if a program has sent no first message in an earlier match. Arena's own host is always started again."""
LIMITS_PROBE = Path(__file__).with_name("limits_probe.py")
RELEASE_SECONDS = 0.5
"""Seconds in which the kernel must release what an ended process has held. Sockets in each other's messages take some time."""


class AgentProcesses:
    """Agent processes that are reused from match to match. If too many processes are idle, the one that has been idle longest is
    ended.
    """

    def __init__(self, start: Callable[[Program, int | None, str], AgentProcess] = AgentProcess) -> None:
        self._start = start
        self._idle: OrderedDict[str, list[AgentProcess]] = OrderedDict()
        self.started = 0
        """The number of processes started so far."""
        self._silent: dict[str, AgentLost] = {}
        """The errors of programs that sent no first message in time. Such programs are not started again."""
        self.moving: set[AgentProcess] = set()
        """Processes that have answered and are not stopped yet. If all agents answer quickly, most processes get the next request
        before they are stopped.
        """
        self.compiler = OwnCompiler()
        self.playing: dict[AgentProcess, int] = {}
        """The processes of the current match, each with the number of its seat."""

    def settle(self) -> None:
        """Stop all processes that have answered."""
        while self.moving:
            self.moving.pop().rest()

    def take(self, program: Program, limits: Limits, isolation: str, deal: str | None = None) -> AgentProcess:
        """Return an idle process of a program, or start one. Raises AgentLost if it does not start correctly, and HostLate if
        arena's own host does not answer.

        `deal` identifies the chance events of the match. The process must not have played a match with the same events before,
        because otherwise it would know the hidden cards of the others. Idle processes of any entry that know them are ended if
        they are in a sandbox and the organiser has not chosen their code: even a stopped process could tell others what it knows,
        by the pages of files that it maps. So a process counts as knowing all deals that others knew when it ran.
        """
        if deal is not None:
            self._end_witnesses(deal)
        key = _program_key(program, limits, isolation)
        if key in self._silent:
            first = self._silent[key]
            raise AgentLost(first.reason, f"{first.message} {NOT_STARTED_AGAIN}")
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
        if process.confined:  # it may hear what others know that are stopped, also if they play with other deals
            others = [one for idle in self._idle.values() for one in idle] + [*self.playing]
            process.deals.update(*[one.deals for one in others if one.confined])
        if deal is not None:
            process.deals.add(deal)
        return process

    def _end_witnesses(self, deal: str) -> None:
        self._end_idle(lambda process: process.confined and deal in process.deals)

    def _end_idle(self, unwanted: Callable[[AgentProcess], bool]) -> None:
        for key, idle in list(self._idle.items()):
            kept = [one for one in idle if not unwanted(one)]
            for process in set(idle).difference(kept):
                process.end()
            self._idle[key] = kept
            if not kept:
                del self._idle[key]

    def give_back(self, process: AgentProcess, program: Program, limits: Limits, isolation: str) -> None:
        """Keep a process for its next match, unless it is dead, or holds something that the agents of other matches may need."""
        self.settle()
        if process.alive and process.confined and process.shares_limits and process.holds_descriptors():
            process.end()
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

    def find_blame(self, forfeit: Forfeit, failed: AgentProcess | None) -> Forfeit:
        """Return the fault to record after the agent of a process has failed, or could not start a process (None).

        The match is never void: the author of an agent that is about to lose could arrange this with other entries. So another
        agent of the match is at fault, or the one that failed.

        The kernel limits what all programs of a user have together. If such a limit is used up, the processes of the match are
        ended one after the other. If that makes room, and the last of them can have taken it, this one is at fault. If an agent
        was too slow while another one of the match used the processor although it was stopped, the stopped one is at fault.
        """
        if forfeit.ending.reason == "timeout":
            self._end_idle(lambda process: process.disturbs() is not None)  # the clock did not count the time without a processor
            for process, seat in self.playing.items():
                if process is not failed and (words := process.disturbs()) is not None:
                    process.end()
                    return Forfeit("timeout", seat, words)
        if (failed is not None and not failed.shares_limits) or (what := find_used_up()) is None:
            return forfeit
        if failed is not None:
            failed.end()
        if is_released():  # it has used up its own share
            return forfeit
        for process, seat in self.playing.items():
            hoards = process.alive and process.hoards()
            process.end()
            if hoards and is_released():
                return Forfeit("crash", seat, f"used up a resource that all agents share ({what}), so another agent failed")
        self.close()
        forfeit.ending = forfeit.ending._replace(
            message=f"{forfeit.ending.message}; at that time, programs outside this match had used up {what}"
        )
        return forfeit

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


def find_used_up() -> str | None:
    """Return the name of something that the kernel gives no more of to this user; None if nothing is used up."""
    if sys.platform != "linux":
        return None
    command = [sys.executable, "-I", "-S", str(LIMITS_PROBE), str(MAX_OPEN_FILES)]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip() or None  # noqa: S603 - our own
    except BlockingIOError:  # not even this process can be started
        return "threads"


def is_released() -> bool:
    """Return True if nothing is used up, at the latest RELEASE_SECONDS from now."""
    until = monotonic() + RELEASE_SECONDS
    while find_used_up() is not None:
        if monotonic() >= until:
            return False
        sleep(RELEASE_SECONDS / 10)
    return True


def _program_key(program: Program, limits: Limits, isolation: str) -> str:
    where = (program.command, program.folder, program.plugins, program.version, program.pondering, program.adapter)
    return repr((program.agent, *where, program.options, limits.memory_mb, isolation))

"""The agent processes of a run. A process is started on demand, and reused from match to match."""

from collections import OrderedDict
from collections.abc import Callable
from typing import Self

from arena import Limits
from arena.api.match import Program
from arena_isolation.agent_process import AgentLost, AgentProcess
from arena_isolation.own_compiler import OwnCompiler

MAX_IDLE_PROCESSES = 32
"""Maximum number of idle processes that are kept."""


NOT_STARTED_AGAIN = "in an earlier match; the program was not started again"
"""The end of the message if a program has sent no first message in an earlier match."""


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

    def settle(self) -> None:
        """Stop all processes that have answered."""
        while self.moving:
            self.moving.pop().rest()

    def take(self, program: Program, limits: Limits, isolation: str, deal: str | None = None) -> AgentProcess:
        """Return an idle process of a program, or start one. Raises AgentLost if it does not start correctly.

        `deal` identifies the chance events of the match. The process must not have played a match with the same events before,
        because otherwise it would know the hidden cards of the others.
        """
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

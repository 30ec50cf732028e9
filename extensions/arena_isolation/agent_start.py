"""Starts the processes of agents: the command, its environment, and its kernel limits."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any

from arena.api.match import Program
from arena.api.processes import python_environment
from arena.api.spec import ENVIRONMENT, is_file, make_absolute
from arena_isolation import protocol
from arena_isolation.agent_log import log_of
from arena_isolation.child import ChildLost, ChildProcess, launch_command
from arena_isolation.control_group import ControlGroup, new_group
from arena_isolation.family_clock import FamilyClock
from arena_isolation.sandbox import enclose, environment as sandboxed, prove
from arena_isolation.stopped_family import StoppedFamily
from arena_isolation.system_calls import filter_pipe
from arena_isolation.versions import moved_path, readable_files, version_in

MAX_PROCESSES = 64
"""Maximum number of processes of an agent at a time."""
MAX_THREADS = 4096
"""Maximum number of processes and threads together, which the kernel counts as one. Java may have hundreds of threads."""
KEEPER_PROCESSES = 2
"""Additional processes that isolate it: bubblewrap's or the launcher's."""
MEMORY_ALLOWANCE_BYTES = 16 << 20
"""Extra bytes that the kernel allows beyond the agent's limit, for the isolating processes. A separate count is more exact."""
NO_NAMESPACES = (
    "no PID namespace can be made here, so agents in processes of their own could signal others: a match whose worker was "
    "killed twice is void where such an agent plays. Allow user namespaces to keep them apart"
)
PLAYING_MODULE = "arena_isolation.agent_host"
"""Module of a process that plays."""


def start_agent(program: Program, memory: int, isolation: str, module: str, look: Callable[[], None]) -> "AgentChild":
    """Start the process of a program, limited to `memory` bytes (0 is no limit). Raises OSError if that fails.

    `module` is the Python module to run if the program is not a command. `look` is called every now and then during a wait.
    """
    version = version_in(program)
    alone = version is not None and version.submitted  # then everything that it loads is in its plugins
    asked = [] if alone else [make_absolute(name) for name in os.environ.get(ENVIRONMENT, "").split(os.pathsep) if name]
    command = _command(program, module)
    own = os.environ if program.command else python_environment()
    surroundings = {**own, ENVIRONMENT: os.pathsep.join(asked)} if program.adapter or not program.command else own
    files = [Path(name) for name in (*program.plugins, *asked) if is_file(name)]
    if version is not None:
        surroundings = {**surroundings, "PYTHONPATH": os.pathsep.join(moved_path(version.moved))}
    with ExitStack() as stack:
        calls: list[int] = []
        if isolation == "sandbox":
            prove_once()
            files += [*map(Path, program.files), *([] if version is None else readable_files(version))]
            calls = [stack.enter_context(filter_pipe())]
            command = enclose(command, readable=files, folder=program.folder, calls=calls[0])
            surroundings = sandboxed(surroundings)
        code = version.file if version is not None else program.command[0] if program.command else None
        return AgentChild(
            command,
            program.folder,
            memory,
            surroundings,
            program.agent,
            apart=isolation == "process",
            most=MAX_PROCESSES + KEEPER_PROCESSES,
            longest=protocol.MAX_LINE_BYTES if module == PLAYING_MODULE else protocol.MAX_DESCRIPTION_BYTES,
            check=look,
            group=new_group(memory + MEMORY_ALLOWANCE_BYTES if memory else 0, MAX_THREADS),
            descriptors=calls,
            log=log_of(code),
        )


def _command(program: Program, module: str) -> Sequence[str]:
    """Return the command to start: arena's host, an adapter with the program behind it, or the program itself."""
    if program.command is None:
        return (sys.executable, "-P", "-m", module)
    if program.adapter is None:
        return program.command
    engine, *words = program.command
    if "/" not in engine:
        engine = shutil.which(engine) or engine  # PATH differs in a sandbox
    return (sys.executable, "-P", "-m", program.adapter, engine, *words)


prove_once = cache(prove)
"""Prove the sandbox once for each process of arena."""


class AgentChild(ChildProcess):
    """A child that can be stopped together with everything that it started. Their processor time is counted as a whole.

    It starts in the control group `group`, which is removed with it. All other arguments go to ChildProcess.
    """

    def __init__(self, *program: Any, group: ControlGroup | None = None, **limits: Any) -> None:
        self._group = group
        self._still: ControlGroup | StoppedFamily | None = None
        self._resting = False
        self._alone = 0
        self._clock: FamilyClock | None = None
        entrances = [] if group is None else group.entrances
        try:
            super().__init__(*program, entrances=entrances, **limits)
        except OSError:
            if group is not None:
                group.remove()
            raise

    def rest(self) -> None:
        """Stop it with everything that it has started, until `wake`. It must have answered once before."""
        if self._still is None:
            self._still = self._entered_group() or StoppedFamily(self.tree)
            self._alone = self._still.size(0.0)
        self._resting = True
        self._still.freeze()

    def crowded(self, turn: float) -> bool:
        """Return True if it now has more threads or processes than at its first rest, after a turn of `turn` seconds.

        Then some of them may still be busy after its answer.
        """
        return self._still is not None and self._still.size(turn) > self._alone

    def wake(self) -> None:
        """Continue it."""
        if self._resting and self._still is not None:
            self._resting = False
            self._still.thaw()

    @property
    def clock(self) -> FamilyClock:
        """Processor time of it and of everything that it starts. It must have answered once before."""
        if self._clock is None:
            self._clock = FamilyClock(self.tree, self._entered_group())
        return self._clock

    def _entered_group(self) -> ControlGroup | None:
        """Its control group; None if it has none, or if it was not allowed to enter."""
        return self._group if self._group is not None and self.pid in self._group.pids() else None

    def end(self) -> None:
        """Kill it and everything that it started, as `ProcessTree.end` does. It is gone afterwards."""
        if self._group is not None:
            self._group.kill()
        super().end()
        if isinstance(self._still, StoppedFamily):
            self._still.close()
        if self._clock is not None:
            self._clock.close()
        if self._group is not None:
            self._group.remove()

    def _look_at_usage(self) -> None:
        super()._look_at_usage()
        if self._group is not None:
            if self._group.met_limit("memory"):
                raise ChildLost("memory")
            if self._group.met_limit("pids") or (self._most is not None and len(self._group.pids()) > self._most):
                raise ChildLost("processes")

    def _loss(self) -> ChildLost:
        """Return the loss for a closed pipe. If the kernel killed the process for its memory, this is the reason."""
        return ChildLost("memory" if self._group is not None and self._group.met_limit("memory") else "ended")


@cache
def namespaces_work() -> bool:
    """Return True if the launcher can use a PID namespace for a family of processes. Then the program is its second process."""
    command = launch_command(["sh", "-c", "echo $$"], apart=True)
    return subprocess.run(command, capture_output=True, check=False).stdout == b"2\n"  # noqa: S603 - our own

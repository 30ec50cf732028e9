"""Starts the processes of agents: what is run, in which surroundings, and within which limits of the kernel."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any

from arena.api.match import Program
from arena.api.run import ChildLost, launch_command, python_environment
from arena.api.spec import is_file, make_absolute
from arena.plugins.sources import ENVIRONMENT
from arena.processes.child import ChildProcess
from arena_isolation import protocol
from arena_isolation.agent_log import log_of
from arena_isolation.control_group import ControlGroup, new_group
from arena_isolation.family_clock import FamilyClock
from arena_isolation.sandbox import enclose, prove
from arena_isolation.sandbox import environment as sandboxed
from arena_isolation.stopped_family import StoppedFamily
from arena_isolation.system_calls import filter_pipe
from arena_isolation.versions import moved_path, readable_files, version_in

MAX_PROCESSES = 64
"""Processes that an agent may have at a time."""
MAX_THREADS = 4096
"""Processes and threads together, which the kernel counts as one: a Java program on a large machine has hundreds of threads."""
KEEPER_PROCESSES = 2
"""Processes above it that keep it apart, bubblewrap's or the launcher's."""
MEMORY_ALLOWANCE_BYTES = 16 << 20
"""Bytes that the kernel allows an agent beyond its limit, for those above it; they are counted apart more exactly."""
NO_NAMESPACES = (
    "no PID namespace can be made here, so agents in processes of their own could signal others: a match whose worker was "
    "killed twice is void where such an agent plays. Allow user namespaces to keep them apart"
)
PLAYING_MODULE = "arena_isolation.agent_host"
"""The module of a process that plays."""


def start_agent(program: Program, memory: int, isolation: str, module: str, look: Callable[[], None]) -> "AgentChild":
    """Start the process of a program, limited to so many bytes of memory if that is not 0; OSError where that fails.

    `module` is what Python runs where the program is no command, `look` is called every now and then while it is waited for.
    """
    version = version_in(program)
    alone = version is not None and version.submitted  # then all that it is to load is in its plugins
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
    """What is started: arena's host, an adapter with the program behind it, or the program itself."""
    if program.command is None:
        return (sys.executable, "-P", "-m", module)
    if program.adapter is None:
        return program.command
    engine, *words = program.command
    if "/" not in engine:
        engine = shutil.which(engine) or engine  # in a sandbox PATH is another one
    return (sys.executable, "-P", "-m", program.adapter, engine, *words)


prove_once = cache(prove)
"""Prove the sandbox, once a process."""


class AgentChild(ChildProcess):
    """A child that can stand still with all that it started, and whose processor time is counted as a whole.

    It starts in the control group `group`, which is removed with it. It takes everything else that ChildProcess takes.
    """

    def __init__(
        self,
        command: Sequence[str],
        folder: str,
        memory: int,
        environment: Mapping[str, str],
        name: str | None = None,
        *,
        group: ControlGroup | None = None,
        **limits: Any,
    ) -> None:
        self._group = group
        self._still: ControlGroup | StoppedFamily | None = None
        self._resting = False
        self._alone = 0
        self._clock: FamilyClock | None = None
        entrances = [] if group is None else group.entrances
        try:
            super().__init__(command, folder, memory, environment, name, entrances=entrances, **limits)
        except OSError:
            if group is not None:
                group.remove()
            raise

    def rest(self) -> None:
        """Let it stand still with everything that it has started, until `wake`; when it has answered once."""
        if self._still is None:
            self._still = self._entered_group() or StoppedFamily(self.tree)
            self._alone = self._still.size(0.0)
        self._resting = True
        self._still.freeze()

    def crowded(self, turn: float) -> bool:
        """True if after a turn of so many seconds it has more threads or processes than when it rested first.

        Then some of them may be busy when it has answered.
        """
        return self._still is not None and self._still.size(turn) > self._alone

    def wake(self) -> None:
        """Let it go on."""
        if self._resting and self._still is not None:
            self._resting = False
            self._still.thaw()

    @property
    def clock(self) -> FamilyClock:
        """Its processor time and that of all that it starts; to be asked for when it has answered once."""
        if self._clock is None:
            self._clock = FamilyClock(self.tree, self._entered_group())
        return self._clock

    def _entered_group(self) -> ControlGroup | None:
        """Its control group; None if it has none, or was not allowed to enter it."""
        return self._group if self._group is not None and self.pid in self._group.pids() else None

    def end(self) -> None:
        """Kill it and everything that it started, as `end_trees` does. It is gone afterwards."""
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
        """The loss of a process whose pipe is closed: by the kernel, if it was killed for its memory."""
        return ChildLost("memory" if self._group is not None and self._group.met_limit("memory") else "ended")


@cache
def namespaces_work() -> bool:
    """True if the launcher can put a family of processes into a PID namespace: then the program is its second process."""
    command = launch_command(["sh", "-c", "echo $$"], apart=True)
    return subprocess.run(command, capture_output=True, check=False).stdout == b"2\n"  # noqa: S603 - our own

"""Starts the processes of agents: the command, its environment, and its kernel limits."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from functools import cache
from pathlib import Path
from typing import Any

from arena.api.match import Program
from arena.api.processes import PythonProcess
from arena.api.spec import PluginPlace
from arena.clock import perf_counter
from arena_isolation import protocol
from arena_isolation.agent_log import log_of
from arena_isolation.child import USAGE_LOOK_SECONDS, ChildLost, ChildProcess, launch_command
from arena_isolation.control_group import ControlGroup, new_group
from arena_isolation.family_clock import FamilyClock
from arena_isolation.helper_process import OWN_PATH
from arena_isolation.launch import DIE_WITH_PARENT
from arena_isolation.sandbox import checked_folders, enclose, environment as sandboxed, private_folder, prove, users_code
from arena_isolation.stopped_family import StoppedFamily
from arena_isolation.system_calls import filter_pipe, group_filter, open_pipe
from arena_isolation.versions import list_installed_code, list_plugin_code, moved_path, readable_files, version_in

MAX_PROCESSES = 64
"""Maximum number of processes that an agent has at the same time."""
MAX_THREADS = 4096
"""Maximum number of processes and threads together, because the kernel does not distinguish them. Java may have hundreds of
threads.
"""
MAX_SUBMITTED_THREADS = 256
"""The same limit for the plugin of an entry. It is lower, because a thousand processes that fork without end keep a machine busy
for a minute before arena can end them.
"""
KEEPER_PROCESSES = 2
"""Additional processes that isolate the agent; they belong to bubblewrap or the launcher."""
MEMORY_ALLOWANCE_BYTES = 16 << 20
"""Extra bytes that the kernel allows beyond the limit of the agent, for the isolating processes. Arena's own count is more exact.
"""
NO_NAMESPACES = (
    "a PID namespace cannot be created here, so an agent in its own process could send signals to other processes. If the "
    "worker of a match with such an agent is killed twice, the match is void. To separate the agents, allow user namespaces"
)
NO_GROUPS = (
    "a control group cannot be created here, so agents are paused only by signals during the turns of others. An agent that "
    "still uses more than 20 ms of processor time loses; see `arena docs isolation`"
)
PLAYING_MODULE = "arena_isolation.agent_host"
"""The module of a process that plays."""
COMPILING_MODULE = "arena_isolation.compile_host"
"""The module of a process that compiles the search of an entry with its own code."""


def start_agent(program: Program, memory: int, isolation: str, module: str, look: Callable[[], None]) -> "AgentChild":
    """Start the process of a program, limited to `memory` bytes (0 means no limit). Raises OSError if that fails.

    `module` is the Python module to run if the program is not a command. `look` is called from time to time while arena waits for
    an answer.
    """
    version = version_in(program)
    alone = version is not None and version.submitted  # then the process does not load the plugins that the environment names
    asked = (
        []
        if alone
        else [PluginPlace(name).absolute for name in os.environ.get(PluginPlace.ENVIRONMENT, "").split(os.pathsep) if name]
    )
    command = _command(program, module)
    own = os.environ if program.command else PythonProcess.environment()
    surroundings = {**own, PluginPlace.ENVIRONMENT: os.pathsep.join(asked)} if program.adapter or not program.command else own
    if version is not None:
        surroundings = {**surroundings, OWN_PATH: os.pathsep.join(moved_path(version.moved))}
    if isolation == "sandbox":
        prove_once()
    group = open_group(memory, MAX_SUBMITTED_THREADS if alone else MAX_THREADS)
    with ExitStack() as stack:
        undo = stack.enter_context(ExitStack())
        if group is not None:
            undo.callback(group.remove)
        descriptors: list[int] = []
        calls = None
        frozen = group is not None or program.pondering
        if isolation == "sandbox":
            private = [] if program.command or alone else [users_code()]
            files = [file for name in (*program.plugins, *asked) for file in list_plugin_code(name)]
            if program.adapter or not program.command:
                files += list_installed_code(program.agent if version is None else None)
            if version is not None:
                files += readable_files(version)
                private.append(private_folder(version.origin(isolation)))
            private = checked_folders(private)
            files += map(Path, program.files)
            metered = not memory or counts_memory(group)
            descriptors = [stack.enter_context(filter_pipe(frozen=frozen, metered=metered))]
            command = enclose(
                command, readable=files, private=private, folder=program.folder, calls=descriptors[0], metered=metered
            )
            surroundings = sandboxed(surroundings)
        elif not frozen and (keeping := group_filter()) is not None:
            calls = stack.enter_context(open_pipe(keeping))
        code = version.file if version is not None else program.command[0] if program.command else None
        child = AgentChild(
            command,
            program.folder,
            memory,
            surroundings,
            program.agent,
            apart=isolation == "process",
            most=MAX_PROCESSES + KEEPER_PROCESSES,
            longest=protocol.MAX_LINE_BYTES if module == PLAYING_MODULE else protocol.MAX_DESCRIPTION_BYTES,
            pause=0.0 if module == PLAYING_MODULE else USAGE_LOOK_SECONDS,
            check=look,
            group=group,
            descriptors=descriptors,
            calls=calls,
            log=log_of(code),
        )
        undo.pop_all()
        return child


def open_group(memory: int, threads: int) -> ControlGroup | None:
    """Return a control group for a process that may use `memory` bytes (0 means no limit) and have `threads` threads; None if
    processes cannot enter such a group here.
    """
    group = new_group(memory + MEMORY_ALLOWANCE_BYTES if memory else 0, threads)
    if group is not None and not groups_admit():
        group.remove()
        return None
    return group


def counts_memory(group: ControlGroup | None) -> bool:
    """Return True if the kernel counts all memory of the processes in the group, and limits it."""
    return group is not None and group.limited("memory")


def _command(program: Program, module: str) -> Sequence[str]:
    """Return the command to start: the Python host of arena, an adapter that runs the program, or the program itself."""
    if program.command is None:
        return (sys.executable, "-P", "-m", module)
    if program.adapter is None:
        return program.command
    engine, *words = program.command
    if "/" not in engine:
        engine = shutil.which(engine) or engine  # PATH is different in a sandbox
    return (sys.executable, "-P", "-m", program.adapter, engine, *words)


def end_with_parent(parent: int) -> None:
    """Let this forked process end when its parent ends. `parent` is the id of the parent."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(DIE_WITH_PARENT, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:  # it has ended before this call
            os._exit(1)


prove_once = cache(prove)
"""Test the sandbox once in each process of arena."""


class AgentChild(ChildProcess):
    """A child process that can be stopped together with every process that it started. Their CPU time is counted together.

    The child starts in the control group `group`, which is removed with it. Its memory is measured at most every `pause` seconds;
    its control group is looked at more often, because a child that forks without end must be ended at once. All other arguments
    are passed to ChildProcess.
    """

    def __init__(self, *program: Any, group: ControlGroup | None = None, pause: float = 0.0, **limits: Any) -> None:
        self._group = group
        self._pause, self._measured = pause, 0.0
        self._still: ControlGroup | StoppedFamily | None = None
        self._resting = False
        self._alone = 0
        self._clock: FamilyClock | None = None
        self._whole_clock: FamilyClock | None = None
        entrances = [] if group is None else group.entrances
        try:
            super().__init__(*program, entrances=entrances, **limits)
        except OSError:
            if group is not None:
                group.remove()
            raise

    def rest(self) -> None:
        """Stop the child and every process that it started, until `wake`. The child must have answered once before."""
        if self._resting:
            return
        if self._still is None:
            self._still = self._entered_group() or StoppedFamily(self.tree, self._most)
            self._alone = self._still.size(0.0)
        self._resting = True
        self._still.freeze()

    def crowded(self, turn: float) -> bool:
        """Return True if the child, after a turn of `turn` seconds, has more threads or processes than when it was first stopped.

        If so, some of them may still be busy after the answer.
        """
        return self._still is not None and self._still.size(turn) > self._alone

    def used_at_rest(self) -> float:
        """Return the seconds of processor time that the child has used since it was stopped; 0 if it is not."""
        return self._still.used() if self._resting and self._still is not None else 0.0

    def wake(self) -> float:
        """Let the child continue. Return the seconds of processor time that it has used although it was stopped. Raises ChildLost
        if it has started too many processes.
        """
        if not self._resting or self._still is None:
            return 0.0
        self._resting = False
        used = self._still.thaw()
        if isinstance(self._still, StoppedFamily) and self._still.crowded:
            raise ChildLost("processes")
        return used

    @property
    def clock(self) -> FamilyClock:
        """Return the clock for the processor time of the child and every process that it starts. The child must have answered
        once before.
        """
        if self._clock is None:
            self._clock = FamilyClock(self.tree, self._entered_group())
        return self._clock

    def measure_from_creation(self) -> FamilyClock:
        """Return a clock for the time since the child was created. The child need not have answered."""
        self._whole_clock = FamilyClock(self.tree, self._entered_group()).begin_at_creation()
        return self._whole_clock

    def _entered_group(self) -> ControlGroup | None:
        """Return the control group of the child; None if it has none, or if it was not allowed to enter the group."""
        return self._group if self._group is not None and self.pid in self._group.pids() else None

    def end(self) -> None:
        """Kill the child and every process that it started, as `ProcessTree.end` does. Afterwards they are gone."""
        if self._group is not None:
            self._group.kill()
        if isinstance(self._still, StoppedFamily):
            self._still.kill()
        super().end()
        if isinstance(self._still, StoppedFamily):
            self._still.close()
        for clock in (self._clock, self._whole_clock):
            if clock is not None:
                clock.close()
        if self._group is not None:
            self._group.remove()

    def _look_at_usage(self) -> None:
        if self._group is not None:  # these checks take far less time than the others
            if self._group.met_limit("memory"):
                raise ChildLost("memory")
            if self._group.met_limit("pids") or (self._most is not None and len(self._group.pids()) > self._most):
                raise ChildLost("processes")
        if perf_counter() >= self._measured + self._pause:
            super()._look_at_usage()
            self._measured = perf_counter()
            return
        if self._check is not None:
            self._check()
        self._looked = perf_counter()

    def _loss(self) -> ChildLost:
        """Return the error for a closed pipe. If the kernel killed the process because of its memory, the error says so."""
        return ChildLost("memory" if self._group is not None and self._group.met_limit("memory") else "ended")


@cache
def groups_work() -> bool:
    """Return True if this process can make a control group for an agent."""
    group = new_group()
    if group is not None:
        group.remove()
    return group is not None and groups_admit()


@cache
def groups_admit() -> bool:
    """Return True if processes can enter the groups that this process makes. The kernel may allow only to make them."""
    group = new_group()
    if group is None:
        return False
    try:
        command = [sys.executable, "-I", "-S", "-c", "import sys; sys.stdin.read()"]
        with subprocess.Popen(command, stdin=subprocess.PIPE) as process:  # noqa: S603 - our own
            with suppress(OSError):
                group.entrances[0].write_text(str(process.pid))
            return process.pid in group.pids()
    finally:
        group.remove()


@cache
def namespaces_work() -> bool:
    """Return True if the launcher can use a PID namespace for an agent and its children. Then the program is the second process
    in the namespace.
    """
    command = launch_command(["sh", "-c", "echo $$"], apart=True)
    return subprocess.run(command, capture_output=True, check=False).stdout == b"2\n"  # noqa: S603 - our own

"""Starts the processes of agents: what is run, in which surroundings, and within which limits of the kernel."""

import os
import shutil
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import cache
from pathlib import Path

from arena.isolation import protocol
from arena.isolation.sandbox import enclosed, prove
from arena.isolation.sandbox import environment as sandboxed
from arena.isolation.system_calls import filter_pipe
from arena.match.match import Isolation, Program
from arena.plugins.sources import ENVIRONMENT, is_file, whole
from arena.plugins.versions import moved_path, readable_files
from arena.processes.child import ChildProcess, python_environment
from arena.processes.control_group import new_group
from arena.processes.stderr import log_of

MOST_PROCESSES = 64
"""Processes that an agent may have at a time."""
MOST_THREADS = 4096
"""Processes and threads together, which the kernel counts as one: a Java program on a large machine has hundreds of threads."""
KEEPERS = 2
"""Processes above it that keep it apart, bubblewrap's or the launcher's."""
ALLOWANCE = 16 << 20
"""Bytes that the kernel allows an agent beyond its limit, for those above it; they are counted apart more exactly."""
PLAYS = "arena.isolation.agent_host"
"""The module of a process that plays."""


def started(program: Program, memory: int, isolation: Isolation, module: str, look: Callable[[], None]) -> ChildProcess:
    """Start the process of a program, limited to so many bytes of memory if that is not 0; OSError where that fails.

    `module` is what Python runs where the program is no command, `look` is called every now and then while it is waited for.
    """
    alone = program.version is not None and program.version.submitted  # then all that it is to load is in its plugins
    asked = [] if alone else [whole(name) for name in os.environ.get(ENVIRONMENT, "").split(os.pathsep) if name]
    command = _command(program, module)
    own = os.environ if program.command else python_environment()
    surroundings = {**own, ENVIRONMENT: os.pathsep.join(asked)} if program.adapter or not program.command else own
    files = [Path(name) for name in (*program.plugins, *asked) if is_file(name)]
    if program.version is not None:
        surroundings = {**surroundings, "PYTHONPATH": os.pathsep.join(moved_path(program.version.moved))}
    with ExitStack() as stack:
        calls: list[int] = []
        if isolation == "sandbox":
            proven()
            files += [*map(Path, program.files), *([] if program.version is None else readable_files(program.version))]
            calls = [stack.enter_context(filter_pipe())]
            command = enclosed(command, readable=files, folder=program.folder, calls=calls[0])
            surroundings = sandboxed(surroundings)
        code = program.version.file if program.version is not None else program.command[0] if program.command else None
        return ChildProcess(
            command,
            program.folder,
            memory,
            surroundings,
            program.agent,
            apart=isolation == "process",
            most=MOST_PROCESSES + KEEPERS,
            longest=protocol.LONGEST_LINE,
            check=look,
            group=new_group(memory + ALLOWANCE if memory else 0, MOST_THREADS),
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


proven = cache(prove)
"""Prove the sandbox, once a process."""

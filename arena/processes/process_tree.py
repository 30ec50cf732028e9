"""Ends trees of processes: a leader with everything that it started, however deep, in whatever session.

No single means finds them all: a process group misses what has called `setsid`, and parents miss what was orphaned, which belongs
to init then. So every process also inherits an environment variable with a random value; only those lack it that were started
with an environment of their own, and these still have their parent as a rule. Control groups would do, but take rights that
users often lack.

Trees nest: an agent process is in its worker's tree, too, and whatever it starts carries the variables of both.
"""

import os
import signal
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Set
from contextlib import suppress
from time import monotonic, sleep
from typing import NamedTuple

OF_WORKER = "ARENA_WORKER"
"""The environment variable by which descendants of a worker are known after the processes between have ended."""
OF_AGENT = "ARENA_AGENT_PROCESS"
"""The same for what an agent process starts."""
remove_leftovers: list[Callable[[Collection[int]], None]] = []
"""Functions that remove what ended processes of arena, given by their ids, have left behind."""
DEATH_SECONDS = 2.0
"""Seconds for the last of a tree to die."""
_MAX_ROUNDS = 5
"""The most rounds of looking for processes that were started meanwhile."""
_PROC = "/proc"
"""The files of Linux about processes. Read without psutil, which takes 2.7 times as long: each end of an agent waits for it."""


class ProcessTree(NamedTuple):
    """A leader and its descendants."""

    leader: int
    """The id of the process that started the others; it leads a process group, too."""
    variable: str
    """The environment variable that all of them inherit."""
    value: str
    """Its value, which no other tree has."""


class _Process(NamedTuple):
    pid: int
    parent: int
    environment: Set[bytes]
    """Texts NAME=value; empty for a dead process and for those of other users, which cannot be read."""


def end_trees(trees: Collection[ProcessTree]) -> None:
    """Kill the leaders with their groups, their descendants, and all that carry their variables. None is left afterwards.

    A process escapes only if it has left the group, lost its parent and changed its environment. The leaders are for their parent
    to wait for.
    """
    leaders, marks = _read_marks(trees)
    for leader in leaders:  # all are stopped before any is killed: a stopped process starts no other while others are looked for
        _signal_group(leader, signal.SIGSTOP)
    found: set[int] = set()
    try:
        for _ in range(_MAX_ROUNDS):
            new = find_members(trees) - found
            if not new:
                break
            found |= new
            for pid in new:
                _signal(pid, signal.SIGSTOP)
    finally:  # an interrupt must leave nothing stopped
        for leader in leaders:
            _signal_group(leader, signal.SIGKILL)
        for pid in found:
            _signal(pid, signal.SIGKILL)
    _end_marked(marks)


def _end_marked(marks: Set[bytes]) -> None:
    """Kill every process that carries one of the marks until none is left: those that were killed take a moment to die."""
    until = monotonic() + DEATH_SECONDS
    while monotonic() < until:
        left = [process.pid for process in _list_others() if not process.environment.isdisjoint(marks)]
        if not left:
            return
        for pid in left:
            _signal(pid, signal.SIGKILL)
        sleep(0.002)


def _read_marks(trees: Collection[ProcessTree]) -> tuple[set[int], set[bytes]]:
    """The leaders of trees, and the texts in the environments of their descendants."""
    return {tree.leader for tree in trees}, {os.fsencode(f"{tree.variable}={tree.value}") for tree in trees}


def find_members(trees: Collection[ProcessTree]) -> set[int]:
    """All processes of some trees but their leaders."""
    leaders, marks = _read_marks(trees)
    children: defaultdict[int, list[int]] = defaultdict(list)
    marked: set[int] = set()
    for process in _list_others():
        children[process.parent].append(process.pid)
        if not process.environment.isdisjoint(marks):
            marked.add(process.pid)
    below: set[int] = set()
    waiting = list(leaders)
    while waiting:
        new = [child for child in children.get(waiting.pop(), ()) if child not in below]
        below.update(new)
        waiting += new
    return (below | marked) - leaders


def _list_others() -> Iterator[_Process]:
    """Every process but this one."""
    own = os.getpid()
    for process in _read_proc() if os.path.exists(f"{_PROC}/{own}/stat") else _read_psutil():  # noqa: PTH110
        if process.pid != own:
            yield process


def _read_proc() -> Iterator[_Process]:
    for name in os.listdir(_PROC):  # noqa: PTH208
        if name.isdigit():
            with suppress(OSError):
                status = _read(f"{_PROC}/{name}/stat")
                parent = int(status[status.rindex(b")") :].split(None, 3)[2])  # the name of a program may hold anything
                environment: Set[bytes] = frozenset()
                with suppress(OSError):  # somebody else's
                    environment = frozenset(_read(f"{_PROC}/{name}/environ").split(b"\0"))
                yield _Process(int(name), parent, environment)


def _read(file: str) -> bytes:
    with open(file, "rb") as opened:  # noqa: PTH123
        return opened.read()


def _read_psutil() -> Iterator[_Process]:
    import psutil

    for process in psutil.process_iter():
        with suppress(psutil.Error):
            pid, parent = process.pid, process.ppid()
            environment: Set[bytes] = frozenset()
            with suppress(psutil.Error):
                environment = frozenset([os.fsencode(f"{name}={value}") for name, value in process.environ().items()])
            yield _Process(pid, parent, environment)


def _signal_group(leader: int, number: int) -> None:
    with suppress(OSError):
        os.killpg(leader, number)


def _signal(pid: int, number: int) -> None:
    with suppress(OSError):
        os.kill(pid, number)

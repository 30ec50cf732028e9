"""Ends trees of processes: a leader with everything that it started, at any depth and in any session.

No single method finds them all: a process group misses processes that have called `setsid`, and parent links miss orphans, which
then belong to init. So every process also inherits an environment variable with a random value. Only processes that were started
with their own environment lack it, and these usually still have their parent. Control groups would work, but need rights that
users often lack.

Trees nest: an agent process is also in its worker's tree, and everything that it starts carries the variables of both.
"""

import os
import signal
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Set
from contextlib import suppress
from dataclasses import dataclass
from time import monotonic, sleep
from typing import ClassVar, NamedTuple

remove_leftovers: list[Callable[[Collection[int]], None]] = []
"""Functions that remove the leftovers of ended arena processes, given by their ids."""
DEATH_SECONDS = 2.0
"""Seconds for the last of a tree to die."""
_MAX_ROUNDS = 5
"""The most rounds of looking for newly started processes."""
_PROC = "/proc"
"""The files of Linux about processes. psutil would take 2.7 times as long, and each end of an agent waits for it."""


@dataclass(frozen=True)
class ProcessTree:
    """A leader and its descendants."""

    OF_WORKER: ClassVar = "ARENA_WORKER"
    """The environment variable that identifies descendants of a worker after intermediate processes have ended."""
    OF_AGENT: ClassVar = "ARENA_AGENT_PROCESS"
    """The same for descendants of an agent process."""

    leader: int
    """The id of the process that started the others; it also leads a process group."""
    variable: str
    """The environment variable that all of them inherit."""
    value: str
    """Its value, which no other tree has."""

    def find_members(self) -> set[int]:
        """Return the ids of all its processes but the leader."""
        return find_members([self])

    def end(self) -> None:
        """Kill all its processes, as `end_trees` does. The parent of the leader must wait for it."""
        end_trees([self])


class _Process(NamedTuple):
    pid: int
    parent: int
    environment: Set[bytes]
    """Texts NAME=value; empty for dead processes and for unreadable ones of other users."""


def end_trees(trees: Collection[ProcessTree]) -> None:
    """Kill the leaders with their groups, their descendants, and all processes that carry their variables. None is left
    afterwards.

    A process escapes only if it has left the group, lost its parent and changed its environment. The parents of the leaders must
    wait for them.
    """
    leaders, marks = _read_marks(trees)
    for leader in leaders:  # all are stopped before any is killed: a stopped process cannot start others meanwhile
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
    """Kill every process that carries one of the marks until none is left, because killed processes take a moment to die."""
    until = monotonic() + DEATH_SECONDS
    while monotonic() < until:
        left = [process.pid for process in _list_others() if not process.environment.isdisjoint(marks)]
        if not left:
            return
        for pid in left:
            _signal(pid, signal.SIGKILL)
        sleep(0.002)


def _read_marks(trees: Collection[ProcessTree]) -> tuple[set[int], set[bytes]]:
    """Return the leaders of trees, and the texts in the environments of their descendants."""
    return {tree.leader for tree in trees}, {os.fsencode(f"{tree.variable}={tree.value}") for tree in trees}


def find_members(trees: Collection[ProcessTree]) -> set[int]:
    """Return all processes of some trees except their leaders."""
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
    own = os.getpid()
    for process in _read_proc() if os.path.exists(f"{_PROC}/{own}/stat") else _read_psutil():  # noqa: PTH110
        if process.pid != own:
            yield process


def _read_proc() -> Iterator[_Process]:
    for name in os.listdir(_PROC):  # noqa: PTH208
        if name.isdigit():
            with suppress(OSError):
                status = _read(f"{_PROC}/{name}/stat")
                parent = int(status[status.rindex(b")") :].split(None, 3)[2])  # the name of a program may contain any characters
                environment: Set[bytes] = frozenset()
                with suppress(OSError):  # a process of another user
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

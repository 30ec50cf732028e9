"""Ends process trees. A tree is a leader and everything that it started, at any depth and in any session.

No single method finds all processes of a tree. A process group misses processes that have called `setsid`. Links from child to
parent miss orphans, which init adopts. So every process also inherits an environment variable with a random value. Only processes
that were started with another environment lack this variable, and their parents are usually still there. Control groups would
find all, but need rights that users often lack.

Any process can claim an environment of any size, for example with an address range that is empty. So the environment is read only
if links do not show whose process it is, and only its beginning. `subprocess` keeps the order of the variables; shells do not.

Trees can be nested: an agent process also belongs to the tree of its worker, and what it starts has the variables of both trees.
"""

import os
import signal
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Set
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import ClassVar, NamedTuple

from arena.clock import monotonic, sleep

remove_leftovers: list[Callable[[Collection[int]], None]] = []
"""Functions that are called with the ids of arena processes that have ended, to remove files that these have left behind."""
DEATH_SECONDS = 2.0
"""Seconds to wait for the last process of a tree to die."""
_MAX_ROUNDS = 5
"""The maximum number of searches for newly started processes."""
MAX_ENVIRONMENT_BYTES = 1 << 16
"""The maximum number of bytes that are read of the environment of a process. Ordinary ones have less than half of this."""
_PROC = "/proc"
"""The folder in which Linux describes processes. It is read when an agent process ends; psutil would take 2.7 times as long."""


@dataclass(frozen=True)
class ProcessTree:
    """A leader and its descendants."""

    OF_WORKER: ClassVar = "ARENA_WORKER"
    """The environment variable that marks descendants of a worker, even if processes between them have ended."""
    OF_AGENT: ClassVar = "ARENA_AGENT_PROCESS"
    """The environment variable that marks descendants of an agent process."""
    remove_leftovers: ClassVar = remove_leftovers

    leader: int
    """The id of the process that started the others. It is also the leader of a process group."""
    variable: str
    """The environment variable that all of them inherit."""
    value: str
    """Its value, which no other tree has."""

    def find_members(self) -> set[int]:
        """Return the ids of all its processes except the leader."""
        return find_members([self])

    def end(self) -> None:
        """Kill all its processes, as `end_trees` does. The parent of the leader must still wait for the leader."""
        end_trees([self])


class _Process(NamedTuple):
    pid: int
    parent: int
    young: bool
    """False if it is older than all leaders, so that it cannot descend from one."""


def end_trees(trees: Collection[ProcessTree]) -> None:
    """Kill the leaders, their process groups, their descendants, and all processes that have inherited their variables.

    A process escapes only if it has left the group, lost its parent and changed its environment. Parents must wait for leaders.
    """
    leaders, marks = _read_marks(trees)
    for leader in leaders:  # all are stopped first, so that they cannot start others
        _signal(leader, signal.SIGSTOP, os.killpg)
    found: set[int] = set()
    try:
        for _ in range(_MAX_ROUNDS):
            new = find_members(trees) - found
            if not new:
                break
            found |= new
            for pid in new:
                _signal(pid, signal.SIGSTOP)
        owners = _find_owners(leaders | found)
    finally:  # after an interrupt, no process may stay stopped
        for leader in leaders:
            _signal(leader, signal.SIGKILL, os.killpg)
        for pid in found:
            _signal(pid, signal.SIGKILL)
    _end_marked(marks, leaders, owners)


def _end_marked(marks: Set[bytes], leaders: Set[int], owners: Set[int]) -> None:
    """Kill processes that have one of the marks until none is left, because killed processes take a moment to die."""
    until = monotonic() + DEATH_SECONDS
    while monotonic() < until:
        left = [process.pid for process in _list_others(leaders) if process.young and _is_marked(process.pid, marks, owners)]
        if not left:
            return
        for pid in left:
            _signal(pid, signal.SIGKILL)
        sleep(0.002)


def _read_marks(trees: Collection[ProcessTree]) -> tuple[set[int], set[bytes]]:
    """Return the leaders of some trees, and the environment texts that mark their descendants."""
    return {tree.leader for tree in trees}, {os.fsencode(f"{tree.variable}={tree.value}") for tree in trees}


def find_members(trees: Collection[ProcessTree]) -> set[int]:
    """Return all processes of some trees except their leaders.

    A process that has lost its parent is found only if it belongs to this user, or to the owner of another process of the trees.
    """
    leaders, marks = _read_marks(trees)
    children: defaultdict[int, list[int]] = defaultdict(list)
    young: set[int] = set()
    for process in _list_others(leaders):
        children[process.parent].append(process.pid)
        if process.young:
            young.add(process.pid)
    below: set[int] = set()
    waiting = list(leaders)
    while waiting:
        new = [child for child in children.get(waiting.pop(), ()) if child not in below]
        below.update(new)
        waiting += new
    owners = _find_owners(leaders | below)
    return (below | {pid for pid in young - below if _is_marked(pid, marks, owners)}) - leaders


def _list_others(leaders: Set[int]) -> Iterator[_Process]:
    """Yield all other processes. Without Linux, all of them count as young."""
    own = os.getpid()
    for process in _read_proc(leaders) if _has_proc() else _read_psutil():
        if process.pid != own:
            yield process


@cache
def _has_proc() -> bool:
    return os.path.exists(f"{_PROC}/{os.getpid()}/stat")  # noqa: PTH110


def _read_proc(leaders: Set[int]) -> Iterator[_Process]:
    since = 0
    with suppress(OSError):  # a leader is gone
        since = min([int(_read_status(leader)[20]) for leader in leaders], default=0)  # in ticks, since the system has started
    for name in os.listdir(_PROC):  # noqa: PTH208
        if name.isdigit():
            with suppress(OSError):
                status = _read_status(name)
                yield _Process(int(name), int(status[2]), int(status[20]) >= since)


def _read_status(pid: int | str) -> list[bytes]:
    with open(f"{_PROC}/{pid}/stat", "rb", buffering=0) as file:  # noqa: PTH123
        status = file.read()
    return status[status.rindex(b")") :].split(None, 21)  # the name of a program may contain any characters


def _read_psutil() -> Iterator[_Process]:
    import psutil

    for process in psutil.process_iter():
        with suppress(psutil.Error):
            yield _Process(process.pid, process.ppid(), young=True)


def _find_owners(pids: Set[int]) -> set[int]:
    """Return the ids of this user and of the owners of some processes."""
    owners = {os.getuid()}
    for pid in pids:
        with suppress(OSError):  # it has ended
            owners.add(os.stat(f"{_PROC}/{pid}").st_uid)  # noqa: PTH116
    return owners


def _is_marked(pid: int, marks: Set[bytes], owners: Set[int]) -> bool:
    """Return True if a process of one of the owners has inherited one of the marks."""
    environment = b""
    if _has_proc():
        with suppress(OSError):  # it has ended
            if os.stat(f"{_PROC}/{pid}").st_uid in owners:  # noqa: PTH116
                with open(f"{_PROC}/{pid}/environ", "rb", buffering=0) as file:  # noqa: PTH123
                    environment = file.read(MAX_ENVIRONMENT_BYTES)
    else:
        import psutil

        with suppress(psutil.Error):  # also if another user owns it
            variables = psutil.Process(pid).environ().items()
            environment = b"\0".join([os.fsencode(f"{name}={value}") for name, value in variables])
    return any(mark in environment for mark in marks)


def _signal(pid: int, number: int, send: Callable[[int, int], None] = os.kill) -> None:
    with suppress(OSError):
        send(pid, number)

"""Ends processes with everything that they started, however deep, in whatever session."""

import os
import signal
from collections import defaultdict
from collections.abc import Collection, Mapping
from contextlib import suppress

MARK = "ARENA_WORKER"
"""The environment variable by which the descendants of a worker are known when those between are gone."""
_LOOKS = 5
"""How often to look for children that were started meanwhile."""


def end_all(roots: Mapping[int, str]) -> None:
    """Kill processes, each the leader of a group, with their groups and descendants.

    `roots` maps a process id to the value of MARK in the environment that it was started with. All of them are stopped
    before any is killed, and looked for once more: what is stopped starts nothing. Not found is only what has left the
    group, lost its parent and changed its environment.
    """
    for root in roots:
        _signal_group(root, signal.SIGSTOP)
    found: set[int] = set()
    try:
        for _ in range(_LOOKS):
            new = _descendants(roots) - found
            if not new:
                break
            found |= new
            for process in new:
                _signal(process, signal.SIGSTOP)
    finally:  # an interrupt must leave nothing stopped
        for root in roots:
            _signal_group(root, signal.SIGKILL)
        for process in found:
            _signal(process, signal.SIGKILL)


def _descendants(roots: Mapping[int, str]) -> set[int]:
    import psutil  # only where something has to be ended: a start is to be quick

    children: defaultdict[int, list[int]] = defaultdict(list)
    marked: set[int] = set()
    values = set(roots.values())
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            children[process.ppid()].append(process.pid)
            if process.environ().get(MARK) in values:
                marked.add(process.pid)
    return (_below(roots, children) | marked) - {os.getpid(), *roots}


def _below(roots: Collection[int], children: Mapping[int, list[int]]) -> set[int]:
    found: set[int] = set()
    waiting = list(roots)
    while waiting:
        new = [child for child in children.get(waiting.pop(), ()) if child not in found]
        found.update(new)
        waiting += new
    return found


def _signal_group(leader: int, number: int) -> None:
    with suppress(OSError):
        os.killpg(leader, number)


def _signal(process: int, number: int) -> None:
    with suppress(OSError):
        os.kill(process, number)

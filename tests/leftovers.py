"""Finds what a test has left behind: processes, ports that listen, threads and temporary files.

What a module or a session shares was there before the test, and so was everything that it starts later.
"""

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, Self

import psutil

from tests import fork_server

KEPT_THREADS = {"compiler", "compiled-searches", "stopped families"}
"""Daemon threads of arena that serve a process until it ends."""
KEPT_FILES = {"dask-scratch-space"}
"""Temporary folders that other libraries make once and keep, and whose content they remove themselves."""
OPEN_FILES = Path("/proc/self/fd")


class Present(NamedTuple):
    """The processes, ports, threads and files of this process at one time."""

    processes: frozenset[int]
    sockets: frozenset[str]
    threads: frozenset[threading.Thread]
    files: frozenset[str]

    @classmethod
    def look(cls, folder: Path | None, before: "Present | None" = None) -> Self:
        """Look at everything; without a folder for temporary files, only at the threads. Processes that were there before, and
        those that they have started, are left out.
        """
        threads = frozenset(filter(_is_looked_at, threading.enumerate()))
        if folder is None:
            return cls(frozenset(), frozenset(), threads, frozenset())
        known = before.processes if before else frozenset()
        files = frozenset(file.name for file in folder.iterdir()) - KEPT_FILES
        return cls(frozenset(_processes(known)), frozenset(_sockets()), threads, files)

    def describe_new(self, folder: Path | None) -> list[str]:
        """Return a line for each thing that is there now, and was not when this was found."""
        now = Present.look(folder, self)
        found = [f"process {pid}: {command}" for pid in sorted(now.processes - self.processes) if (command := _command(pid))]
        found += [f"port {port}" for port in _ports(now.sockets - self.sockets)]
        found += [f"thread {thread.name}" for thread in now.threads - self.threads if thread.is_alive()]
        return [*found, *[f"temporary file {name}" for name in sorted(now.files - self.files)]]

    def end_processes(self, folder: Path | None) -> None:
        """Kill the processes that were not there when this was found."""
        for pid in Present.look(folder, self).processes - self.processes:
            with suppress(psutil.NoSuchProcess):
                psutil.Process(pid).kill()


def _is_looked_at(thread: threading.Thread) -> bool:
    """Daemon threads of other libraries end when they like."""
    if not thread.daemon:
        return True
    home = getattr(getattr(thread, "_target", None), "__module__", None) or type(thread).__module__
    return home.partition(".")[0].startswith("arena") and thread.name not in KEPT_THREADS


def _processes(known: frozenset[int]) -> Iterator[int]:
    """The processes that this one has started, directly or not. Descendants of a known process are left out."""
    servers = fork_server.server_ids()
    tracker = sys.modules.get("multiprocessing.resource_tracker")
    waiting = [os.getpid()]
    while waiting:
        for child in _children(waiting.pop()):
            if child in servers:
                waiting.append(child)
            elif child not in known and not (tracker and child == tracker._resource_tracker._pid):
                waiting.append(child)
                yield child


def _children(pid: int) -> list[int]:
    if sys.platform != "linux":
        with suppress(psutil.NoSuchProcess):
            return [child.pid for child in psutil.Process(pid).children()]
        return []
    found: list[int] = []
    with suppress(OSError):  # the process or one of its threads may end
        for task in Path(f"/proc/{pid}/task").iterdir():
            found += map(int, (task / "children").read_text().split())
    return found


def _command(pid: int) -> str:
    """The command line of a process; empty if it has ended."""
    with suppress(psutil.NoSuchProcess):
        process = psutil.Process(pid)
        if process.status() != psutil.STATUS_ZOMBIE:
            return " ".join(process.cmdline()) or process.name()
    return ""


def _sockets() -> Iterator[str]:
    for descriptor in OPEN_FILES.iterdir() if OPEN_FILES.exists() else ():
        with suppress(OSError):
            if (target := str(descriptor.readlink())).startswith("socket:"):
                yield target


def _ports(sockets: frozenset[str]) -> list[int]:
    """The ports at which some of these sockets listen."""
    if not sockets:
        return []
    listening = [one for one in psutil.Process().net_connections("inet") if one.status == psutil.CONN_LISTEN]
    return sorted(one.laddr.port for one in listening if str((OPEN_FILES / str(one.fd)).readlink()) in sockets)

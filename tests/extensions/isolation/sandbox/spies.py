"""Agents that try to get at things outside their sandbox. They raise what they have found, so that it is in the record."""

import ctypes
import os
import resource
import socket
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from arena import Agent, hookimpl


class Escaped(Exception):
    """A spy has found something."""


class Spy(Agent):
    """Plays the first legal action, unless it finds something."""

    name = "spy"

    def choose(self, game: Any, state: Any, search: Any) -> Any:
        found = [name for name, look in self.looks() if succeeds(look)]
        if found:
            raise Escaped(", ".join(found))
        return game.actions(state)[0]

    def looks(self) -> Iterator[tuple[str, Callable[[], object]]]:
        """Yield attempts with their names. An attempt succeeds if it returns a true value and raises no OSError or ValueError."""
        yield from ()


def succeeds(look: Callable[[], object]) -> bool:
    try:
        return bool(look())
    except (OSError, ValueError):
        return False


class Curious(Spy):
    """Reads files and folders, makes files, connects to a port and a socket without a file, looks for words in /proc."""

    name = "curious"

    def __init__(self, *, read: list[str], write: list[str], port: int, unix: str, process: str, variable: str) -> None:
        self.read, self.write = read, write
        self.port, self.unix = port, unix
        self.process, self.variable = process, variable

    def looks(self) -> Iterator[tuple[str, Callable[[], object]]]:
        for path in self.read:
            yield path, partial(read, Path(path))
        for path in self.write:
            yield "", partial(write, Path(path))
        yield "port", lambda: connect(socket.AF_INET, ("127.0.0.1", self.port))
        yield "unix", lambda: connect(socket.AF_UNIX, f"\0{self.unix}")
        yield "process", lambda: in_proc("cmdline", self.process)
        yield "variable", lambda: in_proc("environ", self.variable)


def read(path: Path) -> object:
    return list(path.iterdir()) if path.is_dir() else path.read_bytes()


def write(path: Path) -> None:
    """Write a file, and return None: the test checks whether files got out, because a program may write to its own /tmp."""
    path.write_text("I was here")


def connect(family: int, address: Any) -> bool:
    with socket.socket(family) as client:
        client.settimeout(5)
        client.connect(address)
        return True


def in_proc(file: str, word: str) -> bool:
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if word.encode() in (folder / file).read_bytes() and folder.name != str(os.getpid()):
                return True
        except OSError:
            continue
    return False


class Greedy(Spy):
    """Wants more than it was given: no limit of memory, rights of root, a user namespace, all the memory that /tmp can take."""

    name = "insatiable"

    def looks(self) -> Iterator[tuple[str, Callable[[], object]]]:
        yield "no limit", lambda: resource.getrlimit(resource.RLIMIT_DATA)[1] == resource.RLIM_INFINITY
        yield "limit lifted", lift_limit
        yield "rights", lambda: "CapEff:\t0000000000000000" not in Path("/proc/self/status").read_text()
        yield "namespace", lambda: ctypes.CDLL(None).unshare(NEW_USER_NAMESPACE) == 0
        yield "mount", lambda: ctypes.CDLL(None).mount(b"none", b"/tmp", b"tmpfs", 0, None) == 0
        yield "half a gigabyte", fill


NEW_USER_NAMESPACE = 0x10000000


def lift_limit() -> bool:
    resource.setrlimit(resource.RLIMIT_DATA, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    return True


def fill() -> bool:
    with Path("/tmp/filled").open("wb", 0) as file:
        file.writelines(b"x" * (1 << 20) for _ in range(512))
    return True


@hookimpl
def arena_agents() -> list[type[Agent]]:
    """Return all spies."""
    return [Curious, Greedy]

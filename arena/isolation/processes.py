"""Starts programs within limits, looks after what they use, and ends them with everything that they started."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from secrets import token_hex
from time import monotonic, sleep
from typing import NamedTuple

from arena.isolation.chatter import Chatter

MARK = "ARENA_AGENT_PROCESS"
"""The environment variable by which whatever an agent starts is found again."""
LAUNCHER = Path(__file__).with_name("launch.py")


class Usage(NamedTuple):
    """What a process and its children use."""

    processes: int
    memory: int
    """Bytes, resident; what they share is counted for each of them."""
    pids: tuple[int, ...]

    def proportional(self) -> int:
        """Bytes, with what is shared divided among those who share it; takes longer to find out."""
        return sum(map(_proportional, self.pids))


FAREWELL = 0.2
"""Seconds for the last words of a process that has ended."""


class Contained(subprocess.Popen[bytes]):
    """A program with pipes to its stdin and stdout, in a session of its own, that dies with its parent."""

    def __init__(
        self, command: Sequence[str], folder: str, memory: int, environment: Mapping[str, str], name: str | None = None
    ) -> None:
        self.mark = f"{os.getpid()}-{token_hex(8)}"
        super().__init__(
            [sys.executable, "-I", "-S", str(LAUNCHER), str(memory), *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder,
            env={**environment, MARK: self.mark},
            start_new_session=True,
            bufsize=0,
        )
        assert self.stderr is not None
        self.chatter = Chatter(self.stderr, name)

    def usage(self) -> Usage:
        """What it and its children use now."""
        import psutil

        with suppress(psutil.Error):
            root = psutil.Process(self.pid)
            family = [root, *root.children(recursive=True)]
            return Usage(len(family), sum(map(_resident, family)), tuple([one.pid for one in family]))
        return Usage(0, 0, ())

    def end(self) -> None:
        """Kill it and everything that it started, also what has left its group or lost its parents. It is gone afterwards."""
        with suppress(OSError):
            os.killpg(self.pid, signal.SIGKILL)
        self.kill()
        _end_marked(self.mark)
        self.wait()
        self.chatter.end(FAREWELL)
        for stream in (self.stdin, self.stdout):
            if stream is not None:
                with suppress(OSError):
                    stream.close()


def _resident(process: object) -> int:
    import psutil

    try:
        resident: int = process.memory_info().rss  # type: ignore[attr-defined]
    except psutil.Error:
        return 0
    return resident


def _proportional(pid: int) -> int:
    import psutil

    try:
        full = psutil.Process(pid).memory_full_info()
    except psutil.Error:
        return 0
    proportional: int = getattr(full, "pss", full.rss)
    return proportional


PATIENCE = 2.0
"""Seconds for the last of a family to go."""


def _end_marked(mark: str) -> None:
    """Kill every process that carries a mark in its environment, until there is none."""
    until = monotonic() + PATIENCE
    while monotonic() < until:
        found = False
        for pid in marked(mark):
            found = True
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        if not found:
            return
        sleep(0.002)


def marked(mark: str) -> Iterator[int]:
    """The processes that carry a mark and are not dead; none where there is no /proc."""
    wanted = f"{MARK}={mark}".encode()
    with suppress(OSError):
        for name in os.listdir("/proc"):  # noqa: PTH208 - every kill waits for this
            if name.isdigit() and _carries(name, wanted):
                yield int(name)


def _carries(pid: str, wanted: bytes) -> bool:
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:  # noqa: PTH123
            return wanted in file.read().split(b"\0")  # of a dead process it is empty
    except OSError:
        return False

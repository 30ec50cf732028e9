"""Starts programs within limits, looks after what they use, and ends them with everything that they started."""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from secrets import token_hex
from typing import NamedTuple

from arena.processes.process_tree import OF_AGENT, ProcessTree, end_trees
from arena.processes.stderr import StderrRelay

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


class ChildProcess(subprocess.Popen[bytes]):
    """A program with pipes to its stdin and stdout, in a session of its own, that dies with its parent."""

    def __init__(
        self, command: Sequence[str], folder: str, memory: int, environment: Mapping[str, str], name: str | None = None
    ) -> None:
        self._mark = f"{os.getpid()}-{token_hex(8)}"
        super().__init__(
            [sys.executable, "-I", "-S", str(LAUNCHER), str(memory), *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder,
            env={**environment, OF_AGENT: self._mark},
            start_new_session=True,
            bufsize=0,
        )
        assert self.stderr is not None
        self.chatter = StderrRelay(self.stderr, name)

    def usage(self) -> Usage:
        """What it and its children use now."""
        import psutil

        with suppress(psutil.Error):
            root = psutil.Process(self.pid)
            family = [root, *root.children(recursive=True)]
            return Usage(len(family), sum(map(_resident, family)), tuple([one.pid for one in family]))
        return Usage(0, 0, ())

    def end(self) -> None:
        """Kill it and everything that it started, as `end_trees` does. It is gone afterwards."""
        end_trees([ProcessTree(self.pid, OF_AGENT, self._mark)])
        self.kill()
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

"""The latest output of an agent's processes, in a file of bounded size to which several of them write."""

import os
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from arena_isolation.child import ChildProcess

KEPT_BYTES = 16 * 1024
"""Minimum number of bytes that a file keeps, and maximum of one piece. A file at rest has at most twice as many."""


class AgentLog:
    """A file to which pieces of text are appended if it exists. The owner of the logs creates it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._begins = True

    def begin(self) -> None:
        """Put the time of the next match above the next piece."""
        self._begins = True

    def add(self, piece: bytes) -> None:
        """Append the end of a piece of text. If that fails, the piece is lost."""
        import fcntl  # not on Windows, which has no ladders

        head = f"-- {datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC\n".encode() if self._begins else b""
        self._begins = False
        with suppress(OSError), self._path.open("r+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            size = file.seek(0, os.SEEK_END)
            if head and size:
                file.seek(size - 1)
                head = head if file.read(1) == b"\n" else b"\n" + head
            file.write(head + piece[-KEPT_BYTES:])
            if file.tell() > 2 * KEPT_BYTES:
                file.seek(-KEPT_BYTES, os.SEEK_END)
                kept = file.read()
                file.seek(0)
                file.write(kept)
                file.truncate()


def log_of(code: str | None) -> "AgentLog | None":
    """Return the log of an agent, named after the file of its code; None if no logs are kept."""
    folder = os.environ.get(ChildProcess.QUIET_VARIABLE)
    return AgentLog(Path(folder, Path(code).stem)) if folder and code else None


def end_of_log(path: Path) -> str:
    """Return the last KEPT_BYTES bytes of a log as text, from the beginning of a line; empty if there is no such file."""
    with suppress(OSError), path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - KEPT_BYTES))
        kept = file.read()
        cut = kept.partition(b"\n")[2] if size > KEPT_BYTES else kept
        return (cut or kept).decode(errors="replace")
    return ""

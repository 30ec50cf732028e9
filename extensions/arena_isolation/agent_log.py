"""The end of what the processes of an agent print, in a file of bounded size to which several of them write."""

import os
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from arena.processes.stderr import QUIET_VARIABLE, escape

KEPT_BYTES = 16 * 1024
"""Bytes that are kept at the least, and the most of one piece; a file has at most twice as many when nobody writes to it."""


class AgentLog:
    """A file to which pieces of text are appended, if it is there: who wants to keep them has made it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._begins = True

    def begin(self) -> None:
        """Have the next piece stand below its time: it is of another match."""
        self._begins = True

    def add(self, piece: bytes) -> None:
        """Append the end of a piece of text. If it cannot be appended it is lost."""
        head = f"-- {datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC\n" if self._begins else ""
        self._begins = False
        with suppress(OSError):
            self._append(head.encode(), escape(piece[-KEPT_BYTES:])[-KEPT_BYTES:])

    def _append(self, head: bytes, piece: bytes) -> None:
        import fcntl  # not on Windows, where no ladder is

        with self._path.open("r+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            size = file.seek(0, os.SEEK_END)
            if head and size:
                file.seek(size - 1)
                head = head if file.read(1) == b"\n" else b"\n" + head
            file.write(head + piece)
            if file.tell() > 2 * KEPT_BYTES:
                file.seek(-KEPT_BYTES, os.SEEK_END)
                kept = file.read()
                file.seek(0)
                file.write(kept)
                file.truncate()


def log_of(code: str | None) -> "AgentLog | None":
    """The log of the agent whose code is in a file, by the name of which it is called; None if no logs are kept."""
    folder = os.environ.get(QUIET_VARIABLE)
    return AgentLog(Path(folder, Path(code).stem)) if folder and code else None


def end_of_log(path: Path) -> str:
    """The last KEPT_BYTES bytes of a log from the beginning of a line on, as text; nothing where there is no such file."""
    with suppress(OSError), path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - KEPT_BYTES))
        kept = file.read()
        cut = kept.partition(b"\n")[2] if size > KEPT_BYTES else kept
        return (cut or kept).decode(errors="replace")
    return ""

"""Logs with the latest output of an agent. All processes of the agent append to the same file, which has a maximum size."""

import os
from contextlib import suppress
from pathlib import Path

from arena.clock import utc_now
from arena_isolation.child import ChildProcess

KEPT_BYTES = 16 * 1024
"""The number of bytes that a file keeps when it is shortened, and the maximum size of one piece. A file has at most twice as many
bytes, except while it is being written.
"""


class AgentLog:
    """The log file of an agent. Text is appended only if the file exists; the owner of the logs creates it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._begins = True

    def begin(self) -> None:
        """Record that another match begins. A line with the time is written before the next piece of text."""
        self._begins = True

    def add(self, piece: bytes) -> None:
        """Append a piece of text, or only its end if it is too long. If this fails, the piece is lost."""
        import fcntl  # Windows has no such module, but no ladders run there either

        head = f"-- {utc_now():%Y-%m-%d %H:%M:%S} UTC\n".encode() if self._begins else b""
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
    """Return the log of an agent, named after the file of its code; None if no logs are kept.

    If there are several folders of logs, the result is the file that exists in one of them.
    """
    folders = os.environ.get(ChildProcess.QUIET_VARIABLE)
    if not folders or not code:
        return None
    places = [Path(folder, Path(code).stem) for folder in folders.split(os.pathsep)]
    return AgentLog(next((place for place in places if place.exists()), places[0]))


def end_of_log(path: Path) -> str:
    """Return the last KEPT_BYTES bytes of a log as text, from the beginning of a line; empty if the file does not exist."""
    with suppress(OSError), path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - KEPT_BYTES))
        kept = file.read()
        cut = kept.partition(b"\n")[2] if size > KEPT_BYTES else kept
        return (cut or kept).decode(errors="replace")
    return ""

"""Passes an agent's stderr on, as far as a person would read it, or keeps its end, so that no agent fills a disk in a night."""

import os
import re
import threading
import time
from contextlib import suppress
from typing import IO, Protocol

MAX_BYTES_PER_MATCH = 64 * 1024
"""Bytes that are passed on of what an agent process prints in one match."""
DROPPED = f"\nan agent prints more than {MAX_BYTES_PER_MATCH:,} bytes in a match; the rest of it is dropped\n".encode()
QUIET_VARIABLE = "ARENA_QUIET_AGENTS"
"""The environment variable by which nothing is passed on, if strangers' agents play for months: a folder of logs."""
LOG_REST_SECONDS = 0.01
"""Between two reads for a log: many small pieces become one."""
LOG_REST_SECONDS_PER_BYTE = 2e-6
"""This holds up a process that floods its log, and no other."""
CHUNK_BYTES = 64 * 1024
DROP_PAUSE_SECONDS = 0.001
"""Seconds between two reads of text that is dropped, so that a flood takes no time from others."""


_CONTROLS = re.compile(rb"(?:[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f])+")
"""Bytes that a terminal obeys: to go back over a line, to set its title, to answer as if somebody typed."""
_ESCAPES = [b"\\x%02x" % byte for byte in range(256)]


class StderrLog(Protocol):
    """Keeps what a process says on stderr."""

    def begin(self) -> None:
        """Take note that another match begins."""

    def add(self, piece: bytes) -> None:
        """Keep a piece of text."""


class StderrRelay:
    """Reads a pipe to its end, since its writer would block once it is full, and writes the beginning to stderr.

    Bytes that are orders to a terminal are written as escapes. It stops after MAX_BYTES_PER_MATCH, until `again`. With a name,
    every line begins with the name. With a `log`, all of it goes there instead.
    """

    def __init__(self, pipe: IO[bytes], name: str | None = None, log: StderrLog | None = None) -> None:
        self._pipe = pipe
        self._log = log
        self._most = 0 if os.environ.get(QUIET_VARIABLE) else MAX_BYTES_PER_MATCH
        self._left = self._most
        self._head = b"" if name is None else f"{name}: ".encode(errors="backslashreplace")
        self._fresh = True
        self._thread = threading.Thread(target=self._pass_on, name="chatter", daemon=True)
        self._thread.start()

    def again(self) -> None:
        """Another match begins."""
        self._left = self._most
        if self._log is not None:
            self._log.begin()

    def end(self, seconds: float) -> None:
        """Wait until all that was printed is through, but not longer than that."""
        self._thread.join(seconds)

    def _pass_on(self) -> None:
        with self._pipe:
            while True:
                try:
                    said = os.read(self._pipe.fileno(), CHUNK_BYTES)
                except OSError:
                    return
                if not said:
                    if not self._fresh and self._left > 0:
                        _say(b"\n")  # what comes next, of whoever, begins a line
                    return
                if self._log is not None:
                    self._log.add(said)
                    time.sleep(LOG_REST_SECONDS + len(said) * LOG_REST_SECONDS_PER_BYTE)
                elif self._left > 0:
                    shown = said[: self._left]
                    begun, self._fresh = self._fresh, shown.endswith(b"\n")
                    named = (self._head if begun else b"") + shown[:-1].replace(b"\n", b"\n" + self._head) + shown[-1:]
                    _say(escape(named))
                    self._left -= len(said)
                    if self._left <= 0:
                        _say(DROPPED)
                else:
                    time.sleep(DROP_PAUSE_SECONDS)


def escape(text: bytes) -> bytes:
    """Return the text with escapes in place of bytes that a terminal obeys."""
    return _CONTROLS.sub(lambda found: b"".join(map(_ESCAPES.__getitem__, found[0])), text)


def _say(text: bytes) -> None:
    with suppress(OSError):
        os.write(2, text)

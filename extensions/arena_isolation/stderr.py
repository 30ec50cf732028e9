"""Forwards the beginning of an agent's stderr, or keeps the end of it in a log, so that no agent can fill a disk."""

import os
import threading
from codecs import getincrementaldecoder
from contextlib import suppress
from typing import IO, Protocol

from arena.api.errors import escape_controls, escape_line
from arena.clock import sleep

MAX_BYTES_PER_MATCH = 64 * 1024
"""Maximum output of an agent process that is forwarded in one match, in bytes."""
DROPPED = f"\nan agent printed more than {MAX_BYTES_PER_MATCH:,} bytes in a match; the rest is dropped\n"
LOG_REST_SECONDS = 0.01
"""Seconds between two reads for a log, so that many small pieces become one piece."""
LOG_PIECE_CHARACTERS = 16 * 1024
"""Maximum length of a piece in a log, in characters. Only the end of a longer piece is kept."""
LOG_REST_SECONDS_PER_BYTE = 2e-6
"""Additional pause per byte that was read, in seconds. It slows down only a process that floods its log."""
CHUNK_BYTES = 64 * 1024
DROP_PAUSE_SECONDS = 0.001
"""Pause in seconds between two reads of text that is dropped, so that a flood of text does not slow down other processes."""


class StderrLog(Protocol):
    """A place where the stderr of a process is kept."""

    def begin(self) -> None:
        """Record that another match begins."""

    def add(self, piece: bytes) -> None:
        """Keep a piece of text. The control characters of terminals are escaped."""


class StderrRelay:
    """Reads a pipe to its end, and writes the beginning to stderr. The rest is read, too, because the writing process would block
    if the pipe were full.

    The control characters of terminals are escaped. Nothing is written after MAX_BYTES_PER_MATCH, until `again` is called. If the
    relay has a name, every line begins with it. If it has a `log`, all output goes there instead. If it is `quiet`, nothing is
    written to stderr.
    """

    def __init__(self, pipe: IO[bytes], name: str | None = None, log: StderrLog | None = None, *, quiet: bool = False) -> None:
        self._pipe = pipe
        self._log = log
        self._most = 0 if quiet else MAX_BYTES_PER_MATCH
        self._left = self._most
        self._head = "" if name is None else f"{escape_line(name)}: "
        self._fresh = True
        self._thread = threading.Thread(target=self._pass_on, name="chatter", daemon=True)
        self._thread.start()

    def again(self) -> None:
        """Record that another match begins."""
        self._left = self._most
        if self._log is not None:
            self._log.begin()

    def end(self, seconds: float) -> None:
        """Wait until all output has been forwarded, but at most `seconds`."""
        self._thread.join(seconds)

    def _pass_on(self) -> None:
        decoder = getincrementaldecoder("utf-8")("backslashreplace")  # a character may be split between two pieces
        with self._pipe:
            while True:
                try:
                    said = os.read(self._pipe.fileno(), CHUNK_BYTES)
                except OSError:
                    return
                text = decoder.decode(said, final=not said)
                if self._log is not None:
                    if text:
                        self._log.add(escape_controls(text[-LOG_PIECE_CHARACTERS:]).encode())
                    sleep(LOG_REST_SECONDS + len(said) * LOG_REST_SECONDS_PER_BYTE)
                elif self._left > 0:
                    shown = escape_controls(text[: self._left])
                    self._left -= len(said)
                    if shown:
                        begun, self._fresh = self._fresh, shown.endswith("\n")
                        _say((self._head if begun else "") + shown[:-1].replace("\n", "\n" + self._head) + shown[-1:])
                    if self._left <= 0:
                        _say(DROPPED)
                    elif not said and not self._fresh:
                        _say("\n")  # so that the next output, from any source, begins a new line
                else:
                    sleep(DROP_PAUSE_SECONDS)
                if not said:
                    return


def _say(text: str) -> None:
    with suppress(OSError):
        os.write(2, text.encode())

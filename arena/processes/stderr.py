"""Passes an agent's stderr on, as far as a person would read it, or keeps its end, so that no agent fills a disk in a night."""

import os
import re
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import IO

from arena.processes.agent_log import MOST as MOST_LOGGED
from arena.processes.agent_log import AgentLog, rest

MOST = 64 * 1024
"""Bytes that are passed on of what an agent process prints in one match."""
DROPPED = f"\nan agent prints more than {MOST:,} bytes in a match; the rest of it is dropped\n".encode()
QUIET = "ARENA_QUIET_AGENTS"
"""The environment variable by which nothing is passed on, where strangers' agents play for months: a folder of logs."""
CHUNK = 64 * 1024
PAUSE = 0.001
"""Seconds between two reads of text that is dropped, so that a flood takes no time from others."""


_CONTROL = re.compile(rb"[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]")
"""Bytes that a terminal takes for orders: to go back over a line, to set its title, to answer as if somebody typed."""


def log_of(code: str | None) -> Path | None:
    """The log of the agent whose code is in a file, by the name of which it is called; None where no logs are kept."""
    folder = os.environ.get(QUIET)
    return Path(folder, Path(code).stem) if folder and code else None


class StderrRelay:
    """Reads a pipe to its end, since its writer would block once it is full, and writes the first MOST bytes to stderr.

    What would be an order to a terminal is written as an escape.

    `again` allows as many once more. With a name every line begins with it, so that a reader knows who says it. With a `log`
    all of it goes there instead.
    """

    def __init__(self, pipe: IO[bytes], name: str | None = None, log: Path | None = None) -> None:
        self._pipe = pipe
        self._log = None if log is None else AgentLog(log)
        self._most = 0 if os.environ.get(QUIET) else MOST
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
                    said = os.read(self._pipe.fileno(), CHUNK)
                except OSError:
                    return
                if not said:
                    if not self._fresh and self._left > 0:
                        _say(b"\n")  # what comes next, of whoever, begins a line
                    return
                if self._log is not None:
                    self._log.add(_CONTROL.sub(_escaped, said[-MOST_LOGGED:]))
                    rest(len(said))
                elif self._left > 0:
                    _say(_CONTROL.sub(_escaped, self._headed(said[: self._left])))
                    self._left -= len(said)
                    if self._left <= 0:
                        _say(DROPPED)
                else:
                    time.sleep(PAUSE)

    def _headed(self, said: bytes) -> bytes:
        """The same with the name before every line that begins in it."""
        begun, self._fresh = self._fresh, said.endswith(b"\n")
        return (self._head if begun else b"") + said[:-1].replace(b"\n", b"\n" + self._head) + said[-1:]


def _escaped(found: re.Match[bytes]) -> bytes:
    return b"".join([b"\\x%02x" % byte for byte in found[0]])


def _say(text: bytes) -> None:
    with suppress(OSError):
        os.write(2, text)

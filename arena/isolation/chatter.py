"""What an agent prints, passed on to stderr as far as a person would read it, so that no agent fills a disk in a night."""

import os
import threading
import time
from contextlib import suppress
from typing import IO

MOST = 64 * 1024
"""Bytes that are passed on of what an agent process prints in one match."""
DROPPED = f"\nan agent prints more than {MOST:,} bytes in a match; the rest of it is dropped\n".encode()
CHUNK = 64 * 1024
PAUSE = 0.001
"""Seconds between two readings of what nobody will see, so that a flood takes no time from others."""


class Chatter:
    """Reads a pipe to its end, and writes the first of it to stderr; `again` allows as much once more."""

    def __init__(self, pipe: IO[bytes]) -> None:
        self._pipe = pipe
        self._left = MOST
        self._thread = threading.Thread(target=self._pass_on, name="chatter", daemon=True)
        self._thread.start()

    def again(self) -> None:
        """Another match begins."""
        self._left = MOST

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
                    return
                if self._left > 0:
                    _say(said[: self._left])
                    self._left -= len(said)
                    if self._left <= 0:
                        _say(DROPPED)
                else:
                    time.sleep(PAUSE)


def _say(text: bytes) -> None:
    with suppress(OSError):
        os.write(2, text)

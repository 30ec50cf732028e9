"""Communication between a worker process and its parent: messages, their frames in a pipe, and counters in shared memory.

An agent in the worker's process may also write to the pipe, so only a complete frame with its checksum counts as a message.
"""

import mmap
import os
import pickle
import struct
import sys
import tempfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from arena.match.record import Record
from arena.plugins.syntax import Parsed, Stamp
from arena.schedule.fingerprint import Fingerprint
from arena.schedule.schedule import Scheduled
from arena.secret import Seed
from arena.spec import Document

PREAMBLE = b"\xa7arena\r\n"
"""The first bytes of every frame."""
_HEAD = struct.Struct("<8sII")
CUT_OFF_EXIT_CODE = 74
"""The exit code of a worker if its pipe was closed."""


class Recipe(NamedTuple):
    """The data from which a worker rebuilds the spec; the first message that it gets."""

    document: Document
    plugins: tuple[str, ...]
    seed: Seed
    files: Mapping[Path, tuple[Stamp, Parsed]]
    """The files of code that the parent has parsed, so that the worker need not parse them again."""
    shared: Mapping[str, Any] = MappingProxyType({})
    """Data from agent sources; see `Spec.shared`."""
    core: int | None = None
    """The core on which the worker and its agent processes run; None means that the system decides."""


class MatchOrder(NamedTuple):
    """Matches to play, in order. If `alone` is true, the worker reports every turn before it asks the agent."""

    matches: Sequence[Scheduled]
    alone: bool
    start_seconds: Mapping[str, float]
    """See `MatchRunner.start_seconds`."""


class Ready(NamedTuple):
    """The worker has loaded the spec. `code` holds the fingerprints of the plugins that it has loaded."""

    code: Mapping[str, Fingerprint]


class WorkerFailed(NamedTuple):
    """The worker cannot continue. This is not a fault of an agent."""

    message: str


class Turn(NamedTuple):
    """A seat is to move."""

    seat: int


class Done(NamedTuple):
    """Records, in the order of the matches. If `seconds` is set, it is the duration of the order, which is then over."""

    records: list[Record]
    seconds: float | None


class Garbled(Exception):
    """Something other than a frame was written to the pipe."""


def make_frame(value: Any) -> bytes:
    """Return a value as a frame: a preamble, the length and the checksum of its pickle, and the pickle."""
    body = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    return _HEAD.pack(PREAMBLE, len(body), zlib.crc32(body)) + body


class Frames:
    """Reassembles frames from data that arrives in pieces of any size."""

    def __init__(self) -> None:
        self._waiting = bytearray()

    def feed(self, data: bytes) -> Iterator[Any]:
        """Yield the values of all complete frames. Raises Garbled if there is other data between them.

        Both ends of the pipe belong to the same version of arena and to the same user, so it is safe to unpickle complete frames.
        """
        waiting = self._waiting
        waiting += data
        start = 0
        try:
            while len(waiting) - start >= _HEAD.size:
                preamble, length, checksum = _HEAD.unpack_from(waiting, start)
                if preamble != PREAMBLE:
                    raise Garbled
                end = start + _HEAD.size + length
                if len(waiting) < end:
                    return
                body = bytes(waiting[start + _HEAD.size : end])
                start = end
                if zlib.crc32(body) != checksum:
                    raise Garbled
                try:
                    value = pickle.loads(body)  # noqa: S301 - safe, as the docstring says
                except Exception as error:
                    raise Garbled from error
                yield value
            if not PREAMBLE.startswith(waiting[start : start + len(PREAMBLE)]):
                raise Garbled
        finally:
            del waiting[:start]


class Vitals:
    """Counters of signs of life, matches, and turns in the last match. Two processes share them; one of them writes."""

    def __init__(self, descriptor: int) -> None:
        self._cells = memoryview(mmap.mmap(descriptor, mmap.PAGESIZE)).cast("Q")

    @property
    def beats(self) -> int:
        """The number of signs of life."""
        return int(self._cells[0])

    @property
    def begun(self) -> int:
        """The number of matches that have begun."""
        return int(self._cells[1])

    @property
    def turn(self) -> tuple[int, int]:
        """The seat to move in the last match, and the number of turns that have begun in it."""
        return int(self._cells[2]), int(self._cells[3])

    def beat(self) -> None:
        """Give a sign of life."""
        self._cells[0] += 1

    def begin(self) -> None:
        """Record that a match begins."""
        self._cells[3] = 0
        self._cells[1] += 1

    def begin_turn(self, seat: int) -> None:
        """Record the seat to move."""
        self._cells[2] = seat
        self._cells[3] += 1


def shared_memory() -> int:
    """Return the descriptor of unnamed memory for the Vitals of two processes, filled with zeros."""
    if sys.platform == "linux":
        descriptor = os.memfd_create("arena-vitals")
    else:
        with tempfile.TemporaryFile() as file:
            descriptor = os.dup(file.fileno())
    os.write(descriptor, bytes(mmap.PAGESIZE))  # written and not only reserved, so that a full disk is noticed here
    return descriptor

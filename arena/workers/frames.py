"""Values as frames on a pipe. An agent may write to it as well, so only what is whole and has its checksum counts as a value."""

import pickle
import struct
import zlib
from collections.abc import Iterator
from typing import Any

PREAMBLE = b"\xa7arena\r\n"
"""The first bytes of every frame."""
_HEAD = struct.Struct("<8sII")


class Garbled(Exception):
    """Something that is no frame was written to the pipe."""


def frame(value: Any) -> bytes:
    """Return a value as a frame: a preamble, the length and the checksum of its pickle, and the pickle."""
    body = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    return _HEAD.pack(PREAMBLE, len(body), zlib.crc32(body)) + body


class Frames:
    """Puts the frames together again from what arrives, in pieces of any size."""

    def __init__(self) -> None:
        self._waiting = bytearray()

    def feed(self, data: bytes) -> Iterator[Any]:
        """Yield the values of all frames that are whole now. Garbled where something else stands between them.

        Both ends are arena itself, of one version and one user; a frame that is whole is unpickled.
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
                yield _value(body, checksum)
            if not PREAMBLE.startswith(waiting[start : start + len(PREAMBLE)]):
                raise Garbled
        finally:
            del waiting[:start]


def _value(body: bytes, checksum: int) -> Any:
    if zlib.crc32(body) != checksum:
        raise Garbled
    try:
        return pickle.loads(body)  # noqa: S301 - from our own kin, see above
    except Exception as error:
        raise Garbled from error

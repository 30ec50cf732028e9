"""Writes a file whole or not at all."""

import os
import tempfile
from contextlib import suppress
from pathlib import Path


def write_whole(place: Path, *parts: bytes, mode: int = 0o644) -> None:
    """Put a file in its place in one step, so that no reader ever sees half of it.

    The `parts` are written one after the other, with `mode`, into a new file beside the `place`, which is then renamed. If this
    fails, it raises OSError and leaves the old file.

    >>> place = Path(tempfile.mkdtemp()) / "table"
    >>> write_whole(place, b"head ", b"body")
    >>> place.read_bytes()
    b'head body'
    """
    number, name = tempfile.mkstemp(dir=place.parent, prefix=f".{place.name[:40]}.")
    try:
        with os.fdopen(number, "wb") as stream:
            stream.writelines(parts)
        Path(name).chmod(mode)
        Path(name).replace(place)
    except BaseException:
        with suppress(OSError):
            Path(name).unlink()
        raise

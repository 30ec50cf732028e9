"""Writes files so that a file is written completely or not changed at all, and reads files that a stranger may have named."""

import os
import stat
import tempfile
from contextlib import ExitStack
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile

PART_BYTES = 1 << 20
_KINDS = ((stat.S_ISLNK, "a symbolic link"), (stat.S_ISDIR, "a folder"), (stat.S_ISFIFO, "a named pipe"))


def name_kind(mode: int) -> str:
    """Return what a file with this mode is, if it is not a regular file."""
    return next((word for is_one, word in _KINDS if is_one(mode)), "a device or a socket")


def read_whole(place: Path, most: int) -> bytes:
    """Return the content of a file that a spec, a store or a bundle names, with at most `most` bytes.

    Such a file may be a pipe, a device or a file of the kernel, which make a plain `read` wait for ever or fill the memory.
    Raises ValueError, with the path, if it is not a regular file, is longer, or cannot be read.

    >>> read_whole(Path(os.devnull), 100)
    Traceback (most recent call last):
    ValueError: /dev/null cannot be read: it is a device or a socket; expected a regular file
    """
    try:
        if not stat.S_ISREG(mode := place.stat().st_mode):  # opening a device can have effects
            raise ValueError(f"{place} cannot be read: it is {name_kind(mode)}; expected a regular file")
        number = os.open(place, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
        with ExitStack() as ends:
            ends.callback(os.close, number)
            if not stat.S_ISREG(os.fstat(number).st_mode):  # another process may have replaced it
                raise ValueError(f"{place} cannot be read: it changed while it was being read; try again")
            parts, left = [], most + 1
            while left and (part := os.read(number, min(left, PART_BYTES))):
                parts.append(part)
                left -= len(part)
    except OSError as error:
        raise ValueError(f"{place} cannot be read: {error.strerror or error}") from error
    if not left:
        raise ValueError(f"{place} cannot be read: it has more than {most:,} bytes; choose a smaller file")
    return b"".join(parts)


def read_arrays(place: Path, most: int) -> dict[str, Any]:
    """Return the arrays in an `.npz` file, which have at most `most` bytes together. No pickled objects are read.

    Raises ValueError as `read_whole` does, or if it is not such a file.
    """
    import numpy as np

    content = read_whole(place, most)
    try:
        with ZipFile(BytesIO(content)) as archive:
            size = sum(info.file_size for info in archive.infolist())
        if size > most:
            raise ValueError(f"arrays of {size:,} bytes; at most {most:,} are read")
        with np.load(BytesIO(content), allow_pickle=False) as arrays:
            return {name: arrays[name] for name in arrays.files}
    except (AttributeError, BadZipFile, EOFError, MemoryError, NotImplementedError, OSError, RuntimeError, ValueError) as error:
        reason = f"{type(error).__name__}: {error}"
        raise ValueError(f"{place}: expected an npz file of plain arrays without pickled objects, got {reason}") from error


def write_whole(place: Path, *parts: bytes, mode: int = 0o644) -> None:
    """Write a file in one step, so that readers never see an incomplete file.

    The `parts` are written one after the other, with `mode`, into a new file in the same folder, which is then renamed to
    `place`. If this fails, OSError is raised and the old file stays.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_whole(Path(folder) / "table", b"head ", b"body")
    ...     (Path(folder) / "table").read_bytes()
    b'head body'
    """
    number, name = tempfile.mkstemp(dir=place.parent, prefix=f".{place.name[:40]}.")
    with ExitStack() as ends:
        ends.callback(Path(name).unlink, missing_ok=True)
        with os.fdopen(number, "wb") as stream:
            stream.writelines(parts)
        Path(name).chmod(mode)
        Path(name).replace(place)
        ends.pop_all()

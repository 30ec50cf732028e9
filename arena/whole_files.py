"""Writes files so that a file is written completely or not changed at all, and reads files that a stranger may have named.

It also finds the cache folder, in which arena keeps what is expensive to compute or to get: machine code, tables, old
files, answers of models. Whoever can write there decides what arena runs. So arena uses a folder or a file there only
if it belongs to the user or to root, and if nobody else, not even a group, may write it. Otherwise it continues
without the cache.
"""

import os
import stat
import tempfile
from collections.abc import Iterable
from contextlib import ExitStack, suppress
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile

VARIABLE = "ARENA_CACHE"
"""The environment variable that names another folder."""
CHECKED = "ARENA_CACHE_CHECKED"
"""The environment variable that is set in a sandbox. There, files seem to have other owners, and it shows only checked ones."""
PRIVATE = "-private"
"""The end of the name of a second folder beside the cache, for the machine code of entries that bring their own code."""
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


def cache_folder() -> Path:
    """Return the cache folder of the user, or the folder that ARENA_CACHE names. It need not exist, and nothing is checked."""
    if named := os.environ.get(VARIABLE):
        return Path(named).absolute()
    from platformdirs import user_cache_path

    return user_cache_path("arena").absolute()


def private_cache() -> Path:
    """Return the folder beside the cache for the machine code of entries that bring their own code."""
    folder = cache_folder()
    return folder.with_name(f"{folder.name}{PRIVATE}")


def describe_cache_fault(folder: Path) -> str | None:
    """Return why a folder in the cache is not used, and what to do; None if it can be used, or does not exist.

    The folders from the cache down to this one must be of the user or of root, and only their owner may write them. Nobody may
    replace them, either: if everybody may write a folder above, it must be sticky, as /tmp is.
    """
    if CHECKED in os.environ or not hasattr(os, "geteuid"):
        return None
    tops = {cache_folder().resolve(), private_cache().resolve()}
    place, inside = folder.resolve(), True
    chain = (place, *place.parents)
    last = next((one for one in chain if one in tops), place)
    for one in chain:
        with suppress(FileNotFoundError):
            found = one.stat()
            fault = _describe_writers(found) if inside else None
            if not inside and found.st_mode & stat.S_IWOTH and not found.st_mode & stat.S_ISVTX:
                fault = "everybody may replace what is in it"
            if fault is not None:
                return f"the cache {place} is not used, because of {one}: {fault}; name another folder with {VARIABLE}"
        inside = inside and one != last
    return None


def make_cache_folder(folder: Path) -> bool:
    """Create a folder in the cache, if necessary. Return False if it cannot be created, or cannot be used safely.

    Others cannot open the cache itself. Folders in it have the usual mode, because a sandbox shows them to another user.
    """
    tops = (cache_folder(), private_cache())
    missing = [one for one in (folder, *folder.parents) if not one.exists()]
    try:
        for one in reversed(missing):
            one.mkdir(mode=0o755 if any(top in one.parents for top in tops) else 0o700, exist_ok=True)
        return describe_cache_fault(folder) is None
    except OSError:  # such as a file in place of a folder
        return False


def read_cached(file: Path) -> bytes:
    """Return the content of a file in the cache. Raises OSError if there is none, or if others may have written it."""
    with file.open("rb") as stream:
        fault = describe_cache_fault(file.parent) or _describe_writers(os.fstat(stream.fileno()))
        if fault is not None:
            raise PermissionError(f"{file} is not used: {fault}")
        return stream.read()


def are_own(places: Iterable[Path]) -> bool:
    """Return True if all files and folders are of the user or of root, and only their owners may write them."""
    for place in places:
        with suppress(FileNotFoundError):  # another process has just deleted it
            if _describe_writers(place.lstat()) is not None:
                return False
    return True


def _describe_writers(found: os.stat_result) -> str | None:
    """Return who else may write a file or a folder, with advice; None if nobody can."""
    if CHECKED in os.environ or not hasattr(os, "geteuid"):
        return None
    if found.st_uid not in (0, os.geteuid()):
        return f"it belongs to the user {found.st_uid}"
    if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH) and not stat.S_ISLNK(found.st_mode):
        return "others may write it (`chmod -R go-w` forbids this)"
    return None

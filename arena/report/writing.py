"""Writes files whole or not at all."""

import os
import tempfile
from contextlib import suppress
from pathlib import Path

from arena.errors import ArenaError
from arena.notices import say

PLOTS = frozenset({".png", ".svg", ".pdf"})
"""How files with plots end."""


def write_whole(place: Path, content: bytes) -> None:
    """Put a file in its place in one step, so that nobody ever sees half of it; ArenaError says what is in the way."""
    name = _beside(place)
    try:
        name.write_bytes(content)
        name.chmod(0o666 & ~_umask())
        name.replace(place)
    except BaseException as error:
        with suppress(OSError):
            name.unlink()
        if isinstance(error, OSError):
            raise _told(place, error) from error
        raise


def check_place(place: Path) -> None:
    """Raise ArenaError where a file could not be written, or must not, before anything is done in vain.

    A database is never written over: it may hold the matches of a night, and be the very store of the report.
    """
    folder = place.absolute().parent
    if not folder.is_dir():
        raise ArenaError(f"-o {place}: there is no folder {folder}; make it, or name another place")
    if place.is_dir():
        raise ArenaError(f"-o {place}: a folder; expected the name of a file to write, as in -o report.html")
    if _holds_matches(place):
        raise ArenaError(f"-o {place}: a database, or part of one, which a report would destroy; name another place")
    _beside(place).unlink()


def _holds_matches(place: Path) -> bool:
    """Whether a place is that of a database, or of the files that SQLite keeps beside one."""
    for ending in ("-wal", "-shm", "-journal"):
        if place.name.endswith(ending) and place.with_name(place.name.removesuffix(ending)).exists():
            return True
    try:
        with place.open("rb") as file:
            return file.read(len(_DATABASE)) == _DATABASE
    except OSError:
        return False


_DATABASE = b"SQLite format 3\0"
"""How every database of SQLite begins."""


def _beside(place: Path) -> Path:
    """A new empty file in the same folder."""
    try:
        handle, name = tempfile.mkstemp(prefix=f".{place.name[:40]}.", dir=place.absolute().parent)
    except OSError as error:
        raise _told(place, error) from error
    os.close(handle)
    return Path(name)


def folder_for(place: Path) -> None:
    """Make a folder for files, where it is not there, in one that is; ArenaError says what is in the way.

    Plots that are in it already are told of.
    """
    if place.exists() and not place.is_dir():
        raise ArenaError(f"-o {place}: a file; expected the name of a folder for the plots, as in -o plots")
    if not place.absolute().parent.is_dir():
        raise ArenaError(f"-o {place}: there is no folder {place.absolute().parent}; make it, or name another place")
    try:
        place.mkdir(exist_ok=True)
        there = sum(file.suffix in PLOTS for file in place.iterdir())
    except OSError as error:
        raise _told(place, error) from error
    check_place(place / "plot")
    if there:
        plots = f"{there:,} {'plot' if there == 1 else 'plots'}"
        say(f"note: {place} holds {plots} already; those of the same name are replaced, all others stay")


def _told(place: Path, error: OSError) -> ArenaError:
    return ArenaError(f"-o {place}: cannot be written: {error.strerror}; name a place in a folder that is there and writable")


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask

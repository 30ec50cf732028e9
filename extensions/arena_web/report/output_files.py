"""Writes the files for the option `-o`, unless they would replace something else."""

import errno
import os
import stat
import tempfile
from pathlib import Path

from arena import ArenaError
from arena.api.cli import say
from arena.api.spec import Document
from arena.api.store import write_whole

PLOTS = frozenset({".png", ".svg", ".pdf"})
"""The suffixes of files that contain plots."""


def write_output(place: Path, content: bytes) -> None:
    """Write a file atomically; raises ArenaError if something is in the way.

    If the path is a symbolic link, the target of the link is replaced and the link stays.
    """
    target = _target(place)
    mask = os.umask(0)
    os.umask(mask)
    try:
        write_whole(target, content, mode=0o666 & ~mask)
    except OSError as error:
        raise _explain(place, error) from error


def check_place(place: Path) -> None:
    """Raise ArenaError if a file cannot or must not be written, before any work is done.

    A database is never overwritten, because it could be the store that the report is about. Special files, such as devices and
    pipes, are not even opened.
    """
    target = _target(place)
    if not target.parent.is_dir():
        raise ArenaError(f"-o {place}: the folder {target.parent} does not exist; make it, or name another place")
    if target.is_dir():
        raise ArenaError(f"-o {place} is a folder; expected the name of a file to write, as in -o report.html")
    if _holds_matches(place) or _holds_matches(target):
        raise ArenaError(f"-o {place} is a database, or part of one, which the report would overwrite; name another place")
    try:
        with tempfile.NamedTemporaryFile(dir=target.parent):
            pass
    except OSError as error:
        raise _explain(place, error) from error


def _target(place: Path) -> Path:
    """Return the path of a file after following symbolic links; raises ArenaError if the path leads to something other than a
    file.
    """
    target = Path(os.path.realpath(place))
    try:
        kind = place.stat().st_mode  # not of `target`: a path such as /dev/fd/1 may be a pipe, which has no target
    except FileNotFoundError:
        return target
    except OSError as error:
        raise _explain(place, error) from error
    if not (stat.S_ISREG(kind) or stat.S_ISDIR(kind)):
        what = next((word for is_one, word in _OTHERS if is_one(kind)), "no regular file")
        raise ArenaError(f"-o {place}: {what}; expected the name of a file to write, as in -o report.html")
    return target


_OTHERS = (
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISSOCK, "a socket"),
)
"""Kinds of special files, which must not be replaced."""


def _holds_matches(place: Path) -> bool:
    """Return True if a path belongs to a database or to one of the files that SQLite keeps beside a database."""
    for ending in ("-wal", "-shm", "-journal"):
        if place.name.endswith(ending) and place.with_name(place.name.removesuffix(ending)).exists():
            return True
    return Document.is_database(place)


def folder_for(place: Path) -> None:
    """Make a folder for files inside an existing folder, unless it exists already; raises ArenaError if something is in the way.

    If the folder already contains plots, a note names them.
    """
    if place.exists() and not place.is_dir():
        raise ArenaError(f"-o {place} is a file; expected the name of a folder for the plots, as in -o plots")
    if not place.absolute().parent.is_dir():
        raise ArenaError(f"-o {place}: the folder {place.absolute().parent} does not exist; make it, or name another place")
    try:
        place.mkdir(exist_ok=True)
        there = sum(file.suffix in PLOTS for file in place.iterdir())
    except OSError as error:
        raise _explain(place, error) from error
    check_place(place / "plot")
    if there:
        plots = f"{there:,} {'plot' if there == 1 else 'plots'}"
        say(f"note: {place} holds {plots} already; plots of the same name are replaced, all others stay")


def _explain(place: Path, error: OSError) -> ArenaError:
    remedy = _REMEDIES.get(error.errno or 0, "choose a place in an existing, writable folder")
    return ArenaError(f"-o {place}: cannot be written: {error.strerror}; {remedy}")


_FULL = "free some space there, or choose a place on another disk"
_REMEDIES = {
    errno.ENOSPC: _FULL,
    errno.EDQUOT: _FULL,
    errno.EFBIG: "allow larger files there (ulimit -f), or name another place",
    errno.ELOOP: "the symbolic links there form a loop; choose another place",
    errno.ENAMETOOLONG: "give it a shorter name",
}
"""Remedies for errors that occur even if the folder is writable."""

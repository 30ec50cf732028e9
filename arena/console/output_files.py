"""Writes the files for the option `-o`. An existing file is replaced only if it is of the kind that the command writes."""

import errno
import os
import stat
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from arena.console.notices import say
from arena.errors import ArenaError
from arena.results import figures
from arena.spec import Document
from arena.whole_files import write_whole

MARK_BYTES = 4096
"""The mark of a kind of file is within this many bytes from the start of the file."""


class OutputKind(NamedTuple):
    """A kind of file that a command writes.

    >>> OutputKind(".zip", "a ZIP file", b"PK").name
    'a ZIP file'
    """

    suffix: str
    """The suffix of such files; also the whole name, if all files of the kind have the same name."""
    name: str
    """The kind in words, with an article."""
    mark: bytes
    """Bytes that every file of this kind has within its first MARK_BYTES."""


PAGE_FILE = OutputKind(".html", "a page written by arena", b'<meta name="generator" content="arena">')
"""A page that a command of arena writes."""
LATEX_FILE = OutputKind(".tex", "a LaTeX file written by arena", b"% Written by arena.")
"""Text with tables for a LaTeX document."""
PLOT_FILES = (
    OutputKind(".png", "a picture", b"\x89PNG"),
    OutputKind(".svg", "a picture", b"<svg"),
    OutputKind(".pdf", "a PDF", b"%PDF-"),
)
"""Plots. A file is replaced by a plot if it is of the same format."""


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


def check_place(place: Path, *kinds: OutputKind, option: str = "-o") -> OutputKind:
    """Return which of `kinds` the suffix of a file names, before any work is done. Raises ArenaError if the suffix is of none of
    them, or if the file cannot or must not be written.

    A file that exists is replaced only if it is empty or of this kind. A database is never overwritten, because it could be the
    store that the command reads. Special files, such as devices and pipes, are not even opened.

    >>> check_place(Path("report.yaml"), PAGE_FILE, LATEX_FILE)
    Traceback (most recent call last):
    arena.errors.ArenaError: -o report.yaml: expected a name that ends in .html or .tex
    """
    suffix = kinds[0].suffix
    example = f"{option} {'report' * suffix.startswith('.')}{suffix}"
    target = _target(place, option, example)
    if target.is_dir():
        raise ArenaError(f"{option} {place} is a folder; expected the name of a file to write, as in {example}")
    if _holds_matches(place) or _holds_matches(target):
        raise ArenaError(f"{option} {place} is a database, or part of one, which would be overwritten; choose another path")
    kind = next((kind for kind in kinds if place.name.endswith(kind.suffix)), None)
    if kind is None:
        suffixes = figures.listing([kind.suffix for kind in kinds], "or")
        raise ArenaError(f"{option} {place}: expected a name that ends in {suffixes}")
    if not target.parent.is_dir():
        raise ArenaError(f"{option} {place}: the folder {target.parent} does not exist; create it, or choose another path")
    try:
        head = b""
        if target.exists():
            with target.open("rb") as file:
                head = file.read(MARK_BYTES)
    except OSError as error:
        raise ArenaError(f"{option} {place} exists and cannot be read: {error.strerror}; choose another path") from error
    if head and kind.mark not in head:
        raise ArenaError(f"{option} {place} exists and is not {kind.name}; choose another path, or move this file away")
    try:
        with tempfile.NamedTemporaryFile(dir=target.parent):
            pass
    except OSError as error:
        raise _explain(place, error, option) from error
    return kind


def _target(place: Path, option: str = "-o", example: str = "-o report.html") -> Path:
    """Return the path of a file after following symbolic links; raises ArenaError if the path leads to something other than a
    file.
    """
    target = Path(os.path.realpath(place))
    try:
        kind = place.stat().st_mode  # not of `target`: a path such as /dev/fd/1 may be a pipe, which has no target
    except FileNotFoundError:
        return target
    except OSError as error:
        raise _explain(place, error, option) from error
    if not (stat.S_ISREG(kind) or stat.S_ISDIR(kind)):
        what = next((word for is_one, word in _OTHERS if is_one(kind)), "no regular file")
        raise ArenaError(f"{option} {place}: {what}; expected the name of a file to write, as in {example}")
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


def make_folder(place: Path, files: Sequence[tuple[str, OutputKind]]) -> None:
    """Make a folder for `files` inside an existing folder, unless it exists already; raises ArenaError if something is in the
    way, also in the place of one of the files, see `check_place`.

    If the folder already contains plots, a note names them.
    """
    if place.exists() and not place.is_dir():
        raise ArenaError(f"-o {place} is a file; expected the name of a folder, as in -o results")
    if not place.absolute().parent.is_dir():
        raise ArenaError(f"-o {place}: the folder {place.absolute().parent} does not exist; create it, or choose another path")
    try:
        place.mkdir(exist_ok=True)
        there = sum(file.suffix in [kind.suffix for kind in PLOT_FILES] for file in place.iterdir())
    except OSError as error:
        raise _explain(place, error) from error
    for name, kind in files:
        check_place(place / name, kind)
    if there:
        plots = f"{there:,} {'plot' if there == 1 else 'plots'}"
        say(f"note: {place} already contains {plots}; plots with the same names are replaced, and the others are kept")


def _explain(place: Path, error: OSError, option: str = "-o") -> ArenaError:
    remedy = _REMEDIES.get(error.errno or 0, "choose a path in an existing, writable folder")
    return ArenaError(f"{option} {place}: cannot be written: {error.strerror}; {remedy}")


_FULL = "free some space there, or choose a path on another disk"
_REMEDIES = {
    errno.ENOSPC: _FULL,
    errno.EDQUOT: _FULL,
    errno.EFBIG: "allow larger files there (ulimit -f), or choose another path",
    errno.ELOOP: "the symbolic links there form a loop; choose another path",
    errno.ENAMETOOLONG: "give it a shorter name",
}
"""Remedies for errors that occur even if the folder is writable."""

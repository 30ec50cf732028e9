"""The files beside a store, and the check that all of them pass before arena or SQLite opens any.

A store may come from anyone, and so may the files beside it. SQLite finds them by their names and trusts them: it waits for ever
at a named pipe, writes through a link, and deletes the file that a rollback journal names as its super-journal.
"""

import os
import stat
from contextlib import ExitStack, suppress
from pathlib import Path
from shlex import quote

from arena.errors import StoreError
from arena.whole_files import name_kind

ENDINGS = ("-wal", "-shm", "-journal")
"""What SQLite appends to the name of a database for the files beside it: the log, its index, and the rollback journal."""
PRIVATE_FILE = 0o600
"""The mode of a file that only the user may read."""
JOURNAL_MAGIC = bytes.fromhex("d9d505f920a163d7")
"""The first bytes of a rollback journal; and the last ones, if it names a super-journal. See https://sqlite.org/fileformat2.html."""
JOURNAL_HEAD_BYTES = 28


def path_beside(place: Path, ending: str) -> Path:
    """Return the path of a file beside a database. If the database's own path is a link, this is beside its target."""
    real = Path(os.path.realpath(place))
    return real.with_name(f"{real.name}{ending}")


def check_side_file(path: Path) -> os.stat_result | None:
    """Return the status of a file beside a store; None if there is none.

    Raises StoreError if it is not a regular file, or has another name, so that a change of it would change a file elsewhere.
    """
    try:
        status = path.lstat()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {error.strerror}") from error
    _check_status(path, status)
    return status


def _check_status(path: Path, status: os.stat_result) -> None:
    kind = name_kind(status.st_mode)
    if stat.S_ISREG(status.st_mode):
        if status.st_nlink <= 1:
            return
        kind = "a file with several names (hard links)"
    raise StoreError(f"{path} is {kind}; expected a regular file that belongs to a store alone, so move it away")


def open_side_file(path: Path, flags: int) -> int:
    """Open a file beside a store, and return its descriptor. Raises OSError, and StoreError as `check_side_file` does."""
    check_side_file(path)  # opening a device can have effects
    number = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o644)
    with ExitStack() as ends:
        ends.callback(os.close, number)
        _check_status(path, os.fstat(number))  # another process may have replaced it
        ends.pop_all()
    return number


def check_database(place: Path) -> None:
    """Raise StoreError unless a database and the files beside it are such as arena leaves them, so that SQLite may open them."""
    real = Path(os.path.realpath(place))
    with suppress(OSError):  # it does not exist, or SQLite says what is wrong
        mode = real.stat().st_mode
        if not stat.S_ISREG(mode):
            raise StoreError(f"{place} is {name_kind(mode)}; expected a file")
    wal, shm, journal = [path_beside(place, ending) for ending in ENDINGS]
    check_side_file(wal)
    check_side_file(shm)
    found = check_side_file(journal)
    if found is not None and found.st_size:
        _check_journal(real, journal)


def _check_journal(database: Path, journal: Path) -> None:
    """Raise StoreError if a rollback journal, with which SQLite repairs a database, does more than that."""
    try:
        number = open_side_file(journal, os.O_RDONLY)
        try:
            size = os.fstat(number).st_size
            head, tail = os.pread(number, JOURNAL_HEAD_BYTES, 0), os.pread(number, 8, max(size - 8, 0))
        finally:
            os.close(number)
        room = size + (database.stat().st_size if database.exists() else 0)
    except FileNotFoundError:
        return  # its writer has just completed the transaction
    except OSError as error:
        raise StoreError(f"{journal} cannot be read: {error.strerror}") from error
    fault = ""
    if tail == JOURNAL_MAGIC:
        fault = "names another file, which SQLite would delete"
    elif head.startswith(JOURNAL_MAGIC) and int.from_bytes(head[16:20]) * int.from_bytes(head[24:28]) > room:
        fault = "would make that file larger than both files together"
    if fault:
        raise StoreError(
            f"{journal} {fault}; arena never writes such a journal, so do not trust it or {database.name}: move both away; "
            f"`arena export --sound {quote(str(database))}` writes the sound matches of a store without its journal"
        )


def make_private(place: Path) -> None:
    """Let only the user read a database, which is created if it does not exist. SQLite gives new files beside it the same mode.

    Raises OSError if this fails, and StoreError as `check_database` does.
    """
    check_database(place)
    real = Path(os.path.realpath(place))
    real.parent.mkdir(parents=True, exist_ok=True)
    with suppress(FileExistsError):
        os.close(os.open(real, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, PRIVATE_FILE))
    for ending in ("", *ENDINGS):
        with suppress(FileNotFoundError):
            path_beside(place, ending).chmod(PRIVATE_FILE)


def remove_database(place: Path) -> None:
    """Delete a temporary database and the files beside it, without following links. Raises OSError if this fails."""
    for ending in ("", *ENDINGS):
        place.with_name(f"{place.name}{ending}").unlink(missing_ok=True)

"""Ensures that a store has only one writer at a time, with a lock on a file next to the store.

This file names the process that holds the store. The operating system releases the lock when this process ends.
"""

import os
from contextlib import ExitStack, suppress
from io import FileIO
from pathlib import Path
from typing import Self

from arena.errors import StoreError, StoreFull
from arena.store.side_files import check_database, open_side_file, path_beside

OWNER_BYTES = 32
"""The most bytes of a lock file that are read. It has the id of a process."""


class Lock:
    """Holds `STORE.lock` until it is released. Raises StoreError, with the owner's process id, if another process has it."""

    _file: FileIO | None = None
    _held = False

    def __init__(self, store: Path) -> None:
        self._path = path_beside(store, ".lock")  # a store has the same lock under all its names
        with ExitStack() as ends:
            ends.callback(self.release)
            self._acquire(store)
            ends.pop_all()

    def _acquire(self, store: Path) -> None:
        import fcntl

        while not self._held:
            try:
                self._file = file = FileIO(open_side_file(self._path, os.O_RDWR | os.O_CREAT), "r+")
            except OSError as error:
                raise StoreError(f"{store} cannot be locked: {error.strerror} ({self._path})") from error
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                owner = os.pread(file.fileno(), OWNER_BYTES, 0).decode("ascii", "replace").strip() or "unknown"
                raise StoreError(f"{store} is in use by process {owner}; wait for it to end, or choose another store") from None
            except OSError as error:
                raise StoreError(f"{store} cannot be locked: {error.strerror} ({self._path}); choose another path") from error
            with suppress(OSError):
                self._held = os.path.samestat(os.fstat(file.fileno()), self._path.stat())
            if not self._held:
                file.close()  # its last owner has just removed it
        try:
            file.truncate(0)
            file.write(f"{os.getpid()}\n".encode())
        except OSError as error:
            raise StoreFull(
                f"{store} cannot be locked: {error.strerror} ({self._path}); free some space and run the same command again"
            ) from error

    def release(self) -> None:
        """Release the lock. The file is removed while it is still locked, so that no process can lock a removed file."""
        if self._held:
            self._held = False
            with suppress(OSError):
                self._path.unlink()
        if self._file is not None:
            self._file.close()

    def __del__(self) -> None:
        """Release the lock if a signal has interrupted `release`. The file stays, as a forked process has this object, too."""
        if self._file is not None:
            self._file.close()

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Release the lock."""
        self.release()


def lock_store(place: Path) -> Lock:
    """Lock a store that exists or is about to be created. Raises StoreError with the reason if this fails."""
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"{place} cannot be created: {error.strerror}; choose another place for the store") from error
    check_database(place)
    return Lock(place)


def is_held(store: Path) -> bool:
    """Return whether a process writes to a store, according to the process id in its lock file. The lock is not touched."""
    try:
        file = open_side_file(path_beside(store, ".lock"), os.O_RDONLY)
        try:
            owner = int(os.read(file, OWNER_BYTES))
        finally:
            os.close(file)
        os.kill(owner, 0)
    except PermissionError:
        return True
    except (StoreError, OSError, ValueError, OverflowError):
        return False
    return True

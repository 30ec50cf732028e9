"""Ensures that a store has only one writer at a time. There are two locks: on a file next to the store, and on the store itself.

The file next to the store names the process that holds the store. The operating system releases the lock on it when this process
ends. The lock on the store itself also works for hard links and mounts.
"""

import os
import sys
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Self

from arena.errors import StoreError, StoreFull
from arena.store.side_files import check_database, open_side_file, path_beside

OWNER_BYTES = 32
"""The most bytes of a lock file that are read. It has the id of a process."""
Inode = tuple[int, int]
"""The device and the number of a file, which are the same for all of its names."""
_locked: dict[Inode, int] = {}
"""The file descriptors of stores that this process writes or has written."""
_used: Counter[Inode] = Counter()
"""The number of connections of this process to each store."""
_held: set[Inode] = set()
"""Stores that this process has locked."""


def use(store: Path) -> Inode:
    """Note that this process has opened another connection to a store, and return the inode of the store."""
    status = store.stat()
    _used[status.st_dev, status.st_ino] += 1
    return status.st_dev, status.st_ino


def leave(inode: Inode) -> None:
    """Note that a connection has been closed."""
    _used[inode] -= 1
    _tidy(inode)


def _tidy(inode: Inode) -> None:
    """Close the descriptor of a store that this process no longer uses or locks.

    Closing any descriptor of a file releases all locks that SQLite has on it, so the last connection must be closed first.
    """
    if _used[inode] <= 0 and inode in _locked and inode not in _held:
        os.close(_locked.pop(inode))


class Lock:
    """Holds `STORE.lock` until it is released. Raises StoreError, with the owner's process id, if another process has it."""

    def __init__(self, store: Path) -> None:
        self._store: Inode | None = None
        self._path = path_beside(store, ".lock")  # a store has the same lock under all its names
        self._file = self._acquire(store)
        try:
            os.ftruncate(self._file, 0)
            os.write(self._file, f"{os.getpid()}\n".encode())
        except OSError as error:
            self.release()
            raise StoreFull(
                f"{store} cannot be locked: {error.strerror} ({self._path}); make room and run the same command again"
            ) from error
        if store.exists():
            try:
                self.hold(store)
            except BaseException:
                self.release()
                raise

    def hold(self, store: Path) -> None:
        """Lock the store itself once it exists. Raises StoreError if another process has locked it under another name."""
        if sys.platform != "linux":  # on other systems, this lock and the locks of SQLite conflict
            return
        import fcntl

        status = store.stat()
        key = (status.st_dev, status.st_ino)
        if key not in _locked:
            _locked[key] = os.open(store, os.O_RDONLY | os.O_CLOEXEC)
        try:
            fcntl.flock(_locked[key], fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise StoreError(f"{store} is in use by another process under another name; wait for it to end") from None
        except OSError:
            return  # the file system has no such locks
        self._store = key
        _held.add(key)

    def _acquire(self, store: Path) -> int:
        import fcntl

        while True:
            try:
                file = open_side_file(self._path, os.O_RDWR | os.O_CREAT)
            except OSError as error:
                raise StoreError(f"{store} cannot be locked: {error.strerror} ({self._path})") from error
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                owner = os.pread(file, OWNER_BYTES, 0).decode("ascii", "replace").strip() or "unknown"
                os.close(file)
                raise StoreError(f"{store} is in use by process {owner}; wait for it to end, or name another store") from None
            except OSError as error:
                os.close(file)
                raise StoreError(f"{store} cannot be locked: {error.strerror} ({self._path}); name another place") from error
            with suppress(OSError):
                if os.path.samestat(os.fstat(file), self._path.stat()):
                    return file
            os.close(file)  # its last owner has just removed it

    def release(self) -> None:
        """Release the lock. The file is removed while it is still locked, so that no process can lock a removed file."""
        if self._store is not None:
            import fcntl

            fcntl.flock(_locked[self._store], fcntl.LOCK_UN)
            _held.discard(self._store)
            _tidy(self._store)
            self._store = None
        if self._file >= 0:
            with suppress(OSError):
                self._path.unlink()
            os.close(self._file)
            self._file = -1

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
        raise StoreError(f"{place} cannot be made: {error.strerror}; name another place with --store") from error
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

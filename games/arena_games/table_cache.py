"""Tables that take long to build, kept in the user's cache folder, and never trusted unread.

A file holds a line that says what it is, a checksum, and the table. Whatever does not fit - a file cut short, one of another
version, one that somebody changed - is built anew. A folder that cannot be written to costs the time of building, nothing else.
"""

import os
from collections.abc import Callable
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path

from platformdirs import user_cache_path

from arena.whole_files import write_whole

VERSION = 1
"""Goes up when the meaning of a table changes."""
FOLDER = "ARENA_CACHE"
"""The environment variable that names another folder."""


def cached(name: str, size: int, build: Callable[[], bytes]) -> bytes:
    """Return the table `name` of `size` bytes, from the cache or from `build`."""
    file = folder() / f"{name}-v{VERSION}.table"
    kept = _read(file, name, size)
    if kept is not None:
        return kept
    table = build()
    with suppress(OSError):  # a full disk, a read-only folder: go on without
        file.parent.mkdir(parents=True, exist_ok=True)
        write_whole(file, _head(name, table), table)
    return table


def folder() -> Path:
    """The folder of the cache."""
    named = os.environ.get(FOLDER)
    return Path(named) if named else user_cache_path("arena")


def _head(name: str, table: bytes) -> bytes:
    return f"arena {VERSION} {name} {len(table)} {blake2b(table, digest_size=16).hexdigest()}\n".encode()


def _read(file: Path, name: str, size: int) -> bytes | None:
    try:
        data = file.read_bytes()
    except OSError:
        return None
    head, _, table = data.partition(b"\n")
    return table if len(table) == size and head + b"\n" == _head(name, table) else None

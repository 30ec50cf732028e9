"""The stores of a folder, found by what is in them."""

from pathlib import Path

from arena.store.schema import APPLICATION

STORE_SUFFIX = ".db"
MAX_STORES = 500
"""Stores of a folder that are shown."""
_HEADER = b"SQLite format 3\0"
_APPLICATION_AT = 68
"""Where the header of an SQLite file has the application id."""


def stores_in(folder: Path) -> list[Path]:
    """Return the stores in a folder and below it, the first MAX_STORES in the order of their names.

    A link is followed only where it leads to a file of the same folder; what begins with a dot is left alone.
    """
    root = folder.resolve()
    found = []
    for path in sorted(folder.rglob(f"*{STORE_SUFFIX}")):
        hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        if not hidden and path.is_file() and path.resolve().is_relative_to(root) and _is_store(path):
            found.append(path)
            if len(found) == MAX_STORES:
                break
    return found


def _is_store(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            head = file.read(_APPLICATION_AT + 4)
    except OSError:
        return False
    return head.startswith(_HEADER) and head[_APPLICATION_AT:] == APPLICATION.to_bytes(4, "big")

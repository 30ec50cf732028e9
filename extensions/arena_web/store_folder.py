"""Finds the stores in a folder. Stores are recognised by their content."""

from pathlib import Path

from arena.api.store import Store

STORE_SUFFIX = ".db"
MAX_STORES = 500
"""The maximum number of stores that are shown for a folder."""
_HEADER = b"SQLite format 3\0"
_APPLICATION_AT = 68
"""The offset of the application id in the header of a SQLite file."""
_OWN_INDEX = b"CREATE INDEX place_of_record ON place (record)"
"""A part of the schema of a store, by which one with a damaged header is recognised."""
SCHEMA_BYTES = 1 << 18
"""The schema is in the first bytes of a store, because it is written before any match."""


def stores_in(folder: Path) -> list[Path]:
    """Return the stores in a folder and its subfolders, at most MAX_STORES.

    Stores are sorted by name without the suffix, and stores in the folder itself come before stores in its subfolders. So a
    backup such as `backup/cup.db` or `cup-backup.db` comes after `cup.db`.

    A link is followed only if it leads to a file in the same folder. Names that begin with a dot are ignored.
    """
    root = folder.resolve()
    found = []
    for path in sorted(folder.rglob(f"*{STORE_SUFFIX}"), key=lambda path: (len(path.parts), path.with_suffix("").parts)):
        hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        if hidden or not path.is_file() or not path.resolve().is_relative_to(root):
            continue
        try:
            with path.open("rb") as file:
                head = file.read(SCHEMA_BYTES)
        except OSError:
            continue
        application = Store.APPLICATION.to_bytes(4, "big")
        if (head.startswith(_HEADER) and head.startswith(application, _APPLICATION_AT)) or _OWN_INDEX in head:
            found.append(path)
            if len(found) == MAX_STORES:
                break
    return found

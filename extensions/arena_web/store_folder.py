"""The stores of a folder, found by their content."""

from pathlib import Path

from arena.api.store import APPLICATION

STORE_SUFFIX = ".db"
MAX_STORES = 500
"""The maximum number of stores shown of a folder."""
_HEADER = b"SQLite format 3\0"
_APPLICATION_AT = 68
"""The offset of the application id in the header of an SQLite file."""


def stores_in(folder: Path) -> list[Path]:
    """Return the stores in a folder and below it, at most MAX_STORES.

    They are in the order of their names without the suffix, stores of the folder itself before stores of its subfolders: a backup
    such as `backup/cup.db` or `cup-backup.db` comes after `cup.db`.

    A link is followed only if it leads to a file of the same folder. Names that begin with a dot are ignored.
    """
    root = folder.resolve()
    found = []
    for path in sorted(folder.rglob(f"*{STORE_SUFFIX}"), key=lambda path: (len(path.parts), path.with_suffix("").parts)):
        hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        if hidden or not path.is_file() or not path.resolve().is_relative_to(root):
            continue
        try:
            with path.open("rb") as file:
                head = file.read(_APPLICATION_AT + 4)
        except OSError:
            continue
        if head.startswith(_HEADER) and head[_APPLICATION_AT:] == APPLICATION.to_bytes(4, "big"):
            found.append(path)
            if len(found) == MAX_STORES:
                break
    return found

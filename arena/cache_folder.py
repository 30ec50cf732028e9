"""The folder in which arena keeps what is expensive to compute or to get: machine code, tables, old files, answers of models.

Whoever can write there decides what arena runs. So arena uses a folder or a file there only if it belongs to the user or to root,
and if nobody else, not even a group, may write it. Otherwise it continues without the cache.
"""

import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

VARIABLE = "ARENA_CACHE"
"""The environment variable that names another folder."""
CHECKED = "ARENA_CACHE_CHECKED"
"""The environment variable that is set in a sandbox. There, files seem to have other owners, and it shows only checked ones."""
PRIVATE = "-private"
"""The end of the name of a second folder beside the cache, for the machine code of entries that bring their own code."""


def cache_folder() -> Path:
    """Return the cache folder of the user, or the folder that ARENA_CACHE names. It need not exist, and nothing is checked."""
    if named := os.environ.get(VARIABLE):
        return Path(named).absolute()
    from platformdirs import user_cache_path

    return user_cache_path("arena").absolute()


def private_cache() -> Path:
    """Return the folder beside the cache for the machine code of entries that bring their own code."""
    folder = cache_folder()
    return folder.with_name(f"{folder.name}{PRIVATE}")


def describe_cache_fault(folder: Path) -> str | None:
    """Return why a folder in the cache is not used, and what to do; None if it can be used, or does not exist.

    The folders from the cache down to this one must be of the user or of root, and only their owner may write them. Nobody may
    replace them, either: if everybody may write a folder above, it must be sticky, as /tmp is.
    """
    if CHECKED in os.environ or not hasattr(os, "geteuid"):
        return None
    tops = {cache_folder().resolve(), private_cache().resolve()}
    place, inside = folder.resolve(), True
    chain = (place, *place.parents)
    last = next((one for one in chain if one in tops), place)
    for one in chain:
        with suppress(FileNotFoundError):
            found = one.stat()
            fault = _describe_writers(found) if inside else None
            if not inside and found.st_mode & stat.S_IWOTH and not found.st_mode & stat.S_ISVTX:
                fault = "everybody may replace what is in it"
            if fault is not None:
                return f"the cache {place} is not used, because of {one}: {fault}; name another folder with {VARIABLE}"
        inside = inside and one != last
    return None


def make_cache_folder(folder: Path) -> bool:
    """Create a folder in the cache, if necessary. Return False if it cannot be created, or cannot be used safely.

    Others cannot open the cache itself. Folders in it have the usual mode, because a sandbox shows them to another user.
    """
    tops = (cache_folder(), private_cache())
    missing = [one for one in (folder, *folder.parents) if not one.exists()]
    try:
        for one in reversed(missing):
            one.mkdir(mode=0o755 if any(top in one.parents for top in tops) else 0o700, exist_ok=True)
        return describe_cache_fault(folder) is None
    except OSError:  # such as a file in place of a folder
        return False


def read_cached(file: Path) -> bytes:
    """Return the content of a file in the cache. Raises OSError if there is none, or if others may have written it."""
    with file.open("rb") as stream:
        fault = describe_cache_fault(file.parent) or _describe_writers(os.fstat(stream.fileno()))
        if fault is not None:
            raise PermissionError(f"{file} is not used: {fault}")
        return stream.read()


def are_own(places: Iterable[Path]) -> bool:
    """Return True if all files and folders are of the user or of root, and only their owners may write them."""
    for place in places:
        with suppress(FileNotFoundError):  # another process has just deleted it
            if _describe_writers(place.lstat()) is not None:
                return False
    return True


def _describe_writers(found: os.stat_result) -> str | None:
    """Return who else may write a file or a folder, with advice; None if nobody can."""
    if CHECKED in os.environ or not hasattr(os, "geteuid"):
        return None
    if found.st_uid not in (0, os.geteuid()):
        return f"it belongs to the user {found.st_uid}"
    if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH) and not stat.S_ISLNK(found.st_mode):
        return "others may write it (`chmod -R go-w` forbids this)"
    return None

"""Runs a command again whenever a file that it depends on is saved."""

import subprocess
from collections.abc import Callable, Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path
from time import sleep

from arena.errors import Interrupted

EVERY = 0.2
"""Seconds between two looks at the files if watchfiles is not installed."""

Snapshot = dict[Path, tuple[int, int, int]]
"""Modification time, size and inode of files: these change when a file is saved, the inode if an editor writes a new file."""


def watch(command: Sequence[str], folders: Iterable[Path], say: Callable[[str], None]) -> int:
    """Run `command` in a process of its own, and again whenever a Python file in one of `folders` is saved; 0 at Ctrl-C.

    A save while the command runs counts. With the package watchfiles the system reports saves; without it, the files are
    looked at five times a second.
    """
    watched = sorted({folder.resolve() for folder in folders})
    try:
        while True:
            before = snapshot(watched)
            subprocess.run(command, check=False)  # noqa: S603 - the user's own command line
            say(f"watching {', '.join(map(str, watched))}; Ctrl-C ends it")
            _wait(watched, before)
    except (Interrupted, KeyboardInterrupt):
        return 0


def snapshot(folders: Iterable[Path]) -> Snapshot:
    """The state of every Python file in the folders, without subfolders."""
    found: Snapshot = {}
    for file in [file for folder in folders for file in folder.glob("*.py")]:
        try:
            status = file.stat()
        except OSError:  # it is being replaced
            continue
        found[file] = (status.st_mtime_ns, status.st_size, status.st_ino)
    return found


def _wait(folders: Sequence[Path], before: Snapshot) -> None:
    if find_spec("watchfiles") is None:
        while snapshot(folders) == before:
            sleep(EVERY)
        return
    import watchfiles  # an extra

    events = watchfiles.watch(*folders, recursive=False, yield_on_timeout=True, rust_timeout=500, step=20)
    for _ in events:
        if snapshot(folders) != before:
            return

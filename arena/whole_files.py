"""Writes files so that a file is either written completely or not changed at all."""

import os
import tempfile
from contextlib import ExitStack
from pathlib import Path


def write_whole(place: Path, *parts: bytes, mode: int = 0o644) -> None:
    """Write a file in one step, so that readers never see an incomplete file.

    The `parts` are written one after the other, with `mode`, into a new file in the same folder, which is then renamed to
    `place`. If this fails, OSError is raised and the old file stays.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_whole(Path(folder) / "table", b"head ", b"body")
    ...     (Path(folder) / "table").read_bytes()
    b'head body'
    """
    number, name = tempfile.mkstemp(dir=place.parent, prefix=f".{place.name[:40]}.")
    with ExitStack() as ends:
        ends.callback(Path(name).unlink, missing_ok=True)
        with os.fdopen(number, "wb") as stream:
            stream.writelines(parts)
        Path(name).chmod(mode)
        Path(name).replace(place)
        ends.pop_all()

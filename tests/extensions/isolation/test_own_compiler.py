"""The folder with the machine code of entries that bring their own code does not grow without end."""

import fcntl
import os
from pathlib import Path

import pytest

from arena_isolation import own_compiler


def test_the_oldest_code_is_deleted_except_where_a_process_compiles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of five entries has 100 bytes. The oldest one is locked by a process that compiles, and the new one stays."""
    monkeypatch.setattr(own_compiler, "MAX_KEPT_BYTES", 300)
    for age, name in enumerate(["new", "fourth", "third", "second", "oldest"]):
        (tmp_path / name).mkdir()
        for file in ("a.code", "b.code"):
            (tmp_path / name / file).write_bytes(b"x" * 50)
            os.utime(tmp_path / name / file, (1e9 - age, 1e9 - age))
    (tmp_path / "elsewhere").symlink_to(tmp_path / "new")
    with (tmp_path / "oldest.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        own_compiler._delete_oldest(tmp_path / "new")
    left = {place.name for place in tmp_path.iterdir() if place.is_dir() and not place.is_symlink() and any(place.iterdir())}
    assert left == {"new", "fourth", "oldest"}
    own_compiler._delete_oldest(tmp_path / "new")
    assert len(list((tmp_path / "oldest").iterdir())) == 2, "the limit is kept, so nothing more is deleted"

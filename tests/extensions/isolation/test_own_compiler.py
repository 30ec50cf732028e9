"""The folder with the machine code of entries that bring their own code does not grow without limit, and keeps no locks."""

import fcntl
import os
from pathlib import Path

import pytest

from arena_isolation import own_compiler


def test_the_oldest_code_is_deleted_unless_a_process_is_compiling_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
        own_compiler._tidy(tmp_path / "new")
    left = {place.name for place in tmp_path.iterdir() if place.is_dir() and not place.is_symlink() and any(place.iterdir())}
    assert left == {"new", "fourth", "oldest"}
    own_compiler._tidy(tmp_path / "new")
    assert len(list((tmp_path / "oldest").iterdir())) == 2, "the limit is kept, so nothing more is deleted"


def test_only_the_process_that_holds_a_lock_deletes_its_file(tmp_path: Path) -> None:
    """Another process does not delete it, and does not use a lock if its file was deleted while it waited."""
    folder, place = tmp_path / "entry", tmp_path / "entry.lock"
    with own_compiler._lock(folder, wait=False) as first:
        with own_compiler._lock(folder, wait=False) as second:
            assert (first, second) == (True, False)
        own_compiler._tidy(tmp_path / "other")
        assert place.exists()
    assert not place.exists()


def test_a_lock_that_was_deleted_while_a_process_waited_for_it_is_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While this process waits for the lock, the process that holds it deletes the file, and a third process makes a new one."""
    place = tmp_path / "entry.lock"
    waits: list[int] = []

    def flock(file: int, how: int) -> None:
        if not waits:
            place.unlink()
            place.touch()
        waits.append(file)
        lock(file, how)

    lock = fcntl.flock
    monkeypatch.setattr(fcntl, "flock", flock)
    file = own_compiler._take(place, wait=True)
    assert os.path.samestat(os.fstat(file), place.stat())
    os.close(file)
    assert len(waits) == 2


def test_locks_that_killed_runs_have_left_are_deleted(tmp_path: Path) -> None:
    for name in ("new", "killed"):
        (tmp_path / name).mkdir()
        (tmp_path / f"{name}.lock").touch()
    own_compiler._tidy(tmp_path / "new")
    assert not list(tmp_path.glob("*.lock"))

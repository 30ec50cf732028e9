"""Another user of the machine reads what a ladder writes: its seed, e-mail addresses, code and logs."""

import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from arena.cli import cli
from arena.store import Store
from arena_ladder.host import LadderHost, open_ladder
from arena_ladder.ledger import Ledger
from arena_ladder.spec import load_ladder
from tests.ladder.hosting import SPEC, agent

pytestmark = [pytest.mark.unit, pytest.mark.promise(hole="modes", isolation="any")]
ROSTER = "id,name,e-mail\n1,Ada,ada@example.org\n"
HOST_FILES = {"course.yaml", "roster.csv"}
"""The files that the host has written."""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The working folder of the host, with a usual umask."""
    monkeypatch.chdir(tmp_path)
    before = os.umask(0o022)
    spec = SPEC.replace("{per_day: 1000}", "{authors: roster.csv}") + "marks: {pass: {agent: greedy, isolation: none}}\n"
    (tmp_path / "course.yaml").write_text(spec)
    (tmp_path / "roster.csv").write_text(ROSTER)
    yield tmp_path
    os.umask(before)


def find_readable(folder: Path) -> set[str]:
    """The files below a folder that other users may read. In a folder with the mode 700 they reach nothing."""
    found = set()
    for path in folder.iterdir():
        mode = path.stat().st_mode
        if path.is_dir() and mode & 0o011:
            found |= {f"{path.name}/{inner}" for inner in find_readable(path)}
        elif not path.is_dir() and mode & 0o044:
            found.add(path.name)
    return found


def use(host: LadderHost) -> None:
    """Hand in an agent, and unpack it as for a check."""
    one = host.ledger.submit("1", "mine", "python", "mine.py", agent(), 10)
    assert host.folder.lay_out(one).exists()
    host.folder.keep_check_log(one)
    host.folder.lay_out(host.ledger.submit("1", "other", "program", "mine.sh", b"#!/bin/sh\n", 10))


def test_other_users_read_nothing_that_a_ladder_writes(folder: Path) -> None:
    with open_ladder(load_ladder("course.yaml"), Path("results/course.db"), 1) as host:
        use(host)
        for words in (["backup", "monday.db"], ["submissions", "--zip", "all.zip"], ["marks", "--gradescope", "sheets"]):
            assert cli(["ladder", "admin", "course.yaml", *words], standalone_mode=False) == 0
        names = {path.name for path in folder.rglob("*")}
        assert {"course.db", "course.db-wal", "course.db.code", "course.db.logs", "monday.db", "all.zip", "results.json"} <= names
        assert find_readable(folder) - {"results/course.db.lock"} == HOST_FILES, "the lock has only the id of a process"
    assert find_readable(folder) == HOST_FILES


def test_a_store_that_an_admin_command_makes_is_private(folder: Path) -> None:
    assert cli(["ladder", "admin", "course.yaml", "tokens", "1"], standalone_mode=False) == 0
    assert (folder / "results/course.db").stat().st_mode & 0o777 == 0o600
    assert find_readable(folder) == HOST_FILES


def test_existing_files_are_made_private_when_the_ladder_starts(folder: Path) -> None:
    """An earlier version created them. A process that was killed left a write-ahead log of the database."""
    place = folder / "results/course.db"
    with open_ladder(load_ladder("course.yaml"), place, 1) as host:
        use(host)
    with Store.open(place, write=True) as store, closing(Ledger(place)) as ledger:
        ledger.expect("1")
        for path in (place, *place.parent.glob("course.db-*")):
            path.chmod(0o644)
        for path in (host.folder.path, host.folder.logs):
            path.chmod(0o755)
        assert len(find_readable(folder)) > 5
        kept = [(path, path.read_bytes()) for path in place.parent.glob("course.db-*")]
        store.flush()
    for path, content in kept:
        if path.name.endswith("-wal"):
            path.write_bytes(content)
    with open_ladder(load_ladder("course.yaml"), place, 1):
        assert find_readable(folder) - {"results/course.db.lock"} == HOST_FILES


def test_a_message_reports_files_that_cannot_be_made_private(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(path: Path, _mode: int) -> None:
        raise PermissionError(1, "Operation not permitted", str(path))

    monkeypatch.setattr(Path, "chmod", refuse)
    with open_ladder(load_ladder("course.yaml"), Path("results/course.db"), 1) as host:
        assert host.ledger.people()
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "results/course.db: other users of this machine may be able to read it: Operation not permitted" in said

"""The message about a damaged store."""

import re
from itertools import count
from pathlib import Path

import pytest

import arena
from arena import cli
from arena.errors import StoreDamaged
from arena.results.leaderboard import Leaderboard
from arena.store import Store
from arena.store.contents import describe_damage

PAGE_BYTES = 4096
ROUNDS = 60


@pytest.fixture(scope="module")
def damaged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store in which a page in the middle has another type. `PRAGMA integrity_check` and queries fail at it."""
    path = tmp_path_factory.mktemp("damaged") / "cup.db"
    arena.run({"game": "tic-tac-toe", "rounds": ROUNDS, "seed": 3, "agents": ["random", "greedy"]}, store=path)
    data = bytearray(path.read_bytes())
    data[len(data) // PAGE_BYTES // 2 * PAGE_BYTES] ^= 0xFF
    path.write_bytes(data)
    return path


def test_a_time_limit_is_not_reported_as_damage(damaged: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit is reached at each reading of the clock in turn."""
    with Store.open_sound(damaged) as store:
        assert len({record.id for record, _ in store.records()}) == 2 * ROUNDS
        assert store.lost_matches == []
    page = len(damaged.read_bytes()) // PAGE_BYTES // 2 + 1
    pages = len(damaged.read_bytes()) // PAGE_BYTES
    for looks in range(1, pages + 2):
        clock = count()
        monkeypatch.setattr("arena.store.recovery.monotonic", lambda clock=clock: float(next(clock)))
        monkeypatch.setattr("arena.store.contents.NAMING_SECONDS", float(looks))
        with pytest.raises(StoreDamaged) as caught:
            Leaderboard.load(damaged)
        said = str(caught.value)
        assert re.findall("[0-9a-f]{32}", said) == []
        assert re.search(
            rf"(?i)\(.*page {page}\b.*\) has changed since it was written; `arena check .*` lists what is damaged", said
        ), said
        assert "***" not in said
        assert "\n" not in said


@pytest.mark.parametrize(
    ("names", "sentence"),
    [
        (["match a"], "match a has changed since it was written;"),
        (["match a", "match b"], "match a and match b have changed since they were written;"),
        (["match a", "match b", "the run"], "match a, match b and the run have changed since they were written;"),
        (["match a"] * 632, "match a, match a, match a and 629 more have changed since they were written;"),
        (["the counts of match a"], "the counts of match a have changed since they were written;"),
    ],
)
def test_the_message_uses_the_singular_or_plural_for_the_number_of_damaged_parts(names: list[str], sentence: str) -> None:
    assert sentence in str(describe_damage(Path("cup.db"), names))


def test_every_message_about_damage_explains_how_to_copy_the_undamaged_rest(tmp_path: Path) -> None:
    """Each byte of the header of the file, and of the end of its first page, is changed in turn."""
    whole, path = tmp_path / "whole.db", tmp_path / "my cup.db"
    arena.run({"game": "tic-tac-toe", "rounds": 1, "agents": ["random", "greedy"]}, store=whole)
    new = path.with_name("my cup-sound.db")
    way = (
        f"`arena check '{path}'` lists what is damaged; `arena merge --sound '{new}' '{path}'` copies the rest to a new store, "
        "which `arena run` continues"
    )
    said = []
    for place in [*range(16, 112), *range(PAGE_BYTES - 40, PAGE_BYTES)]:
        data = bytearray(whole.read_bytes())
        data[place] ^= 0xFF
        path.write_bytes(data)
        try:
            Leaderboard.load(path)
        except StoreDamaged as error:
            said.append(str(error))
    assert len(said) > 20
    assert any("database disk image is malformed" in one for one in said)
    assert [one for one in said if not one.endswith(way)] == []


def test_several_stores_are_checked_in_one_call(
    damaged: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The exit code is the worst one."""
    sound, empty = tmp_path / "sound.db", tmp_path / "empty.db"
    arena.run({"game": "tic-tac-toe", "rounds": 1, "agents": ["random", "greedy"]}, store=sound)
    empty.touch()

    def check(*stores: Path) -> int:
        return cli.main(["check", *map(str, stores)])

    assert check(sound, sound) == 0
    assert check(damaged, sound) == 1
    capsys.readouterr()
    assert check(empty, damaged, sound) == 2
    said = capsys.readouterr()
    assert [line for line in said.out.splitlines() if ".db: " in line] == [
        f"{damaged}: {2 * ROUNDS} matches, 1 fault",
        f"{sound}: 2 matches, 0 faults",
    ]
    assert said.err.startswith(f"{empty} has no matches yet")
    assert check(sound, Path("greedy")) == 2

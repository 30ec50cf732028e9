"""Stores: records, locks, merges, and errors of files and disks."""

import getpass
import json
import os
import platform
import shlex
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import arena
from arena.cli import cli
from arena.errors import StoreError, StoreFull
from arena.format import Pairing
from arena.limits import Limits
from arena.match.record import Decision, Record
from arena.results.leaderboard import Leaderboard
from arena.results.stored_tallies import tallies_of
from arena.results.tally import Tally
from arena.schedule.board_info import BoardInfo
from arena.schedule.runner import MatchRunner
from arena.schedule.schedule import Schedule, Scheduled
from arena.spec import load_spec
from arena.store import Store, put_aside
from arena.store.rows import decisions_of
from arena.store.run import ForeignCode, Run, describe_environment
from arena.tournament.queue import Shard
from arena.tournament.run import Monitor, RunSettings, play_tournament, resume_secret
from arena_records.merger import StoreConflict, merge_stores
from tests.core.results.one_by_one import count_one_by_one
from tests.core.store.conftest import timeless
from tests.eventually import eventually

SPEC: dict[str, Any] = {"game": "tic-tac-toe", "rounds": 3, "seed": 7, "agents": ["random", "greedy", "lookahead"]}
SHARED = {**SPEC, "seed": 8}
TABLES = ("record", "detail", "place", "effort")


def test_a_replayed_void_match_leaves_no_old_rows(tmp_path: Path) -> None:
    """With four seats, a match has rows in all tables."""
    spec = load_spec({"game": "hearts", "rounds": 1, "agents": [{"agent": "random", "label": label} for label in "abcd"]})
    (scheduled, *_) = Schedule(spec).take(1)
    with closing(MatchRunner(spec)) as stage:
        record = stage.play(scheduled)
    for played in (record._replace(termination="void"), record):
        with Store.open(tmp_path / "a.db", write=True) as store:
            store.begin(Run.of(spec))
            store.add(scheduled, played)
    with closing(sqlite3.connect(tmp_path / "a.db")) as connection:
        counts = {table: connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in TABLES}
    assert counts == {"record": 1, "detail": 1, "place": 1, "effort": 2}
    assert timeless(tmp_path / "a.db") == {record.id: record.timeless()}


def test_a_match_that_is_not_yet_written_counts(tmp_path: Path) -> None:
    """Records are written within a fifth of a second, but the store has their labels at once."""
    spec = load_spec(SPEC)
    (scheduled, *_) = Schedule(spec).take(1)
    with Store.open(tmp_path / "a.db", write=True) as store, closing(MatchRunner(spec)) as stage:
        store.begin(Run.of(spec))
        record = stage.play(scheduled)
        store.add(scheduled, record)
        assert [store.holds([label]) for label in (*record.labels, "nobody")] == [True, True, False]


def test_a_record_keeps_every_field(tmp_path: Path) -> None:
    spec = load_spec(SPEC)
    first = arena.run(spec).played[0]
    odd = first.record._replace(
        answer="1 2 3",
        solved=True,
        message="a \ud800 b",
        traceback="x\ny",
        cost=1.5,
        moves=None,
        timing={"overrun": 0.25},
        seat=1,
        decisions=(
            Decision(0, 1, 2, 0.5, None, None),
            Decision(1, 10**15, 0, 0.0, 3, None),
            Decision(0, 0, 10**15, 1.0, None, -1e-300),
            Decision(1, 0, 0, 0.25, 10**15, 1.7976931348623157e308),
            Decision(0, 1, 0, 0.0, 5, 0.999997, exact=True),
            Decision(0, 1, 0, 0.0, 5, 1.0, exact=True, fallback=True),
            Decision(1, 1, 0, 0.0, None, None, fallback=True),
            Decision(0, 1, 0, 0.0, None, -1.0, exact=True),
        ),
    )
    with Store.open(tmp_path / "odd.db", write=True) as store:
        store.begin(Run.of(spec))
        store.add(Scheduled(*first[:3]), odd)
        store.flush()
        found, place = store.record(odd.id[:6])
    assert found.timeless() == odd._replace(message="a \\ud800 b").timeless()
    assert found.timing == odd.timing
    for kept, given in zip(found.decisions, odd.decisions, strict=True):
        assert kept.seconds == pytest.approx(given.seconds, abs=1e-9)
    assert place == Scheduled(first.number, first.board, first.pairing)


def test_a_decision_without_the_flag_exact_has_no_proven_value() -> None:
    """Stores of earlier versions do not have this flag."""
    assert [(one.value, one.exact) for one in decisions_of("0,5,0,1000,3,1.0;1,5,0,1000,,-1.0,1;0,5,0,1000")] == [
        (1.0, False), (-1.0, True), (None, False)
    ]  # fmt: skip


@pytest.mark.parametrize("spec", ["versus", "puzzle", "seats", "faults"])
def test_a_board_computed_by_the_store_equals_one_computed_from_its_records(tmp_path: Path, spec: str) -> None:
    values: dict[str, dict[str, Any]] = {
        "versus": SPEC,
        "puzzle": {"game": {"name": "sliding-tiles", "shuffle": 12}, "agents": ["random", "greedy", "a-star"], "rounds": 6},
        "seats": {"game": "hearts", "agents": [{"agent": "random", "label": label} for label in "abcd"], "rounds": 1},
        "faults": {**SPEC, "plugins": [str(_faulty(tmp_path))], "agents": ["random", "faulty", "greedy"]},
    }
    path = tmp_path / "a.db"
    results = arena.run(values[spec], store=path)
    by_store = Leaderboard.load(path)
    tally = Tally(BoardInfo.of(results.spec.boards[0]))
    count_one_by_one(tally, [(one.number, one.pairing, one.record) for one in results.played])
    by_record = Leaderboard.of(tally, finished=True, store=str(path))
    assert [board.as_dict() for board in by_store] == [_rounded(by_record.as_dict())]
    assert by_store[0].failures == by_record.failures
    assert (spec == "faults") == bool(by_record.failures)
    with Store.open(path) as store:
        (stored,) = tallies_of(store, store.last().boards)
    for found, counted in zip(stored.attempts, tally.attempts, strict=True):
        assert list(found.rounds) == list(counted.rounds)
        assert list(found.seconds) == pytest.approx(list(counted.seconds), abs=1e-8)


def _rounded(value: Any) -> Any:
    """Sums of floats depend on their order in the last digits; a store keeps whole nanoseconds."""
    if isinstance(value, dict):
        return {key: _rounded(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_rounded(inner) for inner in value]
    return pytest.approx(value, abs=1e-8) if isinstance(value, float) else value


def _faulty(folder: Path) -> Path:
    file = folder / "faulty.py"
    file.write_text(
        "from arena import Agent, hookimpl\n"
        "class Faulty(Agent):\n"
        '    """Raises in its second move, and plays a wrong one as second."""\n'
        '    name = "faulty"\n'
        "    def choose(self, game, state, search):\n"
        "        if game.to_move(state): return 'nowhere'\n"
        "        if 'x' in game.format_state(state): raise RuntimeError('enough')\n"
        "        return game.actions(state)[0]\n"
        "@hookimpl\ndef arena_agents(): return [Faulty]\n"
    )
    return file


def test_a_run_without_matches_does_not_change_the_date_of_the_results(tmp_path: Path) -> None:
    path, then, later = tmp_path / "a.db", "2026-01-02T03:04:05+00:00", "2026-01-02T03:04:06+00:00"
    arena.run(SPEC, store=path)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE run SET started = ?, ended = ?", (then, later))
    arena.run(SPEC, store=path)
    with Store.open(path) as store:
        assert [(run.started, run.ended, run.idle) for run in store.runs()] == [(then, later, False), (then, later, True)]
    arena.run({**SPEC, "rounds": 4}, store=path)
    with Store.open(path) as store:
        assert (store.last().started > "2026", store.last().ended or "") > (True, "2026")
        assert store.last().started != then


def test_known_matches_are_not_played_again(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    played: list[str] = []
    arena.run(SPEC, store=path, observe=lambda one: played.append(one.record.id))
    assert len(played) == 18
    arena.run(SPEC, store=path, observe=lambda one: played.append(one.record.id))
    assert len(played) == 18
    more = {**SPEC, "rounds": 4, "agents": [{"agent": "minimax", "depth": 2}, "lookahead", "random", "greedy"]}
    arena.run(more, store=path, observe=lambda one: played.append(one.record.id))
    assert len(played) == len(set(played)) == 4 * 12
    assert [board.games for board in Leaderboard.load(path)] == [48]
    back = arena.run(SPEC, store=path, observe=lambda one: played.append(one.record.id))
    assert len(played) == 48
    assert Leaderboard.of_results(back)[0].games == 18  # the board is over the schedule of the spec at hand
    assert {record.id: record.timeless() for record in back.records} == {
        record.id: record.timeless() for record in arena.run(SPEC).records
    }


def test_a_second_process_that_writes_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    arena.run(SPEC, store=path)
    with Store.open(path, write=True), Store.open(path) as reader:
        assert len(reader) == 18
        with pytest.raises(StoreError, match=rf"in use by process {os.getpid()};"):
            Store.open(path, write=True)
    (tmp_path / "a.db.lock").write_text("1\n")
    with Store.open(path, write=True) as store:
        assert len(store) == 18
    assert not (tmp_path / "a.db.lock").exists()


@pytest.mark.process
def test_a_reader_sees_the_records_of_a_running_writer(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    played = arena.run(SPEC).played
    with Store.open(path, write=True) as store:
        store.begin(Run.of(load_spec(SPEC)))
        store.add(Scheduled(*played[0][:3]), played[0].record)
        assert eventually(lambda: Leaderboard.load(path)[0].games) == 1
        assert not Leaderboard.load(path)[0].facts.get("finished", True)


def test_files_that_are_not_stores_are_refused(tmp_path: Path) -> None:
    """The files are not changed."""
    text = tmp_path / "text.db"
    text.write_text("this is no database, but it is longer than a header would be" * 30)
    other = tmp_path / "other.db"
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE t (x)")
    connection.close()
    newer = tmp_path / "newer.db"
    arena.run(SPEC, store=newer)
    with sqlite3.connect(newer) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    older = tmp_path / "older.db"
    arena.run(SPEC, store=older)
    with sqlite3.connect(older) as connection:
        connection.execute("PRAGMA user_version = 1")
    connection.close()
    torn = tmp_path / "torn.db"
    arena.run({**SPEC, "rounds": 30}, store=torn)
    content = bytearray(torn.read_bytes())
    content[4096 : 4096 * 6] = b"\xff" * 4096 * 5
    torn.write_bytes(content)
    cases = [
        (text, "not a database"),
        (other, "another program's database"),
        (newer, "store version 99, here 3"),
        (
            older,
            r"before the first release of arena, or its header is damaged \(store version 1, here 3\); move",
        ),
        (tmp_path / "missing.db", "no store was found"),
        (tmp_path, "no store was found"),
    ]
    for path, words in cases:
        before = path.read_bytes() if path.is_file() else b""
        with pytest.raises(StoreError, match=words):
            Leaderboard.load(path)
        if path.is_file():
            with pytest.raises(StoreError, match=words):
                arena.run(SPEC, store=path)
            assert path.read_bytes() == before
    with pytest.raises(StoreError, match=r"torn\.db"):
        Leaderboard.load(torn)
    with pytest.raises(StoreError, match="is a folder"):
        arena.run(SPEC, store=tmp_path)


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """A file system of 300 KiB."""
    small = tmp_path / "small"
    small.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=300k", "tmpfs", str(small)]
    if sys.platform != "linux" or os.getuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("cannot mount a small file system here")
    yield small
    subprocess.run(["umount", str(small)], check=True)


@pytest.mark.process
def test_a_full_disk_ends_the_run_and_loses_nothing(small: Path) -> None:
    many = {**SPEC, "rounds": 200}
    with pytest.raises(StoreFull, match="the disk is full"):
        arena.run(many, store=small / "a.db")
    kept = timeless(small / "a.db")
    subprocess.run(["mount", "-o", "remount,size=50m", str(small)], check=True)
    arena.run(many, store=small / "a.db")
    whole = timeless(small / "a.db")
    assert kept.items() <= whole.items()
    assert whole == {record.id: record.timeless() for record in arena.run(many).records}


@pytest.mark.process
def test_a_disk_that_is_full_before_the_run_is_reported(small: Path) -> None:
    with suppress(OSError):
        (small / "rest").write_bytes(bytes(10**6))
    with pytest.raises(StoreFull, match=r"a\.db cannot be locked: No space left on device .*free some space"):
        arena.run(SPEC, store=small / "a.db")
    assert [file.name for file in small.iterdir()] == ["rest"]
    (small / "rest").unlink()
    arena.run(SPEC, store=small / "a.db")
    assert len(timeless(small / "a.db")) == 18


def test_a_store_without_matches_is_not_kept(tmp_path: Path) -> None:
    """A run with `fresh` that is interrupted before its first match leaves such a store."""
    path = tmp_path / "a.db"
    with Store.open(path, write=True):
        pass
    assert path.exists()
    assert put_aside(path) is None
    assert [file.name for file in tmp_path.iterdir() if file.suffix == ".db"] == []


def test_a_store_is_renamed_to_a_free_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.db"
    assert put_aside(path) is None
    names, kept = [], []
    rename = Path.rename

    def held(self: Path, target: Path) -> Path:
        with pytest.raises(StoreError, match="is in use by process"):
            Store.open(path, write=True)
        return rename(self, target)

    for seed in (1, 2):
        arena.run({**SPEC, "seed": seed}, store=path)
        kept.append(timeless(path))
        with Store.open(path, write=True), pytest.raises(StoreError, match="is in use by process"):
            put_aside(path)
        with monkeypatch.context() as patch:
            patch.setattr(Path, "rename", held)
            names.append(put_aside(path))
    assert names == [tmp_path / "a.1.db", tmp_path / "a.2.db"]
    assert [timeless(name) for name in names if name is not None] == kept
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a.1.db", "a.2.db"]


@pytest.mark.process
def test_a_store_on_a_read_only_medium_can_be_read(tmp_path: Path) -> None:
    if os.getuid() == 0:
        place = tmp_path / "disk"
        place.mkdir()
        if subprocess.run(["mount", "-t", "tmpfs", "tmpfs", str(place)], capture_output=True, check=False).returncode != 0:
            pytest.skip("cannot mount here")
        lock: Any = lambda: subprocess.run(["mount", "-o", "remount,ro", str(place)], check=True)  # noqa: E731
        free: Any = lambda: subprocess.run(["umount", str(place)], check=True)  # noqa: E731
    else:
        place = tmp_path / "folder"
        place.mkdir()
        lock, free = (lambda: place.chmod(0o555)), (lambda: place.chmod(0o755))
    try:
        arena.run(SPEC, store=place / "a.db")
        lock()
        assert Leaderboard.load(place / "a.db")[0].games == 18
        with pytest.raises(StoreError, match="cannot be locked"):
            arena.run(SPEC, store=place / "a.db")
        with pytest.raises(StoreError, match="cannot be"):
            arena.run(SPEC, store=place / "new" / "b.db")
    finally:
        free()


def test_a_merged_store_is_the_union_of_its_inputs(tmp_path: Path) -> None:
    whole = {record.id: record.timeless() for record in arena.run(SHARED).records}
    for number in (1, 2, 3):
        _shard(tmp_path / f"{number}.db", number, 3)
    parts = [timeless(tmp_path / f"{number}.db") for number in (1, 2, 3)]
    assert sorted(key for part in parts for key in part) == sorted(whole)
    assert all(parts)
    one, two, three = (tmp_path / f"{number}.db" for number in (1, 2, 3))
    assert merge_stores(tmp_path / "a.db", [one, two, three]) == 18
    assert merge_stores(tmp_path / "b.db", [three, one, two, one]) == 18
    assert merge_stores(tmp_path / "a.db", [tmp_path / "a.db", tmp_path / "b.db"]) == 18
    assert timeless(tmp_path / "a.db") == timeless(tmp_path / "b.db") == whole
    assert Leaderboard.load(tmp_path / "a.db")[0].games == 18
    assert Leaderboard.load(tmp_path / "a.db")[0].facts.get("finished", True)
    assert not Leaderboard.load(one)[0].facts.get("finished", True)
    with pytest.raises(StoreError, match=r"a\.db already exists; add the stores to it with `.*`, or") as caught:
        merge_stores(tmp_path / "a.db", [one])
    target = str(tmp_path / "a.db")
    assert shlex.split(str(caught.value).split("`")[1]) == ["arena", "merge", target, target, str(one)]


OTHERS: dict[str, tuple[dict[str, Any], str]] = {
    "game": ({"game": "connect-four"}, "only old.db has random at connect-four"),
    "entry": ({"agents": ["random", "greedy", "minimax"]}, "only old.db has minimax at tic-tac-toe"),
    "options": ({"agents": ["random", {"agent": "lookahead", "depth": 2}]}, "only old.db has lookahead"),
    "seed": ({"seed": 8}, "they have different seeds"),
}


@pytest.mark.parametrize("what", OTHERS)
@pytest.mark.parametrize("first", ["old.db", "new.db"])
def test_different_tournaments_are_not_merged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str, first: str) -> None:
    monkeypatch.chdir(tmp_path)
    change, words = OTHERS[what]
    spec = {"game": "tic-tac-toe", "rounds": 1, "seed": 7, "agents": ["random", "greedy"]}
    arena.run({**spec, **change}, store="old.db")
    arena.run(spec, store="new.db")
    _set_start("old.db", "2020-01-01T00:00:00+00:00")
    with pytest.raises(StoreConflict, match=f"old.db and new.db belong to different tournaments: {words}"):
        merge_stores("all.db", [first, *({"old.db", "new.db"} - {first})])
    assert not Path("all.db").exists()


@pytest.mark.parametrize("change", [{"rounds": 3}, {"agents": ["random", "greedy", "minimax"]}])
def test_stores_of_an_extended_spec_are_merged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: dict[str, Any]) -> None:
    """Matches of the older spec are used by the next run."""
    monkeypatch.chdir(tmp_path)
    spec = {"game": "tic-tac-toe", "rounds": 2, "seed": 7, "agents": ["random", "greedy"]}
    arena.run(spec, store="old.db")
    _set_start("old.db", "2020-01-01T00:00:00+00:00")
    _shard(Path("new.db"), 1, 2, {**spec, **change})
    there = set(timeless(Path("new.db")))
    idle = len(set(timeless(Path("old.db"))) - there)
    assert idle > 0
    done = CliRunner().invoke(cli, ["merge", "all.db", "old.db", "new.db"], standalone_mode=False)
    assert done.return_value == 0
    assert f"note: {idle} match" in done.stderr
    assert "`arena run SPEC --store all.db` adds the ones that belong to SPEC" in done.stderr
    whole = arena.run({**spec, **change}, store="all.db")
    assert set(timeless(Path("old.db"))) <= {record.id for record in whole.records}


def _set_start(path: str, time: str) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE run SET started = ?", (time,))


def _shard(path: Path, number: int, of: int, values: Mapping[str, Any] = SHARED) -> None:
    play_tournament(load_spec(values), path, RunSettings(shard=Shard(number, of)), Monitor())


def test_a_shard_is_merged_again_after_its_secret_is_revealed(tmp_path: Path) -> None:
    spec = load_spec({"game": "pig", "seed": "secret", "rounds": 1, "agents": ["random", "greedy"]})
    shard, whole = tmp_path / "shard.db", tmp_path / "whole.db"
    with Store.open(shard, write=True) as store:
        store.begin(Run.of(spec))
        scheduled = Schedule(spec).take(1)[0]
        with closing(MatchRunner(spec)) as runner:
            store.add(scheduled, runner.play(scheduled))
    merge_stores(whole, [shard])
    with Store.open(whole, write=True) as store:
        store.end()
    assert merge_stores(tmp_path / "a.db", [whole, shard]) == merge_stores(tmp_path / "b.db", [shard, whole]) == 1


def test_a_revealed_seed_remains_visible_while_a_longer_run_has_a_new_secret(tmp_path: Path) -> None:
    """The seed of the new round is hidden until the second run ends."""
    values = {"game": "pig", "seed": "secret", "agents": ["random", "greedy"]}
    path = tmp_path / "cup.db"
    (first,) = {record.seed for record in arena.run({**values, "rounds": 1}, store=path).records}
    assert isinstance(first, str)
    spec = resume_secret(load_spec({**values, "rounds": 2}), path)
    with Store.open(path, write=True) as store:
        store.begin(Run.of(spec))
        scheduled = Schedule(spec).take(3)[-1]
        with closing(MatchRunner(spec)) as runner:
            store.add(scheduled, runner.play(scheduled))
        store.flush()
        assert [record.seed for record, _ in store.records()] == [first, first, None]
        store.end()
        *known, new = [record.seed for record, _ in store.records()]
    assert known == [first, first]
    assert isinstance(new, str)
    assert new != first


@pytest.mark.parametrize(
    ("number", "end"), [(3, "a0.py, a1.py, a2.py"), (4, "a2.py, and 1 more"), (1003, "a2.py, and 1,000 more")]
)
def test_an_error_about_foreign_code_lists_three_places_and_counts_the_others(number: int, end: str) -> None:
    assert str(ForeignCode({f"a{place}.py": None for place in range(number)})).endswith(end)


@pytest.mark.process
def test_a_store_names_the_software_of_its_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It contains no host, user or folder. A merge keeps all entries."""
    head = _make_repository(tmp_path / "work")
    monkeypatch.chdir(tmp_path / "work")
    for name in ("a.db", "b.db"):
        arena.run(SPEC, store=tmp_path / name)
    with Store.open(tmp_path / "a.db") as store:
        [first] = Run.list_environments(store.runs())
    assert first["commit"] == head
    assert first["python"] == platform.python_version()
    assert first["numpy"] == np.__version__
    assert {"system", "machine"} < first.keys() <= {*Run.SOFTWARE, "system", "machine", "processor", "commit"}
    personal = {socket.gethostname(), getpass.getuser(), str(tmp_path), str(Path.home())}
    assert not [word for word in personal for text in first.values() if word in text.split()]
    monkeypatch.chdir(tmp_path)  # no repository
    arena.run(SPEC, store=tmp_path / "b.db")
    with Store.open(tmp_path / "b.db") as store:
        assert store.last().versions == first
    arena.run({**SPEC, "rounds": 4}, store=tmp_path / "b.db")
    merge_stores(tmp_path / "all.db", [tmp_path / "a.db", tmp_path / "b.db"])
    without = {name: text for name, text in first.items() if name != "commit"}
    for name in ("b.db", "all.db"):
        with Store.open(tmp_path / name) as store:
            assert Run.list_environments(store.runs()) == [first, without]
    told = CliRunner().invoke(cli, ["leaderboard", str(tmp_path / "all.db"), "--format", "json"]).output
    assert json.loads(told)["environments"] == [first, without]


def _make_repository(folder: Path) -> str:
    """Make a repository with a commit; return the hash of the commit."""
    words = ["git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@example.org"]
    folder.mkdir()
    subprocess.run([*words, "init", "-q"], check=True)
    subprocess.run([*words, "commit", "-q", "--allow-empty", "-m", "Begin"], check=True)
    return subprocess.run([*words, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()


@pytest.mark.process
def test_the_commit_equals_the_output_of_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The cases are loose and packed references, a subfolder, a worktree, and a detached HEAD."""
    place, tree = tmp_path / "repository", tmp_path / "tree"
    commit = _make_repository(place)
    (below := place / "a" / "b").mkdir(parents=True)

    def git(*words: str) -> None:
        subprocess.run(["git", "-C", str(place), *words], check=True, capture_output=True)

    def find(folder: Path) -> str | None:
        monkeypatch.chdir(folder)
        return describe_environment().get("commit")

    assert find(tmp_path) is None
    assert find(below) == commit
    git("worktree", "add", "-b", "other", str(tree))
    assert find(tree) == commit
    git("pack-refs", "--all")
    assert not (place / ".git" / "refs" / "heads" / "other").exists()
    assert find(below) == find(tree) == commit
    git("checkout", "--detach")
    assert find(place) == commit
    (place / ".git" / "HEAD").write_text("ref: refs/heads/none\n")
    assert find(place) is None
    (place / ".git" / "HEAD").write_bytes(b"\xff")
    assert find(place) is None


def test_contradicting_stores_are_not_merged(tmp_path: Path) -> None:
    arena.run(SPEC, store=tmp_path / "a.db")
    arena.run(SPEC, store=tmp_path / "b.db")
    with sqlite3.connect(tmp_path / "b.db") as connection:
        (key,) = connection.execute("SELECT id FROM record WHERE number = 5").fetchone()
        connection.execute("UPDATE record SET returns = '0.5,-0.5' WHERE number = 5")
    connection.close()
    before = (tmp_path / "a.db").read_bytes()
    with pytest.raises(StoreConflict, match=f"match {key.hex()} differs: returns is"):
        merge_stores(tmp_path / "a.db", [tmp_path / "a.db", tmp_path / "b.db"])
    assert (tmp_path / "a.db").read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.db", "b.db"]


def test_match_ids_may_be_abbreviated(tmp_path: Path) -> None:
    results = arena.run(SPEC, store=tmp_path / "a.db")
    with Store.open(tmp_path / "a.db") as store:
        ids: list[Record] = list(results.records)
        assert store.record(ids[0].id)[0] == store.record(ids[0].id[:12])[0]
        with pytest.raises(StoreError, match="several matches"):
            store.record(_shared([record.id for record in ids]))
        with pytest.raises(StoreError, match="expected a match id"):
            store.record("xyz")
        with pytest.raises(StoreError, match="holds no match"):
            store.record("f" * 32)


def _shared(ids: list[str]) -> str:
    """A first digit that two of 18 ids have: there are 16 digits."""
    return next(digit for digit in "0123456789abcdef" if sum(one.startswith(digit) for one in ids) > 1)


def test_an_empty_store_has_no_tallies(tmp_path: Path) -> None:
    spec = load_spec(SPEC)
    with Store.open(tmp_path / "a.db", write=True) as store:
        with pytest.raises(StoreError, match="contains no run yet"):
            store.last()
        store.begin(Run.of(spec))
        assert [tally.games for tally in tallies_of(store, store.last().boards)] == [0]


def test_large_counts_of_steps_are_summed(tmp_path: Path) -> None:
    """Each match has 10^15 steps, and the sum exceeds the integers of SQLite."""
    rounds = 2**63 // 10**15 + 1
    spec = load_spec({"game": {"name": "n-queens", "n": 4}, "agents": ["dfs"], "rounds": rounds})
    with closing(MatchRunner(spec)) as stage:
        first = Schedule(spec).take(1)[0]
        record = stage.play(first)._replace(answer="2 4 1 3", moves=Limits.MAX_COUNT, cost=None)
    with Store.open(tmp_path / "a.db", write=True) as store:
        store.begin(Run.of(spec))
        for number in range(rounds):
            store.add(Scheduled(number, 0, Pairing(number, (0,))), record._replace(id=f"{number:032x}"))
        store.flush()
        (tally,) = tallies_of(store, store.last().boards)
    assert (tally.games, tally.counts[0].solved, tally.counts[0].moves_of) == (rounds, rounds, rounds)
    assert tally.counts[0].moves / rounds == Limits.MAX_COUNT


def test_a_store_without_tables_is_created_again(tmp_path: Path) -> None:
    """A killed run leaves an empty database."""
    path = tmp_path / "early.db"
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
    connection.close()
    with pytest.raises(StoreError, match="has no matches yet"):
        Leaderboard.load(path)
    assert len(arena.run(SPEC, store=path).records) > 0

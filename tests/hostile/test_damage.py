"""A changed record is never taken for a result."""

import json
import random
import re
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

import arena
from arena import run as play
from arena.errors import StoreDamaged
from arena.results.leaderboard import Leaderboard
from arena.store import Store
from tests.conftest import Arena
from tests.core.store.test_recovery import check_copy, flip_bytes, read_all
from tests.rehash import rehash

pytestmark = [pytest.mark.unit, pytest.mark.promise(hole="record", isolation="any")]

SPEC = {"game": "tic-tac-toe", "rounds": 5, "seed": 3, "agents": ["random", "greedy"]}
CHANGES = [
    "UPDATE record SET returns = '-1.0,1.0' WHERE returns = '1.0,-1.0' AND number < 4",
    "UPDATE record SET nodes_0 = nodes_0 + 1 WHERE number = 2",
    "UPDATE record SET termination = 'timeout', seat = 1 WHERE number = 2",
    "UPDATE place SET seats = '1,0' WHERE number = 0",
    "UPDATE run SET boards = replace(boards, 'greedy', 'grandy')",
    "UPDATE run SET seed = 4",
    "UPDATE record SET digest = NULL WHERE number = 2",
    "UPDATE place SET checksum = NULL WHERE number = 0",
    "UPDATE run SET digest = NULL",
]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = tmp_path / "cup.db"
    arena.run(SPEC, store=path)
    return path


def changed(store: Path, statement: str) -> None:
    with sqlite3.connect(store) as connection:
        assert connection.execute(statement).rowcount > 0
    connection.close()


@pytest.mark.parametrize("statement", CHANGES)
def test_no_board_is_computed_from_changed_records(store: Path, statement: str) -> None:
    changed(store, statement)
    with pytest.raises(StoreDamaged, match=r"cup.db is damaged: .* has changed since it was written; `arena check .*`"):
        Leaderboard.load(store)
    with pytest.raises(StoreDamaged):
        arena.run({**SPEC, "rounds": 6}, store=store)
    with sqlite3.connect(store) as connection:
        assert connection.execute("SELECT (SELECT count(*) FROM run), (SELECT count(*) FROM record)").fetchone() == (1, 10)
    connection.close()


def test_a_complete_record_is_checked_against_its_hash(store: Path, invoke: Arena) -> None:
    """The test changes the actions, which no board uses."""
    changed(store, "UPDATE detail SET actions = actions || char(10) || '1' WHERE record = 3")
    with sqlite3.connect(store) as connection:
        key = connection.execute("SELECT lower(hex(id)) FROM record WHERE number = 3").fetchone()[0]
    connection.close()
    done = invoke("check", "cup.db")
    assert done.returncode == 1
    assert done.stdout.splitlines() == [
        f"match {key}: damaged since it was written",
        "cup.db: 10 matches (9 of them sound), 1 fault",
    ]
    for words in ("export", "leaderboard", "compare", "matches"):
        refused = invoke(words, "cup.db")
        assert (refused.returncode, f"match {key} has changed since it was written" in refused.stderr) == (1, True)
        assert len(refused.stdout.splitlines()) == (9 if words == "export" else 0)
    rest = invoke("export", "--sound", "cup.db")
    assert (rest.returncode, len(rest.stdout.splitlines()), key in rest.stdout, key in rest.stderr) == (0, 9, False, True)


COMMANDS = [
    "check cup.db",
    "export cup.db",
    "export --sound cup.db",
    "leaderboard --format json cup.db",
    "run cup.yaml --store cup.db",
]


@pytest.mark.parametrize("mask", [0x01, 0x08, 0xFF])
def test_every_command_names_the_match_with_a_changed_byte(store: Path, invoke: Arena, tmp_path: Path, mask: int) -> None:
    """The test changes one random byte of each page."""
    (tmp_path / "cup.yaml").write_text(json.dumps(SPEC))
    whole, ids = store.read_bytes(), read_ids(invoke("export", "cup.db").stdout)
    rng = random.Random(mask)
    for page in range(0, len(whole), 4096):
        place = rng.randrange(page + 4096 // 2, page + 4096) if page else rng.randrange(100)
        data = bytearray(whole)
        data[place] ^= mask
        store.write_bytes(data)
        with Store.open_sound(store, foreign=True) as opened:
            lost = opened.lost_matches
            damaged = bool(lost or opened.lost_parts)
        for words in COMMANDS:
            done = invoke(*words.split())
            assert "Traceback" not in done.stderr, (place, words)
            assert done.returncode == (1 if damaged and "--sound" not in words else 0), (place, words, done.stderr)
            assert all(name in done.stdout + done.stderr for name in lost), (place, words)
            if words.startswith("export"):
                assert ids - read_ids(done.stdout) == {name.removeprefix("match ") for name in lost}, (place, words)
            store.write_bytes(data)


def _flip_bit(place: float) -> Callable[[Path], object]:
    """Return a function that flips one bit of a file, at this share of its bytes."""

    def change(path: Path) -> None:
        data = bytearray(path.read_bytes())
        data[int(place * len(data))] ^= 0x10
        path.write_bytes(data)

    return change


def _drop_end(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size * 3 // 4 // 4096 * 4096])


REPAIRED: dict[str, Callable[[Path], object]] = {
    "header": lambda path: path.write_bytes(bytes(40) + path.read_bytes()[40:]),
    "end": _drop_end,
    "page": lambda path: path.write_bytes(path.read_bytes()[:20480] + bytes(4096) + path.read_bytes()[24576:]),
    "actions": lambda path: changed(path, "UPDATE detail SET actions = actions || char(10) || '1' WHERE record = 3"),
    "returns": lambda path: changed(path, "UPDATE record SET returns = '0.5,-0.5' WHERE number IN (1, 30)"),
    "place": lambda path: changed(path, "UPDATE place SET checksum = 1 WHERE number = 7"),
    **{f"bit {share} %": _flip_bit(share / 100) for share in range(5, 100, 5)},
}


@pytest.mark.parametrize("damage", REPAIRED)
def test_a_run_continues_with_the_sound_matches_of_a_damaged_store(damage: str, invoke: Arena, tmp_path: Path) -> None:
    """It plays the lost matches again, and ends like an undisturbed run."""
    spec, path = {**SPEC, "rounds": 40}, tmp_path / "cup.db"
    (tmp_path / "cup.yaml").write_text(json.dumps(spec))
    arena.run(spec, store=path)
    with Store.open(path) as store:
        whole = {record.id: (record.timeless(), place) for record, place in store.records()}
    [board] = Leaderboard.load(path)
    REPAIRED[damage](path)
    with Store.open_sound(path, foreign=True) as store:
        lost, parts, kept, has_run = store.lost_matches, store.lost_parts, len(store), bool(store.runs())
    if lost or parts:
        refused = invoke("run", "cup.yaml", "--store", "cup.db")
        assert (refused.returncode, "`arena merge --sound cup-sound.db cup.db` copies the rest" in refused.stderr) == (1, True)
    words = ["--sound", "cup-sound.db", "cup.db"]
    if not has_run:
        unknown = invoke("merge", *words)
        assert (unknown.returncode, "cup.db has lost the data of its runs" in unknown.stderr) == (1, True)
        words.append("--accept-changed-plugins")
    damaged = path.read_bytes()
    merged = invoke("merge", *words)
    assert (merged.returncode, merged.stdout) == (0, f"cup-sound.db: {kept} matches\n"), merged.stderr
    assert all(name in merged.stderr for name in [*lost, *parts])
    assert path.read_bytes() == damaged
    assert invoke("run", "cup.yaml", "--store", "cup-sound.db").returncode == 0
    with Store.open(tmp_path / "cup-sound.db") as store, store.snapshot():
        assert {record.id: (record.timeless(), place) for record, place in store.records()} == whole
    [again] = Leaderboard.load(tmp_path / "cup-sound.db")
    clock = ("ms_per_move", "cpu_per_move")
    shown = [[{key: value for key, value in row.items() if key not in clock} for row in one.rows] for one in (again, board)]
    assert (shown[0], again.remarks) == (shown[1], board.remarks)


def test_a_recovered_store_shows_that_matches_are_missing(store: Path, invoke: Arena) -> None:
    """A damaged store is never replaced, and its matches join those of a sound one."""
    whole = store.read_bytes()
    REPAIRED["actions"](store)
    refused = invoke("merge", "--sound", "cup.db", "cup.db")
    assert (refused.returncode, "cup.db is damaged and is kept as it is" in refused.stderr) == (2, True)
    assert invoke("merge", "new.db", "cup.db").returncode == 1
    assert invoke("merge", "--sound", "new.db", "cup.db").stdout == "new.db: 9 matches\n"
    assert "1 of 10 matches is missing" in invoke("leaderboard", "new.db").stdout
    store.with_name("backup.db").write_bytes(whole)
    assert invoke("merge", "--sound", "both.db", "cup.db", "backup.db").stdout == "both.db: 10 matches\n"


def test_matches_are_not_continued_if_their_secret_seed_is_lost(invoke: Arena, tmp_path: Path) -> None:
    arena.run({**SPEC, "seed": "secret"}, store=tmp_path / "cup.db")
    changed(tmp_path / "cup.db", "UPDATE run SET digest = NULL")
    for words in ([], ["--accept-changed-plugins"]):
        done = invoke("merge", "--sound", "new.db", "cup.db", *words)
        assert (done.returncode, "cup.db has lost its secret seed" in done.stderr) == (1, True)


def test_the_message_about_an_export_in_place_of_a_store_says_so(store: Path, invoke: Arena) -> None:
    store.with_name("cup.jsonl").write_text(invoke("export", "cup.db").stdout)
    done = invoke("merge", "new.db", "cup.jsonl")
    assert (done.returncode, "name its store instead: `arena merge --sound NEW STORE`" in done.stderr) == (2, True)


def read_ids(lines: str) -> set[str]:
    return {json.loads(line)["id"] for line in lines.splitlines()}


@pytest.mark.proof
@pytest.mark.parametrize("mask", [0x01, 0x80, 0xFF])
def test_a_changed_byte_of_a_store_hides_at_most_one_match_and_reports_it(store: Path, tmp_path: Path, mask: int) -> None:
    with Store.open(store) as opened:
        whole = read_all(opened)
    copy = tmp_path / "copy.db"
    assert {check_copy(copy, whole, at) for at in flip_bytes(store, copy, range(store.stat().st_size), mask)} == {0, 1}


def test_a_record_that_contradicts_itself_is_found(store: Path, invoke: Arena) -> None:
    """The cases are returns that do not add up, fewer actions than moves, and more decisions than actions."""
    changed(store, "UPDATE record SET returns = '1.0,1.0' WHERE number = 1")
    changed(store, "UPDATE detail SET actions = char(10) || '1' || char(10) || '1' WHERE record = 2")
    changed(store, "UPDATE detail SET actions = '' WHERE record = 3")
    changed(store, "UPDATE record SET moves = 0 WHERE number = 3")
    rehash(store)
    found = invoke("check", "cup.db")
    assert (found.returncode, "do not add up to 0" in found.stdout) == (1, True)
    assert "decisions: expected 0, one for each action" in found.stdout
    assert found.stdout.splitlines()[-1] == "cup.db: 10 matches, 3 faults"
    assert re.search("action 2: '1'", invoke("check", "cup.db", "--replay", "1").stdout)


UNREADABLE = [
    ("UPDATE detail SET labels = '[\"a' WHERE record = 1", "match "),
    ("UPDATE detail SET decisions = 'zzz' WHERE record = 1", "match "),
    ("UPDATE record SET returns = 'garbage' WHERE number = 1", "match "),
    ("UPDATE place SET board = 9 WHERE number = 0", "place 0"),
    ("DELETE FROM detail WHERE record = 1", "match "),
    ("DELETE FROM record WHERE number = 1", "detail 1"),
]


@pytest.mark.parametrize(("statement", "named"), UNREADABLE)
def test_unreadable_matches_are_named_and_left_out(store: Path, invoke: Arena, statement: str, named: str) -> None:
    changed(store, statement)
    done = invoke("check", "cup.db")
    assert (done.returncode, named in done.stdout, "Traceback" in done.stderr) == (1, True, False)
    for style in ("jsonl", "tidy"):
        rest = invoke("export", "--sound", "--format", style, "cup.db")
        assert rest.returncode == 0, rest.stderr
        assert len(rest.stdout.splitlines()) >= 9


def test_an_unreadable_run_is_reported(store: Path, invoke: Arena) -> None:
    """Its matches can still be read."""
    changed(store, "UPDATE run SET boards = 'garbage'")
    done = invoke("check", "cup.db")
    assert (done.returncode, done.stdout.splitlines()[-1]) == (1, "cup.db: 10 matches, 1 fault")
    assert done.stdout.startswith("the run of 2")
    rest = invoke("export", "--sound", "cup.db")
    assert (rest.returncode, len(rest.stdout.splitlines()), "the run of 2" in rest.stderr) == (0, 10, True)
    refused = invoke("export", "--sound", "--format", "tidy", "cup.db")
    assert (refused.returncode, "cup.db is damaged: the run of 2" in refused.stderr) == (1, True)


def test_check_exits_with_0_for_an_undamaged_store(store: Path, invoke: Arena, tmp_path: Path) -> None:
    done = invoke("check", "cup.db", "--replay", "1")
    assert (done.returncode, done.stdout) == (
        0,
        "cup.db: 10 matches, 0 faults; 100 % of the matches with known games were replayed\n",
    )
    (tmp_path / "no.db").write_text("no store")
    assert invoke("check", "no.db").returncode == 2


def _flip(data: bytes, place: int, mask: int) -> bytes:
    return data[:place] + bytes([data[place] ^ mask]) + data[place + 1 :]


HEADERS: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "the name of the format": (lambda data: bytes(16) + data[16:], "the header of the file"),
    "all of the header": (lambda data: bytes(100) + data[100:], "the header of the file"),
    "the size of a page": (lambda data: _flip(data, 17, 0x05), "the header of the file"),
    "a newer version": (lambda data: _flip(data, 63, 0x04), "the version in its header (7; this arena writes 3)"),
    "an older version": (lambda data: _flip(data, 63, 0x02), "the version in its header (1; this arena writes 3)"),
    "a negative version": (lambda data: _flip(data, 60, 0x80), "the version in its header (-2147483645; this arena writes 3)"),
}


@pytest.mark.parametrize("name", ["cup.db", "cup.sqlite", "cup"])
@pytest.mark.parametrize("what", HEADERS)
def test_a_damaged_header_does_not_hide_matches(store: Path, invoke: Arena, name: str, what: str) -> None:
    change, words = HEADERS[what]
    file = store.rename(store.with_name(name))
    file.write_bytes(change(file.read_bytes()))
    refused = invoke("leaderboard", name)
    assert (refused.returncode, refused.stdout) == (1, "")
    assert f"`arena check {name}`" in refused.stderr
    if "version" in what:
        writer = "was made by a newer version of arena" if "newer" in what else "was made before the first release of arena"
        assert f"{writer}, or its header is damaged" in refused.stderr
        assert "; install a newer arena. " in refused.stderr or "; move it away, " in refused.stderr
    done = invoke("check", name)
    first, last = done.stdout.splitlines()
    assert (done.returncode, first.startswith(words), last) == (1, True, f"{name}: 10 matches, 1 fault")
    rest = invoke("export", "--sound", name)
    assert (rest.returncode, len(rest.stdout.splitlines()), words in rest.stderr) == (0, 10, True)
    assert rest.stderr.startswith("note: 10 of 10 known matches are sound\nnote: damaged: ")


def test_check_and_export_count_the_same_undamaged_matches_of_a_truncated_store(tmp_path: Path, invoke: Arena) -> None:
    """The number grows with the length of the file. Matches of which only the result is left are not counted."""
    store = tmp_path / "cup.db"
    play({**SPEC, "rounds": 100}, store=store, workers=1)
    data, counts = store.read_bytes(), []
    for tenths in range(3, 10):
        store.write_bytes(data[: len(data) * tenths // 10])
        last = invoke("check", "cup.db").stdout.splitlines()[-1]
        found = re.fullmatch(r"cup.db: (\d+) match(?:es)? \((\d+) of them sound\), \d+ faults", last)
        assert found is not None, last
        known, sound = map(int, found.groups())
        rest = invoke("export", "--sound", "cup.db")
        assert (rest.returncode, len(rest.stdout.splitlines())) == (0, sound), rest.stderr
        note = f"note: {sound} of {known} known matches are sound; left out because of damage: "
        assert rest.stderr.startswith(note)
        assert rest.stderr.splitlines()[0].count("match ") == known - sound
        lost = re.search(r"so (\d+) match(?:es have| has) lost", rest.stderr)
        assert (lost is not None) is (known > 10), rest.stderr
        assert lost is None or 0 < int(lost[1]) <= known - sound
        counts.append(sound)
    assert counts == sorted(counts)
    assert counts[0] < counts[-1] < 200


@pytest.mark.parametrize(("length", "words"), [(50, "which has only 50 bytes left"), (9000, "9,000 bytes; its header says")])
def test_a_truncated_store_is_reported(store: Path, invoke: Arena, length: int, words: str) -> None:
    store.write_bytes(store.read_bytes()[:length])
    done = invoke("check", "cup.db")
    assert (done.returncode, words in done.stdout) == (1, True)
    assert done.stdout.endswith("cup.db: 0 matches, 1 fault\n")


@pytest.mark.parametrize("command", ["check", "leaderboard", "export", "replay", "run", "compare"])
def test_an_empty_store_is_reported_as_empty(store: Path, invoke: Arena, command: str) -> None:
    """SQLite deletes a write-ahead log beside an empty file, although the log may contain all matches."""
    store.write_bytes(b"")
    words = ["cup.db", "0"] if command == "replay" else ["cup.db"]
    refused = invoke(command, *words)
    assert (refused.returncode, refused.stdout) == (2, "")
    if command != "run":
        assert refused.stderr.startswith("cup.db has no matches yet: it is empty (0 bytes)")
    log = store.with_name("cup.db-wal")
    log.write_bytes(b"log")
    (store.parent / "cup.yaml").write_text(json.dumps(SPEC))
    assert "it is empty, but cup.db-wal beside it is not" in invoke("run", "cup.yaml", "--store", "cup.db").stderr
    assert "it is empty, but cup.db-wal beside it is not" in invoke("leaderboard", "cup.db").stderr
    assert log.read_bytes() == b"log"

"""Stores with nonsense values and right hashes: each command ends soon, and explains the fault in one line."""

import json
import random
import shutil
import sqlite3
import time
import traceback
import tracemalloc
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from click.testing import CliRunner

import arena
from arena.cli import cli
from arena.errors import ArenaError, StoreDamaged
from arena.format import Pairing
from arena.match.record import is_timing
from arena.results.leaderboard import Leaderboard
from arena.results.tally import Tally
from arena.store import Store
from arena.store.run import RUN, run_of_row
from tests.rehash import rehash

SPECS: dict[str, dict[str, Any]] = {
    "game": {"game": "tic-tac-toe", "rounds": 3, "seed": 3, "agents": ["random", "greedy", "lookahead"]},
    "swiss": {"game": "tic-tac-toe", "rounds": 2, "format": "swiss", "agents": ["random", "greedy", "lookahead", "minimax"]},
    "test": {"game": "tic-tac-toe", "rounds": 4, "format": "head-to-head", "agents": ["random", "greedy"]},
    "puzzle": {"game": {"name": "sliding-tiles", "rows": 2, "columns": 3}, "rounds": 2, "agents": ["a-star", "best-first"]},
    "four": {"game": "hearts", "rounds": 1, "agents": [{"agent": "random", "label": label} for label in "abcd"]},
    "chance": {"game": "kuhn-poker", "rounds": 12, "rank": "returns", "agents": ["random", "cfr-plus"], "seed": 1},
    "alone": {"game": "2048", "rounds": 1, "agents": ["random"], "limits": {"moves": 2}},
    "report": {
        "game": "tic-tac-toe",
        "rounds": 2,
        "agents": ["random", "greedy"],
        "report": {"where": "moves > 5", "columns": {"pace": "nodes / moves"}},
    },
}
JSON_CELLS = ("spec", "boards", "plugins", "versions")
CELLS: dict[str, tuple[str, ...]] = {
    "run": (*JSON_CELLS, "started", "ended", "name", "hash", "seed", "secret", "commitment", "revealed"),
    "place": ("number", "board", "round", "seats"),
    "effort": ("seat", "decisions", "nodes", "nanoseconds"),
    "record": (
        *("returns", "solved", "termination", "seat", "moves", "cost", "fallbacks", "drew", "play", "adjusted"),
        *("decisions_0", "nodes_0", "nanoseconds_0", "decisions_1", "nodes_1", "nanoseconds_1"),
    ),
    "detail": (
        *("game", "position", "labels", "seed", "actions", "answer", "message", "traceback", "decisions", "timing", "spent"),
    ),
}
PLAIN: list[Any] = [
    *(None, True, False, 0, 1, -1, 0.5, -1.5, 10**9, 2**31, 2**62, 10**30, 1e308, 5e-324, float("nan"), float("inf")),
    *(
        "",
        "x",
        " ",
        "0",
        "1e999",
        "a" * 100_000,
        "\ud800",
        "\0",
        "\x1b[31m\x1b]0;x\x07",
        "<script>x</script>",
        "../../x",
        "\u202e",
    ),
    *([], {}, [None], [[[]]], ["x", "x"], [-1, -1], {"a": [{}]}, {"name": 1}, [0] * 10_000),
]
TEXTS: list[Any] = [
    *(
        None,
        0,
        1,
        2,
        3,
        -1,
        7,
        2**31,
        10**9,
        2**62,
        1.5,
        float("inf"),
        b"",
        b"\xff\0",
        "",
        "x",
        "0",
        "0,0",
        "1,0",
        "0,1,2",
        "-1,0",
    ),
    *("-1,0,0,0", "0,-5,-5,-5", "0,0,0,0,x,y", "0,0,0,0,,nan", "0,0,0,0,1,1,-1", ";", "0,0,0,0;0,0,0,0;"),
    *(
        '{"start": [-1, -1]}',
        '{"overrun": {}}',
        '{"plain_reason": [[]]}',
        '[{"tokens": -5}]',
        '[{"tokens": [null]}, {"tokens": 1e308}]',
    ),
    *("9,9", "a,b", "nan,nan", "1e999,0", "1.0,-1.0,0.0", "timeout", "gave-up", "void", "\0", "\x1b[31m", "<b>", "a" * 100_000),
    *("[" * 9999, '["\\ud800"]', "[NaN, 1e999]", "{}", "[]", "null", '["a"]', "9" * 5000, "0,0,0,0", "0,0,0,0,1,nan"),
    *(
        "2026-01-01",
        "0001-01-01T00:00:00+00:00",
        "9999-12-31T23:59:59-23:59",
        "0" * 32,
        f"{'0' * 32},5:{'1' * 32}",
        f"7:{'0' * 32}",
    ),
]
COMMANDS = [
    *(
        "leaderboard",
        "leaderboard --format json --explain",
        "leaderboard --format html",
        "export",
        "export --format tidy",
        "check",
    ),
    *("compare", "compare --across", "compare --by nodes", "compare --methods", "compare -o c.html", "matches", "replay ID"),
    *(
        "report -o report.html",
        "report --format tex -o tex",
        "review",
        "merge -o merged.db",
        "dataset -o ds",
        "bundle -o b.arena",
    ),
    *("plan cup.yaml --elo 100 --pilot 0.01 --store", "run cup.yaml --quiet --plain --workers 1 --store"),
]
MAX_SECONDS = 5.0


class Case(NamedTuple):
    """A cell of a store, the place of a value in its JSON, and the value that is put there."""

    table: str
    column: str
    path: tuple[str | int, ...]
    value: Any
    where: str = ""


def list_paths(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Yield the path of each value in a JSON value."""
    if path:
        yield path
    if isinstance(value, dict):
        for key, one in value.items():
            yield from list_paths(one, (*path, key))
    elif isinstance(value, list):
        for index, one in enumerate(value):
            yield from list_paths(one, (*path, index))


def draw_case(path: Path, rng: random.Random) -> Case:
    """Draw a cell of a store, and a value for it. The JSON of a run is as likely as all other cells."""
    if rng.random() < 0.5:
        column = rng.choice(JSON_CELLS)
        with closing(sqlite3.connect(path)) as connection:
            whole = json.loads(connection.execute(f"SELECT {column} FROM run").fetchone()[0])
        place = rng.choice(list(list_paths(whole)))
        old: Any = whole
        for key in place:
            old = old[key]
        values = [*PLAIN, "gone"]
        if isinstance(old, (int, float)):
            values = [*PLAIN, 0, 1, 2, 3, -1, 10**6, 10**9, 2**53]
        elif isinstance(old, list) and rng.random() < 0.5:
            values = [old * 2, old * 1000, old[:-1], old[::-1]]
        return Case("run", column, place, rng.choice(values))
    table = rng.choice(list(CELLS))
    where = rng.choice(["", f" WHERE rowid = (SELECT max(rowid) FROM {table})" if table != "effort" else ""])
    return Case(table, rng.choice(CELLS[table]), (), rng.choice(TEXTS), where)


def replace_value(text: str, path: tuple[str | int, ...], value: Any) -> str:
    """Return a JSON text with another value at a path; with the value "gone", without it."""
    whole = json.loads(text)
    inner = whole
    for key in path[:-1]:
        inner = inner[key]
    if value == "gone":
        del inner[path[-1]]
    else:
        inner[path[-1]] = value
    return json.dumps(whole)


def apply_case(path: Path, case: Case) -> bool:
    """Put the value into the store, with right hashes. Return False if no store can hold it."""
    try:
        with closing(sqlite3.connect(path)) as connection, connection:
            value = case.value
            if case.path:
                value = replace_value(connection.execute(f"SELECT {case.column} FROM run").fetchone()[0], case.path, value)
            connection.execute(f"UPDATE {case.table} SET {case.column} = ?{case.where}", (value,))
        rehash(path)
    except (sqlite3.Error, ValueError, TypeError, OverflowError):
        return False
    return True


def find_fault(words: list[str]) -> str | None:
    """Run a command in this process. Return the fault in its end, or None."""
    began = time.process_time()
    done = CliRunner().invoke(cli, words)
    seconds = time.process_time() - began
    error = done.exception
    if error is not None and not isinstance(error, (ArenaError, SystemExit)):
        last = traceback.extract_tb(error.__traceback__)[-1]
        return f"{type(error).__name__}: {error!s:.200} ({last.filename}:{last.lineno})"
    if isinstance(error, ArenaError) and (len(str(error).splitlines()) != 1 or not str(error).isprintable()):
        return f"not a printable line: {error!s:.300}"
    if done.exit_code not in (0, 1, 2) or "Traceback" in done.output:
        return f"exit code {done.exit_code}: {done.output[-300:]}"
    return f"{seconds:.1f} s" if seconds > MAX_SECONDS else None


@pytest.mark.parametrize(
    ("cases", "commands"), [pytest.param(20, 1), pytest.param(150, len(COMMANDS), marks=pytest.mark.proof)], ids=["some", "many"]
)
@pytest.mark.parametrize("kind", SPECS)
def test_no_command_crashes_on_a_nonsense_value(
    kind: str, cases: int, commands: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each command works, or refuses the store in one line."""
    monkeypatch.chdir(tmp_path)
    store, spec = Path("cup.db"), Path("cup.yaml")
    spec.write_text(json.dumps(SPECS[kind]))
    arena.run(str(spec), store=store)
    with closing(sqlite3.connect(store)) as connection:
        key = connection.execute("SELECT lower(hex(id)) FROM record").fetchone()[0]
    whole, rng, tried = store.read_bytes(), random.Random(kind), 0
    while tried < cases:
        for one in tmp_path.iterdir():
            if one != tmp_path / spec:
                shutil.rmtree(one) if one.is_dir() else one.unlink()
        store.write_bytes(whole)
        case = draw_case(store, rng)
        if not apply_case(store, case):
            continue
        tried, altered = tried + 1, store.read_bytes()
        for command in rng.sample(COMMANDS, commands):
            if command == "review" and kind == "four":
                continue  # judging hearts takes minutes
            words = command.replace("ID", key).split()
            words = [*words, "cup.db"] if words[-1] == "--store" else [words[0], "cup.db", *words[1:]]
            store.write_bytes(altered)
            assert find_fault(words) is None, (kind, command, case)


@pytest.mark.parametrize("stride", [pytest.param(23), pytest.param(1, marks=pytest.mark.proof)])
def test_each_value_is_checked_when_it_is_read(stride: int, tmp_path: Path) -> None:
    """The test replaces each value in each JSON cell with each other value."""
    for kind in ("test", "puzzle", "report"):
        store = tmp_path / f"{kind}.db"
        arena.run(SPECS[kind], store=store)
        with closing(sqlite3.connect(store)) as connection:
            row = connection.execute(f"SELECT started, ended, revealed, {RUN} FROM run").fetchone()
        names = ["started", "ended", "revealed", *RUN.split(", ")]
        cases = [
            (column, path, value)
            for column in JSON_CELLS
            for path in list_paths(json.loads(row[names.index(column)]))
            for value in PLAIN
        ]
        refused = []
        for column, path, value in cases[::stride]:
            cells = list(row)
            cells[names.index(column)] = replace_value(cells[names.index(column)], path, value)
            try:
                run = run_of_row(cells)
            except ValueError as error:
                refused.append(str(error).startswith(column))
            else:
                json.dumps([run.spec, [board.as_dict() for board in run.boards], run.versions])
                Leaderboard.render(run, Leaderboard.of_tallies([Tally(board) for board in run.boards], finished=False))
        assert all(refused)
        assert len(refused) > len(cases) / stride / 3


@pytest.mark.parametrize(
    ("case", "words"),
    [
        (Case("run", "boards", (0, "labels", 1), 7), "(boards.0.labels.1: expected text, got 7) has changed since"),
        (Case("run", "boards", (0, "kind"), "x"), "(boards.0.kind: expected one of 'versus', 'puzzle' or 'score', got 'x')"),
        (Case("run", "boards", (0, "size"), -1), "(boards.0.size: expected a number of matches, got -1)"),
        (
            Case("run", "boards", (0, "anchor"), "nobody"),
            "(boards.0.labels: expected a label for each entry, but 'nobody' is not",
        ),
        (Case("run", "spec", ("values",), 5), "(spec.values: expected a mapping, got 5)"),
        (Case("run", "spec", ("folder",), "/tmp/\0"), "(spec.name, folder, plugins: expected the path of a file, got"),
        (Case("run", "versions", ("python",), 3), "(versions.python: expected text, got 3)"),
        (Case("run", "started", (), "then\x1b[31m"), "the run of then\\x1b[31m (started: expected another value"),
        (Case("place", "board", (), "0,0"), "place 0 of match"),
        (Case("place", "round", (), 10**9), "place 0 of match"),
        (Case("place", "seats", (), "1,1"), "place 0 of match"),
        (Case("place", "board", (), -1), "place 0 of match"),
        (Case("place", "board", (), 7), "place 0 of match"),
    ],
)
def test_a_message_contains_the_invalid_value(case: Case, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    arena.run(SPECS["game"], store="cup.db")
    assert apply_case(Path("cup.db"), case)
    with closing(sqlite3.connect("cup.db")) as connection:
        key = connection.execute("SELECT lower(hex(r.id)) FROM record r JOIN place p ON p.record = r.number").fetchone()[0]
    for command in (["leaderboard"], ["compare"], ["matches"], ["replay", key]):
        error = CliRunner().invoke(cli, [command[0], "cup.db", *command[1:]]).exception
        assert isinstance(error, StoreDamaged)
        assert words in str(error)
    assert words.partition(" has changed")[0] in CliRunner().invoke(cli, ["check", "cup.db"]).stdout


@pytest.mark.parametrize("changed", [0, 4], ids=["the first match", "a later match"])
def test_a_match_with_another_number_of_seats_than_the_rest_of_its_board_is_reported(
    changed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A game has one number of seats. A match with many seats among many pairs would make the tables of ratings very large."""
    monkeypatch.chdir(tmp_path)
    arena.run(SPECS["game"], store="cup.db")
    with Store.open(Path("cup.db"), write=True) as store:
        record, place = list(store.records(boards=True))[changed]
        key = f"{'0' * 31}{changed}"
        wide = record._replace(id=key, labels=("a", "b", "c"), returns=(1.0, 0.0, 0.0), drew=(True,) * 3, timing=None)
        assert place is not None
        store.add(place._replace(pairing=Pairing(0, (0, 1, 2))), wide)
    named = f"place {changed} of match {key}"
    for words in ("leaderboard", "compare", "export"):
        error = CliRunner().invoke(cli, [words, "cup.db"]).exception
        assert isinstance(error, StoreDamaged), words
        assert f"damaged: {named} has changed" in str(error)
    assert named in CliRunner().invoke(cli, ["check", "cup.db"]).stdout
    sound = map(json.loads, CliRunner().invoke(cli, ["export", "--sound", "cup.db"]).stdout.splitlines())
    assert [one["board"] for one in sound if one["id"] == key] == [None]


@pytest.mark.parametrize(
    ("column", "value"),
    [("timing", '{"start": 5}'), ("spent", '{"start": 5}'), ("decisions", '{"start": 5}'), ("labels", "[7, 8]")],
)
def test_a_match_with_a_nonsense_value_is_reported_and_left_out(
    column: str, value: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    arena.run(SPECS["test"], store="cup.db")
    with Store.open("cup.db") as store:
        ids = [record.id for record, _ in store.records()]
    assert apply_case(Path("cup.db"), Case("detail", column, (), value, " WHERE record = 2"))
    for command in ("leaderboard", "compare", "matches", "review"):
        error = CliRunner().invoke(cli, [command, "cup.db"]).exception
        assert isinstance(error, StoreDamaged)
        assert f"match {ids[1]} has changed since it was written" in str(error)
    assert f"match {ids[1]}: damaged since it was written" in CliRunner().invoke(cli, ["check", "cup.db"]).stdout
    rest = CliRunner().invoke(cli, ["export", "--sound", "cup.db"])
    assert [json.loads(line)["id"] for line in rest.stdout.splitlines()] == [ids[0], *ids[2:]]


def test_timings_are_checked() -> None:
    """Unknown names may have any value."""
    sound: list[Any] = [{}, {"start": [0.5, None]}, {"overrun": 0.25}, {"plain_reason": ["it is", None]}, {"other": {"a": []}}]
    odd: list[Any] = [None, [], {"start": [0.5]}, {"start": [True, 1]}, {"start": ["a", 1]}, {"overrun": [1, 1]}]
    assert [is_timing(one, 2) for one in [*sound, *odd, {"plain_reason": [1, 1]}]] == [True] * 5 + [False] * 7


def test_the_last_round_of_a_store_may_have_any_number(tmp_path: Path) -> None:
    """Memory grows only with the number of rounds that have matches."""
    store = tmp_path / "cup.db"
    arena.run(SPECS["chance"], store=store)
    before = Leaderboard.load(store)
    assert apply_case(store, Case("place", "round", (), 10**9 - 1, " WHERE round = 11"))
    tracemalloc.start()
    after = Leaderboard.load(store)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 10 << 20
    assert [board.rows for board in after] == [board.rows for board in before]


def test_a_store_whose_spec_has_very_many_rounds_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("cup.yaml").write_text(json.dumps(SPECS["game"]))
    arena.run("cup.yaml", store="cup.db")
    assert apply_case(Path("cup.db"), Case("run", "spec", ("values", "rounds"), 10**9))
    for command in COMMANDS:
        if "ID" not in command and "--store" not in command:
            words = command.split()
            assert find_fault([words[0], "cup.db", *words[1:]]) is None, command


def test_a_stored_spec_with_other_entries_than_the_run_is_not_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The numbers of the entries in the matches would refer to other entries, or to none."""
    monkeypatch.chdir(tmp_path)
    arena.run(SPECS["swiss"], store="cup.db")
    assert apply_case(Path("cup.db"), Case("run", "spec", ("values", "agents"), ["random", "greedy", "lookahead"]))
    with Store.open("cup.db") as store:
        (record, _), *_ = store.records()
    done = CliRunner().invoke(cli, ["replay", "cup.db", record.id])
    assert "the agents did not replay the match" in done.output
    assert "expected boards with as many entries as in the run (4), got 3" in done.output

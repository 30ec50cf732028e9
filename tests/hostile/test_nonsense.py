"""Stores whose records have nonsense with right hashes: each command works or names the match, and none ends in a traceback."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import arena
from arena.cli import cli
from arena.errors import ArenaError, StoreDamaged
from arena.match.record import TIMINGS, is_timing
from arena.store import Store
from tests.rehash import rehash

pytestmark = pytest.mark.promise(hole="foreign", isolation="any")

SPECS: dict[str, dict[str, Any]] = {
    "game": {"game": "tic-tac-toe", "rounds": 2, "seed": 3, "agents": ["random", "greedy"]},
    "puzzle": {"game": {"name": "sliding-tiles", "rows": 2, "columns": 3}, "rounds": 2, "agents": ["a-star", "best-first"]},
}
COMMANDS = [
    *("leaderboard", "leaderboard --format json", "export", "export --format tidy", "check", "compare", "matches"),
    *("replay ID", "report -o report.html"),
]
VALUES: list[Any] = [
    None,
    True,
    0,
    -1,
    -5,
    10**30,
    1e308,
    "x",
    [],
    {},
    [None],
    [[[]]],
    ["x", "x"],
    [-1, -1],
    [10**30] * 2,
    {"a": [{}]},
]
CELLS: list[Any] = [
    *(None, 0, 1, -1, 7, 2**63 - 1, 1.5, float("inf"), "", "x", b"", b"\xff\x00"),
    *(
        "1.0",
        "0.0",
        "nan,nan",
        "1e999,0",
        "1.0,-1.0,0.0",
        "timeout",
        "gave-up",
        "2",
        "\x00",
        "[" * 9999,
        '["\\ud800"]',
        "[NaN, 1e999]",
    ),
]
DECISIONS = [
    *("5,0,0,0", "-1,0,0,0", "0,0,0,99999999999999999999999999", "0,-5,-5,-5", "0,0,0,0,x,y", "0,0,0,0,,nan", "0,0,0,0,,1e999"),
    *("0,0,0,0,1,1,-1", "0," + "9" * 5000 + ",0,0", ";", "0,0,0,0;" * 3),
]
DETAILS = ["game", "position", "labels", "seed", "actions", "answer", "message", "traceback", "decisions", "timing", "spent"]
RESULTS = [
    *("returns", "solved", "termination", "seat", "moves", "cost", "fallbacks", "drew", "play", "adjusted"),
    *("decisions_0", "nodes_0", "nanoseconds_0", "decisions_1", "nodes_1", "nanoseconds_1"),
]


def list_nonsense() -> Iterator[tuple[str, Any]]:
    """Yield columns and values for them."""
    texts = list(map(json.dumps, VALUES))
    for column in DETAILS:
        yield from ((column, value) for value in [*CELLS, *texts])
    for column in RESULTS:
        yield from ((column, value) for value in CELLS)
    yield from (("decisions", value) for value in DECISIONS)
    for name in (*TIMINGS, "plain_reason", "overrun"):
        yield from (("timing", json.dumps({name: value})) for value in VALUES)
    yield from (("spent", json.dumps([{"tokens": value}] * count)) for value in VALUES for count in (1, 5))


def put(path: Path, column: str, value: Any, where: str) -> bool:
    """Put a value into a column of some records, with right hashes. Return False if the store cannot hold it."""
    table, key = ("record", "number") if column in RESULTS else ("detail", "record")
    try:
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute(f"UPDATE {table} SET {column} = ? WHERE {key} {where}", (value,))
    except sqlite3.IntegrityError:
        return False
    rehash(path)
    return True


@pytest.mark.parametrize("stride", [pytest.param(7), pytest.param(1, marks=pytest.mark.proof)])
@pytest.mark.parametrize("where", ["= 2", "> 0"])
@pytest.mark.parametrize("kind", SPECS)
def test_no_command_ends_in_a_traceback(
    kind: str, where: str, stride: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In one record and in all of them. What a command refuses, it names."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "cup.db"
    arena.run(SPECS[kind], store=path)
    with Store.open(path) as store:
        key = [record.id for record, _ in store.records()][1]
    whole = path.read_bytes()
    refused = set()
    for turn, (column, value) in enumerate(islice(list_nonsense(), 0, None, stride)):
        path.write_bytes(whole)
        if not put(path, column, value, where):
            continue
        for words in COMMANDS if stride == 1 else COMMANDS[turn % len(COMMANDS) :][:1]:
            command, *more = words.replace("ID", key).split()
            error = CliRunner().invoke(cli, [command, "cup.db", *more]).exception
            assert error is None or isinstance(error, (ArenaError, SystemExit)), (column, value, words)
            if isinstance(error, StoreDamaged):
                assert "match " in str(error), (column, value, words)
                refused.add(column)
    assert refused >= {"timing", "spent", "decisions", "labels"}


@pytest.mark.unit
@pytest.mark.parametrize("column", ["timing", "spent", "decisions"])
def test_a_match_with_nonsense_is_named(column: str, tmp_path: Path) -> None:
    """Check lists it, and the sound matches can be exported."""
    path = tmp_path / "cup.db"
    arena.run(SPECS["game"], store=path)
    with Store.open(path) as store:
        ids = [record.id for record, _ in store.records()]
    assert put(path, column, '{"start": 5}', "= 2")
    for command in ("leaderboard", "compare", "matches", "review"):
        error = CliRunner().invoke(cli, [command, str(path)]).exception
        assert isinstance(error, StoreDamaged)
        assert f"is damaged: match {ids[1]} has changed since it was written" in str(error)
    done = CliRunner().invoke(cli, ["check", str(path)])
    assert done.stdout.splitlines()[0] == f"match {ids[1]}: damaged since it was written"
    rest = CliRunner().invoke(cli, ["export", "--sound", str(path)])
    assert [json.loads(line)["id"] for line in rest.stdout.splitlines()] == [ids[0], *ids[2:]]


@pytest.mark.unit
def test_the_form_of_timings() -> None:
    """A value for each seat, of the kind that its name has. Names that arena does not read may have any value."""
    sound: list[Any] = [{}, {"start": [0.5, None]}, {"overrun": 0.25}, {"plain_reason": ["it is", None]}, {"other": {"a": []}}]
    odd: list[Any] = [None, [], {"start": [0.5]}, {"start": [True, 1]}, {"start": ["a", 1]}, {"overrun": [1, 1]}]
    assert [is_timing(one, 2) for one in [*sound, *odd, {"plain_reason": [1, 1]}]] == [True] * 5 + [False] * 7

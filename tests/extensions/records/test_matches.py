"""`arena matches` lists the exported matches: the right ones in the right order, with sums over their decisions."""

import csv
import io
import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest

import arena
from arena.cli import cli
from arena.errors import ArenaError

PLUGIN = '''
from arena import Agent, Game, hookimpl

class Trio(Game):
    """Three seats count to 6, and the first gets less than the others."""
    name = "trio"
    players = 3
    def initial(self, rng): return rng.randrange(3)
    def to_move(self, state): return state % 3
    def actions(self, state): return (1,) if state < 6 else ()
    def result(self, state, action): return state + action
    def returns(self, state): return (-1.0, 0.5, 0.5)

class Raiser(Agent):
    """An agent that raises an exception in its second decision."""
    name = "raiser"
    def __init__(self): self.asked = 0
    def choose(self, game, state, search):
        self.asked += 1
        if self.asked > 1:
            raise RuntimeError("no more")
        return game.actions(state)[0]

@hookimpl
def arena_games(): return [Trio]

@hookimpl
def arena_agents(): return [Raiser]
'''


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a store with three boards: a game for two with an agent that fails, a puzzle that some agents do not solve, and a
    game for three.
    """
    folder = tmp_path_factory.mktemp("cup")
    (folder / "trio.py").write_text(PLUGIN)
    spec = {
        "games": ["tic-tac-toe", {"name": "sliding-tiles", "shuffle": 6}, "trio"],
        "agents": ["random", "greedy", "raiser", "a-star"],
        "rounds": 3,
        "limits": {"moves": 60},
        "plugins": [str(folder / "trio.py")],
    }
    arena.run(spec, store=folder / "cup.db")
    return folder / "cup.db"


@pytest.fixture
def run_command(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Return a function that runs a command and returns its output."""

    def run_command(*words: object) -> str:
        assert cli.main([*map(str, words)], standalone_mode=False) == 0
        return capsys.readouterr().out

    return run_command


FAULTS = {"illegal-action", "exception", "timeout", "memory", "crash"}


def result(record: dict[str, Any], agent: str | None) -> str:
    """Return the result of an agent, or of the first seat. A win is more than all others get, and a draw is as much as the best
    of the others.
    """
    if record["solved"] is not None:
        return "win" if record["solved"] else "loss"
    seat = record["labels"].index(agent) if agent else 0
    best = max(got for other, got in enumerate(record["returns"]) if other != seat)
    got = record["returns"][seat]
    return "win" if got > best else "loss" if got < best else "draw"


SIZES: dict[str, Callable[[dict[str, Any]], float]] = {
    "nodes": lambda record: sum(decision["nodes"] for decision in record["decisions"]),
    "length": lambda record: record["moves"],
    "time": lambda record: sum(round(decision["seconds"] * 1e9) for decision in record["decisions"]),
}


@pytest.mark.parametrize("agent", [None, "greedy", "raiser", "a-star"])
@pytest.mark.parametrize("wanted", [None, "win", "draw", "loss", "void", "fault"])
def test_matches_are_filtered_and_sorted(
    store: Path, run_command: Callable[..., str], agent: str | None, wanted: str | None
) -> None:
    """The expected matches are filtered from all exported records by agent, opponent and result, and sorted by size."""
    records = [json.loads(line) for line in run_command("export", store).splitlines()]
    opponents = [None, "random"] if agent in ("greedy", "raiser") else [None]
    for opponent, by in [(opponent, by) for opponent in opponents for by in (None, *SIZES)]:
        expected = []
        for record in records:
            fault = record["termination"] in FAULTS and (agent is None or record["labels"][record["seat"]] == agent)
            if any(label not in record["labels"] for label in (agent, opponent) if label):
                continue
            if wanted is None or (fault if wanted == "fault" else result(record, agent) == wanted):
                expected.append(record)
        words = [
            word
            for name, value in (("agent", agent), ("opponent", opponent), ("result", wanted), ("by", by))
            if value
            for word in (f"--{name}", value)
        ]
        found = json.loads(run_command("matches", store, *words, "--format", "json"))
        assert sorted(match["id"] for match in found) == sorted(record["id"] for record in expected)
        if by is None:
            assert [match["number"] for match in found] == sorted(match["number"] for match in found)
        else:
            sizes = {record["id"]: SIZES[by](record) for record in expected}
            assert [sizes[match["id"]] for match in found] == sorted(sizes.values(), reverse=True)


def test_all_matches_of_the_schedule_are_listed(store: Path, run_command: Callable[..., str]) -> None:
    """Three rounds have three pairings in two orders, four attempts at the puzzle, and six matches of three."""
    assert len(json.loads(run_command("matches", store, "--format", "json"))) == 3 * (3 * 2 + 4 + 6)
    assert len(json.loads(run_command("matches", store, "--agent", "raiser", "--format", "json"))) == 3 * (2 * 2 + 1 + 6)


def test_a_line_of_the_table_agrees_with_the_record_of_its_match(store: Path, run_command: Callable[..., str]) -> None:
    """The board, round (counted from 1), labels and moves agree. Nodes and seconds are summed over all seats."""
    records = {record["id"]: record for record in map(json.loads, run_command("export", store).splitlines())}
    found = json.loads(run_command("matches", store, "--format", "json"))
    assert {match["board"] for match in found} == {"tic-tac-toe", "sliding-tiles", "trio"}
    for match in found:
        record = records[match["id"]]
        assert (match["board"], match["round"], match["seats"]) == (record["board"], record["round"] + 1, record["labels"])
        assert (match["moves"], match["termination"]) == (record["moves"], record["termination"])
        assert match["nodes"] == SIZES["nodes"](record)
        assert match["seconds"] == pytest.approx(SIZES["time"](record) / 1e9)


def test_a_table_ends_with_a_suggested_command(store: Path, run_command: Callable[..., str]) -> None:
    """The table shows the requested number of lines, the total number of matches, and a command that works."""
    text = run_command("matches", store, "--agent", "raiser", "--opponent", "greedy", "--result", "fault", "--limit", 2)
    lines = text.splitlines()
    assert lines[0].split() == ["Number", "Id", "Round", "Seats", "Result", "Moves", "Nodes", "ms", "Ending"]
    assert all("raiser" in line and "exception" in line for line in lines[2:4])
    assert re.search(
        r"^2 of \d+ matches; use --limit N to show more\.\nResults are from the point of view of raiser\.$", text, re.MULTILINE
    )
    _, command, path, key = shlex.split(lines[-1])
    assert (command, path) == ("replay", str(store))
    assert "RuntimeError" in run_command("replay", path, key)
    assert run_command("matches", store, "--result", "void") == f"No match in {store} fits these options.\n"


def test_csv_has_a_column_for_each_seat(store: Path, run_command: Callable[..., str]) -> None:
    """A column is empty if a match has fewer seats. Ids are complete, and all matches are listed."""
    rows = list(csv.DictReader(io.StringIO(run_command("matches", store, "--format", "csv"))))
    seats = ["first", "second", "third"]
    assert list(rows[0]) == ["number", "id", "board", "round", *seats, "result", "moves", "nodes", "seconds", "termination"]
    assert {(row["board"], bool(row["second"]), bool(row["third"])) for row in rows} == {
        ("tic-tac-toe", True, False),
        ("sliding-tiles", False, False),
        ("trio", True, True),
    }
    assert {len(row["id"]) for row in rows} == {32}
    assert len(rows) == len(run_command("export", store).splitlines())


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--agent", "gredy"], "did you mean 'greedy'?"),
        (["--agent", "greedy", "--opponent", "x"], "unknown entry of"),
        (["--opponent", "greedy"], "expected an agent that is not the opponent greedy, got none"),
        (["--agent", "greedy", "--opponent", "greedy"], "expected an agent that is not the opponent greedy, got greedy"),
        (["--result", "lost"], "'lost' is not one of"),
        (["--limit", "0"], "0 is not in the range"),
    ],
)
def test_an_invalid_query_is_explained(store: Path, words: list[str], expected: str) -> None:
    with pytest.raises((ArenaError, click.UsageError)) as caught:
        cli.main(["matches", str(store), *words], standalone_mode=False)
    assert expected in str(caught.value)


@pytest.mark.parametrize(("columns", "shown"), [(200, 10), (80, 9), (60, 6)])
def test_a_narrow_terminal_gets_fewer_columns_and_whole_ids(
    store: Path, run_command: Callable[..., str], monkeypatch: pytest.MonkeyPatch, columns: int, shown: int
) -> None:
    """The least important columns are left out and named. The column of the sort key stays."""
    monkeypatch.setattr("arena_records.matches.Terminal.room", columns)
    text = run_command("matches", store, "--agent", "raiser", "--by", "time")
    lines = text.splitlines()
    assert max(map(len, lines[:3])) <= columns
    assert len(lines[0].split()) <= shown
    assert "ms" in lines[0].split()
    assert ("Columns that do not fit here" in text) is (len(lines[0].split()) < 10)
    assert re.match(r"[0-9a-f]{10}$", next(word for word in lines[2].split() if len(word) == 10))

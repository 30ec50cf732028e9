"""Columns of boards that a plugin computes, and sums of the amounts that its agents spend."""

import json
import sys
from collections import Counter, defaultdict
from functools import partial
from pathlib import Path
from statistics import fmean
from types import ModuleType
from typing import Any

import pytest
from click.testing import CliRunner
from scipy import stats  # type: ignore[import-untyped]

import arena
from arena import PluginError, Record
from arena.cli import cli
from arena.lazy import EntryPoint, find_plugins
from arena.plugins.sources import PluginPlace
from arena.results.cells import board_table
from arena.results.leaderboard import Leaderboard
from arena.schedule.board_columns import RunMatches
from arena.schedule.board_info import BoardInfo
from arena.schedule.schedule import Scheduled

PLUGIN = """
from arena import Agent, hookimpl
from arena.api.results import BoardColumn, Measured


class Thrifty(Agent):
    '''Spends a letter for each decision.'''
    name = "thrifty"

    def choose(self, game, state, search):
        search.spend(letters=1)
        return search.rng.choice(game.actions(state))


def read_lengths(records):
    for record, place in records:
        for entry in place.pairing.seats:
            yield Measured(place.board, place.pairing.round, entry, len(record.actions), place.pairing.seats)
    yield 0, "Lengths are numbers of actions."


def read_nonsense():
    yield Measured(0, 0, 0, float("nan"))


@hookimpl
def arena_agents():
    return [Thrifty]


@hookimpl
def arena_board_columns(spec, records):
    return [
        BoardColumn("length", "Length", description="Actions of a match.", cells=read_lengths(records)),
        BoardColumn("letters", "Letters", "count", amount="letters"),
        BoardColumn("met", "Met", "share", cells=[Measured(0, number, 2, 1) for number in range(8)]),
        BoardColumn("nonsense", "Nonsense", cells=read_nonsense()),
        BoardColumn("seed-of", "Seed", cells=[Measured(0, 0, entry, spec.seed) for entry in range(3)] if spec else []),
    ]
"""


@pytest.fixture
def plugin(tmp_path: Path) -> Path:
    (tmp_path / "columns.py").write_text(PLUGIN)
    return tmp_path / "columns.py"


def spec_with(plugin: Path, **more: Any) -> dict[str, Any]:
    agents = ["random", "greedy", "thrifty"]
    return {"game": "tic-tac-toe", "rounds": 8, "agents": agents, "plugins": [str(plugin)], **more}


@pytest.mark.parametrize("stored", [False, True])
def test_a_plugin_adds_columns(plugin: Path, tmp_path: Path, stored: bool) -> None:
    results = arena.run(spec_with(plugin, seed=7), store=tmp_path / "cup.db" if stored else None)
    lengths: dict[str, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
    decisions = 0
    for played in results.played:
        for label in played.record.labels:
            lengths[label][played.pairing.round].append(len(played.record.actions))
            decisions += sum(played.record.labels[one.seat] == label == "thrifty" for one in played.record.decisions)
    (board,) = Leaderboard.of_results(results)
    rows = {row["agent"]: row for row in board.rows}
    for label, found in lengths.items():
        means = [fmean(values) for values in found.values()]
        low, high = stats.t.interval(0.95, 7, loc=fmean(means), scale=stats.sem(means))
        row = rows[label]
        assert [row["length"], row["length_low"], row["length_high"]] == pytest.approx([fmean(means), low, high])
    assert [rows[label]["letters"] for label in ("random", "greedy", "thrifty")] == [None, None, decisions]
    headings = board_table(board).headings
    place = headings.index("Length")
    assert headings[place : place + 3] == ["Length", "95 % interval", "Letters"]
    assert board.remarks.count("Lengths are numbers of actions.") == 1
    assert [(row["seed_of"], row["seed_of_low"]) for row in board.rows] == [(7, None)] * 3
    assert headings[place + 3 :] == ["Met", "95 % interval", "Seed"], "no column for an interval without bounds"
    assert (rows["thrifty"]["met"], rows["thrifty"]["met_high"]) == (1, 1)
    assert rows["thrifty"]["met_low"] == pytest.approx(0.05 ** (1 / 8)), "a share has a range"
    assert "nonsense" not in rows["random"]
    assert any(remark.startswith("The column nonsense is left out: ValueError: expected a number") for remark in board.remarks)


def test_a_store_shows_plugin_columns_without_the_plugin(plugin: Path, tmp_path: Path) -> None:
    store = tmp_path / "cup.db"
    arena.run(spec_with(plugin, columns=["agent", "length_low", "length"], sort="-length"), store=store)
    plugin.unlink()
    shown = CliRunner().invoke(cli, ["leaderboard", str(store), "--format", "json"], standalone_mode=False).output
    rows = json.loads(shown)["boards"][0]["rows"]
    assert all(row["length_low"] < row["length"] < row["length_high"] for row in rows)
    text = CliRunner().invoke(cli, ["leaderboard", str(store)], standalone_mode=False).output
    assert text.splitlines()[2].split() == ["Agent", "Length", "from", "Length"]
    lengths = [float(line.split()[2]) for line in text.splitlines()[4:7]]
    assert lengths == sorted(lengths, reverse=True)


@pytest.mark.parametrize("stored", [False, True])
def test_the_hook_for_columns_is_called_when_the_run_ends(tmp_path: Path, stored: bool) -> None:
    """Before, it is called once to learn the names. Without a store, it is called when the board is asked for."""
    (tmp_path / "own.py").write_text("""
from arena import hookimpl
from arena.api.results import BoardColumn

CALLS = []


@hookimpl
def arena_board_columns(spec, records):
    read = [list(records), list(records)]
    CALLS.append((spec and spec.size, [[(place.number, record.id) for record, place in matches] for matches in read]))
    return [BoardColumn("one", "One", cells=[]), BoardColumn("two", "Two", cells=[])]
""")
    spec = {"games": ["nim", "tic-tac-toe"], "rounds": 2, "agents": ["random", "greedy"], "plugins": [str(tmp_path / "own.py")]}
    results = arena.run(spec, store=tmp_path / "cup.db" if stored else None)
    calls = sys.modules[PluginPlace.module_name((tmp_path / "own.py").resolve())].CALLS
    assert len(calls) == (2 if stored else 1)
    assert len(results.records) == 8, "only a board needs columns"
    assert len(calls) == (2 if stored else 1)
    for boards in (Leaderboard.of_results(results), Leaderboard.of_results(results)):
        assert not any("left out" in remark for board in boards for remark in board.remarks)
    found = {plugin.source.name: plugin for plugin in results.spec.registry.plugins}[str(tmp_path / "own.py")]
    assert found.names == ("column one", "column two")
    matches = [(one.number, one.record.id) for one in results.played]
    assert calls == [(None, [[], []]), (8, [matches, matches])]


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("return []", "LookupError: arena_board_columns did not return this column at the end of the run"),
    ],
)
def test_a_failing_hook_removes_only_its_columns(plugin: Path, tmp_path: Path, more: str, reason: str) -> None:
    (tmp_path / "fails.py").write_text(
        "from arena import hookimpl\nfrom arena.api.results import BoardColumn\n\n@hookimpl\ndef arena_board_columns(spec):\n"
        f"    if spec:\n        {more}\n    return [BoardColumn('own', 'Own', cells=[])]\n"
    )
    spec = spec_with(plugin, plugins=[str(plugin), str(tmp_path / "fails.py")])
    (board,) = Leaderboard.of_results(arena.run(spec))
    assert any(remark.startswith(f"The column own is left out: {reason}") for remark in board.remarks)
    assert all("own" not in row and row["length"] > 0 for row in board.rows)


def test_a_plugin_of_the_user_replaces_an_installed_column(plugin: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = ModuleType("installed")
    exec(PLUGIN.replace("len(record.actions)", "-1").replace('"thrifty"', '"spender"'), other.__dict__)
    points = {**find_plugins(), "other:installed": EntryPoint("installed", "installed", "arena", str(tmp_path))}
    monkeypatch.setattr("arena.plugins.sources.find_plugins", lambda: points)
    monkeypatch.setitem(sys.modules, "installed", other)
    (board,) = Leaderboard.of_results(arena.run({"game": "tic-tac-toe", "rounds": 2, "agents": ["random", "greedy"]}))
    assert {row["length"] for row in board.rows} == {-1.0}
    (board,) = Leaderboard.of_results(arena.run(spec_with(plugin)))
    assert all(row["length"] > 4 for row in board.rows)


@pytest.mark.parametrize(
    ("column", "words"),
    [
        ('BoardColumn("score", "Score", cells=())', "column score"),
        ('BoardColumn("mine", "Mine", "loud", cells=())', "unknown style 'loud'"),
        ('BoardColumn("mine", "Mine")', "expected either an amount or cells, not both"),
        ('BoardColumn("mine", "Mine", amount="tokens", cells=())', "expected either an amount or cells, not both"),
    ],
)
def test_wrong_columns_are_refused(tmp_path: Path, column: str, words: str) -> None:
    head = "from arena import hookimpl\nfrom arena.api.results import BoardColumn\n"
    (tmp_path / "bad.py").write_text(f"{head}@hookimpl\ndef arena_board_columns(): return [{column}]\n")
    with pytest.raises(PluginError, match=words):
        arena.load_plugins([tmp_path / "bad.py"])


def test_the_matches_of_a_run_can_be_read_again() -> None:
    """Void matches and matches outside the schedule are left out."""
    played = arena.run({"game": "tic-tac-toe", "agents": ["minimax", "alpha-beta"], "rounds": 2})
    matches: list[tuple[Record, Scheduled | None]] = [(one.record, Scheduled(*one[:3])) for one in played.played]
    record, place = matches[0]
    matches[0] = record._replace(termination="void"), place
    records = RunMatches([BoardInfo.of(board) for board in played.spec.boards], lambda: [*matches, (record, None)])
    for _ in range(2):
        assert [place.number for _, place in records] == [1, 2, 3]
        assert records.repeated.find(0) == {(0, 1): {1: 1}, (1, 0): {0: 0, 1: 0}}


def test_a_run_yields_its_matches_in_groups() -> None:
    """The groups and their sizes equal those of a plain loop over the matches."""
    agents = ["random", "greedy", {"agent": "lookahead", "limits": {"nodes": 3}}]
    played = arena.run({"game": "tic-tac-toe", "agents": agents, "rounds": 12, "openings": {"plies": 1}})
    boards = [BoardInfo.of(board) for board in played.spec.boards]
    with played.open_store() as store:
        slow = list(RunMatches(boards, partial(store.records, boards=True)).groups())
        assert list(RunMatches(boards, list, store.group_matches).groups()) == slow
    assert Counter({one[:6]: one.matches for one in slow}) == Counter(
        (one.board, one.pairing.seats, one.record.position, one.record.returns, one.record.termination, one.record.fallbacks > 0)
        for one in played.played
    )
    assert {one.fell_back for one in slow} == {False, True}


def test_a_column_hook_that_requires_the_argument_run_is_refused_when_it_is_loaded(tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text("from arena import hookimpl\n@hookimpl\ndef arena_board_columns(spec): return [spec.name]\n")
    told = r"raised AttributeError: .*bad\.py:3\); arena calls arena_board_columns\(spec=None, "
    with pytest.raises(PluginError, match=told):
        arena.load_plugins([tmp_path / "bad.py"])

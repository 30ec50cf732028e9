"""Actions drawn at random are counted for the agent that did not choose them."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import arena
from arena.results.cells import board_table
from arena.results.leaderboard import Leaderboard
from arena.results.tables import render
from arena.results.tally import Facts, Tally
from arena.schedule.board_info import BoardInfo
from arena.store import Store
from arena.store.rows import RECORD, cells_to_digest
from arena.store.schema import digest
from tests.players import PLAYERS

PLUGIN = """
from arena import Agent, hookimpl

class Idle(Agent):
    "Uses up its budget at every move, and reports nothing: every move of its is a fallback."
    name = "idle"
    def choose(self, game, state, search):
        search.rng.random()
        while True:
            game.result(state, game.actions(state)[0])

class Prudent(Agent):
    "Uses up its budget at every move, and has reported before: none is."
    name = "prudent"
    def choose(self, game, state, search):
        search.report(search.rng.choice(list(game.actions(state))), depth=1)
        while True:
            game.result(state, game.actions(state)[0])

class Exact(Agent):
    "Generates as many states as its limit, reports nothing, and chooses: the records cannot tell it from idle."
    name = "exact"
    def choose(self, game, state, search):
        for _ in range(search.limits.nodes):
            game.result(state, game.actions(state)[0])
        return search.rng.choice(list(game.actions(state)))

@hookimpl
def arena_agents():
    return [Idle, Prudent, Exact]
"""


@pytest.fixture
def spec(tmp_path: Path) -> dict[str, Any]:
    plugin = tmp_path / "idle.py"
    plugin.write_text(PLUGIN)
    return {"game": "tic-tac-toe", "rounds": 3, "plugins": [str(plugin), str(PLAYERS)], "limits": {"nodes": 20}}


def both(spec: dict[str, Any], path: Path) -> Leaderboard:
    """Return the board of a run without a store, after a check that a run with a store has the same."""
    (held,) = Leaderboard.of_results(arena.run(spec))
    (stored,) = Leaderboard.of_results(arena.run(spec, store=path))
    for one, other in zip(held.rows, stored.rows, strict=True):
        assert one["fallback_share"] == other["fallback_share"]
    assert held.remarks == stored.remarks
    return stored


def test_the_share_of_fallbacks_counts_only_the_agent_that_did_not_choose(spec: dict[str, Any], tmp_path: Path) -> None:
    board = both({**spec, "agents": ["idle", "prudent", "random"]}, tmp_path / "s.db")
    assert {row["agent"]: row["fallback_share"] for row in board.rows} == {"idle": 1.0, "prudent": 0.0, "random": 0.0}
    [number] = [remark.split()[0] for remark in board.remarks if "actions were random" in remark]
    assert (
        f"! : idle {number} of {number} decisions (100.0 %). The rank of an agent that did not choose its actions says little."
        in board.remarks
    )
    assert not [remark for remark in board.remarks if "do not say" in remark]


def test_fallbacks_are_marked_and_explained(spec: dict[str, Any], tmp_path: Path) -> None:
    results = arena.run({**spec, "agents": ["idle", "random"], "columns": ["rank", "agent", "fallback_share"]})
    (board,) = Leaderboard.of_results(results)
    cells = {row[1]: (row[0], row[2]) for row in board_table(board).cells}
    assert cells["idle"][0].endswith(" !")
    assert "!" not in cells["random"][0]
    assert (cells["idle"][1], cells["random"][1]) == ("100.0 %", "0.0 %")
    number = sum(record.fallbacks for record in results.records)
    text = render(results, [board])
    assert f"{number} actions were random" in text
    assert f"! : idle {number} of {number} decisions (100.0 %)" in text
    rows = json.loads(render(results, [board], "json"))["boards"][0]["rows"]
    assert {row["agent"]: row["fallback_share"] for row in rows} == {"idle": 1.0, "random": 0.0}


@pytest.mark.parametrize(("number", "doubted"), [(1, False), (19, False), (20, True)])
def test_a_remark_doubts_a_rank_if_at_least_5_percent_of_the_decisions_are_random(number: int, doubted: bool) -> None:
    tally = Tally(BoardInfo("a board", {}, "puzzle", ("hasty", "random"), 2, exact=True))
    tally.count(Facts((0,), (1.0,), "normal", None, True, fallbacks=number))
    tally.counts[0].decisions = 400
    tally.add_fallbacks((0,), number, [0] * number, (True,))
    [said] = [remark for remark in Leaderboard.of(tally, finished=True).remarks if remark.startswith("! : ")]
    assert said.startswith(f"! : hasty {number} of 400 decisions ({number / 4:.1f} %).")
    assert ("says little" in said) == doubted


def test_only_agents_with_a_limit_have_a_share_of_fallbacks(spec: dict[str, Any], tmp_path: Path) -> None:
    agents = [{"agent": "idle", "limits": {"nodes": 5}}, "random"]
    board = both({**spec, "limits": None, "agents": agents}, tmp_path / "s.db")
    assert {row["agent"]: row["fallback_share"] for row in board.rows} == {"idle": 1.0, "random": 0.0}


def test_fallbacks_are_counted_even_if_all_amounts_are_equal(spec: dict[str, Any], tmp_path: Path) -> None:
    """Both agents use random numbers and 20 nodes, but only one runs out of budget."""
    path = tmp_path / "s.db"
    board = both({**spec, "agents": ["idle", "exact"]}, path)
    assert {row["agent"]: row["fallback_share"] for row in board.rows} == {"idle": 1.0, "exact": 0.0}
    with Store.open(path) as store:
        for record, _ in store.records():
            assert [one.fallback for one in record.decisions] == [record.labels[one.seat] == "idle" for one in record.decisions]
            marks = [one.get("fallback", False) for one in record.as_dict()["decisions"]]
            assert marks == [one.fallback for one in record.decisions]


def test_stores_of_earlier_versions_have_unknown_shares(spec: dict[str, Any], tmp_path: Path) -> None:
    """Their records have the number of fallbacks, but no marks."""
    path = tmp_path / "s.db"
    arena.run({**spec, "agents": ["idle", "exact", "first"]}, store=path)
    with closing(sqlite3.connect(path)) as store:  # as an earlier version wrote it
        store.execute("UPDATE detail SET decisions = replace(decisions, ',,,2', '')")
        rows = store.execute(f"SELECT r.number, {RECORD} FROM record r JOIN detail d ON d.record = r.number").fetchall()
        hashes = [(digest(cells_to_digest(cells)), number) for number, *cells in rows]
        store.executemany("UPDATE record SET digest = ? WHERE number = ?", hashes)
        store.commit()
    (board,) = Leaderboard.load(path)
    assert {row["agent"]: row["fallback_share"] for row in board.rows} == {"idle": None, "exact": None, "first": 0.0}
    assert [remark for remark in board.remarks if remark.endswith("each of idle, exact played.")]
    with Store.open(path) as store:
        found = [record for record, _ in store.records() if "exact" not in record.labels]
        assert all(record.fallbacks and not any(one.fallback for one in record.decisions) for record in found)


def test_fallbacks_of_puzzles_are_counted(spec: dict[str, Any], tmp_path: Path) -> None:
    puzzle = {**spec, "game": {"name": "sliding-tiles", "shuffle": 8}, "limits": {"nodes": 9, "moves": 12}}
    board = both({**puzzle, "agents": ["idle", "random"]}, tmp_path / "s.db")
    assert {row["agent"]: row["fallback_share"] for row in board.rows} == {"idle": 1.0, "random": 0.0}
    assert all(("!" in row[0]) == (row[1] == "idle") for row in board_table(board).cells)

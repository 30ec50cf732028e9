"""Moves drawn at random are counted for the agent that did not choose them, wherever the records tell."""

import json
from pathlib import Path
from typing import Any

import pytest

import arena
from arena.results.cells import board_table
from arena.results.leaderboard import Leaderboard
from arena.results.tables import render

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
    return {"game": "tic-tac-toe", "rounds": 3, "plugins": [str(plugin)], "limits": {"nodes": 20}}


def both(spec: dict[str, Any], path: Path) -> Leaderboard:
    """The board of a run in memory, which is that of its store."""
    (held,) = Leaderboard.of_results(arena.run(spec))
    (stored,) = Leaderboard.of_results(arena.run(spec, store=path))
    for one, other in zip(held.rows, stored.rows, strict=True):
        assert one["fallback_share"] == other["fallback_share"]
    assert held.remarks == stored.remarks
    return stored


def test_the_share_is_that_of_the_agent_which_did_not_choose(spec: dict[str, Any], tmp_path: Path) -> None:
    """All moves of the one, none of the others, though all have the same limit and draw random numbers."""
    board = both({**spec, "agents": ["idle", "prudent", "random"]}, tmp_path / "s.db")
    assert {row["agent"]: row["fallback_share"] for row in board.rows} == {"idle": 1.0, "prudent": 0.0, "random": 0.0}
    [number] = [remark.split()[0] for remark in board.remarks if "actions were random" in remark]
    assert (
        f"! : idle {number} of {number} decisions (100.0 %). The rank of an agent that did not choose its actions says little."
        in board.remarks
    )
    assert not [remark for remark in board.remarks if "do not tell" in remark]


def test_they_are_marked_and_named_below(spec: dict[str, Any], tmp_path: Path) -> None:
    """In every rendering but JSON, which has the share; a spec can ask for the column."""
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


def test_a_limit_of_one_agent_tells_whose_they_are(spec: dict[str, Any], tmp_path: Path) -> None:
    """Only who has a budget can run out of it, whatever decisions look like."""
    agents = [{"agent": "idle", "limits": {"nodes": 5}}, "random"]
    board = both({**spec, "limits": None, "agents": agents}, tmp_path / "s.db")
    assert {row["agent"]: row["fallback_share"] for row in board.rows} == {"idle": 1.0, "random": 0.0}


def test_what_records_do_not_tell_is_said_to_be_unknown(spec: dict[str, Any], tmp_path: Path) -> None:
    """Two agents whose decisions look the same, of which one fell back; against others their shares would be known."""
    board = both({**spec, "agents": ["idle", "exact"]}, tmp_path / "s.db")
    assert [row["fallback_share"] for row in board.rows] == [None, None]
    assert [remark for remark in board.remarks if remark.endswith("each of idle, exact took.")]
    results = arena.run({**spec, "agents": ["idle", "exact"]})
    assert "do not say how many of them each of idle, exact took" in render(results, Leaderboard.of_results(results))


def test_a_puzzle_tells_them_too(spec: dict[str, Any], tmp_path: Path) -> None:
    """One seat, and so one agent."""
    puzzle = {**spec, "game": {"name": "sliding-tiles", "shuffle": 8}, "limits": {"nodes": 9, "moves": 12}}
    board = both({**puzzle, "agents": ["idle", "random"]}, tmp_path / "s.db")
    assert {row["agent"]: row["fallback_share"] for row in board.rows} == {"idle": 1.0, "random": 0.0}
    assert all(("!" in row[0]) == (row[1] == "idle") for row in board_table(board).cells)

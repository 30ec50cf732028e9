"""A board marks an entry whose claim of optimal solutions a match refutes, and takes no optimum from it."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import arena
from arena.cli import cli
from arena.results.leaderboard import Leaderboard
from arena.results.tables import render
from arena.tournament.results import Results

pytestmark = pytest.mark.process

PLUGIN = '''
from arena import Agent, OutOfBudget, Path, Puzzle, heuristic, hookimpl


class Toll(Puzzle):
    """From place n to 0: one down for 1, or straight there for 3."""

    name = "toll"
    default_heuristic = "dear"

    def initial(self, rng):
        return rng.randint(1, 9)

    def actions(self, state):
        return ("straight", "down") if state > 0 else ("up",) if state < -1 else ()

    def result(self, state, action):
        return 0 if action == "straight" else state + 1 if action == "up" else state - 1

    def step_cost(self, state, action, successor):
        return 3 if action == "straight" else 1

    def is_goal(self, state):
        return state == 0

    def format_state(self, state):
        return str(state)

    def parse_state(self, text):
        return int(text)

    def render(self, state):
        return str(state)


@heuristic("dear", game="toll", admissible=True)
def dear(game, state, player=0):
    """Claims what does not hold: place 1 is 1 from the goal."""
    return 5 * (state == 1)


class Straight(Agent):
    name = "straight"
    needs = frozenset({"single-player", "path"})

    def solve(self, game, state, search):
        return Path(("straight",))


class Sure(Straight):
    """Claims that going straight is cheapest."""

    name = "sure"
    optimal = "cost"


class Late(Straight):
    """Goes straight when its budget has ended, which it claims nothing of."""

    name = "late"
    optimal = "cost"

    def solve(self, game, state, search):
        try:
            while True:
                game.result(state, "down")
        except OutOfBudget:
            return Path(("straight",))


@hookimpl
def arena_games():
    return [Toll]


@hookimpl
def arena_agents():
    return [Straight, Sure, Late]


@hookimpl
def arena_heuristics():
    return [dear]
'''
PLACES = [5, 1, 2, 3, 7, 0]
"""Going straight costs 3; step by step costs 1 and 2 from the second and the third. At the last nothing is asked."""


@pytest.fixture(scope="module")
def plugin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("toll") / "toll.py"
    path.write_text(PLUGIN)
    return path


def played(plugin: Path, store: Path | None, *agents: Any) -> Results:
    """A run on five positions."""
    spec = {"game": "toll", "positions": list(map(str, PLACES)), "agents": list(agents), "plugins": [str(plugin)]}
    return arena.run({**spec, "limits": {"nodes": 100}}, store=store, workers=1)


def board_of(results: Results) -> Leaderboard:
    [board] = Leaderboard.of_results(results)
    return board


def marks(board: Leaderboard) -> dict[str, Any]:
    return {row["agent"]: row.get("refuted") for row in board.rows}


@pytest.mark.parametrize("kept", [False, True], ids=["in memory", "in a store"])
def test_a_refuted_claim_is_marked_and_named(kept: bool, plugin: Path, tmp_path: Path) -> None:
    """`sure` pays 3 from places 1 and 2, which uniform-cost search leaves for 1 and 2."""
    store = tmp_path / "toll.db" if kept else None
    results = played(plugin, store, "uniform-cost", "sure", "straight", "late")
    board = board_of(results)
    assert marks(board) == {"uniform-cost": False, "sure": True, "straight": False, "late": False}
    [first] = [record for record in results.records if (record.labels, record.position) == (("sure",), "1")]
    text = render(results.spec, [board])
    assert [line for line in text.splitlines() if line.split()[1:4] == ["~", "!", "sure"]]
    said = f"first in match {first.id}: its solution costs 3, but one from uniform-cost costs 1."
    assert f"! : sure claims optimal solutions, but another agent found a cheaper one, 2 times; {said}" in text
    rows = json.loads(render(results.spec, [board], "json"))["boards"][0]["rows"]
    assert {row["agent"] for row in rows if row["refuted"]} == {"sure"}
    assert "sure" in render(results.spec, [board], "csv")


def test_a_heuristic_that_overestimates_refutes_the_claim_of_its_agent(plugin: Path) -> None:
    """A* with it goes straight from place 2, for 3 instead of 2."""
    board = board_of(played(plugin, None, {"agent": "a-star", "heuristic": "dear"}, "uniform-cost"))
    assert marks(board) == {"a-star": True, "uniform-cost": False}


def test_a_board_without_a_refuted_claim_is_as_before(plugin: Path) -> None:
    """No key, no mark, no line: nobody has anything cheaper, or nobody claims anything."""
    for agents in (("uniform-cost", "straight"), ("sure", "straight"), ("straight", "bfs")):
        results = played(plugin, None, *agents)
        board = board_of(results)
        assert not [remark for remark in board.remarks if "claims" in remark]
        assert all("refuted" not in row for row in board.rows)
        assert "!" not in render(results.spec, [board])


def test_no_optimum_is_taken_from_a_refuted_claim(plugin: Path, tmp_path: Path) -> None:
    """`uniform-cost` knows the optimum of all six positions, and both others pay 3 for each but the last."""
    store = tmp_path / "toll.db"
    played(plugin, store, "uniform-cost", "sure", "straight")
    [board] = Leaderboard.load(store)
    assert marks(board)["sure"] is True
    told = CliRunner().invoke(cli, ["compare", str(store), "sure", "straight", "--format", "json"], standalone_mode=False)
    [pair] = json.loads(told.stdout)[0]["pairs"]
    assert pair["optima"] == 6
    excess = [(3 - best) / best for best in (3, 1, 2, 3, 3)]
    assert pair["gaps"] == pytest.approx([sum(excess) / 6] * 2)


def test_an_optimum_of_a_refuted_entry_is_not_known(plugin: Path, tmp_path: Path) -> None:
    """A cheaper solution by an entry without a claim refutes `sure`, so nobody is left who knows an optimum."""
    store = tmp_path / "toll.db"
    played(plugin, store, {"agent": "best-first", "heuristic": None}, "sure", "straight")
    told = CliRunner().invoke(cli, ["compare", str(store), "sure", "straight", "--format", "json"], standalone_mode=False)
    [pair] = json.loads(told.stdout)[0]["pairs"]
    [board] = Leaderboard.load(store)
    assert (marks(board)["sure"], pair["gaps"], pair["optima"]) == (True, None, 0)


@pytest.mark.parametrize(
    ("agents", "remark"),
    [
        (["uniform-cost", "bfs"], "uniform-cost proved that 2 positions have no solution."),
        ([{"agent": "uniform-cost", "label": "short", "limits": {"nodes": 2}}], "short proved that 1 position has no solution."),
        ([{"agent": "uniform-cost", "label": "flat", "limits": {"depth": 1}}], None),
        (["straight", "bfs"], None),
    ],
)
def test_positions_without_a_solution_are_named(agents: list[Any], remark: str | None, plugin: Path, tmp_path: Path) -> None:
    """From -1 no action leads on, and from -4 three actions lead to -1. With 2 nodes or to a depth of 1, only the first is proven
    or nothing is; `straight` claims nothing, and in this puzzle neither does `bfs`, since costs differ.
    """
    spec = {"game": "toll", "positions": ["5", "-1", "-4"], "agents": agents, "plugins": [str(plugin)]}
    results = arena.run({"limits": {"nodes": 100}, **spec}, store=tmp_path / "toll.db", workers=1)
    for board in (board_of(results), Leaderboard.load(tmp_path / "toll.db")[0]):
        assert [one for one in board.remarks if "no solution" in one] == ([] if remark is None else [remark])

"""`arena compare --by` with values that not every round has. Two searches that find cheapest paths have equal costs wherever both
solve, however many positions only one of them solves.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import arena
from arena.api.results import Leaderboard
from arena.cli import cli

SPEC: dict[str, Any] = {
    "game": {"name": "sliding-tiles", "shuffle": 60},
    "rounds": 30,
    "limits": {"nodes": 1000},
    "agents": ["a-star", "bfs"],
    "report": {"columns": {"dearness": "cost + moves"}},
}


@pytest.fixture(scope="module")
def solved(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, list[set[int]]]:
    """A store, and the rounds that each agent solved."""
    path = tmp_path_factory.mktemp("store") / "searches.db"
    played = arena.run(SPEC, store=path).played
    found = [
        {one.pairing.round for one in played if one.record.solved and one.record.labels[0] == name} for name in SPEC["agents"]
    ]
    assert len(found[0] & found[1]) < len(found[0] | found[1]) / 2, "so the two share few of the positions"
    return str(path), found


def compare(store: str, measure: str, style: str) -> str:
    return CliRunner().invoke(cli, ["compare", store, "--by", measure, "--format", style], standalone_mode=False).stdout


@pytest.mark.parametrize("measure", ["cost", "moves", "dearness"])
def test_only_positions_that_both_solve_are_compared(solved: tuple[str, list[set[int]]], measure: str) -> None:
    """This applies to JSON and CSV, too. If all values are equal, there is no test that Holm's method could count."""
    store, (one, other) = solved
    (board,) = json.loads(compare(store, measure, "json"))
    (pair,) = board["pairs"]
    assert (pair["rounds"], pair["difference"], pair["p_value"], board["tests"]) == (len(one & other), 0, 1, 0)
    assert pair["mean_one"] == pair["mean_other"]
    assert f",{len(one & other)}," in compare(store, measure, "csv")
    assert "cannot be told apart" in compare(store, measure, "simple")


def test_nodes_are_compared_on_positions_that_both_solve(solved: tuple[str, list[set[int]]]) -> None:
    """Every attempt has nodes, but nodes of attempts without a solution are left out."""
    store, (one, other) = solved
    (board,) = json.loads(compare(store, "nodes", "json"))
    assert board["pairs"][0]["rounds"] == len(one & other)


def test_entries_without_a_common_value_are_not_compared(tmp_path: Path) -> None:
    """The first agent solves nothing within 5 nodes, so it has no costs."""
    agents = [{"agent": "bfs", "label": "hasty", "limits": {"nodes": 5}}, "bfs"]
    path = tmp_path / "hasty.db"
    (board,) = Leaderboard.of_results(arena.run({**SPEC, "rounds": 4, "agents": agents}, store=path))
    assert {row["agent"]: row["solved"] for row in board.rows}["hasty"] == 0
    error = CliRunner().invoke(cli, ["compare", str(path), "--by", "cost"], standalone_mode=False).exception
    assert "hasty and bfs have no round that both solved and in which both have a value of cost" in str(error)

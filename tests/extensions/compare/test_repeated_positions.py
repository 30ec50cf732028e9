"""Puzzles with rounds that repeat positions, in `arena compare`."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from scipy import stats  # type: ignore[import-untyped]

import arena
from arena.cli import cli
from arena_compare.domains import AcrossComparison, DomainEffect, correct, describe_solvers, group_entries, tell_apart
from arena_compare.puzzle_comparison import Attempt
from arena_compare.random_effects import RandomEffects

QUEENS: dict[str, Any] = {
    "game": {"name": "n-queens", "n": 8},
    "rounds": 30,
    "agents": ["dfs", {"agent": "iterative-deepening", "label": "idd"}],
    "limits": {"nodes": 1000},
    "report": {"columns": {"many": "nodes > 500"}},
}


def call(*arguments: object) -> str:
    return CliRunner().invoke(cli, [str(one) for one in arguments], catch_exceptions=False).stdout


def test_one_position_gives_no_test_and_no_interval(tmp_path: Path) -> None:
    """Two deterministic solvers attempt the same position 30 times. No command shows bounds or a p-value below 1."""
    store = tmp_path / "queens.db"
    arena.run(QUEENS, store=store)
    (board,) = json.loads(call("leaderboard", store, "--format", "json"))["boards"]
    assert [row["many_low"] for row in board["rows"]] == [row["solved_low"] for row in board["rows"]] == [None, None]
    (compared,) = json.loads(call("compare", store, "--format", "json"))
    (pair,) = compared["pairs"]
    assert compared["tests"] == 0
    assert (pair["positions"], pair["observations"], pair["difference"]) == (1, 1, 1.0)
    assert (pair["low"], pair["high"], pair["test"], pair["p_value"]) == (None, None, "", 1.0)
    text = call("compare", store)
    assert text.startswith("n-queens: dfs and idd on one position (30 rounds, which repeat each other)\n")
    why = "dfs and idd cannot be told apart, because their 30 rounds only repeat a single attempt by each at one position"
    assert f"{why}: only dfs solved it.\n" in text
    for measure in ("solved", "many"):
        (means,) = json.loads(call("compare", store, "--by", measure, "--format", "json"))[0]["pairs"]
        assert (means["low"], means["high"], means["test"], means["observations"]) == (None, None, "", 0)
    (across,) = json.loads(call("compare", store, "--across", "--format", "json"))["pairs"]
    assert [(one["low"], one["high"]) for one in across["domains"]] == [(None, None)]
    assert "p = " not in text + call("compare", store, "--across")
    assert "n = 30" not in call("compare", store, "--methods")


@pytest.mark.parametrize(
    ("rounds", "limit", "text"),
    [
        (1, 1000, "because each has one attempt at one position: both solved it (nodes 113 and 124)."),
        (
            3,
            1000,
            "because their 3 rounds only repeat a single attempt by each at one position: both solved it (nodes 113 and 124).",
        ),
        (1, 120, "because each has one attempt at one position: only dfs solved it."),
        (1, 50, "because each has one attempt at one position: neither solved it."),
    ],
)
def test_a_single_attempt_is_described_in_one_sentence(tmp_path: Path, rounds: int, limit: int, text: str) -> None:
    """Depth-first search places queens one by one, and generates 113 positions until it solves 8 queens."""
    spec = {**QUEENS, "agents": ["dfs", "best-first"], "rounds": rounds, "limits": {"nodes": limit}}
    arena.run(spec, store=tmp_path / "queens.db")
    verdict = call("compare", tmp_path / "queens.db").split("\n\n")[1]
    assert verdict == f"dfs and best-first cannot be told apart, {text}"


def test_random_attempts_at_one_position_are_rounds_that_differ(tmp_path: Path) -> None:
    """scipy computes the expected values from all rounds."""
    store = tmp_path / "queens.db"
    agents = [{"agent": "hill-climb", "label": "climb"}, "dfs"]
    records = list(arena.run({**QUEENS, "agents": agents}, store=store).records)
    lost = sum(not record.solved for record in records if record.labels == ("climb",))
    assert lost > 0
    (pair,) = json.loads(call("compare", store, "--format", "json"))[0]["pairs"]
    assert (pair["positions"], pair["observations"]) == (1, 30)
    assert pair["p_value"] == pytest.approx(stats.binomtest(0, lost).pvalue)
    assert call("compare", store).startswith("n-queens: climb and dfs on one position (30 rounds, all different)\n")
    assert "with n = 30 rounds" in call("compare", store, "--methods")


def test_repeating_all_positions_changes_no_test(tmp_path: Path) -> None:
    """Boards, details, measures and domains are equal, except for the numbers of rounds."""
    drawn = arena.run({"game": {"name": "sliding-tiles", "shuffle": 25}, "rounds": 20, "agents": ["bfs"]}).records
    positions = list(dict.fromkeys([record.position for record in drawn]))[:10]
    agents = ["bfs", {"agent": "a-star", "heuristic": "misplaced"}, {"agent": "a-star", "weight": 3, "label": "w"}]
    spec = {"game": "sliding-tiles", "agents": agents, "limits": {"nodes": 300}, "report": QUEENS["report"]}
    found = []
    for times in (1, 2):
        store = tmp_path / f"{times}.db"
        arena.run({**spec, "positions": positions * times}, store=store)
        rows = json.loads(call("leaderboard", store, "--format", "json"))["boards"][0]["rows"]
        bounds = [row[key] for row in rows for key in ("solved", "solved_low", "solved_high", "many", "many_low", "many_high")]
        pairs = json.loads(call("compare", store, "--format", "json"))[0]["pairs"]
        facts = ("positions", "observations", "observations_both", "low", "high", "p_value_holm", "optima")
        bounds += [pair[key] for pair in pairs for key in facts]
        bounds += [pair["nodes"]["estimate"][key] for pair in pairs for key in ("value", "low", "high")]
        for pair in json.loads(call("compare", store, "--by", "nodes", "--format", "json"))[0]["pairs"]:
            bounds += [pair[key] for key in ("difference", "low", "high", "p_value", "observations")]
        for by in ((), ("--by", "nodes"), ("--by", "cost")):
            document = json.loads(call("compare", store, "--across", *by, "--format", "json"))
            effects = [effect for pair in document["pairs"] for effect in pair["domains"]]
            bounds += [effect[key] for effect in effects for key in ("value", "error", "low", "high")]
            bounds += [solver["positions"] for solver in document["solvers"]]
        found.append([-1 if one is None else one for one in bounds])
    assert found[0] == pytest.approx(found[1])
    assert call("compare", store, "bfs", "w").startswith("sliding-tiles: bfs and w on 10 positions (20 rounds)\n")


def test_compare_across_ignores_cost_if_the_solution_is_a_state() -> None:
    """The steps of such a search are not a path."""
    attempts = {"one": {0: Attempt(True, 3, 3.0, 10, 0.1, False)}, "two": {0: Attempt(True, 5, 5.0, 20, 0.1, False)}}
    assert [one.cost for one in describe_solvers("d", attempts)] == [3.0, 5.0, 3.0]
    assert [one.cost for one in describe_solvers("d", attempts, path_matters=False)] == [None] * 3


@pytest.mark.parametrize("every", [True, False])
def test_groups_of_entries_agree_with_the_marks_of_their_ranks(every: bool) -> None:
    """Two entries share a group if and only if they are not distinguished, whether or not all entries share their domains."""

    def compare(one: str, other: str, p_value: float) -> AcrossComparison:
        domains = [DomainEffect(f"{one}{other}" if not every else "d", 9, 1.0, 0.0, 1.0, 0.1, 0.9, 1.1, 9, 0.3)] * 5
        overall = RandomEffects(1.0, 0.9, 1.1, p_value, 5, 0.1, 0.0, None, 0.1, 0.5)
        return AcrossComparison(one, other, None, False, tuple(domains), overall, p_value, p_value)

    apart = {("a", "c"), ("a", "d"), ("b", "d")}
    names = ["a", "b", "c", "d"]
    pairs = [(one, other) for k, one in enumerate(names) for other in names[k + 1 :] if every or {one, other} != {"a", "b"}]
    listed = correct([compare(*pair, 1e-9 if pair in apart else 0.9) for pair in pairs])
    means, groups = group_entries(names, listed)
    assert bool(means) == every
    assert groups == [["a", "b"], ["b", "c"], ["c", "d"]]
    marked = {name for name, others in tell_apart(names, listed).items() if len(others) < 3}
    assert marked == {name for group in groups for name in group}

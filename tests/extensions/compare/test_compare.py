"""`arena compare` and `arena stats`: every figure recomputed from the records by scipy, or taken from published matches."""

import csv
import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from io import StringIO
from itertools import combinations
from pathlib import Path
from statistics import fmean, geometric_mean
from typing import Any

import click
import numpy as np
import pytest
from click.testing import CliRunner

import arena
from arena.cli import cli
from arena.match.record import Record
from arena.results.contrasts import Contrasts
from arena.results.leaderboard import Leaderboard
from arena.results.tables import render
from arena.results.tally import Facts, Tally, Way
from arena.schedule.board_info import BoardInfo
from arena.schedule.schedule import Scheduled
from arena.spec import load_spec
from arena.store import Store
from arena.store.run import Run
from arena_compare.comparison import compare_entries
from arena_compare.puzzle_comparison import Attempt, attempts_of, compare_attempts
from arena_compare.texts import comparison_text
from arena_compare.verdicts import p_value_text, round_p_value
from arena_pairings.sprt import Sprt, log_likelihood_ratio

PUZZLE = {
    "game": {"name": "sliding-tiles", "shuffle": 30},
    "rounds": 60,
    "seed": 5,
    "limits": {"nodes": 2000, "moves": 60},
    "agents": [
        {"agent": "greedy", "heuristic": "manhattan", "label": "by distance"},
        {"agent": "greedy", "heuristic": "misplaced", "label": "by place"},
        {"agent": "a-star", "heuristic": "manhattan"},
        {"agent": "a-star", "heuristic": "manhattan", "weight": 3},
    ],
}
GIVES_UP = {"agent": "hill-climb", "label": "climb"}
GAME = {
    "game": "tic-tac-toe",
    "rounds": 30,
    "openings": {"plies": 2},
    "agents": ["random", "greedy", {"agent": "lookahead", "depth": 2}],
}


def called(*arguments: str) -> Any:
    """The command's result, its error output apart."""
    return CliRunner().invoke(cli, [*arguments], catch_exceptions=True, standalone_mode=False)


@pytest.fixture(scope="module", autouse=True)
def _plain() -> Iterator[None]:
    """Times are compared only if all decisions ran the same way, so compiled code is switched off, with numba or without it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ARENA_PLAIN", "1")
        yield


@pytest.fixture(scope="module")
def puzzle(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Record]]:
    path = tmp_path_factory.mktemp("store") / "puzzle.db"
    return path, list(arena.run(PUZZLE, store=path).records)


@pytest.fixture(scope="module")
def game(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Record]]:
    path = tmp_path_factory.mktemp("store") / "game.db"
    return path, list(arena.run(GAME, store=path).records)


def by_position(records: list[Record], label: str) -> dict[str, list[Record]]:
    """Attempts of an agent; the same position may be drawn twice."""
    found: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        if record.labels == (label,):
            found[record.position].append(record)
    return found


def nodes(record: Record) -> int:
    return sum(decision.nodes for decision in record.decisions)


def solver(cost: int, *, solved: bool = True, **given: Any) -> Attempt:
    return Attempt(solved, cost, float(cost), 10 * cost, cost / 100, not solved, **given)


def test_par2_uses_the_limit_of_the_spec(tmp_path: Path) -> None:
    """The expected values are computed by hand. An unsolved position counts as twice the limit, whatever the largest attempt
    used.
    """
    agents = ["bfs", {"agent": "a-star", "heuristic": "misplaced"}]
    spec = {"game": {"name": "sliding-tiles", "shuffle": 25}, "rounds": 20, "limits": {"nodes": 300}, "agents": agents}
    records = list(arena.run(spec, store=tmp_path / "limited.db").records)
    (board,) = json.loads(called("compare", str(tmp_path / "limited.db"), "--format", "json").output)
    (found,) = board["pairs"]
    mine = [record for record in records if record.labels == ("bfs",)]
    assert 0 < sum(bool(record.solved) for record in mine) < 20
    assert found["limit_nodes"] == [300, 300]
    assert found["par2_nodes"][0] == pytest.approx(fmean(nodes(one) if one.solved else 600 for one in mine))
    assert (found["par2_seconds"], found["limit_seconds"]) == (None, None)


def test_par2_charges_each_entry_twice_its_own_limit(tmp_path: Path) -> None:
    """The expected values are computed by hand: strong may generate 60 nodes, and weak 5,000."""
    agents = [
        {"agent": "a-star", "label": "strong", "limits": {"nodes": 60}},
        {"agent": "a-star", "heuristic": "misplaced", "label": "weak", "limits": {"nodes": 5000}},
    ]
    spec = {"game": {"name": "sliding-tiles", "shuffle": 30}, "rounds": 20, "agents": agents}
    path = tmp_path / "unlike.db"
    records = list(arena.run(spec, store=path).records)
    charged = {"strong": 120, "weak": 10_000}
    means = [fmean([nodes(one) if one.solved else charged[name] for one in records if one.labels == (name,)]) for name in charged]
    assert any(not one.solved for one in records)
    said = "Limits differ: strong 60 nodes; weak 5,000 nodes. A difference may come from the limits."
    (board,) = json.loads(called("compare", str(path), "--format", "json").output)
    (pair,) = board["pairs"]
    assert pair["par2_nodes"] == pytest.approx(means)
    assert (pair["limit_nodes"], board["remarks"]) == ([60, 5000], [said])
    text = called("compare", str(path)).output
    assert re.search(rf"^PAR2 nodes, limits 60 and 5,000 +{means[0]:.3g} +{means[1]:.3g}$", text, re.MULTILINE)
    assert "PAR2 does not compare entries whose limits differ" in text
    assert text.endswith(f"\n\n{said}\n")
    assert f"note: sliding-tiles: {said}" in called("compare", str(path), "--format", "csv").stderr
    across = json.loads(called("compare", str(path), "--across", "--format", "json").output)
    known = {one["agent"]: (one["par2"], one["contribution"]) for one in across["solvers"]}
    assert known == {
        "strong": (pytest.approx(means[0]), None),
        "weak": (pytest.approx(means[1]), None),
        "virtual best": (None,) * 2,
    }
    assert across["remarks"] == [said]
    assert said in called("compare", str(path), "--across").output
    assert "The virtual best has no PAR2" in called("compare", str(path), "--across").output
    assert "The limits differ, so a difference may come from them." in called("compare", str(path), "--methods").output


def test_par2_counts_a_solution_just_after_the_limit_with_its_own_time() -> None:
    """Under a limit of 0.08 s, answers are accepted a little longer. A solution after 0.1 s counts as 0.1 s, and an unsolved
    position as 0.16 s.
    """
    one = {0: solver(10), 1: solver(4)}
    other = {0: solver(8, solved=False), 1: solver(2)}
    found = compare_attempts(
        (("one", 0), ("other", 1)), (one, other), Contrasts({}, {}), {}, {entry: {"seconds": 0.08} for entry in (0, 1)}, {}
    )
    assert found.par2_seconds == pytest.approx(((0.1 + 0.04) / 2, (0.16 + 0.02) / 2))


def test_solutions_that_are_states_are_not_compared_by_length() -> None:
    """The moves are steps of the search, so only solved positions and effort are compared."""
    one, other = [{place: solver(place + more) for place in range(8)} for more in (1, 3)]
    found = [
        compare_attempts((("one", 0), ("two", 1)), (one, other), Contrasts({}, {}), {}, {}, {3: 3}, path_matters=path_matters)
        for path_matters in (True, False)
    ]
    assert [pair.moves is None for pair in found] == [False, True]
    assert [pair.branching is None for pair in found] == [False, True]
    assert found[0].nodes is not None
    assert found[0].nodes == found[1].nodes


@pytest.mark.parametrize(
    ("ways", "named"),
    [(("plain", "plain"), None), (("compiled", "compiled"), None), (("compiled", "plain"), "two"), ((None, "plain"), "one")],
)
def test_times_are_compared_only_if_decisions_ran_the_same_way(ways: tuple[Way, Way], named: str | None) -> None:
    met = tuple([{place: solver(place + 1, way=way) for place in range(8)} for way in ways])
    limits = {entry: {"nodes": 100, "seconds": 1.0} for entry in (0, 1)}
    found = compare_attempts((("one", 0), ("two", 1)), (met[0], met[1]), Contrasts({}, {}), {}, limits, {})
    figures = [found.seconds, found.par2_seconds, found.limit_seconds, found.by_seconds or None]
    assert all(figure is None for figure in figures) == (named is not None)
    assert found.nodes is not None
    assert found.par2_nodes is not None
    assert (found.untimed is None) == (named is None)
    assert found.untimed is None or found.untimed.startswith(f"The times of {named} are left out")


@pytest.mark.parametrize(
    "spec",
    [
        {"game": "tic-tac-toe", "agents": ["minimax", "alpha-beta"], "openings": {"plies": 2}, "rounds": 3},
        {"game": {"name": "sliding-tiles", "shuffle": 9}, "agents": ["bfs", "a-star"], "rounds": 8},
        {"game": "2048", "agents": ["greedy", {"agent": "greedy", "label": "two"}], "rounds": 1, "limits": {"moves": 5}},
    ],
)
def test_a_verdict_has_a_caveat_if_only_one_search_ran_compiled(spec: dict[str, Any], tmp_path: Path) -> None:
    """Under a time limit, the compiled search visits more nodes, so a better result does not show that its heuristic is
    better.
    """
    results, limited = arena.run(spec), load_spec({**spec, "limits": {"seconds": 60, **spec.get("limits", {})}})
    path = str(tmp_path / "unlike.db")
    with Store.open(Path(path), write=True) as store:
        store.begin(Run.of(limited))
        for number, board, pairing, record in results.played:
            ways = {name: [int(seat == entry) for seat in pairing.seats] for entry, name in enumerate(("compiled", "plain"))}
            store.add(Scheduled(number, board, pairing), record._replace(timing=ways))
        store.end()
    one, two = results.spec.boards[0].seats
    told = f"{one.label} ran compiled and {two.label} ran uncompiled"
    caveat, remark = f"But {told} under a time limit, which may be the reason.", f"Speeds differ: {told}. Under a time limit, "
    (board,) = json.loads(called("compare", path, "--format", "json").output)
    assert [pair["caveat"] for pair in board["pairs"]] == [caveat]
    assert [one.startswith(remark) for one in board["remarks"]] == [True]
    verdict, *others = called("compare", path).output.split("\n\n")[1].split("\n")
    assert verdict.endswith(f" {caveat}")
    assert caveat not in "".join(others)
    text = called("compare", path, "--methods").output
    assert remark in text
    assert "`limits: {nodes: N}`" in text
    assert remark in called("compare", path, "--across").output


FAILING = """
from arena import Agent, hookimpl

class Broken(Agent):
    name = "broken"
    def choose(self, game, state, search):
        raise ValueError("no idea")

class Idle(Agent):
    name = "idle"
    def choose(self, game, state, search):
        while True:
            game.result(state, game.actions(state)[0])

@hookimpl
def arena_agents():
    return [Broken, Idle]
"""


def test_comparisons_report_faults_and_random_actions(tmp_path: Path) -> None:
    """One agent loses each of its games by an exception, and another one never chooses. Only the named entries are reported."""
    (tmp_path / "failing.py").write_text(FAILING)
    agents, path = ["greedy", "broken", "idle"], str(tmp_path / "failing.db")
    spec = {
        "game": "tic-tac-toe",
        "rounds": 3,
        "agents": agents,
        "plugins": [str(tmp_path / "failing.py")],
        "limits": {"nodes": 20},
    }
    records = list(arena.run(spec, store=path).records)
    lost = [record for record in records if record.termination == "exception"]
    assert len(lost) == 12
    moves = sum(record.labels[one.seat] == "idle" for record in records for one in record.decisions)
    broken = f"broken failed 12 times by exception, first in match {lost[0].id}: ValueError: no idea (failing.py:7)"
    idle = (
        f"Random, because the agent used up a budget before it reported an action: idle {moves} of {moves} decisions (100.0 %)."
    )
    for options in ((), ("--by", "score"), ("--methods",), ("--across",), ("--format", "html")):
        text = called("compare", path, *options).output
        assert broken in text, options
        assert idle in text, options
    (board,) = json.loads(called("compare", path, "--format", "json").output)
    assert board["remarks"] == [idle, broken]
    text = called("compare", path, "greedy", "idle").output
    assert idle in text
    assert "broken" not in text
    assert called("compare", path, "-o", str(tmp_path / "page.html")).exit_code == 0
    assert "broken failed 12 times by exception" in (tmp_path / "page.html").read_text()


def test_two_solvers_are_compared_on_the_same_positions(puzzle: tuple[Path, list[Record]]) -> None:
    """The output contains solved shares with an exact binomial test, moves and nodes where both solved, PAR2, and the gap to the
    optimum.
    """
    path, records = puzzle
    (board,) = json.loads(called("compare", str(path), "by distance", "by place", "--format", "json").output)
    (found,) = board["pairs"]
    one, other, best = (by_position(records, label) for label in ("by distance", "by place", "a-star(weight=1.0)"))
    met = [pair for position in one for pair in zip(one[position], other[position], strict=True)]
    assert found["solved"] == [
        sum(bool(a.solved and b.solved) for a, b in met),
        (alone := sum(bool(a.solved and not b.solved) for a, b in met)),
        (theirs := sum(bool(b.solved and not a.solved) for a, b in met)),
        sum(not a.solved and not b.solved for a, b in met),
    ]
    assert alone > theirs
    assert found["difference"] == pytest.approx((alone - theirs) / 60)
    assert found["low"] < found["difference"] < found["high"]
    places = Counter({position: sum(bool(a.solved) - bool(b.solved) for a, b in zip(one[position], other[position], strict=True))
                      for position in one})  # fmt: skip
    sizes = [abs(size) for size in places.values() if size]
    sums = Counter({0: 1})
    for size in sizes:  # all signs of all positions, each of which counts once
        sums = Counter({total: sums[total - size] + sums[total + size] for step in sums for total in (step - size, step + size)})
    extreme = sum(times for total, times in sums.items() if abs(total) >= abs(sum(places.values())))
    assert found["p_value"] == pytest.approx(extreme / 2 ** len(sizes))
    assert [found["positions"], found["observations"]] == [len(one)] * 2
    both = [(a, b) for a, b in met if a.solved and b.solved]
    moves = found["moves"]
    assert moves["estimate"]["value"] == pytest.approx(fmean((a.moves or 0) - (b.moves or 0) for a, b in both))
    assert moves["estimate"]["low"] <= moves["estimate"]["value"] <= moves["estimate"]["high"]
    assert found["nodes"]["estimate"]["value"] == pytest.approx(geometric_mean([nodes(a) / nodes(b) for a, b in both]))
    assert found["nodes"]["one"] == pytest.approx(typical := geometric_mean([nodes(a) for a, _ in both]))
    assert found["nodes"]["one"] / found["nodes"]["other"] == pytest.approx(found["nodes"]["estimate"]["value"])
    known = len({a.position for a, _ in both})
    more = rf" \({len(both)} rounds\)" if len(both) > known else ""
    line = f"Nodes, {known} positions{more} that both solved, geometric mean "
    unit = "positions" if found["positions"] == len(met) else "rounds"
    text = called("compare", str(path), "by distance", "by place").output
    assert re.search(rf"^{line} +{typical:.3g} ", text, re.MULTILINE)
    assert re.search(rf"^Solved only by this entry, {unit} +{alone} +{theirs}$", text, re.MULTILINE)
    assert found["nodes"]["estimate"]["low"] < 1 <= found["nodes"]["estimate"]["high"]
    assert " times fewer nodes" not in text  # as far as this goes, the other may take as few
    told = r"told apart by solution length \([^)]*\)(,| or) nodes \(x 0\.\d+ to 1\S*\)"  # and time, as the machine has it
    assert re.search(told, text)
    stepwise = [nodes(record) for record in records if len(record.decisions) > 1]
    limit = max(PUZZLE["limits"]["nodes"], *stepwise)  # type: ignore[index]  # greedy decides at every step
    assert found["limit_nodes"] == [limit, limit]
    assert found["par2_nodes"][0] == pytest.approx(fmean(nodes(a) if a.solved else 2 * limit for a, _ in met))
    assert (found["par2_seconds"], found["limit_seconds"]) == (None, None)  # the spec limits no seconds
    gaps = [(a.cost or 0) / (best[a.position][0].cost or 1) - 1 for a, _ in met if a.solved]
    assert found["optima"] == len(one)
    assert found["gaps"][0] == pytest.approx(fmean(gaps))
    for row in found["by_nodes"]:
        assert row["one"] == pytest.approx(fmean(bool(a.solved) and nodes(a) <= row["budget"] for a, _ in met))


def test_expanded_states_are_shown_beside_generated_ones(puzzle: tuple[Path, list[Record]]) -> None:
    """Records contain the counts of solvers. Agents that choose moves expand nothing, so a pair with such an agent has no such
    row.
    """
    path, records = puzzle
    (board,) = json.loads(called("compare", str(path), "--format", "json").output)
    one, two = sorted({record.labels[0] for record in records if record.labels[0].startswith("a-star")})
    for pair in board["pairs"]:
        assert (pair["expanded"] is not None) == ({pair["one"], pair["other"]} == {one, two})
    (found,) = [pair["expanded"] for pair in board["pairs"] if pair["expanded"]]
    counts: dict[str, dict[str, float]] = {one: {}, two: {}}
    for record in records:
        if record.solved and record.labels[0] in counts:
            spent = [(each.spent or {}).get("expanded", 0) for each in record.decisions]
            counts[record.labels[0]][record.position] = sum(spent)
    both = [place for place in counts[one] if place in counts[two]]
    rounds = [record.position for record in records if record.labels[0] == one and record.position in both]
    means = [geometric_mean([counts[label][place] for place in rounds]) for label in (one, two)]
    assert sorted([found["one"], found["other"]]) == pytest.approx(sorted(means))
    assert found["estimate"]["value"] == pytest.approx(found["one"] / found["other"])
    assert found["test"] is None
    text = called("compare", str(path), one, two).output
    line = rf"^Expanded states, {len(both)} positions.* that both solved, geometric mean +{means[0]:.3g} "
    assert re.search(line, text, re.MULTILINE)


def test_the_mean_branching_factor_uses_only_positions_that_have_one(tmp_path: Path) -> None:
    """A solution with fewer than three moves has no factor. With four random moves, some positions have such solutions."""
    spec = {"game": {"name": "sliding-tiles", "shuffle": 4}, "rounds": 40, "agents": ["a-star", "bfs"]}
    played = arena.run(spec, store=tmp_path / "cup.db")
    moved = [record.position for *_, record in played.played if (record.moves or 0) > 2 and record.labels == ("bfs",)]
    places, rounds = len({*moved}), len(moved)
    assert 0 < places < rounds < 40
    text = called("compare", str(tmp_path / "cup.db"), "a-star", "bfs").output
    assert (
        f"Effective branching factor, {places} positions ({rounds} rounds) that both solved with nodes and at least 3 moves"
        in text
    )


@pytest.mark.parametrize(("rounds", "elo1", "decided"), [(4, 20, False), (60, 200, True)])
def test_a_comparison_says_that_a_sequential_test_ended_the_games_only_if_it_is_decided(
    tmp_path: Path, rounds: int, elo1: int, decided: bool
) -> None:
    """Four pairs cannot reach a log-likelihood ratio of 2.94 for hypotheses that are 20 normalised Elo apart."""
    test = {"sprt": {"elo0": 0, "elo1": elo1}}
    spec = {"game": "tic-tac-toe", "format": {"name": "head-to-head", "test": test}, "rounds": rounds, "openings": {"plies": 2}}
    arena.run({**spec, "agents": ["greedy", "random"]}, store=tmp_path / "cup.db")
    text = called("compare", str(tmp_path / "cup.db"), "greedy", "random").output
    assert ("nothing is decided" in text) == (not decided)
    assert ("A sequential test ended these games" in text) == decided


def test_the_branching_factor_is_computed_from_positions_that_both_solved(puzzle: tuple[Path, list[Record]]) -> None:
    """The test finds the factor from the roots of a polynomial. It is the same in the details of a pair and as a measure. The
    depth is that of the shortest solution, and not that of the longer solutions of a search with a weight.
    """
    path, records = puzzle
    labels = ("a-star(weight=1.0)", "a-star(weight=3.0)")
    (board,) = json.loads(called("compare", str(path), *labels, "--format", "json").output)
    attempts = [[record for record in records if record.labels == (label,)] for label in labels]
    both = [pair for pair in zip(*attempts, strict=True) if all(record.solved and record.moves for record in pair)]
    lengths = [min(one.moves or 0 for one in records if one.solved and one.position == pair[0].position) for pair in both]
    assert any((other.moves or 0) > length for (_, other), length in zip(both, lengths, strict=True))
    both = [pair for pair, length in zip(both, lengths, strict=True) if length >= 3]
    lengths = [length for length in lengths if length >= 3]
    factors = [[max(root.real for root in np.roots([1.0] * length + [-nodes(record)]) if abs(root.imag) < 1e-9)
                for record in pair] for pair, length in zip(both, lengths, strict=True)]  # fmt: skip
    assert all((nodes(one) < nodes(other)) == (mine < theirs) for (one, other), (mine, theirs) in zip(both, factors, strict=True))
    assert board["pairs"][0]["branching"] == pytest.approx(list(map(fmean, zip(*factors, strict=True))))
    text = called("compare", str(path), *labels).output
    shown = [f"{fmean(column):.3g}" for column in zip(*factors, strict=True)]
    places = len({one.position for one, _ in both})
    more = rf" \({len(both)} rounds\)" if len(both) > places else ""
    assert re.search(
        rf"Effective branching factor, {places} positions{more} that both solved with nodes and at least 3 moves"
        rf" +{shown[0]} +{shown[1]}",
        text,
    )
    (means,) = json.loads(called("compare", str(path), *labels, "--by", "branching-factor", "--format", "json").output)[0][
        "pairs"
    ]
    assert [means["mean_one"], means["mean_other"]] == pytest.approx(board["pairs"][0]["branching"])


def test_time_budgets_have_a_suitable_unit(puzzle: tuple[Path, list[Record]]) -> None:
    """Each row is a budget from 1 to 1,000 microseconds, milliseconds or seconds, and equals the budget in JSON."""
    names = ("by distance", "by place")
    (board,) = json.loads(called("compare", str(puzzle[0]), *names, "--format", "json").output)
    budgets = [row["budget"] for row in board["pairs"][0]["by_seconds"]]
    text = called("compare", str(puzzle[0]), *names).output.partition("Solved within a budget of time:")[2]
    rows = re.findall(r"^ *([\d.,]+) (µs|ms|s) +\d", text, re.MULTILINE)
    assert all(1 <= float(number) < 1000 and not number.endswith(".0") for number, _ in rows)
    assert [float(number) * {"µs": 1e-6, "ms": 1e-3, "s": 1}[unit] for number, unit in rows] == pytest.approx(budgets)
    assert len(rows) > 1


def test_no_share_is_shown_for_a_budget_above_the_limit(tmp_path: Path) -> None:
    """Searches stop at 300 nodes, so the last row is 300, not 500. The last row of seconds is the time of the first stop."""
    spec = {**PUZZLE, "rounds": 20, "limits": {"nodes": 300}, "agents": ["bfs", "a-star", "greedy"]}
    records = list(arena.run(spec, store=tmp_path / "limited.db").records)
    (board,) = json.loads(called("compare", str(tmp_path / "limited.db"), "--format", "json").output)
    pairs = {(pair["one"], pair["other"]): pair for pair in board["pairs"]}
    for names, found in pairs.items():
        searches = [record for record in records if record.labels[0] in set(names) - {"greedy"}]
        cut = [record for record in searches if not record.solved]
        assert {nodes(record) for record in cut} == {300}
        assert found["by_nodes"][-1]["budget"] == 300
        assert found["by_seconds"][-1]["budget"] <= min(record.decisions[0].seconds for record in cut) + 1e-9
    text = called("compare", str(tmp_path / "limited.db"), "bfs", "a-star").output
    assert re.search(r"^ *300 +\d", text, re.MULTILINE)
    assert not re.search(r"^ *500 ", text, re.MULTILINE)


@pytest.mark.parametrize(("nodes", "solved"), [(3, True), (2, False)])
def test_a_solution_at_exactly_the_limit_counts(nodes: int, solved: bool, tmp_path: Path) -> None:
    """The blank has three neighbours, one of which is the goal, so A* needs three nodes. A solution is never cut off."""
    spec = {"game": "sliding-tiles", "positions": ["1 2 3 / 4 5 6 / 7 . 8"], "agents": ["a-star", "uniform-cost"]}
    results = arena.run({**spec, "limits": {"nodes": nodes}}, store=tmp_path / "exact.db", workers=1)
    with results.open_store() as store:
        found = attempts_of(store, store.last().boards)[0][0][0]
    assert (found.solved, found.stopped, found.nodes) == (solved, not solved, nodes)
    (board,) = json.loads(called("compare", str(tmp_path / "exact.db"), "--format", "json").output)
    both, neither = board["pairs"][0]["solved"][0], board["pairs"][0]["solved"][-1]
    assert (both, neither) == (solved, not solved)


def test_attempts_that_end_before_the_limit_do_not_shorten_the_table(tmp_path: Path) -> None:
    """A climb that gives up early would not solve more with more nodes, so all rows of the search are shown."""
    spec = {"game": "n-queens", "rounds": 20, "limits": {"nodes": 20_000}, "agents": [GIVES_UP, "min-conflicts"]}
    records = list(arena.run(spec, store=tmp_path / "queens.db").records)
    first, second = ([record for record in records if record.labels[0] == label] for label in ("climb", "min-conflicts"))
    assert 0 < sum(bool(record.solved) for record in first) < 20
    assert all(record.solved for record in second)
    (board,) = json.loads(called("compare", str(tmp_path / "queens.db"), "--format", "json").output)
    last = board["pairs"][0]["by_nodes"][-1]
    assert last["budget"] >= max(nodes(record) for record in records if record.solved)
    assert (last["one"], last["other"]) == (fmean(bool(record.solved) for record in first), 1.0)


def test_the_first_sentence_summarises_the_comparison(puzzle: tuple[Path, list[Record]]) -> None:
    """The better entry comes first, whatever the order of the names, with bounds and the likelihood of superiority."""
    path, _ = puzzle
    (board,) = json.loads(called("compare", str(path), "by distance", "by place", "--format", "json").output)
    (found,) = board["pairs"]
    low, high = (f"{100 * found[end]:.1f}" for end in ("low", "high"))
    p_value = f"p = {found['p_value_holm']:.0e}"  # then maybe time
    start = f"by distance solves {low} to {high} points more than by place (corrected interval), {p_value}"
    for names in (("by distance", "by place"), ("by place", "by distance")):
        assert start in called("compare", str(path), *names).output
    alike = called("compare", str(path), "a-star(weight=1.0)", "a-star(weight=3.0)").output
    assert re.search(
        r"^On the positions that both solve, a-star\(weight=1.0\) finds solutions [\d.]+ moves shorter than a-star\(weight=3.0\)",
        alike,
        re.MULTILINE,
    )
    assert re.search(
        r"They cannot be told apart by what they solve \(95 % interval -[\d.]+ to \+[\d.]+ points, both solved the same .*\)",
        alike,
    )


def test_all_tests_of_a_board_are_corrected_together(puzzle: tuple[Path, list[Record]]) -> None:
    """statsmodels and R give the same p-values for all measures of six pairs of four agents. Naming two entries does not change
    them.
    """
    path, _ = puzzle
    (board,) = json.loads(called("compare", str(path), "--format", "json").output)
    assert len(board["pairs"]) == 6
    tested = [pair for pair in board["pairs"] if pair["test"]]
    tested += [
        means["test"] for pair in board["pairs"] for key in ("moves", "cost", "nodes") if (means := pair[key]) and means["test"]
    ]
    timed = [means["test"] for pair in board["pairs"] if (means := pair["seconds"]) and means["test"]]
    number = len(tested) + len(timed)
    assert number == board["tests"] > 12
    for each in (tested, [*tested, *timed]):  # a test of seconds counts for the others, but its p-value does not
        worst = 0.0
        for rank, one in enumerate(sorted(each, key=lambda one: float(one["p_value"]))):
            worst = max(worst, min(1.0, (number - rank) * one["p_value"]))
            assert one["p_value_holm"] == pytest.approx(worst) or (each is not tested and one not in timed)
    text = called("compare", str(path)).output
    assert f"corrected together for all {number} tests on this board (Holm's method)" in text
    (two,) = json.loads(called("compare", str(path), "by distance", "by place", "--format", "json").output)[0]["pairs"]
    assert two in board["pairs"]


def test_two_players_are_compared_by_pairs_of_games(game: tuple[Path, list[Record]]) -> None:
    """Pentanomial counts come from the records. Games of a pair have the same position and swapped seats, and repeated pairs
    count once.
    """
    path, records = game
    (board,) = json.loads(called("compare", str(path), "greedy", "random", "--format", "json").output)
    (found,) = board["pairs"]
    scores: dict[tuple[str, int], list[float]] = defaultdict(list)
    seen: Counter[tuple[str, ...]] = Counter()
    for record in records:
        if set(record.labels) == {"greedy", "random"}:
            number = seen[record.position, *record.labels]
            seen[record.position, *record.labels] += 1
            scores[record.position, number].append(float(record.returns[record.labels.index("greedy")] + 1) / 2)
    counts = Counter(sum(pair) for pair in scores.values())
    assert sum(counts.values()) == 30
    assert sum(points * count for points, count in counts.items()) == pytest.approx(found["worth"]["score"] * 60)
    text = called("compare", str(path), "greedy", "random").output
    assert f"greedy scores {100 * found['worth']['score']:.1f} % (" in text
    own = [record for record in records if set(record.labels) == {"greedy", "random"}]
    distinct = {(record.labels, record.position, record.actions) for record in own}
    assert (found["games"], found["distinct"]) == (60, len(distinct))
    assert f"in 30 pairs of games{f' (60 games, {len(distinct)} different)' if len(distinct) < 60 else ''}, p = " in text
    assert "By the ratings of the whole leaderboard, greedy is at +" in text
    lines = called("compare", str(path)).output.splitlines()
    assert lines[2].split() == ["random", "greedy", "lookahead"]
    cells = [re.findall(r"([+-]\d+)(?: \((?:above |below )?([\d.]+) %\))?", line) for line in lines[4:7]]
    assert int(cells[0][0][0]) == -int(cells[1][0][0]) == round(-found["table"]["elo"])


def test_a_merged_store_of_all_shards_counts_as_a_finished_run(tmp_path: Path) -> None:
    """A comparison of one shard mentions the shard. A comparison of the merged store does not mention an unfinished run."""
    (tmp_path / "cup.yaml").write_text(json.dumps({**GAME, "rounds": 4}))
    stores = [str(tmp_path / f"{half}.db") for half in ("one", "two", "both")]
    for half in (0, 1):
        called("run", str(tmp_path / "cup.yaml"), "--store", stores[half], "--shard", f"{half + 1}/2", "--workers", "1")
    merged = called("merge", stores[2], *stores[:2])
    assert merged.return_value == 0
    halves, both = called("compare", stores[0]), called("compare", stores[2])
    assert "one.db contains only the shard 1/2 of the run" in halves.stderr
    assert "contains only the shard 1/2 of the run" in called("compare", stores[0], "--across").stderr
    assert both.stderr == ""
    assert "not finished" not in called("leaderboard", stores[2]).output


STUBBORN = """
from arena import Agent, hookimpl

class Stubborn(Agent):
    def choose(self, game, state, search):
        return game.actions(state)[0]

class Silent(Stubborn):
    name = "silent"

class Drawing(Stubborn):
    name = "drawing"

    def choose(self, game, state, search):
        search.rng.random()
        return super().choose(game, state, search)

@hookimpl
def arena_agents():
    return [Silent, Drawing]
"""


def test_the_board_compare_stats_and_the_python_api_give_the_same_elo(game: tuple[Path, list[Record]], tmp_path: Path) -> None:
    """On a board of two entries, it is the Elo of the score with its interval. On a larger board, it is the difference of
    ratings.
    """
    spec = {**GAME, "agents": ["random", "greedy"]}
    arena.run(spec, store=tmp_path / "two.db")
    ((told,),) = [board["pairs"] for board in json.loads(called("compare", str(tmp_path / "two.db"), "--format", "json").output)]
    counts = [str(count) for count in told["counts"]]
    stats = json.loads(called("stats", "--pentanomial", *counts, "--format", "json").output)
    (board,) = Leaderboard.load(tmp_path / "two.db")
    rows = {row["agent"]: row for row in board.rows}
    sign = 1 if told["one"] == "random" else -1
    for key, rating in (("elo", "rating"), ("elo_low", "rating_low"), ("elo_high", "rating_high")):
        assert told["worth"][key] == pytest.approx(stats[key])
        assert told["table"][key.removeprefix("elo_")] == pytest.approx(stats[key], abs=1e-6)
        mirrored = rating if sign > 0 or key == "elo" else "rating_high" if key == "elo_low" else "rating_low"
        assert rows["random"][mirrored] == pytest.approx(sign * stats[key] / 2, abs=1e-6)
    path, _ = game
    (larger,) = Leaderboard.load(path)
    ratings = {row["agent"]: row["rating"] for row in larger.rows}
    for pair in json.loads(called("compare", str(path), "--format", "json").output)[0]["pairs"]:
        assert pair["table"]["elo"] == pytest.approx(ratings[pair["one"]] - ratings[pair["other"]], abs=1e-6)


def test_a_page_of_comparisons_is_written_for_boards_with_open_intervals(game: tuple[Path, list[Record]], tmp_path: Path) -> None:
    """One board has six agents, with open intervals for some pairings. The other board has three agents."""
    agents = ["random", "greedy", *[{"agent": "alpha-beta", "depth": depth} for depth in (1, 2, 3, 4)]]
    arena.run({"game": "tic-tac-toe", "openings": {"plies": 1}, "rounds": 12, "agents": agents}, store=tmp_path / "six.db")
    for store in (tmp_path / "six.db", game[0]):
        written = called("compare", str(store), "-o", str(tmp_path / "page.html"))
        assert (written.exit_code, written.exception) == (0, None)
        assert "comparisons" in written.output
        assert "Colours mark differences" in (tmp_path / "page.html").read_text()


@pytest.mark.parametrize(
    ("agent", "counted", "folded"),
    [
        ("drawing", "in 20 pairs of games (40 games, 2 different).", False),
        ({"agent": "alpha-beta", "depth": 2}, "in 1 pair of games (40 games, 2 different).", True),
    ],
)
def test_the_text_gives_the_number_of_pairs_that_are_not_repeats(agent: Any, counted: str, folded: bool, tmp_path: Path) -> None:
    """Two games are repeated. They count as one pair if no agent used a random number, and otherwise as twenty pairs."""
    (tmp_path / "stubborn.py").write_text(STUBBORN)
    spec = {"game": "tic-tac-toe", "rounds": 20, "agents": ["silent", agent], "plugins": [str(tmp_path / "stubborn.py")]}
    results = arena.run(spec, store=tmp_path / "twice.db")
    text = called("compare", str(tmp_path / "twice.db")).output
    assert counted in text
    assert ("Fewer than three pairs of games differ" in text) == folded
    assert "By the ratings of the whole leaderboard" not in text  # there are only these two
    remarks = render(results, Leaderboard.of_results(results))
    assert "40 games, 2 different." in remarks
    assert ("Repeated games give no new information" in remarks) == folded


LOSER = """
from arena import Agent, hookimpl

class Loser(Agent):
    name = "loser"

    def choose(self, game, state, search):
        raise ValueError(search.rng.random())

@hookimpl
def arena_agents():
    return [Loser]
"""


def test_a_tiny_p_value_is_not_shown_as_zero(tmp_path: Path) -> None:
    """An agent loses all 60 pairs. For equal agents, this has a probability of 2 ** -60, which is not 0."""
    (tmp_path / "loser.py").write_text(LOSER)
    spec = {"game": "tic-tac-toe", "rounds": 60, "agents": ["random", "greedy", "loser"], "plugins": [str(tmp_path / "loser.py")]}
    arena.run(spec, store=tmp_path / "lost.db")
    summary, details = (called("compare", str(tmp_path / "lost.db"), *named).output for named in ([], ["random", "loser"]))
    assert re.search(
        r"^random scores 100.0 % .* in 60 pairs of games.*, p < 1e-15 by sign flips\. Elo unknown", details, re.MULTILINE
    )
    assert "0 (0), 1/2 (0), 1 (0), 1 1/2 (0), 2 (60)." in details
    for text in (summary, details):
        assert re.search(r"^random is better than loser: \+\d+ Elo by the ratings of the leaderboard, p ", text, re.MULTILINE)
        assert not re.search(r"p = 0(?!\.)", text)


@pytest.mark.parametrize(
    ("kind", "by"), [("game", ()), ("game", ("--by", "seconds")), ("puzzle", ()), ("puzzle", ("--by", "nodes"))]
)
def test_several_pairs_are_shown_as_a_matrix_and_sentences(
    kind: str, by: tuple[str, ...], request: pytest.FixtureRequest
) -> None:
    """Each sentence also occurs in the details of its pair. Each pair has two cells with opposite differences."""
    store = str(request.getfixturevalue(kind)[0])
    (board,) = json.loads(called("compare", store, *by, "--format", "json").output)
    pairs = [(pair["one"], pair["other"]) for pair in board["pairs"]]
    _, table, listed, *rest = re.split("\n{2,}", called("compare", store, *by, "--format", "tsv").output)
    sentences = listed.splitlines()
    assert len(sentences) == len(pairs) == {"game": 3, "puzzle": 6}[kind]
    for names, sentence in zip(pairs, sentences, strict=True):
        assert sentence in called("compare", store, *names, *by, "--format", "tsv").output
    rows = [[cell.strip() for cell in line.split("\t")] for line in table.splitlines()]
    cells = {(row[0], column): cell for row in rows[1:] for column, cell in zip(rows[0][1:], row[1:], strict=True)}
    for one, other in pairs:
        lead, lag = (float(cells[names].split()[0].replace(",", "")) for names in ((one, other), (other, one)))
        assert lead == -lag
    assert any(cells[names] != "+0" for names in pairs)
    assert rest[-1] == "Name two entries to see the details of that pair.\n"
    assert "Name two" not in called("compare", store, *pairs[0], *by).output


def test_the_calculator_gives_published_figures() -> None:
    """One match of a public framework has an Elo of 11.84 +- 4.83 and a log-likelihood ratio of 2.91. The other has 120 wins,
    80 draws and 200 losses.
    """
    text = called("stats", "--pentanomial", "24", "609", "1406", "767", "42", "--sprt", "0", "3").output
    assert "Elo difference +11.8 (" in text
    assert "Margin ± 4.83." in text
    assert "log-likelihood ratio 2.91 (the test ends at -2.94 or 2.94), not decided yet." in text
    found = json.loads(called("stats", "120", "80", "200", "--format", "json").output)
    assert found["elo"] == pytest.approx(-70.44, abs=0.01)
    assert found["elo_low"] < found["elo"] < found["elo_high"]


def test_the_elo_of_an_agent_that_won_all_games_has_no_inf_or_nan() -> None:
    """The Elo has only one bound."""
    text = called("stats", "6", "0", "0").output
    assert "Elo difference unknown, because all points went one way (95 % interval above +" in text
    assert "nan" not in text


@pytest.mark.parametrize("counts", [("0", "0", "0"), ("--pentanomial", "0", "0", "0", "0", "0")])
def test_no_score_is_shown_without_games(counts: tuple[str, ...]) -> None:
    """A score of 50 % without games would look like a result."""
    assert called("stats", *counts).output == "Without games, the score and the Elo difference are unknown.\n"
    found = json.loads(called("stats", *counts, "--format", "json").output)
    assert found.pop("games") == 0
    assert [key for key, value in found.items() if value is not None] == ["test"]


@pytest.mark.parametrize("score", [0, 1, 2, 4])
def test_the_forecast_is_exact_if_all_pairs_have_the_same_result(score: int) -> None:
    """Five equal pairs have no variance. The test tries larger and larger numbers of pairs until one decides."""

    def counts(pairs: int) -> list[str]:
        return [str(pairs * (place == score)) for place in range(5)]

    needed = next(
        n for n in range(6, 5000) if Sprt(0, 40).verdict(log_likelihood_ratio([int(count) for count in counts(n)], Sprt(0, 40)))
    )
    text = called("stats", "--pentanomial", *counts(5), "--sprt", "0", "40").output
    assert f"The test takes about {needed:,} pairs in total at this score" in text


def test_a_forecast_exceeds_the_pairs_played_so_far() -> None:
    """If 51 pairs do not decide, the test needs more than 51. Without pairs there is no forecast."""
    text = called("stats", "--pentanomial", "0", "1", "0", "0", "50", "--sprt", "0", "10").output
    foretold = re.search(r"takes about (\d+) pairs in total", text)
    assert "not decided yet" in text
    assert foretold is not None
    assert 51 < int(foretold[1]) < 99  # a clean sweep of 99 decides
    assert "in all" not in called("stats", "--pentanomial", "0", "0", "0", "0", "0", "--sprt", "0", "10").output


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("by distanse", "by place"), "'by distanse'; did you mean 'by distance'?"),
        (("by place",), "expected two or more different entries, got by place; there are by distance, by place"),
        (("by place", "by place"), "expected two or more different entries"),
    ],
)
def test_invalid_calls_of_compare_are_refused(puzzle: tuple[Path, list[Record]], arguments: tuple[str, ...], words: str) -> None:
    """The message gives the expected value, the given value and the existing entries."""
    assert words in str(called("compare", str(puzzle[0]), *arguments).exception)


def test_entries_that_never_met_cannot_be_compared(tmp_path: Path) -> None:
    """In the only games, greedy wins everything against two others, which says nothing about these two."""
    assert "no store was found" in str(called("compare", str(tmp_path / "none.db"), "a", "b").exception)
    path = tmp_path / "gauntlet.db"
    agents = ["greedy", "random", {"agent": "random", "label": "twin"}]
    arena.run({**GAME, "rounds": 3, "seed": 4, "agents": agents, "format": "gauntlet"}, store=path)
    scores = {
        row["agent"]: row["score"]
        for row in json.loads(called("leaderboard", str(path), "--format", "json").output)["boards"][0]["rows"]
    }
    assert scores == {"greedy": 1, "random": 0, "twin": 0}
    refused = str(called("compare", str(path), "random", "twin").exception)
    assert refused.endswith("random and twin have not met on any board yet, so there is nothing to compare")


def test_entries_with_a_common_opponent_are_compared_by_their_ratings(tmp_path: Path) -> None:
    """In a gauntlet, only random plays the others. In the model of the ratings, the odds of these two are the ratio of their odds
    against random, and Elo is 400 log10 of odds. The matrix, the text and the JSON say the same as the board, which tests three
    pairs.
    """
    path = tmp_path / "gauntlet.db"
    agents = ["random", "greedy", {"agent": "lookahead", "depth": 1}]
    arena.run({**GAME, "rounds": 40, "seed": 3, "agents": agents, "format": "gauntlet"}, store=path)
    every = json.loads(called("compare", str(path), "--format", "json").output)[0]["pairs"]
    scores = {pair["other"]: pair["worth"]["score"] for pair in every if not pair.get("unmet")}
    (far,) = [pair for pair in every if pair.get("unmet")]
    assert (far["one"], far["other"]) == ("greedy", "lookahead")
    odds = [(1 - scores[name]) / scores[name] for name in ("greedy", "lookahead")]
    elo = 400 * math.log10(odds[0] / odds[1])
    assert far["table"]["elo"] == pytest.approx(elo)
    assert far["table"]["low"] < elo < far["table"]["high"]
    rows = json.loads(called("leaderboard", str(path), "--format", "json").output)["boards"][0]["rows"]
    level = next(row["level_with"] for row in rows if row["agent"] == "greedy")
    assert ("lookahead" in level) == (far["better"] == 0)
    shown = called("compare", str(path), "greedy", "lookahead").output
    rests = "The two have not played each other: the difference rests on their games against other opponents."
    told = " ".join(shown.split())
    assert f"{abs(elo):.0f} Elo by the ratings of the leaderboard" in told
    assert rests in told
    matrix = called("compare", str(path)).output
    assert rests in " ".join(matrix.split())
    assert f"{elo:+.0f}".replace("-", "\N{MINUS SIGN}") in matrix.replace("-", "\N{MINUS SIGN}")
    assert "unmet" in called("compare", str(path), "--format", "csv").output
    assert "unmet" not in called("compare", str(path), "random", "greedy", "--format", "csv").output


@pytest.mark.parametrize("arguments", [("6", "0"), ("6", "-1", "0"), ("6", "x", "0"), ("1", "2", "3", "--sprt", "0", "3")])
def test_invalid_calls_of_stats_are_usage_errors(arguments: tuple[str, ...]) -> None:
    assert type(called("stats", *arguments).exception).__module__.startswith("click")


@pytest.mark.parametrize("count", ["-1", "1.5", "x", "1000000000001", "9" * 5000])
def test_an_invalid_count_is_refused_with_the_expected_range(count: str) -> None:
    told = called("stats", count, "0", "3").exception
    assert f"expected whole numbers from 0 to 1,000,000,000,000, got {count!r}" in str(told)


def test_a_misspelt_option_of_stats_is_not_read_as_a_count() -> None:
    told = called("stats", "--pentanomal", "1", "2", "3").exception
    assert isinstance(told, click.NoSuchOption)
    assert told.possibilities == ["--pentanomial"]


def test_the_elo_of_10_to_the_12_games_follows_from_the_odds() -> None:
    """With 2.5 points lost in 10^12 games, the Elo difference is 400 log10(odds)."""
    found = json.loads(called("stats", str(10**12), "1", "2", "--format", "json").output)
    assert found["elo"] == pytest.approx(400 * math.log10(10**12 / 2.5), abs=0.1)


THREE = """
from arena import Game, hookimpl

class Three(Game):
    name = "three"
    players = 3
    def initial(self, rng): return (rng.randint(8, 20), 0)
    def to_move(self, state): return state[1]
    def actions(self, state): return [number for number in (1, 2, 3) if number <= state[0]]
    def result(self, state, action): return (state[0] - action, (state[1] + 1) % 3)
    def returns(self, state): return tuple([1 if seat == (state[1] - 1) % 3 else -0.5 for seat in range(3)])

@hookimpl
def arena_games(): return [Three]
"""


def test_three_seats_are_compared_by_their_ratings(tmp_path: Path) -> None:
    """The output gives the difference of ratings from the leaderboard, but no pairs of games and no columns for two seats."""
    (tmp_path / "three.py").write_text(THREE)
    agents = ["random", "greedy", "mcts", {"agent": "lookahead", "depth": 2}]
    spec = {"game": "three", "rounds": 4, "agents": agents, "limits": {"nodes": 60}, "plugins": [str(tmp_path / "three.py")]}
    results = arena.run(spec, store=tmp_path / "three.db")
    (board,) = Leaderboard.of_results(results)
    ratings = {row["agent"]: row["rating"] for row in board.rows}
    text = called("compare", str(tmp_path / "three.db"), "mcts", "random").output
    assert (
        f"By the ratings of the whole leaderboard mcts is at {ratings['mcts'] - ratings['random']:+.0f} Elo against random ("
        in text
    )
    assert "1st seat" not in render(results, [board])


def test_one_blank_line_separates_the_paragraphs_of_a_board(tmp_path: Path) -> None:
    """Two blank lines separate boards."""
    values = {key: value for key, value in GAME.items() if key != "game"}
    games = [GAME["game"], {"name": "connect-four"}]
    agents = ["random", {"agent": "random", "label": "twin"}, "greedy"]
    arena.run({**values, "games": games, "rounds": 4, "agents": agents}, store=tmp_path / "all.db")
    for words in ([], ["random", "twin"]):
        printed = called("compare", str(tmp_path / "all.db"), *words).output
        one, other = printed.split("\n\n\n")
        for board in (one, other):
            assert re.search(r"\S\n\nP-values and intervals are corrected", board)


def test_likelihoods_of_superiority_are_marked_as_not_corrected_for_several_tests(tmp_path: Path) -> None:
    """The mark is shown beside corrected p-values, and in CSV. A comparison of only two agents needs no correction."""
    agents = ["random", {"agent": "random", "label": "twin"}, "greedy"]
    for number in (2, 3):
        arena.run({**GAME, "rounds": 4, "agents": agents[:number]}, store=tmp_path / f"{number}.db")
    alone, several = [called("compare", str(tmp_path / f"{number}.db"), "random", "twin") for number in (2, 3)]
    assert "likelihood of superiority" in alone.output
    assert "not corrected" not in alone.output
    assert re.search(r"likelihood of superiority [\d.]+ % \(not corrected\)\.", several.output)
    assert "the likelihood of superiority (not corrected)" in called("compare", str(tmp_path / "3.db")).output
    rows = list(csv.DictReader(StringIO(called("compare", str(tmp_path / "3.db"), "--format", "csv").output)))
    assert all(0 < float(row["worth.superiority"]) < 1 for row in rows)
    assert "table.superiority" in rows[0]


def test_few_pairs_with_dice_do_not_get_advice_on_openings(tmp_path: Path) -> None:
    """No game of Pig is repeated, so more pairs are advised."""
    spec = {"game": {"name": "pig", "target": 10}, "rounds": 1, "agents": ["random", "hold-at"]}
    arena.run(spec, store=tmp_path / "pig.db")
    text = called("compare", str(tmp_path / "pig.db")).output
    assert "No interval: it needs three pairs of games." in text
    assert "opening" not in text


def test_an_agent_without_nodes_is_not_compared_by_nodes(tmp_path: Path) -> None:
    """Random play reports no nodes. The board and the comparison do not test nodes, and give the reason."""
    store = tmp_path / "idle.db"
    results = arena.run(
        {"game": {"name": "hanoi", "discs": 1}, "rounds": 12, "agents": ["bfs", "random"], "limits": {"nodes": 50}}, store=store
    )
    solved = [record for record in results.records if record.solved]
    used = Counter[str]()
    for record in solved:
        used[record.labels[0]] += sum(one.nodes for one in record.decisions)
    assert used["bfs"] > 0 == used["random"]
    arguments = ["compare", str(store), "bfs", "random"]
    (board,) = json.loads(CliRunner().invoke(cli, [*arguments, "--format", "json"], standalone_mode=False).output)
    (pair,) = board["pairs"]
    both = {record.position for record in solved if record.labels[0] == "random"}
    assert both, "random moves solve some, with the figures that are compared otherwise"
    assert (pair["nodes"], pair["par2_nodes"], pair["by_nodes"]) == (None, None, [])
    text = CliRunner().invoke(cli, arguments, standalone_mode=False).output
    assert "Nodes are not compared: random reports none." in text
    assert "fewer nodes" not in text
    assert "geometric mean" not in re.sub(r"Seconds, .*", "", text)


def test_a_match_with_equal_scores_does_not_show_minus_zero() -> None:
    """Readers do not expect -0.0."""
    document = CliRunner().invoke(cli, ["stats", "3", "4", "3", "--format", "json"], standalone_mode=False).output
    assert '"elo": 0.0' in document
    assert "-0.0," not in document


def test_equal_p_values_are_rounded_in_the_same_way() -> None:
    """The sign test and Wilcoxon's test of five equal leads both give 2 / 2^5, except for rounding errors."""
    both = 2 / 2**5
    texts = {p_value_text(value) for value in (both, both + 1e-15, both - 1e-15)}
    assert texts == {"p = 0.063"}
    assert {round_p_value(value) for value in (both, both - 1e-15)} == {"0.063"}


TWINS = [{"agent": name, "depth": 2, "label": name} for name in ("alpha-beta", "minimax")]
"""Two searches that always choose the same action, so they play the same two games in every round."""


def test_repeats_of_one_pairing_do_not_hide_other_differences(tmp_path: Path) -> None:
    """The two searches repeat their two games. `random` has the lower mean return in every round, which the board and the
    comparison report.
    """
    spec = {"game": "tic-tac-toe", "rank": "returns", "rounds": 20, "agents": ["random", *TWINS]}
    results = arena.run(spec, store=tmp_path / "three.db")
    got: dict[tuple[str, int], list[float]] = defaultdict(list)
    for _, _, pairing, record in results.played:
        for label, value in zip(record.labels, record.returns, strict=True):
            got[label, pairing.round].append(value)
    assert all(sum(got["random", round_]) < sum(got["minimax", round_]) for round_ in range(20))
    [board] = Leaderboard.of_results(results)
    level = {row["agent"]: row["level_with"] for row in board.rows}
    assert level == {"random": [], "alpha-beta": ["minimax"], "minimax": ["alpha-beta"]}
    assert all(row["return_low"] < row["mean_return"] < row["return_high"] for row in board.rows)
    document = json.loads(called("compare", str(tmp_path / "three.db"), "--format", "json").output)
    decided = {(one["one"], one["other"]): one["p_value_holm"] <= 0.05 for one in document[0]["pairs"]}
    assert decided == {("random", "alpha-beta"): True, ("random", "minimax"): True, ("alpha-beta", "minimax"): False}
    [by_name] = json.loads(called("compare", str(tmp_path / "three.db"), "--by", "return", "--format", "json").output)
    assert (by_name["pairs"], by_name["tests"]) == (document[0]["pairs"], document[0]["tests"])
    by_score = json.loads(called("compare", str(tmp_path / "three.db"), "--by", "score", "--format", "json").output)[0]["pairs"]
    assert {(one["one"], one["other"]): one["p_value_holm"] <= 0.05 for one in by_score} == decided
    across = json.loads(called("compare", str(tmp_path / "three.db"), "--across", "--format", "json").output)["pairs"]
    assert {(one["one"], one["other"]): one["domains"][0]["low"] is not None for one in across} == dict.fromkeys(decided, True)
    for one in across:
        low, high = one["domains"][0]["low"], one["domains"][0]["high"]
        assert (not low <= 0 <= high) == decided[one["one"], one["other"]]


def test_agents_that_only_repeat_their_games_are_marked(tmp_path: Path) -> None:
    """Their ranks have a `~`, and a remark explains why there are no intervals."""
    spec = {"game": "tic-tac-toe", "rank": "returns", "rounds": 5, "agents": TWINS}
    results = arena.run(spec, store=tmp_path / "drawn.db")
    [board] = Leaderboard.of_results(results)
    assert {row["agent"]: row["level_with"] for row in board.rows} == {"alpha-beta": ["minimax"], "minimax": ["alpha-beta"]}
    assert "Intervals of mean returns need at least two rounds that differ." in render(results, [board])
    assert "cannot be told apart" in called("compare", str(tmp_path / "drawn.db")).output


@pytest.mark.parametrize(
    ("rounds", "missing", "cause"),
    [(8, True, "games of some pairs are missing"), (2, True, "too few rounds differ"), (2, False, "too few rounds differ")],
)
@pytest.mark.parametrize("entries", [2, 3])
def test_the_reason_is_given_if_no_test_is_possible(entries: int, rounds: int, missing: bool, cause: str) -> None:
    """With all partner games, eight pairs can be tested, and two cannot."""
    labels = ("one", "two", "three")[:entries]
    tally = Tally(BoardInfo("half", {}, "versus", labels, 1000, exact=True))
    for round_ in range(rounds):
        for one, two in combinations(range(entries), 2):
            for seats in ((one, two), (two, one))[: 1 if missing else 2]:
                returns = (1.0, -1.0) if round_ % 2 else (-1.0, 1.0)
                tally.count(Facts(seats, returns, "normal", None, None))
                tally.add_game(round_, seats, returns, round_, True, None)
    found = compare_entries(tally.sheet, labels[:2], {}, tally, Counter())
    text = comparison_text(tally.sheet, found.pairs[0], "simple", width=None, measure=None, tests=found.tests)
    assert f"no test, because {cause}" in text


def test_games_without_a_partner_game_are_counted(tmp_path: Path) -> None:
    """The other games of some pairs are in other shards, so openings are not advised."""
    (tmp_path / "cup.yaml").write_text("game: tic-tac-toe\nrounds: 4\nagents: [random, greedy, {agent: random, label: lot}]\n")
    part = ("--shard", "1/3", "--store", str(tmp_path / "part.db"), "--workers", "1")
    assert called("run", str(tmp_path / "cup.yaml"), *part).exit_code == 0
    exported = [json.loads(line) for line in called("export", str(tmp_path / "part.db")).stdout.splitlines()]
    for one, other in (("random", "greedy"), ("random", "lot"), ("greedy", "lot")):
        rounds = Counter([record["round"] for record in exported if {*record["labels"]} == {one, other}])
        lone = sum([games == 1 for games in rounds.values()])
        text = called("compare", str(tmp_path / "part.db"), one, other).output
        assert re.findall(r"(\d+) games?, (\d+) without the other game", text) == (
            [(str(rounds.total()), str(lone))] if lone else []
        )
        assert "try openings" not in text

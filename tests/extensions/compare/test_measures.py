"""`arena compare --by`: measures of the records and of plugins, recomputed from the records by scipy."""

import csv
import io
import json
from collections import defaultdict
from itertools import product
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from scipy import stats  # type: ignore[import-untyped]

import arena
from arena.api.results import Leaderboard
from arena.cli import cli

GAME = {"game": "tic-tac-toe", "rounds": 15, "openings": {"plies": 2}, "agents": ["random", "greedy"]}
PUZZLE = {
    "game": {"name": "sliding-tiles", "shuffle": 20},
    "rounds": 20,
    "limits": {"nodes": 400},
    "agents": [{"agent": "greedy", "label": "greedy"}, {"agent": "a-star", "heuristic": "manhattan", "label": "a-star"}],
}
LENGTH = """
from arena import hookimpl
from arena.api.results import Comparison, Measured


def read_lengths(store):
    for record, place in store.records(boards=True):
        for entry in place.pairing.seats:
            yield Measured(place.board, place.pairing.round, entry, len(record.actions), place.pairing.seats)


def read_nonsense(store):
    yield Measured(0, 0, 7, 1.0)


@hookimpl
def arena_comparisons():
    return [Comparison("length", "The actions of a match.", read_lengths), Comparison("nonsense", "", read_nonsense)]
"""


def called(*arguments: str) -> Any:
    """The command's result, its error output apart."""
    return CliRunner().invoke(cli, [*arguments], catch_exceptions=True, standalone_mode=False)


@pytest.fixture(scope="module")
def game(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, arena.Results]:
    path = tmp_path_factory.mktemp("store") / "game.db"
    return str(path), arena.run(GAME, store=path)


def found_by(store: str, *arguments: str) -> dict[str, Any]:
    (board,) = json.loads(called("compare", store, "--format", "json", *arguments).output)
    (pair,) = board["pairs"]
    return dict(pair)


@pytest.mark.parametrize("measure", ["seconds", "return", "score"])
def test_a_measure_of_games_is_paired_by_rounds(game: tuple[str, arena.Results], measure: str) -> None:
    """The difference is the mean over the rounds, with the p-value of all 2^15 combinations of signs. Beyond the bounds, these
    combinations refute a difference. At the bounds, they or Student's t by scipy do not.
    """
    store, results = game
    values: dict[str, dict[int, list[float]]] = {"random": defaultdict(list), "greedy": defaultdict(list)}
    for played in results.played:
        record = played.record
        for seat, label in enumerate(record.labels):
            used = [decision for decision in record.decisions if decision.seat == seat]
            values[label][played.pairing.round].append(
                {
                    "seconds": sum(decision.seconds for decision in used),
                    "return": record.returns[seat],
                    "score": (record.returns[seat] + 1) / 2,
                }[measure]
            )
    leads = [fmean(values["greedy"][number]) - fmean(values["random"][number]) for number in range(15)]
    found = found_by(store, "greedy", "random", "--by", measure)
    assert (found["rounds"], found["test"]) == (15, "sign flips")
    assert found["difference"] == pytest.approx(fmean(leads), abs=1e-7)
    signs = np.array([*product((1, -1), repeat=15)])

    def p_value(value: float) -> float:
        shifted = np.array(leads) - value
        return float(np.mean(np.abs(signs @ shifted) >= abs(shifted.sum()) * (1 - 1e-6)))

    assert found["p_value"] == pytest.approx(p_value(0), rel=0.05)
    width = found["high"] - found["low"]
    for bound, out in ((found["low"], -0.03 * width), (found["high"], 0.03 * width)):
        kept = max(p_value(bound - out), stats.ttest_1samp(leads, bound - out).pvalue)
        assert p_value(bound + out) <= 0.05 <= kept


@pytest.mark.parametrize("measure", ["solved", "moves", "cost"])
def test_a_measure_of_puzzles_is_paired_by_positions(tmp_path: Path, measure: str) -> None:
    """Moves and costs are compared on positions that both entries solved."""
    results = arena.run(PUZZLE, store=tmp_path / "puzzle.db")
    values: dict[str, dict[int, float]] = defaultdict(dict)
    for played in results.played:
        record = played.record
        value = {"solved": record.solved, "moves": record.moves, "cost": record.cost}[measure]
        if measure == "solved" or (record.solved and value is not None):
            values[record.labels[0]][played.pairing.round] = float(value or 0)
    one, other = values["greedy"], values["a-star"]
    leads = [one[number] - other[number] for number in one.keys() & other.keys()]
    found = found_by(str(tmp_path / "puzzle.db"), "greedy", "a-star", "--by", measure)
    assert (found["rounds"], found["difference"]) == (len(leads), pytest.approx(fmean(leads)))


def test_nodes_of_puzzles_are_compared_in_rounds_that_both_solved(tmp_path: Path) -> None:
    """An entry that gives up early needs few nodes. Only solutions count, which the text says, and an entry without solutions is
    named.
    """
    agents: list[Any] = ["bfs", {"agent": "a-star", "label": "hasty", "limits": {"nodes": 60}}]
    agents.append({"agent": "a-star", "label": "lazy", "limits": {"nodes": 1}})
    results = arena.run(
        {**PUZZLE, "game": {"name": "sliding-tiles", "shuffle": 21}, "limits": {}, "agents": agents}, store=tmp_path / "puzzle.db"
    )
    spent: dict[str, dict[int, int]] = defaultdict(dict)
    for played in results.played:
        if played.record.solved:
            nodes = sum(decision.nodes for decision in played.record.decisions)
            spent[played.record.labels[0]][played.pairing.round] = nodes
    both = [(spent["bfs"][number], spent["hasty"][number]) for number in spent["hasty"]]
    assert 1 < len(both) < len(spent["bfs"])
    assert not spent["lazy"]
    store = str(tmp_path / "puzzle.db")
    found = found_by(store, "bfs", "hasty", "--by", "nodes")
    assert (found["rounds"], found["solved"]) == (len(both), True)
    assert found["difference"] == pytest.approx(fmean(one - other for one, other in both))
    done = called("compare", store, "--by", "nodes")
    assert f", over the {len(both)} rounds that both solved: " in done.stdout
    assert "note: sliding-tiles: lazy is left out, because no solution was found" in done.stderr
    across = called("compare", store, "bfs", "hasty", "--across", "--by", "nodes")
    assert across.stdout.startswith("bfs and hasty across 1 domain by nodes, over the rounds that both solved\n")
    (pair,) = json.loads(called("compare", store, "bfs", "hasty", "--across", "--by", "nodes", "--format", "json").stdout)[
        "pairs"
    ]
    assert [one["rounds"] for one in pair["domains"]] == [len(both)]
    assert "no round that both solved" in str(called("compare", store, "bfs", "lazy", "--by", "nodes").exception)


def test_the_branching_factor_of_a_board_does_not_depend_on_other_boards(tmp_path: Path) -> None:
    """A second board has the same rounds and shorter solutions. The first board has the same positions with and without it."""
    near, far = ({"name": "sliding-tiles", "shuffle": slides} for slides in (6, 30))
    found = []
    for games in ([far], [far, near]):
        store = tmp_path / f"{len(games)}.db"
        agents = [{"agent": "a-star", "label": label, "weight": weight} for label, weight in (("exact", 1), ("hasty", 2))]
        results = arena.run({"games": games, "rounds": 8, "agents": agents}, store=store)
        done = called("compare", str(store), "exact", "hasty", "--by", "branching-factor", "--format", "json")
        found.append(json.loads(done.output)[0]["pairs"])
    lengths = [[one.record.moves or 0 for one in results.played if one.board == board] for board in (0, 1)]
    assert any(second < first for first, second in zip(*lengths, strict=True))
    assert found[0] == found[1]


def test_a_plugin_adds_a_measure(game: tuple[str, arena.Results], tmp_path: Path) -> None:
    """Both seats of a match have its length as value, so there is no difference. The text uses the name of the measure."""
    store, results = game
    (tmp_path / "length.py").write_text(LENGTH)
    plugin = ("--plugin", str(tmp_path / "length.py"))
    mean = fmean([len(record.actions) for record in results.records])
    text = called("compare", store, "greedy", "random", "--by", "length", *plugin).output
    assert text.startswith("tic-tac-toe: greedy and random by length in 15 rounds\n\n")
    assert (
        f"greedy has {mean:.3g} on average, random {mean:.3g}, over the 15 rounds in which both have a value: +0 in every round."
        in text
    )
    refused = str(called("compare", store, "--by", "nonsense", *plugin).exception)
    got = "Measured(board=0, round=0, entry=7, value=1.0, seats=None)"
    assert refused == f"measure nonsense: expected a number for an entry of the store, got {got}"


def test_rounds_that_repeat_each_other_give_no_interval(tmp_path: Path) -> None:
    """Two agents without randomness play from one position."""
    agents = [{"agent": "alpha-beta", "depth": depth, "label": f"depth {depth}"} for depth in (1, 2)]
    arena.run({"game": "tic-tac-toe", "rounds": 4, "agents": agents}, store=tmp_path / "twice.db")
    text = called("compare", str(tmp_path / "twice.db"), "--by", "nodes").output
    assert text.rstrip().endswith(", no test, because the rounds only repeat each other.")


def test_an_agent_without_nodes_is_not_compared_by_nodes(tmp_path: Path) -> None:
    """Random play reports no nodes, which is not a mean of 0. The two other entries are compared in every round."""
    agents: list[Any] = ["random", "greedy", {"agent": "alpha-beta", "depth": 2}]
    store = str(tmp_path / "three.db")
    arena.run({"game": "tic-tac-toe", "rounds": 3, "agents": agents}, store=store)
    done = called("compare", store, "--by", "nodes", "--format", "json")
    [board] = json.loads(done.stdout)
    assert [(pair["one"], pair["other"], pair["rounds"]) for pair in board["pairs"]] == [("greedy", "alpha-beta", 3)]
    assert "note: tic-tac-toe: random is left out, because no nodes were reported" in done.stderr
    refused = str(called("compare", store, "random", "greedy", "--by", "nodes").exception)
    assert "random and greedy have no round with a value of nodes for both" in refused


def test_an_unknown_measure_is_refused(game: tuple[str, arena.Results]) -> None:
    """The message suggests the nearest name."""
    assert str(called("compare", game[0], "--by", "node").exception) == "unknown measure 'node'; did you mean 'nodes'?"


def test_pairs_that_are_equal_everywhere_do_not_count_as_tests(tmp_path: Path) -> None:
    """Three equal agents and a better one in 7 rounds: of six pairs, three are tests, and Holm's p-value is 3 * 2 / 2^7.

    Leaderboard, `compare`, `compare --by`, JSON and page count the same tests.
    """
    agents = [{"agent": "greedy", "label": label} for label in ("g1", "g2", "g3")]
    store = str(tmp_path / "equal.db")
    game = {"name": "2048", "rows": 3, "columns": 3}
    results = arena.run({"game": game, "rounds": 7, "seed": 1, "agents": [*agents, "random"]}, store=store)
    returns: dict[str, dict[int, float]] = defaultdict(dict)
    for played in results.played:
        returns[played.record.labels[0]][played.pairing.round] = played.record.returns[0]
    assert returns["g1"] == returns["g2"] == returns["g3"]
    signs = np.array([*product((1, -1), repeat=7)])
    leads = np.array([returns["g1"][number] - returns["random"][number] for number in range(7)])
    p_value = float(np.mean(np.abs(signs @ leads) >= abs(leads.sum())))
    assert p_value <= 0.05 / 3 < 0.05 / 2, "so the number of tests decides"
    for arguments in ((), ("--by", "return")):
        (board,) = json.loads(called("compare", store, "--format", "json", *arguments).output)
        pairs = {(pair["one"], pair["other"]): pair for pair in board["pairs"]}
        assert (board["tests"], len(pairs)) == (3, 6)
        assert (pairs["g1", "g2"]["test"], pairs["g1", "g2"]["p_value_holm"]) == ("", 1)
        assert pairs["g1", "random"]["p_value_holm"] == pytest.approx(3 * p_value)
        text = called("compare", store, *arguments).output
        assert "g1 and g2 cannot be told apart" in text
        assert "in every round." in text
        assert "g1 and random cannot be told apart" not in text
        assert "corrected together for all 3 tests on this board" in text
    assert called("compare", store, "-o", str(tmp_path / "page.html")).return_value == 0
    assert "corrected together for all 3 tests on the board" in (tmp_path / "page.html").read_text()
    (board,) = Leaderboard.of_results(results)
    assert {row["agent"]: row["rank"] for row in board.rows} == {"g1": 1, "g2": 1, "g3": 1, "random": 4}
    assert {row["agent"]: row["level_with"] for row in board.rows}["random"] == []


def test_a_start_that_is_a_goal_counts_with_0_expanded_states(tmp_path: Path) -> None:
    """The mean is over all rounds, as for nodes and on the board. Greedy chooses moves one by one, so it has no such number."""
    agents = [{"agent": "a-star", "label": "a-star"}, {"agent": "uniform-cost", "label": "uniform"}, "greedy"]
    games = [{"name": "sliding-tiles", "shuffle": shuffle} for shuffle in (2, 4)]
    spec = {"games": games, "rounds": 12, "agents": agents, "limits": {"nodes": 500}}
    results = arena.run(spec, store=tmp_path / "cup.db")
    goals = [one for one in results.played if not one.record.decisions]
    assert goals
    boards = json.loads(
        called("compare", str(tmp_path / "cup.db"), "a-star", "uniform", "--by", "expanded", "--format", "json").output
    )
    assert [board["pairs"][0]["rounds"] for board in boards] == [12, 12]
    for board, shown in zip(Leaderboard.of_results(results), boards, strict=True):
        rows = {row["agent"]: row["expanded_per_attempt"] for row in board.rows}
        (pair,) = shown["pairs"]
        assert (pair["mean_one"], pair["mean_other"]) == pytest.approx((rows["a-star"], rows["uniform"]))
    across = called("compare", str(tmp_path / "cup.db"), "--across", "--by", "expanded", "--format", "json").output
    (found,) = json.loads(across)["pairs"]
    assert [domain["rounds"] for domain in found["domains"]] == [12, 12]


def test_expanded_states_are_a_measure_and_a_column(tmp_path: Path) -> None:
    """The figures are recomputed from the records. Greedy chooses moves one by one, so it has none."""
    agents = [
        {"agent": "a-star", "heuristic": "manhattan", "label": "a-star"},
        {"agent": "uniform-cost", "label": "uniform"},
        {"agent": "greedy", "heuristic": "manhattan", "label": "greedy"},
    ]
    report = {"columns": {"children": "nodes / expanded"}}
    spec = {"game": {"name": "sliding-tiles", "shuffle": 8}, "rounds": 8, "agents": agents, "report": report}
    results = arena.run({**spec, "limits": {"nodes": 500}}, store=tmp_path / "cup.db")
    expanded: dict[str, dict[int, int]] = defaultdict(dict)
    for one in results.played:
        (decision, *_) = one.record.decisions
        if decision.spent is not None:
            expanded[one.record.labels[0]][one.pairing.round] = int(decision.spent["expanded"])
    solved = {one.pairing.round for one in results.played if one.record.labels == ("uniform",) and one.record.solved}
    document = json.loads(
        called("compare", str(tmp_path / "cup.db"), "a-star", "uniform", "--by", "expanded", "--format", "json").output
    )
    (pair,) = document[0]["pairs"]
    means = {name: fmean(expanded[name][number] for number in solved) for name in ("a-star", "uniform")}
    assert (pair["mean_one"], pair["mean_other"]) == pytest.approx((means["a-star"], means["uniform"]))
    assert pair["rounds"] == len(solved)
    for row in csv.DictReader(io.StringIO(called("export", str(tmp_path / "cup.db"), "--format", "tidy").output)):
        known = expanded[row["agent"]].get(int(row["round"]))
        assert row["expanded"] == ("" if known is None else str(known))
        assert (row["children"] == "") == (known is None)

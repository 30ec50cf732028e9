"""Claims that solutions are optimal."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import arena
from arena.cli import cli
from arena.results.leaderboard import Leaderboard
from arena.schedule.board_info import BoardInfo
from arena.spec import load_spec
from arena.tournament.results import Results

PLUGIN = '''
from arena import Agent, Path, Puzzle, hookimpl


class Toll(Puzzle):
    """From place n to 0: one down for 1, or straight there for 3."""

    name = "toll"

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


class Straight(Agent):
    name = "straight"
    needs = frozenset({"single-player", "path"})

    def solve(self, game, state, search):
        return Path(("straight",))


class Sure(Straight):
    """Claims that going straight is cheapest."""

    name = "sure"
    optimal = "cost"


class Hasty(Sure):
    """Claims the same, and gives up at once in the other direction."""

    name = "hasty"

    def solve(self, game, state, search):
        return Path(("straight",)) if state > 0 else None


class Blind(Agent):
    """Claims that its solutions are cheapest, but gives up everywhere."""

    name = "blind"
    needs = frozenset({"single-player", "path"})
    optimal = "cost"

    def solve(self, game, state, search):
        return None


@hookimpl
def arena_games():
    return [Toll]


@hookimpl
def arena_agents():
    return [Straight, Sure, Hasty, Blind]
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


def test_a_refuted_claim_of_optimality_is_not_used_as_the_optimum(plugin: Path, tmp_path: Path) -> None:
    """`uniform-cost` finds the optima of all six positions. The paths of both other agents cost 3 for each position but the
    last.
    """
    store = tmp_path / "toll.db"
    played(plugin, store, "uniform-cost", "sure", "straight")
    told = CliRunner().invoke(cli, ["compare", str(store), "sure", "straight", "--format", "json"], standalone_mode=False)
    [pair] = json.loads(told.stdout)[0]["pairs"]
    assert pair["optima"] == 6
    excess = [(3 - best) / best for best in (3, 1, 2, 3, 3)]
    assert pair["gaps"] == pytest.approx([sum(excess) / 6] * 2)


def test_without_a_valid_claim_no_optimum_is_known(plugin: Path, tmp_path: Path) -> None:
    store = tmp_path / "toll.db"
    played(plugin, store, {"agent": "best-first", "heuristic": None}, "sure", "straight")
    told = CliRunner().invoke(cli, ["compare", str(store), "sure", "straight", "--format", "json"], standalone_mode=False)
    [pair] = json.loads(told.stdout)[0]["pairs"]
    assert (pair["gaps"], pair["optima"]) == (None, 0)
    found = arena.open_store(store).compare("sure", "straight")
    assert (found.gaps, found.optima) == (None, 0)


REFUTED = (
    "sure claims that its solutions are optimal. This is false: "
    "in round 2, its solution costs 3, but best-first found one for 1. "
    "No optimum is taken from sure."
)


def test_a_refuted_claim_of_optimality_is_ignored_everywhere_and_reported_once(plugin: Path, tmp_path: Path) -> None:
    """Two of the optimal costs are 1 and 2, where `sure` claims that 3 is optimal. So none of its claims is used in exports,
    in columns of the board or in measures, with or without a store.
    """
    store = tmp_path / "toll.db"
    report = {"columns": {"excess": "cost - optimal"}}
    spec = {"game": "toll", "positions": list(map(str, PLACES)), "plugins": [str(plugin)], "report": report}
    for others, count in (([], 6), (["uniform-cost"], 6), ([STRAIGHT], 0)):
        agents = ["straight", "sure", *others]
        store = tmp_path / f"{len(others)}{count}.db"
        kept = arena.run({**spec, "agents": agents, "limits": {"nodes": 100}}, store=store, workers=1)
        here = arena.run({**spec, "agents": agents, "limits": {"nodes": 100}}, workers=1)
        refuted = 1 if others else 0
        best = [3, 3, 3, 3, 3, 0] if not others else [3, 1, 2, 3, 3, 0]
        for results in (kept, here):
            frame = results.to_dataframe()
            optimal = frame[frame.agent == "straight"].optimal
            assert optimal.dropna().tolist() == (best if count else [])
            board = board_of(results)
            said = [one for one in board.remarks if "claims" in one]
            assert len(said) == refuted
            assert (board.rows[-1]["excess"] is None) == (not count)
        text = CliRunner().invoke(cli, ["compare", str(store), "sure", "straight"], standalone_mode=False).stdout
        assert text.count("claims that its solutions are optimal") == refuted
    assert said == [REFUTED]
    told = CliRunner().invoke(cli, ["compare", str(store), "sure", "straight", "--by", "excess"], standalone_mode=False)
    assert "no round that both solved" in str(told.exception) or "no round with a value of excess" in str(told.exception)
    document = CliRunner().invoke(cli, ["compare", str(store), "--format", "json"], standalone_mode=False).stdout
    assert json.loads(document)[0]["remarks"] == [REFUTED]


STRAIGHT = {"agent": "best-first", "heuristic": None}
THREE = ["5", "-1", "-4"]
"""From -1 no action leads on, and from -4 three actions lead to -1."""


@pytest.mark.parametrize(
    ("agents", "positions", "remark"),
    [
        (["uniform-cost", "bfs"], THREE, "uniform-cost proved that 2 positions have no solution."),
        # with 2 nodes, only -1 is proven, and to a depth of 1, nothing is
        ([{"agent": "uniform-cost", "limits": {"nodes": 2}}], THREE, "uniform-cost proved that 1 position has no solution."),
        ([{"agent": "uniform-cost", "limits": {"depth": 1}}], THREE, None),
        # `straight` claims nothing, and in this puzzle neither does `bfs`, because costs differ
        (["straight", "bfs"], THREE, None),
        # a claim is refuted by a cheaper solution (step by step, 1 costs 1 instead of 3), and by any solution of a position
        # that the entry gave up
        (["hasty"], ["1", "-1"], "hasty proved that 1 position has no solution."),
        (["hasty", STRAIGHT], ["1", "-1"], None),
        (["blind"], ["5", "-1"], "blind proved that 2 positions have no solution."),
        (["blind", "straight"], ["5", "-1"], None),
        (["blind", "uniform-cost"], ["5", "-1"], "uniform-cost proved that 1 position has no solution."),
    ],
)
def test_a_remark_names_positions_without_a_solution(
    agents: list[Any], positions: list[str], remark: str | None, plugin: Path, tmp_path: Path
) -> None:
    spec = {"game": "toll", "positions": positions, "agents": agents, "plugins": [str(plugin)], "limits": {"nodes": 100}}
    results = arena.run(spec, store=tmp_path / "toll.db", workers=1)
    for board in (board_of(results), Leaderboard.load(tmp_path / "toll.db")[0]):
        assert [one for one in board.remarks if "no solution" in one] == ([] if remark is None else [remark])


DOUBLE = """
from arena import heuristic, hookimpl


@heuristic("double", game="sliding-tiles")
def double(game, state, player=0):
    "Overestimates: a solved board is the only one at which it is right."
    return 2.0 * sum(tile and tile != place for place, tile in enumerate(state, 1))


@hookimpl
def arena_heuristics():
    return [double]
"""


def test_a_claim_needs_an_admissible_heuristic(tmp_path: Path) -> None:
    """A* finds cheapest solutions if its heuristic never overestimates (Hart, Nilsson and Raphael, 1968), and with weight 1."""
    (tmp_path / "double.py").write_text(DOUBLE)
    entries = [
        {"agent": "a-star", "heuristic": "manhattan", "label": "sound"},
        {"agent": "a-star", "heuristic": "double", "label": "unsound"},
        {"agent": "a-star", "heuristic": "manhattan", "weight": 2, "label": "weighted"},
        {"agent": "uniform-cost", "label": "blind"},
    ]
    spec = load_spec({"game": "sliding-tiles", "agents": entries, "plugins": [str(tmp_path / "double.py")]})
    assert BoardInfo.of(spec.boards[0], spec.registry).optimal == ("sound", "blind")

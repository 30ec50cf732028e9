"""Test path searches on sliding tiles: against the distances of the 8-puzzle, and with limits on the 15-puzzle."""

import random
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from arena import Agent, Limits, Record, play
from arena_agents.best_first import AStar, BestFirst, BreadthFirst, UniformCost
from arena_agents.depth_first import DepthFirst, IdaStar, IterativeDeepening
from arena_games.sliding_tiles import SlidingTiles
from tests.games.game_tree import distances

HARD = "14 15 8 12 / 10 11 9 13 / 2 6 5 1 / 3 7 4 ."
"""A 15-puzzle that no search of this file solves with 500 nodes."""


def solve(agent: Agent, text: str) -> Record:
    """Solve a position of the 8-puzzle without an effective limit of moves."""
    return play(SlidingTiles(), [agent], position=text, limits=Limits(moves=1_000_000))


def nodes(record: Record) -> int:
    return sum(decision.nodes for decision in record.decisions)


@pytest.fixture(scope="module", name="distances")
def every_distance() -> dict[Any, int]:
    """Return the number of slides from every position of the 8-puzzle to the goal."""
    return distances(SlidingTiles(), SlidingTiles().goal)


@pytest.fixture(scope="module")
def boards(distances: dict[Any, int]) -> list[tuple[str, int]]:
    """Return positions of the 8-puzzle with their distances: one for every distance up to 30, and both at 31."""
    game = SlidingTiles()
    rng = random.Random(3)
    by_distance: dict[int, list[Any]] = {}
    for state, distance in distances.items():
        by_distance.setdefault(distance, []).append(state)
    states = [rng.choice(by_distance[distance]) for distance in range(31)] + by_distance[31]
    return [(game.format_state(state), distances[state]) for state in states]


def test_distances_agree_with_the_literature(distances: dict[Any, int], boards: list[tuple[str, int]]) -> None:
    """The 8-puzzle has 181,440 solvable positions. Two are 31 slides away, among them `8 6 7 / 2 5 4 / 3 . 1`."""
    assert len(distances) == 181_440
    assert [distance for _, distance in boards].count(31) == 2
    assert ("8 6 7 / 2 5 4 / 3 . 1", 31) in boards


@pytest.mark.parametrize(
    ("agent", "farthest"), [(AStar, 31), (IdaStar, 31), (BreadthFirst, 20), (UniformCost, 20), (IterativeDeepening, 15)]
)
def test_paths_on_the_eight_puzzle_are_shortest(agent: type[Agent], farthest: int, boards: list[tuple[str, int]]) -> None:
    """Each solution has as many slides as the distance. Uninformed searches get fewer and nearer boards."""
    step = 3 if agent in {AStar, IdaStar} else 10
    near = [(text, distance) for text, distance in boards if distance <= farthest]
    for text, distance in near[::-step]:
        record = solve(agent(), text)
        assert (record.solved, record.cost, record.moves) == (True, distance, distance)


@pytest.mark.parametrize("make", [AStar, IdaStar])
@pytest.mark.parametrize("weight", [1.0, 1.2, 2.0, 5.0])
def test_a_weight_bounds_the_cost(
    make: Callable[..., Agent], weight: float, boards: list[tuple[str, int]], distances: dict[Any, int]
) -> None:
    """With weight w, a solution costs at most w times the lowest cost."""
    for text, distance in boards[::6]:
        record = solve(make(weight=weight), text)
        assert record.solved
        assert record.cost is not None
        assert distance <= record.cost <= weight * distance


def test_a_weight_saves_nodes(boards: list[tuple[str, int]]) -> None:
    """Over all boards, weight 3 needs fewer nodes than weight 1 and finds longer paths."""
    plain, weighted = [[solve(AStar(weight=weight), text) for text, _ in boards] for weight in (1.0, 3.0)]
    assert sum(map(nodes, weighted)) < sum(map(nodes, plain))
    assert sum(record.cost or 0 for record in weighted) > sum(record.cost or 0 for record in plain)


@pytest.mark.parametrize("make", [BestFirst, DepthFirst, lambda: DepthFirst(depth=35)])
def test_best_first_and_depth_first_find_valid_paths(make: Callable[[], Agent], boards: list[tuple[str, int]]) -> None:
    """The paths need not be shortest."""
    for text, distance in boards[5::20]:
        record = solve(make(), text)
        assert record.termination == "normal"
        assert record.solved
        assert record.moves is not None
        assert record.moves >= distance


@pytest.mark.parametrize(
    "make",
    [
        BreadthFirst,
        DepthFirst,
        lambda: DepthFirst(visited=False),
        IterativeDeepening,
        UniformCost,
        BestFirst,
        AStar,
        IdaStar,
        lambda: IdaStar(weight=2.0),
    ],
)
@pytest.mark.parametrize("budget", [1, 10, 500])
def test_a_node_budget_ends_a_search(make: Callable[[], Agent], budget: int) -> None:
    """The 15-puzzle needs far more nodes, so the search uses its whole budget. The record blames no agent."""
    record = play(SlidingTiles(rows=4, columns=4), [make()], position=HARD, limits={"nodes": budget})
    assert (record.termination, record.solved, nodes(record)) == ("out-of-budget", False, budget)


@pytest.mark.process
@pytest.mark.skipif(sys.platform != "linux", reason="limits of address space are kept on Linux")
@pytest.mark.parametrize("name", ["bfs", "a-star", "dfs"])
def test_the_process_survives_a_match_that_runs_out_of_memory(name: str) -> None:
    """The process may grow by 90 MiB. The record says `memory`, and the next match is played."""
    script = f"""
import resource
from arena import play
from arena_games.sliding_tiles import SlidingTiles
play(SlidingTiles(), ["{name}"])
size = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (size + (90 << 20), size + (90 << 20)))
print(play(SlidingTiles(rows=4, columns=4), ["{name}"], position="{HARD}").termination)
print(play(SlidingTiles(), ["bfs"]).termination)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["memory", "normal"], done.stderr

"""Test path searches in small graphs against Bellman-Ford, Dijkstra and counts by hand."""

import random
from collections.abc import Callable, Mapping, Sequence
from heapq import heappop, heappush
from itertools import pairwise
from typing import Any, ClassVar

import pytest

from arena import Agent, Game, Limits, Puzzle, Record, SpecError, heuristic, play, run
from arena.configured import settings
from arena.counting import Meter, counting_view
from arena.identity import Stream
from arena.plugins.registry import Registry
from arena.search import Search, SharedStart
from arena.testing import check_agent
from arena_agents.best_first import AStar, BestFirst, BreadthFirst, UniformCost
from arena_agents.depth_first import DepthFirst, IdaStar, IterativeDeepening
from arena_games.sliding_tiles import SlidingTiles

EVERY: list[Callable[[], Agent]] = [
    BreadthFirst,
    DepthFirst,
    lambda: DepthFirst(visited=False),
    IterativeDeepening,
    UniformCost,
    BestFirst,
    AStar,
    lambda: AStar(weight=2.0),
    IdaStar,
    lambda: IdaStar(weight=2.0),
]
CHEAPEST = [UniformCost, AStar, IdaStar]
SHORTEST = [BreadthFirst, IterativeDeepening]
INFINITY = float("inf")
GRAPHS = 20
"""The number of random graphs in a test."""
LONG = 1_000_000
"""A limit of moves that is enough for every path here."""

Edges = Mapping[int, Sequence[tuple[int, float]]]
"""For every state, its successors with the cost of the step. An action is the index of a successor."""


class Graph(Puzzle):
    """Find a path from `start` to one of `goals` in a graph with costs on its edges."""

    name = "graph"
    default_heuristic: ClassVar[str | None] = None

    def __init__(self, *, edges: Any, start: int = 0, goals: Any = (), estimates: Any = ()) -> None:
        self.edges, self.start, self.goals, self.estimates = edges, start, goals, estimates

    def initial(self, rng: random.Random) -> int:
        return self.start

    def actions(self, state: int) -> Sequence[int]:
        return range(len(self.edges[state]))

    def result(self, state: int, action: int) -> int:
        successor: int = self.edges[state][action][0]
        return successor

    def is_goal(self, state: int) -> bool:
        return state in self.goals

    def step_cost(self, state: int, action: int, successor: int) -> float:
        cost: float = self.edges[state][action][1]
        return cost


class Maze(Graph):
    """The same graph with the default cost for each step."""

    name = "maze"
    step_cost = Puzzle.step_cost


@heuristic("given", game="graph")
def given(game: Graph, state: int, player: int = 0) -> float:
    """Return the estimate that the graph was made with, or 0."""
    return game.estimates[state] if game.estimates else 0.0


@heuristic("given", game="maze")
def given_in_maze(game: Maze, state: int, player: int = 0) -> float:
    """Return the same for a maze."""
    return given(game, state)


def solve(agent: Agent, game: Game, position: str | None = None, **limits: Any) -> Record:
    """Play one match without an effective limit of moves. Graphs use their own estimates as the heuristic."""
    chosen = {"graph": given, "maze": given_in_maze}.get(game.name)
    return play(game, [agent], position=position, limits=Limits(**{"moves": LONG, **limits}), heuristics=chosen and [chosen])


def nodes(record: Record) -> int:
    return sum(decision.nodes for decision in record.decisions)


def cheapest(edges: Edges, goals: Sequence[int]) -> list[float]:
    """Return the lowest cost from every state to a goal by Bellman-Ford: relax every edge until nothing changes."""
    costs = [0.0 if state in goals else INFINITY for state in range(len(edges))]
    for _ in edges:
        for state in edges:
            costs[state] = min([costs[state], *(cost + costs[after] for after, cost in edges[state])])
    return costs


def random_graph(rng: random.Random, states: int = 30) -> tuple[dict[int, list[tuple[int, float]]], list[int]]:
    """Return edges and two goals of a random directed graph with loops, dead ends, unreachable parts and costs of 0 or more."""
    draw = [0, 0.5, 1, 1, 2, 3.5, 7, 20]
    edges = {
        state: [(rng.randrange(states), rng.choice(draw)) for _ in range(rng.choice([0, 1, 2, 3, 4]))] for state in range(states)
    }
    return edges, rng.sample(range(1, states), 2)


@pytest.mark.parametrize("weight", [0.9, -1.0, INFINITY, float("nan")])
@pytest.mark.parametrize("agent", ["a-star", "ida-star"])
def test_weights_below_one_are_refused(agent: str, weight: float) -> None:
    """A weight must be a finite number of at least 1, because it bounds the cost."""
    with pytest.raises(SpecError, match="weight"):
        run({"game": "sliding-tiles", "agents": [{"agent": agent, "weight": weight}]})


def test_a_star_and_ida_star_have_equal_costs_only_without_a_weight() -> None:
    """Without a weight, both find the lowest cost of Bellman-Ford. With weight 2, they find at most twice that, and their
    costs may differ.
    """
    rng, differ = random.Random(7), 0
    for _ in range(2 * GRAPHS):
        edges, goals = random_graph(rng)
        costs = cheapest(edges, goals)
        if costs[0] == INFINITY:
            continue
        graph = Graph(edges=edges, goals=goals, estimates=_estimates("inconsistent", costs, rng))
        assert solve(AStar(), graph).cost == solve(IdaStar(), graph).cost == costs[0]
        one, other = solve(AStar(weight=2.0), graph).cost, solve(IdaStar(weight=2.0), graph).cost
        assert one is not None
        assert other is not None
        assert max(one, other) <= 2 * costs[0]
        differ += one != other
    assert differ


def test_a_star_prefers_the_larger_g_among_ties() -> None:
    """On an open grid from corner to corner, every cell has the same f, so A* walks straight to the goal.

    It expands one cell of each of the 2 * 19 steps, and generates at most four neighbors of each.
    """
    size = 20
    edges = {}
    for cell in range(size * size):
        row, column = divmod(cell, size)
        beside = [(row - 1, column), (row, column - 1), (row, column + 1), (row + 1, column)]
        edges[cell] = [(r * size + c, 1) for r, c in beside if 0 <= r < size and 0 <= c < size]
    left = [2 * (size - 1) - sum(divmod(cell, size)) for cell in edges]
    record = solve(AStar(), Maze(edges=edges, goals=[size * size - 1], estimates=left))
    assert record.cost == 2 * (size - 1)
    assert nodes(record) <= 4 * 2 * (size - 1)


def _estimates(kind: str, costs: Sequence[float], rng: random.Random) -> list[float]:
    """Return admissible estimates. The consistent ones are a fixed share of the lowest cost."""
    shares = {"zero": lambda: 0.0, "consistent": lambda: 0.7, "inconsistent": lambda: rng.choice([0.0, 0.0, 1.0])}
    return [0.0 if cost == INFINITY else cost * shares[kind]() for cost in costs]


@pytest.mark.parametrize("kind", ["zero", "consistent", "inconsistent"])
@pytest.mark.parametrize("make", [*CHEAPEST, lambda: AStar(weight=1.5), lambda: IdaStar(weight=1.5)])
def test_paths_in_random_graphs_are_cheapest(make: Callable[[], Agent], kind: str) -> None:
    """The cost is at most the weight times the lowest cost of Bellman-Ford. If no path exists, the search gives up."""
    rng = random.Random(11)
    weight = getattr(make(), "weight", 1.0)
    ended = set()
    for _ in range(GRAPHS):
        edges, goals = random_graph(rng)
        costs = cheapest(edges, goals)
        record = solve(make(), Graph(edges=edges, goals=goals, estimates=_estimates(kind, costs, rng)))
        ended.add(record.termination)
        if costs[0] == INFINITY:
            assert (record.termination, record.solved) == ("gave-up", False)
        else:
            assert record.solved
            assert record.cost is not None
            assert costs[0] - 1e-9 <= record.cost <= weight * costs[0] + 1e-9
    assert ended == {"normal", "gave-up"}


def test_the_heuristic_called_inconsistent_is_inconsistent() -> None:
    """On at least one edge, the estimate drops by more than the step costs."""
    rng = random.Random(11)
    edges, goals = random_graph(rng)
    costs = cheapest(edges, goals)
    estimates = _estimates("inconsistent", costs, rng)
    assert any(estimates[state] > cost + estimates[after] + 1e-9 for state in edges for after, cost in edges[state])


@pytest.mark.parametrize(("make", "count"), [(UniformCost, 5), (AStar, 7)])
def test_a_cheaper_path_replaces_a_more_expensive_one_even_if_the_state_was_expanded(
    make: Callable[[], Agent], count: int
) -> None:
    """This is the textbook case against closed lists: B is expanded through an expensive edge while the cheap path to it
    seems bad.

    Start 0, A = 1, B = 2, C = 3, goal 4: 0-A 1, A-B 1, 0-B 3, B-C 1, C-4 5. The estimate of A is the exact distance, 6; the
    estimates of B and C are 0. The expensive path costs 9 and the cheap one 8. A* generates A, B, C, 4, and then B, C, 4
    again. Uniform-cost generates A, B, B, C, 4, because it never extends a replaced path.
    """
    edges = {0: [(1, 1), (2, 3)], 1: [(2, 1)], 2: [(3, 1)], 3: [(4, 5)], 4: []}
    record = solve(make(), Graph(edges=edges, goals=[4], estimates=[0, 6, 0, 0, 0]))
    assert (record.cost, nodes(record)) == (8, count)
    assert record.actions == ("0", "0", "0", "0")


@pytest.mark.parametrize("make", SHORTEST)
def test_paths_in_random_graphs_are_shortest(make: Callable[[], Agent]) -> None:
    """Breadth-first search and iterative deepening count actions and ignore costs."""
    rng = random.Random(12)
    for _ in range(GRAPHS):
        edges, goals = random_graph(rng)
        fewest = cheapest({state: [(after, 1) for after, _ in ways] for state, ways in edges.items()}, goals)[0]
        record = solve(make(), Graph(edges=edges, goals=goals))
        assert record.moves == (0 if fewest == INFINITY else fewest)
        assert record.termination == ("gave-up" if fewest == INFINITY else "normal")


@pytest.mark.parametrize("make", EVERY)
def test_every_search_finds_a_path_if_one_exists_or_gives_up(make: Callable[[], Agent]) -> None:
    """The graphs are random and directed, with loops and dead ends. The referee replays each path."""
    rng = random.Random(13)
    for _ in range(GRAPHS):
        edges, goals = random_graph(rng)
        possible = cheapest(edges, goals)[0] < INFINITY
        record = solve(make(), Maze(edges=edges, goals=goals))
        assert record.solved is possible
        assert record.termination == ("normal" if possible else "gave-up")


@pytest.mark.parametrize("visited", [True, False])
def test_depth_first_finds_every_goal_within_its_depth_limit(visited: bool) -> None:
    """The search may reach a state on a longer path first, and must still find a goal within the limit on a shorter path."""
    rng = random.Random(14)
    for _ in range(GRAPHS):
        edges, goals = random_graph(rng, 15)
        fewest = cheapest({state: [(after, 1) for after, _ in ways] for state, ways in edges.items()}, goals)[0]
        for depth in (1, 2, 3, 4, 6):
            for record in (
                solve(DepthFirst(visited=visited, depth=depth), Maze(edges=edges, goals=goals)),
                solve(DepthFirst(visited=visited, depth=9), Maze(edges=edges, goals=goals), depth=depth),
            ):
                assert record.solved is (fewest <= depth)
                assert record.moves is not None
                assert record.moves <= depth


@pytest.mark.parametrize("make", [BreadthFirst, IterativeDeepening, IdaStar])
def test_a_search_respects_the_depth_limit_of_a_decision(make: Callable[[], Agent]) -> None:
    """A goal that is ten actions away is found with a limit of ten. With a limit of nine, the search gives up."""
    edges = {state: [(state - 1, 1), (state + 1, 1)] for state in range(1, 20)} | {0: [(1, 1)], 20: [(19, 1)]}
    assert solve(make(), Maze(edges=edges, goals=[10]), depth=10).moves == 10
    assert solve(make(), Maze(edges=edges, goals=[10]), depth=9).termination == "gave-up"


def make_tree() -> Maze:
    """Return a binary tree of seven states: 0 above 1 and 2, 1 above 3 and 4, 2 above 5 and 6. The goal is 5."""
    edges: Edges = {0: [(1, 1), (2, 1)], 1: [(3, 1), (4, 1)], 2: [(5, 1), (6, 1)], 3: [], 4: [], 5: [], 6: []}
    return Maze(edges=edges, goals=[5])


@pytest.mark.parametrize(
    ("make", "count"),
    [
        (BreadthFirst, 5),  # 1 2 3 4 5
        (DepthFirst, 5),  # 1 3 4 2 5
        (lambda: DepthFirst(visited=False), 5),
        (lambda: DepthFirst(depth=1), 2),  # 1 2
        (IterativeDeepening, 7),  # 1 2, and 1 3 4 2 5
        (IdaStar, 13),  # bound 0: 1 2; bound 1: 1 3 4 2 5 6; bound 2: 1 3 4 2 5
    ],
)
def test_node_counts_on_a_tree_agree_with_counts_by_hand(make: Callable[[], Agent], count: int) -> None:
    """The comments list the states in the order of their generation."""
    assert nodes(solve(make(), make_tree())) == count


@pytest.mark.parametrize(("visited", "count"), [(True, 5), (False, 6)])
def test_visited_states_are_generated_but_not_expanded(visited: bool, count: int) -> None:
    """In a diamond with a tail and no goal, the search generates 1 3 4 2 3. Without a visited set, it generates 4 again."""
    diamond: Edges = {0: [(1, 1), (2, 1)], 1: [(3, 1)], 2: [(3, 1)], 3: [(4, 1)], 4: []}
    record = solve(DepthFirst(visited=visited), Maze(edges=diamond, goals=[5]))
    assert (record.termination, nodes(record)) == ("gave-up", count)


def test_best_first_searches_recognise_a_goal_when_it_is_expanded() -> None:
    """Uniform-cost expands 0, 1 and 2 first and generates the whole tree. With exact estimates, A* expands only 0 and 2."""
    assert nodes(solve(UniformCost(), make_tree())) == 6
    exact = Maze(edges=make_tree().edges, goals=[5], estimates=[2, 9, 1, 9, 9, 0, 9])
    assert nodes(solve(AStar(), exact)) == 4


@pytest.mark.parametrize("make", EVERY)
def test_a_corridor_of_thousands_of_states_does_not_recurse(make: Callable[[], Agent]) -> None:
    """Python's recursion limit is 1,000. Iterative deepening needs quadratic work, so its corridor is shorter."""
    length = 1_100 if make is IterativeDeepening else 5_000
    edges: Edges = {state: [(state + 1, 1)] if state < length else [] for state in range(length + 1)}
    estimates = [length - state for state in range(length + 1)]
    record = solve(make(), Maze(edges=edges, goals=[length], estimates=estimates))
    assert (record.solved, record.moves) == (True, length)
    assert nodes(record) == (length * (length + 1) // 2 if make is IterativeDeepening else length)


@pytest.mark.parametrize("make", EVERY)
def test_searches_end_on_cycles_of_cost_0(make: Callable[[], Agent]) -> None:
    """The search gives up if no goal can be reached from the cycle, and otherwise finds the goal at cost 0."""
    ring = {0: [(1, 0)], 1: [(2, 0)], 2: [(0, 0), (3, 0)], 3: [], 4: []}
    assert solve(make(), Graph(edges=ring, goals=[4])).termination == "gave-up"
    assert solve(make(), Graph(edges=ring, goals=[3])).cost == 0


@pytest.mark.parametrize("make", [BestFirst, AStar, IdaStar])
def test_states_with_infinite_estimates_are_not_expanded(make: Callable[[], Agent]) -> None:
    edges = {0: [(1, 1), (2, 1)], 1: [(1, 1), (3, 1)], 2: [(2, 1), (3, 1)], 3: []}
    record = solve(make(), Maze(edges=edges, goals=[3], estimates=[1, INFINITY, INFINITY, 0]))
    assert (record.termination, nodes(record)) == ("gave-up", 2)


@pytest.mark.parametrize("make", EVERY)
def test_a_solved_position_has_an_empty_path(make: Callable[[], Agent]) -> None:
    """The referee never asks for a solution of a goal, but other callers may."""
    agent = make()
    path = agent.solve(Maze(edges={0: [(0, 1)]}, goals=[0]), 0, make_search())
    assert path is not None
    assert path == type(path)(())


def make_search() -> Search:
    game = Maze(edges={0: []}, goals=[0])
    meter = Meter()
    return Search(counting_view(game, meter), None, Limits(), meter, Stream("seat"), SharedStart(game, Stream("start")))


class Digits(Puzzle):
    """Write `length` digits so that neighbors differ by at least 2. Only the resulting number counts."""

    name = "digits"
    path_matters = False

    def __init__(self, *, length: int = 4) -> None:
        self.length = length

    def initial(self, rng: random.Random) -> tuple[int, ...]:
        return ()

    def actions(self, state: tuple[int, ...]) -> Sequence[int]:
        if len(state) == self.length:
            return ()
        return [digit for digit in range(4) if not state or abs(state[-1] - digit) >= 2]

    def result(self, state: tuple[int, ...], action: int) -> tuple[int, ...]:
        return (*state, action)

    def is_goal(self, state: tuple[int, ...]) -> bool:
        return len(state) == self.length and all(abs(a - b) >= 2 for a, b in pairwise(state))


@pytest.mark.parametrize("make", EVERY)
def test_a_path_solves_puzzles_that_ask_only_for_a_solution(make: Callable[[], Agent]) -> None:
    """The referee accepts a path to a goal as the answer."""
    record = play(Digits(length=6), [make()])
    assert (record.solved, record.moves) == (True, 6)


@pytest.mark.parametrize("make", EVERY)
def test_the_conformance_checks_pass(make: Callable[[], Agent]) -> None:
    """The checks use small sliding tiles and a puzzle that asks only for a solution."""
    assert check_agent(make(), SlidingTiles(rows=2, columns=3), matches=2)
    assert check_agent(make(), Digits(), matches=2)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("bfs", {}),
        ("dfs", {"visited": True, "depth": None}),
        ("iterative-deepening", {}),
        ("uniform-cost", {}),
        ("best-first", {}),
        ("a-star", {"weight": 1.0}),
        ("ida-star", {"weight": 1.0}),
    ],
)
def test_names_and_default_options_are_stable(name: str, options: dict[str, Any], registry: Registry) -> None:
    """Tournament files use these names and options."""
    made = registry.agent(name)()
    assert settings(made) == options
    assert made.needs == {"single-player"}


def test_uniform_cost_agrees_with_dijkstra_on_every_state() -> None:
    """In one random graph of 60 states, each state is the goal in turn."""
    rng = random.Random(15)
    edges, _ = random_graph(rng, 60)
    costs, frontier = {0: 0.0}, [(0.0, 0)]
    while frontier:
        cost, state = heappop(frontier)
        for after, step in edges[state]:
            if cost + step < costs.get(after, INFINITY):
                costs[after] = cost + step
                heappush(frontier, (cost + step, after))
    for goal in range(1, 60):
        record = solve(UniformCost(), Graph(edges=edges, goals=[goal]))
        assert record.solved is (goal in costs)
        assert record.cost == costs.get(goal, 0)

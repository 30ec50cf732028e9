"""Compiled solvers of puzzles give the same paths and counts as plain ones, and obey the same limits."""

import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import arena
from arena import Game, Limits, Puzzle
from arena.compiled import Rules
from arena.heuristics import bind
from arena_agents.best_first import AStar, BestFirst, UniformCost
from arena_agents.depth_first import IdaStar
from arena_compiled import seam
from arena_compiled.edition import edition_of
from arena_compiled.loop import FOUND, Drive
from arena_compiled.path_loops import IdaStarLoop
from arena_games.line_heuristics import LinearConflict, WalkingDistance
from arena_games.pattern_db import PatternDB
from arena_games.sliding_tiles import Manhattan, Misplaced, SlidingTiles
from tests.extensions.compiled.conftest import decision

Twice = Callable[..., Any]

EIGHT = "8 6 7 / 2 5 4 / 3 . 1"
"""This is one of the two hardest positions of the 8-puzzle, with 31 slides (A. Reinefeld, 1993)."""
KORF_79 = "0 1 9 7 11 13 5 3 14 12 4 2 8 6 10 15"
"""This instance of Korf (1985) has a shortest solution of 42 slides."""


@pytest.mark.parametrize("agent", [IdaStar(), IdaStar(weight=1.6)], ids=["", "weight"])
def test_the_hardest_position_of_the_8_puzzle_takes_31_slides(twice: Twice, agent: Any) -> None:
    game = SlidingTiles()
    found = twice(agent, game, game.parse_state(EIGHT), Manhattan).found
    assert len(found.actions) == 31 or agent.weight > 1


@pytest.mark.parametrize("agent", [AStar(), AStar(weight=2.5), BestFirst(), UniformCost()], ids=["", "weight", "best", "cost"])
def test_compiled_and_plain_searches_with_a_closed_list_agree(twice: Twice, agent: Any) -> None:
    """The tables grow several times, and node limits apply. Without a limit the path is a shortest one."""
    game = SlidingTiles()
    found = twice(agent, game, game.parse_state(EIGHT), Manhattan).found
    assert len(found.actions) == 31 or agent.name == "best-first" or getattr(agent, "weight", 1) > 1
    state = game.parse_state("8 1 3 / 4 . 2 / 7 6 5")
    total = twice(agent, game, state, Manhattan).nodes
    for nodes in (*range(1, 40), 200, 900, total - 1, total, total + 1):
        assert twice(agent, game, state, Manhattan, {"nodes": nodes}).nodes == min(nodes, total)


class Toll(Puzzle):
    """A walk from 0 to the goal by steps of 1 to 3. The cost of a step depends on its square and may be 0, and some paths are
    expensive at first.
    """

    name = "toll"

    def __init__(self) -> None:
        self.tolls = [7 * n * n % 11 / 2 for n in range(60)]

    def initial(self, rng: Any) -> Any:
        return (0,)

    def actions(self, state: Any) -> Any:
        return range(1, min(3, 59 - state[0]) + 1)

    def result(self, state: Any, action: int) -> Any:
        return (state[0] + action,)

    def is_goal(self, state: Any) -> Any:
        return state[0] == 59

    def step_cost(self, state: Any, action: int, successor: Any) -> float:
        cost: float = self.tolls[successor[0]] * action
        return cost


@pytest.mark.parametrize("agent", [UniformCost(), AStar(), IdaStar()], ids=lambda agent: agent.name)
def test_compiled_and_plain_searches_with_any_step_costs_agree(same: Callable[..., arena.Record], agent: Any) -> None:
    """Dynamic programming computes the lowest cost."""
    tolls = Toll().tolls
    least = [0.0, *[9e9] * 59]
    for square in range(1, 60):
        least[square] = min(least[square - step] + tolls[square] * step for step in (1, 2, 3) if square >= step)
    record = same(Toll(), agent, limits={"nodes": 30_000})
    assert record.cost == least[59] or agent.name == "ida-star"


class Steps(Rules):
    """The rules of a corridor: a step down is 0, and a step up is 1."""

    words, width, players = 1, 2, 1

    def encode(self, state: Any) -> Any:
        return state

    def actions(self, state: Any) -> Any:
        return range(0 if state[0] > 0 else 1, 2)

    def result(self, state: Any, action: int) -> Any:
        return (state[0] + 2 * action - 1,)

    def is_goal(self, state: Any) -> Any:
        return state[0] == 200

    def is_terminal(self, state: Any) -> Any:
        return state[0] == 200

    def reverse(self, state: Any, action: int) -> int:
        return 1 - action


class Corridor(Puzzle):
    """A corridor from 40 up to 200, or down to 0, where it ends."""

    name = "corridor"

    def initial(self, rng: Any) -> Any:
        return (40,)

    def actions(self, state: Any) -> Any:
        return Steps().actions(state)

    def result(self, state: Any, action: int) -> Any:
        return (state[0] + 2 * action - 1,)

    def is_goal(self, state: Any) -> Any:
        return bool(state[0] == 200)

    def compiled(self) -> Rules:
        return Steps()


def test_a_path_that_outgrows_its_arrays_agrees_with_plain_python(twice: Twice) -> None:
    """Under a bound, each of that many states in one direction has two successors. In the other direction, each of 40 states
    but the last has two.
    """
    total = sum(2 + 2 * bound + min(2 * bound, 79) for bound in range(160)) + 2 + 79 + 2 * 159
    outcome = twice(IdaStar(), Corridor(), (40,))
    assert outcome.found.actions == (1,) * 160
    assert outcome.nodes == total
    assert twice(IdaStar(), Corridor(), (40,), None, {"nodes": total - 100}).nodes == total - 100


@pytest.mark.parametrize("goal", ["blank-last", "blank-first"])
def test_compiled_and_plain_heuristics_of_sliding_tiles_agree(twice: Twice, goal: Any) -> None:
    """These are misplaced tiles, the estimates based on Manhattan distances, and pattern databases with and without a mirror
    image.
    """
    game = SlidingTiles(goal=goal, shuffle=30)
    for seed in range(3):
        state = game.initial(random.Random(seed))
        admissible = (Misplaced, PatternDB, Manhattan, LinearConflict, WalkingDistance)
        lengths = {len(twice(IdaStar(), game, state, one).found.actions) for one in admissible}
        assert len(lengths) == 1
    for rows, columns in ((3, 4), (4, 2), (4, 4)):
        wide = SlidingTiles(rows=rows, columns=columns, shuffle=60, goal=goal)
        for one in (PatternDB, LinearConflict, WalkingDistance) if rows == 3 else (LinearConflict, WalkingDistance):
            twice(IdaStar(), wide, wide.initial(random.Random(7)), one, {"nodes": 6_000})


def test_incremental_estimates_agree_with_the_heuristic() -> None:
    """On a random walk, uncompiled and on boards of several shapes, each updated estimate equals the heuristic of the state."""
    for rows, columns in ((2, 2), (2, 5), (5, 3), (4, 4), (4, 3)):
        game = SlidingTiles(rows=rows, columns=columns, goal="blank-first" if rows == 4 else "blank-last")
        rules: Any = game.compiled()
        rng = random.Random(rows)
        for heuristic in (LinearConflict, WalkingDistance) if max(rows, columns) < 5 else (LinearConflict,):
            plain: Any = heuristic(game)
            estimate, state = plain.compiled(rules), game.initial(rng)
            words = rules.encode(state)
            carried = estimate.first(words)
            for _ in range(400):
                number = rng.choice(list(rules.actions(words)))
                state = game.result(state, rules.action(state, number))
                successor = rules.result(words, number)
                carried, words = estimate.after(carried, words, number, successor), successor
                assert estimate.value(carried) == plain(state)
                assert carried == estimate.first(words)


def test_a_non_square_board_agrees_with_plain_python_with_and_without_a_heuristic(twice: Twice) -> None:
    """One module is used for all sizes, so no code is compiled again for the second board."""
    flat = SlidingTiles(rows=2, columns=5, goal="blank-first")
    state = flat.goal
    for action in (1, 6, 5, 1, 6, 2, 7, 6):
        if action in flat.actions(state):
            state = flat.result(state, action)
    twice(IdaStar(), flat, state)
    twice(IdaStar(), flat, state, Manhattan)


def limits(total: int) -> Iterator[int]:
    yield from range(1, 60)
    yield from range(60, total, max(1, total // 40))
    yield from (total - 1, total, total + 1)


def test_compiled_and_plain_searches_end_at_the_same_state_for_every_node_limit(twice: Twice) -> None:
    game = SlidingTiles()
    state = game.parse_state("8 1 3 / 4 . 2 / 7 6 5")
    total = twice(IdaStar(), game, state, Manhattan).nodes
    for nodes in limits(total):
        outcome = twice(IdaStar(), game, state, Manhattan, {"nodes": nodes})
        assert outcome.nodes == min(nodes, total)


@pytest.mark.parametrize("depth", [1, 2, 9, 30])
def test_compiled_solvers_obey_a_depth_limit(twice: Twice, depth: int) -> None:
    game = SlidingTiles()
    outcome = twice(IdaStar(), game, game.parse_state("8 1 3 / 4 . 2 / 7 6 5"), Manhattan, {"depth": depth, "nodes": 50_000})
    assert outcome.found is None or isinstance(outcome.found, tuple) or len(outcome.found.actions) <= depth


def test_the_15_puzzle_is_solved_in_a_match(same: Callable[..., arena.Record]) -> None:
    """The whole record of the referee is compared. Korf's own count of nodes leaves out moves straight back."""
    game = SlidingTiles(rows=4, columns=4, goal="blank-first")
    record = same(game, IdaStar(), position=KORF_79)
    assert record.cost == 42


@pytest.mark.parametrize(("limit", "bounds"), [("seconds", Limits(seconds=0.2)), ("cpu_seconds", Limits(cpu_seconds=0.2))])
def test_a_time_limit_ends_a_decision_between_two_slices(compiling: None, limit: str, bounds: Limits) -> None:
    """With a single slice, the search would find the solution."""
    game = SlidingTiles(rows=4, columns=4, goal="blank-first")
    state = game.parse_state("14 13 15 7 11 12 9 5 6 0 2 1 4 8 10 3")  # Korf's first position, 57 slides
    evaluation = bind(Manhattan, game)
    decision(IdaStar(), game, state, evaluation, Limits(nodes=10))  # loads the code
    outcome, ran = decision(IdaStar(), game, state, evaluation, bounds)
    assert ran
    assert outcome.found == ("out of", limit)


class Shuffled(SlidingTiles):
    """A puzzle that overrides actions of its base, but inherits its `compiled`."""

    def actions(self, state: Any) -> Any:
        return super().actions(state)[::-1]


def test_inherited_compiled_rules_are_ignored_if_the_game_overrides_a_method(compiling: None) -> None:
    game: Game = Shuffled()
    record = arena.play(game, IdaStar(), position=EIGHT, heuristics=Manhattan)
    assert record.cost == 31
    assert set(record.timing or ()) == {"plain", "plain_seconds"}


def test_the_arrays_for_a_path_are_enlarged_before_they_are_full() -> None:
    """The last row must have room for one more state. If it does not, the number of rows is doubled."""
    _, _, estimate, module = seam.assemble_engine(SlidingTiles(), bind(Manhattan, SlidingTiles()), "ida-star")
    loop = IdaStarLoop(edition_of(SlidingTiles()), estimate.words, module.memory, Drive(lambda *_: FOUND, ()))
    rows, first = len(loop.memory["rows"]), loop.levels
    loop.grow()
    assert (loop.levels, len(loop.memory["rows"])) == (2 * first, 2 * rows)
    assert loop.memory["registers"][5] == 2 * rows - rows // first

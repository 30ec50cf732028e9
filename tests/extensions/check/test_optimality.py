"""An agent that claims optimal ways is held to it, from small positions."""

import random
from collections.abc import Callable, Sequence
from typing import Any, Literal

from arena import Agent, Game, OutOfBudget, Path, Puzzle, Search
from arena.testing import Verdict, agent_verdicts, check_agent
from arena_games.sliding_tiles import SlidingTiles
from tests.extensions.check.conftest import Breadth

Finding = Callable[[Callable[[], object]], dict[str, str]]
TILES = SlidingTiles(rows=2, columns=3)


class Toll(Puzzle):
    """From place n to 0: one down for 1, or straight there for 5. Nothing can be undone."""

    name = "toll"
    most = 3

    def initial(self, rng: random.Random) -> int:
        return self.most

    def actions(self, state: int) -> Sequence[str]:
        return ("straight", "down") if state > 0 else ()

    def result(self, state: int, action: str) -> int:
        return 0 if action == "straight" else state - 1

    def step_cost(self, state: int, action: str, successor: int) -> float:
        return 5 if action == "straight" else 1

    def is_goal(self, state: int) -> bool:
        return state == 0

    def render(self, state: int) -> str:
        return str(state)


class Shortest(Breadth):
    """Claims what it does: it finds shortest paths."""

    optimal: Literal["cost", "length", "admissible"] | None = "length"


class Cheap(Shortest):
    """Takes shortest ways for cheapest ones."""

    name = "cheap"
    optimal = "cost"


class Winding(Shortest):
    """Makes a move and takes it back before it begins."""

    name = "winding"

    def solve(self, game: Game, state: Any, search: Search) -> Path | None:
        for action in game.actions(state):
            there = game.result(state, action)
            for back in game.actions(there):
                if game.result(there, back) == state and isinstance(way := super().solve(game, state, search), Path):
                    return Path((action, back, *way.actions))
        return None


class Hurried(Winding):
    """Returns a worse way, but only once its budget has ended."""

    name = "hurried"

    def solve(self, game: Game, state: Any, search: Search) -> Path | None:
        way = super().solve(game, state, search)
        try:
            while True:
                game.actions(state)
                game.result(state, game.actions(state)[0])
        except OutOfBudget:
            return way


def verdict(agent: type[Agent], puzzle: Puzzle) -> Verdict | None:
    """The verdict on the claim; None if there is no claim."""
    [(_, found)] = agent_verdicts(agent, puzzle, matches=3)
    return next((one for one in found if one.check == "optimal"), None)


def test_a_path_that_costs_too_much_refutes_the_claim(finding: Finding) -> None:
    """From place 2 or 3, the shortest path is one step with cost 5. Step by step, the costs are 2 and 3."""
    found = finding(lambda: check_agent(Cheap, Toll()))
    assert found["subject"] == "cheap on toll"
    assert found["what"] == "it claims to find the lowest cost, but uniform-cost search finds a lower one"
    assert (found["position"], found["expected"]) in {("2", "cost 2"), ("3", "cost 3")}
    assert found["got"] == "cost 5: straight"
    again = finding(lambda: check_agent(Cheap, Toll(), seed=int(found["seed"]), matches=int(found["matches"])))
    assert again["what"] == found["what"]


def test_a_path_that_is_too_long_refutes_the_claim(finding: Finding) -> None:
    """The path has two moves more than the shortest one, from a position of the 2x3 puzzle, in which each move costs 1."""
    found = finding(lambda: check_agent(Winding, TILES))
    least = int(found["expected"].removeprefix("cost "))
    assert found["got"].startswith(f"cost {least + 2}: ")


def test_a_true_claim_of_optimality_passes() -> None:
    """Paths with the fewest steps pass whatever they cost. The claims of the built-in agents are true."""
    for puzzle in (Toll(), TILES):
        assert check_agent(Shortest, puzzle) == (f"{puzzle.name}: plays, repeats, one node, randomness, optimal",)
    for name in ("uniform-cost", "bfs", "a-star", "ida-star", "iterative-deepening"):
        assert check_agent(name, TILES, matches=2)[0].endswith(", optimal")
    assert check_agent("best-first", TILES, matches=2) == ("sliding-tiles: plays, repeats, one node, randomness",)


def test_a_path_that_is_returned_after_the_budget_does_not_count() -> None:
    """The claim covers only paths that are returned before the budget ends, so there is nothing to compare."""
    found = verdict(Hurried, TILES)
    assert found is not None
    assert (found.kept, found.reached) == (True, False)


def test_a_claim_is_not_confirmed_if_no_goal_is_found() -> None:
    """The agent climbs past the goal."""

    class Past(Toll):
        name = "past"

        def is_goal(self, state: int) -> bool:
            return False

    found = verdict(Shortest, Past())
    assert found is not None
    assert (found.kept, found.reached) == (True, False)

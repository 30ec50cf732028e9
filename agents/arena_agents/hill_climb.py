"""Hill climbing: always the best successor, until none is better."""

import random
from collections.abc import Callable, Iterable
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from arena import Agent, Answer, Game, Search, State
from arena_agents.incumbent import Walk
from arena_agents.local_moves import Landscape, Listing, LocalView, Step

Count = Annotated[int, Field(ge=0, le=1_000_000_000)]


class HillClimb(Agent):
    """Moves to the best successor until there is none that is better; answers with the best state found.

    Up to `sideways` moves in a row may keep the cost as it is. Of equal best successors it takes the `first` one or a
    `random` one. After a climb that failed it starts again from a random state, up to `restarts` times; moves add up.
    Steepest ascent: S. Russell, P. Norvig, Artificial Intelligence, a Modern Approach, figure 4.2 (HILL-CLIMBING), with the
    sideways moves and random restarts of section 4.1.1.
    """

    name = "hill-climb"
    engine = "hill-climb"
    needs: ClassVar[frozenset[str]] = frozenset({"solution-only", "local"})
    reference = True

    def __init__(self, *, sideways: Count = 0, choice: Literal["random", "first"] = "random", restarts: Count = 0) -> None:
        self.sideways = sideways
        self.choice = choice
        self.restarts = restarts

    def solve(self, game: Game, state: State, search: Search) -> Answer:
        """Return the best state found."""
        loop = search.compiled(self.engine, sideways=self.sideways, first=self.choice == "first")
        land = Landscape(game, state, search, loop)
        climb = loop or self._climb
        rng = search.rng
        with Walk(search, land.listing(land.start())) as walk:
            for restart in range(self.restarts + 1):
                if restart:
                    walk.go_on_from(land.listing(land.fresh()))
                if climb(walk, rng, land.solved):
                    break
        return walk.answer()

    def _climb(self, walk: Walk[Listing], rng: random.Random, solved: Callable[[LocalView], bool]) -> bool:
        """Go up until no successor is better, and sideways for as long as that is allowed; tell whether it led to a goal."""
        view = walk.view
        moves, delta, apply = view.moves, view.delta, view.apply
        best = _first_best if self.choice == "first" else _all_best
        pick = rng.choice
        sideways, left = self.sideways, self.sideways
        while not solved(view):
            change, found = best(moves(), delta)
            if change > 0 or (change == 0 and left == 0):
                return False
            left = sideways if change < 0 else left - 1
            apply(found[0] if len(found) == 1 else pick(found))
            walk.steps += 1
        return True


def _all_best(moves: Iterable[Step], delta: Callable[[Step], float]) -> tuple[float, list[Step]]:
    """The lowest change of cost, and all moves that bring it."""
    lowest = float("inf")
    best: list[Step] = []
    for move in moves:
        change = delta(move)
        if change < lowest:
            lowest = change
            best = [move]
        elif change == lowest:
            best.append(move)
    return lowest, best


def _first_best(moves: Iterable[Step], delta: Callable[[Step], float]) -> tuple[float, list[Step]]:
    """The lowest change of cost, and the first move that brings it."""
    lowest = float("inf")
    best: list[Step] = []
    for move in moves:
        change = delta(move)
        if change < lowest:
            lowest = change
            best = [move]
    return lowest, best

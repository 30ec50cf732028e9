"""Local beam search: several states at once, and the best of all their successors."""

import random
from collections.abc import Iterator
from heapq import heapify, heappop
from itertools import chain
from typing import Annotated, ClassVar

from pydantic import Field

from arena import Agent, Answer, Game, Search, State
from arena_agents.hill_climb import Count
from arena_agents.incumbent import Incumbent
from arena_agents.local_moves import Landscape, Listing, Step

Width = Annotated[int, Field(ge=1, le=100_000)]
Candidate = tuple[float, float, int]
"""Cost, a random number to break ties, and its place among all candidates. Plain numbers, since there are many, and the garbage
collector soon leaves those alone."""


class Beam(Agent):
    """Keeps the `width` best of all successors of the states it holds; answers with the best state found.

    It begins with the round's start and random states, and never holds a state twice, so on a plateau it moves on. It ends
    after `sideways` steps in a row without a better state. A step of the whole beam counts as one move.
    S. Russell, P. Norvig, Artificial Intelligence, a Modern Approach, section 4.1.3 (local beam search).
    """

    name = "beam"
    engine = "beam"
    needs: ClassVar[frozenset[str]] = frozenset({"solution-only", "local"})

    def __init__(self, *, width: Width = 10, sideways: Count = 100) -> None:
        self.width = width
        self.sideways = sideways

    def solve(self, game: Game, state: State, search: Search) -> Answer:
        """Return the best state found."""
        land = Landscape(game, state, search, search.compiled(self.engine))
        successors = land.loop or _best_first
        incumbent = Incumbent(search)
        first = land.listing(land.start())
        incumbent.offer(first.cost, first.state(), 0)
        others = (land.listing(land.fresh()) for _ in range(self.width - 1))
        seen: set[State] = set()
        beam = list(_unseen(chain([first], others), seen, self.width))
        steps, left, lowest = 0, self.sideways, float("inf")
        while beam:
            best = min(beam, key=_cost)
            if best.cost < lowest:
                left, lowest = self.sideways, best.cost
                incumbent.offer(lowest, best.state(), steps)
                if land.solved(best):
                    break
            elif left == 0:
                break
            else:
                left -= 1
            beam = list(_unseen(successors(beam, land, search.rng), seen, self.width))
            steps += 1
        return incumbent.answer(steps)


def _cost(view: Listing) -> float:
    return view.cost


def _best_first(beam: list[Listing], land: Landscape, rng: random.Random) -> Iterator[Listing]:
    """Yield a view of each successor of each state, the cheapest first, equal ones in random order."""
    candidates: list[Candidate] = []
    views: list[Listing] = []
    moves: list[Step] = []
    for view in beam:
        cost, delta, lot, listed = view.cost, view.delta, rng.random, list(view.moves())
        candidates += [(cost + delta(move), lot(), place) for place, move in enumerate(listed, len(moves))]
        views += [view] * len(listed)
        moves += listed
    heapify(candidates)
    while candidates:
        _, _, place = heappop(candidates)
        successor = land.listing(views[place].state())
        successor.apply(moves[place])
        yield successor


def _unseen(views: Iterator[Listing], seen: set[State], most: int) -> Iterator[Listing]:
    """Yield those that stand at states not seen before, so many at most."""
    for view in views:
        state = view.state()
        if state not in seen:
            seen.add(state)
            yield view
            most -= 1
            if most == 0:
                return

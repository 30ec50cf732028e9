"""Local searches that hold several states at the same time: local beam search and a genetic algorithm."""

import random
from collections.abc import Iterator, Sequence
from heapq import heapify, heappop
from itertools import chain
from operator import attrgetter
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from arena import Agent, Answer, Game, Puzzle, Search, State
from arena_agents.local_moves import Incumbent, Landscape, Listing, Step
from arena_agents.local_search import Count

Width = Annotated[int, Field(ge=1, le=100_000)]
Candidate = tuple[float, float, int]
"""The cost, a random number that breaks ties, and the index among all candidates. There are many of them, so they are plain
numbers: the garbage collector soon ignores tuples of numbers."""


class Beam(Agent):
    """Keeps the `width` best successors of all its states. The solution is the best state found.

    Also called local beam search. It begins with the start of the round and with random states. It never holds a state twice, so
    it moves on from a plateau. It ends after `sideways` steps in a row without a better state. A step of the whole beam counts as
    one move. S. Russell, P. Norvig, Artificial Intelligence, a Modern Approach, section 4.1.3 (local beam search).
    """

    name = "beam"
    needs: ClassVar[frozenset[str]] = frozenset({"solution-only", "local"})

    def __init__(self, *, width: Width = 10, sideways: Count = 100) -> None:
        self.width = width
        self.sideways = sideways

    def solve(self, game: Game, state: State, search: Search) -> Answer:
        """Return the best state found."""
        land = Landscape(game, state, search)
        incumbent = Incumbent(search)
        first = land.listing(land.start())
        incumbent.offer(first.cost, first.state(), 0)
        others = (land.listing(land.fresh()) for _ in range(self.width - 1))
        seen: set[State] = set()
        beam = list(_skip_seen(chain([first], others), seen, self.width))
        steps, left, lowest = 0, self.sideways, float("inf")
        while beam:
            best = min(beam, key=attrgetter("cost"))
            if best.cost < lowest:
                left, lowest = self.sideways, best.cost
                incumbent.offer(lowest, best.state(), steps)
                if land.is_solved(best):
                    break
            elif left == 0:
                break
            else:
                left -= 1
            beam = list(_skip_seen(_best_first(beam, land, search.rng), seen, self.width))
            steps += 1
        return incumbent.answer(steps)


def _best_first(beam: list[Listing], land: Landscape, rng: random.Random) -> Iterator[Listing]:
    """Yield a view of each successor of each state, the cheapest first and equal ones in random order."""
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


def _skip_seen(views: Iterator[Listing], seen: set[State], most: int) -> Iterator[Listing]:
    """Yield the views of at most `most` new states."""
    for view in views:
        state = view.state()
        if state not in seen:
            seen.add(state)
            yield view
            most -= 1
            if most == 0:
                return


Size = Annotated[int, Field(ge=2, le=1_000_000)]
Probability = Annotated[float, Field(ge=0, le=1)]
TOURNAMENT_SIZE = 3
"""The number of members that are compared in tournament selection."""


class Genetic(Agent):
    """Breeds `population` states for up to `generations` generations. The solution is the best state found. A generation counts
    as one move.

    Also called genetic algorithm or evolutionary search. Each child is the crossover of two parents, mutated with probability
    `mutation`. `selection` says how parents are drawn. With `roulette`, the probability of a state is proportional to the
    difference between its cost and the highest cost of its generation. With `tournament`, a parent is the cheapest of three
    random states. The first generation is the start of the round and random states. J. H. Holland, Adaptation in Natural and
    Artificial Systems, 1975; S. Russell, P. Norvig, Artificial Intelligence, a Modern Approach, figure 4.8 (GENETIC-ALGORITHM).
    """

    name = "genetic"
    needs: ClassVar[frozenset[str]] = frozenset({"solution-only", "genetic"})

    def __init__(
        self,
        *,
        population: Size = 50,
        mutation: Probability = 0.5,
        generations: Count = 1_000,
        selection: Literal["roulette", "tournament"] = "roulette",
    ) -> None:
        self.population = population
        self.mutation = mutation
        self.generations = generations
        self.selection = selection

    def solve(self, game: Game, state: State, search: Search) -> Answer:
        """Return the best state found."""
        land = Landscape(game, state, search)
        incumbent = Incumbent(search)
        first = land.start()
        incumbent.offer(land.cost(first), first, 0)
        population = [first]
        population += [land.fresh() for _ in range(self.population - 1)]
        for generation, lowest, best in self._generations(population, land, search.rng):
            incumbent.offer(lowest, best, generation)
            if lowest <= 0 and land.puzzle.is_goal(best):
                break
        return incumbent.answer(generation)

    def _generations(self, population: list[State], land: Landscape, rng: random.Random) -> Iterator[tuple[int, float, State]]:
        """Yield the number of each generation, from 0, with its lowest cost and the first member that has it."""
        for generation in range(self.generations + 1):
            costs = [land.cost(member) for member in population]
            lowest = min(costs)
            yield generation, lowest, population[costs.index(lowest)]
            if generation < self.generations:
                population = self._breed(land.puzzle, self._select(population, costs, rng), rng)

    def _select(self, population: Sequence[State], costs: Sequence[float], rng: random.Random) -> Sequence[State]:
        """Return two parents for each member, drawn at random; a member may be drawn repeatedly."""
        number = 2 * len(population)
        if self.selection == "tournament":
            members = range(len(population))
            return [population[min(rng.choices(members, k=TOURNAMENT_SIZE), key=costs.__getitem__)] for _ in range(number)]
        dearest = max(costs)
        fitness = [dearest - cost for cost in costs]
        return rng.choices(population, fitness if any(fitness) else None, k=number)

    def _breed(self, puzzle: Puzzle, parents: Sequence[State], rng: random.Random) -> list[State]:
        """Return one child for each two successive parents."""
        crossover, mutate, chance, mutation = puzzle.crossover, puzzle.mutate, rng.random, self.mutation
        children = []
        for a, b in zip(parents[::2], parents[1::2], strict=True):
            child = crossover(a, b, rng)
            children.append(mutate(child, rng) if chance() < mutation else child)
        return children

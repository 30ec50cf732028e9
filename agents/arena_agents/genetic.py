"""A genetic algorithm: the fitter have more children, and children now and then a random change."""

import random
from collections.abc import Callable, Iterator, Sequence
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from arena import Agent, Answer, Game, Puzzle, Search, State
from arena_agents.hill_climb import Count
from arena_agents.incumbent import Incumbent
from arena_agents.local_moves import Landscape

Size = Annotated[int, Field(ge=2, le=1_000_000)]
Probability = Annotated[float, Field(ge=0, le=1)]
Selection = Callable[[Sequence[State], Sequence[float], int, random.Random], Sequence[State]]
"""(population, costs, how many, rng) -> parents, with repetition."""

ROUND = 3
"""How many meet in a round of tournament selection."""


class Genetic(Agent):
    """Breeds `population` states for up to `generations`; answers with the best state found. A generation is one move.

    Each child is the crossover of two parents, mutated with probability `mutation`. Parents are drawn by `selection`:
    `roulette` with a chance in proportion to how much cheaper they are than the dearest of their generation, `tournament`
    the cheapest of three at random. The first generation is the round's start and random states.
    J. H. Holland, Adaptation in Natural and Artificial Systems, 1975; S. Russell, P. Norvig, Artificial Intelligence, a
    Modern Approach, figure 4.8 (GENETIC-ALGORITHM).
    """

    name = "genetic"
    engine = "genetic"
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
        loop = search.compiled(
            self.engine, mutation=self.mutation, generations=self.generations, roulette=self.selection == "roulette"
        )
        land = Landscape(game, state, search, loop)
        incumbent = Incumbent(search)
        first = land.start()
        incumbent.offer(land.cost(first), first, 0)
        population = [first]
        population += [land.fresh() for _ in range(self.population - 1)]
        for generation, lowest, best in (loop or self._generations)(population, land, search.rng):
            incumbent.offer(lowest, best, generation)
            if lowest <= 0 and land.puzzle.is_goal(best):
                break
        return incumbent.answer(generation)

    def _generations(self, population: list[State], land: Landscape, rng: random.Random) -> Iterator[tuple[int, float, State]]:
        """Yield the number of each generation, from 0, with its lowest cost and the first member of that cost."""
        select = _roulette if self.selection == "roulette" else _tournament
        for generation in range(self.generations + 1):
            costs = [land.cost(member) for member in population]
            lowest = min(costs)
            yield generation, lowest, population[costs.index(lowest)]
            if generation < self.generations:
                population = self._children(land.puzzle, select(population, costs, 2 * len(population), rng), rng)

    def _children(self, puzzle: Puzzle, parents: Sequence[State], rng: random.Random) -> list[State]:
        """One child of every two parents in turn."""
        crossover, mutate, chance, mutation = puzzle.crossover, puzzle.mutate, rng.random, self.mutation
        children = []
        for a, b in zip(parents[::2], parents[1::2], strict=True):
            child = crossover(a, b, rng)
            children.append(mutate(child, rng) if chance() < mutation else child)
        return children


def _roulette(population: Sequence[State], costs: Sequence[float], number: int, rng: random.Random) -> Sequence[State]:
    """Draw with a chance in proportion to the fitness: how much cheaper a state is than the dearest."""
    dearest = max(costs)
    fitness = [dearest - cost for cost in costs]
    return rng.choices(population, fitness if any(fitness) else None, k=number)


def _tournament(population: Sequence[State], costs: Sequence[float], number: int, rng: random.Random) -> Sequence[State]:
    """Draw the cheapest of a few that meet at random, again and again."""
    members = range(len(population))
    return [population[min(rng.choices(members, k=ROUND), key=costs.__getitem__)] for _ in range(number)]

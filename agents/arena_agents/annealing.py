"""Simulated annealing: downhill always, uphill less and less often."""

import random
from collections.abc import Callable
from math import exp
from typing import Annotated, ClassVar

from pydantic import Field

from arena import Agent, Answer, Game, Search, State
from arena_agents.incumbent import Walk
from arena_agents.local_moves import Landscape, LocalView

Temperature = Annotated[float, Field(gt=0, le=1e9, allow_inf_nan=False)]
Steps = Annotated[int, Field(ge=1, le=1_000_000_000)]


class Annealing(Agent):
    """Tries one random move a step, and takes one that costs d more with probability e^(-d/T); answers with the best found.

    The temperature T falls from `start` to `end` over `steps` tries, by the same factor each time; a goal ends the search.
    S. Kirkpatrick, C. D. Gelatt, M. P. Vecchi, Optimization by Simulated Annealing, Science 220, 1983; S. Russell, P. Norvig,
    Artificial Intelligence, a Modern Approach, figure 4.5 (SIMULATED-ANNEALING).
    """

    name = "annealing"
    engine = "annealing"
    needs: ClassVar[frozenset[str]] = frozenset({"solution-only", "local"})

    def __init__(self, *, start: Temperature = 1.0, end: Temperature = 0.1, steps: Steps = 20_000) -> None:
        if end > start:
            raise ValueError(f"end: expected at most start, {start:g}, got {end:g}")
        self.start = start
        self.end = end
        self.steps = steps

    def solve(self, game: Game, state: State, search: Search) -> Answer:
        """Return the best state found."""
        land = Landscape(game, state, search, search.compiled(self.engine))
        cool = land.loop or _cool
        factor = (self.end / self.start) ** (1.0 / max(1, self.steps - 1))
        with Walk(search, land.view(land.start())) as walk:
            if not land.solved(walk.view):
                cool(walk, search.rng, self.start, factor, self.steps, land.solved)
        return walk.answer()


def _cool(
    walk: Walk[LocalView], rng: random.Random, temperature: float, factor: float, steps: int, solved: Callable[[LocalView], bool]
) -> None:
    """Anneal until a goal is met or the steps are used up. The best state is copied when it is left, not before."""
    view = walk.view
    propose, delta, apply = view.propose, view.delta, view.apply
    rng.random()  # a stream that has been drawn from is a plain generator, with faster methods
    chance = rng.random
    for _ in range(steps):
        move = propose(rng)
        change = delta(move)
        if change <= 0:
            apply(move)
            walk.steps += 1
            if view.cost <= 0 and solved(view):
                return
        elif chance() < exp(-change / temperature):
            walk.keep()
            apply(move)
            walk.steps += 1
        temperature *= factor

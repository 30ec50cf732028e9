"""Min-conflicts: repairs a complete state change by change, never for the worse."""

import random
from collections.abc import Callable, Mapping
from typing import Annotated, ClassVar

from pydantic import Field

from arena import Agent, Answer, Game, Search, State
from arena_agents.hill_climb import Count
from arena_agents.incumbent import Walk
from arena_agents.local_moves import Landscape, LocalView

Patience = Annotated[int, Field(ge=1, le=1_000_000_000)]


class MinConflicts(Agent):
    """Makes every proposed change that does not raise the number of conflicts; answers with the best state found.

    The puzzle's view chooses what to propose, so that is where a conflict is picked; without a view any change may come.
    After `patience` proposals in a row that lowered nothing it starts again from a random state, up to `restarts` times.
    S. Minton, M. D. Johnston, A. B. Philips, P. Laird, Minimizing Conflicts, Artificial Intelligence 58, 1992; Russell and
    Norvig, Artificial Intelligence, a Modern Approach, figure 6.8 (MIN-CONFLICTS).
    """

    name = "min-conflicts"
    engine = "min-conflicts"
    needs: ClassVar[frozenset[str]] = frozenset({"solution-only", "local"})
    reference = True
    proposed: ClassVar[Mapping[str, int]] = {"local": 4}

    def __init__(self, *, patience: Patience = 10_000, restarts: Count = 10) -> None:
        self.patience = patience
        self.restarts = restarts

    def solve(self, game: Game, state: State, search: Search) -> Answer:
        """Return the best state found."""
        land = Landscape(game, state, search, search.compiled(self.engine))
        repair = land.loop or _repair
        with Walk(search, land.view(land.start())) as walk:
            for restart in range(self.restarts + 1):
                if restart:
                    walk.go_on_from(land.view(land.fresh()))
                if land.solved(walk.view) or repair(walk, search.rng, self.patience, land.solved):
                    break
        return walk.answer()


def _repair(walk: Walk[LocalView], rng: random.Random, patience: int, solved: Callable[[LocalView], bool]) -> bool:
    """Take proposals that do not raise the cost, until a goal is met (True) or patience ends (False)."""
    view = walk.view
    propose, delta, apply = view.propose, view.delta, view.apply
    while True:
        for _ in range(patience):
            move = propose(rng)
            change = delta(move)
            if change <= 0:
                apply(move)
                walk.steps += 1
                if change < 0:
                    break
        else:
            return False
        if view.cost <= 0 and solved(view):
            return True

"""Local searches with one current state: hill climbing, min-conflicts and simulated annealing."""

import random
from collections.abc import Callable, Iterable
from math import exp
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from arena import Agent, Answer, Game, Hints, Search, State
from arena_agents.local_moves import Landscape, Listing, LocalView, Step, Walk

Count = Annotated[int, Field(ge=0, le=1_000_000_000)]


class HillClimb(Agent):
    """Moves to a better successor until none is better. The solution is the best state found.

    Also called hill climbing, steepest ascent, first-choice hill climbing, stochastic hill climbing or random-restart hill
    climbing. `ascent` says how it chooses among the better successors. Steepest ascent takes the best one; of equally good ones,
    it takes the `first` or a `random` one, as `choice` says. First-choice hill climbing, with `ascent: first-choice`, tries the
    successors in random order and takes the first better one. Stochastic hill climbing, with `ascent: stochastic`, takes one of
    all better successors at random. Up to `sideways` consecutive moves may leave the cost unchanged. After a climb without
    success, it starts again from a random state, up to `restarts` times; the numbers of moves are added up. S. Russell, P.
    Norvig, Artificial Intelligence: A Modern Approach, 2010, figure 4.2 (HILL-CLIMBING) and section 4.1.1.
    """

    name = "hill-climb"
    needs: ClassVar[frozenset[str]] = frozenset({"solution-only", "local"})
    hints = Hints(reference=True)

    def __init__(
        self,
        *,
        sideways: Count = 0,
        choice: Literal["random", "first"] = "random",
        restarts: Count = 0,
        ascent: Literal["steepest", "first-choice", "stochastic"] = "steepest",
    ) -> None:
        self.ascent = ascent
        self.sideways = sideways
        self.choice = choice
        self.restarts = restarts

    def solve(self, game: Game, state: State, search: Search) -> Answer:
        """Return the best state found."""
        land, rng = Landscape(game, state, search), search.rng
        with Walk(search, land.listing(land.start())) as walk:
            for restart in range(self.restarts + 1):
                if restart:
                    walk.go_on_from(land.listing(land.fresh()))
                if self._climb(walk, rng, land.is_solved):
                    break
        return walk.answer()

    def _climb(self, walk: Walk[Listing], rng: random.Random, solved: Callable[[LocalView], bool]) -> bool:
        """Climb until no successor is better, with the allowed sideways moves. Return whether a goal was reached."""
        view = walk.view
        moves, delta, apply = view.moves, view.delta, view.apply
        pick = None if self.choice == "first" and self.ascent == "steepest" else rng.choice
        sideways, left = self.sideways, self.sideways
        while not solved(view):
            if self.ascent == "steepest":
                change, found = _find_best(moves(), delta)
            elif self.ascent == "stochastic":
                change, found = _find_better(moves(), delta, first=False)
            else:
                listed = list(moves())
                change, found = _find_better(rng.sample(listed, len(listed)), delta, first=True)
            if change > 0 or (change == 0 and left == 0):
                return False
            left = sideways if change < 0 else left - 1
            apply(found[0] if pick is None or len(found) == 1 else pick(found))
            walk.steps += 1
        return True


def _find_best(moves: Iterable[Step], delta: Callable[[Step], float]) -> tuple[float, list[Step]]:
    """Return the lowest change in cost, and all moves that have it."""
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


def _find_better(moves: Iterable[Step], delta: Callable[[Step], float], *, first: bool) -> tuple[float, list[Step]]:
    """Return -1 and all moves that lower the cost, or only the first of them.

    If there are none, return the lowest change in cost, and all moves that have it.
    """
    changes: list[tuple[float, Step]] = []
    for move in moves:
        changes.append((delta(move), move))
        if first and changes[-1][0] < 0:
            break
    better = [move for change, move in changes if change < 0]
    lowest = min([change for change, _ in changes], default=float("inf"))
    return (-1.0, better) if better else (lowest, [move for change, move in changes if change == lowest])


Proposals = Annotated[int, Field(ge=1, le=1_000_000_000)]


class MinConflicts(Agent):
    """Makes every proposed change that does not raise the number of conflicts. The solution is the best state found.

    The view of the puzzle selects conflicts for its proposals; without a view, proposals are arbitrary changes. If `patience`
    proposals in a row bring no improvement, it starts again from a random state, up to `restarts` times. S. Minton, M. D.
    Johnston, A. B. Philips, P. Laird, Minimizing Conflicts, Artificial Intelligence 58, 1992; Russell and Norvig, Artificial
    Intelligence, a Modern Approach, figure 6.8 (MIN-CONFLICTS).
    """

    name = "min-conflicts"
    needs: ClassVar[frozenset[str]] = frozenset({"solution-only", "local"})
    hints = Hints(reference=True, proposed={"local": 4})

    def __init__(self, *, patience: Proposals = 10_000, restarts: Count = 10) -> None:
        self.patience = patience
        self.restarts = restarts

    def solve(self, game: Game, state: State, search: Search) -> Answer:
        """Return the best state found."""
        land = Landscape(game, state, search)
        with Walk(search, land.view(land.start())) as walk:
            for restart in range(self.restarts + 1):
                if restart:
                    walk.go_on_from(land.view(land.fresh()))
                if land.is_solved(walk.view) or _repair(walk, search.rng, self.patience, land.is_solved):
                    break
        return walk.answer()


def _repair(walk: Walk[LocalView], rng: random.Random, patience: int, solved: Callable[[LocalView], bool]) -> bool:
    """Accept proposals that do not raise the cost, until a goal is reached (True) or patience is exhausted (False)."""
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


Temperature = Annotated[float, Field(gt=0, le=1e9, allow_inf_nan=False)]
Steps = Annotated[int, Field(ge=1, le=1_000_000_000)]


class Annealing(Agent):
    """Tries one random move per step, and accepts a move that costs d more with probability e^(-d/T).

    Also called simulated annealing. The temperature T falls from `start` to `end` over `steps` tries, by the same factor each
    time; a goal ends the search. S. Kirkpatrick, C. D. Gelatt, M. P. Vecchi, Optimization by Simulated Annealing, Science 220,
    1983; S. Russell, P. Norvig, Artificial Intelligence, a Modern Approach, figure 4.5 (SIMULATED-ANNEALING).
    """

    name = "annealing"
    needs: ClassVar[frozenset[str]] = frozenset({"solution-only", "local"})

    def __init__(self, *, start: Temperature = 1.0, end: Temperature = 0.1, steps: Steps = 20_000) -> None:
        if end > start:
            raise ValueError(f"end: expected at most {start:g}, the value of start, got {end:g}")
        self.start = start
        self.end = end
        self.steps = steps

    def solve(self, game: Game, state: State, search: Search) -> Answer:
        """Return the best state found."""
        land = Landscape(game, state, search)
        factor = (self.end / self.start) ** (1.0 / max(1, self.steps - 1))
        with Walk(search, land.view(land.start())) as walk:
            if not land.is_solved(walk.view):
                _cool(walk, search.rng, self.start, factor, self.steps, land.is_solved)
        return walk.answer()


def _cool(
    walk: Walk[LocalView], rng: random.Random, temperature: float, factor: float, steps: int, solved: Callable[[LocalView], bool]
) -> None:
    """Anneal until a goal is reached or the steps are used up. The best state is copied only when the walk leaves it."""
    view = walk.view
    propose, delta, apply = view.propose, view.delta, view.apply
    rng.random()  # after the first draw, a stream is an ordinary generator, whose methods are faster
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

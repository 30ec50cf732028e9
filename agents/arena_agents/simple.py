"""Agents that do not search: a random agent, a greedy one, and a rule of thumb for Pig."""

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar

from pydantic import Field

from arena import CHANCE, Action, Agent, Game, Hints, Search, State


class Random(Agent):
    """Plays a random legal action, each with the same probability."""

    name = "random"
    copes: ClassVar[frozenset[str]] = frozenset({"chance", "hidden-information"})
    hints = Hints(reference=True, uses_heuristic=False)

    def choose(self, game: Game, state: State, search: Search) -> Action:
        """Return a random action."""
        return search.rng.choice(game.actions(state))

    def policy(self, game: Game, observation: State) -> Sequence[float]:
        """Return the same probability for every action."""
        actions = game.actions(observation)
        return [1.0 / len(actions)] * len(actions)


class Greedy(Agent):
    """Plays the action whose successor has the best heuristic value; ties are broken at random.

    When chance moves next, the value of a successor is the mean over the outcomes. Some heuristics have the same value after all
    outcomes, such as `pip-count` before a throw in backgammon. If one successor has shown this, the agent computes the heuristic
    for only two outcomes of each further successor, and for all outcomes only if these two differ. In a puzzle, the cost of the
    action does not count.
    """

    name = "greedy"
    copes: ClassVar[frozenset[str]] = frozenset({"chance"})
    wants_heuristic = True
    hints = Hints(reference=True)

    def choose(self, game: Game, state: State, search: Search) -> Action:
        """Return the action with the best successor."""
        seat = game.to_move(state)
        all_alike = False

        def value(successor: State) -> float:
            nonlocal all_alike
            if game.is_terminal(successor) or game.to_move(successor) != CHANCE:
                return search.evaluate(successor, seat)
            outcomes = game.chance_outcomes(successor)
            if all_alike and len(outcomes) > 2:
                first, last = [value(game.result(successor, outcomes[place][0])) for place in (0, -1)]
                if first == last:
                    return first
            values = [value(game.result(successor, outcome)) for outcome, _ in outcomes]
            all_alike = all_alike or (len(values) > 2 and len(set(values)) == 1)
            return sum([odds * one for one, (_, odds) in zip(values, outcomes, strict=True)])

        return search.best(game.actions(state), key=lambda action: value(game.result(state, action)))


class HoldAt(Agent):
    """Rolls until it has collected `at` points or enough to win, then holds.

    T. W. Neller, C. G. M. Presser, Optimal Play of the Dice Game Pig, 2004.
    """

    name = "hold-at"
    games: ClassVar[frozenset[str]] = frozenset({"pig"})
    copes: ClassVar[frozenset[str]] = frozenset({"chance"})
    hints = Hints(uses_heuristic=False)

    def __init__(self, *, at: Annotated[int, Field(ge=1, le=10_000)] = 20) -> None:
        self.at = at

    def choose(self, game: Game, state: State, search: Search) -> Action:
        """Return `roll` or `hold`."""
        return game.actions(state)[self.policy(game, state).index(1.0)]

    def policy(self, game: Game, observation: State) -> Sequence[float]:
        """Return 1 for the agent's action and 0 for the other one. `roll` is the first action."""
        rules: Any = game
        seat, _, gathered, *scores = observation
        held = gathered >= min(self.at, rules.target - scores[seat])
        return (0.0, 1.0) if held else (1.0, 0.0)

"""One ply: whatever looks best right after the action."""

from typing import ClassVar

from arena import CHANCE, Action, Agent, Game, Search, State


class Greedy(Agent):
    """Plays the action whose successor the heuristic likes best; ties are broken at random.

    Where chance moves next, it is the mean over its outcomes.
    """

    name = "greedy"
    copes: ClassVar[frozenset[str]] = frozenset({"chance"})
    wants_heuristic = True
    reference = True

    def choose(self, game: Game, state: State, search: Search) -> Action:
        """Return the action with the best successor."""
        seat = game.to_move(state)

        def value(successor: State) -> float:
            if game.is_terminal(successor) or game.to_move(successor) != CHANCE:
                return search.evaluate(successor, seat)
            return sum([odds * value(game.result(successor, outcome)) for outcome, odds in game.chance_outcomes(successor)])

        return search.best(game.actions(state), key=lambda action: value(game.result(state, action)))

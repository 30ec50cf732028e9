"""Perfect information Monte-Carlo: the same decision in several possible states, each as if everybody saw it whole."""

from typing import Annotated, ClassVar

from pydantic import Field

from arena import Action, Agent, Game, Search, State
from arena_agents.deepening import scaled_returns
from arena_agents.game_tree import GameTree
from arena_agents.mcts import ROLLOUTS, Exploration, Rollouts

Worlds = Annotated[int, Field(ge=1, le=1_000_000)]


class PIMC(Agent):
    """Plays the action that is best on average over states drawn from those that the seat cannot tell apart.

    In each of `worlds` states the state after every action is searched by mcts, with its share of `rollouts` simulations; under a
    budget without `rollouts`, so many worlds of a twentieth of a thousand as there is room for.
    It takes for granted that everybody will know the state after this action, so it neither bluffs nor asks.
    M. Ginsberg, GIB: Imperfect Information in a Computationally Challenging Game, 2001; J. Long, N. Sturtevant, M. Buro, T.
    Furtak, Understanding the Success of Perfect Information Monte Carlo Sampling in Game Tree Search, 2010.
    """

    name = "pimc"
    needs: ClassVar[frozenset[str]] = frozenset({"resample"})
    copes: ClassVar[frozenset[str]] = frozenset({"chance", "hidden-information"})

    def __init__(self, *, exploration: Exploration = 1.414, rollouts: Rollouts | None = None, worlds: Worlds = 20) -> None:
        self.exploration = exploration
        self.rollouts = rollouts
        self.worlds = worlds

    def choose(self, game: Game, state: State, search: Search) -> Action:
        """Return the action with the highest mean value; of equals the first."""
        legal = game.actions(state)
        if len(legal) == 1:
            return legal[0]
        endless = self.rollouts is None and search.limits.budget
        share = max(1, (self.rollouts or ROLLOUTS) // (self.worlds * len(legal)))
        totals = dict.fromkeys(legal, 0.0)
        search.report(legal[0])
        world = 0
        while endless or world < self.worlds:
            world += 1
            whole = game.resample(state, game.to_move(state), search.rng)
            for action in legal:
                totals[action] += self._worth(game, game.result(whole, action), game.to_move(state), search, share)
            best = max(legal, key=totals.__getitem__)
            search.report(best, value=totals[best] / world)
        return search.best_action

    def _worth(self, game: Game, state: State, seat: int, search: Search, share: int) -> float:
        """Return what a state that everybody knows is worth to a seat."""
        if game.is_terminal(state):
            return scaled_returns(game)(state)[seat]
        tree, total = GameTree(game, state, search, self.exploration), 0.0
        for _ in range(share):
            if tree.proven is not None:
                return tree.proven[seat]
            total += tree.simulate()[seat]
        return total / share

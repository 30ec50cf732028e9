"""Monte-Carlo tree search: a tree that grows where random play has gone well."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from pydantic import Field

from arena import Action, Agent, Game, Search, State
from arena.game import gives
from arena_agents.game_tree import GameTree

ROLLOUTS = 1_000
"""Simulations of a decision where neither `rollouts` nor a budget says how many; the most in a row that use no budget, too."""

Exploration = Annotated[float, Field(ge=0, le=1_000)]
Rollouts = Annotated[int, Field(ge=1, le=1_000_000_000)]


class MCTS(Agent):
    """Plays the action that most simulations went through, unless another is proven to be better.

    A simulation goes down the tree by UCT, adds one state to it, and plays on from there at random to the end. `exploration`
    is the constant c of UCT, for values in [-1, 1]. A decision takes `rollouts` simulations; without that number as many
    as the budget allows, and 1,000 where there is none. It ends earlier once the best action is proven. Any number of
    seats: everybody plays for his own returns. `limits.depth` cuts simulations off, with the heuristic for the rest.
    Where chance moves, outcomes are drawn by their probabilities.
    L. Kocsis, C. Szepesvari, Bandit Based Monte-Carlo Planning, 2006 (UCT); M. Winands, Y. Bjornsson, J.-T. Saito,
    Monte-Carlo Tree Search Solver, 2008 (proven values); N. Sturtevant, An Analysis of UCT in Multi-Player Games, 2008.
    """

    name = "mcts"
    engine = "mcts"
    copes: ClassVar[frozenset[str]] = frozenset({"chance"})
    reference = "games"
    proposed: ClassVar[Mapping[str, int]] = {"two-player": 4, "multi-player": 4}

    def __init__(self, *, exploration: Exploration = 1.414, rollouts: Rollouts | None = None) -> None:
        self.exploration = exploration
        self.rollouts = rollouts

    def choose(self, game: Game, state: State, search: Search) -> Action:
        """Return the most visited action."""
        legal = game.actions(state)
        if len(legal) == 1:
            return legal[0]
        chance = gives(game, "chance_outcomes")
        loop = None if chance else search.compiled("mcts")
        whole = chance and search.limits.depth is None  # a rollout that is cut off is played plain
        tree = GameTree(game, state, search, self.exploration, search.compiled("rollouts") if whole else None)
        try:
            self._grow(tree, search.limits.budget, loop)
        finally:  # also when the budget runs out
            tree.report()
        return search.best_action

    def _grow(self, tree: GameTree, budget: bool, loop: Any) -> None:
        rollouts = self.rollouts or (None if budget else ROLLOUTS)
        if loop is not None:
            tree.grow(loop, rollouts)
            return
        simulations = 0
        while tree.proven is None and simulations != rollouts and (self.rollouts or tree.idle < ROLLOUTS):
            tree.simulate()
            simulations += 1

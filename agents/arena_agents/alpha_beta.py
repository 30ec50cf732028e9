"""Minimax without the lines that cannot matter."""

from collections.abc import Mapping
from typing import ClassVar

from arena import Action, Agent, Game, Limits, Search, State
from arena_agents.deepening import BEST, Depth, Horizon, Plies, Probe, deepen, each, endless
from arena_agents.pruned import forced_first, in_order, pruned
from arena_agents.transposition import Table, remembering


class AlphaBeta(Agent):
    """Plays an action of the same value as minimax, with fewer nodes.

    Where the game tells its threats, wins and blocks are looked at first. Of equal actions it plays the first that it
    looked at. Under a budget it deepens ply by ply. With `table` it remembers within a decision what it has learnt of a
    million states at most, which takes fewer nodes, and deepens to any `depth`, since each iteration puts the next in order.
    """

    name = "alpha-beta"
    needs: ClassVar[frozenset[str]] = frozenset({"two-player", "zero-sum"})
    reference = True
    proposed: ClassVar[Mapping[str, int]] = {"heuristic": 5, "zero-sum": 3}

    def __init__(self, *, depth: Depth | None = None, table: bool = False) -> None:
        self.depth = depth
        self.table = table
        self.engine = None if table else "alpha-beta"

    def choose(self, game: Game, state: State, search: Search) -> Action:
        """Return an action of the highest value."""
        seat = game.to_move(state)
        order = forced_first(game)
        table: Table = {}

        def look(depth: Plies, horizon: Horizon) -> Probe:
            loop = None if self.table else search.compiled("alpha-beta", depth=depth, horizon=horizon)
            if loop is not None:
                value = loop
            elif self.table:
                value = remembering(game, search, depth, horizon, order, table)
            else:
                value = pruned(game, search, depth, horizon, in_order(game, order))
            return lambda child, top: value(child, seat, 1, top, BEST)

        return deepen(search, each(game, state, order(state, seat)), self.depth, look, enough=BEST, stepwise=self.table)

    def needs_limit(self, limits: Limits) -> bool:
        """Return True without a depth and without a budget."""
        return endless(self.depth, limits)

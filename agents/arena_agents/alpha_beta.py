"""Minimax without the lines that cannot matter."""

from collections.abc import Mapping
from typing import ClassVar, Literal

from arena import Action, Agent, Game, Limits, Search, State
from arena_agents.deepening import BEST, Depth, Horizon, Plies, Probe, deepen, each, endless
from arena_agents.priorities import Priorities
from arena_agents.pruned import forced_first, in_order, pruned
from arena_agents.state_tables import GrowingTable, SizedTable, Table
from arena_agents.table_size import PAIR, TableSize, size_of
from arena_agents.transposition import best_first, remembering


class AlphaBeta(Agent):
    """Plays an action of the same value as minimax, with fewer nodes.

    Where the game tells its threats, wins and blocks are looked at first. Of equal actions it plays the first that it
    looked at. Under a budget it deepens ply by ply. With `table` it remembers within a decision what it has learnt of a
    million states at most, or of as many as go into a table of a size such as 64MB, at 64 bytes each; that takes fewer nodes,
    and it deepens to any `depth`, since each iteration puts the next in order. With `order: heuristic` those that neither win nor
    block come in the order of the heuristic of what they lead to: more states are generated at once, and most often fewer in all.
    """

    name = "alpha-beta"
    needs: ClassVar[frozenset[str]] = frozenset({"two-player", "zero-sum"})
    reference = True
    proposed: ClassVar[Mapping[str, int]] = {"heuristic": 5, "zero-sum": 3}

    late: ClassVar[frozenset[str]] = frozenset({"order"})

    def __init__(
        self, *, depth: Depth | None = None, table: TableSize = False, order: Literal["game", "heuristic"] = "game"
    ) -> None:
        self.depth = depth
        self.table = table
        self.order = order
        self._pairs = 0 if isinstance(table, bool) else size_of(table) // PAIR
        kind = "-sized" if self._pairs else "-table" if table else ""
        self.engine: str = f"alpha-beta{kind}{'-ordered' if order == 'heuristic' else ''}"

    def choose(self, game: Game, state: State, search: Search) -> Action:
        """Return an action of the highest value."""
        seat = game.to_move(state)
        order, priorities = forced_first(game), Priorities(game, search, coarse=False)
        ordered = self.order == "heuristic"
        table = self._fresh_table(game)

        def look(depth: Plies, horizon: Horizon) -> Probe:
            loop = search.compiled(self.engine, depth=depth, horizon=horizon, table=table)
            if loop is not None:
                value = loop
            elif table is not None:
                hinted = priorities.numbered if ordered else best_first(game, order)
                value = remembering(game, search, depth, horizon, hinted, table)
            else:
                successors = priorities.successors if ordered else in_order(game, order)
                value = pruned(game, search, depth, horizon, successors)
            return lambda child, top: value(child, seat, 1, top, BEST)

        moves = priorities.moves(state, seat) if ordered else each(game, state, order(state, seat))
        return deepen(search, moves, self.depth, look, enough=BEST, stepwise=table is not None)

    def needs_limit(self, limits: Limits) -> bool:
        """Return True without a depth and without a budget."""
        return endless(self.depth, limits)

    def _fresh_table(self, game: Game) -> Table | None:
        if self._pairs:
            return SizedTable(self._pairs, game)
        return GrowingTable() if self.table else None

"""The agents alpha-beta and type-a-plus, which skip lines that cannot change the result."""

import os
import re
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator
from pydantic_core import PydanticCustomError

from arena import Action, Agent, Game, Hints, Limits, Search, State
from arena_agents.deepening import STEP, Depth, Horizon, Plies, Probe, deepen, each, is_endless, largest_value
from arena_agents.pruned import Priorities, forced_first, in_order, search_pruned
from arena_agents.transposition import GrowingTable, SizedTable, Table, best_first, search_with_table

UNIT_BYTES = {"b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9}
UNIT_NAMES = {10**9: "GB", 10**6: "MB", 10**3: "kB", 1: "B"}
PAIR_BYTES = 128
"""Bytes for two rows of a table. A row for a state of up to four numbers has 64 bytes."""
MAX_PAIRS = 1 << 31
_WRITTEN = re.compile(r"\s*(\d{1,18}(?:\.\d{1,18})?)\s{0,9}([kmg]?b)?\s*", re.IGNORECASE)
_EXPECTED = "expected true, false, or a size of at least 128 bytes such as 64MB (B, kB, MB or GB)"


def size_of(written: str | int) -> int:
    """Return a size in bytes. Raises ValueError for an invalid text, and for a size that is too small or exceeds the memory."""
    parts = None if isinstance(written, bool) else _WRITTEN.fullmatch(str(written))
    if parts is None:
        raise ValueError(f"{_EXPECTED}, got {written!r}")
    size = int(float(parts[1]) * UNIT_BYTES[(parts[2] or "b").lower()])
    if size < PAIR_BYTES:
        raise ValueError(f"{_EXPECTED}, got {written!r}")
    try:
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):  # the system does not report its memory
        memory = MAX_PAIRS * PAIR_BYTES
    if size > min(memory, MAX_PAIRS * PAIR_BYTES):
        raise ValueError(f"expected a table of at most {memory / 10**9:.1f} GB, the memory of this machine, got {written!r}")
    return size


def _check_size(given: Any) -> Any:
    """Return True, False, or a size in canonical form, so that entries with equal sizes are equal."""
    if isinstance(given, bool):
        return given
    try:
        size = size_of(given)
    except ValueError as error:
        raise PydanticCustomError("refused", "{message}", {"message": str(error)}) from None
    unit = next(unit for unit in UNIT_NAMES if size % unit == 0)
    return f"{size // unit}{UNIT_NAMES[unit]}"


TableSize = Annotated[bool | str, BeforeValidator(_check_size)]
"""true, false, or the size of a table."""


class AlphaBeta(Agent):
    """Plays an action with the same value as minimax, but generates fewer nodes.

    Also called minimax with alpha-beta pruning. If the game has `threats`, it searches winning and blocking actions first. Of
    equally good actions, it plays the first one in this order. With a budget, it deepens its search ply by ply. `table` adds a
    transposition table to each decision. It holds at most a million states, or as many as fit into a size such as 64MB, with 64
    bytes per state. The table saves nodes. With a table, the search also deepens ply by ply to a fixed `depth`, because each
    iteration improves the order of the next one. With `order: heuristic`, the actions that neither win nor block are ordered by
    the heuristic value of their successors. These successors must be generated first, but usually fewer states are generated in
    all. D. E. Knuth, R. W. Moore, An Analysis of Alpha-Beta Pruning, 1975.
    """

    name = "alpha-beta"
    needs: ClassVar[frozenset[str]] = frozenset({"two-player", "zero-sum"})
    hints = Hints(reference=True, proposed={"heuristic": 5, "zero-sum": 3})

    def __init__(
        self, *, depth: Depth | None = None, table: TableSize = False, order: Literal["game", "heuristic"] = "game"
    ) -> None:
        self.depth = depth
        self.table = table
        self.order = order
        self._pairs = 0 if isinstance(table, bool) else size_of(table) // PAIR_BYTES
        kind = "-sized" if self._pairs else "-table" if table else ""
        self.engine: str = f"alpha-beta{kind}{'-ordered' if order == 'heuristic' else ''}"

    def choose(self, game: Game, state: State, search: Search) -> Action:
        """Return an action with the highest value."""
        seat = game.to_move(state)
        order, priorities = forced_first(game), Priorities(game, search, coarse=False)
        ordered = self.order == "heuristic"
        largest = largest_value(game)
        table: Table | None = GrowingTable() if self.table else None
        if self._pairs:
            table = SizedTable(self._pairs, game)

        def look(depth: Plies, horizon: Horizon) -> Probe:
            loop = search.compiled(self.engine, depth=depth, horizon=horizon, table=table)
            if loop is not None:
                value = loop
            elif table is not None:
                hinted = priorities.enumerate_actions if ordered else best_first(game, order)
                value = search_with_table(game, search, depth, horizon, hinted, table)
            else:
                successors = priorities.successors if ordered else in_order(game, order)
                value = search_pruned(game, search, depth, horizon, successors)
            return lambda child, top: value(child, seat, 1, top, largest - STEP)

        moves = priorities.moves(state, seat) if ordered else each(game, state, order(state, seat))
        return deepen(search, moves, self.depth, look, game=game, pruned=True, stepwise=table is not None)

    def needs_limit(self, limits: Limits) -> bool | str:
        """Return a true value if there is neither a depth nor a budget: `pruned lines` without a table."""
        return is_endless(self.depth, limits) and (bool(self.table) or "pruned lines")


class TypeAPlus(Agent):
    """Plays an action with the same value as Type A, but generates fewer nodes: alpha-beta searches promising actions first.

    It searches to `depth` plies, and further while the state is not quiet.
    """

    name = "type-a-plus"
    engine = "type-a-plus"
    needs: ClassVar[frozenset[str]] = frozenset({"two-player", "zero-sum"})
    wants_heuristic = True

    def __init__(self, *, depth: Depth = 2) -> None:
        self.depth = depth

    def choose(self, game: Game, state: State, search: Search) -> Action:
        """Return an action with the highest value."""
        seat = game.to_move(state)
        priorities = Priorities(game, search, coarse=True)
        largest = largest_value(game)

        def look(depth: Plies, horizon: Horizon) -> Probe:
            loop = search.compiled("type-a-plus", depth=depth, horizon=horizon)
            value = loop or search_pruned(game, search, depth, horizon, priorities.successors, game.is_quiet)
            return lambda child, top: value(child, seat, 1, top, largest - STEP)

        return deepen(search, priorities.moves(state, seat), self.depth, look, game=game, pruned=True)

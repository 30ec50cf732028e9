"""Alpha-beta search with a transposition table, which recognises states that are reached again: by another order of moves, or in
a deeper iteration.

D. E. Knuth, R. W. Moore, An Analysis of Alpha-Beta Pruning, 1975; for the table, R. D. Greenblatt and others, The Greenblatt
Chess Program, 1967, and D. M. Breuker, Memory versus Search in Games, 1998. A table of a fixed size uses the scheme TwoBig1, the
best one in D. M. Breuker, J. W. H. M. Uiterwijk, H. J. van den Herik, Replacement Schemes for Transposition Tables, 1994.
"""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from arena import Action, Game, Search, State
from arena_agents.deepening import STEP, Horizon, Plies, is_win, largest_value
from arena_agents.pruned import Bounded

MAX_STATES = 1_000_000
"""The largest number of states in a growing table. A full table accepts no new ones."""


class TableEntry(NamedTuple):
    """The entry of a state: two bounds of its value for the side to move."""

    depth: int
    """The plies searched below the state; WHOLE if nothing was cut off."""
    low: float
    high: float
    ply: int
    """The number of actions from the root to the state when it was searched. The bounds are relative to this root."""
    place: int
    """The best action found, as an index in the order of the game. It is searched first."""
    work: int
    """The number of states that the search below it generated."""


Learnt = tuple[State, TableEntry]


class GrowingTable:
    """A table that keeps every state, up to MAX_STATES."""

    pairs = 0
    most = MAX_STATES
    rows: Any = None
    """The table of a compiled loop, which begins with the entries so far."""

    def __init__(self) -> None:
        self._entries: dict[State, TableEntry] = {}
        self.find = self._entries.get

    def keep(self, state: State, entry: TableEntry, *, known: bool) -> None:
        """Store the new entry of a state. `known` says whether it already has one."""
        if known or len(self._entries) < self.most:
            self._entries[state] = entry

    def learnt(self) -> Iterator[tuple[None, Learnt]]:
        """Yield every state with its entry."""
        for known in self._entries.items():
            yield None, known


class SizedTable:
    """A table with pairs of rows. A hash of the numbers of a state selects its pair.

    The first row of a pair has the state with the largest search, and the second row has the latest state. If the search of a new
    state is at least as large as the one in the first row, the new state takes the first row, and the old entry moves to the
    second.
    """

    rows: Any = None

    def __init__(self, pairs: int, game: Game) -> None:
        from arena.compiled import slot_of, words_of

        self.pairs = pairs
        self.most = 2 * pairs
        self._words = words_of(game)
        self._slot_of = slot_of
        self._kept: dict[int, Learnt] = {}

    def find(self, state: State) -> TableEntry | None:
        """Return the entry of a state; None if it has none."""
        first = self._first(state)
        for row in (first, first + 1):
            kept = self._kept.get(row)
            if kept is not None and kept[0] == state:
                return kept[1]
        return None

    def keep(self, state: State, entry: TableEntry, *, known: bool) -> None:
        """Store the new entry of a state."""
        first = self._first(state)
        before = self._kept.get(first)
        if before is None or before[0] == state:
            self._kept[first] = (state, entry)
        elif entry.work < before[1].work:
            self._kept[first + 1] = (state, entry)
        else:
            self._kept[first], self._kept[first + 1] = (state, entry), before

    def learnt(self) -> Iterator[tuple[int, Learnt]]:
        """Yield every row with its state and its entry."""
        yield from self._kept.items()

    def _first(self, state: State) -> int:
        return 2 * self._slot_of(self._words(state), self.pairs)


Table = GrowingTable | SizedTable


WHOLE = sys.maxsize
"""The depth of a search that was not cut off, so that it is valid for any depth."""

Hinted = Callable[[State, int, int | None], Iterable[tuple[int, State]]]
"""(state, seat to move, index of the best known action) -> the index of every action with its successor, in the order of the game
but the best known first. Each is generated only when it is needed."""

_INFINITY = float("inf")


def search_with_table(game: Game, search: Search, depth: Plies, horizon: Horizon, successors: Hinted, table: Table) -> Bounded:
    """Return a function that finds the same value as `search_pruned`, and stores its results in `table`.

    The table may come from searches of other depths from the same root. The value of an entry is used if it was searched deep
    enough or to the end. Otherwise, its action is searched first.
    """
    to_move, is_terminal, returns, evaluate = game.to_move, game.is_terminal, game.returns, search.evaluate
    largest = largest_value(game)
    deepest = WHOLE if depth is None else depth
    find, keep = table.find, table.keep

    def value(state: State, seat: int, ply: int, alpha: float, beta: float) -> float:
        if is_terminal(state):
            return horizon[returns(state)[seat]] * (1.0 - ply * STEP)
        if ply >= deepest:
            horizon.met = True
            return evaluate(state, seat)
        mover = to_move(state)
        if mover != seat:
            alpha, beta = -beta, -alpha
        entry = find(state)
        if entry is not None and (known := _look_up(entry, deepest, ply, alpha, beta)) is not None:
            horizon.met |= entry.depth != WHOLE
            return known if mover == seat else -known
        ceiling = largest - (ply + 1) * STEP
        beta = min(beta, ceiling)
        if alpha >= beta:
            return beta if mover == seat else -beta
        met, horizon.met = horizon.met, False
        floor, best, chosen, before = alpha, -_INFINITY, -1, search.nodes
        for place, child in successors(state, mover, None if entry is None else entry.place):
            score = value(child, mover, ply + 1, alpha, beta)
            if score > best:
                best = score
                chosen = place
                if score > alpha:
                    alpha = score
                    if alpha >= beta:
                        break
        low = best if best > floor else -_INFINITY
        high = best if best < beta or best == ceiling else _INFINITY  # no value is above the ceiling
        reached = deepest - ply if horizon.met else WHOLE
        keep(state, TableEntry(reached, low, high, ply, chosen, search.nodes - before), known=entry is not None)
        horizon.met |= met
        return best if mover == seat else -best

    return value


def best_first(game: Game, order: Callable[[State, int], Sequence[Action]]) -> Hinted:
    """Return the successors in the order of actions that `order` returns, but the best action known so far comes first."""
    result = game.result

    def successors(state: State, mover: int, hint: int | None) -> Iterable[tuple[int, State]]:
        actions = order(state, mover)
        if hint is not None:
            yield hint, result(state, actions[hint])
        for place, action in enumerate(actions):
            if place != hint:
                yield place, result(state, action)

    return successors


def _look_up(entry: TableEntry, deepest: int, ply: int, alpha: float, beta: float) -> float | None:
    """Return the value, or a bound outside the window, that makes a search unnecessary; None if the entry does not suffice."""
    if entry.depth < deepest - ply:
        return None
    low, high = entry.low, entry.high
    if entry.ply != ply:
        low, high = _shift_bound(low, entry.ply - ply, -_INFINITY), _shift_bound(high, entry.ply - ply, _INFINITY)
    if high <= alpha:
        return high
    return low if low >= beta or low == high else None


def _shift_bound(bound: float, plies: int, unknown: float) -> float:
    """Adjust a bound to a state that is `plies` nearer to the root: the values of wins and losses shift.

    Other values may be returns or evaluations, which do not shift in the same way; then the result is `unknown`.
    """
    if is_win(abs(bound)) and abs(bound) <= 1.0:
        return bound + plies * STEP if bound > 0 else bound - plies * STEP
    return bound if bound == 0 else unknown

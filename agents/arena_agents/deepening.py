"""Common parts of searches in games for two: values that prefer an earlier win, the root, and iterative deepening."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from math import inf, isfinite
from typing import Annotated

from pydantic import Field

from arena import Action, Game, Limits, Search, State
from arena.api.games import Ends, Returns

STEP = 2.0**-44
"""The discount per ply: a return of r after n plies has the value r * (1 - n * STEP). It is so small that it only decides between
returns whose relative difference is below n * STEP, and a power of two, so that the discounts of wins are exact.
"""
CLOSE = 2.0**-29
"""If the relative difference of two returns is larger, no discount changes their order, because no line has 2**15 plies."""
MAX_RETURNS = 1 << 12
"""The number of different returns that a search remembers. If there are more, no value is exact. A kernel has the same number."""
ROUNDING = STEP / 4
"""The largest relative difference of values that is a rounding error. It is smaller than the discount of a win by one ply."""
MAX_WIN_PLIES = 1 << 14
"""A value of at least 1 - MAX_WIN_PLIES * STEP, on the scale from -1 to 1, is the largest return of the game."""
REPORTED_STEP = 1e-6
"""The discount per ply in reports: a win in n plies is reported as 1 - n * REPORTED_STEP."""

Depth = Annotated[int, Field(ge=1, le=500)]
Plies = int | None
Move = tuple[Action, State]
"""An action at the root, with its successor."""
Probe = Callable[[State, float], float]
"""A function that returns the value of a successor for the seat that decides. The second argument is the best value so far."""


def scaled_returns(game: Game) -> Callable[[State], Sequence[float]]:
    """Return a function for the returns of a terminal state, mapped to [-1, 1]; unchanged if their range is infinite."""
    returns, known = game.returns, Returns(game)
    if known.range == (-1, 1):
        return returns
    return lambda state: [known.scale(value) for value in returns(state)]


def largest_value(game: Game) -> float:
    """Return the largest value of a terminal state: 1, or infinity if the range of returns is infinite."""
    return 1.0 if all(map(isfinite, Returns(game).range)) else inf


def is_win(value: float) -> bool:
    """Return whether a value on the scale from -1 to 1 is the largest return of the game, after some plies."""
    return value >= 1.0 - MAX_WIN_PLIES * STEP


class Horizon(dict[float, float]):
    """Records in a decision why the value of a search may not be exact. There are three reasons: lines were cut off, the value
    depends on how other players choose among actions that are equal for them, or returns are so close that the discounts may
    have changed their order.

    It maps the returns that the search has met to their values on the scale from -1 to 1, and adds others when asked for them.
    Those of wins and losses are always known.
    """

    def __init__(self, game: Game) -> None:
        self.met = False
        self.doubt = -inf
        """The highest value that an action at the root may have if its value depends on such choices."""
        known = Returns(game)
        self._scale = known.scale
        self._largest = largest_value(game)
        self._mirrored = not Ends.may_differ(game)
        for bound in known.range:
            if isfinite(bound):
                self.note(bound)

    def begin(self) -> None:
        """Forget the first two reasons before the next iteration. Returns are kept, because a table keeps values, too."""
        self.met, self.doubt = False, -inf

    def note(self, given: float) -> float:
        """Record a return, in a zero-sum game for two also that of the other seat, and return its value."""
        value = self._scale(given)
        if len(self) <= MAX_RETURNS:
            self[given] = value
            if self._mirrored:
                self.setdefault(-given, self._scale(-given))
        return value

    __missing__ = note

    def is_in_order(self, value: float | None = None) -> bool:
        """Return whether no discount has changed the order of returns around the value; of any returns without a value.

        In a zero-sum game for two without chance, the value of a state is a return, and depends only on which returns are
        above it and which are below it. So the order of all other returns is irrelevant.
        """
        near = [one for one in self.values() if value is None or abs(one - value) <= 2 * CLOSE * max(abs(one), abs(value))]
        apart = all(high - low > CLOSE * max(abs(low), abs(high)) for low, high in pairwise(sorted(near)))
        return apart and len(self) <= MAX_RETURNS

    def write(self, value: float) -> float:
        """Return the value as it is reported. Only the discounts of wins and losses differ."""
        if self._largest == 1.0 and 1.0 - MAX_WIN_PLIES * STEP <= abs(value) < 1.0 and self.is_in_order(value):
            plies = (1.0 - abs(value)) / STEP
            if plies.is_integer():
                return (1.0 - plies * REPORTED_STEP) * (1.0 if value > 0 else -1.0)
        return value

    def note_ends(self, low: float, high: float) -> None:
        """Record the lowest and the highest value of an action at the root, which differ if the value depends on such
        choices.
        """
        if high - low > ROUNDING * max(1.0, abs(low)):
            self.doubt = max(self.doubt, high)


def deepen(
    search: Search,
    moves: Iterable[Move],
    depth: Plies,
    look: Callable[[Plies, Horizon], Probe],
    *,
    game: Game,
    pruned: bool = False,
    stepwise: bool = False,
    certain: bool = True,
    first: Probe | None = None,
) -> Action:
    """Return the best action, found by a search to `depth` plies, or to the end of the game if `depth` is None. Of equal actions,
    return the first.

    Under a budget, or with `stepwise` and a depth, the search deepens ply by ply until its value is exact. Each iteration starts
    with the best action so far and reports its result. `look` creates the probe for an iteration. A win or loss is exact if each
    longer line is worse for its winner; without `certain`, it never is. `pruned` ends the search at an immediate win. Successors
    are generated only once. Under a budget, the best action by a quick probe `first` is reported before the search, in case that
    the budget does not suffice for the first iteration.
    """
    largest, horizon = largest_value(game), Horizon(game)
    enough = largest - STEP if pruned else inf

    last = _smaller(depth, search.limits.depth)
    if not (search.limits.budget or (stepwise and last is not None)):
        return _look_at(search, moves, last, look, horizon, largest, enough, certain=certain)[0][0][0]
    if first is not None:
        moves = _report_early(search, moves, first)
    for reached in search.depths():
        seen, final = _look_at(search, moves, reached, look, horizon, largest, enough, certain=certain)
        if final or reached == last:
            break
        moves = seen
    return seen[0][0]


def _report_early(search: Search, moves: Iterable[Move], probe: Probe) -> list[Move]:
    """Report the action that is best by a quick probe. Return the moves, that one first."""
    seen: list[Move] = []
    best, top = 0, -inf
    for move in moves:
        value = probe(move[1], top)
        if value > top:
            best, top = len(seen), value
            search.report(move[0])
        seen.append(move)
    seen.insert(0, seen.pop(best))
    return seen


def _look_at(
    search: Search,
    moves: Iterable[Move],
    depth: Plies,
    look: Callable[[Plies, Horizon], Probe],
    horizon: Horizon,
    largest: float,
    enough: float,
    *,
    certain: bool,
) -> tuple[list[Move], bool]:
    """Search every move. Return the searched moves, the best first, and whether a deeper search could not change the value."""
    horizon.begin()
    probe = look(depth, horizon)
    seen: list[Move] = []
    best, top = 0, -inf
    for move in moves:
        value = probe(move[1], top)
        seen.append(move)
        if value > top:
            best, top = len(seen) - 1, value
            search.report(move[0], value=horizon.write(top), depth=depth)
            if top >= enough:
                break
    # Lines that were cut off end after more than `depth` plies.
    clear = horizon.is_in_order(top if certain else None)
    final = not horizon.met or (certain and clear and depth is not None and abs(top) >= largest - depth * STEP)
    exact = final and clear and horizon.doubt < top - Returns.VALUE_TOLERANCE * max(1.0, abs(top))
    search.report(seen[best][0], value=horizon.write(top), depth=depth, exact=exact)
    seen.insert(0, seen.pop(best))
    return seen, final


def each(game: Game, state: State, order: Iterable[Action]) -> Iterator[Move]:
    """Yield actions with their successors. Each successor is generated only when it is needed."""
    for action in order:
        yield action, game.result(state, action)


def is_endless(depth: Plies, limits: Limits) -> bool:
    """Return whether `deepen` searches to the end of the game, because there is neither a depth nor a budget."""
    return _smaller(depth, limits.depth) is None and not limits.budget


def _smaller(one: Plies, other: Plies) -> Plies:
    given = [depth for depth in (one, other) if depth is not None]
    return min(given) if given else None

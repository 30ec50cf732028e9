"""Common parts of searches in games for two: values that prefer an earlier win, the root, and iterative deepening."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from math import inf, isfinite
from typing import Annotated

from pydantic import Field

from arena import Action, Game, Limits, Search, State
from arena.api.games import Returns

STEP = 2.0**-44
"""The discount per ply: a return of r after n plies has the value r * (1 - n * STEP). It is so small that it only decides between
returns whose relative difference is below n * STEP, and a power of two, so that the discounts of wins are exact.
"""
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


def reported(value: float, largest: float) -> float:
    """Return the value as it is reported. Only the discounts of wins and losses differ."""
    if largest == 1.0 and 1.0 - MAX_WIN_PLIES * STEP <= abs(value) < 1.0:
        plies = (1.0 - abs(value)) / STEP
        if plies.is_integer():
            return (1.0 - plies * REPORTED_STEP) * (1.0 if value > 0 else -1.0)
    return value


class Horizon:
    """Records whether a search was cut off anywhere. If no line was cut off, the value of the search is exact, unless it depends
    on how other players choose among actions that are equal for them.
    """

    __slots__ = ("doubt", "met")

    def __init__(self) -> None:
        self.met = False
        self.doubt = -inf
        """The highest value that an action at the root may have if its value depends on such choices."""

    def note_ends(self, low: float, high: float) -> None:
        """Note the lowest and the highest value of an action at the root, which differ if the value depends on such choices."""
        if high - low > ROUNDING * max(1.0, abs(low)):
            self.doubt = max(self.doubt, high)


def deepen(
    search: Search,
    moves: Iterable[Move],
    depth: Plies,
    look: Callable[[Plies, Horizon], Probe],
    *,
    largest: float,
    pruned: bool = False,
    stepwise: bool = False,
    certain: bool = True,
) -> Action:
    """Return the best action, found by a search to `depth` plies, or to the end of the game if `depth` is None. Of equal actions,
    return the first.

    Under a budget, or with `stepwise` and a depth, the search deepens ply by ply until its value is exact. Each iteration starts
    with the best action so far and reports its result. `look` creates the probe for an iteration. `largest` is the largest value
    of a terminal state. A win or loss is exact if each longer line is worse for its winner; without `certain`, it never is.
    `pruned` ends the search at an immediate win. Successors are generated only once.
    """
    enough = largest - STEP if pruned else inf

    last = _smaller(depth, search.limits.depth)
    if not (search.limits.budget or (stepwise and last is not None)):
        return _look_at(search, moves, last, look, largest, enough, certain=certain)[0][0][0]
    for reached in search.depths():
        seen, final = _look_at(search, moves, reached, look, largest, enough, certain=certain)
        if final or reached == last:
            break
        moves = seen
    return seen[0][0]


def _look_at(
    search: Search,
    moves: Iterable[Move],
    depth: Plies,
    look: Callable[[Plies, Horizon], Probe],
    largest: float,
    enough: float,
    *,
    certain: bool,
) -> tuple[list[Move], bool]:
    """Search every move. Return the searched moves, the best first, and whether a deeper search could not change the value."""
    horizon = Horizon()
    probe = look(depth, horizon)
    seen: list[Move] = []
    best, top = 0, -inf
    for move in moves:
        value = probe(move[1], top)
        seen.append(move)
        if value > top:
            best, top = len(seen) - 1, value
            search.report(move[0], value=reported(top, largest), depth=depth)
            if top >= enough:
                break
    # Lines that were cut off end after more than `depth` plies.
    final = not horizon.met or (certain and depth is not None and abs(top) >= largest - depth * STEP)
    exact = final and horizon.doubt < top - Returns.VALUE_TOLERANCE * max(1.0, abs(top))
    search.report(seen[best][0], value=reported(top, largest), depth=depth, exact=exact)
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

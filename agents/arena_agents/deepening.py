"""Shared parts of searches of games for two: values that prefer the earlier win, the root, and deepening under a budget."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Annotated

from pydantic import Field

from arena import Action, Game, Limits, Search, State
from arena.api.games import bounds, scale_return

STEP = 1e-6
"""The discount of a win for each ply: a win in n plies is worth 1 - n * STEP."""
PROVEN = 0.99
"""The bound of heuristic values; a value beyond it is a win or a loss found by the search."""

BEST = 1.0 - STEP
"""The maximum value of an action, which wins at once."""

Depth = Annotated[int, Field(ge=1, le=500)]
Plies = int | None
Move = tuple[Action, State]
"""A root action with its successor."""
Probe = Callable[[State, float], float]
"""The value of a successor to the seat that decides; the second argument is the best value so far."""


def scaled_returns(game: Game) -> Callable[[State], Sequence[float]]:
    """Return a function for the returns of a terminal state on the scale from -1 to 1; as they are if their range is open."""
    returns = game.returns
    if bounds(game) == (-1, 1):
        return returns
    return lambda state: [scale_return(game, value) for value in returns(state)]


class Horizon:
    """Records whether a search was cut off anywhere. If not, its value is exact."""

    __slots__ = ("met",)

    def __init__(self) -> None:
        self.met = False


def deepen(
    search: Search,
    moves: Iterable[Move],
    depth: Plies,
    look: Callable[[Plies, Horizon], Probe],
    *,
    enough: float = float("inf"),
    stepwise: bool = False,
    proven: float = PROVEN,
) -> Action:
    """Return the best action, the first of equals, searched to `depth` plies, or to the end for None.

    Under a budget, or `stepwise` with a depth, the search deepens ply by ply until its value is exact, starts each
    time with the best action so far, and reports as it goes. `look` makes the probe for one search; a value of `enough` ends
    it, and one beyond `proven` is exact. Successors are generated once.
    """
    last = _smaller(depth, search.limits.depth)
    if not (search.limits.budget or (stepwise and last is not None)):
        return _look_at(search, moves, last, look, enough, proven)[0][0][0]
    for reached in search.depths():
        seen, exact = _look_at(search, moves, reached, look, enough, proven)
        if exact or reached == last:
            break
        moves = seen
    return seen[0][0]


def _look_at(
    search: Search,
    moves: Iterable[Move],
    depth: Plies,
    look: Callable[[Plies, Horizon], Probe],
    enough: float,
    proven: float,
) -> tuple[list[Move], bool]:
    """Search every move; return the searched ones, the best first, and whether a deeper search could not change its value."""
    horizon = Horizon()
    probe = look(depth, horizon)
    seen: list[Move] = []
    best, top = 0, float("-inf")
    for move in moves:
        value = probe(move[1], top)
        seen.append(move)
        if value > top:
            best, top = len(seen) - 1, value
            search.report(move[0], value=top, depth=depth)
            if top >= enough:
                break
    exact = not horizon.met or abs(top) > proven
    search.report(seen[best][0], value=top, depth=depth, exact=exact)
    seen.insert(0, seen.pop(best))
    return seen, exact


def each(game: Game, state: State, order: Iterable[Action]) -> Iterator[Move]:
    """Yield actions with their successors, each generated when it is asked for."""
    for action in order:
        yield action, game.result(state, action)


def is_endless(depth: Plies, limits: Limits) -> bool:
    """Return whether `deepen` searches to the end of the game: without a depth and without a budget."""
    return _smaller(depth, limits.depth) is None and not limits.budget


def _smaller(one: Plies, other: Plies) -> Plies:
    given = [depth for depth in (one, other) if depth is not None]
    return min(given) if given else None

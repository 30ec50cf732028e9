"""Common parts of searches in games for two: values that prefer an earlier win, the root, and iterative deepening."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Annotated

from pydantic import Field

from arena import Action, Game, Limits, Search, State
from arena.api.games import Returns

STEP = 1e-6
"""The discount per ply of a win: a win in n plies has the value 1 - n * STEP."""
PROVEN = 0.99
"""The largest heuristic value. A value above it is a win that the search has found, and a value below -PROVEN is a loss."""

BEST = 1.0 - STEP
"""The maximum value of an action: an immediate win."""

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


class Horizon:
    """Records whether a search was cut off anywhere. If no line was cut off, the value of the search is exact."""

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
    """Return the best action, found by a search to `depth` plies, or to the end of the game if `depth` is None. Of equal actions,
    return the first.

    Under a budget, or with `stepwise` and a depth, the search deepens ply by ply until its value is exact. Each iteration starts
    with the best action so far and reports its result. `look` creates the probe for an iteration. A value of at least `enough`
    ends the search, and a value beyond `proven` is exact. Successors are generated only once.
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
    """Search every move. Return the searched moves, the best first, and whether a deeper search could not change the value."""
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
    """Yield actions with their successors. Each successor is generated only when it is needed."""
    for action in order:
        yield action, game.result(state, action)


def is_endless(depth: Plies, limits: Limits) -> bool:
    """Return whether `deepen` searches to the end of the game, because there is neither a depth nor a budget."""
    return _smaller(depth, limits.depth) is None and not limits.budget


def _smaller(one: Plies, other: Plies) -> Plies:
    given = [depth for depth in (one, other) if depth is not None]
    return min(given) if given else None

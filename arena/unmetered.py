"""States that are generated past an agent's view of the game, as far as they are seen: recorded, but never limited.

Seen are states that are read from texts, states that a heuristic makes through the game it is given and, in a process of the
agent's own, the results of the class's own `result`. States that an agent builds itself are not seen.
"""

from collections.abc import Callable
from copy import copy
from functools import cache, wraps
from types import FunctionType
from typing import Any

from arena.game import Action, Game, State


class Seen:
    """The number of such states in this process, since the last decision began."""

    __slots__ = ("states",)

    def __init__(self) -> None:
        self.states = 0


seen = Seen()
"""The count of this process."""
WATCHED: dict[type[Game], Callable[..., State]] = {}
"""The author's function for each class of games with a watched `result`."""


@cache
def _is_its_attributes(kind: type[Game]) -> bool:
    """Whether a copy of the attributes is a copy of an object of this class."""
    return not (hasattr(kind, "__copy__") or any(vars(base).get("__slots__") for base in kind.__mro__))


def copy_shallow(game: Game) -> Game:
    """Return a copy of a game with the same attributes.

    They are in a plain dict: in one that CPython shares among the objects of a class every look-up by name takes longer.
    """
    if not _is_its_attributes(type(game)):
        return copy(game)
    made: Game = object.__new__(type(game))
    made.__dict__ = dict(game.__dict__)
    return made


def note_states(generate: Callable[..., State]) -> Callable[..., State]:
    """Return a function that does the same, and whose states are seen."""

    def generate_one(*arguments: Any) -> State:
        seen.states += 1
        return generate(*arguments)

    return generate_one


def for_heuristic(game: Game) -> Game:
    """Return the copy of a game that a heuristic gets, whose `result` is seen."""
    given = copy_shallow(game)
    given.__dict__["result"] = note_states(unwatched_copy(game).result)
    return given


def watch(kind: type[Game]) -> None:
    """See the `result` of a class from now on, in this process, if it is called on objects of exactly this class.

    The framework's own calls avoid this: see `unwatched_copy`.
    """
    written = kind.result
    if kind in WATCHED or not isinstance(vars(kind).get("result"), FunctionType):
        return
    WATCHED[kind] = written

    @wraps(written)
    def result(self: Game, state: State, action: Action) -> State:
        if type(self) is kind:
            seen.states += 1
        return written(self, state, action)

    kind.result = result  # type: ignore[method-assign]


def unwatched_copy(game: Game) -> Game:
    """Return the game, or a copy of it, whose own calls of `result` are not seen."""
    written = WATCHED.get(type(game))
    if written is None:
        return game
    made = copy_shallow(game)
    made.__dict__["result"] = written.__get__(made)
    return made

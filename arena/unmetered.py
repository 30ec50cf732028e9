"""Notices states that an agent generates without its counting view of the game. These are recorded, but limits do not apply.

Three kinds of states are noticed: states that are parsed from texts; states that a heuristic generates with the game that it
gets; and, if the agent has its own process, all states that the method `result` of the game's class returns. States that an agent
builds itself are not noticed.
"""

from collections.abc import Callable
from copy import copy
from functools import cache, wraps
from types import FunctionType
from typing import Any

from arena.game import Action, Game, State

WATCHED: dict[type[Game], Callable[..., State]] = {}
"""The author's `result` for each class of games in which this method is watched."""


@cache
def _is_its_attributes(kind: type[Game]) -> bool:
    return not (hasattr(kind, "__copy__") or any(vars(base).get("__slots__") for base in kind.__mro__))


def copy_shallow(game: Game) -> Game:
    """Return a copy of a game with the same attributes.

    The attributes are in an ordinary dict. Look-ups are slower in dicts that CPython shares among the objects of a class.
    """
    if not _is_its_attributes(type(game)):
        return copy(game)
    made: Game = object.__new__(type(game))
    made.__dict__ = dict(game.__dict__)
    return made


def note_states(generate: Callable[..., State]) -> Callable[..., State]:
    """Return a function that does the same and notices the states that it generates."""

    def generate_one(*arguments: Any) -> State:
        seen.states += 1
        return generate(*arguments)

    return generate_one


def for_heuristic(game: Game) -> Game:
    """Return the copy of a game that a heuristic gets; the states from its `result` are noticed."""
    given = copy_shallow(game)
    given.__dict__["result"] = note_states(unwatched_copy(game).result)
    return given


def watch(kind: type[Game]) -> None:
    """Notice, from now on and in this process, calls of `result` on objects of exactly this class.

    The calls of arena itself are not noticed: see `unwatched_copy`.
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
    """Return the game, or a copy of it that can call its own `result` unnoticed."""
    written = WATCHED.get(type(game))
    if written is None:
        return game
    made = copy_shallow(game)
    made.__dict__["result"] = written.__get__(made)
    return made


class Seen:
    """The number of states that were noticed in this process since the last decision began."""

    __slots__ = ("states",)
    WATCHED = WATCHED
    watch, unwatched_copy = staticmethod(watch), staticmethod(unwatched_copy)

    def __init__(self) -> None:
        self.states = 0


seen = Seen()
"""The count of this process."""

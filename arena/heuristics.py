"""Heuristics: estimates of a state, each belonging to one game."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from inspect import isclass, isfunction
from typing import Any, TypeVar, cast

from arena.configured import parameters_of
from arena.game import Game
from arena.unmetered import for_heuristic

Target = TypeVar("Target", bound=Callable[..., Any])
Evaluation = Callable[..., float]
"""A heuristic bound to its game: `(state, player=0) -> float`."""


@dataclass(frozen=True, slots=True)
class HeuristicInfo:
    """The declaration of a heuristic."""

    name: str
    game: str
    admissible: bool
    consistent: bool


def heuristic(name: str, *, game: str, admissible: bool = False, consistent: bool = False) -> Callable[[Target], Target]:
    """Declare a function or a class to be the heuristic `name` of the game `game`.

    A function is called as `(game, state, player=0)`, with its keyword-only parameters as a spec gives them. A class takes the
    game and its own keyword-only parameters, once a board and process, and its instances are called as `(state, player=0)`. Of a
    puzzle, the result is the estimated cost to go: 0 or more, and 0 at every goal. Of a game, it is the value of an unfinished
    state to `player`, within [-0.99, 0.99]; on the scale of the returns if `min_return` or `max_return` is infinite. `admissible`
    claims that it never overestimates, `consistent` that it drops by no more than the cost of a step; `arena check` tries to
    refute both. `@name.compiled` decorates a function of (game, rules) that returns the `arena.compiled.Estimate` of a function;
    a class gives a method `compiled(rules)`.

    >>> @heuristic("corner", game="tic-tac-toe")
    ... def corner(game, state, player=0):
    ...     return 0.1 if game.format_state(state)[0] == "xo"[player] else 0.0
    >>> info_of(corner).name
    'corner'
    """

    def declare(target: Target) -> Target:
        declared: Any = target
        declared.heuristic_info = HeuristicInfo(name, game, admissible, consistent)

        def keep_estimate(maker: Target) -> Target:
            declared.estimate = maker
            return maker

        if isfunction(target):
            declared.compiled = keep_estimate
        return target

    return declare


def info_of(target: object) -> HeuristicInfo | None:
    """Return the declaration of `target`; None if it is not a heuristic."""
    info = getattr(target, "heuristic_info", None)
    return info if isinstance(info, HeuristicInfo) else None


def count_given(target: Callable[..., Any]) -> int:
    """Return how many leading parameters arena gives: the game to a class; the game, a state and a player to a function."""
    if isclass(target):
        return 1
    return sum([parameter.kind is not parameter.KEYWORD_ONLY for parameter in parameters_of(target).values()])


def bind(target: Callable[..., Any], game: Game, parameters: Mapping[str, Any] | None = None) -> Evaluation:
    """Make a heuristic ready for one game object: a call with a state, and a player if there are several.

    It is given a copy of the game, through which the states that it generates are seen.
    """
    given = for_heuristic(game)
    if isclass(target):
        made: Any = target
        return cast(Evaluation, made(given, **(parameters or {})).__call__)
    return partial(target, given, **(parameters or {}))

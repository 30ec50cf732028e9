"""Heuristics: functions that estimate the value of a state. Each belongs to one game."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from inspect import isclass, isfunction
from typing import Any, TypeVar, cast

from arena.configured import parameters_of
from arena.errors import expect
from arena.game import Game

Target = TypeVar("Target", bound=Callable[..., Any])
NO_HEURISTIC = "none"
"""The name that stands for no heuristic in a spec. No heuristic may have it."""
Evaluation = Callable[..., float]
"""A heuristic that has been prepared for a game object. It is called as `(state, player=0)` and returns a number."""


@dataclass(frozen=True, slots=True)
class HeuristicInfo:
    """The declaration of a heuristic."""

    name: str
    game: str
    admissible: bool
    consistent: bool

    @staticmethod
    def of(target: object) -> "HeuristicInfo | None":
        """Return the declaration of `target`; None if it is not a heuristic."""
        info = getattr(target, "heuristic_info", None)
        return info if isinstance(info, HeuristicInfo) else None


def heuristic(name: str, *, game: str, admissible: bool = False, consistent: bool = False) -> Callable[[Target], Target]:
    """Declare that a function or a class is the heuristic `name` for the game `game`.

    A function is called as `(game, state, player=0)`. A class is created once per board and process, with the game as its
    argument, and its instances are called as `(state, player=0)`. A spec can set the keyword-only parameters of both.

    For a puzzle, the result is the estimated cost to a goal: 0 or more, and 0 at every goal. For a game, it is the value of an
    unfinished state for `player`, from -0.99 to 0.99, or on the scale of the returns if `max_return` is infinite. Every search
    of a game refuses other values, infinity and nan; for a puzzle, infinity means a dead end.
    `admissible` claims that the estimate never exceeds the cost; `consistent` claims that a step lowers it by at most the cost of
    the step. `arena check` tries to disprove both claims. For compiled searches, write a function of (game, rules) that returns
    an `arena.compiled.Estimate`, and decorate it with `@name.compiled`. A class defines a method `compiled(rules)` instead.

    >>> @heuristic("corner", game="tic-tac-toe")
    ... def corner(game, state, player=0):
    ...     return 0.1 if game.format_state(state)[0] == "xo"[player] else 0.0
    >>> HeuristicInfo.of(corner).name
    'corner'
    """
    expect("name", name, str, "a text")
    expect("game", game, str, "the name of a game")

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


def count_given(target: Callable[..., Any]) -> int:
    """Return how many leading parameters arena sets: for a class, only the game; for a function, also a state and a player."""
    if isclass(target):
        return 1
    return sum([parameter.kind is not parameter.KEYWORD_ONLY for parameter in parameters_of(target).values()])


def bind(target: Callable[..., Any], game: Game, parameters: Mapping[str, Any] | None = None) -> Evaluation:
    """Prepare a heuristic for one game object. The result is called with a state and, if the game has several seats, a player."""
    if isclass(target):
        made: Any = target
        return cast(Evaluation, made(game, **(parameters or {})).__call__)
    return partial(target, game, **(parameters or {}))

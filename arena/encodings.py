"""Encodings: observations as arrays of numbers, for learners; each belongs to one game."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from inspect import isclass
from math import isnan
from typing import Any, TypeVar, cast

from arena.configured import name_of
from arena.errors import UnknownName, abbreviate
from arena.game import Game, State

Target = TypeVar("Target", bound=Callable[..., Any])
Shape = tuple[int, ...]
SHAPE = "a tuple of whole numbers from 1, as in (3, 8, 8)"


@dataclass(frozen=True, slots=True)
class EncodingInfo:
    """The declaration of an encoding."""

    name: str
    game: str
    shape: Shape | Callable[[Any], Sequence[int]]
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class BoundEncoding:
    """An encoding of one game object: calls give numbers in row-major order, flat or nested as `shape`, each in [low, high]."""

    name: str
    shape: Shape
    low: float
    high: float
    encode: Callable[[State, int], Any]
    """Returns the numbers of an observation of a seat, called as `(observation, seat)`."""


_DECLARED: dict[str, dict[str, Callable[..., Any]]] = {}
"""All encodings of the modules imported in this process, by game and name."""


def encoding(
    name: str, *, game: str, shape: Shape | Callable[[Any], Sequence[int]], low: float = 0.0, high: float = 1.0
) -> Callable[[Target], Target]:
    """Declare a function or a class to be the encoding `name` of the game `game`.

    A function is called as `(game, observation, seat)`, and returns numbers from `low` to `high`: a list, nested lists or an
    array, with `shape`, or flat in row-major order. A class takes the game, once a board and process, and its instances are
    called as `(observation, seat)`. `shape` is a tuple, or a function of the game if it depends on the parameters. The
    observation belongs to `seat`, at its turn, at another's or at the end, so an encoding contains nothing that the seat may not
    see. `arena check` checks its shape and range. ValueError for another shape or range.

    >>> @encoding("marks", game="tic-tac-toe", shape=(9,))
    ... def marks(game, observation, seat):
    ...     return [float(cell == "xo"[seat]) for cell in game.format_state(observation) if cell != "/"]
    >>> encoding_info_of(marks).shape
    (9,)
    """
    if not callable(shape):
        shape = _check_shape(name, shape)
    if isnan(low) or isnan(high) or low >= high:
        raise ValueError(f"encoding {name}: expected low below high, got {low} and {high}")

    def declare(target: Target) -> Target:
        cast(Any, target).encoding_info = EncodingInfo(name, game, shape, low, high)
        _DECLARED.setdefault(game, {})[name] = target
        return target

    return declare


def encoding_info_of(target: object) -> EncodingInfo | None:
    """Return the declaration of `target`; None if it is not an encoding."""
    info = getattr(target, "encoding_info", None)
    return info if isinstance(info, EncodingInfo) else None


def encodings_of(game: Game) -> Mapping[str, Callable[..., Any]]:
    """The encodings of a game that were imported in this process, by name, in the order in which they were declared."""
    return _DECLARED.get(name_of(game), {})


def bind_encoding(target: Callable[..., Any] | str, game: Game) -> BoundEncoding:
    """Bind an encoding, given by `target` itself or its name, to one game object.

    UnknownName for a name that no plugin brings for this game; ValueError for an encoding of another game or without a shape.
    """
    if isinstance(target, str):
        known = encodings_of(game)
        if target not in known:
            raise UnknownName(f"encoding of {name_of(game)}", target, known)
        target = known[target]
    info = encoding_info_of(target)
    if info is None or info.game != name_of(game):
        raise ValueError(f"expected an encoding of {name_of(game)}, got {abbreviate(target)}")
    shape = _check_shape(info.name, info.shape(game) if callable(info.shape) else info.shape)
    made: Any = target
    encode = made(game) if isclass(target) else partial(made, game)
    return BoundEncoding(info.name, shape, info.low, info.high, encode)


def _check_shape(name: str, given: Any) -> Shape:
    """Return a shape as a tuple; ValueError if it is invalid."""
    if not isinstance(given, (tuple, list)) or not given or not all(type(side) is int and side > 0 for side in given):
        raise ValueError(f"encoding {name}: shape: expected {SHAPE}, got {abbreviate(given)}")
    return tuple(given)

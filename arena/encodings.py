"""Encodings turn observations into arrays of numbers for learning agents. Each encoding belongs to one game."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from inspect import isclass
from math import isnan
from numbers import Real
from typing import Any, TypeVar, cast

from arena.configured import name_of
from arena.errors import UnknownName, abbreviate, expect
from arena.game import Game, State

Target = TypeVar("Target", bound=Callable[..., Any])
Shape = tuple[int, ...]
SHAPE = "a tuple of positive whole numbers, as in (3, 8, 8)"


@dataclass(frozen=True, slots=True)
class EncodingInfo:
    """The declaration of an encoding."""

    name: str
    game: str
    shape: Shape | Callable[[Any], Sequence[int]]
    low: float
    high: float


_DECLARED: dict[str, dict[str, Callable[..., Any]]] = {}
"""All encodings in the modules that this process has imported, by game and then by name."""
_NAMED: dict[str, dict[str, Callable[[], object]]] = {}
"""Functions that import encodings which plugins bring by their places, by game and then by name."""


def encoding(
    name: str, *, game: str, shape: Shape | Callable[[Any], Sequence[int]], low: float = 0.0, high: float = 1.0
) -> Callable[[Target], Target]:
    """Declare that a function or a class is the encoding `name` for the game `game`.

    A function is called as `(game, observation, seat)`. It returns numbers from `low` to `high` as a list, nested lists or an
    array, either in the given `shape` or flat in row-major order. A class is created with the game, once per board and process,
    and its instances are called as `(observation, seat)`. `shape` is a tuple, or a function of the game if it depends on the
    parameters. The observation is always the view of `seat`, even if another seat is to move or the game is over, so an encoding
    contains nothing hidden from the seat. `arena check` checks the shape and the range. An invalid `shape` or range raises
    ValueError, and an argument of another type raises TypeError.

    >>> @encoding("marks", game="tic-tac-toe", shape=(9,))
    ... def marks(game, observation, seat):
    ...     return [float(cell == "xo"[seat]) for cell in game.format_state(observation) if cell != "/"]
    >>> encoding_info_of(marks).shape
    (9,)
    """
    expect("name", name, str, "a text")
    expect("game", game, str, "the name of a game")
    expect("low", low, Real, "a number")
    expect("high", high, Real, "a number")
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


def import_later(game: str, name: str, load: Callable[[], object]) -> None:
    """Let `load` import an encoding when the encodings of its game are looked up."""
    _NAMED.setdefault(game, {})[name] = load


def encodings_of(game: Game) -> Mapping[str, Callable[..., Any]]:
    """Return the encodings of a game in the modules that this process has imported, by name, in the order of declaration.

    Encodings that loaded plugins bring by their places are imported now.
    """
    for load in _NAMED.pop(name_of(game), {}).values():
        load()
    return _DECLARED.get(name_of(game), {})


def bind_encoding(target: Callable[..., Any] | str, game: Game) -> "BoundEncoding":
    """Prepare an encoding for one game object. `target` is the encoding or its name.

    Raises UnknownName if no plugin defines this name for the game; ValueError if the encoding fits another game or has no shape.
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


@dataclass(frozen=True, slots=True)
class BoundEncoding:
    """An encoding for one game object. It returns numbers from `low` to `high`, either flat in row-major order or nested."""

    name: str
    shape: Shape
    low: float
    high: float
    encode: Callable[[State, int], Any]
    """The function that returns the numbers for the observation of a seat. It is called as `(observation, seat)`."""

    bind = staticmethod(bind_encoding)
    info_of, find_all = staticmethod(encoding_info_of), staticmethod(encodings_of)


def _check_shape(name: str, given: Any) -> Shape:
    if not isinstance(given, (tuple, list)) or not given or not all(type(side) is int and side > 0 for side in given):
        raise ValueError(f"encoding {name}: shape: expected {SHAPE}, got {abbreviate(given)}")
    return tuple(given)

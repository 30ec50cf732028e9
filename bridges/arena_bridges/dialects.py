"""Dialects: the notation of a game's positions and actions for engines that speak UCI or GTP.

A game declares them by `Game.dialects`; an adapter of an installed distribution uses them
(`arena_bridges.engines.entries`).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from arena import Action, Game, State
from arena.api.games import gives


@dataclass(frozen=True, slots=True)
class Uci:
    """A game in the Universal Chess Interface (S. Meyer-Kahlen, 2006), such as `position fen FEN moves MOVE...`."""

    fen: Callable[[State], str]
    """A position as the words after `position fen`; it may end with `moves` and the moves to the position."""
    move: Callable[[State, Action], str] | None = None
    """An action that is legal in a state, as a move; None if moves are in the game's own notation of actions."""
    action: Callable[[State, str], Action] | None = None
    """The action of a move in a state; raises ValueError if there is none. None as above."""
    options: Mapping[str, str] = field(default_factory=dict)
    """Options that an engine must have to play this game, such as `UCI_Variant`."""


@dataclass(frozen=True, slots=True)
class Gtp:
    """A game in the Go Text Protocol, version 2 (G. Farneback, 2002), such as `play COLOR VERTEX`."""

    size: int
    """Lines of the board in each direction."""
    vertex: Callable[[State, Action], str]
    """An action that is legal in a state, as a vertex such as `D4`, or `pass`."""
    action: Callable[[State, str], Action]
    """The action of a vertex in a state, in upper or lower case; raises ValueError if there is none."""
    komi: float | None = None
    """The komi: points for white for moving second. None if the game has no komi; then engines get no such command."""
    setup: Callable[[State], Sequence[tuple[int, str]]] = lambda _: ()
    """The plays from the empty board to a position, each a seat and a vertex; by default none."""
    colors: tuple[str, str] = ("black", "white")
    """The names of the seats."""


Dialect = Uci | Gtp


def dialect_of(game: Game, protocol: str) -> Dialect | None:
    """Return the dialect of `game` for a protocol, None if the game has no Uci or Gtp; errors of the game are passed on."""
    found = game.dialects().get(protocol) if gives(game, "dialects") else None
    return found if isinstance(found, (Uci, Gtp)) else None


LETTERS = "ABCDEFGHJKLMNOPQRSTUVWXYZ"
"""The columns of a board in GTP, from the left: there is no I."""


def vertex(column: int, row: int) -> str:
    """Return the vertex of a point: column and row count from 0, at the lower left.

    >>> vertex(3, 3)
    'D4'
    """
    return f"{LETTERS[column]}{row + 1}"


def point(text: str) -> tuple[int, int]:
    """Return the column and the row of a vertex, both from 0; raises ValueError if `text` is not a vertex.

    >>> point("d4")
    (3, 3)
    """
    letter, number = text[:1].upper(), text[1:]
    if not letter or letter not in LETTERS or not (number.isascii() and number.isdigit()) or int(number) == 0:
        raise ValueError(f"expected a vertex such as D4, got {text!r}")
    return LETTERS.index(letter), int(number) - 1

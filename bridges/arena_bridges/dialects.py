"""Dialects: how positions and actions of a game are written for engines that speak UCI or GTP.

A game declares them by `Game.dialects`. The adapters of engines use them (`arena_bridges.engines.entries`).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from arena import Action, Game, State
from arena.api.games import gives, read_digits


@dataclass(frozen=True, slots=True)
class Uci:
    """How positions and moves are written in the Universal Chess Interface (S. Meyer-Kahlen, 2006).

    Engines get them in the command `position fen FEN moves MOVE...`.
    """

    fen: Callable[[State], str]
    """Returns a position as the words after `position fen`. They may end with `moves` and the moves that lead to the position."""
    move: Callable[[State, Action], str] | None = None
    """Converts a legal action to a move, given the state; None if moves use the game's own notation."""
    action: Callable[[State, str], Action] | None = None
    """Converts a move to an action, given the state, and raises ValueError if no action fits; None if moves use the game's own
    notation."""
    options: Mapping[str, str] = field(default_factory=dict)
    """Options that an engine must have to play this game, such as `UCI_Variant`."""


@dataclass(frozen=True, slots=True)
class Gtp:
    """How boards and moves are written in the Go Text Protocol, version 2 (G. Farneback, 2002).

    Engines get each move in the command `play COLOR VERTEX`.
    """

    size: int
    """The number of lines of the board in each direction."""
    vertex: Callable[[State, Action], str]
    """Converts a legal action to a vertex such as `D4`, or to `pass`, given the state."""
    action: Callable[[State, str], Action]
    """Converts a vertex, in upper or lower case, to an action, given the state. Raises ValueError if there is none."""
    komi: float | None = None
    """The komi: the points that white gets for moving second. None if the game has no komi; then no command `komi` is sent."""
    setup: Callable[[State], Sequence[tuple[int, str]]] = lambda _: ()
    """Returns the plays that lead from the empty board to a position, each as a seat and a vertex. By default, there are none."""
    colors: tuple[str, str] = ("black", "white")
    """The colours of seat 0 and seat 1 in commands."""


Dialect = Uci | Gtp


def dialect_of(game: Game, protocol: str) -> Dialect | None:
    """Return the dialect of `game` for a protocol; None if it declares none. Exceptions of the game are not caught."""
    found = game.dialects().get(protocol) if gives(game, "dialects") else None
    return found if isinstance(found, (Uci, Gtp)) else None


LETTERS = "ABCDEFGHJKLMNOPQRSTUVWXYZ"
"""The letters of the columns of a board in GTP, from the left. GTP leaves out the letter I."""


def vertex(column: int, row: int) -> str:
    """Return the vertex of a point. Column and row count from 0, beginning at the lower left.

    >>> vertex(3, 3)
    'D4'
    """
    return f"{LETTERS[column]}{row + 1}"


def point(text: str) -> tuple[int, int]:
    """Return the column and the row of a vertex, both from 0. Raises ValueError if `text` is not a vertex.

    >>> point("d4")
    (3, 3)
    """
    letter, number = text[:1].upper(), read_digits(text[1:])
    if not letter or letter not in LETTERS or not number:
        raise ValueError(f"expected a vertex such as D4, got {text!r}")
    return LETTERS.index(letter), number - 1

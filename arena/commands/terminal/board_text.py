"""Positions as a terminal can show them: no line of a board is broken by the edge of the screen."""

from textwrap import wrap

from arena.console.screen import Screen
from arena.game import Game, State


def shown(game: Game, state: State, screen: Screen) -> str:
    """A position as its game renders it; too wide for the screen, without the spaces between cells, or else in its notation."""
    return fitted(game.render(state), game.format_state(state), screen.columns_of_boards)


def fitted(rendered: str, notation: str, columns: int | None) -> str:
    """What fits into so many columns, None for any number: a rendering, or less of it, or the notation with a note."""
    wide = _width(rendered)
    if columns is None or wide <= columns:
        return rendered
    dense = _dense(rendered)
    if _width(dense) <= columns:
        return dense
    note = f"(the board is {wide:,} columns wide, the terminal {columns + 1:,}: this is the position in its notation)"
    return "\n".join([*wrap(notation, columns, break_on_hyphens=False), *wrap(note, columns)])


def _width(text: str) -> int:
    return max(map(len, text.split("\n")))


def _dense(rendered: str) -> str:
    """A board of cells of one character with one space in between, without these spaces; any other as it is."""
    rows = rendered.split("\n")
    return rendered if any(row[1::2].strip() for row in rows) else "\n".join([row[::2] for row in rows])

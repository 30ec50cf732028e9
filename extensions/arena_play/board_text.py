"""Positions as text that fits the terminal, so that no line of a board is broken at the edge of the screen."""

from rich.cells import cell_len

from arena import Game, State
from arena_play.screen import Screen, wrap_line


def fit_board(game: Game, state: State, screen: Screen) -> str:
    """Return a position as its game renders it. If the position is too wide, the spaces between cells are removed. If it is still
    too wide, its notation is returned instead.
    """
    rendered, columns = game.render(state), screen.columns_of_boards
    if columns is None or _width(rendered) <= columns:
        return rendered
    rows = rendered.split("\n")
    if not any(row[1::2].strip() for row in rows):  # only if cells have one character and one space lies between them
        dense = "\n".join([row[::2] for row in rows])
        if _width(dense) <= columns:
            return dense
    wide = f"the board is {_width(rendered):,} columns wide, but the terminal only {columns + 1:,}"
    note = f"({wide}, so the position is shown in its notation)"
    return "\n".join([*wrap_line(game.format_state(state), columns, 0), *wrap_line(note, columns, 0)])


def _width(text: str) -> int:
    return max(map(cell_len, text.split("\n")))

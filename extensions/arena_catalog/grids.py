"""Checks of grids. A game can draw a state as a grid (rows of short texts), in which some cells stand for actions."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from arena import Game
from arena.api.errors import abbreviate
from arena.api.games import gives
from arena.api.results import figures

MAX_MARK_CHARACTERS = 8
"""The maximum number of characters in a cell."""
MAX_GRID_CELLS = 4096
"""The maximum number of cells in a grid: 64 by 64."""
_MARKS = f"texts of at most {MAX_MARK_CHARACTERS} characters"
_COLOR = re.compile(r"#[0-9a-fA-F]{3}|#[0-9a-fA-F]{6}|[a-zA-Z]+")
GRID = f"rows of equal length, each a list of {_MARKS}, and at most {MAX_GRID_CELLS:,} cells"
"""The description of a valid result of `Game.grid`, for messages."""


def find_grid_fault(cells: Any) -> str | None:
    """Return the fault in a result of `Game.grid`, as text for a message; None for valid rows of short texts."""
    if not _listed(cells) or not all(map(_listed, cells)):
        return abbreviate(cells)
    lengths = sorted({len(row) for row in cells})
    if len(lengths) != 1 or lengths[0] == 0:
        return f"rows of {figures.listing([*map(str, lengths)]) or 'no'} cells"
    if len(cells) * lengths[0] > MAX_GRID_CELLS:
        return f"{len(cells):,} rows of {lengths[0]:,} cells"
    odd = [mark for row in cells for mark in row if not isinstance(mark, str) or len(mark) > MAX_MARK_CHARACTERS]
    return f"the cell {abbreviate(odd[0])}" if odd else None


def read_colors(kind: type[Game]) -> dict[str, str]:
    """Return the colours of a grid by the text of the cell, from `Game.grid_colors`. Values that are not colours are left out."""
    given: object = getattr(kind, "grid_colors", None)
    found = given.items() if isinstance(given, Mapping) else ()
    return {mark: color for mark, color in found if isinstance(mark, str) and isinstance(color, str) and _COLOR.fullmatch(color)}


def find_cells(game: Game, state: Any, actions: Sequence[Any], rows: Sequence[Sequence[str]]) -> list[list[tuple[int, int]]]:
    """Return the cells for each action, as given by `Game.cells`; raises ValueError unless they are pairs of indices within the
    rows.
    """
    found = [list(game.cells(state, action)) if gives(game, "cells") else [] for action in actions]
    for cell in [cell for cells in found for cell in cells]:
        row, column = cell if _listed(cell) and len(cell) == 2 else (None, None)
        if type(row) is not int or type(column) is not int or not (0 <= row < len(rows) and 0 <= column < len(rows[0])):
            raise ValueError(
                f"cells: expected pairs (row, column) within {len(rows)} rows and {len(rows[0])} columns, got {abbreviate(cell)}"
            )
    return found


def _listed(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes))

"""Noughts and crosses for engines: tic-tac-toe with dialects for UCI and GTP."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from arena import Game, hookimpl
from arena_bridges.dialects import Dialect, Gtp, Uci, point, vertex
from arena_games.tic_tac_toe import TicTacToe


class Noughts(TicTacToe):
    """Tic-tac-toe on 3x3 cells. Engines call the cells vertices, from A1 at the lower left to C3 at the upper right."""

    name = "noughts"
    default_heuristic: ClassVar[str | None] = None

    def __init__(self) -> None:
        super().__init__()

    def dialects(self) -> Mapping[str, Dialect]:
        """Return both dialects; the one for UCI uses small letters."""
        uci = Uci(self.format_state, lambda state, action: vertex_of(action).lower(), self._read, {"UCI_Variant": "noughts"})
        return {"uci": uci, "gtp": Gtp(3, lambda state, action: vertex_of(action), self._read, 0.5, self._setup)}

    def _read(self, state: Any, text: str) -> int:
        column, row = point(text)
        action = 3 * (2 - row) + column + 1
        if not (column < 3 and row < 3) or action not in self.actions(state):
            raise ValueError(f"expected a free cell, got {text!r}")
        return action

    def _setup(self, state: Any) -> Sequence[tuple[int, str]]:
        cells = self.format_state(state).replace("/", "")
        return [("xo".index(mark), vertex_of(cell)) for cell, mark in enumerate(cells, 1) if mark != "."]


def vertex_of(action: int) -> str:
    """Return the vertex of a cell. Cells are numbered from 1 at the upper left, row by row."""
    return vertex((action - 1) % 3, 2 - (action - 1) // 3)


@hookimpl
def arena_games() -> list[type[Game]]:
    """Return the game."""
    return [Noughts]

"""Boards, tallies and exports."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from arena.parts import Export
    from arena.results.board_rows import Row
    from arena.results.figures import duration, figure, fixed
    from arena.results.layout import folded
    from arena.results.leaderboard import Leaderboard, stored
    from arena.results.stored_tallies import tallies_of
    from arena.results.tables import render
    from arena.results.tally import Tally
    from arena.schedule.board_info import BoardInfo, board_info

_HOMES = {
    "arena.parts": "Export",
    "arena.results.board_rows": "Row",
    "arena.results.figures": "duration figure fixed",
    "arena.results.layout": "folded",
    "arena.results.leaderboard": "Leaderboard stored",
    "arena.results.stored_tallies": "tallies_of",
    "arena.results.tables": "render",
    "arena.results.tally": "Tally",
    "arena.schedule.board_info": "BoardInfo board_info",
}
_PLACES = {name: module for module, names in _HOMES.items() for name in names.split()}
__all__ = [
    "BoardInfo",
    "Export",
    "Leaderboard",
    "Row",
    "Tally",
    "board_info",
    "duration",
    "figure",
    "fixed",
    "folded",
    "render",
    "stored",
    "tallies_of",
]


def __getattr__(name: str) -> Any:
    """Import a name when it is first used: a plugin that only registers itself imports nothing heavy."""
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_PLACES[name]), name)
